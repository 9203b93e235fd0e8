"""Many attention students of one shape in one batch, on a device that torch knows by name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from learner.student import FIRST, Student
from learner.student_dense import DenseStudents, arrays_on, initial

Array = NDArray[np.float64]


class Students:
    """S students that train side by side, each on examples of its own: runs and cells of one (k, d, M) and batch.

    `seeds` (S,) start the students as `Student(random_state=seed)` starts; `options` are those of `Student`, where
    `rate` and `l1` may be sequences (S,), so that the settings of a menu are tried at once. On `device` each learns
    what a `Student` alone would, to the accuracy of float32. `partial_fit` takes whole batches only. Needs the extra
    `torch`, but on the device None, numpy's; raises `InputError` on a device that is not there, and as `Student` does.

    >>> from hardness.families.nondegenerate import Nondegenerate
    >>> from hardness.instance import Instance
    >>> parts = [Instance.generate(Nondegenerate(5, 3, 1), seed).examples(12_800, 1) for seed in (0, 1)]
    >>> X, Y = (np.stack([getattr(part, name) for part in parts]) for name in "XY")
    >>> students = Students(seeds=[0, 1], device=None, heads=8, l1=[0.0, 0.01]).partial_fit(X, Y)
    >>> students.explained(X, Y).shape
    (2,)
    """

    def __init__(self, seeds: Sequence[int], device: str | None = "cpu", **options: Any) -> None:
        self.seeds, self.device = list(seeds), device
        several = {name: options.pop(name) for name in ("rate", "l1") if np.ndim(options.get(name, 0)) == 1}
        if not self.seeds or any(len(values) != len(self.seeds) for values in several.values()):
            raise InputError(
                f"give a seed or more, and rate and l1 as numbers or one a seed; got {len(self.seeds)} seeds"
            )
        members = [
            Student(**options, **{name: values[i] for name, values in several.items()}, random_state=seed)
            for i, seed in enumerate(self.seeds)
        ]
        checked = [member.checked() for member in members]
        self.member = members[0]
        self.rate, self.l1 = (np.array(values)[:, None, None, None] for values in zip(*checked, strict=True))
        self._students: DenseStudents | None = None
        arrays_on(device)  # refused here rather than at the first examples

    def partial_fit(self, X: NDArray[np.int8], Y: Array) -> "Students":
        """Learn from X of ±1 and Y, both (S, n, k, d), n a multiple of the batch; the first call sets the scales."""
        batch = self.member.batch
        if X.shape != Y.shape or X.ndim != 4 or len(X) != len(self.seeds) or X.shape[1] % batch:
            raise InputError(
                f"X and Y must share one shape ({len(self.seeds)} students, multiple of {batch} examples, tokens, "
                f"features), got {X.shape}, {Y.shape}"
            )
        if self._students is None:
            self._start(X.shape[3], Y)
        assert self._students
        self._students.train(X, Y / self._scale, batch, self.rate, self.l1)
        return self

    def predict(self, X: NDArray[np.int8]) -> Array:
        """F̂(X), (S, n, k, d), of tokens (S, n, k, d): 0 before the first step."""
        return np.zeros(X.shape) if self._students is None else np.asarray(self._students.predict(X) * self._scale)

    def explained(self, X: NDArray[np.int8], Y: Array) -> Array:
        """Share of the variance of labels Y (S, n, k, d) that each student's predictions explain, (S,)."""
        error = (self.predict(X) - Y) ** 2
        spread = (Y - Y.mean(axis=1, keepdims=True)) ** 2
        return np.asarray(1 - error.sum(axis=(1, 2, 3)) / spread.sum(axis=(1, 2, 3)))

    def layers(self) -> tuple[Array, Array]:
        """Θ and W of every student, both (S, M, d, d), in the units of the labels."""
        if self._students is None:
            raise InputError("these students have seen no examples yet")
        theta, w = self._students.layers()
        return theta, w * self._scale

    def _start(self, dim: int, Y: Array) -> None:
        spread = Y[:, : max(FIRST, self.member.batch)].var(axis=1).sum(axis=2).mean(axis=1)
        self._scale = np.where(spread > 0, spread, 1.0)[:, None, None, None] ** 0.5
        started = [
            initial(np.random.default_rng(seed), self.member.heads, dim, self.member.hinted) for seed in self.seeds
        ]
        theta, w = (np.stack(each) for each in zip(*started, strict=True))
        adam = self.member.optimizer == "adam"
        self._students = DenseStudents(theta, w, adam, self.member.loss, self.device)
