"""When a secret is believed: it explains rows that had no part in finding it, and no neighbour explains them better."""

from math import log

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.equations import Equations
from hardness.attacks.regression import wrapped
from hardness.families.linear import span
from hardness.gadgets import modular
from hardness.gadgets.modular import preimages

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

EDGE = 4  # as far from the last level change of the heads a row must lie to be trusted


def accepts(fresh: Equations, w: Integers, known: Equations | None = None) -> bool:
    """Does w (n,) pass on `fresh` rows, that had no part in finding it, and stand out among its neighbours on `known`?

    Labels without noise are right wherever the heads reach (theory 1.4), and the secret reproduces every one of them
    there: a near-miss of a rounding secret, which reproduces most, does not pass. Under noise the agreement must lie
    above halfway between the right secret's and a guess's, and no change of one coordinate by ±1 may fit better.
    """
    known = fresh if known is None else known
    if len(fresh) == 0:
        return False
    if fresh.noise == 0 and fresh.flip == 0:
        return _reproduces(fresh, w) and _reproduces(known, w)
    if fresh.agreement(w) < (expected_agreement(fresh) + 1 / fresh.p) / 2:
        return False
    # Mod 2 a wrong secret agrees with half of the labels however near it is: the bar is enough. For larger q least
    # squares led to w, and has one minimum: a better pair of moves would hold a better single one.
    return fresh.q == 2 or _best_of_single_moves(known, w)


def _reproduces(rows: Equations, w: Integers) -> bool:
    """Whether w gives the level of every row, or of every one that the heads reach, more than a quarter of all."""
    if rows.agreement(w) == 1:
        return True
    reached = trusted(rows, w)
    return 4 * int(reached.sum()) > len(rows) and rows.rows(reached).agreement(w) == 1


def trusted(equations: Equations, w: Floats | Integers) -> NDArray[np.bool_]:
    """Rows (N,) whose level the heads show right if w (n,) is about the secret, for they have heads enough (`span`)."""
    q = equations.q
    whole = modular.centred(np.rint(w).astype(np.int64) % q, q)
    ends = span(whole, q, equations.p, equations.heads, bool((equations.a < 0).any()))
    if ends is None:
        return np.ones(len(equations), dtype=bool)
    t = equations.a @ whole
    return np.asarray((t >= ends[0] + EDGE) & (t < ends[1] - EDGE))


def _best_of_single_moves(known: Equations, w: Integers) -> bool:
    """Whether every change of one coordinate by ±1 fits worse."""
    t = known.a.astype(np.int64) @ w
    misfit = _misfit(known, t)
    return all(_misfit(known, t + s * known.a[:, j]) > misfit for j in range(known.n) for s in (1, -1))


def _misfit(equations: Equations, t: Integers) -> float:
    """Mean squared distance of levels at ⟨w, a⟩ = t: under noise the share of wrong ones hardly changes near w."""
    q, p = equations.q, equations.p
    return float(np.mean(wrapped(t - preimages(q, p)[0][equations.level], q) ** 2))


def stands_out(equations: Equations, w: Integers) -> bool:
    """Whether w (n,) fits noisy rows better than any of q^n secrets fits labels that have nothing to do with it.

    One of them agrees with a share a > 1/p of R levels with probability at most e^{-R D}, D = a ln(a p) +
    (1-a) ln((1-a) p/(p-1)) (Chernoff), and any of q^n with at most q^n e^{-R D} (union bound): at most e^-20 here.

    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 2, (400, 20), dtype=np.int8)
    >>> noisy = Equations(a, (a[:, 0] + (rng.random(400) < 0.2)) % 2, 2, 2, flip=0.2)
    >>> [stands_out(noisy.rows(slice(0, rows)), np.eye(20, dtype=np.int64)[0]) for rows in (400, 100)]
    [True, False]
    """
    from scipy.special import rel_entr

    a, p = equations.agreement(w), equations.p
    surprise = 0.0 if a <= 1 / p else float(rel_entr(a, 1 / p) + rel_entr(1 - a, 1 - 1 / p))
    return len(equations) * surprise >= equations.n * log(equations.q) + 20


def expected_agreement(equations: Equations) -> float:
    """P(level shown = level of the right secret) under the public noise, over uniform residues."""
    if equations.noise == 0:
        return 1.0 - equations.flip
    from scipy.stats import norm

    q, p = equations.q, equations.p
    reach = int(6 * equations.noise) + q
    e = np.arange(-reach, reach + 1)
    weight = norm.cdf((e + 0.5) / equations.noise) - norm.cdf((e - 0.5) / equations.noise)
    r = np.arange(q)
    same = modular.level(r[:, None], q, p) == modular.level(r[:, None] + e, q, p)
    return float((same * weight).sum() / q)
