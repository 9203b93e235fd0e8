"""Commands on statistical queries: sq bounds, value, play and certify, and strategies."""

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from secrets import randbits
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hardness.cli.common import SOLVERS, Json, Seed, emit, emit_registered, group, talk
from hardness.cli.options import with_options
from hardness.errors import InputError

if TYPE_CHECKING:
    from hardness.families.concepts import Concepts, ParityConcepts, RoundingConcepts

Dim = Annotated[int, typer.Option(help="Features of a token, d; one of them is the gate.")]
Heads = Annotated[int, typer.Option(help="m: the hidden set has size m (diag), m/2 (dot) or 2m - 1 (sharp, wide).")]
Tolerance = Annotated[float, typer.Option(help="STAT(T) on queries with values in [-1, 1]; in (0, 1].")]
SomeTolerance = Annotated[float | None, typer.Option(help="STAT(T); in (0, 1].")]
Gadget = Annotated[Literal["diag", "dot"], typer.Option(help="diag or dot.")]
ParityGadget = Annotated[Literal["diag", "dot", "sharp", "wide"], typer.Option("--gadget", help="Kind of the heads.")]
Bits = Annotated[int | None, typer.Option(help="Size of the hidden set (sharp, wide); 2m - 1 if absent.")]
Modulus = Annotated[int, typer.Option(help="q, from 2.")]
Levels = Annotated[int, typer.Option(help="p, from 2 to q.")]
SomeHeads = Annotated[int | None, typer.Option(help="m: labels of so many heads; ideal labels if absent.")]
Strategy = Annotated[str, typer.Option(help="A name of `hardness strategies`, or module:function.")]
OracleMode = Annotated[str, typer.Option("--oracle", help="window, null, sampled, noisy, exact or module:Class.")]
Flip = Annotated[float, typer.Option(help="Probability that the sign of a parity's label is flipped; in [0, 0.5).")]
MaxQueries = Annotated[int | None, typer.Option(help="Stop after so many queries.")]
Samples = Annotated[int | None, typer.Option(help="Sampled oracle: so many samples a query, no tolerance promised.")]
Independent = Annotated[int | None, typer.Option(min=1, help="K: so many affinely independent parities.")]
Seconds = Annotated[float, typer.Option(min=0, help="Search for so long; then a bracket.")]
Kind = Annotated[Literal["transcript", "bound", "value"], typer.Option(help="What is certified.")]
Asked = Annotated[str | None, typer.Option("--strategy", help="Of a transcript; sign-batch if absent.")]
Out = Annotated[Path, typer.Option("--out", help="File to write; missing folders are made.")]

CERTIFICATE_SECONDS = 600.0  # for an exact value
UNIDENTIFIABLE = "nothing is identifiable at this tolerance: from 1/4 on no query tells two parities apart"
# The worked examples, by group and class.
EXAMPLES = {
    "bounds parity": "--dim 65 --heads 8 --gadget sharp --tolerance 0.1",
    "bounds rounding": "--dim 65 --modulus 97 --levels 2 --tolerance 0.05",
    "play parity": "--dim 17 --heads 4 --tolerance 0.1 --strategy sign-batch --oracle window",
    "play rounding": "--dim 7 --modulus 5 --levels 2 --tolerance 0.05 --strategy adaptive",
    "value parity": "--dim 5 --heads 2 --tolerance 0.15",
    "certify parity": "--dim 5 --heads 2 --tolerance 0.15 --kind value --out value.json",
}

app = group("Statistical queries: bounds and games.", "sq bounds parity --dim 64 --heads 6 --tolerance 0.05")
value_app = typer.Typer(invoke_without_command=True)


def register(parent: typer.Typer) -> None:
    app.add_typer(value_app, name="value")
    _of_class(value_app, "value", parity, value_of_class)
    for name, run, classes in (
        ("bounds", bounds, (parity, rounding)),
        ("play", play, (parity, rounding)),
        ("certify", certify, (parity,)),
    ):
        inner = group(f"{run.__doc__}", f"sq {name} parity {EXAMPLES[f'{name} parity']}")
        app.add_typer(inner, name=name)
        for make in classes:
            _of_class(inner, name, make, run)
    parent.add_typer(app, name="sq", rich_help_panel=SOLVERS)
    parent.command(rich_help_panel=SOLVERS)(strategies)


