"""The rows of a study, sweep or board as a pandas data frame, and as a wide table for other programs.

A frame has bare names; a table written to a file has a column for each place of a value.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from hardness.engine.outcome import Row
from hardness.engine.rows import PLANNED, TIMED, read
from hardness.errors import InputError
from hardness.io.files import replacing

# What a cost is: queries or examples spent, of a solved run what solving took, of a censored one a bound from below.
COLUMNS = ("identity", "family", "repetition", "status", "cost", "censored", "tuning", "seconds")
PARTS = ("params", "solver", "budget", "detail", "provenance")  # of a row, where other values stand
Place = tuple[str, str]  # of a value: its part, "" for a column of `COLUMNS`, and its name


def frame(rows: Iterable[Row]) -> pd.DataFrame:
    """Return a data frame with one line per row, which is a task and, if its trial was run, how that ended.

    First come the columns identity, family, repetition, status, cost, censored (the cost is a lower bound), tuning (the
    run only chose a setting) and seconds. Every other value is in a column of its bare name (`dim`, `learner`,
    `samples`); the keys of a nested mapping are joined by a dot (`error.f1`), and a list stays one value. If a name
    occurs in several parts of a row, the first of params, solver, budget and detail gets the bare name, and the others
    are prefixed in every row: beside a parameter `heads` the solver's is `solver.heads`. Provenance is always prefixed.
    Integers beside missing values stay integers (`Int64`). `attrs["parts"]` maps each column to its part, "" for those
    that come first.
    """
    lines = [
        {**_places(row), ("", "censored"): row.censored, ("", "tuning"): row.task.tuning} for row in rows
    ]
    places = dict.fromkeys(place for line in lines for place in line)
    order = ["", *PARTS]
    names: dict[Place, str] = {}
    for part, name in sorted(places, key=lambda place: order.index(place[0])):
        bare = not part or (part != "provenance" and name not in {*COLUMNS, *names.values()})
        names[part, name] = name if bare else f"{part}.{name}"
    table = data_frame([{names[place]: value for place, value in line.items()} for line in lines])
    first = [name for name in COLUMNS if name in table]
    table = table[first + [name for name in table if name not in COLUMNS]]
    table.attrs["parts"] = {name: part for (part, _), name in names.items()}
    return table


def _places(row: Row) -> dict[Place, Any]:
    """Return the values of a row by (part, name), such as ("params", "dim"); the part of status and cost is ""."""
    task, end = row.task, row.outcome
    bare = {
        "identity": task.identity,
        "family": task.family,
        "repetition": task.repetition,
        "status": PLANNED,
    }
    parts = {"": bare, "params": task.params, "solver": task.solver, "budget": task.budget}
    if end is not None:
        whole = end.cost is not None and float(end.cost).is_integer()
        bare |= {
            "status": end.status,
            "cost": int(end.cost or 0) if whole else end.cost,
            "seconds": end.seconds,
        }
        parts |= {"detail": end.detail, "provenance": row.provenance or {}}
    return {
        (part, name): value
        for part, values in parts.items()
        for name, value in (_flat(values) if part else values.items())
    }


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in sorted(values.items()):
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def rows(folder: str | Path, *, tuning: bool = False) -> pd.DataFrame:
    """Return the rows of a study or sweep, one for each trial, as a data frame whose columns `frame` describes.

    `folder` is what `study run --out` or `sweep --out` named, the rows.db in it, or a folder that holds a rows.csv
    instead, as committed pages do. `tuning` adds the runs that only chose settings and are no results. The cost of a
    run that ended as refused, wrong or error is no cost of solving. Raises `InputError` where there are no rows.
    """
    return frame(row for row in read(Path(folder)).rows if tuning or not row.task.tuning)


def data_frame(lines: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a DataFrame with one line per mapping; integers beside missing values stay integers (`Int64`).

    >>> data_frame([{"s": 4, "q": 2**60 + 1}, {"s": None, "q": 1}])["s"].tolist()
    [4, <NA>]
    """
    table = pd.DataFrame(lines)
    for name in table.columns:
        values = [line.get(name) for line in lines]
        small = all(value is None or (type(value) is int and abs(value) < 2**63) for value in values)
        if small and None in values and any(value is not None for value in values):
            table[name] = pd.array(values, dtype="Int64")
    return table


def export(rows: Sequence[Row], out: Path, timing: bool = True) -> int:
    """Write rows to a .csv file, one column per value and part (`params.dim`); return the number of rows written.

    Without times and provenance (`timing`) equal seeds give equal bytes. Raises `InputError` if `out` is no .csv file.
    """
    if out.suffix != ".csv":
        raise InputError(f"cannot export to {out.name}: name a .csv file")
    lines = [
        {
            ".".join(filter(None, place)): value
            for place, value in _places(row).items()
            if timing or not (place[0] == "provenance" or place[1] in ("seconds", *TIMED))
        }
        for row in rows
    ]
    with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        names = dict.fromkeys(name for line in lines for name in line)
        writer = csv.DictWriter(file, [*names], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    return len(lines)
