"""The plans: cells, seeds, settings, rules and sentences, fixed before any of their rows; the `.toml` beside it.

The first two asked at fixed dimension and of the dense student; their rows are kept, and what came of them. The third
asks along rays and of the learner `diagonal`; the panel puts other learners in its cells,
so does `panel28`, which came later, in a larger one, and `panel256` asks more of the widest.
"""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hardness.engine.task import Task, canonical
from hardness.errors import InputError
from learner.studies.exponential_in_m.arms import ARMS, OPTIONS, Problem

PLANS = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}  # by series
THIRD, PANELS = "plan3", ("panel", "panel28", "panel256")


def digest(plan: Mapping[str, Any]) -> str:
    """SHA-256 of all that a plan says but its digest, in hex: the root seed of its trials."""
    return hashlib.sha256(canonical({key: plan[key] for key in plan if key != "digest"}).encode()).hexdigest()


def read(path: Path) -> dict[str, Any]:
    """The plan of a file; what the second does not say is as in the first, whose digest stands in it under `as`.

    Raises `InputError` if it is none, or is not what its digest says that it was.
    """
    try:
        plan = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the plan {path}: {error}") from error
    first = read(PLANS["plan"]) if "as" in plan else {}
    tables = {key: {**first.get(key, {}), **table} for key, table in plan.items() if isinstance(table, dict)}
    plan = {**first, **plan, **tables}
    if plan.get("digest") != (now := digest(plan)) or first.get("digest") != plan.get("as"):
        raise InputError(
            f"{path} was changed after it was fixed: its digest is {now[:12]}, and it says "
            f"{str(plan.get('digest'))[:12]}; bring the plan back as it was"
        )
    return plan


def tasks(path: Path) -> list[Task]:
    """The trials of a plan, which must be one of this study; raises `InputError` for any other."""
    plan, fixed = read(path), {read(file)["digest"]: series for series, file in PLANS.items()}
    if plan["digest"] not in fixed:
        raise InputError(
            f"{path} is another plan ({plan['digest'][:12]}) than this study fixed "
            f"({', '.join(digest[:12] for digest in fixed)}); its rows would not be judged"
        )
    series = fixed[plan["digest"]]
    named = {"series": series, "plan": plan["digest"]}
    return list(_of_arms(plan, named) if series in (THIRD, *PANELS) else _of_the_student(plan, named))


def _of_the_student(plan: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[Task]:
    """Trials of the dense student: parities, and random layers on two tokens."""
    for family, d, s, rate, batch, l1, cap in plan["cells"]:
        tokens = {"tokens": 2} if family == "nondegenerate" else {}
        params = {"rate": rate, "batch": batch, "l1": l1}
        solver = {"kind": "learner", "learner": "student", "params": params, **named}
        for run in range(plan["runs"]):
            yield Task(family, {"dim": d, "heads": s, **tokens}, solver, {"samples": cap}, run)


def _of_arms(plan: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[Task]:
    """Trials of `diagonal`, on all that the plan puts it to."""
    for arm, d, s, rate, batch, l1, start, cap, runs in plan["cells"]:
        setting = dict(zip(OPTIONS, (rate, batch, l1, start), strict=True))
        yield from diagonal(Problem(arm, d, s), setting, cap, range(runs), named)


def diagonal(
    problem: Problem, setting: Mapping[str, Any], cap: int, runs: range, named: Mapping[str, Any]
) -> Iterator[Task]:
    """Runs of `diagonal` on a cell; `named` is added to what their solvers say."""
    arm = ARMS[problem.arm]
    params = {**setting, "heads": arm.width, **arm.options}
    solver = {"kind": "diagonal", "learner": "diagonal", "arm": problem.arm, "params": params}
    solver |= {**arm.solver, **named}
    for run in runs:
        yield Task(arm.family, problem.params, solver, {"samples": cap}, run)
