"""The phases by averages alone, as an oracle answers them: what tolerance do they need?

Every phase is an average over examples, some of them over the few rows that pass a test of x and y. The best rows
become those below a threshold, and what depends on X alone is computed on the learner's own draws of X. `ask(total,
bound)` answers the mean of a function within a tolerance, as `hardness.sq.averages.Averages` does.
"""

from collections.abc import Iterator

import numpy as np

from hardness.sq.averages import Ask, Estimate
from learner.base import Array
from learner.provable import heads as every_head
from learner.provable.refine import disagreement
from learner.provable.sculpt import Hull, certify, equations
from learner.varpro import anchored, attend

CLIP = 4.0  # standard deviations of a label beyond which it is cut
ETAS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)  # tolerances of rows that are tried as thresholds
LEAST_SHARE = 0.02  # of the rows: fewer are too few to pin d² unknowns in a population of 20,000 examples
LOGARITHM = 4.0  # of a ratio of weights, at most: weights below .02 are not used
FAR = 100.0  # entries of Θ beyond which noise has taken over
AGREEING = 0.1  # share of the rows, those that disagree least, that refine ΣW
ROUNDS, EVERY_HEAD_ROUNDS = 4, 40
OWN = 2000  # inputs that the learner draws itself


def phases(
    ask: Ask, own: Array, heads: int, size: float, tolerance: float, least_share: float
) -> Iterator[Estimate]:
    """Yield estimates of ΣWᵢ, then by turns of the affine hull of the Θᵢ and again of ΣWᵢ (phases 1 to 4).

    `ask` answers averages over examples within `tolerance`, `own` (n, k, d) are inputs that the learner drew, and
    `size` is the rms of labels. A hull needs at least the share `least_share` of rows on which all heads attend alike.
    """
    clip = CLIP * size
    w = crude(ask, clip, own.shape[1])
    yield Estimate("crude", sum_w=w)
    for _ in range(ROUNDS):
        hull = sculpt(ask, w, heads, tolerance, least_share)
        if hull is None:
            yield Estimate("sculpt")
            break
        yield Estimate("sculpt", hull=(hull.theta, hull.directions))
        w = refine(ask, hull, own, clip)
        yield Estimate("refine", sum_w=w)


def inputs(tokens: int, dim: int, rng: np.random.Generator) -> Array:
    """Draw uniform signs (2000, tokens, dim), on which the learner computes what does not depend on labels."""
    return rng.choice([-1.0, 1.0], size=(OWN, tokens, dim))


def crude(ask: Ask, clip: float, tokens: int) -> Array:
    """Return ΣWᵢ (d, d) from d² answers of `ask`, correlations of mean tokens and mean labels cut at ±`clip`."""

    def correlation(X: Array, Y: Array) -> Array:
        mean: Array = X.mean(axis=1).T @ _cut(Y, clip).mean(axis=1)
        return mean

    w: Array = tokens * ask(correlation, clip)
    return w


def sculpt(ask: Ask, w: Array, heads: int, tolerance: float, least_share: float) -> Hull | None:
    """Return the affine hull of the Θᵢ, from averages over rows that one pattern of all heads fits; None if too few do.

    `w` estimates ΣWᵢ, `ask` answers within `tolerance`, and a share of rows below `least_share` is too few. A row
    counts if the error of its pattern (`certify`) is below a threshold, which is chosen for the least sum of that error
    and the noise of answers: this grows as rows get fewer. About d⁴/2 queries are asked.
    """
    d = len(w)

    def shares(X: Array, Y: Array) -> Array:
        eta = certify(X, Y, w)[1]
        return np.array([(eta <= bound).sum() / X.shape[1] for bound in ETAS])

    share = np.maximum(ask(shares, 1.0), 0.0)
    errors = np.array(ETAS) + 2 * d * tolerance / np.maximum(share, 1e-12)
    errors[share < least_share] = np.inf
    best = int(np.argmin(errors))
    if share[best] <= max(2 * tolerance, least_share):
        return None
    upper = np.triu_indices(d * d)

    def normal(X: Array, Y: Array) -> Array:
        k = X.shape[1]
        p, eta = certify(X, Y, w)
        example, a = np.nonzero(eta.reshape(-1, k) <= ETAS[best])
        A, b = equations(X[example], a, p[example, a])
        b, count = _cut(b, LOGARITHM), k * (k - 1)
        sums: Array = np.concatenate([(A.T @ A)[upper] / 4, A.T @ b / (2 * LOGARITHM)])
        return np.asarray(sums / count, dtype=np.float64)

    answers = ask(normal, 1.0)
    G = np.zeros((d * d, d * d))
    G[upper] = 4 * answers[: len(upper[0])]
    G = G + np.triu(G, 1).T
    values, vectors = np.linalg.eigh(G)
    # Nothing pins the m − 1 weakest directions, the differences of the heads; the rest solves G t = r.
    free, pinned = vectors[:, : heads - 1], vectors[:, heads - 1 :]
    right = pinned.T @ (2 * LOGARITHM * answers[len(upper[0]) :])
    t = pinned @ (right / np.maximum(values[heads - 1 :], 1e-4 * values[-1]))
    spectrum = np.sqrt(np.maximum(values, 0))
    return Hull(t.reshape(d, d), free.T.reshape(-1, d, d), spectrum, len(spectrum), None, ETAS[best])


