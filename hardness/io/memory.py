"""What fits into the machine."""

import os
from contextlib import suppress
from math import inf
from pathlib import Path

from hardness.errors import InputError


def require_memory(needed: float, what: str, hint: str = "lower --dim or --heads") -> None:
    """Refuse what would need more bytes of memory than are free.

    >>> require_memory(2.0**80, "a table of all sets")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: a table of all sets needs about 1125899906842624.0 GiB, ...
    """
    if needed > free():
        raise InputError(f"{what} needs about {needed / 2**30:.1f} GiB, {free() / 2**30:.1f} GiB are free; {hint}")


def free() -> float:
    """Bytes of memory that can be had, what the system caches in it included; infinity where it does not say.

    >>> free() > 0
    True
    """
    with suppress(OSError, ValueError):  # Linux
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    with suppress(ValueError, OSError, AttributeError):
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return inf
