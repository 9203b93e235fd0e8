"""The pages of the studies of statistical queries: verdict, what is proved and what measured, figure and table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.study.figures import GRID, INK, LINES, MARKERS, MUTED, RAMP, Drawing, style
from hardness.study.report import table_page, thousands
from hardness.study.sq_studies import GAMES_TOLERANCE, budget_table, frontier_table, games_table, need_table
from hardness.study.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Table = Sequence[Mapping[str, Any]]
NOTHING = "no trial has been run."
# Colour, marker and line of everyone who is drawn: the same on all three pages.
NAMES = ("sign-batch", "adaptive", "bent", "characters", "mlp-gradient", "low-degree", "attention-gradient", "gradient")
LOOKS = {name: (RAMP[i % 7], MARKERS[i % 7], LINES[i % len(LINES)]) for i, name in enumerate(NAMES)}
LOOKS["gradient"] = LOOKS["mlp-gradient"]
FLOOR: dict[str, Any] = {"color": INK, "linestyle": (0, (5, 2)), "linewidth": 1.1}  # a proven lower bound
CEILING: dict[str, Any] = {"color": MUTED, "linestyle": (0, (1.2, 1.5)), "linewidth": 1.1}  # an upper bound


def frontier(store: Store, folder: Path) -> str:
    """Write the page of `query-frontier` into `folder`; returns its verdict line."""
    table = frontier_table(store.rows())
    notes = (
        "Proved, for every strategy: the dashed lower bounds, 8τ²(N−1) for parity with N = C(d−1, m) hidden sets "
        "(theory 2.5) and 8τ²2ⁿ(1−q⁻ⁿ) for rounding (theory 2.6). Proved for parity at τ < 1/4: N − 1 queries "
        "suffice (dotted), one character a query.",
        "Measured: the points, each a mean over the runs (seeds) that identified, with the 95 % interval of that mean "
        "(Student's t; often smaller than the marker). Characters and bent blocks draw nothing on parities, nor does "
        "the adversary: one run is exact, and the table says so. Points are upper bounds on what the "
        "cheapest strategy needs, not lower ones. A filled marker is where all runs identified; an open triangle where "
        "none did: the strategy gave up or met the limit of queries there, and says nothing about the need of others.",
        "Sign batches, for which theory 2.5e claims (N−1)/⌊K/2⌋ queries, meet that floor within 6 % where N ≥ 8000 and "
        "τ is in [0.03, 0.1], but for the corner N ≈ 8000, τ ≈ 0.03: there the end game (about log₂ K queries for the "
        "last K sets) is 5 % of the game by itself. Bent blocks and the adaptive strategy weigh exact means of every "
        "live set (at most 4,194,304) and are slow, so they are drawn for few m.",
        "Rounding is drawn apart: its bound counts the 2ⁿ public vectors, not the qⁿ secrets, and N − 1 is not "
        "proved to suffice there. q = 5 with all five levels, so that no two secrets have the same labels. Where its "
        "bound is below one query it says nothing.",
    )
    shown = [_counted(line) | {"tolerance": f"{line['tolerance']:g}"} for line in table]
    return table_page(store, folder, _frontier_verdict(table), shown, notes, _frontier_drawings(table))


def _counted(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line whose counts are written out."""
    counts = ("queries", "least", "low", "high", "gave up at", "left", "concepts", "exhaustive", "proven bound")
    return {key: thousands(value) if key in counts else value for key, value in line.items()}


def _frontier_verdict(table: Table) -> str:
    if not table:
        return NOTHING
    said = []
    for family in ("parity", "rounding"):
        lines = [line for line in table if line["family"] == family]
        judged = [line for line in lines if line["ratio"] is not None]
        if judged:
            best = min(judged, key=lambda line: line["ratio"])
            below = sum(line["least"] < line["proven bound"] for line in judged)
            said.append(
                f"{family}: {len(judged)} of {len(lines)} points identified, {below} below the proven bound; nearest "
                f"to it {best['strategy']} at τ = {best['tolerance']:g}, {best['ratio']:.2f} times the bound"
            )
        elif lines:
            said.append(f"{family}: none of {len(lines)} points identified, nothing is measured")
    return "; ".join(said) + "."


