"""The tables of `exponential-in-m`, and what its plan came to: lines of plain values, of medians by cell."""

from collections.abc import Mapping, Sequence
from math import comb, exp, log
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Row
from hardness.report import records
from learner.studies.exponential_in_m import laws, plan, settings
from learner.studies.exponential_in_m.arms import (
    COINS,
    CONTROLS,
    FLIPPED,
    HARD,
    LATER,
    MILD,
    POOLED,
    TENT,
    WIDE,
)
from learner.studies.exponential_in_m.cells import LINES, OTHERS, RAYS
from learner.studies.exponential_in_m.frames import dense_runs, law_cells, medians, of_arm, on_ray, shown

if TYPE_CHECKING:
    import pandas as pd

Line = dict[str, Any]
ALONG = (HARD, *CONTROLS)
DENSE_HEADS = 16  # of the dense student, which has 2 d² weights a head
FAMILIES = {"plan": "first", "plan2": "second"}  # plans of the dense student


def factors(cells: "pd.DataFrame") -> list[Line]:
    """The factor a head along each ray, of hidden sets and controls, with its interval over the cells."""
    lines = []
    for ray in RAYS:
        for arm in ALONG:
            part = on_ray(of_arm(cells, arm), ray)
            slope = laws.slope(law_cells(part), lambda s, d: float(s))
            if slope:
                value, low, high = map(exp, slope)
                lines.append(
                    {
                        "ray": ray,
                        "arm": arm,
                        "factor": value,
                        "low": low,
                        "high": high,
                        "cells": len(part),
                        "m from": int(part["s"].min()),
                        "m to": int(part["s"].max()),
                        "N from": int(part["sets"].min()),
                        "N to": int(part["sets"].max()),
                    }
                )
    return lines


def judged(cells: "pd.DataFrame", fixed: Mapping[str, Any]) -> Line:
    """What came of the third plan: every law's errors, the slope, and the outcome of every question."""
    hard = of_arm(cells)
    found = laws.answers(fixed, law_cells(hard))
    widths = _width_outcome(cells, fixed["widths"]["factor"])
    outcomes = {**found.outcomes, "widths": widths}
    frozen = found.laws[laws.N_OVER_D]
    return {
        "fitted": len(found.fitted),
        "asked": len(found.asked),
        "new": len(found.new),
        "slope": list(found.slope),
        "laws": [
            {
                "law": name,
                "coefficients": law.beta.tolist(),
                "all": laws.typical(found.errors[name]),
                "new": laws.typical(found.errors[name][list(found.new)]),
            }
            for name, law in found.laws.items()
        ],
        "predictions": {
            f"{s},{d}": exp(frozen.at((s, d)))
            for s, d in (cell.place for cell in (*found.fitted, *found.asked))
        },
        "outcomes": outcomes,
        "sentences": {
            key: fixed[key.split(",")[0]]["sentences"][outcome] for key, outcome in outcomes.items()
        },
        "censored": int(hard["censored"].sum()),
        "cells": len(hard),
        "digest": fixed["digest"][:12],
        "unsolved": int((hard["runs"] - hard["solved"]).sum()),
        "trials": int(hard["runs"].sum()),
    }


def _width_outcome(cells: "pd.DataFrame", most: float) -> str:
    ratios = [line["ratio"] for line in widths(cells)]
    return "undecided" if not ratios else "within" if all(1 / most <= r <= most for r in ratios) else "beyond"


def widths(cells: "pd.DataFrame") -> list[Line]:
    """Examples x weights with 64 heads beside 16."""
    both = of_arm(cells, WIDE).merge(of_arm(cells), on=["s", "d"], suffixes=(" 64", " 16"))
    return [
        {
            "s": row["s"],
            "d": row["d"],
            "16 heads": shown(row["median 16"], row["censored 16"]),
            "64 heads": shown(row["median 64"], row["censored 64"]),
            "ratio": row["work 64"] / row["work 16"],
        }
        for row in both.to_dict("records")
    ]


