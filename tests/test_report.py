"""Tables and the page of the five papers: what is a number, where links lead, and what is said of
printed numbers."""

import re
import shlex
from dataclasses import asdict

import pytest

from repro.claims.conditions import STATUSES
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.attention.spec import build_weights
from repro.core.attention.variants import VARIANTS
from repro.core.config import SITES
from repro.core.decoding import SearchConfig
from repro.markdown import table
from repro.papers import find_experiments
from repro.papers.pages import MARKED, as_html, as_markdown
from repro.papers.report import Section, _costs, report_sections
from repro.papers.tables import Row, score_table
from repro.papers.verdicts import claims_of
from repro.presets import SCALES, SYSTEMS, resolve
from repro.records.report import _made_with, costs_table, label_of, means_table, said_once

NUMBERS = [
    "30.3",
    "1,234",
    "-1.20 to +0.40",
    "57.12 ± 0.3",
    "+7.85 (+6.31 to +9.43)",
    "12%",
    "23.6 %",
    "3 of 8",
    "3e-05",
    "9.2K",
]
TEXTS = ["base", "7Ftoken+1L", "8L", "1.1 to 3.3 BLEU", "2 x cpu", "R-06", "none", "~30.3"]


@pytest.mark.parametrize("cell", NUMBERS)
def test_a_column_of_numbers_is_set_right(cell):
    rows = [[cell, cell], ["", "base"], ["-", "-"], ["not run", cell], ["hc-sa not run", ""]]
    assert table(["a", "b"], rows).splitlines()[1] == "| ---: | --- |"


@pytest.mark.parametrize("cell", TEXTS)
def test_a_column_with_text_is_set_left(cell):
    assert table(["a", "b"], [["1", cell], ["2", "3"]]).splitlines()[1] == "| ---: | --- |"


def test_a_column_without_anything_is_set_left():
    assert table(["a", "b"], [["", "1"], ["-", "2"]]).splitlines()[1] == "| --- | ---: |"
    assert table(["a", "b"], []).splitlines() == ["| a | b |", "| --- | --- |"]


def test_the_title_of_a_page_is_text():
    """It names what was typed, and a folder may have any name."""
    page = as_html([Section("# One", {}, "one")], "data.corpus=local:t</title><script>")
    assert "local:t&lt;/title&gt;&lt;script&gt;</title>" in page


def test_the_page_aligns_as_markdown_says():
    html = as_html(
        [Section("# T\n\n" + table(["system", "BLEU"], [["base", "30.3"]]), {}, "verdicts")], "t"
    )
    body = html[html.index("</head>") :]
    assert "<td>base</td>" in body and '<td style="text-align:right">30.3</td>' in body
    (rule,) = re.findall(r"th, td \{([^}]*)\}", html)
    assert "text-align: left" in rule  # what Markdown leaves open
    assert "text-align: right" not in html[html.index("<style>") : html.index("</style>")]


# Costs


def costed(name: str, seconds: float, threads: int = 1, **train: str | int | None) -> dict:
    """Return what the tables of costs read of a record."""
    config = asdict(Setting("base").config("smoke"))
    return {
        "run": name,
        "system": "base",
        "seed": 1,
        "split": "test",
        "config": config | {"train": config["train"] | train},
        "config_digest": name,
        "training": {
            "parameters": 9,
            "update": 700,
            "seconds": seconds,
            "target_tokens_per_second": 8000,
            "joules": {"package-0": 5.0},
        },
        "search": asdict(SearchConfig()),
        "decoding": {"sentences_per_second": 300.0},
        "provenance": {
            "threads": threads,
            "device": "cpu",
            "processor": "p",
            "commit": "c",
            "versions": {"torch": "2"},
        },
    }


DONOR = costed("donor", 50, threads=2)
PRUNED = costed("pruned", 20, start_from="donor")
CUT = costed("cut", 20, start_from="donor", cut_from="pruned")


def cells(text: str) -> list[str]:
    """Return the lines of the first table of a text, without system and seed."""
    return [line.split(" | ", 2)[2] for line in text.split("\n\n")[0].split("\n")[2:]]


