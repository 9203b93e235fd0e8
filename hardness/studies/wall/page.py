"""The page of `wall`: costs on hard and nice layers, their ratio, how they grow, and what else was varied."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hardness.engine.store import Row, Store
from hardness.report.drawing import LINES, MARKERS, MUTED, RAMP, Drawing, style
from hardness.report.sections import Section, sections_page
from hardness.statistics.calibration import Frequency, calibration, lines
from hardness.statistics.models import LEVEL
from hardness.statistics.verdict import EQUIVALENT, GROWS, Growth, growth
from hardness.studies.wall.cells import CONTROL, HARD, NICE, Cells, cells, places, ratio, table, width_effect
from hardness.studies.wall.figures import HEADLINE, SKIPPED, chosen, concepts, costs, drawn
from hardness.studies.wall.tasks import QUESTION, STUDENT, WIDTH
from hardness.studies.wall.trial import BEYOND, FIRST, FITTED, JUDGED, SPACING, TARGETS

BATCH, RATE = 64, 3e-3  # of the student, frozen where it is made; a test holds them to it
PLURAL = {HARD: "hidden parities", NICE: "random layers"}
LEAD = (
    "A layer of m heads maps k tokens of d signs, the rows of X, to F(X) = Σ softmax(XΘᵢXᵀ)XWᵢ, here with two tokens. "
    "Hard layers are hidden parities: their label is the parity of m unknown coordinates out of d − 1, one of N = "
    "C(d−1, m) concepts. Random layers have independent Gaussian entries and are meant to be learnable. Both are "
    "computed exactly by a layer of the same m heads.",
    f"The learner is the same everywhere: itself a layer, of M = {WIDTH} heads unless something else is said, that "
    f"starts from random weights, sees raw tokens and fresh examples, {BATCH} a step, and takes steps of Adam at rate "
    f"{RATE:g} on the squared error. Its rate was tuned on parities of two and is frozen. Labels are scaled so that "
    "the outputs of a token have variance 1 in all. Nothing of the problem is handed to it.",
    f"The cost of a run is the number of examples at the first look that finds {TARGETS[0]:.0%} of the variance of the "
    f"labels of {JUDGED:,} fresh inputs explained, a relative error² of {1 - TARGETS[0]:.1g}. Looks come every "
    f"{FIRST:,} examples, and later every {SPACING - 1:.0%}. A run that has not arrived at its cap is censored there: "
    "it says that the cost is larger, and nothing else.",
)
LIMITED = (
    "These are costs of one kind of learner at the sizes shown. They prove nothing of other learners, and a larger d "
    "may look different. Whether the costs grow with N is judged by a rule, not by the eye."
)


def write(store: Store, folder: Path) -> str:
    """Write the page of a store of this study into `folder`; returns its verdict line. A pure function of the rows."""
    rows = list(store.rows())
    found = cells(rows)
    judged = {PLURAL[layers]: growth([runs.cell for runs in own.values()])
              for layers in (HARD, NICE) if (own := places(found, layers))}  # fmt: skip
    rates = {name: calibration(one) for name, one in judged.items()}
    sections = [_beside(found), _growth(found, judged, rates), _others(found), _variants(found, rows)]
    verdict = _verdict(found, judged, rates, rows)
    whole = [section for section in sections if section.tables or section.drawings]
    return sections_page(store, folder, QUESTION, verdict, LEAD, whole, "measured", judged)


def ratios(found: Cells) -> dict[tuple[int, int], Any]:
    """Hard over nice at every (d, m) where both were run."""
    hard, nice = places(found, HARD), places(found, NICE)
    known = {place: ratio(hard[place], nice[place]) for place in sorted(hard) if place in nice}
    return {place: value for place, value in known.items() if value}


def _verdict(
    found: Cells, judged: Mapping[str, Growth], rates: Mapping[str, Sequence[Frequency]], rows: Iterable[Row]
) -> str:
    known = ratios(found)
    if not known:
        return "Too few trials have been run."
    dims = {d for d, _ in known}
    dim = HEADLINE if HEADLINE in dims else max(dims)
    said = [f"{value} at m = {m}" for (d, m), value in known.items() if d == dim]
    text = (
        f"At d = {dim} the same student needs this many times as many examples on hidden parities as on random layers "
        f"of the same size (ratio of medians over runs, bootstrap interval, nominally 95 %): {'; '.join(said)}. "
        f"Growth of its cost on parities: {judged[PLURAL[HARD]].word}{power(rates[PLURAL[HARD]])}."
    )
    won, ended = controls(found)
    text += f" Random labels were solved in {won} of {ended} runs." if ended else ""
    if effect := width_effect(rows):
        value, low, high = effect
        text += f" A doubling of the student's heads changes the exponent of d by {value:.2f} [{low:.2f}, {high:.2f}]."
    return text


def controls(found: Cells) -> tuple[int, int]:
    """How many runs on random labels were solved, and how many ended."""
    own = [runs for kind, cells in found.items() if kind.layers == CONTROL for runs in cells.values()]
    return sum(int(runs.solved.sum()) for runs in own), sum(len(runs.cost) for runs in own)


def _beside(found: Cells) -> Section:
    """The student as it is on hard and on nice layers."""
    plain = {kind: own for kind, own in found.items() if kind.layers in PLURAL and kind.learner == STUDENT}
    notes = (
        "The median of a cell is drawn if at least half of its runs arrived, with the range of those that did; else a "
        "triangle stands at the cap, and it is not joined to anything. The table also has the examples to "
        f"{TARGETS[1]:.0%} of the variance, looked for up to {BEYOND} times the cost.",
        f"Beside them stands what a least-squares fit of the labels by all tokens explains, from {FITTED:,} examples: "
        "a plateau at that height says that the student has found the linear part and no more. The correlation drawn "
        "with a parity's curve is that between the prediction and the hidden parity where the gate is open: until "
        "the drop begins it is near 0.",
        LIMITED,
    )
    drawings = [costs(found)] if plain or chosen(found) else []
    drawings += [ratio_drawing(found)] if ratios(found) else []
    caption = (
        "Examples on hidden parities and on random layers. The null model is an identity and no measurement: the "
        "number of monomials of degree at most 2m + 1, that of the labels, in the 2d signs that the student sees."
    )
    shown = [{name: value for name, value in line.items() if name not in ("learner", "error mass")}
             for line in table(plain)]  # fmt: skip
    return Section("measured", "One student on hard and on nice layers", notes, drawings, [(caption, shown)])


def _growth(found: Cells, judged: Mapping[str, Growth], rates: Mapping[str, Sequence[Frequency]]) -> Section:
    """What the growth fits say, and how often their rule errs and succeeds on this very grid."""
    notes, tables = [], []
    for name, one in judged.items():
        notes.append(f"On {name}: {one.sentence}")
        if rates[name]:
            notes[-1] += f" {one.degree_sentence}"
            notes.append(f"The rule on {name}, tested: {how_it_errs(rates[name])} {noise(one)} {without(one)}")
            caption = f"How often each word comes up on simulated costs with the cells, caps and scatter of {name}."
            tables.append((caption, lines(rates[name])))
    drawings = [concepts(found)] if places(found, HARD) else []
    return Section("measured", "Does the cost grow with N?", notes, drawings, tables)


def power(rates: Sequence[Frequency]) -> str:
    """How much the word of a verdict weighs, as a parenthesis beside it; "" where there is no verdict."""
    if not rates:
        return ""
    found = [row.of(GROWS) for row in rates if row.kind == "growth with N"]
    ends = " to ".join(dict.fromkeys(f"{share:.0%}" for share in (min(found), max(found))))
    most = _said(rates)
    return (
        f" (by simulation at this grid and scatter the rule finds {ends} of costs that grow with N, and calls growing "
        f"at most {most['product law']:.1%} of data sets of a product law c·dᵃ·mᵇ, but up to "
        f"{most['sum with a crossover']:.0%} of those of a sum of powers that crosses over)"
    )


def _said(rates: Sequence[Frequency]) -> dict[str, float]:
    """The largest share of data sets of a kind of truth in which the rule says that a cost grows."""
    largest: dict[str, float] = {}
    for row in rates:
        largest[row.kind] = max(largest.get(row.kind, 0.0), row.of(GROWS))
    return largest


def how_it_errs(rates: Sequence[Frequency]) -> str:
    """How often the rule says that a cost grows: where it does, which is its power, and where it does not."""
    largest = _said(rates)
    return (
        f"of data sets simulated with this grid, these caps and this scatter the word {GROWS} came up in "
        f"{_seen(rates)}. It "
        f"came up falsely in at most {largest['product law']:.1%} of those from any product law c·dᵃ·mᵇ. Two blind "
        f"spots remain: sums of powers that cross over, {largest['sum with a crossover']:.1%} at most here, and "
        f"products f(d)·g(m) of other functions, {largest['other f(d) g(m)']:.1%} at most here; the rule rejects "
        f"c·dᵃ·mᵇ and asks that the exponent of d rise by more than {EQUIVALENT} a head, but f and g are free and no "
        "grid has tried them all."
    )


def _seen(rates: Sequence[Frequency]) -> str:
    """How often the rule says that a cost grows with N, of each law that does."""
    growing = [row for row in rates if row.kind == "growth with N"]
    return "; ".join(f"{row.of(GROWS):.1%} of those that grow as {row.name}" for row in growing)


def noise(one: Growth) -> str:
    """What is taken for noise, and what the rule would say if the misfit of the growth law were noise as well."""
    runs = max(one.tau**2 - one.omega**2, 0.0)
    wide = calibration(replace(one, omega=max(one.misfit**2 - runs, 0.0) ** 0.5), kinds=["growth with N"])
    would = "would be" if one.wide_p < LEVEL else "would not be"
    ratio = (
        f"c·dᵃ·mᵇ {would} rejected in favour of it (p-value {one.wide_p:.2g})"
        if one.k > 0
        else "the power of N would stay negative"
    )
    return (
        f"The medians scatter by {one.tau:.2f} in log cost about f(d)·g(m)·d^(λm), where f and g are free; the runs of "
        f"a cell explain {runs**0.5:.2f} of that, and the simulations draw the rest as a random effect of the cell. "
        f"About c·dᵃ·mᵇ·Nᵏ they scatter by {one.misfit:.2f}: the costs have bends that this law has not. If all of "
        f"that counted as noise, {ratio}, and the word would come up in {_seen(wide)}."
    )


def without(one: Growth) -> str:
    """The exponent of d at each m, and the word that is left when all cells of one m are left out."""
    sizes = sorted({cell.size for cell in one.cells if not cell.censored})
    left = {m: growth([cell for cell in one.cells if cell.size != m]).word for m in sizes}
    slopes = "; ".join(f"{value} at m = {m}" for m, value in one.exponents.items())
    changed = "; ".join(f"{word} without m = {m}" for m, word in left.items() if word != one.word)
    return (
        f"The exponents of d, each over the d that were measured at that m, are {slopes} (one-sided 95 % limits). When "
        f"all cells of one m are left out, the word {f'becomes {changed}' if changed else 'stays'}."
    )


def _others(found: Cells) -> Section:
    """Rounding, the path from hard to nice, random labels, and other learners of the user's own."""
    own = {kind: cells for kind, cells in found.items()
           if kind.layers not in PLURAL or not kind.learner.startswith(STUDENT)}  # fmt: skip
    won, ended = controls(found)
    notes = [
        "Rounded inner products come in the labels of m heads, at about the largest dimension that m heads hold; the "
        "error mass is the share of informative rows on which such a label is not that of the inner product. Between a "
        "hidden parity (ρ = 0) and a random layer (ρ = 1) lie the layers of the family interpolation.",
        "Random labels are those of a parity times an independent sign an example: nothing can be learned, and a run "
        "that solved them would show that the judge is wrong.",
    ]
    notes += [f"Of {ended} runs on random labels {won} were solved."] if ended else []
    return Section(
        "measured", "Other layers, and random labels", notes, (), [("Examples on other layers.", table(own))]
    )


