"""Read DistilLingEval: published pairs, English into German, on human and on machine references.

Vamvas, Sennrich: On the Limits of Minimal Pairs in Contrastive Evaluation, BlackboxNLP 2021.
https://aclanthology.org/2021.blackboxnlp-1.5

A model may decide between a human reference and its version with an error otherwise than between
two sentences that a machine would write. So the pairs come in two suites, with the same types of
error as far as both have them.

Choices of ours: at most `PER_TYPE` pairs of a type, evenly spaced in the file, and no sentence over
`MAX_WORDS` words, so that a small model scores the suite in a minute. All models score the same
pairs.
"""

import os
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

from repro.contrastive.suites import ContrastiveItem, ContrastiveSuite, read_suite
from repro.errors import MachineError

FOLDER = "distil-lingeval-en-de"  # inside REPRO_DATA
FILES = {
    "human": "distil-lingeval-clean.human.json",
    "machine": "distil-lingeval-clean.mt.json",
}
"""Kind of reference -> its file."""
PER_TYPE, MAX_WORDS = 1000, 60


def suite_name(reference: str) -> str:
    """Return the name of the suite on a kind of reference, `human` or `machine`."""
    return f"DistilLingEval, {reference} references"


def load_distil_lingeval(reference: str) -> ContrastiveSuite:
    """Return the pairs on a kind of reference, `human` or `machine`, from the folder REPRO_DATA.

    Raises:
        MachineError: they are not there.
    """
    root = os.environ.get("REPRO_DATA", "")
    path = Path(root) / FOLDER / FILES[reference]
    if not root or not path.is_file():
        what = f"is not in REPRO_DATA ({root})" if root else "needs REPRO_DATA, which is not set"
        fix = f"put {' and '.join(FILES.values())}, made from github.com/ZurichNLP/distil-lingeval"
        raise MachineError("DistilLingEval", what, f"{fix}, into REPRO_DATA/{FOLDER}/")
    return _read_once(path, reference)


@cache  # each file takes seconds
def _read_once(path: Path, reference: str) -> ContrastiveSuite:
    """Return a sample of the published pairs in a file, read once a process."""
    suite = read_suite(path, "en", "de")
    return replace(sampled(suite), name=suite_name(reference))


def sampled(suite: ContrastiveSuite) -> ContrastiveSuite:
    """Return a sample of the published contrastive pairs: `PER_TYPE` of each type at most.

    Types are in the order of their names.
    """
    by_type: dict[str, list[ContrastiveItem]] = {}
    skipped = Counter(suite.skipped)
    for item in suite.items:
        if max(len(text.split()) for text in (item.source, item.reference)) > MAX_WORDS:
            skipped[f"over {MAX_WORDS} words"] += 1
        else:
            by_type.setdefault(item.type, []).append(item)
    kept: list[ContrastiveItem] = []
    for _, found in sorted(by_type.items()):
        size = min(PER_TYPE, len(found))
        skipped[f"more than {PER_TYPE:,} of a type"] += len(found) - size
        kept += [found[place * len(found) // size] for place in range(size)]
    return replace(suite, items=tuple(kept), skipped=+skipped)
