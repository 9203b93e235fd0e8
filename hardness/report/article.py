"""The article of a study: the Markdown file beside it, written by hand, filled with the numbers of its rows.

page.md is plain Markdown. ``{factor[3m]:.2f}`` prints a number that `Study.numbers` gives, by `str.format`; ``{cells}``
alone on a line places the table of that name that `Study.tables` gives; ``![what is seen](costs.svg)`` shows the figure
`costs` of `Study.figures`. A brace that is none is written twice. Every placeholder must be known, and every number,
table and figure used. The title is the claim. Nothing else is filled in: no conditions, no loops.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

import pandas as pd

from hardness.engine.frames import frame
from hardness.engine.outcome import Table
from hardness.engine.rows import ROWS, SUMMARY, TIMINGS, dump, dump_timings
from hardness.engine.study import Study
from hardness.errors import InputError
from hardness.io.files import replacing, write_text
from hardness.io.schemas import SUMMARY_VERSION
from hardness.report import plots

ARTICLE = "README.md"  # which a forge and the site show
PICTURE = re.compile(r"!\[([^\]]*)\]\(([\w-]+)\.svg\)")


def write(study: Study, table: Table, folder: Path, pdf: bool = False) -> str:
    """Write article, figures, rows and summary of a study into `folder`; return the title of the article.

    The same rows give the same bytes. `pdf` writes every figure as PDF as well. Raises `InputError`, before anything is
    written, if the page and the study's numbers, tables and figures do not fit each other.
    """
    assert study.page is not None
    assert study.numbers is not None
    rows, page = frame(table.rows), study.page.name
    rows.attrs = {}  # pandas would copy them deeply with every column that a study takes
    numbers = plain(study.numbers(rows))
    with plots.style():
        figures = study.figures(rows) if study.figures else {}
    tables = study.tables(rows) if study.tables else {}
    text = fill(study.page.read_text(encoding="utf-8"), numbers, tables, page)
    shown = [{"file": f"{name}.svg", "alt": alt} for alt, name in PICTURE.findall(text)]
    if odd := sorted({each["file"] for each in shown} ^ {f"{name}.svg" for name in figures}):
        raise InputError(f"{page}: figure {odd[0]} is shown and not made, or made and not shown")
    for name, figure in figures.items():
        for kind in ("svg", "pdf") if pdf else ("svg",):
            with replacing(folder / f"{name}.{kind}") as temporary:
                temporary.write_bytes(plots.saved(figure, name, kind))
    title = text.partition("\n")[0].removeprefix("# ").strip()
    write_rows(study, table, folder)
    write_summary(study, table, folder, verdict=title, figures=shown, numbers=numbers)
    write_text(folder / ARTICLE, f"{text.rstrip()}\n\n{_origin(table)}\n")
    return title


def write_rows(study: Study, table: Table, folder: Path) -> None:
    """Write rows.csv into `folder`, and timings.csv too if the study's article prints seconds."""
    dump(table.rows, folder / ROWS)
    if study.timed:
        dump_timings(table.rows, folder / TIMINGS)


def write_summary(study: Study, table: Table, folder: Path, **parts: Any) -> None:
    """Write summary.json: study and seed, origin of the rows, how trials ended, and `parts` as further entries."""
    sources = origins(table)
    summary = {
        **table.about,
        "schema": SUMMARY_VERSION,
        "question": study.question,
        "planned": len(table.rows),
        "statuses": table.counts(),
        "made_by": table.commands,
        "commits": table.commits or sources.get("commit", []),
        "provenance": {name: values[0] for name, values in sources.items() if len(values) == 1},
        **parts,
    }
    text = json.dumps(summary, sort_keys=True, ensure_ascii=False, indent=1)
    write_text(folder / SUMMARY, text + "\n")


