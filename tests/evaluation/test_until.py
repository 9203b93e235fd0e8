"""Examples in portions and from pools, and what was spent on a solution."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hardness.evaluation.until import multiply_adds, pooled
from hardness.examples import Examples
from hardness.families.parity import Parity
from hardness.instance import Instance
from learner.networks import MLP
from learner.student import Student


@given(st.integers(1, 40), st.lists(st.integers(0, 200), min_size=1, max_size=6), st.integers(0, 2**32))
def test_a_pool_is_read_in_whole_passes_each_in_its_own_order_whatever_the_pieces(count, ends, seed):
    pool = Examples(np.ones((count, 2, 1), dtype=np.int8), np.arange(2.0 * count).reshape(count, 2, 1))
    ends, portions = [0, *sorted({end for end in ends if end})], pooled(pool, seed)
    read = np.concatenate([np.empty((0, 2, 1)), *(portions(a, b - a).Y for a, b in pairwise(ends))])
    whole = portions(0, ends[-1]).Y if ends[-1] else read
    assert np.array_equal(read, whole)
    for turn in range(ends[-1] // count):
        assert set(read[turn * count : (turn + 1) * count, 0, 0]) == set(pool.Y[:, 0, 0])
    if count > 20 and ends[-1] >= 2 * count:
        assert not np.array_equal(read[:count], read[count : 2 * count])


def test_a_learner_that_counts_nothing_has_no_multiply_adds():
    instance = Instance.generate(Parity(6, 2), 0)
    assert multiply_adds(instance, object(), 100) is None
    assert multiply_adds(instance, Student(), 5000) == 4 * 16 * 6**2 * 5000
    assert multiply_adds(instance, MLP(width=10), 100) == MLP(width=10).multiply_adds(100, 2, 6)
