"""Learners and attacks as one thing: an object that is handed examples and predicts labels.

A `hardness.evaluation.solver.Solver` names one. What is built into the lab runs in the process that asks; everything
else in a worker process (`hardness.evaluation.worker`).
"""

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, TrialEnded
from hardness.evaluation.effort import Meter
from hardness.evaluation.solver import Solver
from hardness.evaluation.solver import make as make
from hardness.io.schemas import finite
from hardness.io.texts import sanitize

PHASE = {"name": "fit", "verdict": "", "reason": "", "diagnostics": {}, "line": ""}
VERDICTS = (
    "certified",
    "certified_error",
    "polished_error",
    "random_start_error",
    "refused_by",
    "condition",
    "certified_radius",
)
# What an attack needed, and what it predicted, as far as it says: figures of `Recovery.detail`.
WORK = (
    "predicted_seconds",
    "forecast_seconds",
    "log2_expected_tries",
    "tries",
    "trials",
    "rounds",
    "steps",
    "log2_rows",
    "block_size",
    "log2_nodes",
    "halves",
    "method",
)


def plain(value: Any) -> Any:
    """Dataclasses, arrays and numpy scalars as JSON types; a number that no float holds becomes None.

    >>> plain({"eta": np.float64("inf"), "kept": np.int64(3)})
    {'eta': None, 'kept': 3}
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, int | float) and not finite(value) else value


class LearnerAdapter:
    """A learner with `partial_fit`, or with `fit`, which is given all that it ever sees at once.

    Its CPU time is that of learning and of predicting, which some learners leave the work to; `allowance` reference
    seconds end it (`hardness.evaluation.effort`).
    """

    def __init__(self, solver: Solver, seed: int, allowance: float | None = None) -> None:
        self.solver, self.streamed, self.meter = solver, solver.streamed, Meter(allowance)
        self.learner = make(solver, seed % 2**32) if isinstance(solver.thing, type) else solver.thing

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> None:
        """Learn from X and Y, (n, k, d). Raises `TrialEnded` (refused) for bad input."""
        try:
            with self.meter.running():
                (self.learner.partial_fit if self.streamed else self.learner.fit)(X, Y)
            _require_scores(self.learner)
        except InputError as error:
            raise TrialEnded("refused", str(error), kind="InputError") from error

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return predictions (n, k, d) for X. Raises `TrialEnded` (refused) for an array of another shape."""
        with self.meter.running():
            predicted = np.asarray(self.learner.predict(X), dtype=np.float64)
        if predicted.shape != X.shape:
            raise TrialEnded("refused", f"expected predictions of shape {X.shape}, got {predicted.shape}")
        return predicted

    def report(self) -> dict[str, Any]:
        """What its `report_` says, as JSON."""
        report = getattr(self.learner, "report_", None)
        fields = [name for name in ("status", "reason", *VERDICTS) if hasattr(report, name)]
        phases = [PHASE | phase for phase in plain(getattr(report, "phases", ())) if isinstance(phase, dict)]
        return {**{name: plain(getattr(report, name)) for name in fields}, "phases": phases}

    def device(self) -> str:
        """Where it ran, if it says so: its `device_`."""
        place = getattr(self.learner, "device_", None)
        return "" if place is None else sanitize(place, 60)

    def work(self) -> dict[str, Any]:
        """What it says of its own work, `work_`: names and figures."""
        work = plain(getattr(self.learner, "work_", {}))
        return work if isinstance(work, dict) else {}

    def reference_seconds(self) -> float:
        """The CPU time it has spent, over that of the reference kernel."""
        return self.meter.reference_seconds()

    def examine(self, check: str) -> dict[str, Any]:
        """Return the outcome of one check of `hardness.evaluation.conformance`, on learners of its own."""
        from hardness.evaluation.conformance import tried

        return tried(self.solver, check)


class AttackAdapter:
    """An attack as a learner: examples in, predictions of the secret it names out. It sees `public` and no more."""

    streamed = False

    def __init__(self, solver: Solver, seed: int, allowance: float | None = None) -> None:
        self.attack, self.seed, self.meter = solver.thing, seed, Meter(allowance)
        self.public, self.budget = solver.options["public"], solver.options.get("budget")
        self.outcome: dict[str, Any] = {}

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> None:
        """Attack the examples X, Y (n, k, d). Raises `TrialEnded` unless it names a secret."""
        try:
            with self.meter.running():
                outcome = self.attack(X, Y, self.public, budget=self.budget, seed=self.seed)
        except InputError as error:
            raise TrialEnded("refused", str(error), kind="InputError") from error
        self.outcome = plain(outcome)
        detail = self.outcome["detail"]
        work = {name: detail[name] for name in WORK if name in detail}
        self.figures = work | {"seconds": round(self.meter.seconds, 3), "examples": outcome.samples_used}
        if outcome.secret is None:
            raise TrialEnded(outcome.status, str(outcome.detail.get("reason", "")), self.figures)

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return noiseless labels (n, k, d) under the secret found."""
        from hardness.attacks.equations import hidden

        return hidden(self.public).predict(self.outcome["secret"], X)

    def report(self) -> dict[str, Any]:
        """The outcome that the attack returned, as JSON."""
        return self.outcome

    def device(self) -> str:
        """None that it states."""
        return ""

    def work(self) -> dict[str, Any]:
        """What it needed: processor seconds, examples, tries, steps, block size, nodes, as far as it has them."""
        return self.figures

    def reference_seconds(self) -> float:
        """The CPU time it has spent, over that of the reference kernel."""
        return self.meter.reference_seconds()


def _require_scores(learner: Any) -> None:
    """Raise `InputError` for a search over settings, such as scikit-learn's, that scored none: it took the first."""
    results = getattr(learner, "cv_results_", {})
    names = results if isinstance(results, Mapping) else ()
    means = [results[name] for name in names if str(name).startswith("mean_test_")]
    if means and all(np.isnan(mean).all() for mean in means):
        raise InputError(
            f"{type(learner).__name__} could score no setting: scikit-learn's own score takes no labels of three "
            "dimensions; give the learner a method score(X, Y), or the search a scoring"
        )


Adapter = LearnerAdapter | AttackAdapter


def adapted(solver: Solver, seed: int, allowance: float | None = None) -> Adapter:
    """The solver that plain data name, in this process."""
    kind = AttackAdapter if solver.kind == "attack" else LearnerAdapter
    return kind(solver, seed, allowance)


def is_streamed(name: Any) -> bool:
    """Whether a learner learns in pieces. Raises `InputError` if it cannot be loaded."""
    return Solver("learner", name).streamed


class Constant:
    """The learner that predicts zero: the null control, and the shortest example of one."""

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> "Constant":
        """Learn nothing."""
        return self

    def predict(self, X: NDArray[np.int8]) -> NDArray[Any]:
        """Zeros of the shape of X."""
        return np.zeros(X.shape)
