"""The grid of `needs`: games over the tolerances from 1/4 down to 2^-12, and what m heads buy at large sizes."""

from itertools import product
from math import comb

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.gadgets.sharp import SHARPNESSES
from hardness.sq.bounds import head_budget
from hardness.studies.games import TOLERANCE, game

QUESTION = (
    "How many queries, and of what tolerance, do the labels of m heads make necessary, and what is reached?"
)

HEADS = tuple(range(2, 9))
PLAYED, FORMULA = (16, 20, 24), 64  # dimensions of games, and the one where there are formulas only
# log2 1/tau: just below a quarter, where parities begin to be told apart; half steps where strategies differ most
EXPONENTS = (2.06, *(e / 2 for e in range(5, 17)), 9.0, 10.0, 11.0, 12.0)
FINEST = 12.0
# Up to how many concepts, times the squared tolerance, `spread` is played
SPREAD = {16: 4.0, 20: 4.0, 24: 0.3}
SLOW = 24  # the dimension at which it is played at whole exponents only
DEPENDENT = (
    8.0  # there, from which exponent on sums of dependent sets are played beside batches of independent ones
)

MODULUS, LEVELS = 5, 5  # of rounding
# The n, up to 6, at which most is proved of the labels of m heads at `AT`, by the error mass of every secret. A test
# counts it anew, which takes longer than to list a grid should.
HELD = dict(zip(HEADS, (1, 2, 3, 4, 5, 6, 6), strict=True))
AT = TOLERANCE  # at which n is chosen
ROUNDING_EXPONENTS = (3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0)
ROUNDING_STRATEGIES, ROUNDING_QUERIES = ("sign-batch", "adaptive"), 2000

BUDGET_DIM, BUDGET_TOLERANCES = 256, (0.1, 0.01, 0.001)
BUDGET_MODULUS, BUDGET_LEVELS = 97, 2


def tolerance(exponent: float) -> float:
    """2^-exponent to three digits: theory 2.7 reads a tolerance as its decimal.

    >>> tolerance(2.06), tolerance(10.0)
    (0.24, 0.000977)
    """
    return float(f"{2.0**-exponent:.3g}")


def tasks(quick: bool) -> list[Task]:
    """One game a class, tolerance and strategy: a game that ended shows that its number of queries suffices."""
    dims, heads, step = ((16,), HEADS[:3], 2) if quick else (PLAYED, HEADS, 1)
    games = [task for d in dims for m in heads for e in EXPONENTS[::step] for task in _parity(d, m, e)]
    for m in HEADS[-2:] if quick else HEADS:
        n = min(HELD[m], 4) if quick else HELD[m]
        params = {"dim": n + 1, "modulus": MODULUS, "levels": LEVELS, "heads": m}
        for e in ROUNDING_EXPONENTS[::step] if n > 1 else ():
            games += [
                Task("rounding", params, solver(strategy, e), {"queries": ROUNDING_QUERIES}, 0)
                for strategy in ROUNDING_STRATEGIES
            ]
    return games + budget(quick)


def solver(strategy: str, exponent: float) -> dict[str, object]:
    """A game of a strategy at 2^-exponent."""
    return {"kind": "frontier", "strategy": strategy, "tolerance": tolerance(exponent)}


def _parity(d: int, m: int, exponent: float) -> list[Task]:
    """The strategies that may be the cheapest known for the cell, if their games are short enough."""
    size = comb(d - 1, m)
    small = size * tolerance(exponent) ** 2 <= SPREAD[d]
    if small and d == SLOW and exponent != int(exponent):
        return []
    names = ["spread"] if small else ["sign-batch"]
    if not small and d == SLOW and exponent >= DEPENDENT:
        names.append("dependent")
    params = {"dim": d, "heads": m, "gadget": "diag"}
    return [Task("parity", params, solver(name, exponent), {"queries": 2 * size + 64}, 0) for name in names]


def budget(quick: bool) -> list[Task]:
    """What m heads buy: no game, only bounds; one task per family, m and tolerance."""
    heads = (2, 4, 8, 16, 32, 64, 128) if quick else (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    parity = {"dim": BUDGET_DIM, "gadget": "diag"}
    rounding = {"modulus": BUDGET_MODULUS, "levels": BUDGET_LEVELS}
    return [
        Task(family, {**params, "heads": m}, {"kind": "budget", "tolerance": tau}, {}, 0)
        for tau, m in product(BUDGET_TOLERANCES, heads)
        for family, params in (("parity", parity), ("rounding", rounding))
    ]


def trial(task: Task, root: int, guard: float) -> Outcome:
    """A game, or the bounds of one family at m heads and one tolerance."""
    return bought(task) if task.solver["kind"] == "budget" else game(task, root, guard)


def bought(task: Task) -> Outcome:
    """log2 of the queries that are needed against m heads at one tolerance."""
    m, tau = int(task.params["heads"]), float(task.solver["tolerance"])
    if task.family == "parity":
        dim = int(task.params["dim"])
        exact = head_budget.exact_parity(m, dim, tau)
        best = head_budget.truncated_parity(m, dim, tau)
        detail = {
            "exact": exact.log2_queries,
            "truncated": best.log2_queries,
            "s": best.size,
            "leak": best.leak,
        }
        return Outcome("solved", None, detail)
    bound = head_budget.rounding(m, tau, int(task.params["modulus"]), int(task.params["levels"]))
    return Outcome("solved", None, {"n": bound.size, "rounding": bound.log2_queries})


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    if task.solver["kind"] == "budget":
        return 0.5
    n, tau = int(task.params["dim"]) - 1, float(task.solver["tolerance"])
    if task.family == "rounding":
        return 3.0 * 4.0 ** (n - 6)
    queries = 3 + 14 * comb(n, int(task.params["heads"])) * tau**2
    per_query = {"spread": 2.5e-7, "dependent": 1.2e-7}.get(task.solver["strategy"], 0.0) * 2**n
    return float(queries * per_query) if per_query else 0.4


# Figures of the page's sentences that no row of it gives.
SHARP_GROWTH, WIDE_SUM = (4.5, 5.9), 3.61  # theory 1.5: of the sum of the coefficients a head; a bit at most
SHARP_COMPUTED = (3, max(SHARPNESSES))  # for which m that growth is computed
STUDENT_HEADS, FLOATS = 16, 32  # of the learner `diagonal`; bits of a number of a gradient
# Classes of the noisy learner; share of runs
NOISY_BITS, RIGHT = (2, 4), 0.9
