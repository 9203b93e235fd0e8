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
    """Scores after this many `examples`, what the solver says of its `work`, its reference seconds, its `report`."""

    examples: int
    scores: Scores
    work: Mapping[str, Any]
    reference_seconds: float
    report: Mapping[str, Any]


def sizes(count: int, first: int, spacing: float) -> Iterator[int]:
    """Yield sizes at which to judge: `first`, then `spacing` times as many, at least `first` more, to `count`.

    >>> list(sizes(1000, 64, 2.0))
    [64, 128, 256, 512, 1000]
    """
    size = 0
    while size < count:
        size = min(count, max(size + first, int(spacing * size)))
        yield size


def stream(instance: Instance, seed: int) -> Labelled:
    """Return the examples of an instance under a sampling seed."""
    return lambda start, count: instance.examples(count, seed, start)


def multiply_adds(instance: Instance, learner: Any, examples: int) -> float | None:
    """Return what learning from this many examples costs by the learner's own count; None where it counts nothing."""
    count = getattr(learner, "multiply_adds", None)
    work = count and count(examples, instance.family.tokens, instance.family.dim)
    return None if work is None else float(work)


def evaluations(
    opened: Opened, streamed: bool, examples: Labelled, judged: Judged, ends: Iterable[int]
) -> Generator[Evaluation, None, None]:
    """Judge a solver at every one of the `ends`, until the caller has enough. Raises what the solver raises.

    One that is `streamed` is handed portions, and makes no report. Any other has one end, and is handed all examples up
    to it at once.
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
    """Return the lives of a solver of which examples alone are counted: one if `streamed`, else one a size."""
    return [dict.fromkeys(ends)] if streamed else [{end: None} for end in ends]


def lives(learner: Any, instance: Instance, cap: int, work: float) -> Iterator[Life]:
    """Yield the lives of a learner, until the next would exceed `cap` examples, or `work` multiply-adds.

    One with `partial_fit` has one. Another is fitted anew on twice as many examples each time, and pays for all its
    lives.
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
    """How learning ended: what was spent by the last evaluation, that one, and what ended it, if not a budget.

    `distinct` counts the examples that it had, `asked` those of the last life, judged after or not.
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
    """Let a solver live its lives until one meets `rule`, or has spent its `allowance` of reference seconds.

    A solver that refuses few examples, or gives up on them, may not with those of its next life; a crash and a limit of
    time are the end, and so are predictions that are not finite.
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
