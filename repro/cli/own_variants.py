"""Commands for attention of your own: what there is, its options, and whether it keeps promises."""

import json
from dataclasses import fields
from typing import Any

import click

from repro.cli.listing import describe_variant, heading, list_scales, list_systems, list_variants
from repro.core.attention.variants import options_of, type_of
from repro.core.config import SITES, RunConfig
from repro.core.settings import hints_of, in_words, members, range_in_words
from repro.errors import InputError
from repro.presets import SCALES


@click.command(short_help="List systems, attention variants and scales.")
@click.argument("name", required=False)
def variants(name: str | None) -> None:
    """List the systems of the papers, the attention variants, and the scales.

    With a NAME, such as gaussian or my.py:alibi, describe that variant with its options, their
    types and defaults. A scale is a corpus, a shape, and a length of training.
    """
    if name:
        return click.echo("\n".join([describe_variant(name), *_options(name)]))
    sites = "model.encoder_self=NAME, model.decoder_self=NAME, model.cross=NAME"
    click.echo(f"{heading('Systems (repro train --system NAME):')}\n{list_systems()}\n")
    click.echo(f"{heading(f'Attention variants (at a site: {sites}):')}\n{list_variants()}\n")
    title = "Scales (repro train --scale NAME, and --scale of other commands):"
    click.echo(f"{heading(title)}\n{list_scales()}")


def _options(name: str) -> list[str]:
    """Return a line per option of a variant: name, type and default."""
    lines = []
    for option in options_of(name).values():
        default = "needed" if option.default is option.empty else f"default {option.default!r}"
        lines.append(f"    {option.name:<16} {_type(type_of(name, option))}; {default}")
    return lines or ["    no options"]


def _type(hint: Any) -> str:
    """Return a type with its range in words, such as `int, at least 1`."""
    return " or ".join(
        f"{in_words(kind)}, {range_in_words(meta)}" if meta else in_words(kind)
        for kind, meta in members(hint).items()
    )


@click.command(short_help="Check that an attention variant keeps its promises.")
@click.argument("variant")
def check(variant: str) -> None:
    """Check VARIANT at every site where it is defined, and say in words what is wrong with it.

    VARIANT is a name of `repro variants`, or your own: my.py:alibi is the function alibi of my.py.
    It is tried with each option at a second value; with options, as in my.py:alibi(window=3), as
    it is.

    The promises: weights are zero where blocked and sum to one; no token sees a later one;
    padding and other sentences change nothing; step by step gives what all at once gives.
    """
    from repro.core.contract import broken_promises
    from repro.core.contract_cases import is_defined, refusing_sites, specs_of

    refused = refusing_sites(variant)
    specs = [variant] if "(" in variant else specs_of(variant)
    faults = 0
    for site in SITES:
        if site in refused:
            click.echo(f"{site}: not defined: {refused[site]}")
            continue
        tried = [spec for spec in specs if is_defined(spec, site)]
        found = [fault for spec in tried for fault in broken_promises(spec, site)]
        faults += len(found)
        said = f"{len(found)} faults" if found else "keeps every promise"
        click.echo(f"{site}: {said}, tried as {', '.join(tried)}")
        for fault in found:
            click.echo(f"  {fault}")
    if faults:
        what = f"breaks its promises in {faults} case{'s' * (faults > 1)}, each named above"
        raise InputError(variant, what, "correct the first one, and check again")


@click.command(short_help="List every setting, with its default at each scale.")
@click.argument("part", required=False)
def settings(part: str | None) -> None:
    """List every setting: name, type, default, and the scales where the default differs.

    A PART is data, model or train, or one setting, such as train.warmup. Give settings as
    KEY=VALUE to `repro train` and `repro run`, or in a scale of your own (my.toml).
    """
    names = [name for name in setting_names() if name.startswith(part or "")]
    if not names:
        raise InputError(str(part), "is not a setting", "use data, model or train, or leave it out")
    for name in names:
        kind, usual, others = _setting(name)
        click.echo(f"{name:<24} {kind}; {usual}{'; ' * bool(others)}{', '.join(others)}")


def setting_names() -> list[str]:
    """Return the names of all settings, such as `data.corpus`."""
    return [
        f"{part.name}.{option.name}"
        for part in fields(RunConfig)
        for option in fields(getattr(RunConfig(), part.name))
    ]


def _setting(name: str) -> tuple[str, str, list[str]]:
    """Return the type of a setting, its default, and the scales with another one."""
    part, _, option = name.partition(".")
    of = {scale: getattr(getattr(SCALES[scale], part), option) for scale in SCALES}
    usual = getattr(getattr(RunConfig(), part), option)
    cls: type = type(getattr(RunConfig(), part))
    hint = hints_of(cls)[option]
    others = [f"{scale} {_shown(value)}" for scale, value in of.items() if value != usual]
    return _type(hint), _shown(usual), others


def _shown(value: object) -> str:
    """Return a value as it is written in KEY=VALUE."""
    return value if isinstance(value, str) else json.dumps(value)
