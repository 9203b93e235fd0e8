"""CPU time to a relative error of 1e-9 on fresh random layers: direct, joint L-BFGS, Adam (if torch is there).

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/bench_direct.py [instances]

Every learner gets the same examples of the same layer, tau = 2. L-BFGS restarts until it succeeds (at most 8 starts);
a second line gives it only as many examples as `direct` looks at. Adam makes 3000 full-batch steps, on one instance.
Times are of the process, mean over instances; failures are counted beside.
"""

import sys
import time

import numpy as np
from numpy.typing import NDArray

from hardness.layer import MultiHeadAttention
from learner.base import Learner, judge
from learner.direct import Adam, Direct, JointLBFGS

CELLS = [(2, 2, 8), (4, 2, 8), (4, 3, 8), (8, 2, 8), (4, 2, 16)]
COUNT, TARGET = 1500, 1e-9
Array = NDArray[np.float64]


def main(instances: int) -> None:
    print(f"{'m k d':10} {'learner':16} {'cpu s':>8} {'<= 1e-9':>8} {'worst':>9}")
    for m, k, d in CELLS:
        few = int(8 * m * d / 0.9) + 1
        runs: dict[str, tuple[Learner, int]] = {
            "direct": (Direct(heads=m), COUNT),
            "lbfgs": (JointLBFGS(heads=m), COUNT),
            "lbfgs, few rows": (JointLBFGS(heads=m), few),
        }
        if has_torch():
            runs["adam"] = (Adam(heads=m), COUNT)
        for name, (learner, count) in runs.items():
            results = [trial(learner, m, k, d, count, seed) for seed in range(1 if name == "adam" else instances)]
            seconds, errors = np.array(results).T
            solved = f"{(errors <= TARGET).sum()}/{len(errors)}"
            print(f"{f'{m} {k} {d}':10} {name:16} {seconds.mean():8.3f} {solved:>8} {errors.max():9.1e}", flush=True)


def trial(learner: Learner, m: int, k: int, d: int, count: int, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng([seed, m, k, d])
    layer = MultiHeadAttention(rng.normal(0, 2**0.5 / d, (m, d, d)), rng.normal(0, d**-0.5, (m, d, d)))
    X, fresh = (rng.choice([-1.0, 1.0], size=(size, k, d)) for size in (count, 2000))
    Y = layer(X)
    started = time.process_time()
    learner.set_params(random_state=seed).fit(X, Y)
    seconds = time.process_time() - started
    return seconds, judge(learner.predict(fresh), layer(fresh))["relative_error"]


def has_torch() -> bool:
    try:
        import torch
    except ImportError:
        return False
    torch.set_num_threads(1)
    return True


if __name__ == "__main__":
    Direct(heads=1).fit(*[np.ones((200, 2, 4))] * 2)  # imports
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
