"""Statistical-query algorithms: which query to ask next, given the concepts still possible."""

from collections.abc import Callable, Generator
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, pi

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.concepts import ParityConcepts
from hardness.errors import InputError
from hardness.sq.oracle import best_answer, within
from hardness.sq.queries import Query, SignBatch, SpanFunction, Table, character

# A strategy yields queries and is sent the sets still possible (uint64 masks) after each answer; it ends when
# it has nothing more to ask. It never sees the secret.
Masks = NDArray[np.uint64]
Steps = Generator[Query, Masks, None]
Strategy = Callable[[ParityConcepts, Masks, float, Random], Steps]
PATIENCE = 8
LARGEST_BATCH = 4095


def batch_size(tolerance: float) -> int:
    """Largest odd K whose sign batch moves each member: C(K-1, (K-1)/2) 2^-K > tau (theory 2.5e); at least 1.

    >>> [batch_size(t) for t in (0.25, 0.2, 0.1, 0.05, 0.03)]
    [1, 3, 15, 63, 177]
    """
    if tolerance < 0.01:
        # C(2k, k)/4^k = (1 - 1/(8k) + ...)/sqrt(pi k): exact but for ties closer than 1/k.
        return 2 * ceil(1 / (4 * pi * tolerance**2) - 0.25) - 1
    size, a = 1, 0.5
    while a * size / (size + 1) > tolerance:
        a *= size / (size + 1)
        size += 2
    return size


