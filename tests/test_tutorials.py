"""Tutorials, both ways: the solution passes every check, the untouched exercise none, and each
foreseen mistake gets its explanation."""

import ast
import copy
import importlib.util
import inspect
import itertools
import json
import re
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from repro.teaching.exercise import Exercise, exercise

ROOT = Path(__file__).resolve().parents[1] / "tutorials"
FOLDERS = sorted(path.parent for path in ROOT.glob("*/check.py"))


def cells_of(folder, name):
    return json.loads((folder / f"{name}.ipynb").read_text())["cells"]


def exercises_of(folder):
    """Return the exercises of a tutorial by name."""
    spec = importlib.util.spec_from_file_location(f"check_{folder.name}", folder / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if isinstance(value, Exercise)}


def answers_in(folder, name):
    """Return the functions that a notebook defines in cells marked as exercises, run after the
    cells that import."""
    namespace = {}
    for cell in cells_of(folder, name):
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            imports = [
                node
                for node in ast.parse(source).body
                if isinstance(node, (ast.Import, ast.ImportFrom))
            ]
            kept = [
                node for node in imports if not any(alias.name == "check" for alias in node.names)
            ]
            exec(compile(ast.Module(kept, []), name, "exec"), namespace)
            if "exercise" in cell["metadata"].get("tags", []):
                exec(source, namespace)
    return namespace


BADGES = re.compile(r"^\[!\[Open in .*\n\n?", re.M)  # a solution has none


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request):
    return request.param


def test_there_are_tutorials():
    assert FOLDERS, "no folder of tutorials/ holds a check.py"


def test_every_exercise_is_solved_by_the_solution_and_by_nothing_else(folder):
    exercises, solution, starter = (
        exercises_of(folder),
        answers_in(folder, "solution"),
        answers_in(folder, "exercise"),
    )
    assert exercises
    for name, task in exercises.items():
        assert task.name == name
        assert task.problem(solution[name]) is None
        assert task.problem(starter[name]) == "not written yet"


def test_every_mistake_is_seen_and_explained(folder):
    for name, task in exercises_of(folder).items():
        assert len(task.mistakes) >= 2, f"{name}: what do students get wrong?"
        for mistake in task.mistakes:
            for case in task.cases:
                # whatever is wrong with an answer, a check does not stop
                mistake(*copy.deepcopy(case))
            said = task.problem(mistake)
            assert said is not None, f"{name}: the mistake {mistake.__name__} passes"
            explained = " ".join(inspect.getdoc(mistake).split())
            assert said.startswith(explained), (
                f"{name}: {mistake.__name__} is taken for another mistake"
            )


def test_a_definition_takes_what_the_reader_is_asked_to_take(folder):
    solution = answers_in(folder, "solution")
    for name, task in exercises_of(folder).items():
        assert list(inspect.signature(solution[name]).parameters) == list(
            inspect.signature(task.definition).parameters
        )
        assert all(
            len(inspect.signature(task.definition).parameters) == len(case) for case in task.cases
        )


def test_solution_and_exercise_differ_in_the_answers_only(folder):
    pairs = list(zip(cells_of(folder, "exercise"), cells_of(folder, "solution"), strict=True))
    asked = []
    for starter, solved in pairs:
        before, after = ("".join(cell["source"]) for cell in (starter, solved))
        if "exercise" in starter["metadata"].get("tags", []):
            head = before.removesuffix("    raise NotImplementedError")
            assert before != head and after.startswith(head) and after != head
            asked.append(ast.parse(before).body[0].name)
        else:
            assert BADGES.sub("", before) == after
    assert asked == list(exercises_of(folder))
    sources = ["".join(starter["source"]) for starter, _ in pairs]
    assert all(f"check.{name}({name})" in sources for name in asked)


def test_a_table_at_the_top_names_every_exercise_with_its_minutes(folder):
    first = "".join(cells_of(folder, "exercise")[0]["source"])
    rows = [line for line in first.split("\n") if line.startswith("| ") and "`" in line]
    assert [row.split("`")[1] for row in rows] == list(exercises_of(folder))
    assert all(
        row.split("|")[2].strip() in ("easy", "medium", "hard") and int(row.split("|")[3]) > 0
        for row in rows
    )


