"""Steps of both students, through `partial_fit` on prepared examples, beside the same arithmetic in jax and torch.

The peers are programs that know nothing of the lab: forward, gradients and update of the same numbers of weights, in
float32 and with the same batches. Jax loops over batches inside the compiled program (`lax.scan`), as its users do;
torch is called once a batch.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.harness import Call, Row, compared, optional
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.tokens import unpack_bits
from learner.diagonal import Diagonal
from learner.student import Student

EXAMPLES, FEW = 1 << 14, 1 << 10
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def rows() -> Iterator[Row]:
    for d, heads, batch in ((64, 16, 64), (64, 256, 16)):
        yield from diagonal(d, heads, batch)
    for d, heads, batch in ((16, 16, 64),):
        yield from two_tokens(d, heads, batch)


def diagonal(d: int, heads: int, batch: int) -> Iterator[Row]:
    """Race the diagonal student: a batch has half as many informative rows, which alone are learned from."""
    part = Instance.generate(Parity(d, 4), 0).informative(EXAMPLES, 1)
    student = Diagonal(heads, batch=batch, random_state=0)
    signs = (1 - 2.0 * unpack_bits(part.X.words, d)).astype(np.float32)
    signs[:, 0] = 1
    labels = (part.Y - part.Y.mean()).astype(np.float32)
    size = batch // 2
    whole = len(labels) // size * size
    v, y = signs[:whole].reshape(-1, size, d), labels[:whole].reshape(-1, size)
    rng = np.random.default_rng(0)
    start = (
        (4 * rng.normal(size=(d, heads)) / d**0.5).astype(np.float32),
        (rng.normal(size=heads) / heads).astype(np.float32),
    )

    def loss(tanh, weights, v, y):
        b, c = weights
        return ((tanh(v @ b) @ c - y) ** 2).sum() / (2 * batch)

    calls: dict[str, Call] = {"ours": lambda: student.partial_fit(part.X, part.Y)}
    calls |= peers(loss, start, v, y, FEW // batch)
    units = {name: FEW // batch * batch if "torch" in name else whole // size * batch for name in calls}
    units["ours"] = EXAMPLES
    yield from compared(
        "Diagonal student, a step", f"d = {d}, {heads} heads, batch {batch}", "example", calls, units
    )


def two_tokens(d: int, heads: int, batch: int) -> Iterator[Row]:
    """Race the student on two tokens."""
    examples = Instance.generate(Parity(d, 2), 0).examples(EXAMPLES, 1)
    student = Student(heads, batch=batch, random_state=0)
    rng = np.random.default_rng(0)
    start = tuple((rng.normal(size=(d, heads * d)) / d).astype(np.float32) for _ in range(2))
    x = examples.X.astype(np.float32).reshape(-1, batch, 2, d)
    y = examples.Y.astype(np.float32).reshape(-1, batch, 2, d)

    def loss(tanh, weights, x, y):
        # Both rows share Θ_i z and z W_i: no more products than in ours (theory 1.1).
        a, b = weights
        z, s = (x[:, 0] - x[:, 1]) / 2, (x[:, 0] + x[:, 1]) / 2
        images = (z @ b).reshape(-1, heads, d)
        gates = tanh(((z @ a).reshape(-1, heads, d) @ x.swapaxes(1, 2)).swapaxes(1, 2))
        out = (s @ b.reshape(d, heads, d).sum(1))[:, None] + gates @ images
        return ((out - y) ** 2).sum() / (2 * batch)

    calls: dict[str, Call] = {"ours": lambda: student.partial_fit(examples.X, examples.Y)}
    calls |= peers(loss, start, x, y, FEW // batch)
    units = {name: FEW if "torch" in name else EXAMPLES for name in calls}
    yield from compared(
        "Two-token student, a step", f"d = {d}, {heads} heads, batch {batch}", "example", calls, units
    )


def peers(loss, start, x: np.ndarray, y: np.ndarray, few: int) -> dict[str, Call]:
    """Return calls that make a step of Adam for every batch of x and y (batches, size, …); torch for `few` of them."""
    calls: dict[str, Call] = {}
    if jax := optional("jax"):
        jnp = jax.numpy
        gradient = jax.grad(partial(loss, jnp.tanh))

        def step(state, batch):
            weights, first, second, made = state
            made = made + 1
            g = gradient(weights, *batch)
            first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, g)
            second = jax.tree.map(lambda s, g: BETA2 * s + (1 - BETA2) * g * g, second, g)
            rate = 1e-3 * jnp.sqrt(1 - BETA2**made) / (1 - BETA1**made)
            weights = jax.tree.map(
                lambda w, m, s: w - rate * m / (jnp.sqrt(s) + EPSILON), weights, first, second
            )
            return (weights, first, second, made), None

        train = jax.jit(lambda state, data: jax.lax.scan(step, state, data)[0])
        zeros = tuple(np.zeros_like(part) for part in start)
        state, data = (start, zeros, zeros, np.float32(0)), (jnp.asarray(x), jnp.asarray(y))
        calls["jax: jit, lax.scan"] = lambda: jax.block_until_ready(train(state, data))
    if torch := optional("torch"):
        torch.set_num_threads(1)
        weights = [torch.tensor(part).requires_grad_() for part in start]
        adam = torch.optim.Adam(weights, fused=True)
        batches = [(torch.from_numpy(x[i]), torch.from_numpy(y[i])) for i in range(few)]

        def epoch(compute):
            for batch in batches:
                adam.zero_grad()
                compute(weights, *batch).backward()
                adam.step()

        eager = partial(loss, torch.tanh)
        calls["torch: eager"] = partial(epoch, eager)
        calls["torch: compiled"] = partial(epoch, torch.compile(eager))
    return calls
