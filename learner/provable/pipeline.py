"""The pipeline that walks the six phases of Chen & Li, and a seventh of ours, and says what each of them saw."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.layer import MultiHeadAttention
from learner.base import Learner, Outcome, Phase, judge
from learner.direct import attempt, random_theta
from learner.provable import crude, net, refine, sculpt
from learner.provable.body import Body, body_hull

Array = NDArray[np.float64]
MODES = ("practical", "paper")
NET_LIMIT = 100_000


def canonical(X: Array, Y: Array) -> tuple[Array, Array, int]:
    """One example of each ±X, first entry +1, and how many were dropped.

    F(−X) = −F(X), so the sign is a convention; copies of one example would fill the list of best certificates
    and leave its constraints singular.
    """
    sign = X[:, :1, :1]
    X, Y = X * sign, Y * sign
    packed = np.packbits(X.reshape(len(X), -1) < 0, axis=1)
    _, first = np.unique(packed, axis=0, return_index=True)
    return X[first], Y[first], len(X) - len(first)


class _Refused(Exception):
    """A phase cannot go on, for the reason given."""


@dataclass
class _Walk:
    """The examples and what the phases have said so far."""

    X: Array
    Y: Array
    heads: int
    phases: list[Phase]

    def say(self, name: str, diagnostics: dict[str, Any], verdict: str = "ok", refusal: str = "") -> None:
        self.phases.append(Phase(name, "refused" if refusal else verdict, refusal, diagnostics))
        if refusal:
            raise _Refused(refusal)


class Provable(Learner):
    """The learner with the theorem: (dk)^O(m³) time on layers that meet `hardness.conditions` (STOC 2025).

    `mode="paper"` walks the literal phases (crude estimate, convex body, one-sparse rows, widths, ε-net where it
    has at most 100 000 guesses); `mode="practical"` replaces them by what measures better (debiased estimate, least
    squares, agreement rows, eigenvectors, multi-start). Phases 1-6 alone are approximate; `polish` adds phase 7,
    which is not the paper's, with the same search from a random start beside it. A phase whose assumption fails
    refuses: then no layer is learned and `report_.reason` says why. k·d must be at least 16, and k <= d.

    >>> rng = np.random.default_rng(0)
    >>> theta, w = rng.normal(size=(2, 2, 8, 8))
    >>> X = rng.choice([-1.0, 1.0], size=(4000, 2, 8))
    >>> zero_sum = MultiHeadAttention(theta / 6, np.stack([w[0], -w[0]]))
    >>> Provable(heads=2, random_state=0).fit(X, zero_sum(X)).report_.reason
    'the projection matrices sum to zero: phase 1 has nothing to start from'
    """

    minimum_width = 16

    def __init__(
        self,
        heads: int = 2,
        mode: str = "practical",
        rounds: int | None = None,
        polish: bool = True,
        control: bool = True,
        random_state: int | None = None,
    ) -> None:
        super().__init__(heads, random_state)
        self.mode = mode
        self.rounds = rounds
        self.polish = polish
        self.control = control

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> Outcome:
        if self.mode not in MODES:
            from hardness.errors import unknown

            raise unknown("mode", self.mode, MODES)
        # A tenth, never seen by a phase, gives each its own held-out error.
        held = max(1, min(len(X) // 10, 2000))
        test = X[:held], Y[:held]
        x, y, duplicates = canonical(X[held:], Y[held:])
        walk = _Walk(x, y, self.heads, [])
        try:
            guess = self._six_phases(walk, duplicates, rng)
        except _Refused as refusal:
            return Outcome(None, tuple(walk.phases), refused=str(refusal))
        layer = MultiHeadAttention(guess.theta, guess.w)
        error = judge(layer(test[0]), test[1])["relative_error"]
        walk.say(
            "net",
            {
                "relative_error": error,
                "residuals": list(guess.residuals[:6]),
                "agreeing": guess.agreeing,
                "guesses": guess.visited,
            },
        )
        if self.polish:
            layer = self._polish(walk, layer, test, rng)
        return Outcome(layer, tuple(walk.phases))

    def _six_phases(self, walk: _Walk, duplicates: int, rng: np.random.Generator) -> net.Net:
        paper = self.mode == "paper"
        X, Y, m = walk.X, walk.Y, self.heads
        _, k, d = X.shape
        first = crude.crude(X, Y)
        # The paper's estimate vanishes exactly where ΣW and ΣF do; the other's noise would hide that.
        refusal = first.refusal()
        better = first if paper or refusal else crude.estimate(X, Y)
        refusal = refusal or better.refusal()
        walk.say("crude", {**better.diagnostics(), "duplicates": duplicates}, refusal=refusal)

        w, best, last = better.w, None, np.inf
        for round_ in range(self.rounds or (2 if paper else 8 if m == 1 else 6)):
            found = sculpt.certify(X, Y, w)
            finite = found.finite / len(found.eta)
            if too_few := sculpt.refusal(found, None, m, d, k):
                walk.say(f"sculpt {round_ + 1}", {"finite": finite}, refusal=too_few)
            system = sculpt.constraints(X, found, sculpt.wanted(d, k))
            hull = sculpt.least_squares_hull(system, m, d)
            seen = sculpt.diagnostics(found, system, hull, m)
            refusal = sculpt.refusal(found, hull, m, d, k)
            if paper and not refusal:
                hull, body = self._body(system, hull, rng)
                seen |= body
            walk.say(f"sculpt {round_ + 1}", seen, hull.verdict(), refusal)
            tolerance = float(np.median(system.eta))
            if best is None or tolerance < best[0]:
                best = (tolerance, hull)
            if tolerance > 0.95 * last:
                break
            last = tolerance
            refined = (refine.sparse_rows if paper else refine.agreement_rows)(X, Y, hull)
            change = float(np.linalg.norm(refined.w - w) / np.linalg.norm(w))
            w = refined.w
            walk.say(
                f"refine {round_ + 1}",
                {
                    "rows": refined.rows,
                    "disagreement": refined.disagreement,
                    "residual": refined.residual,
                    "change": change,
                },
            )
        assert best is not None
        tolerance, hull = best
        certified = tolerance <= 0.1 and hull.verdict() != "failed"
        walk.say(
            "span",
            {
                "gap": hull.gap,
                "eta_median": tolerance,
                "certified": certified,
                "proxy_norm": float(np.linalg.norm(hull.theta)),
            },
            hull.verdict() if certified else "failed",
        )
        order = rng.permutation(len(X))[:1500]
        grid = net.points(m, NET_LIMIT) if paper and m > 1 else 0
        if grid:
            return net.explicit(X[order], Y[order], hull, m, grid)
        return net.multi_start(X[order], Y[order], hull, m, rng)

    def _body(self, system: sculpt.Constraints, hull: sculpt.Hull, rng: np.random.Generator) -> Any:
        try:
            return body_hull(Body.of(system), hull, self.heads, rng)
        except InputError as error:
            return hull, {"body": str(error)}

    def _polish(
        self, walk: _Walk, layer: MultiHeadAttention, test: tuple[Array, Array], rng: np.random.Generator
    ) -> MultiHeadAttention:
        """Phase 7, ours: local search on all entries, from phase 6 and, as a control, from a random start."""
        m, d = self.heads, walk.X.shape[2]
        rows = rng.permutation(len(walk.X))[: 8 * m * d]
        X, Y = walk.X[rows], walk.Y[rows]
        starts = {"polish": layer.theta}
        if self.control:
            starts["random-start control"] = random_theta(rng, m, d)
        polished = layer
        for name, theta in starts.items():
            end = attempt(X, Y, theta, heads=m, iterations=200)
            reached = MultiHeadAttention(end.theta, end.w)
            error = judge(reached(test[0]), test[1])["relative_error"]
            walk.say(
                name,
                {
                    "relative_error": error,
                    "residual": end.residual,
                    "evaluations": end.evaluations,
                },
                "ok" if error < 1e-6 else "failed",
            )
            if name == "polish" and error < judge(layer(test[0]), test[1])["relative_error"]:
                polished = reached
        return polished


def hull_error(hull: sculpt.Hull, theta: Array) -> float:
    """Largest |component of Θᵢ − Θ̂ off the hull| / |Θᵢ| of true Θ (m, d, d): for tests and studies, not learners."""
    off = (theta - hull.theta).reshape(len(theta), -1)
    D = hull.directions.reshape(len(hull.directions), -1)
    off = off - (off @ D.T) @ D
    return float((np.linalg.norm(off, axis=1) / np.linalg.norm(theta.reshape(len(theta), -1), axis=1)).max())