def every_cell(cells: "pd.DataFrame", judged: Line | None) -> list[Line]:
    """Every cell of hidden sets: its costs, and what the frozen law c N/d says."""
    tuned = {(cell.s, cell.d) for cell in settings.rows() if cell.arm == HARD}
    predictions = judged["predictions"] if judged else {}
    return [
        {
            "s": row["s"],
            "d": row["d"],
            "N": row["sets"],
            "median": shown(row["median"], row["censored"]),
            "around it": f"{row['low']:,.0f}–{row['high']:,.0f}",
            "solved": f"{row['solved']} of {row['runs']}",
            "c N/d": predictions.get(f"{row['s']},{row['d']}"),
            "examples x weights / N": row["work"] / row["sets"],
            "rate, batch, l1, start": ", ".join(f"{value:g}" for value in row["setting"]),
            "tuned": "here" if (row["s"], row["d"]) in tuned else "nearest",
        }
        for row in of_arm(cells).sort_values("sets").to_dict("records")
    ]


def controls(cells: "pd.DataFrame") -> list[Line]:
    """Hidden sets beside their controls, along the rays."""
    known = {(row.arm, row.s, row.d): row for row in cells.itertuples()}
    places = sorted((d // s, s, d) for arm, s, d in known if arm == MILD and (HARD, s, d) in known)
    lines = []
    for ray, s, d in places:
        found = {arm: known.get((arm, s, d)) for arm in ALONG}
        texts = {arm: row and shown(row.median, row.censored) for arm, row in found.items()}
        ratios = {
            f"over {arm}": row and known[HARD, s, d].median / row.median
            for arm, row in found.items()
            if arm in (TENT, MILD)
        }
        lines.append({"d/s": ray, "s": s, "d": d, **texts, **ratios})
    return lines


def signs(cells: "pd.DataFrame") -> Line | None:
    """Eight heads in 32 dimensions, or the largest cell with both: the parity, and the tent with the same sizes."""
    both = of_arm(cells).merge(of_arm(cells, TENT), on=["s", "d"], suffixes=("", " tent")).sort_values("sets")
    wanted = both[(both["s"] == 8) & (both["d"] == 32)]
    shown = wanted if len(wanted) else both.tail(1)
    if shown.empty:
        return None
    row = shown.iloc[0]
    return {
        "s": int(row["s"]),
        "d": int(row["d"]),
        "parity": float(row["median"]),
        "censored": bool(row["censored"]),
        "tent": float(row["median tent"]),
        "ratio": float(row["median"] / row["median tent"]),
    }


def exponents(cells: "pd.DataFrame") -> list[Line]:
    """The exponent of d at fixed s, d at least 4s, with its interval over the cells."""
    lines = []
    for s in LINES:
        part = of_arm(cells)[(of_arm(cells)["s"] == s) & (of_arm(cells)["d"] >= 4 * s)]
        slope = laws.slope(law_cells(part), lambda s, d: log(d))
        if slope:
            lines.append(
                {
                    "s": s,
                    "d from": int(part["d"].min()),
                    "d to": int(part["d"].max()),
                    "N from": int(part["sets"].min()),
                    "N to": int(part["sets"].max()),
                    "exponent": slope[0],
                    "low": slope[1],
                    "high": slope[2],
                    "s - 1": s - 1,
                }
            )
    return lines


def law_lines(judged: Line | None) -> list[Line]:
    """Every law with its kind, its errors and its coefficients."""
    if judged is None:
        return []
    kinds = dict.fromkeys(laws.COMBINATORIAL, "combinatorial") | dict.fromkeys(laws.RIVALS, "rival")
    return [
        {
            "law": law["law"],
            "kind": kinds.get(law["law"], "confirming"),
            "all": law["all"],
            "new": law["new"],
            "coefficients": ", ".join(f"{value:.3g}" for value in law["coefficients"]),
        }
        for law in judged["laws"]
    ]


def other_labels(cells: "pd.DataFrame") -> list[Line]:
    """Flipped labels beside clean ones, and random labels."""
    clean = of_arm(cells).set_index(["s", "d"])
    lines = []
    for row in cells[cells["arm"].isin([FLIPPED, COINS])].to_dict("records"):
        at = (row["s"], row["d"])
        base = clean.loc[at] if at in clean.index else None
        lines.append(
            {
                "labels": row["arm"],
                "s": row["s"],
                "d": row["d"],
                "median": shown(row["median"], row["censored"]),
                "solved": f"{row['solved']} of {row['runs']}",
                "clean": None if base is None else shown(base["median"], base["censored"]),
                "ratio": None if base is None or row["arm"] == COINS else row["median"] / base["median"],
            }
        )
    return lines


def outcomes(fixed: Mapping[str, Any], judged: Line | None) -> list[Line]:
    """Every outcome of the plan with its sentence, and whether it came out."""
    came = judged["outcomes"] if judged else {}
    lines = []
    for question in ("primary", "secondary", "tertiary", "widths"):
        for outcome, sentence in fixed[question]["sentences"].items():
            keys = [key for key in came if key.split(",")[0] == question]
            said = ", ".join("yes" if came[key] == outcome else "no" for key in keys) or "not run"
            lines.append({"question": question, "outcome": outcome, "sentence": sentence, "came out": said})
    return lines


def tuning() -> Line:
    """What the tuning took."""
    rows = settings.rows()
    return {
        "cells": len(rows),
        "settings": len(settings.MENU),
        "runs": sum(map(len, rows.values())),
        "examples": int(sum(run.cost for runs in rows.values() for *_, run in runs)),
    }


def panel_lines(runs: "pd.DataFrame", cells: "pd.DataFrame") -> list[Line]:
    """Other learners in cells of the plan: their medians, and examples x weights over those of `diagonal`."""
    other = medians(runs[runs["series"].isin(plan.PANELS)])
    both = other.merge(of_arm(cells), on=["s", "d"], suffixes=("", " diagonal")).sort_values(["s", "d"])
    return [
        {
            "learner": row["arm"],
            "s": row["s"],
            "d": row["d"],
            "median": shown(row["median"], row["censored"]),
            "solved": f"{row['solved']} of {row['runs']}",
            "diagonal": shown(row["median diagonal"], row["censored diagonal"]),
            "ratio": row["work"] / row["work diagonal"],
            "censored": bool(row["censored"]),
        }
        for row in both.to_dict("records")
        if row["arm"] != LATER
    ]


def cheapest(panel: Sequence[Line], cells: "pd.DataFrame") -> Line | None:
    """The line of the panel with the least examples x weights; and what `diagonal` read at the largest of its cells."""
    if not panel:
        return None
    hard = {(row.s, row.d): row for row in of_arm(cells).itertuples()}
    largest = max((hard[place] for place in OTHERS if place in hard), key=lambda row: row.sets)
    return {**min(panel, key=lambda each: each["ratio"]), "fresh": largest.median}


def pools(panel: Sequence[Line]) -> tuple[int, int]:
    """In how many cells most runs solve that read one pool again and again, and how many such cells there are."""
    lines = [line for line in panel if line["learner"] == POOLED]
    return sum(not line["censored"] for line in lines), len(lines)


def dense_lines(rows: Sequence[Row], cells: "pd.DataFrame") -> list[Line]:
    """The dense student in cells of the panel, as lines of it."""
    lines = []
    hard = {(row.s, row.d): row for row in of_arm(cells).itertuples()}
    for (s, d), group in dense_runs(rows).groupby(["s", "d"]):
        if (s, d) in OTHERS and (s, d) in hard:
            value, censored = laws.median(group["examples"].tolist(), group["solved"].tolist())
            lines.append(
                {
                    "learner": "dense student",
                    "s": int(s),
                    "d": int(d),
                    "median": shown(value, censored),
                    "solved": f"{group['solved'].sum()} of {len(group)}",
                    "diagonal": shown(hard[s, d].median, hard[s, d].censored),
                    "ratio": value * DENSE_HEADS * 2 * d**2 / hard[s, d].work,
                    "censored": censored,
                }
            )
    return lines


def user_lines(rows: Sequence[Row], cells: "pd.DataFrame") -> list[Line]:
    """Learners of the user on small hidden sets, beside `diagonal`."""
    import pandas as pd

    names = ["learner", "heads", "dim", "status", "cost", "samples"]
    found = [
        run
        for run in records(rows, "solved", "budget", "wrong", kind="learner")
        if run["series"] not in plan.PLANS
    ]
    hard = {(row.s, row.d): row for row in of_arm(cells).itertuples()}
    lines = []
    for (name, s, d), runs in pd.DataFrame(found, columns=names).groupby(["learner", "heads", "dim"]):
        solved = (runs["status"] == "solved").tolist()
        spent = runs["cost"].where(runs["status"] == "solved", runs["samples"]).tolist()
        other = hard.get((int(s), int(d)))
        lines.append(
            {
                "learner": name,
                "s": int(s),
                "d": int(d),
                "median": shown(*laws.median(spent, solved)),
                "solved": f"{sum(solved)} of {len(runs)}",
                "diagonal": other and shown(other.median, other.censored),
            }
        )
    return lines


def later_lines(runs: "pd.DataFrame", cells: "pd.DataFrame", judged: Line | None) -> list[Line]:
    """The largest cells with a batch that the menu lacks, tried after the plan, beside its medians and frozen law."""
    other = of_arm(medians(runs[runs["series"].isin(plan.PANELS)]), LATER)
    both = other.merge(of_arm(cells), on=["s", "d"], suffixes=("", " plan")).sort_values("sets")
    predictions = judged["predictions"] if judged else {}
    return [
        {
            "s": row["s"],
            "d": row["d"],
            "N": row["sets"],
            "plan": shown(row["median plan"], row["censored plan"]),
            "batch 1024": shown(row["median"], row["censored"]),
            "solved": f"{row['solved']} of {row['runs']}",
            "c N/d": predictions.get(f"{row['s']},{row['d']}"),
        }
        for row in both.to_dict("records")
    ]


def later_errors(runs: "pd.DataFrame", cells: "pd.DataFrame", fixed: Mapping[str, Any]) -> dict[str, float]:
    """What the frozen laws err by at the larger cells where those medians stand instead of the plan's."""
    import pandas as pd

    other = of_arm(medians(runs[runs["series"].isin(plan.PANELS)]), LATER).assign(arm=HARD)
    if other.empty:
        return {}
    every = pd.concat([other, of_arm(cells)]).drop_duplicates(["s", "d"])
    found = laws.answers(fixed, law_cells(every))
    return {name: laws.typical(wrong) for name, wrong in found.errors.items()}


def gap_lines(rows: Sequence[Row], cells: "pd.DataFrame") -> list[Line]:
    """n_1 at the start at every scale, beside half the median of the cell: informative examples both."""
    import pandas as pd

    starts = pd.DataFrame(records(rows, "solved", kind="gap"), columns=["heads", "dim", "start", "n_1"])
    if starts.empty:
        return []
    wide = starts.pivot(index=["heads", "dim"], columns="start", values="n_1")
    hard = {(row.s, row.d): row.median / 2 for row in of_arm(cells).itertuples()}
    return [
        {
            "s": s,
            "d": d,
            "N": comb(d - 1, s),
            **{f"r = {start}": value for start, value in n_1.items()},
            "learning took": hard.get((s, d)),
        }
        for (s, d), n_1 in wide.iterrows()
    ]


def dense_outcomes(fixed: Mapping[str, Mapping[str, Any]]) -> list[Line]:
    """The sentences that the first two plans came to, as they were printed."""
    came = {"plan": ("power", "undecided", "as N"), "plan2": ("power", "undecided", "not as N")}
    return [
        {
            "plan": FAMILIES[series],
            "question": question,
            "came out": outcome,
            "sentence": fixed[series][question]["sentences"][outcome],
        }
        for series, outcomes in came.items()
        for question, outcome in zip(("primary", "secondary", "tertiary"), outcomes, strict=True)
    ]
