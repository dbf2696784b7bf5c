"""The fused output loss equals PyTorch's, value and gradients."""

import pytest
import torch
from torch.nn import functional as F

import repro.core.loss
from repro.core.loss import output_loss

TOKENS, EMBED_DIM, VOCAB = 11, 6, 17


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_rows", [1, 4, 100])
def test_value_and_gradients_are_those_of_cross_entropy(monkeypatch, smoothing, chunk_rows):
    monkeypatch.setattr(repro.core.loss, "CHUNK_NUMBERS", chunk_rows * VOCAB)
    hidden, weight = (
        torch.randn(TOKENS, EMBED_DIM, requires_grad=True),
        torch.randn(VOCAB, EMBED_DIM, requires_grad=True),
    )
    targets = torch.randint(VOCAB, (TOKENS,))
    expected = F.cross_entropy(
        hidden @ weight.T, targets, reduction="sum", label_smoothing=smoothing
    )
    expected_grads = torch.autograd.grad(3 * expected, [hidden, weight])
    loss, nll = output_loss(hidden, weight, targets, smoothing)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(nll, F.cross_entropy(hidden @ weight.T, targets, reduction="sum"))
    assert not nll.requires_grad
    for found, wanted in zip(
        torch.autograd.grad(3 * loss, [hidden, weight]), expected_grads, strict=True
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_under_autocast_the_scores_are_rounded_and_the_loss_of_them_is_not():
    hidden, weight = (
        torch.randn(TOKENS, EMBED_DIM, requires_grad=True),
        torch.randn(VOCAB, EMBED_DIM, requires_grad=True),
    )
    targets = torch.randint(VOCAB, (TOKENS,))
    expected = F.cross_entropy(
        (hidden.bfloat16() @ weight.bfloat16().T).float(),
        targets,
        reduction="sum",
        label_smoothing=0.1,
    )
    with torch.autocast("cpu", torch.bfloat16):
        loss, _ = output_loss(hidden, weight, targets, 0.1)
    torch.testing.assert_close(loss, expected)
    for found, wanted in zip(
        torch.autograd.grad(loss, [hidden, weight]),
        torch.autograd.grad(expected, [hidden, weight]),
        strict=True,
    ):
        torch.testing.assert_close(found, wanted, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("wanted", [(), (0,), (1,), (0, 1)])
def test_only_wanted_gradients_are_computed(monkeypatch, wanted):
    kept = []
    monkeypatch.setattr(
        torch.autograd.function.FunctionCtx,
        "save_for_backward",
        lambda _, *grads: kept.extend(grads),
    )
    hidden, weight = (
        torch.randn(n, EMBED_DIM, requires_grad=i in wanted) for i, n in enumerate((TOKENS, VOCAB))
    )
    loss, _ = output_loss(hidden, weight, torch.randint(VOCAB, (TOKENS,)))
    assert loss.requires_grad == bool(wanted) and [
        i for i, grad in enumerate(kept) if grad is not None
    ] == list(wanted)


def test_without_gradients_none_are_computed_for_parameters_either(monkeypatch):
    kept = []
    monkeypatch.setattr(
        torch.autograd.function.FunctionCtx,
        "save_for_backward",
        lambda _, *grads: kept.extend(grads),
    )
    parameters = (torch.nn.Parameter(torch.randn(n, EMBED_DIM)) for n in (TOKENS, VOCAB))
    with torch.no_grad():
        loss, _ = output_loss(*parameters, torch.randint(VOCAB, (TOKENS,)))
    assert not loss.requires_grad and kept == [None, None]
