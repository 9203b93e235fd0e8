"""The tables of `exponential-in-m`, and what its plan came to: of medians by cell."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, product, takewhile
from math import ceil, comb, exp, floor, log
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Row
from hardness.report import frame, lines_of
from learner.studies.exponential_in_m import arms, laws, plan, settings
from learner.studies.exponential_in_m.arms import CONTROLS, HARD, MILD, TENT, WIDE
from learner.studies.exponential_in_m.cells import LINES, OTHERS, RAYS
from learner.studies.exponential_in_m.frames import (
    PLACE,
    around,
    dense_runs,
    ended,
    far_cells,
    law_cells,
    medians,
    of_arm,
    on_ray,
    ratios_shown,
    shown,
    summarised,
    tuned_cells,
    work_a_set,
)
from learner.studies.exponential_in_m.grounds import error_of_known, grounds

if TYPE_CHECKING:
    import pandas as pd

Line = dict[str, Any]
ALONG = (HARD, *CONTROLS)
DENSE_HEADS = 16  # of the dense student, which has 2 d² weights a head
FAMILIES = {"plan": "first", "plan2": "second"}  # plans of the dense student
# Columns of the panel that its figure and sentences take
UNSHOWN = ["ratio", "reading", "censored", "censored diagonal", "examples", "low", "high", "runs"]
WIDE_RAY = 4  # d/m of the cells in which the widest learner of the panel was run
QUESTIONS = ("primary", "secondary", "tertiary", "widths")


def factors(cells: "pd.DataFrame") -> list[Line]:
    """The factor a head along each ray, of hidden sets and controls, with its interval over the cells.

    Of hidden sets also what `_beside` gives.
    """
    lines = []
    for ray, arm in product(RAYS, ALONG):
        part = on_ray(of_arm(cells, arm), ray)
        if factor := _factor(law_cells(part)):
            beside = _beside(part) if arm == HARD else {}
            extent = {"cells": len(part), **_extent(part, m="s")}
            lines.append({"ray": ray, "arm": arm, **factor, **beside, **extent})
    return lines


def _factor(cells: Sequence[laws.LogMedian]) -> Line | None:
    """The factor a head over cells by m, of two cells that are known without an interval; None for fewer."""
    if slope := laws.slope(cells, lambda s, d: float(s)):
        return dict(zip(("factor", "low", "high"), map(exp, slope), strict=True))
    if len(cells) != 2 or any(cell.censored for cell in cells):
        return None
    first, last = cells
    rise = (last.cost - first.cost) / (last.place[0] - first.place[0])
    return {"factor": exp(rise), "low": None, "high": None}


def _beside(part: "pd.DataFrame") -> Line:
    """The factor a head of N over cells of one ray; that of the cost and of N over those that were tuned themselves.

    `tuned low` and `tuned high` are the interval of the former, and `tuned to` is the largest m of these cells.
    """
    themselves = tuned_cells(part)
    factor = _factor(law_cells(themselves)) or {}
    return {
        "N": _factor_of(part, laws.log_sets),
        "tuned": factor.get("factor"),
        "N tuned": _factor_of(themselves, laws.log_sets),
        "tuned low": factor.get("low"),
        "tuned high": factor.get("high"),
        "tuned to": max(map(int, themselves["s"]), default=None),
    }


def _factor_of(part: "pd.DataFrame", log_law: Callable[[int, int], float]) -> float | None:
    """The factor a head, over cells, of what a law gives there."""
    cells = [laws.LogMedian(cell.place, log_law(*cell.place)) for cell in law_cells(part)]
    return (_factor(cells) or {}).get("factor")


def ray_lines(factors: Sequence[Line]) -> list[Line]:
    """The lines of `factors` as a table has them: the factor over tuned cells with its interval in one column."""
    ends = ("tuned low", "tuned high")
    lines = []
    for line in factors:
        interval = "({:.2f}–{:.2f})".format(*map(line.get, ends)) if line.get(ends[0]) else ""
        tuned = {"tuned": f"{line['tuned']:.2f} {interval}".strip()} if line.get("tuned") else {}
        columns = {key: value for key, value in line.items() if key not in (*ends, "tuned to")}
        lines.append(columns | tuned)
    return lines


def above_floor(cells: "pd.DataFrame") -> Line:
    """The factors a head without the cells at the floor: those whose median is what the learner reads before a step."""
    along = [line for line in factors(cells[cells["median"] > settings.FLOOR]) if line["arm"] != TENT]
    whole = {(line["arm"], line["ray"]): line["factor"] for line in factors(cells)}
    random = [line["factor"] for line in along if line["arm"] != HARD]
    return {
        "examples": settings.FLOOR,
        "factors": {f"{line['arm']}, d = {line['ray']}m": line["factor"] for line in along},
        "hidden": [line["factor"] for line in along if line["arm"] == HARD],
        "lowers": all(line["factor"] >= whole[HARD, line["ray"]] for line in along if line["arm"] == HARD),
        "nice": [min(random, default=None), max(random, default=None)],
    }


def along_rays(cells: "pd.DataFrame") -> Line:
    """Of hidden sets the ends of the factors between neighbours on a ray; of the controls the costliest cell.

    Beside it the rays on which the interval of the factor contains that of a lookup table, 2^(d/m), and how many times
    the examples of the learner such a table reads there at most; and how many rays end in a bound at a setting that was
    not tuned there.
    """
    steps = []
    for ray in RAYS:
        known = [cell for cell in law_cells(on_ray(of_arm(cells), ray)) if not cell.censored]
        steps += [b.cost - a.cost for a, b in pairwise(known) if b.place[0] == a.place[0] + 1]
    hidden = [line for line in factors(cells) if line["arm"] == HARD and line["low"]]
    lookup = {line["ray"]: 2.0 ** line["ray"] for line in hidden}
    alike = [line["ray"] for line in hidden if line["low"] <= lookup[line["ray"]] <= line["high"]]
    ratios = [
        settings.LOOKUP * 2.0 ** (cell.place[1] - 1) / exp(cell.cost)
        for ray in alike
        for cell in law_cells(on_ray(of_arm(cells), ray))
    ]
    return {
        "steps": [exp(min(steps)), exp(max(steps))] if steps else [],
        "lookup": [*lookup.values()],
        "as lookup": alike,
        "over the learner": ceil(100 * max(ratios, default=0.0)) / 100,
        "ends": sum(_borrowed_bound(on_ray(of_arm(cells), line["ray"])) for line in hidden),
        "controls": float(cells[cells["arm"].isin(CONTROLS)]["median"].max()),
    }


def _borrowed_bound(part: "pd.DataFrame") -> bool:
    """Whether the last of the cells along a ray is censored, and has the setting of another."""
    last = part.tail(1)
    return len(last) > 0 and bool(last["censored"].all()) and tuned_cells(last).empty


def wide_factors(runs: "pd.DataFrame", cells: "pd.DataFrame") -> Line | None:
    """The factor a head along one ray of the widest learner of the panel and, on the same cells, of `diagonal`.

    Over all cells, and `known` over those where both medians are known, whose ratios of examples are `ratios`; at `end`
    both are bounds. `N known` and `N/d known` are the factors of N and of N/d over the latter, and `largest known` that
    of the widest with every median at the end of its order statistics that makes it largest, rounded up. `over 64` are
    its examples over those of 64 heads in the cells that have both.
    """
    widest = of_arm(medians(runs[runs["series"].isin(plan.PANELS)]), arms.WIDEST)
    wide = on_ray(widest, WIDE_RAY)
    shared = widest.merge(of_arm(cells, WIDE), on=PLACE, suffixes=("", " 64")).sort_values(PLACE)
    both = wide.merge(of_arm(cells), on=PLACE, suffixes=("", " usual"))
    known = both[~both["censored"] & ~both["censored usual"]]
    usual = {f"{name} usual": name for name in ("median", "censored")}
    lines: Line = {"wide": None, "usual": None, "known": []}
    intervals = {"wide": "known interval", "usual": "known interval usual"}
    for name, columns in (("wide", {}), ("usual", usual)):
        parts = [part.drop(columns=columns.values()).rename(columns=columns) for part in (both, known)]
        every, certain = (laws.slope(law_cells(part), lambda s, d: float(s)) for part in parts)
        if every is None or certain is None:
            return None
        lines[name] = [exp(value) for value in every]
        lines["known"].append(exp(certain[0]))
        lines[intervals[name]] = [exp(value) for value in certain[1:]]
    end = both[both["censored"] & both["censored usual"]].tail(1)
    return lines | {
        **_extent(wide, m="s"),
        "known m": [int(known["s"].min()), int(known["s"].max())],
        "ratios": (known["median"] / known["median usual"]).tolist(),
        "work": (known["work"] / known["work usual"]).tolist(),
        "N known": _factor_of(known, laws.log_sets),
        "N/d known": _factor_of(known, laws.LAWS[laws.N_OVER_D].offset),
        "largest known": _largest_factor(known),
        "over 64": (shared["median"] / shared["median 64"]).tolist(),
        "end": lines_of(end[["s", "median", "share", "median usual", "share usual"]]),
    }


def _largest_factor(part: "pd.DataFrame") -> float | None:
    """The factor a head with every median at the end of its order statistics that makes it largest, rounded up."""
    later = part["s"] > part["s"].mean()
    factor = _factor(law_cells(part.assign(median=part["high"].where(later, part["low"]))))
    return ceil(100 * factor["factor"]) / 100 if factor else None


def exponents(cells: "pd.DataFrame") -> list[Line]:
    """The exponent of d at fixed s over `far_cells`, with its interval; that of C(d-1, s-1) there; the cells tuned."""
    lines, hard = [], of_arm(cells)
    for s in LINES:
        part = far_cells(hard[hard["s"] == s])
        cells_of_s = law_cells(part)
        subsets = [laws.LogMedian((s, d), log(comb(d - 1, s - 1))) for s, d in part[PLACE].to_numpy()]
        slope, beside = (laws.slope(some, lambda s, d: log(d)) for some in (cells_of_s, subsets))
        if slope and beside:
            exponent = dict(zip(("exponent", "low", "high"), slope, strict=True))
            tuned = f"{len(tuned_cells(part))} of {len(part)}"
            lines.append({"s": s, **_extent(part, d="d"), **exponent, "subsets": beside[0], "tuned": tuned})
    return lines


def steeper(lines: Sequence[Line]) -> list[int]:
    """At which s the interval of the exponent of d lies above that of C(d-1, s-1)."""
    return [line["s"] for line in lines if line["subsets"] < line["low"]]


def _extent(part: "pd.DataFrame", **column: str) -> Line:
    """The least and the largest value of a column, under the name that is given to it, and of N."""
    ends = ((name, part[key]) for name, key in (*column.items(), ("N", "sets")))
    return {
        f"{name} {word}": int(end) for name, values in ends for word, end in _ends(values.min(), values.max())
    }


def _ends(low: float, high: float) -> Iterable[tuple[str, float]]:
    return ("from", low), ("to", high)


def judged(cells: "pd.DataFrame", fixed: Mapping[str, Any]) -> Line:
    """What came of the third plan: every law's errors, the slope, and the outcome of every question."""
    hard = of_arm(cells)
    answers = laws.answers(fixed, law_cells(hard))
    outcomes = {**answers.outcomes, "widths": _width_outcome(cells, fixed["widths"]["factor"])}
    sentences = {key: fixed[key.split(",")[0]]["sentences"][outcome] for key, outcome in outcomes.items()}
    return {
        "fitted": len(answers.fitted),
        "asked": len(answers.asked),
        "new": [list(answers.asked[i].place) for i in answers.new],
        "slope": list(answers.slope),
        "laws": [_law_errors(answers, name) for name in answers.laws],
        "predictions": _predictions(answers),
        "low": _too_low(answers),
        "grounds": grounds(answers, hard, fixed),
        "excluded": fixed["secondary"]["excluded"],
        "margins": {key: fixed[key]["margin"] for key in ("primary", "tertiary")},
        "factor": fixed["widths"]["factor"],
        "outcomes": outcomes,
        "sentences": sentences,
        "censored": int(hard["censored"].sum()),
        "cells": len(hard),
        "digest": fixed["digest"][:12],
        "unsolved": int((hard["runs"] - hard["solved"]).sum()),
        "trials": int(hard["runs"].sum()),
    }


