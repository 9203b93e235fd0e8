"""The one loop of learning: more and more examples of a stream, and what fresh inputs say on the way."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardness.errors import TrialEnded
from hardness.evaluation.judge import Judged, Scores, scores
from hardness.examples import Examples
from hardness.instance import Instance
from hardness.tokens import TokenStream, load_compiled, unpack

PORTION = 1 << 14  # examples handed over at a time

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


def pooled(pool: Examples, seed: int) -> Labelled:
    """Endless passes over a pool, each in a random order of its own that follows from the seed and its number alone.

    >>> pool = Examples(np.ones((3, 2, 1), dtype=np.int8), np.arange(6.0).reshape(3, 2, 1))
    >>> pooled(pool, 1)(0, 9).Y[:, 0, 0].tolist()
    [2.0, 0.0, 4.0, 0.0, 2.0, 4.0, 2.0, 0.0, 4.0]
    """

    @lru_cache(maxsize=2)
    def order(turn: int) -> NDArray[np.intp]:
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(turn,))).permutation(len(pool))

    def labelled(start: int, count: int) -> Examples:
        first, last = start // len(pool), (start + count - 1) // len(pool)
        rows = np.concatenate([order(turn) for turn in range(first, last + 1)])[start - first * len(pool) :][:count]
        return Examples(pool.X[rows], pool.Y[rows])

    return labelled


def signed(examples: Labelled, seed: int) -> Labelled:
    """The same examples, the labels of each times a sign of its own: there is nothing to learn."""

    def labelled(start: int, count: int) -> Examples:
        part, signs = examples(start, count), unpack(TokenStream(seed, 1, 1).packed(start, count), 1)
        return Examples(part.X, part.Y * signs)

    return labelled


class Cost(NamedTuple):
    """What learning took, in three currencies; `multiply_adds` is None where the learner does not count them."""

    distinct: int  # examples drawn
    gradient: int  # examples learned from, every pass counted
    multiply_adds: float | None


def cost(instance: Instance, learner: Any, examples: int, pool: int | None = None) -> Cost:
    """What so many examples, fresh ones or of a pool, cost a learner."""
    count = getattr(learner, "multiply_adds", lambda *shape: None)
    distinct = examples if pool is None else min(pool, examples)
    return Cost(distinct, examples, count(examples, instance.family.tokens, instance.family.dim))


def evaluations(
    opened: Callable[[], AbstractContextManager[Any]],
    streamed: bool,
    examples: Labelled,
    judged: Judged,
    sizes: Iterable[int],
) -> Iterator[Evaluation]:
    """A solver (`hardness.evaluation.worker.opened`) judged at every one of the `sizes`, until the caller has enough.

    One that is `streamed` sees each example once, in one life; any other is opened anew for each size, and fits all
    examples up to it. Raises what the solver raises.

    >>> from functools import partial
    >>> import hardness, time
    >>> from hardness.evaluation.judge import EXACT, fresh
    >>> from hardness.evaluation.worker import opened
    >>> nice = hardness.Instance.generate(hardness.Nondegenerate(dim=4, tokens=2, heads=1), seed=0)
    >>> solver = partial(opened, {"learner": "direct", "known": 1}, 0, time.monotonic() + 60)
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
                yield Evaluation(size, scores(judged, solver.predict(judged.X)))
    else:
        for size in sizes:
            with opened() as solver:
                part = examples(0, size)
                solver.partial_fit(part.X, part.Y)
                predicted = solver.predict(judged.X)
                yield Evaluation(size, scores(judged, predicted), solver.work(), solver.report())
