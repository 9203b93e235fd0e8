"""From examples (X, Y) and their public parameters to equations."""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from hardness import families, registry
from hardness.attacks import Attack, Progress, Public, Recovery
from hardness.errors import InputError
from hardness.families.linear import Equations as Equations
from hardness.families.linear import Hidden


def hidden(public: Public) -> Hidden:
    """Return the hidden equation that `public` states. Raises `InputError` for a family that hides no linear equations.

    A class that a file names but nobody registered is not looked up: that would import what the file says.
    """
    name = public.get("family")
    registered = isinstance(name, str) and name in registry.points("family")
    linear = families.get(str(name)).linear if registered else None
    if linear is None:
        raise InputError(
            f"family '{name}' has no hidden linear equations; attacks need parity or rounding examples"
        )
    return linear.of(public)


def extract(X: NDArray[np.int8], Y: NDArray[np.float64], public: Public) -> Equations:
    """Return the linear equations that examples X, Y (N, 2, d) show. Raises `InputError` if none or X, Y do not fit."""
    return hidden(public).equations(X, Y)


def quiet(line: str) -> None:
    """Drop a line of progress, for attacks whose caller wants none."""


def on_equations(solve: Callable[[Equations, int | None, int, Progress], Recovery]) -> Attack:
    """Return an attack on examples that runs `solve(equations, budget, seed, progress)` and measures its time."""

    def attack(
        X: NDArray[np.int8],
        Y: NDArray[np.float64],
        public: Public,
        *,
        budget: int | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Recovery:
        start = perf_counter()
        recovery = solve(hidden(public).equations(X, Y), budget, seed, progress or quiet)
        return replace(recovery, seconds=perf_counter() - start)

    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(attack, name, getattr(solve, name))
    return attack
