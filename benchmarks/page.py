"""The page of benchmarks, from rows alone: `python -m benchmarks.page [FOLDER]` makes it again of the rows in FOLDER.

FOLDER is reports/benchmarks unless given; no benchmark is run, and rows.csv stays as it is.
"""

import argparse
import csv
import inspect
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from itertools import pairwise
from math import log2
from pathlib import Path
from typing import Any

from benchmarks.harness import REFERENCES, Row
from hardness.io.files import write_text
from hardness.io.schemas import SUMMARY_VERSION
from hardness.report.report import PAGE, ROWS, SUMMARY, docs_href, index_href, render, renew_index

HERE = Path(__file__).parent
REPORT = HERE.parent / "reports" / "benchmarks"
TOPICS = (
    "labels",
    "forward",
    "sq",
    "walsh",
    "gf2",
    "direct",
    "startup",
    "growth",
    "small",
    "student",
    "diagonal",
    "engine",
)


MANY = 20  # rows from which on a kind of goal is named: it would make up most of a sum of all


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=REPORT, metavar="FOLDER")
    folder = parser.parse_args().folder
    publish(rows_in(folder), about_in(folder), folder, notes(TOPICS))


def rows_in(folder: Path) -> list[Row]:
    """The rows of a folder, as they were when they were written."""
    kind = {field.name: field.type for field in fields(Row)}

    def value(name: str, text: str) -> Any:
        if kind[name] is str:
            return text
        return int(text) if kind[name] is int else float(text) if text else None

    with (folder / ROWS).open(newline="", encoding="utf-8") as file:
        return [
            Row(**{name: value(name, text) for name, text in line.items()}) for line in csv.DictReader(file)
        ]


def about_in(folder: Path) -> dict[str, str]:
    """What the figures of a folder were measured on."""
    summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    return {
        name: text for name, text in summary.items() if name not in ("study", "role", "schema", "verdict")
    }


def notes(topics: Sequence[str]) -> dict[str, list[str]]:
    """What a topic's section says before its table: the paragraphs of the file's docstring, lines of code left out."""
    benches = [import_module(f"benchmarks.bench_{topic}") for topic in topics]
    return {
        bench.TOPIC: [
            part for part in (inspect.getdoc(bench) or "").split("\n\n") if not part.startswith(" ")
        ]
        for bench in benches
    }


@dataclass(frozen=True)
class Kind:
    """A kind of goal: rows of its topic that reach it, those in which it is judged, and all but absent peers."""

    topic: str
    goal: str
    met: int
    judged: int
    of: int


def kinds(rows: Sequence[Row]) -> list[Kind]:
    """Every kind of goal, in the order of the rows."""
    met, judged = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for row in rows:
        for counted, goals in ((met, row.met), (judged, row.met), (judged, row.missed)):
            counted.update((row.topic, goal) for goal in goals.split("; ") if goal)
    of = Counter(row.topic for row in rows if row.case != "absent")
    return [Kind(topic, goal, met[topic, goal], count, of[topic]) for (topic, goal), count in judged.items()]


def verdict(rows: Sequence[Row]) -> str:
    """One sentence: kinds of goal that all their rows meet, then what is missed in how many rows, and who is absent."""
    every = kinds(rows)
    missed = [kind for kind in every if kind.met < kind.judged]
    parts = [f"{len(every) - len(missed)} of {len(every)} kinds of goal are met wherever they are judged"]
    if missed:
        counts = (
            f"{heading(kind.topic)} {kind.goal} ({kind.judged - kind.met} of {kind.judged})"
            for kind in missed
        )
        parts.append(f"missed in rows: {', '.join(counts)}")
    if absent := dict.fromkeys(row.peer.split()[0] for row in rows if row.case == "absent"):
        parts.append(f"absent: {', '.join(absent)}")
    return "; ".join(parts) + "."


def tally(rows: Sequence[Row]) -> str:
    """A sentence on the kinds of goal that `MANY` rows share, "" where there are none."""
    every = kinds(rows)
    shared = [kind for kind in every if kind.judged >= MANY]
    if not shared:
        return ""
    met, judged = sum(kind.met for kind in every), sum(kind.judged for kind in every)
    named = " and ".join(
        f"{kind.goal} ({heading(kind.topic)}), met in {kind.met} of {kind.judged} rows" for kind in shared
    )
    return (
        f"Of {judged} judgements {met} are good, but {sum(kind.judged for kind in shared)} of these judge goals that "
        f"are easy to meet and shared by many rows, so that a sum of all would flatter: {named}. The headline counts "
        "kinds."
    )


