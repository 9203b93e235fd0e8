"""Queries that are tables on the whole cube: cut sums of characters, and gradient coordinates of random students."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.bounds.batches import LARGEST_BATCH, batch_modes, batch_size, best_batch
from hardness.sq.dependent import Loss, dependent_losses
from hardness.sq.queries import Query, SpanFunction, table
from hardness.sq.strategies.base import Masks, Steps, kept, until_idle
from hardness.sq.strategies.sign_batch import batch

TABLE_BITS = 24  # bits of the table that a query is
CROWDED = (
    0.21  # of many sets so many are spread at a time, over the squared tolerance: a third of them is lost
)
CLIPS = (0.0, 1.0)  # where the sum of characters is cut, in standard deviations; 0 is its sign
ROUNDS = 4
DRAWS, TURNS = 3, 16  # of signs for a query, and of arguments for each
Values = NDArray[np.float64]
Student = Callable[[Values, Random], tuple[Values, Values]]


def spread(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """The best, by exact loss, of a sign batch and of all live sets at once, each aimed at a mean of its own.

    By Parseval the squares of k means sum to at most 1/4, so that they fill a range of about 1/sqrt(k), and an answer
    keeps a share of about tau sqrt(k). Of sets too many for that a part is spread. The last queries read off single
    sets: at a tolerance small enough the first one does. Raises `InputError` for more than 24 bits.

    >>> from hardness.sq.game import play
    >>> [play(ParityConcepts(10, 3), "spread", "window", tau).queries for tau in (0.1, 0.02, 0.0002)]
    [20, 4, 2]
    """
    full, few = batch_size(tolerance), int(CROWDED / tolerance**2)
    modes = batch_modes(tolerance, min(full, LARGEST_BATCH))

    def candidates(live: Masks, idle: int) -> list[Query]:
        count = len(live)
        size = full if LARGEST_BATCH < full <= count else max(1, best_batch(modes, modes.size - 1, count)[0])
        signs = np.where(np.arange(size) < size // 2, -1.0, 1.0)
        tables = [_cut(_transform(rng.choice(live, size, replace=False), signs, concepts.n), 0.0)]
        if count > 2 * few:
            tables += [evened(rng.choice(live, few, replace=False), concepts.n, 0.0, rng)] if few > 2 else []
        else:
            tables += [evened(live, concepts.n, clip, rng) for clip in CLIPS]
        return [*map(table, tables)]

    return _best(concepts, live, tolerance, candidates)


def dependent(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """The best, by exact loss, of a sign batch and of cut sums of live sets with random signs.

    Any live sets will do, and so many are lost as `exact.certain_queries` counts, whatever a valid oracle answers.
    Raises `InputError` for more than 24 bits.

    >>> from hardness.sq.exact import certain_queries
    >>> from hardness.sq.game import play
    >>> play(ParityConcepts(12, 4), "dependent", "window", 0.01).queries <= certain_queries(495, 0.01)
    True
    """

    def candidates(live: Masks, idle: int) -> list[Query]:
        plan = next((loss for loss in reversed(dependent_losses(tolerance)) if loss.live <= len(live)), None)
        sums = [table(cut_sum(live, plan, concepts.n, tolerance, rng)) for _ in range(DRAWS) if plan]
        return [batch(live, batch_size(tolerance) - 2 * idle, rng), *sums]

    return _best(concepts, live, tolerance, candidates)


def _best(
    concepts: ParityConcepts, live: Masks, tolerance: float, candidates: Callable[[Masks, int], list[Query]]
) -> Steps:
    """Of the candidates for a query the one that leaves the window's answer fewest of the live sets."""
    if concepts.n > TABLE_BITS:
        raise InputError(
            f"tables of 2^n values are asked for n at most {TABLE_BITS}, not {concepts.n}; lower --dim"
        )
    return until_idle(
        live, lambda live, idle: [min(candidates(live, idle), key=lambda query: kept(query, live, tolerance))]
    )


