"""What the rows of `games` say: brackets around V and G, needs of every strategy, bases of the need on rounding."""

from collections.abc import Iterable, Mapping, Sequence
from math import comb, isnan, nan
from statistics import mean
from typing import Any

import numpy as np

from hardness.engine.store import Row
from hardness.report import Axis, Column, Content, Curves, Panel, Point, Series, Table, line
from hardness.sq.bounds.parity import window_bound
from hardness.sq.exact import KNOWN, certain_queries, exact_floor, independent_value
from hardness.statistics.means import MIN_POINTS, mean_half_width
from hardness.studies.games.tasks import (
    BRACKETING,
    DRIFT,
    FRONTIER,
    FRONTIER_DIM,
    IDEAL,
    LARGE,
    QUICK,
    SLOWEST,
    SMALL,
    TOLERANCE,
    TOLERANCES,
)

Line = dict[str, Any]
# Their order is their look in every figure; those of other packages come after them.
STRATEGIES = ("sign-batch", "flat", "adaptive", "bent", "characters", "gradient", "low-degree")
HEIGHTS = (*BRACKETING, "floor", "V at most", "V if independent")  # what is drawn over the floor of a large class
SEVERAL = 100  # sets from which on a class is large
QUERIES = Axis("queries", log=True)


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    games, values = played(rows), searched(rows)
    brackets, frontier, rounding = bracketed(games, values), at_every_tolerance(games), rounded(games)
    limited = [cell for cell in games if cell["family"] == "rounding" and cell["m"]]
    figures = [*_brackets(brackets), _frontier(frontier), _rounding(rounding), _heads(limited)]
    tables = {"brackets": _bracket_table(brackets), "frontier": _frontier_table(frontier),
              "rounding": _rounding_table([cell for cell in games if cell["family"] == "rounding"])}  # fmt: skip
    large = [cell for cell in brackets if cell["sets"] > SEVERAL and cell["won"]]
    bases = local_bases(rounding)
    if not large or not bases or not frontier:
        won = sum(cell["queries"] is not None for cell in games)
        missing = f"Of {len(games)} cells of the grid {won} were won, too few to answer the question."
        return Content(figures=figures, tables=tables, missing=missing)
    cheapest = max(rounding, key=lambda cell: (cell["n"], -cell["queries"]))
    best = _cheapest(frontier)
    numbers = {
        "cells": len(brackets),
        "known": sum(cell["V at least"] == cell["V at most"] for cell in brackets),
        "large": len(large),
        "tight": sum(cell["G over floor"] == 1 for cell in large),
        "worst": max(cell["G over floor"] for cell in large),
        "frontier": {"pairs": len(best), "least": min(best.values()), "most": max(best.values()),
                     "sign_batch": sum(own == best[cell["m"], cell["τ"]] for cell in frontier
                                       if cell["strategy"] == "sign-batch" and (own := cell["ratio"]) is not None)},
        "rounding": {"n": cheapest["n"], "strategy": cheapest["strategy"], "ratio": cheapest["ratio"],
                     "bases": bases[cheapest["strategy"]], "last": bases[cheapest["strategy"]][-1]},
        "known_apart": KNOWN, "slowest": SLOWEST, "drift": DRIFT, "dim": FRONTIER_DIM, "tau": TOLERANCE,
        "modulus": IDEAL[0],
    }  # fmt: skip
    return Content(numbers, figures, tables)


