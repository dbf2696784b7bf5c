"""Pruning as an experiment (Voita et al. 2019, section 6): what is measured on a trained model, and the tables and figures of it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from repro import plots
from repro.attention.gates import HardConcrete
from repro.config import SITES
from repro.decoding import Translator
from repro.jobs import train_and_evaluate
from repro.papers.arms import Arm
from repro.papers.evidence import Evidence, NotMeasured
from repro.papers.printed import printed, remarks
from repro.papers.statistics import Estimate, Exact, Undefined
from repro.papers.tables import printed_table
from repro.pruning import continued_config, from_scratch_config, kept_heads, save_pruned
from repro.pruning_sweep import PruningPoint, nearest, sweep
from repro.records import evaluate_run
from repro.report import table
from repro.runs import Run

PRUNED = Arm("base", ("model.num_heads=8",))  # eight heads a layer, as in the paper, so that there is something to prune
SERIES = {"encoder": ("encoder_self",), "all": SITES}
SHARES = {"encoder": (0.3, 0.25, 0.1), "all": (0.5, 0.25)}  # of heads kept, that claims ask about
MAX_RUNS = {"encoder": 6, "all": 5}
DRAWN_GATES = 20_000
NO_CONTROL = "delete its record below pruning/ and run it again"
CHANGES = ("BLEU against all heads, trained on", "BLEU against the run before")  # headings


def measure_pruning(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Prune each run, encoder heads alone and heads of all sites, to several sizes, beside the same training without pruning.

    One shape of all sites is trained from scratch: the one nearest to a quarter of all heads, which need not be the sparsest.

    Returns:
        For each run its series of pruned models with the control that they are compared with, and under `records` all score records.
    """
    return [_measure_one(run) for run in runs]


def _measure_one(run: Run) -> dict[str, Any]:
    series, records = {}, []
    whole = kept_heads(Translator.from_run(run, "cpu").model)
    for name, sites in SERIES.items():
        num_heads = sum(len(layer) for site in sites for layer in whole[site])
        wanted = [max(1, round(share * num_heads)) for share in SHARES[name]]
        points = sweep(run, wanted, sites, max_runs=MAX_RUNS[name], report=lambda *_: None)
        control = train_and_evaluate(continued_config(run, sites))
        series[name] = {"heads": num_heads, "points": [_describe(point) for point in points], "continued": control["config_digest"]}
        records += [*(evaluate_run(point.run) for point in points), control]
        if name == "all":
            small = save_pruned(nearest(points, wanted[-1]).run)
            scratch = train_and_evaluate(from_scratch_config(small))
            records += [evaluate_run(small), scratch]
            series["scratch"] = {"pruned": small.config.digest(), "scratch": scratch["config_digest"]}
    return {"series": series, "whole": {site: [len(layer) for layer in layers] for site, layers in whole.items()}, "records": records}


def _describe(point: PruningPoint) -> dict[str, Any]:
    model = Translator.from_run(point.run, "cpu").model
    return {
        "run": point.run.path.name,
        "config_digest": point.run.config.digest(),
        "penalty": point.penalty,
        "heads": point.heads,
        "kept_heads": kept_heads(model),
        "undecided": point.undecided,
        "almost_binary": round(point.almost_binary, 4),
    }


def change_at(share: float) -> Callable[[Evidence], Estimate]:
    """Return what measures what pruning costs, in BLEU, at the most encoder heads that are at most this share of all."""

    def number(evidence: Evidence) -> Estimate:
        series = evidence.one("pruning", PRUNED)["series"]["encoder"]
        few = [point for point in series["points"] if point["heads"] <= share * series["heads"]]
        if not few:
            raise NotMeasured(f"{PRUNED} pruned to {share:.0%} of its encoder heads", "no penalty that was tried leaves so few", "try more")
        return _cost(evidence, "encoder", max(few, key=lambda point: point["heads"]))

    return number


def pruned_minus_scratch(evidence: Evidence) -> Estimate:
    """Return by how much the model pruned at all sites to nearest a quarter of its heads is better than its shape from scratch."""
    pair = evidence.one("pruning", PRUNED)["series"]["scratch"]
    return evidence.difference(pair["pruned"], pair["scratch"], PRUNED)


