"""Layers: the sets that agree outside a window of m coordinates, t of which they hold; queries kept for whole ones."""

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.exact.affine_types import characters
from hardness.families.concepts import ParityConcepts
from hardness.kernels.bits import ONE
from hardness.sq.queries import SpanFunction
from hardness.sq.strategies import Masks

# Of 6, 8 and 9 coordinates, for every number of sets lost: found by `shaped.anneal` of 100,000 moves from up to 200
# starts, evened out as in `shaped.shape_query`, and rounded to UNIT. Tests prove what each of them reaches.
TEMPLATES = Path(__file__).with_name("templates.json")
UNIT = 55_440  # values are kept as integers over this: 720 times 7 and 11, which T(7) and T(11) take


@cache
def patterns(size: int, held: int) -> NDArray[np.uint64]:
    """Return all subsets of `held` out of `size` window coordinates as masks of window bits, in lexicographic order."""
    return np.array([sum(1 << i for i in c) for c in combinations(range(size), held)], np.uint64)


@cache
def layer_signs(size: int, held: int) -> NDArray[np.int8]:
    """Return the characters of a layer's sets on the states of their affine span, (C(m, t), 2^(m-1)) int8.

    A set is its differences from the first in the generators {i, m - 1}: its bits below m - 1.
    """
    masks = patterns(size, held)
    points = (masks ^ masks[0]) & np.uint64((1 << size - 1) - 1)
    return characters(points.tolist(), size - 1).astype(np.int8)


@dataclass(frozen=True)
class Layers:
    """Layers of one class, of one shape: windows (count, m) of coordinates, `held` of them in every set, the rest of
    every set as a mask (count,)."""

    windows: NDArray[np.int64]
    held: int
    rests: Masks

    def sets(self, places: NDArray[Any] | None = None) -> Masks:
        """Return their sets (count, C(m, t)) in the order of `patterns`, or those at some places."""
        size = self.windows.shape[1]
        masks = patterns(size, self.held) if places is None else patterns(size, self.held)[places]
        held = masks[:, None] >> np.arange(size, dtype=np.uint64) & np.uint64(1)
        return np.asarray((ONE << self.windows.astype(np.uint64)) @ held.T | self.rests[:, None])

    def query(self, which: int, values: NDArray[np.float64]) -> SpanFunction:
        """Return the query with these values on the states of one layer, mean 0 on all sets outside its span."""
        bits = [1 << c for c in self.windows[which].tolist()]
        generators = np.array([bit ^ bits[-1] for bit in bits[:-1]], np.uint64)
        return SpanFunction(int(self.sets(np.array([0]))[which, 0]), generators, values)


def alive(sets: Masks, live: Masks) -> NDArray[np.bool_]:
    """Say which of the sets are among the live ones; `live` ascending."""
    at = np.minimum(np.searchsorted(live, sets), len(live) - 1)
    return np.asarray(live[at] == sets)


def held_of(concepts: ParityConcepts, size: int) -> int:
    """Return how many of a window's coordinates a set of its layer holds: half, as far as sets of size s allow."""
    return min(max(size // 2, size - (concepts.n - concepts.s)), concepts.s)


def layers_through(
    concepts: ParityConcepts, live: Masks, size: int, held: int, count: int, rng: Random
) -> Layers:
    """Draw layers, each through a random live set."""
    n, s = concepts.n, concepts.s
    # Layers are drawn through live sets: a random one of a class would hardly ever hold any that live.
    inside = rng.choice(live, count)[:, None] >> np.arange(n, dtype=np.uint64) & np.uint64(1)
    # The set's own coordinates first, both in random order
    order = np.argsort(rng.random((count, n)) - inside, axis=1)
    windows = np.concatenate([order[:, :held], order[:, s : s + size - held]], axis=1)
    rests = np.bitwise_or.reduce(ONE << order[:, held:s].astype(np.uint64), axis=1, initial=np.uint64(0))
    return Layers(rng.permuted(windows, axis=1), held, rests)


def densest(
    concepts: ParityConcepts, live: Masks, size: int, tries: int, rng: Random
) -> tuple[Layers, NDArray[np.bool_]]:
    """Return the fullest of some random layers through live sets (ascending), and which of its sets live."""
    layers = layers_through(concepts, live, size, held_of(concepts, size), tries, rng)
    lives = alive(layers.sets(), live)
    best = int(np.argmax(lives.sum(axis=1)))
    return Layers(layers.windows[[best]], layers.held, layers.rests[[best]]), lives[best]


@dataclass(frozen=True)
class Template:
    """A query on a layer of `size` coordinates of which sets hold `held`: it loses `lost` sets below `reach`.

    `values` f in [-1, 1] (2^(m-1),) on the layer's states; `upper` and `lower` (e,) are indices of its sets, in pairs
    whose means are at least twice `reach` apart (exactly: values are multiples of 1/55,440).
    """

    size: int
    held: int
    upper: NDArray[np.int64]
    lower: NDArray[np.int64]
    values: NDArray[np.float64]
    reach: Fraction

    @property
    def lost(self) -> int:
        return len(self.upper)

    @property
    def support(self) -> NDArray[np.int64]:
        return np.concatenate([self.upper, self.lower])


@cache
def templates() -> tuple[Template, ...]:
    """Return all templates of the library; their pairs and what they reach are worked out from the means, exactly."""
    library = []
    for t in json.loads(TEMPLATES.read_text(encoding="utf-8")):
        signs, whole = layer_signs(t["size"], t["held"]).astype(np.int64), np.array(t["values"])
        sums = signs @ whole
        up, down = (np.array(sorted(t[side], key=lambda i: (sums[i], i))) for side in ("upper", "lower"))
        reach = Fraction(int(np.min(sums[up] - sums[down])), 4 * UNIT * signs.shape[1])
        library.append(Template(t["size"], t["held"], up, down, whole / UNIT, reach))
    return tuple(library)
