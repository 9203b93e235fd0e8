"""The commands sq learn: what learners reach by the answers of an oracle."""

from secrets import randbits
from typing import Annotated, Literal

import typer

from hardness.cli.common import Json, Seed, emit, group
from hardness.cli.learn import Set, settings

EXAMPLE = "sq learn parity --dim 10 --heads 3 --tolerance 0.02 --set rate=0.1"
LEARNER = "diagonal"

Heads = Annotated[
    int, typer.Option(help="Hidden bits: this many heads hide them. Of the learner: --set heads=W.")
]
Tolerance = Annotated[float, typer.Option(help="STAT(T) on queries with values in [-1, 1]; in (0, 1].")]
Answers = Annotated[
    Literal["null", "window", "sampled", "noisy"],
    typer.Option("--oracle", help="null: coins within T, exact above; window: all sets possible at first."),
]
Averaged = Annotated[
    Literal["noisy", "sampled"],
    typer.Option("--oracle", help="noisy: uniform noise within T; sampled: fresh examples."),
]
Queries = Annotated[int | None, typer.Option(min=0, help="Stop after this many queries.")]
Steps = Annotated[int, typer.Option(min=0, help="Stop after this many steps.")]


def register(parent: typer.Typer) -> None:
    inner = group("What learners reach by the answers of an oracle.", EXAMPLE)
    inner.command()(parity)
    inner.command()(nondegenerate)
    parent.add_typer(inner, name="learn")


def parity(
    dim: Annotated[int, typer.Option(help="Features of a token, d, up to 18; one of them is the gate.")],
    heads: Heads,
    tolerance: Tolerance,
    oracle: Answers = "null",
    seed: Seed = None,
    queries: Queries = None,
    steps: Steps = 1500,
    options: Set = None,
    as_json: Json = False,
) -> None:
    """Gradient descent by an oracle's answers: every entry of the population gradient is a query.

    The learner is `diagonal`; --set gives its options.

    Example: hardness sq learn parity --dim 10 --heads 3 --tolerance 0.02 --set rate=0.1
    """
    from hardness.evaluation.solver import Solver, make
    from hardness.families.parity import Parity
    from hardness.sq.descent import descend

    seed = randbits(128) if seed is None else seed
    student = make(Solver("learner", LEARNER, settings(options or ())), seed % 2**32)
    sets = Parity(dim, heads).sets
    ended = descend(student.descend, sets, oracle, tolerance, seed=seed, steps=steps, max_queries=queries)
    fields = {name: value for name, value in vars(ended).items() if value is not None} | {"seed": seed}
    emit(as_json, fields, [f"{name:18} {value}" for name, value in fields.items()])


def nondegenerate(
    dim: Annotated[int, typer.Option(help="Features of a token, d.")],
    heads: Annotated[int, typer.Option(help="m.")],
    tolerance: Tolerance,
    tokens: Annotated[int, typer.Option(help="k, from 2 to d.")] = 2,
    learner: Annotated[str, typer.Option(help="One that learns by averages.")] = "provable",
    oracle: Averaged = "noisy",
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """The phases 1 to 4 and 6b of the learner with the theorem by averages alone, on a random layer.

    A phase is ok if its estimate is good enough for the next one.

    Example: hardness sq learn nondegenerate --dim 8 --tokens 2 --heads 2 --tolerance 0.001
    """
    from hardness import registry
    from hardness.families.nondegenerate import Nondegenerate
    from hardness.instance import Instance
    from hardness.sq.averages import by_phases

    seed = randbits(128) if seed is None else seed
    instance = Instance.generate(Nondegenerate(dim, tokens, heads), seed)
    fields = by_phases(registry.get("learner", learner), instance, oracle, tolerance, seed) | {"seed": seed}
    lines = [
        f"{phase['name']:12} {'ok' if phase['ok'] else 'NO':3} relative error {phase['error']}"
        for phase in fields["phases"]
    ]
    emit(as_json, fields, [f"{fields['status']}, {fields['queries']} queries", *lines])
