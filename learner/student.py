"""The attention student: a multi-head layer trained on raw tokens, each example seen once."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError
from hardness.io.fields import number, one_of, whole
from hardness.layer import MultiHeadAttention
from learner.base import Array, Learner, Phase, SearchResult, gradient_work, outputs, signs
from learner.student_dense import ZONES, DenseStudent, initial

RATE = 3e-3  # frozen: the best of a menu on parities of two
FIRST = 1024  # examples that set the scale of the labels before the first update
SPACING = 1.1  # of the points of the curve, in examples
EXPLAINED = 0.9  # share of the labels' variance that counts as solved


class Student(Learner):
    """A multi-head attention layer of its own, trained online by Adam in float32.

    It starts from Θ ~ N(0, 1/d) and W ~ N(0, 1/(d M)), sees raw tokens (n, k, d) and all outputs, and takes a step
    a batch. Nothing of the problem is handed to it, neither products nor a gate. The first 1024 examples scale the
    labels, so that the outputs of a token have variance 1 in all: those of a structured family, which vary in one
    column, vary by 1 there. On two tokens the step is compiled; else it is numpy's.

    `heads` M, its width; `rate` None is 3e-3, tuned once on hidden parities of two and frozen; `batch` examples a step;
    `l1`: after each step every entry of Θ goes towards 0 by rate · l1, and no further (soft threshold), which helps
    where Θ is sparse; `loss` of an error e in the scaled labels: squared, e²/2; absolute, |e|; or hinge,
    max(0, |e| - .1).

    `partial_fit` goes on from where it was, and examples short of a batch wait for the next call, so the same examples
    give the same weights in whatever pieces they come. `fit` starts anew, holds a tenth out and
    makes one pass over the rest. `curve_` lists (examples, explained): the share of the labels' variance that was
    explained, on batches before they were learned from, so on fresh examples. `report_` says `solved` from
    `EXPLAINED` = .9 on.

    >>> from hardness.families.nondegenerate import Nondegenerate
    >>> from hardness.instance import Instance
    >>> nice = Instance.generate(Nondegenerate(dim=8, tokens=2, heads=2), seed=0).examples(50_000, seed=1)
    >>> student = Student(random_state=0).fit(nice.X, nice.Y)
    >>> student.report_.status, student.report_.curve[0][1] < 0.5
    ('solved', True)
    """

    solved_at: ClassVar[float] = (1 - EXPLAINED) ** 0.5

    def __init__(
        self,
        heads: int = 16,
        rate: float | None = None,
        batch: int = 64,
        l1: float = 0.0,
        loss: str = "squared",
        random_state: int | None = None,
    ) -> None:
        super().__init__(heads, random_state)
        self.rate = rate
        self.batch = batch
        self.l1 = l1
        self.loss = loss

    def checked(self) -> tuple[float, float]:
        """The rate and the l1 of its steps. Raises `InputError` if an option is not what it should be."""
        one_of("loss", self.loss, ZONES)
        whole("heads", self.heads, 1)
        whole("batch", self.batch, 1)
        rate = RATE if self.rate is None else self.rate
        number("rate", rate, "(0, inf)")
        number("l1", self.l1, "[0, inf)")
        return float(rate), float(self.l1)

    def partial_fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Learn from examples X of ±1 and Y, both (n, k, d), in the order given; raises `InputError` on others."""
        x = signs(X)
        y = outputs(Y, x)
        if not hasattr(self, "_student"):
            self._start(x.shape)
        elif x.shape[1:] != self._shape:
            raise InputError(
                f"X has {x.shape[1:]} tokens and features, the examples before had {self._shape}"
            )
        if self._waiting:
            x, y = (np.concatenate(parts) for parts in zip(*self._waiting, (x, y), strict=True))
        self._take(x, y, last=False)
        return self

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """One pass over nine tenths of X and Y, both (n, k, d), judged on the rest; returns self."""
        super().fit(X, Y)
        self.report_ = replace(self.report_, curve=tuple(self.curve_))
        return self

    def predict(self, X: ArrayLike) -> Array:
        """F̂(X), shape (n, k, d): 0 before the first step, NaN once the weights are no longer finite."""
        # NaN, where zeros would pass for a learner that explains nothing: divergence is told from failure.
        out = super().predict(X)
        return out if self.layer_ or not self._seen else np.full_like(out, np.nan)

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Multiply-adds of a pass over so many examples.

        >>> Student(heads=16).multiply_adds(1, 2, 12)
        9216.0
        """
        an_example = 4.0 * self.heads * dim**2 if tokens == 2 else gradient_work(self.heads, tokens, dim)
        return examples * an_example

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        if hasattr(self, "_student"):
            del self._student
        self.partial_fit(X, Y)
        if self._waiting:
            self._take(*self._waiting[0], last=True)
        if self.layer_ is None:
            return SearchResult(None, refused="the weights are no longer finite: lower the rate")
        seen, explained = self.curve_[-1]
        return SearchResult(
            self.layer_, (Phase("train", "ok", "", {"examples": seen, "explained": explained}),)
        )

    def _start(self, shape: tuple[int, ...]) -> None:
        self.checked()
        weights = initial(np.random.default_rng(self.random_state), int(self.heads), shape[2])
        self._student = self._steps(*weights, shape[1])
        self._shape, self.n_features_in_ = shape[1:], shape[2]
        self._waiting: list[tuple[NDArray[np.int8], Array]] = []
        self._scale, self._seen, self._window = 0.0, 0, np.zeros(3)
        self.curve_: list[tuple[int, float]] = []
        self.layer_: MultiHeadAttention | None = None

    def _steps(self, theta: Array, w: Array, tokens: int) -> Any:
        """What takes the steps from Θ and W, both (M, d, d)."""
        if tokens != 2:
            return DenseStudent(theta, w, self.loss)
        from learner.kernels_student import PairStudent  # numba is loaded only where it is used

        return PairStudent(theta, w, self.loss)

    def _take(self, x: NDArray[np.int8], y: Array, last: bool) -> None:
        """Train on whole batches, and if `last` on the rest too."""
        self._waiting = [(x, y)] if len(x) else []
        if not len(x) or not (self._scale or last or len(x) >= max(FIRST, self.batch)):
            return
        if not self._scale:
            # Fixed from here on: a scale that went on adapting would change what a step of Adam means.
            spread = float(y[: max(FIRST, self.batch)].var(axis=0).sum(axis=1).mean())
            self._scale = spread**-0.5 if spread > 0 else 1.0
        rate, l1 = self.checked()
        batched = len(x) // self.batch * self.batch
        rest = len(x) - batched
        for part, batch in ((slice(0, batched), self.batch), (slice(batched, None), rest * last)):
            if batch and len(x[part]):
                self._record(self._student.train(x[part], y[part], batch, rate, self._scale, l1), batch)
        self._waiting = [(x[batched:], y[batched:])] if rest and not last else []
        theta, w = self._student.layer()
        finite = bool(np.isfinite(theta).all() and np.isfinite(w).all())
        self.layer_ = MultiHeadAttention(theta, w.astype(np.float64) / self._scale) if finite else None

    def _record(self, squares: Array, batch: int) -> None:
        """Add the errors of batches before their updates to the curve."""
        while len(squares):
            short = (SPACING - 1) * self._seen - self._window[0]  # examples until the next point, about
            part, squares = np.split(squares, [max(1, int(short / batch))])
            self._seen += len(part) * batch
            self._window += len(part) * batch, *part.sum(axis=0)
            if self._window[0] >= (SPACING - 1) * self._seen:
                _, error, power = self._window
                self.curve_.append((self._seen, float(1 - error / power) if power else 0.0))
                self._window[:] = 0.0
