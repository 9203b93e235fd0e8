"""What the rows of `exponential-in-m` say: costs of hidden bits, three currencies, and what came of the plan."""

from collections import ChainMap, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import comb, exp, log, log2
from typing import Any

from scipy.stats import binom

from hardness.engine.store import Row
from hardness.errors import InputError
from hardness.families.parity import Parity
from hardness.report import Axis, Content, Curves, Panel, Point, Series, grouped
from hardness.report.rounding import decimals
from learner.studies import exponential_in_m as grid
from learner.studies.exponential_in_m import laws, plan, settings
from learner.studies.exponential_in_m.laws import EXPONENTIAL, POWER, SUM, Place
from learner.studies.exponential_in_m.settings import HARD, NICE, OPTIONS, PANEL_DIM, PANELS

TUNED, ELIMINATION, LABELS = "tuned", "elimination", "random labels"
TUNING = ("plan", TUNED, "plan2")  # series of the tuned student; of a place in several the last is shown
ORDER = {"plan": "first", "plan2": "second"}
CURRENCIES = {"distinct": "distinct examples", "gradient": "gradient examples", "multiply_adds": "multiply-adds"}
STEPS, PARAMETERS = 10_000, 2 * 16  # of a student's run, and of its heads: times d² (theory says when it is bound)
Line = dict[str, Any]


@dataclass(frozen=True)
class Median:
    """The median of the runs of a place, and the order statistics around it; `censored`: only known to be larger."""

    value: float
    low: float
    high: float
    censored: bool
    rows: Sequence[Row]

    @property
    def solved(self) -> int:
        """How many runs solved."""
        return sum(_solved(row) for row in self.rows)

    @property
    def text(self) -> str:
        """As a cell of a table."""
        return f"{'> ' * self.censored}{self.value:,.0f}"

    @property
    def ended(self) -> str:
        """How many of all runs solved, in words."""
        return f"{self.solved} of {len(self.rows)}"


Medians = dict[Place, Median]
Cells = dict[tuple[str, str], Medians]  # by series and family


def content(rows: Sequence[Row]) -> Content:
    """All that the page shows."""
    fixed = {series: plan.read(path) for series, path in plan.PLANS.items()}
    for row in rows:
        found, series = str(row.task.solver.get("plan", "")), str(row.task.solver.get("series"))
        if found != (own := fixed[series]["digest"] if series in fixed else ""):
            raise InputError(f"rows of the plan {found[:12]}, but this study's is {own[:12]}: "
                             "run the study into another --out")  # fmt: skip
    cells = gathered(row for row in rows if row.outcome and row.outcome.status not in ("error", "killed"))
    plans = [judged for series, each in fixed.items() if (judged := _judged(rows, cells, series, each))]
    hard, nice = ({p: m for series in TUNING for p, m in cells.get((series, family), {}).items()}
                  for family in (HARD, NICE))  # fmt: skip
    sides = _sides(cells)
    figures = [_costs(hard, nice), _ratios(hard, nice, plans), _currencies(sides)]
    tables: dict[str, list[Line]] = {
        "cells": _cells(hard, nice), "panels": _panels(cells), "laws": _laws(hard), "theory": _theory(hard),
        "learners": [
            {"s": one["s"], "d": one["d"], "learner": one["learner"], "ended": f"{one['ended']} solved",
             "distinct examples": one["distinct"], "gradient examples": one["gradient"],
             "multiply-adds": one["multiply_adds"] and f"{one['multiply_adds']:.2g}"} for one in sides
        ],
        "plan": _outcomes(plans, fixed),
        "predictions": [
            {"plan": own["name"], "s": p["s"], "d": p["d"], "seen": f"{'> ' * p['censored']}{exp(p['seen']):.3g}"}
            | {law: exp(p[law]) for law in (EXPONENTIAL, POWER, SUM)} for own in plans for p in own["predictions"]
        ],
        "power": [{"plan": ORDER[series], **line} for series, each in fixed.items() for line in each["power"]],
    }  # fmt: skip
    both = sorted(set(hard) & set(nice))
    if not both or (ELIMINATION, HARD) not in cells:
        return Content(figures=figures, tables=tables, missing="Too few trials have ended to answer the question.")
    s, d = max((p for p in both if p[1] == 16), default=both[-1])
    labels = [m for (series, _), own in cells.items() if series == LABELS for m in own.values()]
    eliminated = cells[ELIMINATION, HARD]
    numbers = {
        "s": s, "d": d, "hard": hard[s, d].value, "ratio": hard[s, d].value / nice[s, d].value,
        "elimination": eliminated[min(eliminated, key=lambda p: (p[0] != s, abs(p[1] - d)))].value,
        "labels": [sum(m.solved for m in labels), sum(len(m.rows) for m in labels)],
        "tuning": _tuning(), "bound": _bound(), "plans": plans, "headline": plans[-1]["headline"] if plans else None,
        "losses": {settings.LOSSES[series]: [m.value / cells[TUNED, HARD][p].value for p, m in sorted(own.items())]
                   for (series, _), own in cells.items() if series in settings.LOSSES},
    }  # fmt: skip
    return Content(numbers, figures, tables, grid=ChainMap(vars(grid), vars(settings)))