def test_notebooks_were_run_and_the_teachers_guide_names_them(folder):
    for name in ("exercise", "solution"):
        cells = [cell for cell in cells_of(folder, name) if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert f"]({folder.name}/exercise.ipynb)" in (ROOT / "README.md").read_text()


@exercise(cases=[(torch.tensor([1.0, 2.0]), 3)], hints=["Think of the sum."])
def scaled(vector, factor):
    return vector * factor


@scaled.mistake
def added(vector, factor):
    """You added."""
    return vector + factor


def test_a_right_answer_of_another_type_of_number_is_right():
    assert scaled.problem(lambda vector, factor: (vector * factor).double()) is None
    assert scaled.problem(lambda vector, factor: (vector * factor).clone().requires_grad_()) is None
    half = exercise(cases=[(1.0,)], hints=[""])(lambda x: x / 2)
    assert half.problem(lambda x: torch.tensor(x / 2)) is None
    assert half.problem(lambda x: torch.tensor([x / 2])) is not None
    assert half.problem(lambda x: str(x / 2)) is not None
    assert half.problem(lambda x: [torch.tensor(x / 2, requires_grad=True)]).startswith(
        "not right yet"
    )


def test_what_is_right_but_of_another_kind_is_said_to_be():
    pair = exercise(cases=[(3.0,)], hints=[""])(lambda x: (-1, x / 4))
    assert pair.problem(lambda x: torch.tensor([-1, x / 4])).startswith(
        "the numbers are right, but a tuple is expected; yours is a tensor"
    )
    assert pair.problem(lambda x: torch.tensor([-1, x])).startswith("not right yet")
    letters = exercise(cases=[("ab",)], hints=[""])(lambda text: text * 2)
    assert letters.problem(lambda text: [*text, *text]).startswith(
        "the letters are right, but a str is expected; yours is a list"
    )
    assert letters.problem(lambda text: [*text]).startswith("not right yet")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda vector, factor: None, "returns nothing; does every way"),
        (lambda vector, factor: vector + factor, "You added."),
        (lambda vector, factor: vector + 1, "not right yet. Hint: Think of the sum."),
        (lambda vector, factor: (vector * factor)[None], "yours = tensor of shape (1, 2)"),
        (lambda vector, factor: vector * float("nan"), "nan"),
        (
            lambda vector, factor: [3.0, 6.0],
            "the numbers are right, but a tensor is expected; yours is a list",
        ),
        (lambda vector, factor: [3.0, 7.0], "yours = [3.0, 7.0]"),
        (lambda vector, factor: vector.mul_(factor), "changes what it is given; work on a copy"),
        (lambda vector: vector, "stops with TypeError"),
        (lambda vector, factor: vector @ torch.ones(3), "stops in line 1 with RuntimeError"),
        (lambda vector, factor: {}[factor], "stops in line 1 with KeyError: 3"),
        (lambda vector, factor: vector & vector, "stops in line 1 with NotImplementedError"),
        (lambda vector, factor: exit(), "stops in line 1 with SystemExit"),
        (lambda vector, factor: (vector * factor).to_sparse(), "not right yet"),
        (lambda vector, factor: (vector * factor).to("meta"), "not right yet"),
        (lambda vector, factor: vector * factor + 0j, "not right yet"),
        (lambda vector, factor: np.array([vector, {}], dtype=object), "not right yet"),
        (lambda vector, factor: vector * 2.9995, "nearly right, but not to five digits"),
        (lambda vector, factor: (x / 0 for x in (1, 2)), "not right yet"),
        (lambda vector, factor: itertools.count(), "not right yet"),
    ],
    ids=(
        "nothing mistake unforeseen shape nan list wrong-list changed arguments in-torch "
        "in-Python of-torch's-name exit sparse"
        " meta complex objects rounded lazy endless"
    ).split(),
)
def test_any_other_answer_becomes_an_explanation(answer, said, capsys):
    scaled(answer)
    printed = capsys.readouterr().out
    assert printed.startswith("scaled: ") and said in printed
    assert "when called with\n  vector = tensor of shape (2,)\n    [1. 2.]\n  factor = 3" in printed
    assert scaled.or_definition(answer) is scaled.definition


