"""Tables of experiments: printed numbers that have no row of ours, and settings that have not been
run yet."""

from dataclasses import replace
from pathlib import Path

import pytest
from paper_records import damaged, heads_about, score_record, speed_records

from repro.analysis.syntax import DIRECTIONS, RELATIONS
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.data.corpora import load_corpus
from repro.errors import DamagedFileError
from repro.papers import find_experiments
from repro.papers.figures import accuracy_figure, entropy_figure, gap_figure
from repro.papers.heads import divergence_table, entropy_table, relations_table
from repro.papers.printed import printed_numbers, printed_remarks
from repro.papers.printed_tables import printed_table
from repro.papers.pruned import PRUNED
from repro.papers.raganato2020.experiments import MASKS
from repro.papers.report import experiment_section, missing_records
from repro.papers.speed import speed_table
from repro.papers.suites import accuracy_by_distance_table, accuracy_by_type_table
from repro.papers.tables import length_table, mask_table
from repro.records.sentences import REFERENCE_WORDS
from repro.records.stored import load_records

BASE, HARD, ALL = Setting("base"), Setting("hc-sa"), Setting("hc-all")
BINS = (REFERENCE_WORDS, [0, 5, 1000], "reference words")


@pytest.fixture(scope="module")
def evidence():
    refs = load_corpus("minigerman", "en", "de").pairs("test", "en", "de")[1]
    return Evidence(
        "smoke", [score_record(BASE, damaged(refs, 4)), score_record(HARD, damaged(refs, 8))]
    )


def about(setting: Setting, kind: str, **numbers) -> dict:
    """Return what tables read of a record of a kind."""
    return {"kind": kind, "config_digest": setting.config("smoke").digest()} | numbers


def text_of(name: str, evidence: Evidence) -> str:
    ((paper, experiment),) = find_experiments(name)
    return experiment_section(paper, experiment, evidence).text


# What papers print where no row of ours stands beside it


def test_what_the_text_says_about_a_figure_stands_below_the_table(evidence):
    text = text_of("you2020.figure3", evidence)
    assert (
        "| hc-sa minus hc-sa/-ff at 4 layers | gap | BLEU difference | WMT16 En-Ro | 3.2 |" in text
    )
    assert "not known" not in text and "Printed numbers of Figure 7: not known." in text_of(
        "you2020.figure7", evidence
    )


@pytest.mark.parametrize(
    "value, as_printed, expected",
    [
        (30.0, "30.3 vs 30.0", "30.0"),
        (26.0, "26.0", "26.0"),
        (4500966.0, "4,500,966", "4,500,966"),
        (9200.0, "9.2K", "9,200"),
        (-0.2, "falls by 0.20, from 3 to 2.8", "-0.20"),
        ([0.4, 0.24], "[0.40,0.24]", "0.40, 0.24"),
        (14.0, "14.0", "14.0 (read off a plot)"),
    ],
)
def test_a_printed_number_has_the_digits_of_the_page(value, as_printed, expected):
    cell = replace(
        printed_numbers("you2020", "Table 1")[0],
        value=value,
        as_printed=as_printed,
        approx="plot" in expected,
    )
    assert printed_table([cell]).endswith(f"| {expected} |")


def test_remarks_are_those_on_one_place():
    assert [cell.value for cell in printed_remarks("zeng2021", "Figure 3")] == [23.6, 1.2]
    assert [cell.value for cell in printed_remarks("voita2019", "Figure 7")] == [0.25, 0.15]
    assert printed_remarks("zeng2021", "Table 1") == [] == printed_remarks("you2020", "Table")


def test_a_number_that_was_read_off_a_plot_says_so():
    row = printed_table(printed_numbers("zeng2021", "Figure 3 left")[:1]).split("\n")[-1]
    assert row == (
        "| batch size 20 | speed gain RAN-ALL over TransF | percent | WMT14 En-De | 15.5 "
        "(read off a plot) |"
    )


def test_models_that_are_not_ours_stand_below_with_their_printed_scores(evidence):
    tables = text_of("cui2019.table2", evidence).split("\n\n")
    assert (
        "| Dynamic Convolution (Wu et al. 2019) | De-En | BLEU | IWSLT14 De-En | 35.20 |"
        in tables[3]
    )
    assert "Transformer" not in tables[3] and len(tables[3].split("\n")) == 2 + 5


