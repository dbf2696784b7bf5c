"""The length penalty that is chosen on dev, and how records and commands take it up."""

import json

import pytest
import torch
from command_line import run as run_command
from tiny_runs import parameters_of, tiny

from repro.core.decoding import SearchConfig
from repro.core.settings import USUAL_ALPHA
from repro.measures.scores import evaluate_run
from repro.records.stored import search_of
from repro.runs import length_penalty
from repro.runs.length_penalty import fitting_alpha
from repro.runs.models import load_translator
from repro.runs.train import train


class Translates:
    """Translates into as many letters as a table says, by the penalty."""

    def __init__(self, lengths):
        self.lengths = lengths

    def translate(self, sentences, search):
        return ["a" * self.lengths.get(search.alpha, 0)] * len(sentences)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ({0.8: 7, 1.0: 8, 1.2: 9, 1.4: 11}, 1.2),
        ({1.2: 12, 1.4: 10}, 1.4),
        ({0.4: 9, 0.8: 11, 1.6: 9}, 0.8),
        ({}, 1.0),
    ],
)
def test_the_one_whose_lengths_fit_is_taken_and_of_equal_ones_that_nearest_to_the_usual(
    lengths, expected
):
    assert fitting_alpha(Translates(lengths), ["any"] * 3, ["b" * 10] * 3) == expected


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(length_penalty, "ALPHAS", (1.6,))
        return train(tiny("train.length_penalty=dev"), tmp_path_factory.mktemp("runs"), quiet=True)


def test_a_run_is_searched_with_its_own(run):
    alone = train(tiny(), run.path.parent / "fixed", quiet=True)
    assert run.alpha > USUAL_ALPHA == alone.alpha
    assert all(torch.equal(x, y) for x, y in zip(*map(_tensors, (run, alone)), strict=True))
    translator, sentences = load_translator(run), ["a dog runs .", "the old man sees a house ."]
    own = translator.translate(sentences)
    assert own == translator.translate(sentences, SearchConfig(alpha=run.alpha))
    record = evaluate_run(run, "dev")
    assert record["search"]["alpha"] == record["training"]["alpha"] == run.alpha
    assert search_of(record) == []


def test_another_one_is_named(run, capsys):
    record = evaluate_run(run, "dev", SearchConfig(alpha=USUAL_ALPHA))
    assert search_of(record) == [f"alpha={USUAL_ALPHA}"]
    for given, found in (((), run.alpha), (("--alpha", "0.6"), 0.6)):
        for path in (run.path / "evaluations").glob("test-*.json"):
            path.unlink()
        run_command(capsys, "evaluate", str(run.path), *given)
        (path,) = (run.path / "evaluations").glob("test-*.json")
        assert json.loads(path.read_bytes())["search"]["alpha"] == found


def _tensors(run):
    return [value for _, value in sorted(parameters_of(run).items())]
