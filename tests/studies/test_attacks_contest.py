"""The contests: fair trials of attacks and learners, and a page that says who solves what."""

import json

import numpy as np
import pytest

from hardness.attacks.equations import extract, labels, secret
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance
from hardness.studies import catalog
from hardness.studies.contest.page import family_of, solver_of
from hardness.studies.contest.tasks import ladder, who_wins
from hardness.studies.players import Attacker, Ended
from hardness.studies.trials import trial
from hardness.study.outcome import settle
from hardness.study.page.report import words
from hardness.study.run import run
from hardness.study.store import Store
from hardness.study.task import Task


@pytest.mark.parametrize("grid", [who_wins, ladder])
def test_grids_have_distinct_tasks_and_quick_ones_are_smaller(grid):
    full, quick = grid(False), grid(True)
    assert len({task.identity for task in full}) == len(full) > len(quick) > 0
    assert {task.params["heads"] for task in quick} <= {task.params["heads"] for task in full}


def test_the_ladder_reaches_to_64_heads_in_both_families():
    rungs = {(task.family, task.params["heads"]) for task in ladder(False)}
    parity, rounding = ({m for family, m in rungs if family == name} for name in ("parity", "rounding"))
    assert rounding == {m for m in parity if m >= 5}
    assert {m for _, m in rungs} >= {2, 4, 8, 16, 32, 64}


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
    solved = Attacker("gaussian", public, 5, 0).partial_fit(examples.X, examples.Y)
    assert np.allclose(solved.predict(examples.X), examples.Y)
    with pytest.raises(Ended, match="refused: parity has no rounding error"):
        Attacker("lattice", public, 5, 0).partial_fit(examples.X, examples.Y)


def _task(family, params, attack):
    return Task(family, params, {"kind": "attack", "attack": attack}, {"samples": 600, "work": 10}, 0)


def test_trials_are_judged_by_the_lab():
    solved = settle(trial, _task("parity", {"dim": 20, "heads": 4}, "gaussian"), root=0, guard=60)
    assert (solved.status, solved.cost) == ("solved", 600)
    control = settle(trial, _task("nondegenerate", {"dim": 6, "tokens": 2, "heads": 2}, "gaussian"), root=0, guard=60)
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
    assert catalog.STUDIES["ladder"].question in words(page)
    assert "not evidence of hardness" in words(page)
    assert json.loads((tmp_path / "a" / "summary.json").read_text())["statuses"] == {"solved": 2, "refused": 1}


def test_names_on_the_axes():
    task = Task("rounding", {"modulus": 97, "levels": 2}, {"kind": "fit", "learner": "a.b:Constant"}, {}, 0)
    assert (family_of(task), solver_of(task)) == ("rounding, q 97, p 2", "learner constant")


@pytest.mark.parametrize("grid", [who_wins, ladder])
def test_rounding_sizes_are_what_they_say(grid):
    for task in grid(False):
        if task.family == "rounding":
            p, m = task.params["levels"], task.params["heads"]
            n = task.params["dim"] - 1
            assert n >= 4
            assert abs(m - 3.29 * p * (n / 12) ** 0.5) < 0.07 * m


def test_an_answer_on_few_heads_is_judged_by_what_they_compute():
    task = Task(
        "rounding",
        {"dim": 21, "modulus": 97, "levels": 2, "heads": 4},
        {"kind": "attack", "attack": "bkw"},
        {"samples": 20_000, "work": 2**22},
        0,
    )
    assert settle(trial, task, root=1, guard=120).status == "solved"
