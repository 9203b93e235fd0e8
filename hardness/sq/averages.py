"""Averages over the examples of a layer, answered within a tolerance: an oracle for labels that are no concept's."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.sq.bounds.floors import check_tolerance
from hardness.sq.oracle import Ledger, samples_for

Array = NDArray[np.float64]
Ask = Callable[[Callable[[Array, Array], Array], float], Array]  # (sum over examples, bound) to its mean
# Relative errors up to which an estimate serves the phase after it: of ΣW, of the hull of the Θᵢ, of the worst Θᵢ
SERVES = {"sum": 0.3, "hull": 0.3, "theta": 0.1}
POPULATION = 20_000  # examples whose mean the oracle `noisy` takes for the mean
BLOCK = 4000


@dataclass
class Averages:
    """Answers queries for the mean of a function of one example, entry by entry, within a tolerance.

    Every entry, divided by a bound that the caller states, is one query with values in [-1, 1]. `noisy` adds uniform
    noise to the mean over `population` examples; `sampled` takes fresh examples, enough for the tolerance but for
    probability 1e-9.

    >>> from hardness.families.nondegenerate import Nondegenerate
    >>> ask = Averages(Instance.generate(Nondegenerate(4, 2, 1), seed=0), "noisy", 0.1, seed=0)
    >>> ask(lambda X, Y: X.sum(axis=(0, 1)) / 2, bound=1.0).shape, ask.ledger.queries
    ((4,), 4)
    """

    instance: Instance
    oracle: Literal["noisy", "sampled"]
    tolerance: float
    seed: int
    population: int = POPULATION

    def __post_init__(self) -> None:
        check_tolerance(self.tolerance)
        self.ledger, self._drawn = Ledger(), 0
        self._rng = np.random.default_rng(self.seed)

    def __call__(self, total: Callable[[Array, Array], Array], bound: float) -> Array:
        """Return the mean over examples of a function of any shape, whose sum over X and Y (n, k, d) is `total(X, Y)`.
        Raises `InputError` where a sum shows that an entry of the function exceeds `bound` in size."""
        fresh = self.oracle == "sampled"
        count, start = (samples_for(self.tolerance), self._drawn) if fresh else (self.population, 0)
        self._drawn += count if fresh else 0
        sums = np.zeros(())
        for at in range(start, start + count, BLOCK):
            data = self.instance.examples(min(BLOCK, start + count - at), self.seed, at)
            part = np.asarray(total(data.X.astype(np.float64), data.Y), dtype=np.float64)
            if (np.abs(part) > bound * len(data.X) * (1 + 1e-9)).any():
                raise InputError(f"a query exceeds its bound {bound:g}; queries must stay within [-1, 1]")
            sums = sums + part
        mean = np.asarray(sums / count)
        self.ledger.charge(mean.size)
        if self.oracle == "noisy":
            mean = mean + bound * self.tolerance * self._rng.uniform(-1, 1, mean.shape)
        return mean


@dataclass(frozen=True)
class Estimate:
    """Holds what one learning phase estimated: the sum of the projections W (d, d), the attention matrices Θᵢ (m, d, d)
    of m heads, the affine hull of the Θᵢ, or nothing. The hull is a point (d, d) and unit directions (m−1, d, d)."""

    phase: str
    sum_w: Array | None = None
    hull: tuple[Array, Array] | None = None
    theta: Array | None = None

    def error(self, layer: MultiHeadAttention, tokens: int) -> tuple[str, float]:
        """Return which part of the layer was estimated, and the estimate's relative error against the true `layer`.
        The part is "sum" (of the matrices W), "hull" (the affine hull of the attention matrices Θᵢ), "theta" (every Θᵢ)
        or "nothing" (error inf). Errors are in the Frobenius norm; of several heads the worst counts. Estimates of Θᵢ
        are matched to heads in any order, and up to sign for inputs of two `tokens`."""
        if self.sum_w is not None:
            true = layer.w.sum(axis=0)
            return "sum", float(np.linalg.norm(self.sum_w - true) / np.linalg.norm(true))
        norms = np.linalg.norm(layer.theta, axis=(1, 2))
        if self.hull is not None:
            point, directions = self.hull
            off = (layer.theta - point).reshape(layer.heads, -1)
            D = directions.reshape(len(directions), off.shape[1])
            off = off - (off @ D.T) @ D
            return "hull", float((np.linalg.norm(off, axis=1) / norms).max())
        if self.theta is not None:
            from scipy.optimize import linear_sum_assignment

            signs = (1.0, -1.0) if tokens == 2 else (1.0,)
            apart = [np.linalg.norm(layer.theta[:, None] - s * self.theta, axis=(2, 3)) for s in signs]
            errors = np.min(apart, axis=0) / norms[:, None]
            rows, order = linear_sum_assignment(errors)
            return "theta", float(errors[rows, order].max())
        return "nothing", float("inf")


def by_phases(
    learner: Any, instance: Instance, oracle: Literal["noisy", "sampled"], tolerance: float, seed: int
) -> dict[str, Any]:
    """Let a class `learner` learn a layer from averages over examples alone, and return how well each phase did.
    This is what `hardness sq learn --json` prints. Of a phase (a stage of the learner) that is repeated, the last
    estimate counts. Raises `InputError` for a class whose phases cannot learn from averages."""
    if not hasattr(learner, "by_averages"):
        raise InputError(f"learner {learner.__name__} does not learn by averages; provable does")
    layer, ask = instance.layer(), Averages(instance, oracle, tolerance, seed)
    shape = instance.family.tokens, layer.theta.shape[1]
    size = float(np.sqrt(np.mean(instance.examples(2000, seed + 1).Y ** 2)))
    made = learner(heads=layer.heads, random_state=seed % 2**32)
    estimates = chain(
        made.by_averages(ask, *shape, size, tolerance), made.heads_by_averages(ask, *shape, size)
    )
    phases = {}
    for estimate in estimates:
        kind, error = estimate.error(layer, shape[0])
        phases[estimate.phase] = {
            "name": estimate.phase,
            "ok": error <= SERVES.get(kind, 0.0),
            "error": error if np.isfinite(error) else None,
            "tolerance": tolerance,
        }
    return {
        "status": "solved" if all(phase["ok"] for phase in phases.values()) else "wrong",
        "queries": ask.ledger.queries,
        "smallest_tolerance": tolerance,
        "phases": list(phases.values()),
    }
