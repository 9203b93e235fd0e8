"""Bounds in print: every number that bounds something is rounded in the direction in which it stays true."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from numbers import Rational
from typing import Any

SMALL = Decimal("1e-4")  # below this a number is written with a power of ten
PRECISION = 10_000  # digits in between; counts of hypotheses have hundreds


def bounded(value: Any, up: bool, digits: int = 3, places: int | None = None) -> str:
    """Return `value` as text, rounded up if `up`, else down, so that a printed bound stays true.

    It is rounded to `places` decimal places if given, else to `digits` significant digits, where all digits before the
    decimal point are kept. None gives a dash. A float counts as the shortest decimal that names it.

    >>> bounded(51.84, up=False), bounded(1957.94, up=False), bounded(1957.94, up=True), bounded(1.0499, up=True)
    ('51.8', '1,957', '1,958', '1.05')
    >>> bounded(199.508, up=False, places=1), bounded(-0.25, up=False, places=1), bounded(3.21e-7, up=True, digits=2)
    ('199.5', '−0.3', '3.3e-7')
    """
    if value is None:
        return "–"
    with localcontext(Context(prec=PRECISION, rounding=ROUND_CEILING if up else ROUND_FLOOR)):
        fraction = isinstance(value, Rational)
        exact = Decimal(value.numerator) / value.denominator if fraction else Decimal(repr(float(value)))
        if not exact or exact.is_infinite():
            return "0" if not exact else "∞" if exact > 0 else "−∞"
        place = -places if places is not None else min(0, exact.adjusted() - digits + 1)
        rounded = exact.quantize(Decimal(1).scaleb(place))
        sign, size = "−" if rounded < 0 else "", abs(rounded)
        if places is None and abs(exact) < SMALL:
            return f"{sign}{size.normalize():e}"
        text = f"{sign}{size:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def at_least(value: Any, digits: int = 3) -> str:
    """Return a lower bound as text, rounded down to `digits` significant digits, or to an integer if that has more."""
    return bounded(value, up=False, digits=digits)


def at_most(value: Any, digits: int = 3) -> str:
    """Return an upper bound as text, rounded up to `digits` significant digits, or to an integer if that has more."""
    return bounded(value, up=True, digits=digits)


def at_least_power(log2: float | None, places: int = 1) -> str:
    """Return a lower bound 2^`log2` as text, the exponent rounded down to `places` decimal places; a dash for None.

    >>> at_least_power(199.508), at_least_power(7.0)
    ('2^199.5', '2^7')
    """
    return "–" if log2 is None else f"2^{bounded(log2, up=False, places=places)}"
