"""The claims of the neighbouring papers and the stress table, measured: rows of plain numbers, one call each.

`python -m learner.comparisons NAME [--seeds N] [--quick] [--out rows.csv]` prints a table. Every row carries its seed;
`table` gives means and the range over seeds. "Hard" is said of nothing here: `samples` stands beside `monomials`, the
number of monomials up to the degree of the labels, which is what a label of that degree costs for its degree alone.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hardness.errors import InputError, unknown
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.files import write_text
from hardness.instance import Instance
from hardness.learning import ACCURATE, EXACT, judge
from learner.automata import execute, random_automata, steps
from learner.base import Array
from learner.direct import Direct
from learner.linear.adam import adam_heads
from learner.linear_attention import LinearAttention, attention, parameter_distance, parameters
from learner.low_degree import LowDegree, monomial_count
from learner.random_features import RandomFeatureAttention, RandomFeatureMLP
from learner.ridge import RidgeLearner

Row = dict[str, Any]
DIM = KEYS = 16


def sphere(count: int, rng: np.random.Generator) -> Array:
    """A query and sixteen keys (count, 17, 16), uniform on the sphere."""
    X = rng.normal(size=(count, KEYS + 1, DIM))
    return np.asarray(X / np.linalg.norm(X, axis=2, keepdims=True))


def target(name: str, X: Array, b: Array) -> Array:
    """f_p = mean <b,x_i>^p or g_p1 = mean <x_0,x_i>^p <b,x_i>, scaled to unit variance."""
    power, keys = int(name[1]), X[:, 1:] @ b
    y = keys**power if name[0] == "f" else np.einsum("nd,nid->ni", X[:, 0], X[:, 1:]) ** power * keys
    return np.asarray(y.mean(axis=1) / y.mean(axis=1).std())


def random_features(seed: int, quick: bool) -> Iterator[Row]:
    """Test error of attention and networks of frozen weights on averages over keys, against examples.

    Tokens, size and the bias are this lab's choices. Biased heads are expected to win on g (correlations with the
    query) at few examples, and to lose on f (functions of the keys alone).
    """
    trained = 1000 * (DIM + 1)
    models: dict[str, Callable[[], RidgeLearner]] = {
        "attention": lambda: RandomFeatureAttention(1000, query=0, keys="others", random_state=seed),
        "attention, biased 4/1": lambda: RandomFeatureAttention(
            1000, bias=4.0, query=0, keys="others", random_state=seed
        ),
        "attention, biased 8/1": lambda: RandomFeatureAttention(
            1000, bias=8.0, query=0, keys="others", random_state=seed
        ),
        "attention, no constant": lambda: RandomFeatureAttention(
            1000, augment=False, query=0, keys="others", random_state=seed
        ),
        "network, as many trained": lambda: RandomFeatureMLP(trained, random_state=seed),
        "network, 1000 neurons": lambda: RandomFeatureMLP(1000, random_state=seed),
    }
    rng = np.random.default_rng(seed)
    b = rng.normal(size=DIM)
    X = sphere(4096 + 1500, rng)
    for name in ("f1", "f2", "g11") if quick else ("f1", "f2", "f4", "g11", "g21", "g31", "g41"):
        y = target(name, X, b / np.linalg.norm(b))
        for n in (64, 256, 1024) if quick else (64, 256, 1024, 4096):
            for label, model in models.items():
                error = 1 - model().fit(X[:n], y[:n]).score(X[4096:], y[4096:])
                yield {"target": name, "model": label, "examples": n, "error": error}


def linear_attention(seed: int, quick: bool) -> Iterator[Row]:
    """Recovery of one random head from rows, by regression (at noise 0 and 0.1) and by Adam with 1 .. d² heads."""
    rng = np.random.default_rng(seed)
    for d, counts in ((2, (6, 12, 100)), (4, (40, 80, 1600)), (8, (200, 400, 6400))):
        V, Q = rng.normal(size=(1, 1, d)), rng.normal(size=(1, d, d))
        fresh = rng.normal(size=(1000, 20, d))
        truth = attention(V, Q, fresh)
        for n in (max(10, n) for n in counts):
            X = rng.normal(size=(n, 20, d))
            clean = attention(V, Q, X)
            for noise in (0.0, 0.1):
                model = LinearAttention(query=-1, random_state=seed)
                model.fit(X, clean + noise * clean.std() * rng.normal(size=clean.shape))
                found = model.certificate(X)
                error = np.mean((model.predict(fresh) - truth) ** 2) / truth.var()
                yield {
                    "method": f"regression, noise {noise:g}",
                    "dim": d,
                    "rows": n,
                    "rank": found.rank,
                    "lam_min": found.lam_min,
                    "error": float(error),
                }
        if quick and d > 4:
            continue
        for heads in (1, d, d * d):
            X = rng.normal(size=(8192, 20, d))
            v, q, _ = adam_heads(X, attention(V, Q, X), heads, rng, epochs=40)
            error = np.mean((attention(v, q, fresh) - truth) ** 2) / truth.var()
            yield {"method": f"Adam, {heads} heads", "dim": d, "rows": 8192, "error": float(error)}


def memory(count: int, size: int, unitary: float, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Tokens [key; value] and last [query; ·] (count, size + 1, 2 size), the value asked for, and the head's p.

    A share `unitary` has orthonormal keys and values, on which the head is not identifiable; the others are Gaussian.
    """
    parts = [rng.normal(size=(count, size, size)) for _ in range(2)]
    mixed = rng.random(count) < unitary
    keys, values = (np.where(mixed[:, None, None], np.linalg.qr(part)[0], part) for part in parts)
    asked = keys[np.arange(count), rng.integers(size, size=count)]
    last = np.concatenate([asked, rng.normal(size=(count, size))], axis=1)
    X = np.concatenate([np.concatenate([keys, values], axis=2), last[:, None]], axis=1)
    V, Q = np.zeros((1, 2 * size, 2 * size)), np.zeros((1, 2 * size, 2 * size))
    V[0, size:, size:], Q[0, :size, :size] = np.eye(size), np.eye(size)
    return X, attention(V, Q, X), parameters(V, Q)


