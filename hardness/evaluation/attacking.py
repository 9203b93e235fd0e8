"""Run one attack on one set of examples: `hardness.attack`."""

import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hardness import registry
from hardness.attacks import Progress, Recovery
from hardness.attacks.acceptance import accepts
from hardness.attacks.equations import extract
from hardness.errors import InputError, one_line
from hardness.examples import Examples, read
from hardness.instance import Instance
from hardness.instance.challenge import judge
from hardness.io.fields import whole
from hardness.io.texts import sanitize_json

UNFOUNDED = "the labels do not follow from the secret that it names"


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

    `name` is a registered attack, ``module:function``, or the function itself. `budget` counts what the attack counts;
    `seed` draws the examples, if any, and the attack's own choices by separate spawns. Labels of a built-in family must
    follow from the secret that an attack names, or the status is `wrong`; of another family no equations are known
    here, and its attack is taken at its word. Raises `InputError` for an unknown attack or file, and where the attack
    refuses the family.

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
    if not isinstance(target, Instance):
        return attack_file(Path(target), name, budget, choices, progress)
    whole("count", count, 1, why="say how many examples the attack gets")
    examples, public = target.examples(int(count or 0), sampling), target.public(sampling)
    return attack_examples(examples, public, name, budget, choices, progress)


def attack_file(
    path: Path, name: Any, budget: int | None = None, seed: int = 0, progress: Progress | None = None
) -> Recovery:
    """Attack a file of examples, or the public folder of a challenge.

    A secret that does not open the challenge's commitment is `wrong`.
    """
    challenge = (path / "challenge.json").is_file()
    examples, public = read(path / "examples.npz" if challenge else path)
    recovery = attack_examples(examples, public, name, budget, seed, progress)
    if not challenge or recovery.secret is None:
        return recovery
    verdict = judge(path, recovery.secret)
    return recovery if verdict.ok else replace(recovery, status="wrong", detail={"reason": verdict.reason})


def attack_examples(
    examples: Examples,
    public: dict[str, Any],
    name: Any,
    budget: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Recovery:
    """Attack examples with their public parameters; `seed` is the attack's own."""
    run, began = registry.get("attack", name) if isinstance(name, str) else name, time.monotonic()
    try:
        with redirect_stdout(sys.stderr):  # what an attack prints is no data of the caller's
            outcome = run(examples.X, examples.Y, public, budget=budget, seed=seed, progress=progress)
    except InputError:
        raise
    except Exception as error:
        reason = {"reason": one_line(error)}
        return Recovery("error", None, len(examples), time.monotonic() - began, reason)
    if not isinstance(outcome, Recovery):
        raise InputError(f"attack {name} returned {type(outcome).__name__}, not a hardness.attacks.Recovery")
    if not isinstance(name, str) or registry.is_builtin("attack", name):
        return outcome
    outcome = replace(outcome, detail=sanitize_json(outcome.detail))
    known = public["family"] in registry.names("family", builtin=True)
    if outcome.status == "solved" and known and not _follows(outcome.secret, examples, public):
        return replace(outcome, status="wrong", detail={"reason": UNFOUNDED})
    return outcome


def _follows(secret: Mapping[str, Any] | None, examples: Examples, public: Mapping[str, Any]) -> bool:
    """Tell whether the labels follow from the secret."""
    try:
        equations = extract(examples.X, examples.Y, dict(public))
        w = equations.kind.read(secret or {}, equations.n)
        return accepts(equations, w)
    except (InputError, LookupError, ValueError, TypeError):
        return False
