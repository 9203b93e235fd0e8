"""Commands on statistical queries: sq bounds, sq play, strategies."""

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hardness.cli.common import SOLVERS, Json, Seed, emit, first_line, group, listed

if TYPE_CHECKING:
    from hardness.sq.game import GameResult

Dim = Annotated[int, typer.Option(help="Features of a token, d; one of them is the gate.")]
Heads = Annotated[int, typer.Option(help="m: the hidden set has size m (diag), m/2 (dot) or 2m - 1 (sharp, wide).")]
Tolerance = Annotated[float, typer.Option(help="STAT(T) on queries with values in [-1, 1]; in (0, 1].")]
Gadget = Annotated[Literal["diag", "dot"], typer.Option(help="diag or dot.")]
ParityGadget = Annotated[Literal["diag", "dot", "sharp", "wide"], typer.Option("--gadget", help="Kind of the heads.")]
Bits = Annotated[int | None, typer.Option(help="Size of the hidden set (sharp, wide); 2m - 1 if absent.")]
Modulus = Annotated[int, typer.Option(help="q, from 2.")]
Levels = Annotated[int, typer.Option(help="p, from 2 to q.")]
SomeHeads = Annotated[int | None, typer.Option(help="m: labels of so many heads; ideal labels if absent.")]
Strategy = Annotated[str, typer.Option(help="A name of `hardness strategies`, or module:function.")]
OracleMode = Annotated[str, typer.Option("--oracle", help="window, null, sampled, noisy, exact or module:Class.")]
Flip = Annotated[float, typer.Option(help="Probability that the sign of a label is flipped; in [0, 0.5).")]
MaxQueries = Annotated[int | None, typer.Option(help="Stop after so many queries.")]
Samples = Annotated[int | None, typer.Option(help="Sampled oracle: so many samples a query, no tolerance promised.")]

Independent = Annotated[int | None, typer.Option(min=1, help="K: so many affinely independent parities.")]

sq_app = group("Statistical queries: bounds and games.", "sq bounds parity --dim 64 --heads 6 --tolerance 0.05")
bounds_app = group(
    "Lower bounds on the queries any strategy needs.", "sq bounds parity --dim 64 --heads 6 --tolerance 0.05"
)
play_app = group(
    "Play a strategy against an oracle and count its queries.",
    "sq play parity --dim 17 --heads 4 --tolerance 0.1 --strategy sign-batch",
)


value_app = typer.Typer(
    invoke_without_command=True,
    epilog="Example: hardness sq value parity --dim 5 --heads 2 --tolerance 0.15",
)
_UNIDENTIFIABLE = "nothing is identifiable at this tolerance: from 1/4 on no query tells two parities apart"


def register(app: typer.Typer) -> None:
    sq_app.add_typer(bounds_app, name="bounds")
    sq_app.add_typer(value_app, name="value")
    sq_app.add_typer(play_app, name="play")
    app.add_typer(sq_app, name="sq", rich_help_panel=SOLVERS)
    app.command(rich_help_panel=SOLVERS)(strategies)


def strategies(as_json: Json = False) -> None:
    """List the strategies of `sq play`: name and what it asks.

    Example: hardness strategies
    """
    from hardness.sq.strategies import rounding
    from hardness.sq.strategies.parity import STRATEGIES

    families: dict[str, Container[str]] = {"parity": STRATEGIES, "rounding": rounding.STRATEGIES}
    found, broken = listed("strategy")
    rows = [
        (name, [family for family, known in families.items() if name in known] or ["as it says"], first_line(rule))
        for name, rule in ({**found, **rounding.STRATEGIES, **STRATEGIES}).items()
    ]
    payload = [{"name": name, "families": has, "summary": summary} for name, has, summary in rows]
    lines = [f"{name:12} {', '.join(has):17} {summary}" for name, has, summary in rows]
    emit(as_json, {"strategies": payload, "broken": broken}, lines)


