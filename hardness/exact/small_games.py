"""V of small classes of parities: branch and bound over the order of a query's means (theory 2.7).

A query wins with q queries in all iff every set B of concepts with V(B) > q - 1 is wider than 2 tau in the query's
means: then no closed window, and so no answer, keeps B whole. The search fixes which concept has the least mean, which
the next, and so on. Such a beginning demands gaps: if the concepts from a to the end of the beginning, with a later
one b, are a set that needs more than q - 1 queries, then b lies more than 2 tau above a. A linear program drives all
these pairs apart (`separate`): either its query wins, or the beginning is prolonged, or weights prove that no query
has it. Multiplying a query by a character shifts a class, so only affine dependencies of its sets matter.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import lcm
from operator import xor
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.exact.dependent import certain_queries
from hardness.exact.independent import folded, independent_value, separate
from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.floors import decimal, exact_floor
from hardness.sq.queries import reduced, span_coordinates

Pair = tuple[int, int]
Concepts = tuple[int, ...]
MOST_CONCEPTS = 11


def coordinates(masks: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return generators of the affine span over GF(2) of sets, as xors with the first, and the sets' coordinates."""
    moved = np.array([mask ^ masks[0] for mask in masks], np.uint64)
    basis, _, codes = span_coordinates(moved, moved)
    return [int(moved[i]) for i in basis], [int(c) for c in codes]


def characters(points: Sequence[int], rank: int) -> NDArray[np.int64]:
    """Return (-1)^|point & state| for all points and all states below 2^rank: +-1 (points, 2^rank)."""
    states = np.arange(1 << rank)
    odd = np.bitwise_count(np.array(points)[:, None] & states) & 1
    return np.asarray(1 - 2 * odd.astype(np.int64))


def symmetries(points: Sequence[int], limit: int = 720) -> list[tuple[int, ...]]:
    """Return affine maps over GF(2) that permute the points (bits of integers), as indices: the first `limit`."""
    vectors = [2 * p + 1 for p in points]
    masks = np.array(vectors, np.uint64)
    basis, _, places = span_coordinates(masks, masks)
    index = {vector: i for i, vector in enumerate(vectors)}
    maps: list[tuple[int, ...]] = []

    def extend(images: list[int], spanned: list[tuple[int, int]]) -> None:
        if len(images) == len(basis):
            chosen = ([image for i, image in enumerate(images) if code >> i & 1] for code in places.tolist())
            sums = [reduce(xor, some) for some in chosen]
            if all(total in index for total in sums):
                maps.append(tuple(index[total] for total in sums))
            return
        for vector in vectors:
            rest = reduced(vector, 0, spanned)[0]
            if rest and len(maps) < limit:
                extend([*images, vector], [*spanned, (rest, 0)])

    extend([], [])
    return maps


class OutOfTime(Exception):
    """Raised where the deadline has passed."""


@dataclass(frozen=True)
class Ask:
    """A query on a class: `queries.SpanFunction` with rational `values` in [-1, 1], (2^r,), and `means` by concept."""

    base: int
    generators: tuple[int, ...]
    values: tuple[Fraction, ...]
    means: tuple[Fraction, ...]

    def order(self) -> list[int]:
        """Return the indices of the concepts in ascending order of the query's means."""
        return sorted(range(len(self.means)), key=lambda i: self.means[i])


@dataclass(frozen=True)
class Leaf:
    """Proof that no winning query has means whose ascending order begins with these concepts (ties in any order).

    A query wins if the queries left after it surely identify. Then, for each pair (a, b), the mean of b is more than 2
    tau above that of a: the concepts of the beginning from a on, up to b or to its end, with b, need more queries than
    are left, so no answer may keep them. But some `weights` lambda >= 0 of sum 1 have E|sum lambda (chi_b - chi_a)|/2
    <= 2 tau, so no query drives all pairs apart.
    """

    beginning: tuple[int, ...]
    pairs: tuple[Pair, ...]
    weights: tuple[Fraction, ...]


# Why V of some concepts is larger: every order of them, or of its images under affine maps, begins as a leaf does.
Refutation = tuple[Leaf, ...]


