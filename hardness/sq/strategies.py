"""Statistical-query algorithms: which query to ask next, given the concepts that are still possible.

A strategy yields queries and is sent the concepts still possible after each answer; it never sees the secret. Concepts
are masks of sets (count,) uint64, rows of a listed class (count,), or secrets of rounding (count, n) int16.
"""

from collections.abc import Callable, Generator, Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import Concepts, ParityConcepts
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.bounds.batches import LARGEST_BATCH, batch_modes, batch_size, best_batch
from hardness.sq.bounds.floors import within
from hardness.sq.oracle import best_answer
from hardness.sq.queries import (
    LabelTable,
    LevelTable,
    Masks,
    Query,
    SignBatch,
    SpanFunction,
    Table,
    Values,
    character,
)

Elements = NDArray[Any]
Steps = Generator[Query, Elements, None]
Strategy = Callable[[Any, Any, float, Random], Steps]

IDLE_QUERIES = 8
TABLE_BITS = 24  # bits of the table that a query is
GRADIENT_BITS, PATIENCE = 20, 100  # of gradient queries; rounds of them that rule out nothing
# Of many sets this many are spread at a time, over the squared tolerance: a third of them is lost
CROWDED = 0.21
CLIPS = (0.0, 1.0)  # where a sum of characters is cut, in standard deviations; 0 is its sign
EVENING = 4  # rounds


# What all classes share


def until_idle(
    live: Any, ask: Callable[[Any, int], Iterable[Any]], patience: int = IDLE_QUERIES
) -> Generator[Any, Any]:
    """Yield the queries of rounds `ask(live, idle)` until `patience` rounds in a row have ruled out nothing.
    A round is an iterable of queries. `live` are the concepts still possible, sent in after each query; `idle` counts
    the rounds in a row so far that ruled out nothing."""
    idle = 0
    while idle < patience:
        before = len(live)
        for query in ask(live, idle):
            live = yield query
        idle = idle + 1 if len(live) == before else 0


def best_of(candidates: Callable[[Any, int], Iterable[Query]], live: Any, tolerance: float) -> Steps:
    """Yield, each time, the query of `candidates(live, idle)` that leaves fewest concepts against the oracle `window`.
    `live` are the concepts still possible, sent in after each query; `idle` counts queries in a row that change
    nothing."""

    def best(live: Any, idle: int) -> list[Query]:
        def kept(query: Query) -> int:
            means = query.means(live)
            return int(within(means, best_answer(means, tolerance), tolerance).sum())

        return [min(candidates(live, idle), key=kept)]

    return until_idle(live, best)


