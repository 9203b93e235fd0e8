"""Who solves: a learner or an attack as plain data that a task holds, and as an object that is handed examples.

What is built into the lab runs in the process that asks, everything else in a process of its own
(`hardness.evaluation.worker`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from inspect import signature
from types import NoneType
from typing import Any, Literal, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.errors import InputError, TrialEnded, sanitize, unknown
from hardness.evaluation.limits import Meter
from hardness.io.fields import fitting
from hardness.io.schemas import finite

PLAIN = {int, float, str, bool, NoneType}
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


@dataclass(frozen=True)
class Solver:
    """A learner or an attack: a registered name, ``package.module:Name``, or in this process a class or an object.

    `options` are parameters of a learner's constructor; of an attack its `public` parameters and its `budget`. `heads`
    are those that a user asked for; `heads_known` those of the instance, which a learner that fits once is told where
    none were asked for.

    >>> Solver("learner", "student", {"rate": 0.03}).built_in, Solver("attack", "mine:pairs").built_in
    (True, False)
    """

    kind: Literal["learner", "attack"]
    name: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    heads: int | str | None = None
    heads_known: int | None = None

    @property
    def built_in(self) -> bool:
        """Say whether it runs in the process that asks: the lab's own, and what has no name."""
        return not isinstance(self.name, str) or registry.is_builtin(self.kind, self.name)

    @property
    def thing(self) -> Any:
        """Return the class, function or object. Raises `InputError` for a name that stands for nothing."""
        return registry.get(self.kind, self.name) if isinstance(self.name, str) else self.name

    @property
    def streamed(self) -> bool:
        """Say whether it learns in pieces, by `partial_fit`."""
        return hasattr(self.thing, "partial_fit")


def make(solver: Solver, random_state: int) -> Any:
    """Return a learner, told heads and random state if its class has such parameters.

    The heads of a class that has no `width` may be called that. Raises `InputError` for an option that it does not
    have, of another type than its annotation, or given twice.
    """
    cls, heads = solver.thing, solver.heads
    called = f"the learner {solver.name}" if isinstance(solver.name, str) else cls.__name__
    parameters, given = signature(cls).parameters, dict[str, Any]()
    for name, value in solver.options.items():
        place = "heads" if name == "width" and name not in parameters and "heads" in parameters else name
        if place in ("random_state", "seed"):
            raise InputError(f"{name} is no option: it follows from the seed of the run")
        if place not in parameters:
            known = parameters.keys() - {"random_state", "seed"}
            raise unknown(f"option of {called}", name, known)
        if place in given or (place == "heads" and heads is not None):
            raise InputError(f"the {place} of {called} are given twice; give them once")
        given[place] = _fitting(value, cls, place, f"option {name} of {called}")
    # Heads of a layer are part of its promise to a solver that fits it; an online learner's width is its own choice.
    if heads is None and not solver.streamed:
        heads = solver.heads_known
    rest = {"heads": heads, "random_state": random_state, "seed": random_state}
    accepted = {name: value for name, value in rest.items() if name in parameters and value is not None}
    return cls(**accepted | given)


def _fitting(value: Any, cls: Any, name: str, what: str) -> Any:
    """Return `value`, if it is of the type that the constructor is annotated with, where that is a plain one."""
    try:
        hint = get_type_hints(cls.__init__).get(name, Any)
    except (NameError, TypeError):  # annotations that only type checkers can read
        return value
    kinds = set(get_args(hint) or (hint,))
    return fitting(value, hint, what) if kinds <= PLAIN else value


def is_streamed(name: Any) -> bool:
    """Say whether a learner learns in pieces. Raises `InputError` if it cannot be loaded."""
    return Solver("learner", name).streamed


def plain(value: Any) -> Any:
    """Return dataclasses, arrays and numpy scalars as JSON types; a number that no float holds becomes None.

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
    seconds end it (`hardness.evaluation.limits.Meter`).
    """

    def __init__(self, solver: Solver, seed: int, allowance: float | None = None) -> None:
        self.streamed, self.meter = solver.streamed, Meter(allowance)
        self.learner = make(solver, seed % 2**32) if isinstance(solver.thing, type) else solver.thing

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> None:
        """Learn from X and Y, (n, k, d). Raises `TrialEnded` (refused) for bad input."""
        try:
            with self.meter.running():
                (self.learner.partial_fit if self.streamed else self.learner.fit)(X, Y)
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
        """Return what its `report_` says, as JSON, and its `device_`."""
        report = getattr(self.learner, "report_", None)
        fields = [name for name in ("status", "reason", *VERDICTS) if hasattr(report, name)]
        phases = [PHASE | phase for phase in plain(getattr(report, "phases", ())) if isinstance(phase, dict)]
        device = sanitize(getattr(self.learner, "device_", ""), 60)
        return {name: plain(getattr(report, name)) for name in fields} | {"phases": phases, "device": device}

    def work(self) -> dict[str, Any]:
        """Return what it says of its own work, `work_`: names and figures."""
        return dict(plain(getattr(self.learner, "work_", {})))

    def reference_seconds(self) -> float:
        """Return the CPU time it has spent, over that of the reference kernel."""
        return self.meter.reference_seconds()


class AttackAdapter(LearnerAdapter):
    """An attack as a learner: examples in, predictions of the secret it names out. It sees `public` and no more."""

    def __init__(self, solver: Solver, seed: int, allowance: float | None = None) -> None:
        self.streamed, self.meter = False, Meter(allowance)
        self.attack, self.seed = solver.thing, seed
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
        if outcome.secret is None:
            raise TrialEnded(outcome.status, str(outcome.detail.get("reason", "")), self.work())

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return noiseless labels (n, k, d) under the secret found."""
        from hardness.attacks.equations import hidden

        return hidden(self.public).predict(self.outcome["secret"], X)

    def report(self) -> dict[str, Any]:
        """Return the outcome of the attack, as JSON."""
        return self.outcome

    def work(self) -> dict[str, Any]:
        """Return what it needed: processor seconds and examples."""
        return {"seconds": round(self.meter.seconds, 3), "examples": self.outcome["samples_used"]}


def adapted(solver: Solver, seed: int, allowance: float | None = None) -> LearnerAdapter:
    """Return the solver that plain data name, in this process."""
    kind = AttackAdapter if solver.kind == "attack" else LearnerAdapter
    return kind(solver, seed, allowance)


class Constant:
    """The learner that predicts zero: the null control, and the shortest example of one."""

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> "Constant":
        """Learn nothing."""
        return self

    def predict(self, X: NDArray[np.int8]) -> NDArray[Any]:
        """Return zeros of the shape of X."""
        return np.zeros(X.shape)
