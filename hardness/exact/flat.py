"""The strategy `flat`: dependent sets lose more than independent ones, to the end of the game (theory 2.7).

A layer is all sets that agree outside a window of m coordinates, t of which they hold. A template is a query on a layer
that loses e of its sets to every answer. Where no layer lives whole, a query is shaped to the sets that live: the gaps
of e pairs sum to at most E|sum g chi|/2, g = +1 on the upper sets, -1 on the lower and 0 elsewhere. So g is annealed to
make E|sum g chi| large; the sign of that sum is a query, and a linear program evens the gaps out.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.exact.independent import end_game
from hardness.exact.small_games import SmallGames, characters, coordinates
from hardness.families.concepts import ParityConcepts
from hardness.kernels.bits import ONE, compiled, random_word
from hardness.sq.bounds.batches import independent_lost
from hardness.sq.bounds.floors import IDENTIFIABLE, decimal, most_lost
from hardness.sq.queries import Masks, SpanFunction, Values
from hardness.sq.strategies import Steps, batch, sign_batch

# Of 6, 8 and 9 coordinates, for every number of sets lost: found by `anneal` of 100,000 moves from up to 200 starts,
# evened out as in `shape_query`, and rounded to UNIT. Tests prove what each of them reaches.
TEMPLATES = Path(__file__).with_name("templates.json")
UNIT = 55_440  # values are kept as integers over this: 720 times 7 and 11, which T(7) and T(11) take
SET_BY_SET = 2**18  # sets up to which it is offered: queries are looked for among all that live
WINDOW_COORDINATES = 12  # coordinates of a window
ROOM = 2.4  # sets alive in a layer, over the number to be lost, below which a larger layer is looked for
TRIES = 100  # layers looked at for a query
PLACES = 300  # placements of templates looked at for a query
SOLVED = 6  # sets of which V is searched for
LARGEST_RANK = 11  # rank of the sets whose means are put in order
ORDERS = 4  # of the means that a query of the end game is looked for from
MOVES = 20_000
HOT, COLD = 0.02, 0.0005  # temperatures in units of E|sum g chi|, start and end
ROUNDS = 4
MARGIN = 1e-9


def flat(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Ask queries on groups of sets that differ in a few coordinates only; sign batches at the end (theory 2.7).
    Yields them; stored queries are used while they fit. `live` are the sets possible at first; those left are sent in
    after each query. Raises `InputError` for more than 2^18 sets."""
    if concepts.kind != "parity" or concepts.size > SET_BY_SET:
        raise InputError("flat is for parities of up to 2^18 sets; play sign-batch, or a smaller parity")
    tau = decimal(tolerance)
    if tau >= IDENTIFIABLE:
        return
    caster = _Caster(concepts, float(tau), rng)
    while len(live) > 2 * caster.batch_loss + 2:
        live = yield caster.query(live) or batch(live, 2 * caster.batch_loss + 1, rng)
    yield from endgame(live, tau, rng)
    yield from sign_batch(concepts, live, tolerance, rng)


