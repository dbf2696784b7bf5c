"""Check a search against training: a model must score its translations the same in both.

Search reads one token at a time with a cache; training reads all at once. Attention that depends on
later tokens, or on data missing from the cache, gives one model in training and another in search.
Its scores then belong to neither. Contract tests check this for a variant alone; here it is checked
for the scored model.
"""

import shlex
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from repro.core.attention.spec import parse_layers
from repro.core.batches import mark_source, pad
from repro.core.decoding import NEVER_GENERATED, Hypothesis, SearchConfig, Translator
from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID
from repro.core.transformer import Transformer
from repro.errors import InputError

SAMPLE = 16  # hypotheses that are scored again
# Tokens before and after the hypothesis that the decoder reads, and those around its targets.
MARKS: tuple[tuple[list[int], list[int]], ...] = ([BOS_ID], []), ([], [EOS_ID])
TOLERANCE = 0.01  # of a score, relative to it or to one; rounding is a thousand times smaller


@torch.inference_mode()
def check_search(
    translator: Translator,
    sentences: Sequence[str],
    hypotheses: Sequence[Hypothesis],
    search: SearchConfig,
    where: str,
) -> None:
    """Measure some translations again, all tokens at once, and compare with the search.

    Args:
        translator: the searching model.
        sentences: the sources.
        hypotheses: one for each source.
        search: the search options.
        where: the run, for the error.

    Raises:
        InputError: a score differs; the message names the site of the attention at fault.
    """
    model, marked = translator.model, translator.model.config.source_end_mark
    found = [
        index for index, (ids, score, _) in enumerate(hypotheses) if ids and score > float("-inf")
    ]
    found.sort(key=lambda index: len(hypotheses[index].ids))
    # Take hypotheses of all lengths, and the longest.
    some = [*found[:: max(1, len(found) // SAMPLE)][:SAMPLE], *found[-1:]]
    if not some:
        return
    src = [
        mark_source(ids, marked)
        for ids in translator.subwords.encode([sentences[index] for index in some])
    ]
    chosen = [hypotheses[index] for index in some]
    for source, (ids, score, _), log_prob in zip(
        src, chosen, _read_at_once(model, src, chosen), strict=True
    ):
        factor = float(search.rank(torch.ones(()), len(ids) + 1))
        if not abs(log_prob * factor - score) <= TOLERANCE * max(1.0, abs(score)):
            site = _site_that_differs(model, source, ids)
            what = (
                f"the model scores its own translation {log_prob:.1f} when read at once and "
                f"{score / factor:.1f} step by step: the variant at {site} depends on tokens that "
                "it is not given in a step"
            )
            layers = parse_layers(getattr(model.config, site), len(model.decoder))
            checks = [f"repro check {shlex.quote(name)}" for name in {*layers} - {"none"}]
            fix = f"see what is wrong with {', '.join(sorted(checks))}, and train the run again"
            raise InputError(where, what, fix)


def _read_at_once(
    model: Transformer, src: list[list[int]], hypotheses: list[Hypothesis]
) -> list[float]:
    """Measure the log-probability of each translation, as search counts it."""
    device = next(model.parameters()).device
    tgt_in, tgt_out = (
        pad([[*before, *ids, *after] for ids, _, _ in hypotheses]).to(device)
        for before, after in MARKS
    )
    logits = model(pad(src).to(device), tgt_in).float()
    logits[:, :, NEVER_GENERATED] = float("-inf")
    found = logits.log_softmax(-1).gather(2, tgt_out[:, :, None])[:, :, 0]
    return found.masked_fill(tgt_out == PAD_ID, 0.0).sum(dim=1).tolist()


def _site_that_differs(model: Transformer, source: list[int], ids: list[int]) -> str:
    """Return the site whose outputs differ between a search and a measurement at once."""
    places = {site: layers for site, layers in model.attentions().items() if site != "encoder_self"}
    order = [
        (site, layers[number])
        for number in range(len(model.decoder))
        for site, layers in places.items()
    ]
    modules = [(site, module) for site, module in order if module is not None]
    device = next(model.parameters()).device
    src, tokens = (torch.tensor([row], device=device) for row in (source, [BOS_ID, *ids]))
    whole = _outputs(model, src, [tokens], [module for _, module in modules])
    steps = _outputs(model, src, list(tokens.split(1, dim=1)), [module for _, module in modules])
    apart = [
        float((a - b).abs().max() / a.abs().max().clamp_min(1e-9))
        for a, b in zip(whole, steps, strict=True)
    ]
    return next(
        (site for (site, _), distance in zip(modules, apart, strict=True) if not distance <= 1e-3),
        "decoder_self",
    )


def _outputs(
    model: Transformer, src: Tensor, pieces: list[Tensor], modules: Sequence[nn.Module]
) -> list[Tensor]:
    """Return the outputs of modules, measured on a target in pieces as a search reads it."""
    seen: list[list[Tensor]] = [[] for _ in modules]
    hooks = [
        module.register_forward_hook(lambda _m, _i, out, kept=kept: kept.append(out))
        for module, kept in zip(modules, seen, strict=True)
    ]
    try:
        state = model.start(src)
        for piece in pieces:
            _, state = model.decode(state, piece)
    finally:
        for hook in hooks:
            hook.remove()
    return [torch.cat(outputs, dim=1) for outputs in seen]
