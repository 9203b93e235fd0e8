"""An attack on what an examples file holds: `hardness.attack`."""

from pathlib import Path
from typing import Any

import numpy as np

from hardness import registry
from hardness.apart.lab import stranger
from hardness.attacks import Outcome, Progress, guest
from hardness.errors import InputError
from hardness.examples import read
from hardness.instance import Instance


def attack(
    target: str | Path | Instance,
    name: Any,
    count: int | None = None,
    *,
    budget: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Outcome:
    """Attack an examples file, or `count` examples of an instance: all that the attack sees are examples.

    `name` is a registered attack, ``module:function``, or the function itself; what is named and not the house's own
    runs in a process apart. `budget` counts what the attack counts; `seed` draws the examples, if any, and the attack's
    own choices by separate spawns. Raises `InputError` for an unknown attack or file, and where the attack refuses the
    family.

    >>> from hardness.families.parity import Parity
    >>> instance = Instance.generate(Parity(dim=16, heads=3), seed=0)
    >>> attack(instance, "gaussian", 200).secret == {"support": instance.secret["support"].tolist()}
    True
    """
    apart = isinstance(name, str) and stranger("attack", name)
    run = registry.get("attack", name) if isinstance(name, str) and not apart else name
    sampling, own = (int(child.generate_state(1, np.uint64)[0]) for child in np.random.SeedSequence(seed).spawn(2))
    if isinstance(target, Instance):
        if type(count) is not int or count < 1:
            raise InputError(f"say how many examples the attack gets, an integer of at least 1; got {count!r}")
        examples, public = target.examples(count, sampling), target.public(sampling)
    else:
        examples, public = read(Path(target))
    if apart:
        return guest.run(name, examples, public, budget, own)
    found = run(examples.X, examples.Y, public, budget=budget, seed=own, progress=progress)
    if not isinstance(found, Outcome):
        raise InputError(f"attack {name} returned {type(found).__name__}, not a hardness.attacks.Outcome")
    return found
