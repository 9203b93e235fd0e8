"""Commands on learners: learn, learners."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hardness.cli.common import Json, Seed, argument, emit, emit_checks, emit_registered, option
from hardness.errors import InputError
from hardness.io.rounding import bounded
from hardness.io.texts import parse_value, sanitize

Set = Annotated[
    list[str] | None, option("An option of the learner; may be repeated.", "--set", metavar="NAME=VALUE")
]
Options = dict[str, int | float | bool | str | None]


def settings(words: Iterable[str]) -> Options:
    """Return the options that `words`, each NAME=VALUE, give: numbers, true, false and none as Python's, else texts.

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


def learn(
    learner: Annotated[str, argument("A name of `hardness learners`, or package.module:Class.")],
    target: Annotated[Path | None, argument("An instance file.", show_default=False)] = None,
    count: Annotated[int | None, option("Examples to learn from.")] = None,
    test: Annotated[int, option("Fresh examples to judge on.")] = 2000,
    seed: Seed = None,
    heads: Annotated[str | None, option("Heads that the learner is given; auto: it finds out.")] = None,
    options: Set = None,
    threads: Annotated[int, option("Threads of the learner.", min=1)] = 1,
    limit: Annotated[float | None, option("Seconds that end the learner.", min=0.1)] = None,
    criterion: Annotated[
        str, option("What counts as solved.", metavar="explained|signs|exact")
    ] = "explained",
    check: Annotated[
        bool, option("Check the learner on small data instead; no instance file is needed.")
    ] = False,
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
        checks = learning.check(learner, chosen, asked, threads=threads, limit=limit)
        emit_checks(as_json, checks, learner=learner)
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
    scores = ("explained", "relative_error", "sign_accuracy", "open_error")
    head = [": ".join(filter(None, (payload["status"], sanitize(payload["reason"], 1000))))]
    head += [f"{payload[name]:.3g} {name}" for name in scores if payload[name] is not None]
    head.append(f"{payload['train_examples']} examples, {payload['seconds']:.2f} s")
    if payload["status"] == "solved" and payload.get("refused_by") and payload.get("certified") is False:
        head[0] += " by a local search alone, as the phases refused"
    emit(as_json, payload, [", ".join(head), *_lines(trial)])
    if payload["status"] == "error":
        raise typer.Exit(1)


def _lines(trial: Any) -> Iterator[str]:
    """Yield a line per phase that a trial's learner reports, then what the provable learner recovered or missed."""
    for phase in trial.last_phases:
        outcome = phase["reason"] or _numbers(phase["diagnostics"])
        yield f"{phase['name']:22} {phase['verdict']:8} {outcome}"
    if heads := trial.get("heads"):
        yield f"heads recovered {heads['recovered']} of {len(heads['order'])} to 1 %; other heads may give equal labels"
        yield f"certified {trial.certified}: True if the phases' own layer errs by at most .1 on examples that none saw"
    if failed := trial.get("condition"):
        value = bounded(failed["value"], failed["needs"] == "at most", digits=6)
        yield f"condition {failed['name']}: {value}, the phases need {failed['needs']} {failed['threshold']:g}"


def _numbers(diagnostics: Mapping[str, object]) -> str:
    shown = {key: f"{x:.3g}" if isinstance(x, float) else x for key, x in diagnostics.items()}
    return "  ".join(f"{name} {value}" for name, value in shown.items() if isinstance(value, int | str))


def learners(as_json: Json = False) -> None:
    """List the registered learners, and what each does at its defaults.

    The numbers of examples are those needed with two heads at dim 8. More heads need more.

    Example: hardness learners
    """
    emit_registered("learner", "learners", as_json)