@dataclass
class SmallGames:
    """Computes V, the fewest queries that surely identify, for up to 11 parities at a tolerance below 1/4, with proofs.

    `deadline` is a time of `perf_counter`; past it `value` and `decide` raise `OutOfTime`. With `theorem` the values of
    affinely independent subsets are theorem A's, otherwise they are searched for; with `symmetric` only one of the
    orders that the class's own affine maps make equal is searched.
    """

    tolerance: float | Fraction
    deadline: float = float("inf")
    theorem: bool = True
    symmetric: bool = True
    _known: dict[Concepts, int] = field(default_factory=dict, repr=False)
    _maps: list[dict[int, int]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self.tau = decimal(self.tolerance)

    def value(self, concepts: Sequence[int]) -> int:
        """Return V of a set of parities, given as masks: the fewest queries that surely identify the hidden one."""
        live = tuple(sorted(concepts))
        if len(live) <= 2:
            return len(live) - 1
        if not self._maps or not self._maps[0].keys() >= {*live}:
            points = coordinates(live)[1]
            self._maps = [{live[i]: live[j] for i, j in enumerate(map_)} for map_ in symmetries(points)]
        # Affine maps of the class on itself take its subsets to equally hard ones.
        key = min(tuple(sorted(map_[mask] for mask in live)) for map_ in self._maps)
        if key not in self._known:
            self._known[key] = self._value(key)
        return self._known[key]

    def _value(self, concepts: Concepts) -> int:
        if self.theorem and len(coordinates(concepts)[0]) == len(concepts) - 1:
            return independent_value(len(concepts), self.tau)
        # One concept less needs no more, and a character takes one concept from the rest: one of two values.
        fewer = max(self.value(concepts[:i] + concepts[i + 1 :]) for i in range(len(concepts)))
        more = exact_floor(len(concepts), self.tau) > fewer
        return fewer + (more or not isinstance(self.decide(concepts, fewer), Ask))

    def decide(self, concepts: Sequence[int], queries: int) -> Ask | Refutation:
        """Return the first query of a strategy that surely identifies by `queries` queries, or proof that none does."""
        if len(concepts) > MOST_CONCEPTS:
            raise InputError(f"branch and bound is for at most {MOST_CONCEPTS} concepts, got {len(concepts)}")
        decision = _Decision(self, tuple(concepts), queries)
        return decision.search([]) or tuple(decision.leaves)

    def query(self, concepts: Sequence[int]) -> Ask:
        """Return the first query of a strategy that surely identifies one of the concepts with the fewest queries."""
        ask = self.decide(concepts, self.value(concepts))
        assert isinstance(ask, Ask)
        return ask


def value(concepts: ParityConcepts, tolerance: float | Fraction, seconds: float = 60.0) -> tuple[int, int]:
    """Return a proved lower and upper bound on V, the fewest queries that surely identify one of these parities.
    They are equal where V is known: by theorem A for sets of 1, n - 1 or n bits, and by a search of at most `seconds`
    for up to 11 sets. Otherwise they are `exact_floor` and `certain_queries`. Raises `InputError` at tolerance 1/4 and
    above (for more than one set)."""
    size, tau = concepts.size, decimal(tolerance)
    if concepts.s in (1, concepts.n - 1, concepts.n):
        return (independent_value(size, tau),) * 2
    floor, enough = exact_floor(size, tau), certain_queries(size, tau)
    if size <= MOST_CONCEPTS and floor < enough:
        with suppress(OutOfTime):
            games = SmallGames(tau, perf_counter() + seconds)
            return (games.value(concepts.masks().tolist()),) * 2
    return floor, enough


class _Decision:
    """Decides whether `queries` queries surely identify one of the `concepts`; pairs and orders hold their indices."""

    def __init__(self, games: SmallGames, concepts: Concepts, queries: int) -> None:
        self.games, self.concepts, self.queries = games, concepts, queries
        self.generators, points = coordinates(concepts)
        self.signs = characters(points, len(self.generators))
        self.maps = symmetries(points) if games.symmetric else []
        self.leaves: list[Leaf] = []

    def search(self, beginning: list[int]) -> Ask | None:
        """Return a winning query, or None if none has its least means at the concepts `beginning`, in this order.
        A query wins if the queries left after it surely identify. With None the list `leaves` gets the proof."""
        if perf_counter() > self.games.deadline:
            raise OutOfTime
        if any(tuple(map_[i] for i in beginning) < tuple(beginning) for map_ in self.maps):
            return None  # its image is searched instead
        pairs = self._demanded(beginning)
        ask, weights = self._query(pairs)
        if ask is None:
            names = self.concepts
            used = [((names[a], names[b]), w) for (a, b), w in zip(pairs, weights, strict=True) if w]
            order = tuple(names[i] for i in beginning)
            self.leaves.append(Leaf(order, tuple(pair for pair, _ in used), tuple(w for _, w in used)))
            return None
        if self._wins(ask):
            return ask
        deeper = (self.search([*beginning, i]) for i in ask.order() if i not in beginning)
        return next((found for found in deeper if found), None)

    def _demanded(self, beginning: list[int]) -> list[Pair]:
        """Return pairs (a, b) of concepts: a winning query must have b's mean over twice the tolerance above a's.
        Its least means are those of `beginning`, in order; it wins if the queries left after it surely identify."""
        later, pairs = [i for i in range(len(self.concepts)) if i not in beginning], []
        for start, a in enumerate(beginning):
            since = beginning[start:]
            pairs += [(a, b) for end, b in enumerate(since) if self._needs_all(since[: end + 1])]
            pairs += [(a, b) for b in later if self._needs_all([*since, b])]
        return pairs

    def _wins(self, ask: Ask) -> bool:
        order, means, width = ask.order(), ask.means, 2 * self.games.tau
        windows = ([i for i in order[k:] if means[i] - means[a] <= width] for k, a in enumerate(order))
        return not any(map(self._needs_all, windows))

    def _query(self, pairs: list[Pair]) -> tuple[Ask | None, tuple[Fraction, ...]]:
        """Return a query with means over twice the tolerance apart in each pair (low, high), or None and a proof.
        The proof that there is none consists of a weight for every pair; it is empty with a query."""
        b: NDArray[Any] = np.zeros(self.signs.shape[1], object)
        if pairs:
            forms = np.array([self.signs[high] - self.signs[low] for low, high in pairs])
            columns, chances, places = folded(forms)
            query, weights = separate(columns, chances, 2 * self.games.tau)
            if query is None:
                return None, weights or ()
            b = np.array(query, object)[np.abs(places) - 1] * np.sign(places)
        scale = lcm(*(Fraction(x).denominator for x in b))
        sums = self.signs.astype(object) @ np.array([int(x * scale) for x in b], object)
        means = tuple(Fraction(int(m), scale * len(b)) for m in sums)
        values = tuple(2 * Fraction(x) for x in b)
        return Ask(self.concepts[0], tuple(self.generators), values, means), ()

    def _needs_all(self, indices: list[int]) -> bool:
        """Return whether these concepts need all `queries` of the game, so that an answer that keeps them loses it."""
        # Of the whole class it is asked while its own value is searched for: first of those with one concept less.
        whole = len(indices) == len(self.concepts)
        if whole and any(self._needs_all(indices[:i] + indices[i + 1 :]) for i in range(len(indices))):
            return True
        return self.games.value([self.concepts[i] for i in indices]) >= self.queries


def winning(games: SmallGames, concepts: Concepts) -> dict[Concepts, Ask]:
    """Return a best strategy's next query for the class and for each set that answers may leave, smaller sets first."""
    known: dict[Concepts, Ask] = {}

    def win(live: Concepts) -> None:
        if len(live) == 1 or live in known:
            return
        ask = games.query(live)
        means = dict(zip(live, ask.means, strict=True))
        for low in sorted(set(ask.means)):
            win(tuple(m for m in live if low <= means[m] <= low + 2 * games.tau))
        known[live] = ask

    win(concepts)
    return known


def refutations(
    games: SmallGames, concepts: Concepts, queries: int
) -> dict[Concepts, tuple[int, Refutation]]:
    """Return a proof that a class needs `queries` queries: sets of concepts, how many queries each needs, and why.
    Each step rests on sets before it, and on theorem B's floor, which has no entry; the last one settles the class."""
    known: dict[Concepts, tuple[int, Refutation]] = {}

    def refute(live: Concepts, height: int) -> None:
        if exact_floor(len(live), games.tau) >= height or (live in known and known[live][0] >= height):
            return
        fewer = [live[:i] + live[i + 1 :] for i in range(len(live))]
        hard = next((some for some in fewer if games.value(some) >= height), None)
        if hard:
            refute(hard, height)
            return
        proof = games.decide(live, height - 1)
        assert not isinstance(proof, Ask)
        for leaf in proof:
            for a, b in leaf.pairs:
                since = leaf.beginning[leaf.beginning.index(a) :]
                refute(tuple(sorted(since[: since.index(b) + 1] if b in since else (*since, b))), height - 1)
        known[live] = height, proof

    refute(concepts, queries)
    return known
