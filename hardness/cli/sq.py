"""Commands on statistical queries: sq bounds, value, play, certify and learn, and strategies."""

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from secrets import randbits
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from hardness.cli.common import (
    Json,
    Seed,
    command,
    emit,
    emit_registered,
    family_names,
    group,
    option,
    talk,
    with_options,
)
from hardness.cli.learn import Set, settings
from hardness.errors import InputError

Tolerance = Annotated[float, option("STAT(T) on queries with values in [-1, 1]; in (0, 1].")]
SomeTolerance = Annotated[float | None, option("STAT(T); in (0, 1].")]
MaxQueries = Annotated[int | None, option("Stop after this many queries.", min=0)]
All = Annotated[bool, option("Every bound, those of other authors and models too.", "--all")]

CERTIFICATE_SECONDS = 600.0  # for an exact value
UNIDENTIFIABLE = "nothing is identifiable at this tolerance: no query loses a concept (theory 2.7, 2.8)"
QUERIES = ("window", "null", "strict", "exact_floor")  # of any query: the others are for other models
# What is printed without --all too
ALWAYS = ("concepts", "eigenvalue", "share", "error_mass", "message_examples", "noisy_gradient_examples")
EXAMPLES = {
    "bounds": "parity --dim 65 --heads 8 --gadget sharp --tolerance 0.1",
    "play": "parity --dim 17 --heads 4 --tolerance 0.1 --strategy sign-batch --oracle window",
    "value": "parity --dim 5 --heads 2 --tolerance 0.15",
    "certify": "parity --dim 5 --heads 2 --tolerance 0.15 --kind value --out value.json",
    "learn": "parity --dim 10 --heads 3 --tolerance 0.02 --set rate=0.1",
}


class Classes(TyperGroup):
    """Group a verb's commands, one for each class of concepts: a family, or a listed class ``module:Class``."""

    def list_commands(self, ctx: Any) -> list[str]:
        return ["parity", "rounding"] if self.name in ("bounds", "play") else ["parity"]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        known = self.list_commands(ctx)
        is_class = len(known) > 1 and (":" in cmd_name or cmd_name in family_names())
        return on_class(str(self.name), cmd_name) if is_class or cmd_name in known else None


def on_class(verb: str, path: str) -> Any:
    """Return the command ``sq verb path``, whose options are the fields of `path`, a family or a `ListedConcepts`."""
    from hardness import registry
    from hardness.families import Family
    from hardness.families.concepts import ListedConcepts
    from hardness.sq.game import without_concepts

    kind, run = registry.get("family", path), RUNS.get(f"{verb} {path}", RUNS[verb])
    if issubclass(kind, Family):
        if kind.concepts is Family.concepts:
            raise without_concepts(kind)
        made: Any = command(f"sq {verb}", path, run)
    elif issubclass(kind, ListedConcepts):
        options = [
            p.replace(annotation=Annotated[p.annotation, typer.Option()], kind=p.KEYWORD_ONLY)
            for p in signature(kind, eval_str=True).parameters.values()
        ]
        alone = typer.Typer(add_completion=False)
        alone.command(path)(with_options(options, kind, run))
        made = typer.main.get_command(alone)
    else:
        raise InputError(f"{path} is neither a family nor a class derived from hardness.ListedConcepts")
    made.help, made.epilog = run.__doc__, f"Example: hardness sq {verb} {EXAMPLES[verb]}"
    return made


def strategies(as_json: Json = False) -> None:
    """List the strategies of `sq play` on parities; rounding and listed classes take characters, random, sign-batch.

    Example: hardness strategies
    """
    from hardness.sq.strategies import STRATEGIES

    emit_registered("strategy", "strategies", as_json, STRATEGIES["parity"])


def bounds(concepts: Any, tolerance: Tolerance, every: All = False, as_json: Json = False) -> None:
    """Print the strongest proved lower bound on the queries that any strategy needs; with --all, every one.

    The class is parity, rounding, or `module:Class`: a family with a method `concepts`, or a class that lists its
    concepts (`hardness.ListedConcepts`), whose bound follows from its centred Gram matrix (theory 2.8).
    """
    from hardness.sq.bounds.parity import proved_bounds
    from hardness.sq.game import class_of

    asked, flip = class_of(concepts), getattr(concepts, "flip", 0.0)
    _emit_bounds({"concepts": asked.size, **proved_bounds(asked, tolerance, flip)}, every, as_json)


