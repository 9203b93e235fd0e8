"""A page in sections, each of one kind of statement: proved, identity, measured, or what breaks it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardness.engine.store import Store
from hardness.report.drawing import Drawing
from hardness.report.report import Note, figure_context, notes_context, publish, render, shared


@dataclass(frozen=True)
class Section:
    """One part of a page: its kind, a heading, paragraphs (each with its kinds if it is a pair), figures, and tables
    with their captions."""

    kind: str
    heading: str
    notes: Sequence[Note]
    drawings: Sequence[Drawing] = ()
    tables: Sequence[tuple[str, Sequence[Mapping[str, Any]]]] = ()


def sections_page(
    store: Store,
    folder: Path,
    question: str,
    verdict: str,
    lead: Sequence[str],
    sections: Sequence[Section],
    kinds: str = "",
) -> str:
    """Write a page of `lead` paragraphs and sections into `folder`; returns `verdict`. A function of the rows.

    `kinds` are those of the verdict's statements.
    """
    shown = [
        {
            "kind": section.kind,
            "heading": section.heading,
            "notes": notes_context(section.notes),
            "drawn": [figure_context(drawing) for drawing in section.drawings],
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
        **shared(store, folder),
        question=question,
        verdict=verdict,
        lead=lead,
        sections=shown,
        kinds=kinds,
    )
    publish(store, folder, verdict, html, [drawing for section in sections for drawing in section.drawings])
    return verdict
