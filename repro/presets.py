"""The named systems of the papers and the named scales, and overrides of them."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any, Final

from repro.core.config import (
    SELF_SITES,
    SITES,
    DataConfig,
    ModelConfig,
    RunConfig,
    SubwordForm,
    TrainConfig,
    from_dict,
)
from repro.data.formats import LANGUAGE
from repro.data.own_text import with_resolved_folder
from repro.errors import InputError, check_kind, did_you_mean

HARD_CODED = {"encoder_self": "gaussian", "decoder_self": "gaussian"}
SINGLE_HEAD = {"cross": "none; last: dot-product(heads=1)"}
NO_SELF = {"encoder_self": "none", "decoder_self": "none"}
# the layers that Table 6 of You et al. varies
ENDS = "gaussian; first: gaussian(centers={0}); last: gaussian(centers={0})"

SYSTEMS: dict[str, dict[str, Any]] = {
    "base": {},
    # You et al. 2020; "/-" is their sign for "without"
    "hc-sa": HARD_CODED,
    "hc-all": HARD_CODED | {"cross": "gaussian"},
    "sh-x": HARD_CODED | SINGLE_HEAD,
    "base/-sa": NO_SELF,
    "sh-x/-sa": NO_SELF | SINGLE_HEAD,
    "base/-ff": {"feed_forward": False},
    "hc-sa/-ff": HARD_CODED | {"feed_forward": False},
    "hc-sa-window": dict.fromkeys(SELF_SITES, "gaussian(kernel='window')"),
    "hc-sa-index": dict.fromkeys(SELF_SITES, "gaussian(kernel='index')"),
    "hc-sa-ll-ll": dict.fromkeys(SELF_SITES, ENDS.format("[-1]")),
    "hc-sa-ll-cc": {"encoder_self": ENDS.format("[-1]"), "decoder_self": ENDS.format("[0]")},
    "hc-sa-ll-lc": {"encoder_self": ENDS.format("[-1]"), "decoder_self": "gaussian"},
    "hc-all-code": HARD_CODED | {"cross": "gaussian(centers=[-1, 1], gamma=1.0, floor=False)"},
    "hc-sa-renormalized": dict.fromkeys(SELF_SITES, "gaussian(renormalize=True)"),
    "uniform-encoder": {"encoder_self": "uniform"},
    # Raganato et al. 2020; eight encoder heads whatever the scale has
    "8L": {"encoder_self": "dot-product(heads=8)"},
    "7Ftoken+1L": {"encoder_self": "fixed"},
    "7Fword+1L": {"encoder_self": "fixed(unit='word')"},
    "1L": {"encoder_self": "fixed(patterns=[])"},
    "8Ftoken": {
        "encoder_self": (
            "fixed(patterns=['current', 'previous', 'next', 'left', 'right', 'end', 'start', "
            "'last'], learned=0)"
        )
    },
    # Cui et al. 2019
    "mma": {"encoder_self": "mixed"},
    "mma-local": {"encoder_self": "mixed(types='GL', repeat='last')"},
    "mma-forward": {"encoder_self": "mixed(types='GF', repeat='last')"},
    "mma-backward": {"encoder_self": "mixed(types='GB', repeat='last')"},
    "mma-w2": {"encoder_self": "mixed(window=2)"},
    "mma-w3": {"encoder_self": "mixed(window=3)"},
    "mma-w4": {"encoder_self": "mixed(window=4)"},
    "base/-pe": {"encoder_positions": False},
    "mma/-pe": {"encoder_self": "mixed", "encoder_positions": False},
    # Zeng et al. 2021
    "ran-e": {"encoder_self": "recurrent"},
    "ran-d": {"decoder_self": "recurrent"},
    "ran-all": {"encoder_self": "recurrent", "decoder_self": "recurrent"},
    "ran-all-frozen": dict.fromkeys(SELF_SITES, "recurrent(trainable=False)"),
    "ran-e/-pe": {"encoder_self": "recurrent", "encoder_positions": False},
    "ran-d/-pe": {"decoder_self": "recurrent", "decoder_positions": False},
    "syn-r": dict.fromkeys(SELF_SITES, "synthesizer"),
    "syn-r-ones": dict.fromkeys(SELF_SITES, "synthesizer(init='ones')"),
    "syn-r-low-rank": dict.fromkeys(SELF_SITES, "synthesizer(rank=8)"),
    "base-attention-dropout": {"attention_dropout": 0.2},
    # Voita et al. 2019
    "gated": {"gated_sites": SITES},
}
"""A paper's name for a model -> its differences from the baseline."""

