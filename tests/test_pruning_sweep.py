"""From a wanted number of heads to a penalty."""

import pytest
from expected_errors import refuses

from repro.errors import InputError
from repro.measures import pruning as pruning_sweep
from repro.measures.pruning import (
    PruningPoint,
    nearest_point,
    next_penalty,
    penalties_to_try,
    sweep,
)


def test_the_next_penalty_cuts_the_interval_in_which_the_count_passes_by():
    counts = {0.01: 24, 0.04: 18, 0.16: 3}
    assert next_penalty(counts, 18) is None
    assert next_penalty(counts, 10) == pytest.approx(0.08)
    assert next_penalty(counts, 20) == pytest.approx(0.02)
    assert next_penalty(counts, 1) == pytest.approx(0.32)
    assert next_penalty({0.01: 20, 0.04: 18}, 24) == pytest.approx(0.005)
    assert next_penalty({0.1: 12, 0.104: 8}, 10) is None
    # counts need not fall
    assert next_penalty({0.01: 20, 0.02: 9, 0.04: 14, 0.08: 2}, 10) == pytest.approx(0.0141)


def test_a_search_asks_for_what_its_counts_do_not_answer_within_its_runs():
    assert penalties_to_try({}, [10], (0.1, 0.2, 0.1), max_runs=8) == [0.1, 0.2]
    counts = {0.1: 16, 0.2: 8}
    # 12 and 10 want the same
    assert penalties_to_try(counts, [12, 10, 4], (0.1, 0.2), max_runs=8) == pytest.approx(
        [0.141, 0.4]
    )
    assert penalties_to_try(counts, [12, 4], (0.1, 0.2), max_runs=3) == pytest.approx([0.141])
    assert (
        penalties_to_try(counts, [16, 8], (0.1, 0.2), max_runs=8)
        == penalties_to_try(counts, [12], (0.1, 0.2), max_runs=2)
        == []
    )


def test_a_sweep_comes_near_what_is_wanted_within_its_runs(whole, monkeypatch):
    """With 24 / (1 + penalty / 0.1) heads for a penalty, but for noise; training and evaluation are
    stood in for."""
    base = whole("train.max_updates=16")
    tried: list[list[float]] = []

    def heads_for(penalty: float) -> int:
        return round(24 / (1 + penalty / 0.1)) + (1 if len(tried) % 2 else 0)

    def run_all(tasks, work, jobs, ended):
        tried.append([config.train.gate_penalty for config, _ in tasks])
        for number, (config, _) in enumerate(tasks, start=1):
            ended(number, len(tasks), {"run": "r", "kind": str(config.train.gate_penalty)})
        return [{"run": str(config.train.gate_penalty)} for config, _ in tasks]

    def pruning_point(run, split):
        penalty = float(run.name)
        return PruningPoint(run, penalty, heads_for(penalty), {}, 0, 1.0, 30 - penalty)

    monkeypatch.setenv("REPRO_RUNS", str(base.path.parent))
    monkeypatch.setattr(pruning_sweep, "run_all", run_all)
    monkeypatch.setattr(pruning_sweep, "Run", lambda path: path)
    monkeypatch.setattr(pruning_sweep, "pruning_point", pruning_point)
    lines = []
    points = sweep(base, wanted=[18, 6], penalties=(0.01, 1.0), max_runs=8, report=lines.append)
    assert len(points) == len(lines[1:]) == sum(map(len, tried)) <= 8 and tried[0] == [0.01, 1.0]
    assert lines[0].startswith("trains 2 to 8 gated models of ")
    assert [point.heads for point in points] == sorted(
        (point.heads for point in points), reverse=True
    )
    assert (
        abs(nearest_point(points, 18).heads - 18) <= 1
        and abs(nearest_point(points, 6).heads - 6) <= 1
    )
    assert (
        len(sweep(base, wanted=[1], penalties=(0.01, 1.0, 2.0), max_runs=2, report=lines.append))
        == 2
    )
    with pytest.raises(InputError, match="penalties: there is none to begin with"):
        sweep(base, [4], penalties=())
    with refuses(InputError, "penalties", "0"):
        sweep(base, [4], penalties=(0.0, 0.1))
    with monkeypatch.context() as patch, pytest.raises(InputError, match="is scored by ROUGE"):
        patch.setattr(pruning_sweep, "task_of", lambda _: "summarisation")
        sweep(base, [4])
    monkeypatch.setenv("REPRO_RUNS", "elsewhere")
    with pytest.raises(
        InputError, match="is not in the folder of runs, elsewhere. Fix: set REPRO_RUNS"
    ):
        sweep(base, [4])


def test_of_points_equally_near_the_larger_one_is_taken_whatever_it_scores():
    rows = [(0.1, 12, 20.0), (0.2, 8, 21.0), (0.5, 3, 30.0), (0.4, 3, 29.0)]
    points = [PruningPoint(None, penalty, heads, {}, 0, 1.0, bleu) for penalty, heads, bleu in rows]
    assert nearest_point(points, 10).heads == 12 and nearest_point(points, 4).penalty == 0.4
    with pytest.raises(InputError, match="points: there is none"):
        nearest_point([], 3)
