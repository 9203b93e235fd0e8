"""Published tables beside our runs: the step is the gradient of the hinge loss, the rows are a parity's."""

import numpy as np
import pytest
from commands import answer

from learner.studies import published
from learner.studies.published import DECAY, SETTINGS, Setting, open_rows, step


def hinge(weights, v, y):
    hidden, bias, out, shift = weights
    return np.maximum(0, 1 - y * (np.maximum(v @ hidden + bias, 0) @ out + shift))


@pytest.mark.parametrize("violators", [False, True])
def test_a_step_descends_the_mean_hinge_loss(violators):
    rng = np.random.default_rng(3)
    setting = Setting("", 5, 2, 7, 16, 0.9, (1,), 1, violators=violators)
    v, y = rng.choice([-1.0, 1.0], (16, 5)), rng.choice([-1.0, 1.0], 16)
    weights = [rng.standard_normal(shape) for shape in ((5, 7), (7,), (7,), (1,))]
    before = [weight.copy() for weight in weights]
    losses = hinge(before, v, y)
    share = np.mean(losses > 0) if violators else 1.0
    assert 0 < np.mean(losses > 0) < 1
    step(setting, weights, v, y)
    for place, weight in enumerate(before):
        for index in np.ndindex(weight.shape):
            moved = [part.copy() for part in before]
            moved[place][index] += 1e-6
            slope = (hinge(moved, v, y).mean() - losses.mean()) / 1e-6 / share
            expected = weight[index] - setting.rate * (slope + DECAY * weight[index])
            assert weights[place][index] == pytest.approx(expected, abs=1e-6)


def test_rows_are_those_of_a_parity_of_k_bits():
    v, y = open_rows(9, 2, 400, run=0)
    characters = np.array([np.abs(np.mean(v[:, i] * v[:, j] * y)) for i in range(9) for j in range(i)])
    assert sorted(characters)[-1] == 1.0
    assert sorted(characters)[-2] < 0.3  # 36 means of 400 signs: beyond .3 with probability below 1e-7 in all


def test_the_quickest_line_is_within_its_published_range(monkeypatch):
    (line,) = [s for s in SETTINGS if (s.table, s.k, s.sign) == ("exp_sign_sgd", 3, True)]
    monkeypatch.setattr(published, "SETTINGS", (line,))
    (row,) = answer("validate")["rows"]
    assert row["within"]
    assert (row["source"], row["published"]) == (published.SOURCE, [15])
    assert len(row["ours"]) == 5
    assert set(row) == {"source", "setting", "published", "ours", "unit", "limit", "within"}


@pytest.mark.slow
def test_every_line_is_within_its_published_range():
    rows = answer("validate")["rows"]
    assert len(rows) == len(SETTINGS)
    assert [row["setting"] for row in rows if not row["within"]] == []