EMPTY_BRACKETS = re.compile(r"(?<=[\w-])\(\s*\)")  # after the name of a variant

STRUCTURE = (*SITES, "encoder_positions", "decoder_positions", "feed_forward", "gated_sites")

GATE_INIT, GATE_RATE = 2.0, 10.0  # of gates laid on a trained model; `pruning.py` says why

# sentences are generated without limit, so there is nothing to overfit
NO_DROPOUT = ModelConfig(dropout=0.0)
# under a minute on one core
SHORT = TrainConfig(max_updates=700, batch_tokens=1024, learning_rate=0.014, warmup=200)

# Reads Multi30k some twenty times, in half an hour on two cores. Published systems read it far more
# often, at a dropout of 0.3; half of it was set here once, for all variants.
TINY = ModelConfig(
    encoder_layers=4, decoder_layers=4, embed_dim=128, ffn_dim=256, num_heads=4, dropout=0.15
)
CAPTIONS = TrainConfig(
    max_updates=5500, batch_tokens=2048, learning_rate=4e-3, warmup=500, eval_every=250, average=5
)

# To the end of what the model can learn, in under an hour on a free core. Chosen on dev with base;
# `benchmarks/recipe.py` tries it for four systems alike.
TO_THE_END = TrainConfig(
    max_updates=8000,
    batch_tokens=2048,
    learning_rate=8e-3,
    warmup=400,
    eval_every=250,
    optimizer="muon",
    length_penalty="dev",
)

# the subwords of the scales that have stored results; everything new is `exact`
STORED: Final = "nfkc"