def cut_sum(live: Masks, plan: Loss, n: int, tolerance: float, rng: Random) -> Values:
    """A sum of characters with random signs, cut (2^n,), at an argument that moves as many up as down."""
    chosen = rng.choice(live, plan.count, replace=False)
    signs = np.resize((1.0, -1.0), plan.count)  # as many of each
    if not plan.even:
        signs = rng.choice((-1.0, 1.0), plan.count)
    values = _cut(_transform(chosen, signs, n), plan.cut)
    driven = signs * (signs * _coefficients(values, chosen) > 2 * tolerance * len(values))
    turns = np.append(rng.integers(0, 1 << n, TURNS, np.uint64), np.uint64(0))
    ups = driven @ (1.0 - 2.0 * (np.bitwise_count(chosen[:, None] & turns) & 1))
    turn = int(turns[np.argmin(np.abs(ups))])
    return np.asarray(values[np.arange(1 << n) ^ turn])


def evened(sets: Masks, n: int, clip: float, rng: Random) -> Values:
    """A cut sum of the characters of these sets, its weights moved until the means stand in even steps: (2^n,)."""
    # Even steps are what a window of fixed length holds fewest of. Which set stands where does not matter: at random,
    # so that the adversary's keeping one end says nothing of the next query.
    aim = rng.permutation(np.linspace(-1.0, 1.0, len(sets)))
    weights = aim
    for _ in range(ROUNDS):
        values = _cut(_transform(sets, weights, n), clip * float(np.linalg.norm(weights)))
        means = _coefficients(values, sets)
        # A fixed point has means in proportion to the aim: what a mean lacks, in the scale of the least squares fit
        # means = c aim, is added to its weight.
        weights = weights + aim - means * (aim @ aim) / (means @ aim)
    return values


def _transform(sets: Masks, weights: Values, n: int) -> Values:
    """The weighted sum of the characters of some sets at every sign vector, (2^n,)."""
    values = np.zeros(1 << n)
    values[sets.astype(np.int64)] = weights
    walsh_hadamard(values)
    return values


def _coefficients(values: Values, sets: Masks) -> Values:
    """2^n times the coefficients of a table at some sets."""
    spectrum = values.copy()
    walsh_hadamard(spectrum)
    return np.asarray(spectrum[sets.astype(np.int64)])


def _cut(values: Values, at: float) -> Values:
    """Values over `at`, cut at ±1; their signs if it is 0."""
    return np.clip(values / at, -1.0, 1.0) if at else np.sign(values)


def gradient(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Gradient coordinates of random students on y, each a query: an MLP neuron and an attention head in turn."""
    return _coordinates(concepts, live, rng, (_neuron, _head))


def mlp_gradient(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Gradient coordinates of random MLP neurons max(0, <a, v> + b): d/da_j = v_j 1{<a, v> + b > 0}."""
    return _coordinates(concepts, live, rng, (_neuron,))


def attention_gradient(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Gradient coordinates of random attention heads sigma(<w, u> - b): d/dw_j = u_j sigma', scaled to reach 1."""
    return _coordinates(concepts, live, rng, (_head,))


def _coordinates(concepts: ParityConcepts, live: Masks, rng: Random, students: tuple[Student, ...]) -> Steps:
    """Every coordinate of the gradient of one random student after the other: tables on the whole cube, n <= 20."""
    if concepts.n > 20:
        raise InputError(f"gradient queries are tables of 2^n values; n={concepts.n} > 20: lower --dim")
    v = np.where(np.arange(1 << concepts.n) >> np.arange(concepts.n)[:, None] & 1, -1.0, 1.0)

    def gradient(live: Masks, idle: int) -> list[SpanFunction]:
        drawn = [student(v, rng) for student in students]
        return [table(inputs[j] * slope) for j in range(concepts.n) for inputs, slope in drawn]

    return until_idle(live, gradient, patience=100)


def _neuron(v: Values, rng: Random) -> tuple[Values, Values]:
    """Inputs (n, 2^n) and slope (2^n,) of a neuron: its gradient is their product."""
    a, b = rng.standard_normal(len(v)), rng.standard_normal()
    return v, (a @ v + b > 0).astype(float)


def _head(v: Values, rng: Random) -> tuple[Values, Values]:
    """The same of an attention head, whose inputs are the bits u."""
    w, b = 4 * rng.standard_normal(len(v)), rng.standard_normal()
    return (1 - v) / 2, 1 / np.cosh((b - w @ v / 2) / 2) ** 2
