"""Examples straight from theory 1.1-1.4, without the package's closed form: what attacks are tested on."""

import json
from pathlib import Path

import numpy as np


def examples(
    w, q, p, *, count, seed, gadget="diag", flip=0.0, noise=0.0, A=0.25, C=-0.75, parity=None, **public
):
    """X (count, 2, d) int8, Y (count, 2, d) and `public` for the secret w (n,); q = p = 2 is parity."""
    rng = np.random.default_rng(seed)
    parity = (q == 2) if parity is None else parity
    w = np.asarray(w)
    d = len(w) + 1
    X = (2 * rng.integers(0, 2, size=(count, 2, d)) - 1).astype(np.int8)
    z = (X[:, 0].astype(np.int64) - X[:, 1]) // 2
    t = (np.abs(z[:, 1:]) if gadget == "diag" else z[:, :1] * z[:, 1:]) @ w
    t = t + np.rint(rng.normal(0, noise, size=count)).astype(np.int64)
    level = p * (t % q) // q
    if parity:
        level = (1 - 2 * level) * np.where(rng.random(count) < flip, -1, 1)
    Y = np.zeros(X.shape)
    Y[:, :, 0] = X[:, :, 0] * np.where(z[:, 0] != 0, A + level, C)[:, None]
    shape = {
        "family": "parity" if parity else "rounding",
        "dim": d,
        "tokens": 2,
        "gadget": gadget,
        "A": A,
        "C": C,
        "modulus": None if parity else q,
        "levels": None if parity else p,
        "noise": noise,
        "flip": flip,
        "heads": int(np.sum(w)) * (2 if gadget == "dot" else 1) if parity else 64,
        "sampling_seed": seed,
        "weight": None,
    }
    return X, Y, shape | public


def planted(n, q, weight=None):
    """A secret w (n,) mod q, the same at every call: uniform, or of that weight."""
    rng = np.random.default_rng([n, q])
    if weight is None:
        return rng.integers(0, q, n)
    w = np.zeros(n, dtype=np.int64)
    w[rng.permutation(n)[:weight]] = 1
    return w * rng.integers(1, q, n)


def support(w):
    return {"support": [int(j) + 1 for j in np.flatnonzero(w)]}


def centred(w, q):
    w = np.asarray(w) % q
    return {"w": np.where(2 * w > q, w - q, w).tolist()}


def restated(source: Path, target: Path, stated):
    """Write the same examples with other public parameters."""
    with np.load(source) as file:
        public = json.dumps({**json.loads(str(file["public"])), **stated})
        np.savez(target, X=file["X"], Y=file["Y"], public=public)
