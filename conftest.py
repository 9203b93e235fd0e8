"""Settings of every test run: one thread of linear algebra a process, and no wall-clock in property tests."""

import gc
import os
from importlib.util import find_spec

from hypothesis import settings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    # pytest-xdist is the parallelism, and small products lose by threads. Before anything imports numpy.
    os.environ.setdefault(name, "1")

settings.register_profile("lab", deadline=None)
# Continuous integration tries the same examples every time; at home each run tries new ones.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=5000)  # `make fuzz`
settings.load_profile("ci" if os.environ.get("CI") else "lab")

collect_ignore_glob = [] if find_spec("mkdocs") else ["docs/making/*"]  # made with the extra docs

# Collecting the tests makes a million objects, and none of them is garbage: nobody looks for some among them.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(200_000)
    gc.enable()
