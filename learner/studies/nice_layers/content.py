"""Rows of `nice-layers` to numbers, figures and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from scipy.stats import binomtest

from hardness.engine.store import Row
from hardness.report.content import Axis, Column, Content, Curves, Figure, Panel, Point, Series, Table, line
from hardness.report.rounding import at_least, at_most
from hardness.statistics.means import Mean, mean
from learner.last_fit import counting_floor
from learner.provable.pipeline import CERTIFIED
from learner.studies.nice_layers import table
from learner.studies.nice_layers.table import AIM, LEAST_RUNS, TARGETS, Line, Runs
from learner.studies.nice_layers.tasks import (
    LBFGS,
    LITERAL,
    MAIN,
    NEAR,
    PATH_DIM,
    PATH_EXAMPLES,
    PHASES,
    RANDOM,
    RARITY_DIM,
    RATIOS,
    ROWS,
    SATURATED,
    SCRATCH,
    SPREAD,
    WIDE,
)
from learner.studies.nice_layers.trials import ETAS, OFF, STARTS

NEEDED = f"examples to {AIM:g}"
LEARNERS = (PHASES, LITERAL, RANDOM, LBFGS)
FLOOR = "counting floor"
EXAMPLES, ERROR = Axis("examples", log=True), Axis("relative error", log=True)
SHARE = Axis("share of layers", low=-0.05, high=1.05)
SET = {  # what the study was set to, as the text says it
    "aim": f"{AIM:g}".lstrip("0"),
    "spread": f"{SPREAD:g}",
    "least_ratio": min(RATIOS),
    "path_dim": PATH_DIM,
    "last_factor": table.LAST_FACTOR,
    "certified": f"{CERTIFIED:g}".lstrip("0"),
    "saturated": f"{SATURATED:g}",
    "off": f"{100 * OFF:g} %",
    "starts": STARTS,
    "few": table.FEW,
    "least_runs": LEAST_RUNS,
}


def content(rows: Sequence[Row]) -> Content:
    """All that the page shows."""
    scaling, rarity, paths, searches = (
        make(rows) for make in (table.scaling, table.rarity, table.paths, table.searches)
    )
    spreads, layers = table.spreads(rows), table.layers_of_paths(rows)
    needs = _needs(scaling)
    if not (needs and rarity and paths and searches and SATURATED in spreads):
        return Content(missing="Some of the questions of this study have no rows yet.")
    numbers = SET | needs | {
        "slopes": _sides((entry.get("slope"), entry.get("law")) for entry in scaling if entry["learner"] == PHASES),
        "rarity": {spread: _sides((e["farthest slope"], e["law"]) for e in rarity if e["spread"] == spread)
                   for spread in sorted({e["spread"] for e in rarity})},
        "paths": _paths(layers),
        "near": _least(searches, NEAR),
        "scratch": _least(searches, SCRATCH),
        "certificates": table.certificates(rows),
        "wide": _spread(spreads[SATURATED]),
    }  # fmt: skip
    figures = [
        _errors(table.gathered(rows)),
        _examples(scaling),
        _path_figure(paths),
        _search_figure(searches),
        _rarity_figure(rarity),
        _spread_figure(spreads),
    ]
    return Content(numbers, figures, _tables(scaling, rarity, paths, searches))


def _needs(scaling: Sequence[Line]) -> dict[str, Any]:
    """Examples to the aimed error by heads, in the main cell (or the first there is); {} if two heads are not there."""
    k, d = min(((e["k"], e["d"]) for e in scaling), key=lambda cell: (cell != MAIN, cell), default=MAIN)
    own = [entry for entry in scaling if (entry["k"], entry["d"]) == (k, d)]
    phases, random = ({e["m"]: str(e[NEEDED]) for e in own if e["learner"] == name} for name in (PHASES, RANDOM))
    if 2 not in phases or not random:
        return {}
    return {"k": k, "d": d, "phases": phases, "most_heads": max(phases), "random": random[max(random)]}


def _sides(pairs: Any) -> dict[str, int]:
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


def _least(searches: Sequence[Line], start: str) -> dict[str, Any]:
    own = [entry for entry in searches if entry["start"] == start]
    known = [entry["least ratio"] for entry in own if entry["least ratio"] is not None]
    low, high = min(known, default=0), max(known, default=0)
    text = f"{low:g}" + f" to {high:g}" * (high > low) if len(known) == len(own) else "beyond what was tried"
    return {"text": text, "least_tried": min(ratio for entry in own for ratio in entry["found"])}


def _spread(found: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    inside = [error for error, certified in found if certified]
    outside = [error for error, certified in found if not certified]
    return {
        "layers": len(found),
        "certified": len(inside),
        "low": at_least(found[0][0], 2),
        "high": at_most(found[-1][0], 2),
        "worst_certified": at_most(max(inside), 2) if inside else "",
        "best_uncertified": at_least(min(outside), 2) if outside else "",
    }


def _errors(found: Mapping[tuple[str, int, int, int], Runs]) -> Figure:
    """Relative error of the phases against examples, a panel for each (k, d)."""
    cells = sorted({(k, d) for _, k, d, _ in found}, key=lambda cell: (cell != MAIN, cell))
    panels = []
    for k, d in cells:
        own = sorted((m, name, runs) for (name, *cell, m), runs in found.items()
                     if tuple(cell) == (k, d) and name in (PHASES, LITERAL) and m > 1)  # fmt: skip
        series = [
            Series(f"m = {m}" + ", literal" * (name == LITERAL), _means(runs), style=m - 2, dashed=name == LITERAL)
            for m, name, runs in own
        ]
        least = min((p.y for one in series for p in one.points), default=1e-3)
        floor = counting_floor(max(m for m, *_ in own), k, d)
        panels.append(Panel(f"k = {k}, d = {d}", [*series, line(FLOOR, [(floor, least), (floor, 1.0)], dashed=True)]))
    return Curves(
        "nice-layers-error", panels, EXAMPLES, ERROR,
        "Relative error of phases 1 to 6 alone, geometric means over layers with 95 % intervals; “literal” are the "
        "paper's own phases. Left of the counting floor no learner can do. One head is left to the table.",
        "The error falls at first steeply and then as a power of the examples, later and more slowly for more heads.",
        "measured proved", columns=2,
    )  # fmt: skip


def _means(runs: Runs) -> list[Point]:
    points = []
    for count in sorted({count for run in runs.values() for count in run}):
        errors = [run[count]["error"] for run in runs.values() if count in run and run[count]["error"]]
        if errors:
            middle = mean(errors, logarithmic=True)
            few = len(errors) < LEAST_RUNS
            points.append(Point(count, middle.value, None if few else middle.low, None if few else middle.high))
    return points


def _examples(scaling: Sequence[Line]) -> Figure:
    """Examples to the aimed error against m: brackets, and the counting floor."""
    panels = []
    for k, d in sorted({(e["k"], e["d"]) for e in scaling}, key=lambda cell: (cell != MAIN, cell)):
        own = [entry for entry in scaling if (entry["k"], entry["d"]) == (k, d)]
        names = [name for name in LEARNERS if any(entry["learner"] == name for entry in own)]
        series = [
            Series(name, [_point(e) for e in own if e["learner"] == name], style=LEARNERS.index(name)) for name in names
        ]
        floor = sorted({(e["m"], e["floor"]) for e in own})
        panels.append(Panel(f"k = {k}, d = {d}", [*series, line(FLOOR, floor, "lower bound")]))
    return Curves(
        "nice-layers-examples", panels, Axis("m", ticks=(1, 2, 3, 4, 5)), EXAMPLES,
        f"Examples to relative error {AIM:g}: a bar begins where no layer is learned and ends, at its mark, where all "
        "are; nothing is interpolated. A hollow mark: the least number tried was enough, or the most was not.",
        "The phases need several times as many examples for each further head; the searches stay near the floor.",
        "measured proved", columns=2,
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
    panels = []
    for m, path in dict.fromkeys((entry["m"], entry["path"]) for entry in paths):
        own = [entry for entry in paths if (entry["m"], entry["path"]) == (m, path)]
        where = {"theta": "Θ", "w": "W", "both": "Θ and W"}[path]
        panels.append(Panel(f"m = {m}, {where}", [
            Series(name, [_chance(e["rho"], e[key], e["layers"]) for e in own])
            for name, key in (("certified by the phases", "certified"), ("solved from a random start", "random start"))
        ]))  # fmt: skip
    floor = counting_floor(max(entry["m"] for entry in paths), 2, PATH_DIM)
    return Curves(
        "nice-layers-path", panels, Axis("ρ"), SHARE,
        "Share of layers on the path from a parity (ρ = 0) to a random layer (1), in Θ, in W and in both, with exact "
        f"95 % intervals over three layers. All have {PATH_EXAMPLES:,} examples; the counting floor is {floor}.",
        "Two lines a panel, from the hard end to the nice one: what the phases certify, what a random start solves.",
    )  # fmt: skip


def _chance(x: float, found: int, tried: int) -> Point:
    """A share with its exact 95 % interval (Clopper and Pearson)."""
    low, high = binomtest(found, tried).proportion_ci(method="exact")
    return Point(x, found / tried, float(low), float(high), tip=f"{x:g}: {found} of {tried}")


def _search_figure(searches: Sequence[Line]) -> Figure:
    """Layers found against equations an unknown."""
    panels = []
    for k, d, m in dict.fromkeys((e["k"], e["d"], e["m"]) for e in searches):
        own = [entry for entry in searches if (entry["k"], entry["d"], entry["m"]) == (k, d, m)]
        series = [
            Series(e["start"], [_chance(x, *map(int, text.split("/"))) for x, text in e["found"].items()]) for e in own
        ]
        panels.append(Panel(f"m = {m}, k = {k}, d = {d}", [*series, line(FLOOR, [(1, 0), (1, 1)], dashed=True)]))
    return Curves(
        "nice-layers-search", panels, Axis("examples over the counting floor"), SHARE,
        "Share of layers that variable projection finds, with exact 95 % intervals.",
        "From near the truth layers are found right above the floor, from random starts from a larger ratio on.",
        "measured proved",
    )  # fmt: skip


def _rarity_figure(rarity: Sequence[Line]) -> Figure:
    """Share of certified rows against η, a panel for each law."""
    panels = []
    for law in sorted({entry["law"] for entry in rarity}):
        series = []
        for entry in (e for e in rarity if e["law"] == law):
            shares = {eta: entry[f"share {eta:g}"] for eta in ETAS}
            enough = table.FEW / (ROWS * entry["k"] * entry["layers"])
            points = [
                Point(eta, share, tip=f"m = {entry['m']}, k = {entry['k']}, η = {eta:g}: {share:.3g}")
                for eta, share in shares.items()
                if share >= enough
            ]
            series.append(Series(f"score spread {entry['spread']:g}", points, style=int(entry["spread"] > 1)))
            if points:
                x, y = points[-1].x, points[-1].y
                ends = (x, min(8 * x, x * y ** (-1 / law)))  # a share is at most 1
                series.append(line("the law", [(end, y * (end / x) ** law) for end in ends], "law", style=5))
        panels.append(Panel(f"exponent {law}", series))
    return Curves(
        "nice-layers-rarity", panels, Axis("η", log=True, ticks=ETAS[::-2]), Axis("share of rows", log=True),
        f"Share of rows certified at η, all layers together, where at least {table.FEW} are; the law has the slope "
        f"(m−1)(k−1) and is drawn through the smallest η. The counting floor of these layers, at most "
        f"{max(counting_floor(e['m'], e['k'], RARITY_DIM) for e in rarity)} examples, shows a few hundred rows.",
        "The shares fall with η, faster for larger exponents, beside the slope that the law gives.",
        "measured proved",
    )  # fmt: skip


def _spread_figure(spreads: Mapping[float, Sequence[tuple[float, bool]]]) -> Figure:
    """Error of the phases against the spread of the scores, each layer a point."""
    series = [
        Series(name, [Point(x, e) for x, own in spreads.items() for e, said in own if said == which], join=False)
        for name, which in (("certified", True), ("not certified", False))
    ]
    m, k, d, n = WIDE
    panel = Panel(f"m = {m}, k = {k}, d = {d}", series)
    return Curves(
        "nice-layers-spread", [panel], Axis("score spread", log=True, ticks=list(spreads)), ERROR,
        f"Relative error of phases 1 to 6 on fresh examples, one point for each layer; all layers have {n:,} examples, "
        f"the counting floor is {counting_floor(m, k, d)}.",
        f"The error rises slowly with the spread; at spread {SATURATED:g} layers end at two kinds of errors.",
    )  # fmt: skip


def _tables(*lines: Sequence[Line]) -> dict[str, Table]:
    scaling, rarity, paths, searches = lines
    kinds = {"floor": "proved", "law": "proved"}
    shares = [Column(f"share {eta:g}") for eta in ETAS]
    return {
        "examples": Table(
            "Examples to a relative error, by learner and cell; what the phases end with at most examples.",
            [{key: str(v) if isinstance(v, Mean) else v for key, v in entry.items()} for entry in scaling],
            [*(Column(key, kind=kinds.get(key, "")) for key in ("learner", "k", "d", "m", "layers", "floor")),
             *(Column(f"examples to {target:g}") for target in TARGETS),
             Column("most examples", form="thousands"), Column("error there", form="at_most"),
             *(Column(key) for key in ("certified there", "error over hull error", "slope")),
             Column("law", kind="estimated")],
        ),
        "rarity": Table(
            "Exponents of the share of certified rows, and the shares.",
            rarity,
            [*(Column(key, kind=kinds.get(key, "")) for key in ("spread", "m", "k", "law", "layers", "farthest slope",
                                                                "fitted")), *shares],
        ),
        "paths": Table("Layers on the paths: how many were refused, certified, solved.", paths),
        "searches": Table("Layers found at each ratio of examples to the counting floor.", searches),
    }  # fmt: skip
