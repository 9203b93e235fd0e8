"""Commands on statistical queries: sq bounds, value, play and certify, and strategies."""

from collections.abc import Callable, Mapping
from inspect import Signature, signature
from pathlib import Path
from secrets import randbits
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from typer.core import TyperGroup

from hardness.cli.common import (
    SOLVERS,
    Json,
    Seed,
    command,
    emit,
    emit_registered,
    family_names,
    group,
    talk,
    with_options,
)
from hardness.errors import InputError
from hardness.io.texts import parse_value

if TYPE_CHECKING:
    from hardness.families.concepts import Concepts, ListedConcepts, ParityConcepts, RoundingConcepts

Dim = Annotated[int, typer.Option(help="Features of a token, d; one of them is the gate.")]
Heads = Annotated[
    int, typer.Option(help="m: the hidden set has size m (diag), m/2 (dot) or 2m - 1 (sharp, wide).")
]
Tolerance = Annotated[float, typer.Option(help="STAT(T) on queries with values in [-1, 1]; in (0, 1].")]
SomeTolerance = Annotated[float | None, typer.Option(help="STAT(T); in (0, 1].")]
Gadget = Annotated[Literal["diag", "dot"], typer.Option(help="diag or dot.")]
ParityGadget = Annotated[
    Literal["diag", "dot", "sharp", "wide"], typer.Option("--gadget", help="Kind of the heads.")
]
Bits = Annotated[int | None, typer.Option(help="Size of the hidden set (sharp, wide); 2m - 1 if absent.")]
Modulus = Annotated[int, typer.Option(help="q, from 2.")]
Levels = Annotated[int, typer.Option(help="p, from 2 to q.")]
SomeHeads = Annotated[
    int | None,
    typer.Option(
        help="m: labels of this many heads; ideal labels if absent. The bound does not grow with m, it grows with d; "
        "few heads take it away."
    ),
]
Strategy = Annotated[str, typer.Option(help="A name of `hardness strategies`, or module:function.")]
OracleMode = Annotated[
    str, typer.Option("--oracle", help="window, null, sampled, noisy, exact or module:Class.")
]
Flip = Annotated[
    float, typer.Option(help="Probability that the sign of a parity's label is flipped; in [0, 0.5).")
]
MessageBits = Annotated[int, typer.Option(min=1, help="Bits that a learner keeps of an example.")]
Noise = Annotated[
    float | None, typer.Option(help="Noise on clipped gradients: KAPPA x norm/sqrt(batch) an entry.")
]
Success = Annotated[
    float, typer.Option(help="Probability with which a learner of examples names the set; in (0, 1].")
]
MaxQueries = Annotated[int | None, typer.Option(help="Stop after this many queries.")]
All = Annotated[bool, typer.Option("--all", help="Every bound, those of other authors and models too.")]
Independent = Annotated[int | None, typer.Option(min=1, help="K: this many affinely independent parities.")]
Seconds = Annotated[float, typer.Option(min=0, help="Search for so long; then a bracket.")]
Kind = Annotated[Literal["transcript", "bound", "value"], typer.Option(help="What is certified.")]
Asked = Annotated[str | None, typer.Option("--strategy", help="Of a transcript; sign-batch if absent.")]
Out = Annotated[Path, typer.Option("--out", help="File to write; missing folders are made.")]

CERTIFICATE_SECONDS = 600.0  # for an exact value
UNIDENTIFIABLE = "nothing is identifiable at this tolerance: from 1/4 on no query tells two parities apart"
ALIKE = "nothing is identifiable at this tolerance: no query loses a concept (theory 2.8)"
QUERIES = ("window", "null", "strict", "exact_floor")  # of any query: the others are for other models
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
        settings = {} if run is certify else {"cls": _with_classes(name, run)}
        inner = group(f"{run.__doc__}", f"sq {name} parity {EXAMPLES[f'{name} parity']}", **settings)
        app.add_typer(inner, name=name)
        for make in classes:
            _of_class(inner, name, make, parity_bounds if (run, make) == (bounds, parity) else run)
    parent.add_typer(app, name="sq", rich_help_panel=SOLVERS)
    parent.command(rich_help_panel=SOLVERS)(strategies)


def parity(dim: Dim, heads: Heads, gadget: ParityGadget = "diag", bits: Bits = None) -> "ParityConcepts":
    """The class of the hidden parity."""
    from hardness.families.parity import Parity

    return Parity(dim, heads, gadget, bits=bits).sets


