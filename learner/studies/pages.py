"""Pages of the learners' studies: a verdict line, a figure and a table, from the rows alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from hardness.study.page.drawing import INK, LINES, MARKERS, RAMP, Drawing, style
from hardness.study.page.report import cell_text, table_page
from hardness.study.store import Store
from learner.studies import phases as studies
from learner.studies.curves import legend, look

Table = Sequence[Mapping[str, Any]]


def write(store: Store, folder: Path) -> str:
    """Write the page of one of `studies.STUDIES` into `folder`: a pure function of the rows. Returns its verdict."""
    name = str(store.about["study"])
    table = studies.TABLES[name](store.rows())
    drawings = [FIGURES[name](table)] if table and name in FIGURES else []
    verdict = VERDICTS[name](table) if table else "No trial has been run."
    notes = [*NOTES[name], *([_intervals(table)] if name == "learner-scaling" else [])]
    return table_page(store, folder, verdict, table, notes, drawings)


def _intervals(table: Table) -> str:
    """What the numbers of solved trials say of the chance to solve one: exact 95 % intervals (Clopper and Pearson)."""
    counts = sorted({tuple(map(int, text.split("/"))) for line in table for text in line["solved"].values()})
    said = []
    for solved, tried in counts:
        low, high = binomtest(solved, tried).proportion_ci(method="exact")
        said.append(f"{solved}/{tried}: {low:.2g} to {high:.2g}")
    return f"Chance that a trial is solved, 95 % intervals by the number that were: {'; '.join(said)}."


def _rarity_figure(table: Table) -> Drawing:
    """Share of certified rows against eta, a panel a score spread; dashed, the law through the share at 0.1."""
    spreads = sorted({line["tau"] for line in table})
    drawing = Drawing("rarity", 3.9 * len(spreads) + 1.8, 3.8)
    with style(drawing.name):
        panels = drawing.figure.subplots(1, len(spreads), sharey=True, squeeze=False)[0]
        for axes, tau in zip(panels, spreads, strict=True):
            for line in sorted((line for line in table if line["tau"] == tau), key=lambda line: line["law"]):
                shares = {eta: line[f"share {eta}"] for eta in studies.ETAS if line[f"share {eta}"]}
                if not shares:
                    continue
                # Colour and line tell the law, the marker tells the heads.
                look: dict[str, Any] = {
                    "color": RAMP[line["law"] - 1],
                    "linestyle": LINES[(line["law"] - 1) % len(LINES)],
                }
                name = f"law {line['law']}: m = {line['m']}, k = {line['k']}"
                axes.plot(list(shares), list(shares.values()), marker=MARKERS[line["m"] - 2], label=name, **look)
                if 0.1 in shares:
                    low = min(shares)
                    law = [shares[0.1], shares[0.1] * (low / 0.1) ** line["law"]]
                    axes.plot([0.1, low], law, color=INK, linewidth=0.7, linestyle=(0, (4, 2)))
            axes.set(xscale="log", yscale="log", xlabel="η", title=f"τ = {tau:g}")
            axes.grid(visible=True)
        drawing.figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=7.5)
        panels[0].set_ylabel("share of rows certified at η")
    return drawing


def _scaling_figure(table: Table) -> Drawing:
    """Least examples that solve half of the trials, against m, with the last number that did not below it."""
    drawing = Drawing("learner-scaling", 7.6, 4.2)
    drawing.caption = "Least examples at which half of the trials are solved; bars: from the last number that failed."
    names = list(dict.fromkeys(line["learner"] for line in table))
    with style(drawing.name):
        axes = drawing.figure.subplots()
        sizes = sorted({line["m"] for line in table})
        axes.plot(sizes, [8 * m for m in sizes], color=INK, linestyle=(0, (5, 2)), linewidth=1.0)
        for i, name in enumerate(names):
            lines = [line for line in table if line["learner"] == name]
            own, aside = look(i), 0.12 * (i - (len(names) - 1) / 2)
            mark = {"color": own["color"], "marker": own["marker"]}
            solved = [line for line in lines if line["examples"]]
            axes.plot([e["m"] + aside for e in solved], [e["examples"] for e in solved], **own | {"marker": ""})
            for line in lines:
                x, tried = line["m"] + aside, line["solved"]
                tip = f"{name}, m = {line['m']}: solved {cell_text(tried)} of {line['trials']} trials"
                if not line["examples"]:
                    drawing.point(axes, x, max(tried), tip, color=own["color"], marker="^", markerfacecolor="none")
                    continue
                below = [count for count in tried if count < line["examples"]]
                axes.plot([x, x], [max(below, default=line["examples"]), line["examples"]], color=own["color"])
                drawing.point(axes, x, line["examples"], tip, **mark | ({} if below else {"markerfacecolor": "none"}))
        axes.set(yscale="log", xlabel="m", ylabel="examples")
        axes.set_xticks(sizes)
        axes.grid(axis="y")
        counting = {"8m: as many equations as unknowns": {"color": INK, "linestyle": (0, (5, 2)), "linewidth": 1.0}}
        legend(drawing, {name: look(i) for i, name in enumerate(names)} | counting, 3)
    return drawing


def _anatomy_figure(table: Table) -> Drawing:
    """The phase that gave up against ρ, a panel a path and m; the area of a point is its number of layers."""
    paths, sizes = (list(dict.fromkeys(line[name] for line in table)) for name in ("path", "m"))
    gave = {line["gave up"] or PASSED for line in table}
    phases = [name for name in PHASES if name in gave] + sorted(gave - {*PHASES})
    drawing = Drawing("anatomy", 1.6 + 3.0 * len(paths), 0.9 + 1.9 * len(sizes))
    drawing.caption = "Where the provable learner gave up, from a hard layer (ρ = 0) to a nice one (1). Area: layers."
    with style(drawing.name):
        panels = drawing.figure.subplots(len(sizes), len(paths), sharex=True, sharey=True, squeeze=False)
        for line, m in zip(panels, sizes, strict=True):
            for axes, path in zip(line, paths, strict=True):
                own = [(e["rho"], e["gave up"] or PASSED) for e in table if (e["m"], e["path"]) == (m, path)]
                for (rho, phase), count in sorted(Counter(own).items()):
                    tip = f"m = {m}, {path}, ρ = {rho:g}: {phase}, {count} of {sum(r == rho for r, _ in own)} layers"
                    color, marker = (RAMP[2], "o") if phase == PASSED else (RAMP[5], "X")
                    mark = {"color": color, "marker": marker, "markersize": 5 * count**0.5}
                    drawing.point(axes, rho, phases.index(phase), tip, **mark)
                axes.set_title(f"m = {m}, path in {'Θ' if path == 'theta' else 'W' if path == 'w' else 'Θ and W'}")
                axes.set_yticks(range(len(phases)), phases)
                axes.set_ylim(-0.6, len(phases) - 0.4)
                axes.grid(visible=True)
        for axes in panels[-1]:
            axes.set_xlabel("ρ")
    return drawing


FIGURES = {"rarity": _rarity_figure, "learner-scaling": _scaling_figure, "anatomy": _anatomy_figure}
PASSED = "all passed"
PHASES = ("crude", "sculpt 1", "sculpt 2", "span", "net", PASSED)
NOTES = {
    "rarity": (
        "A row of an output is certified at η if it is a convex combination of the rows of X ΣW up to an error that "
        "moves no log-ratio by more than about η; ΣW is exact, so that nothing but rarity is measured. The law "
        "η^((m-1)(k-1)) counts the equalities that m heads must meet on one row. Exponents are maximum-likelihood "
        "(Hill) below η = 0.05, or 0.1 where fewer than 300 rows lie below that, with 95 % intervals.",
    ),
    "learner-scaling": (
        "A trial is solved at relative error 1e-6 on fresh examples, on random layers of d = 8 and two tokens. "
        "“provable” is the six phases of the theorem and the polish that follows them; its polish alone would solve "
        "these layers from a random start. “phases alone” is what the phases end with, before the polish.",
        "A point is the least number tried at which at least half of the trials were solved; its bar reaches down to "
        "the largest number tried that solved fewer, and it is open where the least number tried sufficed (an upper "
        "bound). An open triangle: not solved at any number tried, up to the one where it stands (a lower bound, if "
        "more examples help at all). 8m examples have as many equations as there are unknowns. Seconds are the median "
        "wall-clock of a fit and its judgement at that point, on the machine of this run. The last column is the "
        "median error at the most examples; 0 stands for less than 1e-9.",
    ),
    "anatomy": (
        "A layer on the path (1-ρ) hard + ρ nice, in Θ, in W or in both; hard is a parity of |S| = m. “gave up” names "
        "the phase that refused, in whose words the reason is.",
    ),
}


def _rarity(table: Sequence[Mapping[str, Any]]) -> str:
    judged = [line for line in table if line["tau"] == 3 and line["law"] <= 4 and line["fitted"] is not None]
    near = [line for line in judged if abs(line["fitted"] - line["law"]) <= 0.15 * line["law"]]
    return (
        f"At tau = 3 the fitted exponent is within 15% of (m-1)(k-1) in {len(near)} of {len(judged)} cells with a law "
        "of at most 4; other cells are shown with their intervals."
    )


def _scaling(table: Sequence[Mapping[str, Any]]) -> str:
    said = []
    for name in dict.fromkeys(line["learner"] for line in table):
        lines = [line for line in table if line["learner"] == name]
        needs = sorted(line["examples"] / line["m"] for line in lines if line["examples"])
        never = [f"{line['m']}" for line in lines if not line["examples"]]
        most = max(count for line in lines for count in line["solved"])
        text = f"{needs[0]:.0f}m to {needs[-1]:.0f}m" if needs else "never"
        said.append(f"{name} {text}" + (f" (not up to {most:,} examples at m = {', '.join(never)})" if never else ""))
    sizes = [line["m"] for line in table]
    return f"Examples that solve at least half of the trials, m = {min(sizes)} to {max(sizes)}: {'; '.join(said)}."


def _anatomy(table: Sequence[Mapping[str, Any]]) -> str:
    phases = [line["gave up"] for line in table if line["gave up"]]
    counts = ", ".join(f"{name} {phases.count(name)}" for name in dict.fromkeys(phases)) or "none"
    return f"Of {len(table)} layers on the paths, {len(table) - len(phases)} passed all phases; gave up: {counts}."


VERDICTS = {"rarity": _rarity, "learner-scaling": _scaling, "anatomy": _anatomy}
