"""Example streams: uniform, addressed by index, and the same bytes whatever the chunk."""

import json
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.errors import InputError
from hardness.examples import Examples, read, write
from hardness.families.controls import Nested
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.instance import Instance, generate
from hardness.tokens import TokenStream, pack, philox_key, uniform, unpack, words_per_token


@given(
    st.tuples(st.integers(0, 2**128), st.integers(1, 4), st.integers(1, 130))
    | st.tuples(st.integers(0, 2**128), st.just(2), st.integers(2, 130), st.floats(0, 0.99)),
    st.integers(0, 50),
    st.integers(0, 20),
)
def test_any_stretch_equals_the_same_stretch_of_the_whole(shape, start, count):
    """Of fair tokens (seed, tokens, dim), and of pairs with a bias."""
    seed, stream = shape[0], TokenStream(*shape)
    whole = stream.packed(0, start + count)
    assert np.array_equal(stream.packed(start, count), whole[start:])
    key = philox_key(seed, 1)
    assert np.array_equal(uniform(key, start, count), uniform(key, 0, start + count)[start:])


@given(
    st.integers(0, 2**128), st.integers(1, 4), st.integers(1, 330), st.integers(0, 2**40), st.integers(0, 300)
)
def test_words_are_those_of_numpys_philox(seed, tokens, dim, start, count):
    words = -(-dim // 64)
    first = start * tokens * words
    philox = np.random.Philox(np.random.SeedSequence(seed).spawn(2)[0])
    philox.advance(first // 4)
    raw = philox.random_raw(first % 4 + count * tokens * words)[first % 4 :].reshape(count, tokens, words)
    raw[..., -1] &= np.uint64(2 ** (dim % 64 or 64) - 1)
    for compiled in (True, False):
        with mock.patch("hardness.tokens.compiled_pays", lambda words, answer=compiled: answer):
            assert np.array_equal(TokenStream(seed, tokens, dim).packed(start, count), raw)


@given(st.integers(0, 2**32), st.integers(1, 130))
def test_pack_inverts_unpack(seed, dim):
    words = TokenStream(seed, 2, dim).packed(0, 9)
    X = unpack(words, dim)
    assert X.shape == (9, 2, dim)
    assert set(np.unique(X)) <= {-1, 1}
    assert np.array_equal(pack(X), words)


COLUMN_0 = [
    ("parity", {"dim": 9, "heads": 4, "gadget": "dot", "flip": 0.3}),
    ("parity", {"dim": 40, "heads": 3, "gadget": "sharp", "bias": 0.2}),
    ("rounding", {"dim": 70, "modulus": 7, "levels": 3, "noise": 0.7}),
    ("tent", {"dim": 16, "heads": 5}),
    ("random-diagonal", {"dim": 24, "heads": 3}),
]


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("name", "parameters"), COLUMN_0, ids=str)
def test_lean_examples_are_the_column_of_the_whole_ones_byte_for_byte(
    name, parameters, compiled, monkeypatch
):
    instance = generate(name, seed=4, **parameters)
    wholes = [instance.examples(700, 5, 41, fair) for fair in (False, True)]
    for module in ("hardness.tokens", "hardness.gadgets.coefficients"):
        monkeypatch.setattr(f"{module}.compiled_pays", lambda words: compiled)
    for fair, whole in enumerate(wholes):
        lean = instance.examples(700, 5, 41, bool(fair), lean=True)
        assert lean.X.tobytes() == whole.X.tobytes()
        assert lean.y.tobytes() == whole.Y[:, :, 0].tobytes()
        assert not whole.Y[:, :, 1:].any()


def test_labels_of_more_columns_or_changed_by_a_derived_family_have_no_lean_form():
    class Halved(Parity):
        def labels(self, teacher, words, noise):
            return super().labels(teacher, words, noise) / 2

    for family, words in (
        (Nondegenerate(6, 2, 2), "labels of nondegenerate are not stated .* in column 0 alone"),
        (Nondegenerate(6, 2, 2, inputs="gaussian"), "labels of nondegenerate are not stated"),
        (Nested(dim=8, size=3, block=1), "labels of nested have no column_values"),
        (Halved(dim=8, heads=2), "labels of halved have no column_values"),
    ):
        with pytest.raises(InputError, match=words):
            Instance.generate(family, 0).examples(10, 0, lean=True)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_file_round_trip_in_chunks(tmp_path, monkeypatch, suffix):
    pytest.importorskip("pyarrow") if suffix == ".parquet" else None
    instance = Instance.generate(Parity(9, 3, flip=0.3), seed=4)
    whole = instance.examples(1000, seed=7)
    contents = []
    for chunk in (64, 1000):
        monkeypatch.setattr("hardness.instance.CHUNK", chunk)
        path = tmp_path / f"{chunk}{suffix}"
        write(path, whole.X.shape, lambda: instance.chunks(1000, seed=7), instance.public(7))
        contents.append(path.read_bytes())
        examples, public = read(path)
        assert np.array_equal(examples.X, whole.X)
        assert examples.X.dtype == np.int8
        assert np.array_equal(examples.Y, whole.Y)
        assert public == json.loads(json.dumps(instance.public(7)))
    if suffix == ".npz":
        assert contents[0] == contents[1]
        arrays = np.load(tmp_path / "64.npz")
        assert set(arrays.files) == {"X", "Y", "public"}
        assert json.loads(str(arrays["public"]))["sampling_seed"] == 7


def test_shapes_and_signs_are_checked():
    with pytest.raises(InputError, match="share one shape"):
        Examples(np.ones((2, 2, 3), dtype=np.int8), np.ones((2, 2, 4)))
    with pytest.raises(InputError, match=r"\+1 or -1"):
        pack(np.zeros((1, 3)))
    assert words_per_token(65) == 2
