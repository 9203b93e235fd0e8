"""The grid of `games`: values of small classes, brackets of large ones, every strategy at every tolerance, rounding."""

from itertools import product
from math import comb
from typing import Any

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.floors import exact_floor
from hardness.studies.trials import concepts_of, played

QUESTION = "How many queries does a hidden secret take, exactly or between what bounds?"

SMALL = ((4, 2), (4, 3), (5, 2), (5, 3))  # n, s: solved exactly
LARGE, QUICK = ((20, 4), (16, 6), (24, 6)), (12, 4)  # bracketed
TOLERANCES = (0.2, 0.16, 0.14, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04)
SLOWEST = 2_000  # queries of a game worth playing set by set, and sets of a class
CROWD = 10_000
SEARCH = 300  # seconds for the value of a small class
BRACKETING = ("sign-batch", "flat")

FRONTIER_DIM = 21
FRONTIER = (0.03, 0.05, 0.0624, 0.08, 0.1, 0.1249, 0.16, 0.2)  # those of bent blocks lie just below 2^-r/4
PLAYED = ("characters", "sign-batch", "bent", "adaptive")
DETERMINISTIC = ("characters", "sign-batch", "bent", "low-degree")
DRIFT = 5  # queries by which games of sign batches at one s and τ of DRIFT_AT differ, over what they draw
DRIFT_AT = ((2, 0.03), (4, 0.03), (2, 0.1249), (3, 0.1), (3, 0.1249), (4, 0.16))

BLOCKS_OF, BLOCKS_AMONG, BLOCKS_AT = 4, (16, 32, 64), (0.16, 0.14)  # s, n and τ of the games of theorem D

TOLERANCE = 0.1  # of the games on rounding
QUERIES = 20_000
IDEAL, UP_TO = (5, 5), 7  # modulus and levels of ideal labels, and their largest n
GOOD = ("sign-batch", "adaptive")
# The largest n that another strategy affords, and its limit of queries, on ideal labels.
OTHERS = {"characters": (4, QUERIES), "gradient": (5, 300), "low-degree": (6, 100)}


def tasks(quick: bool) -> list[Task]:
    """Every game once: where two parts of the grid ask for the same game, it serves both."""
    parts = _exact(quick), _frontier(quick), _rounding(quick), _blocks(quick)
    return list({task.identity: task for part in parts for task in part}.values())


def _exact(quick: bool) -> list[Task]:
    """The value of every small class and the strategies on it, and the strategies on the large ones."""
    games = []
    small, large = (SMALL[:2], (QUICK,)) if quick else (SMALL, LARGE)
    for (n, s), tau in product((*small, *large), TOLERANCES[:: 2 if quick else 1]):
        params = {"dim": n + 1, "heads": s, "gadget": "diag"}
        if (n, s) in small:
            games.append(Task("parity", params, {"kind": "value", "tolerance": tau}, {"seconds": SEARCH}, 0))
        for strategy in BRACKETING:
            if strategy == "flat" and (exact_floor(comb(n, s), tau) > SLOWEST or comb(n, s) > CROWD):
                continue
            games += _games("parity", params, strategy, tau, 2 * comb(n, s) + 64, 1)
    return games


def _frontier(quick: bool) -> list[Task]:
    """Every strategy at every tolerance that it affords, on parities at d = 21."""
    games = []
    for m, strategy, tau in product(range(2, 5 if quick else 6), PLAYED, FRONTIER):
        # Exact losses of many candidates on many sets take minutes at small tolerance.
        if strategy == "adaptive":
            afforded = (
                tau >= 0.05 if m == 2 else m == 3 and tau in ((0.1249,) if quick else (0.1, 0.1249, 0.16))
            )
        else:
            afforded = strategy != "bent" or m <= (3 if quick else 4)
        if afforded:
            runs = 1 if strategy in DETERMINISTIC else 2 if quick else 5
            params = {"dim": FRONTIER_DIM, "heads": m, "gadget": "diag"}
            games += _games("parity", params, strategy, tau, 2 * comb(FRONTIER_DIM - 1, m) + 64, runs)
    return games


