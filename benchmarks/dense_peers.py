"""The dense forward in torch, in every formulation that is known to be fast somewhere; the best one is the peer."""

from collections.abc import Mapping

import numpy as np

from benchmarks.harness import Call, race
from hardness.layer import MultiHeadAttention
from hardness.tokens import Words, unpack


def formulations(layer: MultiHeadAttention, X: np.ndarray) -> Mapping[str, Call]:
    """Calls that compute F(X), (n, k, d) float64, by torch; the parameters are laid out beforehand."""
    import torch

    (n, k, d), m = X.shape, layer.heads
    x, theta, w = torch.tensor(X, dtype=torch.float64), torch.tensor(layer.theta), torch.tensor(layer.w)
    thetas, ws = theta.permute(1, 0, 2).reshape(d, m * d).contiguous(), w.reshape(m * d, d)

    def queries() -> torch.Tensor:
        return (x.reshape(n * k, d) @ thetas).reshape(n, k, m, d).transpose(1, 2)

    def heads_at_once() -> torch.Tensor:
        patterns = torch.softmax(queries() @ x[:, None].transpose(-1, -2), -1)
        mixed = (patterns.reshape(n, m * k, k) @ x).reshape(n, m, k, d).transpose(1, 2)
        return (mixed.reshape(n * k, m * d) @ ws).reshape(n, k, d)

    def attention() -> torch.Tensor:
        keys = x[:, None].expand(n, m, k, d)
        mixed = torch.nn.functional.scaled_dot_product_attention(queries(), keys, keys, scale=1.0)
        return (mixed.transpose(1, 2).reshape(n * k, m * d) @ ws).reshape(n, k, d)

    def einsum() -> torch.Tensor:
        patterns = torch.softmax(torch.einsum("nad,mde,nbe->nmab", x, theta, x), -1)
        return torch.einsum("nmab,nbd,mde->nae", patterns, x, w)

    def head_by_head() -> torch.Tensor:
        out, columns = torch.zeros_like(x), x.transpose(1, 2)
        for i in range(m):
            out += torch.softmax(x @ theta[i] @ columns, -1) @ x @ w[i]
        return out

    calls = {
        "matmul": heads_at_once,
        "attention": attention,
        "einsum": einsum,
        "matmul by head": head_by_head,
    }
    return {name: torch.inference_mode()(call) for name, call in calls.items()}


def fastest(layer: MultiHeadAttention, words: Words, dim: int) -> tuple[str, Call]:
    """Name and call of the formulation that is fastest on packed examples (n, k, words), each checked."""
    X = unpack(words, dim)
    calls, expected = formulations(layer, X), layer(X)
    for name, call in calls.items():
        if not np.allclose(call().numpy(), expected, rtol=1e-9, atol=1e-9 * np.abs(layer.w).sum()):
            raise ArithmeticError(f"torch's {name} computes another function")
    name = race(calls, seconds=0.1, minimum=3).fastest(list(calls))
    return name, calls[name]
