"""The study of random features: its data, its page through the engine, and paired differences."""

import pytest

from learner.studies.random_features import HEADS, RIVAL, STUDY, content


def test_tasks_are_distinct_and_all_models_see_the_same_examples_and_repetitions_others() -> None:
    tasks = STUDY.tasks(False)
    assert len({task.identity for task in tasks}) == len(tasks) == 280
    seeds = {(t.repetition, t.shared().seed(0, "examples")) for t in tasks}
    assert len(seeds) == len({repetition for repetition, _ in seeds}) == 5


def test_paired_differences_pair_repetitions() -> None:
    found: content.Errors = {
        ("f1", "RFA", HEADS): {64: {0: 0.1, 1: 0.2, 2: 0.9}},
        ("f1", RIVAL, HEADS): {64: {1: 0.3, 0: 0.2}, 128: {0: 0.1}},
    }
    gap = content.difference(found, "f1", "RFA", RIVAL)
    assert list(gap) == [64]
    assert (gap[64].value, gap[64].runs) == (pytest.approx(-0.1), 2)
