"""Compiled loops against plain ones and definitions."""

import flint
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

from hardness.kernels import games as game_kernels
from hardness.kernels.gf2 import rref2
from hardness.kernels.walsh import walsh_hadamard
from hardness.tokens import pack_bits, unpack_bits


@given(st.lists(st.integers(-20, 20), max_size=30), st.integers(1, 25), st.integers(0, 10))
def test_best_window_is_the_maximum_over_all_windows(values, length, zeros):
    ordered = np.array(sorted(values), np.int64)
    everything = values + [0] * zeros
    # Half-integer steps reach every combination of what a window can hold.
    best = max(
        (sum(low / 2 <= v <= low / 2 + length for v in everything) for low in range(-100, 50)), default=0
    )
    low, inside = game_kernels.best_window(ordered, np.int64(length), zeros)
    if everything:
        assert inside == best == sum(low <= v <= low + length for v in everything)


@given(
    st.integers(1, 90) | st.integers(480, 620) | st.just(2100),  # tables of one bit, of 4 and of 7
    st.integers(1, 150),
    st.integers(0, 200),
    st.floats(0, 1),
    st.integers(0, 2**32),
)
@settings(max_examples=40)
def test_elimination_in_words_is_elimination_by_pivots(rows, columns, rank, density, seed):
    rng = np.random.default_rng(seed)
    A = (rng.integers(0, 2, (rows, rank)) @ rng.integers(0, 2, (rank, columns)) % 2).astype(np.uint8)
    A[:, rng.random(columns) > density] = 0  # columns without a pivot: panels with gaps
    words = pack_bits(A)
    assert np.array_equal(unpack_bits(words, columns), A)
    pivots = rref2(words, columns)
    reduced = unpack_bits(words, columns)
    expected, rank = flint.nmod_mat(*A.shape, A.ravel().tolist(), 2).rref()
    assert reduced.tolist() == [[int(x) for x in row] for row in expected.tolist()]
    assert pivots.tolist() == [int(np.argmax(row)) for row in reduced[:rank]]


def radix_two(f):
    """The definition, a level at a time."""
    for level in range(f.size.bit_length() - 1):
        pairs = f.reshape(-1, 2, 1 << level)
        f = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).ravel()
    return f


@given(st.integers(0, 10) | st.integers(9, 18), st.sampled_from([np.float64, np.float32, np.int32]))
@settings(max_examples=25)
def test_walsh_hadamard_is_the_matrix_in_chunks(bits, kind):
    f = np.random.default_rng(bits).standard_normal(1 << bits)
    f = f.astype(kind) if kind != np.int32 else (100 * f).astype(kind)
    expected, single = radix_two(f), f.copy()
    walsh_hadamard(single)
    # The same sums in the same order, level by level: the same bits.
    assert np.array_equal(single, expected)
    if bits < 11 and kind == np.int32:
        assert np.array_equal(single, hadamard(1 << bits) @ f)