def majority_mean(size: int) -> float:
    """C(K-1, (K-1)/2) 2^-K: the mean of a member of a sign batch of K independent sets.

    >>> majority_mean(3)
    0.25
    """
    return float(comb(size - 1, (size - 1) // 2) / 2**size)


def batch_modes(tolerance: float, rank: int) -> NDArray[np.int64]:
    """What the window adversary does to a sign batch of K <= rank independent sets: array (rank+1,) over K.

    For sets independent over GF(2) their characters are K independent fair bits, so sign(sum eps_i chi_i) is
    a majority. Its mean on member i is eps_i a with a = C(K-1,(K-1)/2) 2^-K; on the xor of j members it is 0
    (j even), at most a/(K-2) in size (odd j in 3..K-2, a ratio of binomials), +-a (j = K); on every other set
    0. Hence:

    1. a > tau and a + a/(K-2) <= 2 tau: no window holds both signs of a, and [a - 2 tau, a] holds everything
       except -a; so the best window loses exactly the smaller sign class, (K-1)/2 members.
    2. a - a/(K-2) > 2 tau and a/(K-2) <= tau: [-tau, tau] holds everything but the members, and a window with
    a
       member holds none of the rest; the largest of the three classes survives.
    0. Otherwise the small means would have to be known; such K are not used.
    (No small means exist for K <= 3. The caller keeps the xor of all K out of the class.)

    >>> batch_modes(0.1, 17).tolist()
    [0, 2, 0, 2, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0]
    """
    modes = np.zeros(rank + 1, np.int64)
    tau, a = Fraction(tolerance), Fraction(1, 2)
    for size in range(1, rank + 1, 2):
        small = a / (size - 2) if size >= 5 else Fraction(0)
        if tau < a and a + small <= 2 * tau:
            modes[size] = 1
        elif a - small > 2 * tau and small <= tau:
            modes[size] = 2
        a *= Fraction(size, size + 1)
    return modes


def batch_queries(concepts: int, tolerance: float) -> int | None:
    """Queries against the window adversary if every sign batch loses what `batch_modes` says: end game included.

    The floor of theory 2.5e, (N - 1)/floor(K/2), leaves the end game out: fewer than K live concepts are halved, later
    split in three, log2 K queries that the floor counts as two. No batch of other than K sets does better on the way.
    None where batches lose nothing.

    >>> batch_queries(8008, 0.05), round(8007 / (batch_size(0.05) // 2), 1)
    (262, 258.3)
    """
    from hardness.sq.at_scale.batches import best_batch

    modes = batch_modes(tolerance, min(batch_size(tolerance), LARGEST_BATCH))
    live, asked = concepts, 0
    while live > 1:
        _, lost = best_batch(modes, modes.size - 1, live, False)
        if lost == 0:
            return None
        steps = max(1, (live - 4 * modes.size) // int(lost))
        live, asked = live - steps * int(lost), asked + steps
    return asked


def characters(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Every single character in colex order, from a random start."""
    for mask in np.roll(live, -int(rng.integers(len(live)))):
        yield character(int(mask))


def random_order(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Every single character in random order."""
    for mask in rng.permutation(live):
        yield character(int(mask))


def low_degree(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Every monomial of degree 1 to max(1, s-1): exactly zero information below degree s."""
    for degree in range(1, max(1, concepts.s - 1) + 1):
        for chosen in combinations(range(concepts.n), degree):
            yield character(sum(1 << j for j in chosen))


def sign_batch(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Signed majority of `batch_size` live sets, half of the signs -; in the end game as many as lose the most."""
    from hardness.sq.at_scale.batches import best_batch

    modes = batch_modes(tolerance, min(batch_size(tolerance), LARGEST_BATCH))
    idle = 0
    while idle < PATIENCE:
        before = len(live)
        size, _ = best_batch(modes, modes.size - 1 - 2 * idle, before, False)
        live = yield _batch(live, max(1, size), rng)
        idle = idle + 1 if len(live) == before else 0


def _batch(live: Masks, size: int, rng: Random) -> SignBatch:
    size = max(1, min(size, len(live)))
    size -= 1 - size % 2
    return SignBatch(rng.choice(live, size, replace=False), np.where(np.arange(size) < size // 2, -1, 1))


def bent(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Bent functions on blocks of 4^r sets: one out of each of 2r pairs {2i, 2i+1}, all with |a_S| = 2^-r/2 > 2 tau.

    Means above 2 tau in size leave no window that holds a member and the rest: the whole block falls (theory 2.5e).
    """
    rank = _bent_rank(2 * tolerance)
    split = np.bitwise_count(_split(live, concepts.n)).astype(int)
    asked: set[int] = set()
    # Largest blocks first: of the last one only the smaller side falls.
    for mask in live[np.lexsort((live, -split))].tolist():
        block = _block(mask, rank, concepts.n)
        if block.base not in asked:
            asked.add(block.base)
            live = yield block
    for mask in live:
        yield character(int(mask))


def _bent_rank(least: float) -> int:
    """Largest r whose bent blocks have means 2^-r/2 above `least` in size."""
    rank = 0
    while 2.0 ** -(rank + 2) > least:
        rank += 1
    return rank


def _split(sets: Masks, n: int) -> Masks:
    """The pairs {2i, 2i+1} of which a set holds exactly one, each as its lower coordinate's bit."""
    low = np.uint64(sum(1 << j for j in range(0, n - 1, 2)))
    return np.asarray((sets & low) ^ (sets >> np.uint64(1) & low))


def _block(mask: int, rank: int, n: int, shift: int = 0) -> SpanFunction:
    """The bent query on the block of a set: its first 2r split pairs; `shift` moves the signs by a character."""
    split = int(_split(np.array([mask], np.uint64), n)[0])
    pairs = [j for j in range(n) if split >> j & 1][: 2 * min(rank, split.bit_count() // 2)]
    for j in pairs:
        mask = mask & ~(3 << j) | 1 << j
    values = np.ones(1)
    for _ in range(len(pairs) // 2):
        values = np.kron(np.array([1.0, 1.0, 1.0, -1.0]), values)
    values *= 1 - 2.0 * (np.bitwise_count(np.arange(len(values)) & shift) & 1)
    return SpanFunction(mask, np.array([3 << j for j in pairs], np.uint64), values)


def adaptive(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """The best of sign batches and bent blocks with |a_S| > tau, by its exact loss to the window on the live sets.

    A fresh block of 4^r sets loses its smaller side, 6 of 16 or 28 of 64: for tau just below 2^-r/2 more than a batch.
    """
    rank, idle = _bent_rank(tolerance), 0
    while idle < PATIENCE:
        candidates: list[Query] = [_batch(live, batch_size(tolerance) - 2 * i, rng) for i in (0, 0, 1)]
        for mask in rng.choice(live, 6).tolist():
            candidates += [_block(mask, rank, concepts.n, int(shift)) for shift in rng.integers(4**rank, size=3)]
        losses = []
        for query in candidates:
            means = query.means(live)
            reply = best_answer(means, np.full(len(means), tolerance))
            losses.append(np.sum(~within(means, reply, tolerance)))
        before = len(live)
        live = yield candidates[int(np.argmax(losses))]
        idle = idle + 1 if len(live) == before else 0


def gradient(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Gradient coordinates of random students on y, each a query: an MLP neuron and an attention head in turn."""
    return _coordinates(concepts, live, rng, (_neuron, _head))


def mlp_gradient(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Gradient coordinates of random MLP neurons max(0, <a, v> + b): d/da_j = v_j 1{<a, v> + b > 0}."""
    return _coordinates(concepts, live, rng, (_neuron,))


def attention_gradient(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Gradient coordinates of random attention heads sigma(<w, u> - b): d/dw_j = u_j sigma', scaled to reach 1."""
    return _coordinates(concepts, live, rng, (_head,))


Student = Callable[[NDArray[np.float64], Random], tuple[NDArray[np.float64], NDArray[np.float64]]]


def _coordinates(concepts: ParityConcepts, live: Masks, rng: Random, students: tuple[Student, ...]) -> Steps:
    """Every coordinate of the gradient of one random student after the other: tables on the whole cube, n <= 20."""
    if concepts.n > 20:
        raise InputError(f"gradient queries are tables of 2^n values; n={concepts.n} > 20: lower --dim")
    v = np.where(np.arange(1 << concepts.n) >> np.arange(concepts.n)[:, None] & 1, -1.0, 1.0)
    idle = 0
    while idle < 100:
        before = len(live)
        drawn = [student(v, rng) for student in students]
        for j in range(concepts.n):
            for inputs, slope in drawn:
                live = yield Table(inputs[j] * slope)
        idle = idle + 1 if len(live) == before else 0


def _neuron(v: NDArray[np.float64], rng: Random) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Inputs (n, 2^n) and slope (2^n,) of a neuron: its gradient is their product."""
    a, b = rng.standard_normal(len(v)), rng.standard_normal()
    return v, (a @ v + b > 0).astype(float)


def _head(v: NDArray[np.float64], rng: Random) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same of an attention head, whose inputs are the bits u."""
    w, b = 4 * rng.standard_normal(len(v)), rng.standard_normal()
    return (1 - v) / 2, 1 / np.cosh((b - w @ v / 2) / 2) ** 2


STRATEGIES: dict[str, Strategy] = {
    "characters": characters,
    "random": random_order,
    "low-degree": low_degree,
    "sign-batch": sign_batch,
    "bent": bent,
    "adaptive": adaptive,
    "gradient": gradient,
    "mlp-gradient": mlp_gradient,
    "attention-gradient": attention_gradient,
}
# They ask the same whatever the answers are (but for when they give up), so their means can be reused.
OBLIVIOUS = ("gradient", "mlp-gradient", "attention-gradient")
