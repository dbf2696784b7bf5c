"""The command line: the whole path, and what it says to mistakes."""

import errno
import io
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from few_pairs import few_pairs

from repro.__main__ import main
from repro.data.catalogue import CORPORA
from repro.data.corpora import load_pairs
from repro.decoding import SearchConfig, Translator
from repro.errors import Stopped
from repro.files import write_json
from repro.papers.verify import verify_records
from repro.records import load_record, publish
from repro.report import render_results
from repro.runs import Run
from repro.scales import resolve

TINY = ["data.train_pairs=300", "data.vocab_size=300", "train.max_updates=6", "train.eval_every=3", "train.batch_tokens=400"]
FEW = [*TINY, f"data.corpus={few_pairs()}"]


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def refused(capsys, *arguments: str) -> tuple[int, str]:
    """Run a command that must fail; return its exit code and its one line."""
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    lines = capsys.readouterr().err.strip().split("\n")
    assert len(lines) == 1 and len(lines[0]) <= 300
    return stopped.value.code, lines[0]


MISTAKES = [
    (["train", "--variant", "hcsa"], "error: --variant: unknown variant 'hcsa'. Fix: did you mean 'hc-sa'? Known: base, hc-sa"),
    (["train", "--scale", "smok"], "error: --scale: unknown scale 'smok'. Fix: did you mean 'smoke'? Known: "),
    (["train", "model.n_heads=4"], "error: model.n_heads=4: unknown option 'model.n_heads'. Fix: did you mean 'model.num_heads'? Known: "),
    (["train", "dropout"], "error: dropout: is not key=value. Fix: "),
    (["train", "model.num_heads"], "error: model.num_heads: has no value. Fix: write model.num_heads=VALUE"),
    (
        ["train", "train.clip_norm=1e99"],
        "error: train.clip_norm: must be above 0 and below 1,000,000, found 1e+99. Fix: use a positive number",
    ),
    (["train", "model.num_heads=7"], "error: model.num_heads: 7 heads do not divide embed_dim 64. Fix: use 4 or 8"),
    (["train", "model.num_heads=4.5"], "error: model.num_heads: wants int, found 4.5. Fix: give one int"),
    (["train", 'model.num_heads="4"'], "error: model.num_heads: wants int, found '4'. Fix: give one int"),
    (["train", "model.num_heads=true"], "error: model.num_heads: wants int, found True. Fix: give one int"),
    (["train", "model.num_heads=null"], "error: model.num_heads: wants int, found None. Fix: give one int"),
    (["train", "train.learning_rate=NaN"], "error: train.learning_rate: wants float, found nan. Fix: give one float"),
    (["train", 'model.gated_sites=["cross", "cross"]'], "error: model.gated_sites: names a site twice: cross, cross. Fix: name each once"),
    (["train", "model.gated_sites=cross"], "error: model.gated_sites: wants list of str, found 'cross'. Fix: write a list, as in ["),
    (
        ["train", "train.learning_rate=-1"],
        "error: train.learning_rate: must be above 0 and below 1,000,000, found -1.0. Fix: use a positive number",
    ),
    (["train", "train.max_updates=0"], "error: train.max_updates: must be at least 1, found 0. Fix: use 1 or more"),
    (["train", "model.dropout=1"], "error: model.dropout: must be at least 0 and below 1, found 1.0. Fix: use a value in [0, 1)"),
    (["train", "model.norm=middle"], "error: model.norm: unknown value 'middle'. Fix: use one of post, pre"),
    (
        ["train", "model.encoder_self=gausian"],
        "error: model.encoder_self: unknown attention 'gausian'. Fix: did you mean 'gaussian'? Known: ",
    ),
    (["train", "--direction", "ende"], "error: --direction: 'ende' is not a direction. Fix: write source-target, for example de-en"),
    (["train", "--direction", "en-en"], "error: --direction: source and target are both 'en'. Fix: choose two languages"),
    (["train", "data.target=en"], "error: data: source and target are both 'en'. Fix: choose two languages"),
    (["train", "--direction", "en-fi"], "error: minigerman: has no language 'fi'. Fix: "),
    (["train", "data.corpus=multi3k"], "error: data.corpus: unknown corpus 'multi3k'. Fix: did you mean 'multi30k'? Known: "),
    (["data", "minigerman", "--direction", "en-en"], "error: --direction: source and target are both 'en'. Fix: choose two languages"),
    (["data", "minigermann"], "error: data.corpus: unknown corpus 'minigermann'. Fix: did you mean 'minigerman'? Known: "),
    (["translate", "nothing"], "error: nothing: no such run in "),
    (["evaluate", "nothing"], "error: nothing: no such run in "),
    (["compare", "nothing", "else"], "error: nothing: no such run in "),
    (["train", "train.seed=1", "train.seed=2"], "error: train.seed=2: 'train.seed' is given more than once. Fix: give it once"),
    (["train", "--seed", "-1"], "error: train.seed: must be at least 0 and below 2^63, found -1. Fix: "),
    (["train", "train.seed=" + "[" * 20_000], "error: train.seed: wants int, found '[[["),
    (["train", "model.embed_dim=0"], "error: model.embed_dim: must be at least 2, found 0. Fix: use an even width"),
    (["train", "model.gate_init=1e300"], "error: model.gate_init: must be from -100 to 100, found 1e+300. Fix: "),
    (["train", "model.cross=gaussian(std=1, std=2)"], "error: model.cross: cannot read the options of 'gaussian(std=1, std=2)'. Fix: "),
    (["train", "model.cross=gaussian(std=1)(std=2)"], "error: model.cross: cannot read the options of 'gaussian(std=1)(std=2)'. Fix: "),
    (["train", "model.cross=gaussian(std={[]: 1})"], "error: model.cross: cannot read the options of 'gaussian(std={[]: 1})'. Fix: "),
    (["data", "local:~nobody-of-that-name/x"], "error: ~nobody-of-that-name/x: is not a folder. Fix: "),
    (["report", "--out", "page.html"], "error: --out: page.html is no name for Markdown. Fix: "),
    (["report", "--out", "/"], "error: --out: / is no name for Markdown. Fix: "),
    (["run", "bsae"], "error: bsae: is no paper, experiment or system. Fix: did you mean 'base'? Known: "),
    (["run", "base", "--out", "page.html"], "error: --out: page.html is no name for Markdown. Fix: "),
    (["run", "base", "--jobs", "0"], "error: --jobs: must be at least 1, found 0. Fix: use 1 or more"),
    (["run", "base", "--seeds", "10"], "error: --seeds: must be from 1 to 9, found 10. Fix: "),
    (["report"], "error: results: is no folder of results. Fix: name the folder that `repro run` made"),
    (["evaluate", "a\nb\x1b[2J"], "error: a\\u000ab\\u001b[2J: "),
    (["claims"], "error: results: is no folder of results. Fix: name the folder that `repro run` made"),
]


