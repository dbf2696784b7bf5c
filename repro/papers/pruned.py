"""Compute the numbers that claims on pruning need (Voita et al. 2019, section 6)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.core.config import ModelConfig, from_dict
from repro.core.transformer import Transformer
from repro.measures.pruning import SERIES
from repro.papers.heads import mean_over_seeds
from repro.statistics.intervals import Estimate, Undefined

# Eight heads per layer, as in the paper: at fewer there is little to prune.
PRUNED = Setting("base", ("model.num_heads=8",))
NOT_OF_ONE = "delete both records and run it again"
NO_CONTROL = "delete its record below pruning/ and run it again"


def pruning_series_by_seed(evidence: Evidence) -> dict[int, dict[str, Any]]:
    """Return the pruning series by the seed of the model that they started from.

    Raises:
        NotMeasured: there is none.
    """
    return {
        seed: pruning_series(evidence, seed)
        for seed in evidence.shared_seeds(["pruning"], (PRUNED,))
    }


def pruning_series(evidence: Evidence, seed: int) -> dict[str, Any]:
    """Return the pruning series of the model of a seed.

    Raises:
        NotMeasured: there is none.
    """
    return evidence.one("pruning", PRUNED, seed)["series"]


def change_at(evidence: Evidence, share: float) -> Estimate:
    """Return the change in BLEU from pruning to at most this share of the encoder's heads.

    Of the models with at least one head and at most this share, the one with most heads counts. It
    is the mean over seeds; a seed for which no penalty left so few heads is left out.
    """
    pairs = []
    for series in (found["encoder"] for found in pruning_series_by_seed(evidence).values()):
        few = [
            point for point in series["points"] if 1 <= point["heads"] <= share * series["heads"]
        ]
        if few:
            pairs.append(
                (
                    max(few, key=lambda point: point["heads"])["config_digest"],
                    control_of(evidence, series),
                )
            )
    if not pairs:
        raise NotMeasured(
            f"{PRUNED} pruned to {share:.0%} of its encoder heads",
            "no penalty that was tried leaves so few",
            "try more",
        )
    return evidence.difference(pairs, PRUNED)


def pruned_minus_scratch(evidence: Evidence) -> Estimate:
    """Return the BLEU of pruned models minus that of their shapes trained from scratch.

    The models are those pruned at all sites to nearest a quarter of their heads.
    """
    pairs = [series["scratch"] for series in pruning_series_by_seed(evidence).values()]
    return evidence.difference([(pair["pruned"], pair["scratch"]) for pair in pairs], PRUNED)


def encoder_goes_first(evidence: Evidence) -> Estimate:
    """Return the smaller of kept decoder and cross heads, minus kept encoder heads.

    The model is the one with nearest to half of all heads.
    """

    def number(point: dict[str, Any]) -> int:
        kept = kept_by_site(point)
        return min(kept["decoder_self"], kept["cross"]) - kept["encoder_self"]

    return _number_near_share(evidence, 0.5, number)


def cross_goes_last(evidence: Evidence) -> Estimate:
    """Return kept cross heads minus kept decoder heads, near a quarter of all heads."""
    return _number_near_share(
        evidence,
        0.25,
        lambda point: kept_by_site(point)["cross"] - kept_by_site(point)["decoder_self"],
    )


def low_minus_high(evidence: Evidence, site: str) -> Estimate:
    """Return heads kept in the lower half of a site's layers minus those in the upper half.

    The model is the one with nearest to half of all heads.
    """

    def number(point: dict[str, Any]) -> int:
        layers = [len(layer) for layer in point["kept_heads"][site]]
        half = len(layers) // 2
        if not half:
            raise Undefined("a single layer has no halves")
        return sum(layers[:half]) - sum(layers[-half:])

    return _number_near_share(evidence, 0.5, number)


def _number_near_share(
    evidence: Evidence, share: float, number: Callable[[dict[str, Any]], int]
) -> Estimate:
    """Return a number of models pruned at all sites to nearest a share of heads, over seeds."""

    def of_seed(seed: int) -> Estimate:
        series = pruning_series(evidence, seed)["all"]
        point = point_near(series, share)
        return Estimate(number(point), over=_size(point, series), step=1)

    return mean_over_seeds(evidence, (PRUNED,), of_seed, kinds=("pruning",))


def binary_share(evidence: Evidence) -> Estimate:
    """Return the mean share of nearly binary gates in pruned models with a head left, over seeds.

    A model without heads has every gate shut, which says nothing; the paper's sparsest model has
    one.

    Raises:
        Undefined: no pruned model has a head left, for any seed.
    """

    def of_seed(seed: int) -> Estimate:
        series = [pruning_series(evidence, seed)[name] for name in SERIES]
        shares = [
            point["almost_binary"] for one in series for point in one["points"] if point["heads"]
        ]
        if not shares:
            raise Undefined("no pruned model has a head left")
        step = 1 / max(one["heads"] for one in series) / len(shares)  # one gate of one model
        return Estimate(float(np.mean(shares)), over=f"{len(shares)} pruned models", step=step)

    return mean_over_seeds(evidence, (PRUNED,), of_seed, 0.0, 1.0, kinds=("pruning",))


def survival_difference(evidence: Evidence) -> Estimate:
    """Return the share of kept positional heads minus that of kept others.

    The model is the one with nearest to 30 % of the encoder's heads.

    Raises:
        Undefined: one of the two has no heads, for any seed.
    """

    def of_seed(seed: int) -> Estimate:
        series, roles = pruning_series(evidence, seed)["encoder"], roles_before(evidence, seed)
        point = point_near(series, 0.3)
        kept = _mask(point["kept_heads"]["encoder_self"], roles)
        positional = np.array([["positional" in names for names in layer] for layer in roles])
        if not positional.any() or positional.all():
            raise Undefined(
                "every head is positional" if positional.any() else "no head is positional"
            )
        # One head of each kind changes places.
        step = 1 / positional.sum() + 1 / (~positional).sum()
        return Estimate(
            float(kept[positional].mean() - kept[~positional].mean()),
            over=_size(point, series),
            step=step,
        )

    return mean_over_seeds(evidence, (PRUNED,), of_seed, -1.0, 1.0, kinds=("pruning", "heads"))


def point_near(series: dict[str, Any], share: float) -> dict[str, Any]:
    """Return the pruned model with heads nearest to a share of all, as `nearest` does."""
    return min(
        series["points"],
        key=lambda point: (abs(point["heads"] - share * series["heads"]), -point["heads"]),
    )


def _size(point: dict[str, Any], series: dict[str, Any]) -> str:
    return f"{point['heads']} of {series['heads']} heads"


def control_of(evidence: Evidence, series: dict[str, Any]) -> str:
    """Return the digest of the control of a series: the model trained as long with all heads.

    Raises:
        NotMeasured: the sweep was made before controls were trained.
    """
    if "continued" not in series:
        raise NotMeasured(
            f"the control of the sweep of {PRUNED}", f"not measured at {evidence.scale}", NO_CONTROL
        )
    return series["continued"]


def kept_by_site(point: dict[str, Any]) -> dict[str, int]:
    """Return the number of heads that a pruned model kept at each site."""
    return {
        site: sum(len(layer) for layer in layers) for site, layers in point["kept_heads"].items()
    }


def shape_of(model: dict[str, Any]) -> dict[str, list[int]]:
    """Return the number of heads of every layer by site, for a model's configuration."""
    # The model is built, since a variant has its own number of heads.
    return Transformer(
        from_dict(ModelConfig, model), vocab_size=1, pad_id=0, length_ratio=1.0
    ).num_heads()


def roles_before(evidence: Evidence, seed: int = 1) -> list[list[list[str]]]:
    """Return the roles that each encoder head had before pruning, by layer.

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
    """Return which heads are kept, `(num_layers, num_heads)`."""
    return np.array(
        [
            [head in heads for head in range(len(layer))]
            for heads, layer in zip(kept, roles, strict=True)
        ]
    )
