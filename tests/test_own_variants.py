"""A variant of one's own: mistakes in its file have a line of their own, and a run knows that its
file was edited."""

import importlib
import re
import shutil
import sys
from pathlib import Path

import pytest
import torch
from command_line import ended, refused, run
from expected_errors import refuses
from few_pairs import few_pairs
from own_files import DE, EN, write_corpus
from tiny_runs import TINY, assert_same, cut_short, parameters_of, tiny

from repro.core.attention import variants
from repro.core.attention.base import Positions
from repro.core.attention.dot_product import DotProduct
from repro.core.attention.spec import build_weights
from repro.core.config import ModelConfig
from repro.data.own_text import own_folder
from repro.errors import InputError
from repro.measures.scores import evaluate_run
from repro.pruning.cutting import save_pruned
from repro.records.report import render
from repro.records.translations import hypotheses_of
from repro.runs.behaviour import WORDS, changes, of_model
from repro.runs.models import load_model
from repro.runs.naming import run_name
from repro.runs.train import train
from repro.verify.derived import _untrained

NEARNESS = '''"""Attention that fades with distance."""

import torch

from repro.core.attention.base import AttentionWeights
from repro.core.attention.masks import masked_softmax


class Nearness(AttentionWeights):
    """A softmax of minus the distance times a slope."""

    def __init__(self, stack, slope):
        super().__init__(stack.num_heads, stack.head_dim)
        self.slope = slope

    def forward(self, query, key, blocked, positions):
        keys = torch.arange(blocked.shape[-1], device=query.device)
        scores = -self.slope * (keys - positions.query[:, None]).abs().to(query.dtype)
        return masked_softmax(scores.expand(1, self.num_heads, -1, -1), blocked)


def build(stack, slope=1.0):
    return [Nearness(stack, slope) for _ in range(stack.num_layers)]
'''
SITE = "encoder_self"


@pytest.fixture
def write(tmp_path):
    """Return what writes the file of the registered variant `nearness`, which is imported anew."""
    folder = tmp_path / "code"
    folder.mkdir()

    def write(text: str) -> None:
        sys.modules.pop("nearness_of_my_own", None)
        (folder / "nearness_of_my_own.py").write_text(text)
        importlib.invalidate_caches()

    with pytest.MonkeyPatch.context() as patch:  # its own: `cut_short` undoes all of the test's
        patch.syspath_prepend(folder)
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setitem(variants.VARIANTS, "nearness", "nearness_of_my_own")
        yield write
    sys.modules.pop("nearness_of_my_own", None)


def built(spec: str = "nearness") -> list:
    return build_weights(spec, SITE, 2, 64, 4)


def test_an_option_needs_no_annotation_if_it_has_a_default(write):
    write(NEARNESS)
    assert [layer.slope for layer in built("nearness(slope=2)")] == [2.0, 2.0]
    with refuses(InputError, "nearness(slope)", "'a'"):
        built("nearness(slope='a')")
    write(
        "from __future__ import annotations\n"
        + NEARNESS.replace('"""Attention that fades with distance."""\n', "").replace(
            "slope=1.0", "slope: float = 1.0"
        )
    )
    assert built("nearness(slope=3)")[0].slope == 3.0
    write(NEARNESS.replace("slope=1.0", "slope: list[float] = (1.0,)"))
    assert built("nearness(slope=[1, 2])")[0].slope == [1.0, 2.0]
    write(NEARNESS.replace("slope=1.0", "slope: tuple[float, ...] = (1.0,)"))
    assert built("nearness(slope=[1, 2])")[0].slope == (1.0, 2.0)


def test_an_option_may_be_one_of_some_numbers(write):
    own = NEARNESS.replace("import torch\n", "import torch\nfrom typing import Literal\n")
    write(own.replace("slope=1.0", "slope: Literal[1, 2] | None = 1"))
    assert [built(f"nearness(slope={value})")[0].slope for value in (1, 2, None)] == [1, 2, None]
    write(own.replace("slope=1.0", "slope: Literal[1, 2] = 1"))
    for value in ("3", "'1'", "1.0", "True"):
        with refuses(InputError, "nearness(slope)", value, "1", "2"):
            built(f"nearness(slope={value})")


