"""A student taught block by block: an attention layer for each step of a chain of shown parities (theory 2.9)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.gadgets.coefficients import informative
from learner.student import Student

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]


@dataclass(eq=False, repr=False)
class ChainStudent:
    """Learns a parity whose labels also show the parities of growing parts of its set: one attention student a part.

    Of growing sets S_1, …, S_L, L = `labels`, column 0 of Y (n, 2, d) shows the parity of S_L, the task, and columns 1,
    …, L − 1 those of S_1, …, S_(L-1). Where the tokens differ in coordinate 0, the label for S_i is read as a sign y_i.
    Student i (a `Student` of `heads` heads) learns x_a[0] y_i y_(i-1), the parity of S_i without S_(i-1), from the same
    examples as the others. The task is predicted as the product of all signs. With one label it is a `Student` of the
    parity's sign. `rate`, `batch` and `l1` are those of `Student`. Raises `InputError` if a label does not vary.
    """

    labels: int = 1
    heads: int = 16
    rate: float = 3e-3
    batch: int = 64
    l1: float = 0.0
    random_state: int | None = None

    def partial_fit(self, X: Signs, Y: Floats) -> Self:
        """Learn from tokens X of ±1 and labels Y, both (n, 2, d), in the order given; return self."""
        open_rows = informative(X)
        if not hasattr(self, "students_"):
            self._begin(X, Y, open_rows)
        sign = np.where(X[:, :1, 0] * Y[:, 0, self._columns] >= self._middles, 1.0, -1.0)
        sign[:, 1:] *= sign[:, :-1].copy()
        for student, step in zip(self.students_, sign.T, strict=True):
            target = np.zeros(Y.shape)
            target[:, :, 0] = X[:, :, 0] * np.where(open_rows, step, 0.0)[:, None]
            student.partial_fit(X, target)
        return self

    def predict(self, X: Signs) -> Floats:
        """Return predicted labels (n, 2, d) of tokens X: in column 0 those of the parity to be learned, elsewhere 0."""
        product = np.ones(X.shape[:2])
        for student in self.students_:
            product *= np.where(X[:, :, 0] * student.predict(X)[:, :, 0] >= 0, 1.0, -1.0)
        value = np.where(informative(X)[:, None], self._middles[-1] + self._half * product, self._gate)
        out = np.zeros(X.shape)
        out[:, :, 0] = X[:, :, 0] * value
        return out

    def _begin(self, X: Signs, Y: Floats, open_rows: NDArray[np.bool_]) -> None:
        self._columns = [*range(1, self.labels), 0]
        shown = X[open_rows, :1, 0] * Y[open_rows][:, 0, self._columns]
        low, high = shown.min(axis=0, initial=np.inf), shown.max(axis=0, initial=-np.inf)
        if not (low < high).all():
            raise InputError(
                "a label of the chain does not vary in the first examples: give more of them at once"
            )
        self._middles, self._half = (low + high) / 2, float(high[-1] - low[-1]) / 2
        rest = X[~open_rows, 0, 0] * Y[~open_rows, 0, 0]
        self._gate = float(rest.mean()) if len(rest) else 0.0
        seeds = np.random.SeedSequence(self.random_state).generate_state(self.labels)
        self.students_ = [
            Student(self.heads, self.rate, self.batch, self.l1, random_state=int(seed)) for seed in seeds
        ]
