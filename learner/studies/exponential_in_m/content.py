"""What the rows of `exponential-in-m` say: the numbers, figures and tables of its page."""

from collections.abc import Mapping, Sequence
from typing import Any

from hardness.engine.store import Row
from hardness.errors import InputError
from hardness.report import Content
from learner.studies import exponential_in_m as grid
from learner.studies.exponential_in_m import figures, plan, tables
from learner.studies.exponential_in_m.arms import HARD, MILD, STEEP
from learner.studies.exponential_in_m.frames import eliminated, medians, of_arm, runs_of

RAY = "ray"  # the series of the default grid


def content(rows: Sequence[Row]) -> Content:
    """All that the page shows. Raises `InputError` for rows of a plan that this study did not fix."""
    fixed = {series: plan.read(path) for series, path in plan.PLANS.items()}
    _check(rows, fixed)
    runs = runs_of(rows)
    planned = runs[runs["series"] == plan.THIRD]
    whole = not planned.empty and all(
        row.outcome for row in rows if row.task.solver.get("series") == plan.THIRD
    )
    cells = medians(planned if whole else runs[runs["series"] == RAY])
    panel = [*tables.panel_lines(runs, cells), *tables.dense_lines(rows, cells)]
    drawn = [
        figures.costs(cells, eliminated(rows)),
        figures.weights(cells),
        figures.at_fixed_size(cells),
        figures.panel(panel),
        figures.gap(rows),
        figures.dense(rows),
    ]
    factors = tables.factors(cells)
    judged = tables.judged(cells, fixed[plan.THIRD]) if whole else None
    shown: dict[str, Any] = {
        "cells": tables.every_cell(cells, judged),
        "rays": factors,
        "controls": tables.controls(cells),
        "laws": tables.law_lines(judged),
        "lines": tables.exponents(cells),
        "widths": tables.widths(cells),
        "others": tables.other_labels(cells),
        "outcomes": tables.outcomes(fixed[plan.THIRD], judged),
        "power": fixed[plan.THIRD]["power"],
        "dense": tables.dense_outcomes(fixed),
        "panel": [{key: value for key, value in each.items() if key != "censored"} for each in panel],
        "yours": tables.user_lines(rows, cells),
        "later": tables.later_lines(runs, cells, judged),
        "gaps": tables.gap_lines(rows, cells),
    }
    if not {HARD, MILD} <= {factor["arm"] for factor in factors}:
        return Content(
            figures=drawn, tables=shown, missing="Too few trials have ended to answer the question."
        )
    numbers = {
        "factors": {f"{factor['arm']}, d = {factor['ray']}m": factor for factor in factors},
        "ray": next(
            factor for factor in factors if (factor["arm"] == HARD and factor["ray"] == grid.RAY) or whole
        ),
        "nice": [edge(f["factor"] for f in factors if f["arm"] in (MILD, STEEP)) for edge in (min, max)],
        "most": int(of_arm(cells)["sets"].max()),
        "judged": judged,
        "cheapest": tables.cheapest(panel, cells),
        "pools": tables.pools(panel),
        "later": tables.later_errors(runs, cells, fixed[plan.THIRD]) if judged else {},
        "yours": len(shown["yours"]),
        "signs": tables.signs(cells),
        "tuning": tables.tuning(),
        "runs": len(planned if whole else runs[runs["series"] == RAY]),
    }
    return Content(numbers, drawn, shown, grid=grid)


def _check(rows: Sequence[Row], fixed: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise `InputError` unless the rows of a plan are those of the plan that is fixed."""
    for row in rows:
        digest, series = str(row.task.solver.get("plan", "")), str(row.task.solver.get("series"))
        if digest != (known := fixed[series]["digest"] if series in fixed else ""):
            raise InputError(
                f"rows of the plan {digest[:12]}, but this study's is {known[:12]}: run the study into another --out"
            )
