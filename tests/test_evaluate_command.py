"""`repro train`, `evaluate` and `translate` on a few pairs: what is kept, made again, and said."""

import bz2
import errno
import io
import json
import re
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from command_line import ended, refused, run
from few_pairs import few_pairs

from repro.__main__ import main
from repro.core.decoding import SearchConfig, Translator
from repro.core.subwords import Subwords
from repro.data.catalogue import CORPORA
from repro.data.corpora import load_pairs
from repro.data.own_text import own_folder
from repro.files import write_json
from repro.presets import resolve
from repro.records.report import in_train_note, render_results
from repro.records.sentences import SUFFIX
from repro.records.stored import load_record, publish
from repro.records.translations import hypotheses_of
from repro.runs.models import load_translator
from repro.runs.run import Run
from repro.verify.verify import verify_records

pytestmark = pytest.mark.usefixtures("runs", "short_translations")

TINY = [
    "data.train_pairs=300",
    "data.vocab_size=300",
    "train.max_updates=6",
    "train.eval_every=3",
    "train.batch_tokens=400",
]
FEW = [*TINY, f"data.corpus={few_pairs()}"]


def test_the_whole_path(capsys, runs, monkeypatch):
    assert Path(run(capsys, "train", "--system", "base", *FEW)[-1]).parent == runs
    run(capsys, "train", "--system", "hc-sa", *FEW)
    scores = run(capsys, "evaluate", "base", "--split", "dev", "--beam", "1", "--record", "records")
    assert re.fullmatch(
        r" *\d+\.\d\d  BLEU  nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:2.*",
        scores[0],
    )
    assert Path(scores[-1]).is_file()
    compared = run(capsys, "compare", "base", "hc-sa", "--split", "dev", "--beam", "1")
    assert re.match(
        (
            r"BLEU: \d+\.\d\d - \d+\.\d\d = [+-]\d+\.\d\d, 95 % interval .* p [=<] [01]\.\d{3}  "
            r"nrefs:1"
        ),
        compared[1],
    )
    assert (
        compared[-1] == "over test sentences: one training run each says nothing about other seeds"
    )
    assert (
        "is named twice, and would count as two seeds. Fix: "
        in refused(capsys, "report", "base", "hc-sa", "base")[1]
    )
    report = run(capsys, "report", "base", "hc-sa", "--split", "dev")
    text = Path(report[-1]).read_text()
    # a corpus of one's own has no scale: what differs from smoke is said, once for both
    assert re.search(r"\n\nAll runs here: data\.train_pairs=300, .*\.\n", text)
    assert "\n| base |" in text and "| hc-sa - base | BLEU |" in text and "tok:13a" in text

    sentences = "The dog sleeps.\n\n  \nThe old man sees a tree"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(sentences.encode())))
    code, out, err = ended(capsys, "translate", "base", "--beam", "2")
    lines = out.split("\n")
    assert code == 0 and len(lines) == 5 and lines[1] == lines[2] == lines[4] == ""
    cut = sum(
        found.cut
        for found in load_translator(Run.find("base")).search(
            sentences.split("\n"), SearchConfig(beam=2)
        )
    )
    told = (
        f"{cut} of 4 translations would have gone on; they were cut at the limit of their length\n"
    )
    assert err == (told if cut else "") and cut, "this model has not learned to end"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (b"", None),
        (
            "The dog sleeps.\n".encode("utf-16-le"),
            "1: byte 0x54 starts UTF-16LE, not UTF-8. Fix: iconv -f UTF-16LE -t UTF-8",
        ),
        (
            b"\x1f\x8b\x08\x00rest\n",
            "1: is compressed with gzip, not text. Fix: zcat it into the command",
        ),
    ],
)
def test_what_is_no_text_is_not_translated(capsys, monkeypatch, given, told):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    command = ["translate", "gallery/base"]
    if told:
        assert refused(capsys, *command) == (2, f"error: standard input:{told}")
    else:
        assert run(capsys, *command) == [""]


