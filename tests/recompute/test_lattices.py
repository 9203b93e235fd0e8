"""Numbers and main tables of lattices, recomputed from rows.csv and timings.csv: csv and json, nothing of the lab."""

import csv
from collections import defaultdict
from math import log2
from statistics import median

from committed import ROOT, Row, article_tables, rows, summary

PAIRS = (("97", "2"), ("97", "4"), ("97", "8"), ("257", "16"))
FLOOR = 2.0  # seconds


def seconds() -> dict[str, float]:
    with (ROOT / "reports" / "lattices" / "timings.csv").open(newline="", encoding="utf-8") as file:
        return {line["identity"]: float(line["seconds"]) for line in csv.DictReader(file)}


def cells() -> dict[tuple[str, ...], list[Row]]:
    """Runs by modulus, levels, dimension and attack."""
    grouped = defaultdict(list)
    for row in rows("lattices"):
        names = ("params.modulus", "params.levels", "params.dim", "solver.attack")
        grouped[tuple(row[name] for name in names)].append(row)
    return grouped


def solved(runs: list[Row]) -> int:
    return sum(row["status"] == "solved" for row in runs)


def test_the_largest_sizes():
    numbers, (table, *_) = summary("lattices")["numbers"], article_tables("lattices")
    ends = []
    for (q, p), line in zip(PAIRS, table[1:], strict=True):
        assert line[:2] == [q, p]
        for attack, cell in (("lattice", line[2:6]), ("bkw", line[6:10])):
            tried = {
                int(key[2]) - 1: runs for key, runs in cells().items() if (*key[:2], key[3]) == (q, p, attack)
            }
            largest = max(n for n, runs in tried.items() if solved(runs))
            beyond = min(n for n in tried if n > largest)
            assert all(not solved(runs) for n, runs in tried.items() if n > largest)
            refused = {row["status"] for row in tried[beyond]} == {"refused"}
            ends.append(refused)
            end = "refused" if refused else f"{solved(tried[beyond])} of {len(tried[beyond])} solved"
            runs = tried[largest]
            assert cell == [str(largest), f"{solved(runs)} of {len(runs)}", str(beyond), end]
    missed = {row["params.levels"]: int(row["params.dim"]) - 1 for row in rows("lattices", status="budget")}
    assert numbers["missed"] == missed == {"4": 72, "8": 88}
    assert numbers["rows"] == f"{max(int(row['cost'] or 0) for row in rows('lattices')):,}"
    assert (sum(ends), len(ends)) == (numbers["refused"], numbers["ends"])
    assert numbers["largest"] == {"lattice": [50, 140], "bkw": [70, 96]}
    assert (table[1][2], table[4][2], table[1][6], table[4][6]) == ("50", "140", "70", "96")


def test_the_predictions():
    numbers, took, errors = summary("lattices")["numbers"], [], []
    for runs in cells().values():
        times = [max(seconds()[row["identity"]], FLOOR) for row in runs if row["status"] == "solved"]
        printed = [row.get("detail.predicted_seconds") or row.get("detail.forecast_seconds") for row in runs]
        known = median(max(float(value), FLOOR) for value in printed if value) if any(printed) else FLOOR
        if times and min(median(times), known) > FLOOR:
            took.append(median(times))
            errors.append(abs(log2(took[-1] / known)))
    assert numbers["compared"] == len(took)
    assert numbers["range"] == [round(min(took)), round(max(took))]
    assert numbers["error"] == round(2 ** median(errors), 1)
