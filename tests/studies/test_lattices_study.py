"""The study `lattices`: its grid, a trial of each kind, and the page as a function of the rows."""

import pytest

from hardness.engine.outcome import Outcome, run_trial
from hardness.engine.rows import merge
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


NOTHING = {"compared": 0, "close": 0, "off": [], "undecided": 0, "shorter": 0, "longer": 0} | {
    "unsolved": 0,
    "unsolved_few": 0,
    "unsolved_seconds": 0.0,
}


def cells_of(rows):
    return content.attacks(content.trials(rows))


def test_what_was_not_predicted_is_named(rows):
    cells = cells_of(rows)
    off = cells.set_index("attack")["off"]
    assert (off["bkw"], off.isna()["lattice"]) == (4.0, True)
    named = "integer BKW (97, 2) n = 40, m = all, 40,000 in a file: 4.00"
    assert content.agreement(cells) == NOTHING | {"compared": 1, "longer": 1, "off": [named]}


@pytest.mark.parametrize(
    ("predicted", "seconds", "judged", "shown"),
    [
        (1.0, 0.5, {"undecided": 1}, ""),
        (4.0, 0.5, {"undecided": 1, "shorter": 1}, "≤ −1"),
        (1.0, 12.0, {"undecided": 1, "longer": 1}, "≥ 2.58"),
        (1.0, 20.0, {"compared": 1, "longer": 1}, "≥ 3.32"),
        (20.0, 0.5, {"compared": 1, "shorter": 1}, "≤ −3.32"),
        (4.0, 12.0, {"compared": 1, "close": 1, "longer": 1}, "1.58"),
        (4.0, 3.999, {"compared": 1, "close": 1, "shorter": 1}, "0.00"),
        (2.2, 0.5, {"undecided": 1, "shorter": 1}, "≤ −0.13"),
    ],
)
def test_a_time_below_what_is_judged_can_miss_and_cannot_agree(rows, predicted, seconds, judged, shown):
    """Once 19 times of which only "below 2 s" was known counted as predicted within a factor of 8."""
    ended = Outcome("solved", 9, {"predicted_seconds": predicted, "error_mass": 0.0}, seconds=seconds)
    cells = cells_of([Row(rows[0].task, ended)])
    agreement = content.agreement(cells)
    missed = judged.get("compared", 0) - judged.get("close", 0)
    assert agreement | {"off": []} == NOTHING | judged
    assert len(agreement["off"]) == missed
    assert content._shown(cells)["difference"].item() == shown


def test_what_was_taken_on_and_not_solved_is_counted_and_a_refusal_is_not(rows):
    gave_up = Outcome("budget", 9, {"predicted_seconds": 32.0, "error_mass": 0.0}, seconds=64.0)
    agreement = content.agreement(cells_of([Row(rows[0].task, gave_up), rows[1]]))
    assert agreement == NOTHING | {"unsolved": 1, "unsolved_seconds": 32.0}


def test_the_largest_size_is_said_beside_the_least_that_was_not_solved(rows):
    """Once "the largest solved" was the largest tried in 7 of 8 entries."""
    sizes = content.farthest(cells_of(rows))[0]
    assert (sizes["lattice"], sizes["lattice_share"], sizes["lattice_beyond"]) == (0, "0/0", 40)
    assert (sizes["lattice_refused"], sizes["lattice_beyond_share"], sizes["bkw_source"]) == (
        True,
        "0/1",
        "file",
    )
    assert (sizes["bkw"], sizes["bkw_share"], sizes["bkw_beyond"]) == (40, "1/1", 0)
    assert all(len(sizes) == 2 for panels in lattices.BEYOND.values() for sizes in panels)


