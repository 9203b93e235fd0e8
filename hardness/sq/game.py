"""Strategy against oracle: how many queries until one concept is left?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb
from time import perf_counter
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from hardness import registry
from hardness.errors import InputError
from hardness.families.base import Family, disagreement
from hardness.families.concepts import Concepts, ParityConcepts
from hardness.families.listed import ListedConcepts
from hardness.io.fields import number, whole
from hardness.sq.at_scale import games as at_scale
from hardness.sq.at_scale.blocks import blocks_then_batches
from hardness.sq.exact import IDENTIFIABLE, decimal, exact_floor
from hardness.sq.oracle import ORACLES, Oracle, OutOfQueries, Sampled, Window, samples_for
from hardness.sq.queries import Query
from hardness.sq.strategies import listed, parity, rounding
from hardness.sq.strategies.base import Steps, Strategy
from hardness.sq.tolerance import check_tolerance, within

EXPLICIT = 2**22  # concepts of a list
CONFIRM = 16
SET_BY_SET = 2**18  # sets up to which `flat` is offered: it looks for queries among all that live


@dataclass(frozen=True)
class GameResult:
    """One ended game. `status` is solved, wrong or budget (more than one concept left when queries ran out).

    `remaining` counts the concepts still possible, those of the same labels as one; `bound` is the proven lower bound
    for that oracle (None: none is claimed) and `ratio` = queries/bound of a solved game; `confirmations` are queries
    asked only to confirm. Games on parities against the window have theorem B's floor, `exact_floor`, at tolerances
    where anything is identifiable (theory 2.7), and `floor_ratio` = queries/exact_floor of a solved game.
    """

    status: str
    queries: int
    smallest_tolerance: float
    concepts: int
    remaining: int
    bound: float | None
    ratio: float | None
    seconds: float
    confirmations: int = 0
    exact_floor: int | None = None
    floor_ratio: float | None = None

    @property
    def solved(self) -> bool:
        return self.status == "solved"


def play(
    concepts: Concepts | Family,
    strategy: str | Strategy,
    oracle: str | type[Oracle] = "window",
    tolerance: float = 0.1,
    *,
    seed: int | SeedSequence = 0,
    max_queries: int | None = None,
    samples: int | None = None,
    flip: float = 0.0,
) -> GameResult:
    """Play `strategy` against `oracle` at STAT(tolerance) until one concept is left or the queries run out.

    Both are names, plug-ins included, or the things themselves; `concepts` may be a family. `samples` makes
    the sampled oracle use that many fresh samples a query and promise no tolerance; a strategy that believes in it may
    rule the secret out, and is `wrong`. `flip` is the probability that a parity's sign is flipped (theory 1.2b).
    `InputError` for unknown names, a tolerance outside (0, 1], or a game no rule is known for.

    >>> result = play(ParityConcepts(16, 4), "sign-batch", "window", 0.1)
    >>> result.status, result.concepts, result.remaining, result.ratio < 1.95
    ('solved', 1820, 1, True)
    """
    flip = flip or (concepts.flip if isinstance(concepts, Family) else 0.0)
    concepts = class_of(concepts)
    kind = _checked(concepts, strategy, oracle, tolerance, max_queries, samples, flip)
    root = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
    started = perf_counter()
    budget = at_scale.NO_LIMIT if max_queries is None else max_queries
    counted = None
    # The closed forms know what the lab's own oracles reply, and draw products of unflipped labels.
    if (
        isinstance(concepts, ParityConcepts)
        and ORACLES.get(kind.name) is kind
        and not (flip and kind is Sampled)
    ):
        # Flips shrink every mean by 1 - 2 flip: the same game at a tolerance that much larger.
        counted = _at_scale(concepts, strategy, kind, tolerance / (1 - 2 * flip), root, budget, samples)
    counted = counted or play_explicit(
        concepts, strategy, kind, tolerance, root, budget, samples=samples, flip=flip
    )
    bound = bound_of(concepts, kind, tolerance, flip)
    # An adversary judges no answer (`right` is None): one concept left is the concept.
    status = "budget" if counted.remaining > 1 else "wrong" if counted.right is False else "solved"
    tau = decimal(tolerance) / (1 - 2 * decimal(flip))
    floored = isinstance(concepts, ParityConcepts) and kind is Window and tau < IDENTIFIABLE
    exact = exact_floor(concepts.size, tau) if floored else None
    return GameResult(
        status=status,
        queries=counted.queries,
        smallest_tolerance=tolerance,
        concepts=concepts.size,
        remaining=counted.remaining,
        bound=bound,
        ratio=counted.queries / bound if bound and status == "solved" else None,
        seconds=perf_counter() - started,
        confirmations=counted.confirmations,
        exact_floor=exact,
        floor_ratio=counted.queries / exact if exact and status == "solved" else None,
    )


def bound_of(
    concepts: Concepts | Family, oracle: type[Oracle], tolerance: float, flip: float = 0.0
) -> float | None:
    """Queries that any strategy needs against an oracle, as far as it is proved; `flip` unless the family has its own.

    Raises `InputError` for a family without a concept class.

    >>> bound_of(ParityConcepts(14, 4), Window, 0.125), bound_of(ParityConcepts(14, 4), ORACLES["exact"], 0.125)
    (125.0, None)
    """
    flip = flip or (concepts.flip if isinstance(concepts, Family) else 0.0)
    return oracle.bound(class_of(concepts), tolerance, flip)


def _checked(
    concepts: Concepts,
    strategy: str | Strategy,
    oracle: str | type[Oracle],
    tolerance: float,
    max_queries: int | None,
    samples: int | None,
    flip: float,
) -> type[Oracle]:
    """The oracle of a game that makes sense; `InputError` for one that does not."""
    check_tolerance(tolerance)
    strategy_of(concepts, strategy)
    kind = oracle_of(oracle)
    if strategy == "flat" and concepts.size > SET_BY_SET:
        raise InputError(
            f"flat is offered up to 2^18 sets, not {concepts.size}; play sign-batch, or lower --dim"
        )
    if samples is not None and (kind is not Sampled or samples < 1):
        raise InputError("samples is for the sampled oracle and must be at least 1")
    if max_queries is not None:
        whole("max-queries", max_queries, 0)
    number("flip", flip, "[0, 1/2)")
    if flip and not isinstance(concepts, ParityConcepts):
        raise InputError(
            "flip is for parities; the labels of rounding have no sign to flip, other classes no flips here"
        )
    return kind


def _at_scale(
    concepts: ParityConcepts,
    strategy: str | Strategy,
    oracle: type[Oracle],
    tolerance: float,
    root: SeedSequence,
    budget: int,
    samples: int | None,
) -> at_scale.GameCount | None:
    """The games with a closed form per query; None for all others."""
    state = root.generate_state(1, np.uint64).astype(np.uint64)
    if strategy == "sign-batch" and oracle is Window:
        return at_scale.sign_batch_adversary(concepts, tolerance, budget, state)
    if strategy == "blocks" and oracle is Window:
        *_, asked, live = blocks_then_batches(concepts, tolerance, budget, state)
        return at_scale.GameCount(asked, live)
    if strategy == "low-degree" and concepts.s > 1 and oracle.adversary:
        # A monomial below degree s has mean exactly 0 under every concept: nothing falls, at any tolerance.
        return at_scale.GameCount(
            min(budget, sum(comb(concepts.n, j) for j in range(1, concepts.s))), concepts.size
        )
    if strategy not in ("characters", "random"):
        return None
    if oracle.adversary:
        # The order does not matter: every query takes the concept it names, whichever it is.
        halved = tolerance if oracle is Window else tolerance / 2
        return at_scale.characters_adversary(concepts, halved, budget)
    if samples is None and tolerance >= 0.25:
        return None
    # From a random start, and in random order alike, the secret's turn is uniform; which other set is asked
    # when does not change the law of any answer.
    position = int(np.random.default_rng(root).integers(concepts.size))
    if oracle is Sampled:
        confirm = 0 if samples is None else CONFIRM
        count = samples_for(tolerance) if samples is None else samples
        return at_scale.characters_sampled(position, concepts.size, budget, count, confirm, state)
    asked = min(position + 1, concepts.size - 1)
    if asked > budget:
        return at_scale.GameCount(budget, concepts.size - budget)
    return at_scale.GameCount(asked, 1, True)


def play_explicit(
    concepts: Concepts,
    strategy: str | Strategy,
    oracle: type[Oracle],
    tolerance: float,
    root: SeedSequence,
    budget: int,
    *,
    samples: int | None = None,
    flip: float = 0.0,
) -> at_scale.GameCount:
    """The plain game, query by query, over an explicit version space: what `at_scale` must agree with."""
    options = {"samples": samples} if oracle is Sampled else {}
    reach = tolerance / (1 - 2 * flip)
    played, steps = seated(concepts, strategy_of(concepts, strategy), oracle, reach, root, budget, **options)
    live: Any = played.live
    for _, _, allowed in rounds(
        concepts, played, steps, tolerance, lambda q: replace(q, flip=flip) if flip else q
    ):
        live = allowed
    known = len(live) > 0 and concepts.is_identified(live)
    right = None if oracle.adversary or (len(live) and not known) else any(map(played.is_right, live))
    return at_scale.GameCount(played.ledger.queries, 1 if known else len(live), right)


def seated(
    concepts: Concepts,
    strategy: Callable[..., Steps],
    oracle: type[Oracle],
    reach: float,
    seed: int | SeedSequence,
    budget: int | None = None,
    **options: Any,
) -> tuple[Oracle, Steps]:
    """An oracle over all concepts, and a strategy that is told of an answer's `reach` around 0: one seed for each.

    `options` are what the oracle needs besides. Raises `InputError` for more than 2^22 concepts.
    """
    if concepts.size > EXPLICIT:
        raise InputError(f"played concept by concept, up to 2^22 of them, not {concepts.size}; lower --dim")
    root = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
    for_oracle, for_learner = (np.random.default_rng(child) for child in root.spawn(2))
    live: Any = concepts.masks() if isinstance(concepts, ParityConcepts) else concepts.elements()
    return oracle(live, for_oracle, budget=budget, **options), strategy(concepts, live, reach, for_learner)


def rounds(
    concepts: Concepts,
    oracle: Oracle,
    steps: Steps,
    tolerance: float,
    asked: Callable[[Any], Query] = lambda query: query,
) -> Iterator[tuple[Query, float, NDArray[Any]]]:
    """The one loop of every explicit game: each query, its answer, and the concepts that all answers so far allow.

    Until a concept is identified, none is left, the strategy gives up, or the queries run out. Bias, flips and the
    short tables of certificates are what is made of a query before it is `asked`; chains are one such game a block.

    >>> concepts = ParityConcepts(5, 2)
    >>> oracle, steps = seated(concepts, parity.STRATEGIES["characters"], Window, 0.2, seed=0)
    >>> [len(live) for _, _, live in rounds(concepts, oracle, steps, 0.2)]
    [9, 8, 7, 6, 5, 4, 3, 2, 1]
    """
    live: Any = oracle.live
    try:
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


def class_of(concepts: Concepts | Family) -> Concepts:
    """The concept class of a family; a class is itself.

    Raises `InputError` where there is none to ask about, or where it is not the class of the family's labels.
    """
    return concepts if isinstance(concepts, Concepts) else _class_of_family(concepts)


@lru_cache(4096)  # once a process
def _class_of_family(family: Family) -> Concepts:
    concepts = family.concepts() if isinstance(family, Family) else None
    if concepts is None:
        raise InputError(
            f"{type(family).__name__} has no concept class to ask about; its `claims` may state `concepts`, a class "
            "that derives from hardness.ListedConcepts (theory 2.8)"
        )
    if not type(family).__module__.startswith(
        "hardness."
    ):  # tests hold the lab's own labels to their classes
        secret = family.draw(np.random.default_rng(0))
        if wrong := disagreement(family, concepts, family.realize(secret), secret):
            raise InputError(
                f"{type(family).__name__} is not played: {wrong}; compared were the labels of what `realize` makes of "
                "a secret and what `concepts` say of it, and either may be wrong"
            )
    return concepts


def strategy_of(concepts: Concepts, strategy: str | Strategy) -> Any:
    """A strategy by name: built in for this class, or a plug-in, which must know how to ask about the class.

    A function is its own name. Raises `InputError` if there is none.
    """
    known: Any = listed.STRATEGIES if isinstance(concepts, ListedConcepts) else rounding.STRATEGIES
    known = parity.STRATEGIES if isinstance(concepts, ParityConcepts) else known
    if not isinstance(strategy, str):
        return strategy
    return known[strategy] if strategy in known else registry.get("strategy", strategy, known)


def oracle_of(oracle: str | type[Oracle]) -> type[Oracle]:
    """An oracle by name, built in or a plug-in. Raises `InputError` if there is none.

    >>> oracle_of("null").name
    'null'
    """
    if isinstance(oracle, str):
        oracle = ORACLES[oracle] if oracle in ORACLES else registry.get("oracle", oracle, ORACLES)
    if not (isinstance(oracle, type) and issubclass(oracle, Oracle)):
        raise InputError(
            f"{oracle!r} is no oracle: an oracle is a class derived from hardness.sq.oracle.Oracle"
        )
    return oracle
