"""What keeps a learner from being used in the lab, tried on small data."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.evaluation.adapters import make
from hardness.examples import Examples
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Instance


class Check(NamedTuple):
    """One line of `check`: what was tried, whether it held, and what to do if not."""

    name: str
    ok: bool
    detail: str


class Trial(NamedTuple):
    """What every check is given: the class, examples to learn from, and fresh tokens (n, 2, 8)."""

    cls: Any
    train: Examples
    fresh: NDArray[np.int8]

    def fitted(self, state: int = 0) -> Any:
        """A fitted learner; None if `fit` does not return the learner itself."""
        learner = make(self.cls, 2, state)
        returned = learner.fit(self.train.X, self.train.Y)
        return learner if returned is learner else None

    def refuses(self, X: Any, Y: Any) -> bool:
        """Whether `fit` raises a ValueError of one line."""
        try:
            make(self.cls, 2, 0).fit(X, Y)
        except ValueError as error:
            return "\n" not in str(error)
        return False


def _clones(trial: Trial) -> bool:
    from sklearn.base import clone

    learner = make(trial.cls, 2, 0)
    return bool(clone(learner).get_params() == learner.get_params())


def _predicts(trial: Trial) -> bool:
    out = np.asarray(trial.fitted().predict(trial.fresh))
    return out.shape == trial.fresh.shape and out.dtype.kind == "f" and bool(np.isfinite(out).all())


def _repeats(trial: Trial) -> bool:
    return np.array_equal(trial.fitted().predict(trial.fresh), trial.fitted().predict(trial.fresh))


def _leaves_inputs(trial: Trial) -> bool:
    X, Y = trial.train.X.copy(), trial.train.Y.copy()
    make(trial.cls, 2, 0).fit(X, Y)
    return bool((trial.train.X == X).all() and (trial.train.Y == Y).all())


def _refuses_nan(trial: Trial) -> bool:
    bad = trial.train.Y.copy()
    bad[0, 0, 0] = np.nan
    return trial.refuses(trial.train.X, bad)


def _is_honest(trial: Trial) -> bool:
    noise = np.random.default_rng(3).normal(size=trial.train.Y.shape)
    report = getattr(make(trial.cls, 2, 0).fit(trial.train.X, noise), "report_", None)
    return getattr(report, "status", "wrong") != "solved"


Row = tuple[str, Callable[[Trial], Any], str]
# What is tried, how, and what to do if it does not hold. Without the basis nothing else can be tried.
BASIS: tuple[Row, ...] = (
    ("construct", lambda trial: make(trial.cls, 2, 0), "the constructor must work with its defaults"),
    ("fit", Trial.fitted, "fit(X, Y) must take (n, k, d) arrays and return self"),
)
CHECKS: tuple[Row, ...] = (
    ("clone", _clones, "derive from sklearn.base.BaseEstimator and only store the arguments in __init__"),
    ("predict", _predicts, "predict(X) must return finite floats of the shape of X"),
    ("deterministic", _repeats, "the same random_state and data must give the same predictions"),
    ("inputs untouched", _leaves_inputs, "fit must not write into X or Y"),
    ("refuses NaN", _refuses_nan, "raise a one-line ValueError on NaN"),
    (
        "refuses shapes",
        lambda trial: trial.refuses(trial.train.X, trial.train.Y[:-1]),
        "raise a one-line ValueError if shapes differ",
    ),
    ("honest", _is_honest, "on random labels report_.status must not be 'solved'"),
)


def check(name: str) -> list[Check]:
    """What keeps the learner `name` from being used in the lab, on small data; later checks stop at a failed basis.

    It runs in this process. Raises `InputError` only if the class cannot be loaded.
    """
    cls = registry.get("learner", name)
    instance = Instance.generate(Nondegenerate(dim=8, tokens=2, heads=2), seed=1)
    trial = Trial(cls=cls, train=instance.examples(1500, 2), fresh=instance.examples(50, 2, start=1500).X)
    basis = [_tried(row, trial) for row in BASIS]
    return basis + [_tried(row, trial) for row in CHECKS] if all(each.ok for each in basis) else basis


def _tried(row: Row, trial: Trial) -> Check:
    name, act, advice = row
    try:
        held = bool(act(trial))
        return Check(name, held, "" if held else advice)
    except Exception as error:
        return Check(name, False, f"{advice} ({type(error).__name__}: {error})")
