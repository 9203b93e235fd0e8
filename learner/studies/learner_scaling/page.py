"""The page of `learner-scaling`: error against examples, examples against m, and the exponents, from the rows alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hardness.study.page.drawing import INK, RAMP, Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Store
from learner.studies.curves import curve, legend, look, mean
from learner.studies.learner_scaling.table import Cell, Runs, gathered, growth, table
from learner.studies.learner_scaling.trials import INJECT, PAPER, PHASES

QUESTION = "How many examples does the theorem's algorithm need for an error, against heads, tokens and dimension?"
Table = Sequence[Mapping[str, Any]]
NOTES = (
    "Layers are random (score spread 2). The theorem promises an error, not an exact layer, so phases 1 to 6 "
    "are judged "
    "alone, without the polish of our own, by their relative error on fresh examples, while examples double. “literal "
    "phases” are the paper's: crude sum, one-sparse rows, convex body, explicit net. “direct” and “lbfgs” are local "
    "searches from random starts, which have no theorem, at 1.25 to 8 times the counting floor max(2md/k, "
    "d²/(k(k−1))).",
    "Examples to an error are geometric means over runs with 95 % intervals, between sizes by a power law; where some "
    "runs never get there, the median alone; where half do not, nothing. The slope is that of log error on log "
    "examples over the last factor of 16; the law −1/((m−1)(k−1)) follows from the rarity η^((m−1)(k−1)) of certified "
    "rows.",
    "The exponent of kd is a·log(1/η)/log(kd): a is measured as the power of η in which examples are paid, η is the "
    "tolerance at which the error is 0.1. The theorem's bound on time has an exponent of order m³. The blow-up is the "
    "final error over an error injected into the true hull. Phase 1 hardly matters: a random matrix in its place "
    "gives the same end, because a useless hull makes phase 3 ordinary least squares. “distinct inputs” is the "
    "expected share of inputs that are new, up to sign.",
)


def write(store: Store, folder: Path) -> str:
    """Write the page into `folder`: a pure function of the rows. Returns its verdict."""
    rows = list(store.rows())
    lines = table(rows)
    drawings = [_errors(gathered(rows)), _needs(lines), _exponents(lines)] if lines else []
    verdict = _verdict(lines) if lines else "No trial has been run."
    shown = [{name: str(v) if hasattr(v, "runs") else v for name, v in line.items()} for line in lines]
    return table_page(store, folder, QUESTION, verdict, shown, NOTES, drawings)


def _errors(found: Mapping[tuple[str, Cell], Runs]) -> Drawing:
    """Relative error of the phases against examples, a panel a (k, d), a line an m; dotted, the literal phases."""
    panels = sorted({cell[:2] for _, cell in found})
    drawing = Drawing("learner-scaling-error", 1.2 + 3.4 * len(panels), 3.9)
    drawing.caption = "Relative error of phases 1 to 6 alone; dotted: the literal phases. Bars: 95 % intervals."
    heads = sorted({cell[2] for _, cell in found})
    with style(drawing.name):
        axes = drawing.figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for place, (k, d) in zip(axes, panels, strict=True):
            for name in (PHASES, PAPER):
                for m in heads:
                    points = _means(found.get((name, (k, d, m)), {}))
                    own = look(heads.index(m)) | ({"linestyle": ":"} if name == PAPER else {})
                    curve(drawing, place, points, f"{name}, m = {m}, k = {k}, d = {d}", own, "examples")
            place.set(xscale="log", yscale="log", xlabel="examples", title=f"k = {k}, d = {d}")
            place.grid(visible=True)
        axes[0].set_ylabel("relative error")
        legend(drawing, {f"m = {m}": look(i) for i, m in enumerate(heads)}, 5)
    return drawing


def _means(runs: Runs) -> dict[float, Any]:
    counts = sorted({count for run in runs.values() for count in run})
    found: dict[float, Any] = {}
    for count in counts:
        errors = [run[count]["error"] for run in runs.values() if count in run and run[count]["error"]]
        if errors:
            found[count] = mean(errors, logarithmic=True)
    return found


def _needs(lines: Table) -> Drawing:
    """Examples to error 0.1 against m, a panel a (k, d): the phases, local searches and the counting floor."""
    panels = sorted({(line["k"], line["d"]) for line in lines})
    drawing = Drawing("learner-scaling-examples", 1.2 + 3.4 * len(panels), 3.9)
    drawing.caption = "Examples to relative error 0.1, with 95 % intervals over runs; below them, the counting floor."
    names = [name for name in dict.fromkeys(line["learner"] for line in lines) if name != INJECT]
    with style(drawing.name):
        axes = drawing.figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for place, (k, d) in zip(axes, panels, strict=True):
            own = [line for line in lines if (line["k"], line["d"]) == (k, d)]
            for i, name in enumerate(names):
                needs = {e["m"]: e["examples to 0.1"] for e in own if e["learner"] == name and e["examples to 0.1"]}
                curve(drawing, place, needs, f"{name}, k = {k}, d = {d}", look(i), "m =")
            floor = {line["m"]: line["floor"] for line in own}
            place.plot(list(floor), list(floor.values()), color=INK, linestyle=(0, (5, 2)), linewidth=1.0)
            place.set(yscale="log", xlabel="m", title=f"k = {k}, d = {d}", xticks=sorted(floor))
            place.grid(axis="y")
        axes[0].set_ylabel("examples")
        floor_look = {"color": INK, "linestyle": (0, (5, 2)), "linewidth": 1.0}
        legend(drawing, {name: look(i) for i, name in enumerate(names)} | {"counting floor": floor_look}, 5)
    return drawing


def _exponents(lines: Table) -> Drawing:
    """The measured exponent of kd against m, beside m and m³."""
    drawing = Drawing("learner-scaling-exponent", 6.0, 3.9)
    drawing.caption = "Exponent of kd that the phases pay for error 0.1, beside m and the m³ of the theorem's bound."
    own = [line for line in lines if line.get("exponent of kd")]
    cells = sorted({(line["k"], line["d"]) for line in own})
    sizes = sorted({line["m"] for line in lines})
    with style(drawing.name):
        axes = drawing.figure.subplots()
        for i, (k, d) in enumerate(cells):
            points = {line["m"]: line["exponent of kd"] for line in own if (line["k"], line["d"]) == (k, d)}
            curve(drawing, axes, points, f"k = {k}, d = {d}", look(i), "m =")
        bounds = {"m": (1, RAMP[2]), "m³": (3, RAMP[5])}
        for power, color in bounds.values():
            axes.plot(sizes, [m**power for m in sizes], color=color, linestyle=(0, (5, 2)), linewidth=1.0)
        axes.set(yscale="log", xlabel="m", ylabel="exponent of kd", xticks=sizes)
        axes.grid(axis="y")
        dashed = {name: {"color": color, "linestyle": (0, (5, 2))} for name, (_, color) in bounds.items()}
        legend(drawing, {f"k = {k}, d = {d}": look(i) for i, (k, d) in enumerate(cells)} | dashed, 5)
    return drawing


def _verdict(lines: Table) -> str:
    steps = growth(lines)
    slopes = [line for line in lines if line["learner"] == PHASES and line.get("slope") and line["law"]]
    inside = [e for e in slopes if e["slope"].low is not None and e["slope"].low <= e["law"] <= e["slope"].high]
    said = []
    if steps:
        low, high = min(steps, key=lambda s: s["factor"]), max(steps, key=lambda s: s["factor"])
        said.append(
            f"To relative error 0.1 phases 1 to 6 alone need {_factor(low)} to {_factor(high)} times the examples for "
            "one head more"
        )
    said.append(
        f"the slope of their error lies at the law −1/((m−1)(k−1)) within its interval in {len(inside)} of "
        f"{len(slopes)} cells"
    )
    text = "; ".join(said)
    return text[0].upper() + text[1:] + "."


def _factor(step: Mapping[str, Any]) -> str:
    return f"{step['factor']:.2g} [{step['low']:.2g}, {step['high']:.2g}] (m = {step['m']}, k = {step['k']})"
