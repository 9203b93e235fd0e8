"""Gradient coordinates of random students, each a query (theory 3.3)."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator as Random
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.sq.queries import Table
from hardness.sq.strategies.base import Masks, Steps, until_idle


def gradient(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Gradient coordinates of random students on y, each a query: an MLP neuron and an attention head in turn."""
    return _coordinates(concepts, live, rng, (_neuron, _head))


def mlp_gradient(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Gradient coordinates of random MLP neurons max(0, <a, v> + b): d/da_j = v_j 1{<a, v> + b > 0}."""
    return _coordinates(concepts, live, rng, (_neuron,))


def attention_gradient(concepts: ParityConcepts, live: Masks, tolerance: float, rng: Random) -> Steps:
    """Gradient coordinates of random attention heads sigma(<w, u> - b): d/dw_j = u_j sigma', scaled to reach 1."""
    return _coordinates(concepts, live, rng, (_head,))


Student = Callable[[NDArray[np.float64], Random], tuple[NDArray[np.float64], NDArray[np.float64]]]


def _coordinates(concepts: ParityConcepts, live: Masks, rng: Random, students: tuple[Student, ...]) -> Steps:
    """Every coordinate of the gradient of one random student after the other: tables on the whole cube, n <= 20."""
    if concepts.n > 20:
        raise InputError(f"gradient queries are tables of 2^n values; n={concepts.n} > 20: lower --dim")
    v = np.where(np.arange(1 << concepts.n) >> np.arange(concepts.n)[:, None] & 1, -1.0, 1.0)

    def gradient(live: Masks, idle: int) -> list[Table]:
        drawn = [student(v, rng) for student in students]
        return [Table(inputs[j] * slope) for j in range(concepts.n) for inputs, slope in drawn]

    return until_idle(live, gradient, most=100)


def _neuron(v: NDArray[np.float64], rng: Random) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Inputs (n, 2^n) and slope (2^n,) of a neuron: its gradient is their product."""
    a, b = rng.standard_normal(len(v)), rng.standard_normal()
    return v, (a @ v + b > 0).astype(float)


def _head(v: NDArray[np.float64], rng: Random) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same of an attention head, whose inputs are the bits u."""
    w, b = 4 * rng.standard_normal(len(v)), rng.standard_normal()
    return (1 - v) / 2, 1 / np.cosh((b - w @ v / 2) / 2) ** 2
