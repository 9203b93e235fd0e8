"""Lower bounds on examples for learners that keep little of each one: theorem M of theory 2.10, in numbers.

Every number counts informative examples (open gates; the layer gives twice as many rows) and is rounded down.
"""

from decimal import ROUND_FLOOR, Context, Decimal, getcontext, localcontext

from hardness.io.fields import number, whole

DIGITS = 60  # beyond those of N; what the last of them may be wrong by is taken off
MOST_BITS = 10**6  # of a message


def examples_needed(concepts: int, rho: float | Decimal, success: float = 0.9, flip: float = 0.0) -> int:
    """Return N/((1 - 2 eta)^2 rho) (1 - sqrt(1 - P + 1/N))^2, rounded down: theorem M of theory 2.10, proved there.

    Of each informative example the learner keeps a message from a channel chosen from earlier messages; whoever names
    one of N equally likely sets with probability P needs this many. `rho` bounds the information of a message; labels
    are flipped with probability `flip`. 0 for P < 1/N. Raises `InputError` for what is no probability.
    """
    number("success", success, "(0, 1]")
    number("flip", flip, "[0, 1/2)")
    with localcontext(Context(prec=DIGITS + len(str(concepts)))):
        gap = _of(success) - 1 / Decimal(concepts)
        if gap < 0 or concepts == 1:
            return 0
        needed = concepts * (1 - (1 - gap).sqrt()) ** 2 / ((1 - 2 * _of(flip)) ** 2 * _of(rho))
        safe = needed * (1 - Decimal(10) ** (5 - getcontext().prec))
        return int(safe.to_integral_value(rounding=ROUND_FLOOR))


def message_examples(concepts: int, bits: int = 1, success: float = 0.9, flip: float = 0.0) -> int:
    """Return informative examples that a learner needs which keeps `bits` bits of each, rho = 2^(bits - 1) (theory
    2.10).

    >>> message_examples(184_756), message_examples(184_756, flip=0.1), message_examples(184_756, bits=4)
    (86379, 134967, 10797)
    """
    whole("bits of a message", bits, 1, MOST_BITS)
    return examples_needed(concepts, Decimal(2) ** (bits - 1), success, flip)


def proved_examples(concepts: int, kappa: float, success: float = 0.9, flip: float = 0.0) -> int:
    """Return the informative examples, batch size times steps, that clipped gradients with noise need (theory 2.10).

    Gradients of single examples are clipped to norm G and averaged over a batch of B, with Gaussian noise of standard
    deviation kappa G/sqrt(B) an entry; any architecture and schedule, a number of steps fixed beforehand.
    """
    return examples_needed(concepts, gradient_information(kappa), success, flip)


def gradient_information(kappa: float) -> Decimal:
    """Return a bound of rho, exp(4.5/kappa^2) (1 + 4/kappa^2)/kappa^2, for clipped gradients with noise (2.10)."""
    number("the noise kappa, in units of the clipping norm,", kappa, "[0.001, 1e9]")
    with localcontext(Context(prec=DIGITS)):
        inverse = 1 / _of(kappa) ** 2
        return (Decimal("4.5") * inverse).exp() * (1 + 4 * inverse) * inverse


def _of(value: float | Decimal) -> Decimal:
    """Return the decimal that a float's shortest text names."""
    return value if isinstance(value, Decimal) else Decimal(repr(float(value)))
