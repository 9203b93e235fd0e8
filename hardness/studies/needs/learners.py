"""What the rows of `needs` say of gradient learners: through the oracle, under theorem M, and where no bound holds."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import comb, log2, nan
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Row
from hardness.exact.dependent import certain_queries
from hardness.report import Axis, Content, Curves, Panel, Point, Series, frame, line, lines_of
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.bounds.messages import message_examples, proved_examples
from hardness.studies.needs import gradients as grid

if TYPE_CHECKING:
    import pandas as pd

QUORUM = 2 / 3  # of the seeds that learn at a tolerance which counts as large enough
CONFIDENCE = 0.95
MANY = 10**9  # sets from which on what theorem M proves is a constant times their number
CELL = ["d", "s"]


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the gradient learners; nothing of a part without trials."""
    descents, shares, searches, precision = descended(rows), examples(rows), searched(rows), decoded(rows)
    against = compared(shares, searches)
    numbers = {
        "descent": _growth(descents),
        "noisy": _ratios(against),
        "search": _searches(against),
        "precision": _precision(precision),
        "setting": {
            "kappa": grid.KAPPA,
            "steps": grid.STEPS,
            "runs": grid.RUNS,
            "batch": grid.BATCH,
            "success": grid.SUCCESS,
        },
        "constant": proved_examples(MANY, grid.KAPPA, grid.SUCCESS) / MANY,
    }
    figures = [_tolerance_figure(descents), _ratio_figure(against), _precision_figure(precision)]
    tables = {"descents": descents, "shares": shares, "against": against, "precision": precision}
    return Content(numbers, figures, {name: lines_of(table) for name, table in tables.items()})


def descended(rows: Iterable[Row]) -> "pd.DataFrame":
    """Of every class the largest tolerance tried at which two thirds of the seeds learn, at the better of the rates.

    `refused` is the next larger tolerance that was tried, None if there is none; `queries` the median of the runs that
    learned; `floor` and `enough` what V at that tolerance lies between.
    """
    trials = frame(rows, "solved", "budget", kind="descent").rename(
        columns={"dim": "d", "heads": "s", "tolerance": "τ"}
    )
    trials = trials.reindex(columns=[*CELL, "τ", "params", "status", "cost"])
    trials = trials.assign(
        rate=[chosen["rate"] for chosen in trials.params], learned=trials.status == "solved"
    )
    runs = trials.assign(queries=trials.cost.where(trials.learned)).groupby(
        [*CELL, "τ", "rate"], as_index=False
    )
    by_rate = runs.agg(share=("learned", "mean"), seeds=("learned", "size"), queries=("queries", "median"))
    by_rate = by_rate.sort_values(
        [*CELL, "τ", "share", "queries"], ascending=[True, True, False, False, True]
    )
    best = by_rate.drop_duplicates([*CELL, "τ"])
    best = best.assign(refused=best.groupby(CELL)["τ"].shift(1))
    table = best[best.share >= QUORUM].drop_duplicates(CELL).reset_index(drop=True)
    sets = [comb(int(d) - 1, int(s)) for d, s in zip(table.d, table.s, strict=True)]
    at = list(zip(sets, table.τ, strict=True))
    return table.assign(
        N=sets, floor=[exact_floor(*place) for place in at], enough=[certain_queries(*place) for place in at]
    )


def examples(rows: Iterable[Row]) -> "pd.DataFrame":
    """The share of right runs of the noisy learner, by class and number of examples, with its exact interval."""
    trials = frame(rows, "solved", "wrong", kind="noisy").rename(columns={"dim": "d", "heads": "s"})
    trials = trials.reindex(columns=[*CELL, "samples", "status"])
    runs = trials.assign(right=trials.status == "solved").groupby([*CELL, "samples"], as_index=False)
    return _with_intervals(runs.agg(right=("right", "sum"), trials=("right", "size")))


def searched(rows: Iterable[Row]) -> "pd.DataFrame":
    """The .9 quantile of the examples of exhaustive one-bit search, by class."""
    trials = frame(rows, "solved", kind="one-bit").rename(
        columns={"dim": "d", "heads": "s", "cost": "search"}
    )
    return trials.reindex(columns=[*CELL, "search", "low", "high"])


