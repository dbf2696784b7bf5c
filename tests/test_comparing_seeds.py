"""Systems of several seeds are compared over sentences and seeds, as claims are, wherever anybody
compares systems."""

from pathlib import Path

import pytest
from command_line import run
from expected_errors import refuses
from few_pairs import few_pairs

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.decoding import Translator
from repro.data.corpora import load_pairs
from repro.errors import DamagedFileError, InputError
from repro.presets import resolve
from repro.records.report import by_label, differences_table
from repro.records.stored import load_records, pairs_of
from repro.records.translations import compare_seeds, hypotheses_of
from repro.runs.run import Run
from repro.statistics.comparing import compare_systems, paired_bootstrap

RESULTS = Path(__file__).parents[1] / "results"
SMALL = [
    "data.train_pairs=300",
    "data.vocab_size=300",
    "train.max_updates=6",
    "train.eval_every=3",
    "train.batch_tokens=400",
]


@pytest.fixture(scope="module")
def stored():
    """Records of two seeds of three systems, by system."""
    records = [
        record for record in load_records(RESULTS / "minigerman.en-de") if record["split"] == "test"
    ]
    return {name: by_label(records)[name][:3] for name in ("base", "hc-sa", "mma")}


def test_a_difference_over_seeds_is_that_of_the_claims(stored):
    """Which has resamples of its own number, and BLEU of its own."""
    records = [record for seeds in stored.values() for record in seeds]
    evidence = Evidence("smoke", records)
    for name, compared in zip(("hc-sa", "mma"), compare_seeds(list(stored.values())), strict=True):
        expected = evidence.contrast([(1.0, Setting(name)), (-1.0, Setting("base"))])
        found = compared[0].estimate
        assert (
            found.value == pytest.approx(expected.value) == compared[0].second - compared[0].first
        )
        assert (found.low, found.high, found.detectable) == pytest.approx(
            (expected.low, expected.high, expected.detectable), abs=0.1
        )
        assert found.seeds == (2, 2) and compared[0].signature.startswith("nrefs:1|case:mixed|")


def test_each_metric_of_a_single_pair_of_runs_is_compared_over_sentences_as_paired_bootstrap_does(
    stored,
):
    first, second = (hypotheses_of(stored[name][0]) for name in ("base", "hc-sa"))
    refs = pairs_of(stored["base"][0])[1]
    (compared,) = compare_systems([[first], [second]], refs, "de")
    for found, expected in zip(compared, paired_bootstrap(first, second, refs, "de"), strict=True):
        assert (found.metric, found.signature) == (expected.metric, expected.signature)
        assert (found.first, found.second) == (expected.first, expected.second)
        assert found.estimate == expected.estimate and found.p == expected.p is not None
        assert found.estimate.detectable is None and found.estimate.seeds == (1, 1)


def test_a_system_of_one_seed_borrows_the_noise_of_the_others(stored):
    single = stored["mma"][:1]
    (hard,), (mixed,) = (
        [found.estimate for found in of[:1]]
        for of in compare_seeds([stored["base"], stored["hc-sa"], single])
    )
    assert mixed.seeds == (1, 2) and mixed.detectable > hard.detectable


def test_the_table_of_differences_has_a_row_for_a_system_and_not_for_a_seed(stored):
    lines = differences_table(
        [record for seeds in zip(*stored.values(), strict=True) for record in seeds]
    ).splitlines()
    assert lines[0] == "| systems | metric | difference | 95 % interval | from | detectable |"
    assert [line.split(" | ")[:2] for line in lines[2:-2]] == [
        [f"| {name} - base", metric]
        for name in ("hc-sa", "mma")
        for metric in ("BLEU", "chrF", "tokenised lower-cased BLEU")
    ]
    assert "2 seeds" in lines[2] and lines[-1].startswith(
        "Intervals are over test sentences and training seeds;"
    )
    assert differences_table(stored["base"]) == "Nothing to compare base with."


def test_what_cannot_be_compared_is_refused(stored):
    records = [
        stored["base"],
        [*stored["hc-sa"][:1], stored["hc-sa"][1] | {"references_sha256": "0" * 64}],
    ]
    with pytest.raises(DamagedFileError, match="was scored against other references"):
        compare_seeds(records)
    with refuses(InputError, "hypotheses", "2", "1"):
        compare_systems([[["Ja."], ["Ja."]], [["Ja.", "Nein."]]], ["Ja."], "de")
    with refuses(InputError, "num_samples", "2", "1"):
        compare_systems([[["Ja."]] * 2, [["Ja."]]], ["Ja."], "de", num_samples=1)
    for systems in ([], [[["Ja."]], []]):
        with pytest.raises(InputError, match="systems: one has no texts, or there is no system"):
            compare_systems(systems, ["Ja."], "de")


def test_the_name_of_a_system_means_no_longer_one(runs):
    short, long = (Run.create(resolve("smoke", name)) for name in ("hc-sa", "hc-sa-window"))
    assert Run.find("hc-sa").path == short.path and Run.find("hc-sa-w").path == long.path
    with pytest.raises(InputError, match="hc-s: fits 2 runs"):
        Run.find("hc-s")
    wordy = (
        "encoder_self=gaussian(centers=[-3, -2, -1, 1, 2, 3], "
        "std=0.5)+decoder_self=gaussian(centers=[-3, -2, -1], std=0.5)"
    )
    made = Run.create(resolve("smoke", overrides=[f"model.{part}" for part in wordy.split("+")]))
    assert len(made.path.name) < len(wordy) and Run.find(wordy).path == made.path


def test_a_command_compares_systems_over_their_seeds(capsys, runs, monkeypatch):
    few = [*SMALL, f"data.corpus={few_pairs()}"]
    for system, seed in (("base", "1"), ("base", "2"), ("hc-sa", "1")):
        run(capsys, "train", "--system", system, "--seed", seed, *few)
    good = load_pairs(few_pairs(), "en", "de", "dev")[1]
    bad = ["Nein."] * len(good)
    outputs = iter([bad, good, good])
    monkeypatch.setattr(Translator, "texts", lambda *_: next(outputs))
    said = run(capsys, "compare", "base", "hc-sa", "--split", "dev")
    names = said[0].replace(",", " against").split(" against ")[:3]
    assert [name.rpartition("-")[0] for name in names] == [
        "hc-sa-seed1", "base-seed1", "base-seed2"
    ]  # fmt: skip
    assert (
        said[1].startswith("BLEU: 100.00 - 50.00 = +50.00, 95 % interval -")
        and ", detectable " in said[1]
    )
    assert said[-1] == "means over 1 to 2 seeds; intervals over test sentences and training seeds"
