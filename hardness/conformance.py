"""What keeps a learner from being used in the lab, tried on small data."""

from typing import Any, NamedTuple

import numpy as np

from hardness import registry
from hardness.instance import Instance
from hardness.learning import make


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

    cls = registry.get("learner", name)
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