def decoded(rows: Iterable[Row]) -> "pd.DataFrame":
    """The share of sets that one equation a batch names, by the noise of the mean gradients in units of 1/B."""
    trials = frame(rows, kind="batches").reindex(columns=["noise", "status", "cost"])
    runs = trials.assign(right=trials.status == "solved").groupby("noise", as_index=False)
    return _with_intervals(
        runs.agg(right=("right", "sum"), trials=("right", "size"), examples=("cost", "max"))
    )


def _with_intervals(table: "pd.DataFrame") -> "pd.DataFrame":
    """Shares of right trials with their intervals of Clopper and Pearson."""
    from scipy.stats import binomtest

    counts = zip(table.right, table.trials, strict=True)
    ends = [binomtest(int(right), int(tried)).proportion_ci(CONFIDENCE, "exact") for right, tried in counts]
    return table.assign(
        share=table.right / table.trials, low=[end.low for end in ends], high=[end.high for end in ends]
    )


def compared(shares: "pd.DataFrame", searches: "pd.DataFrame") -> "pd.DataFrame":
    """Of every class what is proved to be needed for success .9, and what the noisy learner and the search take.

    `measured` are the fewest informative examples from which on the share is at least .9 at every number tried, in the
    mean half of those drawn; at `short` of them the whole interval of the share lies below .9.
    """
    above = shares.assign(
        enough=shares[::-1].groupby(CELL)["share"].cummin() >= grid.SUCCESS, short=shares.high < grid.SUCCESS
    )
    measured = above[above.enough].groupby(CELL).samples.min().rename("measured")
    short = above[above.short].groupby(CELL).samples.max().rename("short")
    table = above.groupby(CELL).samples.max().to_frame("longest").join([measured, short]).reset_index()
    table = table.merge(searches, on=CELL, how="left")
    sets = [comb(int(d) - 1, int(s)) for d, s in zip(table.d, table.s, strict=True)]
    proved = [proved_examples(size, grid.KAPPA, grid.SUCCESS) for size in sets]
    one_bit = [message_examples(size, 1, grid.SUCCESS) for size in sets]
    halves = {name: table[name] / 2 for name in ("measured", "short", "longest")}
    table = table.assign(N=sets, proved=proved, one_bit=one_bit, **halves).sort_values("N")
    return table.assign(
        over=table.short / table.proved,
        ratio=table.measured / table.proved,
        search_ratio=table.search / table.one_bit,
    )


def _growth(descents: "pd.DataFrame") -> dict[str, Any] | None:
    """At the largest d, the tolerance of the fewest and the most bits; over how many steps of one bit it falls.

    A step is undecided where the larger class learns at the largest tolerance that was tried on it, and that is smaller
    than what the smaller class learns at: still larger ones might do.
    """
    if descents.empty:
        return None
    last = descents[descents.d == descents.d.max()].sort_values("s")
    first, most = lines_of(last.iloc[[0, -1]])
    steps = [
        pair for _, table in descents.groupby("d") for pair in pairwise(lines_of(table.sort_values("s")))
    ]
    decided = [(a, b) for a, b in steps if b["refused"] is not None or b["τ"] >= a["τ"]]
    falls = [b["refused"] is not None and b["refused"] <= a["τ"] for a, b in decided]
    return {
        "d": first["d"],
        "first": first,
        "last": most,
        "bits": len(steps),
        "decided": len(decided),
        "falls": sum(falls),
        "seeds": int(descents.seeds.min()),
        "queries": int(descents.queries.max()),
        "over": float((descents.queries / descents.enough).min()),
    }


def _ratios(against: "pd.DataFrame") -> dict[str, Any] | None:
    """Over which range the examples that are enough lie above those proved, and where fewer are surely too few."""
    known = against[against.ratio.notna()]
    if known.empty:
        return None
    short = against[against.over.notna()].over
    return {
        "cells": len(known),
        "least": float(known.ratio.min()),
        "most": float(known.ratio.max()),
        "smallest": int(against.N.min()),
        "largest": int(against.N.max()),
        "classes": len(against),
        "bounded": len(short),
        "surely": None if short.empty else float(short.min()),
    }


def _searches(against: "pd.DataFrame") -> dict[str, Any] | None:
    known = against.search_ratio.dropna()
    return None if known.empty else {"most": float(known.max()), "least": float(known.min())}


