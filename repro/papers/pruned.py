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
from repro.presets import GATE_RATE
from repro.statistics.intervals import Estimate, Undefined

# Eight heads per layer, as in the paper: at fewer there is little to prune.
PRUNED = Setting("base", ("model.num_heads=8",))
# The same heads, with gates from the first update on.
PENALTY = 0.03  # one that every sweep tries
REGULARISED = Setting(
    "gated",
    (*PRUNED.overrides, f"train.gate_penalty={PENALTY}", f"train.gate_rate={GATE_RATE:g}"),
    label="gates from scratch",
)
NOT_OF_ONE = "delete both records and run it again"
NO_CONTROL = "delete its record below pruning/ and run it again"


def pruning_series_by_seed(evidence: Evidence) -> dict[int, dict[str, Any]]:
    """Return the series of pruned models behind the claims of Voita et al., by seed.

    Raises:
        NotMeasured: there is none.
    """
    return {
        seed: pruning_series(evidence, seed)
        for seed in evidence.shared_seeds(["pruning"], (PRUNED,))
    }


def pruning_series(evidence: Evidence, seed: int) -> dict[str, Any]:
    """Return the series of pruned models behind the claims of Voita et al., of one seed.

    Raises:
        NotMeasured: there is none.
    """
    return evidence.one("pruning", PRUNED, seed)["series"]


def change_at(evidence: Evidence, share: float) -> Estimate:
    """Compute for Voita et al.: what pruning to a share of encoder heads does to BLEU.

    Of the models with at least one head and at most this share, the one with most heads counts. It
    is the mean over seeds; a seed for which no penalty left so few heads is left out.
    """
    return _change(evidence, "encoder", lambda heads, whole: heads <= share * whole)


def change_below_half(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: what pruning over half of all heads does to BLEU.

    Likewise, it is that of the model with most heads.
    """
    return _change(evidence, "all", lambda heads, whole: heads < whole / 2)


def _change(evidence: Evidence, name: str, few: Callable[[int, int], bool]) -> Estimate:
    """Return the change in BLEU at the first pruned model small enough for Voita et al.'s claim."""
    pairs = []
    for series in (found[name] for found in pruning_series_by_seed(evidence).values()):
        points = [
            point
            for point in series["points"]
            if point["heads"] and few(point["heads"], series["heads"])
        ]
        if points:
            largest = max(points, key=lambda point: point["heads"])
            pairs.append((largest["config_digest"], control_of(evidence, series)))
    if not pairs:
        raise NotMeasured(
            f"{PRUNED} with so few heads at {evidence.scale}",
            "no penalty that was tried leaves so few",
            "try more",
        )
    return evidence.difference(pairs, PRUNED)


def pruned_minus_scratch(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: BLEU of pruned models less that from scratch.

    The models are those pruned at all sites to nearest a quarter of their heads, cut and trained
    on. The others have as many updates.

    Raises:
        NotMeasured: the sweep was made before models were trained on.
    """
    pairs = [series["scratch"] for series in pruning_series_by_seed(evidence).values()]
    if any("trained_on" not in pair for pair in pairs):
        raise NotMeasured(
            f"the cut model of {PRUNED}, trained on", f"not trained at {evidence.scale}", NO_CONTROL
        )
    return evidence.difference([(pair["trained_on"], pair["scratch"]) for pair in pairs], PRUNED)


def fine_tuned_minus_regularised(evidence: Evidence, penalty: float) -> Estimate:
    """Compute for Voita et al.: BLEU of pruned less that of always gated.

    Both have the same penalty on the heads of all sites.

    Raises:
        NotMeasured: one of the two was not trained.
    """
    pairs = []
    for seed, series in pruning_series_by_seed(evidence).items():
        points = [point for point in series["all"]["points"] if point["penalty"] == penalty]
        if points and seed in evidence.seeds(REGULARISED):
            scratch = evidence.scores(REGULARISED, seed)
            pairs.append((points[0]["config_digest"], scratch["config_digest"]))
    if not pairs:
        raise NotMeasured(
            f"{REGULARISED} and {PRUNED} pruned at {penalty:g}, of one seed",
            f"not trained at {evidence.scale}",
            "repro run trains them",
        )
    return evidence.difference(pairs, PRUNED)


def encoder_goes_first(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: kept decoder or cross heads less encoder heads.

    The model is the one with nearest to half of all heads.
    """

    def number(point: dict[str, Any]) -> int:
        kept = kept_by_site(point)
        return min(kept["decoder_self"], kept["cross"]) - kept["encoder_self"]

    return _number_near_share(evidence, 0.5, number)


def cross_goes_last(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: kept cross heads less decoder heads, at a quarter."""
    return _number_near_share(
        evidence,
        0.25,
        lambda point: kept_by_site(point)["cross"] - kept_by_site(point)["decoder_self"],
    )


def low_minus_high(evidence: Evidence, site: str) -> Estimate:
    """Compute for Voita et al.: heads kept in lower layers less those in upper.

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
    """Return a number that Voita et al. claim at a share of heads, over seeds."""

    def of_seed(seed: int) -> Estimate:
        series = pruning_series(evidence, seed)["all"]
        point = point_near(series, share)
        return Estimate(number(point), over=size_of(point, series), step=1)

    return mean_over_seeds(evidence, (PRUNED,), of_seed, kinds=("pruning",))


def binary_share(evidence: Evidence) -> Estimate:
    """Compute for Voita et al.: the share of nearly binary gates, over seeds.

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


def point_near(series: dict[str, Any], share: float) -> dict[str, Any]:
    """Return the pruned model that a claim of Voita et al. means by a share of heads."""
    return min(
        series["points"],
        key=lambda point: (abs(point["heads"] - share * series["heads"]), -point["heads"]),
    )


def size_of(point: dict[str, Any], series: dict[str, Any]) -> str:
    """Say how many heads a pruned model has left, for the claims of Voita et al. 2019."""
    return f"{point['heads']} of {series['heads']} heads"


def control_of(evidence: Evidence, series: dict[str, Any]) -> str:
    """Return the digest of the control in Voita et al.'s comparison, which keeps all heads.

    Raises:
        NotMeasured: the sweep was made before controls were trained.
    """
    if "continued" not in series:
        raise NotMeasured(
            f"the control of the sweep of {PRUNED}", f"not measured at {evidence.scale}", NO_CONTROL
        )
    return series["continued"]


def kept_by_site(point: dict[str, Any]) -> dict[str, int]:
    """Return the heads that a pruned model kept by site, in Voita et al.'s order."""
    return {
        site: sum(len(layer) for layer in layers) for site, layers in point["kept_heads"].items()
    }


def shape_of(model: dict[str, Any]) -> dict[str, list[int]]:
    """Return a pruned model's heads by site, as Voita et al. print shapes."""
    # The model is built, since a variant has its own number of heads.
    return Transformer(
        from_dict(ModelConfig, model), vocab_size=1, pad_id=0, length_ratio=1.0
    ).num_heads()
