"""Products in tiles against integer arithmetic, and one layer on the tiles of two processors."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvmlite.binding import get_host_cpu_features

from hardness.kernels.dense import LANES, panels
from hardness.kernels.tile import product
from hardness.layer import MultiHeadAttention


@given(st.integers(0, 11), st.integers(0, 20), st.integers(0, 6), st.integers(0, 3), st.integers(0, 2**32))
def test_a_product_is_exact_on_integers_and_stays_in_its_place(rows, depth, vectors, gap, seed):
    rng = np.random.default_rng(seed)
    columns = vectors * LANES
    a = rng.integers(-9, 10, (rows, depth + gap)).astype(np.float64)
    b = rng.integers(-9, 10, (depth, columns)).astype(np.float64)
    before = rng.integers(-9, 10, (rows, columns + gap)).astype(np.float64)
    expected = before.copy()
    expected[:, :columns] += a[:, :depth] @ b
    plain, paneled = before.copy(), before.copy()
    shape, left = (rows, depth, columns), (a.reshape(-1), 0, depth + gap, 1)
    product(shape, True, left, (b.reshape(-1), 0, columns, LANES), (plain.reshape(-1), 0, columns + gap, LANES))
    in_panels = (panels(b).reshape(-1), 0, LANES, LANES * depth)
    product(shape, True, left, in_panels, (paneled.reshape(-1), 0, columns + gap, LANES))
    assert np.array_equal(plain, expected)
    assert np.array_equal(paneled, expected)


def test_a_product_of_a_transposed_matrix():
    a, b = np.arange(12.0).reshape(4, 3), np.arange(32.0).reshape(4, 8)
    out = np.zeros(24)
    product((3, 4, 8), True, (a.reshape(-1), 0, 1, 3), (b.reshape(-1), 0, 8, LANES), (out, 0, 8, LANES))
    assert np.array_equal(out.reshape(3, 8), a.T @ b)


def digest() -> str:
    found = hashlib.sha256()
    for m, k, d in ((1, 2, 5), (8, 2, 32), (3, 5, 17), (8, 8, 64), (2, 9, 33)):
        rng = np.random.default_rng(m)
        layer = MultiHeadAttention(*rng.normal(size=(2, m, d, d)))
        found.update(layer(rng.choice([-1.0, 1.0], (50, k, d))))
    return found.hexdigest()


@pytest.mark.slow
@pytest.mark.skipif(not get_host_cpu_features().get("avx512f"), reason="the processor has the smaller tiles only")
def test_the_same_bits_with_the_tiles_of_a_processor_of_half_the_width(tmp_path):
    code = (
        "import llvmlite.binding as b; whole = b.get_host_cpu_features;"
        "b.get_host_cpu_features = lambda: {**whole(), 'avx512f': False};"
        "from hardness.kernels import tile; from test_kernels_dense import digest;"
        "assert tile.SIDE == 2; print(digest())"
    )
    half = {
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "+avx2,+fma,+avx",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | half,
        cwd=Path(__file__).parent,
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout.strip() == digest()
