"""A page in sections, each of one kind of statement: proved, identity, measured, or what breaks it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardness.study.page.drawing import Drawing
from hardness.study.page.report import command, crashes, origins, publish, render
from hardness.study.store import Store


@dataclass(frozen=True)
class Section:
    """One part of a page: its kind, a heading, paragraphs, figures, and tables with their captions."""

    kind: str
    heading: str
    notes: Sequence[str]
    drawings: Sequence[Drawing] = ()
    tables: Sequence[tuple[str, Sequence[Mapping[str, Any]]]] = ()


def sections_page(
    store: Store, folder: Path, question: str, verdict: str, lead: Sequence[str], sections: Sequence[Section]
) -> str:
    """Write a page of `lead` paragraphs and sections into `folder`; returns `verdict`. A function of the rows."""
    rows = list(store.rows())
    shown = [
        {
            "kind": section.kind,
            "heading": section.heading,
            "notes": section.notes,
            "drawn": [{"name": d.name, "svg": d.inline(), "caption": d.caption} for d in section.drawings],
            "tables": [
                {
                    "caption": caption,
                    "lines": lines,
                    "names": list(dict.fromkeys(key for line in lines for key in line)),
                }
                for caption, lines in section.tables
                if lines
            ],
        }
        for section in sections
    ]
    html = render(
        "sections.html",
        about=store.about,
        command=command(store.about),
        question=question,
        verdict=verdict,
        lead=lead,
        sections=shown,
        done=sum(1 for row in rows if row.outcome),
        total=len(rows),
        crashes=crashes(rows),
        mixed={name: sorted(found) for name, found in store.sources().items() if len(found) > 1},
        origins=origins(rows),
    )
    publish(store, folder, verdict, html, [drawing for section in sections for drawing in section.drawings])
    return verdict
