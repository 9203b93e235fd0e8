"""A universal Turing machine executed by one linear-attention layer: programs and tapes are in the tokens.

The layer is applied to every cell of a bounded tape and maps a configuration to the next. Its tokens are one for each
rule of the program, [e_(s,a); e_(s',move); e_write], and as query the cell in its neighbourhood, one of
T = QA + 2QA·A + A windows: the head is here in state s over symbol a; it is on the left or on the right neighbour,
and this cell holds b; or it is elsewhere, and this cell holds b. The label is the state that the cell has next (none,
0 .. Q-1, halted) and its symbol. A head moves at every step. Outside the layer nothing is computed: its outputs are
rounded, and cells are put beside their neighbours again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.solver import plain
from learner.studies.linear_attention import MAX_STEPS

Array = NDArray[np.float64]
Integers = NDArray[np.intp]
Rule = tuple[int, str, int]  # write, "L" or "R", next state; HALT is the state that stops
# How a program ran: `halted`, `budget`, `edge` (off the tape), `uncertified` or `broken`; and every configuration:
# state (Q is halted), head position, tape.
Run = tuple[str, list[tuple[int, int, tuple[int, ...]]]]
HALT = -1

ADDITION: Mapping[tuple[int, int], Rule] = {
    (0, 1): (1, "R", 0),
    (0, 0): (1, "R", 1),  # close the gap between the two numbers,
    (1, 1): (1, "R", 1),
    (1, 0): (0, "L", 2),
    (2, 1): (0, "R", HALT),  # and take one off the end
}
PALINDROME: Mapping[tuple[int, int], Rule] = {
    (0, 0): (1, "R", HALT),  # nothing is left: yes (1), written under the head
    (0, 1): (0, "R", 1),
    (0, 2): (0, "R", 2),
    (1, 1): (1, "R", 1),
    (1, 2): (2, "R", 1),
    (1, 0): (0, "L", 3),
    (2, 1): (1, "R", 2),
    (2, 2): (2, "R", 2),
    (2, 0): (0, "L", 4),
    (3, 1): (0, "L", 5),
    (3, 2): (2, "R", HALT),  # the ends differ: no (2)
    (3, 0): (1, "R", HALT),
    (4, 2): (0, "L", 5),
    (4, 1): (2, "R", HALT),
    (4, 0): (1, "R", HALT),
    (5, 1): (1, "L", 5),
    (5, 2): (2, "L", 5),
    (5, 0): (0, "R", 0),
}
BUSY_BEAVER: Mapping[tuple[int, int], Rule] = {  # four states: 107 steps, 13 ones
    (0, 0): (1, "R", 1),
    (0, 1): (1, "L", 1),
    (1, 0): (1, "L", 0),
    (1, 1): (0, "L", 2),
    (2, 0): (1, "R", HALT),
    (2, 1): (1, "L", 3),
    (3, 0): (1, "R", 3),
    (3, 1): (0, "R", 0),
}


@dataclass(frozen=True)
class Machine:
    """The alphabet of programs: `states` Q and `symbols` A, 0 the blank. Programs are tables (Q, A, 3).

    An entry is (next state 0..Q with Q = halted, symbol to write, move 0 = left or 1 = right).

    >>> Machine(states=3, symbols=2).windows, Machine(states=3, symbols=2).span_rank
    (32, 1792)
    """

    states: int
    symbols: int

    @property
    def pairs(self) -> int:
        return self.states * self.symbols

    @property
    def windows(self) -> int:
        """Return T = QA + 2QA·A + A, the number of kinds of cell."""
        return self.pairs * (1 + 2 * self.symbols) + self.symbols

    @property
    def moves(self) -> int:
        """Return the number of pairs of a next state, halted included, and a direction."""
        return 2 * (self.states + 1)

    @property
    def dim(self) -> int:
        return self.windows + self.pairs + self.moves + self.symbols

    @property
    def span_rank(self) -> int:
        """Return the rank of the features of all steps of all programs: T kinds of window times moments of programs."""
        free = self.moves - 1 + self.symbols - 1
        return self.windows * (1 + self.pairs * free + (self.moves - 1) * (self.symbols - 1))

    def program(self, rules: Mapping[tuple[int, int], Rule]) -> Integers:
        """Return the table of readable rules {(state, symbol): (write, "L" | "R", next)}; pairs left out halt."""
        table = np.zeros((self.states, self.symbols, 3), dtype=np.intp)
        table[:] = (self.states, 0, 1)
        for (state, symbol), (write, move, following) in rules.items():
            table[state, symbol] = (following % (self.states + 1), write, move == "R")
        return table

    def random_programs(self, count: int, rng: np.random.Generator) -> Integers:
        """Draw programs (count, Q, A, 3), every entry uniform."""
        return rng.integers((self.states + 1, self.symbols, 2), size=(count, self.states, self.symbols, 3))

    def window(self, head: int, pair: Integers, symbol: Integers | int) -> Integers:
        """Return the index of windows: head 0 here, 1 left, 2 right, 3 elsewhere; `pair` s·A + a, own `symbol`."""
        if head == 0:
            return pair
        start = self.pairs * (1 + (head - 1) * self.symbols)
        return np.asarray(start + (symbol if head == 3 else pair * self.symbols + symbol))

    def tokens(self, programs: Integers, windows: Integers) -> NDArray[np.int8]:
        """Return tokens (n, QA + 1, dim) of windows (n,) under programs (n, Q, A, 3): the rules, then the query."""
        n, pair = len(windows), np.arange(self.pairs)
        following, write, move = programs.reshape(n, self.pairs, 3).transpose(2, 0, 1)
        X = np.zeros((n, self.pairs + 1, self.dim), dtype=np.int8)
        every, keys = np.arange(n)[:, None], self.windows
        X[:, pair, keys + pair] = 1
        X[every, pair, keys + self.pairs + 2 * following + move] = 1
        X[every, pair, keys + self.pairs + self.moves + write] = 1
        X[np.arange(n), -1, windows] = 1
        return X

    def labels(self, programs: Integers, windows: Integers) -> Array:
        """Return what the cells are next, (n, Q + 2 + A): one-hot state (none, 0 .. Q-1, halted) and one-hot symbol."""
        n, Q, A = len(windows), self.states, self.symbols
        bounds = self.pairs * np.array([1, 1 + A, 1 + 2 * A])
        kind = np.searchsorted(bounds, windows, side="right")
        inner = windows - np.concatenate([[0], bounds])[kind]
        pair = np.where(kind == 0, inner, np.where(kind == 3, 0, inner // A))
        following, write, move = programs.reshape(n, self.pairs, 3)[np.arange(n), pair].T
        arrives = ((kind == 1) & (move == 1)) | ((kind == 2) & (move == 0))
        state = np.where(arrives, following + 1, 0)
        symbol = np.where(kind == 0, write, inner % A)
        return np.concatenate([np.eye(Q + 2)[state], np.eye(A)[symbol]], axis=1)

    def steps(self, count: int, rng: np.random.Generator) -> tuple[NDArray[np.int8], Array]:
        """Draw random transitions: tokens and labels of `count` uniform windows, each under a program of its own."""
        programs, windows = self.random_programs(count, rng), rng.integers(self.windows, size=count)
        return self.tokens(programs, windows), self.labels(programs, windows)

    def windows_of(self, state: int, head: int, tape: Integers) -> Integers:
        """Return the window of every cell of a configuration, (cells,)."""
        cells, pair = np.arange(len(tape)), state * self.symbols + tape[head]
        indices = np.where(cells == head, self.window(0, pair, tape), self.window(3, pair, tape))
        for place, side in ((head + 1, 1), (head - 1, 2)):
            if 0 <= place < len(tape):
                indices[place] = self.window(side, pair, tape[place])
        return indices

    def run(
        self,
        model: Any,
        program: Integers,
        tape: ArrayLike,
        head: int,
        max_steps: int,
        *,
        trust: bool = False,
    ) -> Run:
        """Run `program` from state 0 on `tape`, next cells as `model` predicts; stop at the first uncertified step.

        With `trust` nothing is certified.
        """
        cells = np.array(tape, dtype=np.intp)
        state, history = 0, [(0, head, tuple(cells.tolist()))]
        for _ in range(max_steps):
            windows = self.windows_of(state, head, cells)
            X = self.tokens(np.broadcast_to(program, (len(cells), *program.shape)), windows)
            if not trust and not model.certify(X).all():
                return "uncertified", history
            predicted = model.predict(X)
            states, edge = predicted[:, : self.states + 2].argmax(axis=1), head
            cells = predicted[:, self.states + 2 :].argmax(axis=1)
            occupied = np.flatnonzero(states)
            if len(occupied) != 1:
                off = not len(occupied) and edge in (0, len(cells) - 1)
                return "edge" if off else "broken", history
            head = int(occupied[0])
            state = int(states[head]) - 1
            history.append((state, head, tuple(cells.tolist())))
            if state == self.states:
                return "halted", history
        return "budget", history


def interpret(program: Integers, tape: ArrayLike, head: int, max_steps: int) -> Run:
    """Run a Turing machine by its definition: the reference for `Machine.run`."""
    cells, state = np.array(tape, dtype=np.intp), 0
    history = [(0, head, tuple(cells.tolist()))]
    for _ in range(max_steps):
        following, write, move = program[state, cells[head]]
        cells[head] = write
        head += 1 if move else -1
        if not 0 <= head < len(cells):
            return "edge", history
        state = int(following)
        history.append((state, head, tuple(cells.tolist())))
        if state == len(program):
            return "halted", history
    return "budget", history


def jobs(machine: Machine, rng: np.random.Generator) -> list[tuple[str, Integers, list[int], int]]:
    """Return name, program, tape and place of the head of jobs: named programs that fit, and ten random ones."""
    listed: list[tuple[str, Integers, list[int], int]] = []
    for a, b in rng.integers(1, 8, size=(3, 2)):
        listed.append(("addition", machine.program(ADDITION), [1] * a + [0] + [1] * b + [0, 0], 0))
    if machine.states >= 4:
        listed.append(("busy beaver", machine.program(BUSY_BEAVER), [0] * 24, 12))
    if machine.states >= 6 and machine.symbols >= 3:
        for size in (4, 5, 6):
            half = rng.integers(1, 3, size=size).tolist()
            for word in (half + half[::-1], rng.integers(1, 3, size=2 * size).tolist()):
                listed.append(("palindrome", machine.program(PALINDROME), [0, *word, 0, 0], 1))
    for program in machine.random_programs(10, rng):
        listed.append(("random", program, rng.integers(machine.symbols, size=12).tolist(), 6))
    return listed


def trial(task: Task, root: int) -> Outcome:
    """Learn from random transitions, then run every job until it halts or a step is not certified.

    Solved if all end as a Turing machine ends. `blind` counts what ends so when nothing is certified.

    >>> task = Task("machine", {"states": 3, "symbols": 2}, {"method": "regression"}, {"samples": 3000}, 0)
    >>> outcome = trial(task, 0)
    >>> outcome.status, outcome.detail["rank"] == Machine(3, 2).span_rank
    ('solved', True)
    """
    from learner.linear.regressor import LinearAttention  # it takes a second to import

    machine, n = Machine(int(task.params["states"]), int(task.params["symbols"])), int(task.budget["samples"])
    rng = np.random.default_rng(task.seed(root, "examples"))
    learner = LinearAttention(query=-1, random_state=0).fit(*machine.steps(n, rng))
    counts: dict[str, dict[str, int]] = {}
    for name, program, tape, at in jobs(machine, rng):
        truth = interpret(program, tape, at, MAX_STEPS)
        run, blind = (
            machine.run(learner, program, tape, at, MAX_STEPS, trust=trust) for trust in (False, True)
        )
        count = counts.setdefault(
            name, dict.fromkeys(("jobs", "whole", "blind", "needed", "steps", "wrong"), 0)
        )
        count["jobs"] += 1
        count["whole"] += run == truth
        count["blind"] += blind == truth
        count["needed"] += len(truth[1]) - 1
        count["steps"] += len(run[1]) - 1
        count["wrong"] += sum(a != b for a, b in zip(run[1], truth[1], strict=False))
    whole = all(count["whole"] == count["jobs"] for count in counts.values())
    return Outcome("solved" if whole else "wrong", n, plain({"rank": learner.rank_, "programs": counts}))
