"""`hardness learn` and `hardness.learn`: the fields, the curve of a stream, options, users' learners, what is said."""

import json

import numpy as np
import pytest
from commands import answer, check_refused, told

import hardness
from hardness.errors import InputError
from hardness.evaluation.adapters import Constant
from hardness.evaluation.learning import learn
from hardness.evaluation.until import PORTION
from hardness.examples import write
from hardness.families.interpolation import Interpolation
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.instance import Instance

FIELDS = {"status", "learner", "train_examples", "test_error", "relative_error", "sign_accuracy", "phases", "seconds"}
VERDICTS = {"certified", "certified_error", "polished_error", "random_start_error"}


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    path = tmp_path_factory.mktemp("learn") / "hard.safetensors"
    Instance.generate(Parity(8, 2), seed=0).save(path)
    return path


@pytest.fixture(scope="module")
def nice(tmp_path_factory):
    path = tmp_path_factory.mktemp("learn") / "nice.safetensors"
    Instance.generate(Nondegenerate(8, 2, 2), seed=0).save(path)
    return path


def test_the_contracted_fields_and_the_same_again(nice):
    line = f"learn direct {nice} --count 500 --seed 0"
    found = answer(line)
    assert set(found) >= FIELDS
    assert (found["status"], found["sign_accuracy"]) == ("solved", None)
    assert answer(line)["relative_error"] == found["relative_error"]


def test_provable_refuses_a_hard_instance(hard):
    found = answer(f"learn provable {hard} --count 2000 --seed 0")
    assert set(found) >= FIELDS | VERDICTS
    assert (found["status"], found["certified"], found["certified_error"]) == ("refused", False, None)
    assert [phase["name"] for phase in found["phases"]] == ["crude"]  # polish is not run


def test_provable_gives_two_verdicts(nice):
    line = f"learn provable {nice} --count 8000 --heads auto --seed 0"
    found = answer(line)
    assert found["certified"] is True
    assert 0 < found["certified_error"] < 0.1
    assert found["polished_error"] < 1e-6
    assert isinstance(found["random_start_error"], float)
    said = told(line).out
    assert "phases 1 to 6: certified, relative error" in said
    assert "polish: relative error" in said


def test_student_answers_with_its_curve_and_says_its_points(hard):
    line = f"learn student {hard} --count 120000 --seed 1"
    code, out, err = told(f"{line} --json")
    found = json.loads(out)
    assert (code, found["status"]) == (0, "solved")
    assert found["relative_error"] ** 2 <= 0.1
    sizes, shares = zip(*found["curve"], strict=True)
    assert (sizes[-1], list(sizes)) == (120_000, sorted(sizes))
    assert shares[-1] == pytest.approx(1 - found["relative_error"] ** 2)
    assert shares[0] < 0.1
    assert err.splitlines()[0] == "making 120000 examples to learn from, 2000 to judge on"
    lines = [each for each in err.splitlines() if "of the variance explained" in each]
    assert [each.partition(" ")[0] for each in lines] == list(map(str, sizes))
    assert answer(line) | {"seconds": 0} == found | {"seconds": 0}


def test_too_few_examples_are_wrong_and_heads_are_its_own(hard):
    instance = Instance.load(hard)
    own, given, wide = (learn(instance, "student", 3000, seed=1, heads=heads) for heads in (None, 16, 4))
    assert own["status"] == "wrong"
    assert own["curve"] == given["curve"] != wide["curve"]


def test_any_online_learner_is_streamed(hard):
    found = learn(Instance.load(hard), "sgd", 20_000, seed=1)
    assert found["status"] == "solved"
    assert found["curve"][-1][1] > 0.9


def test_portions_are_bounded_and_none_is_lost():
    class Counts(Constant):
        seen, largest = 0, 0

        def partial_fit(self, X, Y):
            Counts.seen, Counts.largest = self.seen + len(X), max(self.largest, len(X))

    said = list[str]()
    found = learn(Instance.generate(Parity(6, 2), 0), Counts, 100_000, test=50, seed=3, progress=said.append)
    assert len(said) == len(found.curve) + 2
    assert (Counts.seen, found.curve[-1][0]) == (100_000, 100_000)
    assert Counts.largest <= PORTION