def parity_bounds(
    family: Any,
    tolerance: SomeTolerance = None,
    message_bits: Annotated[int, option("Bits that a learner keeps of an example.", min=1)] = 1,
    noise: Annotated[
        float | None, option("Noise on clipped gradients: KAPPA x norm/sqrt(batch) an entry.")
    ] = None,
    success: Annotated[
        float, option("Probability with which a learner of examples names the set; in (0, 1].")
    ] = 0.9,
    every: All = False,
    as_json: Json = False,
) -> None:
    """Print the strongest proved bound on queries of any strategy, and on examples of learners that keep few bits.

    Bounds on queries need --tolerance and are for certain success. Only informative examples count, half of all: those
    whose tokens differ in coordinate 0 (theory 2.10).
    """
    from hardness.sq.bounds.messages import message_examples, proved_examples
    from hardness.sq.bounds.parity import proved_bounds
    from hardness.sq.game import class_of

    concepts, flip = class_of(family), family.flip
    proved: dict[str, Any] = {"concepts": concepts.size, "asymptotic_ratio": None}
    if tolerance is not None:
        proved |= proved_bounds(concepts, tolerance, flip)
    proved["message_examples"] = message_examples(concepts.size, message_bits, success, flip)
    if noise is not None:
        proved["noisy_gradient_examples"] = proved_examples(concepts.size, noise, success, flip)
    if tolerance is None:
        talk("say --tolerance for a bound on queries, too")
    _emit_bounds(proved, every, as_json)


def _emit_bounds(proved: Mapping[str, Any], every: bool, as_json: bool) -> None:
    """Print the bounds in `proved`, one a line with its source: on queries only the strongest, unless `every`."""
    from hardness.sq.bounds.parity import SOURCES

    shown = {name: value for name, value in proved.items() if name in SOURCES and value is not None}
    strongest = max((name for name in QUERIES if name in shown), key=lambda name: proved[name], default="")
    lines = [
        f"{name:24} {_text(name, value):14} {SOURCES[name]}"
        for name, value in shown.items()
        if every or name in (*ALWAYS, strongest)
    ]
    lines += [f"no bound: {proved['reason']}"] if "reason" in proved else []
    lines += [UNIDENTIFIABLE] if proved.get("identifiable") is False else []
    emit(as_json, proved, lines)


def _text(name: str, value: Any) -> str:
    """Return the bound called `name` as text: a lower bound rounded down, an upper bound rounded up."""
    from math import log2

    from hardness.io.rounding import at_least, at_least_power, at_most

    if name in ("eigenvalue", "error_mass"):  # upper bounds, unlike all others
        return at_most(value[1] if name == "eigenvalue" else value, digits=6)
    return at_least(value, digits=6) if value < 10**15 else at_least_power(log2(value), places=2)


def value(
    context: typer.Context,
    independent: Annotated[
        int | None, option("K, the number of affinely independent parities.", min=1)
    ] = None,
    tolerance: SomeTolerance = None,
    as_json: Json = False,
) -> None:
    """Print V, the fewest queries that identify one of K parities, whatever a valid oracle answers (theory 2.7)."""
    if context.invoked_subcommand is not None:
        return
    if independent is None or tolerance is None:
        raise InputError(
            "sq value needs --independent K and --tolerance T, or: sq value parity --dim D --heads M"
        )
    from hardness.exact.independent import independent_value
    from hardness.sq.bounds.floors import check_tolerance, identifiable

    if identifiable(independent, check_tolerance(tolerance)):
        exact = independent_value(independent, tolerance)
        emit(as_json, {"value": exact}, [f"V of {independent:,} affinely independent parities: {exact:,}"])
    else:
        emit(as_json, {"value": None, "identifiable": False}, [UNIDENTIFIABLE])


def value_of_class(
    family: Any,
    tolerance: Tolerance,
    seconds: Annotated[float, option("Search for so long; then a bracket.", min=0)] = 60.0,
    as_json: Json = False,
) -> None:
    """Print V, the least number of queries that surely identify a hidden parity, by exact search, or bounds on V."""
    from hardness.exact.small_games import value as bracket
    from hardness.sq.bounds.floors import check_tolerance, identifiable
    from hardness.sq.game import class_of

    concepts: Any = class_of(family)
    if not identifiable(concepts.size, check_tolerance(tolerance)):
        emit(as_json, {"value": None, "identifiable": False}, [UNIDENTIFIABLE])
        return
    lower, upper = bracket(concepts, tolerance, seconds)
    exact, status = (lower, "exact") if lower == upper else (None, "bracket")
    fields = {"value": exact, "lower": lower, "upper": upper, "status": status}
    between = f"from {lower:,} to {upper:,} ({status})"
    emit(as_json, fields, [f"V of the {concepts.label}, {concepts.size:,} sets: {between}"])


def play(
    concepts: Any,
    tolerance: Tolerance,
    strategy: Annotated[str, option("A name of `hardness strategies`, or module:function.")],
    oracle: Annotated[str, option("window, null, sampled, noisy, exact or module:Class.")] = "window",
    seed: Seed = None,
    max_queries: MaxQueries = None,
    as_json: Json = False,
) -> None:
    """Play a strategy against an oracle and count its queries.

    The class is parity, rounding, or `module:Class`: a family with a method `concepts`, or a `hardness.ListedConcepts`.
    """
    from hardness.sq.game import play as play_game

    seed = randbits(128) if seed is None else seed
    _emit_ended(
        play_game(concepts, strategy, oracle, tolerance, seed=seed, max_queries=max_queries), seed, as_json
    )


