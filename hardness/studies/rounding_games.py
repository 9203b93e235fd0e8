"""The study rounding-games: tasks and table. Its trials and their predicted seconds are those of `sq_studies`."""

from collections.abc import Iterable
from math import log

from hardness.concepts import RoundingConcepts
from hardness.studies.sq_studies import RUNS, Line, frontier_table
from hardness.study.store import Row
from hardness.study.task import Task

TOLERANCE = 0.1
# Largest n a strategy affords, and its limit of queries.
UP_TO = {
    "adaptive": (8, 20_000), "sign-batch": (8, 20_000), "characters": (5, 20_000), "gradient": (6, 300),
    "low-degree": (8, 100),
}  # fmt: skip


def tasks(quick: bool) -> list[Task]:
    """Rounding with q = p = 5 against the window adversary, over all 5^n secrets; n up to 8 for those that end."""
    found = []
    for n in range(3, 6 if quick else 9):
        params = {"dim": n + 1, "modulus": 5, "levels": 5}
        for strategy, (largest, queries) in UP_TO.items():
            if n <= largest:
                solver = {"kind": "frontier", "strategy": strategy, "tolerance": TOLERANCE}
                runs = 1 if strategy == "low-degree" or n == 8 else 2 if quick or n == 7 else RUNS
                found += [Task("rounding", params, solver, {"queries": queries}, r) for r in range(runs)]
    return found


def games_table(rows: Iterable[Row]) -> list[Line]:
    """The frontier's lines on rounding with SDA beside them, and the ratio over n ln q, what geometric losses cost."""
    from hardness.sq.bounds.rounding import rounding_bounds

    found = list(rows)
    classes = {row.task.params["dim"] - 1 for row in found}
    bounds = {n: rounding_bounds(RoundingConcepts(n, 5, 5), TOLERANCE) for n in classes}
    hidden = ("family", "m or n", "tolerance", "least", "exhaustive", "exact", "entropy")
    table = []
    for line in frontier_table(found):
        n = line["m or n"]
        ratio, decay = line["ratio"], n * log(5)
        table.append(
            {"n": n} | {key: value for key, value in line.items() if key not in hidden}
            | {"SDA": bounds[n].get("sda"), "n ln q": decay, "ratio/(n ln q)": ratio and ratio / decay}
        )  # fmt: skip
    return sorted(table, key=lambda line: (line["strategy"], line["n"]))
