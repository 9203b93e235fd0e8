"""What the rows of `games` say: brackets around V and G, needs of every strategy, bases of the need on rounding."""

from collections.abc import Iterable, Mapping, Sequence
from math import comb, isnan, nan
from typing import Any

from hardness.engine.store import Row
from hardness.report import Axis, Content, Curves, Panel, Point, Series, grouped, line, records
from hardness.sq.bounds.parity import window_bound
from hardness.sq.exact import KNOWN, certain_queries, exact_floor
from hardness.statistics.means import mean
from hardness.studies.games import tasks as grid

Line = dict[str, Any]
# Their order is their look in every figure; those of other packages come after them.
STRATEGIES = ("sign-batch", "flat", "adaptive", "bent", "characters", "gradient", "low-degree")
HEIGHTS = (*grid.BRACKETING, "floor", "V at most")  # what is drawn over the floor of a large class
SEVERAL = 100  # sets from which on a class is large
QUERIES = Axis("queries", log=True)


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    games, values = played(rows), searched(rows)
    brackets, frontier, rounding = bracketed(games, values), at_every_tolerance(games), rounded(games)
    figures = [_brackets(brackets), _frontier(frontier), _rounding(rounding)]
    tables = {"brackets": brackets, "games": games}
    large = [cell for cell in brackets if cell["sets"] > SEVERAL and cell["won"]]
    bases = local_bases(rounding)
    if not large or not bases or not frontier:
        won = sum(cell["queries"] is not None for cell in games)
        missing = f"Of {len(games)} cells of the grid {won} were won, too few to answer the question."
        return Content(figures=figures, tables=tables, missing=missing)
    cheapest = max(rounding, key=lambda cell: (cell["n"], -cell["queries"]))
    several = [cell for cell in frontier if cell["ratio"] is not None]
    best = {place: min(cell["ratio"] for cell in own) for place, own in grouped(several, "m", "τ").items()}
    numbers = {
        "cells": len(brackets),
        "known": sum(cell["V at least"] == cell["V at most"] for cell in brackets),
        "large": len(large),
        "tight": sum(cell["G over floor"] == 1 for cell in large),
        "worst": max(cell["G over floor"] for cell in large),
        "frontier": {"pairs": len(best), "least": min(best.values()), "most": max(best.values()),
                     "sign_batch": sum(cell["ratio"] == best[cell["m"], cell["τ"]] for cell in several
                                       if cell["strategy"] == "sign-batch")},
        "rounding": {"n": cheapest["n"], "strategy": cheapest["strategy"], "ratio": cheapest["ratio"],
                     "bases": bases[cheapest["strategy"]], "last": bases[cheapest["strategy"]][-1]},
        "known_apart": KNOWN,
    }  # fmt: skip
    return Content(numbers, figures, tables, grid=grid)


def played(rows: Iterable[Row]) -> list[Line]:
    """One line per class, strategy and tolerance: queries of the runs that identified, with their interval if several.

    The mean is given where at least half of the runs identified: elsewhere secrets were left that nothing parts.
    """
    ended = [game for game in records(rows, kind="frontier") if "concepts" in game]
    keys = ("family", lambda game: game.get("heads", 0), "dim", "strategy", "tolerance")
    found = []
    for (family, m, dim, strategy, tau), own in sorted(grouped(ended, *keys).items()):
        costs = [float(game["cost"]) for game in own if game["status"] == "solved" and game["cost"]]
        middle = mean(costs) if costs and 2 * len(costs) >= len(own) else None
        bound = own[0].get("bound")
        found.append({
            "family": family, "m": m or None, "n": dim - 1, "N": own[0]["concepts"], "strategy": strategy,
            "τ": tau, "runs": f"{len(costs)}/{len(own)}", "queries": middle and middle.value,
            "low": middle and middle.low, "high": middle and middle.high, "least": min(costs, default=None),
            "bound": bound, "ratio": middle.value / bound if middle and bound and bound >= 1 else None,
            "gave up at": None if costs else max((game["cost"] or 0 for game in own), default=None),
        })  # fmt: skip
    return found


def searched(rows: Iterable[Row]) -> dict[tuple[int, int, float], tuple[int, int]]:
    """Between what numbers V of a small class (n, s, τ) was found to lie."""
    found = (one for one in records(rows, kind="value") if "lower" in one)
    return {(one["dim"] - 1, one["heads"], one["tolerance"]): (one["lower"], one["upper"]) for one in found}


