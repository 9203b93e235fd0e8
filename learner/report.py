"""The report of a fit: phases, outcome, errors of a prediction, and the verdict."""

from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from learner.noise import Residue

Array = NDArray[np.float64]
SOLVED = 1e-6  # relative error on held-out examples


class Scores(TypedDict):
    """What `judge` says of a prediction."""

    test_error: float
    relative_error: float
    sign_accuracy: float


@dataclass(frozen=True)
class Phase:
    """What one phase of a learner saw: a verdict (ok, weak, poor, failed, refused), why, its numbers, CPU seconds."""

    name: str
    verdict: str = "ok"
    reason: str = ""
    diagnostics: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What a search ended with: a layer or none, its phases, and whether it refused or ran out of iterations.

    `hint` is what to try if the layer is wrong; `verdicts` are fields of `FitReport` that only this learner knows.
    """

    layer: MultiHeadAttention | None
    phases: tuple[Phase, ...] = ()
    refused: str = ""
    exhausted: bool = False
    heads: int | None = None
    hint: str = ""
    verdicts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FitReport:
    """A fit, judged on examples that the search did not see.

    `status` is `solved` (relative error at most 1e-6, or `noise_floor`), `wrong`, `refused` (an assumption does not
    hold: `reason` says which) or `budget` (iterations ran out). `test_error` is a root mean square, `relative_error`
    is sqrt(Σ|F̂−Y|² / Σ|Y−mean Y|²), `sign_accuracy` the share of labels beyond 1e-9 whose sign is right, and `heads`
    the number that the learner needed, where it can tell.

    `noise_floor`: what is left of the labels looks like independent noise, of size `noise` (see `learner.noise`).
    Of the provable learner: `certified_error` is the relative error after phases 1 to 6, on examples that no phase saw,
    and `certified` says that it is at most .1 and that the phases trust their hull (learner 1.13 says what this
    promises). `polished_error` and `random_start_error` are those of the search that follows, from phase 6 and from a
    random start.
    """

    status: str
    reason: str
    examples: int
    test_error: float
    relative_error: float
    sign_accuracy: float
    heads: int | None
    phases: tuple[Phase, ...]
    seconds: float
    noise: float | None = None
    noise_floor: bool = False
    certified: bool | None = None
    certified_error: float | None = None
    polished_error: float | None = None
    random_start_error: float | None = None


def judge(predicted: Array, Y: Array) -> Scores:
    """Root mean square error, relative error and sign accuracy of a prediction, both (n, …).

    >>> judge(np.array([[[1.0, -1.0]]]), np.array([[[2.0, -1.0]]]))["sign_accuracy"]
    1.0
    """
    error = (predicted - Y) ** 2
    spread = float(np.sum((Y - Y.mean(axis=0)) ** 2)) or 1.0
    informative = np.abs(Y) > 1e-9
    agree = np.sign(predicted[informative]) == np.sign(Y[informative])
    return {
        "test_error": float(np.sqrt(np.mean(error))),
        "relative_error": float(np.sqrt(np.sum(error) / spread)),
        "sign_accuracy": float(agree.mean()) if agree.size else 1.0,
    }


def verdict(outcome: Outcome, relative_error: float, solved_at: float, left: Residue | None) -> tuple[str, str]:
    """Status and reason of a search, by its error on held-out examples and what its last fit `left`, if it had one."""
    if outcome.refused:
        return "refused", outcome.refused
    if relative_error <= solved_at:
        return "solved", ""
    missed = f"relative error {relative_error:.1e} on held-out examples"
    if left is not None and left.is_noise:
        return "solved", f"{missed}: {left}"
    why = f"; {outcome.hint or left}" if outcome.hint or left else ""
    if outcome.exhausted:
        return "budget", f"{missed} when the iterations ran out{why}"
    return "wrong", f"{missed} where the search came to rest{why}"
