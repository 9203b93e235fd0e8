"""Attacks and learners of the registry as online learners, so that all meet the lab in a process apart."""

from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.engine.outcome import Ended
from hardness.errors import InputError
from hardness.evaluation.learning import make

# What an attack needed, and what it foresaw, as far as it says: figures of its `Outcome.detail`.
WORK = ("predicted_seconds", "forecast_seconds", "log2_expected_tries", "tries", "trials", "rounds", "steps",
        "log2_rows", "block_size", "log2_nodes", "halves", "method")  # fmt: skip


class Attacker:
    """An attack as a learner: examples in, predictions of the secret it names out. It sees `public` and no more.

    `work_` says what it needed: processor seconds, examples, tries, steps, block size, nodes, as far as it has them.
    """

    def __init__(self, attack: str, public: dict[str, Any], budget: int, random_state: int) -> None:
        self.attack, self.public, self.budget, self.seed = attack, public, budget, random_state

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> "Attacker":
        """Attack the examples X, Y (n, 2, d). Raises `Ended` unless it is solved."""
        begin = process_time()
        try:
            outcome = registry.get("attack", self.attack)(X, Y, self.public, budget=self.budget, seed=self.seed)
        except InputError as error:
            raise Ended("refused", str(error)) from error
        known = {name: outcome.detail[name] for name in WORK if name in outcome.detail}
        self.work_ = known | {"seconds": round(process_time() - begin, 3), "examples": outcome.samples_used}
        if outcome.secret is None:
            raise Ended(outcome.status, str(outcome.detail.get("reason", "")), self.work_)
        self.secret = outcome.secret
        return self

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Noiseless labels (n, 2, d) under the secret found."""
        from hardness.attacks.equations import labels

        return labels(self.secret, self.public, X)


class Fitter:
    """A learner of the registry that fits once, told the heads, as an online learner that is shown one batch."""

    def __init__(self, learner: str, heads: int, options: dict[str, Any], random_state: int) -> None:
        self.inner = make(registry.get("learner", learner), heads, random_state % 2**32)
        if options:
            self.inner.set_params(**options)

    def partial_fit(self, X: NDArray[np.int8], Y: NDArray[np.float64]) -> "Fitter":
        """Fit X, Y (n, k, d). Raises `Ended` if the learner's own report says that it refused."""
        fit = self.inner.fit if hasattr(self.inner, "fit") else self.inner.partial_fit
        try:
            fit(X, Y)
        except InputError as error:
            raise Ended("refused", str(error)) from error
        report = getattr(self.inner, "report_", None)
        if getattr(report, "status", None) == "refused":
            raise Ended("refused", str(getattr(report, "reason", "")))
        return self

    def predict(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Its predictions (n, k, d)."""
        return np.asarray(self.inner.predict(X), dtype=np.float64)
