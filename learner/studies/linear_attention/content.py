"""What the rows of `linear-attention` say of its four experiments."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hardness.engine.outcome import Row
from hardness.evaluation.judge import EXACT
from hardness.report import Axis, Column, Content, Curves, Figure, Panel, Point, Series, Table, line, mean_points
from hardness.statistics.means import Mean, mean, share, spread
from learner.linear.features import feature_count
from learner.programs.automata import span_rank
from learner.programs.machine import Machine
from learner.studies.linear_attention.tasks import (
    ADAM_ROWS,
    AUTOMATA,
    AUTOMATON_SIZES,
    HEAD,
    HEADS,
    LENGTH,
    MACHINE,
    MACHINE_SIZES,
    MEMORY,
    MEMORY_HEADS,
    MIXTURES,
    SIZE,
)
from learner.studies.linear_attention.trials import EPOCHS, FRESH, MEMORY_NOISE, NOISE, RATE, UNSEEN, WORD
from learner.studies.recorded import TINY

Line = dict[str, Any]
EXACT_AT = EXACT.threshold**2  # squared error
ZERO = 1e-14  # where the figure draws a λ_min of 0
ENOUGH = "as many rows as dimensions"
PROGRAMS = ("addition", "palindrome", "busy beaver", "random")
LOGARITHMIC = ("distance", "noisy", "other", "training", "gaussian", "other training", "other gaussian")
FITS = {"distance": "least norm", "noisy": f"least norm, noise {MEMORY_NOISE:g}", "other": "another exact fit"}
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
SHARE = Axis("share", low=-0.05, high=1.08)
TO_RANK = Axis("training rows / rank", log=True, ticks=(0.5, 1, 1.5, 2, 3), names=("½", "1", "1½", "2", "3"))
SET = {
    "length": LENGTH, "fresh": FRESH // LENGTH, "exact_at": EXACT_AT, "tiny": TINY, "noise": NOISE,
    "memory_noise": MEMORY_NOISE, "adam_rows": ADAM_ROWS, "epochs": EPOCHS, "rate": RATE, "size": SIZE,
    "features": feature_count(2 * SIZE), "unseen": UNSEEN, "word": WORD,
}  # fmt: skip


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    fits, adam, mixtures, transitions, runs = (
        heads(rows),
        descents(rows),
        memories(rows),
        automata(rows),
        programs(rows),
    )
    figures = [_recovery(fits), _adam(adam), _memory(mixtures), _execution(transitions), _programs(runs)]
    tables = {
        "heads": _table("Regression on one random head.", fits),
        "adam": _table("Adam on one random head, without noise.", adam),
        "memory": _table("Distances of parameters and squared errors on the associative memory.", mixtures),
        "automata": _table("Unseen automata.", transitions),
        "programs": _table("Unseen programs.", runs),
    }
    ends = {(one["heads"], one["unitary"]): one for one in mixtures}
    known = {(None, 0.0), (None, 1.0), (SIZE, 0.0), (SIZE, 1.0)} <= ends.keys() and "other" in ends[None, 1.0]
    if not (fits and adam and known and transitions and runs):
        return Content(figures=figures, tables=tables, missing="Some of the four experiments have too few rows.")
    numbers = SET | _exact(fits) | _certified(transitions, runs) | {
        "adam": [{"d": d, "most": max(own), "one": str(own[1]), "several": str(own[max(own)]),
                  "order": _order(own[max(own)], own[1])}
                 for d in sorted({one["d"] for one in adam})
                 if 1 in (own := {one["heads"]: one["error"] for one in adam if one["d"] == d})],
        "memory": _ends(ends), "least_rows": _least_rows(transitions),
    }  # fmt: skip
    return Content(numbers, figures, tables, terms=TERMS)


def _ended(rows: Iterable[Row], family: str) -> list[tuple[Row, Mapping[str, Any]]]:
    """The rows of a family that ended by themselves, and their details."""
    return [(row, row.outcome.detail) for row in rows
            if row.task.family == family and row.outcome and row.outcome.status in ("solved", "wrong")]  # fmt: skip


def _groups(rows: Iterable[Row], family: str, *names: str) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    """Details of a family's runs by the values that their tasks have of `names` and of the samples, in order."""
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row, detail in _ended(rows, family):
        at = {"heads": 0, **row.task.params, **row.task.solver}
        key = (*(at[name] for name in names), int(row.task.budget["samples"]))
        found.setdefault(key, []).append(
            {**detail, "solved": row.outcome is not None and row.outcome.status == "solved"}
        )
    return dict(sorted(found.items()))


