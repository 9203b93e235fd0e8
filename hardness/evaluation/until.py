"""The one loop of learning: more and more examples of a stream, and what fresh inputs say on the way."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.errors import TrialEnded
from hardness.examples import Examples
from hardness.instance import Instance
from hardness.scores import Criterion, Judged, Scores, scores, sizes
from hardness.tokens import load_compiled

PORTION = 1 << 14  # examples handed over at a time
# An online learner is judged after this many examples, then this much later each time
FIRST, SPACING = 1024, 1.1
LEAST = 256  # examples with which a learner begins that fits once, or makes passes over a pool

GAVE_UP = ("refused", "budget", "wrong")  # what a solver may say of too few examples
Labelled = Callable[[int, int], Examples]  # examples start..start + count - 1 of a stream
Opened = Callable[[], AbstractContextManager[Any]]  # opens a solver (`hardness.evaluation.worker.opened`)
Spent = Mapping[int, tuple[int, float | None]]


@dataclass(frozen=True)
class Evaluation:
    """Scores after this many `examples`, what the solver says of its `work`, its reference seconds, its `report`."""

    examples: int
    scores: Scores
    work: Mapping[str, Any]
    reference_seconds: float
    report: Mapping[str, Any] = field(default_factory=dict)


def stream(instance: Instance, seed: int) -> Labelled:
    """Return the examples of an instance under a sampling seed."""
    return lambda start, count: instance.examples(count, seed, start)


def read_by(learner: Any, instance: Instance, seed: int) -> Callable[[int, int], Any]:
    """Return them as a learner reads them: informative rows alone for a built-in class with `reads_informative`."""
    kind = registry.get("learner", learner) if isinstance(learner, str) else learner
    in_worker = isinstance(learner, str) and not registry.is_builtin("learner", learner)
    if in_worker or not getattr(kind, "reads_informative", False):
        return stream(instance, seed)
    return lambda start, count: instance.informative(count, seed, start)


def pooled(pool: Examples, seed: int) -> Labelled:
    """Return endless passes over a pool, each in a random order that follows from the seed and its number alone."""

    @lru_cache(maxsize=2)
    def order(turn: int) -> NDArray[np.intp]:
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(turn,))).permutation(len(pool))

    def labelled(start: int, count: int) -> Examples:
        turns, places = np.divmod(np.arange(start, start + count), len(pool))
        rows = np.concatenate([order(turn)[places[turns == turn]] for turn in range(turns[0], turns[-1] + 1)])
        return Examples(pool.X[rows], pool.Y[rows])

    return labelled


def multiply_adds(instance: Instance, learner: Any, examples: int) -> float | None:
    """Return what learning from this many examples costs by the learner's own count; None where it counts nothing."""
    count = getattr(learner, "multiply_adds", None)
    work = count and count(examples, instance.family.tokens, instance.family.dim)
    return None if work is None else float(work)


def evaluations(
    opened: Opened, streamed: bool, examples: Labelled, judged: Judged, sizes: Iterable[int]
) -> Generator[Evaluation, None, None]:
    """Judge a solver at every one of the `sizes`, until the caller has enough. Raises what the solver raises.

    One that is `streamed` sees each example once, in one life; any other is opened anew for each size, and fits all
    examples up to it.
    """
    if not streamed:
        for size in sizes:
            with opened() as solver:
                part = examples(0, size)
                solver.partial_fit(part.X, part.Y)
                predicted, report = solver.predict(judged.X), solver.report()
                spent = solver.reference_seconds()
                yield Evaluation(size, scores(judged, predicted), solver.work(), spent, report)
        return
    read = 0
    with opened() as solver:
        for size in sizes:
            load_compiled((size - read) * judged.X.shape[1])
            for start in range(read, size, PORTION):
                part = examples(start, min(PORTION, size - start))
                solver.partial_fit(part.X, part.Y)
            read, predicted = size, solver.predict(judged.X)
            yield Evaluation(size, scores(judged, predicted), solver.work(), solver.reference_seconds())


