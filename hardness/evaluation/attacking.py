"""Run one attack on one set of examples: `hardness.attack`."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.attacks import Progress, Recovery
from hardness.attacks.acceptance import accepts, stands_out
from hardness.attacks.equations import extract, hidden, predictions
from hardness.errors import InputError, TrialEnded
from hardness.evaluation.solver import Solver
from hardness.evaluation.worker import FOREVER, Worker
from hardness.examples import Examples, read
from hardness.instance import Instance
from hardness.instance.challenge import opened
from hardness.io.schemas import STATUSES
from hardness.io.texts import sanitize_json
from hardness.tokens import Signs

UNFOUNDED = "the labels do not follow from the secret that it names, or are too few to tell"


def attack(
    target: str | Path | Instance,
    name: Any,
    count: int | None = None,
    *,
    budget: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Recovery:
    """Attack a file of examples, or `count` examples of an instance: the attack sees no more.

    `name` is a registered attack, ``module:function``, or the function itself; what is named and not built in runs in
    a worker process. `budget` counts what the attack counts; `seed` draws the examples, if any, and the attack's own
    choices by separate spawns. Labels of a built-in family must follow from the secret that an attack names, or the
    status is `wrong`; of another family no equations are known here, and its attack is taken at its word. Raises
    `InputError` for an unknown attack or file, and where the attack refuses the family.

    >>> from hardness.families.parity import Parity
    >>> instance = Instance.generate(Parity(dim=16, heads=3), seed=0)
    >>> attack(instance, "gaussian", 200).secret == {"support": instance.secret["support"].tolist()}
    True
    """
    if isinstance(name, str):
        registry.module_of("attack", name)  # a misspelt name is said before anything else
    sampling, choices = (
        int(child.generate_state(1, np.uint64)[0]) for child in np.random.SeedSequence(seed).spawn(2)
    )
    if isinstance(target, Instance):
        if type(count) is not int or count < 1:
            raise InputError(
                f"say how many examples the attack gets, an integer of at least 1; got {count!r}"
            )
        examples, public = target.examples(count, sampling), target.public(sampling)
        return attack_examples(examples, public, name, budget, choices, progress)
    return attack_file(Path(target), name, budget, choices, progress)


def attack_file(
    path: Path, name: Any, budget: int | None = None, seed: int = 0, progress: Progress | None = None
) -> Recovery:
    """Attack a file of examples, or the public folder of a challenge."""
    if (path / "challenge.json").is_file():
        return attack_challenge(path, name, budget, seed, progress)
    return attack_examples(*read(path), name, budget, seed, progress)


def attack_challenge(
    folder: Path, name: Any, budget: int | None = None, seed: int = 0, progress: Progress | None = None
) -> Recovery:
    """Attack the public folder of a challenge: `solved` if what the attack found opens a commitment.

    `predictions` are the held-out labels then. Raises `InputError` where the challenge was changed.
    """
    examples, public = read(folder / "examples.npz")
    recovery = attack_examples(examples, public, name, budget, seed, progress)

    def guesses(X: Signs) -> Iterator[NDArray[np.float64]]:
        if X.shape[1:] != examples.X.shape[1:]:
            raise ValueError(f"inputs of shape {X.shape[1:]} beside examples of shape {examples.X.shape[1:]}")
        return predictions(recovery, hidden(public), X)

    right = opened(folder, guesses)
    if right is None:
        return replace(recovery, status="wrong" if recovery.status == "solved" else recovery.status)
    return replace(recovery, status="solved", predictions=right.tolist())


def attack_examples(
    examples: Examples,
    public: dict[str, Any],
    name: Any,
    budget: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Recovery:
    """Attack examples with their public parameters; `seed` is the attack's own."""
    if isinstance(name, str) and not registry.is_builtin("attack", name):
        outcome = _in_worker(examples, public, name, budget, seed)
        foreign = public.get("family") not in registry.names("family", builtin=True)
        if outcome.status == "solved" and not foreign and not _follows(outcome.secret, examples, public):
            return Recovery(
                "wrong", outcome.secret, outcome.samples_used, outcome.seconds, {"reason": UNFOUNDED}
            )
        return outcome
    run = registry.get("attack", name) if isinstance(name, str) else name
    outcome = run(examples.X, examples.Y, public, budget=budget, seed=seed, progress=progress)
    if not isinstance(outcome, Recovery):
        raise InputError(f"attack {name} returned {type(outcome).__name__}, not a hardness.attacks.Recovery")
    return outcome


def _in_worker(
    examples: Examples, public: dict[str, Any], name: str, budget: int | None, seed: int
) -> Recovery:
    began, report = time.monotonic(), dict[str, Any]()
    try:
        with Worker(
            Solver("attack", name, {"public": public, "budget": budget}), seed, began + FOREVER
        ) as worker:
            try:
                worker.partial_fit(examples.X, examples.Y)
            finally:
                report = worker.report()
    except TrialEnded as error:
        if error.kind == "InputError":
            raise InputError(error.reason) from error
        report = {"status": error.status, "detail": {"reason": error.reason, **report.get("detail", {})}}
    status = report.get("status") if report.get("status") in STATUSES else "wrong"
    used = report.get("samples_used")
    used = used if type(used) is int and 0 <= used <= len(examples) else len(examples)
    return Recovery(
        str(status),
        report.get("secret"),
        used,
        time.monotonic() - began,
        sanitize_json(report.get("detail") or {}),
    )


def _follows(secret: Mapping[str, Any] | None, examples: Examples, public: Mapping[str, Any]) -> bool:
    """Tell whether the labels agree with the secret as none agree by chance."""
    try:
        equations = extract(examples.X, examples.Y, dict(public))
        w = equations.kind.read(secret or {}, equations.n)
        return stands_out(equations, w) and accepts(equations, w)
    except (InputError, LookupError, ValueError, TypeError):
        return False