@pytest.mark.parametrize(
    ("edit", "spec", "message"),
    [
        (
            ("stack, slope=1.0", "stack, slope: dict[str, float]"),
            "nearness(slope={'a': 1.0})",
            r"as dict\[str, float\], which is not",
        ),
        (
            ("stack, slope=1.0", "stack, slope: tuple[int, float]"),
            "nearness(slope=[1, 2.5])",
            "which is not checked. Fix: use bool, int, ",
        ),
        (
            ("stack, slope=1.0", "stack, **options"),
            "nearness",
            r"build takes '\*\*options', which cannot be given by name",
        ),
        (
            ("stack, slope=1.0", "stack, slope=1.0, /"),
            "nearness",
            "build takes 'slope=1.0', which cannot be given by name",
        ),
        (
            ("stack, slope=1.0", ""),
            "nearness",
            r"nearness_of_my_own: build takes no argument. Fix: write build\(stack\)",
        ),
        (
            ("stack, slope=1.0", "stack: 'Stack', slope=1.0"),
            "nearness",
            "names is not there .*'Stack' is not defined.*import it",
        ),
        (
            ("def build", "def make"),
            "nearness",
            "nearness_of_my_own: has no function build. Fix: write build",
        ),
        (
            ("slope=1.0", "slope=None"),
            "nearness(slope=2.0)",
            "build does not say what its option 'slope' is. Fix: write its type",
        ),
        (
            ("slope=1.0", "slope"),
            "nearness",
            r"nearness needs the option 'slope'. Fix: write nearness\(slope=...\)",
        ),
        (
            ("range(stack.num_layers)", "range(1)"),
            "nearness",
            "nearness_of_my_own: build returned 1 of them for 2 layers. Fix: return a list",
        ),
        (
            ("[Nearness(stack, slope) for _ in range(stack.num_layers)]", "Nearness(stack, slope)"),
            "nearness",
            "build returned Nearness for 2",
        ),
        (
            ("[Nearness(stack, slope) for", "[slope for"),
            "nearness",
            "build returned 2 of them for 2 layers",
        ),
        (
            ("super().__init__(stack.num_heads, stack.head_dim)", "pass"),
            "nearness",
            "nearness_of_my_own: __init__ of Nearness does not call that of AttentionWeights",
        ),
    ],
)
def test_a_mistake_in_its_file_has_a_line(write, edit, spec, message):
    assert edit[0] in NEARNESS
    write(NEARNESS.replace(*edit))
    with pytest.raises(InputError, match=message):
        built(spec)


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        # no heads: with as many heads as sentences it would be stretched
        ("return masked_softmax(scores, blocked[:, 0])", "(2, 5, 5)"),
        (
            "return masked_softmax(scores.expand(1, self.num_heads, -1, -1), blocked)[:, :1]",
            "(2, 1, 5, 5)",
        ),
        (
            "return masked_softmax(scores.expand(3, self.num_heads, -1, -1), blocked[:1])",
            "(3, 4, 5, 5)",
        ),
        ("masked_softmax(scores, blocked)", "NoneType"),
    ],
)
def test_weights_of_a_wrong_shape_are_named(write, returned, found):
    write(
        NEARNESS.replace(
            "return masked_softmax(scores.expand(1, self.num_heads, -1, -1), blocked)", returned
        )
    )
    (first, *_), query = built(), torch.randn(2, 5, 64)
    with pytest.raises(InputError) as error:
        blocked = torch.zeros(2, 1, 1, 5, dtype=torch.bool)
        first.attend(query, None, torch.randn(2, 4, 5, 16), blocked, Positions(torch.arange(5)))
    where = f"nearness_of_my_own: forward of Nearness returned {found}. Fix: "
    assert (
        str(error.value)
        == where + "return (batch or 1, num_heads, query_len, key_len), here (2 or 1, 4, 5, 5)"
    )


