"""Units of cost: seconds of one core, measured; log2 of operations, 2^30 to the second; rows that a test reads."""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, inf, log, log1p, log2

# An example of a stream made and looked at: seconds, as of the models of attacks that choose their rows.
EXAMPLE_SECONDS = 2.5e-8
LOG2_OPERATIONS_A_SECOND = 30.0


@dataclass(frozen=True, order=True)
class Log2Cost:
    """log2 of elementary operations, of memory words and of samples; costs are compared by time first."""

    time: float
    memory: float
    samples: float


# Of an estimate: attack, source, cost or why it has none
Line = tuple[str, str, Callable[[], Log2Cost | str]]
UNREACHED = Log2Cost(inf, inf, inf)


class EstimateFailed(ArithmeticError):
    """No parameters were found at which the attack works; this says nothing about hardness."""


class NotPriced(ArithmeticError):
    """The attack may work, but nothing here says what it would cost."""


def log2_rows_to_test(log2_candidates: float, bias: float) -> float:
    """Return log2 of the number R of rows that show which of N candidates is the secret: R = 2 (ln N + 5)/b².

    The right one agrees with b R labels more than it contradicts, on average, b the bias. A wrong one does so with
    probability at most e^{-b² R/2} (Hoeffding), and any of N with at most N e^{-b² R/2} = e^-5 (union bound).
    """
    return log2(2 * (log2_candidates * log(2) + 5)) - 2 * log2(bias)


def rows_a_candidate(bias: float) -> float:
    """Return the mean number of rows that exhaustive search reads for a wrong candidate: 2, or with noise 1.4/b².

    With label bias b = 1 - 2η it is that of Wald's sequential test (Ann. Math. Stat. 16, 1945): a likelihood ratio, at
    first 1, is multiplied by 1 ± b at a label that agrees or not, and its candidate is dropped once it is at most 1/2.
    The right one is dropped with probability at most 1/2 (Ville). The mean is an upper bound (Wald's identity).
    """
    return 2.0 if bias == 1 else (log(2) - log1p(-bias)) / (-log1p(-bias * bias) / 2)


def monomials(bits: int, degree: int) -> int:
    """Return the number of monomials of degree at most `degree` in `bits` signs, the constant among them.

    Regression on them with fewer examples is underdetermined; with about as many it succeeds for labels of this degree.

    >>> [monomials(2 * 8, 2 * s + 1) for s in (1, 2, 3)]
    [697, 6885, 26333]
    """
    return sum(comb(bits, j) for j in range(min(degree, bits) + 1))
