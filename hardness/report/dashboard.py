"""The dashboard of any rows: one HTML file of counts, medians by cell, a figure, the rows and where they come from.

It holds no sentence, so it is true of rows of every kind: quick runs, shards, sweeps, rays, boards, own learners. It
needs no other file.
"""

import base64
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from hardness.engine.frames import frame
from hardness.engine.outcome import CENSORED, STATUSES, Table
from hardness.engine.plugins import SOLVERS
from hardness.engine.study import Study
from hardness.io.files import write_text
from hardness.report import article, chart, plots
from hardness.statistics import median

PAGE = "index.html"
SHOWN = 1000  # rows of the last table; rows.csv has all
PRINTED = 40  # cells in a terminal
LINES = 10  # of the figure, those with the most points: all have labels
STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { border-bottom: 1px solid #8886; padding: .15rem .7rem .15rem 0; text-align: left }
img { background: #fff; max-width: 100% }
section div { overflow-x: auto }
"""
HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>{style}</style></head>
<body><main>
"""
FOOT = "</main></body></html>\n"
IMAGE = '<img alt="Median cost by cell, as in the table of cells" src="data:image/svg+xml;base64,{}">'


def write(study: Study, table: Table, folder: Path) -> str:
    """Write the dashboard, rows and summary of a study's trials into `folder`; return a line saying how they ended."""
    line, rows = f"{study.name}: {table.ended}", frame(table.rows)
    origins = {name: ", ".join(values) for name, values in article.origins(table).items()}
    parts = {"Trials": _listed(table.counts()), **_measured(rows), "Provenance": _listed(origins)}
    parts["Command"] = f"<pre>{escape(chr(10).join(table.commands))}</pre>"
    sections = [
        f"<section><h2>{title}</h2>\n<div tabindex='0'>{body}</div></section>"
        for title, body in parts.items()
        if body  # there is no figure where no median is known
    ]
    about = ", ".join(f"{name} {value}" for name, value in sorted(table.about.items()))
    name, question, about = map(escape, (study.name, study.question, about))
    page = [f"<h1>{name}</h1>", f"<p>{question}</p>", f"<p>{about}</p>", *sections]
    article.write_rows(study, table, folder)
    article.write_summary(study, table, folder, verdict=line)
    write_text(folder / PAGE, HEAD.format(title=name, style=STYLE) + "\n".join(page) + FOOT)
    return line


def _measured(rows: pd.DataFrame) -> dict[str, str]:
    """Return parts of a page as HTML by title: a table of rows and, if any has a cost, figures and medians."""
    if rows.empty:
        return {}
    shown = {"Rows": _table(rows.drop(columns=["identity"]).head(SHOWN))}
    cells = cells_of(rows)
    if cells.empty:
        return shown
    images = [IMAGE.format(base64.b64encode(each).decode()) for each in drawings(rows)]
    return {"Median cost": "\n".join(images), "Cells": _table(cells), **shown}


def cells_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a row per cell, that is, per group of runs that differ in repetition alone.

    It gives the median, smallest and largest cost, of runs that solved, were stuck or reached a limit, and the
    number of runs by status. Runs made to choose settings are left out. It is empty if no run has a cost.
    """
    ended, lines = rows[~rows["tuning"] & (rows["status"] != "planned")], []
    if _priced(ended).empty:
        return pd.DataFrame()
    statuses = [name for name in STATUSES if name == "solved" or name in {*ended["status"]}]
    names = [name for name in chart.design(rows) if name not in ("kind", "online", "digest")] or ["family"]
    for key, cell in ended.groupby([ended[name].map(chart.printed) for name in names], sort=False):
        counted = _priced(cell)
        shown: dict[str, Any] = {"median": "—", "smallest": "", "largest": ""}
        if len(counted):
            middle = median(counted["cost"].astype(float), counted["censored"].astype(bool))
            shown |= {"smallest": middle.low, "largest": middle.high} if middle.known else {}
            shown["median"] = middle
        counts = {"runs": len(cell), **{name: sum(cell["status"] == name) for name in statuses}}
        lines.append({**dict(zip(names, key, strict=True)), **shown, **counts})
    return pd.DataFrame(lines)


def medians(table: Table) -> list[str]:
    """Return, as lines of text, median cost and counts of runs of each group of repetitions, up to `PRINTED` groups."""
    cells = cells_of(frame(table.rows)).drop(columns=["smallest", "largest"], errors="ignore")
    return [] if cells.empty else cells.head(PRINTED).to_string(index=False).splitlines()


def _priced(rows: pd.DataFrame) -> pd.DataFrame:
    if "cost" not in rows:
        return rows.head(0)
    return rows[rows["status"].isin(["solved", *CENSORED]) & rows["cost"].notna()]


def drawings(rows: pd.DataFrame) -> list[bytes]:
    """Return SVGs of median costs, one for each unit: queries of strategies, examples in sweeps, and any other cost."""
    rows = _priced(rows[~rows["tuning"]])
    units = pd.Series("cost", rows.index)
    units[rows.get("kind", units).eq("sweep")] = "examples"
    if "strategy" in rows:
        units[rows["strategy"].notna()] = "queries"
    return [image for unit, part in rows.groupby(units) if (image := drawing(part, str(unit)))]


def drawing(rows: pd.DataFrame, unit: str = "cost") -> bytes:
    """Return an SVG of median cost, measured in `unit`, against the parameter that takes the most different values.

    There is a line for each combination of values of family, solver and the other parameters that vary. If there are
    more than `LINES`, those with the most points are drawn. Returns no bytes if no median is known.
    """
    # Named instances of equal parameters are drawn as one cell.
    names = [name for name in chart.design(rows) if name not in ("digest", "instance")]
    numeric = [name for name in names if chart.is_numeric(rows[name]) and rows[name].notna().all()]
    # A budget mostly follows from the size: sizes are drawn across wherever one varies.
    params = [name for name in numeric if rows.attrs["parts"][name] == "params"]
    across = max((params or numeric)[::-1], key=lambda name: rows[name].nunique(), default="family")
    if not params and "instance" in rows:
        across = "instance"
    identified = SOLVERS if across == "instance" else ("family", *SOLVERS)
    shown, kept = rows.map(chart.printed), [name for name in names if name in identified]
    kept = [across, *(name for name in kept if name != across)]
    for name in names:
        if len(shown[[*kept, name]].drop_duplicates()) > len(shown[kept].drop_duplicates()):
            kept.append(name)
    lines = shown[kept[1:]]
    for name in lines:
        if chart.is_numeric(rows[name].dropna()):
            lines[name] = (f"{name} " + lines[name]).where(lines[name] != "", "")
    rows = rows.assign(line=[", ".join(filter(None, values)) for values in lines.itertuples(index=False)])
    rows = chart.counted(rows, across, "cost", ["line"])
    if rows.empty:
        return b""
    points = rows.groupby("line")[across].nunique()
    longest = points.nlargest(LINES).index
    scale = ["y"] if rows["cost"].min() >= 0 and rows["cost"].max() > 0 else []
    figure = chart.chart(rows[rows["line"].isin(longest)], across, "cost", ["line"], scale)
    figure.axes[0].set_ylabel(f"median {unit}")
    if len(longest) < len(points):
        figure.axes[0].set_title(f"{len(longest)} of {len(points)} lines, those with the most points")
    return plots.saved(figure, "medians")


def _table(rows: pd.DataFrame) -> str:
    """Return a table as HTML: integers without a point, other numbers to six digits, missing values as empty cells."""

    def shown(value: Any) -> str:
        text = chart.printed(value)
        return f"{value:.6g}" if isinstance(value, float) and "." in text else text

    html: str = rows.map(shown).to_html(index=False, border=0)
    return html


def _listed(values: Mapping[str, Any]) -> str:
    html: str = pd.Series(values, dtype=object).to_frame().to_html(header=False, border=0)
    return html
