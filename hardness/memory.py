"""What fits into the machine."""

import os

from hardness.errors import InputError


def afford(needed: float, what: str, hint: str = "lower --dim or --heads") -> None:
    """Refuse what would need more bytes of memory than are free.

    >>> afford(2.0**80, "a table of all sets")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: a table of all sets needs about 1125899906842624.0 GiB, ...
    """
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):  # a system that does not say
        return
    if needed > free:
        raise InputError(f"{what} needs about {needed / 2**30:.1f} GiB, {free / 2**30:.1f} GiB are free; {hint}")
