"""The dense layer against its formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from softmax import softmax_layer

from hardness.errors import InputError
from hardness.layer import MultiHeadAttention


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 5), st.integers(1, 6))
def test_equals_the_formula_example_by_example(seed, heads, tokens, dim):
    rng = np.random.default_rng(seed)
    theta, w = rng.normal(size=(2, heads, dim, dim))
    X = rng.choice([-1.0, 1.0], size=(3, tokens, dim))
    layer = MultiHeadAttention(theta, w)
    assert np.allclose(layer(X), softmax_layer(theta, w, X), rtol=1e-12, atol=1e-12)
    patterns = layer.patterns(X)
    assert patterns.shape == (3, heads, tokens, tokens)
    assert np.allclose(patterns.sum(axis=-1), 1)
    assert np.allclose(np.einsum("nmab,nbd,mde->nae", patterns, X, w), layer(X))


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 5), st.integers(1, 40), st.data())
def test_an_example_has_the_same_bits_whatever_is_beside_it(seed, heads, tokens, dim, data):
    rng = np.random.default_rng(seed)
    layer = MultiHeadAttention(*rng.normal(size=(2, heads, dim, dim)))
    X = rng.choice([-1.0, 1.0], size=(300, tokens, dim))
    first, last = sorted(data.draw(st.tuples(st.integers(0, 300), st.integers(0, 300))))
    assert np.array_equal(layer(X[first:last]), layer(X)[first:last])
    assert np.array_equal(layer.patterns(X[first:last]), layer.patterns(X)[first:last])


def test_bad_numbers_are_refused_large_ones_do_not_overflow_and_parameters_are_frozen():
    with pytest.raises(InputError, match="same shape"):
        MultiHeadAttention(np.zeros((2, 3, 3)), np.zeros((1, 3, 3)))
    with pytest.raises(InputError, match="finite"):
        MultiHeadAttention(np.full((1, 2, 2), np.nan), np.zeros((1, 2, 2)))
    layer = MultiHeadAttention(np.full((1, 2, 2), 1e4), np.eye(2)[None])
    assert np.isfinite(layer(np.ones((2, 3, 2)))).all()
    for shape, words in (((3, 2, 5), "X must have shape"), ((3, 0, 2), "a token at least")):
        with pytest.raises(InputError, match=words):
            layer(np.ones(shape))
    with pytest.raises(ValueError, match="read-only"):
        layer.theta[0, 0, 0] = 1