SCALES: dict[str, RunConfig] = {
    "smoke": RunConfig(DataConfig(subwords=STORED), NO_DROPOUT, SHORT),
    "minisummary": RunConfig(
        DataConfig("minisummary", "article", "summary", subwords=STORED), NO_DROPOUT, SHORT
    ),
    "minidialogue": RunConfig(
        DataConfig("minidialogue", "context", "reply", subwords=STORED), NO_DROPOUT, SHORT
    ),
    "multi30k": RunConfig(
        DataConfig("multi30k", "en", "de", vocab_size=4000, subwords=STORED), TINY, CAPTIONS
    ),
    # For comparisons with published systems, which read lower case and train long; what differs
    # from the scale above was chosen on dev.
    "multi30k-lc": RunConfig(
        DataConfig("multi30k-lc", "en", "de", vocab_size=8000, subwords=STORED),
        replace(TINY, dropout=0.3),
        replace(CAPTIONS, max_updates=20_000, average=10),
    ),
    # Where claims are judged: the captions again, learned to the end. In lower case, as published
    # systems read them: of 29,000 captions, capitals hide too much.
    "multi30k-long": RunConfig(
        DataConfig("multi30k-lc", "en", "de", vocab_size=8000),
        replace(TINY, dropout=0.3),
        TO_THE_END,
    ),
    # One model that has learned what heads learn: the heads and the depth of the base Transformer,
    # at half of its width.
    "general": RunConfig(
        DataConfig("general", "de", "en", vocab_size=8000),
        ModelConfig(
            encoder_layers=6, decoder_layers=6, embed_dim=256, ffn_dim=512, num_heads=8, dropout=0.1
        ),
        replace(
            TO_THE_END,
            max_updates=12_000,
            batch_tokens=4096,
            learning_rate=4e-3,
            warmup=500,
            eval_every=500,
        ),
    ),
    # The size of IWSLT in long sentences, in the shape that You et al. use for IWSLT.
    "bible": RunConfig(
        DataConfig("bible", "de", "en", vocab_size=8000),
        ModelConfig(
            encoder_layers=5, decoder_layers=5, embed_dim=288, ffn_dim=507, num_heads=4, dropout=0.3
        ),
        replace(
            TO_THE_END,
            max_updates=12_000,
            batch_tokens=4096,
            learning_rate=4e-3,
            warmup=500,
            eval_every=500,
        ),
    ),
    # Almost six times the pairs of Multi30k at its shape, so that a run fits in an hour on one core
    # that multiplies bf16 in hardware.
    "tatoeba": RunConfig(
        DataConfig("tatoeba", "de", "en", vocab_size=8000, subwords=STORED),
        replace(TINY, dropout=0.1),
        replace(CAPTIONS, max_updates=4000, batch_tokens=4096, precision="bf16"),
    ),
    "enja": RunConfig(
        DataConfig("enja", "en", "ja", vocab_size=8000, subwords=STORED),
        ModelConfig(
            encoder_layers=4, decoder_layers=4, embed_dim=128, ffn_dim=256, num_heads=4, dropout=0.3
        ),
        TrainConfig(
            max_updates=5000,
            batch_tokens=4096,
            learning_rate=5e-3,
            warmup=500,
            eval_every=250,
            average=5,
        ),
    ),
    # Cui et al. 2019, section 4, for De-En: small shape, 45 epochs, the warm-up of Vaswani et al.,
    # of which 7e-4 is the peak.
    "iwslt14": RunConfig(
        DataConfig("iwslt14", "de", "en", vocab_size=10_000),
        ModelConfig(
            encoder_layers=6,
            decoder_layers=6,
            embed_dim=512,
            ffn_dim=1024,
            num_heads=4,
            dropout=0.3,
        ),
        TrainConfig(
            max_updates=50_000,
            batch_tokens=4096,
            learning_rate=7e-4,
            schedule="inverse-sqrt",
            warmup=4000,
            eval_every=1000,
            average=5,
        ),
    ),
    # You et al. 2020, section 4; the number of updates and no label smoothing are from their code.
    "iwslt16": RunConfig(
        DataConfig("iwslt16", "en", "de", vocab_size=32000),
        ModelConfig(
            encoder_layers=5, decoder_layers=5, embed_dim=288, ffn_dim=507, num_heads=4, dropout=0.1
        ),
        TrainConfig(
            max_updates=100_000,
            batch_tokens=4096,
            learning_rate=3e-4,
            warmup=1,
            label_smoothing=0.0,
            eval_every=2000,
            average=5,
        ),
    ),
    # Zeng et al. 2021, Table 4. They give numbers of updates and sentences only, and call the model
    # for dialogue small: its shape here is the small one of You et al. Texts are longer than the
    # 256 tokens that recurrent attention is defined for by default:
    # `papers/zeng2021/experiments.py` says what to add (table 4).
    "cnndm": RunConfig(
        DataConfig("cnndm", "article", "summary", vocab_size=32000, max_tokens=1024),
        ModelConfig(
            encoder_layers=6,
            decoder_layers=6,
            embed_dim=512,
            ffn_dim=2048,
            num_heads=8,
            dropout=0.1,
        ),
        TrainConfig(
            max_updates=300_000,
            batch_tokens=65_536,
            learning_rate=7e-4,
            schedule="inverse-sqrt",
            warmup=4000,
            eval_every=5000,
            average=5,
        ),
    ),
    "personachat": RunConfig(
        DataConfig("personachat", "context", "reply", vocab_size=8000, max_tokens=255),
        ModelConfig(
            encoder_layers=5, decoder_layers=5, embed_dim=288, ffn_dim=507, num_heads=4, dropout=0.1
        ),
        TrainConfig(
            max_updates=20_000,
            batch_tokens=4096,
            learning_rate=1e-3,
            warmup=1000,
            eval_every=500,
            average=5,
        ),
    ),
}
"""Corpus, shape and schedule that belong together.

A system and `key=value` overrides change one of these.
"""


