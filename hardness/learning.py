"""One learner, one instance: the learner is handed examples, and the lab judges what it learned on fresh ones."""

import sys
import time
from dataclasses import asdict, is_dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, unknown
from hardness.gadget import Gadget
from hardness.instance import Instance

Floats = NDArray[np.float64]
GROUP = "hardness.learners"
EXACT = 1e-6  # relative error that solves a random layer
ACCURATE = 0.99  # sign accuracy that solves a structured instance


def names() -> list[str]:
    """Names of the installed learners, entry points of the group `hardness.learners`."""
    return sorted(point.name for point in entry_points(group=GROUP))


def get(name: str) -> Any:
    """The learner class called `name`, or that of `package.module:Class` (the working directory is searched too).

    Raises `InputError` for a misspelt name, a module that cannot be imported, and a missing class.

    >>> get("dierct")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: unknown learner 'dierct'; did you mean 'direct'? ...
    """
    for point in entry_points(group=GROUP):
        if point.name == name:
            return point.load()
    module, _, attribute = name.partition(":")
    if not attribute:
        raise unknown("learner", name, names())
    if "" not in sys.path:
        sys.path.append("")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"cannot load the learner {name}: {error}; write it as package.module:Class") from error
    if not isinstance(found, type):
        raise InputError(f"{name} is not a class; a learner is a class with fit(X, Y) and predict(X)")
    return found


def make(cls: Any, heads: int, random_state: int) -> Any:
    """An instance of a learner class, told the heads and the random state if it has such parameters."""
    from inspect import signature

    known = signature(cls).parameters
    offered = {"heads": heads, "random_state": random_state, "seed": random_state}
    return cls(**{name: value for name, value in offered.items() if name in known})


def sign_accuracy(teacher: Gadget, X: NDArray[np.int8], predicted: Floats, Y: Floats) -> float:
    """Share of rows with z_0 != 0 whose prediction is nearest to the right label value: of two values, the sign.

    On row a the label is x_a[0] times a value of the gadget, in column 0.
    """
    informative = X[:, 0, 0] != X[:, 1, 0]
    gate = X[informative, :, 0]
    values = np.unique(teacher.values)
    middles = (values[1:] + values[:-1]) / 2
    seen = np.searchsorted(middles, predicted[informative, :, 0] * gate)
    return float(np.mean(seen == np.searchsorted(middles, Y[informative, :, 0] * gate)))


def judge(instance: Instance, X: NDArray[np.int8], predicted: Floats) -> dict[str, float | None]:
    """Errors of a prediction against the noiseless teacher, and for structured families the sign accuracy."""
    Y = instance.teacher(X)
    if predicted.shape != Y.shape or not np.isfinite(predicted).all():
        return {"test_error": None, "relative_error": None, "sign_accuracy": None}
    error = float(np.sum((predicted - Y) ** 2))
    spread = float(np.sum((Y - Y.mean(axis=0)) ** 2)) or 1.0
    teacher = instance.teacher
    return {
        "test_error": (error / Y.size) ** 0.5,
        "relative_error": (error / spread) ** 0.5,
        "sign_accuracy": sign_accuracy(teacher, X, predicted, Y) if isinstance(teacher, Gadget) else None,
    }


def learn(
    instance: Instance,
    name: str,
    count: int,
    *,
    test: int = 2000,
    seed: int | None = None,
    heads: int | None = None,
) -> dict[str, Any]:
    """Fit the learner `name` on `count` examples of the instance and judge it on `test` fresh ones.

    `seed` drives examples and learner by separate spawns. The status is `refused` if the learner's own report says
    so; else `solved` where the lab says so; else `budget` if the report says that, `wrong` if not; `error` if the
    learner raised anything but `InputError`. Raises `InputError` for counts below 1 and an unknown name.
    """
    if count < 1 or test < 2:
        raise InputError(f"give at least 1 example to learn from and 2 to test on, got {count} and {test}")
    sampling, state = (int(child.generate_state(1, np.uint64)[0]) for child in np.random.SeedSequence(seed).spawn(2))
    learner = make(get(name), instance.heads if heads is None else heads, state % 2**32)
    train = instance.examples(count, sampling)
    fresh = instance.examples(test, sampling, start=count).X
    payload: dict[str, Any] = {"status": "error", "learner": name, "train_examples": count}
    started = time.perf_counter()
    try:
        learner.fit(train.X, train.Y)
        seconds = time.perf_counter() - started
        scores = judge(instance, fresh, np.asarray(learner.predict(fresh), dtype=np.float64))
    except InputError:
        raise
    except Exception as error:
        lost = {"test_error": None, "relative_error": None, "sign_accuracy": None}
        raised = {"name": "fit", "verdict": "error", "reason": f"{type(error).__name__}: {error}", "diagnostics": {}}
        return payload | lost | {"phases": [raised], "seconds": time.perf_counter() - started}
    report = getattr(learner, "report_", None)
    payload["status"] = _status(getattr(report, "status", ""), scores)
    return payload | scores | {"phases": plain(getattr(report, "phases", ())), "seconds": seconds}


