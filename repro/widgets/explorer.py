"""Explore encoder, decoder and cross attention, from a grid of heads to a single number."""

import math
import zlib
from collections.abc import Sequence

import anywidget
import numpy as np
import traitlets

from repro.analysis.heads import measure_heads
from repro.analysis.reading import read, weights_of
from repro.core.config import SITES
from repro.core.decoding import SearchConfig, Translator
from repro.core.numbering import head_name
from repro.errors import InputError
from repro.plots import escape
from repro.widgets.heads import check_chosen, first_head
from repro.widgets.parts import (
    INPUT_LOCK,
    READY,
    STATES,
    TITLES,
    InteractiveWidget,
    module,
    private_copy,
    sentence_field,
    style,
    unknown_characters_note,
)
from repro.widgets.stills import labelled_picture, overview

MAX_TOKENS = 500  # of a sentence or its translation: weights grow with the square
SIDES = {
    "encoder_self": ("source", "source"),
    "decoder_self": ("target", "target"),
    "cross": ("target", "source"),
}


class Maps(anywidget.AnyWidget):
    """Draw the heads of all sites.

    A saved notebook keeps `shades`: every weight as a byte, 255 = 1, compressed, in the order of
    sites, layers, heads, queries and keys. A view asks for the weights themselves and gets them as
    32-bit floats in the same order. So a live notebook shows exact numbers, and a saved one stays
    small.

    Traits: `source` and `target` tokens; `chosen`: [site, layer, head]; `token`: {"side": "source"
    or "target", "index": number}, or {}; `message` and `state` as in `Words`; `version` grows with
    every sentence. `sites` has for each site its title, the number of heads of each layer, and the
    tokens of queries and keys. It also has the mean largest weight, entropy and distance of each
    head on this sentence.
    """

    _esm, _css = module("matrix", "maps"), style("matrix", "maps")
    source = traitlets.List().tag(sync=True)
    target = traitlets.List().tag(sync=True)
    sites = traitlets.List().tag(sync=True)
    shades = traitlets.Bytes().tag(sync=True)
    chosen = traitlets.List().tag(sync=True)
    token = traitlets.Dict().tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    state = traitlets.Enum(STATES, READY).tag(sync=True)
    version = traitlets.Int(0).tag(sync=True)

    @traitlets.validate("chosen")
    def _is_there(self, proposal: dict) -> list[int]:
        """Refuse to choose a head that does not exist."""
        return check_chosen(
            "maps.chosen", proposal["value"], [found["layers"] for found in self.sites]
        )

    def __init__(self, chosen: list[int]) -> None:
        super().__init__(chosen=chosen)
        self.weights = np.zeros(0, np.float32)
        self.on_msg(self._answer)

    def _answer(self, _, content: str, __) -> None:
        """Send the weights that the browser asks for."""
        # Otherwise the weights of one sentence could be sent with the number of another.
        with INPUT_LOCK:
            if content == "weights":
                self.send({"version": self.version}, [self.weights.tobytes()])


class Explorer(InteractiveWidget):
    """Look at every attention weight with which a model reads and translates a sentence.

    Args:
        translator: a trained model.
        sentence: the first one; type another into the field.
        search: the search options.

    A sentence and its translation may have `MAX_TOKENS` tokens each.

    `maps.chosen` is the head in detail as [site, layer, head], `maps.token` the selected token;
    both may be set.
    """

    def __init__(
        self, translator: Translator, sentence: str, search: SearchConfig | None = None
    ) -> None:
        self.translator, self.search = private_copy(translator), search
        self.sentence, self.maps = sentence_field(sentence), Maps(first_head(translator.model))
        super().__init__([self.sentence, self.maps], notice=self.maps)
        self.sentence.observe(self.guarded(self._update), "value")
        self._update()

    def _update(self) -> None:
        """Translate the sentence again, and show all its weights."""
        _check_size(
            "has", self.translator.subwords.pieces(*self.translator.prepare([self.sentence.value]))
        )
        reading = read(self.translator, self.sentence.value, self.search)
        _check_size("has a translation of", reading.target)
        statistics = measure_heads(self.translator.model, [(reading.src, reading.tgt_in)])
        weights = weights_of(self.translator, reading)
        sites, flat = [], []
        for site in SITES:
            layers = [
                None if found is None else found[0].float().cpu()
                for found in getattr(weights, site)
            ]
            flat += [layer.numpy().ravel() for layer in layers if layer is not None]
            counts = [0 if layer is None else len(layer) for layer in layers]
            found = statistics[site]
            numbers = np.stack([found.confidence, found.entropy, found.distance], axis=-1)
            rows = [
                [[None if np.isnan(x) else float(x) for x in head] for head in layer]
                for layer in numbers
            ]
            queries, keys = SIDES[site]
            sites.append(
                {
                    "title": TITLES[site],
                    "layers": counts,
                    "queries": queries,
                    "keys": keys,
                    "statistics": rows,
                }
            )
        self.maps.weights = np.concatenate(flat)
        # They are large for a long sentence, as is what follows.
        del weights, layers, flat
        shades = np.clip(self.maps.weights, 0, 1)
        shades *= 255
        shades = np.rint(shades, out=shades).astype(np.uint8)
        with self.maps.hold_sync():
            self.maps.source, self.maps.target, self.maps.sites = (
                reading.source,
                reading.target,
                sites,
            )
            self.maps.shades = zlib.compress(shades.tobytes(), 9)
            self.maps.token, self.maps.message = {}, unknown_characters_note(reading)
            self.maps.version += 1

    def static(self) -> str:
        """Return a picture of all heads of each site, and of the chosen head with its tokens.

        Layers go downwards, heads to the right.
        """
        start, sites, detail = 0, "", ""
        for number, site in enumerate(self.maps.sites):
            queries, keys = (getattr(self.maps, site[side]) for side in ("queries", "keys"))
            layers: list[np.ndarray] = []
            for num_heads in site["layers"]:
                shape = num_heads, len(queries), len(keys)
                layers.append(self.maps.weights[start : start + math.prod(shape)].reshape(shape))
                start += math.prod(shape)
            sites += (
                f"<div>{site['title']}, a layer a line<br>{overview(layers, site['title'])}</div>"
            )
            at, layer, head = self.maps.chosen
            if at == number:
                title = f"{site['title']}, {head_name(layer, head)}"
                detail = labelled_picture(layers[layer][head], title, queries, keys)
        sides = ("source", "target")
        tokens = "".join(
            f"<p>{side}: {escape(' '.join(getattr(self.maps, side)))}</p>" for side in sides
        )
        return (
            f'{tokens}<div style="display: flex; flex-wrap: wrap; gap: 16px">{sites}</div>{detail}'
        )


def _check_size(what: str, tokens: Sequence[object]) -> None:
    """Refuse a sentence that is too long to draw."""
    if len(tokens) > MAX_TOKENS:
        found = f"{what} {len(tokens)} tokens, and the explorer draws at most {MAX_TOKENS}"
        raise InputError("sentence", found, "type a shorter one")
