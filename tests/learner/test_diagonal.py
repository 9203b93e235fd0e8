"""The diagonal student: its compiled step, its stream, and that it is an attention layer."""

import os
import subprocess
import sys

import diagonal_rows
import numpy as np
import pytest

from hardness.errors import InputError
from hardness.evaluation.learning import learn
from hardness.examples import informative_examples
from hardness.families import build
from hardness.instance import Instance, every_pair
from hardness.tokens import unpack, unpack_bits
from learner import diagonal_network as reference
from learner.diagonal import FEW, GROWN, MANY, Diagonal
from learner.diagonal_network import Rule
from learner.kernels_diagonal import Network

STREAMED = [
    build("parity", {"dim": 9, "heads": 4}),
    build("parity", {"dim": 70, "heads": 3, "flip": 0.1}),
    build("parity", {"dim": 9, "heads": 2, "gadget": "sharp", "bias": 0.25}),
    build("rounding", {"dim": 9, "modulus": 5, "levels": 3, "noise": 0.7}),
    build("rounding", {"dim": 6, "modulus": 3, "levels": 3, "exact": True}),
    build("random-diagonal", {"dim": 70, "heads": 3, "scale": 6.0}),
    build("tent", {"dim": 9, "heads": 5}),
]


@pytest.mark.parametrize("family", STREAMED, ids=repr)
def test_informative_rows_are_those_of_the_examples(family):
    instance = Instance.generate(family, seed=3)
    rows, whole = instance.informative(700, 5, start=41), instance.examples(700, 5, start=41)
    positions = np.flatnonzero(whole.X[:, 0, 0] != whole.X[:, 1, 0])
    assert rows.X.positions.tolist() == positions.tolist()
    assert len(rows) == 700
    assert (unpack_bits(rows.X.words, family.dim) == (whole.X[positions, 0] != whole.X[positions, 1])).all()
    assert ((whole.X * whole.Y)[positions, 0, 0] == rows.Y).all()
    again = informative_examples(whole.X, whole.Y)
    assert all((getattr(rows.X, name) == getattr(again.X, name)).all() for name in ("words", "positions"))
    assert (rows.Y == again.Y).all()
    assert rows.X.gate == pytest.approx(again.X.gate, abs=1e-12)


RULES = [
    Rule(0.03, output_rate=0.1, l1=0.03, beta1=0.0, beta2=0.99),
    Rule(0.01, l1=0.03, clip=0.5),
    Rule(0.01, threshold_rate=0.3, decay=0.2, beta1=0.5, beta2=0.9),
]


@pytest.mark.parametrize("batch", [8, 300])
@pytest.mark.parametrize("rule", RULES)
def test_compiled_steps_are_those_of_the_reference_in_64_bits(rule, batch):
    d, heads, steps = 70, 20, 40
    rows = Instance.generate(build("parity", {"dim": d, "heads": 3}), 0).informative(steps * batch, 1)
    ends = np.searchsorted(rows.X.positions, np.arange(0, steps * batch + 1, batch))
    bits, labels = unpack_bits(rows.X.words, d).astype(float), rows.Y.astype(np.float32).astype(float)
    rng = np.random.default_rng(0)
    network = Network(reference.starting(rng, heads, d, 2.0, 3.0))
    weights, noise = network.weights().astype(float), rng.standard_normal((steps, d + 1, heads))
    noise = (0.01 * noise).astype(np.float32)
    network.train(rows.X.words, labels, ends, batch, rule, noise)
    moments = [np.zeros_like(weights) for _ in range(2)]
    for b in range(steps):
        part = slice(ends[b], ends[b + 1])
        per_row = reference.by_centred(diagonal_rows.gradients(weights, bits[part], labels[part])[1])
        total = (diagonal_rows.clipped(per_row, rule.clip) if rule.clip else per_row).sum(axis=0)
        moved = reference.updated(reference.centred(weights), total / batch + noise[b], moments, b + 1, rule)
        weights = reference.entries(moved)
    np.testing.assert_allclose(network.weights(), weights, atol=5e-4)


DIGEST = """
import hashlib, sys
from hardness.families import build
from hardness.instance import Instance
from learner.diagonal import FEW, GROWN, MANY, Diagonal
from threadpoolctl import threadpool_limits

with threadpool_limits(int(sys.argv[1])):
    for dim, heads, batch in ((20, 5, 16), (64, 256, 1024)):
        rows = Instance.generate(build("parity", {"dim": dim, "heads": 5}), 0).informative(20_000, 1)
        student = Diagonal(heads, batch=batch, beta1=0.5, random_state=0).partial_fit(rows.X, rows.Y)
        print(hashlib.sha256(student.weights_.tobytes()).hexdigest())
"""


