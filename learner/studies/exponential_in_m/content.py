"""What the rows of `exponential-in-m` say: costs of hidden bits, three currencies, and what came of the plan."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import comb, exp, log, log2
from typing import Any

from scipy.stats import binom

from hardness.engine.store import Row
from hardness.errors import InputError
from hardness.families.parity import Parity
from hardness.report.content import Axis, Column, Content, Curves, Figure, Panel, Point, Series, Table
from hardness.report.rounding import decimals
from learner.studies.exponential_in_m import laws, plan, settings
from learner.studies.exponential_in_m.laws import EXPONENTIAL, POWER, SUM, Place
from learner.studies.exponential_in_m.settings import HARD, NICE, OPTIONS, PANEL_DIM, PANELS
from learner.studies.exponential_in_m.tasks import ONCE_CAP, RUNS

TUNED, ELIMINATION, LABELS = "tuned", "elimination", "random labels"
TUNING = ("plan", TUNED, "plan2")  # series of the tuned student; of a place in several the last is shown
ORDER = {"plan": "first", "plan2": "second"}
CURRENCIES = {"distinct": "distinct examples", "gradient": "gradient examples", "multiply_adds": "multiply-adds"}
STEPS, PARAMETERS = 10_000, 2 * 16  # of a student's run, and of its heads: times d² (theory says when it is bound)
Line = dict[str, Any]


@dataclass(frozen=True)
class Median:
    """The median of the runs of a place, and the order statistics around it; `censored`: only known to be larger."""

    place: Place
    value: float
    low: float
    high: float
    censored: bool
    solved: int
    runs: int

    @property
    def text(self) -> str:
        """As a cell of a table."""
        return f"{'> ' * self.censored}{self.value:,.0f}"


Cells = dict[tuple[str, str], dict[Place, Median]]  # by series and family


def content(rows: Sequence[Row]) -> Content:
    """All that the page shows."""
    fixed = {series: plan.read(path) for series, path in plan.PLANS.items()}
    digests = {"": "", **{series: each["digest"] for series, each in fixed.items()}}
    for row in rows:
        found, own = str(row.task.solver.get("plan", "")), digests.get(str(row.task.solver.get("series")), "")
        if found != own:
            raise InputError(f"rows of the plan {found[:12]}, but this study's is {own[:12]}: "
                             "run the study into another --out")  # fmt: skip
    ended = [row for row in rows if row.outcome and row.outcome.status not in ("error", "killed")]
    cells = gathered(ended)
    plans = [judged for series, each in fixed.items() if (judged := _judged(rows, cells, series, each))]
    newest = plans[-1] if plans else None
    hard, nice = (_best(cells, family) for family in (HARD, NICE))
    both = sorted(set(hard) & set(nice))
    figures: list[Figure] = [_costs(hard, nice), _ratios(hard, nice, newest), _currencies(ended)]
    tables = {
        "cells": _cells(hard, nice, ended), "learners": _learners(ended), "panels": _panels(cells),
        "plan": _outcomes(plans, fixed), "predictions": _predictions(plans), "laws": _laws(hard),
        "theory": _theory(hard), "power": Table("Share of simulated data sets with each outcome.", [
            {"plan": ORDER[series], **line} for series, each in fixed.items() for line in each["power"]]),
    }  # fmt: skip
    place = max((p for p in both if p[1] == 16), default=max(both, default=None))
    if place is None or (ELIMINATION, HARD) not in cells:
        return Content(figures=figures, tables=tables, missing="Too few trials have ended to answer the question.")
    s, d = place
    labels = [m for (series, _), own in cells.items() if series == LABELS for m in own.values()]
    numbers = {
        "s": s, "d": d, "hard": hard[place].value, "nice": nice[place].value,
        "ratio": hard[place].value / nice[place].value, "elimination": cells[ELIMINATION, HARD][min(
            cells[ELIMINATION, HARD], key=lambda p: (p[0] != s, abs(p[1] - d)))].value,
        "labels": [sum(m.solved for m in labels), sum(m.runs for m in labels)],
        "tuning": _tuning(), "bound": _bound(), "plans": plans, "headline": newest and newest["headline"],
        "panel_runs": RUNS, "panel_dim": PANEL_DIM, "once": ONCE_CAP,
        "losses": _losses(cells),
    }  # fmt: skip
    return Content(numbers, figures, tables)


def costs(rows: Iterable[Row], currency: str = "gradient") -> tuple[list[float], list[bool]]:
    """What runs cost, and which solved; a run that did not counts with all that it was allowed to spend."""
    spent, solved = [], []
    for row in rows:
        assert row.outcome
        won = row.outcome.status == "solved"
        detail, cap = row.outcome.detail, float(row.task.budget.get("samples", 0))
        value = float(detail.get(currency, row.outcome.cost) or 0)  # a search passes over its examples many times
        spent.append((value if won or currency == "multiply_adds" else max(value, cap)) or cap or 1.0)
        solved.append(won)
    return spent, solved


def gathered(rows: Iterable[Row]) -> Cells:
    """The median gradient examples of every series and place."""
    found: dict[tuple[str, str], dict[Place, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if "series" in row.task.solver:
            found[str(row.task.solver["series"]), row.task.family][place_of(row)].append(row)
    return {key: {place: median(place, own) for place, own in places.items()} for key, places in found.items()}


def place_of(row: Row) -> Place:
    """Hidden bits, or heads of a random layer; and the dimension."""
    params = row.task.params
    return (Parity(**params).size if row.task.family == HARD else int(params["heads"])), int(params["dim"])


def median(place: Place, rows: Sequence[Row], currency: str = "gradient") -> Median:
    """The median of runs with order statistics around it: of 95 % at least, or the range of fewer than six runs."""
    spent, solved = costs(rows, currency)
    value, censored = laws.median(spent, solved)
    ranked = sorted(spent)
    out = max(0, int(binom.ppf(0.025, len(ranked), 0.5)) - 1)
    return Median(place, value, ranked[out], ranked[-1 - out], censored, sum(solved), len(rows))


def _best(cells: Cells, family: str) -> dict[Place, Median]:
    """The tuned student: by the last of `TUNING` that has the place."""
    return {place: m for series in TUNING for place, m in cells.get((series, family), {}).items()}


def _rho(hard: Mapping[Place, Median], nice: Mapping[Place, Median], places: Iterable[Place]) -> list[laws.Cell]:
    return [laws.Cell(p, log(hard[p].value / nice[p].value), hard[p].censored) for p in places]


def _judged(rows: Sequence[Row], cells: Cells, series: str, fixed: Mapping[str, Any]) -> Line | None:
    """What came of a plan; None until all of its trials have ended."""
    own = [row for row in rows if row.task.solver.get("series") == series]
    if not own or any(row.outcome is None for row in own):
        return None
    hard, nice = (cells[series, family] for family in (HARD, NICE))
    fitted, asked = (_rho(hard, nice, places) for places in plan.places(fixed))
    first, second, third = plan.judged(fixed, fitted, asked)
    factor, medians = [exp(each) for each in first.rate], [*hard.values(), *nice.values()]
    shown = {name: "{} ({} to {})".format(*map(decimals, values))
             for name, values in (("factor", factor), ("exponent", first.power))}  # fmt: skip
    return {
        "name": ORDER[series], "digest": fixed["digest"][:12], "runs": fixed["runs"],
        "headline": fixed["primary"]["headlines"][first.outcome].format(**shown),
        "outcomes": {"primary": first.outcome, "secondary": second[0], "tertiary": third[0]},
        "sentences": {name: fixed[name]["sentences"][outcome] for name, outcome in
                      (("primary", first.outcome), ("secondary", second[0]), ("tertiary", third[0]))},
        "factor": factor, "power": list(first.power), "wins": first.wins, "ratio": first.ratio,
        "asked": len(asked), "margin": first.margin,
        "slope": list(second[1]), "score": third[1],
        "censored": sum(m.censored for m in medians), "unsolved": sum(m.runs - m.solved for m in medians),
        "trials": len(own), "cells": len(hard) + len(nice), "fitted": len(fitted),
        "up": fixed["primary"]["fitted up to s"],
        "falls": _falls(nice), "rises": _falls(hard), "without": _without(fixed, hard, nice, fitted, asked),
        "predictions": [
            {"s": c.place[0], "d": c.place[1], "seen": c.rho, "censored": c.censored,
             **{law: float(first.predictions[law][i]) for law in (EXPONENTIAL, POWER, SUM)}}
            for i, c in enumerate(asked)
        ],
    }  # fmt: skip


def _without(
    fixed: Mapping[str, Any], hard: Mapping[Place, Median], nice: Mapping[Place, Median],
    fitted: Sequence[laws.Cell], asked: Sequence[laws.Cell],
) -> Line | None:  # fmt: skip
    """Exploratory: what the plan's rules say without the cells in which half of the runs, or fewer, solved."""
    lost = [
        c.place for c in (*fitted, *asked) if any(2 * own[c.place].solved <= own[c.place].runs for own in (hard, nice))
    ]
    if not lost:
        return None
    first, second, third = plan.judged(fixed, *([c for c in own if c.place not in lost] for own in (fitted, asked)))
    return {
        "cells": "; ".join(f"s = {s}, d = {d}: {hard[s, d].solved} of {hard[s, d].runs} solved" for s, d in lost),
        "primary": fixed["primary"]["sentences"][first.outcome], "factor": [exp(each) for each in first.rate],
        "power": list(first.power), "tertiary": fixed["tertiary"]["sentences"][third[0]], "score": third[1],
        "slope": list(second[1]), "outcomes": [first.outcome, second[0], third[0]],
    }  # fmt: skip


