"""One thread of linear algebra a process: pytest-xdist is the parallelism, and small products lose by threads."""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before anything imports numpy
