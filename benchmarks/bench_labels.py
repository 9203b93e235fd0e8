"""Labels of parities of 12 among 64 coordinates, a million examples, as users call them.

The lean form gives X as signs, 128 bytes an example, and column 0 of the labels; the packed form gives bits and levels
alone, as the four lines of numpy do. What numpy draws with SFC64 has no place for example i, as the lab's streams have.
"""

from collections.abc import Iterator

import numpy as np
from numba import njit  # noqa: F401  # once it is loaded, examples are made by compiled loops

from benchmarks.harness import Call, Row, compared, optional
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.tokens import CHUNK, TokenStream

DIM, HEADS, EXAMPLES, FEW = 64, 12, 10**6, 10**5
LEAN_CHUNK = CHUNK // 8  # it stays in the second-level cache, about 1 MB at d = 64


def rows() -> Iterator[Row]:
    instance = Instance.generate(Parity(DIM, HEADS), seed=0)
    stream, teacher = TokenStream(1, 2, DIM), instance.teacher
    support = instance.secret["support"]

    def lean() -> None:
        for start in range(0, EXAMPLES, LEAN_CHUNK):
            instance.examples(min(LEAN_CHUNK, EXAMPLES - start), 1, start, lean=True)

    def packed() -> None:
        for start in range(0, EXAMPLES, CHUNK):
            teacher.levels(stream.packed(start, min(CHUNK, EXAMPLES - start)))

    ours: dict[str, Call] = {
        "X and labels in chunks, lean": lean,
        "X and labels at once, lean": lambda: instance.examples(EXAMPLES, 1, lean=True),
        "informative rows": lambda: instance.informative(EXAMPLES, 1),
        "packed bits and levels": packed,
    }
    for case, call in ours.items():
        calls = {"ours": call} | peers(support)
        units = {name: FEW if name == "numpy: int8 signs, product" else EXAMPLES for name in calls}
        yield from compared("Labels, d = 64, m = 12", case, "example", calls, units)


def peers(support: np.ndarray) -> dict[str, Call]:
    """Return what others write: labels of uniform pairs of tokens."""
    source, rng = np.random.SFC64(0), np.random.default_rng(0)
    mask = np.bitwise_or.reduce(np.uint64(1) << support.astype(np.uint64))

    def bits() -> np.ndarray:
        words = source.random_raw(2 * EXAMPLES).reshape(EXAMPLES, 2)
        differ = words[:, 0] ^ words[:, 1]
        hidden = differ & mask
        return np.bitwise_count(hidden)

    def signs() -> np.ndarray:
        X = rng.integers(0, 2, (FEW, 2, DIM), dtype=np.int8) * 2 - 1
        return (X[:, 0, support] * X[:, 1, support]).prod(axis=1)

    calls: dict[str, Call] = {"numpy: bits, four lines": bits, "numpy: int8 signs, product": signs}
    if jax := optional("jax"):
        jax.config.update("jax_enable_x64", True)
        key = jax.random.key(0)

        @jax.jit
        def counted(key):
            words = jax.random.bits(key, (2, EXAMPLES), jax.numpy.uint64)
            return jax.numpy.bitwise_count((words[0] ^ words[1]) & mask)

        calls["jax: jit, bits"] = lambda: counted(key).block_until_ready()
    return calls