@pytest.mark.parametrize("arguments, line", MISTAKES, ids=[" ".join(arguments)[:60] for arguments, _ in MISTAKES])
def test_a_mistake_is_one_line_with_place_cause_and_mend(capsys, arguments, line):
    code, found = refused(capsys, *arguments)
    assert code == 2
    assert found.startswith(line)


def test_options_that_need_each_other_may_come_in_any_order():
    for overrides in itertools.permutations(("model.embed_dim=90", "model.num_heads=6")):
        assert resolve("smoke", overrides=overrides).model.embed_dim == 90
    assert resolve("smoke", overrides=("data.source=de", "data.target=en")).data.target == "en"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "stopped"),
        (PermissionError(13, "Permission denied", "x/y"), 3, "error: x/y: cannot be read or written (Permission denied). Fix: "),
        (Stopped(143, 0), 143, "stopped after update 0; the same command resumes there"),
        (MemoryError(), 3, "error: memory: there is not enough of it"),
        (RuntimeError("CUDA out of memory. Tried to allocate"), 3, "error: memory: there is not enough of it"),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
            3,
            "error: memory: there is not enough of it",
        ),
        (RuntimeError("something else"), 70, "error: a bug in repro: RuntimeError: something else. The traceback is in "),
    ],
)
def test_what_the_machine_refuses_is_a_line_and_no_bug(monkeypatch, capsys, tmp_path, error, code, line):
    def fail(*_):
        raise error

    monkeypatch.setattr("repro.data.corpora.load_corpus", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = refused(capsys, "data", "minigerman")
    assert found[0] == code and found[1].startswith(line)
    kept = [path.read_text() for path in tmp_path.iterdir()]
    assert [text.startswith("Traceback") and str(error) in text for text in kept] == ([True] if code == 70 else [])


def test_mistakes_are_answered_before_torch_is_imported(tmp_path):
    """What half a second forbids; the time itself is measured in benchmarks."""
    for arguments in (["train", "--variant", "x"], ["train", "model.encoder_self=x"], ["translate", "x"], ["data", "x"], ["--help"]):
        code = f"import sys, repro.__main__ as m\ntry: m.main({arguments!r})\nexcept SystemExit: print('torch' in sys.modules)"
        answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
        assert answer.stdout.strip().endswith("False"), arguments


def test_help_teaches(capsys):
    for command in ([], ["train"], ["translate"], ["data"], ["compare"]):
        with pytest.raises(SystemExit):
            main([*command, "--help"])
    text = capsys.readouterr().out
    assert re.search(r"^  claims +Judge .*\.$", text, re.M) and not re.search(r"^  [a-z]+ .*\.\.\.$", text, re.M), "summaries are whole"
    assert "repro train --scale smoke --variant hc-sa" in text and "model.encoder_self=gaussian(std=0.5)" in text


def test_variants_lists_systems_and_attention(capsys):
    with pytest.raises(SystemExit):
        main(["variants"])
    text = capsys.readouterr().out
    assert "hc-sa" in text and "encoder_self=gaussian" in text
    assert "  multi30k      multi30k, en to de; 4+4 layers, 128 wide, 4 heads; 5,500 updates of up to 2,048 tokens\n" in text
    assert "You, Sun, Iyyer: Hard-Coded Gaussian Attention" in text
    assert re.search(r"sites: encoder_self, decoder_self, cross; learned parameters .*: 0\n", text)
    assert re.search(r"sites: encoder_self, decoder_self; learned parameters in .*: 590,592\n", text), "RAN: 8 x 256^2 + 256^2 + 3 x 256"
    assert re.search(r"sites: encoder_self, decoder_self, cross; learned parameters .*: 3,145,728\n", text), "dot product: 6 x 2 x 512^2"


def run(capsys, *arguments: str) -> list[str]:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    captured = capsys.readouterr()
    assert stopped.value.code == 0, captured.err
    return captured.out.rstrip("\n").split("\n")


def test_the_whole_path(capsys, runs, tmp_path):
    assert Path(run(capsys, "train", "--variant", "base", *FEW)[-1]).parent == runs
    run(capsys, "train", "--variant", "hc-sa", *FEW)
    scores = run(capsys, "evaluate", "base", "--split", "dev", "--beam", "1", "--record", "records")
    assert re.fullmatch(r" *\d+\.\d\d  BLEU  nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:2.*", scores[0])
    assert Path(scores[-1]).is_file()
    compared = run(capsys, "compare", "base", "hc-sa", "--split", "dev", "--beam", "1")
    assert re.match(r"BLEU: \d+\.\d\d - \d+\.\d\d = [+-]\d+\.\d\d, 95 % interval .* p = [01]\.\d{3}  nrefs:1", compared[1])
    assert compared[-1] == "over test sentences: one training run each says nothing about other seeds"
    report = run(capsys, "report", "base", "hc-sa", "--split", "dev")
    text = Path(report[-1]).read_text()
    few = r" \(data\.train_pairs=300, [^|]*\)"  # a corpus of one's own has no scale: what differs from smoke is said
    assert re.search(rf"\n\| base{few} \|", text) and re.search(rf"\| hc-sa{few} - base{few} \| BLEU \|", text) and "tok:13a" in text

    sentences = "The dog sleeps.\n\n  \nThe old man sees a tree"
    command = [sys.executable, "-m", "repro", "translate", "base", "--beam", "2"]
    answer = subprocess.run(command, input=sentences.encode(), capture_output=True, check=True, env=os.environ)
    lines = answer.stdout.decode().split("\n")
    assert len(lines) == 5 and lines[1] == lines[2] == lines[4] == ""
    cut = sum(found.cut for found in Translator.from_run(Run.find("base")).search(sentences.split("\n"), SearchConfig(beam=2)))
    told = f"{cut} of 4 translations would have gone on; they were cut at the limit of their length\n"
    assert answer.stderr.decode() == (told if cut else "") and cut, "this model has not learned to end"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (b"", None),
        ("The dog sleeps.\n".encode("utf-16-le"), "1: byte 0x54 starts UTF-16LE, not UTF-8. Fix: iconv -f UTF-16LE -t UTF-8"),
        (b"gut\nsch\xf6n\n", "2: byte 0xF6 is not UTF-8. Fix: convert the text, for example: iconv -f latin1 -t utf8"),
    ],
)
def test_what_is_no_text_is_not_translated(capsys, monkeypatch, given, told):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    command = ["translate", str(Path(__file__).parents[1] / "gallery" / "base")]
    if told:
        assert refused(capsys, *command) == (2, f"error: standard input:{told}")
    else:
        assert run(capsys, *command) == [""]


