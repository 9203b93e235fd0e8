"""Where the study measures: the rays d = 3s, 4s, 8s and the lines of fixed s."""

from math import comb

from learner.studies.exponential_in_m import settings
from learner.studies.exponential_in_m.arms import CONTROLS, HARD, PANEL, WIDE, Cell, has_tent

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


def hidden() -> list[Cell]:
    """The cells of hidden sets, each once."""
    places = {(s, c * s) for c, sizes in RAYS.items() for s in sizes} | {
        (s, d) for s, dims in LINES.items() for d in dims
    }
    return [Cell(HARD, d, s) for s, d in sorted(places)]


def controls() -> list[Cell]:
    """The controls along the rays: random layers of as many heads, and the tent where it is one, at even s >= 4."""
    places = sorted({(s, c * s) for c, sizes in RAYS.items() for s in sizes})
    return [Cell(arm, d, s) for arm in CONTROLS for s, d in places if has_tent(arm, s)]


def tuning() -> list[Cell]:
    """The cells that are tuned: hidden sets up to a predicted cost, controls of even s, and other learners."""
    cheap = [cell for cell in hidden() if settings.predicted(cell) <= settings.TUNED_TO]
    even = [cell for cell in controls() if cell.s % 2 == 0]
    return [*cheap, *(Cell(WIDE, d, s) for s, d in WIDER), *even, *panel()]


def panel() -> list[Cell]:
    """Other learners."""
    return [Cell(arm, d, s) for arm in PANEL for s, d in OTHERS]


def sets(cell: Cell) -> int:
    """N = C(d-1, s): how many sets could be hidden."""
    return comb(cell.d - 1, cell.s)
