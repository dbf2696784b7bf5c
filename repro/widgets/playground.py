"""Change where heads look, one after another, and read how the model then translates."""

import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import anywidget
import ipywidgets
import numpy as np
import torch
import traitlets

from repro.analysis.ablation import attention_at
from repro.analysis.reading import read, weights_of
from repro.analysis.replacement import replaced_head
from repro.core.attention.base import AttentionWeights
from repro.core.attention.fixed import PATTERNS, Fixed
from repro.core.attention.gaussian_variants import GaussianWithOptions
from repro.core.attention.uniform import Uniform
from repro.core.config import SITES
from repro.core.decoding import SearchConfig, Translator
from repro.core.numbering import head_name
from repro.widgets.explorer import SIDES
from repro.widgets.heads import HeadGrid, first_head, ones
from repro.widgets.parts import (
    FITS,
    TITLES,
    WRAPS,
    InteractiveWidget,
    Words,
    module,
    private_copy,
    sentence_field,
    style,
    unknown_characters_note,
    words_row,
)
from repro.widgets.stills import labelled_picture, static_words

OWN, GAUSSIAN, UNIFORM = "its own", "gaussian", "uniform"
# These follow `looks at` in a title.
SAID = {OWN: "its own choice", GAUSSIAN: "what a bell curve covers", UNIFORM: "all tokens alike"}
CENTER, STD = (-6.0, 6.0, 0.25), (0.25, 5.0, 0.05)  # lowest, highest, step, in tokens
CONTROLS = ("pattern", "center", "std", "sums_to_one")


@dataclass(frozen=True)
class HeadSetting:
    """Where a head looks: a pattern, the numbers of its Gaussian, and blocked pairs.

    Blocked pairs are (query, key).
    """

    pattern: str = OWN
    center: float = -1.0
    std: float = 1.0
    sums_to_one: bool = False
    blocked: tuple[tuple[int, int], ...] = ()

    def weights(self, head_dim: int) -> AttentionWeights | None:
        """Return the variant that makes the weights; None for the head's own."""
        if self.pattern == OWN:
            return None
        if self.pattern == GAUSSIAN:
            return GaussianWithOptions(
                (self.center,),
                head_dim,
                self.std,
                gamma=1.0,
                floor=False,
                kernel="density",
                renormalize=self.sums_to_one,
            )
        if self.pattern == UNIFORM:
            return Uniform(1, head_dim)
        return Fixed((self.pattern,), None, head_dim)

    def mask(self) -> torch.Tensor | None:
        """Return the blocked pairs as a matrix just large enough for them; None without any."""
        if not self.blocked:
            return None
        mask = torch.zeros(
            [max(places) + 1 for places in zip(*self.blocked, strict=True)], dtype=torch.bool
        )
        mask[tuple(zip(*self.blocked, strict=True))] = True
        return mask


