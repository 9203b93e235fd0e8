"""The plans: cells, seeds, settings, rules and sentences, fixed before any of their rows; `plan*.toml` beside it."""

import hashlib
import tomllib
from collections import Counter
from collections.abc import Mapping
from math import comb, log
from pathlib import Path
from typing import Any

from hardness.engine.task import Task, canonical
from hardness.errors import InputError
from learner.studies.exponential_in_m import laws
from learner.studies.exponential_in_m.laws import Place
from learner.studies.exponential_in_m.settings import HARD, Cell

PLANS = {path.stem: path for path in sorted(Path(__file__).parent.glob("plan*.toml"))}  # by series


def digest(plan: Mapping[str, Any]) -> str:
    """SHA-256 of all that a plan says but its digest, in hex: the root seed of its trials."""
    return hashlib.sha256(canonical({key: plan[key] for key in plan if key != "digest"}).encode()).hexdigest()


def read(path: Path) -> dict[str, Any]:
    """The plan of a file; what it does not say is as in the first plan, whose digest stands in it under `as`.

    Raises `InputError` if it is none, or is not what its digest says that it was.
    """
    try:
        plan = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the plan {path}: {error}") from error
    first = read(PLANS["plan"]) if "as" in plan else {}
    tables = {key: {**first.get(key, {}), **own} for key, own in plan.items() if isinstance(own, dict)}
    plan = {**first, **plan, **tables}
    if plan.get("digest") != (found := digest(plan)) or first.get("digest") != plan.get("as"):
        raise InputError(
            f"{path} was changed after it was fixed: its digest is {found[:12]}, and it says "
            f"{str(plan.get('digest'))[:12]}; bring the plan back as it was"
        )
    return plan


def tasks(path: Path) -> list[Task]:
    """The trials of a plan, which must be one of this study; raises `InputError` for any other."""
    plan, own = read(path), {read(each)["digest"]: series for series, each in PLANS.items()}
    if plan["digest"] not in own:
        raise InputError(
            f"{path} is another plan ({plan['digest'][:12]}) than this study fixed "
            f"({', '.join(each[:12] for each in own)}); its rows would not be judged"
        )
    named, found = {"series": own[plan["digest"]], "plan": plan["digest"]}, []
    for family, d, s, rate, batch, l1, cap in plan["cells"]:
        params = {"rate": rate, "batch": batch, "l1": l1}
        solver = {"kind": "learner", "learner": "student", "params": params, **named}
        found += [Task(family, Cell(family, d, s).params, solver, {"samples": cap}, run) for run in range(plan["runs"])]
    return found


def places(plan: Mapping[str, Any]) -> tuple[list[Place], list[Place]]:
    """Where the laws are fitted, and what they predict: (s, d)."""
    found = [(s, d) for family, d, s, *_ in plan["cells"] if family == HARD]
    largest = plan["primary"]["fitted up to s"]
    return [place for place in found if place[0] <= largest], [place for place in found if place[0] > largest]


def judged(plan: Mapping[str, Any], fitted: list[laws.Cell], seen: list[laws.Cell]) -> tuple[Any, Any, Any]:
    """The three questions put to cells: what `laws.primary`, `secondary` and `tertiary` answer."""
    own = [cell for cell in (*fitted, *seen) if cell.place[0] <= plan["secondary"]["up to s"]]
    largest = max(cell.place[1] for cell in own)
    inner, outer = ([c for c in own if (c.place[1] == largest) == last] for last in (False, True))
    return (
        laws.primary(fitted, seen, plan["primary"]),
        laws.secondary(own, plan["secondary"]["correlation"]),
        laws.tertiary(inner, outer, plan["tertiary"]),
    )


def rho_of(truth: Mapping[str, Any], place: Place) -> float:
    """Rho at (s, d) by a law that the plan simulates: e^(g s), powers of s/3 with weights, or N^k; with d and odd s."""
    s, d = place
    powers = sum(weight * (s / 3) ** b for b, weight in truth.get("powers", ()))
    law = log(powers) if powers else truth.get("g", 0.0) * s + truth.get("k", 0.0) * log(comb(d - 1, s))
    return float(law + truth["odd"] * (s % 2) + truth["d"] * log(d / 14))


def power(plan: Mapping[str, Any], sets: int, seed: int = 0) -> list[dict[str, Any]]:
    """How often each outcome comes up on simulated data of the plan's cells, by truth and scatter of cells."""
    inside, asked = places(plan)
    found = []
    for truth in plan["truths"]:
        values = {place: rho_of(truth, place) for place in (*inside, *asked)}
        for scatter in plan["scatters"]:
            count: Counter[str] = Counter()
            for cells in laws.simulated(values, scatter, plan["primary"]["correlation"], sets, seed):
                first, second, third = judged(plan, cells[: len(inside)], cells[len(inside) :])
                count.update([f"primary {first.outcome}", f"secondary {second[0]}", f"tertiary {third[0]}"])
            names = [
                f"{name} {key}" for name in ("primary", "secondary", "tertiary") for key in plan[name]["sentences"]
            ]
            shares = {name: count[name] / sets for name in names}
            found.append({"truth": truth["name"], "scatter": scatter, **shares})
    return found
