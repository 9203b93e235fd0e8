"""Commands that ask one question: `ray`, `board` and `records`."""

import csv
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from hardness.cli.common import Json, Workers, argument, emit, option
from hardness.cli.study import DryRun, Family, Out, Quick, Root, carry_out
from hardness.errors import InputError
from hardness.io.texts import sanitize

Instead = Annotated[
    list[str] | None, option("Instead of those of the lab; module:Name too; may be repeated.")
]
Work = Annotated[float | None, option("Most multiply-adds of a learner, or CPU time for as many.", min=1.0)]
QUESTION = "exponential-in-m"
COUNTS = ("dim", "heads", "examples", "heads_examples", "runs", "solved")


def register(parent: typer.Typer) -> None:
    for command in (ray, board, records):
        parent.command()(command)


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
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Ask how cost grows with the number of heads: proved floor, strategies, elimination and learners side by side.

    Name C for d = C m, or --dim D for a fixed d. Learners meet hidden sets and random layers of the same form.
    In Python `hardness.ray(4, heads=[2, 3, 4])` gives the same table as a data frame.

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
    """Put learners and attacks to the named instances of the suite, each within the budgets of the board.

    Without --learner and --attack all of the lab run. `study merge` joins rows that others send.

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
    """List the cheapest learner known of twelve hidden sets, by examples and by heads x examples.

    Each entry has a setting and a command that runs it once. Examples are medians of a committed table, on seeds that
    chose no setting. CONTRIBUTING.md says how to lower an entry.

    Example: hardness records --json
    """
    from hardness.studies import catalog

    path = catalog.get(QUESTION).records
    assert path is not None
    with path.open(newline="", encoding="utf-8") as file:
        known: list[dict[str, Any]] = list(csv.DictReader(file))
    for entry in known:
        entry |= {name: int(entry[name]) for name in COUNTS} | {"setting": json.loads(entry["setting"])}
    lines = [
        f"{each['instance']}: {each['examples']:,} examples, {each['heads_examples']:,} heads x examples "
        f"(least {each['least']}), {each['setting']}"
        for each in known
    ]
    emit(as_json, {"records": known}, lines)
