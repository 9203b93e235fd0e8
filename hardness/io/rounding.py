"""Bounds in print: every number that bounds something is rounded in the direction in which it stays true."""

from fractions import Fraction
from math import ceil, floor, isinf, log10
from numbers import Rational
from typing import Any

SMALL = Fraction(1, 10_000)  # below this a number is written with a power of ten


def _exact(value: Any) -> Fraction:
    """The number that is meant: an integer or fraction itself, a float the shortest decimal that names it."""
    return Fraction(value) if isinstance(value, Rational) else Fraction(repr(float(value)))


def bounded(value: Any, up: bool, digits: int = 3, places: int | None = None) -> str:
    """`value` as text, never below it if `up`, never above it if not: the one place where bounds are rounded.

    To `digits` significant digits, whole numbers whole; or to `places` decimal places. A dash for None. Raises
    `ValueError` for what is no number.

    >>> bounded(51.84, up=False), bounded(1957.94, up=False), bounded(1957.94, up=True), bounded(1.0499, up=True)
    ('51.8', '1,957', '1,958', '1.05')
    >>> bounded(199.508, up=False, places=1), bounded(-0.25, up=False, places=1), bounded(3.21e-7, up=True, digits=2)
    ('199.5', '−0.3', '3.3e-7')
    """
    if value is None:
        return "–"
    if isinstance(value, float) and isinf(value):
        return "∞" if value > 0 else "−∞"
    exact = _exact(value)
    if not exact:
        return "0"
    tenth = floor(log10(abs(exact.numerator)) - log10(exact.denominator))  # the place of the leading digit
    kept = places if places is not None else max(0, digits - 1 - tenth)
    units = (ceil if up else floor)(exact * 10**kept)
    whole, part = divmod(abs(units), 10**kept)
    text = _bare(f"{whole:,}.{part:0{kept}d}") if kept else f"{whole:,}"
    if places is None and units and abs(exact) < SMALL:
        digit = str(part)
        text = f"{_bare(f'{digit[0]}.{digit[1:]}')}e{len(digit) - 1 - kept}"
    return f"−{text}" if units < 0 else text


def _bare(text: str) -> str:
    return text.rstrip("0").rstrip(".")


def at_least(value: Any, digits: int = 3) -> str:
    """A lower bound as text: rounded down.

    >>> at_least(51.8), at_least(131.58, digits=2), at_least(None)
    ('51.8', '131', '–')
    """
    return bounded(value, up=False, digits=digits)


def at_most(value: Any, digits: int = 3) -> str:
    """An upper bound as text: rounded up.

    >>> at_most(1.0501), at_most(3086)
    ('1.06', '3,086')
    """
    return bounded(value, up=True, digits=digits)


def at_least_power(log2: float | None, places: int = 1) -> str:
    """A lower bound that is known by its logarithm to the base 2: rounded down.

    >>> at_least_power(199.508), at_least_power(124.94, places=0), at_least_power(7.0)
    ('2^199.5', '2^124', '2^7')
    """
    return "–" if log2 is None else f"2^{bounded(log2, up=False, places=places)}"
