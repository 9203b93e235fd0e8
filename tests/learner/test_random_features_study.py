"""The study of random features: its tasks, and what linear functions cannot do."""

import numpy as np

from learner.studies.random_features import DIM, STUDY, TARGETS, linear_error, sphere, target


def test_tasks_are_distinct_and_all_models_see_the_same_examples_and_repetitions_others() -> None:
    tasks = STUDY.tasks(False)
    assert len({task.identity for task in tasks}) == len(tasks) > 0
    seeds = {(t.params["dim"], t.repetition, t.shared().seed(0, "examples")) for t in tasks}
    assert len(seeds) == len({(dim, repetition) for dim, repetition, _ in seeds}) > 1


def test_the_error_of_the_best_linear_function_is_that_of_least_squares_on_many_examples() -> None:
    rng = np.random.default_rng(0)
    X, b = sphere(40_000, rng), np.eye(DIM)[0]
    tokens = np.concatenate([np.ones((len(X), 1)), X.reshape(len(X), -1)], axis=1)
    Y = np.stack([target(name, X, b) for name in TARGETS], axis=1)
    fit = np.linalg.lstsq(tokens, Y, rcond=None)[0]
    unbiased = np.sum((Y - tokens @ fit) ** 2, axis=0) / (len(X) - tokens.shape[1])
    exact = [float(linear_error(name)) for name in TARGETS]
    assert np.allclose(unbiased, exact, atol=0.02)
