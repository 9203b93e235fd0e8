"""What the outcomes of the third plan rest on: known medians and bounds, settings of their own, scatter."""

from collections.abc import Mapping
from math import exp, log
from typing import TYPE_CHECKING, Any

from learner.studies.exponential_in_m import laws, settings
from learner.studies.exponential_in_m.frames import law_cells, tuned_cells

if TYPE_CHECKING:
    import pandas as pd

PAIR = (laws.N_OVER_D, laws.SUBSETS)  # of the third question


def grounds(answers: laws.Answers, hard: "pd.DataFrame", fixed: Mapping[str, Any]) -> dict[str, Any]:
    """The slope over cells tuned themselves, errors and outcomes at known medians, bounds, scatters of simulations."""
    bounds = [cell.censored for cell in answers.asked]
    known = {name: error_of_known(answers, name) for name in laws.LAWS}
    exact = {name: wrong[[not bound for bound in bounds]] for name, wrong in answers.errors.items()}
    errors = [laws.typical(answers.errors[name]) for name in PAIR]
    scatters = [row["scatter"] for row in fixed["power"]]
    return {
        "known": bounds.count(False),
        "bounds": bounds.count(True),
        "new bounds": sum(bounds[i] for i in answers.new),
        "slope": _slope(answers, hard, fixed["secondary"]),
        "pair": [known[name] for name in PAIR],
        "outcomes": {
            "primary": laws.primary(exact, fixed["primary"]["margin"]),
            "tertiary": laws.tertiary(exact, fixed["tertiary"]["margin"]),
        },
        "first kind": min(known[name] for name in laws.COMBINATORIAL),
        "rivals": min(known[name] for name in laws.RIVALS),
        "slower": _slower(answers),
        "log errors": sorted(map(log, errors)),
        "scatters": [min(scatters), max(scatters)],
    }


def _slower(answers: laws.Answers) -> dict[str, Any]:
    """Errors of the best laws at known medians, fitted without cells of less than twice the wait for a first step."""
    fitted = [cell for cell in answers.fitted if exp(cell.cost) >= 2 * settings.FLOOR]
    known = [cell for cell in answers.asked if not cell.censored]
    wrong = {name: laws.typical(laws.errors(laws.fit(name, fitted), known)) for name in laws.LAWS}
    return {
        "without": len(answers.fitted) - len(fitted),
        "examples": 2 * settings.FLOOR,
        "first kind": min(wrong[name] for name in laws.COMBINATORIAL),
        "rivals": min(wrong[name] for name in laws.RIVALS),
    }


def error_of_known(answers: laws.Answers, name: str) -> float:
    """The factor by which a law errs at the larger cells whose medians are known."""
    return laws.typical(answers.errors[name][[not cell.censored for cell in answers.asked]])


def _slope(answers: laws.Answers, hard: "pd.DataFrame", rule: Mapping[str, Any]) -> dict[str, Any]:
    """The slope of the second question over the cells that were tuned themselves, and what its rule makes of it."""
    own_settings = {cell.place for cell in law_cells(tuned_cells(hard))}
    cells = laws.of_wide(rule, [*answers.fitted, *answers.asked])
    tuned = [cell for cell in cells if cell.place in own_settings]
    slope = laws.common_slope(tuned)
    outcome = laws.secondary(slope, rule["excluded"])
    counts = {
        "cells": len(cells),
        "tuned": len(tuned),
        "s": rule["up to s"],
        "d/s": rule["d at least, times s"],
    }
    return {**counts, "value": list(slope), "outcome": outcome}
