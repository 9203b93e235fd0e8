"""The estimator conventions, bad input, the judge, and the `learn` command."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from learner_teachers import examples, teacher
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from hardness import registry
from hardness.cli import run
from hardness.errors import InputError
from hardness.evaluation.conformance import check
from hardness.evaluation.judge import judge as judged
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from learner.base import Learner, judge
from learner.direct import Adam, Direct, JointLBFGS
from learner.provable.pipeline import Provable

ALL = [Provable(), Direct(), JointLBFGS(), Adam()]
VERDICTS = ["certified", "certified_error", "polished_error", "random_start_error"]
FIELDS = [
    "status",
    "learner",
    "train_examples",
    "test_error",
    "relative_error",
    "sign_accuracy",
    "phases",
    "seconds",
]


@pytest.mark.parametrize("learner", ALL)
def test_clone_and_parameters(learner: Learner) -> None:
    copy = clone(learner.set_params(heads=3, random_state=7))
    assert copy.get_params() == learner.get_params()
    assert copy.heads == 3


def test_score_is_one_minus_squared_relative_error() -> None:
    layer = teacher(1, 4, 0)
    X, Y = examples(layer, 300, 2, 0)
    learner = Direct(heads=1, random_state=0).fit(X, Y)
    assert learner.score(X, Y) == pytest.approx(1, abs=1e-12)
    assert learner.score(X, -Y) == pytest.approx(1 - judge(learner.predict(X), -Y)["relative_error"] ** 2)


def bad_inputs() -> dict[str, tuple[object, object, str]]:
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


@pytest.mark.parametrize("learner", ALL)
@pytest.mark.parametrize("what", list(bad_inputs()))
def test_bad_input_is_one_line(learner: Learner, what: str) -> None:
    X, Y, message = bad_inputs()[what]
    with pytest.raises(InputError, match=message) as caught:
        clone(learner).set_params(heads=2).fit(X, Y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("learner", ALL)
def test_bad_weights_are_one_line(learner: Learner) -> None:
    X, Y = examples(teacher(2, 8, 0), 400, 2, 0)
    for weight, message in ((np.ones(3), "shape"), (-np.ones(400), ">= 0"), (np.zeros(400), "not all 0")):
        with pytest.raises(InputError, match=message):
            clone(learner).set_params(heads=2).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("learner", [Direct(starts=0), JointLBFGS(starts=0), Direct(spare=-1)])
def test_options_that_do_nothing_are_one_line(learner: Learner) -> None:
    """Learner 9 (10): no start was a crash."""
    with pytest.raises(InputError, match="must be an integer >= "):
        learner.fit(*examples(teacher(2, 8, 0), 400, 2, 0))


def test_model_selection_on_arrays_of_three_axes() -> None:
    from sklearn.model_selection import cross_val_score

    X, Y = examples(teacher(2, 6, 3), 400, 2, 3)
    scores = [cross_val_score(Direct(heads=m, spare=0, starts=2, random_state=0), X, Y, cv=2).mean() for m in (1, 2)]
    assert scores[0] < 0.99 < scores[1]


def test_provable_needs_room() -> None:
    with pytest.raises(InputError, match="at least 16"):
        Provable(heads=1).fit(*examples(teacher(1, 4, 0), 400, 2, 0))
    with pytest.raises(InputError, match="must not exceed"):
        Provable(heads=1).fit(*examples(teacher(1, 4, 0), 400, 5, 0))


@pytest.mark.parametrize("heads", [0, -1, 1.5, "two"])
def test_heads_must_be_a_positive_integer(heads: object) -> None:
    with pytest.raises(InputError, match="heads must be an integer"):
        Direct(heads=heads).fit(*examples(teacher(1, 4, 0), 400, 2, 0))


def test_predict_before_fit_and_on_other_width() -> None:
    from sklearn.exceptions import NotFittedError

    X, Y = examples(teacher(1, 4, 0), 300, 2, 0)
    with pytest.raises(NotFittedError):
        Direct(heads=1).predict(X)
    with pytest.raises(InputError, match="fitted on 4"):
        Direct(heads=1, random_state=0).fit(X, Y).predict(np.ones((2, 2, 5)))


@pytest.mark.parametrize("family", [Parity(dim=8, heads=3), Parity(dim=8, heads=4), Rounding(10, 5, 3)])
def test_sign_accuracy_of_truth_guess_and_flip(family: Parity | Rounding) -> None:
    instance = Instance.generate(family, 1)
    value = instance.teacher.values[0]

    def constant(X: np.ndarray) -> np.ndarray:
        return np.concatenate([X[:, :, :1] * value, np.zeros((*X.shape[:2], X.shape[2] - 1))], axis=2)

    found, guessed = judged(instance, instance.teacher, 3000, 2), judged(instance, constant, 3000, 2)
    assert (found["sign_accuracy"], found["explained"], found["open_error"]) == (1, 1, 0)
    assert found["correlation"] == pytest.approx(1)
    assert 0.1 < guessed["sign_accuracy"] < 0.9
    assert guessed["correlation"] == pytest.approx(0)
    assert guessed["open_error"] > 0.9


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("learn")
    made = {"nice": folder / "nice.st", "hard": folder / "hard.st"}
    assert (
        run(["generate", "nondegenerate", "--dim", "8", "--tokens", "2", "--heads", "2", "--out", str(made["nice"])])
        == 0
    )
    assert run(["generate", "parity", "--dim", "10", "--heads", "3", "--seed", "1", "--out", str(made["hard"])]) == 0
    return made


def asked(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, object]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code
    payload = json.loads(capsys.readouterr().out)
    assert isinstance(payload, dict)
    return payload


def test_learn_reports_the_contracted_fields(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    payload = asked(capsys, "learn", "direct", str(files["nice"]), "--count", "500", "--seed", "0")
    assert set(FIELDS) <= set(payload)
    assert payload["status"] == "solved"
    assert payload["sign_accuracy"] is None
    again = asked(capsys, "learn", "direct", str(files["nice"]), "--count", "500", "--seed", "0")
    assert again["relative_error"] == payload["relative_error"]


def test_learn_provable_refuses_a_hard_instance(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    payload = asked(capsys, "learn", "provable", str(files["hard"]), "--count", "2000", "--seed", "0")
    assert payload["status"] == "refused"
    assert payload["certified"] is False
    assert payload["certified_error"] is None
    phases = payload["phases"]
    assert isinstance(phases, list)
    assert [phase["name"] for phase in phases] == ["crude"]  # polish is not run
    assert set(payload) >= {*FIELDS, *VERDICTS}


def test_learn_provable_gives_two_verdicts(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    asking = ["learn", "provable", str(files["nice"]), "--count", "8000", "--heads", "auto", "--seed", "0"]
    payload = asked(capsys, *asking)
    assert payload["certified"] is True
    assert 0 < float(str(payload["certified_error"])) < 0.1
    assert float(str(payload["polished_error"])) < 1e-6
    assert isinstance(payload["random_start_error"], float)
    assert run(asking) == 0
    said = capsys.readouterr().out
    assert "phases 1 to 6: certified, relative error" in said
    assert "polish: relative error" in said


def test_learn_runs_a_foreign_class_and_checks_it(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "class Zero:\n"
        "    def fit(self, X, Y): return self\n"
        "    def predict(self, X): return np.zeros(X.shape)\n"
        "class Crash(Zero):\n"
        "    def fit(self, X, Y): raise RuntimeError('no')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    payload = asked(capsys, "learn", "mine:Zero", str(files["hard"]), "--count", "50")
    assert payload["status"] == "wrong"
    assert asked(capsys, "learn", "mine:Crash", str(files["hard"]), "--count", "50", code=1)["status"] == "error"
    checked = asked(capsys, "learn", "mine:Zero", "--check", code=1)
    checks = checked["checks"]
    assert isinstance(checks, list)
    assert {check["name"] for check in checks if not check["ok"]} == {"clone", "refuses NaN", "refuses shapes"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("provable", "sgd", "mlp") else pytest.mark.slow)
        for name in registry.names("learner", builtin=True)
    ],
)
def test_our_own_learners_pass_the_check(name: str) -> None:
    if name == "adam":
        pytest.importorskip("torch", reason="adam needs the extra torch")
    assert [each for each in check(name) if not each.ok] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["learn", "dierct", "FILE", "--count", "10"],
        ["learn", "no.such:Class", "FILE", "--count", "10"],
        ["learn", "json:dumps", "FILE", "--count", "10"],
        ["learn", "direct", "FILE"],
        ["learn", "direct", "FILE", "--count", "0"],
        ["learn", "direct", "FILE", "--count", "10"],
        ["learn", "direct", "missing.st", "--count", "10"],
        ["learn", "direct", "FILE", "--count", "100", "--heads", "0"],
    ],
)
def test_bad_use_is_one_line(files: dict[str, Path], arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([str(files["nice"]) if word == "FILE" else word for word in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1


def test_learners_lists_the_registered_names(capsys: pytest.CaptureFixture[str]) -> None:
    rows = asked(capsys, "learners")["learners"]
    assert isinstance(rows, list)
    assert {"provable", "direct", "lbfgs", "adam"} <= {row["name"] for row in rows}


def test_the_modules_that_fits_load_late_exist() -> None:
    """Of every built-in learner; a name that is misspelt would only cost time, unseen."""
    for name in registry.names("learner", builtin=True):
        for module in getattr(registry.get("learner", name), "loads", ()):
            assert find_spec(module) is not None, (name, module)
    assert registry.get("learner", "student").loads


@pytest.mark.filterwarnings("ignore:Can't test estimator")  # scikit-learn's own data are flat; it says so
@pytest.mark.parametrize("name", registry.names("learner", builtin=True))
def test_scikit_learn_finds_nothing_wrong_with_a_learner(name):
    learner = clone(registry.get("learner", name)())
    assert [one for one in check_estimator(learner, on_fail=None) if one["status"] == "failed"] == []
    tags = get_tags(learner)
    inputs = tags.input_tags
    assert (tags.estimator_type, inputs.three_d_array, inputs.two_d_array) == ("regressor", True, False)


@pytest.mark.parametrize("name", ["direct", "mlp", "sgd", "linear-attention", "low-degree"])
def test_the_score_is_one_less_the_square_of_the_relative_error(name):
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (300, 2, 4))
    Y = MultiHeadAttention(rng.normal(size=(2, 4, 4)) / 3, rng.normal(size=(2, 4, 4)))(X)
    fitted = registry.get("learner", name)().fit(X, Y)
    expected = 1 - np.sum((fitted.predict(X) - Y) ** 2) / np.sum((Y - Y.mean(axis=0)) ** 2)
    assert fitted.score(X, Y) == pytest.approx(expected, abs=1e-9)