def test_accuracy_and_baseline_of_a_relation_have_a_column_each():
    stored = Evidence("smoke", load_records(Path("results"), "heads"))
    text = relations_table(stored, "voita2019", "Table 1", PRUNED)
    assert "| printed | corpus | best head, % | positional baseline, % |" in text
    assert "| nsubj v→s | WMT 2.5M EN-RU | 45 | 35 |" in text


def test_the_table_on_word_sense_holds_nothing_else():
    text = text_of(
        "raganato2020.table6", Evidence("smoke", load_records(Path("results"), "contrastive"))
    )
    rows = text.split("\n\n")[2].split("\n")[2:]
    assert [row.split(" | ")[0] for row in rows] == ["| word_sense"]


def test_figures_6_and_8_have_a_table_for_each_site_and_direction(evidence):
    halves = [0.0] * 500 + [0.5] * 500
    shares = evidence.scores(BASE) | {
        "kind": "off_diagonal",
        "shares": {"encoder_self": halves, "decoder_self": halves[::-1]},
    }
    scored = [record for setting in (BASE, HARD) for record in evidence.find("scores", setting)]
    tables = text_of("you2020.figure6", Evidence("smoke", [*scored, shares])).split("\n\n")
    assert [part for part in tables if part.endswith(":")] == ["en to de:", "en to de:"]
    encoder, decoder = (part.split("\n") for part in tables if part.startswith("| tokens off"))
    assert (encoder[0], decoder[0]) == tuple(
        f"| tokens off the diagonal, {site} | sentences | base | hc-sa |"
        for site in ("encoder_self", "decoder_self")
    )
    assert encoder[2].partition("|")[2] != decoder[2].partition("|")[2]
    for rows in (encoder[2:], decoder[2:]):  # those that have the least share are in the first part
        assert [row.split(" | ")[:2] for row in rows] == [
            ["| 0 to 50 %", "500"],
            ["| 50 to 100 %", "500"],
        ]
    whose = "Sentences are sorted by the weights of base, seed 1"
    assert tables.count(f"{whose}.") == 2
    shares["provenance"] = shares["provenance"] | {"started": "2026-11-02T00:00:00+00:00"}
    other = text_of("you2020.figure6", Evidence("smoke", [*scored, shares]))
    assert other.count(f"{whose}, in another training than the one that is scored.") == 2
    shares["shares"] = {"encoder_self": halves, "decoder_self": halves[1:]}
    with pytest.raises(
        DamagedFileError,
        match="base off_diagonal: was not measured on all 1,000 sentences of test. Fix: delete",
    ):
        text_of("you2020.figure6", Evidence("smoke", [*scored, shares]))


# Settings that have not been run


def test_what_is_there_is_shown_and_the_rest_is_named_with_its_command(evidence):
    text = text_of("you2020.figure4", evidence)
    assert "| reference words | sentences | hc-sa - base |" in text
    assert text.endswith(
        "\n\nStill to run, with `repro run you2020.figure4 --scale smoke`: hc-all."
    )
    assert "Still to run" not in text_of("you2020.figure1", evidence)
    ((_, experiment),) = find_experiments("zeng2021.figure3")
    assert missing_records(experiment, evidence) == ["ran-all", "speed of base", "speed of ran-all"]


def test_differences_by_length_need_the_first_system_and_one_more(evidence):
    assert (
        next(iter(gap_figure(evidence, (BASE, ALL, HARD), *BINS).values())).data[0].name == "hc-sa"
    )
    for settings in ((ALL, BASE), (BASE, ALL)):
        with pytest.raises(NotMeasured, match="hc-all"):
            length_table(evidence, settings, *BINS)


