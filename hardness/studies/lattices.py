"""The study `lattices`: how far do a lattice attack and integer BKW get on rounding, and was that foreseen?"""

from collections import defaultdict
from collections.abc import Iterable
from math import log2
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from hardness import registry
from hardness.errors import InputError
from hardness.studies.looks import NOTHING, Table
from hardness.study.outcome import Outcome
from hardness.study.page.drawing import RAMP, Drawing, style
from hardness.study.page.report import table_page
from hardness.study.store import Row, Store
from hardness.study.study import Study
from hardness.study.task import Task

QUESTION = "How far do a lattice attack and integer BKW get on rounding, and was that foreseen?"

PANELS = ((97, 2), (97, 4), (97, 8), (257, 16))
FILES = {"lattice": 80_000, "bkw": 40_000}  # examples
FLOOR = 2.0  # seconds below which no prediction is judged
CLOSE = 3.0  # bits
# Dimensions by attack, from a file or from a stream, and by panel.
GRID: dict[tuple[str, str], tuple[tuple[int, ...], ...]] = {
    ("lattice", "file"): ((24, 28, 32, 36, 40), (40, 48, 56), (64, 80, 88), (72, 88, 112)),
    ("bkw", "file"): ((24, 32, 40), (32, 40), (40,), ()),
    ("bkw", "stream"): ((48, 56, 60, 62), (56, 64, 72), (64, 76, 80), (64, 80)),
}
QUICK: dict[tuple[str, str], tuple[tuple[int, ...], ...]] = {
    ("lattice", "file"): ((24, 28), (40,), (64,), (72,)),
    ("bkw", "file"): ((24, 40), (32,), (), ()),
    ("bkw", "stream"): ((48,), (), (64,), ()),
}
FEW_HEADS = {"lattice": (28, (4, 5, 6, 8)), "bkw": (40, (4, 5, 6, 7, 9, 12))}  # n and m, at (97, 2)


def tasks(quick: bool) -> list[Task]:
    """Both attacks on rising dimensions with every label right, and at (97, 2) on labels of few heads."""
    found = []
    for run in range(1 if quick else 3):
        for (attack, source), panels in (QUICK if quick else GRID).items():
            for (q, p), sizes in zip(PANELS, panels, strict=True):
                found += [_task(attack, source, q, p, n, None, run) for n in sizes]
        for attack, (n, heads) in FEW_HEADS.items():
            found += [_task(attack, "file", 97, 2, n, m, run) for m in (heads[1:2] if quick else heads)]
    return found


def _task(attack: str, source: str, q: int, p: int, n: int, heads: int | None, run: int) -> Task:
    params = {"dim": n + 1, "modulus": q, "levels": p} | ({} if heads is None else {"heads": heads})
    samples = {"samples": FILES[attack]} if source == "file" else {}
    return Task("rounding", params, {"kind": "cryptanalysis", "attack": attack, "source": source}, samples, run)


def trial(task: Task, root: int, guard: float) -> Outcome:
    """One attack; its seconds are the processor's, as others may share the machine. The answer must be the secret."""
    from hardness.attacks.bkw import bkw_stream
    from hardness.attacks.packed import Stream
    from hardness.instance import Instance

    instance = Instance.generate(registry.get("family", task.family)(**task.params), task.seed(root, "instance"))
    stream, seed = task.seed(root, "examples"), task.seed(root, "solver")
    if task.solver["source"] == "stream":
        begin = process_time()
        ended = bkw_stream(Stream(instance, stream), seed=seed)
    else:
        data = instance.examples(int(task.budget["samples"]), stream)
        attack = registry.get("attack", task.solver["attack"])
        begin = process_time()
        try:
            ended = attack(data.X, data.Y, instance.public(stream), seed=seed)
        except InputError as error:
            return Outcome("refused", None, {"reason": str(error)})
    spent = process_time() - begin
    names = (
        "predicted_seconds",
        "forecast_seconds",
        "steps",
        "log2_rows",
        "trials",
        "block_size",
        "log2_nodes",
        "rank",
    )
    detail = {name: ended.detail[name] for name in (*names, "reason") if name in ended.detail}
    detail["error_mass"] = instance.certificate["error_mass"]
    right = ended.secret == {name: value.tolist() for name, value in instance.secret.items()}
    status = "wrong" if ended.status == "solved" and not right else ended.status
    return Outcome(status, ended.samples_used or None, detail, seconds=spent)


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """One line an attack and instance: runs solved, what it was predicted to take and took, and what it needed."""
    found: dict[tuple[Any, ...], list[Outcome]] = defaultdict(list)
    for row in rows:
        if row.outcome:
            at, solver = row.task.params, row.task.solver
            size = (at["modulus"], at["levels"], at["dim"] - 1, at.get("heads") or 0)
            found[(*size, solver["attack"], solver["source"])].append(row.outcome)
    return [_line(key, outcomes) for key, outcomes in sorted(found.items())]


