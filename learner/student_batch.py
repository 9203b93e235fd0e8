"""Many attention students of one shape in one batch, on a device that torch knows by name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, missing_extra
from learner.student import FIRST, RATES
from learner.student_dense import Weights, forward, initial

Array = NDArray[np.float64]


class Students:
    """S students that train side by side, each on examples of its own: runs and cells of one (k, d, M).

    `seeds` (S,) start the students as `Student(random_state=seed)` starts; `device` is torch's name of one (cpu,
    cuda, cuda:1, …). Each learns what a `Student` alone would, to the accuracy of float32. `partial_fit` takes whole
    batches only. Needs the extra `torch`; raises `InputError` on a device that is not there.

    >>> from hardness.families.nondegenerate import Nondegenerate
    >>> from hardness.instance import Instance
    >>> parts = [Instance.generate(Nondegenerate(5, 3, 1), seed).examples(12_800, 1) for seed in (0, 1)]
    >>> X, Y = (np.stack([getattr(part, name) for part in parts]) for name in "XY")
    >>> students = Students(seeds=[0, 1], heads=8).partial_fit(X, Y)  # doctest: +SKIP
    >>> students.explained(X, Y).shape  # doctest: +SKIP
    (2,)
    """

    def __init__(
        self,
        seeds: Sequence[int],
        heads: int = 16,
        optimizer: str = "adam",
        rate: float | None = None,
        batch: int = 64,
        device: str = "cpu",
    ) -> None:
        try:
            import torch
        except ImportError as error:
            raise missing_extra("torch", "torch", "students in one batch") from error
        self._torch: Any = torch
        if optimizer not in RATES:
            raise InputError(f"optimizer must be one of {', '.join(RATES)}, got {optimizer!r}")
        try:
            self.device = torch.device(device)
            torch.zeros(1, device=self.device)
        except (RuntimeError, AssertionError) as error:
            raise InputError(f"torch cannot use the device {device!r}: {str(error).splitlines()[0]}") from error
        self.seeds, self.heads, self.adam, self.batch = list(seeds), heads, optimizer == "adam", batch
        self.rate = RATES[optimizer] if rate is None else rate
        self._weights: Weights | None = None

    def partial_fit(self, X: NDArray[np.int8], Y: Array) -> "Students":
        """Learn from X of ±1 and Y, both (S, n, k, d), n a multiple of the batch; the first call sets the scales."""
        if X.shape != Y.shape or X.ndim != 4 or len(X) != len(self.seeds) or X.shape[1] % self.batch:
            raise InputError(
                f"X and Y must share one shape ({len(self.seeds)} students, multiple of {self.batch} examples, tokens, "
                f"features), got {X.shape}, {Y.shape}"
            )
        if self._weights is None:
            self._weights = self._start(X.shape[3], Y)
        with self._torch.no_grad():
            x, y = self._there(X), self._there(Y / self._scale)
            for start in range(0, X.shape[1], self.batch):
                part = slice(start, start + self.batch)
                self._weights.step(x[:, part], y[:, part], self.rate)
        return self

    def predict(self, X: NDArray[np.int8]) -> Array:
        """F̂(X), (S, n, k, d), of tokens (S, n, k, d)."""
        if self._weights is None:
            return np.zeros(X.shape)
        with self._torch.no_grad():
            out = forward(self._torch, self._weights.theta, self._weights.w, self._there(X))[0]
        return np.asarray(out.cpu().numpy() * self._scale)

    def explained(self, X: NDArray[np.int8], Y: Array) -> Array:
        """Share of the variance of labels Y (S, n, k, d) that each student's predictions explain, (S,)."""
        error = (self.predict(X) - Y) ** 2
        spread = (Y - Y.mean(axis=1, keepdims=True)) ** 2
        return np.asarray(1 - error.sum(axis=(1, 2, 3)) / spread.sum(axis=(1, 2, 3)))

    def layers(self) -> tuple[Array, Array]:
        """Θ and W of every student, both (S, M, d, d), in the units of the labels."""
        if self._weights is None:
            raise InputError("these students have seen no examples yet")
        theta, w = (np.asarray(a.cpu().numpy(), dtype=np.float64) for a in (self._weights.theta, self._weights.w))
        return theta, w * self._scale

    def _start(self, dim: int, Y: Array) -> Weights:
        spread = Y[:, :FIRST].var(axis=1).sum(axis=2).mean(axis=1)
        self._scale = np.where(spread > 0, spread, 1.0)[:, None, None, None] ** 0.5
        started = [initial(np.random.default_rng(seed), self.heads, dim) for seed in self.seeds]
        theta, w = (self._there(np.stack(each)) for each in zip(*started, strict=True))
        return Weights(self._torch, theta, w, self.adam)

    def _there(self, array: NDArray[Any]) -> Any:
        return self._torch.from_numpy(np.ascontiguousarray(array)).to(self.device, self._torch.float32)