def _law_errors(answers: laws.Answers, name: str) -> Line:
    """A law with its coefficients, and the factors by which it errs at all larger cells and at new ones."""
    wrong = answers.errors[name]
    typical = {"all": laws.typical(wrong), "new": laws.typical(wrong[list(answers.new)])}
    known = error_of_known(answers, name)
    return {"law": name, "coefficients": answers.laws[name].beta.tolist(), **typical, "known": known}


def _predictions(answers: laws.Answers) -> dict[str, float]:
    """The examples that the frozen law c N/d predicts, by "s,d" of every cell that it was fitted or put to."""
    frozen = answers.laws[laws.N_OVER_D]
    places = [cell.place for cell in (*answers.fitted, *answers.asked)]
    return {f"{s},{d}": exp(frozen.at((s, d))) for s, d in places}


def _too_low(answers: laws.Answers) -> Line:
    """The largest cells, one after the other, at all of which the frozen law c N/d predicts too little.

    Beside it how many of them are bounds, and how many times what the law predicts these are at least, rounded down.
    """
    wrong = dict(zip((cell.place for cell in answers.asked), answers.errors[laws.N_OVER_D], strict=True))
    ranked = sorted(wrong, key=lambda place: -comb(place[1] - 1, place[0]))
    low = list(takewhile(lambda place: wrong[place] > 0, ranked))
    bounds = [exp(wrong[cell.place]) for cell in answers.asked if cell.censored and cell.place in low]
    return {
        "cells": len(low),
        "sets": min((comb(d - 1, s) for s, d in low), default=0),
        "bounds": len(bounds),
        "bounds from": floor(100 * min(bounds, default=0.0)) / 100,
    }


