"""What every attack on an instance costs, in bits, as one table: `hardness.estimate`.

A failed estimate is listed as failed: it says nothing about hardness.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from importlib.metadata import version
from math import comb, exp, inf, log, log1p, log2, pi, sqrt
from pathlib import Path
from typing import Any, cast

import numpy as np

from hardness import families
from hardness.attacks import Public
from hardness.attacks.bkw_plan import bias_of
from hardness.attacks.equations import sparsity
from hardness.attacks.estimates.lab import Cost, EstimateFailed, integer_bkw, short_vectors
from hardness.attacks.gaussian import FULL_RANK
from hardness.errors import InputError
from hardness.families import Family
from hardness.families.concepts import RoundingConcepts
from hardness.gadgets.modular import preimages
from hardness.instance import Instance
from hardness.io.rounding import at_least_power
from hardness.sq.bounds.rounding import truncation
from hardness.sq.bounds.switches import top_eigenvalue
from hardness.sq.tolerance import check_tolerance

TOLERANCE = 0.05
LF2_STEPS = 8
# What an estimate depends on; the heads of a rounding instance are not among them.
COUNTED = ("family", "dim", "gadget", "modulus", "levels", "weight", "noise", "flip")


@dataclass(frozen=True)
class Estimate:
    """One attack's cost: log2 of elementary operations, of memory words and of examples.

    `status` is ``ok``, ``failed`` (the estimate, not the attack: it says nothing about hardness) or ``not applicable``;
    the figures are None unless it is ``ok``. `source` says where the formula comes from and what it assumes.
    """

    name: str
    log2_time: float | None
    log2_memory: float | None
    samples: float | None
    status: str
    source: str


def estimates(public: Public, tolerance: float = TOLERANCE) -> list[Estimate]:
    """Estimates of all attacks on an instance with the `public` parameters; `tolerance` is the SQ bound's τ.

    Raises `InputError` for a family without a hidden linear secret.

    >>> public = {"family": "parity", "dim": 64, "heads": 12, "gadget": "diag", "flip": 0.0}
    >>> [(e.name, round(e.log2_time)) for e in estimates(public) if e.status == "ok"][:2]
    [('sq bound', 36), ('exhaustive', 42)]
    """
    if public.get("family") not in ("parity", "rounding"):
        raise InputError(
            f"family '{public.get('family')}' has no hidden linear secret; estimate parity or rounding"
        )
    lines = _parity(public, tolerance) if public["family"] == "parity" else _rounding(public, tolerance)
    return [_line(name, source, compute) for name, source, compute in lines]


def cheapest(lines: list[Estimate]) -> Estimate | None:
    """The cheapest attack of those whose estimate is ok; None if there is none. The bound on queries is no attack.

    >>> cheapest(estimates({"family": "parity", "dim": 64, "heads": 12, "gadget": "diag", "flip": 0.0})).name
    'gaussian'
    """
    able = [e for e in lines if e.log2_time is not None and e.name != "sq bound"]
    return min(able, key=lambda e: e.log2_time or 0.0, default=None)


Line = tuple[str, str, Callable[[], Cost | str]]


def _line(name: str, source: str, compute: Callable[[], Cost | str]) -> Estimate:
    try:
        cost = compute()
    except EstimateFailed as error:
        return Estimate(name, None, None, None, "failed", f"{source}: {error}")
    if isinstance(cost, str):
        return Estimate(name, None, None, None, "not applicable", cost)
    return Estimate(name, cost.time, cost.memory, cost.samples, "ok", source)


def guarantee(public: Public) -> str:
    """What the cryptographic hypothesis guarantees for the short public vectors of an instance (theory 4.2).

    >>> guarantee({"family": "rounding", "dim": 65, "modulus": 97})[:59]
    'LWE with binary public vectors in dimension n is as hard as'
    """
    if public["family"] == "parity":
        return "no cryptographic hypothesis: noiseless parity is easy by elimination, noisy parity is the LPN problem"
    n, q = int(public["dim"]) - 1, int(public["modulus"])
    return (
        "LWE with binary public vectors in dimension n is as hard as ordinary LWE in dimension about n/log2 q only "
        "(Boneh, Lewi, Montgomery, Raghunathan 2013, in Peikert's survey 5.7.2; direct for q a power of 2): "
        f"n = {n}, q = {q} guarantees about {n / log2(q):.0f} dimensions"
    )


def _parity(public: Public, tolerance: float) -> list[Line]:
    n, s, eta = int(public["dim"]) - 1, sparsity(public) or 0, float(public.get("flip") or 0.0)
    N, half = comb(n, s), comb(n, (s + 1) // 2)
    bias = 1 - 2 * eta
    test, wrong = _rows_to_test(log2(N), bias), rows_a_candidate(bias)

    def sq() -> Cost | str:
        # Biased products lower the bound by the top eigenvalue of theory 2.9, 1 without bias.
        spread = top_eigenvalue(n, s, float(public.get("bias") or 0.0)) if N > 1 else 1.0
        bound = 3 + 2 * log2(tolerance / bias) + log2(N - 1) - log2(spread) if N > 1 else 0.0
        return Cost(bound, 0.0, 0.0) if bound > 0 else "the bound is below one query"

    def middle() -> Cost:
        bits = log2(half) + 4 if eta else 0.0  # all these labels must be right at once
        # Of half² pairs a sixteenth of half meets by chance, and each of those is tested.
        steps = log2(2 * s) if not eta else log2(2 * s + s * wrong / 16)
        return Cost(log2(half) + steps + bits * -log2(1 - eta), log2(half), test + 1)

    def pooled() -> Cost:
        tries = -log2(FULL_RANK) - n * log2(1 - eta)
        return Cost(tries + log2(n) + log2(n * (n + 1) + wrong), 2 * log2(n + 1), log2(n + 1 + 2**test) + 1)

    def eliminate() -> Cost | str:
        if eta:
            return "labels are noisy: see LPN"
        return Cost(2 * log2(n) + log2(n + 10), 2 * log2(n + 1), log2(2 * (n + 10)))

    return [
        ("sq bound", f"queries of tolerance {tolerance}: 8 τ²(N-1)/(1-2η)², proved in this lab", sq),
        (
            "exhaustive",
            "all supports of the public weight",
            lambda: Cost(log2(N) + log2(wrong), log2(n), test + 1),
        ),
        ("meet in the middle", "halves of the support meet on labels; search.py", middle),
        ("gaussian", "one elimination over GF(2); gaussian.py", eliminate),
        ("lpn pooled gauss", "tries geometric with p = .5776 (1-η)^n; gaussian.py", pooled),
        ("lf2", "collisions of samples, then a Walsh-Hadamard transform; search.py", lambda: _lf2(n, bias)),
    ]


def _rows_to_test(log2_candidates: float, bias: float) -> float:
    """log2 of the rows R on which the right secret stands out among all N candidates: R = 2 (ln N + 5)/b².

    The right one agrees with b R labels more than it contradicts, on average. A wrong one does so with probability at
    most e^{-b² R/2} (Hoeffding), and any of N with at most N e^{-b² R/2} = e^-5 (union bound).
    """
    return log2(2 * (log2_candidates * log(2) + 5)) - 2 * log2(bias)


def rows_a_candidate(bias: float) -> float:
    """Rows that exhaustive search reads of a wrong candidate on average, at most: 2 without noise, about 1.4/b² with.

    Wald's sequential test (Ann. Math. Stat. 16, 1945) on labels of bias b = 1 - 2η: the likelihood ratio L of a
    candidate, at first 1, is multiplied by 1 + b where a label agrees and by 1 - b where not. The candidate is accepted
    at L >= N/δ and dropped at L <= 1/2. For a wrong one, whose labels agree by halves, L is a martingale: it is ever
    accepted with probability at most δ/N (Ville), any of the N with at most δ (union bound). For the right one 1/L is a
    martingale: it is ever dropped with probability at most 1/2. So N costs a wrong candidate nothing: ln L drifts by
    ln(1 - b²)/2 a row and is stopped no lower than ln(1/2) + ln(1 - b), and by Wald's identity the rows are on average
    at most (ln 2 - ln(1 - b)) / (-ln(1 - b²)/2), which tends to 2 as b → 1 and to 2 ln 2/b² as b → 0.

    >>> rows_a_candidate(1.0), round(rows_a_candidate(0.004) * 0.004**2, 2)
    (2.0, 1.39)
    """
    return 2.0 if bias == 1 else (log(2) - log1p(-bias)) / (-log1p(-bias * bias) / 2)


def _lf2(n: int, bias: float) -> Cost:
    """The best number t of steps: 2^{b+1} samples keep their number in a step of b bits; n - tb are transformed."""
    best = Cost(inf, inf, inf)
    for steps in range(LF2_STEPS):
        need = log2(8 * (n * log(2) + 5)) - 2 * 2**steps * log2(bias)
        for b in range(n + 1):
            final = max(n - steps * b, 1)
            samples = max(float(b + 1), need)
            transform = final + log2(final + 1)
            time = max(samples + log2(n + 1) + log2(steps + 1), transform) + 1
            if time < best.time:
                best = Cost(time, max(samples, final), samples + 1)
    return best


def _rounding(public: Public, tolerance: float) -> list[Line]:
    n, q, p = int(public["dim"]) - 1, int(public["modulus"]), int(public["levels"])
    h, noise, dot = sparsity(public), float(public.get("noise") or 0.0), public.get("gadget") == "dot"
    error = rounding_error(q, p, noise)
    secrets = _log2_secrets(n, q, h)
    # A wrong candidate's residues are uniform; the right one's error leaves the first harmonic this bias.
    harmonic = exp(-min(2 * (pi * error / q) ** 2, 300.0))
    test = _rows_to_test(secrets, harmonic)
    # Without noise a row of p levels leaves 1/p of the candidates; a noisy one is a coin of the harmonic's bias.
    wrong = rows_a_candidate(harmonic) if noise else 2.0

    def sq() -> Cost | str:
        if h is not None:
            return "the bound is for dense uniform secrets"
        rate = 2 + n * log2(8 / 3) if dot and q % 2 else 3 + n
        # Of the secrets, labels of few heads are ideal but for this mass on this share
        share, mass = 1.0, 0.0
        if public.get("heads") is not None and not public.get("exact"):
            heads = int(public["heads"])
            share, mass = truncation(
                RoundingConcepts(n, q, p, "dot" if dot else "diag", heads), tolerance, heads
            )
        if mass >= tolerance or share <= float(q) ** -n:
            return "labels of so few heads: the bound proves nothing"
        bound = 2 * log2(tolerance - mass) + rate + log2(share - float(q) ** -n)
        return Cost(bound, 0.0, 0.0) if bound > 0 else "the bound is below one query"

    def middle() -> Cost | str:
        if noise:
            return "label noise: a half secret cannot be told right from wrong"
        half = _log2_secrets(n, q, (h + 1) // 2) if h is not None else (n - n // 2) * log2(q)
        # Halves meet in boxes of residues: each of k rows doubles look-ups, and pairs shrink by p/2.
        looks = min(max(2 * half - k * max(log2(p) - 1, 0), half + k * (p < q)) for k in range(200))
        return Cost(max(looks, half) + 2, half, test + 1)

    def eliminate() -> Cost | str:
        if noise:
            return "label noise: elimination has no error correction over Z_q"
        width = preimages(q, p)[1]
        exact = float((width == 1).sum()) / q
        if not exact:
            return "every level holds several residues, so no label is a linear equation"
        return Cost(2 * log2(n) + log2(n + 10), 2 * log2(n + 1), log2(2 * (n + 10) / exact))

    bias = bias_of(q, p, noise)
    own = "2^30 operations to a second of one core, held to measured seconds; rows free"
    return [
        ("sq bound", f"queries of tolerance {tolerance}, unconditional for dense secrets (theory 2.6)", sq),
        (
            "exhaustive",
            "all secrets of the public kind",
            lambda: Cost(secrets + log2(wrong), log2(n), test + 1),
        ),
        ("meet in the middle", "halves of the secret meet in boxes of residues; search.py", middle),
        ("gaussian", "elimination over Z_q on levels of one residue; gaussian.py", eliminate),
        ("bkw", f"integer BKW with a grid transform; {own}; bkw.py", lambda: integer_bkw(n, bias, int(dot))),
        (
            "lattice",
            f"orthogonal lattice, profile with its floor; {own}; lattice.py",
            lambda: short_vectors(n, max(error, 0.2) / q, dot),
        ),
    ]


def rounding_error(q: int, p: int, noise: float = 0.0) -> float:
    """Standard deviation of the error of a label: uniform on the residues of its level, centred (references B3).

    The variance is (w² - 1)/12 at a level of w residues, averaged over residues; label noise adds its own.

    >>> round(rounding_error(8192, 1024), 3)  # Saber: uniform on 8 residues
    2.291
    """
    width = preimages(q, p)[1].astype(np.float64)
    return sqrt(float((width * (width**2 - 1)).sum()) / (12 * q) + noise**2)


def _log2_secrets(n: int, q: int, h: int | None) -> float:
    return n * log2(q) if h is None else log2(comb(n, h)) + h * log2(q - 1)


@dataclass(frozen=True, repr=False)
class Estimates:
    """The estimates of all attacks, the `cheapest` of those that are attacks and ok, and what they were made of."""

    attacks: list[Estimate]
    cheapest: Estimate | None
    guarantee: str
    parameters: Mapping[str, Any]
    version: str

    @property
    def lines(self) -> list[str]:
        """One line an attack, for people; the cheapest and the guarantee last."""
        found = [
            f"{e.name:38} {_time(e)} time  {bits(e.log2_memory)} memory  {bits(e.samples)} examples  "
            f"{e.status}: {e.source}"
            for e in self.attacks
        ]
        return [*found, f"cheapest: {self._least}", self.guarantee]

    @property
    def _least(self) -> str:
        least = self.cheapest
        return "none known" if least is None else f"{least.name}, {bits(least.log2_time).strip()}"

    def __repr__(self) -> str:
        return f"Estimates({self.parameters.get('family')}, {len(self.attacks)} attacks; cheapest: {self._least})"

    def _repr_html_(self) -> str:
        cells = ([e.name, _time(e), bits(e.log2_memory), bits(e.samples), e.status] for e in self.attacks)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in cells)
        head = "".join(f"<th>{name}</th>" for name in ("attack", "time", "memory", "examples", "estimate"))
        return f"<table><caption>{escape(repr(self))}</caption><tr>{head}</tr>{body}</table>"


def estimate(
    target: str | Path | Instance | Family, *, tolerance: float = TOLERANCE, **parameters: Any
) -> Estimates:
    """What every attack costs, in bits, on an instance, its file, or a family (by name with its `parameters`).

    `tolerance` is that of the bound on statistical queries, in (0, 1]. Raises `InputError` for a family without a
    hidden linear secret.

    >>> estimate("parity", dim=64, heads=12)
    Estimates(parity, 6 attacks; cheapest: gaussian, 2^18.1)
    """
    check_tolerance(tolerance)
    if isinstance(target, str) and (parameters or not Path(target).exists()):
        target = families.build(target, parameters)
    elif parameters:
        raise InputError("parameters are for a family named; an instance and a family have theirs already")
    if isinstance(target, (str, Path)):
        target = Instance.load(target)
    if isinstance(target, Instance):
        # Heads that were chosen so that every label is right bound nothing: only those asked for do.
        public = {**target.public(0), "heads": target.parameters.get("heads")}
    else:
        public = asdict(cast(Any, target))
    # A class may give itself any name; costs are those of the family that is registered.
    public["family"] = families.name_of(target.family if isinstance(target, Instance) else target)
    found = estimates(public, tolerance)
    counted = (*COUNTED, "heads") if public["family"] == "parity" else COUNTED
    known = {name: public[name] for name in counted if name in public}
    return Estimates(found, cheapest(found), guarantee(public), known, version("attention-hardness"))


def _time(estimate: Estimate) -> str:
    """Operations of an attack; queries of the lower bound, rounded down."""
    if estimate.name == "sq bound" and estimate.log2_time is not None:
        return f"{at_least_power(estimate.log2_time):6}"
    return bits(estimate.log2_time)


def bits(value: float | None) -> str:
    """log2 of a count as a power.

    >>> bits(19.04), bits(None)
    ('2^19.0', '     -')
    """
    return "     -" if value is None else f"2^{value:<4.1f}"
