"""The softmax layer, written out for the tests, and how far a gadget's is from the parity it should compute."""

import numpy as np

from hardness.gadgets import wide
from hardness.tokens import unpack


def softmax_layer(theta, w, X):
    """F(X) = Σ softmax(X Θ Xᵀ) X W, from the definition, in the precision of theta and w (m, d, d); X is (n, k, d)."""
    X = X.astype(theta.dtype)
    F = np.zeros_like(X)
    for t, v in zip(theta, w, strict=True):
        score = X @ t @ X.transpose(0, 2, 1)
        weight = np.exp(score - score.max(axis=2, keepdims=True))
        F += weight / weight.sum(axis=2, keepdims=True) @ X @ v
    return F


def wrong(gadget, words):
    """Largest distance of the softmax layer from x_a[0] chi_S where z_0 != 0, and from x_a[0] C elsewhere."""
    X = unpack(words, gadget.dim)
    parity = np.prod(X[:, 0] * X[:, 1] * gadget.weights + (1 - gadget.weights), axis=1)
    right = np.zeros(X.shape)
    right[:, :, 0] = X[:, :, 0] * np.where(X[:, 0, 0] == X[:, 1, 0], gadget.gate, parity)[:, None]
    assert np.array_equal(gadget(X), right)  # the closed form, to the last bit
    layer = gadget.layer()
    return np.abs(softmax_layer(layer.theta, layer.w, X) - right).max()


def on(dim, support):
    return [int(j in support) for j in range(dim)]


def price(s: int) -> float:
    """Σ|c| of the wide head of `wide.ratio` and steps, for s bits: 2 (r^s + r^2)/(r^2 - 1) - 1 (theory 1.5)."""
    r = float(wide.ratio(s))
    return 2 * (r**s + r * r) / (r * r - 1) - 1
