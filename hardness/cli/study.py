"""Commands on studies: list, run, status, merge, export, report; and `sweep`, a grid of one's own."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardness.cli.common import Json, Scheduler, Workers, argument, emit, group, option, talk
from hardness.errors import InputError
from hardness.io.schemas import LONGEST_TRIAL

if TYPE_CHECKING:
    from hardness.engine.outcome import Row, Table
    from hardness.engine.study import Study
    from hardness.engine.task import Task

Folder = Annotated[Path, argument("The folder of a study, as `study run` names it.", metavar="DIR")]
Out = Annotated[Path | None, option("Folder for rows and dashboard; default: by the name.")]
Root = Annotated[int, option("Root seed of every trial.", "--seed", min=0)]
LIMIT = "Seconds of a solver that end its trial as `timeout`; its loading and compiling do not count."
Timeout = Annotated[float | None, option(LIMIT, min=0.1, max=LONGEST_TRIAL)]
DryRun = Annotated[bool, option("Say what would run, and run nothing.", "--dry-run")]
Quick = Annotated[bool, option("A smaller grid.", "--quick")]
Family = Annotated[list[str] | None, option("Only this family; may be repeated.")]
Added = Annotated[list[str] | None, option("One more on the grid, module:Name too; may be repeated.")]
MOVED = "ask with `hardness sweep GRID`, `hardness ray C --heads 2,3,4` or `hardness board --suite TIER --learner NAME`"

app = group("Grids of trials that resume, and what shows their rows.", "study run exponential-in-m --quick")


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the studies: name, number of trials, and question.

    Example: hardness study list
    """
    from hardness import registry
    from hardness.studies import catalog

    broken = [str(each) for _, each in registry.loaded("studies") if isinstance(each, InputError)]
    known = catalog.known()
    rows = [{"name": s.name, "question": s.question, "trials": len(s.tasks(False))} for s in known.values()]
    for line in broken:
        talk(f"skipped: {line}")
    lines = [f"{row['name']}  {row['trials']} trials  {row['question']}" for row in rows]
    emit(as_json, {"studies": rows, "broken": broken}, lines)


