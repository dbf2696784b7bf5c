"""List the measures of finished runs besides test scores; one function makes each kind of record.

A record of any kind has `format`, `kind`, `run`, `system`, `seed`, `config`, `config_digest` and
`provenance`, and then its own numbers.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from repro import stops
from repro.analysis.ablation import heads_of, scaled_heads, without_in_every_layer
from repro.analysis.rows import off_diagonal
from repro.analysis.weights import collect_weights
from repro.core.batches import EncodedPairs, mark_source, pad
from repro.core.config import DataConfig
from repro.core.subwords import BOS_ID
from repro.data.corpora import load_once, prepare_lines
from repro.measures.alignments import alignments_table, measure_alignments
from repro.measures.contrastive import (
    measure_contrastive,
    measure_published_pairs,
    published_pairs_table,
)
from repro.measures.heads import describe_heads
from repro.measures.pruning import measure_pruning
from repro.measures.scores import evaluate_run
from repro.measures.speed import measure_speed
from repro.records.sentences import Table, statistic_columns
from repro.records.translations import hypotheses_of
from repro.runs.models import load_translator
from repro.runs.run import Run
from repro.statistics.metrics import bleu_for

BATCH = 64  # sentences

SENTENCES = {
    "en": "The old man sees a dog in the garden.",
    "de": "Der alte Mann sieht einen Hund im Garten.",
    "fr": "Le vieil homme voit un chien dans le jardin.",
    "ja": "老人 は 庭 で 犬 を 見 る 。",
}
"""A sentence of our own for attention maps, by source language."""
SHORT = 80  # characters of a sentence of other languages


def measure_maps(run: Run) -> dict[str, Any]:
    """Return the weights of every head on one sentence and the model's own translation of it."""
    translator = load_translator(run, "cpu")
    sentence = _sentence_for_maps(run.config.data)
    translation = translator.translate([sentence])[0]
    src = mark_source(translator.subwords.encode([sentence])[0], run.config.model.source_end_mark)
    tgt = [BOS_ID, *translator.subwords.encode([translation])[0]]
    weights = collect_weights(translator.model, pad([src]), pad([tgt]))
    sites = {
        site: [
            None if layer is None else np.round(layer[0].double().numpy(), 4).tolist()
            for layer in layers
        ]
        for site, layers in weights._asdict().items()
    }
    ends = ["</s>"] if run.config.model.source_end_mark else []
    return {
        "source": [*translator.subwords.pieces(sentence), *ends],
        "target": ["<s>", *translator.subwords.pieces(translation)],
        "weights": sites,
    }


def _sentence_for_maps(data: DataConfig) -> str:
    """Return our own sentence in the source language, else the first short one of dev."""
    if data.source in SENTENCES:
        return prepare_lines(data.corpus, [SENTENCES[data.source]])[0]
    sources, _ = load_once(data.corpus, data.source, data.target).pairs(
        "dev", data.source, data.target
    )
    return next((line for line in sources if len(line) <= SHORT), sources[0])


def measure_masks(run: Run) -> dict[str, Any]:
    """Translate a test set with each head masked in all encoder layers, one at a time.

    Only translations that the mask changes are kept, with the index of their sentence. Mask 0 is
    the translation without a mask: the score record may come from another machine, whose rounding
    led to another model. Source: Raganato et al. 2020, Table 4.
    """
    data = run.config.data
    sources, refs = load_once(data.corpus, data.source, data.target).pairs(
        "test", data.source, data.target
    )
    scored = evaluate_run(run)
    whole = hypotheses_of(scored)
    translator = load_translator(run)
    places = heads_of(translator.model, "encoder_self")
    heads, rows = {}, [(0, place, hyp) for place, hyp in enumerate(whole)]
    for head in range(max(place.head for place in places) + 1):
        with scaled_heads(translator.model, without_in_every_layer(places, head)):
            hyps = translator.translate(sources)
        rows += [
            (head + 1, i, hyp)
            for i, (hyp, before) in enumerate(zip(hyps, whole, strict=True))
            if hyp != before
        ]
        heads[str(head + 1)] = {"heads": [list(place) for place in places if place.head == head]}
    tables = {
        "masks": masks_table(rows, refs, data.target),
        "references": scored["tables"]["references"],
    }
    return {"split": "test", "masks": heads, "tables": tables}


def masks_table(rows: Sequence[tuple[int, int, str]], refs: list[str], target: str) -> Table:
    """Return the table of a measured record: translations with a head masked.

    Args:
        rows: (number of the mask, index of the sentence, translation).
        refs: the references of all sentences.
        target: the language of the references.
    """
    masks, places, hyps = map(list, zip(*rows, strict=True))
    bleu = bleu_for(target, refs)
    bleu.read([refs[place] for place in places])
    return Table(
        {"mask": masks, "sentence": places, "hypothesis": hyps, **statistic_columns([bleu], hyps)}
    )


def measure_off_diagonal(run: Run) -> dict[str, Any]:
    """Return the share of off-diagonal tokens in each sentence, by self-attention site.

    A token is off the diagonal if its attention is strongest two or more positions away. In the
    encoder these are the source tokens; in the decoder, those of the reference and the start mark,
    which sees only itself.
    """
    data = run.config.data
    texts = load_once(data.corpus, data.source, data.target).pairs("test", data.source, data.target)
    translator = load_translator(run, "cpu")
    src, tgt = map(translator.subwords.encode, texts)
    pairs = EncodedPairs(src, tgt, run.config.model.source_end_mark)
    shares: dict[str, list[float]] = {"encoder_self": [], "decoder_self": []}
    for start in range(0, len(pairs), BATCH):
        stops.raise_if_stopping()
        batch = pairs.batch(range(start, min(start + BATCH, len(pairs))))
        weights = collect_weights(translator.model, batch.src, batch.tgt_in)
        for site, ids in (("encoder_self", batch.src), ("decoder_self", batch.tgt_in)):
            found = off_diagonal(getattr(weights, site), site, ids, ids).nanmean(dim=1).nan_to_num()
            shares[site] += [round(share, 4) for share in found.tolist()]
    return {"split": "test", "shares": shares}


MEASURES: dict[str, Callable[[Run], dict[str, Any]]] = {
    "maps": measure_maps,
    "masks": measure_masks,
    "off_diagonal": measure_off_diagonal,
    "heads": describe_heads,
    "contrastive": measure_contrastive,
}
"""Kind of record -> the function that makes it from a finished run."""

EVERY_SEED = ("masks", "heads", "contrastive", "pruning")
"""Kinds that are made for every seed: only other models show how much seeds matter to them."""

ON_REQUEST: dict[str, tuple[Callable[[Run], dict[str, Any]], Callable[[dict[str, Any]], str]]] = {
    "published_pairs": (measure_published_pairs, published_pairs_table),
    "alignments": (measure_alignments, alignments_table),
}
"""Kinds that no experiment asks for, but `repro measure`: what makes the record, and its table."""

JOINT_MEASURES: dict[str, Callable[[Sequence[Run]], list[dict[str, Any]]]] = {
    "speed": measure_speed,
    "pruning": measure_pruning,
}
"""Kinds that need the whole machine, or several runs in one session of measurement.

Score records that come with one are under `records`.
"""
