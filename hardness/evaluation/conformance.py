"""`hardness learn --check`: what a learner needs, and what it is advised, to be used in the lab; on small data."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from hardness.errors import InputError, one_line
from hardness.evaluation.solver import Solver, make
from hardness.examples import Examples
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.instance import Instance

HEADS = 2
LEARNED, PREDICTED = 1500, 50  # examples
SAME = 1e-4  # of the largest prediction: what rounding may change where rows come in another order, in float32 too
BASIS = ("construct", "fit")  # checks without which the others say nothing
# Without these no trial comes to a score, or the seed does not give it again. The others are advised.
NEEDED = (*BASIS, "predict", "deterministic")

Make = Callable[[], Any]  # a learner of its own for each fit


def _fitted(made: Make, given: Examples) -> Any:
    learner = made()
    (getattr(learner, "fit", None) or learner.partial_fit)(given.X[:LEARNED], given.Y[:LEARNED])
    return learner


def _clones(made: Make, given: Examples) -> bool:
    from sklearn.base import clone

    return bool(clone(made()).get_params() == made().get_params())


def _predicts(made: Make, given: Examples) -> bool:
    out = np.asarray(_fitted(made, given).predict(given.X[LEARNED:]))
    return out.shape == given.X[LEARNED:].shape and out.dtype.kind == "f" and bool(np.isfinite(out).all())


def _repeats(made: Make, given: Examples) -> bool:
    return np.array_equal(*(_fitted(made, given).predict(given.X[LEARNED:]) for _ in range(2)))


def _predicts_rows_alone(made: Make, given: Examples) -> bool:
    learner, X = _fitted(made, given), given.X[LEARNED:]
    whole, half = (np.array(learner.predict(rows)) for rows in (X, X[: PREDICTED // 2]))
    scale = float(np.abs(whole).max(initial=1.0, where=np.isfinite(whole)))
    return np.allclose(whole[: len(half)], half, rtol=0, atol=SAME * scale, equal_nan=True)


def _refuses_nan(made: Make, given: Examples) -> bool:
    try:
        _fitted(made, Examples(given.X, np.full(given.Y.shape, np.nan)))
    except ValueError as error:
        return "\n" not in str(error)
    return False


# What is tried, by name, and what to do where it fails.
CHECKS: Mapping[str, tuple[Callable[[Make, Examples], bool], str]] = {
    "construct": (lambda made, given: made() is not None, "the constructor must work with its defaults"),
    "fit": (lambda *both: bool(_fitted(*both)), "fit(X, Y), or else partial_fit, must take (n, k, d) arrays"),
    "clone": (_clones, "derive from sklearn.base.BaseEstimator and only store the arguments in __init__"),
    "predict": (_predicts, "predict(X) must return finite floats of the shape of X"),
    "deterministic": (_repeats, "the same random_state and data must give the same predictions"),
    "rows alone": (_predicts_rows_alone, "a prediction must depend on its own row only: call .eval(), say"),
    "refuses NaN": (_refuses_nan, "raise a one-line ValueError on NaN"),
}


def tried(solver: Solver, name: str) -> dict[str, Any]:
    """Return one check of `CHECKS`, made in this process, as the fields of a `Check`.

    A learner that refuses a random layer by `InputError` is tried on a hidden parity.
    """
    act, advice = CHECKS[name]
    reason = ""
    for family in (Nondegenerate(8, 2, HEADS), Parity(8, HEADS)):
        given = Instance.generate(family, seed=1).examples(LEARNED + PREDICTED, 2)
        try:
            ok = bool(act(partial(make, solver, 0), given))
            return {"name": name, "ok": ok, "detail": "" if ok else advice}
        except Exception as error:
            reason = one_line(error)
            if not isinstance(error, InputError):
                break
    return {"name": name, "ok": False, "detail": f"{advice} ({reason})"}
