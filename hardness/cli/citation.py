"""The command `cite`: BibTeX of the lab, and of the paper whose question it measures."""

from collections.abc import Mapping

import typer

from hardness.cli.common import Json, emit

RELEASED = "2026-11-23"  # of this version, as in CITATION.cff, which an installed package lacks; tests compare the two
TITLE = "{attention-hardness}: a lab for the hardness of learning multi-head attention layers"
AUTHORS = "{The attention-hardness authors}"
PAPER = {
    "author": "Chen, Sitan and Li, Yuanzhi",
    "title": "Provably Learning a Multi-head Attention Layer",
    "booktitle": "Proceedings of the 57th Annual {ACM} Symposium on Theory of Computing ({STOC} 2025)",
    "pages": "1744--1754",
    "year": "2025",
    "doi": "10.1145/3717823.3718174",
    "note": "arXiv 2402.04084",
}


def register(app: typer.Typer) -> None:
    app.command()(cite)


def cite(as_json: Json = False) -> None:
    """Print BibTeX for the lab, with its version, and for the paper whose question it measures.

    Example: hardness cite
    """
    from importlib.metadata import version

    release = version("attention-hardness")
    lab = {"author": AUTHORS, "title": TITLE, "year": RELEASED[:4], "version": release}
    text = entry("software", "attention-hardness", lab) + "\n\n" + entry("inproceedings", "chenli2025", PAPER)
    emit(as_json, {"bibtex": text, "version": release}, [text])


def entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    """An entry of BibTeX.

    >>> print(entry("misc", "lab", {"year": "2026"}))
    @misc{lab,
      year = {2026},
    }
    """
    width = max(map(len, fields))
    lines = [f"  {name:{width}} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
