"""Where the study measures: the rays d = 3s, 4s, 8s and the lines of fixed s."""

from learner.studies.exponential_in_m import settings
from learner.studies.exponential_in_m.arms import CONTROLS, HARD, PANEL, WIDE, Problem, has_tent

RAYS = {3: range(2, 11), 4: range(2, 9), 8: range(2, 7)}  # s by d/s
LINES = {
    2: (16, 32, 64, 96, 128),
    3: (16, 24, 32, 48, 64, 96, 128),
    4: (16, 24, 32, 48, 64, 96),
    5: (16, 20, 24, 32, 40, 48),
    6: (18, 24, 32, 40, 48),
}  # d by fixed s
WIDER = ((4, 16), (3, 64), (6, 24))  # (s, d) where 64 heads are measured beside 16
OTHERS = (*WIDER, (7, 28))  # and other learners


def hidden() -> list[Problem]:
    """The cells of hidden sets, each once."""
    on_rays = {(s, c * s) for c, sizes in RAYS.items() for s in sizes}
    on_lines = {(s, d) for s, dims in LINES.items() for d in dims}
    return [Problem(HARD, d, s) for s, d in sorted(on_rays | on_lines)]


def controls() -> list[Problem]:
    """The controls along the rays: random layers of as many heads, and the tent where it is one, at even s >= 4."""
    places = sorted({(s, c * s) for c, sizes in RAYS.items() for s in sizes})
    return [Problem(arm, d, s) for arm in CONTROLS for s, d in places if has_tent(arm, s)]


def tuning() -> list[Problem]:
    """The cells that are tuned: hidden sets up to a predicted cost, controls of even s, and other learners."""
    cheap = [problem for problem in hidden() if settings.predicted(problem) <= settings.TUNED_TO]
    even = [problem for problem in controls() if problem.s % 2 == 0]
    return [*cheap, *(Problem(WIDE, d, s) for s, d in WIDER), *even, *panel()]


def panel() -> list[Problem]:
    """Other learners, where they are tuned; in the last of `OTHERS` they take their nearest setting."""
    return [Problem(arm, d, s) for arm in PANEL for s, d in WIDER]
