"""The command sweep: a study of one's own, out of a grid file."""

from pathlib import Path
from typing import Annotated

import typer

from hardness.cli.common import EXPERIMENTS, GRID, OUTPUT, Json, Scheduler, Workers, emit, talk, typed

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Another value for the grid, commas between several; may be repeated.",
        metavar="TABLE.NAME=VALUE",
        rich_help_panel=GRID,
    ),
]
File = Annotated[Path, typer.Argument(help="A grid: family, [params], [solver] and, if any, [budget].", metavar="GRID")]


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=EXPERIMENTS)(sweep)


def sweep(
    context: typer.Context,
    grid: File,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for rows and page; default sweeps/NAME of the file.", rich_help_panel=OUTPUT),
    ] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    changes: Set = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would run, and how long.")] = False,
    as_json: Json = False,
) -> None:
    """Run a grid of your own, or what is left of it: any family with any solver; and write its page.

    `study status`, `export` and `report` work on its folder. --set changes an entry of the grid file for this run.

    Example: hardness sweep grid.toml --workers 2 --set solver.learner=direct,student
    """
    from hardness.engine.progress import Progress
    from hardness.engine.run import Interrupted
    from hardness.engine.store import Store
    from hardness.report.report import PAGE
    from hardness.studies.sweep.grid import read
    from hardness.studies.sweep.study import STORE, forecast, run_grid

    folder, wanted = out or Path("sweeps") / grid.stem, read(grid, changes or ())
    if dry_run:
        trials, seconds = forecast(wanted, folder)
        known = (
            "how long is known when the first have ended"
            if seconds is None
            else f"about {seconds:.0f} s of one process"
        )
        emit(as_json, {"trials": trials, "seconds": seconds}, [f"{trials} trials to run, {known}; nothing was run"])
        return
    try:
        verdict, ran = run_grid(wanted, folder, workers, Progress(), scheduler, typed(context))
    except Interrupted as stop:
        talk("interrupted: what ended is stored; the same command goes on")
        raise typer.Exit(stop.code) from stop
    with Store(folder / STORE) as store:
        planned, counts = store.planned(), store.counts()
    payload = {"study": "sweep", "verdict": verdict, "page": str(folder / PAGE), "planned": planned, "ran": ran}
    emit(as_json, {**payload, "statuses": counts}, [verdict, f"page: {folder / PAGE}"])
    if counts.get("error") or counts.get("killed"):
        talk("trials ended in error or were killed: their reasons are on the page")
        raise typer.Exit(1)
