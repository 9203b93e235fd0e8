"""What the rows of `linear-attention` say of its four experiments."""

from collections.abc import Mapping, Sequence
from typing import Any

from hardness.engine.outcome import Row
from hardness.evaluation.judge import EXACT
from hardness.report import (
    Axis,
    Content,
    Curves,
    Figure,
    Panel,
    Point,
    Series,
    Table,
    grouped,
    line,
    mean_points,
    mean_series,
    records,
)
from hardness.statistics.means import Mean, mean, share, spread
from learner.linear.features import feature_count
from learner.programs.automata import span_rank
from learner.programs.machine import Machine
from learner.studies.linear_attention import tasks as grid
from learner.studies.linear_attention import trials
from learner.studies.recorded import TINY

Line = dict[str, Any]
EXACT_AT = EXACT.threshold**2  # squared error
ZERO = 1e-14  # where the figure draws a λ_min of 0
PROGRAMS = ("addition", "palindrome", "busy beaver", "random")
LOGARITHMIC = ("distance", "noisy", "other", "training", "gaussian", "other training", "other gaussian")
FITS = {"distance": "least norm", "noisy": f"least norm, noise {trials.MEMORY_NOISE:g}", "other": "another exact fit"}
TERMS = {
    "certificate": "Of a fit: its features have full rank (λ_min > 0). Of one input: see certified.",
    "certified": "Of an input, or a step: its features lie in the span of those seen, so that all exact fits agree.",
    "ψ": "The number of cubic features, d²(d+1)/2.",
    "λ_min": "The least eigenvalue of the features' second moment: above 0, they identify the layer.",
    "p": "The coefficients that are the function of a linear-attention layer; p* are the true ones.",
    "H": "The number of heads that Adam trains.",
    "Q": "The number of states of an automaton or a machine.",
    "A": "The number of letters of an automaton, or of symbols on a tape.",
}
ERROR = Axis("squared error / variance", log=True)
SHARE = Axis("share", low=-0.05, high=1.08)
TO_RANK = Axis("training rows / rank", log=True, ticks=(0.5, 1, 1.5, 2, 3), names=("½", "1", "1½", "2", "3"))
SET = {
    "length": grid.LENGTH, "fresh": trials.FRESH // grid.LENGTH, "exact_at": EXACT_AT, "tiny": TINY,
    "noise": trials.NOISE, "memory_noise": trials.MEMORY_NOISE, "adam_rows": grid.ADAM_ROWS, "epochs": trials.EPOCHS,
    "rate": trials.RATE, "size": grid.SIZE, "features": feature_count(2 * grid.SIZE), "unseen": trials.UNSEEN,
    "word": trials.WORD,
}  # fmt: skip


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    runs = grouped(records(rows, "solved", "wrong"), "family")
    fits, adam = heads(runs.get(grid.HEAD, [])), descents(runs.get(grid.HEAD, []))
    mixtures, transitions = memories(runs.get(grid.MEMORY, [])), automata(runs.get(grid.AUTOMATA, []))
    jobs = programs(runs.get(grid.MACHINE, []))
    figures = [_recovery(fits), _adam(adam), _memory(mixtures), _execution(transitions), _programs(jobs)]
    tables = {
        "heads": Table("Regression on one random head.", fits),
        "adam": Table("Adam on one random head, without noise.", adam),
        "memory": Table("Distances of parameters and squared errors on the associative memory.", mixtures),
        "automata": Table("Unseen automata.", transitions),
        "programs": Table("Unseen programs.", jobs),
    }
    ends = {(one["heads"], one["unitary"]): one for one in mixtures}
    known = {(None, 0.0), (None, 1.0), (grid.SIZE, 0.0), (grid.SIZE, 1.0)} <= ends.keys()
    if not (fits and adam and known and "other" in ends[None, 1.0] and transitions and jobs):
        return Content(figures=figures, tables=tables, missing="Some of the four experiments have too few rows.")
    numbers = SET | _exact(fits) | _certified(transitions, jobs) | {
        "adam": [{"d": d, "most": max(own), "one": str(own[1]), "several": str(own[max(own)]),
                  "order": _order(own[max(own)], own[1])}
                 for d, some in grouped(adam, "d").items()
                 if 1 in (own := {one["heads"]: one["error"] for one in some})],
        "memory": _ends(ends), "least_rows": _least_rows(transitions),
    }  # fmt: skip
    return Content(numbers, figures, tables, terms=TERMS)


