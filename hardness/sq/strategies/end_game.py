"""The end of a game: few sets left, each query asked for several levels of means at once (theory 2.7)."""

from fractions import Fraction

import numpy as np
from numpy.random import Generator as Random

from hardness.errors import InputError
from hardness.sq.affine_types import characters, coordinates
from hardness.sq.exact import end_game
from hardness.sq.queries import SpanFunction
from hardness.sq.small_games import Ask, SmallGames
from hardness.sq.strategies.base import Masks, Steps
from hardness.sq.strategies.shaped import MARGIN, maximin_gap

SOLVED = 6  # sets of which V is searched for
LARGEST_RANK = 11  # rank of the sets whose means are put in order
ORDERS = 4


def endgame(live: Masks, tau: Fraction, rng: Random) -> Steps:
    """Queries while they are known to lose more than sign batches would: exactly optimal ones for the last six sets.

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
            (q for kept in (aim, aim + 1, aim + aim // 4) if (q := _ordered(live, kept, float(tau), rng))), None
        )
        if query is None:
            return
        live = yield query


def _ordered(live: Masks, kept: int, tau: float, rng: Random) -> SpanFunction | None:
    """A query on the live sets of which no answer keeps more than `kept`: a random order of the means, a linear
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
