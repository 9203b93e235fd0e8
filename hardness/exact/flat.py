"""Dependent sets lose more than independent ones: a strategy below the sign batch, to its end (theory 2.7)."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import comb

import numpy as np
from numpy.random import Generator as Random

from hardness.errors import InputError
from hardness.exact.affine_types import characters, coordinates
from hardness.exact.independent import end_game, independent_lost
from hardness.exact.layers import (
    Template,
    alive,
    densest,
    held_of,
    layer_signs,
    layers_through,
    templates,
)
from hardness.exact.shaped import MARGIN, maximin_gap, shape_query
from hardness.exact.small_games import Ask, SmallGames
from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.floors import IDENTIFIABLE, decimal, most_lost
from hardness.sq.queries import SpanFunction
from hardness.sq.strategies import Masks, Steps, batch, sign_batch

SET_BY_SET = 2**18  # sets up to which it is offered: queries are looked for among all that live
WINDOW_COORDINATES = 12  # coordinates of a window
ROOM = 2.4  # sets alive in a layer, over the number to be lost, below which a larger layer is looked for
TRIES = 100  # layers looked at for a query
PLACES = 300  # placements of templates looked at for a query
SOLVED = 6  # sets of which V is searched for
LARGEST_RANK = 11  # rank of the sets whose means are put in order
ORDERS = 4  # of the means that a query of the end game is looked for from


def flat(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Ask queries shaped to dense layers of dependent sets, from templates while they fit; sign batches at the end.

    A layer is all sets that agree outside a window of coordinates. A template is a query on a layer that loses e sets
    to every answer, more than a sign batch does (`templates`); it is placed by a choice of the window's coordinates.
    Where no placement finds enough of its sets alive, a query is shaped to the sets that are (`shape_query`).
    """
    if concepts.size > SET_BY_SET:
        raise InputError(
            f"flat is offered up to 2^18 sets, not {concepts.size}; play sign-batch, or lower --dim"
        )
    tau = decimal(tolerance)
    if tau >= IDENTIFIABLE:
        return
    caster = _Caster(concepts, float(tau), rng)
    while len(live) > 2 * caster.batch_loss + 2:
        live = yield caster.query(live) or batch(live, 2 * caster.batch_loss + 1, rng)
    yield from endgame(live, tau, rng)
    yield from sign_batch(concepts, live, tolerance, rng)


@dataclass
class _Caster:
    """What `flat` remembers between queries: how many sets it means to lose, on which layers, and its templates."""

    concepts: ParityConcepts
    tau: float
    rng: Random
    templates: list[Template] = field(init=False)

    def __post_init__(self) -> None:
        self.batch_loss, self.largest_loss = independent_lost(self.tau), most_lost(self.tau)
        n, s = self.concepts.n, self.concepts.s
        fit = [t for t in templates() if t.reach > self.tau and t.held <= s and t.size - t.held <= n - s]
        self.templates = sorted((t for t in fit if t.lost > self.batch_loss), key=lambda t: -t.lost)[:3]
        self.goal = self.templates[0].lost if self.templates else min(self.largest_loss, self.batch_loss + 1)
        self.largest = min(WINDOW_COORDINATES, n)
        sizes = (m for m in range(2, self.largest) if comb(m, held_of(self.concepts, m)) >= ROOM * self.goal)
        self.size = next(sizes, self.largest)

    def query(self, live: Masks) -> SpanFunction | None:
        """Return a query that loses more than a sign batch, or None."""
        if self.largest_loss == self.batch_loss:
            return None
        return self._placed(live) or self._shaped(live)

    def _placed(self, live: Masks) -> SpanFunction | None:
        """Return a template's query on sets all of which live, or None."""
        for template in self.templates:
            if template.lost < self.goal:
                break
            layers = layers_through(self.concepts, live, template.size, template.held, PLACES, self.rng)
            whole = np.flatnonzero(alive(layers.sets(template.support), live).all(axis=1))
            if len(whole):
                return layers.query(int(whole[0]), template.values)
        return None

    def _shaped(self, live: Masks) -> SpanFunction | None:
        """Return a query shaped to the live sets of the densest layer found; the window grows as layers thin out."""
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
    """Ask queries that lose more than sign batches would, while such are known: exactly optimal for the last six sets.

    Before, what independent sets would allow is tried on the live ones: k sets of which every answer keeps at most w,
    for the next w of `exact.end_game`.
    """
    games = SmallGames(tau)
    try:
        sizes = end_game(tau)
    except InputError:
        return
    while len(live) > 1:
        if len(live) <= SOLVED:
            masks = [int(mask) for mask in live]
            ask = games.decide(masks, games.value(masks))
            assert isinstance(ask, Ask)
            values = np.array([float(value) for value in ask.values])
            live = yield SpanFunction(ask.base, np.array(ask.generators, np.uint64), values)
            continue
        aim = max(size for size in sizes if size < len(live))
        query = next(
            (q for kept in (aim, aim + 1, aim + aim // 4) if (q := _ordered(live, kept, float(tau), rng))),
            None,
        )
        if query is None:
            return
        live = yield query


def _ordered(live: Masks, kept: int, tau: float, rng: Random) -> SpanFunction | None:
    """Return a query on the live sets of which no answer keeps more than `kept`: a random order of the means, a linear
    program, its own order, and so on."""
    generators, points = coordinates(live.tolist())
    if len(generators) > LARGEST_RANK or kept >= len(live):
        return None
    signs = characters(points, len(generators)).astype(np.float64)
    f = np.zeros(signs.shape[1])
    # No answer keeps more than w of the means iff in their order the (j + w)-th exceeds the j-th by more than 2 tau:
    # an order is guessed, its least gap made as large as a linear program can, and the order that comes out is next.
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
