"""Levels of few residues: a polynomial of low degree vanishes on them, linear in products of bits (Arora, Ge 2011)."""

from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Progress, Recovery
from hardness.attacks.acceptance import accepts
from hardness.attacks.equations import Equations, on_equations
from hardness.attacks.gaussian import solve_mod
from hardness.gadgets.modular import preimages

Integers = NDArray[np.int64]

MOST_UNKNOWNS = 2500  # about half a minute of elimination
HELD_OUT = 200
ANCHORS = 4  # coordinates beside which others are looked at: one that is not 0 tells them


@on_equations
def linearization(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Find a rounding secret whose narrowest level holds few residues r: there Π (⟨w, u⟩ - r) = 0 mod q.

    As a function of bits u that is a sum of products of at most this many bits. Its coefficients solve linear
    equations, and its values at vectors of one and two ones tell w. `budget` bounds the unknowns; 2500. `refused` for
    labels with noise, ternary vectors, and where unknowns are more or rows fewer.
    """
    n, q = equations.n, equations.q
    centre, width = preimages(q, equations.p)
    narrow = int(np.where(width > 0, width, q).argmin())
    residues = np.rint(centre[narrow] - (width[narrow] - 1) / 2 + np.arange(width[narrow])).astype(np.int64)
    degree = min(len(residues), n)
    unknowns = sum(comb(n, k) for k in range(1, degree + 1))
    if equations.noise or (equations.a < 0).any() or unknowns > (budget or MOST_UNKNOWNS):
        return Recovery.refused(f"labels are noisy, vectors ternary, or {unknowns} unknowns too many")
    fresh, known = equations.rows(slice(0, HELD_OUT)), equations.rows(slice(HELD_OUT, None))
    rows = known.a[known.level == narrow].astype(np.int64)
    rows = rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])][: unknowns + 10]
    if len(rows) < unknowns + 10:
        return Recovery.refused(f"{len(rows)} rows of the narrowest level, {unknowns + 10} are needed")

    def polynomial(t: Integers) -> Integers:
        """Return Π (t - r) mod q over the residues r."""
        value = np.ones_like(t)
        for r in residues:
            value = value * (t - r) % q
        return value

    sets = [some for k in range(1, degree + 1) for some in combinations(range(n), k)]
    products = np.column_stack([rows[:, some].prod(axis=1) for some in sets])
    at_zero = int(polynomial(np.zeros(1, dtype=np.int64))[0])
    coefficients = solve_mod(products, np.full(len(rows), -at_zero), q)
    of = {} if coefficients is None else dict(zip(sets, coefficients.tolist(), strict=True))
    single = np.array([of.get((j,), 0) for j in range(n)])
    every, anchors = np.arange(q), range(min(n, ANCHORS) if of else 0)
    for anchor, first in product(anchors, range(q)):
        both = np.array([of.get((min(anchor, j), max(anchor, j)), 0) for j in range(n)])
        pair = at_zero + single + single[anchor] + both
        fits = polynomial(every) == (at_zero + single[:, None]) % q
        fits &= (polynomial(every + first) == pair[:, None] % q) | (np.arange(n) == anchor)[:, None]
        fits[anchor] &= every == first
        w = fits.argmax(axis=1)
        if fits.any(axis=1).all() and accepts(fresh, w):
            return Recovery("solved", equations.secret(w), len(equations), detail={"unknowns": unknowns})
    return Recovery("budget", None, len(equations), detail={"unknowns": unknowns})
