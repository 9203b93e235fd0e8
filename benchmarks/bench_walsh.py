"""The Walsh-Hadamard transform of 2^b numbers, one thread, beside scipy's Hadamard matrix (to 2^12), a torch butterfly
(to 2^22) and pyfwht, which on the processor knows float64 alone and is given that beside our float32 as well:
those rows compare two types, of which the peer's has twice the bytes.

The yardstick, one pass in place, negates every number where it lies: it reads and writes all memory of the transform
once. Rounds are at least five, from 2^24 on at least three. To be no slower than the fastest peer is the goal of every
row; that of two passes is set at 2^24 alone.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import ceil, log2

import numpy as np

from benchmarks.harness import Call, Row, absent, optional, race, row, threads
from hardness.kernels.walsh import BLOCK, walsh_hadamard

TOPIC = "4 Walsh-Hadamard"
BITS = range(10, 27, 2)
SIDE = 512  # of the product that says how many sums a second there are
# Bits beyond which scipy's matrix and torch's butterfly take seconds and gigabytes
MATRIX, BUTTERFLY = 12, 22
WIDE = "pyfwht in float64"  # beside ours in float32


def rows() -> Iterator[Row]:
    yield from absent(TOPIC, {name: optional(name) for name in ("torch", "pyfwht")})
    for kind, bits in product((np.float32, np.float64), BITS):
        with threads(1):
            yield _row(kind, bits)


def _row(kind: type, bits: int) -> Row:
    f = np.zeros(1 << bits, kind)  # zeros stay zeros: as fast as any data, and never infinite
    a = np.ones((SIDE, SIDE), kind)
    yardstick: Call = lambda: np.negative(f, out=f)  # noqa: E731
    sums = race({"yardstick": yardstick, "sums": lambda: a @ a}, seconds=0.2).scaled(
        {"sums": f.size * bits / SIDE**3}
    )
    entrants: dict[str, Call] = {"ours": lambda: walsh_hadamard(f), "yardstick": yardstick}
    times = race(entrants | _peers(f.copy(), bits), seconds=0.5, minimum=5 if bits < 24 else 3)
    passes = 1 + ceil(log2(max(1, f.size // BLOCK)) / 3)  # the blocks, then three levels at a time
    measured = row(TOPIC, f"{np.dtype(kind)} 2^{bits}", 1, times, unit="transform")
    goals = {"no slower than the fastest peer": measured.ratio >= 1} if measured.ratio else {}
    if bits == 24:
        goals["2^24 <= 2x one pass over memory"] = measured.over_yardstick <= 2
    types = "ours in float32, the peer in float64" if measured.peer == WIDE else ""
    parts = (
        f"{bits} additions a number, at the rate of the multiply-adds of a large product, take "
        f"{sums.ratio('sums', 'yardstick')[0]:.2g} passes; memory is passed {passes} times"
    )
    return replace(measured, note=types).judged(
        goals, yardstick="one pass in place", miss="; ".join(filter(None, (types, parts)))
    )


def _peers(f: np.ndarray, bits: int) -> dict[str, Call]:
    """Peers of the type, and pyfwht, which on the processor has float64 alone; torch and scipy return a new array."""
    pyfwht, torch, peers = optional("pyfwht"), optional("torch"), {}
    if pyfwht:
        wide = f.astype(np.float64)
        name = "pyfwht" if f.dtype == np.float64 else WIDE
        peers[name] = lambda: pyfwht.transform(wide, pyfwht.Backend.CPU)
    if torch and bits <= BUTTERFLY:
        x = torch.from_numpy(f)

        def butterfly() -> torch.Tensor:
            y = x
            for level in range(bits):
                pairs = y.view(-1, 2, 1 << level)
                y = torch.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), 1)
            return y.view(-1)

        peers["torch butterfly"] = butterfly
    if bits <= MATRIX:
        from scipy.linalg import hadamard

        H = hadamard(1 << bits).astype(f.dtype)
        peers["scipy hadamard matrix"] = lambda: H @ f
    return peers