def _precision(precision: "pd.DataFrame") -> dict[str, Any] | None:
    """What is named without noise, and from which noise on nothing is."""
    if precision.empty:
        return None
    exact = lines_of(precision[precision.noise == 0])[0]
    never = precision[precision.right == 0].noise
    always = precision[precision.right == precision.trials].noise
    (d, s), sets = grid.ATTACKED, comb(grid.ATTACKED[0] - 1, grid.ATTACKED[1])
    return {
        "exact": exact,
        "always": float(always.max()),
        "never": None if never.empty else float(never.min()),
        "n": d - 1,
        "s": s,
        "sets": sets,
        "proved": message_examples(sets, 1, grid.SUCCESS),
    }


def _tolerance_figure(descents: "pd.DataFrame") -> Curves:
    """The tolerance that the learner needs against the number of bits, from 1/2 on, where the oracle tells nothing."""
    panels = []
    for d, table in descents.groupby("d"):
        points = [_tolerated(at) for at in lines_of(table)]
        series = [Series("gradient descent of diagonal", points, join=False, style=0)]
        panels.append(Panel(f"d = {d}", series))
    axes = Axis("s", ticks=(2, 3, 4, 5, 6), low=1.7, high=6.9), Axis("log₂ 1/τ", low=1.0)
    return Curves("descent", panels, *axes, height=2.8, labels={"below": "larger τ were not tried"})


def _tolerated(at: dict[str, Any]) -> Point:
    """The tolerance of a class; below the interval lies the next larger one, at which too few seeds learn."""
    tip = f"d = {at['d']}, s = {at['s']}: τ = {at['τ']:g}, {at['queries']:,.0f} queries; V is at most {at['enough']:,}"
    height, low = -log2(at["τ"]), None if at["refused"] is None else -log2(at["refused"])
    point = Point(at["s"], height, tip=tip, note=f"{at['queries'] / 1000:.0f}k")
    if low is None:  # the largest tolerance tried: larger ones may do as well
        return replace(point, censored="below")
    return replace(point, low=low, high=height)


def _ratio_figure(against: "pd.DataFrame") -> Curves:
    """Measured examples over those proved, against N."""
    series = []
    for style, (s, table) in enumerate(against.groupby("s")):
        points = [_over_proved(at) for at in lines_of(table)]
        series.append(Series(f"noisy gradients, s = {s}", points, join=False, style=style))
    known = against[against.search_ratio.notna()].drop_duplicates("N")
    points = [
        Point(at["N"], at["search_ratio"], low=at["low"] / at["one_bit"], high=at["high"] / at["one_bit"])
        for at in lines_of(known)
    ]
    series += (
        [Series("exhaustive search, one bit an example", points, join=False, style=len(series))]
        if points
        else []
    )
    ends = [float(size) for size in (against.N.min(), against.N.max())] if len(against) else []
    bound = line("proved", [(size, 1.0) for size in ends], "lower bound")
    panels = [Panel("", [*series, bound])] if series else []
    axes = Axis("N", log=True), Axis("informative examples over those proved", log=True)
    return Curves("examples", panels, *axes, height=3.4, labels={"above": "more than what is surely too few"})


def _over_proved(at: dict[str, Any]) -> Point:
    """The ratio of a class; its interval begins where the share of right runs lies surely below .9.

    Where no number of examples that was tried is enough, the ratio is only known to lie above those surely too few.
    """
    if at["measured"] is None:
        tip = f"d = {at['d']}, s = {at['s']}: {at['longest']:,.0f} are not enough, {at['proved']:,} proved"
        return Point(at["N"], at["over"] or nan, censored="above", tip=tip)
    tip = f"d = {at['d']}, s = {at['s']}: {at['measured']:,.0f} measured, {at['proved']:,} proved"
    return Point(at["N"], at["ratio"], low=at["over"], high=at["ratio"], tip=tip)


def _precision_figure(precision: "pd.DataFrame") -> Curves:
    points = [Point(at["noise"], at["share"], at["low"], at["high"]) for at in lines_of(precision)]
    panels = [Panel("", [Series("one equation a batch", points, style=0)])] if points else []
    axes = (
        Axis("noise of an entry of the mean gradient, times B"),
        Axis("share of hidden sets named", low=-0.03, high=1.03),
    )
    return Curves("precision", panels, *axes, height=2.6)