def test_a_test_set_of_another_corpus_is_scored_and_what_of_it_is_known_is_said(capsys, runs, tmp_path):
    run(capsys, "train", "--variant", "base", *TINY)
    known = load_pairs("minigerman", "en", "de", "train")
    for language, lines, own in zip(("en", "de"), known, ("It rains.", "Es regnet."), strict=True):
        (tmp_path / f"test.{language}").write_text(f"{lines[0]}\n{own}\n")
    said = run(capsys, "evaluate", "base", "--split", f"local:{tmp_path}:test", "--record", "records")
    note = "the training text, minigerman, holds 1 of these 2 pairs, the en side of 0 others and the de side of 0 others"
    assert note in said[-2]
    record = load_record(Path(said[-1]))
    assert Path(said[-1]).parent == Path("records/minigerman.en-de") and len(record["hypotheses"]) == 2
    assert note in render_results([record])
    assert verify_records(Path("records"), pytest.fail) == []
    record["in_train"]["pairs"] = 0
    publish(record, Path("records"))
    assert "pairs in the training text: stored {'pairs': 0, " in verify_records(Path("records"), pytest.fail)[0]
    (tmp_path / "test.en").write_text("It rains.\nIt snows.\n")
    assert "holds 0 of these 2 pairs" in run(capsys, "evaluate", "base", "--split", f"local:{tmp_path}:test")[-1], "another text"