def heads(runs: Sequence[Line]) -> list[Line]:
    """One line per d and number of rows: exact runs, errors (geometric means), rank and certificate."""
    found = []
    regression = [run for run in runs if run["method"] == "regression"]
    for (d, n), own in sorted(grouped(regression, "dim", "samples").items()):
        found.append({
            "d": d, "rows": n, "rows/ψ": n / feature_count(d), "runs": len(own),
            "exact": sum(run["status"] == "solved" for run in own),
            "full rank": sum(run["identifiable"] for run in own),
            "exact at full rank": sum(run["status"] == "solved" and run["identifiable"] for run in own),
            "rank": spread([run["rank"] for run in own]), "λ_min": spread([run["lam_min"] for run in own]),
            "lam_min": [run["lam_min"] for run in own],
            "error": mean([run["error"] for run in own], logarithmic=True),
            "noisy": mean([run["noisy"] for run in own], logarithmic=True),
            "certified": mean([run["certified"] for run in own]),
        })  # fmt: skip
    return found


def descents(runs: Sequence[Line]) -> list[Line]:
    """One line per d and number of heads that Adam trains: the errors of its runs and their geometric mean."""
    adam = [run for run in runs if run["method"] == "Adam"]
    return [
        {"d": d, "heads": h, "runs": len(own), "exact": sum(run["status"] == "solved" for run in own),
         "error": mean([run["error"] for run in own], logarithmic=True), "errors": [run["error"] for run in own]}
        for (d, h), own in sorted(grouped(adam, "dim", "heads").items())
    ]  # fmt: skip


def memories(runs: Sequence[Line]) -> list[Line]:
    """One line per method, heads and share of orthonormal examples: geometric means of what was measured."""
    found = []
    groups = grouped(runs, lambda run: run.get("heads", 0), "unitary")
    for (h, unitary), own in sorted(groups.items()):
        one: Line = {"method": own[0]["method"], "heads": h or None, "unitary": unitary, "runs": len(own)}
        for name in (name for name in LOGARITHMIC if any(name in run for run in own)):
            one[name] = mean([run[name] for run in own if name in run], logarithmic=True)
        if not h:
            one |= {"rank": spread([run["rank"] for run in own]), "λ_min": spread([run["lam_min"] for run in own]),
                    "certified": share([run["certified"] for run in own]),
                    "unseen": max(run["hidden"] for run in own)}  # fmt: skip
        found.append(one | {"distances": [run["distance"] for run in own]})
    return found


def automata(runs: Sequence[Line]) -> list[Line]:
    """One line per size and number of rows: words and steps right, certified and not, and their counts."""
    found = []
    for (Q, A, n), own in sorted(grouped(runs, "states", "letters", "samples").items()):
        counts = [_steps(run) for run in own]
        sure, right, unsure, lucky = map(sum, zip(*counts, strict=True))
        lucks = [run[3] / run[2] for run in counts if run[2]]
        span = span_rank(Q, A)
        found.append({
            "states": Q, "letters": A, "rank": span, "rows": n, "rows/rank": n / span, "runs": len(own),
            "full": sum(run["rank"] == span for run in own), "exact": sum(run["word_accuracy"] == 1 for run in own),
            "words": share([run["word_accuracy"] for run in own]), "certified": share([r["certified"] for r in own]),
            "uncertified": share(lucks) if lucks else None,
            "sure": sure, "sure right": right, "unsure": unsure, "unsure right": lucky,
        })  # fmt: skip
    return found


def _steps(run: Line) -> tuple[int, int, int, int]:
    """Certified steps of a run, those of them that were right; the others, and those of these that were."""
    sure = round(run["certified"] * run["steps"])
    right = round(run["certified"] * run["steps"] * (run["certified_right"] or 0))
    return sure, right, run["steps"] - sure, round(run["step_accuracy"] * run["steps"]) - right


def programs(runs: Sequence[Line]) -> list[Line]:
    """One line per machine, number of rows and program: jobs certified to their end, and right without asking."""
    found = []
    for (Q, A, n), own in sorted(grouped(runs, "states", "symbols", "samples").items()):
        span = Machine(Q, A).span_rank
        for name, counts in grouped(((name, one) for run in own for name, one in run["programs"].items()), 0).items():
            jobs = [count for _, count in counts]
            found.append({
                "states": Q, "symbols": A, "rank": span, "rows": n, "rows/rank": n / span, "program": name,
                "runs": len(own), "full": sum(run["rank"] == span for run in own),
                **{key: sum(count[key] for count in jobs) for key in jobs[0]},
                "certified": share([count["whole"] / count["jobs"] for count in jobs]),
                "without asking": share([count["blind"] / count["jobs"] for count in jobs]),
            })  # fmt: skip
    return found


