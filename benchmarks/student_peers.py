"""The student's step on two tokens in torch, eager and compiled, by automatic differentiation and by hand."""

from collections.abc import Callable, Mapping

import numpy as np

RATE, BETA1, BETA2, EPSILON = 3e-3, 0.9, 0.999, 1e-8
Step = Callable[[np.ndarray, np.ndarray], float]


def steps(theta: np.ndarray, w: np.ndarray) -> Mapping[str, Step]:
    """Functions of a batch of tokens and targets (n, 2, d) float32 that make a step and return the squared error.

    Each has weights of its own, which start from `theta` and `w` (M, d, d). All use that both rows share Θ_i z and
    z W_i, so that no peer does more products than ours.
    """
    import torch

    m, d, _ = theta.shape
    start = [theta.transpose(2, 0, 1).reshape(d, m * d), w.transpose(1, 0, 2).reshape(d, m * d)]

    def weights() -> list[torch.Tensor]:
        return [torch.tensor(np.ascontiguousarray(a, dtype=np.float32)) for a in start]

    def forward(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        z, s = (x[:, 0] - x[:, 1]) / 2, (x[:, 0] + x[:, 1]) / 2
        t = torch.tanh(torch.bmm(x, (z @ a).reshape(-1, m, d).transpose(1, 2)))
        images = (z @ b).reshape(-1, m, d)
        return (s @ b.reshape(d, m, d).sum(1))[:, None] + torch.bmm(t, images), z, s, t, images

    def loss(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return ((forward(a, b, x)[0] - y) ** 2).sum() / (2 * len(x))

    def automatic(compute: Callable[..., torch.Tensor]) -> Step:
        parameters = [each.requires_grad_() for each in weights()]
        adam = torch.optim.Adam(parameters, lr=RATE, fused=True)

        def step(x: np.ndarray, y: np.ndarray) -> float:
            adam.zero_grad()
            value = compute(*parameters, torch.from_numpy(x), torch.from_numpy(y))
            value.backward()
            adam.step()
            return 2 * float(value.detach())

        return step

    def update(
        state: list[torch.Tensor], x: torch.Tensor, y: torch.Tensor, corrections: torch.Tensor
    ) -> torch.Tensor:
        a, b, *moments = state
        out, z, s, t, images = forward(a, b, x)
        g = (out - y) / len(x)
        by_score = torch.bmm(g, images.transpose(1, 2)) * (1 - t * t)
        by_a = z.T @ torch.bmm(by_score.transpose(1, 2), x).reshape(-1, m * d)
        by_b = z.T @ torch.bmm(t.transpose(1, 2), g).reshape(-1, m * d)
        by_b = (by_b.reshape(d, m, d) + (s.T @ g.sum(1))[:, None]).reshape(d, m * d)
        for weight, gradient, first, second in ((a, by_a, *moments[:2]), (b, by_b, *moments[2:])):
            first.lerp_(gradient, 1 - BETA1)
            second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            weight.sub_(corrections[0] * first / (second.sqrt() + corrections[1]))
        return g.square().sum() * len(x)

    def by_hand(compute: Callable[..., torch.Tensor]) -> Step:
        state, made = [*weights(), *(torch.zeros(d, m * d) for _ in range(4))], 0

        def step(x: np.ndarray, y: np.ndarray) -> float:
            nonlocal made
            made += 1
            root = (1 - BETA2**made) ** 0.5
            corrections = torch.tensor([RATE * root / (1 - BETA1**made), EPSILON * root])
            return float(compute(state, torch.from_numpy(x), torch.from_numpy(y), corrections))

        return torch.no_grad()(step)

    return {
        "torch eager": automatic(loss),
        "torch eager, gradients by hand": by_hand(update),
        "torch compiled": automatic(torch.compile(loss)),
        "torch compiled, gradients by hand": by_hand(torch.compile(update)),
    }