def _variants(found: Cells, rows: Iterable[Row]) -> Section:
    """Other widths, batches and optimizers, relative to the student as it is, on the same parities."""
    base = places(found, HARD)
    own = {kind: cells for kind, cells in found.items()
           if kind.layers == HARD and kind.learner.startswith(f"{STUDENT}, ")}  # fmt: skip
    notes = []
    if effect := width_effect(rows):
        value, low, high = effect
        notes.append(
            "Does the width M change the exponent of d? Fitted to the cells that were solved in every run, at those "
            "(d, m) where this holds for several widths, log cost = "
            "aₘ + αₘ log d + bₘ log M + c log d log₂ M: a doubling of M adds c = "
            f"{value:.2f} [{low:.2f}, {high:.2f}] to the exponent (bootstrap over runs, 95 %)."
        )
        arrived = {
            kind.learner.partition(", ")[2]: [flag for runs in cells.values() for flag in runs.solved]
            for kind, cells in own.items()
            if ", M = " in kind.learner
        }
        counted = "; ".join(f"with {name} {sum(flags)} of {len(flags)}" for name, flags in arrived.items())
        notes[-1] += f" Cells with a run that did not arrive are left out, and that is no small matter: {counted} did."
    compared = [
        {"student": kind.learner.partition(", ")[2], "d": d, "m": m, "examples over those of the student": str(times)}
        for kind, cells in own.items()
        for (d, m), runs in cells.items()
        if (d, m) in base and (times := ratio(runs, base[d, m]))
    ]
    caption = f"Ratios of medians to the student with M = {WIDTH}, batch {BATCH} and Adam, with bootstrap intervals."
    tables = [(caption, compared), ("Their examples.", table(own))]
    return Section("measured", "Other widths, batches and optimizers", notes, (), [t for t in tables if t[1]])


