"""The study `lattices`: its grid, a trial of each kind, and the page as a function of the rows."""

import pytest

from hardness.engine.outcome import Outcome, run_trial
from hardness.engine.store import Store
from hardness.studies.lattices import tasks as lattices
from hardness.studies.lattices.page import write


def test_the_grid_has_distinct_tasks_and_the_quick_one_is_part_of_it():
    full, quick = lattices.tasks(False), lattices.tasks(True)
    assert (
        len({task.identity for task in full})
        == len(full)
        == 3 * len({(str(t.params), str(t.solver), str(t.budget)) for t in full})
    )
    assert {task.identity for task in quick} <= {task.identity for task in full}


@pytest.mark.parametrize(
    ("attack", "samples", "heads"), [("bkw", 40_000, 4), ("bkw", None, None), ("lattice", None, None)]
)
def test_a_trial_is_judged_by_the_secret(attack, samples, heads):
    outcome = run_trial(lattices.trial, lattices.task(attack, samples, 97, 2, 20, heads, 0), root=0, guard=60)
    assert outcome.status == "solved"
    assert outcome.detail["steps" if attack == "bkw" else "trials"] >= 1
    assert (outcome.detail["error_mass"] > 0) == (heads is not None)


@pytest.mark.slow  # 4 s of CPU
def test_the_page_names_what_was_not_foreseen(tmp_path):
    def ended(task):
        if task.solver["attack"] == "bkw":
            return Outcome("solved", 20_000, {"predicted_seconds": 4.0, "steps": 3, "error_mass": 0.0}, seconds=64.0)
        return Outcome("refused", None, {"forecast_seconds": 2000.0, "error_mass": 0.0}, seconds=0.5)

    planned = [lattices.task(attack, lattices.FILES[attack], 97, 2, 40, None, 0) for attack in ("bkw", "lattice")]
    with Store(tmp_path / "rows.db", {"study": "lattices", "seed": 0, "quick": True}) as store:
        store.plan(planned)
        for task in planned:
            store.add(task, ended(task), {})
        verdict = write(store, tmp_path / "a")
        write(store, tmp_path / "b")
    assert verdict.startswith("Largest solved for (q, p): (97, 2): integer BKW n = 40.")
    assert "above 2 s, 0 of 1 lie within 3 bits" in verdict
    assert "not: integer BKW (97, 2) n = 40, m = all, 40,000 in a file +4.0." in verdict
    assert (tmp_path / "a" / "index.html").read_bytes() == (tmp_path / "b" / "index.html").read_bytes()
