"""What attacks on hidden parities cost: equations over GF(2), exact or with flipped labels."""

from math import comb, log, log2

from hardness.attacks import Public
from hardness.attacks.cost import UNREACHED, Line, Log2Cost
from hardness.attacks.estimates.candidates import log2_rows_to_test, rows_a_candidate
from hardness.attacks.gaussian import FULL_RANK
from hardness.families.linear import SIGNS
from hardness.sq.bounds.switches import top_eigenvalue

LF2_STEPS = 8
NOT_COUNTED = "the bound is below one query"


def guarantee(public: Public) -> str:
    """What a cryptographic hypothesis says of hidden parities."""
    return "no cryptographic hypothesis: noiseless parity is easy by elimination, noisy parity is the LPN problem"


def lines(public: Public, tolerance: float) -> list[Line]:
    """(name, source, cost) of every attack; a text in place of a cost says why it does not apply."""
    n, s, eta = int(public["dim"]) - 1, SIGNS.weight(public), float(public.get("flip") or 0.0)
    return [
        (
            "sq bound",
            f"queries of tolerance {tolerance}: 8 τ²(N-1)/(1-2η)², proved in this lab",
            lambda: _query_bound(n, s, eta, float(public.get("bias") or 0.0), tolerance),
        ),
        ("exhaustive", "all supports of the public weight", lambda: _exhaustive(n, s, eta)),
        ("meet in the middle", "halves of the support meet on labels; search.py", lambda: _middle(n, s, eta)),
        ("gaussian", "one elimination over GF(2); gaussian.py", lambda: _elimination(n, eta)),
        (
            "lpn pooled gauss",
            "tries geometric with p = .5776 (1-η)^n; gaussian.py",
            lambda: _pooled(n, s, eta),
        ),
        (
            "lf2",
            "collisions of samples, then a Walsh-Hadamard transform; collisions.py",
            lambda: _lf2(n, 1 - 2 * eta),
        ),
    ]


def _query_bound(n: int, s: int, eta: float, mu: float, tolerance: float) -> Log2Cost | str:
    """Queries that no strategy can do without; biased products lower it by the top eigenvalue of theory 2.9."""
    N = comb(n, s)
    if N == 1:
        return NOT_COUNTED
    log2_queries = 3 + 2 * log2(tolerance / (1 - 2 * eta)) + log2(N - 1) - log2(top_eigenvalue(n, s, mu))
    return Log2Cost(log2_queries, 0.0, 0.0) if log2_queries > 0 else NOT_COUNTED


def _log2_test(n: int, s: int, eta: float) -> float:
    """log2 of the informative rows on which the right set stands out."""
    return log2_rows_to_test(log2(comb(n, s)), 1 - 2 * eta)


def _exhaustive(n: int, s: int, eta: float) -> Log2Cost:
    time = log2(comb(n, s)) + log2(rows_a_candidate(1 - 2 * eta))
    return Log2Cost(time, log2(n), _log2_test(n, s, eta) + 1)


def _middle(n: int, s: int, eta: float) -> Log2Cost:
    half = log2(comb(n, (s + 1) // 2))
    bits = half + 4 if eta else 0.0  # all these labels must be right at once
    # Of half² pairs a sixteenth of half meets by chance, and each of those is tested.
    steps = log2(2 * s + s * rows_a_candidate(1 - 2 * eta) / 16) if eta else log2(2 * s)
    return Log2Cost(half + steps - bits * log2(1 - eta), half, _log2_test(n, s, eta) + 1)


def _pooled(n: int, s: int, eta: float) -> Log2Cost:
    log2_tries = -log2(FULL_RANK) - n * log2(1 - eta)
    time = log2_tries + log2(n) + log2(n * (n + 1) + rows_a_candidate(1 - 2 * eta))
    return Log2Cost(time, 2 * log2(n + 1), log2(n + 1 + 2 ** _log2_test(n, s, eta)) + 1)


def _elimination(n: int, eta: float) -> Log2Cost | str:
    if eta:
        return "labels are noisy: see LPN"
    return Log2Cost(2 * log2(n) + log2(n + 10), 2 * log2(n + 1), log2(2 * (n + 10)))


def _lf2(n: int, bias: float) -> Log2Cost:
    """The best number t of steps: 2^{b+1} samples keep their number in a step of b bits; n - tb are transformed."""
    best = UNREACHED
    for steps in range(LF2_STEPS):
        need = log2(8 * (n * log(2) + 5)) - 2 * 2**steps * log2(bias)
        for b in range(n + 1):
            final = max(n - steps * b, 1)
            samples = max(float(b + 1), need)
            transform = final + log2(final + 1)
            time = max(samples + log2(n + 1) + log2(steps + 1), transform) + 1
            if time < best.time:
                best = Log2Cost(time, max(samples, final), samples + 1)
    return best
