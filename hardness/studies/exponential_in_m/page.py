"""The page of `exponential-in-m`: proved, identity, measured, broken; a pure function of the rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hardness.engine.store import Row, Store
from hardness.report.rounding import at_least_power
from hardness.report.sections import Section, sections_page
from hardness.statistics.calibration import Frequency, calibration, lines
from hardness.studies.exponential_in_m import figures, proved
from hardness.studies.exponential_in_m.series import (
    ELIMINATION,
    STUDENT_HARD,
    STUDENT_NICE,
    Series,
    controls,
    null,
    series,
)
from hardness.studies.exponential_in_m.tasks import QUESTION, TOLERANCE
from hardness.studies.wall.cells import cells
from hardness.studies.wall.page import how_it_errs, noise, power, ratio_drawing, ratios

TOKENS = 2  # of every layer on this page
LEAD = (
    "A layer of m heads maps k tokens of d signs, the rows of X, to F(X) = Σ softmax(X Θᵢ Xᵀ) X Wᵢ, i = 1..m, with Θᵢ "
    f"and Wᵢ of d × d real numbers; here k = {TOKENS} and X is uniform. A learner sees pairs of X and F(X). The hard "
    "layers of this page compute exactly the parity of m unknown coordinates out of d − 1: one of N = C(d−1, m) "
    "concepts.",
    "A statistical-query learner sees no examples. It names a function with values in [−1, 1], and an oracle answers "
    f"its mean up to the tolerance τ, here {TOLERANCE:g} unless something else is said. “Exponential in m” means "
    "this: along a ray d = c·m the count N is two to the power Θ(m); at fixed m it is d to the power Θ(m), so that the "
    "exponent of d grows with m; at fixed d it grows only until m is about half of d.",
)

CALIBRATED = (
    "The verdict, tested: how often each word comes up on simulated costs of known growth, at this study's own grid, "
    "runs, cap and scatter. Sums with a crossover, which are polynomials, are its blind spot."
)


def write(store: Store, folder: Path) -> str:
    """Write the page of a store of this study into `folder`; returns its verdict."""
    rows = list(store.rows())
    found, checks = series(rows), proved.checks(rows)
    judged = {name: one.growth for name, one in found.items() if name in figures.LOOKS}
    rates = calibration(found[STUDENT_HARD].growth) if STUDENT_HARD in found else []
    sections = [_proved(), _identity(checks), _measured(rows, found, rates), _broken(found)]
    return sections_page(
        store, folder, QUESTION, _verdict(rows, found, rates), LEAD, sections, "proved measured broken", judged
    )


def _verdict(rows: list[Row], found: Mapping[str, Series], rates: Sequence[Frequency]) -> str:
    need = max((need for need in proved.needs() if need.line == "parity of m bits, d = 4m"), key=lambda n: n.heads)
    said = [
        f"For statistical queries, yes, by theorem: at m = {need.heads} heads and d = {need.dim} every learner that "
        f"must be certain needs at least {at_least_power(need.log2_queries)} queries of tolerance {TOLERANCE:g}."
    ]
    known = ratios(cells(row for row in rows if row.task.solver["kind"] == "wall"))
    if known:
        dim = 16 if any(d == 16 for d, _ in known) else max(d for d, _ in known)
        values = "; ".join(f"{value} at m = {m}" for (d, m), value in known.items() if d == dim)
        said.append(
            f"For an attention student on examples, measured at d = {dim}: it needs this many times as many examples "
            f"on hidden parities as on random layers of the same size (bootstrap intervals, nominally 95 %): {values}."
        )
    if STUDENT_HARD in found:
        largest = max(d for d, _ in found[STUDENT_HARD].cells)
        said.append(
            f"The growth of its cost on parities, here up to d = {largest}, is judged "
            f"{found[STUDENT_HARD].growth.word}{power(rates)}; the study wall judges it on more and on larger layers."
        )
    if ELIMINATION in found:
        eliminated = found[ELIMINATION].cells
        d, m = max(eliminated)
        said.append(
            "Without label noise all of these layers are easy for an algorithm that is no statistical-query learner: "
            f"elimination names the hidden set at m = {m} and d = {d} from {eliminated[d, m].median:,.0f} examples."
        )
    return " ".join(said)


def _proved() -> Section:
    return Section(
        kind="proved",
        heading="What is proved: every statistical-query learner",
        notes=(
            "No query loses more than ⌈1/(8τ²)⌉ − 1 hidden sets to the answer that keeps the most of them (lemma L, "
            "theory 2.7), so that a deterministic learner which must be certain needs at least (N − 1)/(⌈1/(8τ²)⌉ − "
            "1) queries against the greedy window, an oracle every one of whose answers is valid. For rounded inner "
            "products mod q in labels of m heads the count is that of theory 2.6, with the share of wrong labels "
            "subtracted from τ. m heads of one sharpness hide m bits, of several sharpnesses 2m − 1 with coefficients "
            "that add up to at most 3.6 a bit (theory 1.5). These are theorems with constants: there is nothing to "
            "measure and no interval to give.",
        ),
        drawings=[figures.proved(proved.needs())],
    )


def _identity(checks: list[dict[str, Any]]) -> Section:
    if not checks:
        return Section("identity", "What the best closed form pays", ("No game has been played.",))
    widest = max(abs(line["difference"]) for line in checks)
    return Section(
        kind="identity",
        heading="What a strategy pays in closed form: games only check it",
        notes=(
            "A sign batch asks for the majority of K characters of hidden sets that are still possible, half of them "
            "with the sign turned. What a batch of independent sets loses to the greedy window is known exactly "
            "(theory 2.5e), and so is the number of queries of a game of such batches. Games are played here only to "
            f"check that formula: up to N = {max(line['N'] for line in checks):,} they differ from it by at most "
            f"{widest} queries, which small classes pay where no independent batch is found among the sets that are "
            "left. No statistic is made of these numbers, for they do not vary. Better strategies, and how near to "
            "the proven floor they come, are the study games.",
        ),
        tables=[(f"Queries against the greedy window at τ = {TOLERANCE:g}", checks)],
    )


def _measured(rows: list[Row], found: Mapping[str, Series], rates: Sequence[Frequency]) -> Section:
    wall = cells(row for row in rows if row.task.solver["kind"] == "wall")
    shown = {name: found[name] for name in (STUDENT_HARD, STUDENT_NICE) if name in found}
    if not shown:
        return Section(
            "measured", "What was measured: one student on hard and on nice layers", ("No trial has ended.",)
        )
    won, ended = controls(rows)
    notes = [
        "The learner is itself an attention layer, of sixteen heads, that starts from random weights, sees raw tokens "
        "and fresh examples, and takes steps of Adam on the squared error; nothing of the problem is handed to it, "
        "and it is the same on every layer. The cost of a run is the number of examples until nine tenths of the "
        "variance of the labels of fresh inputs are explained; a run that does not get there is censored at its cap.",
        "On the same axes stand a network that is handed the products of the two tokens, in which a parity is one "
        "character of m bits (a best case, and labelled so: it counts examples to nine tenths of right signs), and "
        "elimination, whose cost is known to be polynomial: the control of the verdict.",
        "This page is made in minutes, so that its grid is small, and has many heads only where there are few "
        "dimensions. The study wall has the same student on a grid that is several times as large, and where the two "
        "pages differ its word weighs more.",
        f"Random labels, an independent sign an example, were solved in {won} of {ended} runs."
        if ended
        else "No run on random labels has ended.",
        *(
            f"{name[0].upper()}{name[1:]}: {one.growth.sentence}"
            for name, one in found.items()
            if name in figures.LOOKS
        ),
        found[STUDENT_HARD].growth.degree_sentence if STUDENT_HARD in found else "",
        f"The rule on {STUDENT_HARD}, tested: {how_it_errs(rates)} {noise(found[STUDENT_HARD].growth)}"
        if rates
        else "",
    ]
    tables = [
        (
            "Examples to success; each learner beside its own null, the number of monomials of the label's degree in "
            "the inputs that it is handed",
            _lines(found),
        )
    ]
    if rates:
        tables.append((CALIBRATED, lines(rates)))
    drawings = [figures.measured(found), *([ratio_drawing(wall)] if ratios(wall) else [])]
    return Section(
        "measured",
        "What was measured: one student on hard and on nice layers",
        [n for n in notes if n],
        drawings,
        tables,
    )


def _lines(found: Mapping[str, Series]) -> list[dict[str, Any]]:
    lines = []
    for name, one in found.items():
        for (d, m), cell in sorted(one.cells.items()):
            low, high = cell.limits
            lines.append(
                {"learner": name, "d": d, "m": m, "runs solved": f"{int(cell.solved.sum())}/{len(cell.cost)}"}
                | {"median": f"{'> ' * cell.censored}{cell.median:,.0f}"}
                | {"range of the runs": f"{low:,.0f} to {'∞' if high == float('inf') else f'{high:,.0f}'}"}
                | {"own null": null(name, d, m)}
            )
    return lines


def _broken(found: Mapping[str, Series]) -> Section:
    notes = (
        "A parity is linear over two elements: every example with z₀ ≠ 0 is one equation, and elimination solves "
        "them. It is no statistical-query learner, and no bound above concerns it. With label noise it slows down "
        "like learning parity with noise; for rounded inner products lattices and combinations of samples take its "
        "place (the studies stress and lattices).",
    )
    drawn = ELIMINATION in found and any(d == 4 * m for d, m in found[ELIMINATION].cells)
    return Section(
        kind="broken",
        heading="What breaks these layers without statistical queries",
        notes=notes,
        drawings=[figures.broken(found)] if drawn else [],
    )
