"""The rows of a folder, whatever file holds them, and as a data frame."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hardness.engine.bounds import beside_cost
from hardness.engine.merging import merge, rows_of
from hardness.engine.outcome import Row
from hardness.engine.store import STORE, Store
from hardness.engine.table import data_frame, flat

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "identity": "SHA-256 of the task: what was run",
    "family": "the family of the instance",
    "repetition": "the run among equal tasks; each has an instance of its own",
    "params.": "parameters of the family",
    "solver.": "who solved, and its options",
    "budget.": "what the run might spend: queries, samples, work",
    "plugins.": "fingerprints of code of other packages that the task names",
    "status": "solved, wrong, budget, timeout, error, killed, refused; or planned: not run yet",
    "cost": "queries or examples spent: of a solved run what solving took, of a censored one a bound from below",
    "detail.": "what else the trial found",
    "bound": "queries that every strategy needs against this oracle, as proved; computed, not part of a row",
    "ratio": "queries of a game that solved, over that bound",
    "censored": "whether the cost is only known to be larger: a budget or a time limit ended the trial",
    "tuning": "whether the trial only chose a setting; such runs are no results",
    "seconds": "wall-clock time of the trial",
    "provenance.": "version, commit and machine that made the row",
}


@contextmanager
def store_of(folder: Path) -> Iterator[Store]:
    """The store of a study's folder, or a store named itself.

    Where a folder has a rows.csv alone, as committed pages have, a store of these rows that is gone at the end. Raises
    `InputError` where there is neither.
    """
    source = rows_of(folder)
    if source.suffix != ".csv":
        with Store(source) as store:
            yield store
        return
    with TemporaryDirectory() as room:
        merge([source], Path(room) / STORE)
        with Store(Path(room) / STORE) as store:
            yield store


def rows(folder: str | Path, *, tuning: bool = False) -> "pd.DataFrame":
    """The rows of a study or sweep, as a pandas DataFrame; `attrs["columns"]` says what each column is.

    `folder` is what `study run --out` or `sweep --out` named, the rows.db in it, or the folder of a committed page,
    which has a rows.csv in its place. `tuning` adds the runs that chose settings, which are no results, and a
    column that says so. `censored` says that a budget or a time limit ended a run before it solved: its cost is
    only known to lie above. Runs with another status than `solved` that are not censored (refused, wrong, error)
    have no cost of solving. Games have the `bound` that is proved for their oracle, and the `ratio` of their
    queries to it. Raises `InputError` where there are no rows.

    >>> import tempfile, hardness
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = hardness.sweep("parity", dim=[8, 9], heads=2, strategy="flat", runs=1, workers=0, out=folder)
    ...     table = hardness.rows(folder)
    >>> table[["params.dim", "status", "cost"]].values.tolist()
    [[8, 'solved', 4], [9, 'solved', 5]]
    >>> table.attrs["columns"]["cost"]
    'queries or examples spent: of a solved run what solving took, of a censored one a bound from below'
    """
    with store_of(Path(folder)) as store:
        chosen = [row for row in store.rows() if tuning or not row.task.tuning]
    table = data_frame([_result(row) for row in chosen])
    meanings = {
        name: [text for known, text in COLUMNS.items() if name.startswith(known)] for name in table.columns
    }
    table.attrs["columns"] = {name: text for name, (text,) in meanings.items()}
    return table


def _result(row: Row) -> dict[str, Any]:
    """A row as `rows` shows it: what the cost stands for beside the cost."""
    columns = flat(row)
    return columns | beside_cost(row) | {"censored": row.censored, "tuning": row.task.tuning}
