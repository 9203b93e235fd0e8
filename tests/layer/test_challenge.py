"""Challenges keep their secret, and the judge needs nothing but the folder and the answer."""

import json
import shutil

import numpy as np
import pytest

from hardness.errors import InputError
from hardness.examples import read, write
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance
from hardness.instance.challenge import FILES, digest, judge, publish
from hardness.io import schemas

FAMILIES = [
    Parity(dim=128, heads=16),
    Rounding(dim=40, modulus=97, levels=8),
    Rounding(dim=20, modulus=17, levels=2, heads=4),
]


@pytest.fixture(params=FAMILIES, ids=lambda family: f"{family.name}-{family.dim}")
def published(request, tmp_path):
    instance = Instance.generate(request.param)
    header = publish(instance, 300, tmp_path / "challenge")
    return instance, header, tmp_path / "challenge"


def answer_of(instance):
    return {name: value.tolist() for name, value in instance.secret.items()}


def hidden(path, instance):
    """Does a file hold neither the secret nor the seed of an instance, in any likely spelling?"""
    seed, weights = instance.seed, instance.teacher.weights
    q = getattr(instance.family, "modulus", None)
    vectors = [weights, weights[1:]]
    for values in instance.secret.values():
        vectors += [values, values % q if q else values - 1]
    spellings = [
        f"{seed}".encode(),
        f"{seed:x}".encode(),
        seed.to_bytes(16, "little"),
        seed.to_bytes(16, "big"),
    ]
    for array in vectors:
        spellings += [
            json.dumps(array.tolist()).encode(),
            *(c.join(map(str, array)).encode() for c in (",", " ")),
        ]
        spellings += [array.astype(kind).tobytes() for kind in ("i1", "<i2", "<i4", "<i8", "<f8")]
    data = path.read_bytes()
    return not any(spelling in data for spelling in spellings)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@pytest.mark.parametrize("family", FAMILIES[:2], ids=lambda family: family.name)
def test_neither_secret_nor_seed_is_in_examples_and_challenges(family, suffix, tmp_path):
    instance = Instance.generate(family)
    path, public = tmp_path / f"examples{suffix}", instance.public(123)
    write(path, (400, 2, family.dim), lambda: instance.chunks(400, 123), public)
    first, second = (publish(instance, 10, tmp_path / name, toy=True) for name in ("c", "again"))
    assert all(first[name] != second[name] for name in ("commitment", "salt"))
    assert first["public"]["sampling_seed"] != second["public"]["sampling_seed"]
    written = [path, *(tmp_path / "c" / name for name in ("challenge.json", *FILES))]
    assert all(hidden(each, instance) for each in written)
    # No array beside X, Y and the public parameters, and no parameter that says more than the family's own.
    assert read(path)[1] == public
    assert not {"seed", "secret", "support", "w", "weights", "thresholds", "coefficients", "command"} & {
        *public
    }
    if suffix == ".npz":
        with np.load(path) as archive:
            assert set(archive) == {"X", "Y", "public"}


def test_the_right_secret_opens_the_commitment(published):
    instance, _, folder = published
    answer = answer_of(instance)
    schemas.check("answer", answer, "the answer")
    assert judge(folder, answer).ok
    assert judge(folder, {"secret": answer}).ok
    for values in answer.values():
        shuffled = values[::-1] if "support" in answer else [x + instance.family.modulus for x in values]
        assert judge(folder, {next(iter(answer)): shuffled}).ok


def test_wrong_secrets_do_not(published):
    instance, _, folder = published
    rng, right = np.random.default_rng(0), answer_of(instance)
    for trial in range(60):
        wrong = {name: value.tolist() for name, value in instance.family.draw(rng).items()}
        if trial % 2 and "w" in right:  # near misses too
            wrong = {"w": list(right["w"])}
            wrong["w"][trial % len(right["w"])] += 1
        verdict = judge(folder, wrong)
        assert (verdict.ok, verdict.kind) == (False, "secret")


def test_answers_of_the_wrong_size_or_shape_are_a_no(published):
    answers = [None, 3, [], {}, {"secret": 1}, {"w": [1]}, {"w": "x"}, {"w": [True] * 39}]
    answers += [{"support": support} for support in ([], [0], [1, 1], [1.5])]
    answers += [{"predictions": predictions} for predictions in ([1.0], "x", None)]
    assert not any(judge(published[2], answer).ok for answer in answers)


def test_predictors_are_judged_on_held_out_inputs(published):
    instance, header, folder = published
    with np.load(folder / "heldout.npz") as archive:
        X = archive["X"]
    assert (X[:, 0, 0] != X[:, 1, 0]).all()
    values = instance.teacher(X)[:, 0, 0]
    wrong = values + np.eye(len(X))[7]
    for predicted, right in (
        *((values, True), (values + 0.2, True), (wrong, False)),
        *((values * 0 + header["public"]["A"], False), (values * np.nan, False)),
    ):
        assert judge(folder, {"predictions": predicted.tolist()}).ok == right


def edit(folder, change):
    path = folder / "challenge.json"
    header = json.loads(path.read_text())
    change(header)
    path.write_text(json.dumps(header))


def forge(header):
    """A licence of one's own, under a digest that fits it."""
    header["licence"] = "none"
    header["header_sha256"] = digest(header)


def test_a_changed_challenge_is_rejected_with_its_reason(published, tmp_path):
    instance, _, folder = published
    answer = answer_of(instance)
    cases = {
        "challenge.json": lambda f: edit(f, lambda h: h["public"].update(dim=3)),
        "digest it states": lambda f: edit(f, lambda h: h.update(commitment="0" * 64)),
        "examples.npz does not": lambda f: (f / "examples.npz").write_bytes(b"x"),
        "heldout.npz does not": lambda f: (f / "heldout.npz").unlink(),
        "the secret does not open the commitment": lambda f: edit(f, forge),
    }
    for number, (reason, change) in enumerate(cases.items()):
        copy = shutil.copytree(folder, tmp_path / str(number))
        change(copy)
        verdict = judge(copy, answer)
        assert not verdict.ok
        assert reason in verdict.reason


@pytest.mark.parametrize(
    ("family", "says", "seed"),
    [
        (FAMILIES[0], "--toy", 0),
        (Parity(dim=64, heads=12), r"the secret is one of 2\^41.2, and all of them can be tried", None),
        (Rounding(dim=128, modulus=97, levels=97, weight=4), r"the secret is one of 2\^49.6", None),
    ],
    ids=str,
)
def test_a_secret_that_can_be_tried_or_drawn_again_makes_a_toy_or_nothing(family, says, seed, tmp_path):
    instance = Instance.generate(family, seed)
    with pytest.raises(InputError, match=says):
        publish(instance, 10, tmp_path / "c")
    assert not (tmp_path / "c").exists()
    assert publish(instance, 10, tmp_path / "c", toy=True)["toy"] is True
    assert list(tmp_path.iterdir()) == [tmp_path / "c"]


@pytest.mark.parametrize("family", [Parity(6, 4, "dot"), Rounding(5, 4, 2, weight=2)])
def test_secrets_are_counted(family):
    """Against all that `draw` gives: every secret of these comes up in 4000 draws, each 16 times or more on average."""
    drawn = {str(family.draw(np.random.default_rng(seed))) for seed in range(4000)}
    assert 2 ** family.log2_secrets() == pytest.approx(len(drawn))
