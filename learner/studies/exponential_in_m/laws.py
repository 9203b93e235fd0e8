"""Laws for the examples that a hidden set costs, fitted on small classes and asked about large ones.

A law is a function of cells (m, d, M) with positive constants; m has n = d - 1 places and N = C(n, m) sets. All are
fitted by least squares of logarithms, with a level of its own for even m. Cells whose median is only a bound enter
neither side.
"""

from collections.abc import Callable, Mapping
from math import comb, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pandas import DataFrame

Floats = NDArray[np.float64]
Cells = Mapping[str, Floats]
Column = Callable[[Cells], Floats]
Value = Callable[[Cells, Floats], Floats]


class Law(NamedTuple):
    """A law: its name, what kind of answer it is, its value at cells for given logarithms of its constants."""

    name: str
    kind: str
    constants: int
    value: Value


def two_terms(first: Column, second: Column) -> Value:
    """Return the value of a law a · first + b · second."""
    return lambda at, v: np.logaddexp(v[0] + np.log(first(at)), v[1] + np.log(second(at)))


def one_term(term: Column) -> Value:
    """Return the value of a law c · term."""
    return lambda at, v: v[0] + np.log(term(at))


def powers(*logs: Column) -> Value:
    """Return the value of a law c · exp(Σ_i p_i logs_i) with free exponents p."""
    return lambda at, v: v[0] + sum(p * each(at) for p, each in zip(v[1:], logs, strict=True))


def cubic(at: Cells) -> Floats:
    """Return m³ n."""
    return at["m"] ** 3 * at["n"]


def share(at: Cells) -> Floats:
    """Return N/M."""
    return at["N"] / at["M"]


def log_of(name: str) -> Column:
    """Return the logarithm of a column."""
    return lambda at: np.log(at[name])


LAWS = (
    Law("a m³ n + b N/M", "two terms", 2, two_terms(cubic, share)),
    Law("a √N + b N/M", "two terms", 2, two_terms(lambda at: at["N"] ** 0.5, share)),
    Law("a m³ n + b N/(M d)", "two terms", 2, two_terms(cubic, lambda at: share(at) / at["d"])),
    Law(
        "a m³ n + b N/(M p), p of the lottery",
        "mechanism",
        2,
        two_terms(cubic, lambda at: at["tickets"] / at["M"]),
    ),
    Law("c N/M", "work", 1, one_term(share)),
    Law("c N/(M d)", "work", 1, one_term(lambda at: share(at) / at["d"])),
    Law("c N", "reading", 1, one_term(lambda at: at["N"])),
    Law("c N/d", "reading", 1, one_term(lambda at: at["N"] / at["d"])),
    Law("c C(d-1, m-1)", "reading", 1, one_term(lambda at: at["below"])),
    Law("c N^k M^-l", "free", 3, powers(log_of("N"), log_of("M"))),
    Law("c d^a m^b M^-l", "polynomial", 4, powers(log_of("d"), log_of("m"), log_of("M"))),
    Law("c d^a e^(g m) M^-l", "exponential", 4, powers(log_of("d"), lambda at: at["m"], log_of("M"))),
)


def cells(medians: "DataFrame") -> dict[str, Floats]:
    """Return the numbers of cells that laws are about, from columns m, d, width and, of the lottery, xnp."""
    m, d = medians.m.to_numpy(float), medians.d.to_numpy(float)
    sets = np.array([comb(int(b) - 1, int(a)) for a, b in zip(m, d, strict=True)], float)
    below = np.array([comb(int(b) - 1, int(a) - 1) for a, b in zip(m, d, strict=True)], float)
    tickets = sets / medians.xnp.to_numpy(float)
    return {
        "m": m, "d": d, "n": d - 1, "M": medians.width.to_numpy(float), "N": sets, "below": below,
        "tickets": tickets, "even": (m % 2 == 0).astype(float),
    }  # fmt: skip


def fitted(law: Law, at: Cells, y: Floats) -> Floats:
    """Return the logarithms of a law's constants, and of the level of even m, by least squares of log y."""
    from scipy.optimize import least_squares

    first = np.zeros(law.constants + 1)
    first[0] = float(np.mean(np.log(y) - law.value(at, np.zeros(law.constants))))
    if law.constants == 2:
        first[:2] = log(5), log(16)
    solved = least_squares(lambda v: predicted(law, at, v) - np.log(y), first)
    return np.asarray(solved.x)


def predicted(law: Law, at: Cells, v: Floats) -> Floats:
    """Return log examples at cells."""
    return np.asarray(law.value(at, v[:-1]) + v[-1] * at["even"])


def part(at: Cells, chosen: NDArray[np.bool_]) -> dict[str, Floats]:
    """Return the chosen cells."""
    return {name: values[chosen] for name, values in at.items()}


def judged(at: Cells, y: Floats, below: float) -> dict[str, tuple[float, float]]:
    """Return of each law the factor by which it errs above `below` sets, fitted under it, and the largest such factor.

    The factor is exp of the root mean square of the errors of logarithms.
    """
    small = at["N"] < below
    errors = {}
    for law in LAWS:
        v = fitted(law, part(at, small), y[small])
        wrong = np.log(y[~small]) - predicted(law, part(at, ~small), v)
        errors[law.name] = float(np.exp(np.sqrt(np.mean(wrong**2)))), float(np.exp(np.abs(wrong).max()))
    return errors
