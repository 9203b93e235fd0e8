"""The pipeline that walks the six phases of Chen & Li, and two of ours, and says what each of them saw."""

from collections.abc import Callable, Iterable, Iterator
from time import process_time
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError, unknown
from hardness.io.fields import whole
from hardness.layer import MultiHeadAttention
from hardness.scores import EXACT, relative_error
from hardness.sq.averages import Ask, Estimate
from learner.base import Learner, Phase, SearchResult
from learner.provable import certificate, crude, diagnosis, net, queries, refine, sculpt
from learner.provable import heads as every_head
from learner.provable.body import Body, body_hull
from learner.provable.polish import polish
from learner.provable.rows import Block, Rows
from learner.provable.sculpt import Hull

Array = NDArray[np.float64]
MODES = ("practical", "paper")
NET_LIMIT = 100_000
AMPLE = 6  # heads a hull is given while their number is not known: too many only make phase 3 careful
TRUSTED = 0.1  # median tolerance up to which a hull is trusted
CERTIFIED = (
    0.1  # relative error on held-out examples up to which the layer found in a trusted hull is certified
)
FITS_AS_WELL = (
    1.5  # residual of one head fewer over that of all: 1.0 to 1.1 with a head to spare, else from 2.6 on
)
SAMPLE = 50_000  # examples that stand in memory: of the first phase, the net and the polish
PHASES, RANDOM = "the end of phase 6", "a random start"  # of phase 6b
RANDOM_STARTS = 3  # of phase 6b at most, while nothing is certified
GROWTH = 8  # examples of a stage over those of the stage before


class _Refused(Exception):
    """A phase cannot go on, for the reason given."""


