"""Numbers in print: a bound is rounded in the direction in which it stays true; counts are written for people."""

from collections.abc import Callable, Iterable, Mapping
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


def at_most_power(log2: float | None, places: int = 1) -> str:
    """An upper bound that is known by its logarithm to the base 2: rounded up.

    >>> at_most_power(199.508)
    '2^199.6'
    """
    return "–" if log2 is None else f"2^{bounded(log2, up=True, places=places)}"


def thousands(value: float | None) -> str:
    """A count for people; an empty text for none.

    >>> thousands(1234567.0), thousands(2.5), thousands(None)
    ('1,234,567', '2.5', '')
    """
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def short(count: float) -> str:
    """A count in four characters or so, for a field of a figure or the tick of an axis.

    >>> short(512), short(115_712), short(1_048_576), short(1e4), short(0.01), short(1e-6)
    ('512', '116k', '1.0M', '10k', '0.01', '1e-6')
    """
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= 0.9995 * unit:
            part = count / unit
            return f"{part:.1f}{name}" if part < 9.95 and part != round(part) else f"{part:.0f}{name}"
    return f"{count:.3g}".replace("e-0", "e-")


def decimals(value: float | None, digits: int = 2) -> str:
    """A number with a true minus sign; a dash for none.

    >>> decimals(-1.239), decimals(None)
    ('−1.24', '–')
    """
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def listed(values: Iterable[Any], form: str = "decimals") -> str:
    """Several numbers in one sentence.

    >>> listed([1.735, 1.729, 3.785]), listed([24], "thousands")
    ('1.74, 1.73 and 3.79', '24')
    """
    *rest, last = [FORMS[form](value) for value in values]
    return f"{', '.join(rest)} and {last}" if rest else last


def cell_text(value: Any) -> str:
    """A cell of a table as text: three digits are enough.

    >>> cell_text(0.123456), cell_text(None), cell_text({64: 0.5})
    ('0.123', '', '64: 0.5')
    """
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {cell_text(item)}" for key, item in value.items())
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# How the cells of a column may be written, and the filters of templates: by name.
FORMS: dict[str, Callable[..., str]] = {
    "plain": cell_text,
    "thousands": thousands,
    "decimals": decimals,
    "short": short,
    "listed": listed,
    "at_least": at_least,
    "at_most": at_most,
    "at_least_power": at_least_power,
    "at_most_power": at_most_power,
}
