"""Noisy labels: the error of least squares, heads that only fit noise, and what may be called a noise floor."""

import numpy as np
import pytest
from learner_teachers import examples, teacher

from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from learner.base import Learner, judge
from learner.direct import Direct, JointLBFGS
from learner.last_fit import all_rows, examine, last_fit
from learner.provable.pipeline import Provable

Array = np.ndarray


def noisy(layer: MultiHeadAttention, count: int, level: float, seed: int) -> tuple[Array, Array]:
    X, F = examples(layer, count, 2, seed)
    return X, F + level * F.std() * np.random.default_rng([seed, 2]).normal(size=F.shape)


def ratio(learner: Learner, layer: MultiHeadAttention, level: float, count: int, seed: int) -> float:
    """Error on clean labels, over that of least squares from the truth on all examples."""
    X, Y = noisy(layer, count, level, seed)
    clean, F = examples(layer, 2000, 2, 900 + seed)
    theta, w, _ = all_rows(X, Y, layer.theta)
    best = judge(MultiHeadAttention(theta, w)(clean), F)["relative_error"]
    report = learner.fit(X, Y).report_
    assert report.noise_floor
    assert "at the noise floor" in report.reason
    assert report.heads == layer.heads
    # The level is known to 1 / √(2·entries), 1 % at 500 examples; six of that.
    assert report.noise == pytest.approx(level * F.std(), rel=0.06)
    return float(judge(learner.predict(clean), F)["relative_error"] / best)


@pytest.mark.parametrize("level", [0.1, *(pytest.param(level, marks=pytest.mark.slow) for level in (0.003, 0.5))])
@pytest.mark.parametrize("kind", [Direct, JointLBFGS])
def test_noise_costs_what_least_squares_pays(kind: type[Direct], level: float) -> None:
    """Learner 9 (5): direct was eight times worse at level .1. A tenth is held out, which alone costs 1.05."""
    assert ratio(kind(heads=2, random_state=1), teacher(2, 8, 31), level, 2000, 1) < 1.3


def test_the_provable_learner_polishes_down_to_the_noise() -> None:
    assert ratio(Provable(heads=2, random_state=1), teacher(2, 8, 32), 0.1, 3000, 1) < 1.3


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("learner", [Direct(random_state=0), JointLBFGS(random_state=0), Provable(random_state=0)])
def test_the_noise_table(learner: Learner, level: float) -> None:
    """n = 20,000: the error of least squares from the truth (3.0e-3 at level .1), within 1.3."""
    for m, d, seed in ((2, 8, 0), (3, 8, 1), (2, 16, 2)):
        assert ratio(learner.set_params(heads=m), teacher(m, d, 40 + seed), level, 20_000, seed) < 1.3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_polish_gets_out_of_a_trap_under_noise(seed: int) -> None:
    """At level .5 the phases end in junk; from there a few examples led astray, twenty times the error of the best."""
    assert ratio(Provable(heads=3, random_state=seed), teacher(3, 8, 440 + seed), 0.5, 20_000, seed) < 1.3


def test_heads_that_only_fit_noise_are_dropped() -> None:
    layer = teacher(2, 8, 33)
    X, Y = noisy(layer, 800, 0.1, 3)
    spare = np.concatenate([layer.theta, teacher(1, 8, 34).theta])
    padded = MultiHeadAttention(spare, np.concatenate([layer.w, np.zeros((1, 8, 8))]))
    assert last_fit(padded, X, Y).heads == 2


def floor_of(X: Array, Y: Array, layer: MultiHeadAttention) -> str:
    half = len(X) // 2
    return str(examine(X[:half], Y[:half], layer, (X[half:], Y[half:]), np.random.default_rng(0)))


def test_structure_is_not_called_noise() -> None:
    layer = teacher(3, 8, 37)
    X, Y = noisy(layer, 4000, 0.1, 6)
    assert "at the noise floor" in floor_of(X, Y, layer)
    assert "has structure" in floor_of(X, Y, MultiHeadAttention(layer.theta[:2], layer.w[:2]))
    assert "nothing was learned" in floor_of(X, np.random.default_rng(2).normal(size=Y.shape), layer)


def test_what_a_parity_hides_is_not_called_noise() -> None:
    """Half of a parity's labels is linear; the other half looks random to random heads, but sits in one output."""
    instance = Instance.generate(Parity(dim=12, heads=6), 0)
    data = instance.examples(600, 1)
    report = Direct(heads=2, starts=1, random_state=0).fit(data.X, data.Y).report_
    assert not report.noise_floor
    assert report.status != "solved"
