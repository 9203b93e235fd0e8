"""What is proved of statistical queries, and what the best closed form pays: arithmetic, no trials, no intervals."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from math import comb, log2
from typing import Any

from hardness.engine.store import Row
from hardness.gadgets.levels import bits
from hardness.sq.bounds.head_budget import rounding
from hardness.sq.exact import strict_floor
from hardness.sq.strategies.sign_batch import batch_queries
from hardness.studies.exponential_in_m.tasks import TOLERANCE

HEADS = tuple(range(2, 65))
FIXED = 64  # the dimension at which m grows alone
MODULUS, LEVELS = 97, 2


@dataclass(frozen=True)
class Need:
    """Queries that every learner needs: log2 of the proven bound at m heads and dimension d, along one line."""

    line: str
    heads: int
    dim: int
    log2_queries: float


def needs() -> list[Need]:
    """The bound of lemma L along the ray d = 4m and at d = 64, and that of theory 2.6 for rounding by m heads.

    m heads of the gadget diag hide m bits, of sharp or wide 2m - 1 (theory 1.5).
    """
    found = []
    for own, size in (("m bits", lambda m: m), ("2m − 1 bits", partial(bits, "wide"))):
        found += [Need(f"parity of {own}, d = 4m", m, 4 * m, _parity(4 * m, size(m))) for m in HEADS]
        found += [
            Need(f"parity of {own}, d = {FIXED}", m, FIXED, _parity(FIXED, size(m))) for m in HEADS if size(m) < FIXED
        ]
    for m in HEADS:
        bought = rounding(m, TOLERANCE, MODULUS, LEVELS)
        if bought.log2_queries > 0:
            name = f"rounding, q = {MODULUS}, p = {LEVELS}, own d"
            found.append(Need(name, m, bought.size + 1, bought.log2_queries))
    return found


def _parity(dim: int, size: int) -> float:
    return log2(max(1, strict_floor(comb(dim - 1, size), TOLERANCE)))


def checks(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """A line a game: what the closed form says that sign batches pay, what the game played paid, what is proved."""
    lines = []
    for row in rows:
        if row.task.solver["kind"] != "game" or row.outcome is None or row.outcome.status != "solved":
            continue
        d, m = int(row.task.params["dim"]), int(row.task.params["heads"])
        concepts, played = comb(d - 1, m), int(row.outcome.cost or 0)
        formula, floor = batch_queries(concepts, TOLERANCE), strict_floor(concepts, TOLERANCE)
        lines.append(
            {"d": d, "m": m, "N": concepts, "closed form": formula, "game played": played}
            | {"difference": played - (formula or 0), "proved at least": floor, "played / proved": played / floor}
        )
    return sorted(lines, key=lambda line: line["N"])
