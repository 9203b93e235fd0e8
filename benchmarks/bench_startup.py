"""What a user waits for before anything is computed: imports, help, the first call of a compiled kernel, in processor
time of user and system: waits, as for a disk or for other processes, are not counted, and two threads count twice.

The first three rows are medians of nine starts. A first call is one run in a new process, whose folder of compiled code
is empty: it includes compilation by LLVM, once an installation, and a row gives the time in the next process, which
reads the compiled code, where that was stored. Packed examples are signs drawn as bits of 64-bit words; levels are the
whole numbers of which a label is a function. Nothing here is timed beside a peer or a yardstick.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from benchmarks.harness import Row

TOPIC = "7 Import and command line"
RUN = [sys.executable, "-c", "from hardness.cli import main; main()"]
COMMANDS = {  # and the seconds each may take
    "hardness --help": ([*RUN, "--help"], 0.3),
    "hardness generate parity --help": ([*RUN, "generate", "parity", "--help"], 0.5),
    "import hardness": ([sys.executable, "-c", "import hardness"], 0.3),
}
FIRST = {  # what runs before the clock, and the call that is timed
    "packed examples": (
        "import numba; from hardness.tokens import TokenStream as T",
        "T(0, 2, 32).packed(0, 9)",
    ),
    "levels": (
        "import numba; from hardness.families.parity import Parity; from hardness.instance import Instance;"
        "from hardness.tokens import TokenStream as T;"
        "t, w = Instance.generate(Parity(9, 3), 0).teacher, T(0, 2, 9).packed(0, 9)",
        "t.levels(w)",
    ),
    "dense forward": (
        "import numpy as np; from hardness.layer import MultiHeadAttention as M; layer = M(*np.ones((2, 1, 3, 3)))",
        "layer(np.ones((2, 2, 3)))",
    ),
    "walsh-hadamard": (
        "import numpy as np; from hardness.kernels.walsh import walsh_hadamard; f = np.ones(64)",
        "walsh_hadamard(f)",
    ),
    "gf(2) elimination": (
        "import numpy as np; from hardness.kernels.gf2 import rref2; from hardness.tokens import pack_bits; "
        "w = pack_bits(np.eye(9) > 0)",
        "rref2(w, 9)",
    ),
}
FRAME = "from time import process_time as clock\n{}\nstart = clock()\n{}\nprint(clock() - start)"


def rows() -> Iterator[Row]:
    for name, (command, limit) in COMMANDS.items():
        seconds = sorted(_spent(command) for _ in range(9))[4]
        yield Row(TOPIC, name, 1, "start", seconds, note="median of nine").judged(
            {f"<= {limit} s": seconds <= limit}
        )
    for name, (before, call) in FIRST.items():
        with TemporaryDirectory() as cache:
            first, second = (_first_call(before, call, cache) for _ in range(2))
        measured = Row(
            TOPIC, f"first call: {name}", 1, "call", first, note=f"{second:.2g} s in the next process"
        )
        yield measured.judged(
            {"first call <= 2 s": first <= 2},
            miss=f"{second:.2g} s in the next process; the first compiles by LLVM, once an installation",
        )


def _spent(command: list[str]) -> float:
    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    start = spent()
    subprocess.run(command, check=True, capture_output=True)
    return spent() - start


def _first_call(before: str, call: str, cache: str) -> float:
    """Seconds of `call` in a process of its own whose compiled code lives in the folder `cache`."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", FRAME.format(before, call)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
