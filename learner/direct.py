"""The learners a user would pick: variable projection, joint L-BFGS, and Adam, all on (Θ, W).

None has a theorem. They are the honest control beside the provable learner: on random layers they need a
hundredth of its examples.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hardness.layer import MultiHeadAttention
from learner import adam, varpro
from learner.attempt import EXACT, attempt, examples_wanted, random_theta, relative_residual
from learner.base import Array, Learner, Phase, Ranges, SearchResult, counting_floor, gradient_work

# Half the relative squared error at (Θ, W), flat, and its gradient
Loss = Callable[[Array], tuple[float, Array]]
SOLVED = 1e-8  # relative residual on many examples
HOPELESS = 0.7  # residual of every one of four descents, if no layer explains even half of the labels' power


@dataclass(eq=False, repr=False)
class Direct(Learner):
    """Variable projection from random starts: random layers, from a hundred examples.

    A start is L-BFGS on Θ, then Levenberg–Marquardt (`learner.varpro`). The first has `heads` heads, later ones `spare`
    more, which are removed again as far as the labels allow; `report_.heads` says how many were needed. A start sees
    8·heads·dim examples, or more where one Θ needs more (`counting_floor`), and twice as many after a start that fitted
    its examples but not the others. There are at most `starts`, and a search has at most `iterations` steps.
    """

    ranges = (("heads", 1), ("spare", 0), ("starts", 1), ("iterations", 0))

    heads: int = 2
    spare: int = 2
    starts: int = 8
    iterations: int = 400

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return roughly the multiply-adds if all starts fail, each of 1.1 · `iterations` gradients and fits of W."""
        total, rows = 0.0, examples_wanted(self.heads, tokens, dim)
        for start in range(self.starts):
            heads, n = self.heads + (self.spare if start else 0), min(examples, rows << (start // 2))
            q = (heads + 1) * dim
            fit = n * tokens * (q**2 / 2 + 4 * q * dim) + q**3 / 6
            total += 1.1 * self.iterations * (n * gradient_work(heads, tokens, dim) + fit)
        return total

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        n, k, d = X.shape
        # With more unknowns than equations any labels would do.
        possible = (s for s in range(1, self.spare + 1) if 1.2 * counting_floor(self.heads + s, k, d) <= n)
        spare, rows = max(possible, default=0), examples_wanted(self.heads, k, d)
        tries, errors = [], list[float]()
        for start in range(self.starts):
            theta = random_theta(rng, self.heads + (spare if start else 0), d)
            tries.append(attempt(X[:rows], Y[:rows], theta, heads=self.heads, iterations=self.iterations))
            # On every example it has: an interpolation of a few is no solution yet.
            errors.append(relative_residual(X[:4000], Y[:4000], tries[-1].theta, tries[-1].w))
            if errors[-1] < SOLVED or (len(tries) >= 4 and min(each.descent for each in tries) > HOPELESS):
                break
            if tries[-1].residual < EXACT or start % 2 == 1:
                rows *= 2
        best = tries[int(np.argmin(errors))]
        phases = tuple(
            _start(i, each.residual, EXACT, heads=len(each.theta), evaluations=each.evaluations)
            for i, each in enumerate(tries)
        )
        return SearchResult(
            MultiHeadAttention(best.theta, best.w),
            phases,
            exhausted=all(each.exhausted for each in tries),
            heads=len(best.theta) if min(errors) < SOLVED else None,
        )


def _start(number: int, residual: float, exact: float, **numbers: int) -> Phase:
    verdict = "ok" if residual < exact else "failed"
    return Phase(f"start {number}", verdict, diagnostics={"residual": residual, **numbers})


class _Joint(Learner):
    """Searches Θ and W together, from up to `starts` random starts of at most `iterations` steps."""

    exact: ClassVar[float]  # relative training residual that ends the search
    ranges: ClassVar[Ranges] = (("heads", 1), ("starts", 1), ("iterations", 1))
    starts: int
    iterations: int

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return the multiply-adds of the longest search: `starts` starts of `iterations` gradients on all examples."""
        return self.starts * self.iterations * examples * gradient_work(self.heads, tokens, dim)

    @abstractmethod
    def _descend(self, loss: Loss, v: Array) -> tuple[Array, int]:
        """Return where descent of `loss` from v (2·m·d²,), Θ and W flattened, ends, and the number of steps it took."""

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
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
        for _ in range(self.starts):
            v = np.stack([random_theta(rng, self.heads, d), rng.normal(size=shape[1:]) / np.sqrt(d)]).ravel()
            v, steps = self._descend(loss, v)
            ends.append((float(np.sqrt(2 * loss(v)[0])), steps, v))
            if ends[-1][0] < self.exact:
                break
        _, steps, best = min(ends, key=lambda end: end[0])
        phases = (_start(i, end[0], self.exact, steps=end[1]) for i, end in enumerate(ends))
        layer = MultiHeadAttention(*best.reshape(shape))
        return SearchResult(layer, tuple(phases), exhausted=steps >= self.iterations)


@dataclass(eq=False, repr=False)
class JointLBFGS(_Joint):
    """L-BFGS on Θ and W together (scipy): what most people try first; for random layers, from a hundred examples.

    It begins anew up to `starts` times.
    """

    exact = 1e-8

    heads: int = 2
    starts: int = 8
    iterations: int = 5000

    def _descend(self, loss: Loss, v: Array) -> tuple[Array, int]:
        from scipy.optimize import minimize

        seen: list[float] = []

        def near(intermediate_result: Any) -> None:  # scipy looks at this parameter's name
            seen.append(intermediate_result.fun)
            stuck = len(seen) > 200 and seen[-1] > 0.95 * seen[-200]
            if stuck or seen[-1] < 0.5e-20:
                raise StopIteration

        most = {"maxiter": self.iterations, "maxfun": 2 * self.iterations}
        options: Any = {**most, "ftol": 0, "gtol": 1e-14, "maxcor": 30}
        end: Any = minimize(loss, v, jac=True, method="L-BFGS-B", callback=near, options=options)
        return end.x, int(end.nit)


@dataclass(eq=False, repr=False)
class Adam(_Joint):
    """Full-batch Adam on Θ and W with a cosine schedule: random layers, from a hundred examples."""

    exact = 1e-6
    ranges = (*_Joint.ranges, ("rate", "(0, inf)"))

    heads: int = 2
    starts: int = 1
    iterations: int = 3000
    rate: float = 0.03

    def _descend(self, loss: Loss, v: Array) -> tuple[Array, int]:
        steps = adam.Adam([v])
        for step in range(self.iterations):
            steps.step([loss(v)[1]], self.rate * 0.5 * (1 + np.cos(np.pi * step / self.iterations)))
        return v, self.iterations
