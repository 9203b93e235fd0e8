"""The lattice attack on rounding: select, reduce, decode, unwrap and regress (theory 4.2-4.3, reduction.py)."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Recovery
from hardness.attacks.equations import Equations, on_equations, quiet
from hardness.attacks.finish import finish
from hardness.attacks.lattice_plan import SPARE, Forecast, drawn, forecast, streamed
from hardness.attacks.lattice_solve import ENOUGH, Rows, decode, grow, lookup, rows_of, select
from hardness.attacks.packed import CHUNK, Stream
from hardness.attacks.pruning import LEAST_CHANCE
from hardness.attacks.reduction import require_fpylll

Integers = NDArray[np.int64]

MOST_SECONDS = 900.0  # forecast; what takes longer is refused before anything is reduced
LOOKUP_DIM = 11  # below, so few inputs are distinct that regression cannot round (theory 4.2, last line)
HELD_OUT = 10_000  # rows of a stream for the test
AT_ONCE = 4  # coordinates that a pass through a stream gives back


@dataclass(frozen=True)
class Problem:
    """What trials work on: all rows, those of the regression, fresh ones for the test, and the forecast.

    Coordinates `kept` are searched; those of `order` were given up in this order and come back from rows that have
    them. `examples` were read.
    """

    rows: Rows
    known: Equations
    fresh: Equations
    cast: Forecast
    kept: Integers
    order: Integers
    examples: int


@on_equations
def lattice(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Recover the secret of a rounding instance from examples; `budget` bounds the trials.

    A trial draws fresh rows, reduces their orthogonal lattice and searches for the error with pruning. Spare
    rows buy dimensions: those that vanish on b coordinates, a share 2^-b of all, form a problem in n - b,
    whose answer then grows back one coordinate at a time. For n <= 11 the answer comes from look-up of the
    few inputs there are, which needs no fpylll; what is to be reduced raises `InputError` where that is missing.
    """
    n = equations.n
    held_out = min(len(equations) // 5, max(200, 40 * equations.q // equations.p))
    if equations.are_parities:
        return Recovery.refused("parity has no rounding error to decode; try gaussian")
    if len(equations) - held_out < n + 20:
        return Recovery.refused(f"{len(equations)} informative rows; more than {n + 20} are needed")
    known, fresh = equations.rows(slice(held_out, None)), equations.rows(slice(0, held_out))
    if n <= LOOKUP_DIM and equations.noise == 0:
        consistent = lookup(known)
        if len(consistent) and fresh.agreement(consistent[0]) == 1:
            detail = {"method": "look-up", "consistent_secrets": len(consistent)}
            return Recovery("solved", known.secret(consistent[0]), len(equations), detail=detail)
    rows, dot = rows_of(known), bool((known.a < 0).any())
    cast = forecast(n, len(rows.a), rows.sd / rows.q, dot)
    if cast.seconds > MOST_SECONDS:
        return Recovery.refused(f"out of reach: {cast}", **_predicted(cast))
    require_fpylll()
    problem = Problem(rows, known, fresh, cast, *select(rows, cast.rank), len(equations))
    return _trials(problem, budget, seed, progress)


def lattice_stream(stream: Stream, seed: int) -> Recovery:
    """The same attack where examples cost no more than the time they take: rows that vanish on many coordinates.

    One example in 2^(b + 1) vanishes on b coordinates, and leaves a problem in n - b; what was given up comes back one
    by one on rows that vanish on fewer.
    """
    known, n = stream.equations(0, ENOUGH + HELD_OUT), stream.n
    few, fresh = known.rows(slice(HELD_OUT, None)), known.rows(slice(0, HELD_OUT))
    rows = rows_of(few)
    cast = streamed(n, rows.sd / rows.q, stream.level > 0)
    if cast.seconds > MOST_SECONDS:
        return Recovery.refused(f"out of reach: {cast}", **_predicted(cast))
    require_fpylll()
    every, examples = _selected(stream, few, cast)
    kept, order = np.arange(cast.left), np.arange(n - 1, cast.left - 1, -1)
    return _trials(Problem(rows_of(every), few, fresh, cast, kept, order, examples), None, seed, quiet)


def _selected(stream: Stream, few: Equations, cast: Forecast) -> tuple[Equations, int]:
    """Rows of the classes that vanish on ever fewer of the last coordinates, after `few` rows of the last class, and
    the examples that were read."""
    parts, at = [few], 4 * (ENOUGH + HELD_OUT)
    for b in range(
        stream.n - cast.left, 0, -AT_ONCE
    ):  # a pass through the stream serves classes of growing size
        limit = drawn(b, cast.left, cast.rank)
        count = int(2.5**AT_ONCE * SPARE * (stream.n + cast.rank))
        parts.append(stream.equations(at, count, max(b - AT_ONCE, 0), limit))
        at += limit + CHUNK
    a, level = (np.concatenate([getattr(part, name) for part in parts]) for name in ("a", "level"))
    return replace(few, a=a, level=level), at


def _predicted(cast: Forecast) -> dict[str, Any]:
    return {"method": "orthogonal lattice", "forecast_seconds": round(cast.seconds, 1), "forecast": str(cast)}


def _trials(problem: Problem, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Trials until one succeeds; `budget` many, or five times as many as are expected."""
    rows, cast = problem.rows, problem.cast
    progress(f"plan: {cast}")
    core = rows.where(~rows.a[:, problem.order].any(axis=1)).columns(problem.kept)
    rng = np.random.default_rng(seed)
    detail = _predicted(cast) | {"selected_away": len(problem.order), "rows": len(core.a), "log2_nodes": 0.0}
    regressed = problem.known.rows(slice(0, ENOUGH))
    for trial in range(ceil(5 / max(cast.chance, LEAST_CHANCE)) if budget is None else budget):
        detail["trials"] = trial + 1
        w = decode(core, cast.rank, rng, detail)
        progress(f"trial {trial + 1}: {detail}")
        if w is None:
            continue
        guess = finish(regressed, problem.fresh, grow(rows, problem.kept, problem.order, w))
        if guess is not None:
            detail["agreement"] = problem.known.agreement(guess)
            return Recovery("solved", problem.known.secret(guess), problem.examples, detail=detail)
    return Recovery("budget", None, problem.examples, detail=detail)
