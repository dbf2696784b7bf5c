"""The stored results: every number is derived again from its evidence."""

import copy
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from expected_errors import refuses

from benchmarks.page import write_page
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.data.corpora import task_of
from repro.errors import DamagedFileError, InputError
from repro.measures.registry import JOINT_MEASURES, MEASURES, ON_REQUEST
from repro.presets import GATE_INIT, GATE_RATE, SCALES, trained_on
from repro.records.report import check_comparable, label_of, render, render_results
from repro.records.schema import KINDS
from repro.records.stored import (
    VERDICTS,
    load_record,
    load_records,
    pairs_of,
    publish,
    read_records,
    score_of,
)
from repro.records.translations import (
    compare_records,
    compare_seeds,
    counted_of,
    hypotheses_of,
    recount,
    rescore,
)
from repro.runs.naming import conditions_of
from repro.statistics.comparing import compare_systems, count_texts, paired_bootstrap
from repro.statistics.resampling import bleu_of_resamples

RESULTS = Path(__file__).resolve().parents[1] / "results"
RECORDS = sorted(path for path in RESULTS.glob("*/*.json") if path.parent.name != VERDICTS)
# by corpus and direction
ONE_OF_EACH = {path.parent.name: path for path in RECORDS if ".test." in path.name}


@pytest.mark.parametrize("path", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_stored_scores_follow_from_stored_counts(path):
    record = load_record(path)
    assert rescore(record) == record["scores"]


@pytest.mark.real_data
@pytest.mark.parametrize("path", ONE_OF_EACH.values(), ids=ONE_OF_EACH)
def test_stored_counts_are_those_of_the_texts_to_the_bit(path, real_data):
    """One of each corpus; `repro verify` counts those of every record again."""
    record = load_record(path)
    data, refs = record["config"]["data"], pairs_of(record)[1]
    assert all(recount(record).values())
    for found, expected in zip(
        counted_of(record),
        count_texts(hypotheses_of(record), refs, data["target"], task_of(data["corpus"])),
        strict=True,
    ):
        assert (found.metric, found.signature) == (expected.metric, expected.signature)
        assert np.array_equal(found.sums, expected.sums) and found.score() == expected.score()
        if found.metric == "BLEU":
            assert np.array_equal(bleu_of_resamples(found.sums), bleu_of_resamples(expected.sums))


@pytest.mark.real_data
def test_comparisons_of_records_are_those_of_their_texts_to_the_bit(real_data):
    first, second = (
        load_record(path) for path in sorted((RESULTS / "multi30k.en-de").glob("*.test.json"))[:2]
    )
    refs = pairs_of(first)[1]
    texts = [hypotheses_of(record) for record in (first, second)]
    assert compare_records(first, second) == paired_bootstrap(*texts, refs, "de")
    assert compare_seeds([[first], [second]]) == compare_systems(
        [[text] for text in texts], refs, "de"
    )


def test_an_edited_score_is_caught():
    record = load_record(RECORDS[0])
    record["scores"][0]["value"] += 0.01
    assert rescore(record) != record["scores"]


@pytest.mark.real_data
def test_other_references_are_refused(real_data):
    record = load_record(next(path for path in RECORDS if ".test." in path.name)) | {"split": "dev"}
    with pytest.raises(DamagedFileError, match="was scored against other references"):
        recount(record)


@pytest.mark.real_data
def test_the_first_real_result_meets_its_bar(real_data):
    """Multi30k English-German: base at 39.0 or more, hard-coded self-attention at most 1.5 below,
    tokenised lower-cased BLEU."""
    records = {
        label_of(r): r
        for r in load_records(RESULTS / "multi30k.en-de")
        if r["split"] == "test" and r["seed"] == 1
    }
    base, hard_coded = (
        score_of(records[system], "tokenised lower-cased BLEU")["value"]
        for system in ("base", "hc-sa")
    )
    assert base >= 39.0
    assert hard_coded >= base - 1.5


def test_half_the_bits_train_as_well():
    """Multi30k English-German, base: bf16 ends within half a BLEU point of fp32, as means over
    three seeds."""
    records = [r for r in load_records(RESULTS / "multi30k.en-de") if r["split"] == "test"]
    labels = ("base", "base (train.precision=bf16)")
    full, half = (
        {r["seed"]: score_of(r, "BLEU")["value"] for r in records if label_of(r) == label}
        for label in labels
    )
    assert half.keys() == {1, 2, 3} <= full.keys()
    assert abs(mean(full[seed] for seed in half) - mean(half.values())) <= 0.5


def test_the_generated_corpus_shows_the_papers_coarse_order():
    """What hard-coding costs, where one cross head stands, and who needs position embeddings, in
    BLEU after one training run each."""
    evidence = Evidence("smoke", load_records(RESULTS / "minigerman.en-de"))
    systems = (
        "base",
        "hc-sa",
        "hc-all",
        "sh-x",
        "base/-pe",
        "mma",
        "mma/-pe",
        "ran-e",
        "ran-e/-pe",
    )
    scores = {
        system: score_of(evidence.scores(Setting(system)), "BLEU")["value"] for system in systems
    }
    assert scores["hc-sa"] >= scores["base"] - 1.5
    assert scores["hc-all"] <= scores["base"] - 10
    assert scores["hc-all"] + 5 <= scores["sh-x"] <= scores["hc-sa"]
    assert scores["base/-pe"] <= scores["base"] - 10
    for system in ("mma", "ran-e"):
        assert scores[f"{system}/-pe"] >= scores[system] - 5


def test_the_page_of_results_is_what_the_records_say():
    page = (RESULTS / "README.md").read_text()
    assert page == render_results(load_records(RESULTS))
    assert "\n- [tatoeba, de to en, iwslt16:test](#tatoeba-de-to-en-iwslt16test): " in page, (
        "a link as GitHub names the heading"
    )


def test_the_page_of_speed_is_what_the_records_say(tmp_path):
    folder = RESULTS.parent / "benchmarks"
    write_page(folder / "results", tmp_path / "RESULTS.md")
    assert (folder / "RESULTS.md").read_text() == (tmp_path / "RESULTS.md").read_text()


@pytest.mark.real_data
def test_the_report_of_stored_records_puts_them_side_by_side(real_data):
    # all of them are in results/README.md
    records = [r for r in load_records(RESULTS / "multi30k.en-de") if r["split"] == "test"][:12]
    text = render(records)
    for record in records:
        assert f"{score_of(record, 'BLEU')['value']:.2f}" in text


def test_records_of_different_references_are_not_compared():
    records = [{"run": name, "references_sha256": name} for name in "ab"]
    with pytest.raises(
        InputError, match="a and b: have different references. Fix: compare runs of the same corpus"
    ):
        check_comparable(records)


def test_records_of_a_corpus_of_ones_own_stay_in_the_folder(tmp_path):
    record = load_records(RESULTS / "minigerman.en-de")[0]
    config = record["config"] | {"data": record["config"]["data"] | {"corpus": "local:../../own"}}
    path = publish(record | {"config": config, "split": "local:/other:test"}, tmp_path / "results")
    assert path.parent == tmp_path / "results" / "local-..-..-own.en-de" and path.name.endswith(
        ".local--other-test.json"
    )
    assert load_records(tmp_path / "results") == [load_record(path)]


def test_another_search_has_a_file_and_a_label_of_its_own_and_no_say_in_claims(tmp_path):
    digest = Setting("base").config("smoke").digest()
    (usual,) = (
        record
        for record in load_records(RESULTS / "minigerman.en-de")
        if record["config_digest"] == digest
    )
    greedy = usual | {"search": usual["search"] | {"beam": 1, "alpha": 0.6}}
    paths = [publish(record, tmp_path) for record in (usual, greedy)]
    assert [load_record(path)["search"]["beam"] for path in paths] == [5, 1]
    assert paths[1].name == f"{paths[0].stem}.beam=1.alpha=0.6.json"
    assert label_of(usual) in label_of(greedy) and "beam=1, alpha=0.6)" in label_of(greedy)
    setting = Setting(usual["system"])
    assert usual["config_digest"] == setting.config("smoke", usual["seed"]).digest()
    assert Evidence("smoke", [greedy, usual]).scores(setting, usual["seed"]) == usual
    with pytest.raises(NotMeasured):
        Evidence("smoke", [greedy]).scores(setting, usual["seed"])


def test_what_a_killed_recorder_left_goes_with_the_next_record(tmp_path, stored):
    folder = publish(stored["scores"], tmp_path).parent
    old, new, others = (
        folder / ".a.json.4711.part",
        folder / ".b.json.4712.part",
        folder / ".download.part",
    )
    for path in (old, new, others):
        path.touch()
    for path in (old, others):
        os.utime(path, (time.time() - 3601,) * 2)
    publish(stored["scores"], tmp_path)
    assert not old.exists() and new.exists() and others.exists(), (
        "one may be being written, the other is not ours"
    )


def test_a_report_tells_seeds_of_one_system_apart():
    found = {
        (label_of(r), r["seed"]): r
        for r in load_records(RESULTS / "minigerman.en-de")
        if r["split"] == "test"
    }
    chosen = [found["base", 1], found["base", 2], found["mma", 1]]
    text = render(chosen)
    (line,) = [line for line in text.splitlines() if line.startswith("| mma - base | BLEU |")]
    assert line.split(" | ")[4] == "1 to 2 seeds" and "seed 2 -" not in text
    block = text[text.index("## Examples") :].split("\n\n")[1]
    assert [line[4:17].strip() for line in block.split("\n")] == [
        "source",
        "reference",
        "base, seed 1",
        "base, seed 2",
        "mma",
    ]


def test_a_label_leaves_out_what_pruning_implies_and_names_what_it_does_not():
    usual = SCALES["smoke"]
    base = replace(usual, model=replace(usual.model, num_heads=8))
    gated = replace(base.model, gated_sites=("encoder_self",), gate_init=GATE_INIT)
    pruning = trained_on(
        replace(base, model=gated),
        "base-seed1-0",
        gated.gated_sites,
        gate_penalty=0.03,
        gate_rate=GATE_RATE,
    )
    assert conditions_of(pruning) == [
        "model.num_heads=8",
        "train.gate_penalty=0.03",
        "train.start_from=base-seed1-0",
    ]
    for option, value in {"gate_rate": 2.0, "freeze_decoder": False, "max_updates": 100}.items():
        assert f"train.{option}={value}" in conditions_of(
            replace(pruning, train=replace(pruning.train, **{option: value}))
        )
    assert "model.gate_init=0.0" in conditions_of(
        replace(pruning, model=replace(gated, gate_init=0.0))
    )
    control = trained_on(base, "base-seed1-0", gated.gated_sites)
    assert conditions_of(control) == [
        "model.num_heads=8",
        "train.start_from=base-seed1-0",
        "train.freeze_decoder=True",
    ]
    cut = replace(pruning, train=replace(pruning.train, cut_from="gated-seed1-0"))
    assert conditions_of(cut) == ["train.cut_from=gated-seed1-0"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not a result record. Fix: restore the file"),
        ("[]", "is not a result record"),
        ("", "is not a result record"),
        pytest.param("[" * 100_000, "is not a result record", id="nested"),
        ('{"format": "x"}', "is not a result record"),
        ('{"format": 99}', "has format 99, this version reads 2. Fix: upgrade repro"),
        (
            '{"format": 1}',
            "has format 1, which is too old: this version reads 2. Fix: evaluate the run again",
        ),
    ],
)
def test_what_is_not_a_record_is_named(tmp_path, content, message):
    path = tmp_path / "record.json"
    path.write_text(content)
    with pytest.raises(DamagedFileError, match=f"record.json: {message}"):
        load_record(path)


