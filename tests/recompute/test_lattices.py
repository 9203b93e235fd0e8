"""Numbers and main tables of lattices, recomputed from rows.csv and timings.csv: csv and json, nothing of the lab."""

import csv
from collections import defaultdict
from math import log2
from statistics import median

from committed import ROOT, Row, article_tables, rows, summary

PAIRS = (("97", "2"), ("97", "4"), ("97", "8"), ("257", "16"))
FLOOR, CLOSE = 2.0, 3  # seconds and bits


def seconds() -> dict[str, float]:
    with (ROOT / "reports" / "lattices" / "timings.csv").open(newline="", encoding="utf-8") as file:
        return {line["identity"]: float(line["seconds"]) for line in csv.DictReader(file)}


def cells() -> dict[tuple[str, ...], list[Row]]:
    """Runs by modulus, levels, dimension, heads, attack and examples."""
    names = (
        "params.modulus",
        "params.levels",
        "params.dim",
        "params.heads",
        "solver.attack",
        "budget.samples",
    )
    grouped = defaultdict(list)
    for row in rows("lattices"):
        grouped[tuple(row[name] for name in names)].append(row)
    return grouped


def times(runs: list[Row]) -> tuple[float | None, float | None]:
    """log2 of the median seconds that solved runs took, and of the median prediction; at least `FLOOR` each."""
    took = [log2(max(seconds()[row["identity"]], FLOOR)) for row in runs if row["status"] == "solved"]
    printed = [row.get("detail.predicted_seconds") or row.get("detail.forecast_seconds") for row in runs]
    known = [log2(max(float(value), FLOOR)) for value in printed if value]
    return (median(took) if took else None), (median(known) if known else None)


def solved(runs: list[Row]) -> int:
    return sum(row["status"] == "solved" for row in runs)


def test_the_largest_sizes() -> None:
    numbers, (table, *_) = summary("lattices")["numbers"], article_tables("lattices")
    ends = []
    for (q, p), line in zip(PAIRS, table[1:], strict=True):
        assert line[:2] == [q, p]
        for attack, cell in (("lattice", line[2:6]), ("bkw", line[6:10])):
            tried = defaultdict(list)
            for key, runs in cells().items():
                if key[:2] == (q, p) and key[3:5] == ("", attack):
                    tried[int(key[2]) - 1] += runs
            largest = max(n for n, runs in tried.items() if solved(runs))
            beyond = min(n for n in tried if n > largest)
            assert all(not solved(runs) for n, runs in tried.items() if n > largest)
            refused = {row["status"] for row in tried[beyond]} == {"refused"}
            ends.append(refused)
            end = "refused" if refused else f"{solved(tried[beyond])} of {len(tried[beyond])} solved"
            runs = tried[largest]
            assert cell == [str(largest), f"{solved(runs)} of {len(runs)}", str(beyond), end]
    assert (sum(ends), len(ends)) == (numbers["refused"], numbers["ends"])
    assert numbers["largest"] == {"lattice": [50, 140], "bkw": [70, 96]}
    assert (table[1][2], table[4][2], table[1][6], table[4][6]) == ("50", "140", "70", "96")


def test_the_predictions() -> None:
    numbers, compared = summary("lattices")["numbers"], []
    for runs in cells().values():
        took, known = times(runs)
        if took is not None and known is not None and (min(took, known) > 1 or abs(took - known) > CLOSE):
            compared.append((took, known))
    low, high = min(took for took, _ in compared), max(took for took, _ in compared)
    guess = (low + high) / 2
    assert numbers["compared"] == len(compared)
    assert numbers["close"] == sum(abs(took - known) <= CLOSE for took, known in compared)
    assert numbers["guess_close"] == sum(abs(took - guess) <= CLOSE for took, _ in compared)
    assert (numbers["guess"], numbers["range"]) == (round(2**guess), [round(2**low), round(2**high)])
    assert numbers["error"]["predicted"] == round(2 ** median(abs(t - k) for t, k in compared), 1)
    constants = [(one + other) / 2 for one, _ in compared for other, _ in compared]
    best = min(median(abs(took - constant) for took, _ in compared) for constant in constants)
    assert numbers["error"]["constant"] == round(2**best, 1)


def test_few_heads() -> None:
    numbers, few = summary("lattices")["numbers"], {key: runs for key, runs in cells().items() if key[3]}
    two = [row for key, runs in few.items() if key[3] == "2" for row in runs]
    assert (numbers["two"]["solved"], numbers["two"]["runs"]) == (solved(two), len(two)) == (0, 6)
    masses = [
        median(float(row["detail.error_mass"]) for row in runs) for key, runs in few.items() if key[3] == "2"
    ]
    assert numbers["two"]["mass"] == [round(min(masses), 2), round(max(masses), 2)]
    bkw = {int(key[3]): times(runs) for key, runs in few.items() if key[4] == "bkw"}
    longer = [
        m
        for m, (took, known) in sorted(bkw.items())
        if took is not None and known is not None and took > known
    ]
    assert numbers["longer"] == ", ".join(map(str, longer))
    started = [runs for key, runs in cells().items() if not key[3] and not solved(runs)]
    kept = [runs for runs in started if {row["status"] for row in runs} != {"refused"}]
    assert numbers["unsolved"] == len(kept)
