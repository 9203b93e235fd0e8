"""The lattice attack on rounding: select, reduce, decode, unwrap and regress (theory 4.2-4.3, reduction.py)."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Recovery
from hardness.attacks.equations import Equations, on_equations, quiet, secret
from hardness.attacks.finish import finish
from hardness.attacks.lattice_model import SPARE, Forecast, drawn, forecast, streamed
from hardness.attacks.packed import CHUNK, Stream
from hardness.gadgets import modular
from hardness.gadgets.modular import preimages

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_SECONDS = 900.0  # forecast; what takes longer is refused before anything is reduced
LOOKUP_DIM = 11  # below, so few inputs are distinct that regression cannot round (theory 4.2, last line)
BEAM = 400_000
MARGIN = 2.0
HELD_OUT = 10_000  # rows of a stream for the test
AT_ONCE = 4  # coordinates that a pass through a stream gives back
ENOUGH = 50_000  # rows in a regression: beyond, precision is not what is missing


@dataclass(frozen=True)
class Rows:
    """Public vectors a (N, n) with centres y (N,) of the residues each label leaves: a·w = y + error mod q.

    The error has standard deviation `sd`; beyond `reach` it is that of a label that is wrong.
    """

    a: NDArray[np.int8]
    y: Floats
    q: int
    sd: float
    reach: float = np.inf

    def where(self, keep: Any) -> "Rows":
        return replace(self, a=self.a[keep], y=self.y[keep])

    def columns(self, keep: Any) -> "Rows":
        return replace(self, a=self.a[:, keep])


@on_equations
def lattice(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Recover the secret of a rounding instance from examples; `budget` bounds the trials.

    A trial draws fresh rows, reduces their orthogonal lattice and searches for the error with pruning. Spare
    rows buy dimensions: those that vanish on b coordinates, a share 2^-b of all, form a problem in n - b,
    whose answer then grows back one coordinate at a time. For n <= 11 the answer comes from look-up of the
    few inputs there are.
    """
    n = equations.n
    held_out = min(len(equations) // 5, max(200, 40 * equations.q // equations.p))
    if equations.parity:
        return Recovery.refused("parity has no rounding error to decode; try gaussian")
    if len(equations) - held_out < n + 20:
        return Recovery.refused(f"{len(equations)} informative rows; more than {n + 20} are needed")
    known, fresh = equations.rows(slice(held_out, None)), equations.rows(slice(0, held_out))
    if n <= LOOKUP_DIM and equations.noise == 0:
        found = lookup(known)
        if len(found) and fresh.agreement(found[0]) == 1:
            detail = {"method": "look-up", "consistent_secrets": len(found)}
            return Recovery("solved", secret(equations, found[0]), len(equations), detail=detail)
    rows, dot = _rows(known), bool((known.a < 0).any())
    cast = forecast(n, len(rows.a), rows.sd / rows.q, dot)
    if cast.seconds > MOST_SECONDS:
        return Recovery.refused(f"out of reach: {cast}", **_predicted(cast))
    return _trials(rows, known, fresh, cast, *select(rows, cast.rank), len(equations), budget, seed, progress)


def lattice_stream(stream: Stream, seed: int) -> Recovery:
    """The same attack where examples cost no more than the time they take: rows that vanish on many coordinates.

    One example in 2^(b + 1) vanishes on b coordinates, and leaves a problem in n - b; what was given up comes back one
    by one on rows that vanish on fewer.
    """
    known, n = stream.equations(0, ENOUGH + HELD_OUT), stream.n
    few, fresh = known.rows(slice(HELD_OUT, None)), known.rows(slice(0, HELD_OUT))
    error = _rows(few)
    cast = streamed(n, error.sd / error.q, stream.level > 0)
    if cast.seconds > MOST_SECONDS:
        return Recovery.refused(f"out of reach: {cast}", **_predicted(cast))
    given_up = n - cast.left
    parts, at = [few], 4 * (ENOUGH + HELD_OUT)
    for b in range(given_up, 0, -AT_ONCE):  # a pass through the stream serves classes of growing size
        most = int(drawn(b, cast.left, cast.rank))
        vanish = max(b - AT_ONCE, 0)
        parts.append(stream.equations(at, int(2.5**AT_ONCE * SPARE * (n + cast.rank)), vanish, most))
        at += most + CHUNK
    every = replace(
        few,
        a=np.concatenate([part.a for part in parts]),
        level=np.concatenate([part.level for part in parts]),
    )
    kept, order = np.arange(cast.left), np.arange(n - 1, cast.left - 1, -1)
    return _trials(_rows(every), few, fresh, cast, kept, order, at, None, seed, quiet)


def _rows(equations: Equations) -> Rows:
    """The equations as rows with the law of their errors."""
    centre, width = preimages(equations.q, equations.p)
    sd = float(np.sqrt(((width[equations.level] ** 2 - 1) / 12).mean() + equations.noise**2))
    reach = (int(width.max()) - 1) / 2 + MARGIN + 4 * equations.noise
    return Rows(equations.a, centre[equations.level], equations.q, max(sd, 0.2), reach)


def _predicted(cast: Forecast) -> dict[str, Any]:
    return {"method": "orthogonal lattice", "forecast_seconds": round(cast.seconds, 1), "forecast": str(cast)}


def _trials(
    rows: Rows,
    known: Equations,
    fresh: Equations,
    cast: Forecast,
    kept: Integers,
    order: Integers,
    used: int,
    budget: int | None,
    seed: int,
    progress: Progress,
) -> Recovery:
    """Trials on the coordinates `kept` until one succeeds; those of `order` come back from rows that have them."""
    progress(f"plan: {cast}")
    core = rows.where(~rows.a[:, order].any(axis=1)).columns(kept)
    rng = np.random.default_rng(seed)
    detail = _predicted(cast) | {"selected_away": len(order), "rows": len(core.a), "log2_nodes": 0.0}
    few = known.rows(slice(0, ENOUGH))
    for trial in range(ceil(5 / max(cast.chance, 1e-4)) if budget is None else budget):
        detail["trials"] = trial + 1
        w = decode(core, cast.rank, rng, detail)
        progress(f"trial {trial + 1}: {detail}")
        if w is None:
            continue
        guess = finish(few, fresh, grow(rows, kept, order, w))
        if guess is not None:
            detail["agreement"] = known.agreement(guess)
            return Recovery("solved", secret(known, guess), used, detail=detail)
    return Recovery("budget", None, used, detail=detail)


def select(rows: Rows, rank: int) -> tuple[Integers, Integers]:
    """Coordinates to keep, and those to do without, in the order of giving them up.

    Greedily: the coordinate that vanishes on most of the rows left, as long as the rows that vanish on all
    given up so far are half as many again as a trial in this rank draws.
    """
    n = rows.a.shape[1]
    zero = rows.a == 0
    left = np.arange(n)
    given_up: list[int] = []
    alive = np.ones(len(zero), dtype=bool)
    while len(left) > 4:
        counts = zero[np.ix_(alive, left)].sum(axis=0)
        smaller = len(left) - 1
        if counts.max() < SPARE * (smaller + rank):
            break
        j = int(left[np.argmax(counts)])
        given_up.append(j)
        alive &= zero[:, j]
        left = left[left != j]
    return left, np.array(given_up, dtype=np.int64)


def decode(core: Rows, rank: int, rng: np.random.Generator, detail: dict[str, Any]) -> Floats | None:
    """One trial: w mod q (n,), a real estimate, from freshly drawn rows, or None; `detail` is told how it went.

    The basis B of the orthogonal lattice is reduced while that pays, then searched with pruning for the integers
    m = B(y - e)/q of the shortest error e; a search of more than 2^`MOST_NODES` nodes is not made.
    """
    from hardness.attacks.reduction import nearest_integers, orthogonal_basis

    n = core.a.shape[1]
    sample = core.where(rng.permutation(len(core.a))[: n + rank])
    try:
        B, rest = orthogonal_basis(sample.a)
    except ValueError:
        return None
    detail |= {"dimension": len(sample.a), "rank": len(B)}
    B, m = nearest_integers(B, sample.y, core.q, core.sd, detail)
    if m is None:
        return None
    k = np.rint(np.linalg.solve(np.vstack((B, rest)).astype(np.float64), np.append(-m, np.zeros(n))))
    w = np.linalg.lstsq(sample.a.astype(np.float64), sample.y + core.q * k, rcond=None)[0]
    return regress(core, w % core.q)


def regress(rows: Rows, w: Floats, rounds: int = 4) -> Floats:
    """Unwrap a·w = y + q k with k from the last estimate, solve by least squares, and again; at last only where
    the error is within reach.
    """
    a, y = rows.a[:ENOUGH].astype(np.float64), rows.y[:ENOUGH]
    inverse = np.linalg.pinv(a.T @ a)
    for turn in range(rounds):
        rest = (y - a @ w + rows.q / 2) % rows.q - rows.q / 2
        rest[np.abs(rest) > (rows.reach if turn else np.inf)] = 0
        w = w + inverse @ (a.T @ rest)
    return w


def grow(rows: Rows, kept: Integers, order: Integers, w: Floats) -> Floats:
    """Extend the estimate on `kept` to all coordinates, in reverse of the order in which they were given up.

    On rows that vanish on the coordinates still missing, a new one is the circular mean of what the known
    ones leave; each step doubles the rows of the regression.
    """
    active, estimate = kept, w
    for position in range(len(order) - 1, -1, -1):
        j = order[position]
        class_rows = rows.where(~rows.a[:, order[:position]].any(axis=1))
        hit = class_rows.where(class_rows.a[:, j] != 0)
        left = (hit.y - hit.a[:, active] @ estimate) * hit.a[:, j]
        angle = np.angle(np.exp(2j * np.pi * left / rows.q).sum())
        active, estimate = np.append(active, j), np.append(estimate, angle / (2 * np.pi) * rows.q)
        estimate = regress(class_rows.columns(active), estimate)
    full = np.empty(len(active))
    full[active] = estimate
    return full


def lookup(equations: Equations) -> Integers:
    """Secrets (C, n) that reproduce every label, built up a coordinate at a time; none if over `BEAM` fit a prefix.

    Rows supported on the first j coordinates filter the first j residues: with few coordinates all such rows
    occur.
    """
    q, p = equations.q, equations.p
    table, index = np.unique(equations.a, axis=0, return_index=True)
    level = equations.level[index]
    last = np.where(table.any(axis=1), table.shape[1] - np.argmax(table[:, ::-1] != 0, axis=1), 0)
    found = np.zeros((1, 0), dtype=np.int64)
    for j in range(1, equations.n + 1):
        found = np.column_stack((np.repeat(found, q, axis=0), np.tile(np.arange(q), len(found))))
        for row in np.flatnonzero(last == j):
            found = found[modular.level(found @ table[row, :j].astype(np.int64), q, p) == level[row]]
        if len(found) > BEAM:
            return found[:0]
    return found