def bracketed(games: Sequence[Line], values: Mapping[tuple[int, int, float], tuple[int, int]]) -> list[Line]:
    """One line per class of parities and tolerance: what is proved of V and of G, and what the strategies needed."""
    needed: dict[tuple[int, int, float], dict[str, int | None]] = {key: {} for key in values}
    classes = (*grid.SMALL, *grid.LARGE, grid.QUICK)
    for game in games:
        bracketing = game["strategy"] in grid.BRACKETING and game["τ"] in grid.TOLERANCES
        if game["family"] == "parity" and bracketing and (game["n"], game["m"]) in classes:
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
            **{name: own.get(name) for name in grid.BRACKETING}, "won": any(own.values()), "G at most": best,
            "G over floor": best / floor, "V at least": lower, "V at most": upper,
        })  # fmt: skip
    return found


def at_every_tolerance(games: Sequence[Line]) -> list[Line]:
    """The lines of the games at the dimension and the tolerances at which strategies are compared."""
    return [cell for cell in games if cell["family"] == "parity" and cell["n"] == grid.FRONTIER_DIM - 1
            and cell["τ"] in grid.FRONTIER]  # fmt: skip


def rounded(games: Sequence[Line]) -> list[Line]:
    """The lines of ideal labels where at least half of the runs identified."""
    return [cell for cell in games if cell["family"] == "rounding" and not cell["m"] and cell["queries"]]


def local_bases(rounding: Sequence[Line]) -> dict[str, list[float]]:
    """By strategy, the factor in the mean need from each n to the next.

    >>> local_bases([{"strategy": "flat", "n": n, "queries": q} for n, q in ((2, 4.0), (3, 8.0), (4, 20.0))])
    {'flat': [2.0, 2.5]}
    """
    needs = {name: {game["n"]: game["queries"] for game in own} for name, own in grouped(rounding, "strategy").items()}
    return {name: [own[n + 1] / own[n] for n in sorted(own) if n + 1 in own]
            for name, own in needs.items() if len(own) > 1}  # fmt: skip


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


def _brackets(brackets: Sequence[Line]) -> Curves:
    """Large classes, as ratios to the floor."""
    panels = []
    for (n, s), own in grouped((one for one in brackets if one["sets"] > SEVERAL), "n", "s").items():
        over = {key: [(e["τ"], e[key] / e["floor"], e[key]) for e in own if e[key]] for key in HEIGHTS}
        won = [Series(name, [Point(tau, y, tip=f"{name}, τ = {tau:g}: {q:,} queries") for tau, y, q in over[name]],
                      style=STRATEGIES.index(name)) for name in grid.BRACKETING]  # fmt: skip
        floor, enough = ([(tau, y) for tau, y, _ in over[key]] for key in ("floor", "V at most"))
        bounds = line("floor of G and V", floor, "lower bound"), line("V at most", enough, "upper bound")
        panels.append(Panel(f"{s} of {n} bits: {comb(n, s):,} sets", [*won, *bounds]))
    tau = Axis("τ", log=True, ticks=(0.04, 0.08, 0.12, 0.2))
    ratio = Axis("queries over the floor", log=True, ticks=(1, 1.5, 2, 3, 5, 10, 20))
    return Curves("bracket", panels, tau, ratio, height=3.0)


def _frontier(frontier: Sequence[Line]) -> Curves:
    panels = []
    for m, own in grouped(frontier, "m").items():
        size = comb(grid.FRONTIER_DIM - 1, m)
        taus = sorted({game["τ"] for game in own})
        panels.append(Panel(f"m = {m}", [
            *_series(own, "τ"),
            line("needed", [(tau, window_bound(size, tau)) for tau in taus], "lower bound"),
            line("enough, N − 1", [(tau, size - 1) for tau in taus], "upper bound"),
        ]))  # fmt: skip
    return Curves("frontier", panels, Axis("τ", log=True, ticks=(0.03, 0.05, 0.1, 0.2)), QUERIES, columns=2)


def _rounding(rounding: Sequence[Line]) -> Curves:
    bounds = sorted({(game["n"], game["bound"]) for game in rounding if game["bound"]})
    panels = [Panel("", [*_series(rounding, "n"), line("needed", bounds, "lower bound")])] if rounding else []
    return Curves("rounding", panels, Axis("n", ticks=sorted({n for n, _ in bounds})), QUERIES, height=2.8)
