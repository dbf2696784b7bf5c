"""Measure speed and quality of translations to their own ends by trained models.

Toolkits: the base of Multi30k from the gallery translates its test set; only toolkits that can run
the same weights take part. Systems: each translates the beginning of the generated test set. They
are trained on that corpus in about a minute, once for all later measurements.
"""

from collections.abc import Callable
from functools import cache

import torch

from benchmarks.peers import to_ctranslate2
from benchmarks.work import BATCH_SIZE, EACH_WAY, THREADS, Contender, apart, race, rows_of
from repro import (
    SCALES,
    SYSTEMS,
    Run,
    SearchConfig,
    gallery,
    load_corpus,
    load_translator,
    resolve,
    run_name,
    score_all,
    train,
)
from repro.core import quantized

MODEL = "multi30k-base"
TOOLKITS = ("repro", "CTranslate2")
PRECISIONS = ("fp32", "int8")
SCALE, SENTENCES = "smoke", 512  # of the systems


def translator(toolkit: str, beam: int, precision: str) -> Callable[[list[str]], list[str]]:
    """Return a function that translates sentences.

    Hypotheses are ranked by their mean log-probability a token.
    """
    ours = load_translator(gallery.load(MODEL), "cpu")
    if toolkit == "repro":
        ours = ours.with_model(quantized(ours.model)) if precision == "int8" else ours
        return lambda sentences: ours.translate(
            sentences, SearchConfig(beam=beam, batch_size=BATCH_SIZE)
        )
    theirs = to_ctranslate2(ours.model, precision, torch.get_num_threads())

    def translate(sentences: list[str]) -> list[str]:
        ids = [[str(i) for i in row] for row in ours.subwords.encode(sentences)]
        found = theirs.translate_batch(
            ids, beam_size=beam, length_penalty=1, max_batch_size=BATCH_SIZE, disable_unk=True
        )
        return ours.subwords.decode([[int(i) for i in result.hypotheses[0]] for result in found])

    return translate


def contender(toolkit: str, beam: int, precision: str) -> Contender:
    """Time the translation of the test set."""
    sentences, _ = _real_pairs()
    translate = translator(toolkit, beam, precision)
    return Contender(f"{toolkit} {precision}", lambda: translate(sentences), len(sentences))


def measure() -> list[dict]:
    """Measure sentences/s, BLEU, and the number of translations equal to our fp32's.

    With beams of 1 and 5.
    """
    rows = []
    for beam in (1, 5):
        kinds = [(toolkit, beam, precision) for toolkit in TOOLKITS for precision in PRECISIONS]
        quality = _quality(kinds)
        for processes in EACH_WAY:
            contenders = race(
                [apart(contender, *kind, processes=processes) for kind in kinds], rounds=5
            )
            timed = rows_of(
                contenders, beam=beam, processes=processes, threads=THREADS // processes
            )
            rows += [row | found for row, found in zip(timed, quality, strict=True)]
    return rows


def _quality(kinds: list[tuple[str, int, str]]) -> list[dict]:
    """Translate once with each contender; the first is our fp32."""
    sentences, references = _real_pairs()
    hypotheses = [translator(*kind)(sentences) for kind in kinds]
    same = [
        sum(a == b for a, b in zip(hypotheses[0], other, strict=True)) / len(sentences)
        for other in hypotheses
    ]
    scores = [score_all(lines, references, "de")[0] for lines in hypotheses]  # cased BLEU
    found = zip(scores, same, strict=True)
    return [
        {
            "sentences": len(sentences),
            "bleu": score.value,
            "signature": score.signature,
            "same": part,
        }
        for score, part in found
    ]


def train_systems() -> None:
    """Train every system at `SCALE` in the folder of runs; finished runs are reused.

    Raises:
        ReproError: the first that could not be trained.
    """
    for system in SYSTEMS:
        train(resolve(SCALE, system), quiet=True)


def system_contender(system: str, beam: int) -> Contender:
    """Time how a trained system translates the beginning of the generated test set."""
    sentences, _ = _generated_pairs()
    translate = _system_translator(system, beam)
    return Contender(system, lambda: translate(sentences), len(sentences))


def system_quality(system: str, beam: int) -> dict:
    """Return the quality of a trained system's translations, and their length in words.

    The length depends on where the system ends a sentence.
    """
    sentences, references = _generated_pairs()
    lines = _system_translator(system, beam)(sentences)
    bleu = score_all(lines, references, SCALES[SCALE].data.target)[0]
    words = sum(len(line.split()) for line in lines) / len(lines)
    return {
        "sentences": len(lines),
        "words": words,
        "bleu": bleu.value,
        "signature": bleu.signature,
    }


def _system_translator(system: str, beam: int) -> Callable[[list[str]], list[str]]:
    ours = load_translator(Run.find(run_name(resolve(SCALE, system))), "cpu")
    return lambda sentences: ours.translate(
        sentences, SearchConfig(beam=beam, batch_size=BATCH_SIZE)
    )


@cache
def _generated_pairs() -> tuple[list[str], list[str]]:
    data = SCALES[SCALE].data
    sentences, references = load_corpus(data.corpus, data.source, data.target).pairs(
        "test", data.source, data.target
    )
    return sentences[:SENTENCES], references[:SENTENCES]


@cache
def _real_pairs() -> tuple[list[str], list[str]]:
    return load_corpus("multi30k", "en", "de").pairs("test", "en", "de")