def parity(dim: Dim, heads: Heads, gadget: ParityGadget = "diag", bits: Bits = None) -> "ParityConcepts":
    """The class of the hidden parity."""
    from hardness.families.parity import Parity

    return Parity(dim, heads, gadget, bits=bits).sets


def rounding(
    dim: Dim, modulus: Modulus, levels: Levels, gadget: Gadget = "diag", heads: SomeHeads = None
) -> "RoundingConcepts":
    """The class of the rounded inner product, of any dense secret."""
    from hardness.families.concepts import RoundingConcepts

    return RoundingConcepts(dim - 1, modulus, levels, gadget, heads)


def _of_class(parent: typer.Typer, name: str, make: Callable[..., "Concepts"], run: Callable[..., None]) -> None:
    """Add a command on the class that `make` makes: its options come before those of `run`, whose help it has."""
    call = with_options(signature(make).parameters.values(), make, run)
    example = f"Example: hardness sq {name} {make.__name__} {EXAMPLES[f'{name} {make.__name__}']}"
    parent.command(make.__name__, help=f"{run.__doc__}\n\n{make.__doc__}", epilog=example)(call)


def strategies(as_json: Json = False) -> None:
    """List the strategies of `sq play`: name and what it asks, those of rounding too.

    Example: hardness strategies
    """
    from hardness.sq.strategies import rounding
    from hardness.sq.strategies.parity import STRATEGIES

    emit_registered("strategy", "strategies", as_json, {**rounding.STRATEGIES, **STRATEGIES})


def bounds(concepts: "Concepts", tolerance: Tolerance, as_json: Json = False) -> None:
    """Lower bounds on the queries that any strategy needs."""
    from math import log2

    from hardness.families.concepts import ParityConcepts
    from hardness.io.rounding import at_least, at_least_power
    from hardness.sq.bounds.parity import SOURCES, parity_bounds
    from hardness.sq.bounds.rounding import rounding_bounds

    found: Mapping[str, float | None]
    if isinstance(concepts, ParityConcepts):
        found = {**parity_bounds(concepts, tolerance), **_floors(concepts.size, tolerance)}
    else:
        found = rounding_bounds(concepts, tolerance)

    def text(value: float) -> str:
        return at_least(value, digits=6) if value < 10**15 else at_least_power(log2(value), places=2)

    shown = {name: value for name, value in found.items() if name in SOURCES and value is not None}
    lines = [f"concepts    {text(concepts.size)}"]
    lines += [f"{name:11} {text(value):14} {SOURCES[name]}" for name, value in shown.items()]
    if found.get("identifiable") is False:
        lines.append(UNIDENTIFIABLE)
    emit(as_json, {"concepts": concepts.size, **found}, lines)


def _floors(concepts: int, tolerance: float) -> dict[str, float | None]:
    """The floors in integers of theory 2.7, and whether anything is identifiable."""
    from hardness.sq.exact import exact_floor, strict_floor

    if concepts == 1 or not _identifiable(concepts, tolerance):
        least = 0 if concepts == 1 else None
        return {"strict": least, "exact_floor": least, "identifiable": concepts == 1}
    floors = {"strict": strict_floor(concepts, tolerance), "exact_floor": exact_floor(concepts, tolerance)}
    return {**floors, "identifiable": True}


@value_app.callback()
def value(
    context: typer.Context, independent: Independent = None, tolerance: SomeTolerance = None, as_json: Json = False
) -> None:
    """V, the least number of queries that surely identify, whatever a valid oracle answers: exact (theory 2.7).

    Example: hardness sq value --independent 40 --tolerance 0.05
    """
    if context.invoked_subcommand is not None:
        return
    if independent is None and tolerance is None:
        print(context.get_help())
        return
    if independent is None or tolerance is None:
        raise InputError("sq value needs --independent K and --tolerance T, or: sq value parity --dim D --heads M")
    if not _identifiable(independent, tolerance):
        emit(as_json, {"value": None, "identifiable": False}, [UNIDENTIFIABLE])
        return
    from hardness.sq.exact import independent_value

    found = independent_value(independent, tolerance)
    emit(as_json, {"value": found}, [f"V of {independent:,} affinely independent parities: {found:,}"])


