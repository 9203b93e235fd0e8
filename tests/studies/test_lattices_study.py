"""The study `lattices`: its grid, a trial of each kind, and the page as a function of the rows."""

import pytest

from hardness.engine.merging import merge
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
        return Outcome(
            "solved", 20_000, {"predicted_seconds": 4.0, "steps": 3, "error_mass": 0.0}, seconds=64.0
        )
    return Outcome("refused", None, {"forecast_seconds": 2000.0, "error_mass": 0.0}, seconds=0.5)


@pytest.fixture
def rows():
    planned = [
        lattices.task(attack, lattices.FILES[attack], 97, 2, 40, None, 0) for attack in ("bkw", "lattice")
    ]
    return [Row(task, ended(task)) for task in planned]


def cells_of(rows):
    return content.attacks(content.trials(rows))


def test_what_was_not_predicted_is_named(rows):
    cells = cells_of(rows)
    off = cells.set_index("attack")["off"]
    assert (off["bkw"], off.isna()["lattice"]) == (4.0, True)
    named = "integer BKW (97, 2) n = 40, m = all, 40,000 in a file: +4.0"
    assert content.agreement(cells) == {"above": 1, "close": 0, "clipped": 0, "below": 0, "off": [named]}
    quick = Outcome("solved", 9, {"predicted_seconds": 1.0, "error_mass": 0.0}, seconds=0.5)
    assert content.agreement(cells_of([Row(rows[0].task, quick)])) == {
        "above": 0,
        "close": 0,
        "clipped": 0,
        "below": 1,
        "off": [],
    }


def test_a_time_that_is_clipped_is_counted(rows):
    short = Outcome("solved", 9, {"predicted_seconds": 4.0, "error_mass": 0.0}, seconds=0.5)
    agreement = content.agreement(cells_of([Row(rows[0].task, short)]))
    assert (agreement["above"], agreement["clipped"], agreement["close"]) == (1, 1, 1)


def test_the_largest_size_is_said_beside_the_least_that_was_not_solved(rows):
    """Once "the largest solved" was the largest tried in 7 of 8 entries."""
    sizes = content.farthest(cells_of(rows))[0]
    assert sizes == {"q": 97, "p": 2, "lattice": 0, "lattice_beyond": 40, "bkw": 40, "bkw_beyond": 0}
    assert all(len(sizes) == 2 for panels in lattices.BEYOND.values() for sizes in panels)


def test_the_figure_shows_the_unsolved_as_open_within_its_frame(rows):
    solved, refused = (content._reached(cell) for _, cell in cells_of(rows).iterrows())
    assert (solved.y, solved.hollow) == (6.0, False)
    assert (refused.y, refused.hollow, refused.note) == (content.TOP - 0.3, True, "refused")


def test_seconds_stand_beside_the_rows_and_come_back_with_them(rows, tmp_path):
    """The rows themselves hold no time: the same seed gives the same bytes."""
    (tmp_path / "made").mkdir()
    with Store(tmp_path / "rows.db", {"study": "lattices", "seed": 0, "quick": True}) as store:
        store.plan([row.task for row in rows])
        for row in rows:
            store.add(row.task, row.outcome, {})
        page = catalog.page(store, tmp_path / "made")
    assert (tmp_path / "made" / "timings.csv").read_text().count("64.000") == 1
    assert "seconds" not in (tmp_path / "made" / "rows.csv").read_text().splitlines()[0].split(",")
    merge([tmp_path / "made", tmp_path / "made"], tmp_path / "again.db")
    with Store(tmp_path / "again.db") as store:
        assert sorted(row.outcome.seconds for row in store.rows()) == [0.5, 64.0]
        (tmp_path / "again").mkdir()
        assert catalog.page(store, tmp_path / "again") == page


@pytest.mark.slow  # 4 s of CPU
def test_the_headline_names_the_largest_sizes(rows, tmp_path):
    with Store(tmp_path / "rows.db", {"study": "lattices", "seed": 0, "quick": True}) as store:
        store.plan([row.task for row in rows])
        for row in rows:
            store.add(row.task, row.outcome, {})
        headline = catalog.page(store, tmp_path)
    assert "(97, 2) none and 40; (97, 4) none and none" in headline
    assert "0 of 1 times above 2 s are predicted within a factor of 8" in headline