def associative_memory(seed: int, quick: bool) -> Iterator[Row]:
    """Distance to the true parameters as data stop to identify them: least norm hides it, noise and Adam show it."""
    rng = np.random.default_rng(seed)
    count = 4096 if quick else 16384
    for unitary in (0.0, 0.9, 0.95, 0.99, 0.995, 0.998, 1.0):
        X, Y, p = memory(count, 4, unitary, rng)
        model = LinearAttention(query=-1, random_state=seed).fit(X, Y)
        found = model.certificate(X)
        noisy = LinearAttention(query=-1, random_state=seed).fit(X, Y + 0.01 * rng.normal(size=Y.shape))
        yield {
            "unitary": unitary,
            "lam_min": found.lam_min,
            "rank": found.rank,
            "least norm": parameter_distance(model.p_, p),
            "noise 0.01": parameter_distance(noisy.p_, p),
        }
        for heads in (1, 4, 8) if unitary in (0.0, 1.0) else ():
            V, Q, error = adam_heads(X, Y, heads, rng, epochs=30 if quick else 60)
            fresh, truth, _ = memory(1000, 4, 0.0, rng)
            yield {
                "unitary": unitary,
                "method": f"Adam, {heads} heads",
                "training error": error**2,
                "distance": parameter_distance(parameters(V, Q), p),
                "error on Gaussian": float(np.mean((attention(V, Q, fresh) - truth) ** 2) / truth.var()),
            }


def automata(seed: int, quick: bool) -> Iterator[Row]:
    """Two hundred unseen automata run on words of length 20, against the number of transitions seen."""
    rng = np.random.default_rng(seed)
    sizes = {(2, 2): (16, 32), (3, 2): (64, 128), (4, 2): (128, 256, 512), (4, 4): (512, 1024), (6, 3): (1024, 2048)}
    for (states, letters), counts in list(sizes.items())[: 4 if quick else 5]:
        for n in counts:
            model = LinearAttention(query=-1, random_state=seed).fit(*steps(n, states, letters, rng))
            words = rng.integers(letters, size=(200, 20))
            run = execute(model, random_automata(200, states, letters, rng), words)
            yield {"states": states, "letters": letters, "examples": n, "rank": model.rank_, **vars(run)}


