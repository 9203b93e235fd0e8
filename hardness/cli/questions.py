"""Commands that ask one question: ray, board, records, plot, cite and validate."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from hardness.cli.common import Json, Workers, argument, emit, option
from hardness.cli.study import DryRun, Family, Out, Quick, Root, Timeout, carry_out
from hardness.errors import InputError
from hardness.io.texts import sanitize

Instead = Annotated[
    list[str] | None, option("Instead of those of the lab; module:Name too; may be repeated.")
]
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
Work = Annotated[float | None, option("Most multiply-adds of a learner, or CPU time for as many.", min=1.0)]


def ray(
    context: typer.Context,
    ratio: Annotated[int | None, argument("Along d = C m.", metavar="C", show_default=False)] = None,
    dim: Annotated[int | None, option("At this d, in place of a ray.")] = None,
    heads: Annotated[str, option("Numbers of heads m, commas between.")] = "2,3,4",
    learner: Instead = None,
    width: Annotated[int | None, option("Heads of the learners, where they have a `heads`.", min=1)] = None,
    seed: Root = 0,
    out: Out = None,
    workers: Workers = None,
    timeout: Timeout = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Ask how cost grows with the number of heads: lower bounds, SQ strategies, Gaussian elimination, learners.

    Name C for d = C m, or --dim D for a fixed d. Learners run on hidden parities and on random layers of that size.
    In Python `hardness.ray(4, heads=[2, 3, 4])` gives the same table as a data frame. A learner reads at most 2,000,000
    examples, and 4,096 if it has no `partial_fit`. What has none is fitted anew on 64, 91, 128, … examples.

    Example: hardness ray 4 --heads 2,3,4 --learner diagonal --out rays
    """
    from hardness.studies.ray import LEARNER, STUDY, named, places_of, tasks_at, text_of

    if (ratio is None) == (dim is None):
        raise InputError("name C for a ray d = C m, or --dim D for a fixed d, and not both")
    words = heads.split(",")
    if not all(word.strip().isdecimal() for word in words):
        raise InputError(f"--heads takes numbers with commas between, as in 2,3,4; got '{sanitize(heads)}'")
    tasks = tasks_at(places_of(map(int, words), ratio, dim), learner or [LEARNER], width)
    about, folder = named(seed, ratio, dim)
    carry_out(context, STUDY, about, tasks, out or folder, text_of)


