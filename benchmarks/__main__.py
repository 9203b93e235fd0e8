"""Every benchmark in one run, or some: `python -m benchmarks [TOPIC ...] [--out FOLDER]`.

A run of all topics writes rows.csv, summary.json and README.md into FOLDER, by default reports/benchmarks; one of some
topics only prints. `--page` makes the page of the rows in FOLDER again.
"""

import argparse
import json
import os
import platform
import sys
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.harness import ONE_THREAD, Row, read_rows, write_rows

HERE = Path(__file__).parent
REPORT = HERE.parent / "reports" / "benchmarks"
TOPICS = ("labels", "dense", "students", "gf2", "walsh", "commands")
CLOSE = 1.08  # a race that is won by less is called close
QUIET = 0.5  # processes beside this one up to which a machine counts as idle


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=", ".join(TOPICS))
    parser.add_argument("--out", type=Path, default=REPORT)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if unknown := set(given.topics) - set(TOPICS):
        parser.error(f"no topic {', '.join(sorted(unknown))}")
    if given.page:
        publish(read_rows(given.out / "rows.csv"), about(given.out), given.out)
        return
    if any(os.environ.get(name) != value for name, value in ONE_THREAD.items()):
        # Libraries read it when they are loaded, as numpy is by now: start again.
        command = [sys.executable, "-m", "benchmarks", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | ONE_THREAD)
    machine, rows = environment(), []
    for topic in given.topics or TOPICS:
        for row in import_module(f"benchmarks.bench_{topic}").rows():
            rows.append(row)
            print(line(row), flush=True)
    if not given.topics:
        given.out.mkdir(parents=True, exist_ok=True)
        write_rows(rows, given.out / "rows.csv")
        publish(rows, machine, given.out)


def environment() -> dict[str, str]:
    """Return what the figures are measured on."""
    from hardness.engine.run import cpu

    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "processor": cpu(),
        "cores": str(os.cpu_count()),
        "Python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
    }


def about(folder: Path) -> dict[str, str]:
    """Return what the figures in a folder were measured on."""
    return dict(json.loads((folder / "summary.json").read_text(encoding="utf-8"))["machine"])


def line(row: Row) -> str:
    """Return a row as text."""
    if row.ratio is None:
        return f"{row.topic} | {row.case} | {duration(row.ours)}"
    peer = f"{row.peer} {row.version} | {spread(row)} | load {row.load:.1f}"
    return f"{row.topic} | {row.case} | {duration(row.ours)} | {peer}"


def duration(seconds: float) -> str:
    """Return seconds in a unit that fits.

    >>> duration(5.68e-09), duration(0.0021)
    ('5.68 ns', '2.1 ms')
    """
    unit, scale = next(
        (unit, scale)
        for unit, scale in (("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("s", 1))
        if seconds * scale < 1000
    )
    return f"{seconds * scale:.3g} {unit}"


def spread(row: Row) -> str:
    """Return the ratio of a row with its quartiles."""
    return f"{row.ratio:.3g} ({row.low:.3g} to {row.high:.3g})"


def fastest(rows: list[Row]) -> list[Row]:
    """Return the row of the fastest peer of each case, in the order of the cases."""
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row.ratio is not None:
            key = row.topic, row.case
            best[key] = min(best.get(key, row), row, key=lambda each: each.ratio or 0)
    return list(best.values())


def numbers(rows: list[Row], machine: dict[str, str]) -> dict[str, Any]:
    """Return every number that the sentences of the page print."""
    best = fastest(rows)
    verdicts = [row.verdict for row in best]
    loads = [row.load for row in rows]
    return {
        "cases": len(verdicts),
        **{name: verdicts.count(name) for name in ("ahead", "level", "behind")},
        "close": sum(row.verdict == "ahead" and (row.ratio or 0) < CLOSE for row in best),
        "percent": round(100 * (CLOSE - 1)),
        "load": {
            "least": min(loads),
            "most": max(loads),
            "state": "idle" if max(loads) <= 1 + QUIET else "busy",
        },
        "machine": machine,
    }


def publish(rows: list[Row], machine: dict[str, str], folder: Path) -> None:
    """Write README.md and summary.json of rows."""
    import pandas as pd

    from hardness.io.files import write_text
    from hardness.io.schemas import SUMMARY_VERSION
    from hardness.report.article import fill

    lines = [
        {
            "topic": row.topic,
            "case": row.case,
            "ours": f"{duration(row.ours)} / {row.unit}",
            "fastest peer": f"{row.peer} ({row.version})" if row.peer else "",
            "theirs": "" if row.theirs is None else duration(row.theirs),
            "theirs / ours": "" if row.ratio is None else spread(row),
        }
        for row in rows
    ]
    best = fastest(rows)
    tables = {
        "races": pd.DataFrame([line for line, row in zip(lines, rows, strict=True) if row in best]),
        "all": pd.DataFrame(lines).rename(columns={"fastest peer": "peer"}),
    }
    counted = numbers(rows, machine)
    page = HERE / "page.md"
    text = fill(page.read_text(encoding="utf-8"), counted, tables, page.name)
    summary = {
        "study": "benchmarks",
        "role": "speed",
        "schema": SUMMARY_VERSION,
        "verdict": text.partition("\n")[0].removeprefix("# "),
        "numbers": counted,
        "machine": machine,
    }
    write_text(folder / "summary.json", json.dumps(summary, sort_keys=True, indent=1) + "\n")
    write_text(folder / "README.md", text)


if __name__ == "__main__":
    main()
