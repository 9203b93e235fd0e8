"""The strategy flat: its templates, its queries, and games below the sign batch but never below theorem B."""

from fractions import Fraction

import numpy as np
import pytest

from hardness.errors import InputError
from hardness.exact.flat import UNIT, layer_signs, templates
from hardness.exact.independent import independent_value
from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.batches import independent_apart
from hardness.sq.bounds.floors import exact_floor, max_separation
from hardness.sq.game import play


def test_templates_reach_what_they_say():
    """From the integers of the file alone, exactly; never beyond the bounds on T, and beyond T_ind wherever e > 2."""
    kept = ((6, 3, range(2, 9)), (8, 4, range(5, 25)), (9, 4, range(12, 49)))
    assert [(t.size, t.held, t.lost) for t in templates()] == [(m, t, e) for m, t, lost in kept for e in lost]
    for t in templates():
        signs = layer_signs(t.size, t.held).astype(np.int64)
        whole = np.rint(UNIT * t.values).astype(np.int64)
        assert np.abs(whole).max() <= UNIT
        sums = signs @ whole
        gaps = sums[t.support[: t.lost]] - sums[t.support[t.lost :]]
        assert Fraction(int(gaps.min()), UNIT * 4 * signs.shape[1]) == t.reach
        assert len(set(t.support.tolist())) == 2 * t.lost
        assert independent_apart(t.lost) <= t.reach <= max_separation(t.lost)
        assert t.lost == 2 or t.reach > independent_apart(t.lost)


@pytest.mark.parametrize(
    ("n", "s", "tau"), [(9, 4, 0.12), (10, 3, 0.1), (9, 2, 0.16), (8, 4, 0.07), (6, 1, 0.1), (5, 4, 0.1)]
)
def test_flat_games_are_solved_above_the_floor(n: int, s: int, tau: float):
    concepts = ParityConcepts(n, s)
    result = play(concepts, "flat", "window", tau, seed=1)
    assert result.solved
    assert result.exact_floor == exact_floor(concepts.size, tau)
    assert result.floor_ratio == result.queries / result.exact_floor >= 1
    assert result.queries <= 1.05 * independent_value(concepts.size, tau) + 6


def test_flat_needs_fewer_queries_than_independent_sets_would():
    result = play(ParityConcepts(10, 4), "flat", "window", 0.16, seed=0)
    assert 70 <= result.queries <= 85 < independent_value(210, 0.16) == 105


def test_flat_against_other_oracles():
    concepts = ParityConcepts(9, 3)
    for oracle in ("null", "sampled"):
        result = play(concepts, "flat", oracle, 0.11, seed=2)
        assert (result.status, result.exact_floor, result.floor_ratio) == ("solved", None, None)
    assert play(concepts, "flat", "window", 0.25).status == "stuck"
    flipped = play(concepts, "flat", "window", 0.06, flip=0.2, seed=2)
    assert (flipped.status, flipped.exact_floor) == ("solved", exact_floor(84, Fraction(1, 10)))
    with pytest.raises(InputError, match=r"flat is for parities of up to 2\^18 sets"):
        play(ParityConcepts(30, 6), "flat", "window", 0.1)
