"""Online learners at the command line: streamed in portions, judged on fresh inputs, their curve in the answer."""

import json
import time
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.cli import run
from hardness.cli.learn import settings
from hardness.errors import InputError
from hardness.evaluation.adapters import Constant
from hardness.evaluation.judge import OPEN, fresh, judge, label_variance, open_error, sizes
from hardness.evaluation.learning import learn
from hardness.evaluation.until import PORTION, cost, evaluations, pooled, signed, stream
from hardness.evaluation.worker import opened
from hardness.examples import Examples, write
from hardness.families.interpolation import Interpolation
from hardness.families.nested import Nested
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.gadgets import sharp
from hardness.instance import Instance, every_pair
from hardness.tokens import unpack
from learner.mlp import MLP
from learner.student import Student


def asked(capsys, *words: str) -> dict:
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    path = tmp_path_factory.mktemp("online") / "hard.safetensors"
    path.write_bytes(Instance.generate(Parity(8, 2), seed=0).to_bytes())
    return path


def test_learn_student_answers_with_its_curve(hard, capsys):
    found = asked(capsys, "learn", "student", str(hard), "--count", "120000", "--seed", "1")
    assert found["status"] == "solved"
    assert found["relative_error"] ** 2 <= 0.1
    assert {"learner", "train_examples", "test_error", "relative_error", "sign_accuracy", "phases"} < found.keys()
    sizes, shares = zip(*found["curve"], strict=True)
    assert sizes[-1] == 120_000
    assert list(sizes) == sorted(sizes)
    assert shares[-1] == pytest.approx(1 - found["relative_error"] ** 2)
    assert shares[0] < 0.1
    again = asked(capsys, "learn", "student", str(hard), "--count", "120000", "--seed", "1")
    assert again | {"seconds": 0} == found | {"seconds": 0}


def test_too_few_examples_are_wrong_and_heads_are_its_own(hard, capsys):
    instance = Instance.load(hard)
    own, told, wide = (learn(instance, "student", 3000, seed=1, heads=heads) for heads in (None, 16, 4))
    assert own["status"] == "wrong"
    assert own["curve"] == told["curve"] != wide["curve"]


def test_any_online_learner_is_streamed(hard):
    found = learn(Instance.load(hard), "sgd", 20_000, seed=1)
    assert found["status"] == "solved"
    assert found["curve"][-1][1] > 0.9


def test_portions_are_bounded_and_none_is_lost():
    class Counts(Constant):
        seen, largest = 0, 0

        def partial_fit(self, X, Y):
            Counts.seen, Counts.largest = self.seen + len(X), max(self.largest, len(X))

    told = list[str]()
    found = learn(Instance.generate(Parity(6, 2), 0), Counts, 100_000, test=50, seed=3, progress=told.append)
    assert len(told) == len(found.curve) + 2
    assert (Counts.seen, found.curve[-1][0]) == (100_000, 100_000)
    assert Counts.largest <= PORTION


def test_predictions_that_are_not_finite_are_wrong():
    class Broken(Constant):
        def predict(self, X):
            return np.full(X.shape, np.nan)

    found = learn(Instance.generate(Parity(6, 2), 0), Broken(), 200, test=50, seed=3)
    assert {share for _, share in found.curve} == {None}
    assert (found.status, found.test_error, found.process) == ("wrong", None, "caller")


def test_examples_stand_for_an_instance_and_a_tenth_is_held_out(tmp_path, capsys):
    instance = Instance.generate(Parity(6, 2), 0)
    write(tmp_path / "e.npz", (600, 2, 6), lambda: instance.chunks(600, 1), instance.public(1))
    found = asked(capsys, "learn", "direct", str(tmp_path / "e.npz"), "--seed", "2", "--set", "starts=8")
    assert (found["status"], found["train_examples"], found["criterion"]) == ("solved", 540, "sign_accuracy >= 0.99")
    assert "model" not in found
    assert run(["learn", "direct", str(tmp_path / "e.npz"), "--set", "strats=8"]) == 2
    assert "did you mean 'starts'" in capsys.readouterr().err
    assert run(["learn", "direct", str(tmp_path / "e.npz"), "--count", "541"]) == 2


FAMILIES = [
    Parity(5, 2),
    Parity(5, 3),
    Parity(4, 4, "dot"),
    Rounding(4, 5, 3),
    Rounding(4, 4, 2, gadget="dot"),
    Nested(6, 3, 1),
]
TEACHERS = {repr(family): lambda family=family: Instance.generate(family, 3).teacher for family in FAMILIES}
TEACHERS["two sharp heads"] = lambda: sharp.exact([0, 1, 1, 1, 0], heads=2)


