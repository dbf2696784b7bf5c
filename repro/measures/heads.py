"""Measure every head of a finished run on a split, and return a record to print or draw.

Attention is read with the references as targets, so models are compared on the same text. Relevance
follows the model's own translations, its generation steps (Voita et al. 2019, appendix A.3). The
gradient is that of the references' loss. Relevance and gradient are measured on the first sentences
only: each target position costs a backward pass, and a small batch bounds the memory.

A record is JSON. For each site, `sites` holds the fields of `HeadStatistics`, its `main_offset` and
`positional`, `relevance` (by `ratio_eps`), `relevance_alphabeta`, `gradient` and `roles`. They are
nested by layer and head, from 0; null is a missing head, or a mean over nothing.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from itertools import chain
from types import NoneType
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from tqdm import tqdm

from repro.analysis.heads import MOST_FREQUENT, HeadStatistics, head_roles, measure_heads
from repro.analysis.relevance import HeadValues, gradient_importance, head_relevance
from repro.analysis.syntax import (
    DIRECTIONS,
    PARSER,
    RELATIONS,
    Parse,
    SyntaxStatistics,
    english_parser,
    measure_syntax,
)
from repro.analysis.treebanks import load_pud
from repro.core.batches import Batch, EncodedPairs, cut_by_tokens
from repro.core.config import DataConfig
from repro.core.decoding import Translator
from repro.core.subwords import Subwords
from repro.data.corpora import load_once
from repro.data.own_text import check_text_is_found, own_folder
from repro.data.parallel import ParallelCorpus
from repro.errors import InputError, MachineError, check_kind
from repro.generated import minigerman
from repro.measures.scores import describe_run
from repro.runs.models import load_translator
from repro.runs.provenance import provenance
from repro.runs.run import Run

DIGITS = 5  # decimals of the numbers in a record
BATCH_TOKENS = 4_000  # sentences times the longest side of a batch
RELEVANCE_TOKENS = 160  # the same where the graph of the whole model is kept; more is slower, too
RELEVANCE_SENTENCES = 100  # of the first ones of a split
CHUNK = 10_000  # sentences encoded at a time
NO_PARSER = (
    "no English parser: heads are measured without grammatical relations; docs/installing.md says "
    "how to get one"
)


class Treebank(NamedTuple):
    """Parses of the source sentences of a split.

    Args:
        name: the parser or the source of the trees.
        parses: one per sentence, in order.
        sentences: what was parsed, if it is not the split.
    """

    name: str
    parses: Iterable[Parse]
    sentences: Sequence[str] | None = None


def describe_heads(
    run: Run,
    split: str = "dev",
    limit: int | None = None,
    treebank: Treebank | Literal["find", "PUD"] | None = "find",
    relevance_sentences: int = RELEVANCE_SENTENCES,
    quiet: bool = True,
) -> dict[str, Any]:
    """Measure all heads of a run.

    Args:
        run: a finished run.
        split: the sentences to measure on.
        limit: only the first sentences; None = all.
        treebank: parses of these sentences; `find` = those of `find_treebank`; `PUD` = the gold
            trees of its own 1,000 sentences, in English and German; None = no syntax.
        relevance_sentences: number of first sentences for relevance and gradient.
        quiet: no progress bar.

    Returns:
        The record.

    Raises:
        InputError: an unfinished run, an unknown split, no sentence, another version of the corpus,
            or a model without heads.
        MachineError: as `find_treebank` and `pud`.
    """
    check_kind("run", run, "find it by its name, as in repro.Run.find('base')", Run)
    data = run.config.data
    run.check_finished()
    corpus = _corpus_of(run)
    sources, refs = _first_pairs(corpus, data, split, limit, relevance_sentences)
    translator = load_translator(run)
    if treebank == "find":
        treebank = find_treebank(data, split, sources)
    elif treebank == "PUD":
        treebank = pud(data)

    model, subwords, clock = translator.model, translator.subwords, _Clock()
    counts = _counts_of_train(subwords, corpus, data)
    batches = [
        (batch.src, batch.tgt_in) for batch in _batches(translator, sources, refs, BATCH_TOKENS)
    ]
    statistics = clock.time("statistics", measure_heads, model, batches, counts, MOST_FREQUENT)
    importance = _measure_importance(
        translator, sources[:relevance_sentences], refs[:relevance_sentences], clock, quiet
    )
    syntax = None
    if treebank is not None:
        parsed = sources if treebank.sentences is None else treebank.sentences
        syntax = clock.time("syntax", measure_syntax, model, subwords, parsed, treebank.parses)
    return describe_run(run) | {
        "kind": "heads",
        "split": split,
        "measured": {
            "sentences": len(sources),
            "sentences_of_split": len(corpus[split]),
            "relevance_sentences": min(relevance_sentences, len(sources)),
            "most_frequent": MOST_FREQUENT,
            "parses": None if treebank is None else treebank.name,
            "seconds": clock.seconds,
            "provenance": provenance(
                model.output.weight.device, torch.get_num_threads(), corpus.fingerprint
            ),
        },
        "sites": {
            site: _site_fields(
                found,
                {name: values[site] for name, values in importance.items()},
                syntax if site == "encoder_self" else None,
            )
            for site, found in statistics.items()
        },
        "syntax": None if syntax is None else _syntax_fields(syntax),
    }


def encoder_roles(run: Run) -> list[list[list[str]]]:
    """Return the roles of the encoder heads of a run on dev, by layer, as in its head record.

    Relevance is not measured, so it is quick. Shut heads have roles, too: their weights are there.

    Raises: as `describe_heads`.
    """
    data, corpus, translator = run.config.data, _corpus_of(run), load_translator(run)
    sources, refs = corpus.pairs("dev", data.source, data.target)
    counts = _counts_of_train(translator.subwords, corpus, data)
    batches = [
        (batch.src, batch.tgt_in) for batch in _batches(translator, sources, refs, BATCH_TOKENS)
    ]
    statistics = measure_heads(translator.model, batches, counts)["encoder_self"]
    treebank, syntactic = find_treebank(data, "dev", sources), None
    if treebank is not None:
        model, subwords = translator.model, translator.subwords
        syntactic = measure_syntax(model, subwords, sources, treebank.parses).syntactic
    return [[list(head) for head in layer] for layer in head_roles(statistics, syntactic)]


def _counts_of_train(
    subwords: Subwords, corpus: ParallelCorpus, data: DataConfig
) -> tuple[np.ndarray, np.ndarray]:
    """Count the ids in the training pairs, to measure how often heads point to rare ones."""
    source, target = (
        count_tokens(subwords, side[: data.train_pairs])
        for side in corpus.pairs("train", data.source, data.target)
    )
    return source, target


def _corpus_of(run: Run) -> ParallelCorpus:
    """Return the corpus whose heads are measured, in the version that the run was trained on."""
    data = run.config.data
    check_text_is_found(data.corpus, run.path)
    corpus = load_once(data.corpus, data.source, data.target)
    if corpus.fingerprint != run.provenance()["data_fingerprint"]:
        what = f"was trained on another version of {data.corpus} than there is here"
        raise InputError(
            str(run.path), what, "use the same version of the corpus, or train it again"
        )
    return corpus


def _first_pairs(
    corpus: ParallelCorpus,
    data: DataConfig,
    split: str,
    limit: int | None,
    relevance_sentences: int,
) -> tuple[list[str], list[str]]:
    """Return the sentences of a split to measure heads on, with references.

    Raises:
        InputError: no sentence is left.
    """
    check_kind("limit", limit, "give a number of sentences, or leave it out", int, NoneType)
    check_kind(
        "relevance_sentences",
        relevance_sentences,
        "give a number of sentences, or leave it out",
        int,
    )
    sources, refs = (side[:limit] for side in corpus.pairs(split, data.source, data.target))
    if not sources or (limit is not None and limit < 1) or relevance_sentences < 1:
        what = (
            f"limit {limit} of {len(corpus[split]):,} sentences, {relevance_sentences} of them for "
            "relevance"
        )
        raise InputError(f"{data.corpus} {split}", what, "take at least one")
    return sources, refs


def find_treebank(data: DataConfig, split: str, sources: Sequence[str]) -> Treebank | None:
    """Return the trees to measure a run's heads on: gold ones, or parses; else None.

    English text of your own has None, too, where the parser is not installed.

    Raises:
        MachineError: the parser is not installed, and the stored records of the corpus have parses.
    """
    if data.corpus == "minigerman":
        # Skip train unless it is asked for: it takes longest.
        sizes = {
            name: size
            for name, size in minigerman.DEFAULT_SIZES.items()
            if name == split or name != "train"
        }
        examples = minigerman.splits(sizes)[split][: len(sources)]
        side = {"en": "english_tokens", "de": "german_tokens"}[data.source]
        return Treebank("gold trees", (Parse.of(getattr(example, side)) for example in examples))
    if data.source == "en":
        try:
            parse = english_parser()
        except MachineError:
            if own_folder(data.corpus):
                return None
            raise
        return Treebank(f"{PARSER} {version(PARSER)}, spacy {version('spacy')}", parse(sources))
    return None


def pud(data: DataConfig) -> Treebank:
    """Return the gold trees of PUD in the source language, for measuring syntactic heads.

    Raises:
        MachineError: PUD is not at hand in this language.
    """
    sentences, parses = load_pud(data.source, data.corpus)
    return Treebank(f"gold trees of PUD, {len(sentences):,} sentences", parses, sentences)


def count_tokens(subwords: Subwords, sentences: Sequence[str]) -> np.ndarray:
    """Count each subword id in sentences, to measure rare ones, `(vocab,)`."""
    counts = np.zeros(len(subwords), dtype=np.int64)
    for start in range(0, len(sentences), CHUNK):
        ids = chain.from_iterable(subwords.encode(list(sentences[start : start + CHUNK])))
        counts += np.bincount(np.fromiter(ids, dtype=np.int64), minlength=len(subwords))
    return counts


class _Clock:
    """Record seconds by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def time(self, name: str, measure: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function, and add its seconds to those that a head record keeps."""
        start = time.perf_counter()
        found = measure(*arguments)
        self.seconds[name] = round(time.perf_counter() - start, 1)
        return found


def _measure_importance(
    translator: Translator, sources: list[str], refs: list[str], clock: _Clock, quiet: bool
) -> dict[str, HeadValues]:
    """Return relevance by both rules and gradient importance.

    Relevance is over the model's own translations, the gradient that of the references' loss.
    """
    model = translator.model
    own = _batches(translator, sources, translator.translate(sources), RELEVANCE_TOKENS)
    fixed = _batches(translator, sources, refs, RELEVANCE_TOKENS)

    def measured(
        name: str, measure: Callable[..., HeadValues], batches: list[Batch], *rule: str
    ) -> HeadValues:
        with tqdm(batches, desc=name.replace("_", ", "), unit="batch", disable=quiet) as bar:
            return clock.time(name, measure, model, bar, *rule)

    return {
        "relevance": measured("relevance", head_relevance, own, "ratio_eps"),
        "relevance_alphabeta": measured("relevance_alphabeta", head_relevance, own, "alphabeta"),
        "gradient": measured("gradient", gradient_importance, fixed),
    }


def _batches(
    translator: Translator, sources: Sequence[str], targets: Sequence[str], batch_tokens: int
) -> list[Batch]:
    """Group the pairs whose heads are measured into batches of similar length.

    A blank source without an end mark has no token to attend to, and is left out.
    """
    encode = translator.subwords.encode
    pairs = EncodedPairs(
        encode(list(sources)), encode(list(targets)), translator.model.config.source_end_mark
    )
    ordered = sorted((i for i in range(len(pairs)) if pairs.src[i]), key=lambda i: pairs.lengths[i])
    device = translator.model.output.weight.device
    return [
        pairs.batch(indices).to(device)
        for indices in cut_by_tokens(ordered, pairs.lengths, batch_tokens)
    ]


def _site_fields(
    found: HeadStatistics,
    importance: dict[str, list[np.ndarray | None]],
    syntax: SyntaxStatistics | None,
) -> dict[str, Any]:
    """Return the fields of a site in a record; a site without attention has rows without heads."""
    width = found.confidence.shape[1]
    values = vars(found) | {"main_offset": found.main_offset, "positional": found.positional}
    values |= {
        name: np.array([_padded(layer, width) for layer in layers])
        for name, layers in importance.items()
    }
    roles = head_roles(found, None if syntax is None else syntax.syntactic)
    return {name: _to_json(value) for name, value in values.items()} | {
        "roles": [[list(head) for head in layer] for layer in roles]
    }


def _syntax_fields(found: SyntaxStatistics) -> dict[str, Any]:
    """Return the fields of a head record on grammatical relations."""

    def by_name(values: np.ndarray) -> dict[str, dict[str, Any]]:
        return {
            name: dict(zip(DIRECTIONS, map(_to_json, rows), strict=True))
            for name, rows in zip(RELATIONS, values, strict=True)
        }

    return {
        "accuracy": by_name(found.accuracy),
        "margin": by_name(found.margin),
        "baseline": dict(zip(RELATIONS, _to_json(found.baseline), strict=True)),
        "positions": {
            relation: {str(offset): count for offset, count in counts.items()}
            for relation, counts in found.positions.items()
        },
        "num_skipped": found.num_skipped,
    }


def _padded(layer: np.ndarray | None, width: int) -> np.ndarray:
    """Return a layer's numbers in a head record, as wide as the widest layer; NaN = no head."""
    row = np.full(width, np.nan)
    if layer is not None:
        row[: len(layer)] = layer
    return row


def _to_json(value: Any) -> Any:
    """Convert an array to the lists of a head record: rounded, and NaN as None."""
    if isinstance(value, np.ndarray):
        return [_to_json(row) for row in value] if value.ndim else _to_json(value.item())
    value = float(value)
    if np.isnan(value):
        return None
    return int(value) if value.is_integer() else round(value, DIGITS)
