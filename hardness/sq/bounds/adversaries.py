"""What is proved against each adversary, for every concept class of the lab."""

from hardness.families.concepts import Concepts, RoundingConcepts
from hardness.sq.bounds.parity import null_bound, parity_sda, sda_tolerance, window_bound
from hardness.sq.bounds.rounding import truncated_bounds


def adversary_bounds(concepts: Concepts, tolerance: float, flip: float = 0.0) -> dict[str, float]:
    """Lower bounds on queries at STAT(tolerance) by the name of the oracle; an oracle without one is absent.

    Parities flipped with probability `flip` (theory 1.2b): theory 2.5, and SDA for VSTAT. Rounding: theory 2.6, for
    ideal labels or those of M heads.

    >>> from hardness.families.concepts import ParityConcepts
    >>> {name: round(bound) for name, bound in adversary_bounds(ParityConcepts(14, 4), 0.1).items()}
    {'window': 80, 'null': 40, 'vstat': 6}
    """
    if isinstance(concepts, RoundingConcepts):
        return truncated_bounds(concepts, tolerance)
    size = concepts.size
    bounds = {
        "window": window_bound(size, tolerance, flip=flip),
        "null": null_bound(size, tolerance, flip=flip),
    }
    average = sda_tolerance(tolerance)
    if average and not flip:
        bounds["vstat"] = float(parity_sda(size, average))
    return {name: bound for name, bound in bounds.items() if bound > 0}
