"""The page of the study `switches`: the phase diagram first, then every switch with both bounds and what was run."""

from collections.abc import Sequence
from math import comb
from pathlib import Path

from hardness.attacks.estimates.low_degree import low_degree_rows
from hardness.attacks.gaussian import FULL_RANK
from hardness.engine.store import Row, Store
from hardness.report.drawing import Drawing
from hardness.report.sections import Section, sections_page
from hardness.sq.bounds.parity import window_bound
from hardness.sq.bounds.switches import bias_interval
from hardness.studies.trials import SPACING
from learner.studies.switches import figures
from learner.studies.switches.table import (
    bias_table,
    chain_cells,
    chain_table,
    games_inside,
    membership_table,
    noise_table,
    student_slope,
)
from learner.studies.switches.tasks import (
    BIAS_SIZE,
    BIAS_TOLERANCE,
    BLOCKS,
    CHAIN_TOLERANCE,
    FLIPS,
    NOISY_BITS,
    NOISY_SIZE,
    NOISY_TOLERANCE,
    SIZE,
    TAUGHT_SIZE,
)
from learner.studies.switches.trial import elimination_tries

QUESTION = "What makes hidden parities easy again, and what does each switch leave of the bounds?"
LEAD = (
    "A lower bound is understood when one knows what breaks it. Four switches are turned from off to on: supervision "
    "by intermediate values, biased inputs, inputs of the learner's own choice, and label noise off. For each the page "
    "shows what is proved to be needed, what is proved to suffice, and what games and learners paid.",
)
SUPERVISION = (
    ("proved", "Labels of nested parities are shown, each a block of g coordinates larger than the one before; g = s "
     "shows the task alone and is the game without the switch. To identify the chain max 8τ²(N′−1) queries are needed, "
     "N′ the choices of a block when the others are known, and Σ(N−1) suffice for τ < 1/4 (theory 2.9). Both grow "
     "as n to the power of the largest block."),
    ("measured", "The student is one attention layer a block, taught what each label adds to the one before; all learn "
     "from the same examples, and the product of their signs is judged on the task. Exponents of d are least squares "
     "over all runs of the cells that were all solved, with 95 % t intervals; costs are known to the spacing of the "
     f"looks, {SPACING - 1:.0%}. Supervision by intermediate values is not autoregressive generation."),
    ("identity", f"The games are played against the greedy window at τ = {CHAIN_TOLERANCE:g}, block by block, where "
     "they are sums of plain games; they draw next to nothing, and carry no intervals. Their exponents are those of "
     "the sizes played, and differ from the exponent proved, which is for large n."),
)  # fmt: skip
BIAS = (
    ("proved", "Every product of the two tokens but the gate's has mean μ. 8τ²(N−1)/λ(μ) queries are needed, λ(μ) the "
     "top eigenvalue of a Gram matrix of the Johnson scheme; and products of k bits find the set by C(n, k) queries "
     "as soon as μ^(s−k)(1−μ²) > 4τ (theory 2.9). At k = 1 these are n queries. For a fixed μ > 0 λ(μ) is of order n "
     "to the power s − 1, so that what is needed grows no faster than n."),
    ("measured", f"Games on s = {BIAS_SIZE} bits at τ = {BIAS_TOLERANCE:g} with products of the least k that works, "
     f"and attention students on s = {TAUGHT_SIZE}. Training inputs are biased; the task is judged on fair ones, so a "
     "student may fit what it sees and still be wrong."),
)  # fmt: skip
MEMBERSHIP = (
    ("proved", "Who chooses inputs reads a parity off n of them, one coordinate at a time. For rounding, answers of p "
     "values need n ln q/ln p queries to tell all secrets apart. A random layer has md² unknowns twice over, an input "
     "shows kd numbers and k(k−1) scores a head, so that counting demands max(2md/k, d²/(k(k−1)))."),
    ("measured", "Queries of the learners, which see exact labels one at a time. Rounding is predicted to take a "
     "bisection a coordinate, random layers a fixed number. The error is that of the layer found, on fresh inputs."),
)  # fmt: skip


