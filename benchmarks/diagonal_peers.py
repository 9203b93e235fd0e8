"""The diagonal student's step in torch, eager and compiled, by automatic differentiation and by hand."""

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.student_peers import BETA1, BETA2, EPSILON

Step = Callable[[np.ndarray, np.ndarray], float]


def steps(weights: np.ndarray, rate: float, batch: int) -> Mapping[str, Step]:
    """Functions of the informative rows of a batch, signs (n, d) and labels (n,) float32, that make a step of Adam and
    return the sum of squared errors.

    Each has weights of its own, which start from `weights` (d + 1, M), those of signs: b, t and c.
    """
    import torch

    def start() -> list[torch.Tensor]:
        return [torch.tensor(part, dtype=torch.float32) for part in (weights[:-1], weights[-1])]

    def loss(t: torch.Tensor, c: torch.Tensor, v: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (torch.tanh(v @ t) @ c - y).square().sum() / (2 * batch)

    def automatic(compute: Callable[..., torch.Tensor]) -> Step:
        parts = [part.requires_grad_() for part in start()]
        adam = torch.optim.Adam(parts, lr=rate, fused=True)

        def step(v: np.ndarray, y: np.ndarray) -> float:
            adam.zero_grad()
            value = compute(*parts, torch.from_numpy(v), torch.from_numpy(y))
            value.backward()
            adam.step()
            return 2 * batch * float(value.detach())

        return step

    def update(
        state: list[torch.Tensor], v: torch.Tensor, y: torch.Tensor, corrections: torch.Tensor
    ) -> torch.Tensor:
        t, c, *moments = state
        h = torch.tanh(v @ t)
        error = h @ c - y
        g = error / batch
        by_t = v.T @ (g[:, None] * c * (1 - h * h))
        for weight, gradient, first, second in ((t, by_t, *moments[:2]), (c, g @ h, *moments[2:])):
            first.lerp_(gradient, 1 - BETA1)
            second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            weight.sub_(corrections[0] * first / (second.sqrt() + corrections[1]))
        return error.square().sum()

    def by_hand(compute: Callable[..., torch.Tensor]) -> Step:
        t, c = start()
        state, made = [t, c, *(torch.zeros_like(part) for part in (t, t, c, c))], 0

        def step(v: np.ndarray, y: np.ndarray) -> float:
            nonlocal made
            made += 1
            root = (1 - BETA2**made) ** 0.5
            corrections = torch.tensor([rate * root / (1 - BETA1**made), EPSILON * root])
            return float(compute(state, torch.from_numpy(v), torch.from_numpy(y), corrections))

        return torch.no_grad()(step)

    return {
        "torch eager": automatic(loss),
        "torch eager, gradients by hand": by_hand(update),
        "torch compiled": automatic(torch.compile(loss)),
        "torch compiled, gradients by hand": by_hand(torch.compile(update)),
    }
