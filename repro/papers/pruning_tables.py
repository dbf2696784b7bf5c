"""Render the tables and figures of pruning from the records of a sweep.

Source: Voita et al. 2019, section 6.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from repro import plots
from repro.claims.evidence import Evidence
from repro.core.attention.gates import HardConcrete
from repro.core.config import SITES
from repro.core.numbering import layer_name
from repro.markdown import table
from repro.papers.printed import printed_numbers, printed_remarks
from repro.papers.printed_tables import printed_grid, printed_table
from repro.papers.pruned import (
    PENALTY,
    PRUNED,
    control_of,
    fine_tuned_minus_regularised,
    kept_by_site,
    pruning_series_by_seed,
    shape_of,
)
from repro.papers.pruned_roles import roles_before
from repro.papers.tables import explained
from repro.records.stored import score_of
from repro.statistics.intervals import Estimate

DRAWN_GATES = 20_000
READ_OFF = "printed (read off a plot)"  # headings
CHANGES = ("BLEU against all heads, trained on", "BLEU against the run before")


def encoder_table(evidence: Evidence) -> str:
    """Return BLEU by encoder heads kept (Figure 7), with the printed numbers below."""
    rows = []
    for seed, series in _series(evidence, "encoder"):
        control = control_of(evidence, series)
        pruned = [
            [
                str(seed),
                f"{p['heads']} of {series['heads']}",
                f"{p['penalty']:g}",
                *_changes(evidence, control, p, seed),
            ]
            for p in series["points"]
        ]
        rows += [
            [
                str(seed),
                f"all {series['heads']}, trained on",
                "",
                "",
                _gain(evidence, control, seed).cell(),
            ],
            *pruned,
        ]
    return "\n\n".join(
        [
            explained(table(["seed", "encoder heads kept", "penalty", *CHANGES], rows)),
            printed_grid(printed_numbers("voita2019", "Figure 7"), f"BLEU, {READ_OFF}"),
            printed_table(printed_remarks("voita2019", "Figure 7")),
        ]
    )


def all_sites_table(evidence: Evidence) -> str:
    """Return BLEU by heads kept at all sites, and the shape from scratch (Table 2)."""
    rows = []
    for seed, series in pruning_series_by_seed(evidence).items():
        points, control, pair = (
            series["all"]["points"],
            control_of(evidence, series["all"]),
            series["scratch"],
        )
        rows.append([str(seed), "all, trained on", "", _gain(evidence, control, seed).cell(), ""])
        rows += [
            [str(seed), _sites(point), *_changes(evidence, control, point, seed), ""]
            for point in points
        ]
        shape = shape_of(evidence.scores_by(pair["pruned"])["config"]["model"])
        cut = "/".join(str(sum(heads)) for heads in shape.values())
        against = evidence.difference([(pair["pruned"], pair["scratch"])], PRUNED)
        rows.append([str(seed), f"{cut}, heads cut out", "", "", against.cell()])
    return "\n\n".join(
        [
            explained(
                table(
                    [
                        "seed",
                        "heads kept, encoder/decoder/cross",
                        *CHANGES,
                        "BLEU against the same shape from scratch",
                    ],
                    rows,
                )
            ),
            printed_grid(printed_numbers("voita2019", "Table 2"), "BLEU, printed"),
        ]
    )


def regularised_table(evidence: Evidence) -> str:
    """Return a table of Voita et al.: pruned models against gates from scratch (note 8)."""
    found = fine_tuned_minus_regularised(evidence, PENALTY)
    return explained(
        table(
            ["penalty", "seeds", "pruned from a trained model minus gates from scratch"],
            [[f"{PENALTY:g}", found.seeds_said(), found.cell()]],
        )
    )


def roles_table(evidence: Evidence) -> str:
    """Return the roles that the kept encoder heads had before pruning (Figure 8)."""
    found = {
        seed: _role_counts(evidence, seed)
        for seed in evidence.shared_seeds(["pruning", "heads"], (PRUNED,))
    }
    rows = [
        [str(seed), label, *(str(of_label.get(role, 0)) for role in plots.ROLES)]
        for seed, counts in found.items()
        for label, of_label in counts.items()
    ]
    parts = [
        table(["seed", "encoder heads kept, by role before pruning", *plots.ROLES], rows),
        printed_grid(printed_numbers("voita2019", "Figure 8"), READ_OFF),
    ]
    every = [of_label for counts in found.values() for of_label in counts.values()]
    if not any(of_label[role] for of_label in every for role in plots.ROLES if role != "unknown"):
        parts.insert(1, f"**Ours**: {plots.NO_ROLE}.")
    return "\n\n".join(parts)


def sites_table(evidence: Evidence) -> str:
    """Return heads kept by site (Figure 9)."""
    rows = [
        [
            str(seed),
            f"{series['heads'] - point['heads']} of {series['heads']}",
            *(str(kept_by_site(point)[site]) for site in SITES),
        ]
        for seed, series in _series(evidence, "all")
        for point in series["points"]
    ]
    ours = table(["seed", "heads pruned", *(f"kept at {site}" for site in SITES)], rows)
    return ours + "\n\n" + printed_grid(printed_numbers("voita2019", "Figure 9"), READ_OFF)


def layers_table(evidence: Evidence) -> str:
    """Return heads kept by decoder layer (Figure 10)."""
    rows = [
        [
            str(seed),
            f"{point['heads']} kept, {site}",
            *(str(len(layer)) for layer in point["kept_heads"][site]),
        ]
        for seed, series in _series(evidence, "all")
        for point in series["points"]
        for site in ("decoder_self", "cross")
    ]
    header = ["seed", "model", *(layer_name(layer) for layer in range(len(rows[0]) - 2))]
    # The figure has six numbers per model; two models keep as many heads of a type.
    cells = printed_numbers("voita2019", "Figure 10")
    theirs = [
        replace(cell, row=f"model {place // 6 + 1}, {cell.row}") for place, cell in enumerate(cells)
    ]
    return table(header, rows) + "\n\n" + printed_grid(theirs, READ_OFF)


def gate_note(_evidence: Evidence) -> str:
    """Explain the figure of the gates in Voita et al."""
    return (
        f"How often a gate takes which value in training, of {DRAWN_GATES:,} draws for each log "
        "alpha. The ends 0 and 1, shut and open, "
        "have a chance of their own: that is what lets the penalty count heads."
    )


def gate_figure(_evidence: Evidence) -> dict[str, Any]:
    """Draw the distribution of a gate for several log alpha (Figure 6)."""
    generator_state = torch.random.get_rng_state()
    torch.manual_seed(1)
    lines = {}
    for log_alpha in (-2.0, 0.0, 2.0):
        gate = HardConcrete(DRAWN_GATES, init=log_alpha).train()
        counts, edges = np.histogram(gate().detach().numpy(), bins=20, range=(0, 1))
        lines[f"log alpha {log_alpha:+.0f}"] = (
            ((edges[1:] + edges[:-1]) / 2).tolist(),
            (counts / DRAWN_GATES).tolist(),
        )
    torch.random.set_rng_state(generator_state)
    return {"Hard Concrete gates": plots.curves(lines, "gate", "share of draws")}


def curve_figure(evidence: Evidence) -> dict[str, Any]:
    """Draw the cost of pruning against the share of encoder heads kept, ours and printed."""
    ours = {}
    for seed, series in _series(evidence, "encoder"):
        digests = [
            control_of(evidence, series),
            *(point["config_digest"] for point in series["points"]),
        ]
        scores = [score_of(evidence.scores_by(digest), "BLEU")["value"] for digest in digests]
        ours[_of_seed(seed)] = (
            [series["heads"], *(point["heads"] for point in series["points"])],
            scores,
        )
    theirs: dict[str, tuple[list[int], list[float]]] = {}
    for cell in printed_numbers("voita2019", "Figure 7"):
        kept, values = theirs.setdefault(f"printed: {cell.dataset}", ([], []))
        kept.append(int(cell.row.split()[0]))
        values.append(cell.number)
    return {"What pruning encoder heads costs": plots.pruning_curve(ours, theirs)}


def roles_figure(evidence: Evidence) -> dict[str, Any]:
    """Draw the roles of the kept heads as Voita et al. do, one figure per seed."""
    seeds = evidence.shared_seeds(["pruning", "heads"], (PRUNED,))
    return {
        f"Roles of the encoder heads that are kept, seed {seed}": plots.role_counts(
            _role_counts(evidence, seed), "encoder heads kept"
        )
        for seed in seeds
    }


def sites_figure(evidence: Evidence) -> dict[str, Any]:
    """Draw heads kept by site as Voita et al. do, one panel per seed."""
    models = {
        _of_seed(seed): {
            site: [kept_by_site(point)[site] for point in series["points"]] for site in SITES
        }
        for seed, series in _series(evidence, "all")
    }
    return {"Heads kept by site": plots.heads_kept_by_site(models)}


def layers_figure(evidence: Evidence) -> dict[str, Any]:
    """Draw heads kept by decoder layer as Voita et al. do, one figure per seed."""
    figures = {}
    for seed, series in _series(evidence, "all"):
        points = series["points"]
        kept = {
            site: np.array([[len(layer) for layer in p["kept_heads"][site]] for p in points]).T
            for site in ("decoder_self", "cross")
        }
        name = f"Heads kept by decoder layer, seed {seed}"
        figures[name] = plots.heads_kept_by_layer(kept, [str(point["heads"]) for point in points])
    return figures


def _series(evidence: Evidence, name: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the seeds with a series of pruned models for a table of Voita et al."""
    return [(seed, series[name]) for seed, series in pruning_series_by_seed(evidence).items()]


