"""The page of `lattices`: a function of its rows."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import log2
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.report.drawing import INK, MUTED, RAMP, Drawing, style
from hardness.report.report import table_page
from hardness.studies.agreement import FLOOR, agreement
from hardness.studies.lattices.tasks import FEW_HEADS, FILES, PANELS
from hardness.studies.looks import NOTHING, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUESTION = "How far do a lattice attack and integer BKW get on rounding, and was that foreseen?"
LOOKS: dict[tuple[str, str], tuple[str, str, Any]] = {
    ("lattice", "file"): (RAMP[1], "o", "-"),
    ("lattice", "stream"): (RAMP[1], "D", (0, (5, 2))),
    ("bkw", "file"): (RAMP[5], "s", "-"),
    ("bkw", "stream"): (RAMP[5], "^", (0, (5, 2))),
}
NAMES = {"lattice": "lattice", "bkw": "integer BKW"}
PREDICTED, MEASURED, OFF = "predicted, log₂ s", "measured, log₂ s", "difference, bits"
KINDS = {"verdict": "broken measured", PREDICTED: "estimated", MEASURED: "measured", OFF: "measured"}
NOTES = (
    (
        "broken",
        "An instance of rounding hides w in Z_qⁿ; an example shows u in {0,1}ⁿ and the level ⌊p(⟨w, u⟩ mod q)/q⌋. The "
        "lattice attack decodes in the orthogonal lattice of a few hundred public vectors; integer BKW combines rows "
        "until few coordinates are left and finds those by a transform over a grid of angles (theory 4.3). Both then "
        "mend their estimate by a trimmed regression and accept it only on rows that took no part; the lab compares "
        "it with the secret.",
    ),
    (
        "broken",
        f"Rows come from a file, {FILES['lattice']:,} examples for the lattice and {FILES['bkw']:,} for BKW unless the "
        "table says otherwise, or from a stream that gives as many fresh ones as are asked for. A stream lets an "
        "attack choose rows: one in 2ᵇ vanishes on b given coordinates, which are then not there; they come back one "
        "by one on rows that vanish on fewer.",
    ),
    (
        "measured",
        "Seconds are of one core's processor time, the making of a stream's rows included, as a median over runs with "
        "the least and the most. Each attack predicts them before it works, from a model with no clock in it; what it "
        f"expects to be out of reach it refuses. What is below {FLOOR:g} s counts as that. The error mass "
        "is that of the instances drawn, not a nominal one; m = all where every label is right. A prediction knows "
        "n, q and p and no error mass, which nobody tells an attack: where labels of few heads are wrong, BKW plans "
        "again with more rows until one plan succeeds, and so may take longer than it foresaw.",
    ),
    (
        "estimated",
        "Not solved here is a statement about these two attacks. At these sizes there is no cryptographic claim.",
    ),
)


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """One line an attack and instance: runs solved, what it was predicted to take and took, and what it needed."""
    found: dict[tuple[Any, ...], list[Outcome]] = defaultdict(list)
    for row in rows:
        if row.outcome:
            at = row.task.params
            size = (at["modulus"], at["levels"], at["dim"] - 1, at.get("heads") or 0)
            found[(*size, row.task.solver["attack"], row.task.budget.get("samples", 0))].append(row.outcome)
    return [_line(key, outcomes) for key, outcomes in sorted(found.items())]


def _line(key: tuple[Any, ...], outcomes: list[Outcome]) -> dict[str, Any]:
    q, p, n, heads, attack, samples = key
    solved = [o for o in outcomes if o.status == "solved"]
    predicted = [o.detail.get("predicted_seconds", o.detail.get("forecast_seconds")) for o in outcomes]
    known = [max(x, FLOOR) for x in predicted if x is not None]
    took = [log2(max(o.seconds, FLOOR)) for o in solved]
    before = log2(median(known)) if known else None
    off = median(took) - before if took and before is not None else None
    masses = [o.detail["error_mass"] for o in outcomes if "error_mass" in o.detail]  # a crash has none
    return {
        "q": q, "p": p, "n": n, "m": heads or "all", "attack": attack,
        "examples": f"{samples:,} in a file" if samples else "a stream",
        "solved": f"{len(solved)}/{len(outcomes)}",
        "else": ", ".join(sorted({o.status for o in outcomes if o.status != "solved"})),
        PREDICTED: before, MEASURED: _spread(took), OFF: off,
        "error mass": _spread(masses, 2) if heads else None,
        "log₂ examples used": _needed(solved, lambda o: None if o.cost is None else log2(o.cost)),
        "log₂ rows held": _needed(solved, lambda o: o.detail.get("log2_rows")),
        "steps": _needed(solved, lambda o: o.detail.get("steps")),
        "coordinates chosen away": _needed(solved, lambda o: o.detail.get("vanish", o.detail.get("selected_away"))),
        "trials": _needed(solved, lambda o: o.detail.get("trials")),
        "block size": _needed(solved, lambda o: o.detail.get("block_size")),
        "log₂ nodes a trial": _needed(solved, lambda o: o.detail.get("log2_nodes")),
    }  # fmt: skip


def _spread(values: list[float], digits: int = 3) -> str | None:
    """Median, least and most.

    >>> _spread([3.0, 1.0, 2.25])
    '2.25 [1, 3]'
    """
    if not values:
        return None
    shown = [f"{x:.{digits}g}" for x in (median(values), min(values), max(values))]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]"


def _needed(outcomes: list[Outcome], of: Any) -> float | None:
    values = [x for x in map(of, outcomes) if x is not None]
    return median(values) if values else None


def write(store: Store, folder: Path) -> str:
    """Write the page of `lattices` into `folder`; returns its verdict line."""
    lines = table(store.rows())
    drawings = [_reach(lines), _examples(lines), _heads(lines)] if lines else []
    return table_page(store, folder, QUESTION, _verdict(lines), lines, NOTES, drawings, kinds=KINDS)


def _middle(text: str | None) -> float | None:
    return None if text is None else float(text.split()[0])


def _plain(line: Mapping[str, Any]) -> bool:
    """Whether a line belongs to the panels of reach: every label right, the attack's own number of examples."""
    return line["m"] == "all" and line["examples"] in ("a stream", f"{FILES[line['attack']]:,} in a file")


