"""What costs of attacks are counted in: seconds of one core, measured, and log2 of operations at 2^30 to the second."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

# An example of a stream made and looked at: seconds, as of the models of attacks that choose their rows.
EXAMPLE_SECONDS = 2.5e-8
LOG2_OPERATIONS_A_SECOND = 30.0


@dataclass(frozen=True)
class Log2Cost:
    """log2 of elementary operations, of memory words and of samples."""

    time: float
    memory: float
    samples: float


# Of an estimate: attack, source, cost or why it has none
Line = tuple[str, str, Callable[[], Log2Cost | str]]
UNREACHED = Log2Cost(inf, inf, inf)


class EstimateFailed(ArithmeticError):
    """No parameters were found at which the attack works; says nothing about hardness."""


class NotPriced(ArithmeticError):
    """The attack may work, and nothing here says what it would cost."""