def test_a_test_set_of_another_corpus_is_scored_and_what_of_it_is_known_is_said(
    capsys, runs, tmp_path
):
    run(capsys, "train", "--system", "base", *TINY)
    known = load_pairs("minigerman", "en", "de", "train")
    for language, lines, own in zip(("en", "de"), known, ("It rains.", "Es regnet."), strict=True):
        (tmp_path / f"test.{language}").write_text(f"{lines[0]}\n{own}\n")
    said = run(
        capsys, "evaluate", "base", "--split", f"local:{tmp_path}:test", "--record", "records"
    )
    note = (
        "the training text, minigerman, holds 1 of these 2 pairs, the en side of 0 others and the "
        "de side of 0 others"
    )
    assert note in said[-2]
    record = load_record(Path(said[-1]))
    assert Path(said[-1]).parent == Path("records/minigerman.en-de") and record["sentences"] == 2
    assert note in render_results([record])
    assert verify_records(Path("records")).faults == []
    record["in_train"]["pairs"] = 0
    publish(record, Path("records"))
    assert (
        "pairs in the training text: stored {'pairs': 0, "
        in verify_records(Path("records")).faults[0]
    )
    (tmp_path / "test.en").write_text("It rains.\nIt snows.\n")
    assert (
        "holds 0 of these 2 pairs"
        in run(capsys, "evaluate", "base", "--split", f"local:{tmp_path}:test")[-1]
    ), "another text"


def test_of_your_own_text_nobody_says_what_is_out_of_its_domain():
    """Pairs of Multi30k may be your own text, and its test set is then of the same domain."""
    record = {"split": "multi30k:test", "sentences": 9, "in_train": {"pairs": 1, "en": 2, "de": 3}}
    for corpus, note in (("local:/pairs", "Another corpus: "), ("tatoeba", "Out of domain: ")):
        data = {"corpus": corpus, "source": "en", "target": "de"}
        assert in_train_note(record | {"config": {"data": data}}).startswith(note)


def test_what_is_done_about_leaks_stands_in_every_result(capsys, runs, tmp_path):  # case D7
    for language, lines in zip(
        ("en", "de"), load_pairs("minigerman", "en", "de", "train"), strict=True
    ):
        for split, part in (
            ("train", lines[:300]),
            ("dev", lines[300:320]),
            ("test", [*lines[320:339], lines[7]]),
        ):
            (tmp_path / f"{split}.{language}").write_text("\n".join(part) + "\n")
    code, line = refused(capsys, "train", *TINY, f"data.corpus=local:{tmp_path}")
    assert code == 2 and line.startswith(
        "error: test.en:20: this pair is also train.en:8 (exact); test in train: 1 exact, "
    )
    dropped, allowed = f"local-drop-leaks:{tmp_path}", f"local-allow-leaks:{tmp_path}"
    assert "left out 1 pairs: leak" in [
        " ".join(line.split()) for line in run(capsys, "data", dropped)
    ]
    note = "Leaks were allowed: the training text, {}, holds 1 of these 20 pairs, "
    for name, known in ((dropped, False), (allowed, True)):
        run(capsys, "train", *TINY, f"data.corpus={name}")
        path = Path(run(capsys, "evaluate", "base", "--beam", "1", "--record", "records")[-1])
        tables = render_results([load_record(path)])
        assert f"## {name}, en to de, test" in tables and (note.format(name) in tables) is known
        shutil.rmtree(tmp_path / "runs")
    assert verify_records(Path("records")).faults == []


def kept_evaluation(runs: Path) -> Path:
    (path,) = runs.glob("*/evaluations/*.json")
    return path


def table_beside(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".json") + SUFFIX)