def _predicted(table: "pd.DataFrame", judged: Line | None) -> list[float | None]:
    """What the frozen law says of every line of a table, None where it says nothing."""
    predictions = judged["predictions"] if judged else {}
    return [predictions.get(f"{s},{d}") for s, d in zip(table["s"], table["d"], strict=True)]


def _width_outcome(cells: "pd.DataFrame", factor: float) -> str:
    ratios = widths(cells)["ratio"]
    if ratios.empty:
        return "undecided"
    return "within" if ratios.between(1 / factor, factor).all() else "beyond"


def widths(cells: "pd.DataFrame") -> "pd.DataFrame":
    """Examples x weights with 64 heads beside 16."""
    both = of_arm(cells, WIDE).merge(of_arm(cells), on=PLACE, suffixes=(" 64", " 16"))
    both = both.assign(ratio=both["work 64"] / both["work 16"])
    names = {"shown 16": "16 heads", "shown 64": "64 heads"}
    return both.rename(columns=names)[[*PLACE, *names.values(), "ratio"]]


def every_cell(cells: "pd.DataFrame", judged: Line | None) -> "pd.DataFrame":
    """Every cell of hidden sets: its costs, and what the frozen law c N/d says."""
    import pandas as pd

    hard = of_arm(cells).sort_values("sets")
    tuned = set(tuned_cells(hard).index)
    columns = {
        "s": hard["s"],
        "d": hard["d"],
        "N": hard["sets"],
        "median": hard["shown"],
        "around it": around(hard),
        "solved": hard["share"],
        "c N/d": _predicted(hard, judged),
        "examples × weights / N": [
            shown(work / sets, bound)
            for work, sets, bound in zip(hard["work"], hard["sets"], hard["censored"], strict=True)
        ],
        "tuned": ["here" if index in tuned else "nearest" for index in hard.index],
    }
    return pd.DataFrame(columns)


