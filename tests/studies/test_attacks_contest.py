"""The contests: fair trials of attacks and learners, and a page that says who solves what."""

import json
from math import comb

import numpy as np
import pytest

from hardness.attacks.equations import extract, labels, secret
from hardness.attacks.estimates.prices import cheapest
from hardness.engine.outcome import run_trial
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.errors import TrialEnded
from hardness.evaluation.adapters import AttackAdapter
from hardness.families.concepts import RoundingConcepts
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance
from hardness.report.report import words
from hardness.sq.bounds.adversaries import adversary_bounds
from hardness.studies import catalog
from hardness.studies.contest.study import trial as contest_trial
from hardness.studies.contest.table import OUT_OF_REACH, family_of, prices, share, solver_of, sq_bound
from hardness.studies.contest.tasks import MASS, SIZES, TOLERANCE, ladder, rounding, who_wins
from hardness.studies.trials import trial


@pytest.mark.parametrize("grid", [who_wins, ladder])
def test_grids_have_distinct_tasks_and_quick_ones_are_smaller(grid):
    full, quick = grid(False), grid(True)
    assert len({task.identity for task in full}) == len(full) > len(quick) > 0
    assert {task.params["heads"] for task in quick} <= {task.params["heads"] for task in full}


def test_the_ladder_reaches_to_64_heads_and_out_of_reach():
    """The lower rungs are predicted to fall in seconds, the upper ones to nobody here."""
    rungs = {(task.family, task.params["heads"]): task for task in ladder(False)}
    assert {m for family, m in rungs if family == "parity"} >= {2, 4, 8, 16, 32, 64}
    for family, low, high in (("parity", 8, 64), ("rounding", 10, 32)):
        bits = [cheapest(prices(rungs[family, m])).log2_time for m in (low, high)]
        assert bits[0] < 36
        assert bits[1] > OUT_OF_REACH


def test_who_wins_has_negative_controls():
    tasks = who_wins(True)
    assert any(task.family == "nondegenerate" and task.solver["kind"] == "attack" for task in tasks)
    assert any("Constant" in str(task.solver.get("learner")) for task in tasks)


@pytest.mark.parametrize("family", [Parity(dim=20, heads=4), Parity(dim=12, heads=4, gadget="dot"), Rounding(9, 17, 4)])
def test_predictions_from_the_secret_are_the_closed_form(family):
    instance = Instance.generate(family, seed=0)
    examples, public = instance.examples(500, 1), instance.public(1)
    w = instance.teacher.weights[1:]
    answer = secret(extract(examples.X, examples.Y, public), w)
    assert answer == {name: value.tolist() for name, value in instance.secret.items()}
    assert np.allclose(labels(answer, public, examples.X), examples.Y, atol=1e-12)


def test_an_attacker_says_how_it_ended():
    instance = Instance.generate(Parity(dim=20, heads=4), seed=0)
    examples, public = instance.examples(300, 1), instance.public(1)
    solved = AttackAdapter("gaussian", 0, public, 5)
    solved.partial_fit(examples.X, examples.Y)
    assert np.allclose(solved.predict(examples.X), examples.Y)
    with pytest.raises(TrialEnded, match="refused: parity has no rounding error"):
        AttackAdapter("lattice", 0, public, 5).partial_fit(examples.X, examples.Y)


def _task(family, params, attack):
    return Task(family, params, {"kind": "attack", "attack": attack}, {"samples": 600, "work": 10}, 0)


def test_trials_are_judged_by_the_lab():
    solved = run_trial(trial, _task("parity", {"dim": 20, "heads": 4}, "gaussian"), root=0, guard=60)
    assert (solved.status, solved.cost) == ("solved", 600)
    control = run_trial(
        trial, _task("nondegenerate", {"dim": 6, "tokens": 2, "heads": 2}, "gaussian"), root=0, guard=60
    )
    assert control.status == "refused"
    assert "no hidden linear equations" in control.detail["reason"]


