"""One learner, one instance: the learner is handed examples, and the lab judges what it learned on fresh ones."""

import time
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from hardness import online, registry
from hardness.errors import InputError
from hardness.instance import Instance
from hardness.judging import judge, solved

VERDICTS = ("certified", "certified_error", "polished_error", "random_start_error")


def learners() -> list[str]:
    """The names of the registered learners, in order.

    >>> "provable" in learners()
    True
    """
    return registry.names("learner")


def make(cls: Any, heads: int | str | None, random_state: int) -> Any:
    """An instance of a learner class, told the heads (unless None) and the random state if it has such parameters."""
    from inspect import signature

    known = signature(cls).parameters
    offered = {"heads": heads, "random_state": random_state, "seed": random_state}
    return cls(**{name: value for name, value in offered.items() if name in known and value is not None})


def learn(
    instance: Instance,
    name: str,
    count: int,
    *,
    test: int = 2000,
    seed: int | None = None,
    heads: int | str | None = None,
) -> dict[str, Any]:
    """Fit the learner `name` on `count` examples of the instance and judge it on `test` fresh ones.

    `seed` drives examples and learner by separate spawns. The status is `refused` if the learner's own report says
    so; else `solved` where the lab says so; else `budget` if the report says that, `wrong` if not; `error` if the
    learner raised anything but `InputError`. Raises `InputError` for counts below 1 and an unknown name.

    A learner with `partial_fit` is online: it keeps its own width unless `heads` is given, the examples are streamed
    in constant memory, `curve` tells what it explained on the way, and `solved` is .9 of the variance explained.
    """
    if count < 1 or test < 2:
        raise InputError(f"give at least 1 example to learn from and 2 to test on, got {count} and {test}")
    sampling, state = (int(child.generate_state(1, np.uint64)[0]) for child in np.random.SeedSequence(seed).spawn(2))
    cls = registry.get("learner", name)
    streamed = hasattr(cls, "partial_fit")
    learner = make(cls, heads if streamed or heads is not None else instance.heads, state % 2**32)
    train = None if streamed else instance.examples(count, sampling)
    fresh = instance.examples(test, sampling, start=count, fair=True).X
    payload: dict[str, Any] = {"status": "error", "learner": name, "train_examples": count}
    started = time.perf_counter()
    try:
        if train is None:
            payload["curve"] = online.learn(instance, learner, count, test, sampling)
        else:
            learner.fit(train.X, train.Y)
        seconds = time.perf_counter() - started
        scores = judge(instance, fresh, np.asarray(learner.predict(fresh), dtype=np.float64))
    except InputError:
        raise
    except Exception as error:
        lost = {"test_error": None, "relative_error": None, "sign_accuracy": None}
        raised = {"name": "fit", "verdict": "error", "reason": f"{type(error).__name__}: {error}", "diagnostics": {}}
        return payload | lost | {"phases": [raised], "seconds": time.perf_counter() - started}
    report = getattr(learner, "report_", None)
    won = online.solved(scores) if streamed else solved(scores)
    payload["status"] = _status("" if streamed else getattr(report, "status", ""), won)
    # Of a learner with two verdicts, that of its theorem and that of the search after it, both stand beside the lab's.
    own = {name: plain(getattr(report, name)) for name in VERDICTS} if _certifies(report) else {}
    return payload | scores | own | {"phases": plain(getattr(report, "phases", ())), "seconds": seconds}


def _certifies(report: Any) -> bool:
    return all(hasattr(report, name) for name in VERDICTS) and report.certified is not None


def _status(claimed: str, won: bool) -> str:
    if claimed == "refused":
        return claimed
    if won:
        return "solved"
    return "budget" if claimed == "budget" else "wrong"


def plain(value: Any) -> Any:
    """Dataclasses, arrays and numpy scalars as JSON types; what is not finite becomes None.

    >>> plain({"eta": np.float64("inf"), "kept": np.int64(3)})
    {'eta': None, 'kept': 3}
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
