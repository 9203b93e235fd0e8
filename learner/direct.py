"""The learners a user would pick: variable projection, joint L-BFGS, and Adam, all on (Θ, W).

None has a theorem. They are the honest control beside the provable learner: on random layers they need a
hundredth of its examples.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hardness.io.fields import whole
from hardness.layer import MultiHeadAttention
from learner import adam, varpro
from learner.attempt import EXACT, Attempt, attempt, examples_wanted, random_theta, relative_residual
from learner.base import Array, Learner, Phase, SearchResult, counting_floor, gradient_work

# Half the relative squared error at (Θ, W), flat, and its gradient
Loss = Callable[[Array], tuple[float, Array]]


@dataclass(eq=False, repr=False)
class Direct(Learner):
    """Variable projection from random starts: random layers, from a hundred examples.

    Anchored L-BFGS, then Levenberg–Marquardt (`learner.varpro`).

    The first start uses the heads it was told, later ones `spare` more, pruned back as far as the labels allow;
    `report_.heads` says how many were needed. A start sees 8·heads·dim examples, more where a single Θ asks
    for more (`counting_floor`), twice as many after an interpolation that does not generalise.

    >>> rng = np.random.default_rng(0)
    >>> layer = MultiHeadAttention(rng.normal(size=(2, 8, 8)) / 6, rng.normal(size=(2, 8, 8)))
    >>> X = rng.choice([-1.0, 1.0], size=(400, 2, 8))
    >>> Direct(heads=2, random_state=0).fit(X, layer(X)).report_.status
    'solved'
    """

    heads: int = 2
    spare: int = 2
    starts: int = 8
    iterations: int = 400
    random_state: int | None = None

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return about what a search costs in which no start finds anything: in each, `iterations` and a tenth more.

        Evaluations are gradients, and fits of W by normal equations.

        >>> [round(Direct(heads=2, starts=1).multiply_adds(n, 2, 12) / 1e9, 1) for n in (1000, 10_000)]
        [1.1, 1.1]
        """
        total, rows = 0.0, examples_wanted(self.heads, tokens, dim)
        for start in range(self.starts):
            heads, n = self.heads + (self.spare if start else 0), min(examples, rows << (start // 2))
            q = (heads + 1) * dim
            fit = n * tokens * (q**2 / 2 + 4 * q * dim) + q**3 / 6
            total += 1.1 * self.iterations * (n * gradient_work(heads, tokens, dim) + fit)
        return total

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        whole("starts", self.starts, 1)
        whole("spare", self.spare, 0)
        n, k, d = X.shape
        rows = examples_wanted(self.heads, k, d)
        # More unknowns than equations: any labels would do.
        spare = max(
            s for s in range(self.spare + 1) if s == 0 or 1.2 * counting_floor(self.heads + s, k, d) <= n
        )
        tries: list[Attempt] = []
        best, best_error = None, np.inf
        for start in range(self.starts):
            heads = self.heads + (spare if start else 0)
            used = slice(0, min(n, rows))
            tried = attempt(
                X[used], Y[used], random_theta(rng, heads, d), heads=self.heads, iterations=self.iterations
            )
            tries.append(tried)
            # On every example it has: an interpolation of a few is no solution yet.
            error = relative_residual(X[:4000], Y[:4000], tried.theta, tried.w)
            if error < best_error:
                best, best_error = tried, error
            # Four starts, spare heads included, and none explains even half of the labels' power: there is no layer.
            hopeless = len(tries) >= 4 and min(t.descent for t in tries) > 0.7
            if error < 1e-8 or hopeless:
                break
            if tried.residual < EXACT or start % 2 == 1:
                rows *= 2
        assert best is not None
        needed = len(best.theta) if best_error < 1e-8 else None
        phases = [
            Phase(
                f"start {i}",
                "ok" if each.residual < EXACT else "failed",
                diagnostics={
                    "heads": len(each.theta),
                    "residual": each.residual,
                    "evaluations": each.evaluations,
                },
            )
            for i, each in enumerate(tries)
        ]
        if needed and needed != self.heads:
            reason = f"{needed} heads {'were needed' if needed > self.heads else 'suffice'}, {self.heads} were given"
            phases.append(Phase("prune", "weak", reason, {"heads": needed, "given": self.heads}))
        return SearchResult(
            MultiHeadAttention(best.theta, best.w),
            tuple(phases),
            exhausted=all(t.exhausted for t in tries),
            heads=needed,
            hint="" if needed else self._hint(n, counting_floor(self.heads, k, d), best, best_error),
        )

    @staticmethod
    def _hint(n: int, floor: int, best: Attempt, error: float) -> str:
        if best.residual < EXACT:
            return f"a layer that fits examples exactly does not hold beyond them: {n} are too few, give more"
        if n < 2 * floor and error < 1:
            return (
                f"{n} examples are {n / floor:.2g} times the least that could do, and below twice that a search "
                f"seldom finds the layer: give {2 * floor} or more"
            )
        return ""


class _Joint(Learner):
    """A search on Θ and W together, from up to `starts` random starts of at most `iterations` steps."""

    exact: ClassVar[float]  # relative training residual that ends the search
    starts: int
    iterations: int

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return what `starts` times `iterations` gradients cost.

        >>> Adam(heads=1, starts=1, iterations=100).multiply_adds(1, 2, 10)
        144000.0
        """
        return self.starts * self.iterations * examples * gradient_work(self.heads, tokens, dim)

    @abstractmethod
    def _descend(self, loss: Loss, v: Array) -> tuple[Array, int]:
        """Return where the search from v (2·m·d²,) ends, and how many steps it took."""

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        whole("starts", self.starts, 1)
        whole("iterations", self.iterations, 1)
        d = X.shape[2]
        shape = (2, self.heads, d, d)
        target = Y.reshape(-1, d)
        power = float(np.vdot(target, target)) or 1.0

        def loss(v: Array) -> tuple[float, Array]:
            theta, w = v.reshape(shape)
            P, Z = varpro.attend(X, theta)
            R = target - Z @ w.reshape(-1, d)
            gradient = np.concatenate([varpro.pull_back(X, P, w, R).ravel(), (Z.T @ R).ravel()])
            return 0.5 * float(np.vdot(R, R)) / power, -gradient / power

        ends: list[tuple[float, int, Array]] = []
        phases = []
        for start in range(self.starts):
            v = np.stack([random_theta(rng, self.heads, d), rng.normal(size=shape[1:]) / np.sqrt(d)]).ravel()
            v, steps = self._descend(loss, v)
            residual = float(np.sqrt(2 * loss(v)[0]))
            ends.append((residual, steps, v.reshape(shape)))
            verdict = "ok" if residual < self.exact else "failed"
            phases.append(Phase(f"start {start}", verdict, "", {"residual": residual, "steps": steps}))
            if residual < self.exact:
                break
        _, steps, best = min(ends, key=lambda end: end[0])
        exhausted = steps >= self.iterations
        return SearchResult(MultiHeadAttention(*best), tuple(phases), exhausted=exhausted)


@dataclass(eq=False, repr=False)
class JointLBFGS(_Joint):
    """L-BFGS on Θ and W together (scipy): what most people try first; for random layers, from a hundred examples.

    It begins anew up to `starts` times.

    >>> rng = np.random.default_rng(0)
    >>> layer = MultiHeadAttention(rng.normal(size=(1, 4, 4)) / 3, rng.normal(size=(1, 4, 4)))
    >>> X = rng.choice([-1.0, 1.0], size=(200, 2, 4))
    >>> JointLBFGS(heads=1, random_state=0).fit(X, layer(X)).report_.status
    'solved'
    """

    exact = 1e-8

    heads: int = 2
    starts: int = 8
    iterations: int = 5000
    random_state: int | None = None

    def _descend(self, loss: Loss, v: Array) -> tuple[Array, int]:
        from scipy.optimize import minimize

        seen: list[float] = []

        def near(intermediate_result: Any) -> None:  # scipy looks at this parameter's name
            seen.append(intermediate_result.fun)
            stuck = len(seen) > 200 and seen[-1] > 0.95 * seen[-200]
            if stuck or seen[-1] < 0.5e-20:
                raise StopIteration

        options: Any = {
            "maxiter": self.iterations,
            "maxfun": 2 * self.iterations,
            "ftol": 0,
            "gtol": 1e-14,
            "maxcor": 30,
        }
        end: Any = minimize(loss, v, jac=True, method="L-BFGS-B", callback=near, options=options)
        return end.x, int(end.nit)


@dataclass(eq=False, repr=False)
class Adam(_Joint):
    """Full-batch Adam on Θ and W with a cosine schedule: random layers, from a hundred examples."""

    exact = 1e-6

    heads: int = 2
    starts: int = 1
    iterations: int = 3000
    rate: float = 0.03
    random_state: int | None = None

    def _descend(self, loss: Loss, v: Array) -> tuple[Array, int]:
        steps = adam.Adam([v])
        for step in range(self.iterations):
            steps.step([loss(v)[1]], self.rate * 0.5 * (1 + np.cos(np.pi * step / self.iterations)))
        return v, self.iterations