def _source(line: Mapping[str, Any]) -> str:
    return "stream" if line["examples"] == "a stream" else "file"


def _any(line: Mapping[str, Any]) -> bool:
    return not line["solved"].startswith("0")


def _verdict(lines: Table) -> str:
    if not lines:
        return NOTHING
    said = []
    for q, p in PANELS:
        far: dict[str, int] = {}
        for attack, source in LOOKS:
            here = [e["n"] for e in lines if (e["q"], e["p"], e["attack"], _source(e)) == (q, p, attack, source)
                    and e["m"] == "all" and _any(e)]  # fmt: skip
            far[attack] = max([*here, far.get(attack, 0)])
        reached = ", ".join(f"{NAMES[attack]} n = {n}" for attack, n in far.items() if n)
        said += [f"({q}, {p}): {reached}"] if reached else []
    named = [(e[PREDICTED], e[PREDICTED] + e[OFF], f"{NAMES[e['attack']]} ({e['q']}, {e['p']}) n = {e['n']}, "
              f"m = {e['m']}, {e['examples']}") for e in lines if e[OFF] is not None]  # fmt: skip
    return f"Largest solved for (q, p): {'; '.join(said) or 'none'}. {agreement(named)}"


def _reach(lines: Table) -> Drawing:
    drawing = Drawing("lattices", 8.6, 6.6)
    with style(drawing.name):
        from matplotlib.lines import Line2D

        panels = drawing.figure.subplots(2, len(PANELS) // 2, sharey=True)
        for axes, (q, p) in zip(panels.ravel(), PANELS, strict=True):
            for (attack, source), (color, marker, dash) in LOOKS.items():
                here = [e for e in lines if (e["q"], e["p"], e["attack"]) == (q, p, attack)
                        and _plain(e) and _source(e) == source]  # fmt: skip
                model = sorted((e["n"], e[PREDICTED]) for e in here if e[PREDICTED] is not None)
                axes.plot([n for n, _ in model], [y for _, y in model], color=color, linestyle=dash, linewidth=1.0)
                for e in here:
                    _mark(drawing, axes, e, color, marker)
            axes.set_title(f"q = {q}, p = {p}")
            axes.set_xlabel("n")
            axes.grid(axis="y")
            axes.set_ylim(0.5, TOP)
            axes.margins(x=0.1)
        for axes in panels[:, 0]:
            axes.set_ylabel("log₂ of processor seconds")
        handles = [Line2D([], [], color=color, marker=marker, linestyle=dash, label=f"{NAMES[attack]}, {source}")
                   for (attack, source), (color, marker, dash) in LOOKS.items()]  # fmt: skip
        drawing.figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    drawing.kinds = "measured estimated"
    drawing.alt_summary = "Time rises with n on all lines; lines of streams reach further than those of files."
    drawing.caption = (
        "Filled marks: runs solved, at the median time with bars from the least to the most, the share beside them "
        "where it is not all; open marks: none was, at the prediction, or at the upper edge where that lies beyond. "
        "Lines: what was predicted before the work."
    )
    return drawing


TOP = 9.0  # log2 of seconds that the panels show


def _mark(drawing: Drawing, axes: "Axes", line: Mapping[str, Any], color: str, marker: str) -> None:
    y = _middle(line[MEASURED])
    solved = y is not None
    y = y if y is not None else line[PREDICTED]
    y = TOP - 0.3 if y is None else min(y, TOP - 0.3)
    tip = (f"{NAMES[line['attack']]}, n = {line['n']}, {line['examples']}: {line['solved']} solved {line['else']}, "
           f"measured {line[MEASURED]}, predicted {line[PREDICTED]}")  # fmt: skip
    look = {} if solved else {"markerfacecolor": "none"}
    drawing.point(axes, line["n"], y, tip, color=color, marker=marker, **look)
    if line[MEASURED]:
        low, high = (float(x) for x in line[MEASURED].split("[")[1].rstrip("]").split(","))
        axes.vlines(line["n"], low, high, color=color, linewidth=1.2)
    if line["solved"].split("/")[0] != line["solved"].split("/")[1]:
        label = line["solved"] if solved else line["else"].partition(",")[0]
        axes.annotate(label, (line["n"], y), (5, -3), textcoords="offset points", fontsize=8, color=MUTED)


def _examples(lines: Table) -> Drawing:
    q, p = PANELS[0]
    drawing = Drawing("examples", 7.0, 4.2)
    with style(drawing.name):
        axes = drawing.figure.subplots()
        for (attack, source), (color, marker, dash) in LOOKS.items():
            here = [e for e in lines if (e["q"], e["p"], e["m"]) == (q, p, "all")]
            points = []
            for e in (e for e in here if (e["attack"], _source(e)) == (attack, source)):
                x = e["log₂ examples used"]
                if source == "file":
                    x = log2(int(e["examples"].split()[0].replace(",", "")))
                if x is None:
                    continue
                tip = f"{NAMES[attack]}, n = {e['n']}, {e['examples']}: {e['solved']} solved {e['else']}"
                look = {} if _any(e) else {"markerfacecolor": "none"}
                drawing.point(axes, x, e["n"], tip, color=color, marker=marker, markersize=4.5, **look)
                points += [(x, e["n"])] if _any(e) else []
            far = {x: max(n for at, n in points if at == x) for x, _ in points}
            best = [(x, n) for x, n in sorted(far.items()) if all(n >= m for at, m in far.items() if at <= x)]
            axes.plot([x for x, _ in best], [n for _, n in best], color=color, linestyle=dash, linewidth=1.0,
                      label=f"{NAMES[attack]}, {source}")  # fmt: skip
        axes.set(xlabel="log₂ of the examples used", ylabel="n", title=f"q = {q}, p = {p}")
        axes.grid(axis="y")
        axes.legend(loc="upper left")
    drawing.kinds = "measured"
    drawing.alt_summary = "The largest dimension solved rises with the number of examples."
    tried = "; ".join(
        f"{NAMES[attack]}, {source}: n = {', '.join(map(str, sorted(sizes)))}"
        for (attack, source) in LOOKS
        if (sizes := {e["n"] for e in lines if (e["q"], e["p"], e["m"], e["attack"], _source(e)) ==
                      (q, p, "all", attack, source)})
    )  # fmt: skip
    drawing.caption = (
        f"Which n falls to how many examples, at (q, p) = ({q}, {p}): filled where a run was solved, open where none "
        f"was. {tried[0].upper()}{tried[1:]}. Lines join the largest n solved."
    )
    return drawing


def _heads(lines: Table) -> Drawing:
    drawing = Drawing("heads", 7.0, 3.6)
    with style(drawing.name):
        axes = drawing.figure.subplots()
        for attack, (n, _) in FEW_HEADS.items():
            (color, marker, dash), away = LOOKS[attack, "file"], 8 if attack == "bkw" else -14
            here = [e for e in lines if e["attack"] == attack and e["m"] != "all" and e["error mass"]]
            points = []
            for i, e in enumerate(here):
                done, runs = map(int, e["solved"].split("/"))
                middle = max(_middle(e["error mass"]) or 0.0, LEAST)
                low, high = (max(float(x), LEAST) for x in e["error mass"].split("[")[1].rstrip("]").split(","))
                axes.hlines(done / runs, low, high, color=color, linewidth=1.0, alpha=0.6)
                tip = f"{NAMES[attack]}, n = {n}, m = {e['m']}: {e['solved']} {e['else']}, mass {e['error mass']}"
                drawing.point(axes, middle, done / runs, tip, color=color, marker=marker)
                axes.annotate(f"m = {e['m']}", (middle, done / runs), (0, away * (1 + 1.2 * (i % 2))),
                              textcoords="offset points", ha="center", fontsize=8, color=color)  # fmt: skip
                points.append((middle, done / runs))
            points.sort()
            axes.plot([x for x, _ in points], [y for _, y in points], color=color, linestyle=dash, linewidth=0.8,
                      label=f"{NAMES[attack]}, n = {n}")  # fmt: skip
        axes.set_xscale("log")
        axes.set(xlabel="error mass of the instances drawn", ylabel="share of runs solved", ylim=(-0.02, 1.3))
        axes.set_yticks((0, 0.25, 0.5, 0.75, 1))
        axes.axhline(1, color=INK, linewidth=0.4)
        axes.legend(loc="center left")
    drawing.kinds = "measured"
    drawing.alt_summary = "Runs are solved at small error masses; where any fail, it is at the largest."
    drawing.caption = (
        f"Labels of few heads at (q, p) = ({PANELS[0][0]}, {PANELS[0][1]}): the share of runs solved against the share "
        "of wrong labels, a mark for every m at the median of its runs, with a bar from the least to the most."
    )
    return drawing


LEAST = 1e-7  # error mass that the axis shows
