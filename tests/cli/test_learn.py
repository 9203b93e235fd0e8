"""`hardness learn` and `hardness.learn`: the fields, the curve of a stream, options, users' learners, what is said."""

import json
import re

import pytest
from commands import answer, check_refused, run_command
from learner_teachers import near_parity
from trial_learners import Tunable

from hardness.evaluation.learning import learn
from hardness.evaluation.until import PORTION
from hardness.examples import write
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.gadgets.conditions import conditions
from hardness.instance import Instance
from hardness.scores import SCORES

FIELDS = {"status", "learner", "train_examples", "test_error", "phases", "seconds"}
FIELDS |= {"relative_error", "sign_accuracy"}
VERDICTS = {"certified", "certified_error", "polished_error", "random_start_error", "refused_by", "condition"}


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


def test_provable_refuses_a_hard_instance(hard):
    report = answer(f"learn provable {hard} --count 2000 --seed 0")
    assert set(report) >= FIELDS | VERDICTS
    assert (report["refused_by"], report["certified"], report["certified_error"]) == ("crude", False, None)
    assert [phase["name"] for phase in report["phases"]] == ["crude", "every head", "local search"]
    assert report["condition"]["name"] == "sum of w"
    assert report["condition"]["value"] < 1e-6 < report["condition"]["threshold"]


def test_a_refusal_names_the_condition_with_its_number_and_a_layer_comes_back(tmp_path):
    path = tmp_path / "saturated.safetensors"
    instance = near_parity(8, 3, 0.2, 0)
    instance.save(path)
    lines = run_command(f"learn provable {path} --count 20000 --seed 0").out.splitlines()
    condition_line = next(line for line in lines if line.startswith("condition "))
    name, value, threshold = re.fullmatch(
        r"condition (.+): (\S+), the phases need at most (\S+)", condition_line
    ).groups()
    measured = {row.name: row.value for row in conditions(instance.layer(), 2)}
    assert float(value) == pytest.approx(measured[name], rel=1e-5)
    assert name == "incoherence of theta"
    assert float(value) > float(threshold) == 0.9
    error = float(re.search(r"(\S+) relative_error", lines[0])[1])
    assert lines[0].startswith("solved")
    assert error <= 1e-8


def test_provable_gives_two_verdicts(nice):
    line = f"learn provable {nice} --count 8000 --heads auto --seed 0"
    report = answer(line)
    assert set(report) >= FIELDS | VERDICTS
    assert (report["sign_accuracy"], report["certified"]) == (None, True)
    assert 0 < report["certified_error"] < 0.1
    assert report["polished_error"] < 1e-6
    assert isinstance(report["random_start_error"], float)
    assert report["heads"]["recovered"] == 2
    assert sorted(report["heads"]["order"]) == [0, 1]
    assert report["heads"]["worst"] < report["heads"]["certified_radius"] < 1e-9
    assert (report["refused_by"], report["condition"]) == ("", None)


def test_student_answers_with_its_curve_and_says_its_points(hard):
    line = f"learn student {hard} --count 120000 --seed 1"
    code, out, err = run_command(f"{line} --json")
    report = json.loads(out)
    assert (code, report["status"]) == (0, "solved")
    assert report["relative_error"] ** 2 <= 0.1
    sizes, shares = zip(*report["curve"], strict=True)
    assert (sizes[-1], list(sizes)) == (120_000, sorted(sizes))
    assert shares[-1] == pytest.approx(1 - report["open_curve"][-1][1])  # no better than with an open gate
    assert shares[0] < 0.1
    assert err.splitlines()[0] == "making 120000 examples to learn from, 2000 to judge on"
    lines = [each for each in err.splitlines() if "of the variance explained" in each]
    assert [each.partition(" ")[0] for each in lines] == list(map(str, sizes))
    assert answer(line) | {"seconds": 0} == report | {"seconds": 0}