@app.command()
def run(
    context: typer.Context,
    name: Annotated[str, argument("A study of `hardness study list`.", metavar="NAME")],
    quick: Quick = False,
    seed: Root = 0,
    out: Out = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    timeout: Timeout = None,
    shard: Annotated[str | None, option("I/K: run the I-th of K parts; `study merge` joins them.")] = None,
    learner: Added = None,
    attack: Added = None,
    strategy: Added = None,
    family: Family = None,
    plan: Annotated[Path | None, option("The trials of this plan, fixed before them, and no others.")] = None,
    only: Annotated[str | None, option("Only these solvers: names, with commas between.")] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run a study, or what is left of it, and write its dashboard.

    Trials that ended, crashed ones too, are not run again: name another --out after you edit a learner of yours.
    --learner, --attack and --strategy add a solver of their kind to the grid, by module:Name or a registered name.

    Example: hardness study run random-features --quick --out /tmp/quick
    """
    from hardness.engine.plugins import chosen
    from hardness.studies import catalog

    study = catalog.get(name)
    if name in catalog.UNLISTED or (study.within and (learner or attack)):
        raise InputError(f"this is a command of its own: {MOVED}")
    if plan is not None:
        if study.plan is None or quick or learner or attack or strategy or family or only:
            raise InputError("--plan goes with a study that has plans, without --quick, solvers or families")
        tasks = study.plan(plan)
    else:
        added = {"learner": learner or [], "attack": attack or [], "strategy": strategy or []}
        tasks = chosen(study, quick, added, family or [], only.split(",") if only else [])
    about = {"study": name, "seed": seed, "quick": quick}
    carry_out(context, study, about, tasks, out or Path("out") / study.name)


def carry_out(
    context: typer.Context,
    study: "Study",
    about: Mapping[str, Any],
    tasks: "list[Task]",
    folder: Path,
    text: "Callable[[list[Row]], list[str]]" = lambda rows: [],
) -> None:
    """Run those trials of `tasks` that the store in `folder` lacks, by the options in `context`; write the dashboard.

    `about` holds the study's name and the seed of the store. `text` maps the rows of `tasks` to lines to print.
    """
    from hardness.engine.run import run as run_tasks

    given = {"shard": None, "scheduler": None, "timeout": None, **context.params}
    part, as_json = _part(tasks, given["shard"]), given["as_json"]
    if given["dry_run"]:
        seconds = sum(map(study.seconds, part))
        line = f"{len(part)} trials, about {seconds:.0f} s of one process, more at first use; nothing was run"
        emit(as_json, {"study": study.name, "trials": len(part), "seconds": seconds}, [line])
        return

    from hardness.engine.store import STORE, Store
    from hardness.report import dashboard

    with resumable(context, folder), Store(folder / STORE, about) as store:
        store.plan(tasks)
        store.made_by(context.obj)
        ran = run_tasks(
            part,
            store,
            study.trial,
            root=about["seed"],
            guard=given["timeout"] or study.guard,
            workers=given["workers"],
            scheduler=given["scheduler"],
            seconds=study.seconds,
            shown=True,
        )
        table = store.table()
    verdict = dashboard.write(study, table, folder)
    asked = {task.identity for task in tasks}
    lines = text([row for row in table.rows if row.task.identity in asked])
    _ended(as_json, verdict, table, folder, ran, lines)


@contextmanager
def resumable(context: typer.Context, folder: Path) -> Iterator[None]:
    """Print, if the run inside is interrupted, where ended trials are kept and which command runs the others."""
    try:
        yield
    except KeyboardInterrupt:
        talk(f"ended trials are kept: `hardness study report {folder}`; to run the others: {context.obj}")
        raise


def sweep(
    context: typer.Context,
    grid: Annotated[
        Path, argument("A grid: family, [params], [solver] and, if any, [budget].", metavar="GRID")
    ],
    out: Out = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    timeout: Timeout = None,
    changes: Annotated[
        list[str] | None,
        option("Another value, or several with commas.", "--set", metavar="TABLE.NAME=VALUE"),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run a grid of your own, or what is left of it: any family with any solver; and write its dashboard.

    A grid is a TOML file: family = "parity", runs = 3; [params] dim = "4*heads", heads = [2, 3, 4]; [solver] strategy
    (with oracle and tolerance), learner or attack = "NAME"; [budget] samples (4,096), queries or work. Every list is
    an axis. `nice-and-hard` is a grid that is built in: two learners on random layers and on hidden parities of the
    same sizes, in a minute. `study status`, `export` and `report`, and `plot`, work on the folder. --set changes an
    entry of the file for this run.

    Example: hardness sweep grid.toml --workers 2 --set solver.learner=direct,student
    """
    from hardness.engine.rows import read as read_rows
    from hardness.report import dashboard
    from hardness.studies.sweep.grid import SHIPPED, read
    from hardness.studies.sweep.study import missing, run_grid

    folder = out or Path("sweeps") / grid.stem
    shipped = str(grid) in SHIPPED and not grid.exists()
    if shipped and changes:
        raise InputError(f"--set changes a grid file, and {grid} is built in; leave --set out")
    grids = SHIPPED[str(grid)] if shipped else (read(grid, changes or ()),)
    if dry_run:
        trials = sum(missing(wanted, folder) for wanted in grids)
        emit(as_json, {"trials": trials}, [f"{trials} trials to run; nothing was run"])
        return
    if timeout is not None:
        grids = tuple(replace(wanted, guard=timeout) for wanted in grids)
    with resumable(context, folder):
        ended = [run_grid(wanted, folder, workers, scheduler, context.obj) for wanted in grids]
    table, verdict, ran = read_rows(folder), ended[-1][0], sum(count for _, count, _ in ended)
    _ended(as_json, verdict, table, folder, ran, dashboard.medians(table))


def _ended(as_json: bool, verdict: str, table: "Table", folder: Path, ran: int, lines: list[str]) -> None:
    """Print the `verdict` of a run and `lines` about it. Exit with code 1 if a trial ended in error or was killed."""
    from hardness.report.dashboard import PAGE

    counts, page = table.counts(), str(folder / PAGE)
    about = {"study": table.about["study"], "verdict": verdict, "page": page}
    payload = about | {"planned": len(table.rows), "ran": ran, "statuses": counts}
    emit(as_json, payload, [verdict, *lines, f"page: {page}"])
    if counts.get("error") or counts.get("killed"):
        talk("trials ended in error or were killed: the dashboard has their reasons")
        raise typer.Exit(1)


@app.command()
def status(folder: Folder, as_json: Json = False) -> None:
    """Show how many trials of a study are planned, and how many ended, by status.

    Example: hardness study status reports/exponential-in-m
    """
    from hardness.engine.rows import read

    table = read(folder)
    planned, counts = len(table.rows), table.counts()
    done = sum(counts.values())
    line = f"{table.about['study']}: {table.ended}; {planned - done} to run"
    emit(as_json, {**table.about, "planned": planned, "done": done, "statuses": counts}, [line])


@app.command()
def merge(
    stores: Annotated[
        list[Path], argument("Stores, folders of a study, or their rows.csv.", metavar="A.db B.db")
    ],
    out: Annotated[Path, option("The store to write, or a .csv file of rows.")],
    as_json: Json = False,
) -> None:
    """Join the rows of shards, machines or other people into one store; `study report` shows them.

    Example: hardness study merge part1/rows.db part2/rows.db --out whole/rows.db
    """
    from hardness.engine.rows import merge as merge_stores

    counts = merge_stores(stores, out)
    emit(as_json, {"out": str(out), "statuses": counts}, [f"{sum(counts.values())} trials in {out}"])


@app.command()
def export(
    folder: Folder,
    out: Annotated[Path, option("A .csv file.")],
    no_timing: Annotated[bool, option("Only what the seed determines.", "--no-timing")] = False,
    as_json: Json = False,
) -> None:
    """Write the rows of a study as a table: a wide one for other programs, or NAME.rows.csv, which `study merge` reads.

    Example: hardness study export reports/exponential-in-m --out wide.csv --no-timing
    """
    from hardness.engine.frames import export as write_table
    from hardness.engine.rows import dump, read

    write = dump if out.name.endswith(".rows.csv") else write_table
    count = write(read(folder).rows, out, timing=not no_timing)
    emit(as_json, {"out": str(out), "rows": count}, [f"{count} rows in {out}"])


@app.command()
def report(
    folder: Folder,
    pdf: Annotated[bool, option("The figures of an article as PDF too.", "--pdf")] = False,
    as_json: Json = False,
) -> None:
    """Write what shows the rows of a study: the article (Markdown) of a published table, else a dashboard (HTML).

    Example: hardness study report reports/random-features
    """
    from hardness.studies import catalog

    verdict, page = catalog.report(folder, pdf)
    emit(as_json, {"verdict": verdict, "page": str(page)}, [verdict, f"page: {page}"])


def _part(tasks: "list[Task]", shard: str | None) -> "list[Task]":
    """Return the tasks of the shard "I/K": every K-th task from the I-th on; all without a shard."""
    if shard is None:
        return tasks
    index, _, parts = shard.partition("/")
    if not (index.isdecimal() and parts.isdecimal() and 1 <= int(index) <= int(parts)):
        raise InputError(f"shard must be I/K with 1 <= I <= K, got '{shard}'; for example 2/4")
    return tasks[int(index) - 1 :: int(parts)]
