"""Can a parity hide in a softmax that I write myself?

Correlation of the layer's labels with the parity of every pair of coordinates: 1 for one pair, near 0 for all others.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

import hardness

layer = hardness.generate("parity", dim=8, heads=2, seed=0).layer()
X = np.random.default_rng(1).choice([-1.0, 1.0], size=(4000, 2, 8))
scores = np.exp(np.einsum("nki,hij,nlj->hnkl", X, layer.theta, X))  # exp(X Θ Xᵀ) of both heads
attention = scores / scores.sum(axis=-1, keepdims=True)
Y = np.einsum("hnkl,nlj,hji->nki", attention, X, layer.w)
differ = X[:, 0] * X[:, 1]  # -1 where the two tokens differ; the gate is open where they do in coordinate 0
labels, bits = (each[differ[:, 0] < 0] for each in (Y[:, 0, 0] * X[:, 0, 0], differ))
pairs = list(combinations(range(1, 8), 2))
agreement = [abs(np.corrcoef(labels, bits[:, pair].prod(axis=1))[0, 1]) for pair in pairs]
plt.bar([f"{i}{j}" for i, j in pairs], agreement)
plt.gca().set(xlabel="pair of coordinates", ylabel="|correlation| with the labels")
plt.savefig("hidden_parity.svg")
