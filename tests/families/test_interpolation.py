"""The family `interpolation`: its ends, its path on every input, and its way through the command line."""

import numpy as np
import pytest
from softmax import softmax_layer

from hardness.families.interpolation import Interpolation
from hardness.families.parity import Parity
from hardness.instance import Instance, every_pair
from hardness.tokens import unpack


@pytest.mark.parametrize(("dim", "heads"), [(3, 2), (4, 2), (4, 3)])
@pytest.mark.parametrize("rho", [0.1, 0.5, 1.0])
def test_the_path_on_every_input(dim: int, heads: int, rho: float) -> None:
    instance = Instance.generate(Interpolation(dim, heads, rho), 3)
    hard = Parity(dim, heads).realize(instance.secret).layer()
    X = unpack(every_pair(dim), dim)
    theta, w = ((1 - rho) * getattr(hard, name) + rho * instance.secret[name] for name in ("theta", "w"))
    labels = instance.family.labels(instance.teacher, every_pair(dim), np.zeros(len(X)))
    assert np.abs(labels - softmax_layer(theta, w, X)).max() < 1e-12


@pytest.mark.parametrize(("dim", "heads"), [(5, 2), (6, 4)])
def test_the_hard_end_is_the_parity_on_every_input(dim: int, heads: int) -> None:
    """F is smooth in ρ: at ρ = 1e-9 it is the closed form of the parity within 1e-6, and no nearer than 1e-12."""
    instance = Instance.generate(Interpolation(dim, heads, 1e-9), 1)
    words = every_pair(dim)
    exact = Parity(dim, heads).realize(instance.secret).labels(words)
    distance = np.abs(instance.teacher(unpack(words, dim)) - exact).max()
    assert 1e-12 < distance < 1e-6


def test_the_nice_end_is_the_random_layer() -> None:
    instance = Instance.generate(Interpolation(6, 3, 1.0), 2)
    assert np.array_equal(instance.teacher.theta, instance.secret["theta"])
    assert np.array_equal(instance.teacher.w, instance.secret["w"])
    # Entries N(0, 4/(2 d²)) and N(0, 1/d): 108 of each; the variance of 108 has 5 sd of 68 %.
    assert instance.teacher.theta.var() * 2 * 36 / 4 == pytest.approx(1, abs=0.68)
    assert instance.teacher.w.var() * 6 == pytest.approx(1, abs=0.68)
