"""Look inside a trained model: attention weights, heads, syntax, relevance, ablation.

    weights     collect_weights, read, entropy, jensen_shannon
    heads       measure_heads, HeadSums, RADIUS, head_roles
    syntax      measure_syntax, SyntaxSums, Arc, find_arcs, merge_subwords,
                RELATIONS, DIRECTIONS, MARGIN
    relevance   head_relevance, gradient_importance, Replay, RULES, ratio_eps
    ablation    ablate, leave_one_out, scaled_heads, heads_of

Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING

from repro.lazy import attach

if TYPE_CHECKING:
    from repro.analysis.ablation import ablate, heads_of, leave_one_out, scaled_heads
    from repro.analysis.heads import RADIUS, HeadSums, head_roles, measure_heads
    from repro.analysis.reading import read
    from repro.analysis.relevance import (
        RULES,
        Replay,
        gradient_importance,
        head_relevance,
        ratio_eps,
    )
    from repro.analysis.rows import entropy, jensen_shannon
    from repro.analysis.syntax import (
        DIRECTIONS,
        MARGIN,
        RELATIONS,
        Arc,
        SyntaxSums,
        find_arcs,
        measure_syntax,
        merge_subwords,
    )
    from repro.analysis.weights import collect_weights

__getattr__, __dir__, __all__ = attach(__name__, __file__)