def test_what_is_done_about_leaks_stands_in_every_result(capsys, runs, tmp_path):  # case D7
    for language, lines in zip(("en", "de"), load_pairs("minigerman", "en", "de", "train"), strict=True):
        for split, part in (("train", lines[:300]), ("dev", lines[300:320]), ("test", [*lines[320:339], lines[7]])):
            (tmp_path / f"{split}.{language}").write_text("\n".join(part) + "\n")
    code, line = refused(capsys, "train", *TINY, f"data.corpus=local:{tmp_path}")
    assert code == 2 and line.startswith("error: test.en:20: this pair is also train.en:8 (exact); test in train: 1 exact, ")
    dropped, allowed = f"local-drop-leaks:{tmp_path}", f"local-allow-leaks:{tmp_path}"
    assert "left out 1 pairs: leak" in [" ".join(line.split()) for line in run(capsys, "data", dropped)]
    note = "Leaks were allowed: the training text, {}, holds 1 of these 20 pairs, "
    for name, known in ((dropped, False), (allowed, True)):
        run(capsys, "train", *TINY, f"data.corpus={name}")
        path = Path(run(capsys, "evaluate", "base", "--beam", "1", "--record", "records")[-1])
        tables = render_results([load_record(path)])
        assert f"## {name}, en to de, test" in tables and (note.format(name) in tables) is known
        shutil.rmtree(tmp_path / "runs")
    assert verify_records(Path("records"), pytest.fail) == []


