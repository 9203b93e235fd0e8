"""One ray d = c m of the lab's question, as a DataFrame; `study run exponential-in-m --ray` makes the same."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.pickled import importable_name
from hardness.engine.plugins import stamped
from hardness.engine.progress import Progress
from hardness.engine.run import run
from hardness.engine.store import STORE, Store
from hardness.engine.study import Study
from hardness.engine.table import data_frame
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.report import lines_of
from hardness.studies import catalog

if TYPE_CHECKING:
    import pandas as pd

QUESTION, HEADS, LEARNER = "exponential-in-m", (2, 3, 4), "diagonal"


def folder_of(ratio: int) -> Path:
    """Where the rows and the page of a ray lie, unless another folder is named."""
    return Path("rays") / f"{ratio}m"


def tasks_along(
    study: Study,
    ratio: int,
    heads: Iterable[int] = HEADS,
    learners: Iterable[str] = (LEARNER,),
    **prints: str,
) -> list[Task]:
    """The trials of a study along d = `ratio` m. `prints` are fingerprints of learners that have no file.

    Raises `InputError` for a study that has no rays, and for what makes no sense on one.
    """
    if study.ray is None:
        raise InputError(f"study {study.name} has no rays; {QUESTION} has")
    sizes = list(heads)
    if not sizes or any(isinstance(m, bool) or not isinstance(m, int) for m in (ratio, *sizes)):
        raise InputError(
            f"a ray has an integer C and numbers of heads, got C = {ratio!r:.40}, heads {sizes!r:.60}"
        )
    return stamped(study.ray.tasks(ratio, sizes, list(learners)), prints, study)


def ray(
    ratio: int,
    heads: Sequence[int] = HEADS,
    learner: Any = LEARNER,
    *,
    seed: int = 0,
    workers: int | None = None,
    out: str | Path | None = None,
) -> "pd.DataFrame":
    """What is proved, what strategies ask and what learners read along d = `ratio` m: a line for each at each m.

    `learner` is a registered name, ``module:Class`` or a class, or a list of such: `diagonal` has the settings that the
    study tuned, any other its defaults. Every learner is put to hidden sets and to random layers of the same form. It
    runs on `workers` processes (None: one a CPU; 0: this one). Rows and page lie in the folder `out` (default
    ``rays/4m`` for `ratio` 4); the same call goes on where it was interrupted. `attrs` hold what the ``columns`` say,
    the page's headline as ``verdict`` and the path of the ``page``. Raises `InputError` for what makes no sense.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = ray(4, heads=[2, 3], learner=[], workers=0, out=folder)
    >>> table[table.unit == "queries"][["heads", "dim", "concepts", "what", "name", "cost"]].values.tolist()[:2]
    [[2, 8, 21, 'floor', 'statistical queries', 4.0], [2, 8, 21, 'strategy', 'sign-batch', 5.0]]
    """
    names = [importable_name(each) for each in (learner if isinstance(learner, list | tuple) else [learner])]
    prints = {name: made for name, made in names if made}
    study, folder = catalog.get(QUESTION), Path(out) if out is not None else folder_of(ratio)
    tasks = tasks_along(study, ratio, heads, [name for name, _ in names], **prints)
    with Store(folder / STORE, {"study": study.name, "seed": seed, "quick": False, "ray": ratio}) as store:
        store.supersede(tasks)
        store.made_by(f"hardness.ray({ratio}, heads={list(heads)}, learner={[name for name, _ in names]})")
        run(
            tasks,
            store,
            study.trial,
            root=seed,
            guard=study.guard,
            workers=workers,
            seconds=study.seconds,
            progress=Progress(),
        )
        verdict = catalog.page(store, folder)
        asked = {task.identity for task in tasks}
        rows = [row for row in store.rows() if row.task.identity in asked]
    tables = study.page_of({"ray": ratio}).content_of(rows).tables
    table = data_frame(lines_of(tables["ray"]))
    table["censored"] = table["censored"].astype("boolean")  # no value where nothing was run
    meanings = {line["column"]: line["meaning"] for line in lines_of(tables["columns"])}
    table.attrs |= {"columns": meanings, "verdict": verdict, "page": str(folder / "index.html")}
    return table
