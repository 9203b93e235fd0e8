"""Steps of the attention student of M heads on two tokens of d features, in float32 and processor time, one thread: B
examples a step (64 unless stated), by Adam; l1 adds a soft threshold to each, beside the step without as its
reference; generation makes the examples too.

What a step of B examples has to do: 8 M d² B floating-point operations in products, and for Adam 64 M d² bytes (2 M d²
weights with a gradient and two moments each, read and written) with a square root and a division a weight. The first
yardstick is the products alone, at the rate of one product of two 512 by 512 matrices in float32; the second makes the
same examples alone.

Torch, eager or compiled, with gradients by itself or by hand, takes the same steps on an eighth of the examples, and
its time is scaled. It is raced at d = 16, M = 16, B = 64 alone, with the student's default heads and batch, where the
goals of a step are set too; other sizes are shown and not judged.
"""

from collections.abc import Iterator
from dataclasses import replace
from time import process_time

import numpy as np

from benchmarks.harness import Row, absent, exponent, optional, race, row, threads
from benchmarks.student_peers import RATE, steps
from hardness.families.parity import Parity
from hardness.instance import Instance
from learner.kernels_student import PairStudent
from learner.student import Student, initial

TOPIC = "10 Student"
BATCH, ROUND, PEER = 64, 4096, 512  # examples a step, and a measurement of ours and of a peer
BATCHES = (16, 512)  # others of the menu of tuned students
PENALTY = 0.03
PRODUCT = 512
CELLS = [(8, 16), (16, 4), (16, 16), (16, 64), (24, 16), (32, 16)]
GROWN = [(d, 16) for d in (16, 24, 32, 48, 64)]
SAME = 50  # steps whose losses agree with every peer's


def rows() -> Iterator[Row]:
    torch = optional("torch")
    yield from absent(TOPIC, {"torch": torch})
    with threads(1):
        for d, m in CELLS:
            yield _step(d, m, bool(torch) and (d, m) == (16, 16))
        for batch in BATCHES:
            yield _step(16, 16, False, batch)
        yield _thresholded()
        yield _streamed()
        yield _growth()


def _student(d: int, m: int, seed: int = 0) -> tuple[PairStudent, np.ndarray, np.ndarray]:
    """A student, tokens and standardized labels of `ROUND` examples of a parity."""
    examples = Instance.generate(Parity(d, 2), seed).examples(ROUND, 1)
    theta, w = initial(np.random.default_rng(seed), m, d)
    return PairStudent(theta, w), examples.X, examples.Y / examples.Y[:, :, 0].std()


def _step(d: int, m: int, with_torch: bool, batch: int = BATCH) -> Row:
    student, x, y = _student(d, m)
    a = np.random.default_rng(0).random((PRODUCT, PRODUCT)).astype(np.float32)
    entrants = {"ours": lambda: student.train(x, y, batch, RATE), "yardstick": lambda: a @ a}
    # The yardstick is 4 M d² multiply-adds an example at the rate of one large product.
    factors, goals = {"yardstick": ROUND * 8 * m * d * d / (2 * PRODUCT**3)}, {}
    if with_torch:
        for name, step in _checked(d, m).items():
            floats = x.astype(np.float32), y.astype(np.float32)
            entrants[name] = lambda step=step, parts=floats: [
                step(*(part[s : s + BATCH] for part in parts)) for s in range(0, PEER, BATCH)
            ]
            factors[name] = ROUND / PEER
    # Time of the process, not of the wall: one thread each, and other processes then count less.
    times = race(entrants, seconds=1.0, clock=process_time).scaled(factors)
    case = f"step, d={d} M={m}" + (f" B={batch}" if batch != BATCH else "")
    measured = row(TOPIC, case, 1, times, units=ROUND, unit="example")
    if (d, m, batch) == (16, 16, BATCH):
        goals = {">= 800,000 examples/s": 1 / measured.ours >= 8e5}
        goals |= {">= 4x torch": measured.ratio >= 4} if measured.ratio else {}
    work = f"{8e-6 * m * d * d * batch:.3g} Mflop and {0.064 * m * d * d:.4g} kB a step"
    note = f"{1 / measured.ours:,.0f} examples/s; {work}"
    return replace(
        measured.judged(
            goals,
            yardstick=f"4 M d² multiply-adds at the rate of a product of {PRODUCT} by {PRODUCT} matrices",
        ),
        note=note,
    )


def _checked(d: int, m: int) -> dict[str, object]:
    """The peers, fresh, after a check that all see the loss of ours for `SAME` steps."""
    student, x, y = _student(d, m)
    ours = student.train(x[: SAME * BATCH], y[: SAME * BATCH], BATCH, RATE)[:, 0]
    theta, w = initial(np.random.default_rng(0), m, d)
    peers = steps(theta, w)
    floats = x.astype(np.float32), y.astype(np.float32)
    for name, step in peers.items():
        theirs = [step(*(part[s : s + BATCH] for part in floats)) for s in range(0, SAME * BATCH, BATCH)]
        if not np.allclose(ours, theirs, rtol=1e-3):
            raise ArithmeticError(f"{name} has another loss")
    return dict(peers)


def _thresholded() -> Row:
    """The step with a soft threshold of Θ beside the step without."""
    students, x, y = [_student(16, 16)[0] for _ in range(2)], *_student(16, 16)[1:]
    entrants = {
        "ours": lambda: students[0].train(x, y, BATCH, RATE, 1.0, PENALTY),
        "the step without": lambda: students[1].train(x, y, BATCH, RATE),
    }
    times = race(entrants, seconds=1.0, clock=process_time)
    measured = row(TOPIC, "step with l1, d=16 M=16", 1, times, units=ROUND, unit="example")
    assert measured.ratio
    return measured.judged({"<= 1.1x the step without": 1 / measured.ratio <= 1.1})


def _streamed() -> Row:
    """The estimator on examples that are made for it on the way, by the lab's own stream."""
    instance, student = Instance.generate(Parity(16, 4), 0), Student(random_state=0)
    spent = 0

    def train() -> None:
        nonlocal spent
        part = instance.examples(ROUND, 1, spent)
        student.partial_fit(part.X, part.Y)
        spent += ROUND

    times = race({"ours": train, "yardstick": lambda: instance.examples(ROUND, 1, spent)}, clock=process_time)
    measured = row(TOPIC, "with generation, d=16 M=16", 1, times, units=ROUND, unit="example")
    goals = {">= 600,000 examples/s": 1 / measured.ours >= 6e5}
    return replace(
        measured.judged(goals, yardstick="the examples alone"), note=f"{1 / measured.ours:,.0f} examples/s"
    )


def _growth() -> Row:
    """Exponent of time in M d², over the fastest round of each size."""
    sizes, seconds = [], []
    for d, m in GROWN:
        student, x, y = _student(d, m)
        part = slice(0, 1024)
        times = race(
            {"ours": lambda s=student, x=x[part], y=y[part]: s.train(x, y, BATCH, RATE)}, clock=process_time
        )
        sizes.append(m * d * d)
        seconds.append(float(times.seconds["ours"].min()))
    slope, low, high = exponent(sizes, seconds)
    span = f"d = {GROWN[0][0]} to {GROWN[-1][0]}, M = {GROWN[0][1]}"
    note = f"exponent {slope:.2f} [{low:.2f}, {high:.2f}] over {span}"
    return Row(TOPIC, "growth in M d²", 1, note=note).judged({"exponent <= 1.1": slope <= 1.1}, miss=note)
