"""The page of a contest: who solves what, what attacks needed, and what was foreseen. A function of the rows."""

from collections import Counter, defaultdict
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Store
from hardness.report.drawing import INK, MUTED, Drawing, style
from hardness.report.report import thousands
from hardness.report.sections import Section, sections_page
from hardness.studies.agreement import FLOOR, agreement
from hardness.studies.contest.table import OUT_OF_REACH, Cells, Place, cells_of, ended, needed, predicted
from hardness.studies.contest.tasks import CONCEPTS, DEAR_RUNS, MASS, MODULUS, RUNS, TOLERANCE
from hardness.studies.looks import NOTHING

WIDE = 14  # columns of a band
PREDICTED, OFF = "predicted, log₂ s", "difference, bits"
# Fill and text; all of them colours that the page redefines in dark mode.
SOLVED, SOME, REFUSED, FAILED = ("#178573", "#ffffff"), ("#31688e", "#ffffff"), ("#dcdcdd", INK), ("#b05c0b", "#ffffff")

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAD = (
    "Every learner and attack ran in a process of its own that received arrays, or a stream of rows, and public "
    "parameters only, and was judged by the lab on fresh inputs or by the secret.",
)
SIZES = (
    f"Rounding instances (q = {MODULUS}) have the largest dimension at which the median error mass of m-head labels "
    f"over random secrets is at most {MASS:g}; the mass of the instances drawn is in the table. A size at which the "
    "lab's own attacks fail is where these programs stop, not evidence of hardness. Every run of every solver draws an "
    "instance of its own: on one rung solvers meet different secrets, and for rounding different shares of wrong "
    "labels, so a difference between two of them may be one of instances; their error masses stand in the table."
)
GAMES = (
    f"An empty cell was not part of the grid: games of statistical queries, against the window adversary at tolerance "
    f"τ = {TOLERANCE:g}, are played up to {thousands(CONCEPTS)} concepts, and rounding has more. Attacks "
    f"have {RUNS} runs where they may win at all, games, learners and attacks of half a minute {DEAR_RUNS}, controls "
    "and what is refused by its kind one."
)
NEEDED = (
    f"Seconds are of one core's processor time, the median over the runs solved with the least and the most; those "
    f"below {FLOOR:g} count as {FLOOR:g}. Predicted is what the attack itself foresaw before its work, or where "
    "it foresees nothing the estimate below. The number of tries is random, geometric by nature, so a median of few "
    "runs may lie a bit or two from what is expected. Shares have exact 95 % intervals."
)
PROVED = (
    f"The bound is on queries of tolerance τ = {TOLERANCE:g}: theory 2.5 for parities, with label noise as if τ were "
    "larger, and theory 2.6 for rounding, for the labels that m heads compute and not the ideal ones. Where so few "
    "heads leave nothing proved, none is said."
)
PRICES = (
    "Log₂ of elementary operations, 2³⁰ to a second of one core. A failed estimate is listed as failed; estimates of "
    "lattice attacks for uniform public vectors are left out, since the public vectors here are short. Rows are free "
    "but for the time to draw them. By Boneh, Lewi, Montgomery and Raghunathan, n binary coordinates carry about "
    f"n/log₂ q dimensions of ordinary LWE only. Out of reach here means more than 2^{OUT_OF_REACH:g} operations by "
    "every attack of this lab; it is a prediction."
)


def write(store: Store, folder: Path, question: str) -> str:
    """Write the page, figure and rows of a contest into `folder`; returns its verdict line."""
    rows = list(store.rows())
    cells = cells_of(rows)
    drawings = [draw(cells)] if cells else []
    work, prices = needed(cells), predicted(rows)
    bounds = [{name: line[name] for name in ("instance", "m", "d", "SQ bound, log₂ queries")} for line in prices]
    costs = [{name: value for name, value in line.items() if not name.startswith("SQ")} for line in prices]
    sections = [
        Section("measured", "Who solves what", [SIZES, GAMES], drawings),
        Section("broken", "What attacks needed", [NEEDED], tables=[("What attacks needed and were to need", work)]),
        Section("proved", "What statistical queries need", [PROVED], tables=[("The bound by instance", bounds)]),
        Section("estimated", "What attacks are predicted to cost", [PRICES], tables=[("Prices by instance", costs)]),
    ]
    return sections_page(store, folder, question, _verdict(cells, work, prices), LEAD, sections, "measured")


