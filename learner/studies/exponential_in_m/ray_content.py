"""The page of one ray d = c m: what is proved, asked by strategies, read by learners, and known by a formula."""

from collections.abc import Sequence
from math import comb
from typing import Any

from hardness.engine.outcome import Row
from hardness.engine.pickled import PREFIX
from hardness.engine.plugins import SOLVERS
from hardness.engine.task import Task
from hardness.report import Axis, Content, Curves, Panel, Point, Series, grouped, line, lines_of
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.bounds.messages import message_examples
from hardness.studies.sweep.content import ended as ended_runs
from hardness.studies.sweep.content import summarised
from learner.studies.exponential_in_m import settings
from learner.studies.exponential_in_m.arms import OPTIONS, Problem
from learner.studies.exponential_in_m.figures import BESIDE
from learner.studies.exponential_in_m.ray import TOLERANCE

INFORMATIVE = 2  # examples for every informative one
SHOWN = {"parity": "hidden sets", "random-diagonal": "random layers"}  # families, in words
COLUMNS = {
    "heads": "m, the number of attention heads, and of hidden bits",
    "dim": "d = c m, the number of features of a token",
    "concepts": "N = C(dim - 1, heads), how many sets could be hidden",
    "what": "floor: proved; strategy, learner, attack: measured; reference: known by a formula",
    "name": "which floor, strategy, learner, attack or reference",
    "layer": "hidden sets: labels are a parity; random layers: heads of the same form with random numbers",
    "cost": "the floor, the formula, or the median of the runs; where censored, the median is above it",
    "unit": "what is counted: queries, examples (informative ones and others), or sets",
    "low": "least of the runs that solved",
    "high": "largest of the runs, if all solved",
    "censored": "whether half of the runs or more did not solve, so that the median is only known to be larger",
    "runs": "how many runs ended",
    "ended": "how the runs ended",
    "tolerance": "error that answers to queries may have",
    "setting": "the learner's options, and where they are from",
}
Line = dict[str, Any]


def content(rows: Sequence[Row]) -> Content:
    """The page: its table `ray` has a line for everything at every place."""
    table = lines(rows)
    learned = [each for each in table if each["what"] == "learner" and each["cost"] is not None]
    places = sorted({(each["heads"], each["dim"], each["concepts"]) for each in table})
    shown = {"ray": table, "columns": [{"column": name, "meaning": text} for name, text in COLUMNS.items()]}
    if not learned:
        return Content(figures=[figure(table)], tables=shown, missing="No run of a learner has ended yet.")
    ends = grouped(learned, "name", "layer")
    floors = [each["cost"] for each in table if each["unit"] == "queries" and each["what"] == "floor"]
    numbers = {
        "ratio": places[0][1] // places[0][0],
        "ends": [
            {"least": ends[key][0], "most": ends[key][-1]} for key in ends if key[0] == learned[0]["name"]
        ],
        "sets": [places[0][2], places[-1][2]],
        "floors": [floors[0], floors[-1]],
        "tolerance": TOLERANCE,
    }
    return Content(numbers, [figure(table)], shown)


def lines(rows: Sequence[Row]) -> list[Line]:
    """The table of a ray, by `COLUMNS`: what is proved, asked, read and known of every place, in this order."""
    ended = [row for row in rows if row.outcome]
    places = sorted({(int(row.task.params["heads"]), int(row.task.params["dim"])) for row in rows})
    runs = grouped(ended, lambda row: (row.task.params["heads"], row.task.family, _name(row)))
    lines = []
    for m, d in places:
        here = [_measured(some) for (heads, *_), some in runs.items() if heads == m]
        for each in (*_floors(m, d), *here, *_references(m, d)):
            lines.append({"heads": m, "dim": d, "concepts": comb(d - 1, m)} | each)
    return [{name: each.get(name) for name in COLUMNS} for each in lines]


def _floors(m: int, d: int) -> list[Line]:
    sets = comb(d - 1, m)
    queries = {"cost": exact_floor(sets, TOLERANCE), "unit": "queries", "tolerance": TOLERANCE}
    examples = {"cost": INFORMATIVE * message_examples(sets), "unit": "examples"}
    layer = {"what": "floor", "layer": SHOWN["parity"]}
    return [
        {**layer, "name": "statistical queries", **queries},
        {**layer, "name": "one bit an example", **examples},
    ]