class _Caster:
    """Chooses the queries of the strategy `flat`; remembers how many sets it aims at, and how large its layers are."""

    def __init__(self, concepts: ParityConcepts, tau: float, rng: Random) -> None:
        self.concepts, self.tau, self.rng = concepts, tau, rng
        self.batch_loss, self.largest_loss = independent_lost(tau), most_lost(tau)
        n, s = concepts.n, concepts.s
        fit = [t for t in templates() if t.reach > tau and t.held <= s and t.size - t.held <= n - s]
        self.templates = sorted((t for t in fit if t.lost > self.batch_loss), key=lambda t: -t.lost)[:3]
        self.goal = self.templates[0].lost if self.templates else min(self.largest_loss, self.batch_loss + 1)
        self.largest = min(WINDOW_COORDINATES, n)
        sizes = (m for m in range(2, self.largest) if comb(m, held_of(concepts, m)) >= ROOM * self.goal)
        self.size = next(sizes, self.largest)

    def query(self, live: Masks) -> SpanFunction | None:
        """Return a query that rules out more sets than majorities of parities do, or None if none is found."""
        if self.largest_loss == self.batch_loss:
            return None
        return self._placed(live) or self._shaped(live)

    def _placed(self, live: Masks) -> SpanFunction | None:
        """Return a stored query, moved to coordinates where all sets that it tells apart are in `live`, or None."""
        for template in self.templates:
            if template.lost < self.goal:
                break
            layers = layers_through(self.concepts, live, template.size, template.held, PLACES, self.rng)
            whole = np.flatnonzero(alive(layers.sets(template.support), live).all(axis=1))
            if len(whole):
                return layers.query(int(whole[0]), template.values)
        return None

    def _shaped(self, live: Masks) -> SpanFunction | None:
        """Return a new query on sets of `live` that agree outside a few coordinates, or None if none is found.
        Every answer to it rules out more sets than it would of a sign batch, a majority of parities."""
        layer, lives = densest(self.concepts, live, self.size, TRIES, self.rng)
        while lives.sum() < ROOM * self.goal and self.size < self.largest:
            self.size += 1
            layer, lives = densest(self.concepts, live, self.size, TRIES, self.rng)
        signs = layer_signs(self.size, layer.held)[lives]
        high = min(self.goal + 1, self.largest_loss, len(signs) // 2)
        for lost in range(high, max(self.batch_loss, high - 4), -1):
            values = shape_query(signs, lost, self.tau, self.rng)
            if values is not None:
                self.goal = lost
                return layer.query(0, values)
        self.goal = max(self.batch_loss + 1, high - 2)
        return None


def endgame(live: Masks, tau: Fraction, rng: Random) -> Steps:
    """Yield queries on few sets that rule out more than sign batches, while such are found; on six or fewer the best.
    Of more sets a query is tried that leaves at most about w whatever the answer, w being the next smaller number of
    sets in `end_game(tau)`. `live` are the sets possible at first; those still possible are sent in after each query.
    """
    games = SmallGames(tau)
    try:
        sizes = end_game(tau)
    except InputError:
        return
    while len(live) > 1:
        if len(live) <= SOLVED:
            ask = games.query(live.tolist())
            values = np.array([float(value) for value in ask.values])
            live = yield SpanFunction(ask.base, np.array(ask.generators, np.uint64), values)
            continue
        aim = max(size for size in sizes if size < len(live))
        queries = (_ordered(live, kept, float(tau), rng) for kept in (aim, aim + 1, aim + aim // 4))
        query = next((query for query in queries if query), None)
        if query is None:
            return
        live = yield query


def _ordered(live: Masks, kept: int, tau: float, rng: Random) -> SpanFunction | None:
    """Return a query on the sets `live` of which no answer keeps more than `kept`, or None if none is found."""
    generators, points = coordinates(live.tolist())
    if len(generators) > LARGEST_RANK or kept >= len(live):
        return None
    signs = characters(points, len(generators)).astype(np.float64)
    f = np.zeros(signs.shape[1])
    # In order, the (j + w)-th mean must exceed the j-th by more than 2 tau, w = `kept`: an order is guessed, its least
    # gap made as large as a linear program can, and the order that comes out is next.
    for _ in range(ORDERS):
        order, tried = rng.permutation(len(live)), set()
        while order.tobytes() not in tried:
            tried.add(order.tobytes())
            f = maximin_gap((signs[order[kept:]] - signs[order[:-kept]]) / (2 * signs.shape[1]), f)
            means = signs @ f / (2 * signs.shape[1])
            order = np.argsort(means, kind="stable")
            if np.min(means[order[kept:]] - means[order[:-kept]]) > 2 * (tau + MARGIN):
                return SpanFunction(int(live[0]), np.array(generators, np.uint64), f)
    return None


@cache
def patterns(size: int, held: int) -> Masks:
    """Return all subsets of `held` out of `size` coordinates as masks, in lexicographic order."""
    return np.array([sum(1 << i for i in c) for c in combinations(range(size), held)], np.uint64)


@cache
def layer_signs(size: int, held: int) -> NDArray[np.int8]:
    """Return the characters of all sets of `held` out of m = `size` coordinates, as signs (C(m, held), 2^(m-1)) int8.
    They are taken relative to the first set's character, which makes them functions of the m - 1 parities of
    coordinates {i, m - 1}. Columns are the values of these parities."""
    masks = patterns(size, held)
    points = (masks ^ masks[0]) & np.uint64((1 << size - 1) - 1)
    return characters(points.tolist(), size - 1).astype(np.int8)


@dataclass(frozen=True)
class Layers:
    """Holds layers: all sets of a class that agree outside m coordinates, of which each holds `held`.
    `windows` (count, m) are these coordinates, `rests` (count,) the masks of what the sets hold elsewhere."""

    windows: NDArray[np.int64]
    held: int
    rests: Masks

    def sets(self, places: NDArray[Any] | slice = slice(None)) -> Masks:
        """Return the sets of every layer as masks (count, sets), in order, or of each layer those at indices `places`.
        A layer is all sets of a class that agree outside a few coordinates."""
        size = self.windows.shape[1]
        masks = patterns(size, self.held)[places]
        held = masks[:, None] >> np.arange(size, dtype=np.uint64) & np.uint64(1)
        return np.asarray((ONE << self.windows.astype(np.uint64)) @ held.T | self.rests[:, None])

    def query(self, which: int, values: Values) -> SpanFunction:
        """Return the query with the function `values` on layer number `which`; outside its affine span means are 0.
        A layer is a group of sets alike outside m coordinates; `values` (2^(m-1),) belong to the columns of
        `layer_signs`."""
        bits = [1 << c for c in self.windows[which].tolist()]
        generators = np.array([bit ^ bits[-1] for bit in bits[:-1]], np.uint64)
        return SpanFunction(int(self.sets()[which, 0]), generators, values)


def alive(sets: Masks, live: Masks) -> NDArray[np.bool_]:
    """Return which of `sets` are among the ascending masks `live`."""
    at = np.minimum(np.searchsorted(live, sets), len(live) - 1)
    return np.asarray(live[at] == sets)


def held_of(concepts: ParityConcepts, size: int) -> int:
    """Return how many of `size` coordinates the sets of a layer hold: half, as far as the class allows.
    A layer is a group of sets that agree outside these coordinates."""
    return min(max(size // 2, size - (concepts.n - concepts.s)), concepts.s)


def layers_through(
    concepts: ParityConcepts, live: Masks, size: int, held: int, count: int, rng: Random
) -> Layers:
    """Return `count` random layers, groups of sets that agree outside `size` coordinates and hold `held` of these.
    Each goes through a random set of `live`, as others would hardly ever hold one."""
    n, s = concepts.n, concepts.s
    inside = rng.choice(live, count)[:, None] >> np.arange(n, dtype=np.uint64) & np.uint64(1)
    # The set's own coordinates first, both in random order
    order = np.argsort(rng.random((count, n)) - inside, axis=1)
    windows = np.concatenate([order[:, :held], order[:, s : s + size - held]], axis=1)
    rests = np.bitwise_or.reduce(ONE << order[:, held:s].astype(np.uint64), axis=1, initial=np.uint64(0))
    return Layers(rng.permuted(windows, axis=1), held, rests)


def densest(
    concepts: ParityConcepts, live: Masks, size: int, tries: int, rng: Random
) -> tuple[Layers, NDArray[np.bool_]]:
    """Return, of `tries` random layers, the one with most sets in `live`, and which of its sets these are (bool).
    A layer is a group of sets that agree outside `size` coordinates."""
    layers = layers_through(concepts, live, size, held_of(concepts, size), tries, rng)
    lives = alive(layers.sets(), live)
    best = int(np.argmax(lives.sum(axis=1)))
    return Layers(layers.windows[[best]], layers.held, layers.rests[[best]]), lives[best]


@dataclass(frozen=True)
class Template:
    """A stored query on sets with `held` of `size` coordinates: at tolerances below `reach` it surely rules out `lost`.

    With m = `size` and e = `lost`, `values` in [-1, 1] (2^(m-1),) are on the states of the sets' span; `support` (2e,)
    are indices of sets, e upper and e lower, in pairs whose means are at least twice `reach` apart (exactly: values are
    multiples of 1/55,440).
    """

    size: int
    held: int
    support: NDArray[np.int64]
    values: Values
    reach: Fraction

    @property
    def lost(self) -> int:
        return len(self.support) // 2


@cache
def templates() -> tuple[Template, ...]:
    """Return all stored queries on sets that differ in few coordinates, with the tolerances up to which they work."""
    library = []
    for t in json.loads(TEMPLATES.read_text(encoding="utf-8")):
        signs, whole = layer_signs(t["size"], t["held"]).astype(np.int64), np.array(t["values"])
        sums = signs @ whole
        up, down = (np.array(sorted(t[side], key=lambda i: (sums[i], i))) for side in ("upper", "lower"))
        reach = Fraction(int(np.min(sums[up] - sums[down])), 4 * UNIT * signs.shape[1])
        library.append(Template(t["size"], t["held"], np.concatenate([up, down]), whole / UNIT, reach))
    return tuple(library)


def shape_query(signs: NDArray[np.int8], lost: int, tolerance: float, rng: Random) -> Values | None:
    """Return query values in [-1, 1] (states,) that rule out `lost` of the points whatever the answer, or None.
    `signs` (points, states) holds the characters of sets, the points. To rule out `lost`, as many pairs of points must
    have means over twice the tolerance apart: annealing chooses the pairs, and a linear program widens the least gap.
    """
    states, chosen = signs.shape[1], rng.permutation(len(signs))[: 2 * lost]
    g = np.zeros(len(signs), np.int64)
    g[chosen[:lost]], g[chosen[lost:]] = 1, -1
    total = anneal(signs, g, MOVES, rng.integers(0, 2**64, 1, np.uint64, endpoint=False))
    # The e pairs come apart by total/(2 e states) on average at most, and have to by more than 2 tau each.
    if total <= 4 * lost * (tolerance + MARGIN) * states:
        return None
    upper, lower, reached = np.flatnonzero(g > 0), np.flatnonzero(g < 0), -1.0
    floats = signs.astype(np.float64)
    f: Values = np.sign(floats[upper].sum(axis=0) - floats[lower].sum(axis=0))
    for _ in range(ROUNDS):
        means = floats @ f / (2 * states)
        up, down = upper[np.argsort(means[upper])], lower[np.argsort(means[lower])]
        reach = float(np.min(means[up] - means[down])) / 2
        if reach > tolerance + MARGIN:
            return f
        if reach <= reached:
            break
        reached, f = reach, maximin_gap((floats[up] - floats[down]) / (2 * states), f)
    return None


@compiled
def anneal(signs: Any, g: Any, moves: Any, state: Any) -> Any:
    """Anneal g (points,) of entries -1, 0, 1 to make sum_x |sum_i g_i signs_ix| large, and return this sum.
    `signs` (points, states) are characters. g changes in place, by `moves` swaps of entries; `state` seeds these."""
    points, states = signs.shape
    sums = np.zeros(states, np.int32)
    for i in range(points):
        for x in range(states):
            sums[x] += g[i] * signs[i, x]
    # sums[x] = sum_i g_i chi_i(x): an exchange of g_i and g_j changes every state by step (chi_i - chi_j), no more.
    here = np.abs(sums).sum()
    best, kept = here, g.copy()
    for move in range(moves):
        word = random_word(state)
        i, j = int(word % np.uint64(points)), int((word >> np.uint64(24)) % np.uint64(points))
        step = np.int32(g[j] - g[i])
        if step == 0:
            continue
        there = np.int64(0)
        for x in range(states):
            there += abs(sums[x] + step * (np.int32(signs[i, x]) - np.int32(signs[j, x])))
        heat = HOT * (COLD / HOT) ** (move / moves) * states
        if there >= here or random_word(state) < np.uint64(np.exp((there - here) / heat) * 1.8e19):
            for x in range(states):
                sums[x] += step * (np.int32(signs[i, x]) - np.int32(signs[j, x]))
            g[i], g[j] = g[j], g[i]
            here = there
            if here > best:
                best = here
                kept[:] = g
    g[:] = kept
    return best


def maximin_gap(forms: Values, f: Values) -> Values:
    """Return f (C,) in [-1, 1] with the largest least entry of forms (R, C) @ f; the given f if the solver fails."""
    from scipy.optimize import linprog

    rows, columns = forms.shape
    # Variables (f, t): maximize t with forms f >= t, |f| <= 1.
    scaled = forms * columns  # entries of order 1
    cost = np.append(np.zeros(columns), -1.0)
    limits = np.vstack([np.tile([-1.0, 1.0], (columns, 1)), [-np.inf, np.inf]])
    program = linprog(cost, A_ub=np.hstack([-scaled, np.ones((rows, 1))]), b_ub=np.zeros(rows), bounds=limits)
    return np.clip(program.x[:-1], -1, 1) if program.status == 0 else f
