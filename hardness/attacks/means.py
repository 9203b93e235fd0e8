"""Parities of biased products: means of labels times one product, or two, tell the hidden set (theory 2.9)."""

import numpy as np

from hardness.attacks import Progress, Recovery
from hardness.attacks.acceptance import accepts
from hardness.attacks.equations import Equations, on_equations
from hardness.attacks.gaussian import check_plan

SWAPS = 100  # of a coordinate in the set for one outside


@on_equations
def means(equations: Equations, budget: int | None, seed: int, progress: Progress) -> Recovery:
    """Find the hidden set of a parity from examples whose products x_1j x_2j of the two tokens are biased (theory 2.9).

    Means of the label times one centred product, or two, are larger inside the set than outside. The set that they
    suggest is improved by swaps of one coordinate for another, at most `budget` (100 if None), while its parity agrees
    with more labels. The status is `refused` where labels are no parities or rows are too few.
    """
    if not equations.are_parities:
        return Recovery.refused("labels are no parities: try lattice or bkw")
    held_out = check_plan(equations.flip, equations.n**4)[0]
    known, fresh = equations.rows(slice(held_out, None)), equations.rows(slice(0, held_out))
    if len(known) < held_out:
        return Recovery.refused(f"{len(equations)} informative rows, {2 * held_out} are needed")
    n, s = equations.n, equations.sparsity or 0
    v = (1 - 2 * (known.a & 1)).astype(np.float32)  # dot: entries -1, 0, 1
    y = (1 - 2 * known.level).astype(np.float32)
    complement = 2 * s > n  # the label times all products is the parity of the other coordinates
    if complement:
        y, s = y * v.prod(axis=1), n - s
    centred = v - v.mean(axis=0)
    pairs = np.triu((centred * y[:, None]).T @ centred, 1)
    large = (pairs >= np.sort(pairs, axis=None)[-max(s * (s - 1) // 2, 1)]).astype(np.float32)
    # Means of single coordinates, and how often a coordinate is in one of the largest means of pairs.
    for scores in (y @ centred, large.sum(axis=0) + large.sum(axis=1)):
        inside = np.argsort(-scores)[:s]
        for _ in range(SWAPS if budget is None else budget):
            rest = y * v[:, inside].prod(axis=1)
            outside = np.setdiff1d(np.arange(n), inside)
            gain = (v[:, inside] * rest[:, None]).T @ v[:, outside]
            if not gain.size or gain.max() <= rest.sum() + 0.5:
                break
            out, into = np.unravel_index(gain.argmax(), gain.shape)
            inside = np.append(np.delete(inside, out), outside[into])
        w = np.full(n, int(complement))
        w[inside] = 1 - complement
        if accepts(fresh, w):
            return Recovery("solved", equations.secret(w), len(equations))
    return Recovery("budget", None, len(equations))