def test_costs_say_on_which_device_with_how_many_threads_and_where_speeds_are_compared():
    text = costs_table([DONOR, costed("alone", 60)])
    assert cells(text) == [
        "9 | 700 | 50 | 5 | 8,000 | 2 | cpu | 300.0 |",
        "9 | 700 | 60 | 5 | 8,000 | 1 | cpu | 300.0 |",
    ]
    assert "| target tokens/s in training | threads | device |" in text
    assert (
        "do not compare speeds by these seconds" in text
        and "`benchmarks/RESULTS.md`" in text
        and "you2020.table3" in text
    )
    assert "train.start_from" not in text
    assert "other work meanwhile, and numbers of threads differ: do not" in text
    assert "other work meanwhile: do not" in costs_table([DONOR, DONOR])
    elsewhere = DONOR | {"provenance": DONOR["provenance"] | {"processor": "q"}}
    assert "other work meanwhile, and machines differ: do not" in costs_table([DONOR, elsewhere])
    assert _made_with([DONOR, PRUNED]).split("\n") == [
        f"- {name}: commit c, cpu, threads {n}, p, torch 2"
        for name, n in (("donor", 2), ("pruned", 1))
    ]
    assert _made_with([DONOR, PRUNED, costed("alone", 9, threads=2), DONOR]).split("\n")[0] == (
        "- donor, alone: commit c, cpu, threads 2, p, torch 2"
    )


def test_what_was_pruned_costs_what_it_started_from_too_and_what_was_cut_out_no_training():
    text = costs_table([DONOR, PRUNED, CUT])
    assert cells(text)[1:] == [
        "9 | 700 + 700 | 20 + 50 | 5 + 5 | 8,000 | 1 | cpu | 300.0 |",
        "9 | - | - | - | - | 1 | cpu | 300.0 |",
    ]
    assert "a + b: this run took a, the run from which it goes on" in text
    assert cells(costs_table([PRUNED])) == [
        "9 | 700 + ? | 20 + ? | 5 + ? | 8,000 | 1 | cpu | 300.0 |"
    ]


def test_the_costs_of_a_scale_are_told_in_the_same_way():
    text = _costs(Evidence("smoke", [DONOR, PRUNED, CUT]))
    assert (
        "| pruned | 1 | 9 | 700 + 700 | 20 + 50 | 5 + 5 | 8,000 | 1 | 1 |" in text
        and "| cut | 1 | 9 | - | - | - | - | 1 | 1 |" in text
    )
    assert (
        "- machine 1: cpu, p\n" in text
        and "a + b: this run took a" in text
        and "do not compare speeds" in text
    )


