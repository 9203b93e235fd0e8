"""Every benchmark, in one run: `python -m benchmarks [--out FOLDER] [TOPIC ...]`.

Writes a page and its rows (CSV) into FOLDER, by default reports/benchmarks if all topics are run and nowhere
otherwise. Topics are the files bench_*.py by name.
"""

import argparse
import csv
import io
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.harness import Row, blas_rate, memory_rate, threads
from hardness.engine.run import cpu
from hardness.io.files import write_text
from hardness.io.schemas import SUMMARY_VERSION
from hardness.report.report import PAGE, ROWS, SUMMARY, docs_href, index_href, render, renew_index

HERE = Path(__file__).parent
TOPICS = (
    "labels",
    "forward",
    "sq",
    "walsh",
    "gf2",
    "direct",
    "startup",
    "growth",
    "small",
    "student",
    "diagonal",
    "engine",
)
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
    out = given.out or (None if given.topics else HERE.parent / "reports" / "benchmarks")
    started, rows, notes = perf_counter(), [], {}
    about = environment()
    for topic in given.topics or TOPICS:
        bench = import_module(f"benchmarks.bench_{topic}")
        notes[bench.TOPIC] = (bench.__doc__ or "").partition("\n\n")[0]
        for row in bench.rows():
            rows.append(row)
            print(line(row), flush=True)
    about["duration"] = f"{perf_counter() - started:.0f} s"
    print(verdict(rows), file=sys.stderr)
    if out:
        publish(rows, about, out, notes)


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


def verdict(rows: Sequence[Row]) -> str:
    """One sentence: goals met, those missed by topic, name and number of rows, peers that are not there."""
    met, missed = (
        Counter(f"{heading(topic)} {goal}" for topic, text in texts if text for goal in text.split("; "))
        for texts in ([(row.topic, row.met) for row in rows], [(row.topic, row.missed) for row in rows])
    )
    parts = [f"{met.total()} of {met.total() + missed.total()} goals of our own met"]
    if missed:
        named = (f"{goal} ({count} row{'s' * (count > 1)})" for goal, count in missed.items())
        parts.append(f"missed: {', '.join(named)}")
    if absent := dict.fromkeys(row.peer for row in rows if row.case == "absent"):
        parts.append(f"absent: {', '.join(absent)}")
    return "; ".join(parts) + "."


def heading(topic: str) -> str:
    """A topic without its number.

    >>> heading("10 Student")
    'Student'
    """
    return topic.partition(" ")[2]


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


def duration(seconds: float | None) -> str:
    """Seconds for people.

    >>> duration(2.5e-8), duration(0.0031), duration(12.3456), duration(None)
    ('25 ns', '3.1 ms', '12.3 s', '')
    """
    if seconds is None:
        return ""
    scale, unit = next(
        ((s, u) for s, u in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")) if seconds >= s), (1e-9, "ns")
    )
    return f"{seconds / scale:.3g} {unit}"


def ratio(value: float) -> str:
    """A ratio for people.

    >>> ratio(12345.6), ratio(2.345)
    ('12,346×', '2.35×')
    """
    return f"{value:,.0f}×" if value >= 100 else f"{value:.3g}×"


def publish(rows: Sequence[Row], about: dict[str, str], folder: Path, notes: Mapping[str, str]) -> None:
    """Write index.html, rows.csv and summary.json into `folder`, and the index beside it if there is one.

    `notes` say of a topic what was measured, and of what.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(asdict, rows))
    html = render(
        "benchmarks.html",
        room=HERE,
        filters={"duration": duration, "ratio": ratio, "heading": heading},
        home=index_href(folder),
        docs=docs_href(folder),
        rows=rows,
        topics=dict.fromkeys(row.topic for row in rows),
        notes=notes,
        verdict=verdict(rows),
        about=about,
    )
    write_text(folder / ROWS, text.getvalue())
    write_text(folder / PAGE, html)
    summary = {
        "study": "benchmarks",
        "role": "speed",
        "schema": SUMMARY_VERSION,
        "verdict": verdict(rows),
        **about,
    }
    write_text(folder / SUMMARY, json.dumps(summary) + "\n")
    renew_index(folder.parent)


if __name__ == "__main__":
    main()
