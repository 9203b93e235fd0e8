"""The page of a contest: a heat map of who solves what, and the predicted costs beside it. A function of the rows."""

from collections import Counter, defaultdict
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.attacks.estimates.prices import estimates
from hardness.errors import InputError
from hardness.study.outcome import CRASHED
from hardness.study.page import report
from hardness.study.page.drawing import INK, MUTED, Drawing, style
from hardness.study.store import Row, Store
from hardness.study.task import Task

SHOWN = ("sq bound", "exhaustive", "meet in the middle", "gaussian", "lpn pooled gauss", "lf2", "bkw", "lattice")
WIDE = 14  # columns of a band
# Fill and text; all of them colours that the page redefines in dark mode.
SOLVED, SOME, REFUSED, FAILED = ("#178573", "#ffffff"), ("#31688e", "#ffffff"), ("#dcdcdd", INK), ("#b05c0b", "#ffffff")

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Place = tuple[str, int]


def write(store: Store, folder: Path, question: str) -> str:
    """Write the page, figure and rows of a contest into `folder`; returns its verdict line."""
    rows = list(store.rows())
    cells = _cells(rows)
    drawing = draw(cells)
    verdict = _verdict(cells)
    crashed = report.crashes(row for row in rows if row.outcome and row.outcome.status in CRASHED)
    html = report.render(
        "contest.html",
        **report.shared(store, folder) | {"crashes": crashed},
        question=question,
        verdict=verdict,
        kinds={"verdict": "measured", "contest": "measured", "predicted": "estimated"},
        drawn=drawing.inline(),
        attacks=list(SHOWN),
        predicted=_predicted(rows),
    )
    report.publish(store, folder, verdict, html, [drawing])
    return verdict


def family_of(task: Task) -> str:
    """The column group of a task.

    >>> family_of(Task("parity", {"dim": 9, "heads": 2, "flip": 0.1}, {}, {}, 0))
    'parity, flip 0.1'
    """
    if task.family == "rounding":
        return f"rounding, q {task.params['modulus']}, p {task.params['levels']}"
    return f"parity, flip {task.params['flip']:g}" if task.params.get("flip") else task.family


def solver_of(task: Task) -> str:
    """The row of a task.

    >>> solver_of(Task("parity", {}, {"kind": "attack", "attack": "search"}, {}, 0))
    'attack search'
    """
    solver = task.solver
    match solver["kind"]:
        case "game":
            return f"SQ {solver['strategy']}"
        case "attack":
            return f"attack {solver['attack']}"
    return f"learner {solver['learner'].rpartition(':')[2].lower()}"


