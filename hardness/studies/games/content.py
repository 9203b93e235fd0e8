"""What the rows of `games` say: brackets around V and G, needs of every strategy, bases of the need on rounding."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import comb, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness.engine.store import Row
from hardness.exact.dependent import certain_queries
from hardness.report import Axis, Content, Curves, Panel, Point, Series, frame, line, lines_of
from hardness.sq.bounds.batches import batch_size
from hardness.sq.bounds.floors import KNOWN, decimal, exact_floor, most_lost
from hardness.statistics.means import Mean, mean
from hardness.studies.games import tasks as grid

if TYPE_CHECKING:
    import pandas as pd

# Their order is their look in every figure; those of other packages come after them.
STRATEGIES = ("sign-batch", "flat", "adaptive", "bent", "characters", "gradient", "low-degree")
HEIGHTS = (*grid.BRACKETING, "floor", "V at most")  # what is drawn over the floor of a large class
SEVERAL, FEW = 100, 10  # sets from which on a class is large, and up to which it is solved by search
BLIND = ("low-degree", "gradient")  # strategies that see little of a secret
QUERIES = Axis("queries", log=True)
GAME = ["family", "s", "n", "strategy", "τ"]


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    games = played(rows)
    searches = searched(rows)
    brackets, frontier, rounding = bracketed(games, searches), at_every_tolerance(games), rounded(games)
    figures = [_brackets(brackets), _frontier(frontier), _rounding(rounding)]
    limits = limited(games)
    tables = {"brackets": lines_of(brackets), "games": lines_of(games), "limits": lines_of(limits)}
    large, bases = brackets[(brackets.sets > SEVERAL) & brackets.won], local_bases(rounding)
    if large.empty or not bases or frontier.empty:
        won = int(games.queries.notna().sum())
        missing = f"Of {len(games)} cells of the grid {won} were won, too few to answer the question."
        return Content(figures=figures, tables=tables, missing=missing)
    numbers = {**_exactly(brackets), "large": _on_large(large), "frontier": _over_bound(frontier)}
    numbers |= {"rounding": _largest(rounding, bases), "known_apart": KNOWN, "limits": _at_the_limit(limits)}
    numbers |= {"blind": _identified(games), "searches": len(searches)}
    return Content(numbers, figures, tables, grid=grid)


def _exactly(brackets: "pd.DataFrame") -> dict[str, Any]:
    """In how many cells V is known, and in how many of them because the class is small."""
    known = brackets[brackets["V at least"] == brackets["V at most"]]
    small = int((known.sets <= FEW).sum())
    return {
        "cells": len(brackets),
        "known": len(known),
        "small": small,
        "few": FEW,
        "several": SEVERAL,
        "rest": len(known) - small,
    }


def _on_large(large: "pd.DataFrame") -> dict[str, Any]:
    """Over all tolerances on large classes, how far apart the bounds of V and of G are."""
    ratio = large["G over floor"]
    return {
        "classes": len(large.drop_duplicates(["n", "s"])),
        "pairs": len(large),
        "tight": int((ratio == 1).sum()),
        "V_within": float((large["V at most"] / large["V at least"]).max()),
        "G_within": float(ratio.max()),
        "G_within_flat": float(ratio[large.flat.notna()].max()),
    }


def _over_bound(frontier: "pd.DataFrame") -> dict[str, Any]:
    """Over all pairs of s and τ, what the cheapest strategy pays over the floor, and how often which one is that."""
    several = frontier[frontier.ratio.notna()]
    minimum = several.groupby(["s", "τ"])[["ratio", "queries"]].transform("min")
    cheapest = several[several.ratio == minimum.ratio]
    pairs = cheapest.drop_duplicates(["s", "τ"]).ratio
    batches, flat, adaptive = (
        int((cheapest.strategy == name).sum()) for name in (*grid.BRACKETING, "adaptive")
    )
    behind = (several.queries - minimum.queries)[several.strategy == "adaptive"]
    independent = [tau for tau in grid.FRONTIER if batch_size(tau) < grid.FRONTIER_DIM - 1]
    return {
        "pairs": len(pairs),
        "least": float(pairs.min()),
        "most": float(pairs.max()),
        "sign_batch": batches,
        "flat": flat,
        "flat_played": int((several.strategy == "flat").sum()),
        "adaptive": adaptive,
        "adaptive_played": len(behind),
        "behind": float(behind.max()),
        "alone": _without_rival(several),
        "independent": {"τ": min(independent), "K": batch_size(min(independent))},
    }


def _largest(rounding: "pd.DataFrame", bases: dict[str, list[float]]) -> dict[str, Any]:
    """The cheapest strategy at the largest n, and how its need grew up to it."""
    (best,) = lines_of(rounding[rounding.n == rounding.n.max()].sort_values("queries").head(1))
    grown = bases[best["strategy"]]
    return {
        "n": best["n"],
        "first": int(rounding.n[rounding.strategy == best["strategy"]].min()),
        "strategy": best["strategy"],
        "queries": best["queries"],
        "low": best["low"],
        "high": best["high"],
        "ratio": best["ratio"],
        "bases": grown,
    }


def _without_rival(games: "pd.DataFrame") -> int:
    """At how many pairs of s and τ neither flat nor adaptive was played."""
    rivals = games.strategy.isin(("flat", "adaptive")).groupby([games.s, games.τ]).any()
    return int((~rivals).sum())


def _identified(games: "pd.DataFrame") -> dict[str, int]:
    """Of strategies that see little, games, those that identified, and the n at which low-degree asks too little."""
    blind = games[games.strategy.isin(BLIND)]
    shares = [tuple(map(int, share.split("/"))) for share in blind.runs]
    products = blind[blind.strategy == "low-degree"].set_index("n")["gave up at"]
    needs = games[(games.family == "rounding") & (games.strategy == "adaptive")].set_index("n").queries
    return {
        "identified": sum(won for won, _ in shares),
        "games": sum(total for _, total in shares),
        "sizes": len(products),
        "short": int((products < needs.reindex(products.index)).sum()),
    }


def played(rows: Iterable[Row]) -> "pd.DataFrame":
    """A line per class, strategy and tolerance: queries of the runs that identified, with their interval if several.

    The mean is given where at least half of the runs identified: elsewhere secrets were left that nothing parts. The
    `bound` is the floor of theorem B on parities, and on rounding that of theory 2.6, as the trial has it.
    """
    columns = ["family", "heads", "dim", "strategy", "tolerance", "concepts", "bound", "status", "cost"]
    games = frame(rows, kind="frontier").reindex(columns=columns)
    games = games[games.concepts.notna()].rename(columns={"heads": "s", "tolerance": "τ", "concepts": "N"})
    paid = games.cost.where((games.status == "solved") & (games.cost > 0)).astype(float)
    games = games.assign(n=games.dim - 1, s=games.s.fillna(0), paid=paid, spent=games.cost.fillna(0))
    cells = games.groupby(GAME)
    counts = {
        "total": ("status", "size"),
        "won": ("paid", "count"),
        "least": ("paid", "min"),
        "spent": ("spent", "max"),
    }
    table = cells.agg(N=("N", "first"), bound=("bound", "first"), **counts).reset_index()
    middle = [_mean_of_most(runs.tolist()) for _, runs in cells.paid]
    for name in ("value", "low", "high"):
        table[name] = [getattr(value, name, None) for value in middle]
    table = table.rename(columns={"value": "queries"}).astype(
        dict.fromkeys(["queries", "low", "high"], float)
    )
    floors = [_floor(**game) for game in table[["family", "N", "τ", "bound"]].to_dict("records")]
    table = table.assign(bound=floors)
    return table.assign(
        s=table.s.where(table.s > 0),
        runs=[f"{won}/{total}" for won, total in zip(table.won, table.total, strict=True)],
        ratio=(table.queries / table.bound).where(table.bound >= 1),
        **{"gave up at": table.spent.where(table.won == 0)},
    ).drop(columns=["total", "won", "spent"])


def _floor(family: str, N: int, τ: float, bound: float) -> float:
    return exact_floor(int(N), τ) if family == "parity" else bound


def _mean_of_most(paid: Sequence[float]) -> Mean | None:
    """The mean of the runs that identified, if these are at least half of the runs."""
    costs = [cost for cost in paid if cost == cost]
    return mean(costs) if costs and 2 * len(costs) >= len(paid) else None


def searched(rows: Iterable[Row]) -> "pd.DataFrame":
    """Between what numbers V of a small class (n, s, τ) was found to lie."""
    table = frame(rows, kind="value").reindex(columns=["dim", "heads", "tolerance", "lower", "upper"])
    table = table[table.lower.notna()].rename(columns={"heads": "s", "tolerance": "τ"})
    return table.assign(n=table.dim - 1)[["n", "s", "τ", "lower", "upper"]]


def bracketed(games: "pd.DataFrame", values: "pd.DataFrame") -> "pd.DataFrame":
    """A line per class of parities and tolerance: what is proved of V and of G, and what the strategies needed."""
    cell = ["n", "s", "τ"]
    classes = {(*place, tau) for place in (*grid.SMALL, *grid.LARGE, grid.QUICK) for tau in grid.TOLERANCES}
    parity = games[(games.family == "parity") & games.strategy.isin(grid.BRACKETING)]
    inside = [place in classes for place in zip(parity.n, parity.s, parity.τ, strict=True)]
    # Of no games, no rows: an empty list would choose no columns
    parity = parity.loc[np.array(inside, dtype=bool)]
    needed = parity.astype({"s": int}).pivot(index=cell, columns="strategy", values="least")
    needed = needed.reindex(columns=list(grid.BRACKETING)).reset_index()
    table = needed.merge(values.astype({"s": int}), on=cell, how="outer")
    sizes = [comb(n, s) for n, s in zip(table.n, table.s, strict=True)]
    at = list(zip(sizes, table.τ, strict=True))
    table = table.assign(sets=sizes, floor=[exact_floor(*place) for place in at])
    table["V at least"] = table.lower.fillna(table.floor).astype(int)
    enough = [certain_queries(*place) for place in at]
    table["V at most"] = [
        upper if upper == upper else sure for upper, sure in zip(table.upper, enough, strict=True)
    ]
    strategies = list(grid.BRACKETING)
    table["won"] = table[strategies].notna().any(axis=1)
    table["G at most"] = table[[*strategies, "V at most"]].min(axis=1)
    table["G over floor"] = table["G at most"] / table.floor
    return table.sort_values(["sets", *cell])


def limited(games: "pd.DataFrame") -> "pd.DataFrame":
    """A line per game of theorem D's strategy: its queries over N/e⋆, to which V of its class comes near."""
    table = games[(games.strategy == "blocks") & games.queries.notna()].sort_values(
        ["τ", "n"], ascending=[False, True]
    )
    lost = [most_lost(decimal(tau)) for tau in table.τ]
    floors = [exact_floor(int(size), tau) for size, tau in zip(table.N, table.τ, strict=True)]
    table = table.assign(lost=lost, limit=table.N / lost, floor=floors)
    return table.assign(ratio=table.queries / table.limit)[
        ["n", "s", "N", "τ", "lost", "limit", "floor", "queries", "ratio"]
    ]