Record = dict[str, Any]


@pytest.fixture(scope="module")
def stored() -> dict[str, Record]:
    """A record of each kind."""
    return {
        record.get("kind", "scores"): record
        for record in load_records(RESULTS / "minigerman.en-de", None)
    }


def without(key: str) -> Callable[[Record], Any]:
    return lambda record: record.pop(key)


DAMAGES: list[tuple[str, Callable[[Record], Any], str]] = [
    *(
        ("scores", without(key), f"{key} is missing")
        for key in ("config", "scores", "run", "config_digest", "tables", "sentences", "search")
    ),
    *(
        (kind, without("provenance"), "provenance is missing")
        for kind in KINDS
        if kind not in ON_REQUEST  # of these none is stored
    ),
    (
        "scores",
        lambda r: r["config"]["train"].pop("max_updates"),
        "its configuration has no train.max_updates",
    ),
    ("heads", lambda r: r["config"].pop("data"), "config.data is missing"),
    ("scores", lambda r: r.update(config=[]), r"config wants an object, found \[\]"),
    ("scores", lambda r: r["config"].update(data=5), "config.data wants an object, found 5"),
    ("scores", lambda r: r.update(decoding={}), "decoding.seconds is missing"),
    ("scores", lambda r: r.update(scores={}), "scores wants a list, found {}"),
    ("scores", lambda r: r.update(kind=[1]), r"kind wants text, found \[1\]"),
    ("scores", lambda r: r["tables"].update(sentences=5), "tables.sentences wants text, found 5"),
    (
        "scores",
        lambda r: r["tables"].update(references="../other"),
        "tables.references wants a SHA-256 as hex digits, found '../other'",
    ),
    (
        "scores",
        lambda r: r["scores"][0].update(value="9"),
        r"scores\[0\].value wants a number, found '9'",
    ),
    ("scores", lambda r: r["scores"][0].update(value=float("nan")), "is not a result record"),
    (
        "scores",
        lambda r: r.update(system="base\n| forged |"),
        "system holds a control character: 'base.n. forged .'",
    ),
    (
        "scores",
        lambda r: r["scores"][0].update(name="BLEU\x1b[2J"),
        r"scores\[0\].name holds a control character: 'BLEU.x1b.2J'",
    ),
    (
        "masks",
        lambda r: r["config"]["model"].update({"a\rb": 1}),
        "a name in config.model holds a control character",
    ),
    ("heads", lambda r: r.update(split="dev\u2028x"), "split holds a control character"),
    ("scores", lambda r: r.update(seed=True), "seed wants a whole number, found True"),
    (
        "scores",
        lambda r: r["training"].update(joules=5),
        "training.joules wants an object or null, found 5",
    ),
    (
        "scores",
        lambda r: r.update(in_train={"pairs": 3}),
        "in_train has pairs, not pairs, en and de",
    ),
    (
        "scores",
        lambda r: r.update(search={"beem": 3}),
        "search: unknown key 'beem'. Fix: upgrade repro if a newer version wrote it",
    ),
    (
        "scores",
        lambda r: r["config"]["model"].update(newopt=1),
        "config.model: unknown key 'newopt'. Fix: upgrade repro if",
    ),
    ("masks", lambda r: r["masks"]["1"].pop("heads"), "masks.1.heads is missing"),
    ("heads", without("measured"), "measured is missing"),
    ("heads", lambda r: r["sites"].pop("cross"), "sites.cross is missing"),
    ("heads", lambda r: r["sites"]["cross"].pop("roles"), "sites.cross.roles is missing"),
    ("heads", lambda r: r.update(syntax=5), "syntax wants an object or null, found 5"),
    (
        "heads",
        lambda r: r["sites"]["cross"]["confidence"][0].__setitem__(0, float("nan")),
        "is not a result record",
    ),
]


