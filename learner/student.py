"""The attention student: a multi-head layer trained on raw tokens, each example seen once, in numpy, numba or torch.

A student has Θ and W, both (M, d, d), and F(X)_a = Σ_i softmax(x_a Θ_i Xᵀ) X W_i. Its steps are taken by an object with
`layer()` and `train(x, y, batch, rate, scale, l1)`: on two tokens `learner.kernels_student.PairStudent`, compiled; on
any number `DenseStudent`, in numpy; or `TorchSteps` on torch (extra `torch`).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError, missing_extra
from hardness.io.fields import number, one_of, whole
from hardness.layer import MultiHeadAttention
from learner import varpro
from learner.adam import Adam
from learner.base import Array, Learner, Phase, SearchResult, gradient_work, outputs, signs

if TYPE_CHECKING:
    import torch

RATE = 3e-3  # frozen: the best of a menu on parities of two
FIRST = 1024  # examples that set the scale of the labels before the first update
EXPLAINED = 0.9  # share of the labels' variance that counts as solved
KINDS = ("float32", "float64")
# Losses by the distance from its label within which an output pulls at nothing; further off the pull is 1. Below 0: it
# is the distance itself, as of half the squared error.
ZONES = {"squared": -1.0, "absolute": 0.0, "hinge": 0.1}


@dataclass(eq=False, repr=False)
class Student(Learner):
    """A multi-head attention layer, online by Adam: random layers from 25,000 examples, hidden parities from 75,000.

    It is trained in float32.
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
    makes one pass over the rest. `report_` says `solved` where it explains `EXPLAINED` = .9 of the labels' variance.

    >>> from hardness.families.nondegenerate import Nondegenerate
    >>> from hardness.instance import Instance
    >>> nice = Instance.generate(Nondegenerate(dim=8, tokens=2, heads=2), seed=0).examples(50_000, seed=1)
    >>> Student(random_state=0).fit(nice.X, nice.Y).report_.status
    'solved'
    """

    solved_at: ClassVar[float] = (1 - EXPLAINED) ** 0.5

    heads: int = 16
    rate: float | None = None
    batch: int = 64
    l1: float = 0.0
    loss: str = "squared"
    random_state: int | None = None

    def checked(self) -> tuple[float, float]:
        """Return the rate and the l1 of its steps. Raises `InputError` if an option is not what it should be."""
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

    def predict(self, X: ArrayLike) -> Array:
        """Return F̂(X), shape (n, k, d): 0 before the first step, NaN once the weights are no longer finite."""
        # NaN, where zeros would pass for a learner that explains nothing: divergence is told from failure.
        out = super().predict(X)
        return out if self.layer_ or not self._scale else np.full_like(out, np.nan)

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return the multiply-adds of a pass over this many examples.

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
        return SearchResult(self.layer_, (Phase("train", diagnostics={"examples": len(X)}),))

    def _start(self, shape: tuple[int, ...]) -> None:
        self.checked()
        weights = initial(np.random.default_rng(self.random_state), int(self.heads), shape[2])
        self._student = self._steps(*weights, shape[1])
        self._shape, self.n_features_in_ = shape[1:], shape[2]
        self._waiting: list[tuple[NDArray[np.int8], Array]] = []
        self._scale = 0.0
        self.layer_: MultiHeadAttention | None = None

    def _steps(self, theta: Array, w: Array, tokens: int) -> Any:
        """Return what takes the steps from Θ and W, both (M, d, d)."""
        if tokens != 2:
            return DenseStudent(theta, w, self.loss)
        from learner.kernels_student import PairStudent  # numba is loaded only where it is used

        return PairStudent(theta, w, ZONES[self.loss])

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
                self._student.train(x[part], y[part], batch, rate, self._scale, l1)
        self._waiting = [(x[batched:], y[batched:])] if rest and not last else []
        theta, w = self._student.layer()
        finite = bool(np.isfinite(theta).all() and np.isfinite(w).all())
        self.layer_ = MultiHeadAttention(theta, w.astype(np.float64) / self._scale) if finite else None


@dataclass(eq=False, repr=False)
class TorchStudent(Student):
    """The learner `student`, its steps taken by torch: the same start, examples, losses and thresholds.

    `device` is one of torch ("cpu", "cuda", "cuda:1", "mps"); None is the first accelerator that torch sees, and else
    the processor. `device_` says on which one it runs, and so does the phase of `report_`. `kind` is the type of its
    numbers, float32 or float64; in float64 its steps are those of the numpy reference to rounding. For the other
    options see `learner.Student`. Raises `InputError` where torch is missing or does not have the device.
    """

    device: str | None = None
    kind: str = "float32"

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        result = super()._search(X, Y, rng)
        phases = (replace(p, diagnostics={**p.diagnostics, "device": self.device_}) for p in result.phases)
        return replace(result, phases=tuple(phases))

    def _steps(self, theta: Array, w: Array, tokens: int) -> "TorchSteps":
        one_of("kind", self.kind, KINDS)
        place = device_of(self.device)
        self.device_ = str(place)
        return TorchSteps(theta.astype(self.kind), w.astype(self.kind), self.loss, place)


def initial(rng: Any, heads: int, dim: int) -> tuple[Any, Any]:
    """Draw Θ with entries N(0, 1/d) and W with entries N(0, 1/(d M)), both (M, d, d) float32.

    >>> theta, w = initial(np.random.default_rng(0), heads=16, dim=8)
    >>> theta.shape, str(w.dtype), bool(abs(theta.std() - 8**-0.5) < 0.02)
    ((16, 8, 8), 'float32', True)
    """
    theta, w = rng.standard_normal((2, heads, dim, dim), dtype="float32")
    theta *= dim**-0.5
    w *= (heads * dim) ** -0.5
    return theta, w


def gradients(theta: Any, w: Any, x: Any, y: Any, loss: str = "squared") -> tuple[Any, Any]:
    """Return the gradients by Θ and W of the loss Σ ℓ(F(X) - Y) / B.

    ℓ(e) is e²/2 (squared), |e| (absolute) or max(0, |e| - .1) (hinge).
    """
    B, d = len(x), x.shape[2]
    patterns, mixed = varpro.attend(x, theta)
    error = mixed @ w.reshape(-1, d) - y.reshape(-1, d)
    pull = error if loss == "squared" else np.sign(error) * (abs(error) > ZONES[loss])
    return varpro.pull_back(x, patterns, w, pull) / B, (mixed.T @ pull).reshape(w.shape) / B


class DenseStudent:
    """A student on any number of tokens, with the interface of the compiled one: Θ and W (M, d, d) are copied.

    Its arrays are of the type of `theta`: float32, or float64 for a reference.
    """

    def __init__(self, theta: Any, w: Any, loss: str = "squared") -> None:
        self.theta, self.w, self.loss = theta.copy(), w.copy(), loss
        self.optimizer = Adam((self.theta, self.w))

    def layer(self) -> tuple[Any, Any]:
        """Return Θ and W, both (M, d, d)."""
        return self.theta.copy(), self.w.copy()

    def train(self, x: Any, y: Any, batch: int, rate: float, scale: float = 1.0, l1: float = 0.0) -> None:
        """Make an update a whole batch of tokens x, targets y times `scale`, (n, k, d); shrink Θ by rate · l1."""
        kind, cut = self.theta.dtype, rate * l1
        x, y = x.astype(kind), (y * scale).astype(kind)
        for start in range(0, len(x) // batch * batch, batch):
            part = slice(start, start + batch)
            self.optimizer.step(gradients(self.theta, self.w, x[part], y[part], self.loss), rate)
            # A proximal step: |Θ| has no derivative at 0, where entries are to stay. W is not sparse.
            if cut:
                self.theta -= np.clip(self.theta, -cut, cut)


class TorchSteps:
    """Θ and W (M, d, d) on a device, with the interface of `DenseStudent`."""

    def __init__(self, theta: Array, w: Array, loss: str, device: "torch.device") -> None:
        import torch

        self.theta, self.w = (
            torch.tensor(weights, device=device, requires_grad=True) for weights in (theta, w)
        )
        self.loss = loss
        self.optimizer = torch.optim.Adam((self.theta, self.w))

    def layer(self) -> tuple[Array, Array]:
        """Return Θ and W, both (M, d, d), as numpy arrays."""
        theta, w = (weights.detach().cpu().numpy().copy() for weights in (self.theta, self.w))
        return theta, w

    def train(
        self, x: NDArray[np.int8], y: Array, batch: int, rate: float, scale: float = 1.0, l1: float = 0.0
    ) -> None:
        """Make an update a whole batch, as `DenseStudent` does."""
        import torch

        tokens, targets = (torch.as_tensor(part).to(self.theta) for part in (x, y * scale))
        cut = rate * l1
        self.optimizer.param_groups[0]["lr"] = rate
        for start in range(0, len(tokens) // batch * batch, batch):
            part = slice(start, start + batch)
            X = tokens[part][:, None]  # (B, 1, k, d) beside Θ and W (M, d, d)
            patterns = (X @ self.theta @ X.mT).softmax(dim=-1)
            error = (patterns @ X @ self.w).sum(dim=1) - targets[part]
            self.optimizer.zero_grad()
            (self._loss(error) / batch).backward()
            self.optimizer.step()
            if cut:
                theta = self.theta.detach()
                theta -= theta.clip(-cut, cut)

    def _loss(self, error: "torch.Tensor") -> "torch.Tensor":
        """Return the sum of the losses of all outputs: e²/2, |e| or max(0, |e| − .1)."""
        if self.loss == "squared":
            return error.square().sum() / 2
        return (error.abs() - ZONES[self.loss]).clip(min=0).sum()


def device_of(name: str | None) -> "torch.device":
    """Return the device of that name; without one the first accelerator, and else the processor.

    Raises `InputError` where torch is not installed or cannot put a number there.
    """
    try:
        import torch
    except ImportError as error:
        raise missing_extra("torch", "torch", "the learner torch-student") from error
    if name is None:
        accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        return accelerator or torch.device("cpu")
    try:
        place = torch.device(name)
        torch.zeros(1, device=place)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"torch cannot use device {name!r}: {reason}; leave device out to take what there is"
        ) from None
    return place
