"""How the student's step sizes were chosen: on hidden parities of two, and nowhere else. `python -m learner.tuning`.

For each optimizer and rate, the median over runs of the examples until 90 % of the variance of a parity of m = 2 is
explained on fresh examples, at every dimension. The default is the rate with the least median at the largest dimension
that some rate solves within the cap: Adam at 1e-2 is faster where it works, and does not from d = 24 on. It is frozen
for all other m and families.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from hardness.families.parity import Parity
from hardness.instance import Instance
from learner.student import EXPLAINED, Student

RATES = {"adam": (3e-4, 1e-3, 3e-3, 1e-2, 3e-2), "sgd": (0.01, 0.03, 0.1, 0.3, 1.0)}
DIMS, RUNS, CAP, PORTION = (8, 16, 32), 3, 3_000_000, 4096


def cost(dim: int, optimizer: str, rate: float, seed: int, cap: int = CAP) -> float:
    """Examples of one run until the student explains `EXPLAINED` of a parity of two in dimension `dim`; inf: never."""
    instance = Instance.generate(Parity(dim, 2), seed)
    student = Student(optimizer=optimizer, rate=rate, random_state=seed)
    for start in range(0, cap, PORTION):
        part = instance.examples(PORTION, seed + 1000, start)
        student.partial_fit(part.X, part.Y)
        found = next((n for n, share in student.curve_ if share >= EXPLAINED), None)
        if found:
            return float(found)
        if student.layer_ is None:  # its weights are no longer finite
            break
    return np.inf


def tune(dims: Sequence[int] = DIMS, runs: int = RUNS, cap: int = CAP) -> Iterator[tuple[str, float, list[float]]]:
    """Optimizer, rate, and the median cost at each dimension."""
    for optimizer, rates in RATES.items():
        for rate in rates:
            yield optimizer, rate, [_median([cost(d, optimizer, rate, s, cap) for s in range(runs)]) for d in dims]


def _median(costs: Sequence[float]) -> float:
    return sorted(costs)[len(costs) // 2]


if __name__ == "__main__":
    print("optimizer  rate    ", *(f"d = {dim:<8}" for dim in DIMS))
    for optimizer, rate, medians in tune():
        print(f"{optimizer:10} {rate:<8g}", *(f"{median:<12,.0f}" for median in medians), flush=True)
