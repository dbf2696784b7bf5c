"""Commands for attention of your own: what there is, its options, and whether it keeps promises."""

import click

from repro.cli.listing import (
    describe_setting,
    describe_variant,
    heading,
    list_scales,
    list_systems,
    list_variants,
)
from repro.core.attention.spec import parse_variant
from repro.core.attention.variants import VARIANTS, options_of, type_of
from repro.core.config import NO_SUBLAYER, SITES
from repro.errors import InputError
from repro.setting_list import list_settings, type_in_words


@click.command(short_help="List systems, attention variants and scales.")
@click.argument("name", required=False)
def variants(name: str | None) -> None:
    """List the systems of the papers, the attention variants, and the scales.

    With a NAME, such as gaussian or my.py:alibi, describe that variant with its options, their
    types and defaults. A scale is a corpus, a shape, and a length of training.

    \b
      repro variants gaussian
      repro variants my.py:alibi
    """
    if name:
        name = _name_of(name)
        return click.echo("\n".join([describe_variant(name), *_options(name)]))
    sites = "model.encoder_self=NAME, model.decoder_self=NAME, model.cross=NAME"
    click.echo(f"{heading('Systems (repro train --system NAME):')}\n{list_systems()}\n")
    click.echo(f"{heading(f'Attention variants (at a site: {sites}):')}\n{list_variants()}\n")
    title = "Scales (repro train --scale NAME, and --scale of other commands):"
    click.echo(f"{heading(title)}\n{list_scales()}")


def _name_of(variant: str) -> str:
    """Return the name of a variant, with or without options.

    Raises:
        InputError: an unknown name, or that of no attention.
    """
    name, _ = parse_variant(variant, "variant")
    if name == NO_SUBLAYER:
        known = ", ".join(VARIANTS)
        raise InputError(variant, "has no attention to check or describe", f"use one of {known}")
    return name


def _options(name: str) -> list[str]:
    """Return a line per option of a variant: name, type and default."""
    lines = []
    for option in options_of(name).values():
        default = "needed" if option.default is option.empty else f"default {option.default!r}"
        lines.append(f"    {option.name:<16} {type_in_words(type_of(name, option))}; {default}")
    return lines or ["    no options"]


@click.command(short_help="Check that an attention variant keeps its promises.")
@click.argument("variant")
def check(variant: str) -> None:
    """Check VARIANT at every site where it is defined, and say in words what is wrong with it.

    VARIANT is a name of `repro variants`, or your own: my.py:alibi is the function alibi of my.py.
    It is tried with its defaults, and with each option at a second value. With options, as in
    my.py:alibi(window=3), it is tried with these alone.

    The promises: weights are zero where blocked and sum to one; no token sees a later one;
    padding and other sentences change nothing; step by step gives what all at once gives.

    \b
      repro check gaussian
      repro check 'my.py:alibi(window=3)'
    """
    from repro.core.contract import broken_promises
    from repro.core.contract_cases import is_defined, refusing_sites, specs_of

    if ";" in variant:
        raise InputError(variant, "is of several layers", "check the variant of each by itself")
    _name_of(variant)
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
        said = f"{len(found)} fault{'s' * (len(found) > 1)}" if found else "keeps every promise"
        click.echo(f"{site}: {said}, tried as {', '.join(tried)}")
        for fault in found:
            click.echo(f"  {fault}")
    if faults:
        what = f"breaks its promises in {faults} case{'s' * (faults > 1)}, each named above"
        raise InputError(variant, what, "correct the first one, and check again")


@click.command(short_help="List every setting, with its default at each scale.")
@click.argument("part", required=False)
def settings(part: str | None) -> None:
    """List every setting: what it does, its type, its default, and scales with another default.

    A PART is data, model or train, or one setting, such as train.warmup. Give settings as
    KEY=VALUE to `repro train` and `repro run`, or in a scale of your own: a file such as my.toml
    with a line for each, like train.warmup = 50, after base = "multi30k" for all the others.

    \b
      repro settings train
      repro settings data.vocab_size
    """
    found = list_settings(part or "")
    if not found:
        raise InputError(str(part), "is not a setting", "use data, model or train, or leave it out")
    click.echo("\n".join(map(describe_setting, found)))
