from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.families.concepts import ParityConcepts


@pytest.mark.parametrize(("n", "s"), [(1, 1), (5, 1), (6, 3), (9, 4), (7, 7)])
def test_masks_are_all_sets_in_colex_order(n: int, s: int) -> None:
    sets = sorted(sum(1 << j for j in chosen) for chosen in combinations(range(n), s))
    concepts = ParityConcepts(n, s)
    assert concepts.masks().tolist() == sets
    assert [concepts.rank(mask) for mask in sets] == list(range(comb(n, s)))
    assert [concepts.unrank(rank) for rank in range(comb(n, s))] == sets


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))), st.data())
def test_rank_inverts_unrank_for_any_n(shape: tuple[int, int], data: st.DataObject) -> None:
    concepts = ParityConcepts(*shape)
    rank = data.draw(st.integers(0, concepts.size - 1))
    assert concepts.rank(concepts.unrank(rank)) == rank


def test_last_sets_of_64_bits_do_not_overflow() -> None:
    concepts = ParityConcepts(64, 6)
    last = concepts.masks(concepts.size - 3)
    assert [int(mask) for mask in last] == [concepts.unrank(concepts.size - i) for i in (3, 2, 1)]
    assert ParityConcepts(64, 64).masks().tolist() == [2**64 - 1]
