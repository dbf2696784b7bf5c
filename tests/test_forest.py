"""The forest plot of a paper: effects with intervals and bounds, printed numbers beside ours."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from command_line import ended

from repro import plots
from repro.claims.conditions import Judged, Verdict
from repro.claims.endpoints import NATS, NATS_PER_BLEU
from repro.claims.verdict_fields import as_stored
from repro.errors import InputError
from repro.files import write_json
from repro.papers import PAPERS, effects_table, forest, load_paper
from repro.papers.effects import effects_of
from repro.papers.headlines import FINDINGS, headline
from repro.papers.printed_effects import STATED, number_in_words, printed_effects
from repro.papers.report import effects_sections, shown_verdicts
from repro.papers.summary import update_pages
from repro.papers.verdicts import FORMAT, claims_of
from repro.plots import Effect, EffectRow, Reading
from repro.plots.description import describe
from repro.plots.vector import svg
from repro.statistics.intervals import Estimate

YOU, CUI = load_paper("you2020"), load_paper("cui2019")
SVG = "{http://www.w3.org/2000/svg}"


def printed(claim: str, place: int = 0) -> list[float]:
    """Return what the paper of a claim prints about one of its conditions."""
    (found,) = claims_of(claim)
    (paper,) = (name for name in PAPERS if found in load_paper(name).claims)
    return [effect.value for effect in printed_effects(paper, found.conditions[place])]


def stored(claim: str, *found: Estimate | None, outcome: str = "holds", beside=None) -> dict:
    """Return verdicts with one number, or none, for each condition of a claim.

    The same judgement by likelihood is beside each.
    """
    (asked,) = claims_of(claim)
    judged = [
        Judged(
            condition.describe(),
            outcome,
            number,
            "" if number else "no head is positional",
            likelihood=beside,
        )
        for condition, number in zip(asked.conditions, found, strict=True)
    ]
    return {claim: as_stored(Verdict(claim, "reproduced", tuple(judged)), "01234567")}


def bleu(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, low, high, 0.95, seeds=(3, 3), counts_seeds=True, unit="BLEU")


def named(figure, name: str) -> list:
    return [trace for trace in figure.data if trace.name == name]


def test_printed_effects_have_the_sign_and_the_unit_of_the_condition():
    assert printed("Y-01") == [0.3, 0.4, -0.2, -0.7, -0.1, -0.3, -0.5, -1.2]  # You, Table 2
    assert printed("Y-08") == [6.0, 7.2]  # Tables 3 and 7, where base/-sa is
    assert printed("Y-12") == [1.3, 1.16]  # ratios of sentences per second
    assert printed("Y-17") == [1.9] and printed("Y-17", 1) == [3.9]  # points of Table 4
    assert printed("V-12") == [-0.24, -0.17]  # Table 2: 58 of 144 heads, and 61
    assert printed("M-01") == [0.81, 0.92, 0.95]  # Cui, Tables 1 and 3
    assert printed("V-01") == [-0.15]  # a loss in the text, a difference in the condition
    assert printed("V-04") == [16, 4] and printed("V-04", 1) == [2, 4]  # Voita, Table 2
    assert printed("R-01") == []  # no cell of the tables of Raganato is known


def test_sums_of_printed_scores_have_no_more_digits_than_the_scores():
    for name in PAPERS:
        for claim in load_paper(name).claims:
            for condition in claim.conditions:
                for effect in printed_effects(name, condition):
                    assert effect.value == round(effect.value, 3)


def test_every_printed_effect_that_is_stated_by_name_belongs_to_a_claim():
    numbers = {
        (name, number_in_words(condition))
        for name in PAPERS
        for claim in load_paper(name).claims
        for condition in claim.conditions
    }
    assert STATED.keys() <= numbers


def test_an_effect_is_drawn_with_interval_bound_and_printed_numbers():
    verdicts = {"multi30k": stored("Y-01", bleu(0.5, -0.2, 1.2))}
    figure = forest(YOU, verdicts)
    (mark,) = named(figure, "holds")
    assert list(mark.x) == [0.5] and mark.marker.symbol == "circle"
    assert mark.error_x.array == pytest.approx((0.7,))
    assert mark.error_x.arrayminus == pytest.approx((0.7,))
    (diamonds,) = named(figure, "printed in the paper")
    assert sorted(diamonds.x) == sorted(printed("Y-01"))
    (bracket,) = named(figure, "bound of the claim")
    assert set(bracket.x[1:3]) == {-1.0} and bracket.x[0] > -1  # open to where the claim holds
    texts = {note.text for note in figure.layout.annotations}
    assert {"hc-sa - base ≥ -1 BLEU", "+0.50"} <= texts
    assert figure.layout.yaxis.ticktext == ("printed", "multi30k")
    assert figure.layout.width == 500 and not figure.layout.autosize


@pytest.mark.parametrize(
    ("outcome", "name", "symbol"),
    [
        ("holds", "holds", "circle"),
        ("fails", "fails", "x"),
        ("open", "undecided", "circle-open"),
        ("one seed", "undecided", "circle-open"),
        ("not testable", "not testable here", "square-open"),
    ],
)
def test_color_and_symbol_tell_the_outcome(outcome, name, symbol):
    figure = forest(YOU, {"multi30k": stored("Y-01", bleu(0.5, -0.2, 1.2), outcome=outcome)})
    (mark,) = named(figure, name)
    assert mark.marker.symbol == symbol
    others = {trace.marker.color for trace in figure.data if trace.mode == "markers"}
    assert len(others) == 2  # the mark and the diamonds


def test_large_differences_and_other_numbers_have_axes_of_their_own():
    bound = claims_of("Y-13")[0].conditions[0].at_least
    share = Estimate(bound - 0.1, bound - 0.2, bound - 0.05)
    verdicts = {
        "multi30k": stored("Y-01", bleu(0.5, -0.2, 1.2))
        | stored("Y-02", bleu(6.5, 5.5, 7.5))
        | stored("Y-13", share, outcome="fails")
    }
    figure = forest(YOU, verdicts)
    small, large, own = figure.layout.xaxis, figure.layout.xaxis2, figure.layout.xaxis3
    assert small.title.text == "difference in BLEU" and small.range[1] < 4.5
    assert "larger" in large.title.text and large.range[1] > 10  # 10.3 is printed
    assert not own.showticklabels
    (mark,) = named(figure, "fails")
    assert mark.x[0] == pytest.approx(-0.5) and mark.xaxis == "x3"


def test_on_a_scale_of_its_own_the_right_side_is_where_the_claim_holds():
    rows = [EffectRow("a", Reading(2.0, 1.0, 4.0, "fails"), "2")]
    figure = plots.forest("t", {"own": [Effect("", "n", rows, None, 1.5)]}, own_scales="own")
    (mark,) = named(figure, "fails")
    assert mark.x[0] == pytest.approx(-0.2)  # (1.5 - 2) / 2.5
    assert mark.error_x.arrayminus[0] == pytest.approx(0.8)  # 4.0 is at -1
    assert mark.error_x.array[0] == pytest.approx(0.4)  # 1.0 is at 0.2
    (bracket,) = named(figure, "bound of the claim")
    assert bracket.x[1] == 0 and bracket.x[0] > 0


def test_likelihood_is_a_triangle_below_the_score_in_the_color_of_its_own_outcome():
    score, likelihood = Reading(0.5, -0.5, 1.5, "undecided"), Reading(0.4, 0.3, 0.5, "holds")
    rows = [EffectRow("a", score, "+0.50", likelihood)]
    figure = plots.forest("t", {"BLEU": [Effect("", "n", rows, 0.0)]})
    (mark,), (other,) = named(figure, "undecided"), named(figure, "holds by likelihood")
    assert other.marker.symbol == "triangle-up" and list(other.x) == [0.4]
    assert other.marker.color == plots.COLORS[0] and other.y[0] > mark.y[0]  # y runs downwards


def test_likelihood_is_drawn_and_listed_in_units_of_bleu():
    nats = Estimate(NATS_PER_BLEU, -NATS_PER_BLEU, 3 * NATS_PER_BLEU, unit=NATS)
    beside = Judged("", "open", nats)
    verdicts = {"multi30k": stored("Y-01", bleu(0.5, -0.2, 1.2), beside=beside)}
    (mark,) = named(forest(YOU, verdicts), "undecided by likelihood")
    assert mark.x == pytest.approx((1.0,)) and mark.marker.symbol == "triangle-up-open"
    assert mark.error_x.array == pytest.approx((2.0,))
    assert "holds; by likelihood +1.00 BLEU: open" in effects_table(YOU, verdicts)


def test_a_figure_without_effects_is_refused():
    with pytest.raises(InputError, match="nothing to draw"):
        forest(YOU, {"multi30k": {}})


def test_a_choice_of_claims_is_drawn_under_the_count_of_all():
    verdicts = {
        "multi30k": stored("Y-01", bleu(0.5, -0.2, 1.2)) | stored("Y-02", bleu(6.5, 5.5, 7.5))
    }
    figure = forest(YOU, verdicts, claims=["Y-01"])
    (mark,) = named(figure, "holds")
    assert mark.x == pytest.approx((0.5,))
    assert "2 of 2 on multi30k" in figure.layout.title.text.replace("<br>", " ")
    with pytest.raises(InputError, match="nothing to draw"):
        forest(YOU, verdicts, claims=["Y-03"])


def test_a_number_that_does_not_exist_has_a_row_without_a_mark():
    verdicts = {
        "multi30k": stored("V-09", None, outcome="void"),
        "tatoeba": stored("V-09", Estimate(0.5, 0.2, 0.8)),
    }
    figure = forest(load_paper("voita2019"), verdicts)
    texts = [note.text for note in figure.layout.annotations]
    assert "none" in texts and sum(len(trace.x) for trace in named(figure, "holds")) == 1


def test_a_verdict_on_another_condition_is_not_drawn():
    """A claim that was changed since has other bounds than its stored verdict."""
    verdicts = stored("Y-01", bleu(0.5, -0.2, 1.2))
    verdicts["Y-01"]["conditions"][0]["condition"] = "hc-sa - base >= -2 BLEU"
    assert not any(effect.found for effect in effects_of(YOU, {"multi30k": verdicts}))


def test_the_table_has_the_numbers_of_the_figure():
    verdicts = {"multi30k": stored("Y-01", bleu(0.5, -0.2, 1.2)), "tatoeba": {}}
    row = next(line for line in effects_table(YOU, verdicts).splitlines() if "| Y-01 |" in line)
    assert "hc-sa - base >= -1 BLEU" in row
    assert "8 numbers from -1.2 to 0.4 (Table 2)" in row
    assert "+0.50, 95 % -0.20 to +1.20, 3 seeds: holds" in row and row.endswith("not run |")


def test_the_headline_is_made_of_verdicts():
    verdicts = {
        "multi30k": stored("Y-02", bleu(6.5, 5.5, 7.5)),
        "tatoeba": stored("Y-02", bleu(9.0, 8.0, 10.0)),
    }
    said = headline(YOU, verdicts)
    # The number of Y-02 is a loss.
    assert "BLEU changes by -6.50 (-7.50 to -5.50) on multi30k; -9.00" in said
    assert "1 of 1 on multi30k, 1 of 1 on tatoeba" in said
    rest = len(YOU.claims) - 1
    assert headline(YOU, {"my-1a2b": stored("Y-01", bleu(0.5, -0.2, 1.2))}) == (
        "Fix every head, even those that link the decoder to the source: how BLEU changes was not "
        "measured. Claims reproduced: 1 of 1 on my-1a2b. "
        f"{rest} of {rest + 1} were not tested."
    )
    # a choice of claims without Y-02 has no title about it
    assert headline(YOU, verdicts, ("Y-02", "Y-03")) == said
    alone = "Claims reproduced: 1 of 1 on multi30k, 1 of 1 on tatoeba."
    assert headline(YOU, verdicts, ("Y-03",)) == alone and said.endswith(alone)


def test_every_paper_has_one_finding():
    for paper in map(load_paper, PAPERS):
        assert len([claim for claim in paper.claims if claim.name in FINDINGS]) == 1


def test_the_svg_is_sharp_and_has_words_and_ink_for_dark_pages():
    figure = forest(YOU, {"multi30k": stored("Y-01", bleu(0.5, -0.2, 1.2))})
    drawn = svg(figure)
    root = ElementTree.fromstring(drawn)
    assert root.attrib["role"] == "img"
    assert root.find(f"{SVG}title").text.startswith("Fix every head")
    assert root.find(f"{SVG}desc").text == describe(figure.to_dict())
    assert "a row for each of multi30k" in root.find(f"{SVG}desc").text
    assert not list(root.iter(f"{SVG}image"))
    assert "hc-sa - base ≥ -1 BLEU" in [text.text for text in root.iter(f"{SVG}text")]
    assert b"prefers-color-scheme:dark" in drawn and b"Verdana, sans-serif" in drawn
    assert drawn == svg(figure)


def write_verdicts(folder, scale, verdicts):
    (folder / "claims").mkdir(parents=True, exist_ok=True)
    write_json(
        folder / "claims" / f"{scale}.json",
        {"format": FORMAT, "scale": scale, "verdicts": verdicts},
    )


def test_effects_on_generated_text_are_not_drawn_beside_those_on_real_text(tmp_path):
    for scale in ("smoke", "multi30k", "tatoeba"):
        write_verdicts(tmp_path, scale, stored("Y-01", bleu(0.5, -0.2, 1.2)))
    assert list(shown_verdicts(tmp_path, "tatoeba")) == ["tatoeba", "multi30k"]
    assert list(shown_verdicts(tmp_path)) == ["multi30k", "tatoeba"]
    assert list(shown_verdicts(tmp_path, "smoke")) == ["smoke"]


def test_a_report_has_the_figure_and_its_numbers_where_there_are_any():
    verdicts = {"multi30k": stored("Y-01", bleu(0.5, -0.2, 1.2))}
    drawn, numbers = effects_sections(YOU, verdicts)
    assert list(drawn.figures) == ["The claims of you2020"]
    assert "8 numbers from -1.2 to 0.4" in numbers.text
    assert effects_sections(CUI, verdicts) == []


def test_a_picture_of_each_paper_is_written_beside_the_verdicts(tmp_path):
    write_verdicts(tmp_path, "multi30k", stored("Y-01", bleu(0.5, -0.2, 1.2)))
    write_verdicts(tmp_path, "smoke", stored("M-01", bleu(0.5, -0.2, 1.2)))
    written = {path.name for path in update_pages(tmp_path)}
    assert written == {"README.md", "MARGINS.md", "you2020.svg", *(f"{name}.md" for name in PAPERS)}
    page = (tmp_path / "claims" / "README.md").read_text()
    assert "](you2020.svg)" in page and "cui2019.svg" not in page
    assert ElementTree.parse(tmp_path / "claims" / "you2020.svg").getroot().tag == f"{SVG}svg"


def test_a_report_may_be_of_one_paper(capsys, tmp_path):
    results = tmp_path / "results"
    write_verdicts(results, "multi30k", stored("M-01", bleu(0.5, -0.2, 1.2)))
    out = tmp_path / "page.md"
    options = ("--scale", "multi30k", "--results", str(results), "--out", str(out))
    code, _, told = ended(capsys, "report", "cui2019", *options)
    assert code == 0, told
    text, page = out.read_text(), out.with_suffix(".html").read_text()
    assert "# What cui2019 claim" in text and "Y-01" not in text
    assert "+0.50, 95 % -0.20 to +1.20" in text
    (words,) = re.findall('<img alt="(.*?)" src="data:image/svg', page)
    assert words.startswith("Forest plot: Let some heads look only left")


def test_drawn_numbers_are_finite():
    figure = forest(YOU, {"multi30k": stored("Y-01", bleu(0.5, -0.2, 1.2))})
    for trace in figure.data:
        if trace.mode == "markers":
            assert np.isfinite(trace.x).all()