@bounds_app.command("parity")
def bounds_parity(
    dim: Dim,
    heads: Heads,
    tolerance: Tolerance,
    gadget: ParityGadget = "diag",
    bits: Bits = None,
    as_json: Json = False,
) -> None:
    """Lower bounds for the hidden parity.

    Example: hardness sq bounds parity --dim 65 --heads 8 --gadget sharp --tolerance 0.1
    """
    from hardness.families.parity import Parity
    from hardness.sq.bounds.parity import parity_bounds

    concepts = Parity(dim, heads, gadget, bits=bits).sets
    _emit_bounds(as_json, concepts.size, {**parity_bounds(concepts, tolerance), **_floors(concepts.size, tolerance)})


def _floors(concepts: int, tolerance: float) -> dict[str, float | None]:
    """The floors in integers of theory 2.7, and whether anything is identifiable."""
    from hardness.sq.exact import IDENTIFIABLE, decimal, exact_floor, strict_floor

    if concepts == 1:
        return {"strict": 0, "exact_floor": 0, "identifiable": True}
    if decimal(tolerance) >= IDENTIFIABLE:
        return {"strict": None, "exact_floor": None, "identifiable": False}
    return {
        "strict": strict_floor(concepts, tolerance),
        "exact_floor": exact_floor(concepts, tolerance),
        "identifiable": True,
    }


@value_app.callback()
def value(
    context: typer.Context,
    independent: Independent = None,
    tolerance: Annotated[float | None, typer.Option(help="STAT(T); in (0, 1].")] = None,
    as_json: Json = False,
) -> None:
    """V, the least number of queries that surely identify, whatever a valid oracle answers: exact (theory 2.7).

    Example: hardness sq value --independent 40 --tolerance 0.05
    """
    if context.invoked_subcommand is not None:
        return
    from hardness.errors import InputError
    from hardness.sq.exact import IDENTIFIABLE, decimal, independent_value
    from hardness.sq.tolerance import check_tolerance

    if independent is None and tolerance is None:
        print(context.get_help())
        return
    if independent is None or tolerance is None:
        raise InputError("sq value needs --independent K and --tolerance T, or: sq value parity --dim D --heads M")
    if decimal(check_tolerance(tolerance)) >= IDENTIFIABLE and independent > 1:
        emit(as_json, {"value": None, "identifiable": False}, [_UNIDENTIFIABLE])
        return
    found = independent_value(independent, tolerance)
    emit(as_json, {"value": found}, [f"V of {independent:,} affinely independent parities: {found:,}"])


@value_app.command("parity")
def value_parity(
    dim: Dim,
    heads: Heads,
    tolerance: Tolerance,
    gadget: ParityGadget = "diag",
    bits: Bits = None,
    seconds: Annotated[float, typer.Option(min=0, help="Search for so long; then a bracket.")] = 60.0,
    as_json: Json = False,
) -> None:
    """V of a small class of hidden parities by exact search; of a larger one, or out of time, a bracket.

    Example: hardness sq value parity --dim 5 --heads 2 --tolerance 0.15
    """
    from hardness.families.parity import Parity
    from hardness.sq.exact import IDENTIFIABLE, decimal
    from hardness.sq.small_games import value as bracket
    from hardness.sq.tolerance import check_tolerance

    concepts = Parity(dim, heads, gadget, bits=bits).sets
    if decimal(check_tolerance(tolerance)) >= IDENTIFIABLE and concepts.size > 1:
        nothing = {"value": None, "lower": None, "upper": None, "status": "exact", "identifiable": False}
        emit(as_json, nothing, [_UNIDENTIFIABLE])
        return
    found = bracket(concepts, tolerance, seconds)
    status = "exact" if found.exact is not None else "bracket"
    fields = {"value": found.exact, "lower": found.lower, "upper": found.upper, "status": status}
    between = f"{found.lower:,}" if found.exact is not None else f"between {found.lower:,} and {found.upper:,}"
    emit(as_json, fields, [f"V of the {concepts.label}, {concepts.size:,} sets: {between} ({status})"])


