"""Every number that the page of benchmarks counts, again from its rows: csv and arithmetic, nothing of the lab."""

from collections import Counter
from math import log2

from committed import headline, page, plain, rows, tables

EASY = {"Small sizes": "at most 20 % slower than plain numpy", "Dense forward": ">= 1.5x torch"}


def counted() -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Goals met and goals missed, by section and kind."""
    met, missed = (
        Counter(
            (row["topic"].partition(" ")[2], goal)
            for row in rows("benchmarks")
            for goal in row[column].split("; ")
            if goal
        )
        for column in ("met", "missed")
    )
    return met, missed


def test_the_headline_counts_kinds_of_goals() -> None:
    met, missed = counted()
    words = headline("benchmarks")
    every = {*met, *missed}
    assert words.startswith(
        f"{len(every - {*missed})} of {len(every)} kinds of goal are met wherever they are judged; missed in rows: "
    )
    for (section, goal), count in missed.items():
        assert f"{section} {goal} ({count} of {count + met[section, goal]})" in words


def test_goals_that_many_rows_share_are_named() -> None:
    met, missed = counted()
    words = plain(page("benchmarks"))
    judged = sum(met[kind] + missed[kind] for kind in EASY.items())
    total = met.total() + missed.total()
    assert f"Of {total} judgements {met.total()} are good, but {judged} of these" in words
    for section, goal in EASY.items():
        count, of = met[section, goal], met[section, goal] + missed[section, goal]
        assert f"{goal} ({section}), met in {count} of {of} rows" in words


def test_the_table_of_goals() -> None:
    met, missed = counted()
    (table,) = (
        lines for caption, lines in tables("benchmarks").items() if caption.startswith("Goals by kind")
    )
    sections = Counter(
        row["topic"].partition(" ")[2] for row in rows("benchmarks") if row["case"] != "absent"
    )
    assert {(section, goal): list(map(int, counts)) for section, goal, *counts in table} == {
        kind: [met[kind], met[kind] + missed[kind], sections[kind[0]]] for kind in met | missed
    }


def test_goals_that_are_not_judged_everywhere() -> None:
    words = plain(page("benchmarks"))
    dense = [row for row in rows("benchmarks") if EASY["Dense forward"] in row["met"] + row["missed"]]
    reached = sum(float(row["ratio"]) >= 4 for row in dense)
    assert (
        f"Of the {len(dense)} rows whose goal is >= 1.5x torch, {reached} would meet the one of 4x" in words
    )
    passes = [
        row
        for row in rows("benchmarks", yardstick="one pass in place")
        if "2^24" not in row["met"] + row["missed"]
    ]
    reached = sum(float(row["over_yardstick"]) <= 2 for row in passes)
    assert (
        f"Of the {len(passes)} rows of other sizes, in which that goal is not judged, {reached} would"
        in words
    )


def test_local_exponents_of_elimination() -> None:
    seconds = {
        int(row["case"].split(" x ")[1]): float(row["ours"])
        for row in rows("benchmarks", topic="5 GF(2) elimination")
        if row["ours"]
    }
    first, second = (log2(seconds[2 * size] / seconds[size]) for size in (1024, 2048))
    assert f"is {first:.2f} from 1024 to 2048 and {second:.2f} from 2048 to 4096 columns" in plain(
        page("benchmarks")
    )


def test_characters_stand_at_the_same_multiple_of_the_bound() -> None:
    """1/(8τ²) at τ = 0.05: arithmetic, as the page says."""
    notes = [
        row["note"] for row in rows("benchmarks", topic="3 SQ games") if row["case"].startswith("characters")
    ]
    assert notes
    assert all(note.endswith(f"{1 / (8 * 0.05**2):g}x the proved bound") for note in notes)
    assert f"{1 / (8 * 0.05**2):g}x at this τ" in plain(page("benchmarks"))
