"""Draw figures from arrays, with plotly; nothing here knows a model.

Any text is shown as typed, never read as markup. A figure without anything to draw is refused with
an `InputError` (`style.check_drawn`).

- `maps`: attention maps, all heads of a site, patterns.
- `heads`: numbers by head, distributions, roles.
- `pruning`: scores and heads after pruning.
- `architecture`: a Transformer.
- `diagrams`: the parts of a model.
- `forest_plot`: effects with intervals and bounds.
- `scores`: lines over training, length and distance; published beside reproduced.
- `export`: into notebooks and files.
"""

from repro.plots.architecture import transformer
from repro.plots.diagrams import attention_by_sublayer, score_sources
from repro.plots.export import save
from repro.plots.forest_plot import forest
from repro.plots.forest_rows import Effect, EffectRow, Reading
from repro.plots.heads import (
    NO_ROLE,
    ROLES,
    confidence_against_relevance,
    divergence_matrix,
    entropy_by_layer,
    head_bars,
    head_values,
    offset_histograms,
    role_counts,
    roles_by_layer,
    weight_histograms,
)
from repro.plots.maps import (
    Matrix,
    attention_grid,
    attention_maps,
    bell_curves,
    heatmaps,
    pattern_gallery,
)
from repro.plots.pruning import gate_paths, heads_kept_by_layer, heads_kept_by_site, pruning_curve
from repro.plots.scores import (
    Difference,
    Measured,
    accuracy_by_distance,
    changes,
    curves,
    differences_by_length,
    gaps_over_updates,
    published_beside_reproduced,
    speed_by_length,
    training_curves,
)
from repro.plots.still import picture
from repro.plots.style import COLORS, escape

__all__ = [
    "COLORS",
    "NO_ROLE",
    "ROLES",
    "Difference",
    "Effect",
    "EffectRow",
    "Matrix",
    "Measured",
    "Reading",
    "accuracy_by_distance",
    "attention_by_sublayer",
    "attention_grid",
    "attention_maps",
    "bell_curves",
    "changes",
    "confidence_against_relevance",
    "curves",
    "differences_by_length",
    "divergence_matrix",
    "entropy_by_layer",
    "escape",
    "forest",
    "gaps_over_updates",
    "gate_paths",
    "head_bars",
    "head_values",
    "heads_kept_by_layer",
    "heads_kept_by_site",
    "heatmaps",
    "offset_histograms",
    "pattern_gallery",
    "picture",
    "pruning_curve",
    "published_beside_reproduced",
    "role_counts",
    "roles_by_layer",
    "save",
    "score_sources",
    "speed_by_length",
    "training_curves",
    "transformer",
    "weight_histograms",
]