def _falls(own: Mapping[Place, Median]) -> float:
    """The factor a further bit or head in these costs, a level for each d and one term for odd s: e^g."""
    cells = [laws.Cell(p, log(m.value), m.censored) for p, m in own.items()]
    design = laws.design(EXPONENTIAL, tuple(own), tuple(sorted({d for _, d in own})))
    return exp(laws.regressed(design, cells, 0.5).beta[-1])


def _tuning() -> Line:
    """What the tuning took, and how often the cheapest setting was at an edge of its menu: least, largest."""
    rows, values = settings.rows(), list(zip(*settings.MENU, strict=True))
    won = [settings.tuned(cell) for cell in rows]
    edges = {name: [sum(w[name] == edge(menu) for w in won) for edge in (min, max)]
             for name, menu in zip(OPTIONS, values, strict=True)}  # fmt: skip
    return {
        "cells": len(rows), "runs": sum(map(len, rows.values())), "settings": len(settings.MENU),
        "seeds": settings.SEEDS, "kept": settings.KEPT, "edges": edges,
        "examples": sum(run.cost for own in rows.values() for *_, run in own),
    }  # fmt: skip


def _bound() -> Line:
    """The least s, at d = 4s, at which 8τ²(N − 1) at τ = 1/4 exceeds all entries of all gradients of a long run."""
    s = next(s for s in count(2) if (comb(4 * s - 1, s) - 1) / 2 > STEPS * PARAMETERS * (4 * s) ** 2)
    return {"s": s, "d": 4 * s, "steps": STEPS}