def _at_the_limit(limits: "pd.DataFrame") -> dict[str, Any] | None:
    """What is played of the largest class."""
    if limits.empty:
        return None
    last = limits[limits.n == limits.n.max()]
    return {
        "n": int(last.n.max()),
        "N": int(last.N.max()),
        "ratio": float(last.ratio.max()),
    }


def at_every_tolerance(games: "pd.DataFrame") -> "pd.DataFrame":
    """The lines of the games at the dimension and the tolerances at which strategies are compared."""
    compared = (games.family == "parity") & (games.n == grid.FRONTIER_DIM - 1) & games.τ.isin(grid.FRONTIER)
    return games[compared]


def rounded(games: "pd.DataFrame") -> "pd.DataFrame":
    """The lines of ideal labels where at least half of the runs identified."""
    return games[(games.family == "rounding") & games.s.isna() & games.queries.notna()]


def local_bases(rounding: "pd.DataFrame") -> dict[str, list[float]]:
    """By strategy, the factor in the mean need from each n to the next.

    >>> import pandas as pd
    >>> local_bases(pd.DataFrame({"strategy": "flat", "n": [2, 3, 4], "queries": [4.0, 8.0, 20.0]}))
    {'flat': [2.0, 2.5]}
    """
    needs = {name: table.set_index("n").queries.sort_index() for name, table in rounding.groupby("strategy")}
    return {
        str(name): [float(need[b] / need[a]) for a, b in pairwise(need.index) if b == a + 1]
        for name, need in needs.items()
        if len(need) > 1
    }


