"""The dense forward in float64, of random layers of m heads on k tokens of d features.

The lab takes scores against differences of tokens, which a good user of torch can do too: that formulation is raced.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Call, Row, compared, optional
from hardness.layer import MultiHeadAttention
from hardness.tokens import TokenStream, unpack

CELLS = [(8, 2, 32, 1024), (4, 8, 64, 256)]  # m, k, d and examples


def rows() -> Iterator[Row]:
    for m, k, d, n in CELLS:
        rng = np.random.default_rng([k, d, m])
        layer = MultiHeadAttention(rng.normal(0, 2**0.5 / d, (m, d, d)), rng.normal(0, d**-0.5, (m, d, d)))
        X = unpack(TokenStream(0, k, d).packed(0, n), d).astype(np.float64)
        calls = {"ours": lambda layer=layer, X=X: layer(X)} | torchs(layer, X) | jaxs(layer, X)
        expected = layer(X)
        for name, call in calls.items():
            if not np.allclose(np.asarray(call()), expected, rtol=1e-9, atol=1e-9 * np.abs(layer.w).sum()):
                raise ArithmeticError(f"{name} computes another function")
        yield from compared(
            "Dense forward, float64", f"m = {m}, k = {k}, d = {d}", "example", calls, dict.fromkeys(calls, n)
        )


def torchs(layer: MultiHeadAttention, X: np.ndarray) -> dict[str, Call]:
    """Return formulations in torch; the parameters are laid out beforehand."""
    torch = optional("torch")
    if torch is None:
        return {}
    torch.set_num_threads(1)
    (n, k, d), m = X.shape, layer.heads
    x, theta, w = torch.from_numpy(X), torch.tensor(layer.theta), torch.tensor(layer.w)
    thetas, ws = theta.permute(1, 0, 2).reshape(d, m * d).contiguous(), w.reshape(m * d, d)

    def out(mixed):
        return mixed.transpose(1, 2).reshape(n * k, m * d) @ ws

    def queries():
        return (x.reshape(n * k, d) @ thetas).reshape(n, k, m, d).transpose(1, 2)

    def by_head():
        total, columns = torch.zeros_like(x), x.transpose(1, 2)
        for i in range(m):
            total += torch.softmax(x @ theta[i] @ columns, -1) @ x @ w[i]
        return total

    def attention():
        keys = x[:, None].expand(n, m, k, d)
        mixed = torch.nn.functional.scaled_dot_product_attention(queries(), keys, keys, scale=1.0)
        return out(mixed).reshape(n, k, d)

    def differences():
        apart = x[:, None, :-1] - x[:, None, -1:]
        scores = queries() @ apart.transpose(-1, -2)
        shares = torch.softmax(torch.nn.functional.pad(scores, (0, 1)), -1)[..., :-1]
        last = x[:, -1] @ w.sum(0)
        return out(shares @ apart).reshape(n, k, d) + last[:, None]

    calls = {
        "matmul by head": by_head,
        "attention": attention,
        "differences": differences,
        "differences, compiled": torch.compile(differences),
    }
    return {f"torch: {name}": torch.no_grad()(call) for name, call in calls.items()}


def jaxs(layer: MultiHeadAttention, X: np.ndarray) -> dict[str, Call]:
    """Return the definition in jax, compiled."""
    jax = optional("jax")
    if jax is None:
        return {}
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    x, theta, w = (jnp.asarray(array) for array in (X, layer.theta, layer.w))

    @jax.jit
    def forward(x, theta, w):
        patterns = jax.nn.softmax(jnp.einsum("nad,mde,nbe->nmab", x, theta, x), -1)
        return jnp.einsum("nmab,nbd,mde->nae", patterns, x, w)

    return {"jax: jit, einsum": lambda: forward(x, theta, w).block_until_ready()}