def test_portions_are_bounded_and_none_is_lost():
    class Counts(Tunable):
        seen, largest = 0, 0

        def partial_fit(self, X, Y):
            Counts.seen, Counts.largest = self.seen + len(X), max(self.largest, len(X))

    messages = list[str]()
    report = learn(
        Instance.generate(Parity(6, 2), 0), Counts, 100_000, test=50, seed=3, progress=messages.append
    )
    assert len(messages) == len(report.curve) + 2
    assert (Counts.seen, report.curve[-1][0]) == (100_000, 100_000)
    assert Counts.largest <= PORTION


def test_examples_stand_for_an_instance_and_a_tenth_is_held_out(tmp_path):
    instance = Instance.generate(Parity(4, 2), 0)
    write(tmp_path / "e.npz", (600, 2, 4), lambda: instance.chunks(600, 1), instance.public(1))
    report = answer(f"learn direct {tmp_path}/e.npz --seed 2 --set starts=8 --criterion exact")
    assert (report["status"], report["exact"], report["train_examples"]) == ("solved", True, 540)
    check_refused(run_command(f"learn direct {tmp_path}/e.npz --criterion best"), "explained, signs, exact")
    assert "model" not in report
    check_refused(run_command(f"learn direct {tmp_path}/e.npz --set strats=8"), "did you mean 'starts'")
    assert run_command(f"learn direct {tmp_path}/e.npz --count 541").code == 2


def test_options_of_the_learner_are_set_by_name(hard):
    line = f"learn student {hard} --count 20000 --seed 1"
    plain, wide = answer(line), answer(f"{line} --set width=32")
    assert "options" not in plain
    assert wide["options"] == {"width": 32}
    assert wide["curve"] == answer(f"{line} --heads 32")["curve"] != plain["curve"]
    check_refused(run_command(f"{line} --heads 8 --set heads=4"), "given twice")
    tuned = answer(f"{line} --set l1=0.12 --set rate=0.03 --set batch=64")
    assert tuned["open_solved"]
    assert not plain["open_solved"]
    assert [n for n, _ in tuned["open_curve"]] == [n for n, _ in tuned["curve"]]


def test_a_users_learner_is_checked_and_has_options_too(hard):
    line = f"learn trial_learners:Tunable {hard} --count 500 --seed 1"
    report = answer(f"{line} --set level=2.5 --set anything=x")
    assert (report["status"], report["process"], report["test_error"] > 2) == ("wrong", "worker", True)
    check_refused(
        run_command(f"{line} --set levle=2.5"), "trial_learners:Tunable 'levle'; did you mean 'level'"
    )
    check_refused(run_command(f"{line} --set level=high"), "trial_learners:Tunable must be of type float")
    assert answer(f"learn trial_learners:Raises {hard} --count 50", code=1)["status"] == "error"
    checks = answer("learn trial_learners:Batchwise --check", code=1)["checks"]
    assert {check["name"] for check in checks if not check["ok"]} == {"rows alone"}


@pytest.mark.parametrize("learner", ["sgd", "low-degree"])  # one sees each example once, one fits
def test_the_scores_are_those_of_the_judge(learner):
    instance = Instance.generate(Parity(8, 2), seed=0)
    report = learn(instance, learner, 500, seed=1)
    assert {name: report[name] is not None for name in SCORES} == dict.fromkeys(SCORES, True)
    assert report.get("open_curve", [(500, report.open_error)])[-1] == (500, report.open_error)


def test_a_count_beyond_the_file_is_refused(hard, tmp_path):
    file, instance = tmp_path / "e.npz", Instance.load(hard)
    write(file, (1000, 2, 8), lambda: instance.chunks(1000, 1), instance.public(1))
    for count in (901, 0, -1, 10**400):
        refused = run_command(f"learn student {file} --count {count}")
        check_refused(refused, "from 1 to 900, got")
        assert len(refused.err) < 250