def _frontier_drawings(table: Table) -> list[Drawing]:
    panels = sorted({(str(line["family"]), int(line["m or n"])) for line in table if line["proven bound"]})
    if not panels:
        return []
    columns = min(4, max(1, -(-len(panels) // 2)))
    rows = -(-len(panels) // columns)
    drawing = Drawing("frontier", 0.9 + 2.7 * columns, 0.8 + 2.9 * rows)
    with style(drawing.name):
        grid = drawing.figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (family, size) in zip(grid, panels, strict=False):
            lines = [line for line in table if (line["family"], line["m or n"]) == (family, size)]
            for key, look in (("proven bound", FLOOR), ("exhaustive", CEILING)):
                known = sorted({(line["tolerance"], line[key]) for line in lines if line[key] is not None})
                axes.plot([x for x, _ in known], [y for _, y in known], **look)
            for name in NAMES:
                _frontier_curve(drawing, axes, name, [line for line in lines if line["strategy"] == name])
            axes.set_title(f"parity, m = {size}" if family == "parity" else f"rounding, q = p = 5, n = {size}")
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks((0.03, 0.05, 0.1, 0.2), ("0.03", "0.05", "0.1", "0.2"))
            axes.set_xticks((), minor=True)
            axes.set_xlabel("tolerance τ")
            axes.grid(axis="y")
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        for i in range(0, len(panels), columns):
            grid[i].set_ylabel("queries")
        shown = [name for name in NAMES if any(line["strategy"] == name for line in table)]
        _name_all(drawing, shown, [("proven lower bound", FLOOR), ("proven upper bound N − 1 (parity)", CEILING)])
    return [drawing]


def _frontier_curve(drawing: Drawing, axes: "Axes", name: str, lines: Table, variable: str = "τ") -> None:
    color, marker, dash = LOOKS[name]
    solved = [line for line in lines if line["queries"] is not None]
    axes.plot([e["tolerance"] for e in solved], [e["queries"] for e in solved], color=color, linestyle=dash)
    for line in lines:
        at = f"{name}, {variable} = {line['tolerance']:g}, {line['runs']} runs identified"
        if line["queries"] is not None:
            whole = line["runs"].split("/")[0] == line["runs"].split("/")[1]
            look = {"marker": marker} | ({} if whole else {"markerfacecolor": "none"})
            _bar(axes, line["tolerance"], line, color)
            tip = f"{at}: {line['queries']:,.0f} queries{_said(line)}"
            drawing.point(axes, line["tolerance"], line["queries"], tip, color=color, **look)
        elif line["gave up at"]:
            tip = f"{at}; stopped after {line['gave up at']:,.0f}"
            drawing.point(
                axes, line["tolerance"], line["gave up at"], tip, color=color, marker="^", markerfacecolor="none"
            )


def _bar(axes: "Axes", x: float, line: Mapping[str, Any], color: str) -> None:
    """The 95 % interval of a point, if it has one."""
    if line["low"] is not None:
        axes.vlines(x, max(line["low"], 1e-9), line["high"], color=color, linewidth=1.4)


def _said(line: Mapping[str, Any]) -> str:
    return "" if line["low"] is None else f" (95 %: {line['low']:.4g} to {line['high']:.4g})"


def games(store: Store, folder: Path) -> str:
    """Write the page of `rounding-games` into `folder`; returns its verdict line."""
    table = games_table(store.rows())
    notes = (
        "Games over all 5ⁿ secrets, q = p = 5 (no two secrets share their labels), ideal labels, best-window "
        f"adversary, τ = {GAMES_TOLERANCE:g}. Proved, for every strategy: 8τ²2ⁿ(1−q⁻ⁿ) queries (theory 2.6; dashed). "
        "SDA (theory 2.4) stands in the table where it says anything; where empty, τ²/3 is below the bound on the "
        "labels' mean correlation.",
        "Measured: mean queries of the runs that identified, with the 95 % interval of the mean (Student's t); a "
        "single run has none. Open triangles: none identified; the strategy gave up or met its limit, with the "
        "secrets left in the table. Characters and gradients are not played beyond n = 5 and 6 (each query moves few "
        "secrets, or none).",
        "How far from tight? The bound charges every query the share 1/(8τ²2ⁿ) of all secrets. If every query lost "
        "just that share of the secrets still live, losses would be geometric and the need n ln q = ln(qⁿ) times the "
        "bound (dotted; not a bound). The last column is the need over that: below 1 a strategy loses more than that "
        "share of the live secrets on average, above 1 less. That no query loses more than its share of the live "
        "secrets is not proved; a strategy that leaves the live secrets bunched, or a better bound, may close the gap.",
        "The adaptive strategy exploits neighbours: secrets that differ in one coordinate agree on half of the inputs, "
        "so it starts from votes of one secret, a neighbourhood or a batch and climbs Σ a_w⁴ by votes weighted with "
        "a_w³.",
    )
    return table_page(
        store, folder, _games_verdict(table), [_counted(line) for line in table], notes, _games_drawings(table)
    )


def _games_verdict(table: Table) -> str:
    if not table:
        return NOTHING
    judged = [line for line in table if line["ratio"] is not None and line["proven bound"] >= 1]
    if not judged:
        return f"none of {len(table)} points identified above a bound of one query, nothing is measured."
    best = {n: min((e for e in judged if e["n"] == n), key=lambda e: e["ratio"]) for n in {e["n"] for e in judged}}
    said = [f"n = {n}: {line['ratio']:.1f} ({line['strategy']})" for n, line in sorted(best.items())]
    share = [line["ratio/(n ln q)"] for line in best.values()]
    return (
        f"Queries over the proven bound, cheapest strategy: {', '.join(said)}; that is {min(share):.2f} to "
        f"{max(share):.2f} of n ln q times the bound."
    )


def _games_drawings(table: Table) -> list[Drawing]:
    if not table:
        return []
    drawing = Drawing("games", 7.2, 4.6)
    with style(drawing.name):
        axes = drawing.figure.subplots()
        known = sorted({(e["n"], e["proven bound"], e["n ln q"]) for e in table if e["proven bound"]})
        axes.plot([n for n, _, _ in known], [bound for _, bound, _ in known], **FLOOR)
        axes.plot([n for n, _, _ in known], [bound * decay for _, bound, decay in known], **CEILING)
        shown = [name for name in NAMES if any(line["strategy"] == name for line in table)]
        for name in shown:
            lines = [{**line, "tolerance": line["n"]} for line in table if line["strategy"] == name]
            _frontier_curve(drawing, axes, name, lines, "n")
        axes.set_yscale("log")
        axes.set_xticks(sorted({line["n"] for line in table}))
        axes.set_xlabel("n (5ⁿ secrets)")
        axes.set_ylabel(f"queries at τ = {GAMES_TOLERANCE:g}")
        axes.grid(axis="y")
        _name_all(drawing, shown, [("proven lower bound", FLOOR), ("bound × n ln q", CEILING)], 3)
    return [drawing]


def need(store: Store, folder: Path) -> str:
    """Write the page of `tolerance-in-m` into `folder`; returns its verdict line."""
    table = need_table(store.rows())
    notes = (
        "Measured: the largest tolerance at which a strategy was seen to identify, by bisection on log τ to 5 %, "
        "against the window adversary within the queries of the table; the mean over seeds and its 95 % interval "
        "(Student's t). Characters, bent blocks and low degree draw nothing: one bisection is exact. Gradients: every "
        "coordinate of the gradient of a random student (an MLP neuron, an attention head) is one query. "
        "Success need not be monotone at "
        "the last few per cent. A cross at the lower edge: the strategy fails at every tolerance tried, down to a "
        "quarter of the floor. For "
        "low-degree this is exact: monomials below degree m have mean 0 under every hidden set, at any tolerance "
        "(at m = 1 it asks degree 1).",
        "The finite-size floor 0.5·2^(−n/2) is the typical mean of a random ±1 function on n bits: results below it "
        "(shaded, open markers) are meaningless, for there any function tells the sets apart.",
        "Proved (dotted): no strategy identifies within Q queries at a tolerance above √(Q/(8(N−1))), from "
        "8τ²(N−1) ≤ Q (theory 2.5). Single characters work up to τ < 1/4 if Q ≥ N − 1, and not at all with fewer.",
    )
    return table_page(store, folder, _need_verdict(table), table, notes, _need_drawings(table))


def _need_verdict(table: Table) -> str:
    if not table:
        return NOTHING
    works = [line for line in table if line["tolerance"] is not None]
    real = [line for line in works if not line["reading"]]
    counts = (
        f"{len(real)} of {len(table)} points give a tolerance above the finite-size floor, "
        f"{len(works) - len(real)} below it (meaningless), {len(table) - len(works)} none at all"
    )
    if not real:
        return f"{counts}: nothing is measured."
    last = max(line["m"] for line in real)
    best = max((line for line in real if line["m"] == last), key=lambda line: line["tolerance"])
    return f"{counts}. At m = {last} the best is {best['strategy']}, τ = {best['tolerance']:.3g}."


def _need_drawings(table: Table) -> list[Drawing]:
    if not table:
        return []
    drawing = Drawing("tolerance", 7.2, 4.6)
    with style(drawing.name):
        axes = drawing.figure.subplots()
        sizes = sorted({line["m"] for line in table})
        floor = min(line["floor"] for line in table)
        bottom = floor / 4
        axes.axhspan(bottom, floor, color=GRID, alpha=0.45, linewidth=0)
        axes.axhline(floor, color=INK, linestyle=LINES[3], linewidth=1.0)
        top = dict(sorted((line["m"], line["ceiling"]) for line in table))
        axes.plot(list(top), list(top.values()), **CEILING)
        shown = [name for name in NAMES if any(line["strategy"] == name for line in table)]
        for i, name in enumerate(shown):
            color, marker, dash = LOOKS[name]
            lines = [line for line in table if line["strategy"] == name]
            found = [line for line in lines if line["tolerance"] is not None]
            axes.plot([e["m"] for e in found], [e["tolerance"] for e in found], color=color, linestyle=dash)
            for line in found:
                open_ = {"markerfacecolor": "none"} if line["reading"] else {}
                tip = f"{name}, m = {line['m']}: τ = {line['tolerance']:.3g} {line['reading']}"
                _bar(axes, line["m"], line, color)
                drawing.point(
                    axes, line["m"], line["tolerance"], tip + _said(line), color=color, marker=marker, **open_
                )
            for line in lines:
                if line["tolerance"] is None:
                    x = line["m"] + 0.1 * (i - len(shown) / 2)
                    drawing.point(axes, x, bottom * 1.15, f"{name}, m = {line['m']}: fails", color=color, marker="x")
        axes.set_yscale("log")
        axes.set_ylim(bottom, 1.1)
        axes.set_xticks(sizes)
        axes.set_xlabel("m")
        axes.set_ylabel("largest tolerance τ that identifies")
        axes.grid(axis="y")
        below: dict[str, Any] = {"color": INK, "linestyle": LINES[3], "linewidth": 1.0}
        _name_all(
            drawing,
            shown,
            [("finite-size floor 0.5·2^(−n/2)", below), ("proven ceiling √(Q/(8(N−1)))", CEILING),
             ("fails at every τ tried", {"color": MUTED, "linestyle": "none", "marker": "x"})],
            3,
        )  # fmt: skip
    return [drawing]


# Column, name in the legend, look: proven lines are solid and filled, all others broken or open.
BOUGHT: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("exact parity", "exact parity, s = m, d = 256 (proved)", {"color": RAMP[0], "marker": "o"}),
    ("truncated parity", "truncated parity, best s, d = 256 (proved)", {"color": RAMP[5], "marker": "D"}),
    ("rounding", "rounding, own d = n + 1 (proved)", {"color": RAMP[2], "marker": "s"}),
    ("SDA, ideal labels", "SDA at that n, ideal labels only", {
        "color": RAMP[1], "marker": "v", "markerfacecolor": "none", "linestyle": LINES[2]}),
    ("rounding, estimated", "rounding at n = 12(m/(λp))², estimate", {
        "color": RAMP[4], "marker": "P", "markerfacecolor": "none", "linestyle": LINES[4], "linewidth": 1.0}),
    ("m log2 d, reference", "m log₂ d, reference only", {"color": MUTED, "linestyle": LINES[3], "linewidth": 1.1}),
)  # fmt: skip


def budget(store: Store, folder: Path) -> str:
    """Write the page of `head-budget` into `folder`; returns its verdict line."""
    table = budget_table(store.rows())
    notes = (
        "Proved here: every number called proved is log₂ of a lower bound on the queries any strategy needs at STAT(τ) "
        "to identify against the window adversary: 8τ²(C(d−1, s)−1) for parity, with τ − ε for τ where m heads are "
        "right but for a mass ε of inputs (truncated parity, s > m), and 8(τ−ε)²2ⁿ(1−10⁻³−q⁻ⁿ) for rounding "
        "(q = 97, p = 2), with n the largest whose labels m heads hold, ε by Hoeffding, for all but 1 in 1000 secrets.",
        "Computed, not proved for m heads: the SDA bound, which is for ideal labels (drawn for n ≤ 128), and the "
        "estimate n = 12(m/(λp))² with a normal tail of mass τ/2. Nothing on this page is measured by a game; that "
        "these families are the best for m heads, or these bounds tight, is not proved.",
        "Not comparable: parity is at d = 256 throughout, rounding grows its own d = n + 1 = Θ(m²), where 2^O(d) is "
        "brute force. The known bound d^Ω(m) also covers tolerances d^−Ω(m) and has a constant we do not know; "
        "the line m log₂ d (constant 1, d = 256) is for the eye only. The rounding and truncated bounds hold at a "
        "fixed tolerance above ε, no lower.",
        "The leak is the largest mean of a query of degree below s on truncated parity: at a tolerance below it a "
        "search over pairs of coordinates wins. Truncated parity stops growing where s reaches (d−1)/2.",
    )
    return table_page(store, folder, _budget_verdict(table), table, notes, _budget_drawings(table))


def _budget_verdict(table: Table) -> str:
    if not table:
        return NOTHING
    said = []
    for tau in dict.fromkeys(line["tolerance"] for line in table):
        lines = [e for e in table if e["tolerance"] == tau]
        line = max((e for e in lines if e["m"] <= 32), key=lambda e: e["m"], default=lines[-1])
        bits = [f"{key} 2^{line[key]:.0f}" for key in ("exact parity", "truncated parity", "rounding")
                if line[key] is not None]  # fmt: skip
        said.append(f"at τ = {tau:g}, m = {line['m']}: " + ", ".join(bits or ["nothing"]))
    return "Queries proved necessary: " + "; ".join(said) + "."


def _budget_drawings(table: Table) -> list[Drawing]:
    tolerances = list(dict.fromkeys(line["tolerance"] for line in table))
    if not tolerances:
        return []
    drawing = Drawing("budget", 0.8 + 3.4 * len(tolerances), 4.6)
    with style(drawing.name):
        panels = drawing.figure.subplots(1, len(tolerances), sharey=True, squeeze=False)[0]
        for axes, tau in zip(panels, tolerances, strict=True):
            lines = [line for line in table if line["tolerance"] == tau]
            for key, name, look in BOUGHT:
                known = [line for line in lines if line[key]]
                plain = {k: v for k, v in look.items() if not k.startswith("marker")}
                axes.plot([line["m"] for line in known], [line[key] for line in known], **plain)
                for line in known if "marker" in look else ():
                    marks = {k: v for k, v in look.items() if not k.startswith("line")}
                    drawing.point(axes, line["m"], line[key], f"{name}, m = {line['m']}: 2^{line[key]:.1f}", **marks)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            axes.set_ylim(bottom=1)
            sizes = [m for m in sorted({line["m"] for line in lines}) if m & (m - 1) == 0]
            axes.set_xticks(sizes, [str(m) for m in sizes])
            axes.set_xlabel("m")
            axes.set_title(f"τ = {tau:g}")
            axes.grid(axis="y")
        panels[0].set_ylabel("log₂ of the query bound")
        _name_all(drawing, (), [(name, look) for _, name, look in BOUGHT], 3)
    return [drawing]


def _name_all(
    drawing: Drawing, shown: Sequence[str], extra: Sequence[tuple[str, Mapping[str, Any]]], columns: int = 4
) -> None:
    from matplotlib.lines import Line2D

    looks = [(name, dict(zip(("color", "marker", "linestyle"), LOOKS[name], strict=True))) for name in shown]
    handles = [Line2D([], [], label=label, **look) for label, look in [*looks, *extra]]
    drawing.figure.legend(handles=handles, loc="outside upper center", ncols=columns, handlelength=3, columnspacing=1.6)