def encoder_goes_first(evidence: Evidence) -> Exact:
    """Return, near half of all heads, the smaller of the heads kept in decoder self-attention and cross attention minus the encoder's."""
    point, size = _at(evidence, "all", 0.5)
    kept = _kept(point)
    return Exact(min(kept["decoder_self"], kept["cross"]) - kept["encoder_self"], size)


def cross_goes_last(evidence: Evidence) -> Exact:
    """Return, near a quarter of all heads, the heads kept in cross attention minus those in decoder self-attention."""
    point, size = _at(evidence, "all", 0.25)
    kept = _kept(point)
    return Exact(kept["cross"] - kept["decoder_self"], size)


def low_minus_high(site: str) -> Callable[[Evidence], Exact]:
    """Return what counts the heads kept in the lower half of a site's layers minus those in the upper, near half of all heads."""

    def number(evidence: Evidence) -> Exact:
        point, size = _at(evidence, "all", 0.5)
        layers = [len(layer) for layer in point["kept_heads"][site]]
        half = len(layers) // 2
        return Exact(sum(layers[:half]) - sum(layers[-half:]), size)

    return number


def binary_share(evidence: Evidence) -> Exact:
    """Return the mean share of nearly binary gates over all pruned models."""
    series = evidence.one("pruning", PRUNED)["series"]
    shares = [point["almost_binary"] for name in SERIES for point in series[name]["points"]]
    return Exact(float(np.mean(shares)), f"mean of {len(shares)} pruned models")


def survival_difference(evidence: Evidence) -> Exact:
    """Return, near three tenths of the encoder's heads, the share of positional heads that are kept minus that of the other heads.

    Raises:
        Undefined: one of the two has no heads.
    """
    point, size = _at(evidence, "encoder", 0.3)
    kept = _mask(point["kept_heads"]["encoder_self"], _roles(evidence))
    positional = np.array([["positional" in roles for roles in layer] for layer in _roles(evidence)])
    if not positional.any() or positional.all():
        raise Undefined("every head is positional" if positional.any() else "no head is positional")
    return Exact(float(kept[positional].mean() - kept[~positional].mean()), size)


def encoder_table(evidence: Evidence) -> str:
    """Return BLEU by encoder heads kept (their Figure 7), the printed numbers below."""
    series = evidence.one("pruning", PRUNED)["series"]["encoder"]
    rows = [[f"{p['heads']} of {series['heads']}", f"{p['penalty']:g}", *_changes(evidence, "encoder", p)] for p in series["points"]]
    rows.insert(0, [f"all {series['heads']}, trained on", "", "", _cell(_gain(evidence, _control(evidence, "encoder")))])
    theirs = [[cell.dataset, cell.row, cell.as_printed] for cell in printed("voita2019", "Figure 7")]
    return "\n\n".join(
        [
            table(["encoder heads kept", "penalty", *CHANGES], rows),
            table(["printed (read off a plot)", "heads", "BLEU"], theirs),
            printed_table(remarks("voita2019", "Figure 7")),
        ]
    )


def all_sites_table(evidence: Evidence) -> str:
    """Return BLEU by heads kept at all sites and the shape from scratch (their Table 2)."""
    series = evidence.one("pruning", PRUNED)["series"]
    rows = [[_sites(point), *_changes(evidence, "all", point), ""] for point in series["all"]["points"]]
    rows.insert(0, ["all, trained on", "", _cell(_gain(evidence, _control(evidence, "all"))), ""])
    near = _sites(_at(evidence, "all", SHARES["all"][-1])[0])
    rows.append([f"{near}, heads cut out", "", "", _cell(pruned_minus_scratch(evidence))])
    theirs = [[cell.dataset, cell.row, cell.column, cell.as_printed] for cell in printed("voita2019", "Table 2")]
    return "\n\n".join(
        [
            table(["heads kept, encoder/decoder/cross", *CHANGES, "BLEU against the same shape from scratch"], rows),
            table(["printed", "heads", "model", "BLEU"], theirs),
        ]
    )