def test_seeds_of_one_system_have_a_mean_and_other_conditions_another():
    def scored(seed: int, value: float, **train) -> dict:
        record = costed(f"run{seed}", 1, seed=seed, **train)
        return record | {
            "seed": seed,
            "scores": [{"name": "BLEU", "value": value, "signature": "s"}],
        }

    records = [scored(1, 30.0), scored(2, 31.0), scored(3, 35.0), scored(1, 40.0, precision="bf16")]
    assert means_table(records).split("\n")[2:] == ["| base | 3 | 32.00 ± 2.65 |"]
    assert means_table(records[2:]) == ""


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The report of a scale without any result."""
    return report_sections("enja", Evidence("enja", []), tmp_path_factory.mktemp("results"))


def test_the_contents_lead_to_every_part(parts):
    html = as_html(parts, "t")
    ids = re.findall(r'<section id="([^"]+)">', html)
    contents = html[html.index("<nav ") : html.index("</nav>")]
    assert re.findall(r'<a href="#([^"]+)">', contents) == ids and len(ids) == len(set(ids)) == len(
        parts
    )
    assert (
        '<a href="#raganato2020.table6">Table 6</a>' in contents
        and '<a href="#costs">Costs</a>' in contents
    )
    assert contents.count("<li>") == 7  # the verdicts, five papers, costs
    assert (
        html.index("</nav>")
        < html.index("</h1>")
        < html.index(f"Of {len(claims_of())} claims")
        < html.index('<section id="raganato2020">')
    )


def test_every_verdict_has_a_mark_of_its_own():
    assert MARKED.keys() == set(STATUSES)
    page = as_html([Section(table(["a"], [[status] for status in STATUSES]), {}, "top")], "t")
    for status, mark in MARKED.items():
        assert f'<td class="{mark}">{status}</td>' in page
    bold = as_html([Section(table(["a"], [["**not reproduced**: +1.2"]]), {}, "top")], "t")
    assert '<td class="no"><strong>not reproduced</strong>: +1.2</td>' in bold


def test_what_all_runs_share_is_said_once_and_labels_hold_what_differs():
    shared = {"label_smoothing": 0.2, "clip_norm": 2.0}
    records = [costed("a", 1, **shared), costed("b", 1, **shared, warmup=50)]
    labelled, said = said_once(records)
    assert said == "All runs here: train.label_smoothing=0.2, train.clip_norm=2.0."
    assert [label_of(record) for record in labelled] == ["base", "base (train.warmup=50)"]
    assert "train.clip_norm=2.0" in label_of(records[0])
    assert said_once([costed("a", 1)])[1] == ""


def test_the_report_says_how_to_read_it_and_counts_claims_without_a_verdict(parts):
    opening = parts[0].text
    assert (
        f"0 not testable here, {len(claims_of())} not run, 0 reproduced." in opening
        and "repro claims --scale enja" in opening
    )
    assert (
        "| Y-04 | one learned cross head stays below the baseline, by 0.3 to 4 BLEU | not run |"
        in opening
    )
    assert "trained on enja, en to ja, " in opening and all(
        f"*{word}*" in opening for word in ("reproduced", "holds", "open", "Detectable")
    )


def test_a_scale_that_cannot_run_an_experiment_says_why(parts):
    assert "Not at enja: contrastive pairs are of English and German text." in as_markdown(parts)


# Printed numbers


def test_only_tables_of_which_nothing_is_at_hand_are_said_to_be_not_known():
    evidence, control = Evidence("smoke", []), [Row(Setting("base", part=0.25), {})]
    assert score_table(evidence, "raganato2020", "Table 1", control).endswith(
        "\n\nPrinted numbers of Table 1: not known."
    )
    # a lesson that names no table of the paper
    assert "Printed numbers" not in score_table(evidence, "raganato2020", "", control)
    assert "not known" not in score_table(evidence, "zeng2021", "Table 1", control)
    assert "not known" not in score_table(
        evidence, "cui2019", "Table 1", [Row(Setting("base", reverse=True), {})]
    )


# Commands that a reader is told to type


def test_the_commands_for_summaries_and_dialogue_can_be_typed():
    ((_, experiment),) = find_experiments("zeng2021.table4")
    commands = [
        shlex.split(command)
        for command in re.findall(r"`(repro (?:run|train) [^`]*)`", experiment.elsewhere)
    ]
    trained = set()
    for _, verb, *arguments in commands:
        scale = arguments[arguments.index("--scale") + 1]
        systems = (
            arguments[: arguments.index("--scale")]
            if verb == "run"
            else [arguments[arguments.index("--system") + 1]]
        )
        overrides = tuple(argument for argument in arguments if "=" in argument)
        for system in systems:
            config = resolve(scale, system, overrides=overrides)
            trained.add((scale, system))
            for site in SITES:
                spec = getattr(config.model, site)
                assert spec.partition("(")[0] in VARIANTS
                # a text may have a mark more than the longest training text, and one for tests has
                # no limit
                if scale == "cnndm":
                    layers = build_weights(spec, site, 1, 8, 2, length_ratio=1.0)
                    assert all(layer.max_len is None for layer in layers), (
                        f"{system} would refuse long texts at {site}"
                    )
    assert trained == {
        (scale, system)
        for scale in ("cnndm", "personachat")
        for system in ("base", "hc-sa", "syn-r", "ran-all")
    }
    assert trained <= {(scale, system) for scale in SCALES for system in SYSTEMS}
