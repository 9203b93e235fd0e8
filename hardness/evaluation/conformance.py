"""`hardness learn --check`: what a learner needs, and what it is advised, to be used in the lab; on small data."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hardness.errors import InputError, one_line
from hardness.evaluation.solver import Solver, make
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.instance import Check, Instance

HEADS = 2
LEARNED, PREDICTED = 1500, 50  # examples
SAME = 1e-4  # of the largest prediction: what rounding may change where rows come in another order, in float32 too
# What is tried, in order, and what to do where it fails.
ADVICE = {
    "construct": "the constructor must work with its defaults",
    "fit": "fit(X, Y), or else partial_fit, must take (n, k, d) arrays",
    "predict": "predict(X) must return finite floats of the shape of X",
    "deterministic": "the same random_state and data must give the same predictions",
    "rows alone": "a prediction must depend on its own row only: call .eval(), say",
}


def examined(solver: Solver) -> list[Check]:
    """Check in this process that a learner can be made and fitted on small data, and that its predictions are sound.

    Returns the outcome of each check, with advice if it failed, up to the first that raises an exception. The data are
    of a random layer, or of a hidden parity if the learner raises `InputError` on those.
    """
    checks = list[Check]()
    for family in (Nondegenerate(8, 2, HEADS), Parity(8, HEADS)):
        checks, outcomes = [], _outcomes(solver, Instance.generate(family, seed=1))
        try:
            for name, ok in zip(ADVICE, outcomes, strict=False):
                checks.append(Check(name, ok, "" if ok else ADVICE[name]))
            return checks
        except Exception as error:
            name = [*ADVICE][len(checks)]
            checks.append(Check(name, False, f"{ADVICE[name]} ({one_line(error)})"))
            if not isinstance(error, InputError):
                return checks
    return checks


def _outcomes(solver: Solver, instance: Instance) -> Iterator[bool]:
    """Yield whether a learner is made, is fitted, and predicts: finite floats, the same again, each row by itself."""
    examples = instance.examples(LEARNED + PREDICTED, 2)
    known, X = examples[:LEARNED], examples.X[LEARNED:]

    def fitted(learner: Any) -> Any:
        (getattr(learner, "fit", None) or learner.partial_fit)(known.X, known.Y)
        return learner

    learner = make(solver, 0)
    yield True
    fitted(learner)
    yield True
    predicted = np.array(learner.predict(X))
    yield predicted.shape == X.shape and predicted.dtype.kind == "f" and bool(np.isfinite(predicted).all())
    yield np.array_equal(predicted, fitted(make(solver, 0)).predict(X))
    half, scale = learner.predict(X[: PREDICTED // 2]), float(np.abs(predicted).max(initial=1.0))
    yield np.allclose(predicted[: len(half)], half, rtol=0, atol=SAME * scale)
