"""The front page: a picture of two heads, and what each paper's attention changed, in one sentence.

Every number comes from the stored verdicts. The learned head comes from a model of the gallery.
"""

from pathlib import Path

import plotly.graph_objects as go
import torch

from repro.analysis.reading import read
from repro.analysis.weights import collect_weights, weights
from repro.claims.conditions import Verdict
from repro.papers.claims_page import address
from repro.papers.headlines import FINDINGS, cited
from repro.papers.verdicts import claims_of, load_verdicts, verdict_on
from repro.plots.description import describe
from repro.plots.maps import attention_maps
from repro.plots.still import picture
from repro.records.stored import VERDICTS
from repro.runs import gallery
from repro.runs.models import load_translator

PICTURE = Path("docs/heads.png")  # beside the folder of results
GUIDE = Path("docs/results.md")
SCALE = "multi30k"  # the one with real text at which all claims have been judged
MODEL, SENTENCE = "multi30k-base", "A man rides a red bicycle."
PICTURED = "Y-01"  # the claim that the picture is about


def front_page(folder: Path) -> tuple[str, bytes]:
    """Return the generated part of the front page as Markdown, and its picture as a PNG.

    Args:
        folder: of results. A claim without a verdict there is "not run".
    """
    stored = load_verdicts(folder, SCALE)
    shown, *verdicts = (verdict_on(claims_of(name)[0], stored) for name in (PICTURED, *FINDINGS))
    title = "Every head of self-attention replaced by such a Gaussian: "
    figure = two_heads().update_layout(title_text=title + effect(shown))
    sentences = [
        f"- [{cited(verdict.claim)[0]}]({cited(verdict.claim)[1].url}) {change}: "
        f"{effect(verdict, sign)} "
        f"([{verdict.claim}]({folder.name}/{VERDICTS}/{address(verdict.claim)}), "
        f"*{verdict.status}*)."
        for verdict, (change, sign) in zip(verdicts, FINDINGS.values(), strict=True)
    ]
    lines = [
        f"![{describe(figure.to_dict())}]({PICTURE})",
        "",
        "Measured with small models on Multi30k, image captions from English to German, as means",
        f"{_seeds([shown, *verdicts])}:",
        "",
        *sentences,
        "",
        "A claim is *reproduced* if the 95 % interval keeps to its bound, and *undecided* if the",
        f"bound is inside the interval. [All {len(claims_of())} claims, with intervals]({GUIDE}).",
    ]
    return "\n".join(lines), picture(figure)


def short_answer(folder: Path) -> str:
    """Say in two sentences how many papers' changes cost little, and which one cost most.

    Args:
        folder: of results, as of `front_page`.
    """
    stored = load_verdicts(folder, SCALE)
    gains = {}
    for name, (change, sign) in FINDINGS.items():
        if (gained := gain(verdict_on(claims_of(name)[0], stored), sign)) is not None:
            gains[change] = gained
    if not gains:
        return "Nothing has been measured yet."
    few = sum(gained > -1 for gained in gains.values())
    worst = min(gains, key=lambda change: gains[change])
    told = f"Of the {len(gains)} changes below, {few} cost less than one point of BLEU, or nothing."
    if gains[worst] < 0:
        told += f" What cost most, {-gains[worst]:.2f} points, was to {worst}."
    return told


def effect(verdict: Verdict, sign: int = 1) -> str:
    """Say on the front page what the first number of a verdict means for BLEU."""
    change = gain(verdict, sign)
    if change is None:
        return "no number of BLEU yet"
    return f"BLEU {'rises' if change > 0 else 'falls'} by {abs(change):.2f}"


def gain(verdict: Verdict, sign: int) -> float | None:
    """Return the first number of a verdict as a gain in BLEU; None without one."""
    found = verdict.conditions[0].found if verdict.conditions else None
    return None if found is None else sign * found.value


def two_heads() -> go.Figure:
    """Draw the picture of the front page: a Gaussian head, and the nearest learned one."""
    translator = load_translator(gallery.load(MODEL))
    reading = read(translator, SENTENCE)
    layers = collect_weights(translator.model, reading.src, reading.tgt_in).encoder_self
    learned = torch.cat(
        [layer for layer in layers if layer is not None]
    )  # (num_layers, num_heads, query_len, key_len)
    # the second head of You et al. looks at the next token
    gaussian = weights("gaussian", len(reading.source), num_heads=2)[1]  # (query_len, key_len)
    distances = (learned - gaussian).abs().mean(dim=(-1, -2))  # (num_layers, num_heads)
    layer, head = divmod(int(distances.argmin()), learned.shape[1])
    return attention_maps(
        [learned[layer, head].numpy(), gaussian.numpy()],
        [
            f"the nearest learned head: layer {layer + 1}, head {head + 1}",
            "a Gaussian at the next token",
        ],
        reading.source,
        reading.source,
    )


def _seeds(verdicts: list[Verdict]) -> str:
    """Say on the front page over how many seeds its numbers are means."""
    found = [v.conditions[0].found for v in verdicts if v.conditions]
    seeds = [n for estimate in found if estimate and estimate.seeds for n in estimate.seeds]
    return f"over {min(seeds)} to {max(seeds)} training seeds" if seeds else "over training seeds"
