"""What all pages share: templates that need no network, the index, and where rows come from."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import FINISHED
from hardness.engine.store import Row
from hardness.report import glossary
from hardness.report.rounding import FORMS

if TYPE_CHECKING:
    from jinja2 import Environment

PAGE, ROWS, SUMMARY = "index.html", "rows.csv", "summary.json"


def docs_href(folder: Path) -> str:
    """The way from a page in `folder` to the lab's docs: "" outside of the source tree, where pages stand alone.

    >>> docs_href(Path(__file__).parents[2] / "reports" / "needs"), docs_href(Path("/"))
    ('../../docs/', '')
    """
    tree, here = Path(__file__).resolve().parents[2], folder.resolve()
    inside = here.is_relative_to(tree) and (tree / "docs" / "theory.md").is_file()
    return f"{os.path.relpath(tree / 'docs', here)}/" if inside else ""


def render(
    template: str,
    terms: Mapping[str, str] | None = None,
    docs: str = glossary.DOCS,
    home: str = "",
    room: Path | None = None,
    filters: Mapping[str, Callable[..., Any]] | None = None,
    **context: Any,
) -> str:
    """A template of this room, or of the folder `room`, as HTML, its terms marked.

    Templates have the filters of `environment` and the given ones. `terms` defines symbols of this page alone; `docs`
    is the way from the page to the folder of proofs, `home` that to the index of all studies ("" if there is none).
    """
    templates = environment(room)
    if filters:
        templates = templates.overlay()
        templates.filters = {**templates.filters, **filters}
    return glossary.mark(
        templates.get_template(template).render(docs=docs, home=home, **context), terms, docs
    )


@cache
def environment(room: Path | None = None) -> "Environment":
    """The templates of this room, and of the folder `room` before them, with their filters; compiled once."""
    from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = ChoiceLoader(
        [*([FileSystemLoader(room)] if room else []), PackageLoader("hardness.report", ".")]
    )
    templates = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters |= {**FORMS, "badge": lambda kinds: Markup(glossary.badge(kinds))}
    return templates


def command(about: Mapping[str, Any]) -> str:
    """The command that makes the rows again."""
    if about.get("study") == "sweep":
        return "hardness sweep grid.toml"
    part = " --quick" if about.get("quick") else ""
    part += "".join(f" --{name} {about[name]}" for name in ("ray", "examples", "work") if name in about)
    return f"hardness study run {about.get('study', 'NAME')}{part} --seed {about.get('seed', 0)}"


def origins(rows: Iterable[Row]) -> list[tuple[str, list[str]]]:
    """What made the rows: every provenance field with the values found, most frequent first."""
    counted: dict[str, Counter[str]] = {}
    for row in rows:
        for key, value in (row.provenance or {}).items():
            counted.setdefault(key, Counter())[str(value)] += 1
    return [
        (key, sorted(values, key=lambda value: (-values[value], value))) for key, values in counted.items()
    ]


def crashes(rows: Iterable[Row]) -> list[tuple[str, str, int]]:
    """Status and reason of the trials that did not end by themselves, counted."""
    outcomes = (row.outcome for row in rows if row.outcome and row.outcome.status not in FINISHED)
    counted = Counter((o.status, str(o.detail.get("reason", ""))) for o in outcomes)
    return [(status, reason, count) for (status, reason), count in sorted(counted.items())]
