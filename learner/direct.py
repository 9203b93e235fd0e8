"""The learners a user would pick: variable projection, joint L-BFGS, and Adam, all on (Θ, W).

None has a theorem. They are the honest control beside the provable learner: on random layers they need a
hundredth of its examples.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from learner import varpro
from learner.attempt import EXACT, Attempt, attempt, leaves_noise, random_theta, relative_residual
from learner.attempt import examples_wanted as examples_wanted
from learner.base import Learner, Outcome, Phase, at_least, gradient_work
from learner.last_fit import counting_floor

Array = NDArray[np.float64]


class Direct(Learner):
    """Variable projection from random starts: anchored L-BFGS, then Levenberg–Marquardt (`learner.varpro`).

    The first start uses the heads it was told, later ones `spare` more, pruned back as far as the labels allow;
    `report_.heads` says how many were needed. A start sees `oversampling`·heads·dim examples, more where a single
    Θ asks for more (`counting_floor`), twice as many after an interpolation that does not generalise. A start that
    leaves what looks like noise is the last: then all examples are fitted. Raises `InputError` for starts < 1.

    >>> rng = np.random.default_rng(0)
    >>> layer = MultiHeadAttention(rng.normal(size=(2, 8, 8)) / 6, rng.normal(size=(2, 8, 8)))
    >>> X = rng.choice([-1.0, 1.0], size=(400, 2, 8))
    >>> Direct(heads=2, random_state=0).fit(X, layer(X)).report_.status
    'solved'
    """

    def __init__(
        self,
        heads: int = 2,
        spare: int = 2,
        starts: int = 8,
        iterations: int = 400,
        oversampling: float = 8.0,
        random_state: int | None = None,
    ) -> None:
        super().__init__(heads, random_state)
        self.spare = spare
        self.starts = starts
        self.iterations = iterations
        self.oversampling = oversampling

    def _settles(self) -> bool:
        return True

    def gradient_examples(self, examples: int, tokens: int, dim: int) -> float:
        """What a search of that many steps (`multiply_adds`) reads, an example once a step.

        >>> round(Direct(heads=2, starts=1).gradient_examples(100, 2, 12))
        44000
        """
        rows = examples_wanted(self.heads, tokens, dim, self.oversampling)
        return 1.1 * self.iterations * sum(min(examples, rows << (start // 2)) for start in range(self.starts))

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """About what a search costs in which no start finds anything: in each, `iterations` and a tenth more.

        An evaluation is a gradient of the layer and a least-squares fit of its projections, by normal equations.

        >>> round(Direct(heads=2, starts=1).multiply_adds(1000, 2, 12) / 1e9, 2)
        1.12
        """
        total, rows = 0.0, examples_wanted(self.heads, tokens, dim, self.oversampling)
        for start in range(self.starts):
            used, heads = min(examples, rows), self.heads + (self.spare if start else 0)
            q = (heads + 1) * dim
            fit = used * tokens * (q**2 / 2 + 4 * q * dim) + q**3 / 6
            total += 1.1 * self.iterations * (used * gradient_work(heads, tokens, dim) + fit)
            rows *= 2 if start % 2 else 1
        return total

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> Outcome:
        at_least("starts", self.starts, 1)
        at_least("spare", self.spare, 0)
        n, k, d = X.shape
        rows = examples_wanted(self.heads, k, d, self.oversampling)
        # More unknowns than equations: any labels would do.
        spare = max(s for s in range(self.spare + 1) if s == 0 or 1.2 * counting_floor(self.heads + s, k, d) <= n)
        tries: list[Attempt] = []
        best, best_error = None, np.inf
        for start in range(self.starts):
            heads = self.heads + (spare if start else 0)
            used = slice(0, min(n, rows))
            found = attempt(X[used], Y[used], random_theta(rng, heads, d), heads=self.heads, iterations=self.iterations)
            tries.append(found)
            # On every example it has: an interpolation of a few is no solution yet.
            error = relative_residual(X[:4000], Y[:4000], found.theta, found.w)
            if error < best_error:
                best, best_error = found, error
            if error < 1e-8 or self._hopeless(tries) or leaves_noise(X, Y, found.theta, rng):
                break
            if found.residual < EXACT or start % 2 == 1:
                rows *= 2
        assert best is not None
        needed = len(best.theta) if best_error < 1e-8 else None
        phases = [attempt.phase(i) for i, attempt in enumerate(tries)]
        if needed and needed != self.heads:
            told = f"{needed} heads {'were needed' if needed > self.heads else 'suffice'}, {self.heads} were told"
            phases.append(Phase("prune", "weak", told, {"heads": needed, "told": self.heads}))
        return Outcome(
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

    @staticmethod
    def _hopeless(tries: list[Attempt]) -> bool:
        """Four starts, spare heads included, and none explains even half of the labels' power: there is no layer."""
        return len(tries) >= 4 and min(t.descent for t in tries) > 0.7


