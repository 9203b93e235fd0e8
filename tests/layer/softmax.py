"""The softmax layer, written out for the tests, and how far a gadget's is from the parity it should compute."""

import numpy as np

from hardness.tokens import unpack


def softmax_layer(layer, X):
    """F(X) = Σ softmax(X Θ Xᵀ) X W, from the definition."""
    X = X.astype(np.float64)
    F = np.zeros(X.shape)
    for theta, w in zip(layer.theta, layer.w, strict=True):
        score = X @ theta @ X.transpose(0, 2, 1)
        weight = np.exp(score - score.max(axis=2, keepdims=True))
        F += weight / weight.sum(axis=2, keepdims=True) @ X @ w
    return F


def wrong(made, words):
    """Largest distance of the softmax layer from x_a[0] chi_S where z_0 != 0, and from x_a[0] C elsewhere."""
    X = unpack(words, made.dim)
    parity = np.prod(X[:, 0] * X[:, 1] * made.weights + (1 - made.weights), axis=1)
    right = np.zeros(X.shape)
    right[:, :, 0] = X[:, :, 0] * np.where(X[:, 0, 0] == X[:, 1, 0], made.gate, parity)[:, None]
    assert np.array_equal(made(X), right)  # the closed form, to the last bit
    return np.abs(softmax_layer(made.layer(), X) - right).max()


def on(dim, support):
    return [int(j in support) for j in range(dim)]