def _line(key: tuple[Any, ...], outcomes: list[Outcome]) -> dict[str, Any]:
    q, p, n, heads, attack, source = key
    solved = [o for o in outcomes if o.status == "solved"]
    predicted = [o.detail.get("predicted_seconds", o.detail.get("forecast_seconds")) for o in outcomes]
    known = [max(x, FLOOR) for x in predicted if x is not None]
    took = [max(o.seconds, FLOOR) for o in solved]
    before, after = log2(median(known)) if known else None, log2(median(took)) if took else None
    needed = (solved or outcomes)[0].detail
    masses = [o.detail["error_mass"] for o in outcomes if "error_mass" in o.detail]  # a crash has none
    return {
        "q": q, "p": p, "n": n, "m": heads or "all", "attack": attack, "rows from": source,
        "solved": f"{len(solved)}/{len(outcomes)}",
        "else": ", ".join(sorted({o.status for o in outcomes if o.status != "solved"})),
        "predicted, log₂ s": before, "measured, log₂ s": after,
        "difference, bits": after - before if after is not None and before is not None else None,
        "error mass": median(masses) if masses else None,
        "log₂ rows": needed.get("log2_rows"), "steps": needed.get("steps"), "trials": needed.get("trials"),
        "block size": needed.get("block_size"), "log₂ nodes": needed.get("log2_nodes"),
    }  # fmt: skip


def write(store: Store, folder: Path) -> str:
    """Write the page of `lattices` into `folder`; returns its verdict line."""
    lines = table(store.rows())
    notes = (
        "An instance of rounding hides w in Z_qⁿ; an example shows u in {0,1}ⁿ and the level ⌊p(⟨w, u⟩ mod q)/q⌋. The "
        "lattice attack decodes in the orthogonal lattice of a few hundred public vectors; integer BKW combines rows "
        "until few coordinates are left and finds those by a transform over a grid of angles. Both then mend their "
        "estimate by a trimmed regression and accept it only on rows that took no part. `m` is the number of heads, "
        "`all` where every label is right; the error mass is that of the instances drawn, not a nominal one.",
        f"Seconds are of one core's processor time. Each attack predicts them before it works, from a model with no "
        f"clock in it; what it expects to take too long is refused. Figures are judged above a floor of {FLOOR:g} s; a "
        "stream gives as many fresh rows as the plan asks for, a file 80,000 (lattice) or 40,000 examples (BKW).",
        "Not solved here is a statement about these two attacks. At these sizes there is no cryptographic claim.",
    )
    return table_page(store, folder, QUESTION, _verdict(lines), lines, notes, _drawings(lines))


def _verdict(lines: Table) -> str:
    if not lines:
        return NOTHING
    said = []
    for q, p in PANELS:
        far = {
            attack: max((e["n"] for e in lines if (e["q"], e["p"], e["attack"], e["m"]) == (q, p, attack, "all")
                         and e["solved"][0] != "0"), default=None)
            for attack in FILES
        }  # fmt: skip
        reached = ", ".join(f"{attack} n = {n}" for attack, n in far.items() if n)
        said += [f"({q}, {p}): {reached}"] if reached else []
    off = [e for e in lines if e["difference, bits"] is not None]
    wide = [e for e in off if abs(e["difference, bits"]) > CLOSE and e["m"] == "all"]
    named = ", ".join(f"{e['attack']} ({e['q']}, {e['p']}) n = {e['n']}" for e in wide)
    return (
        f"Largest solved, {'; '.join(said) or 'none'}. {len(off) - len(wide)} of {len(off)} predictions lie within "
        f"{CLOSE:g} bits of what was measured{f'; not: {named}' if named else ''}."
    )


def _drawings(lines: Table) -> list[Drawing]:
    drawing = Drawing("lattices", 13.0, 4.2)
    with style(drawing.name):
        panels = drawing.figure.subplots(1, len(PANELS), sharey=True)
        for axes, (q, p) in zip(panels, PANELS, strict=True):
            for color, marker, attack in ((RAMP[1], "o", "lattice"), (RAMP[5], "s", "bkw")):
                here = [e for e in lines if (e["q"], e["p"], e["attack"], e["m"]) == (q, p, attack, "all")]
                model = sorted((e["n"], e["predicted, log₂ s"]) for e in here if e["predicted, log₂ s"] is not None)
                axes.plot([n for n, _ in model], [y for _, y in model], color=color, linewidth=1.0)
                for e in here:
                    y = e["measured, log₂ s"] if e["measured, log₂ s"] is not None else e["predicted, log₂ s"]
                    if y is None:
                        continue
                    look = {} if e["measured, log₂ s"] is not None else {"markerfacecolor": "none"}
                    tip = f"{attack}, n = {e['n']}, {e['rows from']}: {e['solved']} solved {e['else']}, 2^{y:.1f} s"
                    drawing.point(axes, e["n"], y, tip, color=color, marker=marker, **look)
            axes.set_title(f"q = {q}, p = {p}")
            axes.set_xlabel("n")
            axes.grid(axis="y")
        panels[0].set_ylabel("log₂ of processor seconds")
    drawing.caption = (
        "Circles: lattice; squares: integer BKW; filled where runs were solved (median), open where none was, at the "
        "prediction. Lines: what was predicted before the work."
    )
    return [drawing]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial: what is known to be long starts first."""
    return float(task.params["dim"]) / (4 if task.solver["source"] == "stream" else 10)


STUDY = Study("lattices", QUESTION, tasks, seconds, trial, write, 600.0, role="broken")