def played(rows: Iterable[Row]) -> list[Line]:
    """One line per class, strategy and tolerance: queries of the runs that identified, with their interval if several.

    The mean is given where at least half of the runs identified: elsewhere secrets were left that nothing parts.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row.outcome and row.task.solver["kind"] == "frontier" and "concepts" in row.outcome.detail:
            params, solver = row.task.params, row.task.solver
            key = (row.task.family, params.get("modulus", 2), params.get("heads", 0), params["dim"] - 1)
            groups.setdefault((*key, str(solver["strategy"]), float(solver["tolerance"])), []).append(row)
    found = []
    for (family, q, m, n, strategy, tau), own in sorted(groups.items()):
        ended = [row.outcome for row in own if row.outcome]
        costs = [float(o.cost) for o in ended if o.status == "solved" and o.cost]
        half = 2 * len(costs) >= len(ended) and bool(costs)
        spread = interval(costs) if half else None
        bound = ended[0].detail.get("bound")
        found.append({
            "family": family, "q": q, "m": m, "n": n, "N": ended[0].detail["concepts"], "strategy": strategy, "τ": tau,
            "runs": f"{len(costs)}/{len(ended)}", "queries": mean(costs) if half else None,
            "low": spread and spread[0], "high": spread and spread[1], "least": min(costs, default=None),
            "bound": bound, "ratio": mean(costs) / bound if half and bound and bound >= 1 else None,
            "gave up at": None if costs else max((o.cost or 0 for o in ended), default=None),
        })  # fmt: skip
    return found


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of a mean (`mean_half_width`); none for fewer than three values.

    >>> [round(x, 2) for x in interval([1.0, 2.0, 3.0])]
    [-0.48, 4.48]
    """
    if len(values) < MIN_POINTS:
        return None
    half = float(mean_half_width(np.asarray(values)))
    return mean(values) - half, mean(values) + half


def searched(rows: Iterable[Row]) -> dict[tuple[int, int, float], tuple[int, int]]:
    """Between what numbers V of a small class (n, s, τ) was found to lie."""
    return {
        (row.task.params["dim"] - 1, row.task.params["heads"], float(row.task.solver["tolerance"])): (
            row.outcome.detail["lower"], row.outcome.detail["upper"])
        for row in rows
        if row.outcome and row.task.solver["kind"] == "value" and "lower" in row.outcome.detail
    }  # fmt: skip


def bracketed(games: Sequence[Line], values: Mapping[tuple[int, int, float], tuple[int, int]]) -> list[Line]:
    """One line per class of parities and tolerance: what is proved of V and of G, and what the strategies needed."""
    needed: dict[tuple[int, int, float], dict[str, int | None]] = {key: {} for key in values}
    for game in games:
        bracketing = game["strategy"] in BRACKETING and game["τ"] in TOLERANCES
        if game["family"] == "parity" and bracketing and (game["n"], game["m"]) in (*SMALL, *LARGE, QUICK):
            least = int(game["least"]) if game["least"] else None
            needed.setdefault((game["n"], game["m"], game["τ"]), {})[game["strategy"]] = least
    found = []
    for (n, s, tau), own in sorted(needed.items(), key=lambda item: (comb(*item[0][:2]), item[0])):
        size = comb(n, s)
        floor, enough = exact_floor(size, tau), certain_queries(size, tau)
        lower, upper = values.get((n, s, tau), (floor, enough))
        best = min([queries for queries in own.values() if queries] + [upper])
        found.append({
            "n": n, "s": s, "sets": size, "τ": tau, "8τ²(N−1)": window_bound(size, tau), "floor": floor,
            **{name: own.get(name) for name in BRACKETING}, "won": any(own.values()), "G at most": best,
            "G over floor": best / floor, "V at least": lower, "V at most": upper,
            "V if independent": independent_value(size, tau),
        })  # fmt: skip
    return found


def at_every_tolerance(games: Sequence[Line]) -> list[Line]:
    """The lines of the games at the dimension and the tolerances at which strategies are compared."""
    return [cell for cell in games if cell["family"] == "parity" and cell["n"] == FRONTIER_DIM - 1
            and cell["τ"] in FRONTIER]  # fmt: skip


def _cheapest(frontier: Sequence[Line]) -> dict[tuple[int, float], float]:
    """The least ratio to the bound of every (m, τ) where that is at least one query."""
    best: dict[tuple[int, float], float] = {}
    for game in frontier:
        if game["ratio"] is not None:
            key = game["m"], game["τ"]
            best[key] = min(best.get(key, game["ratio"]), game["ratio"])
    return best


