"""What a learner needs and is advised to be used in the lab, on small data; `hardness.evaluation.checking` runs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, one_line
from hardness.evaluation.adapters import make
from hardness.evaluation.solver import Solver
from hardness.families.base import Family
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.instance import Instance

HEADS = 2
RANDOM, HIDDEN = Nondegenerate(dim=8, tokens=2, heads=HEADS), Parity(dim=8, heads=HEADS)
BASIS = ("construct", "fit")  # checks without which the others say nothing
# Without these no trial comes to a score, or the seed does not give it again. The others are advised: for scikit-learn,
# and for trials that say what was wrong with their labels.
NEEDED = (*BASIS, "predict", "deterministic")


@dataclass
class Tried:
    """A learner on examples X, Y (n, k, d) of a small layer."""

    solver: Solver
    family: Family = RANDOM

    @cached_property
    def examples(self) -> tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.int8]]:
        """X and Y to learn from, and other X to predict."""
        instance = Instance.generate(self.family, seed=1)
        train = instance.examples(1500, 2)
        return train.X, train.Y, instance.examples(50, 2, start=1500).X

    def made(self) -> Any:
        """A learner of its own for each check."""
        return make(self.solver, 0)

    def predicted(self) -> NDArray[Any]:
        """What it predicts after a fit."""
        X, Y, fresh = self.examples
        learner = self.made()
        learning(learner)(X, Y)
        return np.asarray(learner.predict(fresh))


def learning(learner: Any) -> Callable[[NDArray[Any], NDArray[Any]], Any]:
    """How it is given examples: `fit`, or `partial_fit` where it has that alone."""
    method: Callable[[NDArray[Any], NDArray[Any]], Any] = getattr(learner, "fit", None) or learner.partial_fit
    return method


def constructs(tried: Tried) -> bool:
    """Whether the constructor works with its defaults."""
    return tried.made() is not None


def returns_itself(tried: Tried) -> bool:
    """Whether fit takes (n, k, d) arrays and returns the learner; a `partial_fit` alone may return nothing."""
    learner = tried.made()
    returned = learning(learner)(*tried.examples[:2])
    return returned is learner or not hasattr(learner, "fit")


def clones(tried: Tried) -> bool:
    """Whether scikit-learn can make another one of it."""
    from sklearn.base import clone

    return bool(clone(tried.made()).get_params() == tried.made().get_params())


def predicts(tried: Tried) -> bool:
    """Whether predictions are finite floats of the shape of X."""
    out = tried.predicted()
    return out.shape == tried.examples[2].shape and out.dtype.kind == "f" and bool(np.isfinite(out).all())


def repeats(tried: Tried) -> bool:
    """Whether the same state and data give the same predictions."""
    return np.array_equal(tried.predicted(), tried.predicted())


def leaves_inputs(tried: Tried) -> bool:
    """Whether fit writes into neither X nor Y."""
    X, Y, _ = tried.examples
    x, y = X.copy(), Y.copy()
    learning(tried.made())(x, y)
    return np.array_equal(x, X) and np.array_equal(y, Y)


def refuses_nan(tried: Tried) -> bool:
    """Whether a label that is no number is refused in one line."""
    Y = tried.examples[1]
    return _refuses(tried, np.where(np.arange(Y.size).reshape(Y.shape) == 0, np.nan, Y))


def refuses_shapes(tried: Tried) -> bool:
    """Whether labels of another shape are refused in one line."""
    return _refuses(tried, tried.examples[1][:-1])


def _refuses(tried: Tried, labels: NDArray[Any]) -> bool:
    try:
        learning(tried.made())(tried.examples[0], labels)
    except ValueError as error:
        return "\n" not in str(error)
    return False


def is_honest(tried: Tried) -> bool:
    """Whether it does not claim to have solved labels that are random."""
    X, Y, _ = tried.examples
    learner, labels = tried.made(), np.random.default_rng(3).normal(size=Y.shape)
    try:
        learning(learner)(X, labels)
    except InputError:  # it learns labels of another form alone, and refuses these
        return True
    report = getattr(learner, "report_", None)
    return getattr(report, "status", "wrong") != "solved"


# What is tried, by name, and what to do where it fails.
CHECKS: Mapping[str, tuple[Callable[[Tried], bool], str]] = {
    "construct": (constructs, "the constructor must work with its defaults"),
    "fit": (returns_itself, "fit(X, Y), or else partial_fit, must take (n, k, d) arrays; fit returns self"),
    "clone": (clones, "derive from sklearn.base.BaseEstimator and only store the arguments in __init__"),
    "predict": (predicts, "predict(X) must return finite floats of the shape of X"),
    "deterministic": (repeats, "the same random_state and data must give the same predictions"),
    "inputs untouched": (leaves_inputs, "fit must not write into X or Y"),
    "refuses NaN": (refuses_nan, "raise a one-line ValueError on NaN"),
    "refuses shapes": (refuses_shapes, "raise a one-line ValueError if shapes differ"),
    "honest": (is_honest, "on random labels report_.status must not be 'solved'"),
}


def tried(solver: Solver, name: str) -> dict[str, Any]:
    """One check of `CHECKS` in this process, as a `Check` says it.

    A learner that refuses a random layer by `InputError` is tried on a hidden parity.
    """
    act, advice = CHECKS[name]
    try:
        try:
            ok = bool(act(Tried(solver)))
        except InputError:
            ok = bool(act(Tried(solver, HIDDEN)))
        return {"name": name, "ok": ok, "detail": "" if ok else advice}
    except Exception as error:
        return {"name": name, "ok": False, "detail": f"{advice} ({one_line(error)})"}
