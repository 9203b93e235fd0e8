"""`hardness learn --check`: the checks of a learner, one after the other, in the worker process that `learn` uses."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from hardness.errors import TrialEnded
from hardness.evaluation.adapters import make
from hardness.evaluation.conformance import BASIS, CHECKS, HEADS
from hardness.evaluation.solver import Solver
from hardness.evaluation.worker import FOREVER, Worker
from hardness.instance import Check


def check(
    learner: str,
    options: Mapping[str, Any] | None = None,
    heads: int | str | None = None,
    *,
    threads: int = 1,
    limit: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Check]:
    """What was tried of `learner` on small data, and what to do where it failed.

    It runs as in `learn`: in a worker process with `threads` threads, its `options` and `heads` set, ended after
    `limit` seconds; `progress` is told what is tried. A failed basis, a limit and a crash end it. Raises `InputError`
    only if the class cannot be loaded or has no such options.
    """
    solver = Solver("learner", learner, dict(options or {}), heads, heads_known=HEADS)
    if solver.options:
        make(solver, 0)  # a misspelt option is said before anything runs
    checks, name = list[Check](), "construct"
    deadline = time.monotonic() + (FOREVER if limit is None else limit)
    tell = progress or (lambda line: None)
    solver.thing  # noqa: B018  a name that stands for nothing is said here
    try:
        with Worker(
            Solver("learner", "hardness.evaluation.adapters:Constant"), 0, deadline, threads
        ) as worker:
            for name in CHECKS:
                tell(f"{name}: {len(checks)} of {len(CHECKS)} checks made")
                checks.append(Check(**worker.examine(solver, name)))
                if name in BASIS and not checks[-1].ok:
                    break
    except TimeoutError:
        checks.append(Check(name, False, f"over {limit:g} s; give --limit more, or the learner less to do"))
    except TrialEnded as error:
        checks.append(Check(name, False, error.reason))
    return checks