def _rounding(quick: bool) -> list[Task]:
    """Ideal labels at every n."""
    runs, largest = (2, 4) if quick else (10, UP_TO)
    games = []
    for n in range(2, largest + 1):
        params = {"dim": n + 1, "modulus": IDEAL[0], "levels": IDEAL[1]}
        for name in GOOD:
            games += _games("rounding", params, name, TOLERANCE, QUERIES, runs)
        for name, (largest_n, queries) in OTHERS.items():
            if n <= largest_n:
                repeated = 1 if name == "low-degree" else runs
                games += _games("rounding", params, name, TOLERANCE, queries, repeated)
    return games


def _blocks(quick: bool) -> list[Task]:
    """Theorem D's strategy, on classes that grow."""
    wanted = list(product(BLOCKS_AMONG[: 1 if quick else None], BLOCKS_AT))
    return [task for n, tau in wanted for task in _block_games(n, tau)]


def _block_games(n: int, tau: float) -> list[Task]:
    params = {"dim": n + 1, "heads": BLOCKS_OF, "gadget": "diag"}
    return _games("parity", params, "blocks", tau, 2 * comb(n, BLOCKS_OF) + 64, 1)


def _games(
    family: str, params: dict[str, Any], strategy: str, tolerance: float, queries: int, runs: int
) -> list[Task]:
    solver = {"kind": "frontier", "strategy": strategy, "tolerance": tolerance}
    return [Task(family, params, solver, {"queries": queries}, run) for run in range(runs)]


def game(task: Task, root: int, guard: float) -> Outcome:
    """A strategy against the greedy window. Deterministic in the task and the root seed.

    >>> solver = {"kind": "frontier", "strategy": "sign-batch", "tolerance": 0.1}
    >>> outcome = game(Task("parity", {"dim": 15, "heads": 4}, solver, {"queries": 4000}, 0), 0, 60.0)
    >>> outcome.status, outcome.detail["bound"] <= outcome.cost <= outcome.detail["exhaustive"]
    ('solved', True)
    """
    result = played(task, root)
    detail = {"bound": result.bound, "concepts": result.concepts, "remaining": result.remaining}
    if task.family == "parity":
        detail["exhaustive"] = result.concepts - 1
    return Outcome(result.status, result.queries, detail)


def trial(task: Task, root: int, guard: float) -> Outcome:
    """The value of a small class by search, or a game.

    >>> task = Task("parity", {"dim": 5, "heads": 2}, {"kind": "value", "tolerance": 0.15}, {"seconds": 60}, 0)
    >>> trial(task, 0, 60.0).cost
    3
    """
    if task.solver["kind"] != "value":
        return game(task, root, guard)
    from hardness.exact.small_games import value

    concepts = concepts_of(task)
    assert isinstance(concepts, ParityConcepts)
    game_value = value(concepts, float(task.solver["tolerance"]), float(task.budget["seconds"]))
    detail = {"concepts": concepts.size, "lower": game_value.lower, "upper": game_value.upper}
    return Outcome("solved" if game_value.exact is not None else "budget", game_value.lower, detail)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    n, strategy, tau = (
        int(task.params["dim"]) - 1,
        task.solver.get("strategy"),
        float(task.solver["tolerance"]),
    )
    if task.family == "rounding":
        usual = {"adaptive": 0.6, "sign-batch": 0.2}.get(str(strategy), 0.5)
        return 0.05 + usual * (10.0 ** (n - 6) if task.params["modulus"] == IDEAL[0] else 34.0 ** (n - 4))
    s = int(task.params["heads"])
    match task.solver["kind"], strategy:
        case "value", _:
            return 1.0 if comb(n, s) > 6 else 0.1
        case _, "flat":
            return 6.0 + 0.012 * exact_floor(comb(n, s), tau)
        case _, "adaptive":
            return 3.0
        case _, "blocks":
            return 5.0 + 1.3e-5 * comb(n, s)
        case _, "bent":
            return 0.1 * 4.0 ** (s - 2)
    return 0.8