def stress(seed: int, quick: bool) -> Iterator[Row]:
    """Examples to success of every learner on every family, doubling, beside the count of monomials.

    Success is the lab's: sign accuracy 0.99 on structured labels, relative error 1e-6 on random layers. `samples`
    None: not within the last count tried, `most`.
    """
    most = 2048 if quick else 8192
    # Twice as many rows as examples: each of the two rows of Y is learned.
    learners: dict[str, Callable[[int], Any]] = {
        "linear attention": lambda m: LinearAttention(alpha=1e-9, random_state=seed, memory_gb=9),
        "linear attention 1+2": lambda m: LinearAttention((1, 2), alpha=1e-9, random_state=seed, memory_gb=9),
        "random features": lambda m: RandomFeatureAttention(None, alpha=1e-6, memory_gb=9),
        "random network": lambda m: RandomFeatureMLP(None, alpha=1e-6, memory_gb=9),
        "low degree 3": lambda m: LowDegree(3, alpha=1e-9),
        "low degree 5": lambda m: LowDegree(5, alpha=1e-9),
        "direct": lambda m: Direct(m, starts=4, random_state=seed),
    }
    families: list[tuple[Any, int | None]] = [
        (Parity(dim=8, heads=2, gadget="dot"), 3),
        (Parity(dim=8, heads=2), 5),
        (Parity(dim=8, heads=3), 7),
        (Rounding(dim=8, modulus=2, levels=2, weight=2), 5),
        (Rounding(dim=8, modulus=5, levels=2, weight=3), 7),
        (Nondegenerate(dim=8, tokens=2, heads=1), None),
        (Nondegenerate(dim=8, tokens=2, heads=2), None),
    ]
    for family, degree in families:
        instance = Instance.generate(family, seed)
        pool = instance.examples(most, seed + 1)
        fresh = instance.examples(1000, seed + 1, start=most).X
        for label, make in learners.items():
            n, samples, started, scores = 128, None, time.perf_counter(), {}
            while n <= most and samples is None:
                try:
                    scores = judge(instance, fresh, make(instance.heads).fit(pool.X[:n], pool.Y[:n]).predict(fresh))
                except InputError:
                    n *= 2  # too few examples for this learner to start
                    continue
                sign, relative = scores["sign_accuracy"], scores["relative_error"]
                if (relative is not None and relative <= EXACT) if sign is None else sign >= ACCURATE:
                    samples = n
                n *= 2
            yield {
                "family": family.name,
                "heads": instance.heads,
                "gadget": getattr(family, "gadget", ""),
                "learner": label,
                "samples": samples,
                "most": most,
                "relative error": scores.get("relative_error"),
                "sign accuracy": scores.get("sign_accuracy"),
                "monomials": None if degree is None else monomial_count(16, degree),
                "seconds": time.perf_counter() - started,
            }


COMPARISONS: dict[str, Callable[[int, bool], Iterator[Row]]] = {
    "random-features": random_features,
    "linear-attention": linear_attention,
    "associative-memory": associative_memory,
    "automata": automata,
    "stress": stress,
}


def measure(name: str, seeds: int = 1, quick: bool = False) -> Iterator[Row]:
    """The rows of a comparison over seeds 0 .. seeds - 1, as they come. Raises `InputError` for an unknown name."""
    if name not in COMPARISONS:
        raise unknown("comparison", name, COMPARISONS)
    return ({"seed": seed, **row} for seed in range(seeds) for row in COMPARISONS[name](seed, quick))


def table(rows: list[Row]) -> str:
    """Rows as CSV, all columns that any row has.

    >>> table([{"a": 1}, {"a": 0.123456789, "b": None}])
    'a,b\\n1,\\n0.123457,\\n'
    """
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines: list[list[Any]] = [[row.get(column) for column in columns] for row in rows]
    return "\n".join(",".join(map(_text, line)) for line in [list[Any](columns), *lines]) + "\n"


def summary(rows: list[Row], value: str) -> list[Row]:
    """Mean and range of `value` over seeds, for rows that agree in everything that is no measured float.

    >>> summary([{"seed": 0, "n": 4, "error": 1.0}, {"seed": 1, "n": 4, "error": 2.0}], "error")
    [{'n': 4, 'error': 1.5, 'low': 1.0, 'high': 2.0, 'seeds': 2}]
    """
    groups = defaultdict(list)
    for row in rows:
        key = tuple((k, v) for k, v in row.items() if k != "seed" and not isinstance(v, float))
        if row.get(value) is not None:
            groups[key].append(row[value])
    return [
        {**dict(key), value: float(np.mean(v)), "low": min(v), "high": max(v), "seeds": len(v)}
        for key, v in groups.items()
    ]


def _text(value: Any) -> str:
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return f'"{text}"' if "," in text else text


def main(arguments: list[str] | None = None) -> None:
    """The command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m learner.comparisons", description=__doc__)
    parser.add_argument("name", choices=COMPARISONS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    rows = []
    for row in measure(options.name, options.seeds, options.quick):
        rows.append(row)
        if options.out:
            write_text(options.out, table(rows))  # an interrupted run leaves what it has
    if not options.out:
        sys.stdout.write(table(rows))


if __name__ == "__main__":
    main()