def half_negative(size: int) -> NDArray[np.int_]:
    """Return `size` signs, the first half of them -1, rounded down."""
    return np.where(np.arange(size) < size // 2, -1, 1)


def vote(concepts: Any, chosen: Elements, signs: NDArray[np.int_]) -> Query:
    """Return the query sign(sum_i signs_i f_i), f_i the labels of the `chosen` concepts, on a class of any kind.
    On rounding f_i(u, y) is +1 if secret i has level y at the public vector u, else -1."""
    match concepts.kind:
        case "parity":
            return SignBatch(chosen, signs)
        case "rounding":
            labels = concepts.label_table[chosen @ concepts.powers]  # (K, U)
            agree = np.where(labels[:, :, None] == np.arange(concepts.p), 1, -1)
            return LevelTable(concepts, np.sign(np.tensordot(signs, agree, 1)).astype(float))
        case _:
            total = signs @ concepts.table[chosen].astype(np.int32)
            return LabelTable(concepts, np.sign(total).astype(float))


def vote_batch(concepts: Any, live: Elements, tolerance: float, rng: Random) -> Steps:
    """Ask majorities of random possible concepts' labels, half of them negated; of several sizes the best one.
    Yields these queries. `live` are the concepts possible at first; those left are sent in after each query."""
    largest = batch_size(tolerance)

    def candidates(live: Elements, idle: int) -> list[Query]:
        sizes = sorted({min(size, len(live)) for size in (1, 3, largest // 4, largest // 2, largest)} - {0})
        return [vote(concepts, rng.choice(live, k, replace=False), half_negative(k)) for k in sizes]

    return best_of(candidates, live, tolerance)


def characters(concepts: Concepts, live: Elements, tolerance: float, rng: Random) -> Steps:
    """Ask the labels of one concept after another, from a random start; on parities these are single characters.
    Yields one query for each concept of `live`."""
    for element in np.roll(live, -int(rng.integers(len(live))), axis=0):
        yield vote(concepts, element[None], half_negative(1))


def random_order(concepts: Concepts, live: Elements, tolerance: float, rng: Random) -> Steps:
    """Ask the labels of one concept after another, in random order.
    Yields one query for each concept of `live`."""
    for element in rng.permutation(live):
        yield vote(concepts, element[None], half_negative(1))


# Parities


def low_degree(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Ask every monomial of degree 1 to max(1, s - 1), s being the size of the class's sets.
    Yields these queries, a baseline: below degree s every set of `live` gives mean 0, so that answers tell nothing."""
    for degree in range(1, max(1, concepts.s - 1) + 1):
        for chosen in combinations(range(concepts.n), degree):
            yield character(sum(1 << j for j in chosen))


def sign_batch(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Ask majorities of random sets' parities that are still possible, half of them negated (theory 2.5e).
    Yields these queries, on `batch_size` sets, at the end on fewer. `live` are the sets possible at first; those left
    are sent in after each query."""
    modes = batch_modes(tolerance, min(batch_size(tolerance), LARGEST_BATCH))
    return until_idle(
        live,
        lambda live, idle: [batch(live, best_batch(modes, modes.size - 1 - 2 * idle, len(live))[0], rng)],
    )


def batch(live: Masks, size: int, rng: Random) -> SignBatch:
    """Return the majority of `size` random parities of `live`, half of them negated (made odd, at most all of them)."""
    size = max(1, min(size, len(live)))
    size -= 1 - size % 2
    return SignBatch(rng.choice(live, size, replace=False), half_negative(size))


def bent(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Ask bent functions: each has mean ±2^-(r+1) under the sets of a block of 4^r, and 0 under all others.
    Yields these queries. r is the largest with 2^-(r+1) above twice the tolerance: no answer allows both a set of the
    block and one outside (theory 2.5e). The sets of a block hold one coordinate of each of the same 2r pairs {2i, 2i+1}
    and agree elsewhere. `live` are the sets possible at first; those left are sent in after each query."""
    rank = 0
    while 2.0 ** -(rank + 2) > 2 * tolerance:
        rank += 1
    split = np.bitwise_count(_split(live, concepts.n)).astype(int)
    asked: set[int] = set()
    # Largest blocks first: of the last one only the smaller side falls.
    for mask in live[np.lexsort((live, -split))].tolist():
        query = _block(mask, rank, concepts.n)
        if query.base not in asked:
            asked.add(query.base)
            live = yield query
    for mask in live:
        yield character(int(mask))


def _split(sets: Masks, n: int) -> Masks:
    """Return for each set the mask of pairs {2i, 2i+1} of which it holds exactly one; bit 2i stands for the pair."""
    low = np.uint64(sum(1 << j for j in range(0, n - 1, 2)))
    return np.asarray((sets & low) ^ (sets >> np.uint64(1) & low))


def _block(mask: int, rank: int, n: int) -> SpanFunction:
    """Return the bent query whose mean is not 0 under a block of sets: `mask` with coordinates swapped in pairs.
    Swapped are the first 2 `rank` of the pairs {2i, 2i+1} of which `mask` holds exactly one coordinate."""
    split = int(_split(np.array([mask], np.uint64), n)[0])
    pairs = [j for j in range(n) if split >> j & 1][: 2 * min(rank, split.bit_count() // 2)]
    for j in pairs:
        mask = mask & ~(3 << j) | 1 << j
    # The inner-product function by Kronecker products: its coefficients are all 2^-r in size, as bent functions' are.
    values = np.ones(1)
    for _ in range(len(pairs) // 2):
        values = np.kron(np.array([1.0, 1.0, 1.0, -1.0]), values)
    return SpanFunction(mask, np.array([3 << j for j in pairs], np.uint64), values)


def spread(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Ask, each time, what leaves fewest sets: a sign batch, or a query that gives every set a mean of its own.

    Yields these queries. A sign batch is a majority of parities, half of them negated. By Parseval k means fill a range
    of about 1/sqrt(k), so an answer at tolerance tau keeps a share of about tau sqrt(k) of the sets. Where `live`, the
    sets still possible, are too many for that, a random part is spread. Raises `InputError` for more than 24 bits.

    >>> from hardness.sq.game import play
    >>> [play(ParityConcepts(10, 3), "spread", "window", tau).queries for tau in (0.1, 0.02, 0.0002)]
    [20, 4, 2]
    """
    check_table(concepts)
    full, few = batch_size(tolerance), int(CROWDED / tolerance**2)
    modes = batch_modes(tolerance, min(full, LARGEST_BATCH))

    def candidates(live: Masks, idle: int) -> list[Query]:
        count = len(live)
        size = full if LARGEST_BATCH < full <= count else max(1, best_batch(modes, modes.size - 1, count)[0])
        chosen = rng.choice(live, size, replace=False)
        tables = [cut(character_sum(chosen, half_negative(size), concepts.n), 0.0)]
        if count <= 2 * few:
            tables += [_evened(live, concepts.n, clip, rng) for clip in CLIPS]
        elif few > 2:
            tables.append(_evened(rng.choice(live, few, replace=False), concepts.n, 0.0, rng))
        return [*map(Table, tables)]

    return best_of(candidates, live, tolerance)


def check_table(concepts: ParityConcepts, bits: int = TABLE_BITS) -> None:
    """Raise `InputError` for a class of more than `bits` bits n, since queries cannot be tables of 2^n values then."""
    if concepts.n > bits:
        raise InputError(f"tables of 2^n values are asked for n <= {bits}, not {concepts.n}; lower --dim")


def _evened(sets: Masks, n: int, clip: float, rng: Random) -> Values:
    """Return a query (2^n,) of evenly spaced means: a weighted sum of the sets' characters, cut at some size.
    The size is `clip` standard deviations (0: the sign is taken). Weights are adjusted until the means are even."""
    # Even steps are what a window of fixed length holds fewest of. Which set stands where does not matter: at random,
    # so that the adversary's keeping one end says nothing of the next query.
    aim = rng.permutation(np.linspace(-1.0, 1.0, len(sets)))
    weights = aim
    for _ in range(EVENING):
        values = cut(character_sum(sets, weights, n), clip * float(np.linalg.norm(weights)))
        means = coefficients(values, sets)
        # What a mean lacks of the aim, in the scale of the least squares fit means = c aim, is added to its weight.
        weights = weights + aim - means * (aim @ aim) / (means @ aim)
    return values


def character_sum(sets: Masks, weights: NDArray[Any], n: int) -> Values:
    """Return the weighted sum of the characters of some sets at every sign vector, (2^n,)."""
    values = np.zeros(1 << n)
    values[sets.astype(np.int64)] = weights
    walsh_hadamard(values)
    return values


def coefficients(values: Values, sets: Masks) -> Values:
    """Return 2^n times the Fourier coefficients (count,) of a table (2^n,) at some sets."""
    spectrum = values.copy()
    walsh_hadamard(spectrum)
    return np.asarray(spectrum[sets.astype(np.int64)])


def cut(values: Values, at: float) -> Values:
    """Return values divided by `at` and clipped to [-1, 1], or their signs if `at` is 0."""
    return np.clip(values / at, -1.0, 1.0) if at else np.sign(values)


def gradient(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Ask the coordinates of gradients of small random networks, times the label.
    Yields these queries. For a neuron max(0, <a, v> + b) on signs v they are v_j 1{<a, v> + b > 0}; for an attention
    head sigma(<w, u> - b), u = (1 - v)/2, they are u_j sigma', scaled to 1. `live` are the sets possible at first;
    those left are sent in after each query."""
    check_table(concepts, GRADIENT_BITS)
    n = concepts.n
    v = np.where(np.arange(1 << n) >> np.arange(n)[:, None] & 1, -1.0, 1.0)  # (n, 2^n)

    def coordinates(live: Masks, idle: int) -> list[Table]:
        a, b = rng.standard_normal(n), rng.standard_normal()
        w, c = 4 * rng.standard_normal(n), rng.standard_normal()
        neuron = v * (a @ v + b > 0)
        head = (1 - v) / 2 * (1 / np.cosh((c - w @ v / 2) / 2) ** 2)
        return [Table(student[j]) for j in range(n) for student in (neuron, head)]

    return until_idle(live, coordinates, PATIENCE)


# The strategies by the kind of a class and by name
STRATEGIES: dict[str, dict[str, Strategy]] = {
    "parity": {
        "characters": characters,
        "random": random_order,
        "low-degree": low_degree,
        "sign-batch": sign_batch,
        "bent": bent,
        "spread": spread,
        "gradient": gradient,
    },
    "rounding": {"characters": characters, "random": random_order, "sign-batch": vote_batch},
    "listed": {"characters": characters, "random": random_order, "sign-batch": vote_batch},
}
