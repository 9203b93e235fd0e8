"""The phases by averages: what the oracle answers, and that phases and rounds work where the tolerance is small."""

import json

import numpy as np
import pytest
from commands import run_command

from hardness.errors import InputError
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Instance
from hardness.sq.averages import Averages, Estimate
from hardness.sq.oracle import samples_for


def test_answers_lie_within_the_tolerance_and_every_entry_is_a_query():
    instance = Instance.generate(Nondegenerate(4, 2, 1), seed=0)
    exact = Averages(instance, "noisy", 1e-12, seed=1)(lambda X, Y: X.sum(axis=(0, 1)) / 2, 1.0)
    ask = Averages(instance, "noisy", 0.05, seed=1)
    for _ in range(20):
        answer = ask(lambda X, Y: X.sum(axis=(0, 1)), 2.0)
        assert (np.abs(answer - 2 * exact) <= 0.1).all()
    assert ask.ledger.queries == 20 * 4


def test_sampled_answers_take_fresh_examples_each_time():
    instance = Instance.generate(Nondegenerate(4, 2, 1), seed=0)
    ask = Averages(instance, "sampled", 0.2, seed=1)
    counts = [float(ask(lambda X, Y: np.array([float(len(X))]), 1.0)[0]) for _ in range(2)]
    assert counts == [1.0, 1.0]
    first, second = (ask(lambda X, Y: X.sum(axis=(0, 1)) / 2, 1.0) for _ in range(2))
    assert not np.array_equal(first, second)
    assert ask._drawn == 4 * samples_for(0.2)


def test_a_query_beyond_its_bound_is_refused():
    ask = Averages(Instance.generate(Nondegenerate(4, 2, 1), seed=0), "noisy", 0.1, seed=1)
    with pytest.raises(InputError, match="exceeds its bound"):
        ask(lambda X, Y: np.array([2.0 * len(X)]), 1.0)


def test_errors_of_estimates_are_zero_for_the_truth():
    layer = Instance.generate(Nondegenerate(4, 2, 2), seed=0).layer()
    directions = layer.theta[1:] - layer.theta[:1]
    directions = directions / np.linalg.norm(directions, axis=(1, 2), keepdims=True)
    for estimate in (
        Estimate("crude", sum_w=layer.w.sum(axis=0)),
        Estimate("sculpt", hull=(layer.theta[0], directions)),
        Estimate("every head", theta=-layer.theta[::-1]),
    ):
        assert estimate.error(layer, 2)[1] == pytest.approx(0, abs=1e-12)
    assert Estimate("sculpt").error(layer, 2)[1] == float("inf")


def test_the_phases_work_at_a_small_tolerance_and_not_at_a_large_one():
    line = "sq learn nondegenerate --dim 6 --tokens 2 --heads 1 --seed 0 --json"
    fine, rough = (json.loads(run_command(f"{line} --tolerance {t}").out) for t in (1e-5, 0.3))
    assert (fine["status"], rough["status"]) == ("solved", "wrong")
    assert fine["smallest_tolerance"] == 1e-5
    assert [phase["name"] for phase in fine["phases"]] == ["crude", "sculpt", "refine", "every head"]
    assert all(phase["ok"] and phase["tolerance"] == 1e-5 for phase in fine["phases"])
    assert fine["queries"] > 10_000
    refused = run_command("sq learn nondegenerate --dim 8 --heads 1 --tolerance 0.1 --learner direct")
    assert (refused.code, "does not learn by averages" in refused.err) == (2, True)