@pytest.mark.parametrize("name", TEACHERS)
def test_the_variance_of_a_label_is_that_over_all_inputs_with_an_open_gate(name):
    teacher = TEACHERS[name]()
    X = unpack(every_pair(teacher.dim), teacher.dim)
    X = X[X[:, 0, 0] != X[:, 1, 0]]
    shown = teacher(X)[:, 0] * X[:, 0, :1]  # in every column what the label says: x_a[0] times it stands there
    variance = label_variance(teacher)
    assert variance == pytest.approx(shown.var(axis=0).sum(), rel=1e-12)
    if name.startswith(("Parity", "two sharp")):
        assert variance == pytest.approx(1)
    best = shown.mean(axis=0) * X[:, :, :1]  # the best prediction that knows the gate alone
    assert open_error(X, best, teacher(X), variance) == pytest.approx(1)


@pytest.mark.parametrize("family", [Nondegenerate(4, 2, 1), Interpolation(5, 2, 0.5)], ids=repr)
def test_random_layers_have_no_open_rows(family):
    instance = Instance.generate(family, 0)
    assert label_variance(instance.teacher) is None
    found = learn(instance, "student", 2000, test=50, seed=0)
    assert (found["open_curve"], found["open_solved"]) == (None, None)


def test_the_open_error_sees_rows_with_an_open_gate_alone_and_all_their_outputs():
    teacher = Instance.generate(Parity(6, 3), 0).teacher
    X = unpack(every_pair(6), 6)[::7]
    told, Y = X[:, 0, 0] != X[:, 1, 0], teacher(X)
    off = Y.copy()
    off[~told] += 9.0
    assert open_error(X, off, Y, 1.0) == 0
    off[told, :, 4] += 0.5
    assert open_error(X, off, Y, 1.0) == pytest.approx(0.25)


def test_a_fit_of_all_that_is_linear_explains_much_and_leaves_the_open_error_where_it_was():
    """At 2 heads of `diag` the gate carries .64 of the variance on all rows, and nothing of the parity."""
    instance = Instance.generate(Parity(8, 2), 0)

    def gate(X):
        value = np.where(X[:, 0, 0] != X[:, 1, 0], instance.teacher.offset, instance.teacher.gate)
        return np.einsum("n,nk,d->nkd", value, X[:, :, 0], np.eye(8)[0])

    seen = judge(instance, gate, 4000, seed=1)
    assert seen["explained"] > 0.6
    assert seen["open_error"] == pytest.approx(1, abs=0.01)


