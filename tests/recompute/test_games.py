"""The numbers and main tables of reports/games, recomputed from rows.csv: arithmetic, and nothing of the lab."""

from fractions import Fraction
from math import ceil, comb

from committed import Row, article_tables, rows, summary
from theorem_b import floor
from theorem_c import surely_enough

CLASSES = {(4, 2), (4, 3), (5, 2), (5, 3), (20, 4), (16, 6), (24, 6)}
TOLERANCES = ("0.2", "0.16", "0.14", "0.12", "0.1", "0.08", "0.06", "0.05", "0.04")
SHOWN = ("0.2", "0.16", "0.1", "0.04")
Place = tuple[int, int, str]


def place(row: Row) -> Place:
    return int(row["params.dim"]) - 1, int(row["params.heads"] or 0), row["solver.tolerance"]


def up(value: float | Fraction) -> str:
    """A bound from above, to three digits below ten and to a tenth beyond."""
    digits = 100 if value < 10 else 10
    return f"{ceil(value * digits - 1e-9) / digits:g}"


def brackets() -> dict[Place, dict[str, int]]:
    """What is known of V and G at every class and tolerance, and what both strategies paid."""
    known: dict[Place, dict[str, int]] = {}
    for n, s in CLASSES:
        for tau in TOLERANCES:
            sets, exact = comb(n, s), Fraction(tau)
            known[n, s, tau] = {"floor": floor(sets, exact), "upper": surely_enough(sets, float(tau))}
    for row in rows("games", family="parity", status="solved"):
        if place(row) not in known or row["solver.strategy"] not in ("", "sign-batch", "flat"):
            continue
        at = known[place(row)]
        if row["solver.kind"] == "value":
            assert int(row["detail.lower"]) == int(row["detail.upper"]) >= at["floor"]
            at["lower"] = at["upper"] = int(row["cost"])
        else:
            at[row["solver.strategy"]] = int(row["cost"])
    return known


def test_the_brackets_of_V_and_G():
    numbers, (shown, *_) = summary("games")["numbers"], article_tables("games")
    known, expected, ratios = brackets(), {}, {}
    for (n, s, tau), at in known.items():
        least = min(at[name] for name in ("sign-batch", "flat", "upper") if name in at)
        assert least >= at["floor"]  # or theorem B is refuted
        ratios[n, s, tau] = Fraction(least, at["floor"])
        both = [f"{at[name]:,}" if name in at else "" for name in ("sign-batch", "flat")]
        start = [str(n), str(s), f"{comb(n, s):,}", tau, f"{at['floor']:,}", *both]
        expected[n, s, tau] = [*start, f"{at['upper']:,}"]
    large_ones = [(at, line) for at, line in expected.items() if comb(*at[:2]) > 100]
    assert sorted(shown[1:]) == sorted(line for at, line in large_ones if at[2] in SHOWN)
    large = [at for at in known if comb(*at[:2]) > 100]
    exact = {at for at, ends in known.items() if ends.get("lower", ends["floor"]) == ends["upper"]}
    assert (numbers["known"], numbers["pairs"]) == (len(exact), len(known)) == (39, 63)
    assert numbers["small"] == {"classes": 4, "known": len(exact - {*large}), "sets": 10}
    assert all(Fraction(at[2]) >= Fraction(3, 16) for at in exact & {*large})
    assert numbers["large"] == {
        "classes": len({at[:2] for at in large}),
        "known": len(exact & {*large}),
        "V": up(max(Fraction(known[at]["upper"], known[at]["floor"]) for at in large)),
        "G": up(max(ratios[at] for at in large)),
        "flat": up(max(ratios[at] for at in large if "flat" in known[at])),
    }
