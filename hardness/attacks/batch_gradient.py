"""One linear equation from the exact mean gradient of a batch, at any batch size (theory 2.10, 4).

The lab makes gradients; `decode` is the attacker, who receives them, n, s and the batch size, and no example.
"""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Recovery
from hardness.attacks.acceptance import ended as judged
from hardness.attacks.equations import Equations, on_equations
from hardness.attacks.gaussian import solve2
from hardness.errors import InputError
from hardness.families.linear import Hidden
from hardness.instance import Instance

BATCH = 64
CHECKED = 40  # rows of an examples file that are in no batch
SPARE = 13  # batches beyond n: the rank is short with probability below 2^-13 (theory 4.1)
FLIPPED = "labels are flipped: the equations of batches hold for exact labels only"


def mean_gradient(rows: Equations) -> NDArray[np.float64]:
    """Return the gradient (n + 1,) at 0 of the mean of (θ_0 + ⟨θ, v⟩ - y)²/2, with a row's bits v and label y as ±1."""
    v = 1.0 - 2 * (rows.a & 1)
    y = 1.0 - 2 * rows.level
    return -np.append(y.mean(), y @ v / len(y))


def decode(gradients: NDArray[np.float64], batch: int, s: int) -> NDArray[np.int64] | None:
    """Return the hidden set of s bits as w (n,), 0 or 1, from mean gradients (K, n + 1) of K batches; None if unclear.

    A gradient is that of (θ_0 + ⟨θ, v⟩ - y)²/2 at θ = 0, averaged over `batch` = B rows: v (n,) are a row's bits, y its
    label, all ±1. So N_j = (B + B g_j)/2 counts the rows with y v_j = -1, N_0 those with y = -1. Modulo 2 the set S
    obeys Σ_{j∈S} N_j = (s + 1) N_0 and |S| = s, which is solved for S.
    """
    counts = np.rint(batch * (1 + gradients) / 2).astype(np.int64) & 1
    left = np.vstack((counts[:, 1:], np.ones((1, counts.shape[1] - 1), np.int64)))
    w = solve2(left, np.append(counts[:, 0] * (s + 1), s) & 1)
    return w if w is not None and w.sum() == s else None


def attack(
    instance: Instance, batch: int = BATCH, batches: int | None = None, seed: int = 0, noise: float = 0.0
) -> dict[str, Any]:
    """Attack a parity instance by mean gradients of batches of `batch` rows, until they tell the secret.

    Rows are examples whose two tokens differ in coordinate 0; the result's `examples` counts them. At most `batches`
    (None: n + 13) are made, all if Gaussian `noise` of this deviation is added. Without a parity raises `InputError`.
    """
    started, n, linear = perf_counter(), instance.family.dim - 1, instance.family.linear
    hidden = None if linear is None else linear.of(instance.public(seed))
    if hidden is None or hidden.q != 2 or hidden.sparsity is None:
        raise InputError(f"batch-gradient attacks hidden parities, not the family {instance.family.name}")
    ended: dict[str, Any] = {"status": "refused", "attack": "batch-gradient", "secret": None}
    if hidden.flip:
        return ended | {"batches": 0, "examples": 0, "reason": FLIPPED, "seconds": perf_counter() - started}
    sampling, disturbing = np.random.SeedSequence(seed).spawn(2)
    rng, rows = np.random.default_rng(disturbing), _batches(instance, hidden, batch, sampling)
    limit, gradients, w = n + SPARE if batches is None else batches, list[NDArray[np.float64]](), None
    while w is None and len(gradients) < limit:
        gradients.append(mean_gradient(next(rows)) + noise * rng.standard_normal(n + 1))
        # n - 1 batches and the size of the set are the fewest that can determine it; noise wants them all.
        if len(gradients) >= (limit if noise else min(n - 1, limit)):
            w = decode(np.array(gradients), batch, hidden.sparsity)
    if w is None:
        ended["status"] = "budget"
    else:
        right = np.array_equal(w, hidden.read(instance.secret, n))
        ended |= {"status": "solved" if right else "wrong", "secret": hidden.write(w)}
    ended |= {"batches": len(gradients), "examples": batch * len(gradients), "batch": batch}
    return ended | {"seconds": perf_counter() - started}


def _batches(
    instance: Instance, hidden: Hidden, batch: int, seed: np.random.SeedSequence
) -> Iterator[Equations]:
    """Yield batches of `batch` informative rows (whose tokens differ in coordinate 0), from the examples of `seed`."""
    sampling, count, start = int(seed.generate_state(1, np.uint64)[0]), min(4 * batch, 1 << 16), 0
    a, level = np.empty((0, instance.family.dim - 1), np.int8), np.empty(0, np.int64)
    while True:
        examples = instance.examples(count, sampling, start)
        rows = hidden.equations(examples.X, examples.Y)
        a, level, start = np.concatenate((a, rows.a)), np.concatenate((level, rows.level)), start + count
        while len(level) >= batch:
            yield hidden.rows(a[:batch], level[:batch])
            a, level = a[batch:], level[batch:]


@on_equations
def batch_gradient(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Find a hidden parity from exact mean gradients of a squared loss, each over a batch of 64 equations.

    The last 40 equations are held out as a check; `budget` is the largest number of batches.
    """
    if not equations.are_parities or equations.flip:
        return Recovery.refused(FLIPPED if equations.flip else "batch-gradient attacks hidden parities")
    count = max(0, (len(equations) - CHECKED) // BATCH)
    count = count if budget is None else min(count, budget)
    if count < equations.n - 1:
        return Recovery.refused(
            f"{count} batches of {BATCH} informative rows; {equations.n + SPARE} are wanted"
        )
    cuts = [equations.rows(slice(BATCH * i, BATCH * (i + 1))) for i in range(count)]
    w = decode(np.array([mean_gradient(rows) for rows in cuts]), BATCH, equations.sparsity or 0)
    detail = {"batches": count, "batch": BATCH, "checked": CHECKED}
    return judged(w, equations.rows(slice(-CHECKED, None)), BATCH * count + CHECKED, detail)
