"""The study `exact-games`: what is known exactly of statistical-query games on parities, and between what numbers."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.report.drawing import INK, MUTED, Drawing, style
from hardness.report.report import table_page, thousands
from hardness.sq.bounds.parity import window_bound
from hardness.sq.exact import IDENTIFIABLE, KNOWN, certain_queries, exact_floor, independent_value, max_separation
from hardness.studies import games
from hardness.studies.games import Line
from hardness.studies.looks import FLOOR, LOOKS, NOTHING, legend
from hardness.studies.trials import concepts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUESTION = "How many queries does a hidden parity need exactly, and where it is not known, between what numbers?"

SMALL = ((4, 2), (4, 3), (5, 2), (5, 3))  # n, s: solved exactly
LARGE = ((20, 4), (16, 6), (24, 6))  # bracketed
QUICK = (12, 4)
TOLERANCES = (0.2, 0.16, 0.14, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04)
SLOWEST = 2_000  # queries of a game worth playing set by set, and sets of a class
CROWD = 10_000
SEARCH = 300  # seconds for the value of a small class
STRATEGIES = ("sign-batch", "flat")


def tasks(quick: bool) -> list[Task]:
    """The value of every small class and the strategies on it, and the strategies on the large ones."""
    found = []
    small, large = (SMALL[:2], (QUICK,)) if quick else (SMALL, LARGE)
    for (n, s), tau in product((*small, *large), TOLERANCES[:: 2 if quick else 1]):
        params = {"dim": n + 1, "heads": s, "gadget": "diag"}
        if (n, s) in small:
            found.append(Task("parity", params, {"kind": "value", "tolerance": tau}, {"seconds": SEARCH}, 0))
        for strategy in STRATEGIES:
            if strategy == "flat" and (exact_floor(comb(n, s), tau) > SLOWEST or comb(n, s) > CROWD):
                continue
            solver = {"kind": "frontier", "strategy": strategy, "tolerance": tau}
            found.append(Task("parity", params, solver, {"queries": 2 * comb(n, s) + 64}, 0))
    return found


def trial(task: Task, root: int, guard: float) -> Outcome:
    """The value of a small class by search, or a game.

    >>> task = Task("parity", {"dim": 5, "heads": 2}, {"kind": "value", "tolerance": 0.15}, {"seconds": 60}, 0)
    >>> trial(task, 0, 60.0).cost
    3
    """
    if task.solver["kind"] != "value":
        return games.game(task, root, guard)
    from hardness.families.concepts import ParityConcepts
    from hardness.sq.small_games import value

    concepts = concepts_of(task)
    assert isinstance(concepts, ParityConcepts)
    found = value(concepts, float(task.solver["tolerance"]), float(task.budget["seconds"]))
    detail = {"concepts": concepts.size, "lower": found.lower, "upper": found.upper}
    return Outcome("solved" if found.exact is not None else "budget", found.lower, detail)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    n, s, tau = int(task.params["dim"]) - 1, int(task.params["heads"]), float(task.solver["tolerance"])
    if task.solver["kind"] == "value":
        return 1.0 if comb(n, s) > 6 else 0.1
    return 6.0 + 0.012 * exact_floor(comb(n, s), tau) if task.solver["strategy"] == "flat" else 1.0


def bracket_table(rows: Iterable[Row]) -> list[Line]:
    """One line a class and tolerance: what is proved of V and of G, and what the strategies needed."""
    cells: dict[tuple[int, int, float], list[Row]] = {}
    for row in rows:
        if row.outcome:
            task = row.task
            key = (int(task.params["dim"]) - 1, int(task.params["heads"]), float(task.solver["tolerance"]))
            cells.setdefault(key, []).append(row)
    table = []
    for (n, s, tau), found in sorted(cells.items(), key=lambda cell: (comb(*cell[0][:2]), cell[0])):
        size = comb(n, s)
        lower, upper = exact_floor(size, tau), certain_queries(size, tau)
        needed: dict[str, int | None] = dict.fromkeys(STRATEGIES)
        for row in found:
            ended = row.outcome
            assert ended is not None
            if "lower" in ended.detail:
                lower, upper = ended.detail["lower"], ended.detail["upper"]
            elif ended.status == "solved" and ended.cost is not None:
                name = str(row.task.solver["strategy"])
                needed[name] = min(int(ended.cost), needed[name] or int(ended.cost))
        floor, best = exact_floor(size, tau), min([q for q in needed.values() if q] + [upper])
        table.append({
            "n": n, "s": s, "sets": size, "tolerance": tau, "8τ²(N−1)": window_bound(size, tau),
            "floor of G and V": floor, **needed, "G at most": best, "G over floor": best / floor,
            "V at least": lower, "V at most": upper, "V if independent": independent_value(size, tau),
        })  # fmt: skip
    return table


def write(store: Store, folder: Path) -> str:
    """Write the page of `exact-games` into `folder`; returns its verdict line."""
    table = bracket_table(store.rows())
    notes = (
        "Two numbers. V is the least number of queries that surely leaves one set, whatever a valid oracle answers: "
        "what the hardest oracle forces on a deterministic learner that must be certain. G is the least number against "
        "the greedy best-window oracle, the one that all games of this lab are played against. Every floor here is a "
        "floor of both, and G ≤ V. A game that a strategy ends in q queries shows G ≤ q and says nothing of V.",
        ("proved", "Theorem B's floor (theory 2.7), for every class of N parities, from lemma L and from how far a "
         f"query can drive e pairs of parities apart, T(e), which is known exactly up to e = {KNOWN}. For "
         f"{max_separation(2)} ≤ τ < {IDENTIFIABLE} it is N − 1, which single characters reach: V = G = N − 1 for "
         f"every class. From τ = {IDENTIFIABLE} on nothing is identifiable."),
        ("proved", "Small classes are solved exactly: branch and bound over the order of a query's means, a linear "
         "program at every node, every decision checked in rationals. Their V stands as one number; G can be below it. "
         "V at most, for large classes: queries on independent subsets, which are always there and lose as many sets "
         "to every answer, or cut sums of dependent ones (theory 2.7, theorem C)."),
        ("measured", "Large classes are bracketed: G lies between the floor and the cheapest game found; the ratio of "
         "the two is drawn and is in the table. One game a cell, for the oracle draws nothing and a game that ended is "
         "a fact. Sign batches are exactly optimal for affinely independent classes ('V if independent'), but at most "
         "n + 1 sets of n bits are independent, so real classes are not such classes: the strategy flat drives "
         f"dependent sets further apart and needs fewer queries. It is played where it takes no more than {SLOWEST:,} "
         f"queries, on up to {CROWD:,} sets."),
        "Open: V and G inside their brackets; T(e) for larger e, an extremal problem for sums of dependent signs; and "
        "learners that may draw lots and may fail, which none of this is about.",
    )  # fmt: skip
    kinds = dict.fromkeys(("8τ²(N−1)", "floor of G and V", "V at least", "V at most", "V if independent"), "proved")
    kinds |= {"verdict": "proved measured", **dict.fromkeys((*STRATEGIES, "G at most"), "measured")}
    shown = [
        {key: thousands(x) if isinstance(x, int) or key.startswith("8") else x for key, x in line.items()}
        | {"tolerance": f"{line['tolerance']:g}"}
        for line in table
    ]
    return table_page(store, folder, QUESTION, _verdict(table), shown, notes, _drawings(table), kinds)


def _verdict(table: Sequence[Line]) -> str:
    if not table:
        return NOTHING
    if not any(line[strategy] for line in table for strategy in STRATEGIES):
        return f"no game in any of {len(table)} cells was won: nothing is measured."
    solved = [line for line in table if line["V at least"] == line["V at most"]]
    large = [line for line in table if line["sets"] > 100 and line["G over floor"]]
    said = f"V is known exactly in {len(solved)} of {len(table)} cells"
    if not large:
        return said + "."
    tight = [line for line in large if line["G over floor"] == 1]
    rest = [line["G over floor"] for line in large if line["G over floor"] > 1]
    said += f"; of {len(large)} cells of large classes G is known exactly in {len(tight)}"
    if rest:
        said += f", and in the others a strategy needs {min(rest):.2f} to {max(rest):.2f} times the floor"
    return said + "."


def _drawings(table: Sequence[Line]) -> list[Drawing]:
    classes = list(dict.fromkeys((line["n"], line["s"]) for line in table))
    large = [c for c in classes if comb(*c) > 100]
    small = [c for c in classes if comb(*c) <= 100]
    drawings = []
    for name, chosen, draw in (("bracket", large, _bracket), ("values", small, _values)):
        if not chosen:
            continue
        drawing = Drawing(name, max(6.4, 3.0 * len(chosen)), 3.9)
        drawing.caption, drawing.seen, drawing.kinds = CAPTIONS[name]
        with style(name):
            axes = drawing.figure.subplots(1, len(chosen), squeeze=False, sharey=name == "bracket")[0]
            for axis, (n, s) in zip(axes, chosen, strict=True):
                lines = [line for line in table if (line["n"], line["s"]) == (n, s)]
                draw(drawing, axis, lines)
                _heights(axis, name == "bracket")
                axis.set_title(f"{s} of {n} bits: {comb(n, s):,} sets")
                axis.set_xscale("log")
                _ticks(axis, [line["tolerance"] for line in lines])
                axis.set_xlabel("τ")
                axis.grid(axis="y")
            axes[0].set_ylabel("queries over theorem B's floor" if name == "bracket" else "queries")
            own = [INDEPENDENT, CERTAIN] if name == "bracket" else [("V, exactly", {**EXACT, "linestyle": "none"})]
            shown = [strategy for strategy in STRATEGIES if any(line[strategy] for line in table)]
            legend(drawing, shown, [*own, ("theorem B's floor", FLOOR)], 3)
        drawings.append(drawing)
    return drawings


INDEPENDENT: tuple[str, dict[str, Any]] = (
    "V of as many independent sets",
    {"color": MUTED, "linestyle": (0, (1.2, 1.5)), "linewidth": 1.1},
)
CERTAIN: tuple[str, dict[str, Any]] = (
    "V at most",
    {"color": INK, "linestyle": (0, (6, 1.5, 1, 1.5)), "linewidth": 1.0},
)
EXACT: dict[str, Any] = {"color": INK, "marker": "_", "markersize": 14, "markeredgewidth": 2.2}
CAPTIONS = {  # what stands below a figure, what is seen there, of which kinds it is
    "bracket": (
        "Queries over theorem B's floor, which is a floor of G and of V. G lies between 1 and the lowest point; V "
        "between 1 and the dash-dotted line. Dotted: what as many affinely independent sets would need, exactly.",
        "At large tolerances the points lie on the floor, at smaller ones about one and a half times above it, those "
        "of flat below those of sign batches; the upper bound of V rises far above.",
        "proved measured",
    ),
    "values": (
        "Small classes: V exactly, by search, beside theorem B's floor and the games of the strategies.",
        "V steps down with the tolerance; the floor equals it or lies one or two queries below.",
        "proved measured",
    ),
}


def _ticks(axes: "Axes", tolerances: Sequence[float]) -> None:
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

    shown = [tau for tau in tolerances if tau in (0.2, 0.16, 0.12, 0.08, 0.05, 0.1, 0.04)]
    shown = shown if len(shown) < 6 else [tau for tau in shown if tau not in (0.16, 0.08)]
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticklabels([f"{tau:g}" for tau in shown])


def _heights(axes: "Axes", ratios: bool) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    if not ratios:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        return
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(FixedLocator([1, 1.25, 1.5, 2, 3, 5, 10, 20]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def _bracket(drawing: Drawing, axes: "Axes", lines: Sequence[Mapping[str, Any]]) -> None:
    taus, floors = [line["tolerance"] for line in lines], [line["floor of G and V"] for line in lines]
    axes.plot(taus, [1.0] * len(taus), **FLOOR)
    for column, look in (("V if independent", INDEPENDENT[1]), ("V at most", CERTAIN[1])):
        axes.plot(taus, [line[column] / floor for line, floor in zip(lines, floors, strict=True)], **look)
    for name in STRATEGIES:
        _points(
            drawing, axes, name, [(e["tolerance"], e[name], e[name] / e["floor of G and V"]) for e in lines if e[name]]
        )


def _values(drawing: Drawing, axes: "Axes", lines: Sequence[Mapping[str, Any]]) -> None:
    taus = [line["tolerance"] for line in lines]
    axes.plot(taus, [line["floor of G and V"] for line in lines], drawstyle="steps-mid", **FLOOR)
    for name in STRATEGIES:
        _points(drawing, axes, name, [(e["tolerance"], e[name], e[name]) for e in lines if e[name]])
    for line in lines:
        if line["V at least"] == line["V at most"]:
            tip = f"τ = {line['tolerance']:g}: V = {line['V at least']}"
            drawing.point(axes, line["tolerance"], line["V at least"], tip, **EXACT)


def _points(drawing: Drawing, axes: "Axes", name: str, found: Sequence[tuple[float, int, float]]) -> None:
    color, marker, dash = LOOKS[name]
    axes.plot([tau for tau, _, _ in found], [height for _, _, height in found], color=color, linestyle=dash)
    for tau, queries, height in found:
        drawing.point(axes, tau, height, f"{name}, τ = {tau:g}: {queries:,} queries", color=color, marker=marker)


STUDY = Study("exact-games", QUESTION, tasks, seconds, trial, write, guard=3600.0, role="proved")
