"""The pages of results, and what is generated of the pages beside them, written from records."""

import json
import re
import shutil
from pathlib import Path

import pytest
from command_line import ended

from repro.claims.conditions import Judged, Verdict
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.claims.verdict_fields import as_stored
from repro.files import write_json
from repro.papers import PAPERS
from repro.papers.claims_page import MARGINS, claims_page, evidence_page, margins_page
from repro.papers.front import GUIDE, PICTURE, front_page
from repro.papers.summary import (
    BEGIN,
    END,
    commands_to_go_on,
    main_claims_table,
    summary,
)
from repro.papers.verdicts import FORMAT, claims_of
from repro.records.schema import kind_of
from repro.records.sentences import SUFFIX
from repro.records.stored import load_records
from repro.statistics.intervals import Estimate

RESULTS = Path(__file__).resolve().parents[1] / "results"


@pytest.mark.parametrize(
    ("status", "outcomes", "is_so"),
    [
        ("partly", ("holds", "fails"), True),
        ("not reproduced", ("open", "fails"), False),
        ("undecided", ("holds", "open"), False),
    ],
)
def test_a_number_of_one_seed_that_leaves_its_condition_open_decides_nothing(
    status, outcomes, is_so
):
    """The first number is of one seed, the second of no training at all."""
    found = Estimate(2.0, over="8 heads", seeds=(1, 1)), Estimate(-2)
    conditions = tuple(Judged("a >= 0", *pair) for pair in zip(outcomes, found, strict=True))
    assert Verdict("T-01", status, conditions).is_of_one_seed == is_so


def test_update_writes_the_page_of_results_and_no_readme_that_has_no_place_for_them(
    capsys, results
):
    readme = results.parent / "README.md"
    readme.write_text("mine\n")
    told = f"{results / 'README.md'}\n{results / 'behaviour.json'}\n{results / 'MANIFEST.json'}\n"
    assert ended(capsys, "results", str(results), "--update") == (0, told, "")
    assert (results / "README.md").read_text() == ended(capsys, "results", str(results))[1]
    assert readme.read_text() == "mine\n"


def test_each_version_of_a_text_has_a_part_of_the_page(capsys, results):
    """One record of an edited text does not keep all others from being printed."""
    assert "of the text" not in ended(capsys, "results", str(results))[1]
    path = next((results / "minigerman.en-de").glob("hc-sa-*.json"))
    record = json.loads(path.read_bytes())
    record["provenance"] |= {"data_fingerprint": "0" * 64, "started": "2099-01-01T00:00:00+00:00"}
    path.write_text(json.dumps(record))
    code, page, said = ended(capsys, "results", str(results))
    assert code == 0, said
    first, second = (
        f"minigerman, en to de, test, version {number} of the text" for number in (1, 2)
    )
    assert (
        f"- [{second}](#{second.replace(',', '').replace(' ', '-')}): systems: 1, runs: 1" in page
    )
    of_first, of_second = page.partition(f"## {first}\n")[2].split(f"## {second}\n")
    assert "| base | 1 |" in of_first and "| hc-sa | 1 |" not in of_first
    assert "| hc-sa | 1 |" in of_second and "| base | 1 |" not in of_second
    assert ended(capsys, "results", str(results), "--update")[0] == 0


def test_a_main_claim_stands_beside_the_number_that_decides_it(tmp_path):
    """In the column of its scale, though another scale has no verdict on it; the corpus that is
    generated has no column."""
    found = Estimate(
        0.25, -2.0, 2.5, 0.95, seeds=(3, 3), counts_seeds=True, detectable=1.0, unit="BLEU"
    )
    judged = Judged("hc-sa - base >= -1 BLEU", "open", found)
    far = Verdict("Y-01", "undecided", (judged,), planned=5)
    unknown = Verdict("Y-01", "not run", missing="base")
    for scale, verdicts in {
        "smoke": [],
        "enja": [far],
        "multi30k": [],
        "tatoeba": [unknown],
    }.items():
        stored = {verdict.claim: as_stored(verdict, "12345678") for verdict in verdicts}
        write_json(
            tmp_path / "claims" / f"{scale}.json",
            {"format": FORMAT, "scale": scale, "verdicts": stored},
        )
    lines = main_claims_table(tmp_path).split("\n")
    assert lines[0] == "| claim | holds if | reported | multi30k | tatoeba | enja |"
    (line,) = [line for line in lines if line.startswith("| Y-01 ")]
    assert line.endswith(
        "| not run | not run | **undecided**: +0.25, 95 % -2.00 to +2.50, 3 seeds |"
    )
    page = claims_page(tmp_path)
    evidence = {name: evidence_page(name, tmp_path) for name in PAPERS}
    for claim in claims_of():
        named = rf"\n\| \[{claim.name}\]\((\S+)\) \| {re.escape(claim.statement)} \| "
        (link,) = re.findall(named, page)
        name, _, heading = link.partition(".md#")
        assert f"\n\n## {heading.upper()}\n\n```text\n{claim.name} " in evidence[name]
    assert "| -1.2 to +0.4 on eight tasks | not run | not run | not run | undecided |" in page
    assert (
        f"     enja: undecided: {far.reason}\n         {far.evidence[0]}\n"
        "         seeds: 3 of 5 planned seeds\n"
        "         the planned seeds: repro run you2020.table2 --scale enja --seeds 5\n"
    ) in evidence["you2020"]
    assert (
        far.evidence[0]
        == "open: hc-sa - base >= -1 BLEU: +0.25, 95 % -2.00 to +2.50, 3 seeds, detectable 1.00"
    )


