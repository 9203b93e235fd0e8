"""Noisy parities of any weight: sums of colliding samples cancel coordinates, a transform finds the rest (LF2)."""

from collections.abc import Iterable
from math import inf, log, log2, sqrt
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Answer, Public, Recovery
from hardness.attacks.equations import Equations, hidden
from hardness.errors import InputError
from hardness.examples import Examples
from hardness.tokens import pack_bits

Integers = NDArray[np.int64]

FINAL_BITS = 26  # bits of the last transform, a table of 256 MiB
SURE = 20.0  # nats: a wrong secret is taken for the right one with probability at most e^-20


def collision_plan(n: int, rows: int, eta: float, budget: float = inf) -> tuple[int, int, float] | None:
    """Return (steps, bits a step, elementary steps) of LF2 on `rows` samples.

    The fewest steps that leave a signal and fit `budget`; None if no number of steps does.

    With b = log2(rows) - 1 bits a step there are about as many colliding pairs as there were rows; t steps leave noise
    of bias B = (1-2η)^{2^t}, and f = n - t b bits for the transform. It tells the right secret from 2^f others by the
    bar half way between their means, which each of them passes with probability at most e^{-rows B²/8} (Hoeffding):
    8 (ln 2^f + 5)/B² rows leave e^-5 for all of them (union bound).
    """
    if n > 63 or rows < 256:
        return None
    b = int(log2(rows)) - 1
    for steps in range(6):
        final = max(n - steps * b, 1)
        bias = (1 - 2 * eta) ** 2**steps
        if final <= FINAL_BITS and rows * bias**2 > 8 * (final * log(2) + 5):
            cost = rows * 40.0 * (steps + 1) + 2.0**final * final
            if cost <= budget:
                return steps, b, cost
    return None


def collide(equations: Equations, held_out: int, plan: tuple[int, int, float]) -> Answer:
    """Return a parity of any weight by LF2: cancel blocks by sums of colliding samples, transform the rest, repeat."""
    n, (steps, block, cost) = equations.n, plan
    # Later transforms cost no more than the plan.
    widest = max(n - steps * block, 1, min(FINAL_BITS, int(log2(cost)) - 5))
    w = np.zeros(n, dtype=np.int64)
    a = (equations.a[held_out:] & 1).astype(np.int64)
    label = equations.level[held_out:]
    unknown, rounds = np.arange(n), 0
    while len(unknown):
        rounds += 1
        values = _leading(label, a[:, unknown], block, widest)
        solved, unknown = unknown[: len(values)], unknown[len(values) :]
        w[solved] = values
        label = (label + a[:, solved] @ values) % 2
    return w, {"method": "collisions", "steps": steps, "bits": block, "rounds": rounds}


def _leading(label: Integers, a: Integers, block: int, widest: int) -> Integers:
    """Return the first coordinates of the parity, at most `widest`: the others are cancelled, `block` at a time."""
    from hardness.kernels.search import collisions, tally
    from hardness.kernels.walsh import walsh_hadamard

    # Rows as words: the label in bit 0, the coordinates above it, so that blocks are cancelled from the top.
    rows = pack_bits(np.column_stack((label, a)))[:, 0]
    width = a.shape[1]
    while width > widest:
        width -= block
        rows = collisions(np.sort(rows), max(width, 1) + 1, len(a))
    width = max(width, 1)
    table = np.zeros(1 << width, dtype=np.int32)
    tally(rows, table)
    walsh_hadamard(table)
    return int(np.argmax(table)) >> np.arange(width) & 1


def search_stream(chunks: Iterable[Examples], public: Public) -> Recovery:
    """Return the secret of a parity of n <= 26 bits, of any weight and noise, from examples that come in chunks.

    One Walsh-Hadamard transform correlates the labels with all 2^n parities at once; a chunk is counted and let go, so
    that memory is that of a table of 2^n integers, however many rows the noise takes: about 2 (ln 2^n + 20)/(1-2η)².
    Of R rows whose labels have nothing to do with it, a parity reaches |Σ ±1| >= √(2R (ln 2^n + 20)) with probability
    at most 2 e^-20/2^n (Hoeffding), so that a parity above it is the right one but for e^-19 (union bound); `budget`
    if none is.

    >>> from hardness.families.parity import Parity
    >>> from hardness.instance import Instance
    >>> instance = Instance.generate(Parity(dim=12, heads=5, flip=0.4), seed=0)
    >>> recovery = search_stream(instance.chunks(20_000, seed=1), instance.public(1))
    >>> recovery.secret == {"support": instance.secret["support"].tolist()}
    True
    """
    from hardness.kernels.search import tally
    from hardness.kernels.walsh import walsh_hadamard

    began, n = perf_counter(), int(public["dim"]) - 1
    known = hidden(public)
    if (known.q, known.p) != (2, 2) or n > FINAL_BITS:
        raise InputError(
            f"one transform finds parities of at most {FINAL_BITS} bits, got {public['family']} of {n}"
        )
    table, examples, rows = np.zeros(1 << n, dtype=np.int32), 0, 0
    for chunk in chunks:
        equations = known.equations(chunk.X, chunk.Y)
        tally(pack_bits(np.column_stack((equations.level, equations.a & 1)))[:, 0], table)
        examples, rows = examples + len(chunk), rows + len(equations)
    walsh_hadamard(table)
    best, bar = int(np.argmax(table)), sqrt(2 * rows * (n * log(2) + SURE))
    detail = {"method": "transform", "rows": rows, "peak": int(table[best]), "bar": round(bar, 1)}
    if table[best] < bar:
        return Recovery("budget", None, examples, perf_counter() - began, detail)
    secret = known.write(best >> np.arange(n) & 1)
    return Recovery("solved", secret, examples, perf_counter() - began, detail)
