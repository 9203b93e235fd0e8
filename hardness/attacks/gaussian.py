"""Gaussian elimination: parity over GF(2), rounding where labels show residues, pooled for label noise."""

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Recovery
from hardness.attacks.acceptance import ended
from hardness.attacks.equations import Equations, on_equations
from hardness.gadgets.modular import preimages
from hardness.tokens import pack_bits, unpack_bits

CHECK_ROWS = 200
TRIES = 1_000_000
RETRIES = 20
HOPELESS = 4.0  # bits by which the tries expected may exceed those allowed
FULL_RANK = 0.5775761901732048  # prod_{i>=2} (1 - 2^-i): n + 1 random rows have rank n (theory 4.1)


def solve2(A: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.int64] | None:
    """Return the unique solution w (n,) of A w = b over GF(2), or None if there is none or more than one."""
    from hardness.kernels.gf2 import rref2

    n = A.shape[1]
    words = pack_bits(np.column_stack((A, b)) & 1)
    pivots = rref2(words, n + 1)
    if len(pivots) != n or (n and pivots[-1] != n - 1):
        return None
    return unpack_bits(words[:n], n + 1)[:, n].astype(np.int64)


def solve_mod(A: NDArray[np.integer], b: NDArray[np.integer], q: int) -> NDArray[np.int64] | None:
    """Return the unique solution w (n,) of A w = b mod q, or None; the solutions mod prime powers are joined (CRT)."""
    if q == 2:
        return solve2(A, b)
    from sympy import factorint

    from hardness.kernels.gf2 import rref_local

    n = A.shape[1]
    w, done = np.zeros(n, dtype=np.int64), 1
    for prime, power in factorint(q).items():
        modulus = prime**power
        system = np.column_stack((A, b)).astype(np.int64) % modulus
        pivots = rref_local(system, prime, modulus, n)
        if len(pivots) < n or system[n:, n].any():
            return None
        w = w + done * ((system[:n, n] - w) * pow(done, -1, modulus) % modulus)
        done *= modulus
    return w


@on_equations
def gaussian(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Find the secret of linear equations by Gaussian elimination; `budget` is the largest number of tries.

    Parity without flips takes one elimination; with a share η flipped, one on n + 1 random rows a try (pooled Gauss),
    which succeeds with probability .5776 (1-η)ⁿ. Rounding: elimination over Z/q on rows whose level has a single
    residue; `refused` if there are none. The answer is checked on rows that no elimination saw.
    """
    if equations.flip > 0:
        return _pooled(equations, TRIES if budget is None else budget, seed)
    residue, width = preimages(equations.q, equations.p)
    if equations.noise > 0 or not (width == 1).any():
        return Recovery.refused(
            "labels are noisy, or every level holds several residues, so no label is a linear equation; try lattice"
        )
    equations = equations.rows(width[equations.level] == 1)
    wanted = equations.n + 10
    held_out = min(CHECK_ROWS, (len(equations) - wanted) // 2)
    if held_out < 10:
        return Recovery.refused(
            f"{len(equations)} linear equations; {wanted + 20} are needed, some of them to check the answer"
        )
    solvable, fresh = equations.rows(slice(0, -held_out)), equations.rows(slice(-held_out, None))
    rng, w, tries = np.random.default_rng(seed), None, 0
    # More tries help only where heads are limited and a few labels wrong; exact labels need one or two.
    while w is None and tries < (RETRIES if budget is None else budget):
        rows = solvable.rows(rng.permutation(len(solvable))[:wanted] if tries else slice(0, wanted))
        tries += 1
        w = solve_mod(rows.a, residue[rows.level].astype(int), rows.q)
    detail = {"tries": tries, "equations": wanted, "checked": held_out}
    return ended(w, fresh, (wanted if tries == 1 else len(solvable)) + held_out, detail)


def check_plan(flip: float, candidates: float) -> tuple[int, float]:
    """Return how many rows to hold out to test noisy parities, and the largest share of them that may contradict one.

    By Hoeffding's bound, to refuse the right secret and to accept any of `candidates` wrong ones both have probability
    below e^-20. There are never fewer than the 200 rows of theory 4.1. `flip` is the probability that a label is wrong.

    >>> check_plan(0.05, 1e6)[0], check_plan(0.4, 1e6)[0]
    (262, 5292)
    """
    gap = 0.5 - flip
    near, far = np.sqrt(20.0), np.sqrt(20.0 + np.log(candidates))
    rows = max(CHECK_ROWS, int(np.ceil((near + far) ** 2 / (2 * gap**2))))
    return rows, flip + gap * float(near / (near + far))


def _pooled(equations: Equations, tries: int, seed: int) -> Recovery:
    """Solve parities with flipped labels by up to `tries` eliminations on n + 1 random rows; test on held-out rows."""
    from hardness.kernels.gf2 import pooled_gauss

    n = equations.n
    held_out, bar = check_plan(equations.flip, max(tries, 2))
    needed = held_out + 2 * (n + 1)
    if len(equations) < needed:
        return Recovery.refused(
            f"{len(equations)} informative rows; {needed} are needed, {held_out} of them to check"
        )
    log2_expected = float(-np.log2(FULL_RANK) - n * np.log2(1 - equations.flip))
    if tries > 0 and log2_expected > np.log2(tries) + HOPELESS:
        return Recovery.refused(f"out of reach: 2^{log2_expected:.1f} tries are expected, {tries} allowed")
    rows = pack_bits(np.column_stack((equations.a & 1, equations.level)))
    pool, check = rows[:-held_out], rows[-held_out:]
    state = np.random.default_rng(seed).integers(2**64, size=1, dtype=np.uint64)
    tries_made, solved, solution = pooled_gauss(pool, check, n, int(bar * held_out), tries, state)
    detail = {"tries": tries_made, "log2_expected_tries": round(log2_expected, 2)}
    detail |= {"pool": len(pool), "checked": held_out}
    if not solved:
        return Recovery("budget", None, len(rows), detail=detail)
    w = unpack_bits(solution, n).astype(np.int64)
    return Recovery("solved", equations.secret(w), len(rows), detail=detail)
