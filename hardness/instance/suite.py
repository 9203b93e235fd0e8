"""The suite: instances with fixed names, on which anybody's results are compared.

A name such as ``parity-s3-d16-0`` is a cell of suite.json and a number, 0 to 4. The instance's seed is a function of
the name, so its secret is public: this is a benchmark, no contest (`hardness.instance.challenge` makes contests).
Within a minor version of the package a name never changes its instance: suite.json pins a SHA-256 of each. Random
layers are shipped as arrays (suite.npz), since the last bits of normal numbers may differ between machines.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hardness import families
from hardness.errors import unknown
from hardness.gadgets.coefficients import Gadget, informative
from hardness.instance import Check, Instance
from hardness.io.schemas import canonical

RUNS = 5  # instances of a cell
PINNED, ARRAYS = Path(__file__).with_name("suite.json"), Path(__file__).with_name("suite.npz")
SHOWN = 64  # examples of sampling seed 0 in a digest: they pin the stream and the label noise too
TIERS = {
    "easy": "a learner that knows nothing of the secret solves it in seconds",
    "frontier": "some learner or attack of the lab solves it in minutes",
    "priced": "nothing in the lab has solved it: the cheapest attack is predicted to take less than 2^60 operations",
    "open": "nothing in the lab solves it: the cheapest attack is predicted to take 2^60 operations or more",
}


@dataclass(frozen=True)
class Entry:
    """Describe one named instance of the suite: `tier` (easy, frontier, priced, open), `family` and its `params`.

    `log2_concepts` is log2 of the number of secrets, None for random layers; `predicted` names the cheapest attack and
    log2 of its estimated operations; `digest` is the instance's SHA-256.
    """

    name: str
    tier: str
    family: str
    params: Mapping[str, Any]
    log2_concepts: float | None
    predicted: Mapping[str, Any]
    digest: str


@cache
def entries() -> Mapping[str, Entry]:
    """Return the entry of every instance of the suite, by its name and in order."""
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    by_name = {}
    for cell, stated in pinned["cells"].items():
        bits = families.build(stated["family"], stated["params"]).log2_secrets()
        for name in (f"{cell}-{number}" for number in range(RUNS)):
            by_name[name] = Entry(name, log2_concepts=bits, digest=pinned["digests"][name], **stated)
    return by_name


def entry(name: str) -> Entry:
    """Return what is known of the suite's instance `name`. Raises `InputError` if there is none."""
    if name not in entries():
        raise unknown("instance of the suite", name, entries())
    return entries()[name]


def tier(name: str | None) -> list[Entry]:
    """Return the entries of the suite in the tier `name`, all if None. Raises `InputError` for an unknown tier."""
    if name is not None and name not in TIERS:
        raise unknown("tier", name, TIERS)
    return [each for each in entries().values() if name in (None, each.tier)]


def instance(name: str) -> Instance:
    """Return the suite's instance `name`. Raises `InputError` if there is none."""
    cell = entry(name)
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    made = Instance.generate(cell.family, seed, **cell.params)
    with np.load(ARRAYS, allow_pickle=False) as file:
        shipped = {key.partition("/")[2]: file[key] for key in file.files if key.startswith(f"{name}/")}
    return replace(made, secret=shipped, teacher=made.family.realize(shipped)) if shipped else made


def digest(made: Instance) -> str:
    """Return the SHA-256, in hex, of an instance: family, parameters, seed, secret and its first 64 examples.

    A float of the secret enters by its 64 bits. A label enters by the index of its value among all possible ones, since
    the values may differ in their last bits between versions of numpy.
    """
    data, teacher = made.examples(SHOWN, 0), made.teacher
    ranks: list[int] = []
    if isinstance(teacher, Gadget):
        values, rows = np.unique(teacher.values), informative(data.X)
        shown = data.Y[rows, 0, 0] * data.X[rows, 0, 0]
        ranks = np.searchsorted((values[1:] + values[:-1]) / 2, shown).tolist()
    secret = {
        name: (array.astype("<f8").view("<i8") if array.dtype.kind == "f" else array).tolist()
        for name, array in made.secret.items()
    }
    parameters = {name: value for name, value in made.parameters.items() if value is not None}
    whole = [made.family.name, parameters, str(made.seed), secret, data.X.tolist(), ranks]
    return hashlib.sha256(canonical(whole).encode()).hexdigest()


def check() -> list[Check]:
    """Return, for every instance of the suite, made anew, whether it has the SHA-256 in suite.json."""
    checks = []
    for name, pinned in entries().items():
        same = digest(instance(name)) == pinned.digest
        checks.append(Check(name, same, f"{'as' if same else 'not the one'} pinned under this name"))
    return checks