def trained_on(config: RunConfig, start: str, sites: Sequence[str], **train: Any) -> RunConfig:
    """Return the configuration of a run that continues a finished one.

    It has half of its updates, and a tenth of those to warm up.

    Args:
        config: of the finished run.
        start: the folder of the finished run.
        sites: where heads may be pruned; with the encoder's alone, the decoder is frozen (Voita et
            al. 2019, section 6.2).
        train: options of `TrainConfig` that differ, `max_updates` among them.
    """
    updates = train.get("max_updates", (config.train.max_updates + 1) // 2)
    schedule = {"max_updates": updates, "warmup": max(1, updates // 10)}
    begin = {
        "start_from": start,
        "cut_from": None,
        "freeze_decoder": set(sites) == {"encoder_self"},
    }
    return replace(config, train=replace(config.train, **(schedule | begin | train)))


def resolve(
    scale: str,
    system: str = "base",
    direction: str | None = None,
    seed: int = 1,
    overrides: tuple[str, ...] = (),
) -> RunConfig:
    """Return a scale changed by a system, a direction like `"de-en"`, a seed and overrides.

    On another corpus than the scale's, subwords are those of that corpus's scale, or `exact` if it
    has none: the older form is only for corpora with stored results.

    >>> resolve("smoke", "hc-sa", overrides=("train.max_updates=5",)).train.max_updates
    5

    Raises:
        InputError: an unknown name, or a value of the wrong type or out of range.
    """
    for option, name in {"--scale": scale, "--system": system}.items():
        check_kind(option, name, "give one name, as in resolve('smoke', 'base')", str)
    check_kind("overrides", overrides, "give a list, as in overrides=['train.seed=2']", list, tuple)
    for text in overrides:
        check_kind("overrides", text, "write each as text, as in overrides=['train.seed=2']", str)
    if scale not in SCALES:
        raise InputError("--scale", f"unknown scale '{scale}'", did_you_mean(scale, SCALES))
    if system not in SYSTEMS:
        raise InputError("--system", f"unknown system '{system}'", did_you_mean(system, SYSTEMS))
    config = SCALES[scale]
    config = replace(
        config,
        model=replace(config.model, **SYSTEMS[system]),
        train=replace(config.train, seed=seed),
    )
    if direction is not None:
        source, target = split_direction(direction)
        config = replace(config, data=replace(config.data, source=source, target=target))
    scaled, config = config.data.corpus, _overridden(config, overrides)
    if config.data.corpus != scaled and not any(
        text.startswith("data.subwords=") for text in overrides
    ):
        config = replace(
            config, data=replace(config.data, subwords=_usual_subwords(config.data.corpus))
        )
    return replace(
        config, data=replace(config.data, corpus=with_resolved_folder(config.data.corpus))
    )


def _usual_subwords(corpus: str) -> SubwordForm:
    """Return the form of subwords of the scale of a corpus."""
    return next(
        (scale.data.subwords for scale in SCALES.values() if scale.data.corpus == corpus), "exact"
    )


def split_direction(direction: str) -> tuple[str, str]:
    """Split `"de-en"`, or `"pt-BR-en"`, into source and target language.

    Raises:
        InputError: it is not two different codes with a dash between, or the dash is ambiguous.
    """
    check_kind("--direction", direction, "write source-target, for example de-en", str)
    parts = direction.split("-")
    ways = [("-".join(parts[:cut]), "-".join(parts[cut:])) for cut in range(1, len(parts))]
    if len(ways) > 1:
        ways = [way for way in ways if all(re.fullmatch(LANGUAGE, code) for code in way)]
    if len(ways) > 1:
        what = (
            f"'{direction}' may be "
            f"{' or '.join(f'{source} to {target}' for source, target in ways)}"
        )
        raise InputError(
            "--direction",
            what,
            "write regions in capitals, as in pt-BR-en, and in the names of files",
        )
    if not ways or not all(ways[0]):
        raise InputError(
            "--direction",
            f"'{direction}' is not a direction",
            "write source-target, for example de-en",
        )
    source, target = ways[0]
    if source == target:
        raise InputError(
            "--direction", f"source and target are both '{source}'", "choose two languages"
        )
    return source, target


def _overridden(config: RunConfig, overrides: Sequence[str]) -> RunConfig:
    """Apply overrides to a configuration, later ones last.

    It is checked at the end, since two overrides may need each other.
    """
    options = {
        f"{part.name}.{option.name}"
        for part in fields(config)
        for option in fields(getattr(config, part.name))
    }
    values = asdict(config)
    for text in overrides:
        key, equals, raw = text.partition("=")
        if key not in options:
            same = [
                option for option in sorted(options) if option.split(".")[1] == key.split(".")[-1]
            ]
            fix = f"did you mean '{same[0]}'?" if same else did_you_mean(key, sorted(options))
            raise InputError(text, f"unknown option '{key}'" if equals else "is not key=value", fix)
        if not equals:
            raise InputError(text, "has no value", f"write {key}=VALUE")
        part, name = key.split(".")
        if name in SITES:
            raw = EMPTY_BRACKETS.sub("", raw)  # or one model would be two runs
        try:
            values[part][name] = json.loads(raw)
        except (ValueError, RecursionError):
            values[part][name] = raw
    return replace(
        config,
        **{
            part.name: from_dict(type(getattr(config, part.name)), values[part.name], part.name)
            for part in fields(config)
        },
    )
