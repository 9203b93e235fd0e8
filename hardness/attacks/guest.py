"""An attack of a stranger's own: it runs apart, and what it says of itself is checked before it is believed."""

import time
from typing import Any

import numpy as np

from hardness import registry
from hardness.apart.lab import call, stranger
from hardness.attacks import Outcome
from hardness.attacks.equations import accepts, extract, labels, stands_out
from hardness.errors import Ended, InputError
from hardness.examples import Examples
from hardness.io.schemas import STATUSES
from hardness.io.texts import shown

NAMES, MOST = ("support", "w"), 1 << 16


def run(name: str, examples: Examples, public: dict[str, Any], budget: int | None, seed: int) -> Outcome:
    """How the attack ``package.module:function`` ended on these examples.

    Noiseless labels of the house's families must follow from the secret that it names, or the status is `wrong`; of a
    stranger's family no equations are known here, and its attack is taken at its word. Raises `InputError` if there is
    no such function, or if it says so itself.
    """
    family = str(public.get("family", ""))
    foreign = family not in registry.names("family") or bool(stranger("family", family))
    began = time.perf_counter()
    try:
        said = call("attack", name, {"public": public, "budget": budget, "seed": seed}, examples.X, examples.Y)
    except Ended as error:
        return Outcome(error.status, None, len(examples), time.perf_counter() - began, {"reason": error.reason})
    said = said if isinstance(said, dict) else {}
    status, secret, own = said.get("status"), _secret(said.get("secret"), foreign), said.get("detail")
    status = status if status in STATUSES else "wrong"
    detail = {shown(key, 40): shown(value) for key, value in (own.items() if isinstance(own, dict) else ())}
    if status == "solved" and (secret is None or not (foreign or _right(secret, examples, public))):
        status = "wrong"
        detail = {"reason": "the labels do not follow from the secret that it names, or are too few to tell"} | detail
    used = said.get("samples_used")
    used = used if type(used) is int and 0 <= used <= len(examples) else len(examples)
    return Outcome(status, secret, used, time.perf_counter() - began, dict(list(detail.items())[:50]))


def _secret(said: Any, foreign: bool) -> dict[str, list[int]] | None:
    if not isinstance(said, dict) or len(said) != 1:
        return None
    ((name, values),) = said.items()
    if name not in NAMES and not (foreign and str(name).isidentifier()):
        return None
    fits = isinstance(values, list) and len(values) <= MOST and all(type(v) is int and abs(v) < 2**31 for v in values)
    return said if fits else None


def _right(secret: dict[str, list[int]], examples: Examples, public: dict[str, Any]) -> bool:
    """Whether the labels follow from the secret; noisy ones, whether they agree with it as none agree by chance."""
    try:
        again = labels(secret, public, examples.X)
        if public.get("flip") or public.get("noise"):
            equations = extract(examples.X, examples.Y, public)
            w = np.zeros(equations.n, dtype=np.int64)
            if equations.parity:
                w[np.array(secret["support"], dtype=np.int64) - 1] = 1
            else:
                w[:] = secret["w"]
            return stands_out(equations, w) and accepts(equations, w)
    except (InputError, LookupError, ValueError, TypeError):
        return False
    return bool(np.mean(np.abs(again - examples.Y).max(axis=(1, 2)) < 1e-6) > 0.9)
