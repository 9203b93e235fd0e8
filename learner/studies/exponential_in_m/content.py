"""What the rows of `exponential-in-m` say: the numbers, figures and tables of its page."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Row
from hardness.errors import InputError
from hardness.report import Content
from learner.studies import exponential_in_m as grid
from learner.studies.exponential_in_m import figures, plan, tables
from learner.studies.exponential_in_m.arms import HARD, MILD, STEEP
from learner.studies.exponential_in_m.frames import eliminated, medians, of_arm, runs_of, tuned_cells
from learner.studies.exponential_in_m.trial import FIRST, SPACING

if TYPE_CHECKING:
    import pandas as pd

RAY = "ray"  # the series of the default grid


def content(rows: Sequence[Row]) -> Content:
    """All that the page shows. Raises `InputError` for rows of a plan that this study did not fix."""
    fixed = {series: plan.read(path) for series, path in plan.PLANS.items()}
    _check(rows, fixed)
    runs = runs_of(rows)
    whole = _whole(rows) and plan.THIRD in {*runs["series"]}
    judged_runs = runs[runs["series"] == (plan.THIRD if whole else RAY)]
    cells = medians(judged_runs)
    judged = tables.judged(cells, fixed[plan.THIRD]) if whole else None
    panel, factors = tables.panel(rows, runs, cells), tables.factors(cells)
    drawn = [
        figures.costs(cells, eliminated(rows)),
        figures.weights(cells),
        figures.at_fixed_size(cells),
        figures.panel(panel),
        figures.gap(rows),
        figures.dense(rows),
    ]
    shown = _of_medians(cells, judged) | _of_the_plans(fixed, judged)
    shown |= {
        "rays": tables.ray_lines(factors),
        "panel": panel.drop(columns=tables.UNSHOWN),
        "yours": tables.user_lines(rows, cells),
        "later": tables.later_lines(runs, cells, judged),
        "gaps": tables.gap_lines(rows, cells),
    }
    if not {HARD, MILD} <= {factor["arm"] for factor in factors if factor["low"]}:
        missing = "Too few trials have ended to answer the question."
        return Content(figures=drawn, tables=shown, missing=missing)
    numbers = (
        _of_factors(factors, whole)
        | _of_cells(cells)
        | {
            "floor": tables.above_floor(cells),
            "most": int(of_arm(cells)["sets"].max()),
            "judged": judged,
            "cheapest": tables.cheapest(panel, cells),
            "pools": tables.pools(panel),
            "wide": tables.wide_factors(runs, cells),
            "later": tables.later_errors(runs, cells, fixed[plan.THIRD]) if judged else {},
            "yours": len(shown["yours"]),
            "signs": tables.signs(cells),
            "tuning": tables.tuning(),
            "runs": len(judged_runs),
            "watched": tables.watched(rows),
            "sooner": tables.sooner(shown["gaps"]),
            "steeper": tables.steeper(shown["lines"]),
            "along": tables.along_rays(cells),
            "spread": tables.spread(cells),
            "flipped": tables.flipped(cells),
            "checks": {"every": FIRST, "growth": round(100 * (SPACING - 1))},
        }
    )
    return Content(numbers, drawn, shown, grid=grid)


def _check(rows: Sequence[Row], fixed: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise `InputError` unless the rows of a plan are those of the plan that is fixed."""
    for row in rows:
        digest, series = str(row.task.solver.get("plan", "")), str(row.task.solver.get("series"))
        expected = fixed[series]["digest"] if series in fixed else ""
        if digest != expected:
            raise InputError(
                f"rows of the plan {digest[:12]}, but this study's is {expected[:12]}: "
                "run the study into another --out"
            )


def _whole(rows: Sequence[Row]) -> bool:
    """Whether the third plan was run to its end: only then do its rules judge."""
    planned = [row for row in rows if row.task.solver.get("series") == plan.THIRD]
    return bool(planned) and all(row.outcome for row in planned)


def _of_medians(cells: "pd.DataFrame", judged: tables.Line | None) -> dict[str, Any]:
    """The tables of medians, cell by cell."""
    return {
        "cells": tables.every_cell(cells, judged),
        "controls": tables.controls(cells),
        "lines": tables.exponents(cells),
        "widths": tables.widths(cells),
        "others": tables.other_labels(cells),
    }


def _of_the_plans(fixed: Mapping[str, Mapping[str, Any]], judged: tables.Line | None) -> dict[str, Any]:
    """The tables of what was fixed before the trials, and of what came out."""
    return {
        "laws": tables.law_lines(judged),
        "outcomes": tables.other_outcomes(fixed[plan.THIRD], judged),
        "power": tables.power(fixed[plan.THIRD]),
        "dense": tables.dense_outcomes(fixed),
    }


def _of_cells(cells: "pd.DataFrame") -> dict[str, Any]:
    """How many cells of hidden sets there are, were not tuned themselves, and lie below what one bit takes."""
    hard = of_arm(cells)
    return {
        "cells": len(hard),
        "nearest": len(hard) - len(tuned_cells(hard)),
        "below": int((hard["median"] < 2 * grid.settings.ONE_BIT["examples"] * hard["sets"]).sum()),
    }


def _of_factors(factors: Sequence[tables.Line], whole: bool) -> dict[str, Any]:
    """The factors a head by arm and ray; along the default ray, over tuned cells; the ends of random layers'."""
    named = {f"{factor['arm']}, d = {factor['ray']}m": factor for factor in factors}
    random = [factor["factor"] for factor in factors if factor["arm"] in (MILD, STEEP)]
    default = factors[0] if whole else named[f"{HARD}, d = {grid.RAY}m"]
    tuned, tuned_to = (
        [factor[key] for factor in factors if factor["arm"] == HARD] for key in ("tuned", "tuned to")
    )
    nice = [min(random), max(random)]
    return {"factors": named, "ray": default, "nice": nice, "tuned": tuned, "tuned to": tuned_to}
