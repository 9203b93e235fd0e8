"""Where rows come from: package, commit, libraries, machine, root seed."""

import platform
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any


@cache
def provenance(root: int) -> Mapping[str, Any]:
    """What is noted with every row, by name; `root` is the root seed."""
    import numpy as np

    build: Any = np.show_config("dicts")
    blas = build["Build Dependencies"]["blas"]
    return {
        "package": version("attention-hardness"),
        "commit": _commit(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip(),
        "cpu": cpu(),
        "system": f"{platform.system()} {platform.machine()}",
        "seed": str(root),  # text: it may have 128 bits
    }


def _commit() -> str | None:
    """The commit of the source tree this package runs from, with + if it was changed; None outside of one."""
    tree = Path(__file__).parents[2]
    if not (tree / ".git").exists():
        return None
    try:
        git = ["git", "-C", str(tree)]
        commit = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run([*git, "status", "--porcelain", "hardness", "learner"], capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.stdout.strip() + ("+" if changed.stdout else "")


def cpu() -> str:
    """The processor by name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")
