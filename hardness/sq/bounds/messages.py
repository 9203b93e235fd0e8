"""Lower bounds on examples for learners that keep little of each one: theorem M of theory 2.10, in numbers.

Every number counts informative examples (open gates; the layer gives twice as many rows) and is rounded down.
"""

from fractions import Fraction
from math import exp, inf, sqrt

from hardness.io.fields import number, whole

SLACK = 1e-12  # relative; floating point errs by far less
MOST_BITS = 10**6  # of a message


def examples_needed(concepts: int, rho: float, success: float = 0.9, flip: float = 0.0) -> int:
    """Return how many examples a learner needs to name one of N parities if it keeps little of each (theorem M).

    Only informative examples count, whose tokens differ in coordinate 0. Of each the learner keeps one message, whose
    form may depend on earlier ones; `rho` bounds what it tells (2^(b-1) for b bits). For N = `concepts` equally likely
    sets, P = `success` the probability to name the right one and eta = `flip` that of a flipped label, the number is
    N/((1 - 2 eta)^2 rho) (1 - sqrt(1 - P + 1/N))^2, rounded down; 0 for P < 1/N. Raises `InputError` for what is no
    probability.
    """
    number("success", success, "(0, 1]")
    number("flip", flip, "[0, 1/2)")
    gap = success - 1 / concepts
    share = (1 - sqrt(1 - max(0.0, gap))) ** 2 / ((1 - 2 * flip) ** 2 * rho)
    return int(concepts * Fraction(share * (1 - SLACK)))


def message_examples(concepts: int, bits: int = 1, success: float = 0.9, flip: float = 0.0) -> int:
    """Return how many examples a learner that keeps only `bits` bits of each needs to name one of N parities (2.10).

    The examples are informative, `success` and `flip` are probabilities, as in `examples_needed`.

    >>> message_examples(184_756), message_examples(184_756, flip=0.1), message_examples(184_756, bits=4)
    (86379, 134967, 10797)
    """
    whole("bits of a message", bits, 1, MOST_BITS)
    return examples_needed(concepts, 1.0, success, flip) >> bits - 1


def proved_examples(concepts: int, kappa: float, success: float = 0.9, flip: float = 0.0) -> int:
    """Return how many examples training by clipped noisy gradients needs to name one of N parities (theory 2.10).
    They are informative examples, batch size times steps; any architecture and schedule. Gradients of single examples
    are clipped to norm G and averaged over a batch of B; Gaussian noise has standard deviation `kappa` G/sqrt(B) an
    entry. `success` and `flip` are probabilities, as in `examples_needed`."""
    return examples_needed(concepts, gradient_information(kappa), success, flip)


def gradient_information(kappa: float) -> float:
    """Return a bound on what a clipped noisy gradient tells: exp(4.5/k^2) (1 + 4/k^2)/k^2, noise k = `kappa` (2.10)."""
    number("the noise kappa, in units of the clipping norm,", kappa, "[0.001, 1e9]")
    inverse = 1 / kappa**2
    return exp(4.5 * inverse) * (1 + 4 * inverse) * inverse if inverse < 100 else inf
