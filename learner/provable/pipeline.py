"""The learner with the theorem: the six phases of Chen & Li, and two of ours, one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardness.errors import InputError
from hardness.io.fields import whole
from hardness.layer import MultiHeadAttention
from hardness.scores import EXACT, relative_error
from hardness.sq.averages import Ask, Estimate
from learner.base import MOST_HELD, Array, Learner, Phase, SearchResult
from learner.provable import certificate, crude, diagnosis, net, queries, refine, sculpt
from learner.provable import heads as every_head
from learner.provable.polish import polish
from learner.provable.sculpt import Hull

LEAST_WIDTH = 16  # k·d: below, there are too few different inputs
AMPLE = 6  # heads a hull is given while their number is not known: too many only make phase 3 careful
TRUSTED = 0.1  # median tolerance up to which a hull is trusted
CERTIFIED = 0.1  # relative error on held-out examples up to which a layer is certified
# Residual of one head fewer over that of all: 1.0 to 1.1 with a head to spare, else from 2.6 on
FITS_AS_WELL = 1.5
SAMPLE = 50_000  # examples of the first phase, the net and the polish
RANDOM_STARTS = 3  # of phase 6b at most, while nothing is certified
GROWTH = 8  # examples of a stage over those of the stage before


Block = tuple[Array, Array]


def canonical(X: Array, Y: Array) -> Block:
    """Return examples X (n, k, d) and Y, of each pair ±X only one, that whose first entry is not negative.

    Every layer F has F(−X) = −F(X), so that −X, or a copy of X, tells nothing new.
    """
    sign = np.where(X[:, :1, :1] < 0, -1.0, 1.0)
    X, Y = X * sign, Y * sign
    rows = np.ascontiguousarray(X).reshape(len(X), -1)
    first = np.unique(rows.view(f"V{rows.strides[0]}"), return_index=True)[1]
    return X[np.sort(first)], Y[np.sort(first)]


class _Refused(Exception):
    """Says that a phase cannot go on, for the reason given."""


class _Walk:
    """Runs the phases on examples X and Y (n, k, d) for `given` heads (None: unknown); layers are judged on `test`.

    `phases` is what they have said so far, `number` the heads that the last hull was estimated for.
    """

    def __init__(self, X: Array, Y: Array, test: Block, given: int | None, rng: np.random.Generator) -> None:
        self.X, self.Y, self.test, self.given, self.rng = X, Y, test, given, rng
        self.sample = X[:SAMPLE], Y[:SAMPLE]
        self.number = given or AMPLE
        self.phases: list[Phase] = []
        self.hulls: list[Hull] = []
        self.sum_seen: dict[str, float] = {}

    def say(self, name: str, numbers: dict[str, Any], verdict: str = "ok", reason: str = "") -> None:
        """Record a phase of the learner: its name, numbers, verdict, reason. Verdict "refused" raises `_Refused`."""
        self.phases.append(Phase(name, verdict, reason, numbers))
        if verdict == "refused":
            raise _Refused(reason)

    def six(self) -> MultiHeadAttention:
        """Return the layer that the theorem's algorithm, phases 1 to 6, finds. Raises `_Refused` if a phase refuses."""
        hull = self.rounds(self.crude_sum())
        self.span(hull)
        return self.net(hull)

    def crude_sum(self) -> Array:
        """Return a first estimate of ΣWᵢ (phase 1). Raises `_Refused` if that sum is 0 or has rank one."""
        X, Y = self.sample
        w = crude.crude(X, Y)
        refusal = crude.refusal(w, Y)
        if not refusal:
            w = crude.estimate(X, Y)
            refusal = crude.refusal(w, Y)
        self.sum_seen = crude.conditions(w, Y)
        self.say("crude", self.sum_seen, "refused" if refusal else "ok", refusal)
        return w

    def rounds(self, w: Array) -> Hull:
        """Return the affine hull of the Θᵢ, estimated by turns with ΣWᵢ from a first w ≈ ΣWᵢ on (phases 2 to 4)."""
        plan = self.plan((8 if self.given == 1 else 6) + (0 if self.given else 4))
        for number, examples in enumerate(plan):
            # ΣW no longer moves on this many examples: the rest of this stage would carve the same hull again.
            if self.stalled and examples == plan[number - 1]:
                continue
            hull = self.carve(w, examples)
            if hull is None:
                break
            self.hulls.append(hull)
            if self.stalled and examples == plan[-1]:
                break
            if number + 1 < len(plan):
                w = self.renew(w, examples, hull)
        self.w, self.number = w, self.hulls[-1].heads
        return min((h for h in self.hulls if h.heads == self.number), key=lambda h: h.tolerance)

    def plan(self, rounds: int) -> list[int]:
        """Return how many examples each estimate of the Θᵢ's hull uses: `rounds` times the least, then ever more."""
        n, k, d = self.X.shape
        smallest = max(20_000, 30 * sculpt.wanted(d, k) // k)
        sizes = [n]
        while sizes[0] >= 2 * smallest:
            sizes.insert(0, max(smallest, sizes[0] // GROWTH))
        return sizes[:1] * rounds + [size for size in sizes[1:] for _ in range(min(rounds, 2))]

    @property
    def stalled(self) -> bool:
        """Return whether the last estimate of the Θᵢ's hull errs about as the one before: more examples are needed."""
        if len(self.hulls) < 2 or (not self.given and len(self.hulls) <= 4):
            return False
        return self.hulls[-1].tolerance > 0.95 * self.hulls[-2].tolerance

    @property
    def contracts(self) -> bool:
        """Return whether there seems to be one head: estimates of Θ for one head came to err under .3 of the first."""
        alone = [hull.tolerance for hull in self.hulls if hull.heads == 1]
        return len(alone) > 1 and min(alone[1:]) < 0.3 * alone[0]

    def heads(self) -> int:
        """Return the number of heads to assume next: the given one, else 1, then 6, then what the last hull shows."""
        if self.given:
            return self.given
        if len(self.hulls) < 2 or self.contracts:
            return 1
        return AMPLE if len(self.hulls) < 4 else max(2, self.hulls[-1].heads_seen)

    def carve(self, w: Array, examples: int) -> Hull | None:
        """Return the affine hull of the Θᵢ (phase 2) from the first `examples`, given an estimate w of ΣWᵢ, or None.

        It is fitted to rows of Y that one attention pattern of all heads explains. None means that they do not
        determine it; for the first hull `_Refused` is raised instead.
        """
        _, k, d = self.X.shape
        count = sculpt.KEPT * sculpt.wanted(d, k)
        certificates = sculpt.gather(self.X[:examples], self.Y[:examples], w, count)
        seen: dict[str, Any] = {"finite": certificates.finite / certificates.rows}
        hull, reason = None, sculpt.too_few(certificates)
        if not reason:
            hull = sculpt.hull_of(certificates, self.heads())
            reason = sculpt.unpinned(hull)
            spectrum = hull.spectrum[: hull.heads + 2].tolist()
            seen |= {"eta_median": hull.tolerance, "spectrum": spectrum, "rank": hull.rank, "gap": hull.gap}
        verdict = "ok"
        if reason:
            verdict, reason = ("failed", reason) if self.hulls else ("refused", self.cancelling(w) or reason)
        elif hull:
            verdict = hull.verdict()
        self.say(f"sculpt {len(self.hulls) + 1}", seen, verdict, reason)
        return None if reason else hull

    def renew(self, w: Array, examples: int, hull: Hull) -> Array:
        """Return a better w ≈ ΣWᵢ (phase 3) from rows of the first `examples` on which all Θ in `hull` attend alike."""
        better = refine.agreement_rows(self.X[:examples], self.Y[:examples], hull)
        change = float(np.linalg.norm(better - w) / np.linalg.norm(w))
        self.say(f"refine {len(self.hulls)}", {"change": change})
        return better

    def cancelling(self, w: Array) -> str:
        """Return a sentence that blames a failure on nearly cancelling Wᵢ if w ≈ ΣWᵢ is small for the labels, or ""."""
        size = crude.size_of(w, self.sample[1])
        if size >= crude.SMALL:
            return ""
        return (
            f"the projection matrices nearly cancel: their sum is {size:.2g} of what the labels suggest of independent "
            "ones, and phases 1 to 4, which see the layer through that sum alone, certify too little"
        )

    def span(self, hull: Hull) -> None:
        """Record if the Θᵢ's estimated hull can be trusted (phase 5). Raises `_Refused` if a small ΣWᵢ spoils it."""
        seen = 1 if hull.heads == 1 and self.contracts else hull.heads_seen
        odd = ""
        if self.given and seen != self.given:
            odd = f"the spectrum looks like that of {seen} head{'s' * (seen > 1)}, {self.given} were given"
        elif hull.heads == 1 and not self.contracts:
            odd = "the tolerances do not fall as those of one head do"
        trusted = hull.tolerance <= TRUSTED and hull.verdict() != "failed" and not odd
        numbers = {"gap": hull.gap, "eta_median": hull.tolerance, "heads": hull.heads, "heads_seen": seen}
        cause = "" if trusted else self.cancelling(self.w)
        verdict = "refused" if cause else hull.verdict() if trusted else "failed"
        self.say("span", numbers, verdict, cause or odd)

    def net(self, hull: Hull) -> MultiHeadAttention:
        """Return the best layer with every Θᵢ in `hull` (phase 6), and record its error on held-out examples."""
        order = self.rng.permutation(len(self.sample[0]))[:1500]
        X, Y, m = self.sample[0][order], self.sample[1][order], hull.heads
        layer, residuals = net.multi_start(X, Y, hull, m, self.rng)
        error = self.error(layer)
        verdict, reason = "ok", ""
        if error > CERTIFIED:
            verdict = "failed"
            reason = f"relative error {error:.2g} on held-out examples, certified is at most {CERTIFIED}"
        elif m > 1:
            # A generator of its own: whether this is asked must not change what the polish draws after it.
            _, of_fewer = net.multi_start(X, Y, hull, m - 1, self.rng.spawn(1)[0])
            if of_fewer[0] <= FITS_AS_WELL * residuals[0]:
                verdict = "weak"
                reason = f"{m - 1} of the {m} heads fit as well, so that their number is not certified"
        self.say("net", {"relative_error": error, "residuals": residuals}, verdict, reason)
        return layer

    def every_head(self, start: MultiHeadAttention | None, rounds: int) -> MultiHeadAttention | None:
        """Return the best of `start`, the layer found so far, and what phase 6b reaches from it and from random Θ.

        Phase 6b moves each head by itself, for at most `rounds` rounds. Random starts go on, up to 3, while all errors
        on held-out examples are above .1. While the number of heads is not known, smaller ones are tried first.
        """
        rng = self.rng.spawn(1)[0]
        _, tokens, dim = self.X.shape
        tries: list[tuple[int, Array | None]] = []
        if not self.given:
            tries += [(m, None) for m in range(1, self.number)]
        if start is not None:
            tries.append((self.number, start.theta))
        best, least, drawn, reason = start, self.error(start), False, ""
        seen: dict[str, Any] = {}
        for m, theta in [*tries, *[(self.number, None)] * RANDOM_STARTS]:
            if theta is None and m == self.number and drawn and least <= CERTIFIED:
                break
            if reason := every_head.impossible(m, tokens, dim):
                continue
            X, Y = (part[: every_head.rows_wanted(m, tokens, dim)] for part in self.sample)
            first = every_head.random_start(m, dim, rng) if theta is None else theta
            layer = every_head.run(X, Y, first, rounds)
            drawn = drawn or theta is None
            error = self.error(layer)
            if error < least:
                best, least = layer, error
            seen = {"examples": len(X), "relative_error": least}
            if error < EXACT.threshold:
                break
        self.say(
            "every head", seen, "ok" if seen and least <= CERTIFIED else "failed", "" if seen else reason
        )
        return best

    def error(self, layer: MultiHeadAttention | None) -> float:
        """Return the relative error of a layer on held-out examples, infinite where there is none."""
        return np.inf if layer is None else relative_error(layer(self.test[0]), self.test[1])


@dataclass(eq=False, repr=False)
class Provable(Learner):
    """The learner with the theorem: layers that meet `hardness.gadgets.conditions`, from 2,000 examples.

    Its time is (dk)^O(m³) (Chen and Li, STOC 2025).

    The phases are those of the paper, with what measures better in place of its convex body and its net. `heads="auto"`
    reads the number of heads off the singular values of the constraints on Θ. Phase 6b, which is not the paper's, reads
    the patterns of every head off every row (`learner.provable.heads`), in at most `rounds` rounds from each start, and
    not at all if that is 0. `polish` adds phase 7, local search, and compares a search from a random start. A
    phase whose assumption fails refuses; then phase 6b and the local search have only their random starts. What
    `report_` says is explained at `learner.base.FitReport`. k·d must be at least 16, and k <= d.
    """

    ranges = (("rounds", 0),)

    heads: int | str = 2
    polish: bool = True
    rounds: int = every_head.ROUNDS

    def check_options(self) -> None:
        """Raise `InputError` for an option out of its range."""
        super().check_options()
        if self.heads != "auto":
            whole("heads", self.heads, 1)

    def by_averages(
        self,
        ask: Ask,
        tokens: int,
        dim: int,
        size: float,
        tolerance: float,
        least_share: float = queries.LEAST_SHARE,
    ) -> Iterator[Estimate]:
        """Yield estimates of ΣWᵢ and of the affine hull of the Θᵢ from averages over examples alone (phases 1 to 4).

        The oracle `ask` answers averages within `tolerance`; `size` is the rms of labels. A hull needs a share
        `least_share` of rows on which all heads attend alike. Raises `InputError` unless `heads` is a number.
        """
        whole("heads", self.heads, 1)
        drawn = queries.inputs(tokens, dim, np.random.default_rng(self.random_state))
        yield from queries.phases(ask, drawn, int(self.heads), size, tolerance, least_share)

    def heads_by_averages(self, ask: Ask, tokens: int, dim: int, size: float) -> Iterator[Estimate]:
        """Yield one estimate, of all heads' Θ, from averages alone (phase 6b); `ask` and `size` as in `by_averages`."""
        whole("heads", self.heads, 1)
        rng = np.random.default_rng(self.random_state)
        drawn = queries.inputs(tokens, dim, rng)
        yield Estimate("every head", theta=queries.every(ask, drawn, int(self.heads), size, rng))

    def _check_sizes(self, n: int, k: int, d: int) -> None:
        super()._check_sizes(n, k, d)
        if k * d < LEAST_WIDTH or k > d:
            raise InputError(
                f"tokens x features must be at least {LEAST_WIDTH}, and tokens must not exceed features, got {k} x {d}"
            )

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        # A tenth, never seen by a phase, gives each its own held-out error.
        held = max(1, min(len(X) // 10, MOST_HELD))
        test, given = (X[:held], Y[:held]), None if self.heads == "auto" else int(self.heads)
        walk = _Walk(*canonical(X[held:], Y[held:]), test, given, rng)
        layer, refused = None, ""
        try:
            layer = walk.six()
        except _Refused as refusal:
            refused = str(refusal)
        verdicts: dict[str, Any] = {"refused_by": walk.phases[-1].name if refused else ""}
        if self.rounds:
            layer = walk.every_head(layer, self.rounds)
        heads, error = walk.number if layer is None else layer.heads, walk.error(layer)
        verdicts["certified"] = error <= CERTIFIED
        if refused and not verdicts["certified"]:
            layer = None
        verdicts["certified_error"] = None if layer is None else error
        if self.polish:
            layer, phases = polish(*walk.sample, layer, heads, test, rng)
            walk.phases += phases
            errors = {phase.name: phase.diagnostics["relative_error"] for phase in phases}
            verdicts["random_start_error"] = errors[phases[-1].name]
            verdicts["polished_error"] = errors.get("polish", verdicts["random_start_error"])
        if layer is not None and (ball := certificate.ball(*walk.sample, layer)):
            verdicts["certified_radius"] = ball.inner
        if refused:
            verdicts["condition"] = diagnosis.worst(layer, walk.sum_seen, X.shape[1], test)
        needed = None if layer is None else heads
        return SearchResult(layer, tuple(walk.phases), refused=refused, heads=needed, verdicts=verdicts)