def _verdict(cells: Cells, work: list[dict[str, Any]], prices: list[dict[str, Any]]) -> str:
    places = {place for row in cells.values() for place in row}
    if not places:
        return NOTHING
    unsolved = sorted(p for p in places if not any(ended(row[p])[0] for row in cells.values() if p in row))
    said = f"{len(places) - len(unsolved)} of {len(places)} instances are solved by someone in the house"
    bits = {(line["instance"], line["m"]): line["log₂ operations"] for line in prices}
    missed: dict[str, list[str]] = defaultdict(list)
    for place in unsolved:
        missed[place[0]].append(f"{place[1]} (2^{bits[place]:.0f})" if place in bits else str(place[1]))
    names = "; ".join(f"{family} at m = {', '.join(heads)}" for family, heads in missed.items())
    said += f"; by none, with the operations predicted for the cheapest attack: {names}. " if names else ". "
    judged = [
        (e[PREDICTED], e[PREDICTED] + e[OFF], f"{e['attack']} on {e['instance']}, m = {e['m']}:")
        for e in work
        if e[OFF] is not None
    ]
    return said + agreement(judged)


def draw(cells: Cells) -> Drawing:
    """One row a solver, one column an instance; families side by side as far as a page is wide, then below."""
    solvers = sorted(cells, key=lambda name: (name.split()[0] != "SQ", name.split()[0] != "learner", name))
    bands = _bands(sorted({place for row in cells.values() for place in row}))
    columns = max(map(len, bands))
    shown = [[name for name in solvers if any(place in cells[name] for place in places)] for places in bands]
    heights = [0.9 + 0.4 * max(len(names), 1) for names in shown]
    drawing = Drawing("contest", 2.0 + 0.58 * max(columns, 1), sum(heights))
    with style(drawing.name):
        panels = drawing.figure.subplots(len(bands), squeeze=False, height_ratios=heights)[:, 0]
        for axes, places, names in zip(panels, bands, shown, strict=True):
            _band(drawing, axes, cells, names, places, columns)
    drawing.kinds = "measured"
    drawing.alt_summary = (
        "Parities fall to attacks and not to learners beyond few heads; rounding falls to attacks alone."
    )
    drawing.caption = (
        "A cell: runs solved out of runs, and log₂ of what was spent: queries for the SQ strategy, examples for the "
        "rest. Green: all runs solved; blue: some; grey: refused; brown: none, with how most of them ended."
    )
    return drawing


def _bands(places: list[Place]) -> list[list[Place]]:
    """The columns, cut between families into bands of at most `WIDE`."""
    bands: list[list[Place]] = [[]]
    for family in sorted({family for family, _ in places}):
        block = [place for place in places if place[0] == family]
        if bands[-1] and len(bands[-1]) + len(block) > WIDE:
            bands.append([])
        bands[-1] += block
    return bands


def _band(
    drawing: Drawing,
    axes: "Axes",
    cells: Cells,
    solvers: list[str],
    places: list[Place],
    columns: int,
) -> None:
    from matplotlib.patches import Rectangle

    for y, solver in enumerate(solvers):
        for x, place in enumerate(places):
            rows = cells[solver].get(place)
            if not rows:
                continue
            solved, status = ended(rows)
            whole = solved == len(rows)
            fill, color = SOLVED if whole else SOME if solved else REFUSED if status == "refused" else FAILED
            cell = axes.add_patch(Rectangle((x - 0.47, y - 0.44), 0.94, 0.88, color=fill, linewidth=0))
            spent = [row.outcome.cost for row in rows if row.outcome and row.outcome.cost]
            cost = f"2^{log2(sum(spent) / len(spent)):.0f}" if spent else ""
            text = f"{solved}/{len(rows)}\n{cost}" if solved else status
            axes.text(x, y, text, ha="center", va="center", fontsize=7, color=color, linespacing=1.05)
            counts = Counter(row.outcome.status for row in rows if row.outcome)
            ways = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
            drawing.add_tooltip(cell, f"{solver}, {place[0]}, m = {place[1]}: {ways}; spent {cost or 'unknown'}")
    axes.set_xlim(-0.6, max(columns, 1) - 0.4)
    axes.set_ylim(max(len(solvers), 1) - 0.4, -0.6)
    axes.set_yticks(range(len(solvers)), solvers)
    axes.set_xticks(range(len(places)), [str(m) for _, m in places])
    axes.set_xlabel("m, the number of heads", loc="left")
    axes.tick_params(length=0)
    for family in sorted({family for family, _ in places}):
        span = [x for x, place in enumerate(places) if place[0] == family]
        axes.text(span[0] - 0.45, -0.7, family, ha="left", va="bottom", fontsize=8.5, color=MUTED)
        if span[0]:
            axes.axvline(span[0] - 0.5, color=MUTED, linewidth=0.7)
    axes.spines[["left", "bottom"]].set_visible(False)