def ratio_drawing(found: Cells) -> Drawing:
    """Hard over nice with intervals, a curve a dimension."""
    known = ratios(found)
    drawing = Drawing("ratios", 6.0, 3.6)
    drawing.caption = (
        f"Median examples on parities over those on random layers of the same size, a curve a dimension{SKIPPED}, with "
        "bootstrap intervals, nominally 95 %; a triangle is a lower bound, from a cell whose runs were mostly "
        "censored. Where runs were censored an interval may have no upper end; it is drawn to twice the largest ratio."
    )
    with style(drawing.name):
        axes, top = drawing.figure.subplots(), max(value.value for value in known.values())
        for i, dim in enumerate(drawn(known)):
            color, marker = RAMP[i % len(RAMP)], MARKERS[i % len(MARKERS)]
            own = {m: value for (d, m), value in known.items() if d == dim}
            place = {m: m + 0.05 * (i - 2) for m in own}  # beside each other, or their intervals would hide one another
            exact = {place[m]: value.value for m, value in own.items() if not value.bounded}
            dash: Any = LINES[i % len(LINES)]
            axes.plot(list(exact), list(exact.values()), label=f"d = {dim}", color=color, linestyle=dash)
            for m, value in own.items():
                x = place[m]
                axes.vlines(x, value.low, min(value.high, 2 * top), color=color, linewidth=1.2)
                look: dict[str, Any] = {"marker": marker}
                if value.bounded:
                    look = {"marker": "^", "markerfacecolor": "none"}
                drawing.point(axes, x, value.value, f"d = {dim}, m = {m}: {value}", color=color, **look)
        axes.axhline(1, color=MUTED, linewidth=0.8)
        axes.set_xticks(sorted({m for _, m in known}))
        axes.set(yscale="log", xlabel="m", ylabel="hard / nice")
        axes.grid(axis="y")
        drawing.figure.legend(loc="outside right center")
    return drawing
