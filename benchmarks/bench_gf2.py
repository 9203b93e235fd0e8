"""GF(2) elimination: this lab's kernel, galois and python-flint on the same matrices, in one run.

Run: python benchmarks/bench_gf2.py [--dims 64,256,512,1024,2048]
Each time is the best of a few repeats of the whole call on an (n + 10, n + 1) matrix of bytes, n = d - 1: packing
included for the kernel, conversion from Python lists left out for python-flint. The results are compared.
"""

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

import flint
import galois
import numpy as np

from hardness.attacks.gaussian import row_reduce


def best(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    times, result = [], None
    for _ in range(repeats):
        start = perf_counter()
        result = call()
        times.append(perf_counter() - start)
    return min(times), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dims", default="64,256,512,1024,2048")
    field = galois.GF(2)
    field([[1, 0], [1, 1]]).row_reduce()  # compilation and caches
    row_reduce(np.eye(3, dtype=np.uint8))
    print(f"{'d':>5} {'kernel ms':>10} {'galois ms':>10} {'ratio':>7} {'flint ms':>10} {'ratio':>7}  same result")
    for d in map(int, parser.parse_args().dims.split(",")):
        A = np.random.default_rng(d).integers(0, 2, (d + 9, d), dtype=np.uint8)
        ours, (reduced, _) = best(lambda A=A: row_reduce(A), 9)
        theirs, expected = best(field(A).row_reduce, 1 if d > 512 else 3)
        matrix = flint.nmod_mat(*A.shape, A.ravel().tolist(), 2)
        flints, (rref, _) = best(matrix.rref, 1 if d > 512 else 3)
        same = bool((np.asarray(expected) == reduced).all())
        same &= bool((np.array([int(x) for x in rref.entries()]).reshape(A.shape) == reduced).all())
        print(
            f"{d:>5} {ours * 1e3:>10.3f} {theirs * 1e3:>10.1f} {theirs / ours:>6.0f}x {flints * 1e3:>10.2f} "
            f"{flints / ours:>6.1f}x  {same}",
            flush=True,
        )


if __name__ == "__main__":
    main()
