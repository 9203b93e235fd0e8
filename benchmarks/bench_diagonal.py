"""Steps of the diagonal student of M heads in d features, processor time, one thread, B examples a step: with
generation of the examples, and without beside torch and beside a reference, the dense student of the section before.
Ours and torch see only informative rows, those whose label tells something of the secret, half of all; the dense
student trains whole matrices on whole examples, so that its ratio is one of two algorithms.

What a step of B examples has to do at least: 2 M d additions of float32 for each of its B/2 informative rows, half of
that in the mean, and Adam's update of M (d + 1) weights with a square root and a division each. The yardstick, the rows
alone, draws the same informative rows and learns nothing. Torch and the dense student take fewer examples, and their
times are scaled. They are raced at d = 64, M = 16 alone, where all goals are set; other sizes are shown and not judged.
"""

from collections.abc import Iterator
from dataclasses import replace
from time import process_time

import numpy as np

from benchmarks.diagonal_peers import steps
from benchmarks.harness import Row, absent, optional, race, row, threads
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.tokens import unpack_bits
from learner.diagonal import Diagonal
from learner.diagonal_network import Rule, centred, forward, starting
from learner.kernels_diagonal import Network
from learner.kernels_student import PairStudent
from learner.student import initial

TOPIC = "11 Diagonal student"
# Examples a step, informative ones among them where a race is run, and the rate
BATCH, OPEN, RATE = 16, 8, 0.01
PORTION, PEER, DENSE = 1 << 14, 512, 1024  # examples that ours, torch and the dense student are given
CELLS = [(16, 16), (32, 16), (64, 16), (128, 16), (64, 64)]
SAME = 20  # steps whose errors agree with every peer's


def rows() -> Iterator[Row]:
    torch = optional("torch")
    yield from absent(TOPIC, {"torch": torch})
    with threads(1):
        for d, m in CELLS:
            yield _streamed(d, m)
        yield _beside_the_dense_student()
        if torch:
            yield _beside_torch()


def _streamed(d: int, m: int) -> Row:
    """Examples drawn and learned from, by `partial_fit` of rows as they are made."""
    instance, student = Instance.generate(Parity(d, 4), 0), Diagonal(m, RATE, BATCH, random_state=0)
    spent = 0

    def rows_of_a_portion() -> None:
        nonlocal spent
        part = instance.informative(PORTION, 1, spent)
        student.partial_fit(part.X, part.Y)
        spent += PORTION

    entrants = {"ours": rows_of_a_portion, "yardstick": lambda: instance.informative(PORTION, 1, spent)}
    times = race(entrants, clock=process_time)
    measured = row(TOPIC, f"with generation, d={d} M={m} B={BATCH}", 1, times, units=PORTION, unit="example")
    goals = {">= 1,500,000 examples/s": 1 / measured.ours >= 1.5e6} if (d, m) == (64, 16) else {}
    return replace(
        measured.judged(goals, yardstick="the rows alone"), note=f"{1 / measured.ours:,.0f} examples/s"
    )


def _rows(d: int, examples: int) -> tuple[np.ndarray, np.ndarray]:
    """Words and labels of the first informative rows, half of so many examples."""
    instance = Instance.generate(Parity(d, 4), 0)
    part = instance.informative(3 * examples, 1)
    return part.X.words[: examples // 2], (part.Y[: examples // 2] - instance.teacher.offset).astype(
        np.float32
    )


def _network(d: int, m: int) -> tuple[Network, np.ndarray]:
    first = starting(np.random.default_rng(0), m, d, 1.0)
    return Network(first), first


def _beside_the_dense_student(d: int = 64, m: int = 16) -> Row:
    network, (words, labels) = _network(d, m)[0], _rows(d, PORTION)
    ends = np.arange(0, len(words) + 1, OPEN)
    dense = PairStudent(*initial(np.random.default_rng(0), m, d))
    whole = Instance.generate(Parity(d, 4), 0).examples(DENSE, 1)
    entrants = {
        "ours": lambda: network.train(words, labels, ends, BATCH, Rule(RATE)),
        "the dense student": lambda: dense.train(whole.X, whole.Y, BATCH, RATE),
    }
    times = race(entrants, clock=process_time).scaled({"the dense student": PORTION / DENSE})
    measured = row(
        TOPIC, f"step beside the dense student, d={d} M={m} B={BATCH}", 1, times, PORTION, "example"
    )
    assert measured.ratio
    return measured.judged({">= 20x the dense student": measured.ratio >= 20})


def _beside_torch(d: int = 64, m: int = 16) -> Row:
    (network, first), (words, labels) = _network(d, m), _rows(d, PORTION)
    ends = np.arange(0, len(words) + 1, OPEN)
    signs = (1 - 2.0 * unpack_bits(words, d)).astype(np.float32)
    signs[:, 0] = 1
    peers = dict(steps(centred(first), RATE, BATCH))
    rule = Rule(RATE)
    bits, ours = unpack_bits(words, d).astype(float), []
    for e in range(0, SAME * OPEN, OPEN):
        part = slice(e, e + OPEN)
        ours.append(np.sum((forward(network.weights(), bits[part]) - labels[part]) ** 2))
        network.train(words[part], labels[part], ends[:2], BATCH, rule)
    for name, step in peers.items():
        theirs = [step(signs[e : e + OPEN], labels[e : e + OPEN]) for e in range(0, SAME * OPEN, OPEN)]
        if not np.allclose(ours, theirs, rtol=1e-3):
            raise ArithmeticError(f"{name} has another loss")
    entrants = {"ours": lambda: network.train(words, labels, ends, BATCH, rule)} | {
        name: lambda step=step: [
            step(signs[e : e + OPEN], labels[e : e + OPEN]) for e in range(0, PEER // 2, OPEN)
        ]
        for name, step in peers.items()
    }
    times = race(entrants, clock=process_time).scaled(dict.fromkeys(peers, PORTION / PEER))
    measured = row(TOPIC, f"step, d={d} M={m} B={BATCH}", 1, times, units=PORTION, unit="example")
    assert measured.ratio
    return measured.judged({">= 10x torch": measured.ratio >= 10})