def origins(table: Table) -> dict[str, list[str]]:
    """Return each field of the rows' provenance (commit, cpu, …) with its values, the most frequent first."""
    counted: dict[str, Counter[str]] = {}
    for row in table.rows:
        for name, value in (row.provenance or {}).items():
            counted.setdefault(name, Counter())[str(value)] += 1
    return {name: sorted(values, key=lambda each: (-values[each], each)) for name, values in counted.items()}


def _origin(table: Table) -> str:
    """Return the last lines of an article: where its rows, its numbers and their code are."""
    ended = ", ".join(f"{count:,} {status}" for status, count in table.counts().items())
    commits = table.commits or origins(table).get("commit", [])
    made = f" at commit {', '.join(commits)}" if commits else ""
    commands = "".join(f", by `{command}`" for command in table.commands)
    return (
        f"---\n\n[rows.csv]({ROWS}): {ended}{commands}{made}; [summary.json]({SUMMARY}): the numbers above."
    )


def plain(numbers: Any) -> dict[str, Any]:
    """Return nested numbers as JSON can hold them: dicts with text keys, lists, finite Python numbers and texts.

    >>> import numpy as np
    >>> plain({"factor": {3: (np.float64(5.75), np.int64(4))}})
    {'factor': {'3': [5.75, 4]}}
    """
    stated: dict[str, Any] = json.loads(
        json.dumps(numbers, default=lambda value: value.item(), allow_nan=False)
    )
    return stated


def fill(
    text: str, numbers: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], page: str = "page.md"
) -> str:
    """Return the text of a page in which numbers and tables replace their placeholders, formatted by `str.format`.

    Raises `InputError`, naming `page`, for an unknown placeholder, and for a number or table that no placeholder shows.

    >>> fill("It takes {cost[parity]:,} examples, {{not}} fewer.", {"cost": {"parity": 9547}}, {})
    'It takes 9,547 examples, {not} fewer.'
    >>> fill("It takes {cost}.", {"cost": 1, "runs": 5}, {})
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: page.md: {runs} stands in the page alone, or in the numbers alone
    """
    places = dict(leaf for name in numbers for leaf in _leaves(numbers[name], name))
    page_of = _Page(places | {name: markdown(table) for name, table in tables.items()})
    try:
        used = {name for _, name, _, _ in page_of.parse(text) if name is not None}
        if odd := sorted(used ^ page_of.places.keys()):
            raise InputError(f"{{{odd[0]}}} stands in the page alone, or in the numbers alone")
        return page_of.format(text)
    except ValueError as error:
        raise InputError(f"{page}: {error}") from error


class _Page(Formatter):
    """Format a text as `str.format` does, with values looked up by whole placeholders, such as ``cost[parity]``."""

    def __init__(self, places: Mapping[str, Any]) -> None:
        self.places = places

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        return self.places[field_name], field_name


def _leaves(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield (placeholder, number), such as (``place[key]``, 3), for each number in a nested value called `place`."""
    if not isinstance(value, Mapping | list):
        yield place, value
        return
    for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
        yield from _leaves(item, f"{place}[{key}]")


def markdown(table: pd.DataFrame) -> str:
    """Return a data frame as a Markdown table: whole numbers with commas, others to three digits, texts as they are.

    >>> import pandas as pd
    >>> print(markdown(pd.DataFrame({"target": ["f1", "f2"], "examples": [1024, None], "error": [0.12345, 1.0]})))
    | target | examples | error |
    |:--|--:|--:|
    | f1 | 1,024 | 0.123 |
    | f2 |  | 1 |
    """
    numeric = [all(not isinstance(value, str) for value in table[name].dropna()) for name in table]
    lines = [[str(name) for name in table], ["--:" if right else ":--" for right in numeric]]
    lines += [[_cell(value) for value in line] for line in table.itertuples(index=False)]
    head, rule, *body = [f"| {' | '.join(cells)} |" for cells in lines]
    return "\n".join([head, rule.replace(" ", ""), *body])


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value.replace("|", "\\|")
    if pd.isna(value):
        return ""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.3g}"
