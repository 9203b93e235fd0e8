"""The command sweep: a study of one's own, out of a grid file."""

from pathlib import Path
from typing import Annotated

import typer

from hardness.cli.common import Json, emit, talk

File = Annotated[Path, typer.Argument(help="A grid: family, [params], [solver] and, if any, [budget].", metavar="GRID")]


def register(app: typer.Typer) -> None:
    app.command()(sweep)


def sweep(
    grid: File,
    out: Annotated[Path | None, typer.Option(help="Folder for rows and page; default sweeps/NAME of the file.")] = None,
    workers: Annotated[int | None, typer.Option(min=0, help="Processes; 0: this one; default: one a CPU.")] = None,
    as_json: Json = False,
) -> None:
    """Run a grid of your own, or what is left of it: any family with any solver; and write its page.

    `study status`, `export` and `report` work on its folder.

    Example: hardness sweep grid.toml --workers 2
    """
    from hardness.engine.progress import Progress
    from hardness.engine.run import Interrupted
    from hardness.engine.store import Store
    from hardness.report.report import PAGE
    from hardness.studies.sweep.grid import read
    from hardness.studies.sweep.study import STORE, run_grid

    folder = out or Path("sweeps") / grid.stem
    try:
        verdict, ran = run_grid(read(grid), folder, workers, Progress())
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