def edit_score(path: Path) -> None:
    record = json.loads(path.read_bytes())
    record["scores"][0]["value"] = 77.7
    path.write_text(json.dumps(record))


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:300]),
        lambda path: path.write_text('{"format": 1}'),
        edit_score,
        lambda path: table_beside(path).write_bytes(bz2.compress(b'"hypothesis"\n"Ja."\n')),
        lambda path: table_beside(path).write_bytes(table_beside(path).read_bytes()[:300]),
        lambda path: table_beside(path).unlink(),
        lambda path: next(path.parent.glob("references.*")).unlink(),
    ],
    ids=[
        "cut",
        "emptied",
        "edited score",
        "another table",
        "cut table",
        "no table",
        "no references",
    ],
)
def test_a_kept_evaluation_that_is_damaged_is_made_again(capsys, runs, damage):
    run(capsys, "train", "--system", "base", *FEW)
    command = ["evaluate", "base", "--split", "dev", "--beam", "1"]
    scores = run(capsys, *command)[:-1]
    whole = hypotheses_of(load_record(kept_evaluation(runs)))
    damage(kept_evaluation(runs))
    assert run(capsys, *command)[:-1] == scores
    assert hypotheses_of(load_record(kept_evaluation(runs))) == whole


@pytest.mark.parametrize(
    "command",
    [["evaluate", "base", "--split", "dev", "--beam", "1"], ["heads", "base", "--split", "dev"]],
)
def test_a_record_is_kept_though_nobody_reads_what_is_printed(
    capsys, runs, tmp_path, monkeypatch, command
):
    own = shutil.copytree(own_folder(few_pairs()), tmp_path / "own")
    # of which a model that has not learned to end makes long sentences
    for path in own.glob("dev.*"):
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    # from German, heads need no parser
    run(capsys, "train", *TINY, f"data.corpus=local:{own}", "data.source=de", "data.target=en")

    def closed(*_, **__):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("click.echo", closed)
    with pytest.raises(SystemExit):
        main([*command, "--record", "records"])
    assert list(Path("records").rglob("base*.json"))


def test_a_run_that_may_only_be_read_is_scored(capsys, runs):
    run(capsys, "train", "--system", "base", *FEW)
    command = ["evaluate", "base", "--split", "dev", "--beam", "1"]
    said = run(capsys, *command)
    folder = kept_evaluation(runs).parent
    shutil.rmtree(folder)
    folder.write_text("")  # nothing can be written below it, not even by root
    with pytest.raises(SystemExit, match="0"):
        main(command)
    found = capsys.readouterr()
    assert (
        found.out.splitlines()[:3] == said[:3]
        and "The scores are not kept beside the run" in found.err
    )


def test_a_kept_evaluation_is_not_made_again(capsys, runs, monkeypatch):
    run(capsys, "train", "--system", "base", *FEW)
    command = ["evaluate", "base", "--split", "dev", "--beam", "1"]
    said = run(capsys, *command)
    monkeypatch.setattr(
        "repro.core.decoding.Translator.search", lambda *_: pytest.fail("translated again")
    )
    assert run(capsys, *command) == said


def test_a_test_set_of_ones_own_that_changed_is_scored_again(capsys, runs, tmp_path):
    """Not train, dev or test of the run's corpus: what is test text now may have trained it."""
    own = tmp_path / "own"
    own.mkdir()
    for split, number in (("train", 300), ("dev", 20), ("test", 20)):
        for language, lines in zip(
            ("en", "de"), load_pairs("minigerman", "en", "de", split), strict=True
        ):
            (own / f"{split}.{language}").write_text("\n".join(lines[:number]) + "\n")
            if split == "test":
                (own / f"tst2013.{language}").write_text("\n".join(lines[20:40]) + "\n")
    for system in ("base", "hc-sa"):
        run(capsys, "train", "--system", system, *TINY, f"data.corpus=local:{own}")
    scored = ("--split", "tst2013", "--beam", "1")
    run(capsys, "evaluate", "base", *scored)
    changed = own / "tst2013.de"
    changed.write_text("\n".join(reversed(changed.read_text().splitlines())) + "\n")
    run(capsys, "compare", "base", "hc-sa", *scored)
    references = {
        load_record(path)["references_sha256"] for path in runs.glob("hc-sa*/evaluations/*.json")
    }
    found = [load_record(path) for path in runs.glob("base*/evaluations/*.json")]
    assert len(found) == 2 and references < {record["references_sha256"] for record in found}


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_a_run_is_not_scored_in_another_text_than_it_was_trained_in(capsys, runs, tmp_path, split):
    own = Path(shutil.copytree(own_folder(few_pairs()), tmp_path / "own"))
    for system in ("base", "hc-sa"):
        run(capsys, "train", "--system", system, *TINY, f"data.corpus=local:{own}")
        run(capsys, "evaluate", system, "--beam", "1")
    text = (own / f"{split}.en").read_text()
    (own / f"{split}.en").write_text(text.replace(" ", " a ", 1))
    for command in (["evaluate", "base"], ["compare", "base", "hc-sa"], ["report", "base"]):
        code, _, said = ended(capsys, *command)
        assert code == 2 and "was trained on another version of local:" in said, command
    (own / f"{split}.en").write_text(text)
    run(capsys, "evaluate", "base", "--beam", "1")


