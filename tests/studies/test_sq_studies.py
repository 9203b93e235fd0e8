"""The studies of statistical queries: their grids, what is proved beside their games, and a few of these games."""

from math import comb

import numpy as np
import pytest

from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.game import play
from hardness.sq.strategies import spread
from hardness.studies import games, needs
from hardness.studies.needs import tolerance as tolerance_of


def test_every_point_is_one_game():
    tasks = games.tasks(False)
    assert len({task.identity for task in tasks}) == len(tasks)


@pytest.mark.parametrize(("n", "s"), [(8, 2), (10, 3), (12, 6)])
def test_spread_pays_no_more_than_sign_batches_where_sets_are_few_and_no_less_than_the_floor(n: int, s: int):
    """And at a tolerance small enough two queries that it asks name the set."""
    concepts = ParityConcepts(n, s)
    for exponent in (2.06, 3.0, 4.0, 5.0, 6.0, 8.0):
        tau = tolerance_of(exponent)
        game = play(concepts, "spread", "window", tau)
        assert game.solved
        assert game.queries >= exact_floor(concepts.size, tau)
        batches = play(concepts, "sign-batch", "window", tau).queries
        assert game.queries <= batches * (1.1 if concepts.size * tau**2 > 0.5 else 1)
    assert play(concepts, "spread", "window", 1e-7).queries <= 2
    assert not play(concepts, "spread", "window", 0.25, max_queries=40).solved
    wide = ParityConcepts(25, 2)
    with pytest.raises(InputError, match="n <= 24"):
        next(spread(wide, wide.masks(), 0.1, np.random.default_rng(0)))


def test_the_least_price_is_below_every_price_and_near_its_law():
    """No tolerance is cheaper; it is about 8N and (8N)^(1/2), more where sets are few."""
    rng = np.random.default_rng(0)
    for dim, size in ((16, 2), (24, 8)):
        sets = comb(dim - 1, size)
        for price, power in needs.PRICES.values():
            cheapest = needs.least_needed(dim, size, price, power)
            assert 0.95 <= cheapest / (8 * (sets - 1)) ** power <= (1.3 if dim == 16 else 1.1)
            for exponent in rng.uniform(2.01, 13, 40):
                tau = 2.0**-exponent
                assert cheapest <= price(exact_floor(sets, tau), tau) + 1e-9


@pytest.mark.parametrize("kind", ["phases", "every head"])
def test_a_trial_on_a_nice_layer_tries_tolerances_from_the_first_miss_to_the_last_aim(kind: str):
    """And a layer that no tolerance serves is missed, at the last one that may be tried."""
    solver = {"kind": kind, "learner": "provable", "oracle": "noisy", "population": 4000, "aims": [0.3, 0.1]}
    small = {"dim": 5, "tokens": 2, "heads": 1}
    reached, missed = (
        needs.trial(Task("nondegenerate", small, solver | {"first": first, "last": last}, {}, 0), 0, 9.0)
        for first, last in ((8, 14), (2, 3))
    )
    tried, errors = reached.detail["tried"], reached.detail["errors"]
    assert tried == list(range(tried[0], tried[-1] + 1))
    assert needs.largest(tried, errors, 0.3) == tried[1]
    assert needs.largest(tried, errors, 0.1) == tried[-1]
    assert (reached.status, missed.status, missed.detail["tried"]) == ("solved", "wrong", [2, 3])