@given(st.integers(1, 40), st.lists(st.integers(0, 200), min_size=1, max_size=6), st.integers(0, 2**32))
def test_a_pool_is_read_in_whole_passes_each_in_its_own_order_whatever_the_pieces(count, ends, seed):
    pool = Examples(np.ones((count, 2, 1), dtype=np.int8), np.arange(2.0 * count).reshape(count, 2, 1))
    ends, given = [0, *sorted({end for end in ends if end})], pooled(pool, seed)
    read = np.concatenate([np.empty((0, 2, 1)), *(given(a, b - a).Y for a, b in pairwise(ends))])
    whole = given(0, ends[-1]).Y if ends[-1] else read
    assert np.array_equal(read, whole)
    for turn in range(ends[-1] // count):
        assert set(read[turn * count : (turn + 1) * count, 0, 0]) == set(pool.Y[:, 0, 0])
    if count > 20 and ends[-1] >= 2 * count:
        assert not np.array_equal(read[:count], read[count : 2 * count])


def tuned(given, judged, most):
    """Evaluations of a student that learns parities of two quickly."""
    student = {"learner": "student", "options": {"rate": 0.03, "l1": 0.12}}
    solver = partial(opened, student, 0, time.monotonic() + 60)
    return evaluations(solver, True, given, judged, sizes(most, 512, 1.05))


def test_a_pool_costs_fewer_distinct_examples_and_as_many_steps():
    instance = Instance.generate(Parity(8, 2), 0)
    judged, costs, examples = fresh(instance, 2000, seed=5), {}, stream(instance, 1)
    for pool in (None, 2048):
        given = examples if pool is None else pooled(examples(0, pool), 1)
        spent = next(each.examples for each in tuned(given, judged, 60_000) if OPEN.met(each.scores))
        costs[pool] = cost(instance, Student(), spent, pool)
    new, again = costs[None], costs[2048]
    assert new.distinct == new.gradient > 2048 == again.distinct < again.gradient
    assert again.gradient < 4 * new.gradient
    assert again.multiply_adds == 4 * 16 * 8**2 * again.gradient


def test_random_labels_of_a_pool_are_memorized_at_best():
    instance = Instance.generate(Parity(6, 2), 0)
    judged, chance = fresh(instance, 2000, seed=5), signed(stream(instance, 1), 3)
    judged = replace(judged, Y=signed(lambda start, count: judged, 4)(0, 2000).Y)
    seen = list(tuned(pooled(chance(0, 1024), 1), judged, 40_000))
    assert min(each.scores["open_error"] for each in seen) > 0.9


def test_signs_are_those_of_their_rows_in_any_pieces_and_fair():
    instance = Instance.generate(Parity(8, 3), 0)  # none of its labels is 0
    plain = stream(instance, 5)
    chance = signed(plain, 7)
    whole, pieces = chance(0, 1000), [chance(a, b - a) for a, b in pairwise([0, 1, 300, 1000])]
    assert np.array_equal(whole.Y, np.concatenate([each.Y for each in pieces]))
    assert np.array_equal(whole.X, plain(0, 1000).X)
    same = np.isclose(whole.Y, plain(0, 1000).Y).all(axis=(1, 2))
    assert abs(same.mean() - 0.5) < 0.11  # 7 standard deviations


def test_a_learner_that_counts_nothing_has_no_multiply_adds():
    instance = Instance.generate(Parity(6, 2), 0)
    assert cost(instance, object(), 100, 30) == (30, None, None)
    boasting = type(
        "Boasting",
        (),
        {"gradient_examples": lambda self, *shape: -1, "multiply_adds": lambda self, *shape: float("nan")},
    )
    assert cost(instance, boasting(), 100) == (100, None, None)
    assert cost(instance, MLP(width=10), 100).multiply_adds == MLP(width=10).multiply_adds(100, 2, 6)


def test_options_of_the_learner_are_set_by_name(hard, capsys):
    words = ["learn", "student", str(hard), "--count", "20000", "--seed", "1"]
    plain, wide = asked(capsys, *words), asked(capsys, *words, "--set", "width=32")
    assert "options" not in plain
    assert wide["options"] == {"width": 32}
    assert wide["curve"] == asked(capsys, *words, "--heads", "32")["curve"] != plain["curve"]
    tuned = asked(capsys, *words, "--set", "l1=0.12", "--set", "rate=0.03", "--set", "batch=64")
    assert tuned["open_solved"]
    assert not plain["open_solved"]
    assert [n for n, _ in tuned["open_curve"]] == [n for n, _ in tuned["curve"]]
    direct = learn(
        Instance.generate(Nondegenerate(5, 2, 2), 0), "direct", 900, seed=1, options={"heads": 1, "starts": 1}
    )
    assert direct["status"] == "wrong"  # told one head of two


REFUSED = {
    "l2=3": "did you mean 'l1'?",
    "rate=fast": "a number or none",
    "batch=1.5": "an integer",
    "hinted=1": "true or false",
    "l1=-1": "l1 must be",
    "l1=inf": "finite",
    "random_state=1": "follows from the seed",
    "device=abacus": "device",  # an unknown one, or any at all where torch is not installed
    "l1": "NAME=VALUE",
    "=1": "NAME=VALUE",
    "l1=": "NAME=VALUE",
}


@pytest.mark.parametrize("word", REFUSED)
def test_an_option_that_is_not_one_is_refused_in_one_line(hard, capsys, word):
    capsys.readouterr()
    assert run(["learn", "student", str(hard), "--count", "2000", "--seed", "1", "--set", word]) == 2
    out, err = capsys.readouterr()
    *_, last = err.splitlines()
    assert out == ""
    assert last.startswith("error: ")
    assert REFUSED[word] in last


@pytest.mark.parametrize("options", [{"width": 3, "heads": 4}, {"heads": 4}, {"width": 3}], ids=str)
def test_heads_are_given_once(hard, options):
    with pytest.raises(InputError, match="given twice"):
        learn(Instance.load(hard), "student", 2000, seed=1, heads=8, options=options)
    with pytest.raises(InputError, match="twice"):
        settings(["l1=1", "l1=2"])


def test_a_user_s_learner_has_options_too(hard):
    found = learn(Instance.load(hard), "tunable:Tunable", 500, seed=1, options={"level": 2.5, "anything": "x"})
    assert found["status"] == "wrong"
    assert found["test_error"] > 2
    with pytest.raises(InputError, match="unknown option of Tunable 'levle'; did you mean 'level'"):
        learn(Instance.load(hard), "tunable:Tunable", 500, seed=1, options={"levle": 2.5})
    with pytest.raises(InputError, match="level of Tunable must be a number"):
        learn(Instance.load(hard), "tunable:Tunable", 500, seed=1, options={"level": "high"})
