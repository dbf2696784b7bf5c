"""Declare and check settings; the settings of the model.

Each setting has its type and range next to its name. Nothing here imports torch, so that a mistake
is answered at once.
"""

import math
import types
import typing
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, ValidationError, convert

from repro.errors import InputError, did_you_mean, shortened

SITES = ("encoder_self", "decoder_self", "cross")
# the sites where each side is read
READERS = {"source": ("encoder_self", "cross"), "target": ("decoder_self", "cross")}
USUAL_ALPHA = 1.0  # the length penalty of a search: mean log-probability of a token
NO_SUBLAYER = "none"  # the variant of a site without attention
SubwordForm = Literal["exact", "nfkc"]  # what subwords make of the text: see `Subwords`

# Numbers by kind. The description of a range is the fix for a number outside it. The upper ends are
# far beyond what any machine holds: they catch slips of the finger.
Count = Annotated[int, Meta(ge=1, description="use 1 or more")]
Layers = Annotated[int, Meta(ge=1, le=1_000, description="use a few")]
Width = Annotated[int, Meta(ge=2, le=1_000_000, multiple_of=2, description="use an even width")]
Share = Annotated[float, Meta(ge=0, lt=1, description="use a value in [0, 1)")]
Rate = Annotated[float, Meta(gt=0, lt=1_000_000, description="use a positive number")]

ALWAYS: Any = object()


def setting(default: Any, what: str, older: Any = ALWAYS) -> Any:
    """Declare a field.

    Args:
        default: of new runs.
        what: it does, in a line, for `repro settings` and the docs.
        older: what runs did before the field was added; by default every run has it. A field of
            this value is left out of the digest, and a file without the field means this value. So
            older runs keep their names.
    """
    added = {} if older is ALWAYS else {"older": older}
    return field(default=default, metadata={"what": what, **added})


class Checked:
    """A frozen dataclass whose values have the declared types and ranges, however it is made."""

    part: ClassVar[str]
    """The prefix of a field's name in messages."""

    def __post_init__(self) -> None:
        cls: type = type(self)
        for name, hint in hints_of(cls).items():
            value = typed(hint, getattr(self, name), f"{self.part}.{name}")
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class ModelConfig(Checked):
    """The settings of the Transformer.

    Where published code bases differ, there is one default, the same for every variant.
    """

    part = "model"
    encoder_self: str = setting("dot-product", "the variant of self-attention in the encoder")
    decoder_self: str = setting("dot-product", "the variant of self-attention in the decoder")
    cross: str = setting("dot-product", "the variant of attention from the decoder to the source")
    encoder_layers: Layers = setting(2, "layers of the encoder")
    decoder_layers: Layers = setting(2, "layers of the decoder")
    embed_dim: Width = setting(64, "width of embeddings and of every layer's input and output")
    ffn_dim: Count = setting(128, "width inside the feed-forward sublayers")
    num_heads: int = setting(4, "attention heads of each layer and site; they share embed_dim")
    dropout: Share = setting(0.1, "dropout on embeddings and sublayer outputs")
    attention_dropout: Share = setting(0.0, "dropout on learned attention weights")
    norm: Literal["post", "pre"] = setting("pre", "layer norm before or after each sublayer")
    source_end_mark: bool = setting(True, "whether the encoder reads a mark of the end")
    tie_embeddings: bool = setting(True, "whether source, target and output share one matrix")
    encoder_positions: bool = setting(True, "whether the encoder embeds positions", older=True)
    decoder_positions: bool = setting(True, "whether the decoder embeds positions", older=True)
    feed_forward: bool = setting(True, "whether layers have a feed-forward sublayer", older=True)
    gated_sites: tuple[str, ...] = setting((), "where heads have Hard Concrete gates", older=())
    gate_rule: Literal["sign", "soft"] = setting("sign", "a gate at test time", older="sign")
    gate_init: (
        Annotated[float, Meta(ge=-100, le=100, description="use about 2: a gate that is open")]
        | None
    ) = setting(None, "the first log_alpha of all gates; null draws them", older=None)