def test_every_measure_shows_the_arms_that_have_it(evidence):
    heads = {
        site: {"entropy": [[0.5, None], [0.1, 0.4]], "divergence": [[0, 0.1], [0.1, 0]]}
        for site in ("encoder_self", "decoder_self")
    }
    found = Evidence("smoke", [heads_about(HARD, **heads), *speed_records(hc_sa=[1.0, 2.0])])
    texts = [make(found, (BASE, HARD)).split("\n") for make in (entropy_table, divergence_table)]
    assert {lines[0] for lines in texts} == {
        "Measured on minigerman, en to de, 9 sentences of dev, training seed 1."
    }
    headers = {lines[2] for lines in texts}
    assert headers == {
        "| mean entropy, nats | hc-sa |",
        "| divergence of neighbouring layers, nats | hc-sa |",
    }
    entropies, divergences = (lines[4:] for lines in texts)
    assert entropies[:2] == [
        "| encoder_self, layer 1 | 0.500 |",
        "| encoder_self, layer 2 | 0.250 |",
    ]
    assert divergences == ["| encoder_self | 0.100 |", "| decoder_self | 0.100 |"]
    one = {site: {"divergence": [[0]]} for site in heads}
    table = divergence_table(Evidence("smoke", [heads_about(HARD, **one)]), (BASE, HARD))
    assert table.endswith("\n| encoder_self | - |\n| decoder_self | - |")
    assert "| hc-sa | 2 | 1.00 |" in speed_table(found, (BASE, HARD))
    assert {
        trace.name for trace in entropy_figure(found, (BASE, HARD))["Entropy, encoder_self"].data
    } == {"hc-sa"}


def test_a_part_without_records_does_not_hide_the_others(evidence):
    text = text_of("you2020.table3", evidence)
    assert (
        "Speed here" not in text
        and "Not run: speed of base, hc-sa, sh-x, base/-sa, sh-x/-sa, not measured at smoke."
        in text
    )
    assert "Table 3:\n\n| system | ours: BLEU |" in text
    assert "Not run: heads of base (model.num_heads=8), seed 1" in (
        rare := text_of("voita2019.figure5", evidence)
    )
    assert (
        "| rare-words head points at the rarest token | share | percent | OpenSubtitles EN-RU "
        "| 66 |" in rare
    )
    assert "| printed | corpus | best head, % |" in text_of("voita2019.table1", evidence)
    assert "| 23.6 |" in text_of("zeng2021.figure3", evidence)
    assert "\n\nNo figure: heads of base" in text_of("zeng2021.figure7", evidence)


def test_relations_between_words_far_apart_are_counted():
    heads = {relation: {direction: [[0.5]] for direction in DIRECTIONS} for relation in RELATIONS}
    positions = {relation: {} for relation in RELATIONS} | {
        "nsubj": {"-17": 2, "-6": 1, "-5": 4, "3": 8, "6": 16, "12": 32}
    }
    syntax = {
        "accuracy": heads,
        "margin": heads,
        "baseline": dict.fromkeys(RELATIONS, 0.5),
        "positions": positions,
        "num_skipped": 0,
    }
    found = Evidence(
        "smoke", [heads_about(PRUNED, encoder_self={"confidence": [[0.5]]}) | {"syntax": syntax}]
    )
    assert "| nsubj | 3 | 4 | 0 | 0 | 0 | 0 | 0 | 0 | 8 | 0 | 0 | 48 |" in relations_table(
        found, "voita2019", "Table 1", PRUNED
    )


@pytest.mark.parametrize(
    ("kind", "render"),
    [
        ("masks", lambda e: mask_table(e, (BASE, HARD), MASKS)),
        ("heads", lambda e: entropy_table(e, (BASE, HARD))),
        ("heads", lambda e: divergence_table(e, (BASE, HARD))),
        ("speed", lambda e: speed_table(e, (BASE, HARD))),
        ("contrastive", lambda e: accuracy_by_type_table(e, "you2020", "Table 4", (BASE, HARD))),
        ("contrastive", lambda e: accuracy_by_distance_table(e, "agreement", (BASE, HARD))),
        ("contrastive", lambda e: accuracy_figure(e, "agreement", (BASE, HARD))),
    ],
)
def test_where_no_arm_was_measured_all_are_named(kind, render, evidence):
    with pytest.raises(NotMeasured, match=f"{kind} of base, hc-sa: not measured at smoke"):
        render(evidence)
