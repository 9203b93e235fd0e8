"""The strategy `blocks` (theorem D, theory 2.7): what it loses, its game at scale, and where it is refused."""

from fractions import Fraction
from functools import reduce
from operator import xor

import numpy as np
import pytest
from theory_page import table

from hardness.errors import InputError
from hardness.exact.blocks import FEW, Board, blocks_then_batches, placements, remove
from hardness.families.concepts import ParityConcepts
from hardness.kernels.walsh import walsh_hadamard
from hardness.sq.bounds.floors import max_separation, most_lost
from hardness.sq.game import play
from hardness.sq.oracle import Window
from hardness.sq.queries import SpanFunction


@pytest.mark.parametrize("lost", [3, 4])
def test_every_placement_drives_its_sets_apart(lost: int) -> None:
    """2e members of a block, e of them above the e others by twice T(e): below that no answer keeps both of a pair."""
    placed = placements(lost)
    assert len(np.unique(placed.driven)) == len(placed.driven)
    for driven, means in zip(placed.driven.tolist(), placed.means, strict=True):
        values = np.sort(means[[i for i in range(16) if driven >> i & 1]])
        assert len(values) == 2 * lost
        gap = Fraction(float((values[lost:] - values[:lost]).min())).limit_denominator(10_000)
        assert gap == 2 * max_separation(lost)


def next_query(board: Board) -> SpanFunction | None:
    """The query of a block that was found, as a function on the span of its sets."""
    which = board.find()
    values = 2 * board.places.means[which]
    walsh_hadamard(values)
    return SpanFunction(int(board.sets[board.ranks[0]]), board.pairs.copy(), values) if which >= 0 else None


def boards(n: int, s: int, tau: float) -> tuple[Board, Board]:
    return tuple(Board(ParityConcepts(n, s), tau, np.array([7], np.uint64)) for _ in range(2))  # type: ignore[return-value]


@pytest.mark.parametrize(("n", "s", "tau"), [(10, 4, 0.16), (12, 4, 0.14), (10, 5, 0.15), (11, 6, 0.136)])
def test_the_game_at_scale_is_the_game(n: int, s: int, tau: float) -> None:
    """Query by query against the oracle, and in closed form: the same sets live when no block is left."""
    concepts, (board, swift) = ParityConcepts(n, s), boards(n, s, tau)
    oracle = Window(concepts.masks(), np.random.default_rng(0))
    while len(oracle.live) >= FEW and (query := next_query(board)):
        before = len(oracle.live)
        oracle.answer(query, tau)
        assert before - len(oracle.live) >= most_lost(tau)
        dead = np.setdiff1d(board.pool[: board.count], np.searchsorted(board.sets, oracle.live))
        board.count = remove(board.pool, board.place, board.count, dead)
    assert (swift.play(10**9), swift.count) == (oracle.ledger.queries, len(oracle.live))
    assert sorted(swift.sets[swift.pool[: swift.count]].tolist()) == oracle.live.tolist()


def test_a_query_reads_one_element_of_each_of_four_pairs() -> None:
    board, _ = boards(12, 5, 0.14)
    for _ in range(50):
        query = next_query(board)
        assert query is not None
        span = [
            reduce(xor, (int(g) for j, g in enumerate(query.generators) if c >> j & 1), query.base)
            for c in range(16)
        ]
        assert {mask.bit_count() for mask in span} == {5}
        assert len(set(span)) == 16
        assert query.peak <= 1 + 1e-12
        outside = np.setdiff1d(board.sets, np.array(span, np.uint64))
        assert not query.means(outside).any()


def test_blocks_are_counted_against_the_window_alone() -> None:
    assert play(ParityConcepts(12, 4), "blocks", "window", 0.14, max_queries=50).status == "budget"
    with pytest.raises(InputError, match="against the window alone"):
        play(ParityConcepts(12, 4), "blocks", "null", 0.14)


def test_the_table_of_games() -> None:
    for name, tau, *cells in table("2.7", "sets"):
        n, s = map(int, name[2:-1].split(","))
        if n <= 32:
            counts = blocks_then_batches(ParityConcepts(n, s), float(tau), 10**9, np.array([1], np.uint64))
            assert [f"{count:,}" for count in counts[:3]] == cells[:3]
            assert f"{counts[2] * most_lost(float(tau)) / ParityConcepts(n, s).size:.3f}" == cells[3]


@pytest.mark.parametrize(
    ("n", "s", "tau", "what"),
    [
        (12, 4, 0.1, "from 13/96 to below 1/6"),
        (12, 4, 0.3, "from 13/96 to below 1/6"),
        (12, 3, 0.14, "four pairs"),
        (7, 4, 0.14, "four pairs"),
        (64, 5, 0.14, "2\\^22"),
        (70, 4, 0.14, "2\\^22"),
    ],
)
def test_where_blocks_are_refused(n: int, s: int, tau: float, what: str) -> None:
    with pytest.raises(InputError, match=what):
        play(ParityConcepts(n, s), "blocks", "window", tau)
