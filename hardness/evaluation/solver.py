"""Who solves: a learner or an attack as plain data that a task holds, and as an object that is handed examples.

What is built into the lab runs in the process that asks, everything else in a process of its own
(`hardness.evaluation.worker`).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, is_dataclass
from inspect import signature
from types import NoneType
from typing import Any, Literal, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.errors import InputError, TrialEnded, unknown
from hardness.evaluation.limits import cpu_seconds, kernel_seconds
from hardness.io.fields import fitting
from hardness.io.schemas import finite

PLAIN = {int, float, str, bool, NoneType}
SEEDS = ("random_state", "seed")  # parameters that no option sets
VERDICTS = (
    *("certified", "certified_error", "polished_error", "random_start_error"),
    *("refused_by", "condition", "certified_radius"),
)


@dataclass(frozen=True)
class Solver:
    """Describe a learner or an attack (`kind`) by a registered `name`, ``package.module:Name``, or the object itself.

    `options` are arguments of a learner's constructor; for an attack they are its `public` parameters and its `budget`.
    `heads` is the number of heads that a user asked for, else None. `heads_known` is that of the instance, which is
    told to learners without `partial_fit` if `heads` is None.

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
        """Say whether the learner or attack runs in the calling process: one of this package, or given as an object."""
        return not isinstance(self.name, str) or registry.is_builtin(self.kind, self.name)

    @property
    def thing(self) -> Any:
        """Return the class, function or object of the learner or attack. Raises `InputError` if there is none."""
        return registry.get(self.kind, self.name) if isinstance(self.name, str) else self.name

    @property
    def streamed(self) -> bool:
        """Say whether the learner takes examples in portions, by `partial_fit`, and not all at once."""
        return hasattr(self.thing, "partial_fit")


def is_streamed(name: Any) -> bool:
    """Say whether a learner takes examples in portions (`partial_fit`). Raises `InputError` if it cannot be loaded."""
    return Solver("learner", name).streamed


def make(solver: Solver, random_state: int) -> Any:
    """Return a new learner of the solver's class, with its options, and number of heads and seed if it takes them.

    Raises `InputError` for an option that is unknown, of another type than its annotation, or given twice.
    """
    cls, heads = solver.thing, solver.heads
    called = f"the learner {solver.name}" if isinstance(solver.name, str) else cls.__name__
    parameters, given = signature(cls).parameters, dict[str, Any]()
    for name, value in solver.options.items():
        # Students call their width heads.
        place = "heads" if name == "width" and name not in parameters else name
        if place not in parameters or place in SEEDS:
            raise unknown(f"option of {called}", name, parameters.keys() - {*SEEDS})
        if place in given or (place == "heads" and heads is not None):
            raise InputError(f"the {place} of {called} are given twice; give them once")
        hint = get_type_hints(cls.__init__).get(place, Any)
        is_plain = {*(get_args(hint) or (hint,))} <= PLAIN
        given[place] = fitting(value, hint, f"option {name} of {called}") if is_plain else value
    # Heads of a layer are part of its promise to a solver that fits it; an online learner's width is its own choice.
    if heads is None and not solver.streamed:
        heads = solver.heads_known
    offered = {"heads": heads, "random_state": random_state, "seed": random_state}
    accepted = {name: value for name, value in offered.items() if name in parameters and value is not None}
    return cls(**accepted | given)


def plain(value: Any) -> Any:
    """Return a value of dataclasses, arrays and numpy scalars as JSON types; numbers that are not finite become None.

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


class Fitted:
    """Run a learner or an attack by the same methods, `partial_fit` and `predict`, and count its CPU time.

    The methods raise `TrialEnded` with status "refused" if the learner or attack raises `InputError`.
    """

    def __init__(self, solver: Solver, seed: int) -> None:
        self.streamed, self.cpu_seconds = solver.streamed, 0.0
        if solver.kind == "attack":
            self.learner: Any = _Attack(solver, seed)
        else:
            self.learner = make(solver, seed % 2**32) if isinstance(solver.thing, type) else solver.thing

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add the CPU time of what runs inside to the field `cpu_seconds`, and turn `InputError` into `TrialEnded`."""
        begin = cpu_seconds()
        try:
            yield
        except InputError as error:
            raise TrialEnded("refused", str(error)) from error
        finally:
            self.cpu_seconds += cpu_seconds() - begin

    def _method(self, name: str) -> Any:
        """Return the learner's method of that name. Raises `InputError` if it has none."""
        if not hasattr(self.learner, name):
            raise InputError(
                "a learner is a class, or an object of one, with fit(X, Y) or partial_fit, and predict(X), on arrays "
                f"(n, k, d); this {type(self.learner).__name__} has no {name}"
            )
        return getattr(self.learner, name)

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> None:
        """Hand X and Y (n, k, d) to the learner's `partial_fit`, or to its `fit` if it has no `partial_fit`."""
        with self.timed():
            self._method("partial_fit" if self.streamed else "fit")(X, Y)

    def predict(self, X: NDArray[np.int8]) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Return predictions (n, k, d) for X, and a dict of what the learner says of itself, and of its CPU time.

        `work` is its `work_`. `report` has status, reason and phases of its `report_`, unless it has `partial_fit`.
        `reference_seconds` is its CPU time, divided by what numpy takes here for 10⁹ multiply-adds. Raises `TrialEnded`
        ("refused") if the predictions have another shape.
        """
        with self.timed():
            predicted = np.asarray(self._method("predict")(X), dtype=np.float64)
        if predicted.shape != X.shape:
            raise TrialEnded("refused", f"expected predictions of shape {X.shape}, got {predicted.shape}")
        report = None if self.streamed else getattr(self.learner, "report_", None)
        names = ("status", "reason", "phases", *VERDICTS)
        done = {
            "work": dict(plain(getattr(self.learner, "work_", {}))),
            "report": {name: plain(getattr(report, name)) for name in names if hasattr(report, name)},
            "reference_seconds": self.cpu_seconds / kernel_seconds(),
        }
        return predicted, done


class _Attack:
    """Give an attack the methods of a learner: it predicts the labels that the secret it found would give."""

    def __init__(self, solver: Solver, seed: int) -> None:
        import numba  # noqa: F401  # attacks load it later: `limits.clock` must know it first

        self.solver, self.seed = solver, seed
        self.public, self.budget = solver.options["public"], solver.options.get("budget")

    def fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> None:
        """Run the attack on examples X, Y (n, k, d). Raises `TrialEnded` if it names no secret."""
        outcome = self.solver.thing(X, Y, self.public, budget=self.budget, seed=self.seed)
        self.secret, self.work_ = outcome.secret, {"examples": outcome.samples_used}
        if outcome.secret is None:
            raise TrialEnded(outcome.status, str(outcome.detail.get("reason", "")), plain(self.work_))

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return the noiseless labels (n, k, d) of X under the secret that the attack found."""
        from hardness.attacks.equations import hidden

        return hidden(self.public).predict(self.secret, X)
