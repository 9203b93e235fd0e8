"""The Walsh-Hadamard transform against its matrix and its definition."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.errors import TypingError
from numpy.typing import NDArray
from scipy.linalg import hadamard

from hardness.kernels import walsh as kernels


def radix_two(f: NDArray[Any]) -> NDArray[Any]:
    """The definition, a level at a time."""
    for level in range(f.size.bit_length() - 1):
        pairs = f.reshape(-1, 2, 1 << level)
        f = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).ravel()
    return f


@given(st.integers(0, 10) | st.integers(9, 22), st.sampled_from([np.float64, np.float32, np.int32]))
@settings(max_examples=25)
def test_walsh_hadamard_is_the_matrix_in_chunks(bits: int, kind: type) -> None:
    f = np.random.default_rng(bits).standard_normal(1 << bits)
    f = f.astype(kind) if kind != np.int32 else (100 * f).astype(kind)
    expected, single = radix_two(f), f.copy()
    kernels.walsh_hadamard(single)
    # The same sums in the same order, level by level: the same bits.
    assert np.array_equal(single, expected)
    if bits < 11 and kind == np.int32:
        assert np.array_equal(single, hadamard(1 << bits) @ f)


def test_walsh_hadamard_refuses_what_is_not_contiguous() -> None:
    with pytest.raises(TypingError, match="contiguous"):
        kernels.walsh_hadamard(np.ones((8, 2))[:, 0])
