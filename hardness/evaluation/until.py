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
from hardness.tokens import TokenStream, load_compiled, unpack

PORTION = 1 << 14  # examples handed over at a time
# An online learner is judged after so many examples, then this much later each time
FIRST, SPACING = 1024, 1.1
LEAST = 256  # examples with which a learner begins that fits once, or makes passes over a pool

GAVE_UP = ("refused", "budget", "wrong")  # what a solver may say of too few examples
Labelled = Callable[[int, int], Examples]  # examples start..start + count - 1 of a stream


@dataclass(frozen=True)
class Evaluation:
    """Scores on fresh inputs after so many `examples`, what the solver says of its `work`, and its `report`."""

    examples: int
    scores: Scores
    work: Mapping[str, Any] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)

    @property
    def finite(self) -> bool:
        """Whether all predictions were."""
        return self.scores["explained"] is not None

    def accepted(self) -> "Evaluation":
        """This one. Raises `TrialEnded` where the solver's report says that it refused the examples."""
        if self.report.get("status") == "refused":
            raise TrialEnded("refused", str(self.report.get("reason", "")))
        return self


def stream(instance: Instance, seed: int) -> Labelled:
    """The examples of an instance under a sampling seed."""
    return lambda start, count: instance.examples(count, seed, start)


def read_by(learner: Any, instance: Instance, seed: int) -> Callable[[int, int], Any]:
    """The same as a learner reads them: `Instance.informative` for a built-in class that says `reads_informative`."""
    kind = registry.get("learner", learner) if isinstance(learner, str) else learner
    in_worker = isinstance(learner, str) and not registry.is_builtin("learner", learner)
    if in_worker or not getattr(kind, "reads_informative", False):
        return stream(instance, seed)
    return lambda start, count: instance.informative(count, seed, start)


def pooled(pool: Examples, seed: int) -> Labelled:
    """Endless passes over a pool, each in a random order of its own that follows from the seed and its number alone.

    >>> pool = Examples(np.ones((3, 2, 1), dtype=np.int8), np.arange(6.0).reshape(3, 2, 1))
    >>> pooled(pool, 1)(0, 9).Y[:, 0, 0].tolist()
    [2.0, 0.0, 4.0, 0.0, 2.0, 4.0, 2.0, 0.0, 4.0]
    """

    @lru_cache(maxsize=2)
    def order(turn: int) -> NDArray[np.intp]:
        # By the number of the pass alone: an order depends neither on earlier passes nor on how they were asked for.
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(turn,))).permutation(len(pool))

    def labelled(start: int, count: int) -> Examples:
        first, last = start // len(pool), (start + count - 1) // len(pool)
        rows = np.concatenate([order(turn) for turn in range(first, last + 1)])[start - first * len(pool) :][
            :count
        ]
        return Examples(pool.X[rows], pool.Y[rows])

    return labelled


def signed(examples: Labelled, seed: int) -> Labelled:
    """The same examples, the labels of each times a sign of its own: there is nothing to learn."""

    def labelled(start: int, count: int) -> Examples:
        part, signs = examples(start, count), unpack(TokenStream(seed, 1, 1).packed(start, count), 1)
        return Examples(part.X, part.Y * signs)

    return labelled


class Cost(NamedTuple):
    """What learning took, in three currencies; None where the learner does not count them."""

    distinct: int  # examples drawn
    gradient: int | None  # examples learned from, every pass counted
    multiply_adds: float | None


def cost(instance: Instance, learner: Any, examples: int, pool: int | None = None) -> Cost:
    """What so many examples, fresh ones or of a pool, cost a learner, as it counts: `gradient_examples` and
    `multiply_adds` of (examples, tokens, dim). One with `partial_fit` learns from each as it comes.
    """
    shape = examples, instance.family.tokens, instance.family.dim
    gradient, work = (_count(learner, name, shape) for name in ("gradient_examples", "multiply_adds"))
    distinct = examples if pool is None else min(pool, examples)
    read = examples if hasattr(learner, "partial_fit") else None if gradient is None else round(gradient)
    return Cost(distinct, read, work)


def _count(learner: Any, name: str, shape: tuple[int, int, int]) -> float | None:
    """What the learner's method of that name returns, if it has one and that is a figure."""
    method = getattr(learner, name, None)
    count = method(*shape) if method else None
    return float(count) if isinstance(count, int | float) and 0 <= count < float("inf") else None


def evaluations(
    opened: Callable[[], AbstractContextManager[Any]],
    streamed: bool,
    examples: Labelled,
    judged: Judged,
    sizes: Iterable[int],
) -> Generator[Evaluation, None, None]:
    """A solver (`hardness.evaluation.worker.opened`) judged at every one of the `sizes`, until the caller has enough.

    One that is `streamed` sees each example once, in one life; any other is opened anew for each size, and fits all
    examples up to it. Raises what the solver raises.

    >>> import hardness
    >>> from hardness.scores import EXACT, fresh
    >>> from hardness.evaluation.solver import Solver
    >>> from hardness.evaluation.worker import opening
    >>> nice = hardness.Instance.generate(hardness.Nondegenerate(dim=4, tokens=2, heads=1), seed=0)
    >>> solver = opening(Solver("learner", "direct", heads_known=1), 0, seconds=60)
    >>> tried = evaluations(solver, False, stream(nice, 1), fresh(nice, 100, 2), [12, 16, 64])
    >>> next(each.examples for each in tried if EXACT.met(each.scores))
    16
    """
    if streamed:
        spent = 0
        with opened() as solver:
            for size in sizes:
                load_compiled((size - spent) * judged.X.shape[1])
                for start in range(spent, size, PORTION):
                    part = examples(start, min(PORTION, size - start))
                    solver.partial_fit(part.X, part.Y)
                spent = size
                yield Evaluation(size, scores(judged, solver.predict(judged.X)), solver.work())
    else:
        for size in sizes:
            with opened() as solver:
                part = examples(0, size)
                solver.partial_fit(part.X, part.Y)
                predicted = solver.predict(judged.X)
                yield Evaluation(size, scores(judged, predicted), solver.work(), solver.report())