def _solved(row: Row) -> bool:
    return row.outcome is not None and row.outcome.status == "solved"


def _spent(row: Row, currency: str) -> float:
    """What a run cost; one that did not solve counts with all that it was allowed to spend."""
    assert row.outcome
    cap = float(row.task.budget.get("samples", 0))
    value = float(row.outcome.detail.get(currency, row.outcome.cost) or 0)
    if not _solved(row) and currency != "multiply_adds":
        value = max(value, cap)  # a search passes over its examples many times
    return value or cap or 1.0


def gathered(rows: Iterable[Row]) -> Cells:
    """The median gradient examples of every series and place."""
    found: Cells = defaultdict(dict)
    named = (row for row in rows if "series" in row.task.solver)
    for (series, family, place), own in grouped(named, _series, lambda row: row.task.family, place_of).items():
        found[series, family][place] = median(own)
    return dict(found)


def _series(row: Row) -> str:
    return str(row.task.solver["series"])


def place_of(row: Row) -> Place:
    """Hidden bits, or heads of a random layer; and the dimension."""
    params = row.task.params
    return (Parity(**params).size if row.task.family == HARD else int(params["heads"])), int(params["dim"])


def median(rows: Sequence[Row], currency: str = "gradient") -> Median:
    """The median of runs with order statistics around it: of 95 % at least, or the range of fewer than six runs."""
    spent = [_spent(row, currency) for row in rows]
    value, censored = laws.median(spent, [_solved(row) for row in rows])
    ranked = sorted(spent)
    out = max(0, int(binom.ppf(0.025, len(ranked), 0.5)) - 1)
    return Median(value, ranked[out], ranked[-1 - out], censored, rows)


def _judged(rows: Sequence[Row], cells: Cells, series: str, fixed: Mapping[str, Any]) -> Line | None:
    """What came of a plan; None until all of its trials have ended."""
    own = [row for row in rows if row.task.solver.get("series") == series]
    if not own or any(row.outcome is None for row in own):
        return None
    hard, nice = (cells[series, family] for family in (HARD, NICE))
    fitted, asked = (
        [laws.Cell(p, log(hard[p].value / nice[p].value), hard[p].censored) for p in places]
        for places in plan.places(fixed)
    )
    found, medians = plan.judged(fixed, fitted, asked), [*hard.values(), *nice.values()]
    shown = {name: "{} ({} to {})".format(*map(decimals, found[key]))
             for name, key in (("factor", "factor"), ("exponent", "power"))}  # fmt: skip
    return found | {
        "name": ORDER[series], "digest": fixed["digest"][:12], "runs": fixed["runs"],
        "headline": fixed["primary"]["headlines"][found["outcomes"]["primary"]].format(**shown),
        "asked": len(asked), "fitted": len(fitted), "trials": len(own), "cells": len(medians),
        "censored": sum(m.censored for m in medians), "unsolved": sum(len(m.rows) - m.solved for m in medians),
        "up": fixed["primary"]["fitted up to s"], "falls": _rise(nice), "rises": _rise(hard),
        "without": _without(fixed, hard, nice, fitted, asked),
    }  # fmt: skip


