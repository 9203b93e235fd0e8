"""The one loop of learning: more and more examples of a stream, and what fresh inputs say on the way."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import Any

from hardness.errors import TrialEnded
from hardness.examples import Examples
from hardness.instance import Instance
from hardness.scores import Criterion, Judged, Scores, scores

PORTION = 1 << 14  # examples handed over at a time
# An online learner is judged after this many examples, then this much later each time
FIRST, SPACING = 1024, 1.1
LEAST = 256  # examples with which a learner begins that fits once

GAVE_UP = ("refused", "budget", "wrong")  # what a solver may say of too few examples
Labelled = Callable[[int, int], Examples]  # examples start..start + count - 1 of a stream
Opened = Callable[[], AbstractContextManager[Any]]  # opens a solver (`hardness.evaluation.worker.opened`)
# A learner from its start to its end: the sizes at which it is judged, and the multiply-adds of all its lives by then.
Life = Mapping[int, float | None]


@dataclass(frozen=True)
class Evaluation:
    """Hold scores after learning from a number of `examples`, the learner's own `work` and `report`, and CPU time."""

    examples: int
    scores: Scores
    work: Mapping[str, Any]
    reference_seconds: float
    report: Mapping[str, Any]


def sizes(count: int, first: int, spacing: float) -> Iterator[int]:
    """Yield numbers of examples from `first` to `count`, each `spacing` times the last one, but at least `first` more.

    >>> list(sizes(1000, 64, 2.0))
    [64, 128, 256, 512, 1000]
    """
    size = 0
    while size < count:
        size = min(count, max(size + first, int(spacing * size)))
        yield size


def stream(instance: Instance, seed: int) -> Labelled:
    """Return a function of (start, count) that gives examples start..start + count - 1 of the stream of `seed`."""
    return lambda start, count: instance.examples(count, seed, start)


def multiply_adds(instance: Instance, learner: Any, examples: int) -> float | None:
    """Return how many multiply-adds a learner needs for that many `examples` by its own count; None if it has none."""
    count = getattr(learner, "multiply_adds", None)
    work = count and count(examples, instance.family.tokens, instance.family.dim)
    return None if work is None else float(work)


def evaluations(
    opened: Opened, streamed: bool, examples: Labelled, judged: Judged, ends: Iterable[int]
) -> Generator[Evaluation, None, None]:
    """Yield how well a new learner predicts the labels of `judged` after each number of examples in `ends`.

    `opened` starts the learner, and `examples` gives examples by (start, count). If `streamed`, the learner is handed
    them in portions (`partial_fit`). Otherwise `ends` has one number; that many come at once (`fit`).
    """
    read = 0
    with opened() as solver:
        for end in ends:
            step = PORTION if streamed else end
            for start in range(read, end, step):
                part = examples(start, min(step, end - start))
                solver.partial_fit(part.X, part.Y)
            read, (predicted, done) = end, solver.predict(judged.X)
            yield Evaluation(end, scores(judged, predicted), **done)


def at_sizes(ends: Iterable[int], streamed: bool) -> list[Life]:
    """Return the runs in which a learner is judged after `ends` examples: one if `streamed`, else one for each end."""
    return [dict.fromkeys(ends)] if streamed else [{end: None} for end in ends]


def lives(learner: Any, instance: Instance, cap: int, work: float) -> Iterator[Life]:
    """Yield, for each run of a learner, a dict of the numbers of examples to judge it at, with multiply-adds by then.

    A learner with `partial_fit` has one run. Any other is fitted anew in each, on twice as many examples. No run has
    more than `cap` examples, and all together take at most `work` multiply-adds, if the learner counts them.
    """
    if hasattr(learner, "partial_fit"):
        each = multiply_adds(instance, learner, 1)
        ends = sizes(min(cap, int(work / each)) if each else cap, FIRST, SPACING)
        yield {end: multiply_adds(instance, learner, end) for end in ends}
        return
    count, spent = LEAST, 0.0
    while count <= cap:
        more = multiply_adds(instance, learner, count)
        spent += more or 0.0
        # Before the life, not after: one that would exceed the budget half-way is not begun, and counts for nothing.
        if spent > work:
            return
        yield {count: None if more is None else spent}
        count *= 2


@dataclass
class Ending:
    """Hold how learning ended: the `last` evaluation, whether it `solved`, and what was spent by then.

    `distinct` counts examples, `error` is what ended learning early, else None. `asked` is the number of examples
    planned for the last run from the start, and `reference_seconds` the CPU time of all runs.
    """

    distinct: int = 0
    multiply_adds: float | None = 0.0
    last: Evaluation | None = None
    solved: bool = False
    error: Exception | None = None
    asked: int = 0
    reference_seconds: float = 0.0


def until_solved(
    opened: Opened,
    given: Labelled,
    lives: Iterable[Life],
    streamed: bool,
    judged: Judged,
    rule: Criterion,
    allowance: float = float("inf"),
) -> Ending:
    """Run a learner from its start for each of `lives`, until its scores on `judged` meet `rule`; return how it ended.

    It ends earlier after `allowance` reference seconds of CPU time (the time of 10⁹ multiply-adds each), at a crash or
    time limit, and if predictions are not finite. If the learner refuses or gives up, the next of `lives` is tried.
    `opened` starts a learner, with `partial_fit` if `streamed`, and `given` gives examples by (start, count).
    """
    ending = Ending()
    for life in lives:
        ending.asked, before = max(life, default=0), ending.reference_seconds
        try:
            with closing(evaluations(opened, streamed, given, judged, life)) as tried:
                for point in tried:
                    ending.reference_seconds = before + point.reference_seconds
                    if point.report.get("status") == "refused":
                        raise TrialEnded("refused", str(point.report.get("reason", "")))
                    if ending.reference_seconds > allowance:
                        ending.error = TrialEnded(
                            "budget", "over its budget of CPU time", {"limit": "CPU time"}
                        )
                        return ending
                    ending.last, ending.error = point, None
                    ending.distinct, ending.multiply_adds = point.examples, life[point.examples]
                    if point.scores["explained"] is None:
                        ending.error = TrialEnded("wrong", "predictions are not finite")
                        return ending
                    ending.solved = rule.met(point.scores)
                    if ending.solved:
                        return ending
        except (TimeoutError, TrialEnded) as error:
            ending.error = error
            if getattr(error, "status", "timeout") not in GAVE_UP:
                return ending
    return ending
