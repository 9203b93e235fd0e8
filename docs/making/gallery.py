"""Draw what a layer of each family does: one picture a family, for docs/gallery.md.

Run it in the folder that is to hold the pictures: python docs/making/gallery.py
"""

import matplotlib.pyplot as plt
import numpy as np

import hardness
from hardness import families

ROWS = 200  # examples that are drawn
COUNT = "hidden coordinates in which the tokens differ"
ATTENTION = "attention of token 0 on token 1, first head"
# Of each family: parameters, and what stands on the horizontal axis.
PICTURES = {
    "parity": ({"dim": 16, "heads": 6}, COUNT),
    "rounding": ({"dim": 17, "modulus": 13, "levels": 2}, "inner product with the secret, modulo 13"),
    "tent": ({"dim": 16, "heads": 6}, COUNT),
    "nested": ({"dim": 16, "size": 6, "block": 2}, COUNT),
    "random-diagonal": ({"dim": 16, "heads": 6}, ATTENTION),
    "nondegenerate": ({"dim": 16, "tokens": 2, "heads": 6}, ATTENTION),
}


def hidden(instance, bits):
    """Return, for bits (n, dim) that say where the tokens differ, the count or inner product that the secret tells."""
    secret = instance.secret
    if "support" in secret:
        return bits[:, secret["support"]].sum(axis=1)
    return (bits[:, 1:] @ secret["w"]) % instance.family.modulus


def attention(instance, x):
    """Return the attention (n,) of token 0 on token 1 in the first head, for tokens x (n, 2, dim)."""
    scores = np.einsum("ni,ij,nkj->nk", x[:, 0], instance.layer().theta[0], x)
    return 1 / (1 + np.exp(scores[:, 0] - scores[:, 1]))


def draw(name, parameters, axis):
    """Draw labels of token 0, times its own gate bit, on examples whose gate is open: all columns that show bits."""
    instance = hardness.Instance.generate(families.build(name, parameters), seed=0)
    examples = instance.examples(ROWS, seed=1)
    is_open = examples.X[:, 0, 0] != examples.X[:, 1, 0]
    x = examples.X[is_open].astype(float)
    labels = examples.Y[is_open, 0] * x[:, 0, :1]
    across = attention(instance, x) if axis == ATTENTION else hidden(instance, x[:, 0] != x[:, 1])
    figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
    for column in range(3 if name == "nested" else 1):
        places = across + 0.15 * column
        axes.plot(places, labels[:, column], "osD"[column], markersize=4, label=f"column {column}")
    axes.set(xlabel=axis, ylabel="label")
    if name == "nested":
        axes.legend()
    figure.savefig(f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "gallery"})
    for name, (parameters, axis) in PICTURES.items():
        draw(name, parameters, axis)
