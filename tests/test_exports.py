"""Results that leave the house: rows for other programs, tables for a paper, figures in files."""

import io
import json
import re
from dataclasses import asdict

import pandas as pd
import pytest
from command_line import ended, refused, run
from few_pairs import few_pairs

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.cli.tables import _about
from repro.papers.export import as_latex, latex_escaped, reference_of
from repro.papers.frames import results as frame_of
from repro.papers.pages import write_figures
from repro.papers.report import Section
from repro.plots.scores import training_curves
from repro.presets import resolve
from repro.records.stored import load_record, load_records, publish
from repro.runs.naming import run_name

TABLE = ("--of", "base", "--of", "hc-sa", "--of", "base/-sa")


def test_rows_are_the_scores_that_fit_the_filters(capsys, results):
    frame = frame_of("scores", results)
    lines = run(capsys, "results", str(results), "--format", "csv", "--metric", "BLEU")
    read = pd.read_csv(io.StringIO("\n".join(lines)))
    wanted = frame[frame["metric"] == "BLEU"]
    assert len(read) == 3 and sorted(read["value"]) == sorted(wanted["value"])
    asked = ("--system", "hc-sa", "--direction", "en-de")
    rows = json.loads("\n".join(run(capsys, "results", str(results), "--format", "json", *asked)))
    assert {row["system"] for row in rows} == {"hc-sa"} and len(rows) == 3
    told = refused(capsys, "results", str(results), "--format", "csv", "--system", "hc-as")[1]
    assert told.startswith("error: --system: no such score has 'hc-as'. Fix: did you mean 'hc-")


def test_options_that_would_do_nothing_are_refused(capsys, results):
    for arguments in (["--system", "base"], ["--of", "base"], ["--format", "csv", "--of", "base"]):
        assert refused(capsys, "results", str(results), *arguments)[0] == 2
    assert refused(capsys, "report", "--format", "svg")[1].startswith("error: --format: wants --fi")


def test_a_paper_table_has_the_intervals_of_the_evidence(capsys, results):
    evidence = Evidence("smoke", load_records(results, None))
    base, hard = Setting("base"), Setting("hc-sa")
    found = evidence.contrast(((1, hard), (-1, base)))
    value = evidence.scores(hard)["scores"][0]["value"]
    page = run(capsys, "results", str(results), "--format", "markdown", *TABLE)
    assert page[0].startswith("| system | BLEU | minus base [95 %] | seeds ")
    assert len(page) == 4, "what was not scored has no row"
    cells = [f"{found.value:+.2f} [{found.low:+.2f}, {found.high:+.2f}]", f"{value:.2f}"]
    assert all(cell in page[3].replace("\\", "") for cell in cells)
    text = "\n".join(run(capsys, "results", str(results), "--format", "latex", *TABLE))
    assert_is_latex(text)
    minus = [cell.replace("-", "$-$") for cell in cells]
    assert "hc-sa & " in text and all(cell in text for cell in minus)
    assert "minigerman test, en to de, at the scale smoke: one training seed. In br" in text


def test_a_table_says_once_what_all_rows_share():
    row = {"system": "base", "BLEU": 30.0, "sd": 0.5, "parameters": 1_234_567, "seeds": 5}
    frame = pd.DataFrame([row, row]).assign(difference=1.0, low=0.5, high=1.5)
    base = Setting("base")

    def written(seeds: list[int]) -> str:
        return as_latex(frame.assign(seeds=seeds), base, "a test", "one")

    same, mixed = written([5, 5]), written([5, 2])
    assert r"a test: mean $\pm$ standard deviation over 5 training seeds. In brackets" in same
    assert "seeds &" not in same and " & 1.23 M " in same
    assert (
        r"over training seeds. In" in mixed and " & seeds & " in mixed and " & 2 & 1.23 M" in mixed
    )
    assert "a test: one training seed. In brackets" in written([1, 1])
    small = frame.assign(seeds=1, parameters=45_824)
    assert " & 45.8 k " in as_latex(small, base, "a test", "one")


def test_a_caption_names_the_folder_of_your_own_text_alone():
    config = resolve("smoke", overrides=("data.corpus=local:/home/me/news",))
    assert _about(config, "my-1a2b", "test") == "news test, en to de, at the scale my-1a2b"


def test_differences_are_within_a_direction_and_a_corpus():
    base, back = Setting("base"), Setting("hc-sa", reverse=True)
    assert reference_of(Setting("hc-sa"), base, "smoke") == base
    assert reference_of(back, base, "smoke") == Setting("base", reverse=True)
    elsewhere = Setting("hc-sa", ("data.corpus=multi30k",))
    assert reference_of(elsewhere, base, "smoke") is None


