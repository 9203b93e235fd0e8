"""A learner with options of its own, one of them annotated."""

import numpy as np


class Tunable:
    """Predicts its level everywhere."""

    def __init__(self, level: float = 0.0, anything=None) -> None:
        self.level, self.anything = level, anything

    def fit(self, X, Y):
        return self

    def predict(self, X):
        return np.full(X.shape, self.level)
