"""Read what a configuration says of attention, such as `gaussian(std=0.5)`, and build it."""

import ast
import math
from typing import Any

from repro.core.attention.variants import VARIANTS, _options_of, _type_of, imported
from repro.core.config import NO_SUBLAYER, SITES, ModelConfig, typed
from repro.errors import InputError, check_kind, did_you_mean, shortened


def parse_variant(spec: str, where: str = "attention") -> tuple[str, dict[str, Any]]:
    """Split `"name(option=value, ...)"` into a registered name and its options; values are Python literals.

    >>> parse_variant("gaussian(std=0.5, centers=[-1, 1])")
    ('gaussian', {'std': 0.5, 'centers': [-1, 1]})

    Raises:
        InputError: the name is not registered, or the options are not literals.
    """
    name, bracket, _ = spec.partition("(")
    known = [*VARIANTS, NO_SUBLAYER]
    if name not in known:
        raise InputError(where, f"unknown attention '{name}'", did_you_mean(name, known))
    if not bracket:
        return name, {}
    try:
        call = ast.parse("variant(" + spec[len(name) + 1 :], mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        # `**` has no name
        options = {
            keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg
        }
        if call.args or len(options) < len(call.keywords):
            raise ValueError
    except (
        SyntaxError,
        ValueError,
        AttributeError,
        TypeError,
        RecursionError,
        MemoryError,
    ) as error:
        raise InputError(
            where,
            f"cannot read the options of '{spec}'",
            f"write {name}(option=value), for example std=0.5",
        ) from error
    return name, options


def parse_layers(spec: str, num_layers: int, where: str = "attention") -> list[str]:
    """Split what stands at a site into a variant per layer: one for all, then exceptions for single layers, counted from 1.

    >>> parse_layers("none; last: dot-product(heads=1)", 3)
    ['none', 'none', 'dot-product(heads=1)']

    Raises:
        InputError: a variant that cannot be read, a layer that does not exist, or two variants for
            one.
    """
    usual, *exceptions = (part.strip() for part in spec.split(";"))
    places = {"first": 1, "last": num_layers} | {
        str(number): number for number in range(1, num_layers + 1)
    }
    found: dict[int, str] = {}
    for exception in exceptions:
        place, colon, variant = (part.strip() for part in exception.partition(":"))
        number = places.get(place)
        if not colon or number is None:
            mend = f"write first:, last: or a number from 1 to {num_layers} and a variant, as in 'none; last: dot-product'"
            raise InputError(where, f"{shortened(repr(exception), 80)} names no layer", mend)
        if found.setdefault(number, variant) != variant:
            raise InputError(
                where,
                f"layer {number} has two variants: {found[number]} and {variant}",
                "give it one",
            )
    layers = [found.get(number, usual) for number in range(1, num_layers + 1)]
    for variant in set(layers):
        parse_variant(variant, where)
    return layers


def layers_of(model: ModelConfig) -> dict[str, list[str]]:
    """Return the variant of every layer by site; see `parse_layers`."""
    numbers = {
        site: model.encoder_layers if site == "encoder_self" else model.decoder_layers
        for site in SITES
    }
    return {
        site: parse_layers(getattr(model, site), number, f"model.{site}")
        for site, number in numbers.items()
    }


def build_weights(
    spec: str,
    site: str,
    num_layers: int,
    embed_dim: int,
    num_heads: int,
    dropout: float = 0.0,
    length_ratio: float | None = None,
) -> list[Any]:
    """Build the attention weights of every layer at one site; `none` gives None for a layer: no sublayer at all.

    Args:
        spec: a variant, or one per layer; see `parse_variant` and `parse_layers`.
        site: `encoder_self`, `decoder_self` or `cross`.
        num_layers, embed_dim, num_heads, dropout, length_ratio: see `Stack`.

    Raises:
        InputError: unknown site, name or option, or a site where the variant is not defined; a
            number that no stack can have; or a variant's file is not as it must be.
    """
    check_kind("spec", spec, "name a variant, as in build_weights('gaussian', ...)", str)
    if site not in SITES:
        raise InputError("site", f"unknown site '{site}'", did_you_mean(site, SITES))
    for where, value in {
        "num_layers": num_layers,
        "embed_dim": embed_dim,
        "num_heads": num_heads,
    }.items():
        check_kind(where, value, "give a whole number", int)
    for where, value in {
        "dropout": dropout,
        "length_ratio": 1.0 if length_ratio is None else length_ratio,
    }.items():
        check_kind(where, value, "give a number", int, float)
    arguments = (site, num_layers, embed_dim, num_heads, dropout, length_ratio)
    _check_numbers(*arguments[1:])
    layers = parse_layers(spec, num_layers, f"model.{site}")
    stacks = {variant: _build_stack(variant, *arguments) for variant in dict.fromkeys(layers)}
    return [stacks[variant][layer] for layer, variant in enumerate(layers)]


def _check_numbers(
    num_layers: int, embed_dim: int, num_heads: int, dropout: float, length_ratio: float | None
) -> None:
    """Refuse what a call by hand may give, which no configuration and no text do, and of which a variant would build something."""
    if num_layers < 1:
        raise InputError("num_layers", f"must be at least 1, found {num_layers}", "use 1 or more")
    if not 1 <= num_heads <= embed_dim or embed_dim % num_heads:
        raise InputError(
            "num_heads",
            f"{num_heads} heads do not divide embed_dim {embed_dim}",
            "use as many as divide it, such as 1",
        )
    if not 0 <= dropout < 1:
        raise InputError(
            "dropout", f"must be at least 0 and below 1, found {dropout}", "use a value in [0, 1)"
        )
    if length_ratio is not None and not 0 < length_ratio < math.inf:
        raise InputError(
            "length_ratio",
            f"must be above 0 and finite, found {length_ratio}",
            "divide mean source by mean target length",
        )


def _build_stack(spec: str, site: str, num_layers: int, *arguments: Any) -> list[Any]:
    """Build one variant for all layers, so that what its layers share is shared by those that use it."""
    name, options = parse_variant(spec, f"model.{site}")
    if name == NO_SUBLAYER:
        return [None] * num_layers
    from repro.core.attention.base import AttentionWeights, Stack

    build = imported(name).build
    known = _options_of(name, build)
    for option in options:
        if option not in known:
            mend = did_you_mean(option, known) if known else f"write {name} alone"
            raise InputError(f"model.{site}", f"{name} has no option '{option}'", mend)
    if missing := [
        option
        for option, parameter in known.items()
        if parameter.default is parameter.empty and option not in options
    ]:
        raise InputError(
            f"model.{site}",
            f"{name} needs the option '{missing[0]}'",
            f"write {name}({missing[0]}=...)",
        )
    hints = {option: _type_of(name, known[option]) for option in options}
    options = {
        option: typed(hints[option], value, f"model.{site}: {name}({option})")
        for option, value in options.items()
    }
    built = build(Stack(site, num_layers, *arguments), **options)
    if (
        not isinstance(built, list)
        or len(built) != num_layers
        or not all(isinstance(layer, AttentionWeights) for layer in built)
    ):
        found = f"{len(built)} of them" if isinstance(built, list) else type(built).__name__
        raise InputError(
            VARIANTS[name],
            f"build returned {found} for {num_layers} layers",
            "return a list with an AttentionWeights a layer",
        )
    return built
