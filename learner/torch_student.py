"""The attention student on torch: any number of tokens, on a processor or an accelerator (extra `torch`)."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, missing_extra
from hardness.io.fields import one_of
from learner.adam import Adam
from learner.base import Array, SearchResult, gradient_work
from learner.student import Student
from learner.student_dense import ZONES

if TYPE_CHECKING:
    import torch

KINDS = ("float32", "float64")


class TorchStudent(Student):
    """The learner `student`, its steps taken by torch: the same start, examples, losses and thresholds.

    `device` is one of torch ("cpu", "cuda", "cuda:1", "mps"); None is the first accelerator that torch sees, and else
    the processor. `device_` says on which one it runs, and so does the phase of `report_`. `kind` is the type of its
    numbers, float32 or float64; in float64 its steps are those of the numpy reference to rounding. For the other
    options see `learner.Student`. Raises `InputError` where torch is missing or does not have the device.

    >>> TorchStudent(heads=16).multiply_adds(1, 2, 12)
    32256.0
    """

    def __init__(
        self,
        heads: int = 16,
        rate: float | None = None,
        batch: int = 64,
        l1: float = 0.0,
        loss: str = "squared",
        device: str | None = None,
        kind: str = "float32",
        random_state: int | None = None,
    ) -> None:
        super().__init__(heads, rate, batch, l1, loss, random_state)
        self.device = device
        self.kind = kind

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Multiply-adds of a pass over so many examples: scores, patterns and both gradients, for every head."""
        return examples * gradient_work(self.heads, tokens, dim)

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        result = super()._search(X, Y, rng)
        phases = (replace(p, diagnostics={**p.diagnostics, "device": self.device_}) for p in result.phases)
        return replace(result, phases=tuple(phases))

    def _steps(self, theta: Array, w: Array, tokens: int) -> "TorchSteps":
        one_of("kind", self.kind, KINDS)
        place = device_of(self.device)
        self.device_ = str(place)
        return TorchSteps(theta.astype(self.kind), w.astype(self.kind), self.loss, place)


def device_of(name: str | None) -> "torch.device":
    """The device of that name; without one the first accelerator, and else the processor.

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


def forward(theta: "torch.Tensor", w: "torch.Tensor", x: "torch.Tensor") -> "torch.Tensor":
    """F(X) = Σᵢ softmax(X Θᵢ Xᵀ) X Wᵢ of tokens x (B, k, d) by heads theta, w (M, d, d); shape (B, k, d)."""
    tokens = x[:, None]
    patterns = (tokens @ theta @ tokens.mT).softmax(dim=-1)
    return (patterns @ tokens @ w).sum(dim=1)


class TorchSteps:
    """Θ and W (M, d, d) on a device, with the interface of `learner.student_dense.DenseStudent`."""

    def __init__(self, theta: Array, w: Array, loss: str, device: "torch.device") -> None:
        import torch

        self.theta, self.w = (
            torch.tensor(weights, device=device, requires_grad=True) for weights in (theta, w)
        )
        self.loss = loss
        self.optimizer = Adam((self.theta.detach(), self.w.detach()))  # in place: they share their numbers

    def layer(self) -> tuple[Array, Array]:
        """Θ and W, both (M, d, d), as numpy arrays."""
        theta, w = (weights.detach().cpu().numpy().copy() for weights in (self.theta, self.w))
        return theta, w

    def train(
        self, x: NDArray[np.int8], y: Array, batch: int, rate: float, scale: float = 1.0, l1: float = 0.0
    ) -> Array:
        """An update a whole batch of tokens x and targets y times `scale`, both (n, k, d), Θ shrunk by rate · l1 after.

        Returns (batches, 2): of each batch before its update, means over examples of the squared error and of the
        squared targets, summed over outputs.
        """
        import torch

        tokens, targets = (torch.as_tensor(part).to(self.theta) for part in (x, y * scale))
        cut, squares = rate * l1, []
        for start in range(0, len(tokens) // batch * batch, batch):
            part = slice(start, start + batch)
            error = forward(self.theta, self.w, tokens[part]) - targets[part]
            gradients = torch.autograd.grad(self._loss(error) / batch, (self.theta, self.w))
            squares.append(torch.stack([error.detach().square().sum(), targets[part].square().sum()]) / batch)
            self.optimizer.step(gradients, rate)
            if cut:
                theta = self.theta.detach()
                theta -= theta.clip(-cut, cut)
        return torch.stack(squares).cpu().numpy().astype("float64") if squares else np.zeros((0, 2))

    def _loss(self, error: "torch.Tensor") -> "torch.Tensor":
        """The sum of the losses of all outputs: e²/2, |e| or max(0, |e| − .1)."""
        if self.loss == "squared":
            return error.square().sum() / 2
        return (error.abs() - ZONES[self.loss]).clip(min=0).sum()
