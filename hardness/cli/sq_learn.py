"""The commands sq learn: what learners reach by the answers of an oracle."""

from itertools import chain
from secrets import randbits
from typing import Annotated, Literal

import typer

from hardness.cli.common import Json, Seed, emit, group
from hardness.cli.learn import Set, settings

EXAMPLE = "sq learn parity --dim 10 --heads 3 --tolerance 0.02 --set rate=0.1"
LEARNER = "diagonal"
AVERAGES = "sq learn nondegenerate --dim 8 --tokens 2 --heads 2 --tolerance 0.001"

Dim = Annotated[int, typer.Option(help="Features of a token, d, up to 18; one of them is the gate.")]
Heads = Annotated[
    int, typer.Option(help="Hidden bits: this many heads hide them. Of the learner: --set heads=W.")
]
Tolerance = Annotated[float, typer.Option(help="STAT(T) on queries with values in [-1, 1]; in (0, 1].")]
Answers = Annotated[
    Literal["null", "window", "sampled", "noisy"],
    typer.Option("--oracle", help="null: coins within T, exact above; window: all sets possible at first."),
]
Queries = Annotated[int | None, typer.Option(min=0, help="Stop after this many queries.")]
Steps = Annotated[int, typer.Option(min=0, help="Stop after this many steps.")]


def register(parent: typer.Typer) -> None:
    inner = group(f"{parity.__doc__}".partition("\n")[0], EXAMPLE)
    inner.command(epilog=f"Example: hardness {EXAMPLE}")(parity)
    inner.command(epilog=f"Example: hardness {AVERAGES}")(nondegenerate)
    parent.add_typer(inner, name="learn")


def parity(
    dim: Dim,
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
    """
    from hardness.evaluation.solver import Solver, make
    from hardness.families.parity import Parity
    from hardness.sq.descent import descend

    seed = randbits(128) if seed is None else seed
    student = make(Solver("learner", LEARNER, settings(options or ())), seed % 2**32)
    result = descend(
        student.descend,
        Parity(dim, heads).sets,
        oracle,
        tolerance,
        seed=seed,
        steps=steps,
        max_queries=queries,
    )
    fields = {name: value for name, value in vars(result).items() if value is not None} | {"seed": seed}
    emit(as_json, fields, [f"{name:18} {value}" for name, value in fields.items()])


def nondegenerate(
    dim: Annotated[int, typer.Option(help="Features of a token, d.")],
    heads: Annotated[int, typer.Option(help="m.")],
    tolerance: Tolerance,
    tokens: Annotated[int, typer.Option(help="k, from 2 to d.")] = 2,
    learner: Annotated[str, typer.Option(help="One that learns by averages.")] = "provable",
    oracle: Annotated[
        Literal["noisy", "sampled"],
        typer.Option(help="noisy: uniform noise within T; sampled: fresh examples."),
    ] = "noisy",
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """The phases of the learner with the theorem by averages alone, on a random layer.

    Phases 1 to 4 and 6b; a phase is ok if its estimate is good enough for the next one.
    """
    import numpy as np

    from hardness import registry
    from hardness.errors import InputError
    from hardness.families.nondegenerate import Nondegenerate
    from hardness.instance import Instance
    from hardness.sq.averages import Averages, judged

    seed = randbits(128) if seed is None else seed
    student = registry.get("learner", learner)
    if not hasattr(student, "by_averages"):
        raise InputError(f"learner {learner} does not learn by averages; provable does")
    instance = Instance.generate(Nondegenerate(dim, tokens, heads), seed)
    ask = Averages(instance, oracle, tolerance, seed)
    size = float(np.sqrt(np.mean(instance.examples(2000, seed + 1).Y ** 2)))
    made = student(heads=heads, random_state=seed % 2**32)
    estimates = chain(
        made.by_averages(ask, tokens, dim, size, tolerance), made.heads_by_averages(ask, tokens, dim, size)
    )
    fields = judged(estimates, ask, tokens) | {"seed": seed}
    lines = [
        f"{phase['name']:12} {'ok' if phase['ok'] else 'NO':3} relative error {phase['error']}"
        for phase in fields["phases"]
    ]
    emit(as_json, fields, [f"{fields['status']}, {fields['queries']} queries", *lines])
