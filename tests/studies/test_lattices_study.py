"""The study `lattices`: its grid, a trial of each kind, and the page as a function of the rows."""

import pytest

from hardness.engine.outcome import Outcome, run_trial
from hardness.engine.store import Row, Store
from hardness.studies import catalog
from hardness.studies.lattices import content
from hardness.studies.lattices import tasks as lattices


def test_the_grid_has_distinct_tasks_and_the_quick_one_is_part_of_it():
    full, quick = ({task.identity for task in lattices.tasks(quick)} for quick in (False, True))
    assert len(full) == len(lattices.tasks(False))
    assert quick <= full


@pytest.mark.parametrize(
    ("attack", "samples", "heads"), [("bkw", 40_000, 4), ("bkw", None, None), ("lattice", None, None)]
)
def test_a_trial_is_judged_by_the_secret(attack, samples, heads):
    outcome = run_trial(lattices.trial, lattices.task(attack, samples, 97, 2, 20, heads, 0), root=0, guard=60)
    assert outcome.status == "solved"
    assert outcome.detail["steps" if attack == "bkw" else "trials"] >= 1
    assert (outcome.detail["error_mass"] > 0) == (heads is not None)


def ended(task):
    if task.solver["attack"] == "bkw":
        return Outcome("solved", 20_000, {"predicted_seconds": 4.0, "steps": 3, "error_mass": 0.0}, seconds=64.0)
    return Outcome("refused", None, {"forecast_seconds": 2000.0, "error_mass": 0.0}, seconds=0.5)


@pytest.fixture
def rows():
    planned = [lattices.task(attack, lattices.FILES[attack], 97, 2, 40, None, 0) for attack in ("bkw", "lattice")]
    return [Row(task, ended(task)) for task in planned]


def test_what_was_not_predicted_is_named(rows):
    bkw, lattice = content.lines(rows)
    assert (bkw["attack"], bkw["off"], lattice["off"]) == ("bkw", 4.0, None)
    assert content.agreement([bkw, lattice]) == {
        "above": 1, "close": 0, "below": 0,
        "off": ["integer BKW (97, 2) n = 40, m = all, 40,000 in a file: +4.0"],
    }  # fmt: skip
    quick = Outcome("solved", 9, {"predicted_seconds": 1.0, "error_mass": 0.0}, seconds=0.5)
    assert content.agreement(content.lines([Row(rows[0].task, quick)])) == {
        "above": 0, "close": 0, "below": 1, "off": [],
    }  # fmt: skip


def test_the_figure_shows_the_unsolved_as_open_within_its_frame(rows):
    solved, refused = (content._reached(line) for line in content.lines(rows))
    assert (solved.y, solved.hollow) == (6.0, False)
    assert (refused.y, refused.hollow, refused.note) == (content.TOP - 0.3, True, "refused")


@pytest.mark.slow  # 4 s of CPU
def test_the_headline_names_the_largest_sizes(rows, tmp_path):
    with Store(tmp_path / "rows.db", {"study": "lattices", "seed": 0, "quick": True}) as store:
        store.plan([row.task for row in rows])
        for row in rows:
            store.add(row.task, row.outcome, {})
        headline = catalog.page(store, tmp_path)
    assert "(97, 2) none and 40; (97, 4) none and none" in headline
    assert "0 of 1 times above 2 s, seen or predicted, lie within 3 bits" in headline