def board(
    context: typer.Context,
    suite: Annotated[str | None, option("Only instances of this tier of the suite.")] = None,
    learner: Instead = None,
    attack: Instead = None,
    family: Family = None,
    quick: Quick = False,
    examples: Annotated[int | None, option("The most examples of a learner.", min=256)] = None,
    work: Work = None,
    seed: Root = 0,
    out: Out = None,
    workers: Workers = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run learners and attacks on the named instances of the suite, each within a budget of examples and of work.

    Without --learner and --attack all built-in ones run. `study merge` joins rows that others send.

    Example: hardness board --suite easy --learner student --attack gaussian --out board
    """
    from hardness.engine.plugins import chosen
    from hardness.studies import catalog

    study, names = catalog.get("stress"), [*(learner or []), *(attack or [])]
    added = {"learner": learner or [], "attack": attack or []}
    tasks = chosen(study, quick, added, family or [], names, suite)
    limits = {key: value for key, value in (("examples", examples), ("work", work)) if value is not None}
    if limits and study.within:
        tasks = [study.within(task, examples, work) for task in tasks]
    about = {"study": study.name, "seed": seed, "quick": quick, **limits}
    carry_out(context, study, about, tasks, out or Path("board"))


def records(as_json: Json = False) -> None:
    """List the cheapest learner known of each of twelve hidden parities, by examples and by heads x examples.

    Each entry has a setting and a command that runs it once. Examples are medians of a published table, on seeds that
    no setting was chosen on. CONTRIBUTING.md says how to lower an entry.

    Example: hardness records --json
    """
    import pandas as pd

    from hardness.studies import catalog

    path = catalog.get("exponential-in-m").records
    assert path is not None
    known = pd.read_csv(path, converters={"setting": json.loads}).to_dict("records")
    lines = [
        f"{each['instance']}: {each['examples']:,} examples, {each['heads_examples']:,} heads x examples "
        f"(least {each['least']}), {each['setting']}"
        for each in known
    ]
    emit(as_json, {"records": known}, lines)


def plot(
    target: Annotated[Path, argument("rows.csv, rows.db, or the folder of a study.", metavar="ROWS|DIR")],
    x: Annotated[str, option("The column of the horizontal axis.", metavar="COL")],
    out: Annotated[Path, option("A .svg, .png or .pdf file; replaced if it exists.")],
    y: Annotated[str, option("The column whose medians are drawn.", metavar="COL")] = "cost",
    by: Annotated[str | None, option("A line for each value of these.", metavar="COL[,COL]")] = None,
    log: Annotated[str | None, option("Axes with a logarithmic scale.", metavar="x|y|x,y")] = None,
    where: Annotated[
        list[str] | None, option("Only these rows; may be repeated.", metavar="COL=VALUE[,VALUE]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw medians of one column of a study's rows against another column.

    Columns are those of `hardness.rows`: dim, heads, learner, status, cost and more. Bars are intervals that hold the
    median with probability .95, or the range of fewer than six runs; one with no known upper end stops at the median.
    A triangle with an arrow is a median that is only known to be larger. A dash with an arrow is a proved lower bound
    on a strategy's queries, where rows hold one.

    Example: hardness plot reports/exponential-in-m --x heads --by arm --where dim=16 --log y --out costs.svg
    """
    from hardness.engine.frames import rows
    from hardness.io.files import replacing
    from hardness.report.chart import chart, counted, select
    from hardness.report.plots import UNDATED, saved

    if (kind := out.suffix[1:]) not in UNDATED:
        raise InputError(f"--out takes a .svg, .png or .pdf file, got {sanitize(out)}")

    names = by.split(",") if by else []
    conditions: dict[str, list[str]] = {}
    for word in where or ():
        column, _, value = word.partition("=")
        if not (column and value):
            raise InputError(f"--where takes COL=VALUE, got {sanitize(repr(word), 80)}")
        conditions.setdefault(column, []).append(value)
    chosen = select(rows(target), conditions)
    figure = chart(chosen, x, y, names, log.split(",") if log else [])
    drawing = saved(figure, out.stem, kind)
    with replacing(out) as part:
        part.write_bytes(drawing)
    drawn = counted(chosen, x, y, names)
    others = chosen.drop(drawn.index)["status"].value_counts()
    lines = [f"{len(drawn)} of {len(chosen)} rows drawn in {out}"]
    lines += [f"not drawn (no value, or no known median): {count} {name}" for name, count in others.items()]
    emit(as_json, {"out": str(out), "rows": len(drawn)}, lines)


def cite(as_json: Json = False) -> None:
    """Print BibTeX for the lab, with its version, and for the paper whose question it measures.

    Example: hardness cite
    """
    from importlib.metadata import version

    release = version("attention-hardness")
    text = BIBTEX.format(year=RELEASED[:4], version=release)
    emit(as_json, {"bibtex": text, "version": release}, [text])


def validate(as_json: Json = False) -> None:
    """Repeat tables that other projects published on instances of the lab, and print their numbers beside ours.

    A line begins with ok if the range of our runs overlaps the published one. It takes less than two minutes.

    Example: hardness validate --json
    """
    from hardness import registry
    from hardness.engine.progress import steps

    lines, rows = list[str](), list[dict[str, Any]]()
    with steps("validate") as tell:
        for row in (row for name in registry.names("published") for row in registry.get("published", name)()):
            runs = f"published {shown(row['published'])}, ours {shown(row['ours'])} {row['unit']}"
            lines.append(f"{'ok' if row['within'] else 'NO'} {row['setting']}: {runs} [{row['source']}]")
            tell(lines[-1])
            rows.append(row)
    emit(as_json, {"rows": rows}, lines)


def shown(runs: tuple[int | None, ...]) -> str:
    """Return the numbers in `runs` as a range, such as "3 to 9"; None is a run that did not solve, and is counted."""
    solved = [entry for entry in runs if entry is not None]
    span = f"{min(solved)} to {max(solved)}" if solved else "none"
    return span if len(solved) == len(runs) else f"{span} ({len(solved)} of {len(runs)} runs)"
