"""The rows of a study, sweep or board as a pandas data frame."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.bounds import beside_cost
from hardness.engine.outcome import Row
from hardness.engine.rows import PLANNED, read
from hardness.engine.table import data_frame

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "identity": "SHA-256 of the task: what was run",
    "family": "the family of the instance",
    "repetition": "the run among equal tasks; each has an instance of its own",
    "status": "solved, wrong, budget, stuck, timeout, error, killed, refused; or planned: not run yet",
    "cost": "queries or examples spent: of a solved run what solving took, of a censored one a bound from below",
    "censored": "whether the cost is only known to be larger: a budget or a time limit ended the trial",
    "tuning": "whether the trial only chose a setting; such runs are no results",
    "bound": "queries that every strategy needs against this oracle, as proved; computed, not part of a row",
    "ratio": "queries of a game that solved, over that bound",
    "seconds": "wall-clock time of the trial",
}
PARTS = {
    "params": "a parameter of the family",
    "solver": "who solved, and its options",
    "budget": "what the run might spend: queries, samples, work",
    "detail": "what else the trial found",
    "plugins": "the fingerprint of code of another package that the task names",
    "provenance": "version, commit or machine that made the row",
}
PREFIXED = ("plugins", "provenance")  # never under a bare name


def frame(rows: Iterable[Row]) -> "pd.DataFrame":
    """Return a data frame with a line a row, run or not; `attrs["columns"]` says what each column is.

    The columns of `COLUMNS` come first. Every other value has its bare name (`dim`, `learner`, `samples`), entries of
    a mapping are joined by a dot (`error.f1`), lists stay lists. Where one name stands in several places, a column of
    `COLUMNS` has it, then params, then solver, then budget, then detail; the others keep their place before it, in the
    whole frame: beside a parameter `heads` the solver's is `solver.heads`. Plug-ins and provenance always do. Integers
    stay integers beside missing values (`Int64`).

    >>> from hardness.engine.outcome import Outcome
    >>> from hardness.engine.task import Task
    >>> tasks = [Task("parity", {"dim": d}, {"kind": "fit", "dim": 2}, {"samples": 9}, 0) for d in (8, 9)]
    >>> table = frame([Row(tasks[0], Outcome("solved", 5, {"error": {"f1": 0.5}})), Row(tasks[1])])
    >>> table[["dim", "solver.dim", "samples", "status", "cost", "error.f1"]].values.tolist()
    [[8, 2, 9, 'solved', 5, 0.5], [9, 2, 9, 'planned', <NA>, nan]]
    """
    rows = list(rows)
    lines = [dict(_values(row)) for row in rows]
    names = _names(place for line in lines for place in line)
    table = data_frame(
        [
            _about(row) | {names[place]: value for place, value in line.items()}
            for row, line in zip(rows, lines, strict=True)
        ]
    )
    first = [name for name in COLUMNS if name in table]
    table = table[first + [name for name in table if name not in COLUMNS]]
    meanings = {name: PARTS[part] for (part, _), name in names.items()}
    table.attrs["columns"] = {name: COLUMNS[name] for name in first} | meanings
    return table


def _about(row: Row) -> dict[str, Any]:
    """Return what every row has, and what is computed of its cost."""
    task, end = row.task, row.outcome
    values = {
        "identity": task.identity,
        "family": task.family,
        "repetition": task.repetition,
        "status": end.status if end else PLANNED,
        "censored": row.censored,
        "tuning": task.tuning,
        **beside_cost(row),
    }
    if end is None:
        return values
    cost = int(end.cost) if end.cost is not None and float(end.cost).is_integer() else end.cost
    return {**values, "cost": cost, "seconds": end.seconds}


def _values(row: Row) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield everything else of a row: its place, a part and a name, and the value."""
    task, end = row.task, row.outcome
    parts = {"params": task.params, "solver": task.solver, "budget": task.budget, "plugins": task.plugins}
    if end is not None:
        parts |= {"detail": end.detail, "provenance": row.provenance or {}}
    for part, values in parts.items():
        for name, value in _flat(values):
            yield (part, name), value


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _names(places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the name of the column of each place."""
    order = [*PARTS]
    names, taken = {}, {*COLUMNS}
    for part, name in sorted(dict.fromkeys(places), key=lambda place: order.index(place[0])):
        bare = part not in PREFIXED and name not in taken
        names[part, name] = name if bare else f"{part}.{name}"
        taken.add(name)
    return names


def rows(folder: str | Path, *, tuning: bool = False) -> "pd.DataFrame":
    """Return the rows of a study or sweep as a data frame (`frame`), its `attrs["columns"]` saying what each column is.

    `folder` is what `study run --out` or `sweep --out` named, the rows.db in it, or the folder of a committed page,
    which has a rows.csv in its place. `tuning` adds the runs that chose settings, which are no results. Runs with
    another status than `solved` that are not `censored` (refused, wrong, error) have no cost of solving. Games have the
    `bound` that is proved for their oracle, and the `ratio` of their queries to it. Raises `InputError` where there are
    no rows.

    >>> import tempfile, hardness
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = hardness.sweep("parity", dim=[8, 9], heads=2, strategy="flat", runs=1, workers=0, out=folder)
    ...     table = hardness.rows(folder)
    >>> table[["dim", "status", "cost"]].values.tolist()
    [[8, 'solved', 4], [9, 'solved', 5]]
    >>> table.attrs["columns"]["cost"]
    'queries or examples spent: of a solved run what solving took, of a censored one a bound from below'
    """
    return frame(row for row in read(Path(folder)).rows if tuning or not row.task.tuning)
