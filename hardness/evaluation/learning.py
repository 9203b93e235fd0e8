"""One learner, one instance: the learner is handed examples, and the lab judges what it learned on fresh ones."""

import time
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from hardness import registry
from hardness.apart.actors import VERDICTS as VERDICTS
from hardness.apart.actors import make as make
from hardness.apart.actors import plain as plain
from hardness.apart.lab import FOREVER, Apart, stranger
from hardness.errors import Ended, InputError
from hardness.evaluation import online
from hardness.evaluation.judge import judge, solved
from hardness.gadgets.coefficients import Gadget
from hardness.instance import Instance
from hardness.io.memory import afford
from hardness.io.schemas import finite
from hardness.io.texts import shown

MOST = 2**48  # examples of a stream: at a million a second, nine years


def learners() -> list[str]:
    """The names of the registered learners, in order.

    >>> "provable" in learners()
    True
    """
    return registry.names("learner")


def learn(
    instance: Instance,
    name: str,
    count: int,
    *,
    test: int = 2000,
    seed: int | None = None,
    heads: int | str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Fit the learner `name` on `count` examples of the instance and judge it on `test` fresh ones.

    `seed` drives examples and learner by separate spawns. The status is `refused` if the learner's own report says
    so; else `solved` where the lab says so; else `budget` if the report says that, `wrong` if not; `error` if the
    learner raised anything but `InputError`. Raises `InputError` for counts below 1 and an unknown name.

    `options` are the learner's own, by name. Those that it does not have, or of another type than its constructor
    says, are refused with an `InputError`.

    A learner with `partial_fit` is online: it keeps its own width unless `heads` is given, the examples are streamed
    in constant memory, `curve` tells what it explained on the way, and `solved` is .9 of the variance explained. Of a
    structured family `open_curve` tells its mean squared error on rows with z_0 != 0, in units where the label has
    variance 1, and `open_solved` whether that ends at .1 or less; of others both are None.
    A stranger's learner, ``package.module:Class``, runs apart, with arrays only; its predictions are asked for twice.
    `progress` is told what is being done, and of an online learner every look.
    """
    if count < 1 or test < 2:
        raise InputError(f"give at least 1 example to learn from and 2 to test on, got {count} and {test}")
    if count + test >= MOST:
        raise InputError(f"too large for this machine: {shown(count, 60)} examples; lower --count")
    sampling, state = (int(child.generate_state(1, np.uint64)[0]) for child in np.random.SeedSequence(seed).spawn(2))
    told = (heads, instance.heads, state % 2**32)
    guest, tell, chosen = stranger("learner", name), progress or (lambda line: None), dict(options or {})
    payload: dict[str, Any] = {"status": "error", "learner": name, "train_examples": count}
    payload |= {"options": chosen} if chosen else {}
    started = time.perf_counter()
    try:
        if guest:
            with Apart(name, chosen, told[2], time.monotonic() + FOREVER, heads=heads, known=instance.heads) as apart:
                return payload | _learned(instance, apart, apart.streamed, count, test, sampling, tell)
        cls = registry.get("learner", name)
        learner = make(cls, heads, told[2], chosen, instance.heads)
        return payload | _learned(instance, learner, hasattr(cls, "partial_fit"), count, test, sampling, tell)
    except InputError:
        raise
    except Exception as error:
        if isinstance(error, Ended) and error.kind == "InputError":
            raise InputError(error.reason.removeprefix("InputError: ")) from error
        lost = {"test_error": None, "relative_error": None, "sign_accuracy": None}
        reason = shown(error.reason if isinstance(error, Ended) else f"{type(error).__name__}: {error}", 1000)
        raised = {"name": "fit", "verdict": "error", "reason": reason, "diagnostics": {}}
        if isinstance(error, Ended):
            payload["status"] = error.status
        return payload | lost | {"phases": [raised], "seconds": time.perf_counter() - started}


def _learned(
    instance: Instance,
    learner: Any,
    streamed: bool,
    count: int,
    test: int,
    sampling: int,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """What a learner, apart or not, came to."""
    payload: dict[str, Any] = {}
    entries = (test if streamed else count + test) * instance.family.tokens * instance.family.dim
    afford(9.0 * entries, f"a set of {count} examples", "lower --count")  # before anything is said or made
    tell(f"making {count} examples to learn from, {test} to judge on")
    try:
        fresh = instance.examples(test, sampling, start=count, fair=True).X
        train = None if streamed else instance.examples(count, sampling)
    except MemoryError as error:  # of the lab's own examples: no fault of the learner
        raise InputError(f"too large for this machine ({error}); lower the number of examples") from error
    tell(f"fitting {count} examples")
    started = time.perf_counter()
    if train is None:
        payload |= _curves(online.learn(instance, learner, count, test, sampling, tell), instance)
    elif isinstance(learner, Apart):
        learner.partial_fit(train.X, train.Y)
    else:
        learner.fit(train.X, train.Y)
    # A learner apart is only handed the examples: its answer says that it has learned.
    report: Any = _report(learner.report()) if isinstance(learner, Apart) else getattr(learner, "report_", None)
    seconds = time.perf_counter() - started
    tell(f"predicting {test} fresh examples")
    predicted = np.asarray(learner.predict(fresh), dtype=np.float64)
    scores = judge(instance, fresh, predicted)
    won = online.solved(scores) if streamed else solved(scores)
    payload["status"] = _status("" if streamed else getattr(report, "status", ""), won)
    # Of a learner with two verdicts, that of its theorem and that of the search after it, both stand beside the lab's.
    own = {name: plain(getattr(report, name)) for name in VERDICTS} if _certifies(report) else {}
    return payload | scores | own | {"phases": plain(getattr(report, "phases", ())), "seconds": seconds}


def _curves(seen: list[online.Evaluation], instance: Instance) -> dict[str, Any]:
    """What evaluations on the way say; the open part of it None where no rows are open."""
    curve = [(each.examples, each.explained) for each in seen]
    if not isinstance(instance.teacher, Gadget):
        return {"curve": curve, "open_curve": None, "open_solved": None}
    last = seen[-1].open_error
    opened = [(each.examples, each.open_error) for each in seen]
    return {"curve": curve, "open_curve": opened, "open_solved": last is not None and last <= online.OPEN}


def _report(said: dict[str, Any]) -> SimpleNamespace:
    """A stranger's report, of which only what has the right type is taken: status, phases and its two verdicts."""
    found, phases = SimpleNamespace(status=str(said.get("status", ""))[:20], phases=[]), said.get("phases")
    for phase in phases[:50] if isinstance(phases, list) else ():
        if isinstance(phase, dict):
            texts = {name: shown(phase.get(name) or "") for name in ("name", "verdict", "reason")}
            own = phase.get("diagnostics")
            numbers = {shown(k, 40): v for k, v in (own.items() if isinstance(own, dict) else ()) if _number(v)}
            found.phases.append({**texts, "diagnostics": numbers})
    if type(said.get("certified")) is bool:
        for name in VERDICTS:
            setattr(found, name, said.get(name) if _number(said.get(name)) else None)
    return found


def _number(value: Any) -> bool:
    return type(value) in (bool, int, float) and finite(value)


def _certifies(report: Any) -> bool:
    return all(hasattr(report, name) for name in VERDICTS) and report.certified is not None


def _status(claimed: str, won: bool) -> str:
    if claimed == "refused":
        return claimed
    if won:
        return "solved"
    return "budget" if claimed == "budget" else "wrong"