def _series(games: "pd.DataFrame", x: str, join: bool = True) -> list[Series]:
    """One series per strategy that identified; a point is open where not all of its runs did."""
    series = []
    for name in dict.fromkeys([*STRATEGIES, *games.strategy]):
        style = STRATEGIES.index(name) if name in STRATEGIES else None
        points = [_point(at, x) for at in lines_of(games[games.strategy == name])]
        won = any(point.y == point.y for point in points)
        series += [Series(name, points, join=join, style=style)] if won else []
    return series


def _point(at: dict[str, Any], x: str) -> Point:
    hollow = len(set(at["runs"].split("/"))) > 1
    return Point(at[x], nan if at["queries"] is None else at["queries"], at["low"], at["high"], hollow=hollow)


def _brackets(brackets: "pd.DataFrame") -> Curves:
    """Large classes, as ratios to the floor."""
    panels = []
    for (n, s), table in brackets[brackets.sets > SEVERAL].groupby(["n", "s"], sort=False):
        cells = lines_of(table)
        over = {
            key: [(at["τ"], at[key] / at["floor"], at[key]) for at in cells if at[key]] for key in HEIGHTS
        }
        won = [_won(name, over[name]) for name in grid.BRACKETING]
        floor, enough = ([(tau, y) for tau, y, _ in over[key]] for key in ("floor", "V at most"))
        bounds = line("floor of G and V", floor, "lower bound"), line("V at most", enough, "upper bound")
        panels.append(Panel(f"{s} of {n} bits: {comb(int(n), int(s)):,} sets", [*won, *bounds]))
    tau = Axis("τ", log=True, ticks=(0.04, 0.06, 0.1, 0.14, 0.2))
    ratio = Axis("queries over the floor", log=True, ticks=(1, 1.5, 2, 3, 4))
    return Curves("bracket", panels, tau, ratio, height=3.0)


