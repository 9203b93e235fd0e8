"""The grid of `lattices` and its trial: rising dimensions from files and from streams, fewer examples, fewer heads."""

from collections.abc import Iterator
from functools import cache
from time import process_time

from hardness import registry
from hardness.engine.outcome import Outcome
from hardness.engine.task import Task

PANELS = ((97, 2), (97, 4), (97, 8), (257, 16))
FILES = {"lattice": 80_000, "bkw": 40_000}  # examples
RUNS = 3
Sizes = dict[tuple[str, str], tuple[tuple[int, ...], ...]]
# Dimensions by attack, from a file or from a stream, and by panel.
GRID: Sizes = {
    ("lattice", "file"): ((28, 32, 34, 40), (40, 56), (80, 88), (88, 112)),
    ("lattice", "stream"): ((36, 46, 64), (56, 66), (88, 100), (112, 130)),
    ("bkw", "file"): ((32, 40), (40,), (40,), ()),
    ("bkw", "stream"): ((48, 56, 62, 66), (64, 72), (76, 84), (80,)),
}
# Larger ones from a stream, one run each: one that is tried, and the least even one that is refused as out of reach.
BEYOND: Sizes = {
    ("lattice", "stream"): ((50, 58), (72, 84), (104, 116), (140, 160)),
    ("bkw", "stream"): ((70, 76), (82, 92), (92, 102), (96, 106)),
}
QUICK: Sizes = {
    ("lattice", "file"): ((28, 40), (40,), (80,), (88,)),
    ("lattice", "stream"): ((36,), (), (88,), ()),
    ("bkw", "file"): ((32, 40), (40,), (), ()),
    ("bkw", "stream"): ((48,), (), (76,), ()),
}
FEW_HEADS = {"lattice": (28, (4, 5, 6, 8)), "bkw": (40, (4, 5, 6, 7, 9, 12))}  # n and m, at the first panel
FEW_EXAMPLES = {"lattice": (24, 28, 30), "bkw": (28, 32, 36, 40, 44)}  # n, at the first panel
EXAMPLES = (2_500, 10_000, 40_000)


def tasks(quick: bool) -> list[Task]:
    """Both attacks on rising dimensions with every label right; at (97, 2) on fewer examples, and on fewer heads."""
    wanted: dict[str, Task] = {}
    for run in range(1 if quick else RUNS):
        trials = [*_sizes(QUICK if quick else GRID, run), *_few_heads(quick, run)]
        trials += [] if quick else _few_examples(run)
        trials += [] if quick or run else _sizes(BEYOND, run)
        wanted |= {trial.identity: trial for trial in trials}
    return list(wanted.values())


def _sizes(grid: Sizes, run: int) -> Iterator[Task]:
    for (attack, source), panels in grid.items():
        samples = FILES[attack] if source == "file" else None
        for (q, p), sizes in zip(PANELS, panels, strict=True):
            yield from (task(attack, samples, q, p, n, None, run) for n in sizes)


def _few_heads(quick: bool, run: int) -> Iterator[Task]:
    for attack, (n, heads) in FEW_HEADS.items():
        yield from (
            task(attack, FILES[attack], *PANELS[0], n, m, run) for m in (heads[1:2] if quick else heads)
        )


def _few_examples(run: int) -> Iterator[Task]:
    for attack, sizes in FEW_EXAMPLES.items():
        yield from (task(attack, samples, *PANELS[0], n, None, run) for samples in EXAMPLES for n in sizes)


def task(attack: str, samples: int | None, q: int, p: int, n: int, heads: int | None, run: int) -> Task:
    """One attack on a file of `samples` examples, or on a stream if None."""
    params = {"dim": n + 1, "modulus": q, "levels": p} | ({} if heads is None else {"heads": heads})
    budget = {} if samples is None else {"samples": samples}
    return Task("rounding", params, {"kind": "cryptanalysis", "attack": attack}, budget, run)


SHOWN = (
    "predicted_seconds",
    "forecast_seconds",
    "steps",
    "log2_rows",
    "vanish",
    "selected_away",
    "trials",
    "block_size",
    "log2_nodes",
    "rank",
    "reason",
)


def trial(task: Task, root: int, guard: float) -> Outcome:
    """One attack; its seconds are the processor's, as others may share the machine, those of making a stream's rows
    included. The answer must be the secret.
    """
    from hardness.attacks.bkw import bkw_stream
    from hardness.attacks.lattice import lattice_stream
    from hardness.attacks.packed import Stream
    from hardness.instance import Instance

    warm()
    instance = Instance.generate(
        registry.get("family", task.family)(**task.params), task.seed(root, "instance")
    )
    sampling, seed, name = task.seed(root, "examples"), task.seed(root, "solver"), task.solver["attack"]
    if "samples" in task.budget:
        data = instance.examples(int(task.budget["samples"]), sampling)
        begin = process_time()
        ended = registry.get("attack", name)(data.X, data.Y, instance.public(sampling), seed=seed)
        spent = process_time() - begin
    else:
        begin = process_time()
        ended = {"bkw": bkw_stream, "lattice": lattice_stream}[name](Stream(instance, sampling), seed)
        spent = process_time() - begin
    detail = {name: ended.detail[name] for name in SHOWN if name in ended.detail}
    detail["error_mass"] = instance.certificate["error_mass"]
    right = ended.secret == {name: value.tolist() for name, value in instance.secret.items()}
    status = "wrong" if ended.status == "solved" and not right else ended.status
    return Outcome(status, ended.samples_used or None, detail, seconds=spent)


@cache
def warm() -> None:
    """Both attacks once on something small, so that no trial pays for the loading of what is compiled."""
    from hardness.families.rounding import Rounding
    from hardness.instance import Instance

    instance = Instance.generate(Rounding(17, 97, 4), seed=0)
    data = instance.examples(8000, 0)
    for name in FILES:
        registry.get("attack", name)(data.X, data.Y, instance.public(0), seed=0)


def seconds(task: Task) -> float:
    """Predicted seconds of a trial: what is known to be long starts first."""
    return float(task.params["dim"]) / (4 if "samples" not in task.budget else 10)
