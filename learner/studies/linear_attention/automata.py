"""Finite automata executed by one linear-attention head: the automaton is in the tokens, the rule is learned.

One token [e_(q,w); e_δ(q,w)] for each transition, then the query [e_(s,w); 0]; the label is e_δ(s,w). State and letter
make one coordinate together: a linear score cannot test both of two separate ones.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.evaluation.solver import plain
from learner.studies.linear_attention import UNSEEN, WORD

Array = NDArray[np.float64]
States = NDArray[np.intp]


def random_automata(count: int, states: int, letters: int, rng: np.random.Generator) -> States:
    """Draw transition tables δ (count, states, letters), every entry uniform."""
    return rng.integers(states, size=(count, states, letters))


def tokens(automata: States, state: States, letter: States) -> NDArray[np.int8]:
    """Return tokens (n, QA + 1, QA + Q) that ask where `letter[i]` leads from `state[i]`; the query is last."""
    n, Q, A = automata.shape
    X = np.zeros((n, Q * A + 1, Q * A + Q), dtype=np.int8)
    pair = np.arange(Q * A)
    X[:, pair, pair] = 1
    X[np.arange(n)[:, None], pair, Q * A + automata.reshape(n, -1)] = 1
    X[np.arange(n), Q * A, state * A + letter] = 1
    return X


def steps(count: int, states: int, letters: int, rng: np.random.Generator) -> tuple[NDArray[np.int8], Array]:
    """Draw tokens and labels e_δ(s,w) (count, states) of random automata, states and letters."""
    automata = random_automata(count, states, letters, rng)
    state, letter = rng.integers(states, size=count), rng.integers(letters, size=count)
    return tokens(automata, state, letter), np.eye(states)[automata[np.arange(count), state, letter]]


def span_rank(states: int, letters: int) -> int:
    """Return the rank of the features of all such examples, QA(QA(Q−1) + 1): this many transitions have to be seen.

    >>> [span_rank(2, 2), span_rank(4, 4), span_rank(6, 3)]
    [20, 784, 1638]
    """
    pairs = states * letters
    return pairs * (pairs * (states - 1) + 1)


def execute(model: Any, automata: States, words: States) -> dict[str, float | None]:
    """Run `automata` (n, Q, A) on `words` (n, length) from state 0, feeding back the state that a learner says.

    Return shares of right steps (which lead where the automaton leads from the state the run is in), of words right
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


def trial(task: Task, root: int) -> Outcome:
    """Learn from random transitions, then run 200 unseen automata on words of length 20; solved if all runs are right.

    >>> task = Task("automata", {"states": 2, "letters": 2}, {"method": "regression"}, {"samples": 100}, 0)
    >>> outcome = trial(task, 0)
    >>> outcome.status, outcome.detail["rank"], outcome.detail["certified"]
    ('solved', 20, 1.0)
    """
    from learner.linear.regressor import LinearAttention  # it takes a second to import

    Q, A, n = int(task.params["states"]), int(task.params["letters"]), int(task.budget["samples"])
    rng = np.random.default_rng(task.seed(root, "examples"))
    learner = LinearAttention(query=-1, random_state=0).fit(*steps(n, Q, A, rng))
    run = execute(learner, random_automata(UNSEEN, Q, A, rng), rng.integers(A, size=(UNSEEN, WORD)))
    detail = plain({"rank": learner.rank_, "steps": UNSEEN * WORD} | run)
    return Outcome("solved" if run["word_accuracy"] == 1 else "wrong", n, detail)