def kept_evaluation(runs: Path) -> Path:
    (path,) = runs.glob("*/evaluations/*.json")
    return path


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
        lambda path: path.write_text(path.read_text().replace('"hypotheses": [', '"hypotheses": ["Ja.",')),
    ],
    ids=["cut", "emptied", "edited score", "a translation more"],
)
def test_a_kept_evaluation_that_is_damaged_is_made_again(capsys, runs, damage):
    run(capsys, "train", "--variant", "base", *FEW)
    command = ["evaluate", "base", "--split", "dev", "--beam", "1"]
    scores = run(capsys, *command)[:-1]
    whole = load_record(kept_evaluation(runs))["hypotheses"]
    damage(kept_evaluation(runs))
    assert run(capsys, *command)[:-1] == scores
    assert load_record(kept_evaluation(runs))["hypotheses"] == whole


@pytest.mark.parametrize("command", [["evaluate", "base", "--split", "dev", "--beam", "1"], ["heads", "base", "--split", "dev"]])
def test_a_record_is_kept_though_nobody_reads_what_is_printed(capsys, runs, monkeypatch, command):
    run(capsys, "train", *FEW, "data.source=de", "data.target=en")  # from German, heads need no parser

    def closed(*_, **__):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("click.echo", closed)
    with pytest.raises(SystemExit):
        main([*command, "--record", "records"])
    assert list(Path("records").rglob("base*.json"))


def test_a_run_that_may_only_be_read_is_scored(capsys, runs):
    run(capsys, "train", "--variant", "base", *FEW)
    command = ["evaluate", "base", "--split", "dev", "--beam", "1"]
    said = run(capsys, *command)
    folder = kept_evaluation(runs).parent
    shutil.rmtree(folder)
    folder.write_text("")  # nothing can be written below it, not even by root
    with pytest.raises(SystemExit, match="0"):
        main(command)
    found = capsys.readouterr()
    assert found.out.splitlines()[:3] == said[:3] and "The scores are not kept beside the run" in found.err


def test_a_kept_evaluation_is_not_made_again(capsys, runs, monkeypatch):
    run(capsys, "train", "--variant", "base", *FEW)
    command = ["evaluate", "base", "--split", "dev", "--beam", "1"]
    said = run(capsys, *command)
    monkeypatch.setattr("repro.decoding.Translator.translate", lambda *_: pytest.fail("translated again"))
    assert run(capsys, *command) == said


def test_own_text_that_changed_is_scored_again(capsys, runs, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    for split, number in (("train", 300), ("dev", 20), ("test", 20)):
        for language, lines in zip(("en", "de"), load_pairs("minigerman", "en", "de", split), strict=True):
            (own / f"{split}.{language}").write_text("\n".join(lines[:number]) + "\n")
    for system in ("base", "hc-sa"):
        run(capsys, "train", "--variant", system, *TINY, f"data.corpus=local:{own}")
    run(capsys, "evaluate", "base", "--beam", "1")
    changed = own / "test.de"
    changed.write_text("\n".join(reversed(changed.read_text().splitlines())) + "\n")
    run(capsys, "compare", "base", "hc-sa", "--beam", "1")
    references = {load_record(path)["references_sha256"] for path in runs.glob("hc-sa*/evaluations/*.json")}
    found = [load_record(path) for path in runs.glob("base*/evaluations/*.json")]
    assert len(found) == 2 and references < {record["references_sha256"] for record in found}


def test_a_model_of_lower_cased_text_gets_lower_case(capsys, runs, monkeypatch):
    run(capsys, "train", "--variant", "base", *TINY)
    monkeypatch.setattr(
        Translator, "search", lambda _self, sentences, _search: [SimpleNamespace(text=text, cut=False) for text in sentences]
    )
    monkeypatch.setattr(Translator, "texts", lambda _self, found: [hypothesis.text for hypothesis in found])
    asked = "The Dog SLEEPS."
    for prepare, expected in ((None, asked), (str.lower, "the dog sleeps.")):
        monkeypatch.setitem(CORPORA, "minigerman", replace(CORPORA["minigerman"], prepare=prepare))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(asked.encode())))
        assert run(capsys, "translate", "base") == [expected]