@cache
def hints_of(cls: type) -> dict[str, Any]:
    """Return the types and ranges of the fields of a dataclass."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {option.name: hints[option.name] for option in fields(cls)}


def typed(hint: Any, value: Any, where: str) -> Any:
    """Return the value if it has the hinted type and is in its range.

    A whole number for a fraction becomes one. Numbers in text, booleans as numbers and NaN are
    refused, not guessed.

    Raises:
        InputError: naming the wanted type, range or choices and the value found.
    """
    kinds = members(hint)
    for row in kinds:
        if typing.get_origin(row) in (list, tuple) and isinstance(value, (list, tuple)):
            item_hint = typing.get_args(row)[0]
            return typing.get_origin(row)(typed(item_hint, item, where) for item in value)
    if type(value) is int and abs(value) >= 2**63:
        what = f"is a number of {len(str(abs(value)))} digits"
        raise InputError(where, what, "use a smaller number")
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        fix = "use text in UTF-8: set PYTHONUTF8=1, or rename the folder if it is one"
        raise InputError(where, f"holds what is no letter in {shortened(ascii(value), 80)}", fix)
    if type(value) is float and float in kinds and not math.isfinite(value):
        raise InputError(where, f"wants float, found {value}", "give one float that is finite")
    try:
        return convert(value, hint)
    except ValidationError as error:
        raise InputError(where, *_refusal(kinds, value, error)) from None


@cache
def members(hint: Any) -> dict[Any, Meta | None]:
    """Return the members of a union, each with its range."""
    if typing.get_origin(hint) is Annotated:
        return {hint.__origin__: hint.__metadata__[0]}
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return {
            kind: meta for member in typing.get_args(hint) for kind, meta in members(member).items()
        }
    return {hint: None}


def _refusal(kinds: dict[Any, Meta | None], value: Any, error: ValidationError) -> tuple[str, str]:
    """Return what is wrong with a value that is none of these kinds, and the fix."""
    ranges = [meta for meta in kinds.values() if meta]
    if ranges and ", got " not in str(error):  # msgspec names what it got of another type only
        what = f"must be {range_in_words(ranges[0])}, found {value:,}"
        return what, str(ranges[0].description)
    found = shortened(repr(value), 80)
    choices = [
        c for kind in kinds if typing.get_origin(kind) is Literal for c in typing.get_args(kind)
    ]
    if choices and (isinstance(value, str) or len(kinds) == 1):
        if isinstance(value, str) and all(isinstance(choice, str) for choice in choices):
            return f"unknown value {found}", did_you_mean(value, choices)
        return f"unknown value {found}", f"use one of {', '.join(map(repr, choices))}"
    wanted = " or ".join(map(in_words, kinds))
    is_list = any(typing.get_origin(kind) in (tuple, list) for kind in kinds)
    fix = 'write a list, as in ["a", "b"]' if is_list else f"give one {wanted}"
    return f"wants {wanted}, found {found}", fix


_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_BOUNDS["multiple_of"] = "a multiple of"


def range_in_words(meta: Meta) -> str:
    """Return a range in words, such as `at least 1 and below 10`."""
    bounds = {words: getattr(meta, name) for name, words in _BOUNDS.items()}
    return " and ".join(
        f"{words} {bound:,}" for words, bound in bounds.items() if bound is not None
    )


def in_words(hint: Any) -> str:
    """Return a type in words, such as `list of str`."""
    if typing.get_origin(hint) is Literal:
        return " or ".join(map(repr, typing.get_args(hint)))
    if typing.get_origin(hint) in (tuple, list):
        return f"list of {' or '.join(map(in_words, members(typing.get_args(hint)[0])))}"
    return "null" if hint is type(None) else hint.__name__


def check_heads(num_heads: int, embed_dim: int, where: str = "num_heads") -> None:
    """Refuse a number of heads that does not divide the width, naming the nearest that do.

    Raises:
        InputError: it does not.
    """
    if num_heads < 1 or embed_dim % num_heads:
        legal = [h for h in range(1, embed_dim + 1) if embed_dim % h == 0]
        near = sorted(sorted(legal, key=lambda h: abs(h - num_heads))[:2])
        what = f"{num_heads} heads do not divide embed_dim {embed_dim}"
        raise InputError(where, what, f"use {' or '.join(map(str, near))}")
