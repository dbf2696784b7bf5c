"""Text and metrics of one's own: one file cut into splits, any text scored, any function asked."""

import json
from pathlib import Path

import pytest
from command_line import ended, refused, run

from repro.data.corpora import load_corpus

METRIC = "def longer(sources, hyps, refs):\n    return sum(map(len, hyps)) / sum(map(len, refs))\n"
WRONG = "def wrong(sources, hyps, refs):\n    return 'good'\n"
WRONG += "def two(hyps, refs):\n    return 1.0\ndef fails(*texts):\n    return 1 / 0\n"


def table(folder: Path, header: str = "") -> Path:
    """Write pairs as Tatoeba does: a third column, repeated sides, an empty one."""
    rows = [f"word {i} here\tmot {i % 40} ici\tCC-BY {i}" for i in range(60)]
    rows += [rows[0], "\tvide\tx"]
    (folder / "fra.txt").write_text(header + "".join(f"{row}\n" for row in rows))
    return folder / "fra.txt"


@pytest.mark.parametrize("header", ["", "fr\ten\tlicence\n"])
def test_one_file_becomes_a_corpus_without_leaks(tmp_path, capsys, header):
    asked = ("--direction", "fr-en" if header else "en-fr", "--dev", "5", "--test", "8")
    file, out = table(tmp_path, header), tmp_path / "plain"
    said = run(capsys, "split", str(file), *asked, "--out", str(out))
    assert said[1] == f"data.corpus=local:{out}" and "left out 2 that are repeated" in said[0]
    corpus = load_corpus(f"local:{out}")
    assert corpus.leaks == [] and len(corpus["test"]) >= 8 and len(corpus["dev"]) >= 5
    assert sum(len(corpus[split]) for split in corpus.splits) == 60
    # in a file with a header its names count, whatever the direction says
    side = "fr" if header else "en"
    assert all(line.startswith("word") for line in corpus["train"].columns[side])
    assert "is not empty" in refused(capsys, "split", str(file), *asked, "--out", str(out))[1]
    few = ("split", str(file), *asked[:3], "900", "--out", str(tmp_path / "few"))
    assert "leave none for train" in refused(capsys, *few)[1]


@pytest.mark.usefixtures("runs")
def test_any_text_is_scored_by_any_metric(tmp_path, capsys):
    (tmp_path / "my.py").write_text(METRIC + WRONG)
    (tmp_path / "a.en").write_text("The old man sees a dog.\nThe woman sees the house.\n")
    (tmp_path / "a.de").write_text("Der alte Mann sieht einen Hund.\nDie Frau sieht das Haus.\n")
    asked = ("evaluate", "gallery/base", "--src", "a.en", "--ref", "a.de")
    code, out, error = ended(capsys, *asked, "--metric", "my.py:longer", "--json")
    assert code == 0, error
    found = json.loads(out)
    lengths = [sum(map(len, found[name])) for name in ("hypotheses", "references")]
    assert found["scores"][0]["name"] == "BLEU" and len(found["sources"]) == 2
    own = {"name": "my.py:longer", "value": lengths[0] / lengths[1], "signature": "your own"}
    assert found["scores"][-1] == own
    assert "my.py:wrong: returned str" in refused(capsys, *asked, "--metric", "my.py:wrong")[1]
    two = refused(capsys, *asked, "--metric", "my.py:two")
    assert two == (
        2,
        "error: my.py:two: does not take three lists (too many positional arguments). "
        "Fix: write def two(sources, hypotheses, references)",
    )
    fails = refused(capsys, *asked, "--metric", "my.py:fails")[1]
    assert fails.startswith("error: my.py:") and ": ZeroDivisionError: division by zero. " in fails
    (tmp_path / "no.py").write_text("def score(:\n")
    no_python = refused(capsys, *asked, "--metric", "no.py:score")[1]
    assert no_python.startswith("error: no.py:1: SyntaxError: invalid syntax")
    assert "has no function 'lngr'" in refused(capsys, *asked, "--metric", "my.py:lngr")[1]
    assert refused(capsys, *asked[:4])[1].startswith("error: --src: is given alone")
    assert refused(capsys, *asked, "--split", "dev")[1].startswith("error: --split: is for a test")
    (tmp_path / "a.de").write_text("Der alte Mann.\n")
    assert "a.en: has 2 lines, and a.de has 1" in refused(capsys, *asked)[1]