def _won(name: str, over: Sequence[tuple[float, float, float]]) -> Series:
    points = [
        Point(tau, ratio, tip=f"{name}, τ = {tau:g}: {queries:,.0f} queries") for tau, ratio, queries in over
    ]
    return Series(name, points, join=False, style=STRATEGIES.index(name))


def _frontier(frontier: "pd.DataFrame") -> Curves:
    """Queries of every strategy; markers of one tolerance stand side by side, as some lie on each other."""
    panels = []
    names = [name for name in STRATEGIES if name in set(frontier.strategy)]
    aside = {name: 1 + 0.022 * (place - (len(names) - 1) / 2) for place, name in enumerate(names)}
    for s, table in frontier.groupby("s"):
        size, taus = comb(grid.FRONTIER_DIM - 1, int(s)), sorted(set(table.τ))
        needed = line("floor of G and V", [(tau, exact_floor(size, tau)) for tau in taus], "lower bound")
        beside = table.assign(at=table.τ * table.strategy.map(aside).fillna(1.0))
        panels.append(Panel(f"s = {s:.0f}: N = {size:,}", [*_series(beside, "at", join=False), needed]))
    return Curves("frontier", panels, Axis("τ", log=True, ticks=(0.03, 0.05, 0.1, 0.2)), QUERIES, columns=2)


def _rounding(rounding: "pd.DataFrame") -> Curves:
    known = rounding[rounding.bound > 0].drop_duplicates(["n", "bound"]).sort_values(["n", "bound"])
    bounds = [(at["n"], at["bound"]) for at in lines_of(known)]
    panels = (
        [] if rounding.empty else [Panel("", [*_series(rounding, "n"), line("floor", bounds, "lower bound")])]
    )
    return Curves("rounding", panels, Axis("n", ticks=sorted({n for n, _ in bounds})), QUERIES, height=2.8)
