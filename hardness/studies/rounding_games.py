"""The study `rounding-games`: games over all q^n secrets, with ideal labels and with those of m heads."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.report.drawing import Drawing, style
from hardness.report.report import thousands
from hardness.report.sections import Section, sections_page
from hardness.sq.bounds.adversaries import adversary_bounds
from hardness.studies.games import Line, game, interval
from hardness.studies.looks import FLOOR, LOOKS, NAMES, NOTHING, Table, bar, legend, spread
from hardness.studies.needs.tasks import held
from hardness.studies.trials import concepts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUESTION = "How far from tight is the bound for rounded inner products, and for the labels of m heads?"

TOLERANCE = 0.1
RUNS = 10  # of whatever draws its queries
QUERIES = 20_000
HEADS = tuple(range(2, 9))
LIMITED = {5: (5, 6), 17: (6, 4)}  # modulus: levels of m-head labels, and the largest n that is played
IDEAL, UP_TO = (5, 5), 7  # modulus and levels of ideal labels, and their largest n
# The largest n a strategy affords, and its limit of queries, on ideal labels.
OTHERS = {"characters": (4, QUERIES), "gradient": (5, 300), "low-degree": (6, 100)}
GOOD = ("sign-batch", "adaptive")
TIGHT = 2  # the factor a coordinate of the bound


def tasks(quick: bool) -> list[Task]:
    """Ideal labels at every n, and those of m heads at the n that m heads hold; against the greedy window."""
    runs, largest = (2, 4) if quick else (RUNS, UP_TO)
    found = []
    for n in range(2, largest + 1):
        params = {"dim": n + 1, "modulus": IDEAL[0], "levels": IDEAL[1]}
        found += [task for name in GOOD for task in _runs(params, name, QUERIES, runs)]
        for name, (most, queries) in OTHERS.items():
            found += _runs(params, name, queries, 1 if name == "low-degree" else runs) if n <= most else []
    for q, (p, most) in LIMITED.items():
        for m in HEADS:
            n = held(m, q, p, TOLERANCE, min(most, 3) if quick else most)
            params = {"dim": n + 1, "modulus": q, "levels": p, "heads": m}
            found += [task for name in GOOD for task in _runs(params, name, QUERIES, runs)] if n > 1 else []
    return found


def _runs(params: dict[str, Any], strategy: str, queries: int, runs: int) -> list[Task]:
    solver = {"kind": "frontier", "strategy": strategy, "tolerance": TOLERANCE}
    return [Task("rounding", params, solver, {"queries": queries}, run) for run in range(runs)]


def games_table(rows: Iterable[Row]) -> list[Line]:
    """One line a class and strategy: the queries of the runs that identified, beside what is proved.

    `m` is None for ideal labels. A strategy that draws nothing has one run and no interval.
    """
    groups: dict[tuple[int, int, int, str], list[Row]] = {}
    for row in rows:
        if row.outcome and "concepts" in row.outcome.detail:
            params = row.task.params
            key = (params["modulus"], params.get("heads", 0), params["dim"] - 1, str(row.task.solver["strategy"]))
            groups.setdefault(key, []).append(row)
    table = []
    for (q, m, n, strategy), found in sorted(groups.items()):
        ended = [row.outcome for row in found if row.outcome]
        costs = [float(o.cost) for o in ended if o.status == "solved" and o.cost]
        concepts = concepts_of(found[0].task)
        bound = adversary_bounds(concepts, TOLERANCE).get("window", 0.0)
        low, high = interval(costs) or (None, None)
        most = 2 * len(costs) >= len(ended)
        table.append({
            "q": q, "labels of": f"{m} heads" if m else "ideal", "m": m or None, "n": n, "secrets": concepts.size,
            "strategy": strategy, "runs": f"{len(costs)}/{len(ended)}",
            "queries": mean(costs) if costs and most else None,
            "low": low if most else None, "high": high if most else None, "proved at least": bound,
            "gave up at": None if costs else max((o.cost or 0 for o in ended), default=None),
            "ratio": mean(costs) / bound if costs and most and bound >= 1 else None,
        })  # fmt: skip
    return table


def base(cells: Sequence[tuple[int, float]]) -> tuple[float, float, float] | None:
    """b of need ~ b^n through the mean needs (n, need) of cells, and its 95 % interval (Student's t of the residuals).

    None for fewer than three sizes.

    >>> base([(2, 4.0), (3, 8.0), (4, 16.0), (5, 32.0)])
    (2.0, 2.0, 2.0)
    """
    from scipy.stats import t

    n, y = np.array([size for size, _ in cells], dtype=float), np.array([log(need) for _, need in cells])
    if len(set(n.tolist())) < 3:
        return None
    centred = n - n.mean()
    slope = float(centred @ y / (centred @ centred))
    residuals = y - y.mean() - slope * centred
    half = float(t.ppf(0.975, len(n) - 2) * np.sqrt(residuals @ residuals / (len(n) - 2) / (centred @ centred)))
    low, middle, high = (round(exp(slope + sign * half), 9) for sign in (-1, 0, 1))
    return middle, low, high


def bases(table: Table) -> list[Line]:
    """The base of every series: labels and strategy, over all n at which at least half of its runs identified."""
    series: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for line in table:
        if line["queries"] is not None:
            kind = "ideal" if line["m"] is None else "labels of m heads"
            series.setdefault((f"{kind}, q = {line['q']}", line["strategy"]), []).append((line["n"], line["queries"]))
    found = []
    for (kind, strategy), cells in series.items():
        fitted = base(cells)
        if fitted:
            b, low, high = fitted
            found.append({
                "labels": kind, "strategy": strategy, "sizes": f"n = {min(cells)[0]} to {max(cells)[0]}",
                "cells": len(cells), "base b": b, "low": low, "high": high,
            })  # fmt: skip
    return found


def write(store: Store, folder: Path) -> str:
    """Write the page of `rounding-games` into `folder`; returns its verdict line."""
    table = games_table(store.rows())
    found = bases(table)
    sections = [
        Section(
            "proved",
            "What is proved",
            (
                f"For every strategy, at τ = {TOLERANCE:g}: 8(τ−ε)²2ⁿ(π−c·q⁻ⁿ) queries against the greedy window "
                "(theory 2.6), where a share π of the qⁿ secrets has labels that are wrong on a mass of at most ε of "
                "the inputs, and c secrets at most give the same labels and need not be told apart. Ideal labels have "
                "ε = 0 and π = 1. For the labels of m heads the best ε is taken, from the error mass of every single "
                "secret; n is where this bound is largest, and m for which it is largest at n = 1 hold nothing that "
                "is worth a game.",
                "A bound below one query says nothing, and the ratio is given only above. The number of secrets grows "
                "q-fold with a coordinate, the bound twofold.",
            ),
        ),
        Section(
            "measured",
            "What games reached",
            (
                "The mean queries of the runs that identified, against the greedy window, with the 95 % interval of "
                "the mean over runs, which draw their queries (Student's t). Where fewer than half of the runs "
                "identified nothing is drawn and no mean is given, for then secrets were left that no query of the "
                "strategy parts.",
                "The base b is that of need ~ bⁿ through the means of a series, with the 95 % interval of a straight "
                f"line (Student's t of what the cells are off it). b = {TIGHT} says that the bound is tight but for a "
                "factor; b = q would say that the strategy, or the bound, can be improved. Which of them is not known.",
                "The adaptive strategy exploits neighbours: secrets that differ in one coordinate agree on half of the "
                "inputs, so it starts from votes of one secret, a neighbourhood or a batch and climbs Σ a⁴ by votes "
                "weighted with a³, where a is the mean of the query under a secret.",
            ),
            _drawings(table),
            [("The base of need ~ bⁿ", found), ("Games", [_shown(line) for line in table])],
        ),
    ]  # fmt: skip
    lead = () if table else (NOTHING.capitalize(),)
    return sections_page(store, folder, QUESTION, _verdict(table, found), lead, sections, "measured proved")


def _shown(line: Mapping[str, Any]) -> Line:
    counts = ("secrets", "queries", "low", "high", "gave up at")
    return {key: thousands(value) if key in counts else value for key, value in line.items()}


def _verdict(table: Table, found: Sequence[Line]) -> str:
    """The base of the strategy that is cheapest at the largest n of each kind of labels, and the ratio there."""
    if not table:
        return NOTHING
    solved = [line for line in table if line["queries"] is not None]
    if not solved:
        return f"In none of {len(table)} cells did half of the runs identify: nothing is measured."
    said = []
    for kind in dict.fromkeys(line["labels"] for line in found):
        own = [line for line in found if line["labels"] == kind]
        last = [e for e in solved if _kind(e) == kind and e["strategy"] in {line["strategy"] for line in own}]
        top = min(last, key=lambda e: (-e["n"], e["queries"]))
        fitted = next(line for line in own if line["strategy"] == top["strategy"])
        ratio = f", {top['ratio']:.0f} times what is proved at n = {top['n']}" if top["ratio"] else ""
        said.append(
            f"{kind} ({top['strategy']}): b = {fitted['base b']:.2f} (95 %: {fitted['low']:.2f} to "
            f"{fitted['high']:.2f}){ratio}"
        )
    if not said:
        return (
            f"In {len(solved)} of {len(table)} cells (labels, n, strategy) at least half of the runs identified: "
            "too few sizes for a base."
        )
    listed = ". ".join(text[0].upper() + text[1:] for text in said)
    return f"The need of the cheapest strategy grows as bⁿ, the bound as {TIGHT}ⁿ. {listed}."


def _kind(line: Mapping[str, Any]) -> str:
    return f"{'ideal' if line['m'] is None else 'labels of m heads'}, q = {line['q']}"


def _drawings(table: Table) -> list[Drawing]:
    drawings = []
    ideal = [line for line in table if line["m"] is None]
    limited = [line for line in table if line["m"] is not None]
    if any(line["queries"] for line in ideal):
        drawing = Drawing("games", 6.4, 4.2)
        drawing.caption = (
            f"Ideal labels mod {IDEAL[0]}: queries until the secrets left give one label, at τ = {TOLERANCE:g}, with "
            "95 % intervals of the mean. Broken: proved to be needed. A strategy that did not identify has no point."
        )
        drawing.seen = "Every strategy lies above the broken line of the bound and rises faster than it."
        with style(drawing.name):
            axes = drawing.figure.subplots()
            _panel(drawing, axes, ideal, "n")
            axes.set_ylabel("queries")
            legend(drawing, _who(ideal), [("proved to be needed", FLOOR)], 3)
        drawings.append(drawing)
    moduli = sorted({line["q"] for line in limited if line["queries"] is not None})
    if moduli:
        drawing = Drawing("heads", 1.0 + 3.2 * len(moduli), 4.0)
        drawing.caption = (
            "The labels of m heads, each m at the n that its heads hold: queries against m, with 95 % intervals of the "
            "mean. Broken: proved to be needed for these labels; where that is below one query it says nothing."
        )
        drawing.seen = "The need rises with m where n does, and lies far above the bound."
        with style(drawing.name):
            panels = drawing.figure.subplots(1, len(moduli), squeeze=False, sharey=True)[0]
            for axes, q in zip(panels, moduli, strict=True):
                own = [line for line in limited if line["q"] == q]
                _panel(drawing, axes, own, "m")
                axes.set_title(f"q = {q}")
                sizes = {line["m"]: line["n"] for line in own}
                axes.set_xticks(sorted(sizes), [f"{m}\nn = {n}" for m, n in sorted(sizes.items())])
            panels[0].set_ylabel("queries")
            legend(drawing, _who(limited), [("proved to be needed", FLOOR)], 3)
        drawings.append(drawing)
    return drawings


def _who(lines: Table) -> list[str]:
    return [name for name in NAMES if any(e["strategy"] == name and e["queries"] is not None for e in lines)]


def _panel(drawing: Drawing, axes: "Axes", lines: Table, variable: str) -> None:
    """Need against n or m of every strategy that identified, above the bound."""
    known = sorted({(e[variable], e["proved at least"]) for e in lines if e["proved at least"]})
    axes.plot([x for x, _ in known], [y for _, y in known], **FLOOR)
    for i, name in enumerate(_who(lines)):
        color, marker, dash = LOOKS[name]
        own = [e for e in lines if e["strategy"] == name and e["queries"] is not None]
        x = [e[variable] + 0.06 * (i - 1) for e in own]
        axes.plot(x, [e["queries"] for e in own], color=color, linestyle=dash)
        for at, e in zip(x, own, strict=True):
            bar(axes, at, e, color)
            tip = f"{name}, {variable} = {e[variable]}, {e['runs']} runs identified: {e['queries']:,.0f}{spread(e)}"
            drawing.point(axes, at, e["queries"], tip, color=color, marker=marker)
    axes.set_yscale("log")
    if known:
        axes.set_ylim(bottom=known[0][1] / 2)
    axes.set_xticks(sorted({e[variable] for e in lines}))
    axes.set_xlabel(variable)
    axes.grid(axis="y")


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    n, q = int(task.params["dim"]) - 1, int(task.params["modulus"])
    usual = {"adaptive": 0.6, "sign-batch": 0.2}.get(str(task.solver["strategy"]), 0.5)
    return 0.05 + usual * (10.0 ** (n - 6) if q == IDEAL[0] else 34.0 ** (n - 4))


STUDY = Study("rounding-games", QUESTION, tasks, seconds, game, write, role="proved")
