"""The page of `learner-scaling`: error against examples, examples against m, and the exponents, from the rows alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Store
from hardness.report.drawing import INK, RAMP, Drawing, style
from hardness.report.report import Note, table_page
from learner.studies.curves import DUST, curve, legend, look, mean
from learner.studies.layers import SPREAD
from learner.studies.learner_scaling.table import LEAST_RUNS, Cell, Runs, gathered, growth, table
from learner.studies.learner_scaling.trials import MAIN, PAPER, PAPER_DIM, PHASES, RANDOM, SEARCHES, TARGETS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUESTION = "How many examples does the theorem's algorithm need for an error, against heads, tokens and dimension?"
Table = Sequence[Mapping[str, Any]]
AIM = TARGETS[1]
NEEDED = f"examples to {AIM:g}"
DASHED = (0, (5, 2))
LITERAL = {"linestyle": ":", "markerfacecolor": "none"}
KINDS = {"verdict": "measured", "floor": "proved", "law": "estimated", "distinct inputs": "identity"}
NOTES: tuple[Note, ...] = (
    (
        "measured",
        f"Layers are random, with score spread {SPREAD:g}. The theorem promises an error and no exact layer, so "
        "“phases” are phases 1 to 6 of the provable learner alone, without the polish that this lab adds, judged by "
        f"their relative error on fresh examples. “{PAPER}” are the paper's: crude sum, one-sparse rows, convex body, "
        f"explicit net; they are run at d = {PAPER_DIM}, because the linear programs of the body take minutes beyond. "
        f"“{RANDOM}” and “lbfgs” are local searches from one random start, which have no theorem. Every layer is "
        "learned from growing parts of one stream of examples.",
    ),
    (
        "measured",
        "Columns “examples to” are geometric means over layers with 95 % intervals (Student's t; a layer is one "
        "observation, however often it was learned), read between two sizes by a power law. Where some layers never "
        "get there, or are there at the least number tried, the median stands alone; where half of them never do "
        "there is nothing, and “at most” means that the least number was enough. The column “slope” is that of the "
        "logarithm of the error in the logarithm of the examples, at the largest sizes of each layer. “certified "
        "there” is the verdict of phases 1 to 6 at most examples, with the error of what they certified.",
    ),
    (
        "proved estimated",
        "No learner can do with fewer examples than the counting floor, the larger of 2md/k and d²/(k(k−1)) "
        "(learner 1.9). The column “law” is −1/((m−1)(k−1)): it follows from the rarity η^((m−1)(k−1)) of rows on "
        "which all heads agree (learner 1.10) if errors are proportional to the tolerance, which is not proved.",
    ),
    (
        "measured claimed",
        "The exponent of kd is a·log(1/η)/log(kd): a is the measured power of η in which examples are paid, and η the "
        f"tolerance at which the error is {AIM:g}. It is compared with m and with m³, because the authors bound the "
        "time by (dk)^O(m³). “blow-up” is the final error over an error injected into the true hull. Phase 1 hardly "
        "matters on random layers: a random matrix in its place ends the same, because after a useless hull phases "
        "go on with ordinary least squares. “distinct inputs” is the expected share of inputs that are new, up to "
        "sign.",
    ),
)


def write(store: Store, folder: Path) -> str:
    """Write the page into `folder`: a pure function of the rows. Returns its verdict."""
    rows = list(store.rows())
    lines = table(rows)
    drawings = [_errors(gathered(rows)), _needs(lines), _exponents(lines)] if lines else []
    verdict = _verdict(lines) if lines else "No trial has been run."
    return table_page(store, folder, QUESTION, verdict, [_shown(line) for line in lines], NOTES, drawings, KINDS)


def _shown(line: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: str(v) if hasattr(v, "runs") else v for name, v in line.items()}
    if line["error there"] == 0:
        shown["error there"] = f"below {DUST:g}"
    for name in (f"examples to {target:g}" for target in TARGETS):
        if line[name]:
            shown[name] = f"at most {line['least examples']:,}" if _at_most(line, name) else str(line[name])
    return shown


def _at_most(line: Mapping[str, Any], name: str) -> bool:
    """Whether the least number of examples that was tried is already enough."""
    return bool(line[name].value <= line["least examples"])


def _panels(drawing: Drawing, cells: Sequence[tuple[int, int]]) -> dict[tuple[int, int], "Axes"]:
    """Axes by (k, d), two a row."""
    grid = drawing.figure.subplots(-(-len(cells) // 2), min(2, len(cells)), sharey=True, squeeze=False)
    for spare in grid.ravel()[len(cells) :]:
        spare.set_visible(False)
    for axes, (k, d) in zip(grid.ravel(), cells, strict=False):
        axes.set_title(f"k = {k}, d = {d}")
    return dict(zip(cells, grid.ravel(), strict=False))


def _drawing(name: str, panels: int) -> Drawing:
    drawing = Drawing(f"learner-scaling-{name}", 1.0 + 3.6 * min(2, panels), 1.0 + 2.7 * -(-panels // 2))
    drawing.kinds = "measured"
    return drawing


def _main_first(cells: set[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted(cells, key=lambda cell: (cell != MAIN, cell))


def _errors(found: Mapping[tuple[str, Cell], Runs]) -> Drawing:
    """Relative error of the phases against examples, a panel a (k, d), a line an m; dotted, the literal phases."""
    cells = _main_first({cell[:2] for name, cell in found if name in (PHASES, PAPER)})
    drawing = _drawing("error", len(cells))
    drawing.caption = (
        "Relative error of phases 1 to 6 alone, with 95 % intervals over layers; hollow and dotted: the literal "
        "phases. One head is left to the table: of it every row is certified."
    )
    heads = sorted({cell[2] for _, cell in found} - {1})
    with style(drawing.name):
        panels = _panels(drawing, cells)
        for (k, d), place in panels.items():
            for name in (PHASES, PAPER):
                for m in heads:
                    points = _means(found.get((name, (k, d, m)), {}))
                    own = look(heads.index(m)) | (LITERAL if name == PAPER else {})
                    curve(drawing, place, points, f"{name}, m = {m}, k = {k}, d = {d}", own, "examples")
            place.set(xscale="log", yscale="log", xlabel="examples", ylabel="relative error")
            place.grid(visible=True)
        legend(drawing, {f"m = {m}": look(i) for i, m in enumerate(heads)}, 5)
    return drawing


def _means(runs: Runs) -> dict[float, Any]:
    counts = sorted({count for run in runs.values() for count in run})
    found: dict[float, Any] = {}
    for count in counts:
        errors = [run[count]["error"] for run in runs.values() if count in run and run[count]["error"]]
        if errors:
            middle = mean(errors, logarithmic=True)
            found[count] = middle if len(errors) >= LEAST_RUNS else replace(middle, low=None, high=None)
    return found


def _needs(lines: Table) -> Drawing:
    """Examples to the aimed error against m, a panel a (k, d): the phases, local searches and the counting floor."""
    cells = _main_first({(line["k"], line["d"]) for line in lines})
    drawing = _drawing("examples", len(cells))
    drawing.kinds = "measured proved"
    drawing.caption = (
        f"Examples to relative error {AIM:g}, with 95 % intervals over layers; hollow: at most, the least number tried "
        "was enough. Dashed: the counting floor, below which no learner can do."
    )
    names = [name for name in (PHASES, PAPER, *SEARCHES) if any(line["learner"] == name for line in lines)]
    floor_look: dict[str, Any] = {"color": INK, "linestyle": DASHED, "linewidth": 1.0}
    with style(drawing.name):
        for (k, d), place in _panels(drawing, cells).items():
            own = [line for line in lines if (line["k"], line["d"]) == (k, d)]
            for i, name in enumerate(names):
                reached = [e for e in own if e["learner"] == name and e[NEEDED]]
                needs = {e["m"]: e[NEEDED] for e in reached if not _at_most(e, NEEDED)}
                curve(drawing, place, needs, f"{name}, k = {k}, d = {d}", look(i), "m =")
                for e in reached:
                    if e["m"] not in needs:
                        hollow = {"color": look(i)["color"], "marker": look(i)["marker"], "markerfacecolor": "none"}
                        tip = f"{name}, m = {e['m']}: at most {e['least examples']:,} examples"
                        drawing.point(place, e["m"], e["least examples"], tip, **hollow)
            floor = {line["m"]: line["floor"] for line in own}
            place.plot(sorted(floor), [floor[m] for m in sorted(floor)], **floor_look)
            place.set(yscale="log", xlabel="m", ylabel="examples", xticks=sorted(floor))
            place.grid(axis="y")
        legend(drawing, {name: look(i) for i, name in enumerate(names)} | {"counting floor": floor_look}, 3)
    return drawing


def _exponents(lines: Table) -> Drawing:
    """The measured exponent of kd against m, beside m and m³."""
    drawing = Drawing("learner-scaling-exponent", 6.0, 3.9)
    drawing.kinds = "measured claimed"
    drawing.caption = (
        f"Exponent of kd that the phases pay for relative error {AIM:g}, with 95 % intervals over layers, beside m and "
        "the m³ of the authors' bound on time."
    )
    own = [line for line in lines if line.get("exponent of kd")]
    cells = _main_first({(line["k"], line["d"]) for line in own})
    sizes = sorted({line["m"] for line in lines})
    with style(drawing.name):
        axes = drawing.figure.subplots()
        for i, (k, d) in enumerate(cells):
            points = {line["m"]: line["exponent of kd"] for line in own if (line["k"], line["d"]) == (k, d)}
            curve(drawing, axes, points, f"k = {k}, d = {d}", look(i), "m =")
        bounds = {"m": (1, RAMP[2]), "m³": (3, RAMP[5])}
        for power, color in bounds.values():
            axes.plot(sizes, [m**power for m in sizes], color=color, linestyle=DASHED, linewidth=1.0)
        axes.set(yscale="log", xlabel="m", ylabel="exponent of kd", xticks=sizes)
        axes.grid(axis="y")
        dashed = {name: {"color": color, "linestyle": DASHED} for name, (_, color) in bounds.items()}
        legend(drawing, {f"k = {k}, d = {d}": look(i) for i, (k, d) in enumerate(cells)} | dashed, 3)
    return drawing


def _verdict(lines: Table) -> str:
    k, d = MAIN
    steps = growth(lines, AIM)
    phases = [line for line in lines if line["learner"] == PHASES]
    said = []
    if own := [step for step in steps if (step["k"], step["d"]) == MAIN] or steps:
        said.append(
            f"Phases 1 to 6 alone need, for relative error {AIM:g} at k = {own[0]['k']}, d = {own[0]['d']}, more "
            f"examples with every head: {', '.join(map(_factor, own))}"
        )
    sides = [line["slope"].side(line["law"]) for line in phases if line.get("slope") and line["law"]]
    if sides:
        said.append(
            f"the slope of their error lies at −1/((m−1)(k−1)) within its interval in {sides.count(0)} of {len(sides)} "
            f"cells, is steeper in {sides.count(-1)} and flatter in {sides.count(1)}"
        )
    exponents = [(e["m"], e["exponent of kd"]) for e in phases if (e["k"], e["d"]) == MAIN and e.get("exponent of kd")]
    if len(exponents) > 1:
        (few, least), (many, most) = exponents[0], exponents[-1]
        said.append(
            f"the exponent of kd that they pay there grows from {least} at m = {few} to {most} at m = {many}, where m³ "
            f"grows from {few**3} to {many**3}"
        )
    if ratio := max(
        (r for line in phases if (line["k"], line["d"]) == MAIN if (r := _ratio(line, lines))), default=None
    ):
        times, m, word = ratio
        said.append(f"at k = {k}, d = {d}, m = {m} they take {word} {times:,.0f} times the examples of the {RANDOM}")
    text = "; ".join(said) or "Too few trials have been run to say"
    return text[0].upper() + text[1:] + "."


def _ratio(line: Mapping[str, Any], lines: Table) -> tuple[float, int, str] | None:
    """Examples of the phases over those of the polish from a random start, in the same cell; and how surely."""
    cell = line["k"], line["d"], line["m"]
    other = [e for e in lines if (e["learner"], e["k"], e["d"], e["m"]) == (RANDOM, *cell) and e[NEEDED]]
    if not other or not line[NEEDED]:
        return None
    word = "at least" if _at_most(other[0], NEEDED) else "about"
    return float(line[NEEDED].value / other[0][NEEDED].value), line["m"], word


def _factor(step: Mapping[str, Any]) -> str:
    return f"×{step['factor']:.2g} [{step['low']:.2g}, {step['high']:.2g}] from m = {step['m']} to {step['m'] + 1}"
