"""Gold word alignments, and cross attention scored against them, by hand."""

import json
from pathlib import Path

import pytest
import torch
from command_line import run as run_command
from torch import Tensor

from repro.analysis.alignment import (
    MEAN,
    QUERIES,
    count_diagonal,
    count_links,
    error_rate,
)
from repro.analysis.syntax import merge_subwords
from repro.data.alignments import FOLDER, AlignedPair, load_alignments
from repro.errors import InputError, MachineError
from repro.measures.alignments import (
    alignments_table,
    check_alignments,
    check_gold,
    measure_alignments,
)
from repro.measures.scores import describe_run
from repro.records.schema import faults_of
from repro.records.stored import load_record, publish
from repro.runs import gallery
from repro.verify.verify import verify_records

# "the old man sleeps" / "der alte Mann schläft": the first link is only possible
PAIR = AlignedPair(
    "the old man sleeps",
    "der alte Mann schläft",
    frozenset({(1, 1), (2, 2), (3, 3)}),
    frozenset({(0, 0), (1, 1), (2, 2), (3, 3)}),
)


@pytest.fixture
def gold(tmp_path, monkeypatch):
    """Write small files in the published forms below REPRO_DATA."""
    europarl, others = (
        tmp_path / FOLDER / name for name in ("bicici-europarl-de-en", "awesome-align")
    )
    europarl.mkdir(parents=True)
    others.mkdir()
    (europarl / "test.de").write_text("\ufeffder hund\nein alter mann\n", "utf-8")
    (europarl / "test.en").write_text("the dog\nan old man\n", "utf-8")
    (europarl / "de-en.wa").write_text("0-0 1-1\n0-0 1-1 2-2 7-2\n", "utf-8")
    (others / "enfr.src-tgt").write_text("a dog  ||| le chien\n", "utf-8")
    (others / "enfr.gold").write_text("1p1 2-2\n", "utf-8")
    monkeypatch.setenv("REPRO_DATA", str(tmp_path))
    return tmp_path / FOLDER


def test_links_are_read_from_0_and_stray_ones_left_out(gold) -> None:
    found = load_alignments("de", "en")
    assert [(pair.source, pair.target) for pair in found.pairs] == [
        ("der hund", "the dog"),
        ("ein alter mann", "an old man"),
    ]
    assert found.pairs[1].sure == {(0, 0), (1, 1), (2, 2)} and found.num_stray == 1
    (french,) = load_alignments("en", "fr").pairs
    assert (french.sure, french.possible) == ({(1, 1)}, {(0, 0), (1, 1)})


def test_the_other_direction_has_the_links_turned(gold) -> None:
    (gold / "awesome-align" / "enfr.gold").write_text("1p2 2-2\n", "utf-8")
    (pair,) = load_alignments("fr", "en").pairs
    assert (pair.source, pair.sure, pair.possible) == ("le chien", {(1, 1)}, {(1, 0), (1, 1)})
    assert load_alignments("fr", "en").fingerprint != load_alignments("en", "fr").fingerprint


def test_what_is_not_there_is_said(gold, monkeypatch) -> None:
    with pytest.raises(InputError, match="none for de and fr. Fix: choose a run in one of de-en"):
        load_alignments("de", "fr")
    with pytest.raises(MachineError, match="put awesome-align/jaen.gold into"):
        load_alignments("en", "ja")
    (gold / "awesome-align" / "enfr.gold").write_text("1x1\n", "utf-8")
    with pytest.raises(InputError, match="enfr.gold:1: has the link '1x1'"):
        load_alignments("en", "fr")


def test_pieces_are_merged_into_words_by_hand() -> None:
    # two target words of two and one pieces; two source words of one and two, and an end mark
    weights = torch.tensor([[[0.5, 0.2, 0.2, 0.1], [0.1, 0.4, 0.4, 0.1], [0.3, 0.3, 0.3, 0.1]]])
    merged = merge_subwords(weights, [0, 0, 1], [0, 1, 1])
    torch.testing.assert_close(merged, torch.tensor([[[0.3, 0.6], [0.3, 0.6]]]))


def pointing_at(*sources: int) -> Tensor:
    """Return weights of target words that put all weight on one source word; -1 is a zero row."""
    rows = torch.zeros(len(sources), 4)
    for target, source in enumerate(sources):
        if source >= 0:
            rows[target, source] = 1.0
    return rows


def test_error_rate_by_hand() -> None:
    assert count_links(pointing_at(0, 1, 2, 3), PAIR) == (4, 3, 4)
    assert error_rate(4, 3, 4, gold_sure=3) == 0.0  # possible links cost nothing
    assert count_links(pointing_at(1, 1, 0, -1), PAIR) == (3, 1, 1)
    assert error_rate(3, 1, 1, gold_sure=3) == pytest.approx(1 - 2 / 6)
    assert count_diagonal(PAIR) == (4, 3, 4)


def test_every_head_of_a_run_and_their_means_are_scored(gold) -> None:
    run = gallery.load("base")
    record = describe_run(run) | {"kind": "alignments"} | measure_alignments(run)
    model = run.config.model
    places = {(one["query"], one["layer"], one["head"]) for one in record["scores"]}
    heads = {
        (layer, head) for layer in range(model.decoder_layers) for head in range(model.num_heads)
    }
    heads |= {(layer, MEAN) for layer in range(model.decoder_layers)} | {(MEAN, MEAN)}
    assert places == {(query, *head) for query in QUERIES for head in heads}
    assert record["gold"]["sure"] == record["gold"]["aligned_words"] == 5
    assert record["diagonal"]["error_rate"] == 0.0 and record["diagonal"]["met"] == 1.0
    assert {one["links"] for one in record["scores"]} == {5}
    assert set(check_alignments(record)) == set(check_gold(record)) == {None}
    lines = alignments_table(record).splitlines()
    assert len(lines) == 2 + len(heads) + 1 and lines[-1].startswith("| diagonal | 0.0 | 100.0 ")
    record["scores"][0]["met"] = 2.0
    assert len([found for found in check_alignments(record) if found]) == 1
    (gold / "bicici-europarl-de-en" / "de-en.wa").write_text("0-0\n0-0\n", "utf-8")
    assert [found for found in check_gold(record) if found]


def test_the_command_prints_the_table_and_keeps_the_record(gold, tmp_path, capsys) -> None:
    page = run_command(capsys, "measure", "gallery/base", "alignments", "--record", str(tmp_path))
    assert page[0].startswith("| head | error rate, predicting | met, predicting |")
    stored = load_record(Path(page[-1]))
    assert stored["kind"] == "alignments" and set(check_alignments(stored)) == {None}
    assert not list(faults_of(json.loads(Path(page[-1]).read_text())))
    assert not verify_records(tmp_path).faults
    stored["scores"][0]["met"] = 2.0
    publish(stored, tmp_path)
    (fault,) = verify_records(tmp_path).faults
    assert fault.startswith(f"{stored['run']}, alignments: ")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("source", "target", "sentences", "stray"),
    [("de", "en", 100, 1), ("en", "fr", 447, 0), ("ja", "en", 582, 6)],
)
def test_published_alignments(real_data, source, target, sentences, stray) -> None:
    found = load_alignments(source, target)
    assert (len(found.pairs), found.num_stray) == (sentences, stray)
    links = sum(len(pair.possible) for pair in found.pairs)
    # far better than chance: most links are near the diagonal in German, English and French
    near = sum(count_diagonal(pair)[2] for pair in found.pairs)
    assert links > 1_000 and near > 0.05 * links
