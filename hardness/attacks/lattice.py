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
SHOWN = ("rank", "block_size", "log2_nodes", "chance")  # of a trial, while it runs


# The rows of all trials, the coordinates that are searched, those given up in order, and the examples read
Rest = tuple[Equations, Integers, Integers, int]


@on_equations
def lattice(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Recover the secret of rounded inner products by lattice reduction; `budget` is the largest number of trials.

    A trial draws rows, reduces the lattice of integer vectors orthogonal to them, and finds the labels' rounding errors
    by a pruned search. Where rows are plenty, trials use only those that are 0 on b coordinates, a share 2^-b of all,
    and solve for n - b; the b others follow one at a time. The status is `refused` if no plan is within reach. Raises
    `InputError` where fpylll is missing.
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
    """Recover the secret of a `Stream` of rounded products by lattice reduction; `seed` is for random trials.

    Trials use rows that are 0 on the last b coordinates and solve for the n - b others; these b follow afterwards.
    """
    known, n = stream.equations(0, ENOUGH + HELD_OUT)[0], stream.n
    few, fresh = known.rows(slice(HELD_OUT, None)), known.rows(slice(0, HELD_OUT))

    def rest(cast: Forecast) -> Rest:
        """Return rows for the plan `cast`, the coordinates to search, those given up, and how many examples it read."""
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
    """Run lattice trials until one succeeds: at most `budget`, or if that is None five times as many as are expected.

    `rest(plan)` returns rows for the trials, the coordinates to search, those given up, and how many examples it read.
    Regression uses `known` rows, the test `fresh` ones; in all there are `available` rows (inf: a stream).
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
        figures = ", ".join(f"{name.replace('_', ' ')} {detail[name]}" for name in SHOWN if name in detail)
        progress(f"trial {trial + 1}: {figures}")
        guess = None if w is None else finish(regressed, fresh, grow(rows, kept, order, w))
        if guess is not None:
            return Recovery("solved", known.secret(guess), examples, detail=detail)
    return Recovery("budget", None, examples, detail=detail)


def deviation(rows: Equations) -> float:
    """Return the standard deviation of labels' errors (rounding and noise), in residues mod q and at least 0.2."""
    width = modular.preimages(rows.q, rows.p)[1][rows.level]
    return max(float(np.sqrt(((width**2 - 1) / 12).mean() + rows.noise**2)), 0.2)


def centres(rows: Equations) -> Floats:
    """Return for each row the middle of the residues mod q that round to its level, (N,)."""
    return modular.preimages(rows.q, rows.p)[0][rows.level]


def zero_on(rows: Equations, columns: Integers) -> Equations:
    """Return the rows whose public vectors are 0 in all of these columns."""
    return rows.rows(np.asarray(~rows.a[:, columns].any(axis=1)))


def select(rows: Equations, rank: int) -> tuple[Integers, Integers]:
    """Return the coordinates that trials search, and those given up, in order: trials use rows that are 0 on these.

    Given up next is the coordinate that is 0 in most of the remaining rows, while there remain 1.5 times the rows that
    a trial draws: one for each coordinate searched, and `rank` more.
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
    """Return an estimate (n,) of the secret mod q by one lattice trial on random rows of `core`, or None if it fails.

    `sd` is the deviation of labels' errors, `rank` that of the lattice to reduce; `detail` gets the trial's figures.
    """
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
    """Return the secret's estimate w (n,) by rounds of least squares on `rows`, of which the first keeps outliers."""
    width = int(modular.preimages(rows.q, rows.p)[1].max())
    reach = (width - 1) / 2 + MARGIN + 4 * rows.noise
    few = rows.rows(slice(0, ENOUGH))

    def pull(residual: Floats, at: Floats) -> Floats:
        return np.where(np.abs(residual) > reach, 0.0, residual)

    pulls = [lambda residual, at: residual, *(pull,) * (ROUNDS - 1)]
    return unwrap_and_regress(few.a.astype(np.float64), centres(few), rows.q, w, pulls)


def grow(rows: Equations, kept: Integers, order: Integers, w: Floats) -> Floats:
    """Return the secret's estimate (n,), given w on `kept` coordinates; the others are found in reverse `order`.

    A new coordinate is the circular mean of the residuals on rows where it is not 0 and those still missing are 0. Each
    step about doubles the rows that are regressed on.
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
    """Return an LLL-reduced basis (M, N) of {c in Z^N : cU = 0}, and rows (n, N) that complete it to a basis of Z^N.

    Raises `LinAlgError` if U (N, n) does not have full rank.
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
    """Yield (2, B), then (block size, basis) as BKZ reduces the lattice of B (M, N) with block sizes up to `top`."""
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
    """Return fplll's pruning strategy for every block size up to 40, made here as the wheel of fpylll ships none."""
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
    """Return an integer matrix of fpylll as an int64 array."""
    out = np.zeros((A.nrows, A.ncols), dtype=np.int64)
    A.to_matrix(out)
    return out


def triangular(B: Integers) -> Floats:
    """Return L (M, M) of B = L Q, lower triangular with a positive diagonal, for orthonormal rows Q: Gram-Schmidt."""
    R: Any = np.linalg.qr(B.T.astype(np.float64), mode="r")
    return np.asarray(R.T * np.sign(np.diag(R)))


def nearest_integers(
    B: Integers, y: Floats, sd: float, detail: dict[str, Any]
) -> tuple[Integers, Floats | None]:
    """Return a better reduced basis B' of the lattice of B (M, N), and integers m = B'(y - e) for the shortest error e.

    `B` is reduced while that lowers the expected work; a pruned search then looks for an e of standard deviation `sd`.
    m is None if it finds none or would take over 2^28.5 nodes. y (N,), sd are shares of q; `detail` gets figures.
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