def _point(x: float, m: Median, tip: str) -> Point:
    whole = m.solved == m.runs
    tip = f"{tip}: {m.text} ({m.solved} of {m.runs} solved)"
    return Point(x, m.value, m.low, m.high, "above" if m.censored else "", not whole, tip)


def _costs(hard: Mapping[Place, Median], nice: Mapping[Place, Median]) -> Curves:
    series = []
    for i, s in enumerate(sorted({s for s, _ in hard})):
        for own, label, dashed in ((hard, f"s = {s}", False), (nice, f"random, m = {s}", True)):
            points = [_point(d, m, f"{label}, d = {d}") for (size, d), m in sorted(own.items()) if size == s]
            series += [Series(label, points, style=i, dashed=dashed)] if points else []
    axes = Axis("d", log=True, ticks=(8, 10, 12, 14, 16, 20, 24)), Axis("examples", log=True)
    seen = "Costs on hidden parities rise from line to line and with d; on random layers they are low."
    return Curves("costs", [Panel("", series)], *axes, seen, height=4.2)


def _ratios(hard: Mapping[Place, Median], nice: Mapping[Place, Median], judged: Line | None) -> Curves:
    panels = []
    for d in (12, 16):
        own = [(s, hard[s, d].value / nice[s, d].value, hard[s, d].censored)
               for s, dim in sorted(hard) if dim == d and (s, d) in nice]  # fmt: skip
        points = [Point(s, ratio, censored="above" if bound else "") for s, ratio, bound in own]
        series = [Series("hard over random", points)]
        for i, law in enumerate((EXPONENTIAL, POWER, SUM)):
            guessed = [(p["s"], exp(p[law])) for p in (judged or {}).get("predictions", ()) if p["d"] == d]
            series += (
                [Series(f"{law}, predicted", [Point(*g) for g in guessed], join=False, style=2 + i)] if guessed else []
            )
        panels += [Panel(f"d = {d}", series)] if points else []
    return Curves("ratios", panels, Axis("s", ticks=(2, 3, 4, 5, 6)), Axis("median over median", log=True), columns=2,
                  alt_summary="The ratio rises with s, most steeply to odd s; predictions lie apart.")  # fmt: skip


