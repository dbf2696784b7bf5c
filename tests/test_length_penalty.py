"""The length penalty that is chosen on dev, and how records and commands take it up."""

import json
from types import SimpleNamespace

import pytest
import torch
from command_line import run as run_command
from tiny_runs import parameters_of, tiny

from repro.core.decoding import SearchConfig
from repro.core.settings import USUAL_ALPHA
from repro.measures.scores import evaluate_run
from repro.records.stored import search_of
from repro.runs import length_penalty
from repro.runs.length_penalty import best_alpha
from repro.runs.models import load_translator
from repro.runs.train import train


class Translates:
    """Translates as a table says, by the penalty."""

    def __init__(self, by_alpha, otherwise):
        self.by_alpha, self.otherwise = by_alpha, otherwise

    def translate(self, _sentences, search):
        return self.by_alpha.get(search.alpha, self.otherwise)


@pytest.mark.parametrize(
    ("right_at", "expected"), [((1.4,), 1.4), ((0.4, 0.8, 1.4), 0.8), ((0.4, 1.6), 0.4), ((), 1.0)]
)
def test_the_best_on_dev_is_taken_and_of_equal_ones_that_nearest_to_the_usual(right_at, expected):
    ref = "eine Frau liest in einem Buch"
    translator = Translates({alpha: [ref] for alpha in right_at}, ["nothing of it"])
    assert best_alpha(translator, (["a woman"], [ref]), "multi30k", "de") == expected


@pytest.mark.parametrize(("better", "expected"), [(1, 1.0), (40, 1.4)])
def test_what_may_be_chance_changes_nothing(better, expected):
    refs = [f"eine Frau liest Buch {number} in der Stadt" for number in range(50)]
    usual = [ref.replace("liest", "nimmt") for ref in refs]
    translator = Translates({1.4: refs[:better] + usual[better:]}, usual)
    assert best_alpha(translator, (refs, refs), "multi30k", "de") == expected


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(length_penalty, "score_all", lambda hyps, *_: [Longer(hyps)])
        surely = SimpleNamespace(high=-1.0)
        patch.setattr(length_penalty, "paired_bootstrap", lambda *_, **__: [surely])
        return train(tiny("train.length_penalty=dev"), tmp_path_factory.mktemp("runs"), quiet=True)


class Longer:
    """A metric that likes length, so that the strongest penalty wins."""

    def __init__(self, hyps):
        self.value = sum(map(len, hyps))


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