def remarks(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """(Topic, sentence) on goals that are judged in some rows alone, and on a slope through points on no line."""
    lower, higher = ">= 1.5x torch", 4
    dense = [row for row in rows if lower in row.met + row.missed and row.ratio]
    if dense:
        reached = sum(bool(row.ratio and row.ratio >= higher) for row in dense)
        yield (
            dense[0].topic,
            f"Of the {len(dense)} rows whose goal is {lower}, {reached} would meet the one of {higher}x as well.",
        )
    passes = [row for row in rows if row.yardstick == "one pass in place" and row.over_yardstick]
    other = [row for row in passes if "one pass" not in row.met + row.missed]
    if other:
        reached = sum(bool(row.over_yardstick and row.over_yardstick <= 2) for row in other)
        yield (
            other[0].topic,
            f"Of the {len(other)} rows of other sizes, in which that goal is not judged, {reached} would meet it.",
        )
    columns = {
        int(row.case.split(" x ")[1]): row.ours for row in rows if " x " in row.case and row.unit == "matrix"
    }
    fitted = [row.topic for row in rows if row.case == "gf(2) elimination in columns"]
    sizes = [size for size in sorted(columns) if size >= 1024]
    if fitted and len(sizes) > 2:
        local = " and ".join(
            f"{log2((columns[large] or 0) / (columns[small] or 1)) / log2(large / small):.2f} from {small} to {large}"
            for small, large in pairwise(sizes)
        )
        yield (
            fitted[0],
            f"Of gf(2) elimination, the exponent between two sizes, by the medians of its section, is {local} "
            "columns. Where these differ the points lie on no straight line, and the slope fitted in the table "
            "with its interval, which suppose one, hold at neither end and say nothing of larger sizes.",
        )


def heading(topic: str) -> str:
    """A topic without its number.

    >>> heading("10 Student")
    'Student'
    """
    return topic.partition(" ")[2]


def duration(seconds: float | None) -> str:
    """Seconds for people.

    >>> duration(2.5e-8), duration(0.0031), duration(12.3456), duration(None)
    ('25 ns', '3.1 ms', '12.3 s', '')
    """
    if seconds is None:
        return ""
    scale, unit = next(
        ((s, u) for s, u in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")) if seconds >= s), (1e-9, "ns")
    )
    return f"{seconds / scale:.3g} {unit}"


def ratio(value: float) -> str:
    """A ratio for people.

    >>> ratio(12345.6), ratio(2.345)
    ('12,346×', '2.35×')
    """
    return f"{value:,.0f}×" if value >= 100 else f"{value:.3g}×"


def publish(
    rows: Sequence[Row], about: dict[str, str], folder: Path, notes: Mapping[str, Sequence[str]]
) -> None:
    """Write index.html, rows.csv and summary.json into `folder`, and the index beside it if there is one.

    `notes` are the paragraphs before a topic's table: what was measured, and of what.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(asdict, rows))
    html = render(
        "benchmarks.html",
        room=HERE,
        filters={"duration": duration, "ratio": ratio, "heading": heading},
        home=index_href(folder),
        docs=docs_href(folder),
        rows=rows,
        topics=dict.fromkeys(row.topic for row in rows),
        notes={
            topic: [
                *notes.get(topic, ()),
                *(text for about_topic, text in remarks(rows) if about_topic == topic),
            ]
            for topic in {row.topic for row in rows}
        },
        kinds=kinds(rows),
        tally=tally(rows),
        references=REFERENCES,
        verdict=verdict(rows),
        about=about,
    )
    write_text(folder / ROWS, text.getvalue())
    write_text(folder / PAGE, html)
    summary = {
        "study": "benchmarks",
        "role": "speed",
        "schema": SUMMARY_VERSION,
        "verdict": verdict(rows),
        **about,
    }
    write_text(folder / SUMMARY, json.dumps(summary) + "\n")
    renew_index(folder.parent)


if __name__ == "__main__":
    main()
