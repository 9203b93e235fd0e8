"""Examples of m heads in d features on two tokens, with labels by closed form, beside torch's dense forward of the same
layer. These are two algorithms: ours counts bits for one whole number an example, its level, of which the label is a
function; the forward multiplies by m matrices of d² entries. So a ratio is above all that of the two algorithms, not
of two programs for one, and it grows with m and d. Ours draws the inputs as well; torch is given them, on 128 to 512
examples, and its time is scaled to as many as ours makes.

Features are signs, 64 to a word of 64 bits: a packed example is the words of its two tokens. Parity and rounding are
families of layers: a label is a product of hidden features, or a sum mod q = 97 rounded to p = 2 values. Torch's
formulations are matmul, all heads in one product; attention, its scaled_dot_product_attention; einsum; and matmul by
head, a loop over heads. A short race before decides which is taken. From m d² = 2²² on, at d = 512 with m = 254, there
is no peer, as its weights alone would take a gigabyte.

The yardstick writes the words and the level of as many examples to memory, and nothing else. What a row says of random
words and of products comes from another race before, on as many threads: each was timed whole, beside all of ours, so
that a percentage is no share and may exceed the whole. The goal of 1000x is set for the smallest parity, that of 5e6 a
second for the row on one thread that has no peer, that of 3x the yardstick for all.
"""

from collections.abc import Iterator

import numpy as np
from numba import njit  # once it is loaded, examples are made by compiled loops

from benchmarks import dense_peers
from benchmarks.harness import Row, absent, optional, race, row, shared, threads
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance
from hardness.tokens import CHUNK, TokenStream, words_per_token

TOPIC = "1 Labels"
FEW = 1 << 14  # coordinates of a token, over all examples, for torch, which needs a thousand times as long
CHUNKS = 16
FAMILIES = [family for d in (32, 128, 512) for family in (Parity(d, 8), Rounding(d, 97, 2))]
LANES = 64
PRODUCTS = 19  # of 64 by 64 bits, each five of 32 by 32, in the ten rounds of a counter, which makes 4 words


@njit(nogil=True)
def multiply(x: np.ndarray, times: int) -> None:
    """Five products of 32 by 32 bits one after the other in every lane, `times` times."""
    for _ in range(times):
        for i in range(x.size):
            y = x[i]
            for _ in range(5):
                y = (y >> np.uint64(32)) * np.uint64(0xD2E7470E)
            x[i] = y


def rows() -> Iterator[Row]:
    torch = optional("torch")
    yield from absent(TOPIC, {"torch": torch})
    for family in FAMILIES:
        for count in (1, 2):
            with threads(count):
                yield _row(family, count, bool(torch))


def _row(family: Parity | Rounding, count: int, with_torch: bool) -> Row:
    instance, stream = Instance.generate(family, seed=0), TokenStream(1, 2, family.dim)
    examples = CHUNKS * CHUNK
    # Words and level of every example
    memory = np.empty((examples, 2 * words_per_token(family.dim) + 1), np.uint64)

    def make(part: int) -> None:
        for chunk in range(part, CHUNKS, count):
            instance.teacher.levels(stream.packed(chunk * CHUNK, CHUNK))

    def write(part: int) -> None:
        memory[part * examples // count : (part + 1) * examples // count] = part

    def words(part: int) -> None:
        for chunk in range(part, CHUNKS, count):
            stream.packed(chunk * CHUNK, CHUNK)

    lanes = np.ones((count, 4 * LANES), np.uint64)[:, :LANES]  # not in one another's cache lines
    size = CHUNK * 2 * words_per_token(family.dim)
    times = CHUNKS * size // 4 * PRODUCTS // (LANES * count)
    generators = [np.random.Philox(part) for part in range(count)]

    def numpys(part: int) -> None:
        for _ in range(part, CHUNKS, count):
            generators[part].random_raw(size)

    entrants = {"ours": shared(make, count), "yardstick": shared(write, count)}
    also = {"words": words, "numpy": numpys, "products": lambda part: multiply(lanes[part], times)}
    parts = race(entrants | {name: shared(work, count) for name, work in also.items()}, seconds=0.5)
    scales = {}
    if with_torch and instance.heads * family.dim**2 < 2**22:
        few = max(128, FEW // family.dim)
        name, call = dense_peers.fastest(instance.layer(), stream.packed(0, few), family.dim)
        entrants[f"torch {name}"], scales = call, {f"torch {name}": examples / few}
    times = race(entrants, seconds=2.0).scaled(scales)
    measured = row(
        TOPIC,
        f"{family.name} d={family.dim} m={instance.heads}",
        count,
        times,
        units=examples,
        unit="example",
    )
    goals = {"<= 3x writing to memory": measured.over_yardstick <= 3}
    if (family.dim, family.name) == (32, "parity") and measured.ratio:
        goals[">= 1000x torch"] = measured.ratio >= 1000
    if (family.dim, family.name, count) == (512, "rounding", 1):
        goals[">= 5e6 a second"] = measured.ours <= 2e-7
    return measured.judged(
        goals,
        yardstick="writing the words and the level to memory",
        miss=f"timed apart, random words take {parts.ratio('words', 'ours')[0]:.0%} of what ours takes (numpy takes "
        f"{parts.ratio('numpy', 'words')[0]:.2g}x as long for them), and the products of 32 by 32 bits in Philox "
        f"4x64-10 alone take {parts.ratio('products', 'yardstick')[0]:.2g}x writing to memory",
    )