def controls(cells: "pd.DataFrame") -> "pd.DataFrame":
    """Hidden sets beside their controls, along the rays."""
    names = ("shown", "median", "censored")
    pivots = (cells.pivot(index=PLACE, columns="arm", values=name) for name in names)
    texts, costs, bounds = (table.reindex(columns=[*ALONG]) for table in pivots)
    ratios = {
        f"over {arm}": ratios_shown(costs[HARD] / costs[arm], bounds[HARD], bounds[arm])
        for arm in (TENT, MILD)
    }
    both = costs[HARD].notna() & costs[MILD].notna()
    table = texts.assign(**ratios)[both].reset_index()
    table.insert(0, "d/s", table["d"] // table["s"])
    return table.sort_values(["d/s", *PLACE])


def signs(cells: "pd.DataFrame") -> Line | None:
    """Eight heads in 32 dimensions, or the largest cell with both: the parity, and the tent with the same sizes."""
    both = of_arm(cells).merge(of_arm(cells, TENT), on=PLACE, suffixes=("", " tent")).sort_values("sets")
    eight = both[(both["s"] == 8) & (both["d"] == 32)]
    both = (eight if len(eight) else both).tail(1)
    both = both.assign(
        parity=both["median"], tent=both["median tent"], ratio=both["median"] / both["median tent"]
    )
    ends = [f"{end}{arm}" for arm in ("", " tent") for end in ("low", "high")]
    lines = lines_of(both[[*PLACE, "parity", "censored", "tent", "ratio", *ends]])
    places = [arms.Problem(arm, line["d"], line["s"]) for line in lines for arm in (HARD, TENT)]
    tuned = dict(zip(("tuned", "tuned tent"), (place in settings.rows() for place in places), strict=False))
    return {**lines[0], **tuned} if lines else None


def spread(cells: "pd.DataFrame") -> Line:
    """How far known medians of examples x weights lie from their line in N; how many of the largest are all above.

    `ends` are the least and the largest of the bounds at which rays end, over the line.
    """
    hard = of_arm(cells).sort_values("sets", ascending=False)
    over = hard["work"] / hard["sets"] / work_a_set(hard)
    exact = over[~hard["censored"].astype(bool)]
    above = len([*takewhile(lambda ratio: ratio > 1, over)])
    sets = int(hard["sets"].iloc[above - 1]) if above else None
    last = [part.index[-1] for part in (on_ray(hard, ray) for ray in RAYS) if _borrowed_bound(part)]
    ends = [float(over[index]) for index in last]
    return {
        "from": float(exact.min()),
        "to": float(exact.max()),
        "above": above,
        "sets": sets,
        "ends": [min(ends), max(ends)] if ends else [],
    }


def flipped(cells: "pd.DataFrame") -> Line | None:
    """Of the cells with flipped labels how many there are and are known, and the costs of these over clean labels."""
    both = of_arm(cells, arms.FLIPPED).merge(of_arm(cells), on=PLACE, suffixes=("", " clean"))
    known = both[~both["censored"].astype(bool)]
    ratios = known["median"] / known["median clean"]
    if known.empty:
        return None
    return {"cells": len(both), "known": len(known), "ratios": [float(ratios.min()), float(ratios.max())]}


def law_lines(judged: Line | None) -> list[Line]:
    """Every law with its kind, its errors and its coefficients."""
    kinds = dict.fromkeys(laws.COMBINATORIAL, "combinatorial") | dict.fromkeys(laws.RIVALS, "rival")
    lines = []
    for law in judged["laws"] if judged else ():
        coefficients = ", ".join(f"{value:.3g}" for value in law["coefficients"])
        line = {"law": law["law"], "kind": kinds.get(law["law"], "neither")}
        errors = {key: law[key] for key in ("all", "known", "new")}
        lines.append({**line, **errors, "coefficients": coefficients})
    return lines


def other_labels(cells: "pd.DataFrame") -> "pd.DataFrame":
    """Flipped labels beside clean ones, and random labels."""
    other = cells[cells["arm"].isin([arms.FLIPPED, arms.COINS])]
    both = other.merge(of_arm(cells), on=PLACE, how="left", suffixes=("", " clean"))
    learnable = both["arm"] != arms.COINS  # random labels are learned by nobody: their caps are no cost
    ratios = (both["median"] / both["median clean"]).where(learnable)
    both = both.assign(ratio=ratios_shown(ratios, both["censored"], both["censored clean"]))
    both = both.drop(columns=["median", "solved"])
    names = {"arm": "labels", "shown": "median", "share": "solved", "shown clean": "clean"}
    return both.rename(columns=names)[["labels", *PLACE, "median", "solved", "clean", "ratio"]]


def other_outcomes(fixed: Mapping[str, Any], judged: Line | None) -> list[Line]:
    """Every outcome of the plan that did not come out, with its sentence."""
    came = {(key.split(",")[0], outcome) for key, outcome in (judged or {"outcomes": {}})["outcomes"].items()}
    return [
        {"question": question, "outcome": outcome, "sentence": sentence}
        for question in QUESTIONS
        for outcome, sentence in fixed[question]["sentences"].items()
        if (question, outcome) not in came
    ]


def power(fixed: Mapping[str, Any]) -> list[Line]:
    """The plan's simulations at their largest scatter."""
    scatter = max(row["scatter"] for row in fixed["power"])
    lines = [dict(row) for row in fixed["power"] if row["scatter"] == scatter]
    return [{key: value for key, value in line.items() if key != "scatter"} for line in lines]


def tuning() -> Line:
    """What the tuning took."""
    rows = settings.rows()
    return {
        "cells": len(rows),
        "settings": len(settings.MENU),
        "runs": sum(map(len, rows.values())),
        "examples": int(sum(run.cost for runs in rows.values() for *_, run in runs)),
    }


def panel(rows: Sequence[Row], runs: "pd.DataFrame", cells: "pd.DataFrame") -> "pd.DataFrame":
    """Other learners in cells of the plan, the dense student last: medians, and their work over that of `diagonal`."""
    import pandas as pd

    other = medians(runs[runs["series"].isin(plan.PANELS)]).sort_values(PLACE, kind="stable")
    other = other[other["arm"] != arms.LATER].rename(columns={"arm": "learner"})
    both = pd.concat([table for table in (other, _dense_student(rows)) if len(table)] or [other])
    both = both.merge(of_arm(cells), on=PLACE, suffixes=("", " diagonal"))
    both = both.astype({"censored": bool, "censored diagonal": bool})
    both = both.assign(ratio=both["work"] / both["work diagonal"], **{"around it": around(both)})
    both = both.assign(reading=both["median"] / both["median diagonal"])
    for name, ratio in (("examples ratio", "reading"), ("work ratio", "ratio")):
        both[name] = ratios_shown(both[ratio], both["censored"], both["censored diagonal"])
    both = both.drop(columns=["solved"]).rename(columns={"median": "examples"})
    names = {"shown": "median", "share": "solved"}
    columns = ["learner", *PLACE, "median", "around it", "solved", "examples ratio", "work ratio"]
    return both.rename(columns=names)[[*columns, *UNSHOWN]]


def _dense_student(rows: Sequence[Row]) -> "pd.DataFrame":
    """The medians of the dense student in cells of the panel, and its examples x weights."""
    table = summarised(dense_runs(rows), *PLACE)
    inside = [place in OTHERS for place in zip(table["s"], table["d"], strict=True)]
    table = table.loc[inside]
    return table.assign(learner="dense student", work=table["median"] * DENSE_HEADS * 2 * table["d"] ** 2)


def cheapest(panel: "pd.DataFrame", cells: "pd.DataFrame") -> Line | None:
    """The line of the panel with the least examples x weights; and what `diagonal` read at the largest of its cells."""
    if panel.empty:
        return None
    hard = of_arm(cells)
    shared = hard[[place in OTHERS for place in zip(hard["s"], hard["d"], strict=True)]]
    (line,) = lines_of(panel.nsmallest(1, "ratio"))
    return {**line, "fresh": float(shared.loc[shared["sets"].idxmax(), "median"])}


def pools(panel: "pd.DataFrame") -> tuple[int, int]:
    """In how many cells most runs solve that read one pool again and again, and how many such cells there are."""
    pooled = panel[panel["learner"] == arms.POOLED]
    return int((~pooled["censored"]).sum()), len(pooled)


def user_lines(rows: Sequence[Row], cells: "pd.DataFrame") -> "pd.DataFrame":
    """Learners of the user on small hidden sets, beside `diagonal`."""
    runs = ended(rows, "solved", "budget", "wrong", kind="learner")
    table = summarised(runs[~runs["series"].isin([*plan.PLANS])], "learner", *PLACE)
    both = table.merge(of_arm(cells), on=PLACE, how="left", suffixes=("", " diagonal"))
    both = both.drop(columns=["median", "solved"])
    names = {"shown": "median", "share": "solved", "shown diagonal": "diagonal"}
    return both.rename(columns=names)[["learner", *PLACE, *names.values()]]


def later(runs: "pd.DataFrame") -> "pd.DataFrame":
    """The medians of the largest cells with a batch that the menu lacks, tried after the plan."""
    return of_arm(medians(runs[runs["series"].isin(plan.PANELS)]), arms.LATER)


def later_lines(runs: "pd.DataFrame", cells: "pd.DataFrame", judged: Line | None) -> "pd.DataFrame":
    """The cells of `later`, beside the plan's medians and the frozen law."""
    both = later(runs).merge(of_arm(cells), on=PLACE, suffixes=("", " plan")).sort_values("sets")
    both = both.drop(columns=["solved"]).assign(**{"c N/d": _predicted(both, judged)})
    names = {"sets": "N", "shown plan": "plan", "shown": "batch 1024", "share": "solved"}
    return both.rename(columns=names)[[*PLACE, *names.values(), "c N/d"]]


def later_errors(runs: "pd.DataFrame", cells: "pd.DataFrame", fixed: Mapping[str, Any]) -> Line:
    """What the frozen laws err by at the larger cells where those medians stand instead of the plan's."""
    import pandas as pd

    other = later(runs)
    if other.empty:
        return {}
    every = pd.concat([other, of_arm(cells)]).drop_duplicates(PLACE)
    errors = laws.answers(fixed, law_cells(every)).errors
    return {name: laws.typical(wrong) for name, wrong in errors.items()} | _moved(other, cells)


def _moved(other: "pd.DataFrame", cells: "pd.DataFrame") -> Line:
    """How many medians of large cells fell and rose, became known, became bounds, and are bounds as before.

    `changes` are the ends of the ratios of those that are known in both; `among` counts the cells with as many sets,
    of which `censored` are bounds of the plan and `borrowed` have settings of other cells; `left` lists those of them
    that were not run again.
    """
    hard = of_arm(cells)
    both = other.merge(hard, on=PLACE, suffixes=("", " plan"))
    known, was_known = ~both["censored"].astype(bool), ~both["censored plan"].astype(bool)
    ratios = (both["median"] / both["median plan"])[known & was_known]
    large = hard[hard["sets"] >= both["sets"].min()]
    again = {(row.s, row.d) for row in both.itertuples()}
    return {
        "cells": len(both),
        "fell": int((ratios < 1).sum()),
        "rose": int((ratios >= 1).sum()),
        "changes": [float(ratios.min()), float(ratios.max())],
        "solved": int((known & ~was_known).sum()),
        "lost": int((~known & was_known).sum()),
        "bounds": int((~known & ~was_known).sum()),
        "among": len(large),
        "censored": int(large["censored"].sum()),
        "borrowed": len(large) - len(tuned_cells(large)),
        "sets": int(both["sets"].min()),
        "left": [[int(row.s), int(row.d)] for row in large.itertuples() if (row.s, row.d) not in again],
    }


def gap_lines(rows: Sequence[Row], cells: "pd.DataFrame") -> "pd.DataFrame":
    """n_1 at the start at every scale, beside half the median of the cell: informative examples both."""
    starts = ended(rows, "solved", kind="gap").pivot(index=PLACE, columns="start", values="n_1")
    table = starts.add_prefix("r = ").reset_index()
    table.insert(2, "N", [comb(d - 1, s) for s, d in zip(table["s"], table["d"], strict=True)])
    hard = of_arm(cells)
    scales = hard["setting"].map(
        lambda setting: f"{dict(zip(arms.OPTIONS, setting, strict=True))['start']:g}"
    )
    halves = hard.assign(half=hard["median"] / 2, scale=scales)[[*PLACE, "half", "scale"]]
    names = {"half": "learning took", "scale": "at r"}
    return table.merge(halves, on=PLACE, how="left").rename(columns=names)


def sooner(gaps: "pd.DataFrame") -> int:
    """In how many cells learning took fewer informative examples than n_1 at the start, at the same scale."""
    starts = [line.get(f"r = {line['at r']}") for line in lines_of(gaps)]
    return sum(
        start is not None and took < start for start, took in zip(starts, gaps["learning took"], strict=True)
    )


def watched(rows: Sequence[Row]) -> Line | None:
    """The run whose n_1 is shown: s, d, its start's scale, n_1 there and where the error first falls below 1.

    `usual` is the median of n_1 at such starts.
    """
    runs = (
        frame(rows, kind="diagonal", series="gap")
        .reindex(columns=["heads", "dim", "params", "gaps"])
        .dropna()
    )
    if runs.empty:
        return None
    (line,) = lines_of(runs.head(1))
    points = line["gaps"]
    after = next(((n, gap) for n, error, gap in points if error is not None and error < 1), None)
    starts = ended(rows, "solved", kind="gap")
    alike = (starts["s"] == int(line["heads"])) & (starts["d"] == int(line["dim"]))
    alike &= starts["start"] == line["params"]["start"]
    return {
        "s": int(line["heads"]),
        "d": int(line["dim"]),
        "r": line["params"]["start"],
        "first": points[0][2],
        "usual": float(starts[alike]["n_1"].iloc[0]) if alike.any() else None,
        "after": after,
    }


def dense_outcomes(fixed: Mapping[str, Mapping[str, Any]]) -> list[Line]:
    """The sentences that the first two plans came to, as they were printed."""
    came = {"plan": ("power", "undecided", "as N"), "plan2": ("power", "undecided", "not as N")}
    plans: dict[tuple[str, str, str], list[str]] = {}
    for question, *outcomes in zip(QUESTIONS, *came.values(), strict=False):  # these plans had no widths
        for series, outcome in zip(came, outcomes, strict=True):
            sentence = fixed[series][question]["sentences"][outcome]
            plans.setdefault((question, outcome, sentence), []).append(FAMILIES[series])
    return [
        {"plan": " and ".join(named), "question": question, "came out": outcome, "sentence": sentence}
        for (question, outcome, sentence), named in plans.items()
    ]