def _sides(rows: Sequence[Row]) -> list[Line]:
    """Every learner in three currencies; of pools the least from which most runs solve."""
    found: dict[tuple[str, Place], list[Row]] = defaultdict(list)
    for row in rows:
        series, (s, d) = row.task.solver.get("series", ""), place_of(row)
        if row.task.family == HARD and series not in (*plan.PLANS, LABELS, *PANELS):
            found[series, (s, d)].append(row)
    lines = []
    for (series, place), own in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        gradient = median(place, own)
        if series.startswith("pool") and gradient.censored:
            continue
        one: Line = {"learner": series, "s": place[0], "d": place[1], "solved": gradient.solved, "runs": gradient.runs}
        for key in CURRENCIES:
            each = median(place, own, key)
            pool = own[0].task.solver.get("pool")
            known = key == "gradient" or all(row.outcome and row.outcome.detail.get(key) for row in own)
            value = float(pool) if pool and key == "distinct" else each.value
            one[key] = value if known and not (series == ELIMINATION and key != "distinct") else None
        lines.append(one | {"censored": gradient.censored})
    least: dict[Place, Line] = {}
    for one in [one for one in lines if one["learner"].startswith("pool")]:
        place = one["s"], one["d"]
        least[place] = min(one, least.get(place, one), key=lambda x: float(x["distinct"]))
    return [one for one in lines if not one["learner"].startswith("pool") or one is least[one["s"], one["d"]]]


def _currencies(rows: Sequence[Row]) -> Curves:
    lines, panels = [one for one in _sides(rows) if one["d"] == PANEL_DIM], []
    names = list(dict.fromkeys("pool" if one["learner"].startswith("pool") else one["learner"] for one in lines))
    for key, label in CURRENCIES.items():
        series = []
        for i, name in enumerate(names):
            points = [Point(one["s"], one[key], censored="above" if one["censored"] else "")
                      for one in lines if one["learner"].startswith(name) and one[key]]  # fmt: skip
            series += [Series(name, points, style=i)] if points else []
        panels += [Panel(label, series, y=Axis("", log=True))] if series else []
    alt = "Pools need the fewest examples of the students; elimination needs fewer still."
    return Curves("currencies", panels, Axis("s", ticks=(2, 3, 4)), Axis("", log=True), alt)


def _learners(rows: Sequence[Row]) -> Table:
    lines = [one | {"ended": f"{one['solved']} of {one['runs']} solved"} for one in _sides(rows)]
    columns = [Column(key) for key in ("s", "d", "learner", "ended")]
    columns += [Column(key, CURRENCIES[key], form="thousands") for key in ("distinct", "gradient")]
    columns.append(Column("multiply_adds", "multiply-adds", form=lambda value: "" if value is None else f"{value:.2g}"))
    return Table(
        "Medians of runs; a run that did not solve counts with its cap, or with what it spent if that is more.",
        lines,
        columns,
    )


