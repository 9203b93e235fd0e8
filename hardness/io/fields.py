"""Values of parameters and options, their type, range and menu, and memory: what does not fit is one line."""

from fractions import Fraction
from math import inf
from numbers import Integral
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, sanitize

MAX_INTEGER = 2**62  # of a parameter: beyond, arithmetic in 64 bits fails
SHOWN = 60  # characters of a value
REAL = (int, float, Fraction, np.integer, np.floating)


def fitting(value: Any, hint: Any, what: str) -> Any:
    """Return `value`, a number of numpy as Python's, if it has the type `hint`; an int fits float, a bool is no int.

    Raises `InputError`, which begins with `what`, for another type, and for integers of size 2^62 or more.
    """
    value = value.item() if isinstance(value, np.generic) else value
    menu = get_origin(hint) is Literal
    kinds = get_args(hint) if menu or get_origin(hint) in (Union, UnionType) else (hint,)
    if not (value in kinds if menu else type(value) in kinds or (type(value) is int and float in kinds)):
        raise _unfit(
            what, " or ".join(kinds) if menu else f"of type {getattr(hint, '__name__', hint)}", value
        )
    if isinstance(value, int) and abs(value) >= MAX_INTEGER:
        raise _unfit(what, f"below 2^{MAX_INTEGER.bit_length() - 1} in size", value)
    return value


def whole(name: str, value: Any, low: int, high: int | None = None, why: str = "") -> None:
    """Raise `InputError`, which ends with `why`, unless `value` is an integer from `low` to `high` (None: no limit).

    >>> whole("weight", 9, 1, 8, "dim is 9")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: weight must be an integer from 1 to 8, got 9: dim is 9
    """
    integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not integer or value < low or (high is not None and value > high):
        span = f">= {low}" if high is None else f"from {low} to {high}"
        raise _unfit(name, f"an integer {span}", value, why)


def number(name: str, value: Any, interval: str, why: str = "") -> None:
    """Raise `InputError`, which ends with `why`, unless `value` is a finite number in `interval`, such as "(0, inf)".

    >>> number("flip", 0.5, "[0, 1/2)")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: flip must be a number in [0, 1/2), got 0.5
    """
    low, high = (float(Fraction(text)) if text != "inf" else inf for text in interval[1:-1].split(", "))
    real = isinstance(value, REAL) and not isinstance(value, bool)
    inside = real and (low <= value if interval[0] == "[" else low < value)
    if not (inside and (value <= high if interval[-1] == "]" else value < high)):
        raise _unfit(name, f"a number in {interval}", value, why)


def one_of(name: str, value: Any, menu: Any) -> None:
    """Raise `InputError` unless `value`, of the parameter `name`, is one of the texts in `menu`."""
    if value not in tuple(menu):
        raise _unfit(name, f"one of {', '.join(menu)}", value)


def all_finite(name: str, array: NDArray[Any]) -> None:
    """Raise `InputError` if the array of floats called `name` holds NaN or infinity."""
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")


def _unfit(name: str, kind: str, value: Any, why: str = "") -> InputError:
    return InputError(f"{name} must be {kind}, got {sanitize(repr(value), SHOWN)}{why and f': {why}'}")


def require_memory(needed: float, what: str, hint: str = "lower --dim or --heads") -> None:
    """Raise `InputError`, which ends with `hint`, if `what` needs more bytes (`needed`) than memory has available."""
    import psutil  # late: a command that needs no memory does not wait for it

    free = float(psutil.virtual_memory().available)
    if needed > free:
        raise InputError(
            f"{what} needs about {needed / 2**30:.1f} GiB, {free / 2**30:.1f} GiB are free; {hint}"
        )