def test_update_writes_the_page_of_verdicts_where_there_are_any(capsys, results):
    shutil.copytree(RESULTS / "claims", results / "claims", ignore=shutil.ignore_patterns("*.md"))
    page = results / "claims" / "README.md"
    pictures = [page.with_name(f"{name}.svg") for name in PAPERS]
    papers = [page.with_name(f"{name}.md") for name in PAPERS]
    written = [results / "README.md", page, *papers, *pictures, page.with_name(MARGINS)]
    written += [results / "behaviour.json", results / "MANIFEST.json"]
    told = "".join(f"{path}\n" for path in written)
    assert ended(capsys, "results", str(results), "--update") == (0, told, "")
    assert (
        page.read_text() == claims_page(RESULTS) == (RESULTS / "claims" / "README.md").read_text()
    )
    assert all(path.read_text() == (RESULTS / "claims" / path.name).read_text() for path in papers)


def test_the_stored_margins_are_those_of_the_claims():
    page = margins_page()
    assert page == (RESULTS / "claims" / MARGINS).read_text()
    (row,) = [line for line in page.splitlines() if line.startswith("| Y-02 |")]
    assert row.split(" | ")[2:5] == ["Table 2", "base - hc-all >= 4 BLEU", "2026-11-21"]


def test_update_needs_no_corpus(capsys, results, tmp_path, monkeypatch):
    # not unset: the corpora would be asked of the Hub
    monkeypatch.setenv("REPRO_DATA", str(tmp_path / "none"))
    (path,) = (RESULTS / "multi30k.en-de").glob(
        f"*-{Setting('base').config('multi30k').digest()}.test.json"
    )
    (results / "multi30k.en-de").mkdir()
    tables = path.parent.glob(f"{path.stem}*{SUFFIX}")
    for beside in (path, *tables, *path.parent.glob(f"references.test.*{SUFFIX}")):
        shutil.copy(beside, results / "multi30k.en-de")
    guide = _with_marks(results.parent / GUIDE)
    code, _, message = ended(capsys, "results", str(results), "--update")
    assert (
        (code, message) == (0, "")
        and "of yesterday" not in guide.read_text()
        and (results / "README.md").exists()
    )


def _with_marks(page: Path) -> Path:
    """Write a page with a place for what is generated."""
    page.parent.mkdir(exist_ok=True)
    page.write_text(f"above\n{BEGIN}\nof yesterday\n{END}\nbelow\n")
    return page


def test_update_writes_between_the_marks_of_the_pages_beside_the_results(capsys, results):
    readme, guide = (_with_marks(results.parent / name) for name in ("README.md", GUIDE))
    written = [readme, guide, results / "behaviour.json", results / "MANIFEST.json"]
    told = "".join(f"{path}\n" for path in [results / "README.md", *written])
    assert ended(capsys, "results", str(results), "--update") == (0, told, "")
    for page, generated in ((readme, front_page(results)[0]), (guide, summary(results))):
        assert page.read_text() == f"above\n{BEGIN}\n\n{generated}\n\n{END}\nbelow\n"
    assert not (results.parent / PICTURE).exists()  # there was none to bring up to date


def test_the_page_on_results_holds_their_summary():
    assert f"{BEGIN}\n\n{summary(RESULTS)}\n\n{END}" in (RESULTS.parent / GUIDE).read_text()


@pytest.mark.real_data
def test_the_commands_to_go_on_name_the_papers_that_have_something_left(real_data, monkeypatch):
    records = load_records(RESULTS, None)
    complete = ("raganato2020", "zeng2021", "cui2019")  # nothing of these is left at smoke
    with monkeypatch.context() as patch:
        patch.setattr("repro.papers.summary.PAPERS", complete)
        assert commands_to_go_on([Evidence("smoke", records)]) == ""
    parts = Evidence("smoke", [record for record in records if kind_of(record) != "pruning"])
    assert commands_to_go_on([parts, Evidence("enja", [])]).split("\n") == [
        "- `repro run voita2019 --scale smoke`",
        "- `repro run raganato2020 you2020 voita2019 zeng2021 cui2019 --scale enja`",
    ]
