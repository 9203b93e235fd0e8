"""Certificates: files that prove a statement about statistical queries to a checker that knows nothing of the lab.

Three kinds (theory 2.8): a `transcript` that leaves two concepts possible, a `bound` on the queries that any strategy
needs, and the exact `value` of a small class with its strategy and its refutation. Each function returns a plain dict
of strings, integers, lists and dicts; `write` puts it into a file and `checker/check_certificate.py` verifies the file
(docs/certificates.md). Tolerances are the decimals they are written as.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import comb, inf, lcm
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from hardness.errors import InputError
from hardness.exact.small_games import MOST_CONCEPTS, Ask, OutOfTime, SmallGames, refutations, winning
from hardness.families.concepts import ParityConcepts
from hardness.io.files import write_text
from hardness.sq.bounds.floors import FIVE, decimal, exact_floor
from hardness.sq.game import rounds, seated, strategy_of
from hardness.sq.oracle import Window
from hardness.sq.queries import Query, SignBatch, SpanFunction, Table, span_coordinates

Certificate = dict[str, Any]
WIDEST_BATCH = 24  # dimensions: the checker counts a sign batch at all inputs of its span
WIDEST_VALUE = 12
LARGEST_TABLE = 2**16
DENOMINATOR = 5040
LARGEST_FILE = 2**22  # bytes, as for the checker


def transcript(
    concepts: ParityConcepts,
    tolerance: float,
    strategy: str,
    *,
    seed: int = 0,
    max_queries: int | None = None,
) -> Certificate:
    """Return a certificate that the queries and answers of a game against the oracle `window` allow two concepts.
    It names two such concepts. The game ends before a query that would leave one, or after `max_queries`. Table values
    are rounded to multiples of 1/5040 before they are asked. Raises `InputError` for an unknown strategy, a class of
    one concept, and queries that the checker cannot follow."""
    if concepts.size < 2:
        raise InputError(f"a {concepts.label} is known without a query: nothing is left open; raise --dim")
    oracle, steps = seated(concepts, strategy_of(concepts, strategy), Window, tolerance, seed, max_queries)
    live, exchanges = oracle.live, []
    for query, reply, allowed in rounds(concepts, oracle, steps, tolerance, _short):
        if len(allowed) > 1:
            exchanges.append((query, reply))
            live = allowed
    tau, left = decimal(tolerance), live[:2]
    tables: dict[str, int] = {}
    asked = [_encoded(query, tables) for query, _ in exchanges]
    answers = [str(_answer(reply, query.means(left).tolist(), tau)) for query, reply in exchanges]
    shown = {"queries": len(asked), "concepts": left.tolist(), "answers": answers, "asked": asked}
    return _stated("transcript", tolerance, concepts.n, [concepts.s]) | shown | _listed(tables)


def _short(query: Query) -> Query:
    """Return the query with values rounded to multiples of 1/5040; a `Table` becomes a `SpanFunction` of all bits."""
    if isinstance(query, Table):
        bits = np.arange(len(query.values).bit_length() - 1, dtype=np.uint64)
        query = SpanFunction(0, np.uint64(1) << bits, query.values)
    if isinstance(query, SpanFunction):
        return replace(query, values=np.clip(np.round(query.values * DENOMINATOR) / DENOMINATOR, -1, 1))
    return query


def _answer(reply: float, means: list[float], tau: Fraction) -> Fraction:
    """Return a short rational near an oracle's answer `reply`, within tau of all `means`; `InputError` if none is."""
    low, high = Fraction(max(means)) - tau, Fraction(min(means)) + tau
    near, margin = Fraction(reply).limit_denominator(10**6), Fraction(1, 10**9)
    if low + margin <= near <= high - margin:
        return near
    if low > high:
        raise InputError(
            "an answer of this game holds in floating point only; choose another seed or tolerance"
        )
    return (low + high) / 2


def _encoded(query: Query | Ask, tables: dict[str, int]) -> dict[str, Any]:
    """Return a query as a certificate's record, which refers to its values by their index in `tables`.
    New ones are added there. Raises `InputError` for queries that the checker cannot follow."""
    base: int
    generators: Iterable[int]
    values: Sequence[Fraction | int]
    match query:
        case SignBatch(sets=sets, signs=signs) if len(sets) == 1:
            base, generators, values = int(sets[0]), (), signs.tolist()
        case SignBatch(sets=sets, signs=signs):
            if len(span_coordinates(sets, sets)[0]) > WIDEST_BATCH:
                raise InputError(f"sign batches of up to {WIDEST_BATCH} bits are certified; lower --dim")
            return {"batch": [int(mask) * int(sign) for mask, sign in zip(sets, signs, strict=True)]}
        case SpanFunction():
            base, generators = query.base, query.generators.tolist()
            values = [Fraction(round(v * DENOMINATOR), DENOMINATOR) for v in query.values.tolist()]
        case Ask():
            base, generators, values = query.base, query.generators, query.values
        case _:
            raise InputError(f"a {type(query).__name__} query has no exact form that the checker knows")
    if len(values) > LARGEST_TABLE:
        raise InputError(f"tables of up to 2^16 values are certified, not of {len(values)}; lower --dim")
    scale = lcm(*(Fraction(value).denominator for value in values))
    text = json.dumps({"scale": scale, "values": [int(value * scale) for value in values]})
    place = tables.setdefault(text, len(tables))
    return {"table": place, "base": base, "generators": [int(g) for g in generators]}


