"""Strategy against oracle: how many queries until one concept is left?"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from traceback import extract_tb
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from hardness import registry
from hardness.errors import InputError, one_line, sanitize
from hardness.families.base import Family
from hardness.families.concepts import Concepts
from hardness.io.fields import number
from hardness.io.texts import table
from hardness.sq import scale
from hardness.sq.bounds.floors import IDENTIFIABLE, check_tolerance, decimal, exact_floor, within
from hardness.sq.oracle import ORACLES, Oracle, OutOfQueries, Window
from hardness.sq.queries import Query
from hardness.sq.strategies import STRATEGIES, Steps, Strategy, sign_batch

EXPLICIT = 2**22  # concepts of a list


@dataclass(frozen=True)
class GameResult:
    """Records how one game ended.

    `status` is solved; wrong, where the concept left is not the hidden one; budget, where `max_queries` ended the game;
    or stuck, where the strategy had no further query. `remaining` counts the concepts still possible. `bound` is the
    proven lower bound on queries against that oracle (None: none is claimed), `exact_floor` that of theorem B for
    parities against `window` (theory 2.7); `ratio` and `floor_ratio` are the queries of a solved game over these.
    """

    status: str
    queries: int
    smallest_tolerance: float
    concepts: int
    remaining: int
    bound: float | None
    ratio: float | None
    seconds: float
    exact_floor: int | None = None
    floor_ratio: float | None = None

    @property
    def solved(self) -> bool:
        return self.status == "solved"

    def _repr_html_(self) -> str:
        return table("Game", asdict(self))


def play(
    concepts: Concepts | Family,
    strategy: str | Strategy,
    oracle: str | type[Oracle] = "window",
    tolerance: float = 0.1,
    *,
    seed: int | SeedSequence = 0,
    max_queries: int | None = None,
    flip: float = 0.0,
) -> GameResult:
    """Play `strategy` against `oracle` at STAT(tolerance) until one concept is left or the queries run out.

    Both are names, plug-ins included, or the function and the class themselves; `concepts` may be a family. `flip` is
    the probability that a parity's label is flipped, which acts as a tolerance 1/(1 - 2 flip) times as large (theory
    1.2b). Sign batches on parities against `window` run in a fast special program, all else query by query. Raises
    `InputError` for unknown names, numbers out of range and a strategy that fails.

    >>> from hardness.families.concepts import ParityConcepts
    >>> result = play(ParityConcepts(16, 4), "sign-batch", "window", 0.1)
    >>> result.status, result.concepts, result.remaining, result.ratio < 1.95
    ('solved', 1820, 1, True)
    """
    started, flip = perf_counter(), flip or getattr(concepts, "flip", 0.0)
    concepts, oracle = class_of(concepts), oracle_of(oracle)
    asked = strategy_of(concepts, strategy)
    check_tolerance(tolerance)
    number("flip", flip, "[0, 1/2)")
    if flip and concepts.kind != "parity":
        raise InputError(
            "flip is for parities; the labels of rounding have no sign to flip, other classes no flips here"
        )
    reach, right = tolerance / (1 - 2 * flip), True
    if asked is sign_batch and oracle is Window:
        remaining, queries = scale.sign_batch(concepts, reach, max_queries, seed_sequence(seed))
    else:
        judge, steps = seated(concepts, asked, oracle, reach, seed, max_queries)
        live = judge.live
        for _, _, allowed in rounds(concepts, judge, steps, min(reach, 1.0)):
            live = allowed
        known = len(live) > 0 and concepts.is_identified(live)
        queries, remaining = judge.ledger.queries, 1 if known else len(live)
        # An adversary judges no answer: one concept left is the concept.
        right = judge.adversary or any(map(judge.is_right, live))
    status = "solved" if right else "wrong"
    if remaining > 1:
        status = "stuck" if max_queries is None or queries < max_queries else "budget"
    solved, bound, floor = status == "solved", oracle.bound(concepts, tolerance, flip), None
    tau = decimal(tolerance) / (1 - 2 * decimal(flip))
    if concepts.kind == "parity" and oracle is Window and tau < IDENTIFIABLE:
        floor = exact_floor(concepts.size, tau)
    return GameResult(
        status=status,
        queries=queries,
        smallest_tolerance=tolerance,
        concepts=concepts.size,
        remaining=remaining,
        bound=bound,
        ratio=queries / bound if solved and bound else None,
        seconds=perf_counter() - started,
        exact_floor=floor,
        floor_ratio=queries / floor if solved and floor else None,
    )


def seated(
    concepts: Concepts,
    strategy: Strategy,
    oracle: type[Oracle],
    reach: float,
    seed: int | SeedSequence,
    budget: int | None = None,
) -> tuple[Oracle, Callable[[], Steps]]:
    """Set up a game: return an oracle that may hide any of the concepts, and a function that starts the strategy.
    The function returns the strategy's generator of queries. The strategy knows that a mean lies within `reach` of its
    answer. `budget` limits the queries (None: no limit). Both draw from seeds of their own, spawned from `seed`. Raises
    `InputError` for more than 2^22 concepts."""
    if concepts.size > EXPLICIT:
        raise InputError(f"played concept by concept, up to 2^22 of them, not {concepts.size}; lower --dim")
    for_oracle, for_learner = map(np.random.default_rng, seed_sequence(seed).spawn(2))
    live = concepts.elements()
    return oracle(live, for_oracle, budget=budget), lambda: strategy(concepts, live, reach, for_learner)


def rounds(
    concepts: Concepts,
    oracle: Oracle,
    start: Callable[[], Steps],
    tolerance: float,
    asked: Callable[[Any], Query] = lambda query: query,
) -> Iterator[tuple[Query, float, NDArray[Any]]]:
    """Play a game: yield every query, its answer, and the concepts that all answers so far allow.
    `start` starts the strategy. `asked` turns each of its queries into the one that is put to the oracle, by default
    the same. The game ends when a concept is identified, none is left, the strategy stops, or the queries run out.
    Raises `InputError` where the strategy fails."""
    live: Any = oracle.live
    try:
        steps = start()
        query = asked(next(steps))
        while not concepts.is_identified(live):
            reply = oracle.answer(query, tolerance)
            # What the answers of an adversary allow it keeps itself; an honest oracle knows its secret alone.
            live = oracle.live if oracle.adversary else live[within(query.means(live), reply, tolerance)]
            yield query, reply, live
            if len(live) == 0 or concepts.is_identified(live):
                return
            query = asked(steps.send(live))
    except (StopIteration, OutOfQueries):
        return
    except (InputError, MemoryError, TimeoutError):
        raise
    except Exception as error:
        last = extract_tb(error.__traceback__)[-1]
        raise InputError(
            f"query {oracle.ledger.queries} failed at {Path(last.filename).name}:{last.lineno} ({one_line(error)}); a "
            "strategy is a generator, called with concepts, live, tolerance and rng, and live is an array of "
            f"{live.dtype}, shape {('count', *live.shape[1:])}, of this class"
        ) from error


def class_of(concepts: Concepts | Family) -> Concepts:
    """Return the concept class of a family, or the class itself if given one; raise `InputError` if there is none."""
    if isinstance(concepts, Concepts):
        return concepts
    if not isinstance(concepts, Family):
        raise InputError(f"a game takes a family or a class of labels, got {sanitize(concepts, 60)}")
    listed = concepts.concepts()
    if listed is None:
        raise without_concepts(type(concepts))
    return listed


def without_concepts(family: type[Family]) -> InputError:
    """Return the error to raise for a family that has no class of labels to ask about."""
    return InputError(
        f"family '{family.name}' has no class of labels to ask about with these parameters; "
        "take parity or rounding, or a family whose method `concepts` returns one"
    )


def strategy_of(concepts: Concepts, strategy: str | Strategy) -> Strategy:
    """Return the strategy of this name, built in for this class or a plug-in; a function is returned as it is."""
    if not isinstance(strategy, str):
        return strategy
    known = STRATEGIES[concepts.kind]
    if strategy in STRATEGIES["parity"] and strategy not in known:
        raise InputError(f"{strategy} is for parities; here play {', '.join(known)}")
    named: Strategy = known[strategy] if strategy in known else registry.get("strategy", strategy, known)
    return named


def oracle_of(oracle: str | type[Oracle]) -> type[Oracle]:
    """Return the oracle of this name, built in or a plug-in; a class is returned as it is."""
    if not isinstance(oracle, str):
        return oracle
    named: type[Oracle] = ORACLES[oracle] if oracle in ORACLES else registry.get("oracle", oracle, ORACLES)
    return named


def seed_sequence(seed: int | SeedSequence) -> SeedSequence:
    """Return the seed as a `SeedSequence`, from which further seeds are spawned."""
    return seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
