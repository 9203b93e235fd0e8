"""Rows of `nice-layers` to numbers, figures and tables."""

from collections.abc import Iterable, Sequence
from typing import Any

from scipy.stats import binomtest

from hardness.engine.store import Row
from hardness.report import Axis, Column, Content, Curves, Figure, Panel, Point, Series, Table, grouped, line
from hardness.statistics.means import Mean, mean
from learner.last_fit import counting_floor
from learner.provable.pipeline import CERTIFIED
from learner.studies.nice_layers import table
from learner.studies.nice_layers import tasks as grid
from learner.studies.nice_layers.table import AIM, LEAST_RUNS, Line
from learner.studies.nice_layers.trials import ETAS

NEEDED = f"examples to {AIM:g}"
LEARNERS = (grid.PHASES, grid.LITERAL, grid.RANDOM, grid.LBFGS)
FLOOR = "counting floor"
EXAMPLES, ERROR = Axis("examples", log=True), Axis("relative error", log=True)
SHARE = Axis("share of layers", low=-0.05, high=1.05)
SET = {  # what the study was set to, as the text says it
    "aim": f"{AIM:g}".lstrip("0"),
    "spread": f"{grid.SPREAD:g}",
    "least_ratio": min(grid.RATIOS),
    "path_dim": grid.PATH_DIM,
    "path_examples": grid.PATH_EXAMPLES,
    "last_factor": table.LAST_FACTOR,
    "certified": f"{CERTIFIED:g}".lstrip("0"),
    "saturated": f"{grid.SATURATED:g}",
    "few": table.FEW,
    "least_runs": LEAST_RUNS,
}


def content(rows: Sequence[Row]) -> Content:
    """All that the page shows."""
    scaling, rarity, paths = table.scaling(rows), table.rarity(rows), table.paths(rows)
    wide, needs = table.wide(rows, grid.SATURATED), _needs(scaling)
    if not (needs and rarity and paths and wide["layers"]):
        return Content(missing="Some of the questions of this study have no rows yet.")
    numbers = SET | needs | {
        "slopes": _sides((one.get("slope"), one.get("law")) for one in scaling if one["learner"] == grid.PHASES),
        "rarity": {spread: _sides((one["farthest slope"], one["law"]) for one in own)
                   for spread, own in grouped(rarity, "spread").items()},
        "paths": _paths(table.layers_of_paths(rows)),
        "certificates": table.certificates(rows), "wide": wide,
    }  # fmt: skip
    figures = [_errors(rows), _examples(scaling), _path_figure(paths), _rarity_figure(rarity)]
    return Content(numbers, figures, _tables(scaling, rarity, paths))


def _needs(scaling: Sequence[Line]) -> dict[str, Any]:
    """Examples to the aimed error by heads, in the main cell (or the first there is); {} if two heads are not there."""
    cells = grouped(scaling, "k", "d")
    k, d = min(cells, key=lambda cell: (cell != grid.MAIN, cell), default=grid.MAIN)
    own = grouped(cells.get((k, d), []), "learner")
    phases, random = ({one["m"]: str(one[NEEDED]) for one in own.get(name, [])} for name in (grid.PHASES, grid.RANDOM))
    if 2 not in phases or not random:
        return {}
    return {"k": k, "d": d, "phases": phases, "most_heads": max(phases), "random": random[max(random)]}


def _sides(pairs: Iterable[tuple[Mean | None, float | None]]) -> dict[str, int]:
    """How many intervals hold the law's value, lie below it, lie above it; and for how many cells there is none."""
    sides = [slope.side(law) if slope is not None else None for slope, law in pairs if law is not None]
    return {"inside": sides.count(0), "below": sides.count(-1), "above": sides.count(1), "none": sides.count(None)}


def _paths(layers: Sequence[Line]) -> dict[str, int]:
    refused = [one for one in layers if one["refused"]]
    solved = [one for one in layers if one["solved"]]
    unsolved = [one for one in layers if not one["random start"]]
    return {
        "layers": len(layers),
        "certified": sum(one["certified"] for one in layers),
        "solved": len(solved),
        "both": sum(one["random start"] for one in solved),
        "refused": len(refused),
        "refused_found": sum(one["random start"] for one in refused),
        "unfound": len(unsolved),
        "unfound_hard": sum(one["rho"] == 0 for one in unsolved),
    }


def _errors(rows: Sequence[Row]) -> Figure:
    """Relative error of the phases against examples, a panel for each (k, d)."""
    cells: dict[tuple[int, int], list[Series]] = {}
    heads: dict[tuple[int, int], int] = {}
    for (k, d, m, name), own in table.fits(rows).items():
        if name in (grid.PHASES, grid.LITERAL) and m > 1:
            label = f"m = {m}" + ", literal" * (name == grid.LITERAL)
            series = Series(label, _means(own), style=m - 2, dashed=name == grid.LITERAL)
            cells.setdefault((k, d), []).append(series)
            heads[k, d] = m
    panels = []
    for k, d in sorted(cells, key=lambda cell: (cell != grid.MAIN, cell)):
        least = min(point.y for one in cells[k, d] for point in one.points)
        floor = counting_floor(heads[k, d], k, d)
        floor_line = line(FLOOR, [(floor, least), (floor, 1.0)], dashed=True)
        panels.append(Panel(f"k = {k}, d = {d}", [*cells[k, d], floor_line]))
    return Curves(
        "nice-layers-error", panels, EXAMPLES, ERROR,
        "The error falls at first steeply and then as a power of the examples, later and more slowly for more heads.",
        kinds="measured proved", columns=2,
    )  # fmt: skip


