"""What is committed under reports/, as it is read again: csv, json and regular expressions, nothing of the lab."""

import csv
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
Row = dict[str, str]


def rows(study: str, **wanted: str) -> list[Row]:
    """Rows of a page whose columns have these values; a column is named with _ for its first dot."""
    return [
        dict(row)
        for row in _table(study)
        if all(row.get(name.replace("_", ".", 1)) == value for name, value in wanted.items())
    ]


@cache
def _table(study: str) -> list[Row]:
    with (ROOT / "reports" / study / "rows.csv").open(newline="", encoding="utf-8") as file:
        lines = [dict(_cells(line)) for line in csv.DictReader(file)]
    names = dict.fromkeys(name for line in lines for name in line)
    return [{name: line.get(name, "") for name in names} for line in lines]


def _cells(line: Row) -> Iterator[tuple[str, str]]:
    """A line with its JSON spread over columns, each a text: params.dim, solver.kind, detail.error.f1, …"""
    if "task" not in line:  # of the benchmarks
        yield from line.items()
        return
    yield from ((name, line[name]) for name in ("identity", "status", "cost"))
    yield from _spread(json.loads(line["task"]), "")
    yield from _spread(json.loads(line["detail"] or "{}"), "detail.")


def _spread(values: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _spread(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", "" if value is None else str(value)


def article_tables(study: str) -> list[list[list[str]]]:
    """The tables of an article: the words of their cells, heads first."""
    text = (ROOT / "reports" / study / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?m)(?:^\|.*\n)+", text)
    lines = [[re.split(r" ?\| ?", line)[1:-1] for line in block.splitlines()] for block in blocks]
    return [[head, *body] for head, _, *body in lines]


def summary(study: str) -> dict[str, Any]:
    return dict(json.loads((ROOT / "reports" / study / "summary.json").read_text(encoding="utf-8")))
