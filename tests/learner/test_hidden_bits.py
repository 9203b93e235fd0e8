"""The study `exponential-in-m`: trials, laws, the plan that no one changes, and what the rows say."""

import re
from dataclasses import replace
from math import comb, log
from pathlib import Path
from typing import Any

import made_up
import numpy as np
import pytest
from typer.testing import CliRunner

from hardness.cli import app
from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.statistics.regression import neighbours, regress
from hardness.studies import catalog
from learner.studies import exponential_in_m as grid
from learner.studies.exponential_in_m import content, laws, plan, settings
from learner.studies.exponential_in_m.laws import Cell
from learner.studies.exponential_in_m.trial import trial

FILE = plan.PLANS["plan"]
PLAN = plan.read(FILE)
FITTED, ASKED = plan.places(PLAN)


def rho_of(truth: dict[str, Any], s: int, d: int) -> float:
    """A law that a plan simulates: e^(g s), powers of s/3 with weights, or N^k; with d and odd s."""
    powers = sum(weight * (s / 3) ** b for b, weight in truth.get("powers", ()))
    law = log(powers) if powers else truth.get("g", 0.0) * s + truth.get("k", 0.0) * log(comb(d - 1, s))
    return float(law + truth["odd"] * (s % 2) + truth["d"] * log(d / 14))


def simulated(fixed: dict[str, Any], truth: dict[str, Any], sets: int, scatter: float = 0.25) -> list[list[list[Cell]]]:
    """Data sets of a true rho with normal scatter that correlates along d: what is fitted, and what is asked."""
    inside, asked = plan.places(fixed)
    places = (*inside, *asked)
    half = np.linalg.cholesky(laws.correlations(places, 0.5))
    noise = np.random.default_rng(5).standard_normal((sets, len(places))) @ half.T * scatter
    drawn = np.array([rho_of(truth, *place) for place in places]) + noise
    rows = [[Cell(place, float(rho)) for place, rho in zip(places, row, strict=True)] for row in drawn]
    return [[cells[: len(inside)], cells[len(inside) :]] for cells in rows]


def outcomes(fixed: dict[str, Any], name: str, sets: int) -> list[dict[str, str]]:
    """The outcomes of data sets of one of a plan's truths, by question."""
    truth = next(each for each in fixed["truths"] if each["name"] == name)
    return [plan.judged(fixed, *cells)["outcomes"] for cells in simulated(fixed, truth, sets)]


# The plan


def test_a_plan_with_another_cell_is_refused(tmp_path: Path) -> None:
    """Whoever changes a cell, without or with a new digest, has another plan."""
    text = FILE.read_text(encoding="utf-8")
    changed = tmp_path / "plan.toml"
    changed.write_text(text.replace('["parity", 12, 2,', '["parity", 13, 2,'), encoding="utf-8")
    with pytest.raises(InputError, match="was changed after it was fixed"):
        plan.tasks(changed)
    again = plan.digest({**PLAN, "runs": 9})
    changed.write_text(text.replace("runs = 10", "runs = 9").replace(PLAN["digest"], again), encoding="utf-8")
    with pytest.raises(InputError, match="another plan"):
        plan.tasks(changed)
    command = ["study", "run", "exponential-in-m", "--plan", str(changed), "--out", str(tmp_path)]
    run = CliRunner().invoke(app, command)
    assert run.exit_code != 0
    assert not (tmp_path / "rows.db").exists()


def test_rows_of_another_plan_are_refused() -> None:
    task = plan.tasks(FILE)[0]
    other = replace(task, solver={**task.solver, "plan": "0" * 64})
    with pytest.raises(InputError, match="run the study into another --out"):
        content.content([Row(other, Outcome("solved", 9, {}))])


def test_the_second_plan_has_the_rules_of_the_first_and_the_settings_of_the_second_tuning() -> None:
    second = plan.read(plan.PLANS["plan2"])
    assert {key for key in PLAN if second[key] != PLAN[key]} == {"digest", "cells", "power", "primary"}
    assert {key for key in PLAN["primary"] if second["primary"][key] != PLAN["primary"][key]} == {"margin"}
    for family, d, s, *setting, _ in second["cells"]:
        assert list(settings.tuned(settings.Cell(family, d, s)).values()) == setting


