"""What a test's `digest` is on a processor with vectors of half the width, whose tiles are smaller."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite.binding import get_host_cpu_features

wide = pytest.mark.skipif(
    not get_host_cpu_features().get("avx512f"), reason="the processor has the smaller tiles only"
)


def digest_at_half_width(test: Path, cache: Path) -> str:
    """`digest()` of the module of a test, in a process that compiles for such a processor, into a cache of its own."""
    code = (
        "import llvmlite.binding as b; whole = b.get_host_cpu_features;"
        "b.get_host_cpu_features = lambda: {**whole(), 'avx512f': False};"
        f"from hardness.kernels import tile; from {test.stem} import digest;"
        "assert tile.SIDE == 2; print(digest())"
    )
    half = {
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "+avx2,+fma,+avx",
        "NUMBA_CACHE_DIR": str(cache),
    }
    half["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    completed = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | half,
        cwd=test.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    return completed.stdout.strip()