def assert_is_latex(text: str) -> None:
    """Check what LaTeX would: environments are nested, rows complete, special letters escaped."""
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", text):
        assert kind == "begin" or opened.pop() == name
        opened += [name] if kind == "begin" else []
    assert not opened and text.count("{") == text.count("}")
    (columns,) = re.findall(r"\\begin\{tabular\}\{(\w+)\}", text)
    body = text.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    rows = [line for line in body.splitlines() if line.strip().endswith(r"\\")]
    assert len(rows) == 3 and all(row.count(" & ") == len(columns) - 1 for row in rows)
    assert not re.search(r"(?<!\\)[%#_]", body) and body.isascii()


def test_letters_with_a_meaning_in_latex_are_escaped():
    text = r"a_b & 100 % #1 {x} ~ ^ $ \ ± " + "\u2212"
    shown = r"a\_b \& 100 \% \#1 \{x\} \textasciitilde{} \textasciicircum{} \$ \textbackslash{} "
    assert latex_escaped(text) == shown + r"$\pm$ $-$"


def test_figures_are_written_by_the_name_of_their_section(tmp_path):
    lines = [{"update": update, "nll": 5.0 / update} for update in (1, 2, 3)]
    figure = training_curves({"base": lines})
    parts = [Section("", {"one": figure, "two": figure}, "p.figure1"), Section("", {}, "none")]
    for ending, begins in (("pdf", b"%PDF"), ("svg", b"<")):
        paths = write_figures([*parts, Section("", {"x": figure}, "p.table2")], tmp_path, ending)
        names = [f"p.figure1-1.{ending}", f"p.figure1-2.{ending}", f"p.table2.{ending}"]
        assert [path.name for path in paths] == names
        assert all(path.read_bytes().startswith(begins) for path in paths)


@pytest.mark.usefixtures("runs")
def test_commands_print_json_when_asked(capsys, results):
    def of(*arguments: str):
        code, out, error = ended(capsys, *arguments, "--json")
        assert code == 0, error
        return json.loads(out)

    folder = ("--results", str(results))
    compared = of("compare", "base", "hc-sa", *folder)
    base, hard = (run_name(Setting(name).config("smoke")) for name in ("base", "hc-sa"))
    assert (compared["first"], compared["second"], compared["split"]) == ([base], [hard], "test")
    bleu = compared["scores"][0]
    assert bleu["metric"] == "BLEU" and bleu["low"] < bleu["difference"] < bleu["high"]
    assert bleu["difference"] == pytest.approx(bleu["second"] - bleu["first"])
    (claim,) = of("claims", "Y-02", *folder)
    assert claim["claim"] == "Y-02" and claim["status"] and claim["evidence"]
    data = of("data", few_pairs())
    assert data["pairs"] == {"train": 400, "dev": 20, "test": 4} and data["train_pairs"] == 400


@pytest.mark.parametrize("spec", ["mine.py", "gaussian"])
def test_a_variant_of_ones_own_is_in_a_table_of_systems(capsys, results, spec):
    (stored,) = (results / "minigerman.en-de").glob("hc-sa-*.test.json")
    config = resolve("smoke", overrides=(f"model.encoder_self={spec}",))
    name = f"encoder_self={spec}"
    own = {"system": name, "run": run_name(config), "config_digest": config.digest()}
    publish(load_record(stored) | own | {"config": json.loads(json.dumps(asdict(config)))}, results)
    asked = ("results", str(results), "--format", "markdown")
    page = run(capsys, *asked, "--of", "base", "--of", name)
    assert len(page) == 4 and page[3].startswith(f"| base (model.{name})")
    hard = run(capsys, *asked, "--of", "hc-sa")[2]
    assert page[3].split("|")[2:] == hard.split("|")[2:]
    assert page[3] in run(capsys, *asked), "without --of, too"
    assert "minus base (model." in run(capsys, *asked, "--against", name)[0]
    told = refused(capsys, *asked, "--of", f"{name}x")[1]
    assert told.startswith(f"error: {name}x: is not a system. Fix: did you mean '{name}'?")


def test_a_forgotten_scale_is_named_with_what_the_folder_holds(capsys, results, tmp_path):
    wrong = ("--scale", "tatoeba")
    line = (
        f"error: {results}: holds no scores of test at tatoeba, but some of minigerman test en-de. "
        "Fix: give their --scale, such as my.toml, or another folder"
    )
    assert refused(capsys, "results", str(results), "--format", "latex", *wrong) == (2, line)
    hint = line.removeprefix("error: ")
    folder = ("--results", str(results))
    run(capsys, "claims", "Y-01", *folder)
    code, _, told = ended(capsys, "claims", "Y-01", *wrong, *folder)
    assert code == 0 and told.strip() == hint.replace("en-de. ", "en-de (judged at smoke). ")
    assert ended(capsys, "claims", "Y-01", *folder)[2] == ""
    absent = refused(capsys, "results", str(results), "--format", "latex", "--of", "mma")[1]
    assert absent.startswith("error: smoke test: there are no scores of mma. Fix: train them with")
