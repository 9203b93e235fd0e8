"""The study of random features: its data, its page through the engine, and paired differences."""

import numpy as np
import pytest

from learner.random_features import RandomFeatureAttention
from learner.studies.random_features import HEADS, RIVAL, STUDY, content, sphere, target


def test_tasks_are_distinct_and_all_models_see_the_same_examples_and_repetitions_others() -> None:
    tasks = STUDY.tasks(False)
    assert len({task.identity for task in tasks}) == len(tasks) == 280
    seeds = {(t.repetition, t.shared().seed(0, "examples")) for t in tasks}
    assert len(seeds) == len({repetition for repetition, _ in seeds}) == 5


def test_biased_heads_of_four_to_one_half_are_those_of_eight_to_one() -> None:
    X = sphere(40, np.random.default_rng(0))
    y = target("g11", X, np.eye(16)[0])
    assert y.std() == pytest.approx(1)
    models = [
        RandomFeatureAttention(40, bias=b, std=s, alpha=1e-2, keys="others", random_state=0)
        for b, s in ((4.0, 0.5), (8.0, 1.0))
    ]
    said = [model.fit(X, y).predict(X) for model in models]
    assert np.allclose(*said, atol=1e-3)


def test_paired_differences_pair_repetitions() -> None:
    found: content.Errors = {
        ("f1", "RFA", HEADS): {64: {0: 0.1, 1: 0.2, 2: 0.9}},
        ("f1", RIVAL, HEADS): {64: {1: 0.3, 0: 0.2}, 128: {0: 0.1}},
    }
    gap = content.difference(found, "f1", "RFA", RIVAL)
    assert list(gap) == [64]
    assert (gap[64].value, gap[64].runs) == (pytest.approx(-0.1), 2)