def heads(rows: Iterable[Row]) -> list[Line]:
    """One line per d and number of rows: exact runs, errors (geometric means), rank and certificate."""
    found = []
    for (method, d, n), runs in _groups(rows, HEAD, "method", "dim").items():
        if method == "regression":
            found.append({
                "d": d, "rows": n, "rows/ψ": n / feature_count(d), "runs": len(runs),
                "exact": sum(run["solved"] for run in runs), "full rank": sum(run["identifiable"] for run in runs),
                "exact at full rank": sum(run["solved"] and run["identifiable"] for run in runs),
                "rank": spread([run["rank"] for run in runs]), "λ_min": spread([run["lam_min"] for run in runs]),
                "lam_min": [run["lam_min"] for run in runs],
                "error": mean([run["error"] for run in runs], logarithmic=True),
                "noisy": mean([run["noisy"] for run in runs], logarithmic=True),
                "certified": mean([run["certified"] for run in runs]),
            })  # fmt: skip
    return found


def descents(rows: Iterable[Row]) -> list[Line]:
    """One line per d and number of heads that Adam trains: the errors of its runs and their geometric mean."""
    return [
        {"d": d, "heads": h, "runs": len(runs), "exact": sum(run["solved"] for run in runs),
         "error": mean([run["error"] for run in runs], logarithmic=True), "errors": [run["error"] for run in runs]}
        for (d, h, _), runs in _groups(rows, HEAD, "dim", "heads").items() if h
    ]  # fmt: skip


def memories(rows: Iterable[Row]) -> list[Line]:
    """One line per method, heads and share of orthonormal examples: geometric means of what was measured."""
    found = []
    for (h, unitary, _), runs in _groups(rows, MEMORY, "heads", "unitary").items():
        one: Line = {"method": "Adam" if h else "regression", "heads": h or None, "unitary": unitary, "runs": len(runs)}
        names = dict.fromkeys(name for run in runs for name in run if name in LOGARITHMIC)
        one |= {name: mean([run[name] for run in runs if name in run], logarithmic=True) for name in names}
        if not h:
            one |= {
                "rank": spread([run["rank"] for run in runs]),
                "λ_min": spread([run["lam_min"] for run in runs]),
                "certified": share([r["certified"] for r in runs]),
                "unseen": max(r["hidden"] for r in runs),
            }
        found.append(one | {"distances": [run["distance"] for run in runs]})
    return found


def automata(rows: Iterable[Row]) -> list[Line]:
    """One line per size and number of rows: words and steps right, certified and not, and their counts."""
    found = []
    for (Q, A, n), runs in _groups(rows, AUTOMATA, "states", "letters").items():
        total = sum(run["steps"] for run in runs)
        sure = sum(round(run["certified"] * run["steps"]) for run in runs)
        right = sum(round(run["certified"] * run["steps"] * (run["certified_right"] or 0)) for run in runs)
        every = sum(round(run["step_accuracy"] * run["steps"]) for run in runs)
        lucky = [_uncertified(run) for run in runs if run["certified"] < 1]
        span = span_rank(Q, A)
        found.append({
            "states": Q, "letters": A, "rank": span, "rows": n, "rows/rank": n / span, "runs": len(runs),
            "full": sum(run["rank"] == span for run in runs), "exact": sum(run["word_accuracy"] == 1 for run in runs),
            "words": share([run["word_accuracy"] for run in runs]), "certified": share([r["certified"] for r in runs]),
            "uncertified": share(lucky) if lucky else None,
            "sure": sure, "sure right": right, "unsure": total - sure, "unsure right": every - right,
        })  # fmt: skip
    return found


def _uncertified(run: Mapping[str, Any]) -> float:
    """Share of right steps among the uncertified ones."""
    sure = run["certified"]
    return float((run["step_accuracy"] - sure * (run["certified_right"] or 0)) / (1 - sure))


def programs(rows: Iterable[Row]) -> list[Line]:
    """One line per machine, number of rows and program: jobs certified to their end, and right without asking."""
    found = []
    for (Q, A, n), runs in _groups(rows, MACHINE, "states", "symbols").items():
        span = Machine(Q, A).span_rank
        for name in dict.fromkeys(name for run in runs for name in run["programs"]):
            counts = [run["programs"][name] for run in runs if name in run["programs"]]
            found.append({
                "states": Q, "symbols": A, "rank": span, "rows": n, "rows/rank": n / span, "program": name,
                "runs": len(runs), "full": sum(run["rank"] == span for run in runs),
                **{key: sum(count[key] for count in counts) for key in counts[0]},
                "certified": share([count["whole"] / count["jobs"] for count in counts]),
                "without asking": share([count["blind"] / count["jobs"] for count in counts]),
            })  # fmt: skip
    return found


