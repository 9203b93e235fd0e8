"""The command `plot`: a picture of any rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardness.cli.common import Json, argument, emit, option
from hardness.errors import InputError
from hardness.io.texts import sanitize

if TYPE_CHECKING:
    from hardness.report.plots import Kind

KINDS: "dict[str, Kind]" = {".svg": "svg", ".png": "png", ".pdf": "pdf"}


def register(app: typer.Typer) -> None:
    app.command()(plot)


def plot(
    target: Annotated[Path, argument("rows.csv, rows.db, or the folder of a study.", metavar="ROWS|DIR")],
    x: Annotated[str, option("The column of the horizontal axis.", metavar="COL")],
    out: Annotated[Path, option("A .svg, .png or .pdf file; replaced if it exists.")],
    y: Annotated[str, option("The column whose medians are drawn.", metavar="COL")] = "cost",
    by: Annotated[str | None, option("A line for each value of these.", metavar="COL[,COL]")] = None,
    log: Annotated[str | None, option("Axes with a logarithmic scale.", metavar="x|y|x,y")] = None,
    where: Annotated[
        list[str] | None, option("Only these rows; may be repeated.", metavar="COL=VALUE[,VALUE]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw medians of one column of rows against another.

    Columns are those of `hardness.rows`: dim, heads, learner, status, cost and more. Bars are intervals that hold the
    median with probability .95, or the range of fewer than six runs. A triangle with an arrow is a median that is only
    known to be larger.

    Example: hardness plot reports/exponential-in-m --x heads --by arm --where dim=16 --log y --out costs.svg
    """
    if out.suffix not in KINDS:
        raise InputError(f"--out takes a .svg, .png or .pdf file, got {sanitize(out)}")
    from hardness.engine.frames import rows
    from hardness.io.files import replacing
    from hardness.report.chart import chart, select
    from hardness.report.plots import saved

    names = by.split(",") if by else []
    conditions: dict[str, list[str]] = {}
    for word in where or ():
        column, _, value = word.partition("=")
        if not (column and value):
            raise InputError(f"--where takes COL=VALUE, got {sanitize(repr(word), 80)}")
        conditions.setdefault(column, []).append(value)
    chosen = select(rows(target), conditions)
    figure = chart(chosen, x, y, names, log.split(",") if log else [])
    drawing = saved(figure, out.stem, KINDS[out.suffix])
    with replacing(out) as part:
        part.write_bytes(drawing)
    emit(as_json, {"out": str(out), "rows": len(chosen)}, [f"{len(chosen)} rows drawn in {out}"])