def _without(
    fixed: Mapping[str, Any], hard: Medians, nice: Medians, fitted: Sequence[laws.Cell], asked: Sequence[laws.Cell]
) -> Line | None:
    """Exploratory: what the plan's rules say without the cells in which half of the runs, or fewer, solved."""
    lost = [c.place for c in (*fitted, *asked)
            if any(2 * own[c.place].solved <= len(own[c.place].rows) for own in (hard, nice))]  # fmt: skip
    if not lost:
        return None
    found = plan.judged(fixed, *([c for c in own if c.place not in lost] for own in (fitted, asked)))
    said = "; ".join(f"s = {s}, d = {d}: {hard[s, d].ended} solved" for s, d in lost)
    return {**found, **found["sentences"], "cells": said, "outcomes": [*found["outcomes"].values()]}


def _rise(own: Medians) -> float:
    """The factor a further bit or head in these costs, a level for each d and one term for odd s: e^g."""
    cells = [laws.Cell(p, log(m.value), m.censored) for p, m in own.items()]
    design = laws.design(EXPONENTIAL, tuple(own), tuple(sorted({d for _, d in own})))
    return exp(laws.regressed(design, cells, 0.5).beta[-1])


def _tuning() -> Line:
    """What the tuning took, and how often the cheapest setting was at an edge of its menu: least, largest."""
    rows = settings.rows()
    won = [settings.tuned(cell) for cell in rows]
    edges = {name: [sum(w[name] == edge(values) for w in won) for edge in (min, max)]
             for name, values in zip(OPTIONS, zip(*settings.MENU, strict=True), strict=True)}  # fmt: skip
    return {
        "cells": len(rows), "runs": sum(map(len, rows.values())), "settings": len(settings.MENU), "edges": edges,
        "examples": sum(run.cost for own in rows.values() for *_, run in own),
    }  # fmt: skip


def _bound() -> Line:
    """The least s, at d = 4s, at which 8τ²(N − 1) at τ = 1/4 exceeds all entries of all gradients of a long run."""
    s = next(s for s in count(2) if (comb(4 * s - 1, s) - 1) / 2 > STEPS * PARAMETERS * (4 * s) ** 2)
    return {"s": s, "d": 4 * s, "steps": STEPS}


def _costs(hard: Medians, nice: Medians) -> Curves:
    series = []
    for i, s in enumerate(sorted({s for s, _ in hard})):
        for own, label, dashed in ((hard, f"s = {s}", False), (nice, f"random, m = {s}", True)):
            points = [
                Point(d, m.value, m.low, m.high, "above" if m.censored else "", m.solved < len(m.rows),
                      f"{label}, d = {d}: {m.text} ({m.ended} solved)")
                for (size, d), m in sorted(own.items()) if size == s
            ]  # fmt: skip
            series += [Series(label, points, style=i, dashed=dashed)] if points else []
    ticks = (8, 10, 12, 14, 16, 20, 24)
    return Curves(
        "costs", [Panel("", series)], Axis("d", log=True, ticks=ticks), Axis("examples", log=True), height=4.2
    )


def _ratios(hard: Medians, nice: Medians, plans: Sequence[Line]) -> Curves:
    """Hard over random at two dimensions, and what the newest plan's laws predict."""
    panels = []
    for d in (12, 16):
        points = [Point(s, m.value / nice[s, d].value, censored="above" if m.censored else "")
                  for (s, dim), m in sorted(hard.items()) if dim == d and (s, d) in nice]  # fmt: skip
        series = [Series("hard over random", points)]
        for i, law in enumerate((EXPONENTIAL, POWER, SUM)):
            guessed = [Point(p["s"], exp(p[law])) for own in plans[-1:] for p in own["predictions"] if p["d"] == d]
            series += [Series(f"{law}, predicted", guessed, join=False, style=2 + i)] if guessed else []
        panels += [Panel(f"d = {d}", series)] if points else []
    return Curves("ratios", panels, Axis("s", ticks=(2, 3, 4, 5, 6)), Axis("median over median", log=True), columns=2)


