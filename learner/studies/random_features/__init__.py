"""The study `random-features`: what the abstract of Fu, Guo, Bai and Mei (arXiv 2307.11353) claims."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task

if TYPE_CHECKING:
    from learner.ridge import RidgeLearner

QUESTION = (
    "Does attention with frozen random heads need fewer examples than a network of frozen random neurons?"
)

DIM = KEYS = 16
HEADS, FEW, MOST, FRESH = 1000, 256, 4096, 1500
AT = 1024  # examples at which the number of heads varies
SIZED = ("f2", "g11")  # targets shown against the number of heads
TARGETS = ("f1", "f2", "f4", "g11", "g21", "g31", "g41")
BIAS = 8.0
BIASED = f"RFA biased {BIAS:g}:1"
RIVAL = "RFMLP, as many trained"
MODELS: Mapping[str, Mapping[str, Any]] = {
    "RFA": {},
    "RFA biased 4:1": {"bias": 4.0},
    BIASED: {"bias": BIAS},
    "RFA without constant": {"augment": False},
    "RFA with softmax": {"activation": "softmax"},
    RIVAL: {"neurons": DIM + 1},
    "RFMLP, as many neurons": {"neurons": 1},
}
Array = NDArray[np.float64]


def sphere(count: int, rng: np.random.Generator) -> Array:
    """A query and sixteen keys (count, 17, 16), uniform on the sphere."""
    X = rng.normal(size=(count, KEYS + 1, DIM))
    return np.asarray(X / np.linalg.norm(X, axis=2, keepdims=True))


def target(name: str, X: Array, b: Array) -> Array:
    """f_p = mean <b,x_i>^p or g_p1 = mean <x_0,x_i>^p <b,x_i>, scaled to unit variance: (n,)."""
    power, keys = int(name[1]), X[:, 1:] @ b
    y = keys**power if name[0] == "f" else np.einsum("nd,nid->ni", X[:, 0], X[:, 1:]) ** power * keys
    return np.asarray(y.mean(axis=1) / y.mean(axis=1).std())


def tasks(quick: bool) -> list[Task]:
    """Every model at every number of examples, and few to infinitely many heads at 1024 examples."""
    counts, sizes = (
        ((64, 256, 1024), (250,)) if quick else ((64, 128, 256, 512, 1024, 2048, MOST), (62, 250, 4000))
    )
    curves = [(name, HEADS, n) for name in MODELS for n in counts]
    heads = [(name, size, AT) for name in ("RFA", BIASED) for size in sizes]
    return [
        Task("key-averages", {"dim": DIM, "keys": KEYS}, {"model": name, "heads": size}, {"samples": n}, r)
        for name, size, n in [*curves, *heads, ("RFA", None, AT)]
        for r in range(3 if quick else 5)
    ]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial: Gram matrices, then Cholesky factors."""
    n, heads = float(task.budget["samples"]), task.solver["heads"]
    if heads is None:
        return 6.0
    return float(0.2 + 7e-11 * n * n * heads + 9e-11 * n**3 + 2e-7 * n * heads)


def model(name: str, heads: int | None, random_state: int) -> "RidgeLearner":
    """The learner called `name`, with what `heads` heads train."""
    from learner.random_features import RandomFeatureAttention, RandomFeatureMLP

    options = dict(MODELS[name])
    if "neurons" in options:
        return RandomFeatureMLP(options["neurons"] * (heads or 0), random_state=random_state)
    return RandomFeatureAttention(heads, keys="others", random_state=random_state, **options)


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Test error of one model on all targets, in units of their variance; all models see the same examples.

    >>> outcome = trial(Task("key-averages", {"dim": 16, "keys": 16}, {"model": "RFA", "heads": 64},
    ...                      {"samples": 256}, 0), 0, 60.0)
    >>> outcome.detail["error"]["f1"] < 0.5 < outcome.detail["error"]["f2"]
    True
    """
    rng = np.random.default_rng(task.shared().seed(root, "examples"))
    b, X, n = rng.normal(size=DIM), sphere(MOST + FRESH, rng), int(task.budget["samples"])
    Y = np.stack([target(name, X, b / np.linalg.norm(b)) for name in TARGETS], axis=1)
    learner = model(task.solver["model"], task.solver["heads"], task.seed(root, "solver") % 2**32)
    wrong = learner.fit(X[:n], Y[:n]).predict(X[MOST:]) - Y[MOST:]
    error = np.mean(wrong**2, axis=0) / Y[MOST:].var(axis=0)
    return Outcome("solved", n, {"error": dict(zip(TARGETS, error.tolist(), strict=True))})


STUDY = Study(
    "random-features",
    QUESTION,
    tasks,
    seconds,
    trial,
    guard=300.0,
    role="appendix",
    content="learner.studies.random_features.content:content",
    template=Path(__file__).with_name("page.md"),
)