@exercise(
    cases=[(torch.tensor([[1.0, 2.0], [3.0, 4.0], [0.0, 5.0]]), 3)], hints=["Think of the sum."]
)
def scaled_rows(rows, factor):
    return rows * factor


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            lambda rows, factor: (rows * factor)[None],
            "the numbers are right, but their shape is (1, 3, 2); (3, 2) is expected\n",
        ),
        (
            lambda rows, factor: (rows * factor).flatten(),
            "the numbers are right, but their shape is (6,); (3, 2) is expected\n",
        ),
        (
            lambda rows, factor: (rows * factor).T,
            "the numbers are right, but rows and columns are exchanged\n",
        ),
        (
            lambda rows, factor: rows[:2],
            "not right yet: your shape is (2, 2), (3, 2) is expected. Hint: Think of the sum.\n",
        ),
        (
            lambda rows, factor: rows / 0,
            (
                "not right yet: some of it is NaN, which 0 / 0 makes, 0 * infinity, and infinity "
                "- infinity. Hint: Think"
            ),
        ),
        (
            lambda rows, factor: (row for row in rows),
            (
                "not right yet: a tensor is expected; yours is of type generator. Hint: Think of "
                "the sum.\n"
            ),
        ),
        (
            lambda rows, factor: scaled_rows,
            (
                "not right yet: a tensor is expected; yours is of type Exercise. Hint: Think of "
                "the sum.\n"
            ),
        ),
        (
            lambda rows, factor: 3.0,
            (
                "not right yet: a tensor is expected; yours is of type float. Hint: Think of the "
                "sum.\n"
            ),
        ),
    ],
    ids="batched flat transposed rows-lost nan generator function number".split(),
)
def test_a_wrong_shape_or_kind_is_told_before_the_hint(answer, said):
    assert scaled_rows.problem(answer).startswith(said)


def test_what_is_no_number_no_text_or_of_another_length_is_told():
    number = exercise(cases=[(1.0,)], hints=[""])(lambda x: x / 2)
    assert number.problem(lambda x: [x]).startswith(
        "not right yet: a number is expected; yours is of type list."
    )
    assert number.problem(lambda x: torch.tensor([x])).startswith(
        "not right yet: a number is expected; yours is of type Tensor."
    )
    total = exercise(cases=[(torch.ones(2),)], hints=[""])(lambda x: x.sum())
    assert total.problem(lambda x: x).startswith(
        "not right yet: your shape is (2,), () is expected."
    )
    assert total.problem(lambda x: x.sum()[None]).startswith(
        "the numbers are right, but their shape is (1,); () is expected"
    )
    pair = exercise(cases=[(3.0,)], hints=[""])(lambda x: (-1, x / 4))
    assert pair.problem(lambda x: (-1, x, x)).startswith(
        "not right yet: 2 values are expected; yours are 3."
    )
    assert pair.problem(lambda x: x).startswith(
        "not right yet: a tuple is expected; yours is of type float."
    )
    text = exercise(cases=[("ab",)], hints=[""])(lambda text: text * 2)
    assert text.problem(lambda text: True).startswith(
        "not right yet: a str is expected; yours is of type bool."
    )
    assert text.problem(lambda text: text).startswith("not right yet. Hint: ")
    truth = exercise(cases=[(3.0,)], hints=[""])(lambda x: x > 2)
    assert truth.problem(lambda x: (x > 2, x > 1)).startswith(
        "not right yet: True or False is expected; yours is of type tuple."
    )


