"""Finite automata executed by one linear-attention head: the automaton is in the tokens, the rule is learned.

One token [e_(q,w); e_δ(q,w)] for each transition, then the query [e_(s,w); 0]; the label is e_δ(s,w). State and letter
make one coordinate together: a linear score cannot test both of two separate ones.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
States = NDArray[np.intp]


def random_automata(count: int, states: int, letters: int, rng: np.random.Generator) -> States:
    """Transition tables δ (count, states, letters), every entry uniform."""
    return rng.integers(states, size=(count, states, letters))


def tokens(automata: States, state: States, letter: States) -> NDArray[np.int8]:
    """Tokens (n, QA + 1, QA + Q) that ask automaton i where `letter[i]` leads from `state[i]`; the query is last."""
    n, Q, A = automata.shape
    X = np.zeros((n, Q * A + 1, Q * A + Q), dtype=np.int8)
    pair = np.arange(Q * A)
    X[:, pair, pair] = 1
    X[np.arange(n)[:, None], pair, Q * A + automata.reshape(n, -1)] = 1
    X[np.arange(n), Q * A, state * A + letter] = 1
    return X


def steps(count: int, states: int, letters: int, rng: np.random.Generator) -> tuple[NDArray[np.int8], Array]:
    """Tokens and labels e_δ(s,w) (count, states) of random automata, states and letters."""
    automata = random_automata(count, states, letters, rng)
    state, letter = rng.integers(states, size=count), rng.integers(letters, size=count)
    return tokens(automata, state, letter), np.eye(states)[automata[np.arange(count), state, letter]]


def span_rank(states: int, letters: int) -> int:
    """Rank of the features of all such examples, QA(QA(Q−1) + 1): how many transitions have to be seen.

    >>> [span_rank(2, 2), span_rank(4, 4), span_rank(6, 3)]
    [20, 784, 1638]
    """
    pairs = states * letters
    return pairs * (pairs * (states - 1) + 1)


def execute(model: Any, automata: States, words: States) -> dict[str, float | None]:
    """Run `automata` (n, Q, A) on `words` (n, length) from state 0, feeding back the state that a learner says.

    Shares of right steps (which lead where the automaton leads from the state the run is in), of words right
    throughout, of certified steps, and of right ones among these (None if there are none).
    """
    n, length = words.shape
    every, state = np.arange(n), np.zeros(n, dtype=np.intp)
    right, certified = np.empty((length, n), dtype=bool), np.empty((length, n), dtype=bool)
    for t in range(length):
        X = tokens(automata, state, words[:, t])
        reached = model.predict(X).argmax(axis=1)
        right[t], certified[t] = reached == automata[every, state, words[:, t]], model.certify(X)
        state = reached
    return {
        "step_accuracy": float(right.mean()),
        "word_accuracy": float(right.all(axis=0).mean()),
        "certified": float(certified.mean()),
        "certified_right": float(right[certified].mean()) if certified.any() else None,
    }