def test_the_page_is_a_function_of_the_rows(tmp_path):
    tasks = [
        _task("parity", {"dim": 20, "heads": 4}, "gaussian"),
        _task("parity", {"dim": 20, "heads": 4}, "lattice"),
        _task("rounding", {"dim": 9, "modulus": 17, "levels": 17, "heads": 90}, "gaussian"),
    ]
    with Store(tmp_path / "rows.db", {"study": "ladder", "seed": 0, "quick": True}) as store:
        store.plan(tasks)
        run(tasks, store, trial, root=0, workers=0)
        verdict = catalog.page(store, tmp_path / "a")
        catalog.page(store, tmp_path / "b")
    assert verdict.startswith("2 of 2 instances are solved")
    for name in ("index.html", "contest.svg", "contest.pdf", "rows.csv", "summary.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    page = (tmp_path / "a" / "index.html").read_text()
    assert catalog.get("ladder").question in words(page)
    assert "not evidence of hardness" in words(page)
    assert json.loads((tmp_path / "a" / "summary.json").read_text())["statuses"] == {"solved": 2, "refused": 1}


def test_names_on_the_axes():
    task = Task("rounding", {"modulus": 97, "levels": 2}, {"kind": "fit", "learner": "a.b:Constant"}, {}, 0)
    assert (family_of(task), solver_of(task)) == ("rounding, q 97, p 2", "learner constant")


@pytest.mark.parametrize(("p", "m"), [(2, 6), (2, 8), (8, 24), pytest.param(2, 12, marks=pytest.mark.slow)])
def test_rounding_sizes_are_what_they_say(p, m):
    """The largest dimension at which the median error mass over 31 secrets is at most the one that is printed.

    The sizes were set with secrets that begin alike in neighbouring dimensions: so are these drawn.
    """

    def mass(n):
        family = Rounding(n + 1, 97, p, heads=m)
        drawn = (family.realize(family.draw(np.random.default_rng(seed))) for seed in range(31))
        return np.median([family.certificate(teacher)["error_mass"] for teacher in drawn])

    n = SIZES[p][m]
    assert mass(n) <= MASS < mass(n + 1)
    assert all(task.params["dim"] - 1 == SIZES[task.params["levels"]][task.params["heads"]]
               for task in [*who_wins(False), *ladder(False)] if task.family == "rounding")  # fmt: skip


@pytest.mark.parametrize(("m", "bits"), [(6, None), (12, 20)])
def test_the_bound_on_queries_knows_of_the_heads(m, bits):
    task = Task("rounding", rounding(m, 2), {}, {}, 0)
    proved = adversary_bounds(RoundingConcepts(SIZES[2][m], 97, 2, "diag", m), TOLERANCE).get("window")
    ideal = adversary_bounds(RoundingConcepts(SIZES[2][m], 97, 2), TOLERANCE)["window"]
    assert sq_bound(task) == ("none" if bits is None else pytest.approx(np.log2(proved)))
    assert bits is None or bits < np.log2(proved) < np.log2(ideal)
    noisy = Task("parity", {"dim": 17, "heads": 4, "flip": 0.1}, {}, {}, 0)
    assert sq_bound(noisy) == pytest.approx(np.log2(8 * (TOLERANCE / 0.8) ** 2 * (comb(16, 4) - 1)))


def test_a_trial_says_what_the_attack_needed():
    noisy = run_trial(trial, _task("parity", {"dim": 20, "heads": 4, "flip": 0.01}, "gaussian"), root=0, guard=60)
    assert noisy.status == "solved"
    assert {"tries", "log2_expected_tries", "seconds", "examples"} <= noisy.detail.keys()
    few = Task("rounding", {"dim": 21, "modulus": 97, "levels": 2, "heads": 8}, {"kind": "attack", "attack": "bkw"},
               {"samples": 20_000, "work": 2**22}, 0)  # fmt: skip
    found = run_trial(contest_trial, few, root=1, guard=120)
    assert {"predicted_seconds", "log2_rows", "steps", "seconds", "error_mass"} <= found.detail.keys()
    beyond = _task("rounding", {"dim": 41, "modulus": 97, "levels": 2, "heads": 12}, "bkw")
    lost = run_trial(trial, beyond, root=0, guard=60)
    assert lost.status == "refused"
    assert "out of reach" in lost.detail["reason"]
    assert lost.detail["error_mass"] < 0.1
    assert lost.detail["seconds"] < 10


def test_intervals_of_shares_are_exact():
    assert share(0, 10) == "0/10 [0.00, 0.31]"


def test_an_answer_on_few_heads_is_judged_by_what_they_compute():
    task = Task(
        "rounding",
        {"dim": 21, "modulus": 97, "levels": 2, "heads": 4},
        {"kind": "attack", "attack": "bkw"},
        {"samples": 20_000, "work": 2**22},
        0,
    )
    assert run_trial(trial, task, root=1, guard=120).status == "solved"