def _exact(fits: Sequence[Line]) -> Line:
    """Runs with and without full rank, and those of them that were exact."""
    runs, exact, full, both = (
        sum(one[key] for one in fits) for key in ("runs", "exact", "full rank", "exact at full rank")
    )
    return {"full": full, "full_exact": both, "short": runs - full, "short_exact": exact - both,
            "largest": max(one["d"] for one in fits)}  # fmt: skip


def _certified(transitions: Sequence[Line], runs: Sequence[Line]) -> Line:
    """Steps of automata and of programs: certified, and right; jobs of programs, by the span of the rows."""
    sure, right, unsure, lucky = (
        sum(one[key] for one in transitions) for key in ("sure", "sure right", "unsure", "unsure right")
    )
    steps, wrong = (sum(one[key] for one in runs) for key in ("steps", "wrong"))
    whole = [one for one in runs if one["full"] == one["runs"]]
    short = [one for one in runs if not one["full"]]
    jobs = {name: [sum(one[key] for one in whole if one["program"] == name) for key in ("whole", "jobs")]
            for name in PROGRAMS}  # fmt: skip
    return {
        "sure": sure + steps, "right": right + steps - wrong, "unsure": unsure, "lucky": lucky,
        "jobs": {name: counts for name, counts in jobs.items() if counts[1]},
        "blind": sum(one["blind"] for one in short), "blind_jobs": sum(one["jobs"] for one in short),
    }  # fmt: skip


def _ends(ends: Mapping[tuple[int | None, float], Line]) -> Line:
    """The associative memory on orthonormal and on Gaussian examples alone."""
    hidden, seen, lost, found = ends[None, 1.0], ends[None, 0.0], ends[SIZE, 1.0], ends[SIZE, 0.0]
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
    found = []
    for Q, A in dict.fromkeys((one["states"], one["letters"]) for one in transitions):
        own = [one for one in transitions if (one["states"], one["letters"]) == (Q, A)]
        least = min((one["rows/rank"] for one in own if 2 * one["exact"] >= one["runs"]), default=None)
        found.append({"states": Q, "letters": A, "rank": own[0]["rank"], "ratio": least})
    return found


def _upright(low: float, high: float) -> Series:
    return line(ENOUGH, [(1, low), (1, high)], dashed=True)


def _recovery(fits: Sequence[Line]) -> Figure:
    """Errors and λ_min against rows over features."""
    dims = sorted({one["d"] for one in fits})

    def panel(title: str, name: str, y: Axis, key: str, low: float, high: float) -> Panel:
        series = []
        for i, d in enumerate(dims):
            own = [one for one in fits if one["d"] == d]
            if key == "lam_min":
                seen = [one for one in own if min(one[key]) > 0]
                points = mean_points((one["rows/ψ"], mean(one[key], logarithmic=True)) for one in seen)
                points += [Point(one["rows/ψ"], ZERO, censored="below", tip=f"λ_min = 0, rank {one['rank']}")
                           for one in own if not min(one[key])]  # fmt: skip
            else:
                points = mean_points((one["rows/ψ"], one[key]) for one in own)
            series.append(Series(f"d = {d}", points, style=i))
        return Panel(title, [*series, _upright(low, high)], y=y)

    error = Axis("squared error / variance", log=True)
    panels = [
        panel("no noise", "error", error, "error", TINY**2, 1),
        panel(f"noise {NOISE:g}", "noisy", error, "noisy", 1e-4, 1e3),
        panel("certificate", "λ_min", Axis("λ_min", log=True), "lam_min", ZERO, 1),
    ]
    panels[0] = Panel(
        panels[0].title, [*panels[0].series, line("exact below", [(0.5, EXACT_AT), (16, EXACT_AT)], "law")], y=error
    )
    return Curves(
        "recovery", panels if fits else [],
        Axis("rows / ψ", log=True, ticks=(0.5, 1, 2, 4, 16), names=("½", "1", "2", "4", "16")), error,
        alt_summary="Without noise the error falls to rounding at as many rows as features, where λ_min leaves 0.",
    )  # fmt: skip