def _sorted(pairs: Iterable[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    """Return pairs of positions as sorted tuples."""
    return tuple(sorted((int(q), int(k)) for q, k in pairs))


class Pattern(anywidget.AnyWidget):
    """Show the matrix of one head, with a Gaussian to drag and pairs to paint.

    Traits: `head`: the head as [site, layer, head]; `weights`: 32-bit floats, `(queries, keys)`;
    `blocked`: pairs as [query, key]; `painted`: the pairs that the browser painted last, {"head":
    ..., "pairs": ...}, or {}; `center` and `std` of the drawn Gaussian. It is divided by its sum if
    `sums_to_one`. It can be dragged if `movable`, within `limits` (lowest, highest, step); a drag
    paints if `painting`.
    """

    _esm, _css = module("matrix", "pattern"), style("matrix", "pattern")
    head = traitlets.List().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    query_tokens = traitlets.List().tag(sync=True)
    key_tokens = traitlets.List().tag(sync=True)  # `keys` means something else in every widget
    weights = traitlets.Bytes().tag(sync=True)
    blocked = traitlets.List().tag(sync=True)
    painted = traitlets.Dict().tag(sync=True)
    center = traitlets.Float(-1.0).tag(sync=True)
    std = traitlets.Float(1.0).tag(sync=True)
    sums_to_one = traitlets.Bool(False).tag(sync=True)
    movable = traitlets.Bool(False).tag(sync=True)
    painting = traitlets.Bool(False).tag(sync=True)
    limits = traitlets.Dict({"center": CENTER, "std": STD}).tag(sync=True)


class Playground(InteractiveWidget):
    """Give heads of a trained model other weights, and read how it then translates.

    Args:
        translator: a trained model.
        sentence: the first one; type another into the field.
        search: the search options.

    The controls `pattern`, `center`, `std`, `sums_to_one` and `matrix.blocked` belong to the head
    in `heads.chosen`; `settings` has those of every changed head. In cross attention a Gaussian
    counts target tokens as if they were source tokens, and there are no fixed patterns.
    """

    def __init__(
        self, translator: Translator, sentence: str, search: SearchConfig | None = None
    ) -> None:
        self.translator, self.search = private_copy(translator), search
        self.settings: dict[tuple[int, int, int], HeadSetting] = {}
        self.sentence, self.words, self.matrix = sentence_field(sentence), Words(), Pattern()
        self.heads = HeadGrid(
            factors=ones(translator.model), chosen=first_head(translator.model), mode="choose"
        )
        self.pattern = ipywidgets.Dropdown(options=[OWN], description="looks at")
        self.center = ipywidgets.FloatSlider(
            -1.0, min=CENTER[0], max=CENTER[1], step=CENTER[2], description="center"
        )
        self.std = ipywidgets.FloatSlider(
            1.0, min=STD[0], max=STD[1], step=STD[2], description="width (std)"
        )
        self.sums_to_one = ipywidgets.Checkbox(False, description="rows sum to one", indent=False)
        self.paint = ipywidgets.ToggleButton(
            False, description="paint blocked pairs", icon="paint-brush", layout=FITS
        )
        self.clear = ipywidgets.Button(description="this head as it was", icon="undo", layout=FITS)
        self.reset = ipywidgets.Button(
            description="all heads as they were", icon="undo", layout=FITS
        )
        buttons = ipywidgets.HBox([self.paint, self.clear, self.reset], layout=WRAPS)
        self.gaussian_controls = ipywidgets.HBox(
            [self.center, self.std, self.sums_to_one], layout=WRAPS
        )
        choices = ipywidgets.HBox([self.pattern, buttons], layout=WRAPS)
        rows = [self.sentence, self.heads, choices, self.gaussian_controls, self.matrix, self.words]
        super().__init__(rows, notice=self.words)
        self._is_showing = False
        self._connect()
        self._show_setting()
        self._read_whole()

    def _connect(self) -> None:
        """Connect the controls with the drawing and the model."""
        # Linked in the browser: by way of the kernel, which is busy translating, a slider moved
        # just before could undo a drag.
        for name in ("center", "std", "sums_to_one"):
            ipywidgets.jslink((getattr(self, name), "value"), (self.matrix, name))
        ipywidgets.jslink((self.paint, "value"), (self.matrix, "painting"))
        for name in CONTROLS:
            getattr(self, name).observe(self.guarded(self._change), "value")
        self.matrix.observe(self.guarded(self._change), ["blocked", "painted"])
        self.sentence.observe(self.guarded(self._read_whole), "value")
        self.heads.observe(self.guarded(self._show_setting), "chosen")
        self.heads.observe(self.guarded(self._read_changed), "chosen")
        self.clear.on_click(self.guarded(lambda: self._forget([tuple(self.heads.chosen)])))
        self.reset.on_click(self.guarded(lambda: self._forget(list(self.settings))))

    def _change(self) -> None:
        """Read the controls into the setting of their head, unless they are being set."""
        if self._is_showing:
            return
        chosen = tuple(self.heads.chosen)
        head = tuple(self.matrix.painted.get("head", chosen))
        if head == chosen:
            values = {name: getattr(self, name).value for name in CONTROLS}
            is_new = self._keep(head, HeadSetting(**values, blocked=_sorted(self.matrix.blocked)))
        # It was painted while the kernel was busy, and another head has been chosen since.
        else:
            is_new = self._keep(
                head,
                replace(
                    self.settings.get(head, HeadSetting()),
                    blocked=_sorted(self.matrix.painted["pairs"]),
                ),
            )
            self._show_setting()
        if is_new:
            self._read_changed()

    def _keep(self, head: tuple[int, int, int], setting: HeadSetting) -> bool:
        """Keep the setting of a head, none for its own weights; return whether it is new."""
        before = self.settings.pop(head, None)
        kept = setting if setting.pattern != OWN or setting.blocked else None
        if kept is not None:
            self.settings[head] = kept
        return kept != before

    def _show_setting(self) -> None:
        """Set the controls to the setting of the chosen head."""
        setting = self.settings.get(
            tuple(self.heads.chosen), HeadSetting(center=self.center.value, std=self.std.value)
        )
        self._is_showing = True
        self.pattern.options = [
            OWN,
            GAUSSIAN,
            UNIFORM,
            *(PATTERNS if SITES[self.heads.chosen[0]] != "cross" else ()),
        ]
        for name in CONTROLS:
            getattr(self, name).value = getattr(setting, name)
        # This comes before the blocked pairs: later painting on them counts as new.
        self.matrix.painted = {}
        self.matrix.blocked = [list(pair) for pair in setting.blocked]
        self._is_showing = False

    def _forget(self, heads: list[tuple[int, int, int]]) -> None:
        """Drop the replacements of some heads."""
        for head in heads:
            self.settings.pop(head, None)
        self._show_setting()
        self._read_changed()

    def _read_whole(self) -> None:
        """Translate with the whole model, then with the changed one."""
        self.whole = read(self.translator, self.sentence.value, self.search)
        self._read_changed()

    def _read_changed(self) -> None:
        """Translate with the replaced heads, and show both translations."""
        with ExitStack() as replacements:
            began, model = time.perf_counter(), self.translator.model
            for (site, layer, head), setting in self.settings.items():
                head_dim = attention_at(model, SITES[site], layer).weights.head_dim
                replaced = replaced_head(
                    model, SITES[site], layer, head, setting.weights(head_dim), setting.mask()
                )
                replacements.enter_context(replaced)
            self.changed = read(self.translator, self.sentence.value, self.search)
            site, layer, head = self.heads.chosen
            found = (
                getattr(weights_of(self.translator, self.changed), SITES[site])[layer][0, head]
                .float()
                .cpu()
                .numpy()
            )
            queries, keys = (getattr(self.changed, side) for side in SIDES[SITES[site]])
            with self.matrix.hold_sync():
                self.matrix.head = list(self.heads.chosen)
                said = SAID.get(self.pattern.value, self.pattern.value)
                name = f"{TITLES[SITES[site]]}, {head_name(layer, head)}"
                self.matrix.title = f"{name}: looks at {said}"
                self.matrix.query_tokens, self.matrix.key_tokens, self.matrix.weights = (
                    queries,
                    keys,
                    found.tobytes(),
                )
                self.matrix.movable = self.pattern.value == GAUSSIAN
            self.gaussian_controls.layout.display = None if self.matrix.movable else "none"
            self.heads.marked = [list(place) for place in self.settings]
            self.words.rows = [
                words_row("model as it is", self.whole, self.changed),
                words_row("heads replaced", self.changed, self.whole),
            ]
            seconds = (
                f"translated in {time.perf_counter() - began:.2f} s; below each word its "
                "probability"
            )
            self.words.message = "; ".join(
                filter(None, [seconds, unknown_characters_note(self.whole)])
            )

    def static(self) -> str:
        """Return the matrix and both translations."""
        queries, keys = self.matrix.query_tokens, self.matrix.key_tokens
        weights = np.frombuffer(self.matrix.weights, np.float32).reshape(len(queries), len(keys))
        return labelled_picture(weights, self.matrix.title, queries, keys) + static_words(
            self.words.rows
        )