def test_a_mistake_is_named_only_if_it_explains_every_case():
    task = exercise(cases=[(2.0, 2.0), (2.0, 3.0), (0.0, 4.0)], hints=["Think of the sum."])(
        lambda x, y: x * y + 1
    )
    task.mistake(added)
    assert task.problem(lambda x, y: x + y).startswith("You added.")
    # by chance the sum where x is 2
    assert task.problem(lambda x, y: 2 + y).startswith("not right yet. Hint: Think of the sum.")


def test_a_mistake_is_named_although_the_answer_stops_in_another_case():
    task = exercise(cases=[(2.0, 2.0), (2.0, 3.0), (0.0, 4.0)], hints=["Think of the sum."])(
        lambda x, y: x * y + 1
    )
    task.mistake(added)
    assert task.problem(lambda x, y: x + y if x else 1 / x).startswith("You added.")
    assert task.problem(lambda x, y: 2 + y if y < 4 else 1 / x).startswith("You added.")
    assert task.problem(lambda x, y: y if y < 4 else 1 / x).startswith(
        "not right yet. Hint: Think of the sum."
    )
    once = iter([7.0])
    assert task.problem(lambda x, y: next(once)).startswith(
        "not right yet. Hint: Think of the sum."
    )


def test_a_mistake_is_named_although_rows_of_it_are_nan():
    masked_softmax, low = exercises_of(ROOT / "01_attention")["masked_softmax"], -torch.inf
    answers = {
        "You kept the blocked keys and removed the others": lambda scores, blocked: (
            scores.masked_fill(~blocked, low).softmax(-1)
        ),
        "Your columns sum to one: the softmax went over": lambda scores, blocked: (
            scores.masked_fill(blocked, low).softmax(0)
        ),
        "A row with every key blocked became 0 / 0 = NaN": lambda scores, blocked: (
            scores.masked_fill(blocked, low).softmax(-1)
        ),
    }
    for said, answer in answers.items():
        assert masked_softmax.problem(answer).startswith(said)


def test_what_is_right_but_for_nan_is_taken_for_no_other_mistake():
    share = exercise(cases=[(torch.tensor([1.0, 3.0]),), (torch.zeros(2),)], hints=[""])(
        lambda x: x / x.sum().clamp_min(1)
    )

    @share.mistake
    def ones_for_nothing(x):
        """You returned ones for zeros."""
        return x / x.sum() if x.sum() else torch.ones_like(x)

    assert share.problem(ones_for_nothing).startswith("You returned ones for zeros.")
    assert share.problem(lambda x: x / x.sum()).startswith("not right yet: some of it is NaN")


def test_the_order_of_the_layers_below_the_single_head_counts():
    decode = exercises_of(ROOT / "02_hard_coded_gaussian")["one_learned_head"]
    said = decode.problem(
        lambda states, source, self_weights: decode.definition(states, source, self_weights.flip(0))
    )
    assert said.startswith("You went through the layers from the last to the first.")


def test_a_step_that_takes_queries_for_keys_is_not_right():
    step, over_keys = (
        exercises_of(ROOT / "05_recurrent_attention")["step"],
        torch.nn.functional.layer_norm,
    )

    def over_rows(scores, weight, bias):
        return over_keys(torch.tanh(scores @ weight.T + bias), scores.shape[1:2]) + scores

    def mixes_rows(scores, weight, bias):
        return over_keys(torch.tanh(weight @ scores + bias), scores.shape[-1:]) + scores

    assert "stops in line 2 with RuntimeError: Given normalized_shape=[2]" in step.problem(
        over_rows
    )
    assert step.problem(mixes_rows).startswith("Your W stands on the left and mixes queries")


def test_a_change_of_the_arguments_is_seen_however_small():
    by_word = exercises_of(ROOT / "03_fixed_patterns")["by_word"]

    def answer(word_weights, words):
        word_weights[word_weights.sum(dim=1) == 0] = 1e-9
        laid = word_weights[words][:, words]
        return laid / laid.sum(dim=1, keepdim=True)

    assert by_word.problem(answer).startswith("changes what it is given; work on a copy")


