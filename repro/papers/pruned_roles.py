"""Compute the numbers that claims on the roles of pruned heads need (Voita et al. 2019, 6.2.2)."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from repro.claims.evidence import Evidence, NotMeasured
from repro.papers.heads import mean_over_seeds
from repro.papers.pruned import NO_CONTROL, NOT_OF_ONE, PRUNED, point_near, pruning_series, size_of
from repro.statistics.intervals import Estimate, Undefined

ROLES = frozenset({"positional", "syntactic", "rare"})
Roles = list[list[list[str]]]  # of every head, by layer


def survival_difference(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: kept share of specialised heads less others'.

    A head is specialised if it had a role before pruning. The model is the one with nearest to 30 %
    of the encoder's heads.

    Raises:
        Undefined: one of the two has no heads, for any seed.
    """

    def of_seed(seed: int) -> Estimate:
        series, roles = pruning_series(evidence, seed)["encoder"], roles_before(evidence, seed)
        point = point_near(series, 0.3)
        kept = _mask(point["kept_heads"]["encoder_self"], roles)
        special = _specialised(roles)
        if not special.any() or special.all():
            raise Undefined("every head has a role" if special.any() else "no head has a role")
        # One head of each kind changes places.
        step = 1 / special.sum() + 1 / (~special).sum()
        return Estimate(
            float(kept[special].mean() - kept[~special].mean()),
            over=size_of(point, series),
            step=step,
        )

    return mean_over_seeds(evidence, (PRUNED,), of_seed, -1.0, 1.0, kinds=("pruning", "heads"))


def specialised_share_difference(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: specialised share of kept less of all.

    Those kept have the roles that they have in the pruned model, which is the one with nearest to a
    third of the encoder's heads; all heads have those of the whole model.
    """

    def of_seed(seed: int) -> Estimate:
        point, before, after = _a_third(evidence, seed)
        kept = _mask(point["kept_heads"]["encoder_self"], after)
        share = float(_specialised(after)[kept].mean() - _specialised(before).mean())
        return Estimate(share, over=f"{kept.sum()} of {kept.size} heads", step=1 / kept.sum())

    return mean_over_seeds(evidence, (PRUNED,), of_seed, -1.0, 1.0, kinds=("pruning", "heads"))


def roles_lost(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: roles that no kept head has at a third of the heads.

    Raises:
        Undefined: the whole encoder lacks a role, so it cannot be kept.
    """

    def of_seed(seed: int) -> Estimate:
        point, before, after = _a_third(evidence, seed)
        had = _roles_in(role for layer in before for role in layer)
        if missing := ROLES - had:
            raise Undefined(f"no head of the whole encoder is {' or '.join(sorted(missing))}")
        keeps = _roles_in(
            after[layer][head]
            for layer, heads in enumerate(point["kept_heads"]["encoder_self"])
            for head in heads
        )
        return Estimate(len(had - keeps), over=f"{point['heads']} heads", step=1)

    return mean_over_seeds(evidence, (PRUNED,), of_seed, least=0.0, kinds=("pruning", "heads"))


def roles_gained(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: kept heads with a new role at a third of the heads."""

    def of_seed(seed: int) -> Estimate:
        point, before, after = _a_third(evidence, seed)
        gained = [
            bool(_roles_in([after[layer][head]]) - _roles_in([before[layer][head]]))
            for layer, heads in enumerate(point["kept_heads"]["encoder_self"])
            for head in heads
        ]
        return Estimate(sum(gained), over=f"{len(gained)} heads", step=1)

    return mean_over_seeds(evidence, (PRUNED,), of_seed, least=0.0, kinds=("pruning", "heads"))


def _a_third(evidence: Evidence, seed: int) -> tuple[dict[str, Any], Roles, Roles]:
    """Return the pruned model of Voita et al.'s claims on roles: a third of the heads.

    Returns:
        The model, the roles of every head before pruning, and those of every head in it.

    Raises:
        NotMeasured: the sweep was made before roles were measured in pruned models.
    """
    point = point_near(pruning_series(evidence, seed)["encoder"], 1 / 3)
    if "roles" not in point:
        raise NotMeasured(
            f"roles in pruned models of {PRUNED}", f"not measured at {evidence.scale}", NO_CONTROL
        )
    return point, roles_before(evidence, seed), point["roles"]


def _roles_in(heads: Iterable[list[str]]) -> set[str]:
    """Return the roles that some heads have (Voita et al. 2019), without `unknown`."""
    return {role for roles in heads for role in roles} - {"unknown"}


def _specialised(roles: Roles) -> np.ndarray:
    """Return which heads have a role in Voita et al.'s sense, `(layers, heads)`."""
    return np.array([[bool(_roles_in([head])) for head in layer] for layer in roles])


def roles_before(evidence: Evidence, seed: int = 1) -> list[list[list[str]]]:
    """Return the roles of heads before pruning, for the claims of Voita et al.

    Raises:
        NotMeasured: there is no such record, or it belongs to another training than the pruned one.
    """
    roles = evidence.one("heads", PRUNED, seed)["sites"]["encoder_self"]["roles"]
    if not evidence.share_training(("heads", "pruning"), PRUNED, seed):
        raise NotMeasured(
            f"heads and pruning of {PRUNED}, seed {seed}", "are of two trainings", NOT_OF_ONE
        )
    return roles


def _mask(kept: list[list[int]], roles: list[list[Any]]) -> np.ndarray:
    """Return which heads pruning kept, for Voita et al.'s claims on roles, `(layers, heads)`."""
    return np.array(
        [
            [head in heads for head in range(len(layer))]
            for heads, layer in zip(kept, roles, strict=True)
        ]
    )