def rounding(
    dim: Dim = 17, modulus: Modulus = 97, levels: Levels = 2, gadget: Gadget = "diag", heads: SomeHeads = None
) -> "RoundingConcepts":
    """The class of the rounded inner product, of any dense secret."""
    from hardness.families.concepts import RoundingConcepts

    return RoundingConcepts(dim - 1, modulus, levels, gadget, heads)


def _of_class(
    parent: typer.Typer, name: str, make: Callable[..., "Concepts"], run: Callable[..., None]
) -> None:
    """Add a command on the class that `make` makes: its options come before those of `run`, whose help it has."""
    call = with_options(signature(make).parameters.values(), make, run)
    example = f"Example: hardness sq {name} {make.__name__} {EXAMPLES[f'{name} {make.__name__}']}"
    parent.command(make.__name__, help=f"{run.__doc__}\n\n{make.__doc__}", epilog=example)(call)


def _with_classes(name: str, run: Callable[..., None]) -> type[TyperGroup]:
    """A group with a command for every class of one's own, ``module:Class``: listed concepts, or a family with such."""

    class Classes(TyperGroup):
        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            known = super().get_command(ctx, cmd_name)
            if known is None and (":" in cmd_name or cmd_name in family_names()):
                return _of_own_class(name, cmd_name, run)
            return known

    return Classes


def _of_own_class(name: str, path: str, run: Callable[..., None]) -> Any:
    """The command on a registered family, or on the class at ``module:Class``; its fields are options."""
    from dataclasses import fields

    from hardness import registry
    from hardness.families.base import Family
    from hardness.families.concepts import ListedConcepts
    from hardness.sq.game import class_of, without_concepts

    kind = registry.get("family", path)
    if issubclass(kind, Family):
        if kind.concepts is Family.concepts:
            raise without_concepts(kind)
        options = signature(run).parameters
        # The family has it: asked for once
        shared = [f.name for f in fields(cast(Any, kind)) if f.name in options]

        def on_family(family: Any, **more: Any) -> None:
            run(class_of(family), **more, **{field: getattr(family, field) for field in shared})

        kept = [option for option in options.values() if option.name not in shared]
        vars(on_family).update(__signature__=Signature(kept), __doc__=run.__doc__)
        return command(f"sq {name}", path, on_family)
    if not issubclass(kind, ListedConcepts):
        raise InputError(f"{path} is neither a family nor a class derived from hardness.ListedConcepts")
    made = [
        p.replace(annotation=_option_type(p.annotation), kind=p.KEYWORD_ONLY)
        for p in signature(kind, eval_str=True).parameters.values()
    ]
    app = typer.Typer(add_completion=False)
    app.command(path, help=f"{run.__doc__}")(with_options(made, kind, run))
    return typer.main.get_command(app)


def _option_type(annotation: Any) -> Any:
    """How an option of a class of one's own is read: as annotated; a number as a number where nothing says so."""
    if annotation is Signature.empty:
        return Annotated[Any, typer.Option(parser=lambda text: parse_value(str(text)), metavar="VALUE")]
    return Annotated[annotation, typer.Option()]


def strategies(as_json: Json = False) -> None:
    """List the strategies of `sq play`: name and what it asks, those of rounding too.

    Example: hardness strategies
    """
    from hardness.sq.strategies import NAMES

    emit_registered("strategy", "strategies", as_json, NAMES)


def bounds(concepts: "Concepts", tolerance: Tolerance, every: All = False, as_json: Json = False) -> None:
    """The strongest proved lower bound on the queries that any strategy needs; with --all, every one.

    Of a class of one's own, `module:Class`, by the largest eigenvalue of its Gram matrix (theory 2.8).
    """
    from hardness.families.concepts import ParityConcepts, RoundingConcepts
    from hardness.sq.bounds.rounding import rounding_bounds

    queries: Mapping[str, Any]
    if isinstance(concepts, ParityConcepts):
        queries = _query_bounds(concepts, tolerance, 0.0)
    elif isinstance(concepts, RoundingConcepts):
        queries = rounding_bounds(concepts, tolerance)
    else:
        queries = _gram_bounds(concepts, tolerance)
    emit(as_json, {"concepts": concepts.size, **queries}, _bound_lines(concepts.size, queries, every))


