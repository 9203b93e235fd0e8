"""The study of random features: its tasks, and what linear functions cannot do."""

import numpy as np

from learner.studies.random_features import DIM, TARGETS, linear_error, sphere, target


def test_the_error_of_the_best_linear_function_is_that_of_least_squares_on_many_examples():
    rng = np.random.default_rng(0)
    X, b = sphere(40_000, rng), np.eye(DIM)[0]
    tokens = np.concatenate([np.ones((len(X), 1)), X.reshape(len(X), -1)], axis=1)
    Y = np.stack([target(name, X, b) for name in TARGETS], axis=1)
    fit = np.linalg.lstsq(tokens, Y, rcond=None)[0]
    unbiased = np.sum((Y - tokens @ fit) ** 2, axis=0) / (len(X) - tokens.shape[1])
    exact = [float(linear_error(name)) for name in TARGETS]
    assert np.allclose(unbiased, exact, atol=0.02)