def _of_seed(seed: int) -> str:
    """Name the pruned model of a seed in the tables of Voita et al. 2019."""
    return f"{PRUNED}, seed {seed}"


def _gain(evidence: Evidence, digest: str, seed: int) -> Estimate:
    """Return the cell of a Voita et al. table: BLEU of a pruned model minus its start's."""
    return evidence.difference([(digest, PRUNED.config(evidence.scale, seed).digest())], PRUNED)


def _changes(evidence: Evidence, control: str, point: dict[str, Any], seed: int) -> tuple[str, str]:
    """Return two cells of a Voita et al. table: BLEU against the control, and the start."""
    cost = evidence.difference([(point["config_digest"], control)], PRUNED)
    return cost.cell(), _gain(evidence, point["config_digest"], seed).cell()


def _sites(point: dict[str, Any]) -> str:
    """Write kept heads by site as the tables of Voita et al. do, such as 4/12/20."""
    return "/".join(str(count) for count in kept_by_site(point).values())


def _role_counts(evidence: Evidence, seed: int) -> dict[str, dict[str, int]]:
    """Count the kept heads by role for Figure 8 of Voita et al.

    Models with equally many heads are labelled with their penalties; that of the model before
    pruning is 0.
    """
    roles, found = roles_before(evidence, seed), {}
    series = pruning_series_by_seed(evidence)[seed]["encoder"]
    everything = {
        "heads": series["heads"],
        "penalty": 0.0,
        "kept_heads": {"encoder_self": [list(range(len(layer))) for layer in roles]},
    }
    points = [everything, *series["points"]]
    sizes = Counter(point["heads"] for point in points)
    for point in points:
        names = [
            roles[i][j]
            for i, layer in enumerate(point["kept_heads"]["encoder_self"])
            for j in layer
        ]
        single = [name[0] if len(name) == 1 else "several" for name in names]
        label = (
            f"{point['heads']}, penalty {point['penalty']:g}"
            if sizes[point["heads"]] > 1
            else str(point["heads"])
        )
        found[label] = {role: single.count(role) for role in plots.ROLES}
    return found
