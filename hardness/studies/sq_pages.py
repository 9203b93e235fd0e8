"""The pages of the studies of statistical queries: verdict, what is proved and what measured, figure and table."""

from pathlib import Path
from typing import Any

from hardness.studies.looks import CEILING, FLOOR, LOOKS, NAMES, NOTHING, Table, bar, counted, curve, legend, spread
from hardness.studies.sq_studies import budget_table, frontier_table, need_table
from hardness.study.page.drawing import GRID, INK, LINES, MUTED, RAMP, Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Store


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
    shown = [counted(line) | {"tolerance": f"{line['tolerance']:g}"} for line in table]
    return table_page(store, folder, _frontier_verdict(table), shown, notes, _frontier_drawings(table))


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
                curve(drawing, axes, name, [line for line in lines if line["strategy"] == name])
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
        legend(drawing, shown, [("proven lower bound", FLOOR), ("proven upper bound N − 1 (parity)", CEILING)])
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
                tip = f"{name}, m = {line['m']}: τ = {line['tolerance']:.3g} {line['reading']}{spread(line)}"
                bar(axes, line["m"], line, color)
                drawing.point(axes, line["m"], line["tolerance"], tip, color=color, marker=marker, **open_)
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
        legend(
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
        legend(drawing, (), [(name, look) for _, name, look in BOUGHT], 3)
    return [drawing]
