"""Real sentences, each translated to its own end by a trained model, with the quality of the translations beside their speed.

The base of Multi30k from the gallery translates its test set. Only toolkits that can run these very weights take part.
"""

from collections.abc import Callable

import torch

from benchmarks.peers import to_ctranslate2
from benchmarks.work import BATCH_SIZE, THREADS, Contender, apart, race, rows_of
from repro import gallery
from repro.data.corpora import load_pairs
from repro.decoding import SearchConfig, Translator
from repro.evaluation import score_all

MODEL = "multi30k-base"
TOOLKITS = ("repro", "CTranslate2")
PRECISIONS = ("fp32", "int8")


def translator(toolkit: str, beam: int, precision: str) -> Callable[[list[str]], list[str]]:
    """Return what translates sentences; hypotheses are ranked by their mean log-probability a token."""
    ours = Translator.from_run(gallery.load(MODEL), "cpu")
    if toolkit == "repro":
        ours = ours.quantized() if precision == "int8" else ours
        return lambda sentences: ours.translate(sentences, SearchConfig(beam=beam, batch_size=BATCH_SIZE))
    theirs = to_ctranslate2(ours.model, precision, torch.get_num_threads())

    def translate(sentences: list[str]) -> list[str]:
        ids = [[str(i) for i in row] for row in ours.subwords.encode(sentences)]
        found = theirs.translate_batch(ids, beam_size=beam, length_penalty=1, max_batch_size=BATCH_SIZE, disable_unk=True)
        return ours.subwords.decode([[int(i) for i in result.hypotheses[0]] for result in found])

    return translate


def contender(toolkit: str, beam: int, precision: str) -> Contender:
    """Time the translation of the test set."""
    sentences, _ = _pairs()
    translate = translator(toolkit, beam, precision)
    return Contender(f"{toolkit} {precision}", lambda: translate(sentences), len(sentences))


def measure() -> list[dict]:
    """Sentences/s, BLEU, and how many translations are to the letter those of our fp32; beams of 1 and 5."""
    rows = []
    for beam in (1, 5):
        kinds = [(toolkit, beam, precision) for toolkit in TOOLKITS for precision in PRECISIONS]
        quality = _quality(kinds)
        for processes in (1, THREADS):
            contenders = race([apart(contender, *kind, processes=processes) for kind in kinds], rounds=5)
            timed = rows_of(contenders, beam=beam, processes=processes, threads=THREADS // processes)
            rows += [row | found for row, found in zip(timed, quality, strict=True)]
    return rows


def _quality(kinds: list[tuple[str, int, str]]) -> list[dict]:
    """Translate once by each contender, the first of which is our fp32."""
    sentences, references = _pairs()
    hypotheses = [translator(*kind)(sentences) for kind in kinds]
    same = [sum(a == b for a, b in zip(hypotheses[0], other, strict=True)) / len(sentences) for other in hypotheses]
    scores = [score_all(lines, references, "de")[0] for lines in hypotheses]  # cased BLEU
    found = zip(scores, same, strict=True)
    return [{"sentences": len(sentences), "bleu": score.value, "signature": score.signature, "same": part} for score, part in found]


def _pairs() -> tuple[list[str], list[str]]:
    return load_pairs("multi30k", "en", "de", "test")