def test_a_file_that_is_not_there_and_a_site_that_is_none_are_named(monkeypatch):
    monkeypatch.setitem(variants.VARIANTS, "nearness", "repro.core.attention.nearnes")
    with pytest.raises(
        InputError,
        match=(
            "'nearness' stands for repro.core.attention.nearnes, which is not there. Fix: write "
            "its file"
        ),
    ):
        built()
    with refuses(InputError, "site", "'encoder'", "'encoder_self'"):
        build_weights("dot-product", "encoder", 2, 64, 4)


def test_a_file_that_is_no_python_and_a_folder_that_is_not_there_are_named(write, monkeypatch):
    write(NEARNESS.replace("return [Nearness", "return [[Nearness"))
    with pytest.raises(
        InputError,
        match=r"nearness_of_my_own\.py:\d+: is no Python \(.*\)\. Fix: correct that line",
    ):
        built()
    monkeypatch.setitem(variants.VARIANTS, "nearness", "repro.attentoin.nearness")
    with pytest.raises(
        InputError, match="'nearness' stands for repro.attentoin.nearness, which is not there"
    ):
        built()


def test_only_what_a_variant_computes_counts(write):
    model = ModelConfig(encoder_self="nearness; last: nearness(slope=2.0)")
    write(NEARNESS)
    before = of_model(model)
    write(
        "# a comment\n"
        + NEARNESS.replace("A softmax of minus", "Another docstring")
        .replace("scores", "numbers")
        .replace("Nearness", "Near")
    )
    assert changes(before, of_model(model)) == []
    write(NEARNESS.replace("-self.slope", "self.slope"))
    assert changes(before, of_model(model)) == [WORDS["output"], WORDS["loss"], WORDS["gradient"]]


def test_a_run_is_not_resumed_under_another_code_and_its_scores_are_not_given_out_for_it(
    write, tmp_path, monkeypatch, capsys
):
    write(NEARNESS)
    option = f"model.{SITE}=nearness"
    runs = tmp_path / "runs"
    cut_short(runs, monkeypatch, 14, option)
    write(NEARNESS.replace("-self.slope", "0.5 * self.slope"))
    what = (
        "cannot resume exactly: this code computes other scores of the next token, "
        "another loss, another gradient than when the run began"
    )
    with pytest.raises(InputError, match=what) as refusal:
        train(tiny(option), runs, quiet=True)
    # of `repro run`, too, which does not go on inexactly
    assert (
        f"`repro runs {run_name(tiny(option))} --delete` and train it afresh" in refusal.value.fix
    )
    assert "`repro train --allow-inexact`" in refusal.value.fix
    write(NEARNESS)
    run = train(tiny(option), runs, quiet=True)
    first = evaluate_run(run, "dev")
    assert evaluate_run(run, "dev") == first and capsys.readouterr().err == ""
    write(NEARNESS.replace("-self.slope", "5 * self.slope"))
    second = evaluate_run(run, "dev")
    assert (
        "this code computes other scores of the next token than when the run began: old "
        "parameters, new code" in capsys.readouterr().err
    )
    assert second["decoding"] != first["decoding"] or hypotheses_of(second) != hypotheses_of(first)
    assert len(list((run.path / "evaluations").glob("*.json"))) == 2
    note = (
        "this code computes other scores of the next token than when the run began: old "
        "parameters, new code"
    )
    assert "inexact" not in first["provenance"] and second["provenance"]["inexact"] == [note]
    assert f"; not exact: {note}" in render([second]) and "not exact" not in render([first])
    assert evaluate_run(run, "dev") == second and f"{note}. Delete" in capsys.readouterr().err
    with refuses(InputError, run.path.name, note, "delete the run's folder to train it again"):
        train(tiny(option), runs, quiet=True)  # its dev loss is that of the old code
    assert train(tiny(option), runs, quiet=True, allow_inexact=True).path == run.path