class _Walk:
    """The examples, what the learner was given, and what the phases have said so far."""

    def __init__(self, rows: Rows, given_heads: int | None, paper: bool, rng: np.random.Generator) -> None:
        self.rows, self.given_heads, self.paper, self.rng = rows, given_heads, paper, rng
        self.sum_seen: dict[str, float] = {}
        self.sample = rows.sample(SAMPLE)
        self.phases: list[Phase] = []
        self.hulls: list[Hull] = []

    def say(
        self, name: str, line: str, diagnostics: dict[str, Any], verdict: str = "ok", reason: str = ""
    ) -> None:
        self.phases.append(Phase(name, verdict, reason, diagnostics, line))

    def refuse(self, name: str, diagnostics: dict[str, Any], reason: str) -> None:
        self.say(name, "", diagnostics, "refused", reason)
        raise _Refused(reason)

    def crude_sum(self) -> Array:
        """Phase 1: a crude ΣW. The paper's vanishes exactly where ΣW and ΣF do; the other's noise would hide that."""
        first = crude.crude(*self.sample)
        better = first if self.paper or first.refusal() else crude.estimate(*self.sample)
        self.sum_seen = better.conditions()
        if refusal := first.refusal() or better.refusal():
            self.refuse("crude", better.diagnostics(), refusal)
        examples = len(self.sample[0])
        line = (
            f"the sum of the W from {examples} examples; it is {better.ratio:.2g} of what independent W have"
        )
        self.say("crude", line, better.diagnostics())
        return better.w

    def rounds(self, w: Array, plan: list[int]) -> Hull:
        """Phase 4: sculpt and refine in turn, each round on as many examples as planned; the hull carved best."""
        for number, examples in enumerate(plan):
            # ΣW no longer moves on this many examples: the rest of this stage would carve the same hull again.
            if self.stalled and examples == plan[number - 1]:
                continue
            hull = self.carve(w, examples, self.heads())
            if hull is None:
                break
            self.hulls.append(hull)
            if self.stalled and examples == plan[-1]:
                break
            if number + 1 < len(plan):
                w = self.renew(w, examples, hull)
        self.w = w
        return min((h for h in self.hulls if h.heads == self.hulls[-1].heads), key=lambda h: h.tolerance)

    @property
    def stalled(self) -> bool:
        """Whether the last round gained nothing: then more rounds need more examples."""
        exploring = not self.given_heads and len(self.hulls) <= 4
        return (
            len(self.hulls) > 1
            and not exploring
            and self.hulls[-1].tolerance > 0.95 * self.hulls[-2].tolerance
        )

    def plan(self, rounds: int) -> list[int]:
        """Examples of each round: the first ones, which only improve ΣW, do not need them all."""
        smallest = max(20_000, 30 * sculpt.wanted(self.rows.dim, self.rows.tokens) // self.rows.tokens)
        sizes = [self.rows.count]
        while sizes[0] >= 2 * smallest:
            sizes.insert(0, max(smallest, sizes[0] // GROWTH))
        return sizes[:1] * rounds + [size for size in sizes[1:] for _ in range(min(rounds, 2))]

    def heads(self) -> int:
        """The number of heads to carve for: as given; else one, then ample ones, then what the spectrum shows."""
        if self.given_heads:
            return self.given_heads
        if len(self.hulls) < 2 or self.contracts:
            return 1
        return AMPLE if len(self.hulls) < 4 else max(2, self.hulls[-1].heads_seen)

    @property
    def contracts(self) -> bool:
        """Whether one head's hull was enough: then every row is certified, and tolerances fall at once."""
        alone = [hull.tolerance for hull in self.hulls if hull.heads == 1]
        return len(alone) > 1 and min(alone[1:]) < 0.3 * alone[0]

    def carve(self, w: Array, examples: int, heads: int) -> Hull | None:
        """Phase 2: rows certified to show one pattern of all heads, and the affine hull that they leave to the Θᵢ."""
        certificates = sculpt.gather(
            self.rows, examples, w, sculpt.KEPT * sculpt.wanted(self.rows.dim, self.rows.tokens)
        )
        if reason := sculpt.too_few(certificates):
            self.cannot({"finite": certificates.finite / certificates.rows}, reason, w)
            return None
        hull, system = sculpt.hull_of(certificates, heads)
        seen = {"examples": min(examples, self.rows.count), **sculpt.diagnostics(certificates, system, hull)}
        if reason := sculpt.unpinned(hull):
            self.cannot(seen, reason, w)
            return None
        if self.paper:
            try:
                hull, body = body_hull(Body.of(system), hull, self.rng)
                seen |= body
            except InputError as error:
                seen["body"] = str(error)
        line = (
            f"{len(certificates.eta)} of {certificates.rows} rows where all heads agree leave a hull of "
            f"{hull.heads - 1} dimensions, with a median tolerance of {hull.tolerance:.2g}"
        )
        self.say(f"sculpt {len(self.hulls) + 1}", line, seen, hull.verdict())
        return hull

    def cannot(self, seen: dict[str, Any], reason: str, w: Array) -> None:
        """Refuse for want of certificates; but once a hull was carved, it is kept, and this is only said."""
        name = f"sculpt {len(self.hulls) + 1}"
        if not self.hulls:
            self.refuse(name, seen, self.why(w) or reason)
        self.say(name, "", seen, "failed", reason)

    def why(self, w: Array) -> str:
        """If ΣW is so small that this may be what is missing, that reason."""
        size = crude.size_of(w, self.sample[1])
        if size >= crude.SMALL:
            return ""
        return (
            f"the projection matrices nearly cancel: their sum is {size:.2g} of what the labels suggest of independent "
            "ones, and phases 1 to 4, which see the layer through that sum alone, certify too little"
        )

    def renew(self, w: Array, examples: int, hull: Hull) -> Array:
        """Phase 3: a better ΣW, from the rows on which the hull predicts that all heads agree."""
        better, seen = (refine.sparse_rows if self.paper else refine.agreement_rows)(
            self.rows, examples, hull
        )
        change = float(np.linalg.norm(better - w) / np.linalg.norm(w))
        line = f"the sum of the W again, from {seen['rows']} rows that the hull explains; it moved by {change:.2g}"
        self.say(f"refine {len(self.hulls)}", line, {**seen, "change": change})
        return better

    def span(self, hull: Hull) -> None:
        """Phase 5: the span of the Θᵢ, and whether it is to be trusted, for as many heads as the spectrum shows."""
        seen = 1 if hull.heads == 1 and self.contracts else hull.heads_seen
        odd = ""
        if self.given_heads and seen != self.given_heads:
            odd = f"the spectrum looks like that of {seen} head{'s' * (seen > 1)}, {self.given_heads} were given"
        elif hull.heads == 1 and not self.contracts:
            odd = "the tolerances do not fall as those of one head do"
        trusted = hull.tolerance <= TRUSTED and hull.verdict() != "failed" and not odd
        numbers = {"gap": hull.gap, "eta_median": hull.tolerance, "heads": hull.heads, "heads_seen": seen}
        numbers |= {"proxy_norm": float(np.linalg.norm(hull.theta))}
        if not trusted and (reason := self.why(self.w)):
            self.refuse("span", numbers, reason)
        line = f"the Θ differ in {hull.heads - 1} directions; {'trusted' if trusted else 'not trusted'}"
        self.say("span", line, numbers, hull.verdict() if trusted else "failed", odd)

    def net(self, hull: Hull, test: Block) -> MultiHeadAttention:
        """Phase 6: the Θᵢ inside the hull, W by least squares, and their relative error on `test`.

        Tolerances and gap alone certify nothing: where patterns are saturated and ΣW is off, rows agree on a hull that
        holds no head. Examples that no phase has seen tell (learner 1.13).
        """
        order = self.rng.permutation(len(self.sample[0]))[:1500]
        X, Y, m = self.sample[0][order], self.sample[1][order], hull.heads
        # Of one head the hull is a point, and there is no coordinate to visit.
        grid = net.points(m, NET_LIMIT) if self.paper and m > 1 else 0
        guess = net.explicit(X, Y, hull, m, grid) if grid else net.multi_start(X, Y, hull, m, self.rng)
        layer = MultiHeadAttention(guess.theta, guess.w)
        error = relative_error(layer(test[0]), test[1])
        verdict, reason = "ok", ""
        if error > CERTIFIED:
            verdict = "failed"
            reason = f"relative error {error:.2g} on held-out examples, certified is at most {CERTIFIED}"
        elif m > 1:
            # A generator of its own: whether this is asked must not change what the polish draws after it.
            fewer = net.multi_start(X, Y, hull, m - 1, self.rng.spawn(1)[0])
            if fewer.residuals[0] <= FITS_AS_WELL * guess.residuals[0]:
                verdict, reason = (
                    "weak",
                    f"{m - 1} of the {m} heads fit as well, so that their number is not certified",
                )
        residuals = list(guess.residuals[:6])
        seen = {
            "relative_error": error,
            "held_out": len(test[0]),
            "residuals": residuals,
            "guesses": guess.visited,
        }
        line = f"the Θ inside that hull, the W by least squares; relative error {error:.2g}"
        self.say("net", line, seen, verdict, reason)
        return layer

    def heads_apart(
        self, heads: int, start: MultiHeadAttention | None, test: Block, rounds: int
    ) -> MultiHeadAttention | None:
        """Phase 6b: the patterns of every head on every row, from the end of phase 6 and from a random start.

        Of these ends and that of phase 6, the one with the least relative error on `test` is returned. A random start
        is left out once an end is exact, and repeated while none is certified. While the number of heads is not
        known, fewer are tried first.
        """
        rng = self.rng.spawn(1)[0]
        tokens, dim = self.rows.tokens, self.rows.dim
        tries = [] if self.given_heads else [(m, RANDOM) for m in range(1, heads)]
        tries += [] if start is None else [(heads, PHASES)]
        best, least = start, np.inf if start is None else _error(start, test)
        seen: dict[str, Any] = {"start": "none"}
        reason = ""
        for m, name in [*tries, *[(heads, RANDOM)] * RANDOM_STARTS]:
            if name == RANDOM and m == heads and f"{name} error" in seen and least <= CERTIFIED:
                break
            if reason := every_head.impossible(m, tokens, dim):
                continue
            X, Y = (part[: every_head.rows_wanted(m, tokens, dim)] for part in self.sample)
            theta = (
                start.theta if start is not None and name == PHASES else every_head.random_start(m, dim, rng)
            )
            end = every_head.run(X, Y, theta, rounds)
            layer = MultiHeadAttention(end.theta, end.w)
            error = _error(layer, test)
            seen |= {"examples": len(X), f"{name} rounds": len(end.residuals), f"{name} error": error}
            if error < least:
                best, least, seen["start"] = layer, error, name
            if error < EXACT.threshold:
                break
        if "examples" not in seen:
            self.say("every head", "", seen, "failed", reason)
            return start
        seen["relative_error"] = least
        line = (
            f"the patterns of every head on {seen['examples'] * tokens} rows, by least squares from {seen['start']}; "
            f"relative error {least:.2g}"
        )
        self.say("every head", line, seen, "ok" if least <= CERTIFIED else "failed")
        return best


class Provable(Learner):
    """The learner with the theorem: layers that meet `hardness.gadgets.conditions`, from 2,000 examples.

    Its time is (dk)^O(m³) (Chen and Li, STOC 2025).

    `mode="paper"` walks the literal phases (crude estimate, convex body, one-sparse rows, widths, an explicit ε-net
    for at most three heads); `mode="practical"` replaces them by what measures better (debiased estimate, least
    squares, agreement rows, eigenvectors, multi-start). `heads="auto"` reads the number of heads off the spectrum of
    the certificates. Phase 6b, which is not the paper's, reads the patterns of every head off every row
    (`learner.provable.heads`; not in mode "paper"), in at most `rounds` rounds from each start, and not at all if that
    is 0. `report_.certified` and `report_.certified_error` are of the layer
    after phases 1 to 6b: a statement on held-out examples (learner 1.13).
    `polish` adds phase 7, local search (`report_.polished_error`), with the same search from a random start beside it
    (`report_.random_start_error`). A phase whose assumption fails refuses, and `report_.refused_by` names it; then
    phase 6b and the local search have only their random starts, and `report_.condition` says which condition of the
    theorem the layer violates most. `report_.certified_radius` is that of a ball around the last layer in which there
    is no other layer that fits (learner 1.14). k·d must be at least 16, and k <= d.

    >>> rng = np.random.default_rng(0)
    >>> theta, w = rng.normal(size=(2, 2, 8, 8))
    >>> X = rng.choice([-1.0, 1.0], size=(4000, 2, 8))
    >>> layer = MultiHeadAttention(theta / 6, w)
    >>> report = Provable(heads="auto", random_state=0).fit(X, layer(X)).report_
    >>> report.heads, report.certified, report.certified_error < 0.1, report.polished_error < 1e-6
    (2, True, True, True)
    """

    minimum_width = 16

    def __init__(
        self,
        heads: int | str = 2,
        mode: str = "practical",
        polish: bool = True,
        rounds: int = every_head.ROUNDS,
        random_state: int | None = None,
    ) -> None:
        super().__init__(heads, random_state)
        self.mode = mode
        self.polish = polish
        self.rounds = rounds

    def fit_blocks(self, blocks: Callable[[], Iterable[tuple[ArrayLike, ArrayLike]]], count: int) -> Self:
        """Learn from `count` examples that never stand in memory at once; returns self.

        `blocks()` starts the stream of (X, Y) anew, both (·, k, d), at each of the few passes. The first examples,
        a tenth and at most 2000, are held out; phase 1, the net and the polish see the next 50,000.

        >>> rng = np.random.default_rng(0)
        >>> layer = MultiHeadAttention(*rng.normal(size=(2, 1, 8, 8)) / 3)
        >>> def blocks():
        ...     for seed in range(4):
        ...         X = np.random.default_rng(seed).choice([-1.0, 1.0], size=(2500, 2, 8))
        ...         yield X, layer(X)
        >>> Provable(heads=1, random_state=0).fit_blocks(blocks, 10_000).report_.status
        'solved'
        """
        started = process_time()
        whole("count", count, 10)
        X, Y = (np.asarray(part) for part in next(iter(blocks())))
        self._examples(X, Y)
        held = max(1, min(count // 10, 2000, len(X)))
        test = self._examples(X[:held], Y[:held])
        rows = Rows(blocks, count - held, X.shape[1], X.shape[2], skip=held)
        sample = rows.sample(SAMPLE)
        self._enough(sample[0])
        rng = np.random.default_rng(self.random_state)
        outcome = self._walk(rows, test, rng)
        return self._conclude(outcome, test, count - held, started)

    def by_averages(
        self,
        ask: Ask,
        tokens: int,
        dim: int,
        size: float,
        tolerance: float,
        least_share: float = queries.LEAST_SHARE,
    ) -> Iterator[Estimate]:
        """Yield what phases 1 to 4 estimate by an oracle's answers alone.

        `size` is the root mean square of the labels; less than `least_share` of the rows are too few for a hull.
        """
        drawn = queries.inputs(tokens, dim, np.random.default_rng(self.random_state))
        yield from queries.phases(ask, drawn, super()._least_heads(), size, tolerance, least_share)

    def heads_by_averages(self, ask: Ask, tokens: int, dim: int, size: float) -> Iterator[Estimate]:
        """Yield what phase 6b estimates by an oracle's answers alone, from a random start: every Θ."""
        rng = np.random.default_rng(self.random_state)
        drawn = queries.inputs(tokens, dim, rng)
        theta = queries.every(ask, drawn, super()._least_heads(), size, rng)
        yield Estimate("every head", theta=theta)

    def _least_heads(self) -> int:
        return 1 if self._asked()[0] is None else super()._least_heads()

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        # A tenth, never seen by a phase, gives each its own held-out error.
        held = max(1, min(len(X) // 10, 2000))
        return self._walk(Rows.of(X[held:], Y[held:]), (X[:held], Y[:held]), rng)

    def _walk(self, rows: Rows, test: Block, rng: np.random.Generator) -> SearchResult:
        heads, paper = self._asked()
        walk = _Walk(rows, heads, paper, rng)
        layer, refused, number = None, "", heads or AMPLE
        try:
            rounds = (2 if paper else 6 if heads != 1 else 8) + (0 if heads else 4)
            hull = walk.rounds(walk.crude_sum(), walk.plan(rounds))
            self.hull_, number = hull, hull.heads
            walk.span(hull)
            layer = walk.net(hull, test)
        except _Refused as refusal:
            refused = str(refusal)
        name = walk.phases[-1].name if refused else ""
        if self.rounds and not paper:
            layer = walk.heads_apart(number, layer, test, self.rounds)
            number = number if layer is None else layer.heads
        error = np.inf if layer is None else _error(layer, test)
        certified = error <= CERTIFIED
        if refused and not certified:
            layer = None
        verdicts: dict[str, Any] = {"refused_by": name, "certified": certified}
        verdicts["certified_error"] = error if layer is not None else None
        if self.polish:
            layer, phases = polish(*walk.sample, layer, number, test, rng)
            walk.phases += phases
            errors = {phase.name: phase.diagnostics["relative_error"] for phase in phases}
            verdicts["polished_error"] = errors.get("polish", errors["random-start control"])
            verdicts["random_start_error"] = errors["random-start control"]
        if layer is not None and (ball := certificate.ball(*walk.sample, layer)):
            verdicts["certified_radius"] = ball.inner
        if refused:
            verdicts["condition"] = diagnosis.worst(layer, walk.sum_seen, rows.tokens, test)
        return SearchResult(
            layer,
            tuple(walk.phases),
            refused=refused,
            heads=number if layer is not None else None,
            verdicts=verdicts,
        )

    def _asked(self) -> tuple[int | None, bool]:
        """Heads (None: find out) and whether to walk the literal phases; `InputError` for options that do not fit."""
        if self.mode not in MODES:
            raise unknown("mode", self.mode, MODES)
        asked: object = self.heads
        heads, paper = None if asked == "auto" else super()._least_heads(), self.mode == "paper"
        if paper and (heads is None or (heads > 1 and not net.points(heads, NET_LIMIT))):
            raise InputError(
                f"mode 'paper' visits an explicit net, of at most {NET_LIMIT:,} guesses: it needs heads from 1 to 3, "
                f"got {self.heads}; mode 'practical' has no net"
            )
        return heads, paper


def _error(layer: MultiHeadAttention, test: Block) -> float:
    return relative_error(layer(test[0]), test[1])