class Life(NamedTuple):
    """A learner from its start to its end: its examples, and the sizes at which it is judged.

    `spent` gives for each size the distinct examples seen so far, and the multiply-adds of all its lives if it counts.
    """

    examples: Labelled
    spent: Spent


def at_sizes(given: Labelled, sizes: Iterable[int], streamed: bool) -> list[Life]:
    """Return the lives of a solver of which examples alone are counted: one if `streamed`, else one a size."""
    spent: Spent = {size: (size, None) for size in sizes}
    return [Life(given, spent)] if streamed else [Life(given, {size: spent[size]}) for size in spent]


def lives(
    learner: Any, instance: Instance, given: Labelled, cap: int, work: float, passes: int = 0, seed: int = 0
) -> Iterator[Life]:
    """Yield all that a learner is handed of the stream `given`, until more would exceed `cap` distinct examples, or
    `work`, multiply-adds.

    One with `partial_fit` sees each example once, or makes `passes` over pools of twice as many examples each time.
    Another is fitted anew on twice as many each time. Who starts several times pays for all of its lives.

    """
    online = hasattr(learner, "partial_fit")
    if online and not passes:
        each = multiply_adds(instance, learner, 1)
        cap = min(cap, int(work / each)) if each else cap
        ends = sizes(cap, FIRST, SPACING)
        yield Life(given, {n: (n, multiply_adds(instance, learner, n)) for n in ends})
        return
    before, pool = 0.0, LEAST
    while pool <= cap:
        ends = sizes(passes * pool, FIRST, SPACING) if online else iter([pool])
        counted = {n: multiply_adds(instance, learner, n) for n in ends}
        spent = {n: (min(pool, n), None if more is None else before + more) for n, more in counted.items()}
        before = max((done or 0.0 for _, done in spent.values()), default=0.0)
        # Before the life, not after: one that would exceed the budget half-way is not begun, and counts for nothing.
        if before > work:
            return
        # Of a learner that fits once, examples 0..pool - 1 of the stream: each life contains the examples of the last.
        yield Life(pooled(given(0, pool), seed) if online else given, spent)
        pool *= 2


class Ending(NamedTuple):
    """How learning ended: what was spent by the last evaluation, all of them, and what ended it, if not a budget.

    `asked` is the number of examples that were handed over last, judged after or not.
    """

    distinct: int = 0
    multiply_adds: float | None = 0.0
    points: tuple[Evaluation, ...] = ()
    solved: bool = False
    error: Exception | None = None
    asked: int = 0
    reference_seconds: float = 0.0


def until_solved(
    opened: Opened,
    lives: Iterable[Life],
    streamed: bool,
    judged: Judged,
    rule: Criterion,
    allowance: float | None = None,
) -> Ending:
    """Let a solver live its lives until one meets `rule`, or has spent its `allowance` of reference seconds.

    A solver that refuses few examples, or gives up on them, may not with those of its next life; a crash and a limit of
    time are the end, and so are predictions that are not finite.
    """
    ending = Ending()
    for life in lives:
        before = ending.reference_seconds
        ending = ending._replace(asked=max(life.spent, default=0))
        try:
            with closing(evaluations(opened, streamed, life.examples, judged, life.spent)) as tried:
                for point in tried:
                    ending = ending._replace(reference_seconds=before + point.reference_seconds)
                    if point.report.get("status") == "refused":
                        raise TrialEnded("refused", str(point.report.get("reason", "")))
                    if allowance is not None and ending.reference_seconds > allowance:
                        ended = TrialEnded("budget", "over its budget of CPU time", {"limit": "CPU time"})
                        return ending._replace(error=ended)
                    points, solved, spent = (
                        (*ending.points, point),
                        rule.met(point.scores),
                        ending.reference_seconds,
                    )
                    ending = Ending(*life.spent[point.examples], points, solved, None, point.examples, spent)
                    if point.scores["explained"] is None:
                        return ending._replace(error=TrialEnded("wrong", "predictions are not finite"))
                    if ending.solved:
                        return ending
        except (TimeoutError, TrialEnded) as error:
            ending = ending._replace(error=error)
            if getattr(error, "status", "timeout") not in GAVE_UP:
                return ending
    return ending
