"""The pipeline that walks the six phases of Chen & Li, and a seventh of ours, and says what each of them saw."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, unknown
from hardness.layer import MultiHeadAttention
from learner.base import Learner, Outcome, Phase, judge
from learner.provable import crude, net, refine, sculpt
from learner.provable.body import Body, body_hull
from learner.provable.polish import polish
from learner.provable.sculpt import Hull

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


class _Walk:
    """The examples (canonical), what the learner was told, and what the phases have said so far."""

    def __init__(self, X: Array, Y: Array, heads: int, paper: bool, rng: np.random.Generator) -> None:
        self.X, self.Y, self.duplicates = canonical(X, Y)
        self.heads, self.paper, self.rng = heads, paper, rng
        self.phases: list[Phase] = []

    def say(self, name: str, diagnostics: dict[str, Any], verdict: str = "ok", refusal: str = "") -> None:
        self.phases.append(Phase(name, "refused" if refusal else verdict, refusal, diagnostics))
        if refusal:
            raise _Refused(refusal)

    def crude_sum(self) -> Array:
        """Phase 1: a crude ΣW. The paper's vanishes exactly where ΣW and ΣF do; the other's noise would hide that."""
        first = crude.crude(self.X, self.Y)
        better = first if self.paper or first.refusal() else crude.estimate(self.X, self.Y)
        refusal = first.refusal() or better.refusal()
        self.say("crude", {**better.diagnostics(), "duplicates": self.duplicates}, refusal=refusal)
        return better.w

    def rounds(self, w: Array, rounds: int) -> tuple[Hull, float]:
        """Phase 4: sculpt and refine in turn while tolerances fall; the best hull and its median tolerance."""
        best: tuple[Hull, float] | None = None
        last = np.inf
        for number in range(1, rounds + 1):
            hull, tolerance = self.carve(w, f"sculpt {number}")
            if best is None or tolerance < best[1]:
                best = hull, tolerance
            if tolerance > 0.95 * last:
                break
            last = tolerance
            w = self.renew(w, hull, f"refine {number}")
        assert best is not None
        return best

    def carve(self, w: Array, name: str) -> tuple[Hull, float]:
        """Phase 2: rows certified to show one pattern of all heads, and the affine hull that they leave to the Θᵢ."""
        m, (_, k, d) = self.heads, self.X.shape
        found = sculpt.certify(self.X, self.Y, w)
        if too_few := sculpt.refusal(found, None, m, d, k):
            self.say(name, {"finite": found.finite / len(found.eta)}, refusal=too_few)
        system = sculpt.constraints(self.X, found, sculpt.wanted(d, k))
        hull = sculpt.least_squares_hull(system, m, d)
        seen = sculpt.diagnostics(found, system, hull, m)
        refusal = sculpt.refusal(found, hull, m, d, k)
        if self.paper and not refusal:
            hull, body = self._body(system, hull)
            seen |= body
        self.say(name, seen, hull.verdict(), refusal)
        return hull, float(np.median(system.eta))

    def _body(self, system: sculpt.Constraints, hull: Hull) -> tuple[Hull, dict[str, Any]]:
        try:
            return body_hull(Body.of(system), hull, self.heads, self.rng)
        except InputError as error:
            return hull, {"body": str(error)}

    def renew(self, w: Array, hull: Hull, name: str) -> Array:
        """Phase 3: a better ΣW, from the rows on which the hull predicts that all heads agree."""
        refined = (refine.sparse_rows if self.paper else refine.agreement_rows)(self.X, self.Y, hull)
        change = float(np.linalg.norm(refined.w - w) / np.linalg.norm(w))
        self.say(name, {**refined.diagnostics(), "change": change})
        return refined.w

    def span(self, hull: Hull, tolerance: float) -> None:
        """Phase 5: the span of the Θᵢ, and whether it is certified."""
        certified = tolerance <= 0.1 and hull.verdict() != "failed"
        size = float(np.linalg.norm(hull.theta))
        seen = {"gap": hull.gap, "eta_median": tolerance, "certified": certified, "proxy_norm": size}
        self.say("span", seen, hull.verdict() if certified else "failed")

    def net(self, hull: Hull, test: tuple[Array, Array]) -> MultiHeadAttention:
        """Phase 6: the Θᵢ inside the hull, and W by least squares."""
        order = self.rng.permutation(len(self.X))[:1500]
        X, Y, m = self.X[order], self.Y[order], self.heads
        grid = net.points(m, NET_LIMIT) if self.paper and m > 1 else 0
        guess = net.explicit(X, Y, hull, m, grid) if grid else net.multi_start(X, Y, hull, m, self.rng)
        layer = MultiHeadAttention(guess.theta, guess.w)
        error = judge(layer(test[0]), test[1])["relative_error"]
        self.say("net", {"relative_error": error, **guess.diagnostics()})
        return layer


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
            raise unknown("mode", self.mode, MODES)
        # A tenth, never seen by a phase, gives each its own held-out error.
        held = max(1, min(len(X) // 10, 2000))
        test = X[:held], Y[:held]
        walk = _Walk(X[held:], Y[held:], self.heads, self.mode == "paper", rng)
        try:
            w = walk.crude_sum()
            hull, tolerance = walk.rounds(w, self.rounds or (2 if walk.paper else 8 if self.heads == 1 else 6))
            walk.span(hull, tolerance)
            layer = walk.net(hull, test)
        except _Refused as refusal:
            return Outcome(None, tuple(walk.phases), refused=str(refusal))
        if self.polish:
            layer, phases = polish(walk.X, walk.Y, layer, test, self.control, rng)
            walk.phases += phases
        return Outcome(layer, tuple(walk.phases))


def hull_error(hull: Hull, theta: Array) -> float:
    """Largest |component of Θᵢ − Θ̂ off the hull| / |Θᵢ| of true Θ (m, d, d): for tests and studies, not learners."""
    off = (theta - hull.theta).reshape(len(theta), -1)
    D = hull.directions.reshape(len(hull.directions), -1)
    off = off - (off @ D.T) @ D
    return float((np.linalg.norm(off, axis=1) / np.linalg.norm(theta.reshape(len(theta), -1), axis=1)).max())
