"""The prices of all attacks on an instance, in bits, as one table: `hardness.estimate`.

A failed estimate is listed as failed: it says nothing about hardness.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from hardness import families
from hardness.attacks import Public, parity_prices, rounding_prices
from hardness.attacks.cost import EstimateFailed, Line, NotPriced
from hardness.errors import InputError
from hardness.families import Family
from hardness.families.linear import Hidden, HiddenSet, HiddenVector
from hardness.instance import Instance
from hardness.io.rounding import at_least_power
from hardness.io.texts import table
from hardness.sq.bounds.floors import check_tolerance

TOLERANCE = 0.05
# By the way in which labels show the equations
MODELS: dict[type[Hidden], Any] = {HiddenSet: parity_prices, HiddenVector: rounding_prices}
# Parameters that an estimate depends on, beside those that labels require; the heads of rounding are not among them.
COUNTED = ("family", "dim", "gadget", "modulus", "levels", "weight", "noise", "flip")


@dataclass(frozen=True)
class Estimate:
    """One attack's cost: log2 of elementary operations, of memory words and of examples.

    `status` is ``ok``, ``failed`` (the estimate, not the attack: it says nothing about hardness), ``not priced`` (the
    attack may work at a cost that nobody has computed) or ``not applicable``; the figures are None unless it is ``ok``.
    `source` says where the formula comes from and what it assumes.
    """

    name: str
    log2_time: float | None
    log2_memory: float | None
    samples: float | None
    status: str
    source: str

    @property
    def price(self) -> dict[str, Any]:
        """Return {"name", "log2_time"}: the attack, and log2 of the elementary operations that it takes."""
        return {"name": self.name, "log2_time": self.log2_time}

    def power(self, log2: float | None) -> str:
        """Return 2^`log2` as text, to a tenth of a bit; the bound on queries is rounded down, and None is a dash."""
        return at_least_power(log2) if log2 is None or self.name == "sq bound" else f"2^{log2:.1f}"

    @classmethod
    def of(cls, line: Line) -> "Estimate":
        """Return the estimate of one attack from `line`: (name, source of the formula, function giving the cost)."""
        name, source, compute = line
        try:
            cost = compute()
        except EstimateFailed as error:
            return cls(name, None, None, None, "failed", f"{source}: {error}")
        except NotPriced as reason:
            return cls(name, None, None, None, "not priced", str(reason))
        if isinstance(cost, str):
            return cls(name, None, None, None, "not applicable", cost)
        return cls(name, cost.time, cost.memory, cost.samples, "ok", source)


@dataclass(frozen=True)
class Estimates:
    """The estimates of all attacks, the `cheapest` (never the bound on queries), the parameters and the version."""

    attacks: list[Estimate]
    cheapest: Estimate
    parameters: Mapping[str, Any]
    version: str

    def _repr_html_(self) -> str:
        shown = {}
        for each in self.attacks:
            unit = "queries" if each.name == "sq bound" else "operations"
            shown[each.name] = f"{each.power(each.log2_time)} {unit}" if each.status == "ok" else each.status
        return table(f"Attacks on {self.parameters['family']}", shown)


def estimates(public: Public, tolerance: float = TOLERANCE) -> Estimates:
    """Return the estimated costs of all attacks on an instance with `public` parameters.

    `tolerance` is that of the bound on statistical queries, which is no attack and never the cheapest. Raises
    `InputError` for a family without a hidden linear secret.
    """
    linear = families.get(str(public["family"])).linear
    if linear is None or linear not in MODELS:
        raise InputError(
            f"family '{public.get('family')}' has no hidden linear secret; estimate parity or rounding"
        )
    costs = [Estimate.of(line) for line in MODELS[linear].lines(public, tolerance)]
    able = [each for each in costs if each.log2_time is not None and each.name != "sq bound"]
    cheapest = min(able, key=lambda each: each.log2_time or 0.0)
    known = {name: public[name] for name in dict.fromkeys((*COUNTED, *linear.requires)) if name in public}
    return Estimates(costs, cheapest, known, version("attention-hardness"))


def estimate(
    target: str | Path | Instance | Family, *, tolerance: float = TOLERANCE, **parameters: Any
) -> Estimates:
    """Return the prices of all attacks on an instance, its file, or a family (by name with its `parameters`).

    `tolerance` is that of the bound on statistical queries, in (0, 1]. Raises `InputError` for a family without a
    hidden linear secret.

    >>> estimate("parity", dim=64, heads=12).cheapest.name
    'gaussian'
    """
    check_tolerance(tolerance)
    if isinstance(target, str) and (parameters or not Path(target).exists()):
        target = families.build(target, parameters)
    if isinstance(target, (str, Path)):
        target = Instance.load(target)
    if isinstance(target, Instance):
        # Heads that were chosen so that every label is right bound nothing: only those asked for do.
        public = {**target.public(0), "heads": target.parameters.get("heads")}
    else:
        public = asdict(cast(Any, target))
    # A class may give itself any name; costs are those of the family that is registered.
    public["family"] = families.name_of(target.family if isinstance(target, Instance) else target)
    return estimates(public, tolerance)