def rounded(games: Sequence[Line]) -> list[Line]:
    """The lines of ideal labels where at least half of the runs identified."""
    return [cell for cell in games if cell["family"] == "rounding" and not cell["m"] and cell["queries"]]


def local_bases(rounding: Sequence[Line]) -> dict[str, list[float]]:
    """By strategy, the factor in the mean need from each n to the next.

    >>> local_bases([{"strategy": "flat", "n": n, "queries": q} for n, q in ((2, 4.0), (3, 8.0), (4, 20.0))])
    {'flat': [2.0, 2.5]}
    """
    needs: dict[str, dict[int, float]] = {}
    for game in rounding:
        needs.setdefault(game["strategy"], {})[game["n"]] = game["queries"]
    return {name: [own[n + 1] / own[n] for n in sorted(own) if n + 1 in own] for name, own in needs.items()
            if len(own) > 1}  # fmt: skip


def _series(games: Sequence[Line], x: str) -> list[Series]:
    """One series per strategy that identified; a point is open where not all of its runs did."""
    found = []
    for name in dict.fromkeys([*STRATEGIES, *(game["strategy"] for game in games)]):
        style = STRATEGIES.index(name) if name in STRATEGIES else None
        points = [
            Point(g[x], nan if g["queries"] is None else g["queries"], g["low"], g["high"],
                  hollow=len(set(g["runs"].split("/"))) > 1)
            for g in games if g["strategy"] == name
        ]  # fmt: skip
        found += [] if all(isnan(point.y) for point in points) else [Series(name, points, style=style)]
    return found


def _brackets(brackets: Sequence[Line]) -> list[Curves]:
    """Large classes as ratios to the floor; small ones with their exact values."""
    large: list[Panel] = []
    small: list[Panel] = []
    for n, s in dict.fromkeys((cell["n"], cell["s"]) for cell in brackets):
        own = [cell for cell in brackets if (cell["n"], cell["s"]) == (n, s)]
        over = comb(n, s) > SEVERAL
        heights = [{**e, **{key: e[key] / e["floor"] for key in HEIGHTS if e[key]}} if over else e for e in own]
        won = [
            Series(name, [Point(e["τ"], high[name], tip=f"{name}, τ = {e['τ']:g}: {e[name]:,} queries")
                          for e, high in zip(own, heights, strict=True) if e[name]], style=STRATEGIES.index(name))
            for name in BRACKETING
        ]  # fmt: skip
        floor = line("floor of G and V", [(e["τ"], e["floor"]) for e in heights], "lower bound")
        known = [(e["τ"], e["V at least"]) for e in own if e["V at least"] == e["V at most"]]
        enough = line("V at most", [(e["τ"], e["V at most"]) for e in heights], "upper bound")
        independent = line("V of independent sets", [(e["τ"], e["V if independent"]) for e in heights], "law")
        shown = [*won, floor, enough, independent] if over else [line("V, exactly", known, style=5), *won, floor]
        (large if over else small).append(Panel(f"{s} of {n} bits: {comb(n, s):,} sets", shown))
    ticks = (0.04, 0.08, 0.12, 0.2)
    tau = Axis("τ", log=True, ticks=ticks, names=[f"{tick:g}" for tick in ticks])
    ratio = Axis("queries over the floor", log=True, ticks=(1, 1.5, 2, 3, 5, 10, 20))
    seen = "At large tolerances the points lie on the floor, at smaller ones above it; V's upper bound rises away."
    steps = "V steps down with the tolerance; the floor equals it or lies one or two queries below."
    return [
        Curves("bracket", large, tau, ratio, seen, kinds="proved measured", height=3.0),
        Curves("values", small, tau, Axis("queries"), steps, kinds="proved measured", columns=2),
    ]