def value_of_class(
    concepts: "ParityConcepts", tolerance: Tolerance, seconds: Seconds = 60.0, as_json: Json = False
) -> None:
    """V of a small class of hidden parities by exact search; of a larger one, or out of time, a bracket."""
    from hardness.sq.small_games import value as bracket

    if not _identifiable(concepts.size, tolerance):
        nothing = {"value": None, "lower": None, "upper": None, "status": "exact", "identifiable": False}
        emit(as_json, nothing, [UNIDENTIFIABLE])
        return
    found = bracket(concepts, tolerance, seconds)
    status = "exact" if found.exact is not None else "bracket"
    fields = {"value": found.exact, "lower": found.lower, "upper": found.upper, "status": status}
    between = f"{found.lower:,}" if found.exact is not None else f"between {found.lower:,} and {found.upper:,}"
    emit(as_json, fields, [f"V of the {concepts.label}, {concepts.size:,} sets: {between} ({status})"])


def _identifiable(concepts: int, tolerance: float) -> bool:
    from hardness.sq.exact import IDENTIFIABLE, decimal
    from hardness.sq.tolerance import check_tolerance

    return decimal(check_tolerance(tolerance)) < IDENTIFIABLE or concepts == 1


def play(
    concepts: "Concepts",
    tolerance: Tolerance,
    strategy: Strategy,
    oracle: OracleMode = "window",
    seed: Seed = None,
    max_queries: MaxQueries = None,
    samples: Samples = None,
    flip: Flip = 0.0,
    as_json: Json = False,
) -> None:
    """Play a strategy against an oracle and count its queries."""
    from hardness.io.rounding import at_least, at_most
    from hardness.sq.game import play as play_game

    seed = randbits(128) if seed is None else seed
    result = play_game(
        concepts, strategy, oracle, tolerance, seed=seed, max_queries=max_queries, samples=samples, flip=flip
    )
    forms = {"bound": at_least, "ratio": at_most, "floor_ratio": at_most}
    fields = {name: value for name, value in (vars(result) | {"seed": seed}).items() if value is not None}
    shown = {name: forms[name](value, digits=6) if name in forms else value for name, value in fields.items()}
    emit(as_json, fields, [f"{name:18} {value}" for name, value in shown.items()])


def certify(
    concepts: "ParityConcepts",
    tolerance: Tolerance,
    kind: Kind,
    out: Out,
    strategy: Asked = None,
    seed: Seed = None,
    max_queries: MaxQueries = None,
    as_json: Json = False,
) -> None:
    """A statement with a proof that `checker/check_certificate.py` verifies without the lab.

    It says what a run left open, or is a lower bound, or the exact value of a small class.
    """
    from hardness.sq import certificate
    from hardness.sq.tolerance import check_tolerance

    if kind != "transcript" and (strategy is not None or seed is not None or max_queries is not None):
        raise InputError(f"--strategy, --seed and --max-queries are for a transcript, not for a {kind}")
    check_tolerance(tolerance)
    seed = randbits(128) if seed is None else seed
    if kind == "transcript":
        found = certificate.transcript(
            concepts, tolerance, strategy or "sign-batch", seed=seed, max_queries=max_queries
        )
        talk(f"seed {seed}")
    elif kind == "bound":
        found = certificate.bound(concepts, tolerance)
    else:
        found = certificate.value(concepts.n, [concepts.s], tolerance, seconds=CERTIFICATE_SECONDS)
    certificate.write(found, out)
    said = certificate.statement(found)
    emit(as_json, {"kind": kind, "statement": said, "out": str(out)}, [said, f"written to {out}"])
