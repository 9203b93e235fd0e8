"""How a trial ends: exactly one status, never an exception; and the one rule that makes a status of an exception."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hardness.engine.task import Task, canonical
from hardness.errors import InputError
from hardness.errors import TrialEnded as TrialEnded
from hardness.errors import one_line as one_line
from hardness.io.schemas import STATUSES as STATUSES
from hardness.io.texts import sanitize

# What a status says; all of `STATUSES` stand in `hardness.io.schemas`.
FINISHED = ("solved", "wrong", "budget", "stuck")  # the solver came to its end: the cost is one of it
CENSORED = ("budget", "timeout", "stuck")  # not solved yet: solving costs more than was spent
CRASHED = ("error", "killed")  # nothing was measured
UNREPEATABLE = {*CRASHED, "timeout"}  # it depends on the machine: another run may end otherwise
# pebble's ProcessExpired and dask's KilledWorker: the process is gone. Named, as either may not be installed.
GONE = ("ProcessExpired", "KilledWorker")


@dataclass(frozen=True)
class Outcome:
    """Hold how a trial ended: `status` is solved, wrong, budget, stuck, timeout, error, killed or refused.

    `cost` counts the queries or examples spent, solved or not; None means unknown. `detail` holds further values by
    name. Raises `InputError` for an unknown status, numbers that are not finite, and a `detail` that is not JSON.
    """

    status: str
    cost: float | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise InputError(f"a trial ends as one of {', '.join(STATUSES)}, got {sanitize(self.status, 60)}")
        canonical((self.cost, self.detail, self.seconds))


Trial = Callable[[Task, int, float], Outcome]


@dataclass(frozen=True)
class Row:
    """Hold a planned task and, if its trial was run, its outcome and what ran it (versions, processor; by name)."""

    task: Task
    outcome: Outcome | None = None
    provenance: Mapping[str, Any] | None = None

    @property
    def censored(self) -> bool:
        """Return whether a budget or time limit ended the trial, so that solving is only known to cost more."""
        return self.outcome is not None and self.outcome.status in CENSORED


@dataclass(frozen=True)
class Table:
    """Hold the rows of one study under one root seed.

    `about` names the study, the seed and the grid. `commands` are the command lines that made the rows. `commits` are
    the commits of the code that ran them, where the rows themselves do not state any.
    """

    about: Mapping[str, Any]
    commands: Sequence[str]
    rows: Sequence[Row]
    commits: Sequence[str] = ()

    def counts(self) -> dict[str, int]:
        """Return the number of trials by status, in a fixed order; a status in which no trial ended is absent."""
        counted = Counter(row.outcome.status for row in self.rows if row.outcome)
        return {status: counted[status] for status in STATUSES if counted[status]}

    @property
    def ended(self) -> str:
        """Return in words how many trials ended, by status, such as "3 of 4 trials ended (2 solved, 1 wrong)"."""
        counts = self.counts()
        by_status = ", ".join(f"{count} {status}" for status, count in counts.items()) or "none"
        return f"{sum(counts.values())} of {len(self.rows)} trials ended ({by_status})"


def outcome_of(error: BaseException, guard: float) -> Outcome:
    """Return the outcome of a trial that raised `error`; `guard` is its time limit in seconds, named in a timeout."""
    status, reason = "error", one_line(error)
    if isinstance(error, TrialEnded):
        try:
            return Outcome(error.status, detail={**error.detail, "reason": error.reason})
        except ValueError as bad:  # InputError, or an integer too long to be shown
            reason = f"{bad}; it ended as {sanitize(error.status, 60)}: {error.reason}"
    elif isinstance(error, TimeoutError):
        status, reason = "timeout", f"over {guard:g} s"
    elif isinstance(error, MemoryError):
        status, reason = "killed", "out of memory"
    elif type(error).__name__ in GONE:
        status, reason = "killed", "its worker died"
    return Outcome(status, detail={"reason": reason})


def run_trial(trial: Trial, task: Task, root: int, guard: float) -> Outcome:
    """Run a trial with a root seed and a time limit `guard` in seconds; whatever it raises becomes an outcome."""
    begin = time.perf_counter()
    try:
        outcome = trial(task, root, guard)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"a trial returns an Outcome, got {sanitize(type(outcome))}")
    except Exception as error:
        outcome = outcome_of(error, guard)
    return replace(outcome, seconds=outcome.seconds or time.perf_counter() - begin)