def test_smaller_files_are_counted_by_their_runs_and_failures_on_the_smallest_are_named(rows):
    gave_up = Outcome("budget", 9, {"predicted_seconds": 4.0, "error_mass": 0.0}, seconds=64.0)
    smaller = [
        Row(lattices.task("bkw", 10_000, 97, 2, 28, None, 0), ended(rows[0].task)),
        Row(lattices.task("bkw", 2_500, 97, 2, 28, None, 0), gave_up),
        Row(lattices.task("lattice", 2_500, 97, 2, 40, None, 0), rows[1].outcome),
    ]
    cells = cells_of([*rows, *smaller])
    assert content.smaller_files(cells) == [
        {"examples": 10_000, "share": "1/1"},
        {"examples": 2_500, "share": "0/1"},
    ]
    agreement = content.agreement(cells)
    assert (agreement["unsolved"], agreement["unsolved_few"]) == (1, 1)


def test_few_heads_are_sorted_by_whether_the_attack_took_longer(rows):
    def few(attack, heads, seconds, status="solved"):
        task = lattices.task(attack, lattices.FILES[attack], 97, 2, 40, heads, 0)
        detail = {"predicted_seconds": 4.0, "error_mass": 0.1}
        return Row(task, Outcome(status, 9, detail, seconds=seconds))

    trials = [
        few("bkw", 4, 8.0),
        few("bkw", 7, 3.0),
        few("lattice", 4, 0.5),
        few("lattice", 5, 3.0, "budget"),
    ]
    assert content.fewer_heads(cells_of([*rows, *trials])) == {
        "few_longer": [4],
        "few_shorter": [7],
        "few_quick": True,
        "few_lost": ["0/1 at m = 5"],
    }


def test_the_figure_shows_the_unsolved_as_open_within_its_frame(rows):
    gave_up = Outcome("budget", 9, {"predicted_seconds": 32.0, "error_mass": 0.0}, seconds=64.0)
    cells = cells_of([*rows, Row(lattices.task("bkw", 40_000, 97, 2, 44, None, 0), gave_up)])
    solved, refused, tried = map(content._reached, cells.assign(place=cells["n"]).itertuples())
    assert (solved.y, solved.hollow) == (6.0, False)
    assert (refused.y, refused.hollow, refused.note) == (content.EDGE, True, "")
    assert (tried.y, tried.hollow, tried.note) == (5.0, True, "0/1")


def test_marks_that_would_cover_each_other_stand_side_by_side(rows):
    """Once four circles of the lattice lay under marks of BKW."""
    short = [
        Row(row.task, Outcome("solved", 9, {"predicted_seconds": 1.0, "error_mass": 0.0}, seconds=0.5))
        for row in rows
    ]
    elsewhere = Row(lattices.task("bkw", None, 97, 2, 60, None, 0), ended(rows[0].task))
    left, right, alone = content._abreast(cells_of([*short, elsewhere]))
    assert (left + right, alone) == (80, 60)
    assert right - left == pytest.approx(content.ASIDE * 20)


def test_a_bar_does_not_run_into_another_mark_of_its_n(rows):
    """Once it seemed to be that mark's own."""
    slow = [
        Row(lattices.task("lattice", lattices.FILES["lattice"], 97, 2, 40, None, run), outcome)
        for run, outcome in enumerate(
            Outcome("solved", 9, {"forecast_seconds": 8.0, "error_mass": 0.0}, seconds=seconds)
            for seconds in (2.1, 8.0, 30.0)
        )
    ]
    quick = Row(
        lattices.task("lattice", None, 97, 2, 40, None, 0),
        Outcome("solved", 9, {"forecast_seconds": 2.0, "error_mass": 0.0}, seconds=0.5),
    )
    elsewhere = Row(lattices.task("lattice", None, 97, 2, 60, None, 0), quick.outcome)
    stream, file, alone = content._abreast(cells_of([*slow, quick, elsewhere]))
    assert (abs(stream - file), alone) == (pytest.approx(content.ASIDE * 20), 60)


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
    assert "lattice none, none, none, none; BKW 40, none, none, none; next refused in 1 of 1" in headline
    assert (
        "Predicted within a factor of 8: 0 of 1 solved cells, both above 2 s; by a constant, 1." in headline
    )