def _gram_bounds(concepts: "ListedConcepts", tolerance: float) -> dict[str, Any]:
    """lambda with its interval, and the bounds that follow."""
    from hardness.sq.bounds.gram import eigenvalue, gram_bounds, identifiable

    fields: dict[str, Any] = {"eigenvalue": [*eigenvalue(concepts)]}
    impossible = {} if identifiable(concepts, tolerance) is None else {"identifiable": False}
    return {**fields, **gram_bounds(concepts, tolerance), **impossible}


def parity_bounds(
    concepts: "ParityConcepts",
    tolerance: SomeTolerance = None,
    message_bits: MessageBits = 1,
    noise: Noise = None,
    success: Success = 0.9,
    flip: Flip = 0.0,
    every: All = False,
    as_json: Json = False,
) -> None:
    """The strongest proved bound on the queries of any strategy, and on examples of learners that keep little of each.

    Queries only with --tolerance, and for certain success. Examples are informative ones, half of all (theory 2.10).
    """
    from hardness.sq.bounds import messages

    examples = {"message_examples": messages.message_examples(concepts.size, message_bits, success, flip)}
    if noise is not None:
        examples["noisy_gradient_examples"] = messages.proved_examples(concepts.size, noise, success, flip)
    queries = {} if tolerance is None else _query_bounds(concepts, tolerance, flip)
    proved = {"asymptotic_ratio": None, **queries, **examples}
    emit(as_json, {"concepts": concepts.size, **proved}, _bound_lines(concepts.size, proved, every))


def _query_bounds(concepts: "ParityConcepts", tolerance: float, flip: float) -> dict[str, float | None]:
    """The bounds on queries by name, the floors in integers of theory 2.7, and whether anything is identifiable."""
    from hardness.sq.bounds.floors import IDENTIFIABLE, asymptotic_ratio, decimal, exact_floor, strict_floor
    from hardness.sq.bounds.parity import parity_bounds as of_queries

    proved = of_queries(concepts, tolerance, flip)
    radius = decimal(tolerance) / (1 - 2 * decimal(flip))  # flips shrink all means (theory 1.2b)
    size = concepts.size
    if size == 1 or radius >= IDENTIFIABLE:
        nothing = 0 if size == 1 else None
        return {**proved, "strict": nothing, "exact_floor": nothing, "identifiable": size == 1}
    floors = {"strict": strict_floor(size, radius), "exact_floor": exact_floor(size, radius)}
    limit = asymptotic_ratio(concepts.s, radius)
    return {
        **proved,
        **floors,
        "identifiable": True,
        "asymptotic_ratio": None if limit is None else float(limit),
    }


def _bound_lines(concepts: int, proved: Mapping[str, Any], every: bool) -> list[str]:
    """Return a line a bound, with its source, in the order given: of those on queries the strongest, or every one."""
    from math import log2

    from hardness.io.rounding import at_least, at_least_power, at_most
    from hardness.sq.bounds import gram, messages, parity

    sources = {**parity.SOURCES, **messages.SOURCES}

    def text(value: float) -> str:
        return at_least(value, digits=6) if value < 10**15 else at_least_power(log2(value), places=2)

    shown = {name: value for name, value in proved.items() if name in sources and value is not None}
    if not every:
        comparable = {name: value for name, value in shown.items() if name in QUERIES}
        strongest = max(comparable, key=lambda name: comparable[name], default=None)
        kept = (strongest, "share", "error_mass", *messages.SOURCES)
        shown = {name: value for name, value in shown.items() if name in kept}
    if "eigenvalue" in proved:
        sources |= gram.SOURCES
    width = max(len(name) for name in ("concepts", *shown))
    lines = [f"{'concepts':{width}} {text(concepts)}"]
    if "eigenvalue" in proved:
        low, high = proved["eigenvalue"]
        lines.append(f"{'eigenvalue':{width}} {at_least(low, 6)} to {at_most(high, 6)}")
    written = {name: text(value) for name, value in shown.items()}
    if "error_mass" in shown:  # an upper bound, unlike all others
        written["error_mass"] = at_most(shown["error_mass"], digits=6)
    lines += [f"{name:{width}} {written[name]:14} {sources[name]}" for name in shown]
    nothing = ALIKE if "eigenvalue" in proved else UNIDENTIFIABLE
    lines += [f"no bound: {proved['reason']}"] if "reason" in proved else []
    return lines + ([nothing] if proved.get("identifiable") is False else [])


