"""What numba compiles and no formula of the theory needs by name: bits, transforms, dense tiles, pieces of LLVM."""

import os

from hardness.errors import InputError

if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
    # Arithmetic of numpy's scalars overflows and rounds otherwise: labels and games would be others.
    raise InputError("NUMBA_DISABLE_JIT is set, and without the compiler the lab's bytes differ; unset it")