def _sums(lines: Sequence[Line], *keys: str) -> list[int]:
    return [sum(one[key] for one in lines) for key in keys]


def _exact(fits: Sequence[Line]) -> Line:
    """Runs with and without full rank, and those of them that were exact."""
    runs, exact, full, both = _sums(fits, "runs", "exact", "full rank", "exact at full rank")
    return {"full": full, "full_exact": both, "short": runs - full, "short_exact": exact - both,
            "largest": max(one["d"] for one in fits)}  # fmt: skip


def _certified(transitions: Sequence[Line], jobs: Sequence[Line]) -> Line:
    """Steps of automata and of programs: certified, and right; jobs of programs, by the span of the rows."""
    sure, right, unsure, lucky = _sums(transitions, "sure", "sure right", "unsure", "unsure right")
    steps, wrong = _sums(jobs, "steps", "wrong")
    whole = grouped([one for one in jobs if one["full"] == one["runs"]], "program")
    blind, blind_jobs = _sums([one for one in jobs if not one["full"]], "blind", "jobs")
    return {
        "sure": sure + steps, "right": right + steps - wrong, "unsure": unsure, "lucky": lucky,
        "jobs": {name: _sums(whole[name], "whole", "jobs") for name in PROGRAMS if name in whole},
        "blind": blind, "blind_jobs": blind_jobs,
    }  # fmt: skip


def _ends(ends: Mapping[tuple[int | None, float], Line]) -> Line:
    """The associative memory on orthonormal and on Gaussian examples alone."""
    hidden, seen, lost, found = ends[None, 1.0], ends[None, 0.0], ends[grid.SIZE, 1.0], ends[grid.SIZE, 0.0]
    return {
        "rank": hidden["rank"], "least_norm": max(hidden["distances"]), "other": hidden["other"].value,
        "certified": hidden["certified"].value, "certified_seen": seen["certified"].value,
        "adam": str(lost["distance"]), "adam_training": lost["training"].value,
        "adam_seen": str(found["distance"]), "adam_seen_training": found["training"].value,
        "order": _order(found["distance"], lost["distance"]),
    }  # fmt: skip


def _order(small: Mean, large: Mean) -> int:
    """1 if the first mean is the smaller one, −1 if it is the larger one, 0 if their intervals overlap.

    >>> near, far = Mean(1.0, 0.9, 1.1, 3), Mean(2.0, 1.9, 2.1, 3)
    >>> _order(near, far), _order(far, near), _order(near, Mean(1.5, 0.5, 2.5, 3))
    (1, -1, 0)
    """
    if small.low is None or small.high is None or large.low is None or large.high is None:
        return 0
    return int(small.high < large.low) - int(large.high < small.low)


def _least_rows(transitions: Sequence[Line]) -> list[Line]:
    """Per size, the least rows over the rank at which half of the runs execute every unseen automaton."""
    return [
        {"states": Q, "letters": A, "rank": own[0]["rank"],
         "ratio": min((one["rows/rank"] for one in own if 2 * one["exact"] >= one["runs"]), default=None)}
        for (Q, A), own in grouped(transitions, "states", "letters").items()
    ]  # fmt: skip


def _upright(low: float, high: float) -> Series:
    return line("as many rows as dimensions", [(1, low), (1, high)], dashed=True)


def _recovery(fits: Sequence[Line]) -> Figure:
    """Errors and λ_min against rows over features."""
    clean, noisy = (mean_series(fits, "rows/ψ", key, "d", label="d = {}") for key in ("error", "noisy"))
    least = []
    for i, (d, own) in enumerate(grouped(fits, "d").items()):
        seen = [one for one in own if min(one["lam_min"]) > 0]
        points = mean_points((one["rows/ψ"], mean(one["lam_min"], logarithmic=True)) for one in seen)
        points += [Point(one["rows/ψ"], ZERO, censored="below", tip=f"λ_min = 0, rank {one['rank']}")
                   for one in own if not min(one["lam_min"])]  # fmt: skip
        least.append(Series(f"d = {d}", points, style=i))
    exact = line("exact below", [(0.5, EXACT_AT), (16, EXACT_AT)], "law")
    panels = [
        Panel("no noise", [*clean, _upright(TINY**2, 1), exact], y=ERROR),
        Panel(f"noise {trials.NOISE:g}", [*noisy, _upright(1e-4, 1e3)], y=ERROR),
        Panel("certificate", [*least, _upright(ZERO, 1)], y=Axis("λ_min", log=True)),
    ]
    return Curves(
        "recovery", panels if fits else [],
        Axis("rows / ψ", log=True, ticks=(0.5, 1, 2, 4, 16), names=("½", "1", "2", "4", "16")), ERROR,
        alt_summary="Without noise the error falls to rounding at as many rows as features, where λ_min leaves 0.",
    )  # fmt: skip