@pytest.mark.parametrize(
    ("kind", "damage", "message"),
    DAMAGES,
    ids=[f"{kind}: {message[:40]}" for kind, _, message in DAMAGES],
)
def test_a_record_without_what_its_kind_has_is_named(tmp_path, stored, kind, damage, message):
    record = stored[kind] | {
        "tables": {name: table.digest for name, table in stored[kind].get("tables", {}).items()}
    }
    record = copy.deepcopy(record)
    damage(record)
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    with pytest.raises(DamagedFileError, match=f"record.json: .*{message}"):
        load_record(path)


def test_every_kind_that_is_measured_is_known():
    assert KINDS.keys() == {"scores", *MEASURES, *ON_REQUEST, *JOINT_MEASURES}


@pytest.mark.parametrize("folder", ["resluts", "README.md"])
def test_a_folder_that_is_not_there_has_no_records_to_be_read(folder):
    with refuses(InputError, folder, "`repro run`"):
        load_records(RESULTS.parent / folder)


def test_reading_goes_on_past_a_damaged_record(tmp_path, stored):
    path = publish(stored["scores"], tmp_path)
    (tmp_path / "cut.json").write_bytes(path.read_bytes()[:300])
    records, errors = read_records(tmp_path)
    assert records == {path: load_record(path)} and [error.where for error in errors] == [
        str(tmp_path / "cut.json")
    ]
    with pytest.raises(DamagedFileError, match="cut.json: is not a result record"):
        load_records(tmp_path)