@value_app.callback()
def value(
    context: typer.Context,
    independent: Independent = None,
    tolerance: SomeTolerance = None,
    as_json: Json = False,
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
        raise InputError(
            "sq value needs --independent K and --tolerance T, or: sq value parity --dim D --heads M"
        )
    if not _identifiable(independent, tolerance):
        emit(as_json, {"value": None, "identifiable": False}, [UNIDENTIFIABLE])
        return
    from hardness.exact.independent import independent_value

    exact = independent_value(independent, tolerance)
    emit(as_json, {"value": exact}, [f"V of {independent:,} affinely independent parities: {exact:,}"])


def value_of_class(
    concepts: "ParityConcepts", tolerance: Tolerance, seconds: Seconds = 60.0, as_json: Json = False
) -> None:
    """V of a small class of hidden parities by exact search; of a larger one, or out of time, a bracket."""
    from hardness.exact.small_games import value as bracket

    if not _identifiable(concepts.size, tolerance):
        nothing = {"value": None, "lower": None, "upper": None, "status": "exact", "identifiable": False}
        emit(as_json, nothing, [UNIDENTIFIABLE])
        return
    game = bracket(concepts, tolerance, seconds)
    status = "exact" if game.exact is not None else "bracket"
    fields = {"value": game.exact, "lower": game.lower, "upper": game.upper, "status": status}
    between = f"{game.lower:,}" if game.exact is not None else f"between {game.lower:,} and {game.upper:,}"
    emit(as_json, fields, [f"V of the {concepts.label}, {concepts.size:,} sets: {between} ({status})"])


def _identifiable(concepts: int, tolerance: float) -> bool:
    from hardness.sq.bounds.floors import IDENTIFIABLE, check_tolerance, decimal

    return decimal(check_tolerance(tolerance)) < IDENTIFIABLE or concepts == 1


def play(
    concepts: "Concepts",
    tolerance: Tolerance,
    strategy: Strategy,
    oracle: OracleMode = "window",
    seed: Seed = None,
    max_queries: MaxQueries = None,
    flip: Flip = 0.0,
    as_json: Json = False,
) -> None:
    """Play a strategy against an oracle and count its queries."""
    from hardness.families.concepts import ParityConcepts
    from hardness.io.rounding import at_least, at_most
    from hardness.sq.game import play as play_game

    seed = randbits(128) if seed is None else seed
    result = play_game(concepts, strategy, oracle, tolerance, seed=seed, max_queries=max_queries, flip=flip)
    forms = {"bound": at_least, "ratio": at_most, "floor_ratio": at_most}
    fields = {name: value for name, value in (vars(result) | {"seed": seed}).items() if value is not None}
    shown = {name: forms[name](value, digits=6) if name in forms else value for name, value in fields.items()}
    lines = [f"{name:18} {value}" for name, value in shown.items()]
    hopeless = (
        isinstance(concepts, ParityConcepts) and result.status == "budget" and oracle in ("window", "null")
    )
    hopeless = hopeless and not _identifiable(concepts.size, tolerance)
    emit(as_json, fields, [*lines, UNIDENTIFIABLE] if hopeless else lines)


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
    from hardness.exact import certificate
    from hardness.io.files import refuse_other_than_file
    from hardness.sq.bounds.floors import check_tolerance

    refuse_other_than_file(out)
    if kind != "transcript" and (strategy is not None or seed is not None or max_queries is not None):
        raise InputError(f"--strategy, --seed and --max-queries are for a transcript, not for a {kind}")
    check_tolerance(tolerance)
    seed = randbits(128) if seed is None else seed
    if kind == "transcript":
        proof = certificate.transcript(
            concepts, tolerance, strategy or "sign-batch", seed=seed, max_queries=max_queries
        )
        talk(f"seed {seed}")
    elif kind == "bound":
        proof = certificate.bound(concepts, tolerance)
    else:
        proof = certificate.value(concepts.n, [concepts.s], tolerance, seconds=CERTIFICATE_SECONDS)
    certificate.write(proof, out)
    statement = certificate.statement(proof)
    emit(as_json, {"kind": kind, "statement": statement, "out": str(out)}, [statement, f"written to {out}"])