def _sides(cells: Cells) -> list[Line]:
    """Every learner in three currencies; of pools the least from which most runs solve."""
    lines: list[Line] = []
    pools: set[Place] = set()
    own = ((place, series, m) for (series, family), places in cells.items() for place, m in places.items()
           if family == HARD and series not in (*plan.PLANS, LABELS, *PANELS))  # fmt: skip
    for (s, d), series, m in sorted(own, key=lambda one: (one[0], _pool(one[2]), one[1])):
        pool = _pool(m)
        if pool and (m.censored or (s, d) in pools):
            continue
        pools |= {(s, d)} if pool else set()
        line: Line = {"learner": series, "s": s, "d": d, "ended": m.ended, "censored": m.censored}
        for key in CURRENCIES:
            known = key == "gradient" or all(row.outcome and row.outcome.detail.get(key) for row in m.rows)
            value = float(pool) if pool and key == "distinct" else median(m.rows, key).value
            line[key] = value if known and not (series == ELIMINATION and key != "distinct") else None
        lines.append(line)
    return sorted(lines, key=lambda one: (one["s"], one["d"], one["learner"]))


def _pool(m: Median) -> int:
    """Distinct examples of the pool that its runs read again and again; 0: there is none."""
    return int(m.rows[0].task.solver.get("pool", 0))


def _currencies(sides: Sequence[Line]) -> Curves:
    lines, panels = [one for one in sides if one["d"] == PANEL_DIM], []
    names = list(dict.fromkeys("pool" if one["learner"].startswith("pool") else one["learner"] for one in lines))
    for key, label in CURRENCIES.items():
        series = []
        for i, name in enumerate(names):
            points = [Point(one["s"], one[key], censored="above" if one["censored"] else "")
                      for one in lines if one["learner"].startswith(name) and one[key]]  # fmt: skip
            series += [Series(name, points, style=i)] if points else []
        panels += [Panel(label, series, y=Axis("", log=True))] if series else []
    return Curves("currencies", panels, Axis("s", ticks=(2, 3, 4)), Axis("", log=True))


def _cells(hard: Medians, nice: Medians) -> list[Line]:
    lines = []
    for (s, d), m in sorted(hard.items()):
        early = [float(row.outcome.detail.get("explained") or row.task.budget["samples"])
                 for row in m.rows if row.outcome]  # fmt: skip
        setting, other = m.rows[0].task.solver["params"], nice.get((s, d))
        lines.append({
            "s": s, "d": d, "N": comb(d - 1, s), "median, hidden parities": m.text,
            "around it": f"{m.low:,.0f}–{m.high:,.0f}", "solved": m.ended,
            "to 90 % of all rows": laws.median(early, [True] * len(early))[0],
            "random layers": other and other.text, "ratio": other and m.value / other.value,
            "rate, batch, l1": f"{setting['rate']:g}, {setting['batch']:g}, {setting['l1']:g}",
        })  # fmt: skip
    return lines


def _panels(cells: Cells) -> list[Line]:
    lines = []
    for (series, family), own in cells.items():
        if series in PANELS or (series, family) == (TUNED, HARD):
            lines += [{"problem": "diag, squared loss" if series == TUNED else series, "s": s, "d": d,
                       "median": m.text, "solved": m.ended}
                      for (s, d), m in own.items() if d == PANEL_DIM and s in (2, 3)]  # fmt: skip
    return sorted(lines, key=lambda one: (one["s"], one["problem"]))


def _outcomes(plans: Iterable[Line], fixed: Mapping[str, Any]) -> list[Line]:
    came = {own["name"]: own["outcomes"] for own in plans}
    return [
        {"question": name, "outcome": outcome, "sentence": sentence,
         **{f"came out of the {order}": "yes" if own.get(name) == outcome else "no" if own else "not run"
            for order in ORDER.values() for own in [came.get(order, {})]}}
        for name in ("primary", "secondary", "tertiary")
        for outcome, sentence in fixed["plan"][name]["sentences"].items()
    ]  # fmt: skip


def _laws(hard: Medians) -> list[Line]:
    own = {p: m for p, m in sorted(hard.items()) if p[1] >= 2 * p[0] + 1}
    if len(own) < 12:
        return []
    return laws.described([laws.Cell(p, log(m.value), m.censored) for p, m in own.items()], 0.5)


def _theory(hard: Medians) -> list[Line]:
    lines = []
    for (s, d), m in sorted(hard.items()):
        sets = comb(d - 1, s)
        sample = 2 * (log2(sets) + 10)
        lines.append({
            "s": s, "d": d, "N": sets, "queries at τ = 1/4": (sets - 1) / 2, "brute force, examples": sample,
            "brute force, operations": sets * sample * s, "student, examples": m.text,
        })  # fmt: skip
    return lines
