"""Every benchmark, in one run: `python -m benchmarks [--out FOLDER] [TOPIC ...]`.

Writes a page and its rows (CSV) into FOLDER, by default reports/benchmarks if all topics are run and nowhere
otherwise. Topics are the files bench_*.py by name. `python -m benchmarks.page` makes the page again of its rows.
"""

import argparse
import os
import platform
import sys
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.harness import Row, blas_rate, memory_rate, threads
from benchmarks.page import REPORT, TOPICS, duration, notes, publish, ratio, verdict
from hardness.engine.run import cpu

PACKAGES = ("numpy", "scipy", "numba", "torch", "pyfwht", "galois", "python-flint")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=", ".join(TOPICS))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if unknown := set(given.topics) - set(TOPICS):
        parser.error(f"no topic {', '.join(sorted(unknown))}")
    os.environ["OMP_PROC_BIND"] = "true"  # read when OpenMP is loaded, with torch: see `harness`
    out = given.out or (None if given.topics else REPORT)
    started, rows = perf_counter(), []
    about = environment()
    for topic in given.topics or TOPICS:
        for row in import_module(f"benchmarks.bench_{topic}").rows():
            rows.append(row)
            print(line(row), flush=True)
    about["duration"] = f"{perf_counter() - started:.0f} s"
    print(verdict(rows), file=sys.stderr)
    if out:
        publish(rows, about, out, notes(given.topics or TOPICS))


def environment() -> dict[str, str]:
    """What the figures were measured on."""
    with threads(1):
        products = " and ".join(
            f"{blas_rate(kind) / 1e9:.0f} Gflop/s {kind.__name__}" for kind in (np.float64, np.float32)
        )
        rates = f"a thread: products at {products}; {memory_rate() / 1e9:.0f} GB/s in place"
    machine = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "processor": cpu(),
        "cores": str(cpu_count()),
        "rates": rates,
    }
    for package in PACKAGES:
        try:
            machine[package] = version(package)
        except PackageNotFoundError:
            machine[package] = "absent"
    return {**machine, "Python": platform.python_version()}


def line(row: Row) -> str:
    """A row as text."""
    cells = [row.topic, row.case, f"{row.threads} thread{'s' * (row.threads > 1)}", duration(row.ours)]
    if row.ratio:
        spread = f" [{ratio(row.low)}, {ratio(row.high)}]" if row.low and row.high else ""
        cells.append(f"{ratio(row.ratio)}{spread} {row.peer}")
    elif row.peer:
        cells.append(row.peer)
    if row.over_yardstick:
        cells.append(f"{ratio(row.over_yardstick)} yardstick")
    cells += [f"{name}: {goals}" for name, goals in (("met", row.met), ("MISSED", row.missed)) if goals]
    return " | ".join([*cells, row.note] if row.note else cells)


if __name__ == "__main__":
    main()
