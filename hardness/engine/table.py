"""Rows as tables: .csv files that no spreadsheet calculates, .parquet files, data frames."""

import csv
import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Row
from hardness.errors import InputError, missing_extra
from hardness.io.files import replacing
from hardness.io.texts import csv_safe, sanitize, sanitize_json

if TYPE_CHECKING:
    import pandas as pd

ROWS, TIMINGS, SUMMARY = "rows.csv", "timings.csv", "summary.json"
TIMED = ("reference_seconds",)  # of a detail, what is a time: no two runs agree on it


def flat(row: Row, timing: bool = True) -> dict[str, Any]:
    """A row as columns: nested names joined by dots; without `timing`, only what the seed determines."""
    fields = {f.name: getattr(row.task, f.name) for f in dataclasses.fields(row.task)}
    columns: dict[str, Any] = {"identity": row.task.identity, **dict(_flatten(fields))}
    columns["status"] = row.outcome.status if row.outcome else "planned"
    if row.outcome:
        cost = row.outcome.cost
        columns["cost"] = int(cost) if cost is not None and float(cost).is_integer() else cost
        kept = row.outcome.detail if timing else untimed(row.outcome.detail)
        columns |= dict(_flatten({"detail": kept}))
        if timing:
            columns["seconds"] = row.outcome.seconds
            columns |= dict(_flatten({"provenance": row.provenance}))
    return columns


def untimed(detail: Mapping[str, Any]) -> dict[str, Any]:
    """A detail without its times.

    >>> untimed({"counted": False, "reference_seconds": 1.5})
    {'counted': False}
    """
    return {name: value for name, value in detail.items() if name not in TIMED}


def _flatten(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, item in sorted(value.items()):
        if isinstance(item, Mapping):
            yield from _flatten(item, f"{prefix}{key}.")
        else:
            yield prefix + key, item


def export(rows: Callable[[], Iterable[Row]], out: Path, timing: bool = True) -> int:
    """Write what `rows()` gives, called once a pass, to a `.csv` or `.parquet` file; returns how many rows those are.

    Equal seeds give equal bytes without timing. Raises `InputError` for another suffix.
    """
    if out.suffix not in (".csv", ".parquet"):
        raise InputError(f"cannot export to {out.name}: name a .csv or .parquet file")
    names: dict[str, None] = {}
    count = 0
    for row in rows():
        names |= dict.fromkeys(flat(row, timing))
        count += 1
    if out.suffix == ".csv":
        with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(names), restval="", lineterminator="\n")
            writer.writerow({name: csv_safe(name) for name in names})
            writer.writerows(
                {name: csv_safe(value) for name, value in flat(row, timing).items()} for row in rows()
            )
        return count
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing_extra("pyarrow", "parquet", "a .parquet file") from error
    table = [flat(row, timing) for row in rows()]
    with replacing(out) as temporary:
        try:
            pq.write_table(
                pa.table(
                    {
                        str(sanitize_json(name)): [sanitize_json(row.get(name)) for row in table]
                        for name in names
                    }
                ),
                temporary,
            )
        except pa.ArrowException as error:
            raise InputError(
                f"the rows make no table for Parquet ({sanitize(error)}); export a .csv"
            ) from error
    return count


def export_timings(rows: Iterable[Row], out: Path) -> None:
    """Write the times of the trials that ended, by identity: what a table without timing leaves out."""
    ended = {row.task.identity: row.outcome for row in rows if row.outcome}
    names = [name for name in TIMED if any(name in outcome.detail for outcome in ended.values())]
    with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("identity", "seconds", *names))
        for identity, outcome in ended.items():
            writer.writerow((identity, f"{outcome.seconds:.3f}", *map(outcome.detail.get, names)))


def timings(path: Path) -> dict[str, dict[str, float]]:
    """Times by identity and name, as `export_timings` wrote them; none where there is no such file.

    Raises `InputError` for any other file.
    """
    if not path.exists():
        return {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            times = {line.pop("identity"): _times(line) for line in csv.DictReader(file)}
    except (OSError, UnicodeError, csv.Error, LookupError, AttributeError, TypeError, ValueError) as error:
        raise InputError(f"{path} is no table of identities and seconds ({sanitize(error)})") from error
    if not all(0 <= value < math.inf for line in times.values() for value in line.values()):
        raise InputError(f"{path} holds seconds that are no times; send what the lab wrote")
    return times


def _times(line: Mapping[str, str]) -> dict[str, float]:
    known = {name: float(line[name]) for name in TIMED if line.get(name)}
    return {"seconds": float(line["seconds"]), **known}


def data_frame(lines: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    """Lines as a pandas DataFrame in which integers beside missing values stay integers (`Int64`).

    >>> data_frame([{"s": 4, "q": 2**60 + 1}, {"s": None, "q": 1}])["s"].tolist()
    [4, <NA>]
    """
    import pandas as pd

    table = pd.DataFrame(lines)
    for name in table.columns:
        values = [line.get(name) for line in lines]
        small = all(value is None or (type(value) is int and abs(value) < 2**63) for value in values)
        if small and None in values and any(value is not None for value in values):
            table[name] = pd.array(values, dtype="Int64")
    return table