class JointLBFGS(Learner):
    """L-BFGS on Θ and W together (scipy), from up to `starts` random starts: what most people would try first.

    >>> rng = np.random.default_rng(0)
    >>> layer = MultiHeadAttention(rng.normal(size=(1, 4, 4)) / 3, rng.normal(size=(1, 4, 4)))
    >>> X = rng.choice([-1.0, 1.0], size=(200, 2, 4))
    >>> JointLBFGS(heads=1, random_state=0).fit(X, layer(X)).report_.status
    'solved'
    """

    def __init__(
        self,
        heads: int = 2,
        starts: int = 8,
        iterations: int = 5000,
        tolerance: float = 1e-10,
        random_state: int | None = None,
    ) -> None:
        super().__init__(heads, random_state)
        self.starts = starts
        self.iterations = iterations
        self.tolerance = tolerance

    def _settles(self) -> bool:
        return True

    def gradient_examples(self, examples: int, tokens: int, dim: int) -> float:
        """Examples in `starts` times `iterations` gradients."""
        return float(self.starts * self.iterations * examples)

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """What `starts` times `iterations` evaluations cost.

        >>> JointLBFGS(heads=1, starts=1, iterations=100).multiply_adds(1, 2, 10)
        144000.0
        """
        return self.starts * self.iterations * examples * gradient_work(self.heads, tokens, dim)

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> Outcome:
        from scipy.optimize import minimize

        at_least("starts", self.starts, 1)

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

        def near(intermediate_result: Any) -> None:  # scipy looks at this parameter's name
            seen.append(intermediate_result.fun)
            stuck = len(seen) > 200 and seen[-1] > 0.95 * seen[-200]
            if stuck or seen[-1] < 0.5 * self.tolerance**2:
                raise StopIteration

        options: Any = {
            "maxiter": self.iterations,
            "maxfun": 2 * self.iterations,
            "ftol": 0,
            "gtol": 1e-14,
            "maxcor": 30,
        }
        best: Any = None
        phases = []
        for start in range(self.starts):
            seen: list[float] = []
            v = np.stack([random_theta(rng, self.heads, d), rng.normal(size=shape[1:]) / np.sqrt(d)]).ravel()
            found: Any = minimize(loss, v, jac=True, method="L-BFGS-B", callback=near, options=options)
            residual = float(np.sqrt(2 * found.fun))
            verdict = "ok" if residual < 1e-8 else "failed"
            phases.append(Phase(f"start {start}", verdict, "", {"residual": residual, "evaluations": int(found.nfev)}))
            if best is None or found.fun < best.fun:
                best = found
            if residual < 1e-8 or leaves_noise(X, Y, found.x.reshape(shape)[0], rng):
                break
        exhausted = bool(best.nit >= self.iterations)
        return Outcome(MultiHeadAttention(*best.x.reshape(shape)), tuple(phases), exhausted=exhausted)


class Adam(Learner):
    """Full-batch Adam on Θ and W with a cosine schedule; needs the extra `torch`, else raises `InputError`."""

    def __init__(
        self,
        heads: int = 2,
        starts: int = 1,
        iterations: int = 3000,
        rate: float = 0.03,
        random_state: int | None = None,
    ) -> None:
        super().__init__(heads, random_state)
        self.starts = starts
        self.iterations = iterations
        self.rate = rate

    def gradient_examples(self, examples: int, tokens: int, dim: int) -> float:
        """Examples in `starts` times `iterations` gradients."""
        return float(self.starts * self.iterations * examples)

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """What `starts` times `iterations` gradients cost.

        >>> Adam(heads=1, iterations=100).multiply_adds(1, 2, 10)
        144000.0
        """
        return self.starts * self.iterations * examples * gradient_work(self.heads, tokens, dim)

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> Outcome:
        try:
            import torch
        except ImportError:
            from hardness.errors import missing_extra

            raise missing_extra("torch", "torch", "the learner 'adam'") from None

        at_least("starts", self.starts, 1)
        at_least("iterations", self.iterations, 1)
        d = X.shape[2]
        x, y = torch.from_numpy(X), torch.from_numpy(Y)
        power = float((y * y).sum()) or 1.0
        best, best_residual, phases = None, np.inf, []
        for start in range(self.starts):
            v = np.stack([random_theta(rng, self.heads, d), rng.normal(size=(self.heads, d, d)) / np.sqrt(d)])
            variables = torch.from_numpy(v).requires_grad_()
            optimiser = torch.optim.Adam([variables], lr=self.rate)
            schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, self.iterations)
            residual = np.inf
            for _ in range(self.iterations):
                optimiser.zero_grad()
                theta, w = variables
                scores = torch.einsum("naj,mjl,nbl->mnab", x, theta, x)
                output = torch.einsum("mnab,nbj,mjc->nac", scores.softmax(-1), x, w)
                loss = ((output - y) ** 2).sum() / power
                torch.autograd.backward(loss)
                optimiser.step()
                schedule.step()
                residual = loss.item() ** 0.5
            phases.append(Phase(f"start {start}", "ok" if residual < 1e-6 else "failed", "", {"residual": residual}))
            if residual < best_residual:
                best, best_residual = variables.detach().numpy(), residual
        assert best is not None
        return Outcome(MultiHeadAttention(*best), tuple(phases), exhausted=best_residual > 1e-6)
