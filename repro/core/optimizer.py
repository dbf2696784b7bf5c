"""The optimiser: Adam, or Muon for the matrices inside the layers and Adam for the rest.

Adam has the constants of Vaswani et al. 2017, section 5.3, except for beta2. Muon (Jordan et al.
2024, https://kellerjordan.github.io/posts/muon/) replaces the update of a matrix by the nearest
orthogonal matrix: all singular values become about 1. So rare directions of the gradient move the
weights as far as frequent ones. `benchmarks/recipe.py` compares the two.

`torch.optim.Muon` computes in bf16, which rounds differently from machine to machine and is slow
on a CPU without instructions for it. This one computes in the precision of the parameters, all
matrices of a shape at once.
"""

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor, nn

from repro.core.config import TrainConfig
from repro.core.transformer import Transformer

GATE = "gate.log_alpha"  # suffix of the names of the parameters of head gates
MOMENTUM = 0.95
# Five steps of x <- a x + (b s + c s s) x, s = x x^T, bring singular values from 0.001 to 1 near 1.
ODD_POLYNOMIAL = (3.4445, -4.7750, 2.0315)
STEPS = 5


def make_optimizer(model: Transformer, config: TrainConfig) -> torch.optim.Adam:
    """Return the optimiser of a model; `apply_update` sets its rates."""
    matrices = _matrices(model) if config.optimizer == "muon" else set()
    groups: dict[str, list[nn.Parameter]] = defaultdict(list)
    for name, parameter in model.named_parameters():
        kind = "gates" if name.endswith(GATE) else "rest"
        groups["matrices" if id(parameter) in matrices else kind].append(parameter)
    rates = {
        "rest": 1.0,
        "gates": config.gate_rate,
        "matrices": config.matrix_rate / config.learning_rate,
    }
    return AdamAndMuon(
        [
            {"params": groups[kind], "rate": rate, "is_matrices": kind == "matrices"}
            for kind, rate in rates.items()
        ],
        lr=0.0,
        betas=(0.9, config.adam_beta2),
        eps=1e-9,
        fused=True,
    )


def _matrices(model: Transformer) -> set[int]:
    """Return the ids of the weights of linear maps inside the layers: no embeddings, no output."""
    maps = (module for module in model.modules() if isinstance(module, nn.Linear))
    return {id(linear.weight) for linear in maps if linear is not model.output}


class AdamAndMuon(torch.optim.Adam):
    """Adam, and Muon for the groups of parameters with `is_matrices`."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        for group in self.param_groups:
            if group["is_matrices"]:
                self._step_matrices(group["params"], group["lr"])
        return super().step(closure)

    def _step_matrices(self, matrices: list[nn.Parameter], lr: float) -> None:
        """Move matrices, and drop their gradients, so that Adam skips them."""
        by_shape: dict[torch.Size, list[tuple[nn.Parameter, Tensor]]] = defaultdict(list)
        for matrix in matrices:
            if matrix.grad is not None:
                by_shape[matrix.shape].append((matrix, matrix.grad))
        for (rows, columns), pairs in by_shape.items():
            alike, gradients = [matrix for matrix, _ in pairs], torch.stack([g for _, g in pairs])
            states = [self.state[matrix] for matrix in alike]
            before = [state.get("momentum", torch.zeros_like(alike[0])) for state in states]
            momenta = torch.stack(before).lerp(gradients, 1 - MOMENTUM)
            # Nesterov: the momentum of the next update, if it had the same gradient
            moves = orthogonalized(gradients.lerp(momenta, MOMENTUM))
            rate = lr * max(1, rows / columns) ** 0.5
            for matrix, state, momentum, move in zip(alike, states, momenta, moves, strict=True):
                state["momentum"] = momentum.clone()  # a view would keep the others alive
                state["step"] = state.get("step", torch.zeros(())) + 1  # Adam reads it on resuming
                matrix.add_(move, alpha=-rate)
                matrix.grad = None


def orthogonalized(matrices: Tensor) -> Tensor:
    """Return approximately the nearest orthogonal matrices, `(batch, rows, columns)`.

    They are U V^T for the singular value decomposition U S V^T, by Newton and Schulz's iteration
    with a polynomial of fifth degree. Singular values end between 0.7 and 1.2, except those below a
    thousandth of the norm. A matrix of zeros stays.
    """
    a, b, c = ODD_POLYNOMIAL
    x = matrices / (matrices.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    is_tall = x.shape[-2] > x.shape[-1]
    x = x.mT if is_tall else x
    for _ in range(STEPS):
        s = x @ x.mT
        x = a * x + (b * s + c * (s @ s)) @ x
    return x.mT if is_tall else x
