"""Theory 2.10: bounds on examples for learners that keep little of each one."""

from math import exp, floor, sqrt

import numpy as np
import pytest
from commands import answer, check_refused, run_command

from hardness.errors import InputError
from hardness.sq.bounds import messages


def bound(concepts, success, rho=1.0, flip=0.0):
    """Theorem M in floating point, not rounded."""
    return concepts / ((1 - 2 * flip) ** 2 * rho) * (1 - sqrt(1 - success + 1 / concepts)) ** 2


@pytest.mark.parametrize("concepts", [2, 21, 45, 184_756, 10**9])
@pytest.mark.parametrize(("success", "flip"), [(0.9, 0.0), (0.6, 0.1), (1.0, 0.45)])
def test_the_bounds_are_the_formulas_rounded_down(concepts, success, flip):
    assert messages.message_examples(concepts, 3, success, flip) == floor(bound(concepts, success, 4, flip))
    for kappa in (0.7, 1.0, 4.0):
        rho = exp(4.5 / kappa**2) * (1 + 4 / kappa**2) / kappa**2
        assert messages.proved_examples(concepts, kappa, success, flip) == floor(
            bound(concepts, success, rho, flip)
        )


def test_bounds_of_huge_sizes_and_messages():
    huge = 10**300
    share = messages.message_examples(huge) / huge
    assert share == pytest.approx((1 - sqrt(0.1)) ** 2, rel=1e-12)
    assert messages.message_examples(huge, bits=10**6) == 0
    assert messages.message_examples(10**6, success=1e-7) == 0


def test_the_command_line():
    line = "sq bounds parity --dim 21 --heads 10 "
    fields = answer(f"{line} --tolerance .1 --message-bits 1 --success .9 --noise 4")
    assert fields["message_examples"] == 86_379
    assert fields["noisy_gradient_examples"] == messages.proved_examples(184_756, 4.0)
    assert fields["window"] == pytest.approx(8 * 0.01 * (184_756 - 1))
    expected = {"concepts": 184_756, "asymptotic_ratio": None, "message_examples": 134_967}
    assert answer(f"{line} --flip .1") == expected
    line = "sq bounds parity --dim 21 --heads 4"
    for more, ratio in (("--tolerance .2", 1), ("--tolerance .112 --flip .1", 0.25)):
        assert answer(f"{line} {more}")["asymptotic_ratio"] == ratio
    flipped, plain = answer(f"{line} --tolerance .05 --flip .1"), answer(f"{line} --tolerance .0625")
    assert all(flipped[name] == pytest.approx(plain[name]) for name in ("window", "strict", "exact_floor"))
    assert answer(f"{line} --tolerance .2 --flip .1")["identifiable"] is False
    for option in ("--success 0", "--flip .5", "--noise nan"):
        check_refused(run_command(f"{line} {option}"), "")


# Learners


def success(characters, flip, kind, messages, weights, rng):
    """P of the best guess after adaptive one-bit messages, exactly.

    `weights` (N,) is 1/N times the law of the transcript. The next bit is of the likeliest set, a vote of the sets by
    weight, or nothing in particular.
    """
    if messages == 0 or weights.sum() == 0:
        return float(weights.max())
    plus, minus = rng.random((2, characters.shape[1]))  # P(bit = 1 | v, y = 1) and P(bit = 1 | v, y = -1)
    if kind < 2:
        direction = np.sign(weights @ characters + 1e-9) if kind else characters[weights.argmax()]
        plus, minus = (1 + direction) / 2, (1 - direction) / 2
    odd = characters @ (plus - minus) / (2 * len(plus))
    law = (plus + minus).mean() / 2 + (1 - 2 * flip) * odd
    return sum(success(characters, flip, kind, messages - 1, weights * p, rng) for p in (law, 1 - law))


def test_no_adaptive_one_bit_learner_beats_the_bound():
    """150 learners on n <= 10. Their success is computed, not sampled: the false-alarm rate is 0."""
    rng, ratios = np.random.default_rng(41), []
    for _ in range(150):
        n, count, flip = int(rng.integers(2, 11)), int(rng.integers(1, 8)), float(rng.choice([0.0, 0.1, 0.3]))
        sets = rng.permutation(np.arange(1, 2**n))[: int(rng.integers(2, min(2**n, 61)))]
        characters = 1.0 - 2 * (np.bitwise_count(sets[:, None] & np.arange(2**n)) & 1)  # (N, 2^n)
        size = len(sets)
        reached = success(characters, flip, int(rng.integers(3)), count, np.full(size, 1 / size), rng)
        if reached > 1 / size:
            ratios.append(bound(size, reached, flip=flip) / count)
    assert max(ratios) <= 1
    assert max(ratios) > 0.1  # a bound ten times as large would be beaten


