"""By which power of a size times grow, beside the power by which operations do: least squares on the fastest round of
each size, with 95 % intervals of the fit, which suppose that the points lie on a straight line but for noise. The time
is that of the largest size. No goal is set here.
"""

from collections.abc import Callable, Iterator, Sequence
from math import comb

import numpy as np

from benchmarks.harness import Call, Row, exponent, race, threads
from hardness.families.concepts import ParityConcepts
from hardness.gadgets.coefficients import exact
from hardness.kernels.gf2 import rref2
from hardness.kernels.walsh import walsh_hadamard
from hardness.layer import MultiHeadAttention
from hardness.sq.game import play
from hardness.tokens import TokenStream, pack_bits

TOPIC = "8 Growth"
EXAMPLES = 1 << 14


def rows() -> Iterator[Row]:
    with threads(1):
        yield _fit("labels in d", 1.0, (128, 256, 512, 1024, 2048), _labels)
        yield _fit("dense forward in d", 2.0, (64, 96, 128, 192, 256), lambda d: _forward(2, d, 8))
        yield _fit("dense forward in m", 1.0, (2, 4, 8, 16, 32), lambda m: _forward(2, 64, m))
        yield _fit(
            "dense forward in examples", 1.0, (256, 512, 1024, 2048, 4096), lambda n: _forward(2, 32, 8, n)
        )
        yield _fit(
            "walsh-hadamard of 2^b numbers in b 2^b",
            1.0,
            (12, 14, 16, 18, 20),
            _transform,
            named="b",
            sizes=lambda b: 2.0**b * b,
        )
        # n² rows cleared, a row has n/64 words, and 32 columns go at a time.
        yield _fit("gf(2) elimination in columns", 3.0, (1024, 1448, 2048, 2896, 4096), _elimination)
        yield _fit(
            "characters game in concepts",
            1.0,
            (28, 34, 41, 50, 61),
            _game,
            named="n",
            sizes=lambda n: comb(n, 6),
        )


def _fit(
    case: str,
    theory: float,
    parameters: Sequence[int],
    make: Callable[[int], Call],
    named: str = "",
    sizes: Callable[[int], float] = float,
) -> Row:
    """The row of a log-log fit over the fastest round of each size: other processes only ever add.

    The parameters are those `named`, or else what the case ends with.
    """
    times = race({str(p): make(p) for p in parameters}, seconds=2.0)
    seconds = [float(times.seconds[str(p)].min()) for p in parameters]
    slope, low, high = exponent([sizes(p) for p in parameters], seconds)
    span = f"{named or case.rpartition(' ')[2]} = {parameters[0]} to {parameters[-1]}"
    note = (
        f"measured {slope:.2f} [{low:.2f}, {high:.2f}] over {span}; operations grow with exponent {theory:g}"
    )
    return Row(TOPIC, case, 1, "call", seconds[-1], note=note)


def _labels(d: int) -> Call:
    weights = [0] + [1] * (d - 1)
    teacher = exact("diag", weights, [0, 1, 2], [1, -1, 1], 8)
    stream = TokenStream(0, 2, d)
    return lambda: teacher.levels(stream.packed(0, EXAMPLES))


def _forward(k: int, d: int, m: int, n: int = 256) -> Call:
    rng = np.random.default_rng(0)
    layer, X = MultiHeadAttention(*rng.normal(size=(2, m, d, d)) / d), rng.choice([-1.0, 1.0], (n, k, d))
    return lambda: layer(X)


def _transform(bits: int) -> Call:
    f = np.zeros(1 << bits)
    return lambda: walsh_hadamard(f)


def _elimination(n: int) -> Call:
    packed = pack_bits(np.random.default_rng(n).integers(0, 2, (n + 9, n), dtype=np.uint8))
    return lambda: rref2(packed.copy(), n)


def _game(n: int) -> Call:
    return lambda: play(ParityConcepts(n, 6), "characters", "window", 0.05)
