"""What keeps a learner from being used in the lab, tried on small data."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.evaluation.adapters import make
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Check, Instance


def check(name: str) -> list[Check]:
    """What was tried of the learner `name` on small data, and what to do where it failed; a failed basis ends it.

    It runs in this process. Raises `InputError` only if the class cannot be loaded.
    """
    cls = registry.get("learner", name)
    instance = Instance.generate(Nondegenerate(dim=8, tokens=2, heads=2), seed=1)
    train, fresh = instance.examples(1500, 2), instance.examples(50, 2, start=1500).X
    X, Y = train.X, train.Y
    hole = np.where(np.arange(Y.size).reshape(Y.shape) == 0, np.nan, Y)
    noise = np.random.default_rng(3).normal(size=Y.shape)

    def made() -> Any:
        return make(cls, 2, 0)

    def predicted() -> NDArray[Any]:
        return np.asarray(made().fit(X, Y).predict(fresh))

    def returns_itself() -> bool:
        learner = made()
        return learner.fit(X, Y) is learner

    def clones() -> bool:
        from sklearn.base import clone

        return bool(clone(made()).get_params() == made().get_params())

    def predicts() -> bool:
        out = predicted()
        return out.shape == fresh.shape and out.dtype.kind == "f" and bool(np.isfinite(out).all())

    def leaves_inputs() -> bool:
        x, y = X.copy(), Y.copy()
        made().fit(x, y)
        return np.array_equal(x, X) and np.array_equal(y, Y)

    def refuses(labels: NDArray[Any]) -> bool:
        try:
            made().fit(X, labels)
        except ValueError as error:
            return "\n" not in str(error)
        return False

    def is_honest() -> bool:
        report = getattr(made().fit(X, noise), "report_", None)
        return getattr(report, "status", "wrong") != "solved"

    basis = [
        _tried("construct", lambda: made() is not None, "the constructor must work with its defaults"),
        _tried("fit", returns_itself, "fit(X, Y) must take (n, k, d) arrays and return self"),
    ]
    if not all(each.ok for each in basis):
        return basis
    return [
        *basis,
        _tried("clone", clones, "derive from sklearn.base.BaseEstimator and only store the arguments in __init__"),
        _tried("predict", predicts, "predict(X) must return finite floats of the shape of X"),
        _tried("deterministic", lambda: np.array_equal(predicted(), predicted()),
               "the same random_state and data must give the same predictions"),
        _tried("inputs untouched", leaves_inputs, "fit must not write into X or Y"),
        _tried("refuses NaN", lambda: refuses(hole), "raise a one-line ValueError on NaN"),
        _tried("refuses shapes", lambda: refuses(Y[:-1]), "raise a one-line ValueError if shapes differ"),
        _tried("honest", is_honest, "on random labels report_.status must not be 'solved'"),
    ]  # fmt: skip


def _tried(name: str, act: Callable[[], Any], advice: str) -> Check:
    try:
        held = bool(act())
        return Check(name, held, "" if held else advice)
    except Exception as error:
        return Check(name, False, f"{advice} ({type(error).__name__}: {error})")
