"""Rows as wide tables for other programs: .csv files that no spreadsheet calculates, and .parquet files."""

import csv
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Row
from hardness.engine.rows import PLANNED, untimed
from hardness.errors import InputError, missing_extra
from hardness.io.files import replacing
from hardness.io.texts import csv_safe, sanitize, sanitize_json

if TYPE_CHECKING:
    import pandas as pd


def flat(row: Row, timing: bool = True) -> dict[str, Any]:
    """A row as columns: nested names joined by dots; without `timing`, only what the seed determines."""
    fields = {f.name: getattr(row.task, f.name) for f in dataclasses.fields(row.task)}
    columns: dict[str, Any] = {"identity": row.task.identity, **dict(_flatten(fields))}
    columns["status"] = row.outcome.status if row.outcome else PLANNED
    if row.outcome:
        cost = row.outcome.cost
        columns["cost"] = int(cost) if cost is not None and float(cost).is_integer() else cost
        kept = row.outcome.detail if timing else untimed(row.outcome.detail)
        columns |= dict(_flatten({"detail": kept}))
        if timing:
            columns["seconds"] = row.outcome.seconds
            columns |= dict(_flatten({"provenance": row.provenance}))
    return columns


def _flatten(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, item in sorted(value.items()):
        if isinstance(item, Mapping):
            yield from _flatten(item, f"{prefix}{key}.")
        else:
            yield prefix + key, item


def export(rows: Sequence[Row], out: Path, timing: bool = True) -> int:
    """Write rows to a `.csv` or `.parquet` file, a value a column; return how many rows those are.

    Equal seeds give equal bytes without timing. Raises `InputError` for another suffix.
    """
    if out.suffix not in (".csv", ".parquet"):
        raise InputError(f"cannot export to {out.name}: name a .csv or .parquet file")
    lines = [flat(row, timing) for row in rows]
    names = dict.fromkeys(name for line in lines for name in line)
    if out.suffix == ".csv":
        with replacing(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(names), restval="", lineterminator="\n")
            writer.writerow({name: csv_safe(name) for name in names})
            writer.writerows({name: csv_safe(value) for name, value in line.items()} for line in lines)
        return len(lines)
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing_extra("pyarrow", "parquet", "a .parquet file") from error
    with replacing(out) as temporary:
        try:
            pq.write_table(
                pa.table(
                    {
                        str(sanitize_json(name)): [sanitize_json(row.get(name)) for row in lines]
                        for name in names
                    }
                ),
                temporary,
            )
        except pa.ArrowException as error:
            raise InputError(
                f"the rows make no table for Parquet ({sanitize(error)}); export a .csv"
            ) from error
    return len(lines)


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