def _listed(tables: dict[str, int]) -> dict[str, Any]:
    return {"tables": [json.loads(text) for text in tables]}


def bound(concepts: ParityConcepts, tolerance: float) -> Certificate:
    """Return a certificate of theorem B's lower bound on queries that surely identify one of the `concepts`.
    The tolerance from which no query rules out 5 of 10 or more parities is taken as 11/80, which is proved by hand."""
    tau = decimal(tolerance)
    # The checker follows the proof by hand, T(5) <= 11/80; just below 13/96 the lab's own table says no more.
    weaker = FIVE - Fraction(1, 10**9) if FIVE <= tau < Fraction(11, 80) else tau
    queries = exact_floor(concepts.size, weaker)
    stated = _stated("bound", tolerance, concepts.n, [concepts.s])
    return stated | {"concepts": concepts.size, "queries": queries, "by": "theorem B"}


def _stated(kind: str, tolerance: float, n: int, sizes: Sequence[int]) -> Certificate:
    family = {"n": n, "sizes": list(sizes)}
    return {"certificate": kind, "tolerance": str(decimal(tolerance)), "family": family}


def value(n: int, sizes: Sequence[int], tolerance: float, *, seconds: float = inf) -> Certificate:
    """Return a certificate of V, the fewest queries that surely identify a parity of n bits whose size is in `sizes`.
    Raises `InputError` for more than 11 concepts or 12 bits, from tolerance 1/4 on, and if `seconds` do not suffice."""
    size = sum(comb(n, s) for s in sizes)
    if size > MOST_CONCEPTS or n > WIDEST_VALUE:
        raise InputError(
            f"exact values are for up to {MOST_CONCEPTS} concepts of {WIDEST_VALUE} bits, not {size} of {n}"
        )
    exact_floor(size, tolerance)  # refuses tolerances at which no value exists
    concepts = tuple(mask for mask in range(1 << n) if mask.bit_count() in sizes)
    # The checker knows no symmetries.
    games = SmallGames(tolerance, deadline=perf_counter() + seconds, symmetric=False)
    try:
        best = games.value(concepts)
        asks, proofs = winning(games, concepts), refutations(games, concepts, best)
    except OutOfTime:
        raise InputError(f"no exact value of {size} concepts within {seconds:g} s; lower --dim") from None
    tables: dict[str, int] = {}
    upper = [
        {"live": live, "height": games.value(live), "query": _encoded(query, tables)}
        for live, query in asks.items()
    ]
    lower = []
    for live, (height, proof) in proofs.items():
        leaves = []
        for leaf in proof:
            scale = lcm(*(weight.denominator for weight in leaf.weights))
            weights = [int(weight * scale) for weight in leaf.weights]
            leaves.append({"order": leaf.beginning, "pairs": leaf.pairs, "weights": weights})
        lower.append({"live": live, "height": height, "leaves": leaves})
    stated = _stated("value", tolerance, n, sizes)
    return stated | {"value": best, "strategy": upper, "refutations": lower} | _listed(tables)


def statement(certificate: Certificate) -> str:
    """Return what the certificate states, as a sentence in the checker's words."""
    family, tau = certificate["family"], certificate["tolerance"]
    n, sizes = family["n"], family["sizes"]
    words = f"{sum(comb(n, s) for s in sizes)} parities of {' or '.join(map(str, sizes))} out of {n} bits"
    if certificate["certificate"] == "transcript":
        first, second = ([j for j in range(n) if mask >> j & 1] for mask in certificate["concepts"])
        return (
            f"at tolerance {tau}, these {certificate['queries']} queries do not identify the hidden one of {words}: "
            f"their answers allow {first} and {second}"
        )
    takes = f"at tolerance {tau}, to identify the hidden one of {words} for sure takes"
    if certificate["certificate"] == "value":
        return f"{takes} exactly {certificate['value']} queries in the worst case"
    return f"{takes} at least {certificate['queries']} queries in the worst case, by {certificate['by']}"


def write(certificate: Certificate, path: Path) -> None:
    """Write a certificate to a file, whole or not at all; raise `InputError` if it takes more than 4 MiB."""
    text = json.dumps(certificate, separators=(",", ":"))
    if len(text) > LARGEST_FILE:
        raise InputError(
            f"the certificate takes {len(text) / 2**20:.0f} MiB, 4 are allowed; lower --max-queries"
        )
    write_text(path, text + "\n")