def solved(scores: dict[str, float | None]) -> bool:
    """Whether the scores of `judge` solve the instance: sign accuracy .99, or relative error 1e-6 without signs.

    >>> solved({"relative_error": 0.0, "sign_accuracy": None}), solved({"relative_error": 0.1, "sign_accuracy": 0.98})
    (True, False)
    """
    relative, sign = scores["relative_error"], scores["sign_accuracy"]
    return relative is not None and (relative <= EXACT if sign is None else sign >= ACCURATE)


def _status(claimed: str, scores: dict[str, float | None]) -> str:
    if claimed == "refused":
        return claimed
    if solved(scores):
        return "solved"
    return "budget" if claimed == "budget" else "wrong"


def plain(value: Any) -> Any:
    """Dataclasses, arrays and numpy scalars as JSON types; what is not finite becomes None.

    >>> plain({"eta": np.float64("inf"), "kept": np.int64(3)})
    {'eta': None, 'kept': 3}
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


class Check(NamedTuple):
    """One line of `check`: what was tried, whether it held, and what to do if not."""

    name: str
    ok: bool
    detail: str


def check(name: str) -> list[Check]:
    """What keeps the learner `name` from being used in the lab, on small data; later checks stop at a failed basis.

    Raises `InputError` only if the class cannot be loaded.
    """
    from hardness.families.nondegenerate import Nondegenerate

    cls = get(name)
    instance = Instance.generate(Nondegenerate(dim=8, tokens=2, heads=2), seed=1)
    train, fresh = instance.examples(1500, 2), instance.examples(50, 2, start=1500).X
    checks: list[Check] = []

    def tried(what: str, act: Any, advice: str) -> bool:
        try:
            held = bool(act())
            checks.append(Check(what, held, "" if held else advice))
        except Exception as error:
            checks.append(Check(what, False, f"{advice} ({type(error).__name__}: {error})"))
        return checks[-1].ok

    def fitted(state: int = 0) -> Any:
        learner = make(cls, 2, state)
        returned = learner.fit(train.X, train.Y)
        return learner if returned is learner else None

    def cloned() -> bool:
        from sklearn.base import clone

        learner = make(cls, 2, 0)
        return bool(clone(learner).get_params() == learner.get_params())

    def untouched() -> bool:
        X, Y = train.X.copy(), train.Y.copy()
        make(cls, 2, 0).fit(X, Y)
        return bool((train.X == X).all() and (train.Y == Y).all())

    def honest() -> bool:
        noise = np.random.default_rng(3).normal(size=train.Y.shape)
        report = getattr(make(cls, 2, 0).fit(train.X, noise), "report_", None)
        return getattr(report, "status", "wrong") != "solved"

    def refuses(X: Any, Y: Any) -> bool:
        try:
            make(cls, 2, 0).fit(X, Y)
        except ValueError as error:
            return "\n" not in str(error)
        return False

    basis = tried("construct", lambda: make(cls, 2, 0), "the constructor must work with its defaults")
    basis = basis and tried("fit", fitted, "fit(X, Y) must take (n, k, d) arrays and return self")
    if not basis:
        return checks
    tried("clone", cloned, "derive from sklearn.base.BaseEstimator and only store the arguments in __init__")

    def predicts() -> bool:
        out = np.asarray(fitted().predict(fresh))
        return out.shape == fresh.shape and out.dtype.kind == "f" and bool(np.isfinite(out).all())

    tried("predict", predicts, "predict(X) must return finite floats of the shape of X")
    same = "the same random_state and data must give the same predictions"
    tried("deterministic", lambda: np.array_equal(fitted().predict(fresh), fitted().predict(fresh)), same)
    tried("inputs untouched", untouched, "fit must not write into X or Y")
    bad = train.Y.copy()
    bad[0, 0, 0] = np.nan
    tried("refuses NaN", lambda: refuses(train.X, bad), "raise a one-line ValueError on NaN")
    tried("refuses shapes", lambda: refuses(train.X, train.Y[:-1]), "raise a one-line ValueError if shapes differ")
    tried("honest", honest, "on random labels report_.status must not be 'solved'")
    return checks