# Noisy gradients


def information(gradients, weights, s):
    """rho of the channel psi + N(0, s^2) by integration: scalar gradients (V, 2) of labels 1 and -1, weights (V,)."""
    g = np.linspace(-1 - 10 * s, 1 + 10 * s, 4001)
    density = np.exp(-(((g[:, None, None] - gradients) / s) ** 2) / 2) / (s * sqrt(2 * np.pi))
    odd, even = (density[..., 0] - density[..., 1]) / 2, density.mean(axis=2)
    return float(np.trapezoid((odd**2 @ weights) / np.maximum(even @ weights, 1e-300), g))


def sharper(kappa):
    """Theory 2.10: the maximum over the norm r of the mean gradient, on a grid."""
    r, t = np.linspace(0, 1, 4097), 1 / kappa**2
    return float(((1 - r**2) * np.exp((1.5 + 2 * r + r**2 / 2) * t) * (1 + (1 + r) ** 2 * t) * t).max())


@pytest.mark.parametrize("kappa", [0.5, 1.0, 2.0, 4.0])
def test_no_clipped_gradient_tells_more_than_the_bounds(kappa):
    rng = np.random.default_rng(3)
    for _ in range(60):
        atoms = int(rng.integers(1, 6))
        gradients, weights = rng.uniform(-1, 1, (atoms, 2)), rng.dirichlet(np.full(atoms, 0.3))
        gradients = np.sign(gradients) if rng.random() < 0.3 else gradients
        rho = information(gradients, weights, kappa)
        d2 = float(weights @ (gradients[:, 0] - gradients[:, 1]) ** 2) / 4
        assert rho <= exp(4 / kappa**2) * (1 + 4 / kappa**2) * d2 / kappa**2 + 1e-12
        assert rho <= sharper(kappa) * (1 + 1e-6) <= messages.gradient_information(kappa)


def test_the_factor_of_D_cannot_be_improved():
    share, step = 1e-9, 1e-3
    gradients, weights = np.array([[-1, -1], [1, 1 - 2 * step]]), np.array([1 - share, share])
    d2 = share * step**2
    assert information(gradients, weights, 1.0) / d2 == pytest.approx(exp(4) * 5, rel=0.02)


def test_the_sharper_constant_is_that_of_theory():
    assert [sharper(kappa) for kappa in (4.0, 2.0, 1.0)] == pytest.approx([0.0741, 0.569, 47.34], rel=1e-3)
    with pytest.raises(InputError, match="kappa"):
        messages.gradient_information(float("nan"))
    assert messages.gradient_information(1e9) < 1.1e-18
    assert messages.proved_examples(10**9, 0.01) == 0


def gaussian_gap(mean, covariance, batch):
    """h = 2 (1 - affinity) of N(mean, covariance/batch) and N(0, 1/batch)."""
    middle = (np.eye(len(mean)) + covariance) / 2
    log_affinity = np.linalg.slogdet(covariance)[1] / 4 - np.linalg.slogdet(middle)[1] / 2
    return 2 * (1 - exp(log_affinity - batch * mean @ np.linalg.solve(middle, mean) / 8))


@pytest.mark.parametrize("seed", range(5))
def test_theorem_G_on_random_gradients(seed):
    """Both sums over all sets, of the Gaussians themselves, against the bounds of the proof."""
    rng, n, p = np.random.default_rng(seed), 6, 4
    sets = np.arange(1, 2**n)
    characters = 1.0 - 2 * (np.bitwise_count(sets[:, None] & np.arange(2**n)) & 1)
    a, b = rng.standard_normal((2, 2**n, p)) @ rng.standard_normal((p, p))
    a -= a.mean(axis=0)
    null = (a.T @ a + b.T @ b) / 2**n
    root = np.linalg.cholesky(np.linalg.inv(null))
    alpha, beta = a @ root, b @ root
    means = characters @ beta / 2**n
    assert (means**2).sum() <= p
    fourth = float(((alpha**2).sum(1) * (beta**2).sum(1)).mean()) / p**2
    for batch in (p, 4 * p, 64 * p):
        same = 2 * (1 - np.exp(-batch * (means**2).sum(1) / 8))
        assert same.sum() <= batch * p / 4
        total = 0.0
        for chi, mean in zip(characters, means, strict=True):
            cross = (alpha * chi[:, None]).T @ beta / 2**n
            covariance = np.eye(p) + cross + cross.T - np.outer(mean, mean)
            total += gaussian_gap(mean, covariance, batch)
        assert total <= (64 * fourth + 16.5) * batch * p
