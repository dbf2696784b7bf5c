r"""Compute the relevance of heads by layer-wise relevance propagation (LRP), or by a gradient.

LRP goes from the predicted word back to every head; the gradient is a control.

Voita, Talbot, Moiseev, Sennrich, Titov: Analyzing Multi-Head Self-Attention, ACL 2019, section 4
and appendix A. https://arxiv.org/abs/1905.09418. LRP for translation: Ding et al., ACL 2017.
`alphabeta`: Bach et al. 2015, equation 60.

    r_u = sum of w_{u->v} r_v over v in OUT(u),
    w_{u->v} = z_uv / sum_u' z_u'v,    z_uv = W_uv u                             (appendix A.2)

    ratio_eps    w_{u->v} = z_uv / (y_v + eps sign y_v)
                 y_v the value of v, with its bias
    alphabeta    w_{u->v} = alpha z+_uv / (z+_v + eps) + beta z-_uv / (z-_v - eps)
                 z+_v, z-_v the sums of each sign

Paper -> here: r -> value times gradient in a `Replay`; z+_v, |z-_v| -> `positive`, `negative`. As
in the code that the authors released later, for another paper, eps is 1e-5 and alpha = beta = 0.5.
A head is its part of the input of `out_proj`, after gates and masks. Its relevance for a prediction
is the sum over its neurons. Its share is that divided by the sum over the layer. The result is the
mean share over predictions.

How it works. Relevance is linear in the relevance above it, like a gradient. A replay computes
every step y of the model as an equal expression in the step's inputs. It is built so that an input
times its gradient is the rule's share of y times its gradient. Automatic differentiation then
computes the sum over OUT(u). One backward pass per target position gives the relevance of
everything for it.

Steps: linear maps and residual sums by the rule; ReLU ignored (appendix A.2); attention and layer
norm as linear maps, see 1. The replay begins at the sums of embeddings and positions. Every neuron
passes on all relevance that it receives. The part that a bias or eps takes in the formulas goes to
the inputs, in proportion to |z_uv| (`ratio_eps`) or to their shares (`alphabeta`). So the relevance
of all inputs together is the logit. The exception is a neuron with only zero inputs: it keeps its
relevance.

Differs from the paper, or settles points that it leaves open:
1. The paper divides a product by the size of its factors, though they have no common unit. Here
   attention weights and the standard deviation of a layer norm are constants, and the other factor
   gets all relevance; queries and keys get none. The code takes Jacobians (for attention it has our
   rule as an option, `consider_attn_constant`). A layer norm's Jacobian maps its own input to zero,
   so `ratio_eps` would divide by zero. The Jacobian of attention needs more of a variant than its
   weights.
2. The code gives a bias to all inputs in equal parts, so that silent heads have relevance too; here
   they have none. The code rescales a whole layer to keep its relevance; here each neuron keeps
   its own.
3. The paper does not say whether shares are signed. `alphabeta` gives all neurons the sign of the
   logit; with `ratio_eps` heads share absolute values. A prediction for which a layer has no
   relevance is left out of that layer's mean.

`gradient_importance` is that of Michel, Levy, Neubig, NeurIPS 2019, section 4.1: I_h = E_x |d
loss(x) / d xi_h| at xi = 1.
"""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from repro.analysis.ablation import scaled_heads
from repro.analysis.reading import require_batches
from repro.analysis.weights import collect_weights
from repro.core.attention.multihead import MultiHeadAttention
from repro.core.batches import Batch
from repro.core.layers import Residual
from repro.core.transformer import Transformer
from repro.errors import InputError, did_you_mean

EPSILON = 1e-5
ALPHA = BETA = 0.5

HeadValues = dict[str, list[np.ndarray | None]]
"""One number per head, `(num_heads,)`, by site and layer; None where the sublayer is missing."""


