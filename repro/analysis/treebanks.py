"""Read gold dependency trees: CoNLL-U files, and the parallel treebank PUD in English and German.

- Nivre et al.: Universal Dependencies v2, LREC 2020. https://universaldependencies.org/format.html
- Zeman et al.: CoNLL 2017 Shared Task, for PUD: 1,000 sentences of news and Wikipedia, with the
  same sentences in all its languages.

With gold trees, grammatical relations need no parser, on either side of a corpus.

Choices where the formats differ:

1. Relations are named as in Voita et al. 2019: `obj` is `dobj`. Subtypes such as `nsubj:pass` are
   relations of their own, as in the parsers of the paper.
2. A contraction such as "zum" is a token in the sentence and two words in the tree. The first of
   these words takes its place, and the others are empty.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from repro.analysis.syntax import Parse
from repro.data.corpora import prepare_lines
from repro.data.text import read_lines
from repro.errors import InputError, MachineError

FOLDER = "ud-pud-de-en"  # inside REPRO_DATA
NUM_COLUMNS = 10
RENAMED = {"obj": "dobj"}
FIX = "take the file from its release again"


def load_pud(language: str, corpus: str) -> tuple[list[str], list[Parse]]:
    """Return the sentences of PUD in a language, as models of a corpus read them, and their trees.

    Raises:
        MachineError: the treebank is not in the folder REPRO_DATA.
    """
    root = os.environ.get("REPRO_DATA", "")
    path = Path(root) / FOLDER / f"{language}_pud-ud-test.conllu"
    if not root or not path.is_file():
        what = f"is not in REPRO_DATA ({root})" if root else "needs REPRO_DATA, which is not set"
        fix = f"put {path.name} of Universal Dependencies into REPRO_DATA/{FOLDER}/"
        raise MachineError(f"PUD in '{language}'", what, fix)
    sentences, parses = [], []
    for sentence, parse in read_conllu(path):
        sentences += prepare_lines(corpus, [sentence])
        parses.append(replace(parse, words=tuple(prepare_lines(corpus, parse.words))))
    return sentences, parses


def read_conllu(path: Path) -> Iterator[tuple[str, Parse]]:
    """Yield each sentence of a CoNLL-U file, as its line `# text =` has it, with its tree.

    Raises:
        InputError: names the file and the line that is malformed.
    """
    rows: list[list[str]] = []
    text, first = "", 1
    lines = read_lines(path)
    for number, line in zip(lines.numbers, lines.lines, strict=True):
        if line.startswith("# text ="):
            text, first = line.partition("=")[2].strip(), number
        elif line and not line.startswith("#"):
            rows.append(_columns(line, f"{path.name}:{number}"))
        elif not line and rows:
            yield text, _parse(rows, text, f"{path.name}:{first}")
            text, rows = "", []
    if rows:
        yield text, _parse(rows, text, f"{path.name}:{first}")


def _columns(line: str, where: str) -> list[str]:
    """Return the columns of a line of a CoNLL-U file."""
    columns = line.split("\t")
    if len(columns) != NUM_COLUMNS:
        raise InputError(where, f"has {len(columns)} columns, not {NUM_COLUMNS}", FIX)
    return columns


def _parse(rows: Sequence[Sequence[str]], text: str, where: str) -> Parse:
    """Make the dependency tree of a sentence from its rows in a CoNLL-U file."""
    if not text:
        raise InputError(where, "has a tree without its sentence (# text =)", FIX)
    contracted: dict[
        int, str
    ] = {}  # the token of each word that is part of one, "" after the first
    words = []
    for number, form, *rest in rows:
        try:
            if "-" in number:
                start, end = map(int, number.split("-"))
                contracted |= {start: form, **dict.fromkeys(range(start + 1, end + 1), "")}
            elif "." not in number:  # an empty node, which is not in the sentence
                form = contracted.get(int(number), form)
                words.append((form, int(rest[4]) - 1, RENAMED.get(rest[5], rest[5])))
        except ValueError as error:
            raise InputError(where, f"has a row {number} without numbers", FIX) from error
    if not all(-1 <= head < len(words) for _, head, _ in words):
        raise InputError(where, "has a head that is no word of the sentence", FIX)
    return Parse.of(words)
