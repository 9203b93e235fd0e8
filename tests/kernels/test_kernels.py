from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hardness.kernels import bits as kernels
from hardness.kernels import games as game_kernels
from hardness.kernels.gf2 import rref2
from hardness.tokens import pack_bits, unpack_bits


@given(st.integers(0, 2**64 - 1))
def test_popcount(word: int) -> None:
    assert kernels.popcount(np.uint64(word)) == word.bit_count()


def test_random_words_are_splitmix64() -> None:
    """The published first outputs of splitmix64 from state 0."""
    state = np.zeros(1, np.uint64)
    assert [int(kernels.random_word(state)) for _ in range(2)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


@given(st.lists(st.integers(-20, 20), max_size=30), st.integers(1, 25), st.integers(0, 10))
def test_best_window_is_the_maximum_over_all_windows(values: list[int], length: int, zeros: int) -> None:
    ordered = np.array(sorted(values), np.int64)
    everything = values + [0] * zeros
    # Half-integer steps reach every combination of what a window can hold.
    best = max((sum(low / 2 <= v <= low / 2 + length for v in everything) for low in range(-100, 50)), default=0)
    low, inside = game_kernels.best_window(ordered, np.int64(length), zeros)
    if everything:
        assert inside == best == sum(low <= v <= low + length for v in everything)


def test_sampled_sums_follow_the_sample_mean_of_real_characters() -> None:
    """Lazily drawn columns have the moments of chi_S(v) y 1{z_0 != 0} (false alarm below 1e-6: 5 sd)."""
    state, games, samples = np.array([7], np.uint64), 20_000, 100
    tail = np.uint64((1 << 36) - 1)
    draws = {
        match: np.array([game_kernels.sampled_sum(state, 2, tail, match) for _ in range(games)])
        for match in (True, False)
    }
    for match, mean, variance in ((True, 50, 25), (False, 0, 50)):
        assert abs(draws[match].mean() - mean) < 5 * (variance / games) ** 0.5
        assert abs(draws[match].var() / variance - 1) < 5 * (2 / games) ** 0.5
    assert samples == 64 + 36


def eliminate(A: NDArray[Any]) -> tuple[NDArray[Any], list[int]]:
    """Reduced row echelon form over GF(2), a pivot at a time."""
    A, pivots = A.copy(), []
    for c in range(A.shape[1]):
        below = np.flatnonzero(A[len(pivots) :, c]) + len(pivots)
        if below.size:
            A[[len(pivots), below[0]]] = A[[below[0], len(pivots)]]
            others = np.flatnonzero(A[:, c] & (np.arange(len(A)) != len(pivots)))
            A[others] ^= A[len(pivots)]
            pivots.append(c)
    return A, pivots


@given(
    st.integers(1, 90) | st.integers(480, 620),  # with one table, and with several
    st.integers(1, 300),
    st.integers(0, 200),
    st.floats(0, 1),
    st.integers(0, 2**32),
)
@settings(max_examples=40)
def test_elimination_in_words_is_elimination_by_pivots(
    rows: int, columns: int, rank: int, density: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    A = (rng.integers(0, 2, (rows, rank)) @ rng.integers(0, 2, (rank, columns)) % 2).astype(np.uint8)
    A[:, rng.random(columns) > density] = 0  # columns without a pivot: panels with gaps
    words = pack_bits(A)
    assert np.array_equal(unpack_bits(words, columns), A)
    pivots = rref2(words, columns)
    reduced = unpack_bits(words, columns)
    expected, lead = eliminate(A)
    assert np.array_equal(reduced, expected)
    assert pivots.tolist() == lead
