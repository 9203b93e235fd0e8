"""The chart of any rows: what is drawn is what the rows hold, and an interval holds the median as often as it says."""

from math import comb

import pytest
from numpy.testing import assert_allclose

from hardness.cli import run
from hardness.engine.frames import frame
from hardness.engine.outcome import Outcome, Row
from hardness.engine.rows import dump
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.report.chart import chart, select
from hardness.statistics import median_interval


def row(
    heads: int, cost: float, status: str = "solved", dim: int = 15, learner: str = "mlp", run: int = 0
) -> Row:
    task = Task("parity", {"dim": dim, "heads": heads}, {"kind": "sweep", "learner": learner}, {}, run)
    return Row(task, Outcome(status, cost))


def lines(figure):
    return [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 1 and line.get_marker()]


def test_interval_of_order_statistics_holds_the_median_with_the_stated_probability():
    for n in range(6, 60):
        low, high, _ = median_interval([*range(1, n + 1)], [False] * n)
        inside = (
            sum(comb(n, k) for k in range(int(low), int(high))) / 2**n
        )  # this many of n draws lie below the median
        assert inside >= 0.95
        narrower = sum(comb(n, k) for k in range(int(low) + 1, int(high) - 1)) / 2**n
        assert narrower < 0.95


def test_medians_are_drawn_and_words_have_no_line():
    rows = frame([row(m, 10.0**m * factor, run=i) for m in (2, 3) for i, factor in enumerate((1, 2, 5))])
    figure = chart(rows, "heads", log=["y"])
    _, line = figure.axes[0].get_lines()[:2]
    assert line.get_linestyle() == "-"
    assert_allclose(line.get_xydata(), [[2, 200], [3, 2000]])
    low, high = figure.axes[0].get_ylim()
    assert low < 100
    assert high > 5000
    words = chart(frame([row(2, 5.0, learner=name) for name in ("mlp", "student")]), "learner")
    assert [tick.get_text() for tick in words.axes[0].get_xticklabels()] == ["mlp", "student"]
    assert {line.get_linestyle() for line in words.axes[0].get_lines()} == {"None"}


def test_a_median_that_a_budget_cut_is_an_arrow_and_crashes_have_no_cost():
    ended = [row(2, 10.0), row(2, 99.0, "error", run=1), row(3, 40.0, "budget"), row(3, 20.0, run=1)]
    axes = chart(frame([*ended, row(4, 0.0, "timeout")]), "heads").axes[0]  # the last says nothing
    assert [*lines(axes.figure)[0].get_xdata()] == [2, 3]
    hollow = [
        line.get_xydata().tolist() for line in axes.get_lines() if line.get_markerfacecolor() == "white"
    ]
    assert hollow == [[[3.0, pytest.approx(800**0.5)]]]
    assert max(high for line in axes.get_lines() for high in line.get_ydata()) == hollow[0][0][1]


def test_proved_bounds_of_games_are_dashes_and_an_upper_bound_is_none():
    def game(heads: int, tolerance: float, **detail: float) -> Row:
        solver = {"kind": "game", "strategy": "flat", "tolerance": tolerance}
        return Row(Task("parity", {"heads": heads}, solver, {}, 0), Outcome("solved", 30, detail))

    def dashes(*rows: Row, **options) -> list[tuple[float, float]]:
        axes = chart(frame(rows), "heads", **options).axes[0]
        return [line.get_xydata()[0].tolist() for line in axes.get_lines() if line.get_marker() == "_"]

    rows = [game(2, 0.1, bound=1.6, exact_floor=4, upper=5), game(3, 0.1, bound=13.1, upper=29)]
    assert dashes(*rows) == [[2, 4], [3, 13.1]]
    assert dashes(*rows, game(3, 0.2, bound=20)) == [
        [2, 4],
        [3, 13.1],
    ]  # a point has the bound of all its games
    assert dashes(*rows, game(3, 0.2)) == [[2, 4]]
    assert dashes(*rows, game(3, 0.2, bound=20), by=["tolerance"]) == [[2, 4], [3, 13.1], [3, 20]]
    assert dashes(*rows, y="upper") == []


def test_a_zero_stands_below_a_logarithmic_scale_and_close_places_have_no_ticks_of_their_own():
    rows = frame([row(2, 0.0), row(3, 500.0), row(200, 5000.0), row(201, 6000.0)])
    axes = chart(rows, "heads", log=["y"]).axes[0]
    assert -100 < axes.get_ylim()[0] < 0
    assert axes.get_yscale() == "symlog"
    assert 201 not in axes.get_xticks()


def test_rows_are_chosen_by_values_as_printed():
    rows = frame(
        [row(m, 5.0, dim=dim, learner=name) for m in (2, 3) for dim in (8, 16) for name in ("mlp", "a, b")]
    )
    assert len(select(rows, {"dim": ["16"]})) == 4
    assert len(select(rows, {"dim": ["8,16"], "learner": ["mlp"]})) == 4
    with pytest.raises(InputError, match="did you mean '16'"):
        select(rows, {"dim": ["116"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--x", "head"], "unknown column 'head'; did you mean 'heads'?"),
        (["--x", "heads", "--by", "lerner"], "did you mean 'learner'?"),
        (["--x", "heads", "--y", "status"], "no row has a number in status"),
        (["--x", "learner", "--log", "x"], "leave x out of --log"),
        (["--x", "heads", "--log", "z"], "unknown axis 'z'"),
        (["--x", "heads", "--where", "dim"], "--where takes COL=VALUE"),
        (["--x", "heads", "--out", "a.gif"], "--out takes a .svg, .png or .pdf file"),
    ],
)
def test_bad_input_is_one_line(table, options, message, capsys):
    assert run(["plot", str(table), "--out", str(table.with_name("a.svg")), *options]) == 2
    refusal = capsys.readouterr().err
    assert message in refusal
    assert refusal.count("\n") == 1
    assert not table.with_name("a.svg").exists()


@pytest.fixture
def table(tmp_path):
    dump([row(m, 10.0 * m, run=i) for m in (2, 3) for i in range(2)], tmp_path / "rows.csv")
    (tmp_path / "summary.json").write_text(
        '{"study": "sweep", "seed": 0, "quick": false, "commands": [], "commits": [], "provenance": {}}'
    )
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_every_kind_of_picture_is_the_same_twice(table, kind, capsys):
    out = [table.parent / part / f"a.{kind}" for part in "xy"]
    for path in out:
        assert run(["plot", str(table), "--x", "heads", "--log", "x,y", "--out", str(path)]) == 0
    first, second = (path.read_bytes() for path in out)
    assert first == second
    assert "4 rows drawn" in capsys.readouterr().out
