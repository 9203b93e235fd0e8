"""The command sq learn: gradient descent of the learner `diagonal` by the answers of an oracle."""

from secrets import randbits
from typing import Annotated, Literal

import typer

from hardness.cli.common import Json, Seed, emit, group
from hardness.cli.learn import Set, settings

EXAMPLE = "sq learn parity --dim 10 --heads 3 --tolerance 0.02 --set rate=0.1"
LEARNER = "diagonal"

Dim = Annotated[int, typer.Option(help="Features of a token, d, up to 18; one of them is the gate.")]
Heads = Annotated[
    int, typer.Option(help="Hidden bits: so many heads hide them. Of the learner: --set heads=W.")
]
Tolerance = Annotated[float, typer.Option(help="STAT(T) on queries with values in [-1, 1]; in (0, 1].")]
Answers = Annotated[
    Literal["null", "window", "sampled", "noisy"],
    typer.Option("--oracle", help="null: coins within T, exact above; window: all sets possible at first."),
]
Queries = Annotated[int | None, typer.Option(min=0, help="Stop after so many queries.")]
Steps = Annotated[int, typer.Option(min=0, help="Stop after so many steps.")]


def register(parent: typer.Typer) -> None:
    inner = group(f"{parity.__doc__}".partition("\n")[0], EXAMPLE)
    inner.command(epilog=f"Example: hardness {EXAMPLE}")(parity)
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
    from hardness.evaluation.adapters import make
    from hardness.evaluation.solver import Solver
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