@pytest.mark.slow  # it compiles everything anew
def test_a_process_that_compiles_and_one_that_loads_the_cache_give_the_same_bits(tmp_path):
    """Whatever the number of threads that BLAS is allowed elsewhere."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def digests(threads):
        line = [sys.executable, "-c", DIGEST, str(threads)]
        return subprocess.run(line, env=environment, check=True, capture_output=True, text=True).stdout

    fresh = digests(1)
    assert len(fresh.split()) == 2
    assert digests(1) == digests(2) == fresh


@pytest.mark.parametrize(("pool", "batch"), [(None, None), (300, None), (None, 7), (300, 1100)])
def test_pieces_and_representations_of_examples_give_the_same_weights(pool, batch):
    instance = Instance.generate(build("parity", {"dim": 9, "heads": 3, "flip": 0.1}), 0)
    options = {"batch": batch, "pool": pool, "random_state": 4, "clip": 1.0, "noise": 0.5}
    whole, rows, signs = (Diagonal(**options) for _ in range(3))
    examples, every = instance.examples(3000, 1), instance.informative(3000, 1)
    whole.partial_fit(every.X, every.Y)
    for start, count in ((0, 1), (1, 998), (999, 2001)):
        part = instance.informative(count, 1, start)
        rows.partial_fit(part.X, part.Y)
        signs.partial_fit(examples.X[start : start + count], examples.Y[start : start + count])
    for student in (rows, signs):
        assert (student._network.weights() == whole._network.weights()).all()
        assert student.work_ == whole.work_
        assert (student.predict(examples.X) == whole.predict(examples.X)).all()


@pytest.mark.parametrize(
    "family", [STREAMED[0], build("rounding", {"dim": 5, "modulus": 3, "levels": 3})], ids=repr
)
def test_the_layer_agrees_with_the_fast_form_on_all_inputs(family):
    instance = Instance.generate(build(family.name, {**vars(family), "dim": 6}), 0)
    rows = instance.informative(4000, 1)
    student = Diagonal(heads=5, random_state=0).partial_fit(rows.X, rows.Y)
    X = unpack(every_pair(6), 6)
    np.testing.assert_allclose(student.layer()(X), student.predict(X), atol=1e-9)


def test_steps_are_taken_as_soon_as_labels_are_known_and_batches_grow():
    instance = Instance.generate(build("parity", {"dim": 9, "heads": 3}), 0)
    few, many = instance.informative(100, 1), instance.informative(60, 1, 100)
    student = Diagonal(random_state=0).partial_fit(few.X, few.Y)
    assert student.work_["gradient_examples"] == 0
    assert student.partial_fit(many.X, many.Y).work_["gradient_examples"] == len(few.Y) + len(many.Y)
    rest = instance.informative(GROWN, 1, 160)
    unseen = student.partial_fit(rest.X, rest.Y)._network.unseen[1]
    steps = GROWN // FEW + 160 // MANY
    assert unseen == pytest.approx(student.beta2**steps, rel=1e-9)


def test_a_pool_is_read_again_and_only_it():
    instance = Instance.generate(build("parity", {"dim": 9, "heads": 3}), 0)
    first, other = instance.informative(512, 1), instance.informative(5000, 2)
    students = [Diagonal(pool=512, random_state=0).partial_fit(first.X, first.Y) for _ in range(2)]
    students[0].partial_fit(other.X, other.Y)
    students[1].partial_fit(other.X, other.Y * np.nan)  # nobody looks at these labels
    assert (students[0]._network.weights() == students[1]._network.weights()).all()
    work = students[0].work_
    assert work["informative"] == len(first.Y)
    assert work["gradient_examples"] == pytest.approx((5512 // 32 * 32) / 2, rel=0.1)


def test_it_learns_flipped_parities_and_says_what_it_did():
    instance = Instance.generate(build("parity", {"dim": 12, "heads": 2, "flip": 0.1}), 0)
    run = learn(instance, "diagonal", 120_000, seed=0, options={"rate": 0.01})
    assert run.status == "solved"
    assert run.open_solved
    assert run["weights"] == 16 * 13
    assert run["gradient_examples"] == run["informative"]
    assert abs(run["informative"] - 60_000) < 1000
    assert run["multiply_adds"] == 2 * 16 * 13 * run["gradient_examples"]


def test_labels_that_tell_rows_apart_are_refused():
    instance = Instance.generate(build("nondegenerate", {"dim": 6, "tokens": 2, "heads": 2}), 0)
    with pytest.raises(InputError, match="in column 0 alone"):
        learn(instance, "diagonal", 2000)
    with pytest.raises(InputError, match="labels must be"):
        learn(instance.examples(2000, 0), "diagonal")


def test_whole_numbers_are_rates_too():
    """JSON writes 1.0 as 1; the compiled step takes no other types than it was compiled for."""
    rows = Instance.generate(build("parity", {"dim": 9, "heads": 2}), 0).informative(2000, 1)
    whole, real = (
        Diagonal(rate=number, l1=number, clip=number, random_state=0).partial_fit(rows.X, rows.Y)
        for number in (1, 1.0)
    )
    assert (whole._network.weights() == real._network.weights()).all()


def test_what_is_proved_of_noise_is_printed_of_parities_alone():
    noisy = {"clip": 0.3, "noise": 4.0, "batch": 1024}
    for family, printed in ((STREAMED[0], True), (build("tent", {"dim": 9, "heads": 4}), False)):
        run = learn(Instance.generate(family, 0), "diagonal", 2000, seed=0, heads=4, options=noisy)
        assert ("proved_examples" in run) == printed
