"""`hardness learn --check`: what a learner needs, and what it is advised, to be used in the lab; on small data.

`CHECKS` says in words what each function below tries.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
# Without these no trial comes to a score, or the seed does not give it again. The others are advised: for scikit-learn,
# and for trials that say what was wrong with their labels.
NEEDED = (*BASIS, "predict", "deterministic")

Make = Callable[[], Any]  # a learner of its own for each fit


def learning(learner: Any) -> Callable[[NDArray[Any], NDArray[Any]], Any]:
    """Return the method that is given examples: `fit`, or `partial_fit` where there is no other."""
    method: Callable[[NDArray[Any], NDArray[Any]], Any] = getattr(learner, "fit", None) or learner.partial_fit
    return method


def _fitted(made: Make, given: Examples) -> Any:
    learner = made()
    learning(learner)(given.X[:LEARNED], given.Y[:LEARNED])
    return learner


def _predicted(made: Make, given: Examples) -> NDArray[Any]:
    """Return the predictions (50, k, d) of a fresh learner for inputs that it has not seen."""
    return np.asarray(_fitted(made, given).predict(given.X[LEARNED:]))


def _constructs(made: Make, given: Examples) -> bool:
    return made() is not None


def _returns_itself(made: Make, given: Examples) -> bool:
    learner = made()
    returned = learning(learner)(given.X[:LEARNED], given.Y[:LEARNED])
    return returned is learner or not hasattr(learner, "fit")


def _clones(made: Make, given: Examples) -> bool:
    from sklearn.base import clone

    return bool(clone(made()).get_params() == made().get_params())


def _predicts(made: Make, given: Examples) -> bool:
    out = _predicted(made, given)
    return out.shape == given.X[LEARNED:].shape and out.dtype.kind == "f" and bool(np.isfinite(out).all())


def _repeats(made: Make, given: Examples) -> bool:
    return np.array_equal(_predicted(made, given), _predicted(made, given))


def _predicts_rows_alone(made: Make, given: Examples) -> bool:
    learner, X = _fitted(made, given), given.X[LEARNED:]
    whole, half = (np.array(learner.predict(rows)) for rows in (X, X[: PREDICTED // 2]))
    scale = float(np.abs(whole).max(initial=1.0, where=np.isfinite(whole)))
    return np.allclose(whole[: len(half)], half, rtol=0, atol=SAME * scale, equal_nan=True)


def _leaves_inputs(made: Make, given: Examples) -> bool:
    copies = Examples(given.X.copy(), given.Y.copy())
    _fitted(made, copies)
    return np.array_equal(copies.X, given.X) and np.array_equal(copies.Y, given.Y)


def _refuses_nan(made: Make, given: Examples) -> bool:
    labels = given.Y[:LEARNED].copy()
    labels.flat[0] = np.nan
    return _refuses(made, given, labels)


def _refuses_shapes(made: Make, given: Examples) -> bool:
    return _refuses(made, given, given.Y[: LEARNED - 1])


def _refuses(made: Make, given: Examples, labels: NDArray[Any]) -> bool:
    try:
        learning(made())(given.X[:LEARNED], labels)
    except ValueError as error:
        return "\n" not in str(error)
    return False


def _is_honest(made: Make, given: Examples) -> bool:
    learner, labels = made(), np.random.default_rng(3).normal(size=given.Y[:LEARNED].shape)
    try:
        learning(learner)(given.X[:LEARNED], labels)
    except InputError:  # it learns labels of another form alone, and refuses these
        return True
    report = getattr(learner, "report_", None)
    return getattr(report, "status", "wrong") != "solved"


# What is tried, by name, and what to do where it fails.
CHECKS: Mapping[str, tuple[Callable[[Make, Examples], bool], str]] = {
    "construct": (_constructs, "the constructor must work with its defaults"),
    "fit": (_returns_itself, "fit(X, Y), or else partial_fit, must take (n, k, d) arrays; fit returns self"),
    "clone": (_clones, "derive from sklearn.base.BaseEstimator and only store the arguments in __init__"),
    "predict": (_predicts, "predict(X) must return finite floats of the shape of X"),
    "deterministic": (_repeats, "the same random_state and data must give the same predictions"),
    "rows alone": (_predicts_rows_alone, "a prediction must depend on its own row only: call .eval(), say"),
    "inputs untouched": (_leaves_inputs, "fit must not write into X or Y"),
    "refuses NaN": (_refuses_nan, "raise a one-line ValueError on NaN"),
    "refuses shapes": (_refuses_shapes, "raise a one-line ValueError if shapes differ"),
    "honest": (_is_honest, "on random labels report_.status must not be 'solved'"),
}


def tried(solver: Solver, name: str) -> dict[str, Any]:
    """Return one check of `CHECKS`, made in this process, as the fields of a `Check`.

    A learner that refuses a random layer by `InputError` is tried on a hidden parity.
    """
    act, advice = CHECKS[name]
    made = partial(make, solver, 0)
    count = LEARNED + PREDICTED
    try:
        try:
            ok = bool(act(made, Instance.generate(Nondegenerate(8, 2, HEADS), seed=1).examples(count, 2)))
        except InputError:
            ok = bool(act(made, Instance.generate(Parity(8, HEADS), seed=1).examples(count, 2)))
        return {"name": name, "ok": ok, "detail": "" if ok else advice}
    except Exception as error:
        return {"name": name, "ok": False, "detail": f"{advice} ({one_line(error)})"}