def _adam(adam: Sequence[Line]) -> Figure:
    panels = []
    for d, own in grouped(adam, "d").items():
        runs = [Point(one["heads"], error, hollow=True) for one in own for error in one["errors"]]
        ends = (own[0]["heads"], own[-1]["heads"])
        panels.append(Panel(
            f"d = {d}, d² = {d * d}",
            [Series("Adam", mean_points((one["heads"], one["error"]) for one in own)),
             Series("single runs", runs, join=False), line("exact below", [(h, EXACT_AT) for h in ends], "law")],
            x=Axis("heads H", log=True, ticks=grid.HEADS[d]),
        ))  # fmt: skip
    return Curves(
        "adam", panels, Axis("heads H", log=True), ERROR,
        alt_summary="The error falls with the number of heads at every d; one head ends orders of magnitude higher.",
    )  # fmt: skip


def _memory(mixtures: Sequence[Line]) -> Figure:
    """Distances against the share of orthonormal examples: of regression, and of Adam."""
    place = {share: float(i) for i, share in enumerate(grid.MIXTURES)}
    placed = [one | {"place": place[one["unitary"]]} for one in mixtures]
    regression, adam = ([one for one in placed if one["method"] == name] for name in ("regression", "Adam"))
    fits = [Series(title, mean_points((one["place"], one.get(name)) for one in regression), style=i)
            for i, (name, title) in enumerate(FITS.items())]  # fmt: skip
    runs = [Point(one["place"], x, hollow=True) for one in adam for x in one["distances"]]
    truth = line("|p*|", [(0, grid.SIZE), (len(grid.MIXTURES) - 1, grid.SIZE)], "law")
    panels = [
        Panel("regression", [*fits, truth]),
        Panel("Adam", [*mean_series(adam, "place", "distance", "heads", label="Adam, H = {}"),
                       Series("single runs of Adam", runs, join=False), truth]),
        Panel("Gaussian inputs certified", mean_series(regression, "place", "certified", "method", label="certified"),
              y=SHARE),
    ]  # fmt: skip
    names = [f"{100 * share:g}" for share in grid.MIXTURES]
    return Curves(
        "memory", panels if mixtures else [], Axis("% orthonormal examples", ticks=list(place.values()), names=names),
        Axis("|p − p*|", log=True), columns=2,
        alt_summary="Least norm stays at the true parameters for every mixture, other exact fits and Adam do not.",
    )  # fmt: skip


def _execution(transitions: Sequence[Line]) -> Figure:
    """Words right, steps certified, and uncertified steps right, against rows over the rank of the span."""
    shown = {"words": "words right", "certified": "steps certified", "uncertified": "uncertified steps right"}
    panels = [
        Panel(title, [*mean_series(transitions, "rows/rank", key, "states", "letters", label="Q = {}, A = {}"),
                      _upright(0, 1)])
        for key, title in shown.items()
    ]  # fmt: skip
    return Curves(
        "execution", panels if transitions else [], TO_RANK, SHARE,
        alt_summary="All shares rise to one within a few times the rank in rows; uncertified steps often err.",
    )  # fmt: skip


def _programs(jobs: Sequence[Line]) -> Figure:
    """Jobs certified to their end, and right without asking, against rows over the rank of the span."""
    sizes = grouped(jobs, "states", "symbols")
    panels = [
        Panel(f"{key} ({Q}, {A})", [*mean_series(own, "rows/rank", key, "program", label="{}"), _upright(0, 1)])
        for key in ("certified", "without asking")
        for (Q, A), own in sizes.items()
    ]
    return Curves(
        "programs", panels, TO_RANK, SHARE, columns=max(len(sizes), 1),
        alt_summary="Certified jobs rise from none at the rank to all soon after; many are right before it.",
    )  # fmt: skip
