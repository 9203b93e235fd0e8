"""The plans: cells, seeds, settings, rules and sentences, fixed before any of their rows; `plan*.toml` beside it."""

import hashlib
import tomllib
from collections.abc import Mapping
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


def judged(plan: Mapping[str, Any], fitted: list[laws.Cell], seen: list[laws.Cell]) -> dict[str, Any]:
    """The three questions put to cells: `outcomes` and `sentences` by question, `slope`, `score`, what primary says."""
    own = [cell for cell in (*fitted, *seen) if cell.place[0] <= plan["secondary"]["up to s"]]
    largest = max(cell.place[1] for cell in own)
    inner, outer = ([c for c in own if (c.place[1] == largest) == last] for last in (False, True))
    first, found = laws.primary(fitted, seen, plan["primary"])
    second, slope = laws.secondary(own, plan["secondary"]["correlation"])
    third, score = laws.tertiary(inner, outer, plan["tertiary"])
    outcomes = {"primary": first, "secondary": second, "tertiary": third}
    sentences = {name: plan[name]["sentences"][outcome] for name, outcome in outcomes.items()}
    return found | {"outcomes": outcomes, "sentences": sentences, "slope": slope, "score": score}
