"""Commands on learners: learn, learners."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hardness.cli.common import RESOURCES, SOLVERS, Json, Seed, argument, emit, emit_registered, option
from hardness.errors import InputError
from hardness.io.texts import parse_value, sanitize

Name = Annotated[str, argument("A name of `hardness learners`, or package.module:Class.", kind="learner")]
Heads = Annotated[str | None, option("Heads that the learner is given; auto: it finds out.")]
Set = Annotated[
    list[str] | None, option("An option of the learner; may be repeated.", "--set", metavar="NAME=VALUE")
]
Threads = Annotated[int, option("Threads of the learner.", panel=RESOURCES, min=1)]
Limit = Annotated[float | None, option("Seconds that end the learner.", panel=RESOURCES, min=0.1)]
Rule = Annotated[str, option("What counts as solved.", metavar="explained|signs|exact")]
CheckOnly = Annotated[bool, option("Say what is wrong with the learner instead; no F needed.", "--check")]
Options = dict[str, int | float | bool | str | None]


def settings(words: Iterable[str]) -> Options:
    """Return what ``--set NAME=VALUE`` says: numbers, true, false and none as such, and else text.

    >>> settings(["l1=0.03", "batch=512", "loss=hinge", "rate=none"])
    {'l1': 0.03, 'batch': 512, 'loss': 'hinge', 'rate': None}
    """
    values: Options = {}
    for word in words:
        name, _, value = word.partition("=")
        if not (name.isidentifier() and value):
            raise InputError(f"--set takes NAME=VALUE, got {sanitize(repr(word), 80)}")
        if name in values:
            raise InputError(f"--set gives {name} twice; give it once")
        values[name] = parse_value(value)
    return values


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=SOLVERS)(learn)
    app.command(rich_help_panel=SOLVERS)(learners)


def learn(
    learner: Name,
    target: Annotated[Path | None, argument("An instance file.", show_default=False)] = None,
    count: Annotated[int | None, option("Examples to learn from.")] = None,
    test: Annotated[int, option("Fresh examples to judge on.")] = 2000,
    seed: Seed = None,
    heads: Heads = None,
    options: Set = None,
    threads: Threads = 1,
    limit: Limit = None,
    criterion: Rule = "explained",
    check: CheckOnly = False,
    as_json: Json = False,
) -> None:
    """Run a learner on examples of an instance, and judge what it learned on fresh ones.

    An examples file may stand for the instance: then a tenth of its rows is held out for the judge.

    Example: hardness learn provable nice.safetensors --count 20000 --seed 0
    """
    from hardness.engine.progress import steps
    from hardness.evaluation import learning
    from hardness.instance import Instance

    asked: int | str | None = int(heads) if heads and heads.lstrip("-").isdecimal() else heads
    chosen = settings(options or ())
    if check:
        with steps(learner) as tell:
            checks = learning.check(learner, chosen, asked, threads=threads, limit=limit, progress=tell)
        _checked(learner, checks, as_json)
        return
    is_instance = target is not None and target.suffix not in (".npz", ".parquet")
    if target is None or (is_instance and count is None):
        raise InputError("learn needs an instance and --count N, or a file of examples, or --check alone")
    with steps(learner) as tell:
        trial = learning.learn(
            Instance.load(target) if is_instance else target,
            learner,
            count,
            options=chosen,
            test=test,
            seed=seed,
            heads=asked,
            threads=threads,
            limit=limit,
            criterion=criterion,
            progress=tell,
        )
    payload = {name: value for name, value in trial.items() if name != "model"}
    known = {name: payload[name] for name in ("relative_error", "sign_accuracy", "open_error")}
    head = [payload["status"]]
    if payload["explained"] is not None:
        head.append(f"{payload['explained']:.3g} of the variance explained")
    head += [f"{value:.3g} {name}" for name, value in known.items() if value is not None]
    head.append(f"{payload['train_examples']} examples, {payload['seconds']:.2f} s")
    if "device" in payload:
        head.append(f"on {payload['device']}")
    emit(as_json, payload, [", ".join(head), *_lines(payload)])
    if payload["status"] == "error":
        raise typer.Exit(1)


def _lines(payload: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each phase, of repeated ones for the last, and what the provable learner certifies."""
    last = {phase["name"].partition(" ")[0]: phase for phase in payload["phases"]}
    for phase in payload["phases"]:
        name, *number = phase["name"].split()
        if number and number[-1].isdecimal() and phase is not last[name]:
            continue
        outcome = phase["reason"] or _numbers(phase["diagnostics"])
        yield f"{phase['name']:22} {phase['verdict']:8} {outcome}"
    if "certified" in payload:
        yield _numbers({name: payload[name] for name in ("certified", "certified_error", "polished_error")})
    if heads := payload.get("heads"):
        yield f"heads recovered {heads['recovered']} of {len(heads['order'])}, {_numbers(heads)}"
    if failed := payload.get("condition"):
        yield f"condition {failed['name']}: {failed['value']:.3g}, the phases need {failed['threshold']:.3g}"


def _numbers(diagnostics: Mapping[str, object]) -> str:
    shown = {key: f"{x:.3g}" if isinstance(x, float) else x for key, x in diagnostics.items()}
    return "  ".join(f"{name} {value}" for name, value in shown.items() if isinstance(value, int | str))


def _checked(learner: str, checks: Iterable[Any], as_json: bool) -> None:
    """Print how a learner passed its checks. Exit with code 1 if one failed."""
    from hardness.evaluation.conformance import NEEDED

    listed = [check._asdict() | {"needed": check.name in NEEDED} for check in checks]
    lines = [
        f"{'ok' if each['ok'] else 'NO':3} {'needed' if each['needed'] else 'advised':8} {each['name']:18} "
        f"{each['detail']}"
        for each in listed
    ]
    ok = all(each["ok"] for each in listed)
    emit(as_json, {"ok": ok, "learner": learner, "checks": listed}, lines)
    if not ok:
        raise typer.Exit(1)


def learners(as_json: Json = False) -> None:
    """List the registered learners, and what each does at its defaults.

    The examples are those that it needs with two heads at dim 8. More heads take more.

    Example: hardness learners
    """
    emit_registered("learner", "learners", as_json)
