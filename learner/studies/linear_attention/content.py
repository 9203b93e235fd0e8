"""What the rows of `linear-attention` say of its four experiments."""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any

from hardness.engine.outcome import Row
from hardness.evaluation.judge import EXACT
from hardness.report import (
    Axis,
    Content,
    Curves,
    Panel,
    Point,
    Series,
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
from learner.studies import linear_attention as grid
from learner.studies.linear_attention import trials
from learner.studies.recorded import TINY

Line = dict[str, Any]
EXACT_AT = EXACT.threshold**2  # squared error
ZERO = 1e-14  # where the figure draws a λ_min of 0
PROGRAMS = ("addition", "palindrome", "busy beaver", "random")
FITS = {"distance": "least norm", "noisy": f"least norm, noise {trials.MEMORY_NOISE:g}", "other": "another exact fit"}
ERROR = Axis("squared error / variance", log=True)
SHARE = Axis("share", low=-0.05, high=1.08)
TO_RANK = Axis("training rows / rank", log=True, ticks=(0.5, 1, 1.5, 2, 3), names=("½", "1", "1½", "2", "3"))


def content(rows: Sequence[Row]) -> Content:
    """Numbers and figures of the rows."""
    runs = grouped(records(rows, "solved", "wrong"), "family")
    fits, adam = heads(runs.get(grid.HEAD, [])), descents(runs.get(grid.HEAD, []))
    mixtures, transitions = memories(runs.get(grid.MEMORY, [])), automata(runs.get(grid.AUTOMATA, []))
    jobs = programs(runs.get(grid.MACHINE, []))
    figures = [_recovery(fits), _adam(adam), _memory(mixtures), _execution(transitions), _programs(jobs)]
    ends = {(one["heads"], one["unitary"]): one for one in mixtures}
    known = {(0, 0.0), (0, 1.0), (grid.SIZE, 0.0), (grid.SIZE, 1.0)} <= ends.keys()
    if not (fits and adam and known and "other" in ends[0, 1.0] and transitions and jobs):
        return Content(figures=figures, missing="Some of the four experiments have too few rows.")
    numbers = _exact(fits) | _certified(transitions, jobs) | {
        "adam": [{"d": d, "most": max(own), "one": str(own[1]), "several": str(own[max(own)]),
                  "order": _order(own[max(own)], own[1])}
                 for d, some in grouped(adam, "d").items()
                 if 1 in (own := {one["heads"]: one["error"] for one in some})],
        "memory": _ends(ends), "least_rows": _least_rows(transitions), "exact_at": EXACT_AT,
        "features": feature_count(2 * grid.SIZE),
    }  # fmt: skip
    return Content(numbers, figures, grid=ChainMap(vars(trials), vars(grid)))


def heads(runs: Sequence[Line]) -> list[Line]:
    """One line per d and number of rows: exact runs, those with a certificate, errors (geometric means)."""
    regression = grouped((run for run in runs if run["method"] == "regression"), "dim", "samples")
    return [
        {
            "d": d, "rows/ψ": n / feature_count(d), "runs": len(own),
            "exact": sum(run["status"] == "solved" for run in own),
            "full rank": sum(run["identifiable"] for run in own),
            "exact at full rank": sum(run["status"] == "solved" and run["identifiable"] for run in own),
            "lam_min": [run["lam_min"] for run in own],
            "error": mean([run["error"] for run in own], logarithmic=True),
            "noisy": mean([run["noisy"] for run in own], logarithmic=True),
        }
        for (d, n), own in sorted(regression.items())
    ]  # fmt: skip


def descents(runs: Sequence[Line]) -> list[Line]:
    """One line per d and number of heads that Adam trains: the errors of its runs and their geometric mean."""
    adam = grouped((run for run in runs if run["method"] == "Adam"), "dim", "heads")
    errors = {key: [run["error"] for run in own] for key, own in sorted(adam.items())}
    return [{"d": d, "heads": h, "error": mean(own, logarithmic=True), "errors": own} for (d, h), own in errors.items()]


def memories(runs: Sequence[Line]) -> list[Line]:
    """One line per heads (0: of regression) and share of orthonormal examples: geometric means of what was measured."""
    found = []
    for (h, unitary), own in sorted(grouped(runs, lambda run: run.get("heads", 0), "unitary").items()):
        one: Line = {"method": own[0]["method"], "heads": h, "unitary": unitary}
        one["distances"] = [run["distance"] for run in own]
        for name in ("distance", "noisy", "other", "training"):
            if values := [run[name] for run in own if name in run]:
                one[name] = mean(values, logarithmic=True)
        if not h:
            one |= {"rank": spread([run["rank"] for run in own]), "certified": share([run["certified"] for run in own])}
        found.append(one)
    return found


def automata(runs: Sequence[Line]) -> list[Line]:
    """One line per size and number of rows: words and steps right, certified and not, and their counts."""
    found = []
    for (Q, A, n), own in sorted(grouped(runs, "states", "letters", "samples").items()):
        counts = [_steps(run) for run in own]
        sure, right, unsure, lucky = map(sum, zip(*counts, strict=True))
        lucks = [run[3] / run[2] for run in counts if run[2]]
        found.append({
            "states": Q, "letters": A, "rows/rank": n / span_rank(Q, A), "runs": len(own),
            "exact": sum(run["word_accuracy"] == 1 for run in own),
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
                "states": Q, "symbols": A, "rows/rank": n / span, "program": name,
                "full": all(run["rank"] == span for run in own), "part": all(run["rank"] < span for run in own),
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
    whole = grouped([one for one in jobs if one["full"]], "program")
    blind, blind_jobs = _sums([one for one in jobs if one["part"]], "blind", "jobs")
    return {
        "sure": sure + steps, "right": right + steps - wrong, "unsure": unsure, "lucky": lucky,
        "jobs": {name: _sums(whole[name], "whole", "jobs") for name in PROGRAMS if name in whole},
        "blind": blind, "blind_jobs": blind_jobs,
    }  # fmt: skip


def _ends(ends: Mapping[tuple[int, float], Line]) -> Line:
    """The associative memory on orthonormal and on Gaussian examples alone."""
    hidden, seen, lost, found = ends[0, 1.0], ends[0, 0.0], ends[grid.SIZE, 1.0], ends[grid.SIZE, 0.0]
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


def _least_rows(transitions: Sequence[Line]) -> list[float]:
    """Ends of the least rows over the rank at which half of the runs execute every unseen automaton, over sizes."""
    exact = [one for one in transitions if 2 * one["exact"] >= one["runs"]]
    least = [min(one["rows/rank"] for one in own) for own in grouped(exact, "states", "letters").values()]
    return [min(least), max(least)] if least else []


def _upright(low: float, high: float) -> Series:
    return line("as many rows as dimensions", [(1, low), (1, high)], dashed=True)


def _recovery(fits: Sequence[Line]) -> Curves:
    """Errors and λ_min against rows over features."""
    clean, noisy = (mean_series(fits, "rows/ψ", key, "d", label="d = {}") for key in ("error", "noisy"))
    least = []
    for i, (d, own) in enumerate(grouped(fits, "d").items()):
        seen = [one for one in own if min(one["lam_min"]) > 0]
        points = mean_points((one["rows/ψ"], mean(one["lam_min"], logarithmic=True)) for one in seen)
        points += [Point(one["rows/ψ"], ZERO, censored="below", tip="λ_min = 0")
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
    )  # fmt: skip


def _adam(adam: Sequence[Line]) -> Curves:
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
    )  # fmt: skip


def _memory(mixtures: Sequence[Line]) -> Curves:
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
    )  # fmt: skip


def _execution(transitions: Sequence[Line]) -> Curves:
    """Words right, steps certified, and uncertified steps right, against rows over the rank of the span."""
    shown = {"words": "words right", "certified": "steps certified", "uncertified": "uncertified steps right"}
    panels = [
        Panel(title, [*mean_series(transitions, "rows/rank", key, "states", "letters", label="Q = {}, A = {}"),
                      _upright(0, 1)])
        for key, title in shown.items()
    ]  # fmt: skip
    return Curves(
        "execution", panels if transitions else [], TO_RANK, SHARE,
    )  # fmt: skip


def _programs(jobs: Sequence[Line]) -> Curves:
    """Jobs certified to their end, and right without asking, against rows over the rank of the span."""
    sizes = grouped(jobs, "states", "symbols")
    panels = [
        Panel(f"{key} ({Q}, {A})", [*mean_series(own, "rows/rank", key, "program", label="{}"), _upright(0, 1)])
        for key in ("certified", "without asking")
        for (Q, A), own in sizes.items()
    ]
    return Curves(
        "programs", panels, TO_RANK, SHARE, columns=max(len(sizes), 1),
    )  # fmt: skip