def test_predictions_that_are_not_finite_are_wrong():
    class Broken(Constant):
        def predict(self, X):
            return np.full(X.shape, np.nan)

    found = learn(Instance.generate(Parity(6, 2), 0), Broken(), 200, test=50, seed=3)
    assert {share for _, share in found.curve} == {None}
    assert (found.status, found.test_error, found.process) == ("wrong", None, "caller")


@pytest.mark.parametrize("family", [Nondegenerate(4, 2, 1), Interpolation(5, 2, 0.5)], ids=repr)
def test_random_layers_have_no_open_rows(family):
    found = learn(Instance.generate(family, 0), "student", 2000, test=50, seed=0)
    assert (found["open_curve"], found["open_solved"]) == (None, None)


def test_examples_stand_for_an_instance_and_a_tenth_is_held_out(tmp_path):
    instance = Instance.generate(Parity(6, 2), 0)
    write(tmp_path / "e.npz", (600, 2, 6), lambda: instance.chunks(600, 1), instance.public(1))
    found = answer(f"learn direct {tmp_path}/e.npz --seed 2 --set starts=8")
    assert (found["status"], found["train_examples"], found["criterion"]) == ("solved", 540, "sign_accuracy >= 0.99")
    assert "model" not in found
    check_refused(told(f"learn direct {tmp_path}/e.npz --set strats=8"), "did you mean 'starts'")
    assert told(f"learn direct {tmp_path}/e.npz --count 541").code == 2


def test_options_of_the_learner_are_set_by_name(hard):
    line = f"learn student {hard} --count 20000 --seed 1"
    plain, wide = answer(line), answer(f"{line} --set width=32")
    assert "options" not in plain
    assert wide["options"] == {"width": 32}
    assert wide["curve"] == answer(f"{line} --heads 32")["curve"] != plain["curve"]
    tuned = answer(f"{line} --set l1=0.12 --set rate=0.03 --set batch=64")
    assert tuned["open_solved"]
    assert not plain["open_solved"]
    assert [n for n, _ in tuned["open_curve"]] == [n for n, _ in tuned["curve"]]
    one = learn(Instance.generate(Nondegenerate(5, 2, 2), 0), "direct", 900, seed=1, options={"heads": 1, "starts": 1})
    assert one["status"] == "wrong"  # told one head of two


@pytest.mark.parametrize("options", [{"width": 3, "heads": 4}, {"heads": 4}, {"width": 3}], ids=str)
def test_heads_are_given_once(hard, options):
    with pytest.raises(InputError, match="given twice"):
        learn(Instance.load(hard), "student", 2000, seed=1, heads=8, options=options)


def test_a_users_learner_is_checked_and_has_options_too(hard):
    line = f"learn trial_learners:Tunable {hard} --count 500 --seed 1"
    found = answer(f"{line} --set level=2.5 --set anything=x")
    assert (found["status"], found["process"], found["test_error"] > 2) == ("wrong", "worker", True)
    check_refused(told(f"{line} --set levle=2.5"), "unknown option of Tunable 'levle'; did you mean 'level'")
    check_refused(told(f"{line} --set level=high"), "level of Tunable must be of type float")
    assert answer(f"learn trial_learners:Raises {hard} --count 50", code=1)["status"] == "error"
    checks = answer("learn trial_learners:Tunable --check", code=1)["checks"]
    assert {check["name"] for check in checks if not check["ok"]} == {"clone", "refuses NaN", "refuses shapes"}


def test_learners_lists_the_registered_names():
    assert {"provable", "direct", "lbfgs", "adam"} <= {row["name"] for row in answer("learners")["learners"]}


def test_it_says_what_it_does_while_it_does_it():
    said = []

    class Asks:
        def fit(self, X, Y):
            self.before = list(said)
            return self

        def predict(self, X):
            return 0.0 * X

    instance = hardness.generate("parity", dim=9, heads=3, seed=0)
    model = learn(instance, Asks(), 20, progress=said.append)["model"]
    assert model.before == said[:-1] == [
        "making 20 examples to learn from, 2000 to judge on", "fitting 20 examples"
    ]  # fmt: skip
    assert said[-1] == "20 of 20 examples: -0.00 of the variance explained"


@pytest.mark.parametrize("count", [10**10, 10**21])
def test_what_it_cannot_do_it_refuses_before_it_says_anything(count):
    said = []
    with pytest.raises(InputError, match="--count"):
        learn(hardness.generate("parity", dim=64, heads=3, seed=0), "direct", count, progress=said.append)
    assert said == []