def _cells(hard: Mapping[Place, Median], nice: Mapping[Place, Median], rows: Sequence[Row]) -> Table:
    share: dict[tuple[str, Place], list[Row]] = defaultdict(list)
    for row in rows:
        if row.task.family == HARD:
            share[str(row.task.solver.get("series")), place_of(row)].append(row)
    lines = []
    for s, d in sorted(hard):
        one = hard[s, d]
        chosen = next(share[series, (s, d)] for series in reversed(TUNING) if (series, (s, d)) in share)
        early = sorted(float(row.outcome.detail.get("explained") or row.task.budget["samples"])
                       for row in chosen if row.outcome)  # fmt: skip
        setting = chosen[0].task.solver["params"]
        middle = early[(len(early) - 1) // 2 : len(early) // 2 + 1]
        one_line: Line = {
            "s": s, "d": d, "N": comb(d - 1, s), "hard": one.text, "range": f"{one.low:,.0f}–{one.high:,.0f}",
            "solved": f"{one.solved} of {one.runs}", "all": (middle[0] * middle[-1]) ** 0.5,
        }  # fmt: skip
        if (s, d) in nice:
            one_line |= {"nice": nice[s, d].text, "ratio": one.value / nice[s, d].value}
        lines.append(one_line | {"setting": f"{setting['rate']:g}, {setting['batch']:g}, {setting['l1']:g}"})
    heads = {"hard": "median, hidden parities", "range": "around it", "all": "to 90 % of all rows",
             "nice": "random layers", "setting": "rate, batch, l1"}  # fmt: skip
    forms = {"N": "thousands", "all": "thousands"}
    keys = ("s", "d", "N", "hard", "range", "solved", "all", "nice", "ratio", "setting")
    return Table(
        "Examples of the tuned student.", lines, [Column(k, heads.get(k, ""), form=forms.get(k, "plain")) for k in keys]
    )


def _panels(cells: Cells) -> Table:
    lines = []
    for (series, family), own in cells.items():
        if series in PANELS or (series, family) == (TUNED, HARD):
            lines += [{"problem": "diag, squared loss" if series == TUNED else series, "s": s, "d": d,
                       "median": m.text, "solved": f"{m.solved} of {m.runs}"}
                      for (s, d), m in own.items() if d == PANEL_DIM and s in (2, 3)]  # fmt: skip
    return Table(
        "Examples of the student, tuned on each problem alike.", sorted(lines, key=lambda x: (x["s"], x["problem"]))
    )


def _losses(cells: Cells) -> dict[str, list[float]]:
    """The median cost of other losses over that of the squared one, at every s of their panels."""
    squared = cells[TUNED, HARD]
    return {settings.LOSSES[series]: [m.value / squared[p].value for p, m in sorted(own.items())]
            for (series, _), own in cells.items() if series in settings.LOSSES}  # fmt: skip


def _predictions(plans: Iterable[Line]) -> Table:
    lines = [
        {"plan": judged["name"], "s": p["s"], "d": p["d"], "seen": f"{'> ' * p['censored']}{exp(p['seen']):.3g}",
         **{law: exp(p[law]) for law in (EXPONENTIAL, POWER, SUM)}} for judged in plans for p in judged["predictions"]
    ]  # fmt: skip
    return Table("Hard over random, as seen and as predicted by laws fitted to smaller s.", lines)


def _outcomes(plans: Iterable[Line], fixed: Mapping[str, Any]) -> Table:
    came = {judged["name"]: judged["outcomes"] for judged in plans}
    return Table("Every outcome of a plan, as it was written down before the run.", [
        {"question": name, "outcome": outcome, "sentence": sentence,
         **{f"came out of the {ORDER[series]}": "yes" if own.get(name) == outcome else "no" if own else "not run"
            for series in fixed for own in [came.get(ORDER[series], {})]}}
        for name in ("primary", "secondary", "tertiary")
        for outcome, sentence in fixed["plan"][name]["sentences"].items()
    ])  # fmt: skip


def _laws(hard: Mapping[Place, Median]) -> Table:
    own = {p: m for p, m in sorted(hard.items()) if p[1] >= 2 * p[0] + 1}
    if len(own) < 12:
        return Table("Laws for the costs.", [])
    cells = [laws.Cell(p, log(m.value), m.censored) for p, m in own.items()]
    lines = laws.described(cells, [m.value for m in own.values()], 0.5)
    return Table("Laws for the median costs on hidden parities, each with one term for odd s.", lines)


def _theory(hard: Mapping[Place, Median]) -> Table:
    lines = []
    for s, d in sorted(hard):
        sets = comb(d - 1, s)
        sample = 2 * (log2(sets) + 10)
        lines.append({"s": s, "d": d, "N": sets, "bound": (sets - 1) / 2, "examples": sample,
                      "work": sets * sample * s, "student": hard[s, d].text})  # fmt: skip
    heads = {"bound": "queries at τ = 1/4", "examples": "brute force, examples", "work": "brute force, operations",
             "student": "student, examples"}  # fmt: skip
    kinds = {"bound": "proved", "examples": "estimated", "work": "estimated", "student": "measured"}
    forms = {"bound": "at_least", "examples": "thousands", "work": "short", "N": "thousands"}
    keys = ("s", "d", "N", "bound", "examples", "work", "student")
    return Table("What theory says at these sizes.", lines,
                 [Column(k, heads.get(k, ""), kinds.get(k, ""), forms.get(k, "plain")) for k in keys])  # fmt: skip
