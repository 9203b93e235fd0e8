"""The kernels at their smallest sizes, on n examples a call, beside their definitions in numpy, written for this
comparison, as references: what it costs to call compiled code. Random words are the 64-bit words from which features
are drawn, levels the whole numbers of which a label is a function. The one goal, at most 20 % slower than the
reference, is judged in every row, and is easy to meet.
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from scipy.linalg import hadamard

from benchmarks.harness import Call, Row, race, row, threads
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.gadgets.coefficients import Gadget
from hardness.instance import Instance
from hardness.kernels.gf2 import rref2
from hardness.kernels.walsh import walsh_hadamard
from hardness.layer import MultiHeadAttention
from hardness.tokens import TokenStream, Words, pack_bits, unpack

TOPIC = "9 Small sizes"


def rows() -> Iterator[Row]:
    with threads(1):
        for n in (1, 10, 100):
            yield _row(f"random words d=32 n={n}", *_words(n))
        for family, n in product((Parity(9, 3), Rounding(8, 17, 2)), (1, 10, 100)):
            yield _row(f"levels {family.name} d={family.dim} n={n}", *_levels(family, n))
        for m, k, d, n in product((1, 2, 8), (1, 2, 4), (3, 8, 16), (1, 10)):
            yield _row(f"dense forward m={m} k={k} d={d} n={n}", *_forward(m, k, d, n))
        for bits in range(1, 9):
            yield _row(f"walsh-hadamard 2^{bits}", *_transform(bits))
        for d in (2, 4, 8, 16, 32):
            yield _row(f"gf(2) elimination {d} x {d}", *_elimination(d))


def _row(case: str, ours: Call, plain: Call) -> Row:
    measured = row(TOPIC, case, 1, race({"ours": ours, "plain numpy": plain}, seconds=0.2), unit="call")
    return measured.judged(
        {"at most 20 % slower than plain numpy": bool(measured.ratio and measured.ratio >= 1 / 1.2)}
    )


def _checked(ours: Callable[[], np.ndarray], plain: Callable[[], np.ndarray]) -> tuple[Call, Call]:
    if not np.allclose(ours(), plain(), rtol=1e-12, atol=1e-12):
        raise ArithmeticError("the definition in numpy is of something else")
    return ours, plain


def _words(n: int) -> tuple[Call, Call]:
    stream, key = TokenStream(0, 2, 32), np.zeros(2, np.uint64)

    def plain() -> Words:
        return np.random.Philox(key=key).random_raw(2 * n).reshape(n, 2, 1) & np.uint64(2**32 - 1)

    return lambda: stream.packed(0, n), plain


def _levels(family: Parity | Rounding, n: int) -> tuple[Call, Call]:
    teacher, words = Instance.generate(family, 0).teacher, TokenStream(0, 2, family.dim).packed(0, n)
    assert isinstance(teacher, Gadget)
    weights = np.asarray(teacher.weights)

    def plain() -> np.ndarray:
        x = unpack(words, family.dim).astype(np.int64)
        z = (x[:, 0] - x[:, 1]) // 2
        return np.abs(z) @ weights if teacher.kind == "diag" else z[:, 0] * (z @ weights)

    used = words[:, 0, 0] % 2 != words[:, 1, 0] % 2  # elsewhere z_0 = 0, and the level has no meaning
    _checked(lambda: teacher.levels(words)[used], lambda: plain()[used])
    return lambda: teacher.levels(words), plain


def _forward(m: int, k: int, d: int, n: int) -> tuple[Call, Call]:
    rng = np.random.default_rng(0)
    layer, X = MultiHeadAttention(*rng.normal(size=(2, m, d, d)) / d), rng.choice([-1.0, 1.0], (n, k, d))

    def plain() -> np.ndarray:
        x = X[:, None]
        scores = x @ layer.theta @ x.transpose(0, 1, 3, 2)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return np.asarray((weights @ x @ layer.w).sum(axis=1))

    return _checked(lambda: layer(X), plain)


def _transform(bits: int) -> tuple[Call, Call]:
    H, f = hadamard(1 << bits).astype(np.float64), np.zeros(1 << bits)
    return lambda: walsh_hadamard(f), lambda: H @ f


def _elimination(d: int) -> tuple[Call, Call]:
    A = np.random.default_rng(d).integers(0, 2, (d, d), dtype=np.uint8)
    packed = pack_bits(A)

    def plain() -> np.ndarray:
        rest, rank = A.copy(), 0
        for column in range(d):
            (below,) = np.nonzero(rest[rank:, column])
            if below.size:
                rest[[rank, rank + below[0]]] = rest[[rank + below[0], rank]]
                others = np.flatnonzero(rest[:, column])
                rest[others[others != rank]] ^= rest[rank]
                rank += 1
        return rest

    def ours() -> np.ndarray:
        work = packed.copy()
        rref2(work, d)
        return work

    if not np.array_equal(ours(), pack_bits(plain())):
        raise ArithmeticError("the definition in numpy finds another echelon form")
    return ours, plain
