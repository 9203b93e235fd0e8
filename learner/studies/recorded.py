"""Numbers as rows record them: to six digits, so that the same seed gives the same bytes on every machine."""

TINY = 1e-12  # relative errors below this are recorded as this


def measured(value: float, floor: float = 0.0) -> float:
    """`value` to six digits, and `floor` where it is below that: the rest is rounding.

    >>> measured(0.12345678), measured(3.1e-30, 1e-24)
    (0.123457, 1e-24)
    """
    return float(f"{max(float(value), floor):.6g}")