def _frontier(frontier: Sequence[Line]) -> Curves:
    panels = []
    for m in dict.fromkeys(game["m"] for game in frontier):
        own = [game for game in frontier if game["m"] == m]
        size = comb(FRONTIER_DIM - 1, m)
        taus = sorted({game["τ"] for game in own})
        panels.append(Panel(f"m = {m}", [
            *_series(own, "τ"),
            line("needed", [(tau, window_bound(size, tau)) for tau in taus], "lower bound"),
            line("enough, N − 1", [(tau, size - 1) for tau in taus], "upper bound"),
        ]))  # fmt: skip
    ticks = (0.03, 0.05, 0.1, 0.2)
    return Curves(
        "frontier", panels, Axis("τ", log=True, ticks=ticks, names=[f"{tick:g}" for tick in ticks]), QUERIES,
        "The need of every strategy rises with the tolerance, above the lower bound in every panel.",
        kinds="proved identity measured", columns=2,
    )  # fmt: skip


def _rounding(rounding: Sequence[Line]) -> Curves:
    bounds = sorted({(game["n"], game["bound"]) for game in rounding if game["bound"]})
    panels = [Panel("", [*_series(rounding, "n"), line("needed", bounds, "lower bound")])] if rounding else []
    return Curves(
        "rounding", panels, Axis("n", ticks=sorted({n for n, _ in bounds})), QUERIES,
        "Every strategy lies above the bound and rises faster than it.", kinds="proved measured", height=2.8,
    )  # fmt: skip


def _heads(limited: Sequence[Line]) -> Curves:
    """The labels of m heads, one panel per modulus, each m at the n that its heads hold."""
    panels = []
    for q in dict.fromkeys(game["q"] for game in limited if game["queries"]):
        own = [game for game in limited if game["q"] == q]
        held = dict(sorted({(game["m"], game["n"]) for game in own}))
        bound = sorted({(game["m"], game["bound"]) for game in own if game["bound"]})
        axis = Axis("m, and the n that its heads hold", ticks=list(held), names=[f"{m}\n{n}" for m, n in held.items()])
        panels.append(Panel(f"q = {q}", [*_series(own, "m"), line("needed", bound, "lower bound")], x=axis))
    return Curves(
        "heads", panels, Axis("m"), QUERIES,
        "The need rises with m where n does, and lies far above the bound.", kinds="proved measured", columns=2,
    )  # fmt: skip


COUNT = "thousands"


def _bracket_table(brackets: Sequence[Line]) -> Table:
    columns = [
        Column("n"), Column("s"), Column("sets", form=COUNT), Column("τ", form="{:g}".format),
        Column("8τ²(N−1)", "", "proved", "at_least"), Column("floor", "floor of G, V", "proved", COUNT),
        *(Column(name, "", "measured", COUNT) for name in BRACKETING), Column("G at most", "", "measured", COUNT),
        Column("G over floor", "", "measured", "at_most"), Column("V at least", "", "proved", COUNT),
        Column("V at most", "", "proved", COUNT), Column("V if independent", "", "proved", COUNT),
    ]  # fmt: skip
    return Table("V and G of parities: proved bounds, and the games of two strategies", brackets, columns)


def _frontier_table(frontier: Sequence[Line]) -> Table:
    columns = [
        Column("m"), Column("strategy"), Column("τ", form="{:g}".format), Column("runs", "runs identified"),
        Column("queries", "", "measured", COUNT), Column("low", "", "", COUNT), Column("high", "", "", COUNT),
        Column("gave up at", "", "", COUNT), Column("bound", "needed", "proved", "at_least"),
        Column("ratio", "over needed", "", "at_most"),
    ]  # fmt: skip
    return Table("Every strategy at every tolerance, on parities", frontier, columns)


def _rounding_table(rounding: Sequence[Line]) -> Table:
    shown = [game | {"labels of": f"{game['m']} heads" if game["m"] else "ideal"} for game in rounding]
    columns = [
        Column("q"), Column("labels of"), Column("n"), Column("N", "secrets", "", COUNT), Column("strategy"),
        Column("runs", "runs identified"), Column("queries", "", "measured", COUNT), Column("low", "", "", COUNT),
        Column("high", "", "", COUNT), Column("gave up at", "", "", COUNT),
        Column("bound", "needed", "proved", "at_least"), Column("ratio", "over needed", "", "at_most"),
    ]  # fmt: skip
    return Table("Games on rounded inner products", shown, columns)
