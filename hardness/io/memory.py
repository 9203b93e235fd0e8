"""What fits into the machine."""

from hardness.errors import InputError


def require_memory(needed: float, what: str, hint: str = "lower --dim or --heads") -> None:
    """Refuse what would need more bytes of memory than are free.

    >>> require_memory(2.0**80, "a table of all sets")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: a table of all sets needs about 1125899906842624.0 GiB, ...
    """
    if needed > free():
        raise InputError(
            f"{what} needs about {needed / 2**30:.1f} GiB, {free() / 2**30:.1f} GiB are free; {hint}"
        )


def free() -> float:
    """Bytes of memory that can be had, what the system caches in it included.

    >>> free() > 0
    True
    """
    import psutil  # late: a command that needs no memory does not wait for it

    return float(psutil.virtual_memory().available)
