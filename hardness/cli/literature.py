"""Commands on the literature: `cite`, BibTeX, and `validate`, published tables run on the lab's instances."""

import typer

from hardness.cli.common import Json, emit

RELEASED = "2026-11-23"  # of this version, as in CITATION.cff, which an installed package lacks; tests compare the two
BIBTEX = """@software{{attention-hardness,
  author  = {{{{The attention-hardness authors}}}},
  title   = {{{{attention-hardness}}: a lab for the hardness of learning multi-head attention layers}},
  year    = {{{year}}},
  version = {{{version}}},
}}

@inproceedings{{chenli2025,
  author    = {{Chen, Sitan and Li, Yuanzhi}},
  title     = {{Provably Learning a Multi-head Attention Layer}},
  booktitle = {{Proceedings of the 57th Annual {{ACM}} Symposium on Theory of Computing ({{STOC}} 2025)}},
  pages     = {{1744--1754}},
  year      = {{2025}},
  doi       = {{10.1145/3717823.3718174}},
  note      = {{arXiv 2402.04084}},
}}"""


def register(app: typer.Typer) -> None:
    app.command()(cite)
    app.command()(validate)


def cite(as_json: Json = False) -> None:
    """Print BibTeX for the lab, with its version, and for the paper whose question it measures.

    Example: hardness cite
    """
    from importlib.metadata import version

    release = version("attention-hardness")
    text = BIBTEX.format(year=RELEASED[:4], version=release)
    emit(as_json, {"bibtex": text, "version": release}, [text])


def validate(as_json: Json = False) -> None:
    """Run published tables of other projects on instances of the lab, and print published beside ours.

    A line is within if the range of our runs meets the published one. It takes less than two minutes.

    Example: hardness validate --json
    """
    from hardness import registry
    from hardness.engine.progress import steps

    rows, lines = [], []
    with steps("validate") as tell:
        for row in (row for name in registry.names("published") for row in registry.get("published", name)()):
            ours = f"{shown(row['ours'])} {row['unit']}"
            tell(f"{row['setting']}: {ours}")
            rows.append(row)
            ok = "ok" if row["within"] else "NO"
            runs = f"published {shown(row['published'])}, ours {ours}"
            lines.append(f"{ok:3} {row['setting']}: {runs} [{row['source']}]")
    emit(as_json, {"rows": rows}, lines)


def shown(runs: tuple[int | None, ...]) -> str:
    """Return the runs of a table in words; None is a run that did not solve."""
    solved = [entry for entry in runs if entry is not None]
    span = f"{min(solved)} to {max(solved)}" if solved else "none"
    return span if len(solved) == len(runs) else f"{span} ({len(solved)} of {len(runs)} runs)"
