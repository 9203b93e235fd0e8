"""Rows as a table: a .csv file that no spreadsheet calculates, or a .parquet file."""

import csv
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Row
from hardness.errors import InputError, missing_extra
from hardness.io.files import replacing
from hardness.io.texts import csv_safe, sanitize, sanitize_json

if TYPE_CHECKING:
    import pandas as pd


def flat(row: Row, timing: bool = True) -> dict[str, Any]:
    """A row as columns: nested names joined by dots; without `timing`, only what the seed determines."""
    fields = {f.name: getattr(row.task, f.name) for f in dataclasses.fields(row.task)}
    columns: dict[str, Any] = {"identity": row.task.identity, **dict(_flatten(fields))}
    columns["status"] = row.outcome.status if row.outcome else "planned"
    if row.outcome:
        cost = row.outcome.cost
        columns["cost"] = int(cost) if cost is not None and float(cost).is_integer() else cost
        columns |= dict(_flatten({"detail": row.outcome.detail}))
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
            writer.writerows({name: csv_safe(value) for name, value in flat(row, timing).items()} for row in rows())
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
                pa.table({str(sanitize_json(name)): [sanitize_json(row.get(name)) for row in table] for name in names}),
                temporary,
            )
        except pa.ArrowException as error:
            raise InputError(f"the rows make no table for Parquet ({sanitize(error)}); export a .csv") from error
    return count


COLUMNS = {
    "identity": "SHA-256 of the task: what was run",
    "family": "the family of the instance",
    "repetition": "the run among equal tasks; each has an instance of its own",
    "params.": "parameters of the family",
    "solver.": "who solved, and its options",
    "budget.": "what the run might spend: queries, samples, work",
    "plugins.": "fingerprints of code of other packages that the task names",
    "status": "solved, wrong, budget, timeout, error, killed, refused; or planned: not run yet",
    "cost": "queries or examples spent; a run that did not solve is only known to need more",
    "detail.": "what else the trial found",
    "seconds": "wall-clock time of the trial",
    "provenance.": "version, commit and machine that made the row",
}


def rows(folder: str | Path) -> "pd.DataFrame":
    """The rows of a study or sweep, as a pandas DataFrame; `attrs["columns"]` says what each column is.

    `folder` is what `study run --out` or `sweep --out` named, or the rows.db in it. Raises `InputError` where there is
    no store, and where pandas is missing.

    >>> import tempfile, hardness
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = hardness.sweep("parity", dim=[8, 9], heads=2, strategy="flat", runs=1, workers=0, out=folder)
    ...     found = hardness.rows(folder)
    >>> found[["params.dim", "status", "cost"]].values.tolist()
    [[8, 'solved', 4], [9, 'solved', 5]]
    >>> found.attrs["columns"]["cost"]
    'queries or examples spent; a run that did not solve is only known to need more'
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise missing_extra("pandas", "notebook", "hardness.rows") from error
    from hardness.engine.store import Store

    path = Path(folder)
    path = path / "rows.db" if path.is_dir() else path
    if not path.is_file():
        raise InputError(f"{folder} holds no rows.db; name the folder of a study or of a sweep")
    with Store(path) as store:
        table = pd.DataFrame([flat(row) for row in store.rows()])
    table.attrs["columns"] = {name: _meaning(str(name)) for name in table.columns}
    return table


def _meaning(name: str) -> str:
    return next((text for known, text in COLUMNS.items() if name == known or name.startswith(known)), "")
