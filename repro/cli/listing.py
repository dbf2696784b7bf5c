"""List systems, scales, settings and variants, with what their files say of them."""

import shutil
import textwrap
from importlib import import_module

from repro.core.attention.spec import build_weights
from repro.core.attention.variants import VARIANTS, imported
from repro.core.config import SITES
from repro.data.catalogue import CORPORA
from repro.errors import InputError
from repro.presets import SCALES, SYSTEMS
from repro.runs.own_code import installed
from repro.setting_list import Listed

# Columns. A terminal between these is filled; text for a file or pipe has the latter.
WIDTHS = (60, 100)
# the Transformer base of Vaswani et al. 2017, for counting
EMBED_DIM, NUM_HEADS, NUM_LAYERS = 512, 8, 6


def list_systems() -> str:
    """Return a line per system: its name, and its differences from the baseline."""
    rows = [
        (name, ", ".join(f"{key}={value}" for key, value in changed.items()))
        for name, changed in SYSTEMS.items()
    ]
    return "\n".join(
        _in_column(name, 24, [changed or "dot-product attention at every site"])
        for name, changed in rows
    )


def list_scales() -> str:
    """Return a line per scale: its name, corpus, direction, shape and length of training."""
    lines = []
    for name, config in SCALES.items():
        data, model, train = config.data, config.model, config.train
        shape = (
            f"{model.encoder_layers}+{model.decoder_layers} layers, {model.embed_dim} wide, "
            f"{model.num_heads} heads"
        )
        long = f"{train.max_updates:,} updates of up to {train.batch_tokens:,} tokens"
        lines.append(
            _in_column(
                name, 14, [f"{data.corpus}, {data.source} to {data.target}; {shape}; {long}"]
            )
        )
    return "\n".join(lines)


def list_corpora() -> str:
    """Return an entry per corpus: its name, languages, what it is, its licence."""
    own = "your own files, each side or a table, in one folder"
    entries = [
        (name, [f"{', '.join(of.languages)}; {of.about}", f"licence: {of.licence}"])
        for name, of in CORPORA.items()
    ]
    return "\n".join(_in_column(name, 14, of) for name, of in [*entries, ("local:FOLDER", [own])])


def list_variants() -> str:
    """Return an entry per variant: name, description, paper, sites, learned parameters."""
    gates = (
        f"sites: {', '.join(SITES)}, around any variant: model.gated_sites; one parameter per head"
    )
    blocks = [describe_variant(name) for name in (*VARIANTS, *installed())]
    described = import_module("repro.core.attention.gates").__doc__
    return "\n".join([*blocks, _variant_entry("(gates)", described, gates)])


def describe_variant(name: str) -> str:
    """Return the entry of a variant, which may be one of your own."""
    counts, refusal, described = {}, "", None
    try:
        described = imported(name).__doc__
        for site in SITES:
            try:
                counts[site] = _count_parameters(name, site)
            except InputError as error:
                refusal = str(error)
    # a mistake in a user's own file must not hide the other variants
    except Exception as error:
        is_ours = isinstance(error, InputError)
        refusal = (
            str(error)
            if is_ours
            else f"{VARIANTS.get(name, name)}: {type(error).__name__}: {error}"
        )
    shape = f"{NUM_LAYERS} layers, {EMBED_DIM} wide, {NUM_HEADS} heads"
    learned = (
        f"sites: {', '.join(counts)}; learned parameters in the weights of {shape}: "
        f"{max(counts.values(), default=0):,}"
    )
    return _variant_entry(name, described, learned if counts else f"cannot be built: {refusal}")


def describe_setting(setting: Listed) -> str:
    """Return the entry of a setting: its name, what it does, its type, its defaults."""
    return _in_column(setting.name, 24, [setting.what, f"{setting.kind}; {setting.defaults}"])


def heading(text: str) -> str:
    """Return a line above a list, broken to fit the terminal."""
    return "\n".join(textwrap.wrap(text, _terminal_width()))


def _variant_entry(name: str, described: str | None, last_line: str) -> str:
    """Return the entry of a variant.

    It is the first paragraph of its description, the second (the paper) if there is one, and a last
    line.
    """
    described = described or "no description: its file does not begin with one"
    paragraphs = [" ".join(part.split()) for part in described.strip().split("\n\n")[:2]]
    return _in_column(name, 14, [*paragraphs, last_line])


def _in_column(name: str, column: int, paragraphs: list[str]) -> str:
    """Put paragraphs into a column next to a name, no wider than the terminal."""
    width, indent = _terminal_width(), " " * (column + 2)
    first = f"  {name} ".ljust(len(indent))
    filled = [
        textwrap.wrap(text, width - len(indent), break_long_words=False, break_on_hyphens=False)
        for text in paragraphs
    ]
    return (first + f"\n{indent}".join(line for lines in filled for line in lines)).rstrip()


def _terminal_width() -> int:
    """Return the width of the terminal in columns, within `WIDTHS`."""
    least, most = WIDTHS
    return max(least, min(most, shutil.get_terminal_size((most, 0)).columns))


def _count_parameters(name: str, site: str) -> int:
    """Count the learned parameters in the weights of a stack.

    Raises:
        InputError: the variant is not defined there, or its file is not as it must be.
    """
    layers = build_weights(name, site, NUM_LAYERS, EMBED_DIM, NUM_HEADS, length_ratio=1.0)
    return sum(
        parameter.numel()
        for parameter in {p for weights in layers for p in weights.parameters() if p.requires_grad}
    )