def test_trials_of_the_plan_have_its_cells_its_settings_and_seeds_of_its_own() -> None:
    found = plan.tasks(FILE)
    assert len(found) == PLAN["runs"] * len(PLAN["cells"]) == 2 * PLAN["runs"] * (len(FITTED) + len(ASKED))
    for task in found[:: PLAN["runs"]]:
        cell = settings.Cell(task.family, int(task.params["dim"]), int(task.params["heads"]))
        assert cell.d >= 2 * cell.s + 1
    short = replace(found[0], budget={"samples": 512})
    assert trial(short, 0, 60.0).detail == trial(short, 1, 60.0).detail  # whatever the root seed of the run
    own = replace(short, solver={k: v for k, v in short.solver.items() if k != "plan"})
    assert trial(own, 0, 60.0).detail != trial(short, 0, 60.0).detail


@pytest.mark.parametrize("series", plan.PLANS)
def test_a_plans_power_is_what_simulation_says(series: str) -> None:
    """The table that was written down before the run, again with other random numbers."""
    fixed = plan.read(plan.PLANS[series])
    for row in fixed["power"]:
        if row["scatter"] == 0.25:
            found = outcomes(fixed, row["truth"], 60)
            for name in ("primary", "tertiary"):
                for key in fixed[name]["sentences"]:
                    share = np.mean([each[name] == key for each in found])
                    assert abs(share - row[f"{name} {key}"]) < 0.2, (row["truth"], name, key)


