"""Layers: the sets that agree outside a window of m coordinates, t of which they hold; where they are dense."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.concepts import ParityConcepts
from hardness.sq.affine_types import characters
from hardness.sq.queries import SpanFunction
from hardness.sq.strategies.base import Masks


@cache
def patterns(size: int, held: int) -> NDArray[np.uint64]:
    """All subsets of `held` out of `size` window coordinates as masks of window bits, in lexicographic order."""
    return np.array([sum(1 << i for i in c) for c in combinations(range(size), held)], np.uint64)


@cache
def layer_signs(size: int, held: int) -> NDArray[np.int8]:
    """Characters of a layer's sets on the states of their affine span, (C(m, t), 2^(m-1)) int8.

    A set is its differences from the first in the generators {i, m - 1}: its bits below m - 1.
    """
    own = patterns(size, held)
    points = (own ^ own[0]) & np.uint64((1 << size - 1) - 1)
    return characters(points.tolist(), size - 1).astype(np.int8)


def _sums(bits: list[int]) -> NDArray[np.uint64]:
    """The masks of all subsets of some bits."""
    found = np.zeros(1, np.uint64)
    for bit in bits:
        found = np.concatenate([found, found | np.uint64(bit)])
    return found


@dataclass(frozen=True)
class Layer:
    """One layer of a class: window coordinates (m,), how many of them its sets hold, and the rest of every set."""

    window: NDArray[np.int64]
    held: int
    rest: int

    @property
    def sets(self) -> Masks:
        """Its sets, in the order of `patterns`."""
        half = len(self.window) // 2
        low, high = (_sums([1 << c for c in part.tolist()]) for part in (self.window[:half], self.window[half:]))
        own = patterns(len(self.window), self.held)
        return np.asarray(low[own & np.uint64((1 << half) - 1)] | high[own >> np.uint64(half)] | np.uint64(self.rest))

    def query(self, values: NDArray[np.float64]) -> SpanFunction:
        """The query with these values on the layer's states, mean 0 on all sets outside its span."""
        bits = [1 << c for c in self.window.tolist()]
        generators = np.array([bit ^ bits[-1] for bit in bits[:-1]], np.uint64)
        return SpanFunction(int(self.sets[0]), generators, values)


def alive(sets: Masks, live: Masks) -> NDArray[np.bool_]:
    """Which of the sets are among the live ones; `live` ascending."""
    at = np.minimum(np.searchsorted(live, sets), len(live) - 1)
    return np.asarray(live[at] == sets)


def held_of(concepts: ParityConcepts, size: int) -> int:
    """How many of a window's coordinates a set of its layer holds: half, as far as sets of size s allow."""
    return min(max(size // 2, size - (concepts.n - concepts.s)), concepts.s)


def layers_through(
    concepts: ParityConcepts, live: Masks, size: int, held: int, count: int, rng: Random
) -> Iterator[Layer]:
    """Random layers, each through a random live set."""
    for mask in rng.choice(live, count).tolist():
        order = rng.permutation(concepts.n)
        inside = np.array([mask >> c & 1 for c in order.tolist()], bool)
        members, others = order[inside], order[~inside]
        window = rng.permutation(np.concatenate([members[:held], others[: size - held]]))
        yield Layer(window, held, sum(1 << c for c in members[held:].tolist()))


def densest(
    concepts: ParityConcepts, live: Masks, size: int, tries: int, rng: Random
) -> tuple[Layer, NDArray[np.bool_]]:
    """Of some random layers through live sets (ascending) the one with most of them, and which of its sets live."""
    found = layers_through(concepts, live, size, held_of(concepts, size), tries, rng)
    return max(((layer, alive(layer.sets, live)) for layer in found), key=lambda pair: int(pair[1].sum()))
