"""The lattice attack on rounding: select, reduce, decode, unwrap and regress (theory 4.2-4.3).

Rows U (N, n) are binary or ternary, so the q-ary lattice of theory 4.2 contains the columns of U, which are shorter
than the rounding error: decoding in their directions is hopeless and needless. Projecting them away leaves π(Z^N), the
dual of the orthogonal lattice Λ⊥ = {c ∈ Z^N : cU = 0} of rank M = N - n and volume det(UᵀU)^{1/2}, in which no q
appears. Λ⊥ has short integer bases, and each vector b of it says, for labels y = Uw - qk + e, that ⟨b, y⟩/q is
⟨b, e⟩/q away from an integer.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from math import ceil, exp, inf, lgamma, log, log2, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Recovery
from hardness.attacks.acceptance import finish, unwrap_and_regress
from hardness.attacks.equations import Equations, on_equations, quiet
from hardness.attacks.lattice_cost import (
    LEAST_CHANCE,
    MOST_NODES,
    SPARE,
    Forecast,
    delta,
    drawn,
    forecast,
    log2_reduction_nodes,
    pruning,
)
from hardness.attacks.streams import CHUNK, Stream
from hardness.errors import missing_extra
from hardness.gadgets import modular

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_SECONDS = 900.0  # forecast; what takes longer is refused before anything is reduced
HELD_OUT = 10_000  # rows of a stream for the test
AT_ONCE = 4  # coordinates that a pass through a stream gives back
MARGIN = 2.0  # residues beyond its level's by which an error may lie, before label noise
ENOUGH = 50_000  # rows in a regression
ROUNDS = 4  # of a regression; in the first every residual counts, for the estimate may be off
LADDER = (20, 30, 35, 40)  # block sizes
LOOPS = 4
PRUNED_FROM = 30
TOLD = ("rank", "block_size", "log2_nodes", "chance")  # of a trial, while it runs


# The rows of all trials, the coordinates that are searched, those given up in order, and the examples read
Rest = tuple[Equations, Integers, Integers, int]


@on_equations
def lattice(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Recover the secret of a rounding instance from examples; `budget` bounds the trials.

    A trial draws rows, reduces their orthogonal lattice and searches for the error with pruning. Spare rows buy
    dimensions: those that vanish on b coordinates, a share 2^-b of all, form a problem in n - b, whose answer grows
    back one coordinate at a time. Up to about 11 coordinates have too few distinct inputs for that. Raises `InputError`
    where fpylll is missing.
    """
    held_out = min(len(equations) // 5, max(200, 40 * equations.q // equations.p))
    if equations.are_parities:
        return Recovery.refused("parity has no rounding error to decode; try gaussian")
    if len(equations) - held_out < equations.n + 20:
        return Recovery.refused(f"{len(equations)} informative rows; more than {equations.n + 20} are needed")
    known, fresh = equations.rows(slice(held_out, None)), equations.rows(slice(0, held_out))

    def rest(cast: Forecast) -> Rest:
        return known, *select(known, cast.rank), len(equations)

    return _attack(known, fresh, len(known), rest, budget, seed, progress)


def lattice_stream(stream: Stream, seed: int) -> Recovery:
    """Recover the secret behind a stream of examples, which cost only the time of drawing them.

    One example in 2^(b + 1) vanishes on the last b coordinates, and leaves a problem in n - b.
    """
    known, n = stream.equations(0, ENOUGH + HELD_OUT)[0], stream.n
    few, fresh = known.rows(slice(HELD_OUT, None)), known.rows(slice(0, HELD_OUT))

    def rest(cast: Forecast) -> Rest:
        """Draw rows that vanish on ever fewer of the last coordinates."""
        parts, at = [few], 4 * (ENOUGH + HELD_OUT)
        for b in range(n - cast.left, 0, -AT_ONCE):  # a pass serves classes of growing size
            limit = drawn(b, cast.left, cast.rank)
            count = int(2.5**AT_ONCE * SPARE * (n + cast.rank))
            parts.append(stream.equations(at, count, max(b - AT_ONCE, 0), limit)[0])
            at += limit + CHUNK
        a, level = (np.concatenate([getattr(part, name) for part in parts]) for name in ("a", "level"))
        return replace(few, a=a, level=level), np.arange(cast.left), np.arange(n - 1, cast.left - 1, -1), at

    return _attack(few, fresh, inf, rest, None, seed, quiet)


def _attack(
    known: Equations,
    fresh: Equations,
    available: float,
    rest: Callable[[Forecast], Rest],
    budget: int | None,
    seed: int,
    progress: Progress,
) -> Recovery:
    """Make trials until one succeeds: at most `budget`, or five times as many as are expected.

    `known` rows, of this many available, are regressed on, `fresh` ones test the answer.
    """
    cast = forecast(known.n, available, deviation(known) / known.q, bool((known.a < 0).any()))
    detail: dict[str, Any] = {"forecast": str(cast), "forecast_seconds": round(cast.seconds, 1)}
    if cast.seconds > MOST_SECONDS:
        return Recovery.refused(f"out of reach: {cast}", **detail)
    require_fpylll()
    rows, kept, order, examples = rest(cast)
    progress(f"plan: {cast}")
    core, sd = zero_on(rows, order), deviation(rows)
    core = replace(core, a=core.a[:, kept])
    rng, regressed = np.random.default_rng(seed), known.rows(slice(0, ENOUGH))
    detail |= {"selected_away": len(order), "rows": len(core), "log2_nodes": 0.0}
    for trial in range(ceil(5 / max(cast.chance, LEAST_CHANCE)) if budget is None else budget):
        detail["trials"] = trial + 1
        w = decode(core, sd, cast.rank, rng, detail)
        told = ", ".join(f"{name.replace('_', ' ')} {detail[name]}" for name in TOLD if name in detail)
        progress(f"trial {trial + 1}: {told}")
        guess = None if w is None else finish(regressed, fresh, grow(rows, kept, order, w))
        if guess is not None:
            return Recovery("solved", known.secret(guess), examples, detail=detail)
    return Recovery("budget", None, examples, detail=detail)


def deviation(rows: Equations) -> float:
    """Return the standard deviation of labels' errors: variance (width² - 1)/12, plus that of label noise."""
    width = modular.preimages(rows.q, rows.p)[1][rows.level]
    return max(float(np.sqrt(((width**2 - 1) / 12).mean() + rows.noise**2)), 0.2)


def centres(rows: Equations) -> Floats:
    """Return the centres (N,) of the residues of the levels."""
    return modular.preimages(rows.q, rows.p)[0][rows.level]


def zero_on(rows: Equations, columns: Integers) -> Equations:
    """Return the rows that vanish on these coordinates."""
    return rows.rows(np.asarray(~rows.a[:, columns].any(axis=1)))


def select(rows: Equations, rank: int) -> tuple[Integers, Integers]:
    """Return coordinates to keep, and those to give up in order.

    Greedily: the coordinate that vanishes on most of the rows left, while rows that vanish on all given up are at
    least `SPARE` times as many as a trial in this rank draws.
    """
    zero = rows.a == 0
    left = np.arange(rows.a.shape[1])
    given_up: list[int] = []
    alive = np.ones(len(zero), dtype=bool)
    while len(left) > 4:
        counts = zero[np.ix_(alive, left)].sum(axis=0)
        if counts.max() < SPARE * (len(left) - 1 + rank):
            break
        j = int(left[np.argmax(counts)])
        given_up.append(j)
        alive &= zero[:, j]
        left = left[left != j]
    return left, np.array(given_up, dtype=np.int64)


def decode(
    core: Equations, sd: float, rank: int, rng: np.random.Generator, detail: dict[str, Any]
) -> Floats | None:
    """Return a real estimate of w mod q (n,) from one trial on freshly drawn rows, or None; figures go to `detail`."""
    sample = core.rows(rng.permutation(len(core))[: core.n + rank])
    try:
        B, rest = orthogonal_basis(sample.a)
    except np.linalg.LinAlgError:
        return None
    detail |= {"dimension": len(sample), "rank": len(B)}
    y = centres(sample)
    B, m = nearest_integers(B, y / core.q, sd / core.q, detail)
    if m is None:
        return None
    k = np.rint(np.linalg.solve(np.vstack((B, rest)).astype(np.float64), np.append(-m, np.zeros(core.n))))
    w = np.linalg.lstsq(sample.a.astype(np.float64), y + core.q * k, rcond=None)[0]
    return regress(core, w % core.q)


def regress(rows: Equations, w: Floats) -> Floats:
    """Return a better estimate (n,) by least squares; after the first round only errors within reach count."""
    width = int(modular.preimages(rows.q, rows.p)[1].max())
    reach = (width - 1) / 2 + MARGIN + 4 * rows.noise
    few = rows.rows(slice(0, ENOUGH))

    def pull(residual: Floats, at: Floats) -> Floats:
        return np.where(np.abs(residual) > reach, 0.0, residual)

    pulls = [lambda residual, at: residual, *(pull,) * (ROUNDS - 1)]
    return unwrap_and_regress(few.a.astype(np.float64), centres(few), rows.q, w, pulls)


def grow(rows: Equations, kept: Integers, order: Integers, w: Floats) -> Floats:
    """Return the estimate on all coordinates (n,) from that on `kept`, in reverse of the `order` of giving up.

    On rows that vanish on the coordinates still missing, a new one is the circular mean of the residuals of the known
    ones; each step doubles the rows of the regression.
    """
    active, estimate = kept, w
    for position in range(len(order) - 1, -1, -1):
        j, alive = order[position], zero_on(rows, order[:position])
        left = (centres(alive) - alive.a[:, active] @ estimate) * alive.a[:, j]
        angle = np.angle(np.exp(2j * np.pi * left[alive.a[:, j] != 0] / rows.q).sum())
        active, estimate = np.append(active, j), np.append(estimate, angle / (2 * np.pi) * rows.q)
        estimate = regress(replace(alive, a=alive.a[:, active]), estimate)
    return estimate[np.argsort(active)]


def orthogonal_basis(U: NDArray[np.integer]) -> tuple[Integers, Integers]:
    """Return an LLL-reduced basis B (M, N) of Λ⊥ = {c : cU = 0}, and rows (n, N) that make it unimodular.

    Raises `LinAlgError` if U (N, n) has not full rank.
    """
    from fpylll import LLL, IntegerMatrix

    N, n = U.shape
    # The weight keeps every vector outside Λ⊥ longer than a reduced basis of Λ⊥; the larger, the slower.
    for weight in (4 * N, 2**20 * N):
        basis = np.hstack((weight * U.astype(np.int64), np.eye(N, dtype=np.int64)))
        A = IntegerMatrix.from_matrix(basis.tolist())
        LLL.reduction(A)
        reduced = _array(A)
        if not reduced[: N - n, :n].any() and reduced[N - n :, :n].any(axis=1).all():
            return reduced[: N - n, n:], reduced[N - n :, n:]
    raise np.linalg.LinAlgError("the public vectors do not have full rank")


def require_fpylll() -> None:
    """Raise `InputError` where fpylll is not installed."""
    # Without cysignals the wheel of fpylll is there but its import fails.
    if find_spec("fpylll") is None or find_spec("cysignals") is None:
        raise missing_extra("fpylll", "lattice", "the lattice attack")


def ladder(B: Integers, top: int = LADDER[-1]) -> Iterator[tuple[int, Integers]]:
    """Yield block sizes and ever better reduced bases of the lattice of B (M, N)."""
    yield 2, B
    from fpylll import BKZ, IntegerMatrix

    A = IntegerMatrix.from_matrix(B.tolist())
    for beta in range(10, 20, 5):  # cheap, and the first work of a larger block size anyway
        BKZ.reduction(A, BKZ.Param(beta, flags=BKZ.AUTO_ABORT | BKZ.MAX_LOOPS, max_loops=LOOPS))
    for beta in LADDER:
        if beta <= min(top, len(B)):
            flags = BKZ.AUTO_ABORT | BKZ.MAX_LOOPS | BKZ.GH_BND
            BKZ.reduction(A, BKZ.Param(beta, strategies=_strategies(), flags=flags, max_loops=LOOPS))
            yield beta, _array(A)


@cache
def _strategies() -> list[Any]:
    """Return pruning for every block size of the ladder, made here: the wheel of fpylll ships none.

    Radius 5% above the Gaussian heuristic on the geometric-series profile, half of the solutions kept per tour.
    """
    from fpylll import Pruning
    from fpylll.fplll.bkz_param import Strategy

    out = [Strategy(beta) for beta in range(PRUNED_FROM)]
    for beta in range(PRUNED_FROM, LADDER[-1] + 1):
        slope = log(delta(max(beta, 41)))
        profile = [exp(2 * (beta - 1 - 2 * i) * slope) for i in range(beta)]
        heuristic = exp(2 / beta * (lgamma(beta / 2 + 1) - beta / 2 * log(pi)))
        bounds = Pruning.run(1.05 * heuristic, 2.0 ** (8 + beta / 10), [profile], 0.5, flags=Pruning.GRADIENT)
        out.append(Strategy(beta, [beta - 20] if beta >= 40 else [], [bounds]))
    return out


def _array(A: Any) -> Integers:
    """Return an integer matrix of fpylll as an array."""
    out = np.zeros((A.nrows, A.ncols), dtype=np.int64)
    A.to_matrix(out)
    return out


def triangular(B: Integers) -> Floats:
    """Return L (M, M), lower triangular with positive diagonal, with B = L Q for orthonormal rows Q: Gram-Schmidt."""
    R: Any = np.linalg.qr(B.T.astype(np.float64), mode="r")
    return np.asarray(R.T * np.sign(np.diag(R)))


def nearest_integers(
    B: Integers, y: Floats, sd: float, detail: dict[str, Any]
) -> tuple[Integers, Floats | None]:
    """Return a better reduced basis B' and the integers m = B'(y - e) of the shortest error e, of deviation `sd`.

    B (M, N) is reduced while that pays, then searched with pruning. m is None where the search finds nothing or has
    more than 2^`MOST_NODES` nodes. `detail` gets block size, nodes and chance of success; y and sd are shares of q.
    """
    from hardness.kernels.search import nearest

    price = inf
    for beta, basis in ladder(B):
        B, L, before = basis, triangular(basis), price
        search = pruning(np.log(np.diag(L)), sd, log2_reduction_nodes(beta, len(B)))
        price = search.log2_price
        # A larger block size must pay: an eighth cheaper per success, or the ladder ends here.
        if price > before + log2(0.875) and search.log2_nodes < MOST_NODES:
            break
    detail |= {
        "block_size": beta,
        "log2_nodes": round(search.log2_nodes, 1),
        "chance": round(search.chance, 3),
    }
    if search.log2_nodes > MOST_NODES:
        return B, None
    m, norm, _ = nearest(L, B @ y, search.bounds, int(2**MOST_NODES))
    return B, m if np.isfinite(norm) else None