def test_an_answer_that_does_not_end_is_stopped(monkeypatch):
    def answer(vector, factor):
        while True:
            factor += 1

    monkeypatch.setattr("repro.teaching.observing.SECONDS", 0.05)
    assert scaled.problem(answer).startswith(
        "still runs in line "
    ) and "does every loop end?" in scaled.problem(answer)
    assert scaled.or_definition(answer) is scaled.definition
    time.sleep(0.1)  # no alarm is left


def test_a_count_is_exact_and_half_precision_is_no_mistake():
    count = exercise(cases=[(1_000_000,)], hints=["Count."])(lambda n: n + 1)
    assert count.problem(lambda n: n).startswith("not right yet")
    assert count.problem(lambda n: float(n + 1)) is None
    assert scaled.problem(lambda vector, factor: (vector * factor).bfloat16()) is None


def test_a_right_answer_is_said_to_be_right_and_used(capsys):
    def answer(vector, factor):
        return factor * vector

    scaled(answer)
    assert capsys.readouterr().out == "scaled: right\n"
    assert scaled.or_definition(answer) is answer


def test_a_mask_of_numbers_is_not_right():
    task = exercises_of(ROOT / "04_mixed_heads")["local_mask"]
    for kind in (torch.Tensor.int, torch.Tensor.float):
        said = task.problem(lambda length, window, kind=kind: kind(task.definition(length, window)))
        assert said.startswith("the places are right, but a mask is made of True and False")


def test_an_answer_that_no_gradient_can_flow_through_is_not_right():
    task = exercises_of(ROOT / "07_pruning_heads")["chance_open"]
    said = task.problem(lambda log_alpha: task.definition(log_alpha).detach())
    assert said.startswith("the numbers are right, but no gradient can flow back through them")


def test_a_gradient_has_to_come_back_to_every_parameter():
    tasks = exercises_of(ROOT / "07_pruning_heads")
    chance_open, penalty = (tasks[name].definition for name in ("chance_open", "penalty"))

    def anew(log_alpha):
        return torch.tensor(chance_open(log_alpha).tolist(), requires_grad=True)

    def first_module_only(log_alphas, price):
        return penalty(log_alphas[:1], price) + penalty(
            [log_alpha.detach() for log_alpha in log_alphas[1:]], price
        )

    def first_heads_only(log_alphas, price):
        return price * sum(
            chance_open(log_alpha)[0] + chance_open(log_alpha)[1:].sum().item()
            for log_alpha in log_alphas
        )

    def used_up(log_alpha):
        chances = chance_open(log_alpha)
        chances.sum().backward()
        return chances

    for name, answer in {"chance_open": anew, "penalty": first_module_only}.items():
        assert (
            tasks[name]
            .problem(answer)
            .startswith("the numbers are right, but no gradient can flow back")
        )
    assert (
        tasks["penalty"]
        .problem(first_heads_only)
        .startswith("the numbers are right, but no gradient can flow back")
    )
    assert (
        tasks["chance_open"]
        .problem(used_up)
        .startswith("the numbers are right, but no gradient can flow back")
    )
    assert (
        tasks["penalty"].problem(
            lambda log_alphas, price: price * chance_open(torch.cat(log_alphas).double()).sum()
        )
        is None
    )


def test_weights_have_a_gradient_although_their_rows_sum_to_one_whatever_is_learned():
    scores = torch.tensor([[0.5, 1.0], [2.0, -1.0]], requires_grad=True)
    task = Exercise(lambda scores: scores.softmax(dim=-1), [(scores,)], "hint")
    assert (
        task.problem(lambda scores: scores.exp() / scores.exp().sum(dim=-1, keepdim=True)) is None
    )
    assert "no gradient" in (task.problem(lambda scores: scores.softmax(dim=-1).detach()) or "")


def test_an_answer_not_written_yet_is_no_error(capsys):
    def answer(vector, factor):
        raise NotImplementedError

    scaled(answer)
    assert capsys.readouterr().out == "scaled: not written yet\n"
    assert (
        scaled.problem(lambda vector, factor: answer(vector, factor))
        == "calls `answer`, which is not written yet"
    )
