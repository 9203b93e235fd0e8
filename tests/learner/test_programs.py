"""Automata and a universal machine executed by linear attention: exact by hand, learned, sure only when right."""

import numpy as np
import pytest

from learner.linear.features import attention
from learner.linear.regressor import LinearAttention
from learner.studies.linear_attention.automata import execute, random_automata, span_rank, steps, tokens
from learner.studies.linear_attention.machine import ADDITION, BUSY_BEAVER, PALINDROME, Machine, interpret


def ran(states, letters, count, seed=0, automata=200):
    rng = np.random.default_rng(seed)
    model = LinearAttention(query=-1, random_state=0).fit(*steps(count, states, letters, rng))
    unseen = random_automata(automata, states, letters, rng)
    return model, execute(model, unseen, rng.integers(letters, size=(automata, 20)))


def test_one_head_by_hand_executes_every_automaton():
    rng = np.random.default_rng(0)
    X, Y = steps(300, 3, 2, rng)
    V, Q = np.zeros((1, 3, 9)), np.zeros((1, 9, 9))
    V[0, :, 6:], Q[0, :6, :6] = np.eye(3), np.eye(6)
    assert np.array_equal(attention(V, Q, X), Y)


@pytest.mark.parametrize(
    ("states", "letters", "count", "rank", "parts"),
    [(2, 2, 200, 20, 4), (3, 2, 800, 78, 6), (4, 4, 1024, 784, 16)],
)
def test_a_full_span_is_exact_and_certified_on_unseen_automata(states, letters, count, rank, parts):
    model, run = ran(states, letters, count)
    assert set(run.values()) == {1}
    assert model.rank_ == span_rank(states, letters) == rank
    assert len(model.components_) == parts
    # Not certified in the paper's sense: lam_min is 0, for the rank is far below the number of features.
    assert not model.certificate(steps(count, states, letters, np.random.default_rng(1))[0]).identifiable


def test_components_change_nothing():
    rng = np.random.default_rng(2)
    X, Y = steps(60, 2, 2, rng)
    fresh = tokens(random_automata(50, 2, 2, rng), rng.integers(2, size=50), rng.integers(2, size=50))
    parts = LinearAttention(query=-1, random_state=0).fit(X, Y)
    whole = LinearAttention(query=-1, random_state=0)
    whole.orthogonal_parts = lambda rows: iter([(np.arange(len(rows)), np.arange(rows.shape[2]))])
    whole.fit(X, Y)
    assert (len(parts.components_), len(whole.components_)) == (4, 1)
    assert np.abs(parts.predict(fresh) - whole.predict(fresh)).max() < 1e-10
    assert np.abs(parts.residual(fresh) - whole.residual(fresh)).max() < 1e-10
    assert np.abs(parts.p_ - whole.p_).max() < 1e-10


SMALL = Machine(states=3, symbols=2)
LARGE = Machine(states=6, symbols=3)


def trained(machine, count):
    return LinearAttention(query=-1, random_state=0).fit(*machine.steps(count, np.random.default_rng(0)))


def by_hand(machine):
    """V (4, outputs, dim), Q (4, dim, dim): heads 0-2 look up the rule of the head here, on the left, on the right;
    head 3 keeps a cell's symbol, since a query meets no other token that holds its window."""
    pairs, symbols, keys = machine.pairs, machine.symbols, machine.windows
    V = np.zeros((4, machine.states + 2 + symbols, machine.dim))
    Q = np.zeros((4, machine.dim, machine.dim))
    move, pair, places, symbol = keys + pairs, np.arange(pairs), np.arange(symbols), machine.states + 2
    for head in range(3):
        for b in range(symbols):
            Q[head, keys + pair, machine.window(head, pair, b)] = 1
    V[0, symbol + places, move + machine.moves + places] = 1
    V[0, 0, keys + pair] = 1
    states = np.arange(machine.states + 1)
    for head, direction in ((1, 1), (2, 0)):
        V[head, 1 + states, move + 2 * states + direction] = 1
        V[head, 0, move + 2 * states + 1 - direction] = 1
    for head in (1, 2, 3):
        for b in range(symbols):
            windows = machine.window(head, pair, b)
            Q[3, windows, windows] = 1
            V[3, symbol + b, windows] = 1
            V[3, 0, windows] = head == 3
    return V, Q


def test_four_heads_by_hand_execute_every_program():
    for machine in (Machine(1, 1), Machine(2, 3), SMALL):
        X, Y = machine.steps(500, np.random.default_rng(0))
        assert np.array_equal(attention(*by_hand(machine), X), Y)


def test_programs_never_seen_are_certified_and_right():
    small, rng = trained(SMALL, 2600), np.random.default_rng(5)
    assert small.rank_ == SMALL.span_rank == 1792
    ends = []
    for program in SMALL.random_programs(20, rng):
        tape = rng.integers(2, size=9)
        run = SMALL.run(small, program, tape, 4, 30)
        assert run == interpret(program, tape, 4, 30)
        ends.append(run[0])
    assert set(ends) == {"halted", "edge", "budget"}
    for a, b in ((1, 1), (3, 2), (2, 5)):
        status, history = SMALL.run(small, SMALL.program(ADDITION), [1] * a + [0] + [1] * b + [0, 0], 0, 100)
        assert status == "halted"
        assert sum(history[-1][2]) == a + b == history[-1][2].index(0)


def test_it_stops_at_the_first_uncertified_step():
    model = trained(SMALL, 1500)
    program, tape = SMALL.program(ADDITION), [1, 1, 1, 0, 1, 1, 0, 0]
    status, history = SMALL.run(model, program, tape, 0, 100)
    wanted = interpret(program, tape, 0, 100)[1]
    assert status == "uncertified"
    # What it did before is right; without the certificate it goes wrong.
    assert history == wanted[: len(history)]
    assert SMALL.run(model, program, tape, 0, 100, trust=True)[1] != wanted


def test_reference_interpreter_on_known_machines():
    status, history = interpret(LARGE.program(BUSY_BEAVER), [0] * 24, 12, 1000)
    assert (status, len(history) - 1, sum(history[-1][2])) == ("halted", 107, 13)
    for word in np.ndindex(2, 2, 2, 2, 2):
        for length in range(6):
            letters = [1 + w for w in word[:length]]
            (_, place, _), (*_, written) = interpret(LARGE.program(PALINDROME), [0, *letters, 0, 0], 1, 1000)[
                1
            ][-2:]
            assert written[place] == (1 if letters == letters[::-1] else 2)