def roles_table(evidence: Evidence) -> str:
    """Return the roles that the kept encoder heads had before pruning (their Figure 8)."""
    found = _role_counts(evidence)
    rows = [[label, *(str(counts.get(role, 0)) for role in plots.ROLES)] for label, counts in found.items()]
    theirs = printed("voita2019", "Figure 8")
    columns = list(dict.fromkeys(cell.column for cell in theirs))
    theirs_rows = [
        [row, *(next((c.as_printed for c in theirs if (c.row, c.column) == (row, column)), "-") for column in columns)]
        for row in dict.fromkeys(cell.row for cell in theirs)
    ]
    parts = [table(["encoder heads kept", *plots.ROLES], rows), table(["printed (read off a plot)", *columns], theirs_rows)]
    if not any(counts[role] for counts in found.values() for role in plots.ROLES if role != "unknown"):
        parts.insert(1, f"Ours: {plots.NO_ROLE}.")
    return "\n\n".join(parts)


def sites_table(evidence: Evidence) -> str:
    """Return heads kept by site (their Figure 9)."""
    series = evidence.one("pruning", PRUNED)["series"]["all"]
    rows = [[f"{series['heads'] - p['heads']} pruned", *(str(_kept(p)[site]) for site in SITES)] for p in series["points"]]
    theirs = printed("voita2019", "Figure 9")
    theirs_rows = [[cell.dataset, cell.row, cell.column, cell.as_printed] for cell in theirs]
    return table(["heads", *SITES], rows) + "\n\n" + table(["printed (read off a plot)", "model", "site", "active heads"], theirs_rows)


def layers_table(evidence: Evidence) -> str:
    """Return heads kept by decoder layer (their Figure 10)."""
    rows = []
    for point in evidence.one("pruning", PRUNED)["series"]["all"]["points"]:
        for site in ("decoder_self", "cross"):
            rows.append([f"{point['heads']} kept, {site}", *(str(len(layer)) for layer in point["kept_heads"][site])])
    theirs = [[cell.row, cell.column, cell.as_printed] for cell in printed("voita2019", "Figure 10")]
    header = ["model", *(f"layer {layer}" for layer in range(len(rows[0]) - 1))]
    return table(header, rows) + "\n\n" + table(["printed (read off a plot)", "layers", "active heads"], theirs)


def gate_figure(_evidence: Evidence) -> dict[str, Any]:
    """Draw the distribution of a gate for several log alpha (their Figure 6)."""
    generator_state = torch.random.get_rng_state()
    torch.manual_seed(1)
    lines = {}
    for log_alpha in (-2.0, 0.0, 2.0):
        gate = HardConcrete(DRAWN_GATES, init=log_alpha).train()
        counts, edges = np.histogram(gate().detach().numpy(), bins=20, range=(0, 1))
        lines[f"log alpha {log_alpha:+.0f}"] = ((edges[1:] + edges[:-1]) / 2, counts / DRAWN_GATES)
    torch.random.set_rng_state(generator_state)
    return {"Hard Concrete gates": plots.curves(lines, "gate", "share of draws")}


def curve_figure(evidence: Evidence) -> dict[str, Any]:
    """Draw what pruning costs against the share of encoder heads kept, beside the printed curves."""
    series = evidence.one("pruning", PRUNED)["series"]["encoder"]
    costs = [_cost(evidence, "encoder", point).mean for point in series["points"]]
    ours = ([1.0, *(point["heads"] / series["heads"] for point in series["points"])], [0.0, *costs])
    theirs: dict[str, tuple[list[float], list[float]]] = {}
    for cell in printed("voita2019", "Figure 7"):
        kept, scores = theirs.setdefault(cell.dataset, ([], []))
        kept.append(int(cell.row.split()[0]) / 48)
        scores.append(cell.value)
    published = {name: (kept, [score - scores[0] for score in scores]) for name, (kept, scores) in theirs.items()}
    return {"What pruning encoder heads costs": plots.pruning_curve({str(PRUNED): ours}, published)}


