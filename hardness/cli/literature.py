"""Commands on the literature: `cite`, BibTeX, and `validate`, published tables run on the lab's instances."""

from collections.abc import Mapping

import typer

from hardness.cli.common import EXPERIMENTS, Json, emit

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
    app.command(rich_help_panel=EXPERIMENTS)(validate)


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


def validate(as_json: Json = False) -> None:
    """Run published tables of other projects on instances of the lab, and print published beside ours.

    A line is within if the range of our runs meets the published one. It takes less than two minutes.

    Example: hardness validate --json
    """
    from hardness.engine.progress import steps
    from hardness.evaluation.published import comparisons

    ended = []
    with steps("validate") as tell:
        for comparison in comparisons():
            ended.append(comparison)
            tell(f"{comparison.setting}: {shown(comparison.ours)} {comparison.unit}")
    fields = ("source", "setting", "published", "ours", "unit", "limit", "within")
    rows = [{name: getattr(comparison, name) for name in fields} for comparison in ended]
    lines = [
        f"{'ok' if c.within else 'NO':3} {c.setting}: published {shown(c.published)}, ours {shown(c.ours)} "
        f"{c.unit} [{c.source}]"
        for c in ended
    ]
    emit(as_json, {"rows": rows}, lines)


def shown(runs: tuple[int | None, ...]) -> str:
    """The runs of a table in words."""
    solved = [entry for entry in runs if entry is not None]
    if not solved:
        return f"none of {len(runs)} runs"
    span = f"{min(solved)} to {max(solved)}" if min(solved) < max(solved) else f"{solved[0]}"
    return span if len(solved) == len(runs) else f"{span} ({len(solved)} of {len(runs)} runs)"
