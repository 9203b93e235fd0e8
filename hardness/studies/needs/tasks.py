"""The grid of `needs`: games on parities and on rounding by m heads, over the tolerances from 1/4 down to 2^-12."""

from functools import cache
from math import comb

from hardness.engine.task import Task
from hardness.families.concepts import RoundingConcepts
from hardness.sq.bounds.adversaries import adversary_bounds

QUESTION = (
    "How many queries, and of what tolerance, do the labels of m heads take: what is impossible, what is reached?"
)

HEADS = tuple(range(2, 9))
PLAYED, FORMULA = (16, 20, 24), 64  # dimensions of games, and the one where there are formulas only
# log2 1/tau: just below a quarter, where parities begin to be told apart; half steps where strategies differ most
EXPONENTS = (2.06, *(e / 2 for e in range(5, 17)), 9.0, 10.0, 11.0, 12.0)
FINEST = 12.0
SPREAD = {16: 4.0, 20: 4.0, 24: 0.3}  # up to how many concepts, times the squared tolerance, `spread` is played
SLOW = 24  # the dimension at which it is played at whole exponents only

MODULUS, LEVELS, LARGEST = 5, 5, 6  # of rounding, and the largest n of its games
AT = 0.1  # the tolerance at which n is chosen
ROUNDING_EXPONENTS = (3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0)
ROUNDING_STRATEGIES, ROUNDING_QUERIES = ("sign-batch", "adaptive"), 2000


def tolerance(exponent: float) -> float:
    """2^-exponent to three digits: theory 2.7 reads a tolerance as its decimal.

    >>> tolerance(2.06), tolerance(10.0)
    (0.24, 0.000977)
    """
    return float(f"{2.0**-exponent:.3g}")


def tasks(quick: bool) -> list[Task]:
    """One game a class, tolerance and strategy: a game that ended shows that its number of queries suffices."""
    dims, heads, step = ((16,), HEADS[:3], 2) if quick else (PLAYED, HEADS, 1)
    found = [task for d in dims for m in heads for e in EXPONENTS[::step] for task in _parity(d, m, e)]
    for m in HEADS[-2:] if quick else HEADS:
        n = held(m, MODULUS, LEVELS, AT, 4 if quick else LARGEST)
        params = {"dim": n + 1, "modulus": MODULUS, "levels": LEVELS, "heads": m}
        for e in ROUNDING_EXPONENTS[::step] if n > 1 else ():
            found += [
                Task("rounding", params, solver(strategy, e), {"queries": ROUNDING_QUERIES}, 0)
                for strategy in ROUNDING_STRATEGIES
            ]
    return found


def solver(strategy: str, exponent: float) -> dict[str, object]:
    """A game of a strategy at 2^-exponent."""
    return {"kind": "frontier", "strategy": strategy, "tolerance": tolerance(exponent)}


def _parity(d: int, m: int, exponent: float) -> list[Task]:
    """The cheapest strategy that is known for the cell, if its game is short enough."""
    size = comb(d - 1, m)
    small = size * tolerance(exponent) ** 2 <= SPREAD[d]
    if small and d == SLOW and exponent != int(exponent):
        return []
    params = {"dim": d, "heads": m, "gadget": "diag"}
    return [
        Task("parity", params, solver("spread" if small else "sign-batch", exponent), {"queries": 2 * size + 64}, 0)
    ]


@cache
def held(heads: int, modulus: int, levels: int, tolerance: float, largest: int) -> int:
    """The n up to `largest` at which most queries are proved for labels of m heads, by the error mass of every secret.

    >>> [held(m, 5, 5, 0.1, 5) for m in (3, 5, 7)]
    [2, 4, 5]
    """
    proved = {
        n: adversary_bounds(RoundingConcepts(n, modulus, levels, heads=heads), tolerance).get("window", 0.0)
        for n in range(1, largest + 1)
    }
    return max(proved, key=lambda n: proved[n])


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    n, tau = int(task.params["dim"]) - 1, float(task.solver["tolerance"])
    if task.family == "rounding":
        return 3.0 * 4.0 ** (n - 6)
    queries = 3 + 14 * comb(n, int(task.params["heads"])) * tau**2
    return queries * 2.5e-7 * 2**n if task.solver["strategy"] == "spread" else 0.4