@bounds_app.command("rounding")
def bounds_rounding(
    dim: Dim,
    modulus: Modulus,
    levels: Levels,
    tolerance: Tolerance,
    gadget: Gadget = "diag",
    heads: SomeHeads = None,
    as_json: Json = False,
) -> None:
    """Lower bounds for the rounded inner product, any dense secret.

    Example: hardness sq bounds rounding --dim 65 --modulus 97 --levels 2 --tolerance 0.05
    """
    from hardness.families.concepts import RoundingConcepts
    from hardness.sq.bounds.rounding import rounding_bounds

    concepts = RoundingConcepts(dim - 1, modulus, levels, gadget, heads)
    _emit_bounds(as_json, concepts.size, rounding_bounds(concepts, tolerance))


@play_app.command("rounding")
def play_rounding(
    dim: Dim,
    modulus: Modulus,
    levels: Levels,
    tolerance: Tolerance,
    strategy: Strategy,
    oracle: OracleMode = "window",
    gadget: Gadget = "diag",
    heads: SomeHeads = None,
    seed: Seed = None,
    max_queries: MaxQueries = None,
    as_json: Json = False,
) -> None:
    """Play for the rounded inner product: ideal labels, unless --heads.

    Example: hardness sq play rounding --dim 7 --modulus 5 --levels 2 --tolerance 0.05 --strategy adaptive
    """
    from hardness.families.concepts import RoundingConcepts
    from hardness.sq.game import play

    concepts = RoundingConcepts(dim - 1, modulus, levels, gadget, heads)
    seed = _drawn(seed)
    _emit_result(as_json, play(concepts, strategy, oracle, tolerance, seed=seed, max_queries=max_queries), seed)


@play_app.command("parity")
def play_parity(
    dim: Dim,
    heads: Heads,
    tolerance: Tolerance,
    strategy: Strategy,
    oracle: OracleMode = "window",
    gadget: ParityGadget = "diag",
    bits: Bits = None,
    seed: Seed = None,
    max_queries: MaxQueries = None,
    samples: Samples = None,
    flip: Flip = 0.0,
    as_json: Json = False,
) -> None:
    """Play for the hidden parity.

    Example: hardness sq play parity --dim 17 --heads 4 --tolerance 0.1 --strategy sign-batch --oracle window
    """
    from hardness.families.parity import Parity
    from hardness.sq.game import play

    concepts = Parity(dim, heads, gadget, bits=bits).sets
    seed = _drawn(seed)
    options: dict[str, Any] = {"max_queries": max_queries, "samples": samples, "flip": flip}
    result = play(concepts, strategy, oracle, tolerance, seed=seed, **options)
    _emit_result(as_json, result, seed)


def _drawn(seed: int | None) -> int:
    from secrets import randbits

    return randbits(128) if seed is None else seed


def _emit_bounds(as_json: bool, concepts: int, bounds: Mapping[str, float | None]) -> None:
    from math import log2

    from hardness.io.rounding import at_least, at_least_power
    from hardness.sq.bounds.parity import SOURCES

    def text(value: float) -> str:
        return at_least(value, digits=6) if value < 10**15 else at_least_power(log2(value), places=2)

    shown = {name: value for name, value in bounds.items() if name in SOURCES and value is not None}
    lines = [f"concepts    {text(concepts)}"]
    lines += [f"{name:11} {text(value):14} {SOURCES[name]}" for name, value in shown.items()]
    if bounds.get("identifiable") is False:
        lines.append(_UNIDENTIFIABLE)
    emit(as_json, {"concepts": concepts, **bounds}, lines)


def _emit_result(as_json: bool, result: "GameResult", seed: int) -> None:
    from hardness.io.rounding import at_least, at_most

    forms = {"bound": at_least, "ratio": at_most, "floor_ratio": at_most}
    fields = {name: value for name, value in (vars(result) | {"seed": seed}).items() if value is not None}
    shown = {name: forms[name](value, digits=6) if name in forms else value for name, value in fields.items()}
    emit(as_json, fields, [f"{name:18} {value}" for name, value in shown.items()])