def _cells(rows: list[Row]) -> dict[str, dict[Place, list[Row]]]:
    found: dict[str, dict[Place, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.outcome:
            found[solver_of(row.task)][family_of(row.task), int(row.task.params.get("heads", 1))].append(row)
    return found


def _ended(rows: list[Row]) -> tuple[int, str]:
    """Runs solved, and the most frequent status."""
    statuses = Counter(row.outcome.status for row in rows if row.outcome)
    return statuses["solved"], max(sorted(statuses), key=lambda status: statuses[status])


def _verdict(cells: dict[str, dict[Place, list[Row]]]) -> str:
    places = {place for row in cells.values() for place in row}
    unsolved = sorted(p for p in places if not any(_ended(row[p])[0] for row in cells.values() if p in row))
    if not places:
        return "no trial has been run."
    solved = f"{len(places) - len(unsolved)} of {len(places)} instances are solved by someone in the house"
    missed: dict[str, list[str]] = defaultdict(list)
    for family, m in unsolved:
        missed[family].append(str(m))
    names = "; ".join(f"{family} at m = {', '.join(heads)}" for family, heads in missed.items())
    return f"{solved}; by none: {names}." if names else f"{solved}."


def draw(cells: dict[str, dict[Place, list[Row]]]) -> Drawing:
    """One row a solver, one column an instance; families side by side as far as a page is wide, then below."""
    solvers = sorted(cells, key=lambda name: (name.split()[0] != "SQ", name.split()[0] != "learner", name))
    bands = _bands(sorted({place for row in cells.values() for place in row}))
    columns = max(map(len, bands))
    drawing = Drawing("contest", 1.7 + 0.58 * max(columns, 1), sum(0.9 + 0.4 * max(len(solvers), 1) for _ in bands))
    with style(drawing.name):
        for axes, places in zip(drawing.figure.subplots(len(bands), squeeze=False)[:, 0], bands, strict=True):
            _band(drawing, axes, cells, solvers, places, columns)
    return drawing


def _bands(places: list[Place]) -> list[list[Place]]:
    """The columns, cut between families into bands of at most `WIDE`."""
    bands: list[list[Place]] = [[]]
    for family in sorted({family for family, _ in places}):
        block = [place for place in places if place[0] == family]
        if bands[-1] and len(bands[-1]) + len(block) > WIDE:
            bands.append([])
        bands[-1] += block
    return bands


def _band(
    drawing: Drawing,
    axes: "Axes",
    cells: dict[str, dict[Place, list[Row]]],
    solvers: list[str],
    places: list[Place],
    columns: int,
) -> None:
    from matplotlib.patches import Rectangle

    for y, solver in enumerate(solvers):
        for x, place in enumerate(places):
            rows = cells[solver].get(place)
            if not rows:
                continue
            solved, status = _ended(rows)
            whole = solved == len(rows)
            fill, color = SOLVED if whole else SOME if solved else REFUSED if status == "refused" else FAILED
            cell = axes.add_patch(Rectangle((x - 0.47, y - 0.44), 0.94, 0.88, color=fill, linewidth=0))
            spent = [row.outcome.cost for row in rows if row.outcome and row.outcome.cost]
            cost = f"2^{log2(sum(spent) / len(spent)):.0f}" if spent else ""
            text = f"{solved}/{len(rows)}\n{cost}" if solved else status
            axes.text(x, y, text, ha="center", va="center", fontsize=7, color=color, linespacing=1.05)
            counts = Counter(row.outcome.status for row in rows if row.outcome)
            ended = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
            drawing.tells(cell, f"{solver}, {place[0]}, m = {place[1]}: {ended}; spent {cost or 'unknown'}")
    axes.set_xlim(-0.6, max(columns, 1) - 0.4)
    axes.set_ylim(max(len(solvers), 1) - 0.4, -0.6)
    axes.set_yticks(range(len(solvers)), solvers)
    axes.set_xticks(range(len(places)), [str(m) for _, m in places])
    axes.set_xlabel("m, the number of heads", loc="left")
    axes.tick_params(length=0)
    for family in sorted({family for family, _ in places}):
        span = [x for x, place in enumerate(places) if place[0] == family]
        axes.text(span[0] - 0.45, -0.7, family, ha="left", va="bottom", fontsize=8.5, color=MUTED)
        if span[0]:
            axes.axvline(span[0] - 0.5, color=MUTED, linewidth=0.7)
    axes.spines[["left", "bottom"]].set_visible(False)


def _predicted(rows: list[Row]) -> list[dict[str, Any]]:
    """Every structured instance of the rows once, with the estimates of the attacks on it."""
    tasks = {(family_of(row.task), int(row.task.params.get("heads", 1))): row.task for row in rows}
    out = []
    for (family, heads), task in sorted(tasks.items()):
        public = {"gadget": "diag", **task.params, "family": task.family}
        try:
            lines = {line.name: line for line in estimates(public)}
        except InputError:  # a random layer has no hidden secret to estimate
            continue
        cells = []
        for name in SHOWN:
            line = lines.get(name)
            known = line is not None and line.log2_time is not None
            cells.append("" if line is None else f"{line.log2_time:.0f}" if known else line.status)
        out.append({"family": family, "heads": heads, "dim": task.params["dim"], "cells": cells})
    return out
