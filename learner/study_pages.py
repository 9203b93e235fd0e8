"""Pages of the learners' studies: a verdict line and a table, as HTML, with rows and summary beside."""

import csv
import json
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from hardness.files import write_text
from hardness.study.store import Row, Store, export
from learner import studies

TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ about.study }}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1f }
table { border-collapse: collapse; font-variant-numeric: tabular-nums } .scroll { overflow-x: auto }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #d8d8dc; vertical-align: top }
</style>
</head>
<body>
<h1>{{ question }}</h1>
<p><strong>{{ verdict }}</strong></p>
<p>{{ done }} of {{ planned }} planned trials have been run. Root seed {{ about.seed }}. <a href="table.csv">table</a>
· <a href="rows.csv">rows</a></p>
<div class="scroll"><table>
<thead><tr>{% for name in names %}<th>{{ name }}</th>{% endfor %}</tr></thead>
<tbody>{% for line in lines %}<tr>{% for cell in line %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</tbody>
</table></div>
</body>
</html>
"""


def write(store: Store, folder: Path) -> str:
    """Write the page of one of `studies.STUDIES` into `folder`: a pure function of the rows. Returns its verdict."""
    from jinja2 import Environment

    rows: list[Row] = list(store.rows())
    name = str(store.about["study"])
    table = studies.TABLES[name](rows)
    verdict = VERDICTS[name](table)
    names = list(dict.fromkeys(key for line in table for key in line))
    lines = [[shown(line.get(key)) for key in names] for line in table]
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *lines])
    write_text(folder / "table.csv", text.getvalue())
    export(store, folder / "rows.csv", timing=False)
    summary = {**store.about, "verdict": verdict, "planned": len(rows), "statuses": store.counts()}
    write_text(folder / "summary.json", json.dumps(summary, sort_keys=True, ensure_ascii=False) + "\n")
    page = Environment(autoescape=True).from_string(TEMPLATE)
    done = sum(row.outcome is not None for row in rows)
    question = studies.STUDIES[name].question
    write_text(
        folder / "index.html",
        page.render(
            about=store.about,
            question=question,
            verdict=verdict,
            done=done,
            planned=len(rows),
            names=names,
            lines=lines,
        ),
    )
    return verdict


def shown(value: Any) -> str:
    """A cell as text: three digits are enough.

    >>> shown(0.123456), shown(None), shown({64: 0.5})
    ('0.123', '', '64: 0.5')
    """
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {shown(item)}" for key, item in value.items())
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _rarity(table: Sequence[Mapping[str, Any]]) -> str:
    judged = [line for line in table if line["tau"] == 3 and line["law"] <= 4 and line["fitted"] is not None]
    near = [line for line in judged if abs(line["fitted"] - line["law"]) <= 0.15 * line["law"]]
    return (
        f"At tau = 3 the fitted exponent is within 15% of (m-1)(k-1) in {len(near)} of {len(judged)} cells with a law "
        "of at most 4; other cells are shown with their intervals."
    )


def _scaling(table: Sequence[Mapping[str, Any]]) -> str:
    said = []
    for name in dict.fromkeys(line["learner"] for line in table):
        needs = [f"m={line['m']}: {line['examples'] or 'none'}" for line in table if line["learner"] == name]
        said.append(f"{name} {', '.join(needs)}")
    return "Least examples that solve half of the trials: " + "; ".join(said) + "."


def _anatomy(table: Sequence[Mapping[str, Any]]) -> str:
    phases = [line["gave up"] for line in table if line["gave up"]]
    counts = ", ".join(f"{name} {phases.count(name)}" for name in dict.fromkeys(phases)) or "none"
    return f"Of {len(table)} layers on the paths, {len(table) - len(phases)} passed all phases; gave up: {counts}."


VERDICTS = {"rarity": _rarity, "learner-scaling": _scaling, "anatomy": _anatomy}
