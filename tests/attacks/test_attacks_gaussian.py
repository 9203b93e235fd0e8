"""Elimination against its own law under label noise (theory 4.1)."""

from math import gcd

import flint
import numpy as np
import pytest
from attack_examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from hardness.attacks.equations import extract
from hardness.attacks.gaussian import FULL_RANK, check_plan, solve_mod
from hardness.errors import InputError
from hardness.kernels.gf2 import pooled_gauss
from hardness.tokens import pack_bits, unpack_bits


@settings(max_examples=30)
@given(st.sampled_from([2, 3, 4, 6, 8, 9, 12, 97, 257, 3329]), st.integers(1, 12), st.integers(0, 2**32))
def test_solve_mod_finds_the_only_solution(q, n, seed):
    rng = np.random.default_rng(seed)
    A, w = rng.integers(-1, 2, (n + 8, n)), rng.integers(0, q, n)
    solution = solve_mod(A, A @ w % q, q)
    # None is right exactly where a prime of q divides the last elementary divisor: then several secrets fit.
    form = flint.fmpz_mat(A.tolist()).snf()
    unique = gcd(int(form[n - 1, n - 1]), q) == 1
    assert (solution is not None and (solution == w).all()) if unique else solution is None


def _tries(n, flip, trials, rng, M=1 << 16):
    """Tries of pooled Gauss on one large pool of which exactly the fraction `flip` is wrong.

    On small random pools the tries are a mixture of geometric laws: the pool's own share of wrong labels
    varies.
    """
    w = rng.integers(0, 2, n)
    rows, bar = check_plan(flip, 1e6)
    A = rng.integers(0, 2, (M + rows, n))
    wrong = np.zeros(M + rows, dtype=np.int64)
    wrong[rng.permutation(M)[: round(flip * M)]] = 1
    wrong[M:] = rng.random(rows) < flip
    packed = pack_bits(np.column_stack((A, (A @ w + wrong) % 2)))
    out = []
    for _ in range(trials):
        state = rng.integers(2**64, size=1, dtype=np.uint64)
        taken, solved, solution = pooled_gauss(packed[:M], packed[M:], n, int(bar * rows), 10**6, state)
        assert solved
        assert (unpack_bits(solution[None], n)[0] == w).all()
        out.append(taken)
    return np.array(out)


def geometric_p_value(tries, p):
    """Chi-square test that `tries` are geometric with success probability p, in cells of 40 or so."""
    cells = max(2, min(20, len(tries) // 40))
    edges = np.unique(np.ceil(np.log1p(-np.arange(1, cells) / cells) / np.log1p(-p)))
    law = np.diff(np.concatenate(([0.0], 1 - (1 - p) ** edges, [1.0])))
    observed = np.bincount(np.searchsorted(edges, tries), minlength=len(law))
    return float(chisquare(observed, law * len(tries)).pvalue)


def test_lpn_tries_are_geometric():
    """Theory 4.1. False alarms: once in 10^4 runs of another seed."""
    tries = _tries(15, 0.1, 600, np.random.default_rng([15, 7]))
    assert geometric_p_value(tries, FULL_RANK * 0.9**15) > 1e-4


def test_changed_labels_and_foreign_families_are_refused():
    X, Y, public = examples(np.ones(4, dtype=np.int64), 97, 4, count=50, seed=0)
    with pytest.raises(InputError, match="offset A"):
        extract(X, Y + 0.1, public)
    for name in ("nondegenerate", "attack_examples:Halves"):  # what nobody registered is not even imported
        with pytest.raises(InputError, match="no hidden linear equations"):
            extract(X, Y, public | {"family": name})
    with pytest.raises(InputError, match="lack gadget"):
        extract(X, Y, {name: value for name, value in public.items() if name != "gadget"})