def test_the_same_run_twice_is_no_second_seed(tmp_path, stored):
    path = publish(stored["scores"], tmp_path)
    for folder in ("backup", ".ipynb_checkpoints"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / path.name).write_bytes(path.read_bytes())
    # of the two, the one that comes second
    assert [error.where for error in read_records(tmp_path)[1]] == [str(path)]
    with pytest.raises(
        DamagedFileError,
        match=rf"is of the same run and kind as .*backup.{path.name}\. Fix: delete one of the two",
    ):
        load_records(tmp_path)
    (tmp_path / "backup" / path.name).unlink()
    assert load_records(tmp_path) == [load_record(path)]  # what is hidden is nobody's record


def test_scores_of_rounded_parameters_do_not_replace_those_of_the_run(tmp_path, stored):
    record = stored["scores"]
    path = publish(record, tmp_path)
    rounded = record | {
        "training": record["training"] | {"half_precision": {"same": 998, "sentences": 1000}}
    }
    with pytest.raises(
        InputError,
        match=f"{path.name}: was measured on test, this on test by parameters in half precision",
    ):
        publish(rounded, tmp_path)
    assert load_record(path) == record


@pytest.mark.parametrize("kind", ["scores", "heads"])
def test_a_record_does_not_replace_one_of_another_text(tmp_path, stored, kind):
    """A corpus may have grown since: the run has the name that it had, its test set has other
    sentences."""
    path = publish(stored[kind], tmp_path)
    other = copy.deepcopy(stored[kind])
    other["provenance"]["data_fingerprint"] = "5" * 64
    other |= {"references_sha256": "5" * 64} if kind == "scores" else {}
    with pytest.raises(
        InputError,
        match=(
            f"was measured on .* of the text [0-9a-f]{{12}}, this on .* of the text {'5' * 12}. "
            "Fix: record it"
        ),
    ):
        publish(other, tmp_path)
    assert load_record(path) == stored[kind] and publish(stored[kind], tmp_path) == path


def test_models_of_a_corpus_without_a_scale_are_not_taken_for_seeds_of_one(stored):
    config = SCALES["smoke"]
    own = replace(config, data=replace(config.data, corpus="local:my", subwords="exact"))
    assert conditions_of(own) == [] and conditions_of(
        replace(own, model=replace(own.model, dropout=0.3))
    ) == ["model.dropout=0.3"]


def test_a_score_that_is_not_there_is_named(stored):
    record = stored["scores"]
    with pytest.raises(
        DamagedFileError, match=f"{record['run']} test: has no score 'BLOU', only BLEU, chrF, "
    ):
        score_of(record, "BLOU")


@pytest.mark.parametrize("read", [pairs_of, lambda r: render([r]), recount])
def test_other_references_than_the_scored_ones_are_refused_by_every_reader(stored, read):
    with pytest.raises(
        DamagedFileError, match="was scored against other references than minigerman dev has here"
    ):
        read(stored["scores"] | {"split": "dev"})


def test_records_are_compared_on_their_own_references_only(stored):
    record = stored["scores"]
    other = record | {"references_sha256": "0" * 64}
    for first, second in ((record, other), (other, record)):
        with pytest.raises(DamagedFileError, match="was scored against other references"):
            compare_records(first, second)
