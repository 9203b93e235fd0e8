"""Commands on learners: learn, learners."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from hardness.cli.common import RESOURCES, SOLVERS, Json, Seed, complete, emit, emit_registered
from hardness.errors import InputError
from hardness.io.texts import parse_value, sanitize

Name = Annotated[
    str,
    typer.Argument(
        help="A name of `hardness learners`, or package.module:Class.", autocompletion=complete("learner")
    ),
]
File = Annotated[Path | None, typer.Argument(help="An instance file.", show_default=False)]
Count = Annotated[int | None, typer.Option(help="Examples to learn from.")]
Test = Annotated[int, typer.Option(help="Fresh examples to judge on.")]
Heads = Annotated[str | None, typer.Option(help="Heads that the learner is given; auto: it finds out.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="An option of the learner; may be repeated."),
]
Options = dict[str, int | float | bool | str | None]
CheckOnly = Annotated[
    bool, typer.Option("--check", help="Say what is wrong with the learner instead; no F needed.")
]


def settings(words: Iterable[str]) -> Options:
    """What ``--set NAME=VALUE`` says: numbers, true, false and none as such, and else text.

    >>> settings(["l1=0.03", "batch=512", "loss=hinge", "rate=none"])
    {'l1': 0.03, 'batch': 512, 'loss': 'hinge', 'rate': None}
    >>> settings(["l1"])
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: --set takes NAME=VALUE, got 'l1'
    """
    values: Options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name.isidentifier() and equals and value):
            raise InputError(f"--set takes NAME=VALUE, got {sanitize(repr(word), 80)}")
        if name in values:
            raise InputError(f"--set gives {name} twice; give it once")
        values[name] = parse_value(value)
        if value.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise InputError(f"--set {name} must be finite, got {sanitize(value, 60)}")
    return values


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=SOLVERS)(learn)
    app.command(rich_help_panel=SOLVERS)(learners)


def learn(
    learner: Name,
    target: File = None,
    count: Count = None,
    test: Test = 2000,
    seed: Seed = None,
    heads: Heads = None,
    options: Set = None,
    threads: Annotated[
        int, typer.Option(min=1, help="Threads of the learner.", rich_help_panel=RESOURCES)
    ] = 1,
    limit: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds that end the learner.", rich_help_panel=RESOURCES)
    ] = None,
    criterion: Annotated[
        str, typer.Option(metavar="explained|signs|exact", help="What counts as solved.")
    ] = "explained",
    check: CheckOnly = False,
    verbose: Annotated[bool, typer.Option(help="All numbers of every phase.")] = False,
    as_json: Json = False,
) -> None:
    """Run a learner on examples of an instance, and judge what it learned on fresh ones.

    An examples file may stand for the instance: then a tenth of its rows is held out for the judge.

    Example: hardness learn provable nice.safetensors --count 20000 --seed 0
    """
    heads_asked = int(heads) if heads is not None and heads.lstrip("-").isdecimal() else heads
    if check:
        _check(learner, settings(options or ()), heads_asked, threads, limit, as_json)
        return
    if target is None:
        raise InputError(
            "learn needs an instance file and --count N (or --check, to examine the learner alone)"
        )
    from hardness.engine.progress import steps
    from hardness.evaluation.learning import learn as learn_one
    from hardness.instance import Instance

    is_instance = target.suffix not in (".npz", ".parquet")
    if is_instance and count is None:
        raise InputError("learn needs --count N beside an instance file")
    with steps(learner) as tell:
        trial = learn_one(
            Instance.load(target) if is_instance else target,
            learner,
            count,
            options=settings(options or ()),
            test=test,
            seed=seed,
            heads=heads_asked,
            threads=threads,
            limit=limit,
            criterion=criterion,
            progress=tell,
        )
    payload = {name: value for name, value in trial.items() if name != "model"}
    known = {name: payload[name] for name in ("relative_error", "sign_accuracy", "open_error")}
    share = payload["explained"]
    yardstick = [] if share is None else [f"{share:.3g} of the variance explained"]
    scores = [f"{value:.3g} {name}" for name, value in known.items() if value is not None]
    took = f"{payload['train_examples']} examples, {payload['seconds']:.2f} s"
    place = [f"on {payload['device']}"] if "device" in payload else []
    head = ", ".join([payload["status"], *yardstick, *scores, took, *place])
    emit(as_json, payload, [head, *_phases(payload["phases"], verbose), *_certificates(payload)])
    if payload["status"] == "error":
        raise typer.Exit(1)


def _phases(phases: list[dict[str, Any]], verbose: bool) -> Iterator[str]:
    """Yield a line for each phase, of repeated ones for the last; all, with their numbers, if verbose."""
    last = {phase["name"].partition(" ")[0]: i for i, phase in enumerate(phases)}
    for i, phase in enumerate(phases):
        name, reason = phase["name"], phase["reason"]
        if name.split()[-1].isdecimal() and not verbose and i != last[name.partition(" ")[0]]:
            continue
        sentence = "; ".join(part for part in (phase.get("line", ""), reason) if part)
        yield f"{name:22} {phase['verdict']:8} {sentence or _numbers(phase['diagnostics'])}"
        if verbose and sentence:
            yield f"{'':31} {_numbers(phase['diagnostics'])}"


def _certificates(payload: dict[str, Any]) -> Iterator[str]:
    """Yield what the provable learner certifies, which of the heads were recovered, and the condition that fails."""
    if "certified" not in payload:
        return
    yield _numbers({name: payload[name] for name in ("certified", "certified_error", "polished_error")})
    if heads := payload.get("heads"):
        share, worst = f"{heads['recovered']} of {len(heads['order'])}", heads["worst"]
        yield f"heads recovered {share}, worst relative error {worst:.2g}"
        if radius := heads["certified_radius"]:
            yield f"no other layer near fits: one within reach that does lies within {radius:.2g} of this one"
    if failed := payload["condition"]:
        yield f"condition {failed['name']}: {failed['value']:.3g}, the phases need {failed['threshold']:.3g}"


def _numbers(diagnostics: dict[str, object]) -> str:
    return "  ".join(
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in diagnostics.items()
        if isinstance(value, (int, float, str))
    )


def _check(
    name: str, options: Options, heads: int | str | None, threads: int, limit: float | None, as_json: bool
) -> None:
    from hardness.engine.progress import steps
    from hardness.evaluation.conformance import NEEDED
    from hardness.evaluation.learning import check

    with steps(name) as tell:
        checks = check(name, options, heads, threads=threads, limit=limit, progress=tell)
    ok = all(check.ok for check in checks)
    needed = [check.name in NEEDED for check in checks]
    lines = [
        f"{'ok' if check.ok else 'NO':3} {'needed' if must else 'advised':8} {check.name:18} {check.detail}"
        for check, must in zip(checks, needed, strict=True)
    ]
    listed = [check._asdict() | {"needed": must} for check, must in zip(checks, needed, strict=True)]
    emit(as_json, {"ok": ok, "learner": name, "checks": listed}, lines)
    if not ok:
        raise typer.Exit(1)


def learners(as_json: Json = False) -> None:
    """List the registered learners, and what each does at its defaults.

    The examples are those that it needs with two heads at dim 8. More heads take more.

    Example: hardness learners
    """
    emit_registered("learner", "learners", as_json)