def _emit_ended(ended: Any, seed: int, as_json: bool) -> None:
    fields = {name: value for name, value in vars(ended).items() if value is not None} | {"seed": seed}
    emit(as_json, fields, [f"{name:18} {value}" for name, value in fields.items()])


def certify(
    family: Any,
    tolerance: Tolerance,
    kind: Annotated[Literal["transcript", "bound", "value"], option("What is certified.")],
    out: Annotated[Path, option("File to write; missing folders are made.")],
    strategy: Annotated[str | None, option("Of a transcript; sign-batch if absent.")] = None,
    seed: Seed = None,
    max_queries: MaxQueries = None,
    as_json: Json = False,
) -> None:
    """Write a statement with a proof that `checker/check_certificate.py` verifies without the lab.

    The statement is which concepts the answers in a run leave possible, a lower bound on queries, or the exact value V
    of a small class (theory 2.7).
    """
    from hardness.exact import certificate
    from hardness.sq.game import class_of

    concepts: Any = class_of(family)
    if kind != "transcript" and (strategy is not None or seed is not None or max_queries is not None):
        raise InputError(f"--strategy, --seed and --max-queries are for a transcript, not for a {kind}")
    if kind == "transcript":
        asked, seed = strategy or "sign-batch", randbits(128) if seed is None else seed
        proof = certificate.transcript(concepts, tolerance, asked, seed=seed, max_queries=max_queries)
    elif kind == "bound":
        proof = certificate.bound(concepts, tolerance)
    else:
        proof = certificate.value(concepts.n, [concepts.s], tolerance, seconds=CERTIFICATE_SECONDS)
    certificate.write(proof, out)
    if seed is not None:
        talk(f"seed {seed}")
    statement = certificate.statement(proof)
    emit(as_json, {"kind": kind, "statement": statement, "out": str(out)}, [statement, f"written to {out}"])


def learn_parity(
    dim: Annotated[int, option("Features of a token, d, up to 18; one of them is the gate.")],
    heads: Annotated[int, option("Hidden bits: this many heads hide them. Of the learner: --set heads=W.")],
    tolerance: Tolerance,
    oracle: Annotated[
        Literal["null", "window", "sampled", "noisy"],
        option("null: coins within T, exact above; window: all sets possible at first."),
    ] = "null",
    seed: Seed = None,
    queries: MaxQueries = None,
    steps: Annotated[int, option("Stop after this many steps.", min=0)] = 1500,
    options: Set = None,
    as_json: Json = False,
) -> None:
    """Run gradient descent by an oracle's answers: every entry of the population gradient is a query.

    The learner is `diagonal`; --set gives its options.

    Example: hardness sq learn parity --dim 10 --heads 3 --tolerance 0.02 --set rate=0.1
    """
    from hardness.evaluation.solver import Solver, make
    from hardness.families.parity import Parity
    from hardness.sq.descent import descend

    seed = randbits(128) if seed is None else seed
    student = make(Solver("learner", "diagonal", settings(options or ())), seed % 2**32)
    sets = Parity(dim, heads).sets
    ended = descend(student.descend, sets, oracle, tolerance, seed=seed, steps=steps, max_queries=queries)
    _emit_ended(ended, seed, as_json)


def learn_nondegenerate(
    dim: Annotated[int, option("Features of a token, d.")],
    heads: Annotated[int, option("m.")],
    tolerance: Tolerance,
    tokens: Annotated[int, option("k, from 2 to d.")] = 2,
    learner: Annotated[str, option("One that learns by averages.")] = "provable",
    oracle: Annotated[
        Literal["noisy", "sampled"], option("noisy: uniform noise within T; sampled: fresh examples.")
    ] = "noisy",
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Run the provable learner on a random layer, whose labels it knows only by averages, right within T.

    Phases 1 to 4 estimate the sum of the heads' W and the affine hull of their Theta, and phase 6b each Theta. A phase
    is ok if its estimate is good enough for the next one.

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


RUNS: dict[str, Callable[..., None]] = {
    "bounds": bounds,
    "bounds parity": parity_bounds,
    "play": play,
    "value": value_of_class,
    "certify": certify,
}


def register(parent: typer.Typer) -> None:
    app = group("Statistical queries: bounds and games.", f"sq bounds {EXAMPLES['bounds']}")
    for verb, run in (("bounds", bounds), ("play", play), ("certify", certify)):
        app.add_typer(group(f"{run.__doc__}", f"sq {verb} {EXAMPLES[verb]}", cls=Classes), name=verb)
    exact = {"cls": Classes, "callback": value, "invoke_without_command": True}
    example = "sq value --independent 40 --tolerance 0.05"
    app.add_typer(group(f"{value.__doc__}", example, **exact), name="value")
    learn = group("What learners reach by the answers of an oracle.", f"sq learn {EXAMPLES['learn']}")
    learn.command("parity")(learn_parity)
    learn.command("nondegenerate")(learn_nondegenerate)
    app.add_typer(learn, name="learn")
    parent.add_typer(app, name="sq")
    parent.command()(strategies)
