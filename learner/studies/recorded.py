"""Numbers as rows record them: to six digits, so that the same seed gives the same bytes on every machine."""

from typing import Any

DUST = 1e-9  # numbers below this are recorded as 0
TINY = 1e-12  # relative errors below this are recorded as this


def measured(value: float, floor: float = 0.0) -> float:
    """`value` to six digits, and `floor` where it is below that: the rest is rounding.

    >>> measured(0.12345678), measured(3.1e-30, 1e-24)
    (0.123457, 1e-24)
    """
    return float(f"{max(float(value), floor):.6g}")


def rounded(value: Any) -> Any:
    """JSON data with every number to six digits and 0 for what is below 1e-9.

    >>> rounded({"gap": [0.12345678, 3e-16], "rank": 7})
    {'gap': [0.123457, 0.0], 'rank': 7}
    """
    match value:
        case float():
            return float(f"{value:.6g}") if abs(value) >= DUST else 0.0
        case dict():
            return {key: rounded(item) for key, item in value.items()}
        case list():
            return [rounded(item) for item in value]
    return value
