"""Numbers in print, by the name of their form: counts are written for people, bounds by `hardness.io.rounding`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hardness.io.rounding import at_least as at_least
from hardness.io.rounding import at_least_power as at_least_power
from hardness.io.rounding import at_most as at_most
from hardness.io.rounding import at_most_power as at_most_power


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


def power(value: float) -> str:
    """Two digits times a power of ten.

    >>> power(6_000_000_000), power(1.26e5)
    ('6·10⁹', '1.3·10⁵')
    """
    digits, _, exponent = f"{value:.1e}".partition("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits.removesuffix('.0')}·10{raised}"


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
    "whole": "{:g}".format,
    "thousands": thousands,
    "decimals": decimals,
    "short": short,
    "power": power,
    "listed": listed,
    "at_least": at_least,
    "at_most": at_most,
    "at_least_power": at_least_power,
    "at_most_power": at_most_power,
}
