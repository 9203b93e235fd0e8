"""Pages of the learners' studies: a verdict line, a figure and a table, from the rows alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hardness.study.figures import INK, LINES, MARKERS, RAMP, Drawing, style
from hardness.study.report import table_page
from hardness.study.store import Store
from learner import studies

Table = Sequence[Mapping[str, Any]]


def write(store: Store, folder: Path) -> str:
    """Write the page of one of `studies.STUDIES` into `folder`: a pure function of the rows. Returns its verdict."""
    name = str(store.about["study"])
    table = studies.TABLES[name](store.rows())
    drawings = [FIGURES[name](table)] if table and name in FIGURES else []
    return table_page(store, folder, VERDICTS[name](table), table, NOTES[name], drawings)


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
    """Least examples that solve half of the trials, against m; an open triangle on top where none did."""
    drawing = Drawing("learner-scaling", 5.4, 3.6)
    tried = [count for line in table for count in line["success"]]
    with style(drawing.name):
        axes = drawing.figure.subplots()
        for i, name in enumerate(dict.fromkeys(line["learner"] for line in table)):
            lines = [line for line in table if line["learner"] == name]
            solved = [(line["m"], line["examples"]) for line in lines if line["examples"]]
            look: dict[str, Any] = {"color": RAMP[2 * i % len(RAMP)]}
            axes.plot(
                *zip(*solved, strict=True), marker=MARKERS[i], linestyle=LINES[i], label=name, **look
            ) if solved else None
            for line in lines:
                if not line["examples"]:
                    drawing.point(axes, line["m"], max(line["success"]), f"{name}: none solved at m = {line['m']}",
                                  marker="^", markerfacecolor="none", **look)  # fmt: skip
        axes.set(yscale="log", xlabel="m", ylabel="examples", ylim=(min(tried) / 2, max(tried) * 2))
        axes.grid(visible=True)
        axes.legend()
    return drawing


FIGURES = {"rarity": _rarity_figure, "learner-scaling": _scaling_figure}
NOTES = {
    "rarity": (
        "A row of an output is certified at η if it is a convex combination of the rows of X ΣW up to an error that "
        "moves no log-ratio by more than about η; ΣW is exact, so that nothing but rarity is measured. The law "
        "η^((m-1)(k-1)) counts the equalities that m heads must meet on one row. Exponents are maximum-likelihood "
        "(Hill) below η = 0.05, or 0.1 where fewer than 300 rows lie below that, with 95 % intervals.",
    ),
    "learner-scaling": (
        "A trial is solved at relative error 1e-6 on fresh examples. `provable` is the six phases and the polish that "
        "follows them; its polish alone would solve these layers from a random start.",
    ),
    "anatomy": (
        "A layer on the path (1-ρ) hard + ρ nice, in Θ, in W or in both; hard is a parity of |S| = m. `gave up` names "
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
        needs = [f"m={line['m']}: {line['examples'] or 'none'}" for line in table if line["learner"] == name]
        said.append(f"{name} {', '.join(needs)}")
    return "Least examples that solve half of the trials: " + "; ".join(said) + "."


def _anatomy(table: Sequence[Mapping[str, Any]]) -> str:
    phases = [line["gave up"] for line in table if line["gave up"]]
    counts = ", ".join(f"{name} {phases.count(name)}" for name in dict.fromkeys(phases)) or "none"
    return f"Of {len(table)} layers on the paths, {len(table) - len(phases)} passed all phases; gave up: {counts}."


VERDICTS = {"rarity": _rarity, "learner-scaling": _scaling, "anatomy": _anatomy}