def refine(ask: Ask, hull: Hull, own: Array, clip: float) -> Array:
    """Return a refined estimate of ΣWᵢ (d, d), by 2d² queries: least squares where all Θ in `hull` attend most alike.

    That is a tenth of the rows, as measured on inputs `own` (n, k, d) of the learner; labels are cut at ±`clip`.
    """
    bound = np.quantile(disagreement(own, hull), AGREEING)

    def moments(X: Array, Y: Array) -> Array:
        chosen = disagreement(X, hull) <= bound
        Z = attend(X, hull.theta[None])[1][chosen]
        labels = _cut(Y, clip).reshape(-1, X.shape[2])[chosen] / clip
        products = Z.T @ np.hstack([Z, labels])
        return np.asarray(products / X.shape[1], dtype=np.float64)

    return _solved(ask(moments, 1.0), clip)


def every(ask: Ask, own: Array, heads: int, size: float, rng: np.random.Generator) -> Array:
    """Return Θ (m, d, d) after up to 40 steps of every head (phase 6b) by averages from `ask`, from a random start.

    A step asks at least (m² + 2m)d² averages; `own` are inputs that the learner drew, and `size` is the rms of labels.
    """
    theta = every_head.random_start(heads, own.shape[2], rng)
    for _ in range(EVERY_HEAD_ROUNDS):
        ahead = every_round(ask, own, theta, CLIP * size)
        if ahead is None or not np.abs(ahead).max() < FAR:
            break
        theta = ahead
    return theta


def every_round(ask: Ask, own: Array, theta: Array, clip: float) -> Array | None:
    """Return Θ (m, d, d) after one step of each head by averages that `ask` answers (phase 6b), or None.

    None means that heads look alike on `own`, the learner's own inputs (n, k, d). Labels are cut at ±`clip`.
    """
    m, (_, k, d) = len(theta), own.shape

    def moments(X: Array, Y: Array) -> Array:
        Z = anchored(X, attend(X, theta)[1])
        products: Array = Z.T @ np.hstack([Z, _cut(Y, clip).reshape(-1, d) / clip])
        return np.asarray(products / k, dtype=np.float64)

    W = _solved(ask(moments, 1.0), clip)
    w = W[: m * d].reshape(m, d, d)
    uniform = W[m * d :] if len(W) > m * d else np.zeros((d, d))
    blank = every_head.read(own, np.zeros_like(own), w, uniform, best=1.0)
    matrices = [A for A, _ in every_head.normal_equations(own, attend(own, theta)[0], blank)]
    if blank.usable < 0.5 or not all(0 < A.trace() < np.inf for A in matrices):
        return None
    scale = np.sqrt([A.trace() / len(A) / (len(own) * k) for A in matrices])[:, None, None]

    def slopes(X: Array, Y: Array) -> Array:
        read = every_head.read(X, _cut(Y, clip), w, uniform, best=1.0)
        rows = every_head.slopes(X, attend(X, theta)[0], read) / scale
        total = np.stack([X.reshape(-1, d).T @ _cut(row, CLIP) for row in rows])
        return np.asarray(total / k, dtype=np.float64)

    right = ask(slopes, CLIP) * scale * len(own) * k
    return every_head.stepped(theta, matrices, [slope.ravel() for slope in right])


def _solved(moments: Array, clip: float) -> Array:
    """Return least-squares W (r, d) from means (r, r + d) of φᵀφ and φᵀy/`clip`, φ the features and y the labels."""
    gram, cross = np.split(moments, [len(moments)], axis=1)
    return np.asarray(np.linalg.solve(gram + 1e-9 * np.eye(len(gram)), clip * cross), dtype=np.float64)


def _cut(values: Array, bound: float) -> Array:
    return np.asarray(np.clip(values, -bound, bound), dtype=np.float64)
