"""Label-smoothed cross entropy over a large vocabulary, a chunk of tokens at a time.

The scores of all tokens are never held at once.

Label smoothing as in Vaswani et al. 2017, section 5.4, in the form of Szegedy et al. 2016. The
target distribution is (1 - smoothing) on the right token, plus smoothing spread evenly over the
whole vocabulary (PyTorch's `label_smoothing`).
"""

import torch
from torch import Tensor

# Scores held at once, 16 MB in float32. Smaller chunks cost time: each one adds to the gradient of
# the whole matrix.
CHUNK_NUMBERS = 4_000_000


class _OutputLoss(torch.autograd.Function):
    """Sum the losses of `softmax(hidden @ weight.T)` and compute their gradients in one pass.

    The gradient of the scores is softmax minus the target distribution, so the forward pass has it
    already. Keeping only its products with `weight` and `hidden` saves writing and reading a
    (tokens, vocab) matrix several times.
    """

    @staticmethod
    def forward(
        ctx, hidden: Tensor, weight: Tensor, targets: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        vocab, device = weight.shape[0], hidden.device.type
        loss = torch.zeros((), dtype=torch.float32, device=hidden.device)
        nll = torch.zeros_like(loss)
        hidden_grad, weight_grad = (
            torch.zeros_like(x) if ctx.needs_input_grad[i] else None
            for i, x in enumerate((hidden, weight))
        )
        rows = max(1, CHUNK_NUMBERS // vocab)
        dtype = (
            torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype
        )
        matrix = weight.to(dtype)  # under autocast, once for all chunks
        for start in range(0, len(hidden), rows):
            part, target = (
                hidden[start : start + rows].to(dtype),
                targets[start : start + rows, None],
            )
            log_probs = (part @ matrix.T).float().log_softmax(dim=-1)  # (rows, vocab)
            part_nll = -log_probs.gather(1, target).sum()
            nll += part_nll
            loss += (1 - smoothing) * part_nll - (
                smoothing / vocab * log_probs.sum() if smoothing else 0
            )
            if hidden_grad is not None or weight_grad is not None:
                score_grad = log_probs.exp_()
                score_grad -= smoothing / vocab
                score_grad.scatter_add_(1, target, score_grad.new_full(target.shape, smoothing - 1))
                score_grad = score_grad.to(dtype)
                if hidden_grad is not None:
                    hidden_grad[start : start + rows] = score_grad @ matrix
                if weight_grad is not None:
                    weight_grad += score_grad.T @ part
        ctx.save_for_backward(hidden_grad, weight_grad)
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx, loss_grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        return (
            *(
                None if grad is None else grad * loss_grad.to(grad.dtype)
                for grad in ctx.saved_tensors
            ),
            None,
            None,
        )


def output_loss(
    hidden: Tensor, weight: Tensor, targets: Tensor, smoothing: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return the summed label-smoothed loss and the summed negative log-likelihood, in nats.

    Training minimises the first.

    Args:
        hidden: decoder output at the tokens to predict, padding left out, `(tokens, embed_dim)`.
        weight: output matrix, `(vocab, embed_dim)`.
        targets: ids to predict, `(tokens,)`.
        smoothing: mass spread over the vocabulary.
    """
    if not torch.is_grad_enabled():  # a parameter asks for its gradient even then
        hidden, weight = hidden.detach(), weight.detach()
    return _OutputLoss.apply(hidden, weight, targets, smoothing)
