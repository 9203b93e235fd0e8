"""The study of nice layers: its trials and rows, and what is read off them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.engine.outcome import Outcome
from hardness.engine.run import run
from hardness.engine.store import Row, Store
from hardness.engine.table import export
from hardness.engine.task import Task
from learner.studies.nice_layers import (
    LINEAR,
    LITERAL,
    PATH,
    PHASES,
    RARITY,
    SCALING,
    STUDY,
    brackets,
    content,
)


def some(kind: str) -> list[Task]:
    wanted = {
        RARITY: lambda t: t.params["heads"] == t.params["tokens"] == 2 and t.params["scale"] == 3,
        SCALING: lambda t: (
            t.params["heads"] <= 2 and t.params["dim"] == 12 and t.solver["learner"] != LITERAL
        ),
        PATH: lambda t: t.params["heads"] == 2 and t.solver["path"] == "both",
    }[kind]
    return [task for task in STUDY.tasks(True) if task.solver["kind"] == kind and wanted(task)]


@pytest.mark.parametrize(
    "kind", [RARITY, *(pytest.param(k, marks=pytest.mark.slow) for k in (SCALING, PATH))]
)
def test_trials_give_the_same_rows_again(kind: str, tmp_path: Path) -> None:
    files = []
    for name in ("one", "two"):
        with Store(tmp_path / f"{name}.db", {"study": STUDY.name, "seed": 0, "quick": True}) as store:
            run(some(kind), store, workers=0, trial=STUDY.trial)
            assert not {"error", "killed", "timeout"} & set(store.counts())
            export([*store.rows()], tmp_path / f"{name}.csv", timing=False)
            rows = list(store.rows())
        files.append((tmp_path / f"{name}.csv").read_bytes())
    assert files[0] == files[1]
    if kind == RARITY:
        rare = content.rarity(rows)
        farthest = rare["farthest slope"].map(lambda fit: fit.value)
        assert ((farthest - rare["law"]).abs() <= 0.15 * rare["law"]).all()
    elif kind == SCALING:
        examples = content.scaling(content.fits(rows))
        phases = examples[examples["learner"] == PHASES].set_index("m")
        assert phases["error there"][1] < 1e-4 < phases["error there"][2] < 0.1
        assert phases["slope"][2].value < -0.5
    else:
        assert [row.outcome.detail["gave_up"] for row in rows if row.outcome] == ["crude", None, None]
        # The phases refuse the parity at ρ = 0; a random start solves it, as in the committed row of that trial.
        assert content.paths(rows)["random_start"].tolist() == [True, True, True]


@given(
    st.dictionaries(
        st.integers(1, 50), st.lists(st.booleans(), min_size=1, max_size=3), min_size=1, max_size=8
    )
)
def test_a_bracket_says_what_was_seen(learned: dict[int, list[bool]]) -> None:
    bracket = brackets.bracket(learned)
    below = [n for n in learned if bracket.none is not None and n <= bracket.none]
    above = [n for n in learned if bracket.all is not None and n >= bracket.all]
    assert not any(any(learned[n]) for n in below)
    assert all(all(learned[n]) for n in above)
    assert bracket.none is None or bracket.all is None or bracket.none < bracket.all
    between = sorted(set(learned) - set(below) - set(above))
    assert not between or (any(learned[between[0]]) and not all(learned[between[-1]]))


def path_row(repetition: int, status: str, **errors: float | None) -> Row:
    task = Task("nondegenerate", {"heads": 2}, {"kind": PATH, "path": "w", "rho": 0.5}, {}, repetition)
    detail = {
        "certified": False,
        "polished_error": None,
        "random_start_error": None,
        "gave_up": None,
        "reason": "",
    }
    return Row(task, Outcome(status, 1.0, detail | errors), None)


def test_an_error_of_zero_is_an_exact_layer_and_no_error_is_none() -> None:
    rows = [
        path_row(0, "solved", polished_error=0.0, random_start_error=0.0),
        path_row(1, "refused", random_start_error=0.0),
        path_row(2, "solved", polished_error=0.0, random_start_error=0.3),
        path_row(3, "wrong", polished_error=0.2, random_start_error=None),
        path_row(4, "error"),
    ]
    layers = content.paths(rows)
    sums = layers[["refused", "solved", "random_start"]].sum()
    assert (len(layers), *sums) == (4, 1, 2, 2)


def layer(a: float, rows: int = 10**7) -> dict[str, int]:
    """The certified rows of a layer whose share of rows is η^a exactly."""
    return {str(eta): round(rows * eta**a) for eta in (0.3, 0.1, 0.05, 0.02, 0.01)}


def test_the_interval_of_an_exponent_is_over_layers() -> None:
    slope = content.slopes([layer(1.0), layer(2.0), layer(3.0)])[0.3]
    assert slope.value == pytest.approx(2)
    assert slope.low is not None
    assert slope.low < 0  # three layers that disagree say little, however many rows each has
    assert not content.slopes([layer(1.0), layer(2.0)])
    # A handful of rows says nothing
    assert list(content.slopes([layer(2.0), layer(2.0), layer(2.0, 10**4)])) == [0.3]


def test_trials_on_one_path_share_their_layers() -> None:
    tasks = [t for t in STUDY.tasks(True) if t.solver["kind"] == PATH and t.params["heads"] == 2]
    assert len({task.shared(kind=PATH).seed(0, "instance") for task in tasks}) == 1
    assert len({task.identity for task in tasks}) == len(tasks)


def test_a_linear_map_explains_a_share_of_the_layers_that_the_phases_learn() -> None:
    linear = next(t for t in STUDY.tasks(False) if t.solver["kind"] == LINEAR and t.params["heads"] == 2)
    fit = next(t for t in STUDY.tasks(False) if t.solver["kind"] == SCALING and t.params == linear.params)
    assert len({task.shared(kind=SCALING).seed(0, "instance") for task in (linear, fit)}) == 1
    assert 0.7 < STUDY.trial(linear, 0, 60.0).detail["explained"] < 0.8


def test_the_pooled_slope_is_taken_at_the_smallest_eta_beyond_the_intervals() -> None:
    assert content.pooled_slope([layer(2.0)] * 3) is None  # every layer has rows enough everywhere
    # A layer of 15,000 rows has 37 at .05 and 6 at .02, seven of them 42 there
    assert content.pooled_slope([layer(2.0, 15_000)] * 7) == pytest.approx(2, abs=0.05)
    assert content.pooled_slope([layer(2.0, 15_000)] * 3) is None