def test_a_model_of_lower_cased_text_gets_lower_case(capsys, runs, monkeypatch):
    run(capsys, "train", "--system", "base", *TINY)
    read = []
    monkeypatch.setattr(
        Subwords,
        "encode",
        lambda _self, sentences: read.append(list(sentences)) or [[]] * len(sentences),
    )
    asked = "The Dog SLEEPS."
    for prepare, expected in ((None, asked), (str.lower, "the dog sleeps.")):
        monkeypatch.setitem(CORPORA, "minigerman", replace(CORPORA["minigerman"], prepare=prepare))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(asked.encode())))
        run(capsys, "translate", "base")
        assert read.pop() == [expected]


def test_an_unfinished_run_cannot_translate(capsys, runs):
    from repro.presets import resolve
    from repro.runs.run import Run

    Run.create(resolve("smoke"))
    code, line = refused(capsys, "translate", "base")
    assert (
        code == 2
        and "is not finished. Fix: start its `repro train` command again; it resumes" in line
    )


def test_a_folder_for_the_record_that_cannot_be_is_refused_before_the_work(
    capsys, runs, monkeypatch
):
    (runs / "r").mkdir(parents=True)
    (runs / "r" / "config.json").write_text("{")
    code, line = refused(capsys, "translate", "r")
    assert code == 4 and line.startswith(
        f"error: {runs / 'r' / 'config.json'}: is not JSON. Fix: restore it, or delete the "
        "run's folder"
    )
    write_json(runs / "r" / "config.json", asdict(resolve("smoke", "base")))
    (runs / "file").touch()
    monkeypatch.setattr("repro.measures.scores.evaluate_run", None)
    code, line = refused(capsys, "evaluate", "r", "--record", str(runs / "file" / "results"))
    assert code == 3 and line.startswith(
        f"error: {runs / 'file' / 'results'}: cannot be written: a file is where a folder must be"
    )


@pytest.mark.parametrize(
    ("second", "line"),
    [
        ("unfinished", "is not finished. Fix: start its"),
        ("of another text", "have different texts. Fix: compare runs of"),
        (
            "of another corpus",
            "are of different corpora or directions. Fix: compare runs of one corpus",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_translated(
    capsys, runs, tmp_path, monkeypatch, second, line
):
    own = Path(shutil.copytree(own_folder(few_pairs()), tmp_path / "own"))
    few = (*TINY, f"data.corpus=local:{own}")
    run(capsys, "train", "--system", "base", *few)
    if second == "unfinished":
        Run.create(resolve("smoke", "hc-sa", overrides=few))
    elif second == "of another text":
        for language in ("en", "de"):
            path = own / f"train.{language}"
            path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
        run(capsys, "train", "--system", "hc-sa", *few)
    else:
        run(capsys, "train", "--system", "hc-sa", *TINY)
    monkeypatch.delattr(Translator, "search")
    assert line in refused(capsys, "compare", "base", "hc-sa")[1]