def test_records_of_an_edited_variant_are_not_taken_for_those_of_the_new_one(
    runs, tmp_path, monkeypatch, capsys, quick_workers
):
    few = (f"data.corpus={few_pairs()}", *TINY)
    command = ("run", "base", *few, "model.encoder_self=mine.py", "--results", "mine")
    planned = (*command, "--seeds", "2", "--dry-run")
    monkeypatch.setenv("REPRO_VARIANTS", str(tmp_path))  # where the workers find it
    file = Path("mine.py")
    file.write_text(NEARNESS)
    run(capsys, *command, "--seeds", "2")
    run(capsys, "run", "base", *few, "--results", "mine")
    assert ended(capsys, *planned)[2].startswith("0 runs to train, 0 to measure")
    own = [next(runs.glob(f"encoder_self*-seed{seed}-*")) for seed in (1, 2)]
    shutil.rmtree(own[1])
    compared = ("compare", "base-seed", own[0].name[:20], "--results", "mine")
    assert own[1].name in "".join(run(capsys, *compared)), "both seeds, one of them as a record"
    file.write_text(NEARNESS.replace("-self.slope", "5 * self.slope"))
    assert ended(capsys, *planned)[2].startswith("2 runs to train")
    code, page, said = ended(capsys, *compared)
    assert code == 0 and "old parameters, new code" in said
    assert "another training" not in page and own[1].name not in page
    code, _, said = ended(capsys, *command)
    assert code == 2 and "old parameters, new code. Fix: restore the code, or delete the" in said
    shutil.rmtree(own[0])
    code, _, said = ended(capsys, *compared)
    assert code == 2 and "is of other code than this" in said
    Path("mine.py").rename("elsewhere.py")
    assert own[1].name in "".join(run(capsys, *compared)), "records alone need no code"
    Path("elsewhere.py").rename("mine.py")
    run(capsys, *command)
    assert ended(capsys, *command, "--dry-run")[2].startswith("0 runs to train, 0 to measure")
    assert ended(capsys, *planned)[2].startswith("1 run to train"), "the other seed is as it was"


def test_what_a_variant_keeps_in_buffers_is_saved_with_the_run(write, tmp_path, monkeypatch, whole):
    drawn = """super().__init__(stack.num_heads, stack.head_dim)
        self.register_buffer("drawn", torch.rand(()))
        self.register_buffer("used", torch.zeros((), dtype=torch.long))
        self.register_buffer("derived", torch.ones(3), persistent=False)"""
    first_line = "def forward(self, query, key, blocked, positions):\n"
    text = NEARNESS.replace("super().__init__(stack.num_heads, stack.head_dim)", drawn).replace(
        "-self.slope", "-self.drawn"
    )
    write(text.replace(first_line, first_line + "        self.used += self.training\n"))
    option = f"model.{SITE}=nearness"
    cut_short(tmp_path, monkeypatch, 14, option)
    run = train(tiny(option), tmp_path, quiet=True)
    assert_same(run, whole(option))
    saved = parameters_of(run)
    places = [f"encoder.{layer}.self_attention.sublayer.weights" for layer in (0, 1)]
    assert [int(saved[f"{place}.used"]) for place in places] == [24, 24] and not any(
        name.endswith("derived") for name in saved
    )
    for _ in range(2):  # each draws other numbers, before it loads those of the run
        model = load_model(run)
        for layer, place in zip(model.attentions()[SITE], places, strict=True):
            assert layer.weights.drawn == saved[f"{place}.drawn"]


def test_a_pruned_model_keeps_what_a_variant_at_another_site_has_drawn(write, tmp_path):
    known = "super().__init__(stack.num_heads, stack.head_dim)"
    write(
        NEARNESS.replace(known, f'{known}\n        self.register_buffer("drawn", torch.rand(()))')
    )
    whole = train(
        tiny(f"model.{SITE}=nearness", 'model.gated_sites=["cross"]', "train.max_updates=2"),
        tmp_path,
        quiet=True,
    )
    drawn = [
        [layer.weights.drawn for layer in load_model(run).attentions()[SITE]]
        for run in (whole, save_pruned(whole))
    ]
    assert drawn[0] == drawn[1]