def write(store: Store, folder: Path) -> str:
    """Write the page of `switches` into `folder`: a pure function of the rows. Returns its verdict."""
    rows = list(store.rows())
    ended = [row for row in rows if row.outcome is not None]
    drawn: dict[str, Sequence[Drawing]] = {}
    if ended:
        drawn = {name: [getattr(figures, name)(rows)] for name in ("phases", "blocks", "biases", "noise")}
    interval = bias_interval(BIAS_SIZE, BIAS_TOLERANCE)
    ends = "" if interval is None else f" Here that is for μ from {interval[0]:.3f} to {interval[1]:.3f}."
    sections = [
        Section("proved", "The phase diagram", (), drawn.get("phases", ())),
        Section("measured", "Supervision by intermediate values", SUPERVISION, drawn.get("blocks", ()),
                [("Exponents of d by block size, and examples of the student.", chain_table(rows))]),
        Section("measured", "Biased inputs", (*BIAS, ("proved", f"The attack of n queries works where the gap is wide "
                f"enough.{ends}")), drawn.get("biases", ()),
                [("By bias: both bounds and the game at the largest n; exponents; the student.", bias_table(rows))]),
        Section("measured", "Inputs of one's own choice", MEMBERSHIP, (),
                [("Queries against what was predicted and what counting demands.", membership_table(rows))]),
        Section("broken", "Label noise, and four models of computation", _noise_notes(), drawn.get("noise", ()),
                [("Four models under label noise, predicted beside run.", noise_table(rows))]),
    ]  # fmt: skip
    verdict = _verdict(rows) if ended else "No trial has been run."
    return sections_page(store, folder, QUESTION, verdict, LEAD, sections, "proved measured")


def _noise_notes() -> list[tuple[str, str]]:
    """What each model predicts, and where they disagree."""
    N, most = comb(NOISY_BITS, NOISY_SIZE), FLIPS[-1]
    factor = 1 / (1 - 2 * most) ** 2
    needed = window_bound(N, NOISY_TOLERANCE)
    return [
        ("proved", f"Statistical queries: {needed:,.0f} queries of tolerance {NOISY_TOLERANCE:g} at η = 0, and "
         f"1/(1−2η)² times as many with flips, a factor of {factor:.0f} at η = {most:g} (theory 1.2b). Low degree: "
         "polynomials of degree up to s see exactly nothing, and those of degree s + 1 have advantage 1 "
         f"at C(n, s)/(1−2η)² rows, here {low_degree_rows(NOISY_BITS, NOISY_SIZE):,.0f} without noise (theory 2.9)."),
        ("estimated", "Elimination is repeated until no used label was flipped: geometric with probability "
         f"{FULL_RANK:.4f}(1−η)ⁿ, {elimination_tries(most):,.0f} tries at η = {most:g} and one without noise. Lattices "
         "have nothing to decode in a parity: no rounding error, but a flip of half the modulus."),
        ("broken", "The disagreements. Without noise elimination ends in one try from little more than n equations, "
         "where the queries of the statistical-query bound and the rows of the low-degree method both grow as n to the "
         "power s: hardness for those two models is no hardness for elimination, and the low-degree conjecture fails "
         "here. With noise elimination becomes exponential in n while the other two pay a constant factor, and from "
         "some n on they are the cheaper ones. The lattice model says nothing at all."),
    ]  # fmt: skip


def _verdict(rows: Sequence[Row]) -> str:
    """One sentence a switch, from the rows."""
    said = []
    slopes = {g: student_slope(chain_cells(rows, g)) for g in BLOCKS}
    known = {g: found for g, found in slopes.items() if found is not None}
    if known:
        order = sorted(known, key=lambda g: known[g].value)
        words = ", ".join(f"{known[g]} for blocks of {g}" for g in known)
        same = "in the order of the blocks" if order == sorted(known) else "not in the order of the blocks"
        said.append(f"The student's exponent of d is {words}, {same}")
    for g in BLOCKS:
        lost = [cost for runs in chain_cells(rows, g).values() for cost, solved in runs if not solved]
        if not lost:
            continue
        spent = max(lost)
        said.append(f"blocks of {g}{' (no supervision)' if g == SIZE else ''} are censored at {spent:,.0f} examples")
    lines = bias_table(rows)
    if lines:
        first, last = lines[0], lines[-1]
        steps = [f"{line['asked']:,.0f} at μ = {line['μ']:g}" for line in (first, last) if line["asked"] is not None]
        said.append(f"bias takes the queries of a game from {' to '.join(steps)}")
    asked = [line for line in membership_table(rows) if line["queries"] is not None]
    if asked:
        far = [line for line in asked if line["family"] == "parity"]
        largest = max(far, key=lambda line: line["d"]) if far else asked[-1]
        said.append(f"chosen inputs identify a parity in d = {largest['d']} by {largest['queries']} queries")
    inside, played = games_inside(rows)
    if played:
        said.append(f"{inside} of {played} games lie inside both bounds")
    return "; ".join(said)[:1].upper() + "; ".join(said)[1:] + "." if said else "Nothing has ended yet."