@pytest.mark.parametrize("sets", [100, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("series", plan.PLANS)
def test_a_sum_of_two_powers_is_not_called_exponential_and_not_n(series: str, sets: int) -> None:
    """Such a sum, fitted to the pilot, passes for an exponential rather than a power: the sentence then says so."""
    fixed = plan.read(plan.PLANS[series])
    found = outcomes(fixed, "s^3.6 + .004 s^11.7", sets)
    assert np.mean([each["primary"] == "exponential" for each in found]) <= 0.05
    assert np.mean([each["tertiary"] == "as N" for each in found]) <= 0.05
    power, exponential = (
        np.mean([each["primary"] in ("exponential", "better") for each in outcomes(fixed, name, sets)])
        for name in ("s^3.8", "factor 3 a bit")
    )
    assert power <= 0.1
    assert exponential >= 0.75


# Laws


def test_laws_find_what_they_are_made_of() -> None:
    ((fitted, asked),) = simulated(PLAN, {"g": log(3), "odd": 0.4, "d": 0.3}, 1, scatter=1e-6)
    found = laws.primary(fitted, asked, PLAN["primary"])[1]
    assert found["factor"][0] == pytest.approx(3, rel=1e-3)
    assert [each[laws.EXPONENTIAL] for each in found["predictions"]] == pytest.approx([c.rho for c in asked], abs=0.01)
    (cells,) = simulated(PLAN, {"powers": [[3.8, 1.0]], "odd": 0.4, "d": 0.3}, 1, scatter=1e-6)
    outcome, found = laws.primary(*cells, PLAN["primary"])
    assert outcome == "power"
    assert found["power"][0] == pytest.approx(3.8, rel=1e-3)


def test_a_bound_scores_only_where_it_contradicts() -> None:
    seen = [Cell((6, 14), 5.0, True), Cell((6, 16), 5.0, True), Cell((7, 15), 5.0)]
    assert laws.errors(np.array([4.0, 7.0, 7.0]), seen).tolist() == [1.0, 0.0, 4.0]


def test_the_exponent_of_d_that_rises_by_a_tenth_a_bit() -> None:
    cells = [Cell((s, d), 2.0 * s + (0.5 + 0.3 * (s % 2) + 0.1 * s) * log(d) + 1e-6 * (d % 5)) for s, d in FITTED]
    outcome, (slope, low, high) = laws.secondary(cells, 0.5)
    assert outcome == "rises"
    assert slope == pytest.approx(0.1, abs=1e-4)
    assert low < slope < high


def test_least_squares_with_correlated_errors() -> None:
    """Against the textbook formula, and unbiased with the stated interval on simulated data."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(12), np.tile(np.arange(6.0), 2)])
    C = neighbours("aaaaaabbbbbb", X[:, 1], 0.5)
    half, inverse, inside = np.linalg.cholesky(C), np.linalg.inv(C), 0
    for _ in range(200):
        y = X @ [1.0, 2.0] + 0.3 * half @ rng.standard_normal(12)
        fit = regress(X, y, C)
        low, high = fit.limits(1)
        inside += low <= 2.0 <= high
    assert fit.beta == pytest.approx(np.linalg.solve(X.T @ inverse @ X, X.T @ inverse @ y))
    assert 0.9 <= inside / 200 <= 0.99


def test_censored_cells_pull_a_fit_upwards_and_are_not_dropped() -> None:
    X = np.column_stack([np.ones(8), np.arange(8.0)])
    y = 1.0 + 2.0 * X[:, 1] + np.tile([0.1, -0.1], 4)
    above = np.arange(8) == 7
    capped = np.where(above, 13.0, y)
    fit, without = regress(X, capped, np.eye(8), above), regress(X[:7], y[:7], np.eye(7))
    assert fit.beta == pytest.approx(without.beta, abs=0.05)  # a bound below the line says little
    capped[7] = 20.0  # and one above it pulls
    assert regress(X, capped, np.eye(8), above).beta[1] > without.beta[1] + 0.05
    with pytest.raises(InputError, match="do not determine"):
        regress(X, capped, np.eye(8), np.arange(8) > 0)


# Trials and rows


@pytest.mark.parametrize(
    ("more", "samples", "status"), [({"labels": "independent"}, 20_000, "budget"), ({"pool": 1024}, 60_000, "solved")]
)
def test_random_labels_and_few_examples_shown_again_and_again(more: dict, samples: int, status: str) -> None:
    solver = {"kind": "learner", "learner": "student", "params": {"rate": 0.03, "l1": 0.12}, **more}
    outcome = trial(Task("parity", {"dim": 8, "heads": 2}, solver, {"samples": samples}, 0), 0, 60.0)
    assert outcome.status == status
    if status == "budget":
        assert outcome.detail["open_error"] > 0.9
    else:
        assert outcome.detail["distinct"] == 1024 < outcome.detail["gradient"]


def test_the_grid_is_tuned_and_has_all_its_series() -> None:
    found = grid.tasks(False)
    series = {task.solver["series"] for task in found}
    assert series >= {"tuned", "frozen", "elimination", "random labels", "mlp", "direct", "lbfgs", *settings.PANELS}
    assert len({task.identity for task in found}) == len(found)
    assert sum(map(grid.seconds, found)) < 400
    assert len(grid.tasks(True)) < 50


def test_a_row_that_did_not_end_leaves_the_plan_open() -> None:
    found = plan.tasks(FILE)
    rows = [Row(task, Outcome("solved", 1000, {"gradient": 1000, "distinct": 1000})) for task in found[:-1]]
    assert content._judged([*rows, Row(found[-1])], content.gathered(rows), "plan", PLAN) is None


def test_a_page_of_the_small_grid(tmp_path: Path) -> None:
    """Made-up rows of every series: a page with a headline, its figures and tables."""

    rng = np.random.default_rng(0)
    study = catalog.get("exponential-in-m")
    with Store(tmp_path / "rows.db", {"study": study.name, "seed": 0, "quick": False}) as store:
        store.plan(found := study.tasks(False))
        for task in found:
            store.add(task, made_up.outcome(task, rng), {})
        headline = catalog.page(store, tmp_path)
        assert "Elimination" in headline
        page = (tmp_path / "index.html").read_text(encoding="utf-8")
        assert "not among these rows" in page
        store.plan(found := study.plan(FILE))
        for task in found:
            store.add(task, made_up.outcome(task, rng), {})
        headline = catalog.page(store, tmp_path)
    assert re.search(r"needs, relative to random layers, [23]\.\d\d ", headline)
    assert (tmp_path / "costs.svg").exists()
