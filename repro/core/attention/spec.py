"""Read what a configuration says of attention, such as `gaussian(std=0.5)`, and build it."""

import ast
from typing import Annotated, Any

from msgspec import Meta

from repro.core.attention.variants import VARIANTS, further, imported, options_of, type_of
from repro.core.settings import NO_SUBLAYER, SITES, Count, ModelConfig, Share, check_heads, typed
from repro.errors import InputError, check_kind, did_you_mean, shortened

NUMBERS: dict[str, Any] = {
    "num_layers": Count,
    "embed_dim": Count,
    "num_heads": int,
    "dropout": Share,
    "length_ratio": Annotated[
        float, Meta(gt=0, description="divide mean source by mean target length")
    ]
    | None,
}
"""The types and ranges of the numbers of a stack, by the name of the argument."""


def parse_variant(spec: str, where: str = "attention") -> tuple[str, dict[str, Any]]:
    """Split `"name(option=value, ...)"`, with Python literals, into name and options.

    >>> parse_variant("gaussian(std=0.5, centers=[-1, 1])")
    ('gaussian', {'std': 0.5, 'centers': [-1, 1]})

    Raises:
        InputError: the name is unknown, or the options are not literals.
    """
    name, bracket, _ = spec.partition("(")
    known = [*VARIANTS, NO_SUBLAYER]
    if name not in known and not further(name):
        raise InputError(where, f"unknown attention '{name}'", did_you_mean(name, known))
    if not bracket:
        return name, {}
    try:
        call = ast.parse("variant(" + spec[len(name) + 1 :], mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        options = {str(option.arg): ast.literal_eval(option.value) for option in call.keywords}
        if call.args or len(options) < len(call.keywords) or "None" in options:  # `**` has no name
            raise ValueError
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        fix = f"write {name}(option=value), for example std=0.5"
        raise InputError(where, f"cannot read the options of '{spec}'", fix) from error
    return name, options


def parse_layers(spec: str, num_layers: int, where: str = "attention") -> list[str]:
    """Split the setting of a site into a variant per layer; exceptions count layers from 1.

    >>> parse_layers("none; last: dot-product(heads=1)", 3)
    ['none', 'none', 'dot-product(heads=1)']

    Raises:
        InputError: a variant that cannot be read, a layer that does not exist, or two variants for
            one.
    """
    usual, *exceptions = (part.strip() for part in spec.split(";"))
    places = {"first": 1, "last": num_layers}
    places |= {str(number): number for number in range(1, num_layers + 1)}
    found: dict[int, str] = {}
    for exception in exceptions:
        place, colon, variant = (part.strip() for part in exception.partition(":"))
        number = places.get(place)
        if not colon or number is None:
            fix = f"write first:, last: or a number from 1 to {num_layers} and a variant, "
            fix += "as in 'none; last: dot-product'"
            raise InputError(where, f"{shortened(repr(exception), 80)} names no layer", fix)
        if found.setdefault(number, variant) != variant:
            what = f"layer {number} has two variants: {found[number]} and {variant}"
            raise InputError(where, what, "give it one")
    layers = [found.get(number, usual) for number in range(1, num_layers + 1)]
    for variant in set(layers):
        parse_variant(variant, where)
    return layers


def layers_of(model: ModelConfig) -> dict[str, list[str]]:
    """Return the variant of every layer by site; see `parse_layers`."""
    numbers = (model.encoder_layers, model.decoder_layers, model.decoder_layers)
    return {
        site: parse_layers(getattr(model, site), number, f"model.{site}")
        for site, number in zip(SITES, numbers, strict=True)
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
    """Build the attention weights of every layer at one site; None for a layer without attention.

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
    numbers = (num_layers, embed_dim, num_heads, dropout, length_ratio)
    for (name, hint), number in zip(NUMBERS.items(), numbers, strict=True):
        typed(hint, number, name)
    check_heads(num_heads, embed_dim)
    layers = parse_layers(spec, num_layers, f"model.{site}")
    stacks = {variant: _build_stack(variant, site, *numbers) for variant in dict.fromkeys(layers)}
    return [stacks[variant][layer] for layer, variant in enumerate(layers)]


def _build_stack(spec: str, site: str, num_layers: int, *arguments: Any) -> list[Any]:
    """Build one variant for all layers, so that the layers that use it share its parameters."""
    name, options = parse_variant(spec, f"model.{site}")
    known = {} if name == NO_SUBLAYER else options_of(name)
    for option in options:
        if option not in known:
            fix = did_you_mean(option, known) if known else f"write {name} alone"
            raise InputError(f"model.{site}", f"{name} has no option '{option}'", fix)
    if name == NO_SUBLAYER:
        return [None] * num_layers
    from repro.core.attention.base import AttentionWeights, Stack

    for option, parameter in known.items():
        if parameter.default is parameter.empty and option not in options:
            fix = f"write {name}({option}=...)"
            raise InputError(f"model.{site}", f"{name} needs the option '{option}'", fix)
    for option, value in options.items():
        hint = type_of(name, known[option])
        options[option] = typed(hint, value, f"model.{site}: {name}({option})")
    built = imported(name).build(Stack(site, num_layers, *arguments), **options)
    kinds = [type(layer) for layer in built] if isinstance(built, list) else []
    where = VARIANTS.get(name, name)
    if len(kinds) != num_layers or not all(issubclass(kind, AttentionWeights) for kind in kinds):
        found = f"{len(built)} of them" if isinstance(built, list) else type(built).__name__
        what = f"build returned {found} for {num_layers} layers"
        raise InputError(where, what, "return a list with an AttentionWeights a layer")
    if lacking := [type(layer).__name__ for layer in built if "_modules" not in vars(layer)]:
        what = f"__init__ of {lacking[0]} does not call that of AttentionWeights"
        raise InputError(where, what, "begin it with super().__init__(num_heads, head_dim)")
    return built