def test_data_prints_the_columns_of_the_papers_table(capsys):
    text = "\n".join(run(capsys, "data", "minigerman"))
    assert re.search(r"train +20,000 pairs", text) and re.search(r"mean length +\d+\.\d en words, \d+\.\d de words", text)
    assert re.search(r"fingerprint +[0-9a-f]{64}", text)


def test_an_unfinished_run_cannot_translate(capsys, runs):
    from repro.runs import Run
    from repro.scales import resolve

    Run.create(resolve("smoke"))
    code, line = refused(capsys, "translate", "base")
    assert code == 2 and "is not finished. Fix: start its `repro train` command again; it resumes" in line


def test_what_the_encoding_of_the_output_lacks_is_named(capsys, monkeypatch):
    monkeypatch.setattr("repro.catalogue.list_systems", lambda: "größer als Ω")
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), "latin-1"))
    assert refused(capsys, "variants") == (3, "error: output: 'Ω' cannot be written in latin-1. Fix: set PYTHONIOENCODING=utf-8")


def test_an_interrupt_that_a_library_turns_into_another_error_is_no_bug(capsys, monkeypatch):
    def importing(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise ImportError("cannot load module more than once per process") from error

    monkeypatch.setattr("repro.catalogue.list_systems", importing)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores Ctrl-C
    try:
        assert refused(capsys, "variants") == (130, "stopped")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_folder_for_the_record_that_cannot_be_is_refused_before_the_work(capsys, runs, monkeypatch):
    (runs / "r").mkdir(parents=True)
    (runs / "r" / "config.json").write_text("{")
    code, line = refused(capsys, "translate", "r")
    assert code == 4 and line.startswith(f"error: {runs / 'r' / 'config.json'}: is not JSON. Fix: restore it, or delete the run's folder")
    write_json(runs / "r" / "config.json", asdict(resolve("smoke", "base")))
    (runs / "file").touch()
    monkeypatch.setattr("repro.records.evaluate_run", None)
    code, line = refused(capsys, "evaluate", "r", "--record", str(runs / "file" / "results"))
    assert code == 3 and line.startswith(f"error: {runs / 'file' / 'results'}: cannot be read or written")


def test_pairs_left_out_and_leaks_are_shown_with_their_places(capsys, tmp_path):
    for split, lines in {"train": ["eins", "", "zwei"], "dev": ["drei"], "test": ["vier", "zwei"]}.items():
        for language in ("de", "en"):
            (tmp_path / f"{split}.{language}").write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(SystemExit):
        main(["data", f"local-allow-leaks:{tmp_path}", "--skipped", "skipped.tsv"])
    page = capsys.readouterr().out
    assert "test in train: 1 exact, 0 normalised, one side 0; first test.de:2 = train.de:3 (exact)" in page
    assert Path("skipped.tsv").read_text() == "split\tfile\tline\treason\ntrain\ttrain.de\t2\tblank\n"


def test_our_own_bug_is_one_line_and_its_traceback_is_kept(capsys, monkeypatch):
    monkeypatch.setattr("repro.scales.resolve", lambda *arguments: 1 / 0)
    code, line = refused(capsys, "train")
    assert code == 70 and line.startswith("error: a bug in repro: ZeroDivisionError: division by zero. The traceback is in ")
    kept = Path(re.search(r"is in (\S+);", line)[1])
    assert "Traceback" in kept.read_text()
    kept.unlink()
    with pytest.raises(ZeroDivisionError):
        main(["--debug", "train"])
