"""The grid of `exponential-in-m`, and how long its trials take."""

from math import comb

from hardness.study.task import Task

QUESTION = "Does the number of statistical queries needed to learn an m-head attention layer grow exponentially in m?"

WINDOW_TOLERANCE = 0.1
HONEST_TOLERANCE, HONEST_SAMPLES = 0.05, 448  # a mean of 448 samples has standard deviation 0.047
STRATEGIES = ("sign-batch",)  # those that scale; the cheapest of them at each (d, s) is the main curve
REFERENCE = "characters"  # costs N - 1 by construction: drawn, never judged
LARGEST = 8_000_000  # concepts
SGD_BUDGET = 800_000  # examples


def cells(quick: bool) -> list[tuple[int, int]]:
    """The grid of theory 3.6 from two heads on: (d, s) with C(d-1, s) <= 8e6 and s <= d/2."""
    dims, sizes = ((16, 24, 32, 48), range(2, 6)) if quick else ((16, 24, 32, 48, 64), range(2, 7))
    return [(d, s) for s in sizes for d in dims if comb(d - 1, s) <= LARGEST and s <= d / 2]


def tasks(quick: bool) -> list[Task]:
    """Games against the window adversary and the honest oracle, and SGD, on every cell."""
    found = []
    for d, s in cells(quick):
        params, limit = {"dim": d, "heads": s, "gadget": "diag"}, {"queries": 4 * comb(d - 1, s)}
        window = {"kind": "game", "oracle": "window", "tolerance": WINDOW_TOLERANCE}
        honest = {"kind": "game", "oracle": "sampled", "tolerance": HONEST_TOLERANCE, "samples": HONEST_SAMPLES}
        runs = 10 if quick else 20
        for strategy in STRATEGIES:
            found += [Task("parity", params, window | {"strategy": strategy}, limit, r) for r in range(runs)]
        found.append(Task("parity", params, window | {"strategy": REFERENCE}, limit, 0))
        found += [Task("parity", params, honest | {"strategy": REFERENCE}, limit, r) for r in range(20)]
        # Beyond these cells hardly a run learns within the budget.
        if s <= 4 or (s == 5 and d <= (32 if quick else 48)) or (s == 6 and d <= 24):
            sgd = {"kind": "learner", "learner": "sgd", "params": {}}
            runs = 5 if quick else 20 if s <= 4 else 10
            found += [Task("parity", params, sgd, {"samples": SGD_BUDGET}, r) for r in range(runs)]
    return found


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    d, s = int(task.params["dim"]), int(task.params["heads"])
    if task.solver["kind"] == "learner":
        # Samples to success grow about threefold with s and with d^0.8(s-1) (theory 3.5).
        return 0.05 + min(float(task.budget["samples"]), 350 * 2.1**s * float((d / 16) ** (0.9 * s - 1.1))) / 3e5
    return 0.002 + comb(d - 1, s) / (7e6 if task.solver["strategy"] != REFERENCE else 2e7)