def head_relevance(
    model: Transformer, batches: Iterable[Batch], rule: str = "ratio_eps"
) -> HeadValues:
    """Return the mean share of each head in the relevance of its layer for the top-1 logit.

    The mean is over all target positions without padding.

    Args:
        model: in evaluation mode.
        batches: read one by one, so that memory does not grow with their number. Targets may be
            the model's own translations, as in the paper, or references.
        rule: `ratio_eps` or `alphabeta`.

    Returns:
        Shares that sum to 1 in each layer (to 0 where no prediction depends on it).

    Raises:
        InputError: an unknown rule, no batch, or a model without heads.
    """
    if rule not in RULES:
        raise InputError("rule", f"unknown rule '{rule}'", did_you_mean(rule, RULES))
    totals = _HeadMeans(model)
    for batch in require_batches(batches):
        batch = batch.to(model.output.weight.device)
        replay = Replay(model, batch.src, batch.tgt_in, rule)
        for position, is_real in enumerate((batch.tgt_in != model.pad_id).T):  # is_real: (batch,)
            for place, relevance in replay.heads_at(position).items():
                sizes = relevance.abs()  # (batch, num_heads)
                whole = sizes.sum(dim=1, keepdim=True)
                counted = is_real & (whole[:, 0] > 0)
                totals.add(place, (sizes / whole)[counted].sum(dim=0), int(counted.sum()))
    return totals.means()


def gradient_importance(model: Transformer, batches: Iterable[Batch]) -> HeadValues:
    """Return the mean absolute gradient of the loss in a factor on each head, scaled by layer.

    The values of a layer are divided by their L2 norm. The loss of a sentence is minus its
    log-probability, in nats; the mean is over sentences. A masked head has importance 0.

    Args:
        model: in evaluation mode.
        batches: read one by one, and each sentence by itself, because absolute values are taken
            before the mean.

    Raises:
        InputError: no batch, or a model without heads.
    """
    totals = _HeadMeans(model)
    for batch in require_batches(batches):
        batch = batch.to(model.output.weight.device)
        for src, tgt_in, tgt_out in zip(batch.src, batch.tgt_in, batch.tgt_out, strict=True):
            src, is_real = src[src != model.pad_id], tgt_out != model.pad_id
            masks = {
                place: torch.ones(found.weights.num_heads, requires_grad=True)
                for place, found in _attentions_by_place(model).items()
            }
            with torch.enable_grad(), scaled_heads(model, masks):
                logits = model(src[None], tgt_in[None, is_real])[0]
                loss = F.cross_entropy(logits, tgt_out[is_real], reduction="sum")
                gradients = torch.autograd.grad(loss, list(masks.values()), materialize_grads=True)
            for place, gradient in zip(masks, gradients, strict=True):
                totals.add(place, gradient.abs(), 1)
    return {
        site: [
            None if layer is None else layer / (np.linalg.norm(layer) or 1.0) for layer in layers
        ]
        for site, layers in totals.means().items()
    }