def roles_figure(evidence: Evidence) -> dict[str, Any]:
    """Draw the roles of the kept heads."""
    return {"Roles of the encoder heads that are kept": plots.role_counts(_role_counts(evidence), "encoder heads kept")}


def sites_figure(evidence: Evidence) -> dict[str, Any]:
    """Draw heads kept by site."""
    points = evidence.one("pruning", PRUNED)["series"]["all"]["points"]
    ours = {site: [_kept(point)[site] for point in points] for site in SITES}
    return {"Heads kept by site": plots.heads_kept_by_site({str(PRUNED): ours})}


def layers_figure(evidence: Evidence) -> dict[str, Any]:
    """Draw heads kept by decoder layer."""
    points = evidence.one("pruning", PRUNED)["series"]["all"]["points"]
    kept = {site: np.array([[len(layer) for layer in p["kept_heads"][site]] for p in points]).T for site in ("decoder_self", "cross")}
    return {"Heads kept by decoder layer": plots.heads_kept_by_layer(kept, [str(point["heads"]) for point in points])}


def _at(evidence: Evidence, name: str, share: float) -> tuple[dict[str, Any], str]:
    """Return the pruned model whose number of heads is nearest to a share of all, the larger of two; and how many heads that are."""
    series = evidence.one("pruning", PRUNED)["series"][name]
    point = min(series["points"], key=lambda point: abs(point["heads"] - share * series["heads"]))
    return point, f"{point['heads']} of {series['heads']} heads"


def _cost(evidence: Evidence, name: str, point: dict[str, Any]) -> Estimate:
    """Return what pruning costs: the difference to the model that was trained on as long with all heads."""
    return evidence.difference(point["config_digest"], _control(evidence, name), PRUNED)


def _control(evidence: Evidence, name: str) -> str:
    series = evidence.one("pruning", PRUNED)["series"][name]
    if "continued" not in series:  # of before controls were trained
        raise NotMeasured(f"the control of the sweep of {PRUNED}", f"not measured at {evidence.scale}", NO_CONTROL)
    return series["continued"]


def _gain(evidence: Evidence, digest: str) -> Estimate:
    """Return the difference to the run before."""
    return evidence.difference(digest, PRUNED.config(evidence.scale).digest(), PRUNED)


def _changes(evidence: Evidence, name: str, point: dict[str, Any]) -> tuple[str, str]:
    return _cell(_cost(evidence, name, point)), _cell(_gain(evidence, point["config_digest"]))


def _kept(point: dict[str, Any]) -> dict[str, int]:
    return {site: sum(len(layer) for layer in layers) for site, layers in point["kept_heads"].items()}


def _sites(point: dict[str, Any]) -> str:
    return "/".join(str(count) for count in _kept(point).values())


def _cell(found: Estimate) -> str:
    return f"{found.mean:+.2f} ({found.low:+.2f} to {found.high:+.2f})"


def _roles(evidence: Evidence) -> list[list[list[str]]]:
    return evidence.one("heads", PRUNED)["sites"]["encoder_self"]["roles"]


def _mask(kept: list[list[int]], roles: list[list[Any]]) -> np.ndarray:
    """Return which heads are kept, `(num_layers, num_heads)`."""
    return np.array([[head in heads for head in range(len(layer))] for heads, layer in zip(kept, roles, strict=True)])


def _role_counts(evidence: Evidence) -> dict[str, dict[str, int]]:
    """Return for each number of kept encoder heads how many had each role."""
    roles, found = _roles(evidence), {}
    series = evidence.one("pruning", PRUNED)["series"]["encoder"]
    everything = {"heads": series["heads"], "kept_heads": {"encoder_self": [list(range(len(layer))) for layer in roles]}}
    for point in [everything, *series["points"]]:
        names = [roles[i][j] for i, layer in enumerate(point["kept_heads"]["encoder_self"]) for j in layer]
        single = [name[0] if len(name) == 1 else "several" for name in names]
        found[str(point["heads"])] = {role: single.count(role) for role in plots.ROLES}
    return found