def test_a_mistake_in_ones_own_file_is_not_called_a_bug_of_ours(
    write, tmp_path, monkeypatch, capsys
):
    write(NEARNESS.replace("return masked_softmax(", "return 1 / 0 * masked_softmax("))
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path / "runs"))
    code, line = refused(
        capsys,
        "train",
        "train.max_updates=2",
        "data.train_pairs=300",
        "data.vocab_size=300",
        f"model.{SITE}=nearness",
    )
    number = (
        NEARNESS.split("\n").index(
            "        return masked_softmax(scores.expand(1, self.num_heads, -1, -1), blocked)"
        )
        + 1
    )
    expected = f"error: nearness_of_my_own.py:{number}: ZeroDivisionError: division by zero. Fix: "
    assert code == 2 and line.startswith(expected)
    write("import numpyy\n" + NEARNESS)
    expected = (
        "error: nearness_of_my_own.py:1: ModuleNotFoundError: No module named 'numpyy'. Fix: "
    )
    assert refused(capsys, "check", "nearness")[1].startswith(expected)


def test_pairs_of_ones_own_that_are_left_out_are_counted(tmp_path, capsys):
    (tmp_path / "own").mkdir()
    name = write_corpus(tmp_path / "own", train_en=[*EN[:20], "c"], train_de=[*DE[:20], ""])
    run = train(
        tiny(f"data.corpus={name}", "data.source=en", "data.target=de", "data.vocab_size=60"),
        tmp_path / "runs",
        quiet=True,
    )
    expected = f"{run.path}: training pairs left out: 1 (blank); repro data {name} names them\n"
    assert capsys.readouterr().err == expected


def test_an_experiment_whose_variant_was_edited_in_the_package_is_planned_again(
    runs, monkeypatch, capsys, quick_workers
):
    few = (f"data.corpus={few_pairs()}", *TINY)
    lines = [re.sub("=([^0-9].*)", r' = "\1"', option) for option in few]
    Path("my.toml").write_text("\n".join(['base = "smoke"', *lines]))
    command = ("run", "you2020.table1", "--scale", "my.toml", "--results", "mine")
    run(capsys, *command)
    assert ended(capsys, *command, "--dry-run")[2].startswith("0 runs to train, 0 to measure")
    before = DotProduct.attend
    monkeypatch.setattr(DotProduct, "attend", lambda self, *given: 2 * before(self, *given))
    assert ended(capsys, *command, "--dry-run")[2].startswith("1 run to train")


def test_what_is_not_here_of_ones_own_is_no_fault_of_the_records(
    runs, tmp_path, monkeypatch, capsys
):
    own = Path(shutil.copytree(own_folder(few_pairs()), tmp_path / "own"))
    few = (f"data.corpus=local:{own}", *TINY)
    Path("mine.py").write_text(NEARNESS)
    run(capsys, "train", *few, "model.encoder_self=mine.py")
    run(capsys, "train", *few)
    for name in ("encoder_self", "base"):
        run(capsys, "evaluate", name, "--beam", "1", "--record", "mine")
    (tmp_path / "elsewhere").mkdir()

    def verified(folder: str = ".") -> str:
        _untrained.cache_clear()  # as in another process
        monkeypatch.chdir(tmp_path / folder)
        code, page, said = ended(capsys, "verify", "--results", str(tmp_path / "mine"))
        monkeypatch.chdir(tmp_path)
        assert code == 0 and "no fault" in page, said
        return page + said

    absent = "not checkable here, 1 record: mine.py: is not in "
    assert absent not in verified() and absent in verified("elsewhere")
    run(capsys, "results", "mine", "--update")
    assert "not checkable" not in verified()
    assert "rows compared: 2; of a file that is not here: 1" in verified("elsewhere")
    text = (own / "test.en").read_text()
    (own / "test.en").write_text(text.replace(" ", " a ", 1))
    what = "holds another text than the one that these records are of. Fix: restore the text"
    assert f"not checkable here, 2 records: local:{own}: {what}" in verified()
    (own / "test.en").write_text(text)
    assert "not checkable" not in verified()
