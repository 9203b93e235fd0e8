"""Run one attack on one set of examples: `hardness.attack`."""

import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from hardness import registry
from hardness.attacks import Progress, Recovery
from hardness.errors import InputError, one_line
from hardness.examples import read
from hardness.instance import Instance
from hardness.io.fields import whole


def attack(
    target: str | Path | Instance,
    name: Any,
    count: int | None = None,
    *,
    budget: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Recovery:
    """Attack a file of examples, the public folder of a challenge, or `count` examples of an instance (`target`).

    The attack sees examples and public parameters alone. `name` is a registered attack, ``module:function``, or the
    function itself. `budget` is a limit in the attack's own unit of work, and `progress` is called with lines of news.
    `seed` draws an instance's examples and the attack's choices, independently. An attack that fails returns the status
    "error". Raises `InputError` for an unknown attack or file, and where the attack refuses the family.

    >>> from hardness.families.parity import Parity
    >>> instance = Instance.generate(Parity(dim=16, heads=3), seed=0)
    >>> attack(instance, "gaussian", 200).secret == {"support": instance.secret["support"].tolist()}
    True
    """
    if isinstance(name, str):
        registry.module_of("attack", name)  # a misspelt name is said before anything else
    spawned = np.random.SeedSequence(seed).spawn(2)
    sampling, choices = (int(child.generate_state(1, np.uint64)[0]) for child in spawned)
    if isinstance(target, Instance):
        whole("count", count, 1, why="say how many examples the attack gets")
        public, examples = target.public(sampling), target.examples(int(count or 0), sampling)
    else:
        path = Path(target)
        examples, public = read(path / "examples.npz" if path.is_dir() else path)
    run, began = registry.get("attack", name) if isinstance(name, str) else name, time.monotonic()
    try:
        with redirect_stdout(sys.stderr):  # what an attack prints is no data of the caller's
            outcome = run(examples.X, examples.Y, public, budget=budget, seed=choices, progress=progress)
        if isinstance(outcome, Recovery):
            return outcome
        raise TypeError(f"attack {name} returned {type(outcome).__name__}, not a hardness.attacks.Recovery")
    except InputError:
        raise
    except Exception as error:
        reason = {"reason": one_line(error)}
        return Recovery("error", None, len(examples), time.monotonic() - began, reason)
