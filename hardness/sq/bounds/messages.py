"""Lower bounds on examples for learners that keep little of each one: theorem M of theory 2.10, in numbers.

Every number counts informative examples (open gates; the layer gives twice as many rows) and is rounded down.
"""

from fractions import Fraction
from math import exp, inf, sqrt

from hardness.io.fields import number, whole

SLACK = 1e-12  # relative; floating point errs by far less
MOST_BITS = 10**6  # of a message


def examples_needed(concepts: int, rho: float, success: float = 0.9, flip: float = 0.0) -> int:
    """Return N/((1 - 2 eta)^2 rho) (1 - sqrt(1 - P + 1/N))^2, rounded down: theorem M of theory 2.10, proved there.

    A learner keeps of each informative example a message, from a channel chosen from earlier ones; to name one of N
    equally likely sets with probability P = `success` it needs this many. `rho` bounds the information of a message;
    eta = `flip` is the probability of a flipped label. 0 for P < 1/N. Raises `InputError` for what is no probability.
    """
    number("success", success, "(0, 1]")
    number("flip", flip, "[0, 1/2)")
    gap = success - 1 / concepts
    share = (1 - sqrt(1 - max(0.0, gap))) ** 2 / ((1 - 2 * flip) ** 2 * rho)
    return int(concepts * Fraction(share * (1 - SLACK)))


def message_examples(concepts: int, bits: int = 1, success: float = 0.9, flip: float = 0.0) -> int:
    """Return how many informative examples a learner that keeps `bits` bits of each needs to name one of N sets (2.10).

    >>> message_examples(184_756), message_examples(184_756, flip=0.1), message_examples(184_756, bits=4)
    (86379, 134967, 10797)
    """
    whole("bits of a message", bits, 1, MOST_BITS)
    return examples_needed(concepts, 1.0, success, flip) >> bits - 1


def proved_examples(concepts: int, kappa: float, success: float = 0.9, flip: float = 0.0) -> int:
    """Return how many informative examples, batch size times steps, clipped gradients with noise need (theory 2.10).

    Gradients of single examples are clipped to norm G and averaged over a batch of B, with Gaussian noise of standard
    deviation kappa G/sqrt(B) an entry; any architecture and schedule, a number of steps fixed beforehand.
    """
    return examples_needed(concepts, gradient_information(kappa), success, flip)


def gradient_information(kappa: float) -> float:
    """Return a bound on what a clipped noisy gradient tells: exp(4.5/k^2) (1 + 4/k^2)/k^2, k = kappa (theory 2.10)."""
    number("the noise kappa, in units of the clipping norm,", kappa, "[0.001, 1e9]")
    inverse = 1 / kappa**2
    return exp(4.5 * inverse) * (1 + 4 * inverse) * inverse if inverse < 100 else inf
