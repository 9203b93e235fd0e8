"""The study of linear attention: its data, its trials, its page through the engine, and what its rows are read as."""

import numpy as np

from hardness.engine.frames import frame
from hardness.engine.store import Row
from hardness.engine.task import Task
from learner.linear import attention, certificate, feature_count, features
from learner.studies.linear_attention import AUTOMATA, HEAD, STUDY, automata_of, prefixes


def test_tasks_are_distinct() -> None:
    tasks = STUDY.tasks(False)
    assert len({task.identity for task in tasks}) == len(tasks) > 0


def test_padded_prefixes_are_the_sequences_they_begin() -> None:
    X = prefixes(130, 3, np.random.default_rng(0))
    assert X.shape == (130, 100, 3)
    V, Q = np.random.default_rng(1).normal(size=(2, 2, 3)), np.random.default_rng(2).normal(size=(2, 3, 3))
    whole = X[99]
    for t in (0, 1, 41, 99):
        assert np.allclose(attention(V, Q, X[t : t + 1]), attention(V, Q, whole[None, : t + 1]))
    assert not np.allclose(X[129, -1], whole[29])  # the second sequence is another one
    assert certificate(features(prefixes(200, 4, np.random.default_rng(3)))).rank == 40


def test_below_the_features_nothing_is_exact_and_beyond_everything() -> None:
    for ratio, status in ((0.95, "wrong"), (1.25, "solved")):
        count = round(ratio * feature_count(4))
        for r in range(3):
            outcome = STUDY.trial(
                Task(HEAD, {"dim": 4}, {"method": "regression"}, {"samples": count}, r), 0, 60.0
            )
            assert (outcome.status, outcome.detail["rank"]) == (status, min(count, 40))
            assert outcome.detail["identifiable"] == (status == "solved")


def test_certified_steps_are_right_in_every_row_and_counted() -> None:
    wanted = {"states": 3, "letters": 2}
    tasks = [t for t in STUDY.tasks(True) if t.family == AUTOMATA and t.params == wanted and t.repetition < 3]
    runs = automata_of(frame([Row(task, STUDY.trial(task, 0, 60.0)) for task in tasks]))
    assert (runs.right == runs.sure).all()
    assert (runs.sure <= 4000).all()
    assert runs[runs.ratio == 3].perfect.tolist() == [True] * 3
