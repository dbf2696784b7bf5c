"""Records made up for tests of claims and tables: scores of damaged references, masks, speeds,
heads, pruned models."""

from collections.abc import Iterable
from dataclasses import asdict

import sacrebleu

from repro.claims.conditions import Claim, Verdict
from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.decoding import SearchConfig
from repro.data.corpora import load_once, load_pairs
from repro.data.parallel import column_digest
from repro.measures.registry import masks_table
from repro.papers.pruned import PRUNED
from repro.papers.verdicts import claims_of
from repro.records.translations import score_tables

BASE, HARD = Setting("base"), Setting("hc-sa")
ALL_OF_DEV = {
    "split": "dev",
    "measured": {"sentences": 500, "sentences_of_split": 500, "relevance_sentences": 100},
}
"""What a head record says that is of the dev set of the generated corpus."""


def described(setting: Setting, seed: int = 1) -> dict:
    """Return what a record of any kind says of its run."""
    config = setting.config("smoke", seed)
    fingerprint = load_once(config.data.corpus, config.data.source, config.data.target).fingerprint
    return {
        "run": str(setting),
        "config": asdict(config),
        "config_digest": config.digest(),
        "provenance": {"started": "today", "data_fingerprint": fingerprint},
    }


def score_record(
    setting: Setting, hyps: list[str], seed: int = 1, parameters: int = 1, split: str = "test"
) -> dict:
    about = described(setting, seed)
    return (
        about
        | {
            "system": setting.system,
            "seed": seed,
            "training": {
                "parameters": parameters,
                "seconds": 60.0,
                "update": setting.config("smoke", seed).train.max_updates,
                "target_tokens_per_second": 1000,
            },
            "search": asdict(SearchConfig()),
            "decoding": {"seconds": 1.0, "sentences_per_second": 10.0},
            "provenance": about["provenance"]
            | {
                "threads": 1,
                "device": "cpu",
                "processor": "p",
                "started": "2026-11-01T00:00:00+00:00",
            },
            "scores": [
                {
                    "name": "BLEU",
                    "value": bleu(hyps, load_pairs("minigerman", "en", "de", split)[1][: len(hyps)])
                    if hyps
                    else 0.0,
                }
            ],
        }
        | translations(hyps, split)
    )


def translations(hyps: list[str], split: str = "test") -> dict:
    """Return what a score record says of translations of the first sentences of a test set of the
    generated corpus."""
    sources, refs = (side[: len(hyps)] for side in load_pairs("minigerman", "en", "de", split))
    found = {"split": split, "sentences": len(hyps), "references_sha256": column_digest(refs)}
    return found | {
        "tables": score_tables(hyps, sources, refs, "de", "translation") if hyps else {}
    }


def damaged(refs: list[str], every: int, start: int = 0) -> list[str]:
    """Return the references with the words of every n-th sentence in another order."""
    return [
        " ".join(ref.split()[::-1]) if i % every == start else ref for i, ref in enumerate(refs)
    ]


def bleu(hyps: list[str], refs: list[str]) -> float:
    return sacrebleu.corpus_bleu(hyps, [refs]).score


def masked_records(setting: Setting, refs: list[str], sentences, seeds=(1, 2)) -> list[dict]:
    """Return the records of models that are perfect, and lose these sentences without their eighth
    head, whatever the seed."""
    made = [score_record(setting, refs, seed) for seed in seeds]
    return [
        record
        for scored in made
        for record in (scored, mask_record(scored, refs, {"8": sentences}))
    ]


def mask_record(scored: dict, hyps: list[str], lost: dict[str, Iterable[int]]) -> dict:
    """Return the record of a model that says nothing of these sentences without a head, by its
    number."""
    refs = load_pairs("minigerman", "en", "de", "test")[1]
    rows = [*((0, place, hyp) for place, hyp in enumerate(hyps))]
    rows += [
        (int(head), place, "nichts") for head, sentences in lost.items() for place in sentences
    ]
    tables = {
        "masks": masks_table(rows, refs, "de"),
        "references": translations(hyps)["tables"]["references"],
    }
    return scored | {"kind": "masks", "masks": {head: {} for head in lost}, "tables": tables}


def speed_records(**speeds: list[float]) -> list[dict]:
    """Return the records of one sitting."""
    common = {
        "kind": "speed",
        "sitting": list(speeds),
        "sentences": 256,
        "batch_size": 64,
        "steps": 25,
        "threads": 1,
    }
    return [
        described(Setting(system.replace("_", "-"))) | common | {"sentences_per_second": speed}
        for system, speed in speeds.items()
    ]


def heads_about(setting: Setting, **sites: dict) -> dict:
    """Return what tables read of a head record of nine sentences."""
    config = setting.config("smoke")
    described = {
        "kind": "heads",
        "seed": 1,
        "split": "dev",
        "config": asdict(config),
        "config_digest": config.digest(),
    }
    return described | {
        "measured": {"sentences": 9, "parses": "gold trees"},
        "sites": sites,
        "syntax": None,
    }


def heads_record(offset: int = 0, confidence: float = 0.9, heads: int = 8) -> dict:
    """Return two layers of encoder heads; one to three of the second layer look to an offset, if it
    is not 0."""
    positional = [[0.0] * heads, [1.0 if offset and head < 3 else 0.0 for head in range(heads)]]
    rising = [[float(head + 8 * layer) for head in range(heads)] for layer in range(2)]
    site = {
        "positional": positional,
        "main_offset": [[offset] * heads] * 2,
        "confidence": [[confidence] * heads, [confidence + head / 100 for head in range(heads)]],
        "roles": [
            [["positional"] if share else ["unknown"] for share in layer] for layer in positional
        ],
        "relevance": rising,
        "two_rarest": [[0.1] * (heads - 1) + [0.159], [0.0] * heads],
    }
    return of_one_training("heads") | ALL_OF_DEV | {"sites": {"encoder_self": site}}


def pruning_record(kept: list[list[int]]) -> dict:
    point = {"heads": sum(map(len, kept)), "kept_heads": {"encoder_self": kept}}
    series = {"encoder": {"heads": 16, "points": [point]}}
    return of_one_training("pruning") | {"series": series}


def of_one_training(kind: str) -> dict:
    """Return how a record of the model with eight heads begins."""
    return described(PRUNED) | {"kind": kind}


def verdict_on(name: str, records: list[dict]) -> Verdict:
    (claim,) = [claim for claim in claims_of() if claim.name == name]
    return claim.judge(Evidence("smoke", records))


def claim_of(*conditions) -> Claim:
    return Claim("T-01", "a statement", "a number", conditions)
