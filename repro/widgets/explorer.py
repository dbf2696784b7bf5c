"""The explorer: encoder, decoder and cross attention side by side, from a grid of heads to a single number."""

import zlib

import anywidget
import numpy as np
import traitlets

from repro.analysis.heads import measure_heads
from repro.analysis.reading import read, weights_of
from repro.config import SITES
from repro.decoding import SearchConfig, Translator
from repro.plots import escape
from repro.widgets.heads import check_chosen, first_head
from repro.widgets.parts import ONE_AT_A_TIME, TITLES, Touchable, apart, labelled_picture, module, picture, sentence_field, style

SIDES = {"encoder_self": ("source", "source"), "decoder_self": ("target", "target"), "cross": ("target", "source")}


class Maps(anywidget.AnyWidget):
    """The heads of all sites.

    What a saved notebook keeps is `shades`: every weight as a byte, 255 = 1, compressed, in the order of sites, layers, heads, queries
    and keys. A view asks for the weights themselves and gets them as 32-bit floats in the same order, so that a live notebook shows
    exact numbers and a saved one stays small.

    Traits: `source` and `target` tokens; `sites`: per site its title, the number of heads of each layer, which tokens are queries and
    keys, and per head its mean largest weight, entropy and distance on this sentence; `chosen`: [site, layer, head]; `token`:
    {"side": "source" or "target", "index": number}, or {}; `version` grows with every sentence.
    """

    _esm, _css = module("matrix", "maps"), style("matrix", "maps")
    source = traitlets.List().tag(sync=True)
    target = traitlets.List().tag(sync=True)
    sites = traitlets.List().tag(sync=True)
    shades = traitlets.Bytes().tag(sync=True)
    chosen = traitlets.List().tag(sync=True)
    token = traitlets.Dict().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    version = traitlets.Int(0).tag(sync=True)

    @traitlets.validate("chosen")
    def _is_there(self, proposal: dict) -> list[int]:
        return check_chosen("maps.chosen", proposal["value"], [found["layers"] for found in self.sites])

    def __init__(self, chosen: list[int]) -> None:
        super().__init__(chosen=chosen)
        self.weights = np.zeros(0, np.float32)
        self.on_msg(self._answer)

    def _answer(self, _, content: str, __) -> None:
        with ONE_AT_A_TIME:  # or the weights of one sentence could go out with the number of another
            if content == "weights":
                self.send({"version": self.version}, [self.weights.tobytes()])


class Explorer(Touchable):
    """Look at every attention weight with which a model reads and translates a sentence.

    Args:
        translator: a trained model.
        sentence: the first one; type another into the field.
        search: how to translate.

    `maps.chosen` is the head in detail as [site, layer, head], `maps.token` the selected token; both may be set.
    """

    def __init__(self, translator: Translator, sentence: str, search: SearchConfig | None = None) -> None:
        self.translator, self.search = apart(translator), search
        self.sentence, self.maps = sentence_field(sentence), Maps(first_head(translator.model))
        super().__init__([self.sentence, self.maps], notice=self.maps)
        self.sentence.observe(self.guarded(self._update), "value")
        self._update()

    def _update(self) -> None:
        reading = read(self.translator, self.sentence.value, self.search)
        weights = weights_of(self.translator, reading)
        statistics = measure_heads(self.translator.model, [(reading.src, reading.tgt_in)])
        sites, flat = [], []
        for site in SITES:
            layers = [None if found is None else found[0].float().cpu() for found in getattr(weights, site)]
            flat += [layer.numpy().ravel() for layer in layers if layer is not None]
            counts = [0 if layer is None else len(layer) for layer in layers]
            found = statistics[site]
            numbers = np.stack([found.confidence, found.entropy, found.distance], axis=-1)
            rows = [[[None if np.isnan(x) else float(x) for x in head] for head in layer] for layer in numbers]
            queries, keys = SIDES[site]
            sites.append({"title": TITLES[site], "layers": counts, "queries": queries, "keys": keys, "statistics": rows})
        self.maps.weights = np.concatenate(flat)
        shades = (np.clip(self.maps.weights, 0, 1) * 255).round().astype(np.uint8)
        with self.maps.hold_sync():
            self.maps.source, self.maps.target, self.maps.sites = reading.source, reading.target, sites
            self.maps.shades = zlib.compress(shades.tobytes(), 9)
            self.maps.token, self.maps.message = {}, ""
            self.maps.version += 1

    def static(self) -> str:
        """Return a picture of all heads of each site, layers downwards and heads to the right, and the chosen head with its tokens."""
        start, cells, detail = 0, [], ""
        for number, site in enumerate(self.maps.sites):
            queries, keys = (getattr(self.maps, site[side]) for side in ("queries", "keys"))
            rows, columns = len(queries), len(keys)
            most = max([*site["layers"], 1])
            grid = np.full((len(site["layers"]) * (rows + 1), most * (columns + 1)), np.nan, np.float32)
            for layer, heads in enumerate(site["layers"]):
                for head in range(heads):
                    matrix = self.maps.weights[start : start + rows * columns].reshape(rows, columns)
                    y, x = layer * (rows + 1), head * (columns + 1)
                    grid[y : y + rows, x : x + columns] = matrix
                    start += rows * columns
                    if self.maps.chosen == [number, layer, head]:
                        detail = labelled_picture(matrix, f"{site['title']}, layer {layer}, head {head}", queries, keys)
            cells.append(f"<td>{site['title']}, a layer a line<br>{picture(grid, 320)}</td>")
        tokens = "".join(f"<p>{side}: {escape(' '.join(getattr(self.maps, side)))}</p>" for side in ("source", "target"))
        return f"{tokens}<table><tr>{''.join(cells)}</tr></table>{detail}"
