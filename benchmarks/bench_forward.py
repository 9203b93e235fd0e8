"""The dense forward in float64, of random layers of m heads on k tokens of d features, beside the fastest of four
formulations in torch: matmul, all heads in one product; attention, its scaled_dot_product_attention; einsum; matmul by
head, a loop over heads. A short race before decides which is the peer.

The yardstick is its products: 2 (k − 1) m d² multiply-adds an example, at the rate at which one product of two 512 by
512 matrices is made. The goal of 4x is set for k = 2, d = 32, m = 8 alone, the lower one of 1.5x for all others.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks import dense_peers
from benchmarks.harness import Row, absent, optional, race, row, shared, threads
from hardness.layer import MultiHeadAttention
from hardness.tokens import TokenStream, unpack

TOPIC = "2 Dense forward"
CELLS = list(product((2, 4, 8), (8, 32, 64), (2, 8, 16)))
PRODUCT = 512


def rows() -> Iterator[Row]:
    torch = optional("torch")
    yield from absent(TOPIC, {"torch": torch})
    for (k, d, m), count in product(CELLS, (1, 2)):
        with threads(count):
            yield _row(k, d, m, count, bool(torch))


def _row(k: int, d: int, m: int, count: int, with_torch: bool) -> Row:
    rng = np.random.default_rng([k, d, m])
    layer = MultiHeadAttention(rng.normal(0, 2**0.5 / d, (m, d, d)), rng.normal(0, d**-0.5, (m, d, d)))
    n = max(256, min(1 << 13, (1 << 26) // (k * m * d * d)))
    words = TokenStream(0, k, d).packed(0, n)
    X = unpack(words, d).astype(np.float64)
    a = rng.random((PRODUCT, PRODUCT))
    parts = np.array_split(X, count)
    entrants = {
        "ours": shared(lambda part: layer(parts[part]), count),
        "yardstick": shared(lambda _: a @ a, count),
    }
    if with_torch:
        name, call = dense_peers.fastest(layer, words, d)
        entrants[f"torch {name}"] = call
    # The yardstick is two products of (k - 1) n rows with all heads, at the rate of one large product.
    flops = 4 * n * (k - 1) * m * d * d
    times = race(entrants, seconds=0.4).scaled({"yardstick": flops / (2 * count * PRODUCT**3)})
    measured = row(TOPIC, f"k={k} d={d} m={m}", count, times, units=n, unit="example")
    goal = 4 if (k, d, m) == (2, 32, 8) else 1.5
    goals = {f">= {goal}x torch": measured.ratio >= goal} if measured.ratio else {}
    return measured.judged(
        goals,
        yardstick=f"its products at the rate of one of {PRODUCT} by {PRODUCT} matrices",
        miss="products are most of both",
    )
