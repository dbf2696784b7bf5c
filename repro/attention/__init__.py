"""The registry of attention variants: name -> the module that builds it, one line each.

The modules are imported when a variant is built, so that a misspelt name is answered before torch is loaded.
"""

import ast
from importlib import import_module
from typing import Any

from repro.errors import InputError, did_you_mean

VARIANTS = {
    "dot-product": "repro.attention.dot_product",
    "gaussian": "repro.attention.gaussian",
}

NO_SUBLAYER = "none"


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
        options = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        if call.args or None in options:
            raise ValueError
    except (SyntaxError, ValueError, AttributeError) as error:
        raise InputError(where, f"cannot read the options of '{spec}'", f"write {name}(option=value), for example std=0.5") from error
    return name, options


def build_weights(spec: str, site: str, num_layers: int, embed_dim: int, num_heads: int, dropout: float = 0.0) -> list[Any]:
    """Build the attention weights of every layer at one site; `none` gives None for each layer: no sublayer at all.

    Raises:
        InputError: unknown name or option, or a site where the variant is not defined.
    """
    name, options = parse_variant(spec, f"model.{site}")
    if name == NO_SUBLAYER:
        return [None] * num_layers
    build = import_module(VARIANTS[name]).build
    try:
        return build(site, num_layers, embed_dim, num_heads, dropout, **options)
    except TypeError as error:
        raise InputError(
            f"model.{site}", f"'{spec}' does not fit {name}: {error}", f"see the options of build in {build.__module__}"
        ) from error
