"""How many rows tell the right secret from wrong ones, and how many a search reads of a wrong one."""

from math import log, log1p, log2


def log2_rows_to_test(log2_candidates: float, bias: float) -> float:
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
