"""What every learner owes: the conventions of scikit-learn and of the lab, scores, and bad input told in one line."""

import numpy as np
import pytest
from learner_teachers import examples, teacher
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from hardness import registry
from hardness.errors import InputError
from hardness.evaluation.learning import check
from learner.diagonal import Diagonal
from learner.direct import Direct
from learner.linear import LinearAttention
from learner.provable.pipeline import Provable
from learner.regression import LowDegree, RandomFeatureAttention, RandomFeatureMLP
from learner.student import Student

NAMES = registry.names("learner", builtin=True)


@pytest.mark.filterwarnings("ignore:Can't test estimator")  # scikit-learn's own data are flat; it says so
@pytest.mark.parametrize("name", NAMES)
def test_scikit_learn_finds_nothing_wrong_with_a_learner(name):
    learner = clone(registry.get("learner", name)())
    assert [one for one in check_estimator(learner, on_fail=None) if one["status"] == "failed"] == []
    tags = get_tags(learner)
    inputs = tags.input_tags
    assert (tags.estimator_type, inputs.three_d_array, inputs.two_d_array) == ("regressor", True, False)


QUICK = ("provable", "sgd")


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES]
)
def test_our_own_learners_pass_the_check(name):
    assert [each for each in check(name) if not each.ok] == []


def bad_input():
    """Learners, what they say, and the examples that they are given."""
    X, Y = examples(teacher(2, 14, 0), 400, 2, 0)
    for learner, words in (
        *((Direct(heads=heads), "heads must be an integer") for heads in (0, 1.5, "two")),
        (Provable(heads="many"), "heads must be an integer >= 1"),
        (Diagonal(noise=1.0), "give clip"),
        (Diagonal(beta1=1.0), "beta1 must be a number"),
        (Student(l1="much"), "l1"),
        (LinearAttention(query=2), "query must be"),
        (RandomFeatureAttention(keys="other"), "keys must be one of all, others"),
        (RandomFeatureMLP(10**9), "neurons needs about"),
        (RandomFeatureMLP(alpha=-1.0), "alpha must be"),
    ):
        yield learner, words, X, Y
    yield Direct(), "Y must be finite", X, Y / 0.0
    yield Direct(), "X must have shape", X.reshape(-1, 14), Y
    yield Direct(), "must have the shape of X", X, Y[:-1]
    yield Direct(), "X must have shape", X[:0], Y[:0]
    yield Direct(), "numeric", "tokens", Y
    yield Direct(), "nothing to attend to", X[:, :1], Y[:, :1]
    yield Direct(), "too few", X[:12], Y[:12]
    yield Provable(heads=1), "at least 16", *examples(teacher(1, 4, 0), 400, 2, 0)
    yield Provable(heads=1), "must not exceed", *examples(teacher(1, 4, 0), 400, 5, 0)
    yield LowDegree(2), "only", 2 * X, X
    yield RandomFeatureAttention(), "too few", X[:9], X[:9]
    wide = np.ones((2**14, 2, 8))
    yield LinearAttention(alpha=1e-7), r"needs about 17\.2 GB", wide, wide


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_options_and_examples_are_told_in_one_line():
    for learner, words, X, Y in bad_input():
        with pytest.raises(InputError, match=words) as caught:
            learner.fit(X, Y)
        assert "\n" not in str(caught.value), learner


def test_what_a_fit_does_not_offer_is_told():
    X = np.random.default_rng(0).choice([-1.0, 1.0], size=(100, 2, 3))
    with pytest.raises(InputError, match="X has 2 features; the learner was fitted on 3"):
        LinearAttention().fit(X, X).predict(X[:, :, :2])
    with pytest.raises(InputError, match="alpha=0"):
        LinearAttention(alpha=1e-3).fit(X, X).certify(X)