def ratio_eps(output: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """Propagate relevance by the ratio rule: each contribution by its ratio to the whole.

    Args:
        output: the value y of a step, with its bias.
        positive: the sum of the positive contributions to each element of y, differentiable in the
            step's inputs. Same shape as `output`.
        negative: the sum of the absolute values of the negative contributions, likewise.
    """
    output, summed, absolute = output.detach(), positive - negative, positive + negative
    # 0 counts as positive, otherwise its relevance would vanish.
    stabilizer = EPSILON * torch.where(output < 0, -1.0, 1.0).to(output.dtype)
    # The relevance of bias and eps goes to the inputs in proportion to their size.
    rest = (output - summed.detach() + stabilizer) / _divisor(absolute)
    shared = (summed + rest * absolute) * output / (output + stabilizer)
    # A neuron with only zero inputs still has the value of its bias.
    return torch.where(absolute == 0, output, shared)


def alphabeta(output: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """Propagate relevance by the alpha-beta rule: positive and negative shares apart.

    See `ratio_eps`.
    """
    output = output.detach()
    shared = ALPHA * positive / (positive.detach() + EPSILON) + BETA * negative / (
        negative.detach() + EPSILON
    )
    # The sum is less than 1 where a sign is missing; the other sign then gets all.
    shared = torch.where(shared == 0, 1.0, shared / _divisor(shared))
    return shared * output


RULES = {"ratio_eps": ratio_eps, "alphabeta": alphabeta}


def _divisor(x: Tensor) -> Tensor:
    """Return `x` as a constant to divide relevance by, with 1 for 0."""
    return x.detach().masked_fill(x == 0, 1.0)


def _signed_parts(x: Tensor) -> tuple[Tensor, Tensor]:
    """Split contributions to relevance into positive ones and absolute negative ones."""
    return x.relu(), (-x).relu()


class Replay:
    """A forward pass with the model's values whose gradients give relevance.

    The relevance of a tensor for a prediction is its value times the gradient of the logit.

    Args:
        model: in evaluation mode.
        src: source ids, `(batch, src_len)`.
        tgt_in: target ids after the start mark, `(batch, tgt_len)`.
        rule: a name of `RULES`.

    Attributes:
        inputs: sums of embeddings and positions, of the source `(batch, src_len, embed_dim)` and of
            the target.
        heads: by (site, layer), the input of `out_proj`, `(batch, query_len, num_heads, head_dim)`.
        top_logits: the largest logit at each target position, `(batch, tgt_len)`.
    """

    def __init__(self, model: Transformer, src: Tensor, tgt_in: Tensor, rule: str) -> None:
        self.rule = RULES[rule]
        self.heads: dict[tuple[str, int], Tensor] = {}
        self.inputs, self._weights = _inputs_and_weights(model, src, tgt_in)
        with torch.enable_grad():
            encoded, x = (x.requires_grad_() for x in self.inputs)
            for number, layer in enumerate(model.encoder):
                encoded = self._attention(("encoder_self", number), layer.self_attention, encoded)
                encoded = self._feed_forward(layer.feed_forward, encoded)
            encoded = self.norm(model.encoder_norm, encoded)
            for number, layer in enumerate(model.decoder):
                x = self._attention(("decoder_self", number), layer.self_attention, x)
                x = self._attention(("cross", number), layer.cross_attention, x, encoded)
                x = self._feed_forward(layer.feed_forward, x)
            self.top_logits = self._top_logits(model.output, self.norm(model.decoder_norm, x))

    def relevance(self, position: int, tensors: list[Tensor]) -> list[Tensor]:
        """Return the relevance of each element of some tensors for the predictions at a position.

        Args:
            position: of the target, from 0.
            tensors: of this replay.
        """
        with torch.enable_grad():
            # Sentences of a batch are independent, so their sum has the gradients of each.
            top = self.top_logits[:, position].sum()
        gradients = torch.autograd.grad(top, tensors, retain_graph=True, materialize_grads=True)
        return [(x * gradient).detach() for x, gradient in zip(tensors, gradients, strict=True)]

    def heads_at(self, position: int) -> dict[tuple[str, int], Tensor]:
        """Return the relevance of every head at a target position, by (site, layer).

        Shape: `(batch, num_heads)`.
        """
        found = self.relevance(position, list(self.heads.values()))
        return {
            place: relevance.sum(dim=(1, 3))
            for place, relevance in zip(self.heads, found, strict=True)
        }

    def linear(self, module: nn.Linear, x: Tensor) -> Tensor:
        """Replay a linear map, for relevance."""
        (plus, minus), (up, down) = _signed_parts(x), _signed_parts(module.weight.detach().T)
        return self.rule(module(x), plus @ up + minus @ down, plus @ down + minus @ up)

    def norm(self, module: nn.LayerNorm | nn.Identity, x: Tensor) -> Tensor:
        """Apply a layer norm as a linear map: subtract the mean, multiply by constants."""
        if isinstance(module, nn.Identity):
            return x
        factor = module.weight * (x.var(dim=-1, correction=0, keepdim=True) + module.eps).rsqrt()
        (plus, minus), (up, down) = _signed_parts(x), _signed_parts(factor.detach())
        # The contributions to x minus its mean: the neuron's own value, and minus all values in
        # equal parts.
        higher = plus + (minus.sum(dim=-1, keepdim=True) - plus - minus) / x.shape[-1]
        lower = minus + (plus.sum(dim=-1, keepdim=True) - plus - minus) / x.shape[-1]
        return self.rule(module(x), higher * up + lower * down, higher * down + lower * up)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Replay the sum of two streams, for relevance."""
        (plus, minus), (up, down) = _signed_parts(x), _signed_parts(y)
        return self.rule(x + y, plus + up, minus + down)

    def attend(self, weights: Tensor, value: Tensor) -> Tensor:
        """Sum values with constant weights >= 0; shapes as in `AttentionWeights.attend`."""
        plus, minus = _signed_parts(value)
        return self.rule(weights @ value, weights @ plus, weights @ minus)

    def _attention(
        self,
        place: tuple[str, int],
        residual: Residual | None,
        x: Tensor,
        attended: Tensor | None = None,
    ) -> Tensor:
        """Compute a sublayer again with constant attention weights; `x` where it is missing."""
        if residual is None:
            return x
        attention, entered = residual.sublayer, self._enter(residual, x)
        value = self.linear(attention.value_proj, entered if attended is None else attended)
        # (batch, num_heads, key_len, head_dim)
        value = value.unflatten(-1, (attention.weights.num_heads, -1)).transpose(1, 2)
        heads = self.attend(self._weights[place].to(value.dtype), value)
        for factors in attention.factors():
            heads = heads * factors.detach().to(heads.dtype)[:, None, None]
        self.heads[place] = heads.transpose(1, 2)
        return self._leave(
            residual, x, self.linear(attention.out_proj, self.heads[place].flatten(2))
        )

    def _feed_forward(self, residual: Residual | None, x: Tensor) -> Tensor:
        """Compute a feed-forward sublayer again; `x` where it is missing."""
        if residual is None:
            return x
        inner = self._enter(residual, x)
        for module in residual.sublayer:  # a ReLU passes relevance on by its own gradient
            inner = self.linear(module, inner) if isinstance(module, nn.Linear) else module(inner)
        return self._leave(residual, x, inner)

    def _enter(self, residual: Residual, x: Tensor) -> Tensor:
        """Return the input of a sublayer, normalised before it in a pre-norm model."""
        return self.norm(residual.norm, x) if residual.pre else x

    def _leave(self, residual: Residual, x: Tensor, output: Tensor) -> Tensor:
        """Add the output of a sublayer, normalised after it in a post-norm model."""
        x = self.add(x, output)
        return x if residual.pre else self.norm(residual.norm, x)

    def _top_logits(self, output: nn.Linear, hidden: Tensor) -> Tensor:
        """Return the largest logit at each target position, by the rule."""
        with torch.no_grad():
            top = output(hidden).max(dim=-1)
        # (batch, tgt_len, embed_dim); the rest of the vocabulary is not needed.
        rows = output.weight.detach()[top.indices]
        plus, minus = _signed_parts(hidden * rows)
        return self.rule(top.values, plus.sum(dim=-1), minus.sum(dim=-1))


class _HeadMeans:
    """Running means of one number per head."""

    def __init__(self, model: Transformer) -> None:
        self._layers = {site: len(layers) for site, layers in model.attentions().items()}
        self._sums = {
            place: np.zeros(found.weights.num_heads)
            for place, found in _attentions_by_place(model).items()
        }
        self._counts = dict.fromkeys(self._sums, 0)
        if not self._sums:
            raise InputError("model", "it has no attention at any site", "use a model with heads")

    def add(self, place: tuple[str, int], summed: Tensor, count: int) -> None:
        """Add the summed values of the heads of a layer."""
        self._sums[place] += summed.double().cpu().numpy()
        self._counts[place] += count

    def means(self) -> HeadValues:
        """Return the mean values of the heads by site and layer."""
        means = {
            place: summed / max(1, self._counts[place]) for place, summed in self._sums.items()
        }
        return {
            site: [means.get((site, layer)) for layer in range(number)]
            for site, number in self._layers.items()
        }


def _attentions_by_place(model: Transformer) -> dict[tuple[str, int], MultiHeadAttention]:
    """Return the attention of the model by (site, layer)."""
    layers = (
        (site, number, found)
        for site, layers in model.attentions().items()
        for number, found in enumerate(layers)
    )
    return {(site, number): found for site, number, found in layers if found is not None}


def _inputs_and_weights(
    model: Transformer, src: Tensor, tgt_in: Tensor
) -> tuple[list[Tensor], dict[tuple[str, int], Tensor]]:
    """Return the inputs of the first encoder and decoder layer, and weights by (site, layer)."""
    seen: list[Tensor] = []
    first = (model.encoder[0], model.decoder[0])
    hooks = [
        layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0])) for layer in first
    ]
    try:
        sites = collect_weights(model, src, tgt_in)._asdict()
    finally:
        for hook in hooks:
            hook.remove()
    return seen, {
        (site, number): weights
        for site, layers in sites.items()
        for number, weights in enumerate(layers)
    }
