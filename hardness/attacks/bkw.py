"""Integer BKW with a grid transform on rounding: coarse labels and short public vectors are what it likes (theory 4.3).

A public vector is a string of bits, so a difference of two rows cancels a coordinate at the price of one bit, not of
log2 q. Steps of differences cancel all but k coordinates; for those, a transform over the grid Z_g^k finds the angles
2π w_j/q at which the phases of the combined rows agree. What was cancelled comes back step by step.
"""

from collections.abc import Callable
from math import ceil, inf, log2
from typing import Any

import numpy as np

from hardness.attacks import Progress, Recovery
from hardness.attacks.bkw_plan import LOG2_ROWS_HELD, LOG2_ROWS_SEARCHED, bias_of, plan, streamed
from hardness.attacks.bkw_solve import FULL_TURN, KEPT, angles, back
from hardness.attacks.equations import Equations, on_equations, quiet, secret
from hardness.attacks.finish import finish
from hardness.attacks.packed import Packed, Stream, pack

KNOWN = 60_000  # rows that the finish regresses on, at most
TRIES = 3  # plans, each for a signal twice as strong
STREAMED = 70_000  # rows of a stream for the finish and the test, before those that are only packed
DRAWN = 2**18  # the examples that these are among


@on_equations
def bkw(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Recover the secret of a rounding instance from examples by differences of rows.

    `budget` bounds the rows held at a time (2^24 if None). `refused`, before the work and with its figure, where no
    plan fits that bound. Raises `InputError` where the examples are not a structured family's.
    """
    held_out = min(len(equations) // 5, max(200, 40 * equations.q // equations.p))
    known, fresh = equations.rows(slice(held_out, None)), equations.rows(slice(0, held_out))

    def rows(count: int, vanish: int) -> tuple[Packed, int]:
        return pack(known.rows(slice(0, count))), len(equations)

    return _attack(known, fresh, rows, len(known), budget, seed, progress)


def bkw_stream(stream: Stream, seed: int) -> Recovery:
    """The same attack on as many fresh examples as its plan wants: no file, no floating-point labels.

    Examples are free here but for the time they take, so rows may be chosen: those that vanish on some coordinates
    leave fewer to find, which come back last.
    """
    equations = stream.equations(0, STREAMED)
    held_out = len(equations) - KNOWN
    known, fresh = equations.rows(slice(held_out, None)), equations.rows(slice(0, held_out))
    return _attack(
        known, fresh, lambda count, vanish: stream.rows(DRAWN, count, vanish), inf, None, seed, quiet
    )


def _attack(
    known: Equations,
    fresh: Equations,
    rows: Callable[[int, int], tuple[Packed, int]],
    available: float,
    budget: int | None,
    seed: int,
    progress: Progress,
) -> Recovery:
    n, q, p = known.n, known.q, known.p
    most = LOG2_ROWS_HELD if budget is None else min(LOG2_ROWS_HELD, log2(max(budget, 1)))

    if known.parity:
        return Recovery.refused("parity has no rounding error to average out; try gaussian or search")
    if available < 2 * n + 64:
        return Recovery.refused(f"{available} informative rows; more than {2 * n + 64} are needed")
    level = int((known.a < 0).any())
    bias = bias_of(q, p, known.noise)
    margins = [
        streamed(n, bias, level, most, 2.0**i)
        if available == inf
        else plan(n, bias, level, min(log2(available), most), most, margin=2.0**i)
        for i in range(TRIES)
    ]
    if margins[0] is None:
        return Recovery.refused(_out_of_reach(n, bias, level, log2(available), most))
    rng, used, found = np.random.default_rng(seed), len(known) + len(fresh), None
    detail: dict[str, Any] = {}
    for (
        chosen
    ) in margins:  # labels may be wrong for want of heads, which nobody tells: then more rows are needed
        if chosen is None or found is not None:
            break
        progress(f"plan: {chosen}")
        detail = {
            "plan": str(chosen),
            "predicted_seconds": round(margins[0].seconds, 1),
            "steps": len(chosen.blocks),
        }
        detail |= {"log2_rows": round(max(chosen.rows), 1), "vanish": chosen.vanish}
        first, used = rows(int(2 ** chosen.rows[0]), chosen.vanish)
        found = angles(first, chosen, rng, progress)
        del first
        if found is not None and chosen.vanish and not back(rows(KEPT, 0)[0], bias, found, rng, progress):
            found = None
    if found is None:
        return Recovery("budget", None, used, detail=detail | {"reason": "no peak of the grid stood out"})
    detail |= {"scores": [round(x, 1) for x in found.scores], "shifts": found.shifts}
    few = known.rows(slice(0, min(KNOWN, max(5000, 2 * n * (q // p) ** 2))))
    for sign in (1, -1):
        w = finish(few, fresh, sign * (found.theta / FULL_TURN * q))
        if w is not None:
            detail["agreement"] = few.agreement(w)
            return Recovery("solved", secret(known, w), used, detail=detail)
    return Recovery(
        "budget", None, used, detail=detail | {"reason": "the estimate does not reproduce the labels"}
    )


def _out_of_reach(n: int, bias: float, level: int, available: float, most: float) -> str:
    """What it would take: more examples, or else more rows at a time than may be held."""
    for need in np.arange(ceil(2 * available) / 2, most + 0.5, 0.5) if available < most else ():
        if plan(n, bias, level, float(need), most) is not None:
            return f"out of reach: a plan needs 2^{need:.1f} informative rows, here are 2^{available:.1f}"
    wanted, figure = (
        plan(n, bias, level, LOG2_ROWS_SEARCHED, LOG2_ROWS_SEARCHED, 2**30),
        "no plan holds under 2^60 rows",
    )
    if wanted is not None:
        figure = f"the cheapest plan holds 2^{max(wanted.rows):.0f} rows"
    return f"out of reach: {figure} at a time, 2^{most:.0f} may be held"