def _means(own: Sequence[Line]) -> list[Point]:
    points = []
    for count, fits in sorted(grouped(own, "samples").items()):
        if errors := [fit["error"] for fit in fits if fit["error"]]:
            middle = mean(errors, logarithmic=True)
            points.append(Point(count, middle.value, middle.low, middle.high))
    return points


def _examples(scaling: Sequence[Line]) -> Figure:
    """Examples to the aimed error against m: brackets, and the counting floor."""
    panels = []
    for (k, d), own in sorted(grouped(scaling, "k", "d").items(), key=lambda item: (item[0] != grid.MAIN, item[0])):
        found = grouped(own, "learner")
        series = [Series(name, [_point(one) for one in found[name]], style=style)
                  for style, name in enumerate(LEARNERS) if name in found]  # fmt: skip
        floor = sorted({(one["m"], one["floor"]) for one in own})
        panels.append(Panel(f"k = {k}, d = {d}", [*series, line(FLOOR, floor, "lower bound")]))
    return Curves(
        "nice-layers-examples", panels, Axis("m", ticks=grid.HEADS), EXAMPLES,
        "The phases need several times as many examples for each further head; the searches stay near the floor.",
        kinds="measured proved", columns=2,
    )  # fmt: skip


def _point(entry: Line) -> Point:
    found = entry[NEEDED]
    if found.all is None:
        return Point(entry["m"], found.most, censored="above", tip=f"{entry['learner']}, m = {entry['m']}: {found}")
    if found.none is None:
        return Point(entry["m"], found.all, censored="below")
    return Point(entry["m"], found.all, found.none, found.all)


def _path_figure(paths: Sequence[Line]) -> Figure:
    """Layers certified, and solved from a random start, against ρ."""
    shown = {"certified": "certified by the phases", "random start": "solved from a random start"}
    where = {"theta": "Θ", "w": "W", "both": "Θ and W"}
    panels = [
        Panel(f"m = {m}, {where[path]}",
              [Series(name, [_chance(one["rho"], one[key], one["layers"]) for one in own])
               for key, name in shown.items()])
        for (m, path), own in grouped(paths, "m", "path").items()
    ]  # fmt: skip
    return Curves(
        "nice-layers-path", panels, Axis("ρ"), SHARE,
        "Two lines a panel, from the hard end to the nice one: what the phases certify, what a random start solves.",
    )  # fmt: skip


def _chance(x: float, found: int, tried: int) -> Point:
    """A share with its exact 95 % interval (Clopper and Pearson)."""
    low, high = binomtest(found, tried).proportion_ci(method="exact")
    return Point(x, found / tried, float(low), float(high), tip=f"{x:g}: {found} of {tried}")


def _rarity_figure(rarity: Sequence[Line]) -> Figure:
    """Share of certified rows against η, a panel for each law."""
    panels = []
    for law, cells in sorted(grouped(rarity, "law").items()):
        series = []
        for one in cells:
            enough = table.FEW / (grid.ROWS * one["k"] * one["layers"])
            shares = {eta: share for eta in ETAS if (share := one[f"share {eta:g}"]) >= enough}
            points = [Point(eta, share, tip=f"m = {one['m']}, k = {one['k']}, η = {eta:g}: {share:.3g}")
                      for eta, share in shares.items()]  # fmt: skip
            series.append(Series(f"score spread {one['spread']:g}", points, style=int(one["spread"] > 1)))
            if points:
                x, y = points[-1].x, points[-1].y
                ends = (x, min(8 * x, x * y ** (-1 / law)))  # a share is at most 1
                series.append(line("the law", [(end, y * (end / x) ** law) for end in ends], "law", style=5))
        panels.append(Panel(f"exponent {law}", series))
    return Curves(
        "nice-layers-rarity", panels, Axis("η", log=True, ticks=ETAS[::-2]), Axis("share of rows", log=True),
        "The shares fall with η, faster for larger exponents, beside the slope that the law gives.",
        kinds="measured proved",
    )  # fmt: skip


def _tables(*lines: Sequence[Line]) -> dict[str, Table]:
    scaling, rarity, paths = lines
    floor = Column("floor", kind="proved")
    return {
        "examples": Table(
            "Examples to a relative error, by learner and cell; what the phases end with at most examples.", scaling,
            ["learner", "k", "d", "m", "layers", floor, *(f"examples to {target:g}" for target in table.TARGETS),
             Column("most examples", form="thousands"), Column("error there", form="at_most"), "certified there",
             "slope", Column("law", kind="estimated")],
        ),
        "rarity": Table(
            "Exponents of the share of certified rows, and the shares.", rarity,
            ["spread", "m", "k", Column("law", kind="proved"), "layers", "farthest slope",
             *(f"share {eta:g}" for eta in ETAS)],
        ),
        "paths": Table("Layers on the paths: how many were refused, certified, solved.", paths),
    }  # fmt: skip
