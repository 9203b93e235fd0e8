"""What every learner owes: the conventions of scikit-learn and of the lab, scores, and bad input told in one line."""

import numpy as np
import pytest
from learner_teachers import examples, teacher
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from hardness import registry
from hardness.errors import InputError
from hardness.evaluation.conformance import check
from hardness.layer import MultiHeadAttention
from learner.direct import Adam, Direct, JointLBFGS
from learner.linear.regressor import LinearAttention
from learner.low_degree import LowDegree
from learner.provable.pipeline import Provable
from learner.random_features import RandomFeatureAttention, RandomFeatureMLP
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


QUICK = ("provable", "sgd", "mlp")


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES])
def test_our_own_learners_pass_the_check(name):
    assert [each for each in check(name) if not each.ok] == []


@pytest.mark.parametrize("name", ["direct", "mlp", "sgd", "linear-attention", "low-degree"])
def test_the_score_is_one_less_the_square_of_the_relative_error(name):
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (300, 2, 4))
    Y = MultiHeadAttention(rng.normal(size=(2, 4, 4)) / 3, rng.normal(size=(2, 4, 4)))(X)
    fitted = registry.get("learner", name)().fit(X, Y)
    for sign in (1, -1):
        expected = 1 - np.sum((fitted.predict(X) - sign * Y) ** 2) / np.sum((Y - Y.mean(axis=0)) ** 2)
        assert fitted.score(X, sign * Y) == pytest.approx(expected, abs=1e-9)


def test_model_selection_on_arrays_of_three_axes():
    X, Y = examples(teacher(2, 6, 3), 400, 2, 3)
    scores = [cross_val_score(Direct(heads=m, spare=0, starts=2, random_state=0), X, Y, cv=2).mean() for m in (1, 2)]
    assert scores[0] < 0.99 < scores[1]


def refused(learner, words, X, Y, **options):
    with pytest.raises(InputError, match=words) as caught:
        learner.fit(X, Y, **options)
    assert "\n" not in str(caught.value)


def bad_examples():
    X, Y = examples(teacher(2, 8, 0), 400, 2, 0)
    hole = Y.copy()
    hole[3, 1, 2] = np.nan
    return {
        "NaN": (X, hole, "Y must be finite"),
        "infinite": (X, np.full_like(Y, np.inf), "Y must be finite"),
        "flat": (X.reshape(-1, 8), Y, "shape"),
        "other length": (X, Y[:-1], "must have the shape of X"),
        "no examples": (X[:0], Y[:0], "shape"),
        "words": ("tokens", Y, "numeric"),
        "one token": (X[:, :1], Y[:, :1], "nothing to attend to"),
        "too few": (X[:12], Y[:12], "too few"),
    }


@pytest.mark.parametrize("kind", [Provable, Direct, JointLBFGS, Adam])
def test_bad_examples_are_one_line(kind):
    for X, Y, words in bad_examples().values():
        refused(kind(heads=2), words, X, Y)


OPTIONS = [
    *((Direct(heads=heads), "heads must be an integer") for heads in (0, -1, 1.5, "two")),
    *((learner, "must be an integer >= ") for learner in (Direct(starts=0), JointLBFGS(starts=0), Direct(spare=-1))),
    (Provable(mode="paper", heads=4), "heads from 1 to 3, got 4"),
    (Provable(mode="paper", heads="auto"), "heads from 1 to 3, got auto"),
    (Provable(mode="literal"), "unknown mode 'literal'"),
    (Provable(heads="many"), "heads must be an integer >= 1"),
    (Student(heads=0), "heads"),
    (Student(batch=0), "batch"),
    (Student(batch=1.5), "batch"),
    (Student(rate=0.0), "rate"),
    (Student(rate=float("inf")), "rate"),
    (Student(loss="logistic"), "loss"),
    (Student(l1=-0.1), "l1"),
    (Student(l1=float("nan")), "l1"),
    (Student(l1="much"), "l1"),
    (LinearAttention(query=2), "query must be"),
    (LinearAttention(query="first"), "query must be"),
    (LinearAttention(memory_gb=1e-6), "needs about"),
    (LowDegree(-1), "degree must be"),
    (LowDegree(2, memory_gb=1e-6), "needs about"),
    (RandomFeatureAttention(None, bias=1.0), "closed form only for relu without bias"),
    (RandomFeatureAttention(None, activation="softmax"), "closed form only for relu without bias"),
    (RandomFeatureAttention(activation="tanh"), "activation must be relu or softmax"),
    (RandomFeatureAttention(keys="other"), "keys must be"),
    (RandomFeatureAttention(10**9), "heads needs about"),
    (RandomFeatureMLP(10**9), "neurons needs about"),
    (RandomFeatureAttention(0), "n_heads must be"),
    (RandomFeatureMLP(0), "width must be"),
    (RandomFeatureMLP(alpha=-1.0), "alpha must be"),
    (RandomFeatureMLP(alpha=()), "alpha must be"),
    (RandomFeatureMLP(alpha=float("nan")), "alpha must be"),
]


@pytest.mark.parametrize(("learner", "words"), OPTIONS, ids=[f"{learner}: {words}" for learner, words in OPTIONS])
def test_an_option_that_does_not_fit_is_one_line(learner, words):
    refused(learner, words, *examples(teacher(2, 14, 0), 400, 2, 0))


def test_what_does_not_suit_a_learner_is_one_line():
    layer = teacher(1, 4, 0)
    refused(Provable(heads=1), "at least 16", *examples(layer, 400, 2, 0))
    refused(Provable(heads=1), "must not exceed", *examples(layer, 400, 5, 0))
    X = np.random.default_rng(0).choice([-1.0, 1.0], size=(100, 2, 3))
    refused(LowDegree(2), "only", 2 * X, X)
    refused(RandomFeatureAttention(), "too few", X[:9], X[:9])
    refused(RandomFeatureAttention(), "NaN", X * np.nan, X)
    wide = np.ones((2**14, 2, 8))
    refused(LinearAttention(alpha=1e-7), r"needs about 17\.2 GB", wide, wide)
    refused(RandomFeatureAttention(None), r"ridge regression on 32768 rows needs about 17\.2 GB", wide, wide)
    with pytest.raises(InputError, match="fitted on 3"):
        Direct(heads=1, random_state=0).fit(X, X).predict(np.ones((2, 2, 5)))
    with pytest.raises(InputError, match="alpha=0"):
        LinearAttention(alpha=1e-3).fit(X, X).certify(X)
    with pytest.raises(InputError, match="one query token"):
        _ = LinearAttention().fit(X, X).p_
    with pytest.raises(InputError, match="features"):
        LinearAttention().fit(X, X).predict(X[:, :, :2])