@dataclass(frozen=True)
class Life:
    """A learner from its start to its end: its examples, and the sizes at which it is judged with the cost by then."""

    examples: Labelled
    costs: Mapping[int, Cost]


def at_sizes(given: Labelled, sizes: Iterable[int], streamed: bool) -> list[Life]:
    """The lives of a solver of which examples alone are counted: it is judged at every one of the `sizes`.

    One that is `streamed` has one life. Any other has one at each size: where it refuses, or gives up, it may not with
    more examples.

    >>> from hardness.families.parity import Parity
    >>> given = stream(Instance.generate(Parity(6, 2), 0), 1)
    >>> [list(life.costs) for streamed in (True, False) for life in at_sizes(given, [64, 128], streamed)]
    [[64, 128], [64], [128]]
    """
    costs = {size: Cost(size, size, None) for size in sizes}
    return [Life(given, costs)] if streamed else [Life(given, {size: cost}) for size, cost in costs.items()]


def lives(
    learner: Any, instance: Instance, given: Labelled, cap: int, work: float, passes: int = 0, seed: int = 0
) -> Iterator[Life]:
    """All that a learner is handed of the stream `given`, until more would exceed `cap` distinct examples, or `work`,
    multiply-adds.

    One with `partial_fit` sees each example once, or makes `passes` over pools of twice as many examples each time.
    Another is fitted anew on twice as many each time. Who starts several times pays for all of its lives.

    >>> from hardness.families.parity import Parity
    >>> class Thrice:
    ...     def gradient_examples(self, examples, tokens, dim):
    ...         return 3 * examples
    >>> instance = Instance.generate(Parity(6, 2), 0)
    >>> from pprint import pp
    >>> pp([life.costs for life in lives(Thrice(), instance, stream(instance, 1), 512, 1e9)], width=100)
    [{256: Cost(distinct=256, gradient=768, multiply_adds=None)},
     {512: Cost(distinct=512, gradient=2304, multiply_adds=None)}]
    """
    online = hasattr(learner, "partial_fit")
    if online and not passes:
        an_example = cost(instance, learner, 1).multiply_adds
        cap = min(cap, int(work / an_example)) if an_example else cap
        yield Life(given, {n: cost(instance, learner, n) for n in sizes(cap, FIRST, SPACING)})
        return
    spent, pool = Cost(0, 0, 0.0), LEAST
    while pool <= cap:
        ends = list(sizes(passes * pool, FIRST, SPACING)) if online else [pool]
        costs = {n: _after(spent, cost(instance, learner, n, pool)) for n in ends}
        spent = costs[ends[-1]]
        # Before the life, not after: one that would exceed the budget half-way is not begun, and counts for nothing.
        if (spent.multiply_adds or 0.0) > work:
            return
        # Of a learner that fits once, examples 0..pool - 1 of the stream: each life contains the examples of the last.
        yield Life(pooled(given(0, pool), seed) if online else given, costs)
        pool *= 2


def _after(spent: Cost, more: Cost) -> Cost:
    """The cost by the end of `more`, on the same examples and further ones."""
    gradient = None if spent.gradient is None or more.gradient is None else spent.gradient + more.gradient
    counts = spent.multiply_adds, more.multiply_adds
    work = None if counts[0] is None or counts[1] is None else counts[0] + counts[1]
    return Cost(more.distinct, gradient, work)


class Ending(NamedTuple):
    """How learning ended: what was spent by the last evaluation, all of them, and what ended it, if not a budget.

    `asked` is the number of examples that were handed over last, judged after or not.
    """

    spent: Cost
    points: tuple[Evaluation, ...] = ()
    solved: bool = False
    error: Exception | None = None
    asked: int = 0


def until_solved(
    opened: Callable[[], AbstractContextManager[Any]],
    lives: Iterable[Life],
    streamed: bool,
    judged: Judged,
    rule: Criterion,
) -> Ending:
    """A solver's lives one after the other, until one meets `rule`.

    A solver that refuses few examples, or gives up on them, may not with those of its next life; a crash and a limit of
    time are the end, and so are predictions that are not finite. One that had only refused when its CPU time was over
    has refused: the first reason is kept, since the last depends on the machine.
    """
    ending, refusal = Ending(Cost(0, 0, 0.0)), ""
    for life in lives:
        ending = ending._replace(asked=max(life.costs, default=0))
        try:
            with closing(evaluations(opened, streamed, life.examples, judged, life.costs)) as tried:
                for point in tried:
                    points = (*ending.points, point.accepted())
                    ending = Ending(
                        life.costs[point.examples], points, rule.met(point.scores), asked=point.examples
                    )
                    if not point.finite:
                        return ending._replace(error=TrialEnded("wrong", "predictions are not finite"))
                    if ending.solved:
                        return ending
        except (TrialEnded, TimeoutError) as error:
            ending = ending._replace(error=error)
            if not (isinstance(error, TrialEnded) and error.status in GAVE_UP):
                break
            if limit := error.detail.get("limit"):
                kept = TrialEnded("refused", refusal, {"limit": limit})
                return ending._replace(error=kept) if refusal and not ending.points else ending
            refusal = refusal or error.reason * (error.status == "refused")
    return ending