def _references(m: int, d: int) -> list[Line]:
    known = {"what": "reference", "layer": SHOWN["parity"]}
    laws = {"N": float(comb(d - 1, m))} | {name: law(m, d) for name, law in BESIDE.items()}
    units = {name: "examples" if name == "lookup table" else "sets" for name in laws}
    return [{**known, "name": name, "cost": value, "unit": units[name]} for name, value in laws.items()]


def _name(row: Row) -> str:
    """The solver of a row; of a class that has no module its bare name."""
    kind = next((kind for kind in SOLVERS if kind in row.task.solver), "")
    name = str(row.task.solver[kind]) if kind else "Gaussian elimination"
    return name.rpartition(":")[2] if name.startswith(PREFIX) else name


def _measured(rows: Sequence[Row]) -> Line:
    """The runs of one solver at one place."""
    task, runs = rows[0].task, ended_runs(rows).assign(solver=_name(rows[0]))
    (median,) = lines_of(summarised(runs, "solver"))
    what = next((kind for kind in ("strategy", "learner") if kind in task.solver), "attack")
    return {
        **{name: median[name] for name in ("low", "high", "censored", "runs", "ended")},
        "what": what,
        "name": _name(rows[0]),
        "layer": SHOWN[task.family],
        "cost": median["median"],
        "unit": "queries" if what == "strategy" else "examples",
        "tolerance": task.solver.get("tolerance"),
        "setting": _setting(task) if what == "learner" else None,
    }


def _setting(task: Task) -> str:
    """The options of a learner in words, and where they are from."""
    if task.solver["kind"] != "diagonal":
        return "defaults"
    problem = Problem(task.solver["arm"], int(task.params["dim"]), int(task.params["heads"]))
    source = settings.tuned_at(problem)
    options = ", ".join(f"{name} {task.solver['params'][name]:g}" for name in OPTIONS)
    return f"{options}; tuned at dim {source.d}, {source.s} heads"


def figure(table: Sequence[Line]) -> Curves:
    """Queries and examples against m, a panel each, with what is proved and what is known of both."""
    heads = sorted({each["heads"] for each in table})
    styles, panels = list(grouped(table, "what", "name", "layer")), []
    for unit in ("queries", "examples"):
        counted = [each for each in table if each["cost"] and unit in (each["unit"], *_beside(each))]
        top = max((each["cost"] for each in counted if each["what"] != "reference"), default=0)
        curves = grouped(counted, "what", "name", "layer")
        drawn = [_series(some, styles.index(key), 10 * top) for key, some in curves.items()]
        title = f"queries at τ = {TOLERANCE}" if unit == "queries" else unit
        panels.append(Panel(title, list(filter(None, drawn)), y=Axis(unit, log=True)))
    return Curves("ray", panels, Axis("heads m", ticks=heads), Axis("cost", log=True), columns=2, height=3.6)


def _beside(each: Line) -> tuple[str, ...]:
    """The panels in which a number of sets stands: N beside queries, as the proved line of examples is 0.93 N."""
    if each["unit"] != "sets":
        return ()
    return ("queries",) if each["name"] == "N" else ("examples",)


def _series(curve: Sequence[Line], style: int, top: float) -> Series | None:
    """One curve of the figure; of a formula as far as it stays near what was measured."""
    what, name = curve[0]["what"], curve[0]["name"]
    dots = [(float(each["heads"]), float(each["cost"])) for each in curve]
    if what == "floor":
        return line(f"proved: {name}", dots, "lower bound")
    if what == "reference":
        near = [(x, y) for x, y in dots if y <= top]
        return line(name, near, "law", style=style) if near else None
    label = f"{name}, {curve[0]['layer']}" if what == "learner" else name
    points = [
        Point(
            each["heads"],
            each["cost"],
            each["low"] if each["high"] else None,
            each["high"],
            censored="above" if each["censored"] else "",
        )
        for each in curve
    ]
    return Series(label, points, style=style, dashed=curve[0]["layer"] != SHOWN["parity"])
