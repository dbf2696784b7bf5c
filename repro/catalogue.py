"""What there is to choose from, told from the registry and the docstrings of the variants' files."""

from importlib import import_module

from repro.attention import VARIANTS, build_weights
from repro.errors import InputError
from repro.scales import SITES, SYSTEMS

EMBED_DIM, NUM_HEADS = 64, 4  # the shape of the smoke scale, for counting


def list_systems() -> str:
    """Return a line per system: its name and the attention at each site."""
    rows = [(name, ", ".join(f"{site}={changed.get(site, 'dot-product')}" for site in SITES)) for name, changed in SYSTEMS.items()]
    return "\n".join(f"  {name:<14}{sites}" for name, sites in rows)


def list_variants() -> str:
    """Return for every variant its name, paper, sites, what it is in a line, and its learned parameters per layer."""
    blocks = []
    for name, module in VARIANTS.items():
        summary, paper = import_module(module).__doc__.strip().split("\n\n")[:2]
        counts = {site: _count(name, site) for site in SITES}
        sites = ", ".join(site for site, count in counts.items() if count is not None)
        count = max(count for count in counts.values() if count is not None)
        blocks.append(
            f"  {name:<14}{' '.join(summary.split())}\n"
            f"  {'':<14}{' '.join(paper.split())}\n"
            f"  {'':<14}sites: {sites}; learned parameters in the weights of a layer {EMBED_DIM} wide with {NUM_HEADS} heads: {count:,}"
        )
    return "\n".join(blocks)


def _count(name: str, site: str) -> int | None:
    """Count the parameters of one layer's weights, or return None where the variant is not defined."""
    try:
        (weights,) = build_weights(name, site, 1, EMBED_DIM, NUM_HEADS)
    except InputError:
        return None
    return sum(parameter.numel() for parameter in weights.parameters())