def _adam(adam: Sequence[Line]) -> Figure:
    panels = []
    for d in sorted({one["d"] for one in adam}):
        own = [one for one in adam if one["d"] == d]
        runs = [Point(one["heads"], error, hollow=True) for one in own for error in one["errors"]]
        ends = (own[0]["heads"], own[-1]["heads"])
        panels.append(Panel(
            f"d = {d}, d² = {d * d}",
            [Series("Adam", mean_points((one["heads"], one["error"]) for one in own)),
             Series("single runs", runs, join=False), line("exact below", [(h, EXACT_AT) for h in ends], "law")],
            x=Axis("heads H", log=True, ticks=HEADS[d]),
        ))  # fmt: skip
    return Curves(
        "adam", panels, Axis("heads H", log=True), Axis("squared error / variance", log=True),
        alt_summary="The error falls with the number of heads at every d; one head ends orders of magnitude higher.",
    )  # fmt: skip


def _memory(mixtures: Sequence[Line]) -> Figure:
    """Distances against the share of orthonormal examples: of regression, and of Adam."""
    place = {share: float(i) for i, share in enumerate(MIXTURES)}
    regression = [one for one in mixtures if not one["heads"]]
    fits = [Series(title, mean_points((place[one["unitary"]], one.get(name)) for one in regression), style=i)
            for i, (name, title) in enumerate(FITS.items())]  # fmt: skip
    trained = [
        Series(f"Adam, H = {h}", mean_points((place[o["unitary"]], o["distance"]) for o in mixtures if o["heads"] == h),
               style=len(FITS) + i)
        for i, h in enumerate(MEMORY_HEADS)
    ]  # fmt: skip
    runs = [Point(place[one["unitary"]], x, hollow=True) for one in mixtures if one["heads"] for x in one["distances"]]
    truth = line("|p*|", [(0, SIZE), (len(MIXTURES) - 1, SIZE)], "law")
    sure = Series("certified", mean_points((place[one["unitary"]], one["certified"]) for one in regression))
    panels = [
        Panel("regression", [*fits, truth]),
        Panel("Adam", [*trained, Series("single runs of Adam", runs, join=False), truth]),
        Panel("Gaussian inputs certified", [sure], y=SHARE),
    ]
    names = [f"{100 * share:g}" for share in MIXTURES]
    return Curves(
        "memory", panels if mixtures else [], Axis("% orthonormal examples", ticks=list(place.values()), names=names),
        Axis("|p − p*|", log=True), columns=2,
        alt_summary="Least norm stays at the true parameters for every mixture, other exact fits and Adam do not.",
    )  # fmt: skip


def _execution(transitions: Sequence[Line]) -> Figure:
    """Words right, steps certified, and uncertified steps right, against rows over the rank of the span."""
    panels = []
    for title, key in (
        ("words right", "words"),
        ("steps certified", "certified"),
        ("uncertified steps right", "uncertified"),
    ):
        series = [
            Series(f"Q = {Q}, A = {A}", mean_points((one["rows/rank"], one[key]) for one in transitions
                                                if (one["states"], one["letters"]) == (Q, A)), style=i)
            for i, (Q, A) in enumerate(AUTOMATON_SIZES)
        ]  # fmt: skip
        panels.append(Panel(title, [*series, _upright(0, 1)]))
    return Curves(
        "execution", panels if transitions else [], TO_RANK, SHARE,
        alt_summary="All shares rise to one shortly after as many rows as dimensions; uncertified steps often err.",
    )  # fmt: skip


def _programs(runs: Sequence[Line]) -> Figure:
    """Jobs certified to their end, and right without asking, against rows over the rank of the span."""
    sizes = [size for size in MACHINE_SIZES if any((one["states"], one["symbols"]) == size for one in runs)]
    panels = []
    for title, key in (("certified", "certified"), ("without asking", "without asking")):
        for Q, A in sizes:
            own = [one for one in runs if (one["states"], one["symbols"]) == (Q, A)]
            found = {name: [(one["rows/rank"], one[key]) for one in own if one["program"] == name] for name in PROGRAMS}
            series = [Series(name, mean_points(own), style=i) for i, (name, own) in enumerate(found.items()) if own]
            panels.append(Panel(f"{title} ({Q}, {A})", [*series, _upright(0, 1)]))
    return Curves(
        "programs", panels, TO_RANK, SHARE, columns=max(len(sizes), 1),
        alt_summary="Certified jobs rise from none to all at the rank; without asking many are right before it.",
    )  # fmt: skip


def _table(caption: str, lines: Sequence[Line]) -> Table:
    """All values of lines but lists, means with their intervals as text."""
    shown = [{key: str(value) if isinstance(value, Mean) else value for key, value in one.items()
              if not isinstance(value, list)} for one in lines]  # fmt: skip
    keys = dict.fromkeys(key for one in shown for key in one)
    return Table(caption, shown, [Column(key, kind="measured" if key in MEASURED else "") for key in keys])


MEASURED = ("error", "noisy", "distance", "words", "certified", "without asking")
