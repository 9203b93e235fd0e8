"""The lattice attack: its parts against exact arithmetic, and the frontier of theory 4.2-4.3."""

import dataclasses
import importlib.util
from math import ceil

import numpy as np
import pytest
from attack_examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import hardness
from hardness.attacks.acceptance import polish, trimmed
from hardness.attacks.equations import Equations, extract
from hardness.attacks.lattice import decode, deviation, ladder, orthogonal_basis, triangular
from hardness.attacks.lattice_cost import forecast
from hardness.kernels.search import nearest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("fpylll") is None, reason="extra `lattice`")


@settings(max_examples=20)
@given(st.integers(1, 8), st.integers(2, 20), st.integers(0, 2**32))
def test_orthogonal_basis_is_primitive(n, extra, seed):
    U = np.random.default_rng(seed).integers(-1, 2, (n + extra, n))
    if np.linalg.matrix_rank(U) < n:
        return
    B, rest = orthogonal_basis(U)
    assert not (B @ U).any()
    assert round(abs(np.linalg.det(np.vstack((B, rest)).astype(float)))) == 1


def test_the_ladder_keeps_the_lattice_and_shortens_it():
    U = np.random.default_rng(1).integers(0, 2, (90, 20))
    B, rest = orthogonal_basis(U)
    firsts = []
    for _, basis in ladder(B, top=30):
        assert not (basis @ U).any()
        assert round(np.linalg.slogdet(np.vstack((basis, rest)).astype(float))[1], 6) == 0
        firsts.append(triangular(basis)[0, 0])
    assert firsts[-1] <= firsts[0]


@settings(max_examples=20)
@given(st.integers(1, 4), st.integers(0, 2**32))
def test_enumeration_finds_the_nearest(M, seed):
    rng = np.random.default_rng(seed)
    L = np.tril(rng.normal(size=(M, M)))
    np.fill_diagonal(L, rng.uniform(0.5, 2, M))
    h = rng.normal(size=M) * 3
    m, norm, _ = nearest(L, h, np.full(M, 1e6), 10**7)
    # Brute force around the answer of a generous box: every m with |g_i| <= |g| of the answer lies in it.
    reach = np.ceil(np.sqrt(norm) * np.abs(L).sum(axis=1) + 1).astype(int)
    if np.prod(2 * reach + 1) > 20_000:
        return
    grid = np.stack(np.meshgrid(*[np.arange(-r, r + 1) for r in reach], indexing="ij"), -1).reshape(-1, M)
    g = np.linalg.solve(L, (h - np.rint(h) - grid).T)
    assert norm == pytest.approx((g**2).sum(axis=0).min())
    assert norm == pytest.approx((np.linalg.solve(L, h - m) ** 2).sum())


@pytest.mark.parametrize(("q", "p", "n"), [(97, 8, 60), (257, 16, 80), (97, 4, 24), (97, 2, 26)])
def test_the_forecast_is_what_the_reduced_lattice_shows(q, p, n):
    rng = np.random.default_rng([n, q])
    core = Equations(rng.integers(0, 2, (600, n)).astype(np.int8), rng.integers(0, p, 600), q, p)
    cast, detail = forecast(n, 1.0, deviation(core) / q, False), {}
    decode(core, deviation(core), cast.rank, rng, detail)
    expected = cast.log2_nodes - np.log2(cast.chance)
    assert abs(expected - (detail["log2_nodes"] - np.log2(detail["chance"]))) < 3


def test_wrong_labels_do_not_pull_and_a_wrong_rounding_is_mended():
    w = np.random.default_rng(0).integers(0, 97, 16)
    equations = extract(*examples(w, 97, 4, count=16_000, seed=0))
    level = equations.level.copy()
    level[:400] = (level[:400] + 2) % 4
    wrong = dataclasses.replace(equations, level=level)
    assert np.abs(trimmed(wrong, w + 0.7) - w).max() < 0.3
    off = w.copy()
    off[[3, 9]] += 1
    off[15] -= 1
    assert (polish(equations, off) == w).all()


@pytest.mark.parametrize(("n", "p"), [(16, 2), (16, 48), (24, 2)])
def test_the_attack_solves_from_the_examples_that_the_estimate_names(n, p):
    family = hardness.Rounding(dim=n + 1, modulus=97, levels=p)
    (price,) = (each for each in hardness.estimate(family).attacks if each.name == "lattice")
    instance = hardness.Instance.generate(family, seed=3)
    assert hardness.attack(instance, "lattice", ceil(2**price.samples), seed=3).status == "solved"
    assert price.samples < 14
