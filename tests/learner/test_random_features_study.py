"""The study of random features: its data, its page through the engine, and paired differences."""

import pandas as pd
import pytest

from learner.studies.random_features import HEADS, RIVAL, STUDY, content


def test_tasks_are_distinct_and_all_models_see_the_same_examples_and_repetitions_others() -> None:
    tasks = STUDY.tasks(False)
    assert len({task.identity for task in tasks}) == len(tasks) > 0
    seeds = {(t.repetition, t.shared().seed(0, "examples")) for t in tasks}
    assert len(seeds) == len({repetition for repetition, _ in seeds}) > 1


def test_paired_differences_pair_repetitions() -> None:
    runs = [("RFA", 64, 0, 0.1), ("RFA", 64, 1, 0.2), ("RFA", 64, 2, 0.9)]
    runs += [(RIVAL, 64, 1, 0.3), (RIVAL, 64, 0, 0.2), (RIVAL, 128, 0, 0.1)]
    table = pd.DataFrame(
        [("f1", model, HEADS, n, repetition, error) for model, n, repetition, error in runs],
        columns=["target", "model", "heads", "samples", "repetition", "error"],
    )
    gap = content.difference(table, "f1", "RFA", RIVAL)
    assert list(gap) == [64]
    assert (gap[64].value, gap[64].runs) == (pytest.approx(-0.1), 2)
