"""What the page takes from stored results: facts of heads, pruned models, and the claims."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from repro.claims.evidence import Evidence
from repro.core.settings import SITES
from repro.papers import PAPERS, load_paper
from repro.papers.effects import PaperEffect, has_numbers
from repro.papers.forest_plot import FOREST_EXPLAINED, OTHERS, as_drawn, effects_by_axis
from repro.papers.headlines import headline
from repro.papers.pruned import PRUNED, control_of
from repro.papers.report import shown_verdicts
from repro.plots.forest_rows import Effect, Reading
from repro.records.schema import kind_of
from repro.records.stored import score_of
from repro.runs.naming import run_name
from repro.runs.run import Run

GENERATED_SCALE = "smoke"  # whose pruned models are of the kind that the gallery shows


def head_facts(run: Run, records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return what a record says of the heads of a run, for `front/facts.js`; empty without one.

    Returns:
        `facts`: by the key of a head, such as `cross.1.0`, its `roles`, `confidence` and
        `relevance`; `factsOver`: the number of sentences.
    """
    name = run_name(run.config)
    for record in records:
        if kind_of(record) == "heads" and record["run"] == name:
            facts = {
                f"{site}.{layer}.{head}": {
                    "roles": fields["roles"][layer][head],
                    "confidence": confidence,
                    "relevance": fields["relevance"][layer][head],
                }
                for site in SITES
                for fields in [record["sites"][site]]
                for layer, row in enumerate(fields["confidence"])
                for head, confidence in enumerate(row)
                if confidence is not None
            }
            return {"facts": facts, "factsOver": record["measured"]["sentences"]}
    return {}


def pruned_models(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the stored models pruned at all sites (Voita et al. 2019, section 6).

    Returns:
        A series per seed: `label`, the number of `heads` before pruning, and of those of each
        layer by site, `layers`. `models`, the one with fewest heads first, the one trained on
        without pruning last: for each the number of `heads` left, its `bleu`, its negative
        log-likelihood on the development set in `nats` per token, and the heads that it `kept`, by
        site and layer.

    Raises:
        NotMeasured: there was no sweep, or one without a model trained on as long.
    """
    evidence = Evidence(GENERATED_SCALE, records)
    found = []
    for seed in evidence.shared_seeds(["pruning"], (PRUNED,)):
        sweep = evidence.one("pruning", PRUNED, seed)
        series = sweep["series"]["all"]
        whole = {
            "config_digest": control_of(evidence, series),
            "heads": series["heads"],
            "kept_heads": {
                site: [list(range(heads)) for heads in layers]
                for site, layers in sweep["whole"].items()
            },
        }
        models = [_pruned_model(evidence, point) for point in (*series["points"], whole)]
        found.append(
            {
                "label": f"{PRUNED}, seed {seed}",
                "heads": series["heads"],
                "layers": sweep["whole"],
                "models": sorted(models, key=lambda model: model["heads"]),
            }
        )
    return found


def _pruned_model(evidence: Evidence, point: dict[str, Any]) -> dict[str, Any]:
    record = evidence.scores_by(point["config_digest"])
    return {
        "heads": point["heads"],
        "bleu": round(score_of(record, "BLEU")["value"], 2),
        "nats": round(record["training"]["best_dev_nll"], 3),
        "kept": point["kept_heads"],
    }


def claims_drawn(folder: Path) -> dict[str, Any]:
    """Return the forest plots of the papers, for `front/forest.js`.

    Returns:
        `explained`: how to read them; `papers`: for each its `name`, `title`, `headline` and
        `groups` of effects by the title of their axis. Empty without stored verdicts.
    """
    verdicts = shown_verdicts(folder)
    papers = [paper for paper in map(load_paper, PAPERS) if has_numbers(paper, verdicts)]
    if not papers:
        return {}
    drawn = [
        {
            "name": paper.name,
            "title": paper.title,
            "headline": headline(paper, verdicts),
            "groups": _groups(effects_by_axis(paper, verdicts)),
        }
        for paper in papers
    ]
    return {"explained": FOREST_EXPLAINED, "papers": drawn}


def _groups(effects: Mapping[str, Iterable[Effect]]) -> list[dict[str, Any]]:
    return [
        {"axis": axis, "ownScales": axis == OTHERS, "effects": [_drawn(one) for one in of_axis]}
        for axis, of_axis in effects.items()
        if of_axis
    ]


def _drawn(effect: Effect) -> dict[str, Any]:
    return {
        "heading": effect.heading,
        "number": effect.number,
        "atLeast": effect.at_least,
        "atMost": effect.at_most,
        "printed": list(effect.printed),
        "rows": _rows(effect),
    }


def drawn_rows(effect: PaperEffect) -> list[dict[str, Any]]:
    """Return what was found of an effect of a paper, a row a scale, for `front/forest.js`."""
    return _rows(as_drawn(effect))


def _rows(effect: Effect) -> list[dict[str, Any]]:
    return [
        asdict(row) | {"score": _numbers(row.score), "likelihood": _numbers(row.likelihood)}
        for row in effect.rows
    ]


def _numbers(reading: Reading | None) -> dict[str, Any] | None:
    if reading is None:
        return None
    return {
        name: value if isinstance(value, str) else float(f"{value:.4g}")
        for name, value in reading._asdict().items()
    }
