"""What every attack on an instance costs, as one table: `hardness.estimate`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from hardness import families
from hardness.attacks.estimates.prices import TOLERANCE, Estimate, cheapest, estimates, guarantee
from hardness.errors import InputError
from hardness.families import Family
from hardness.instance import Instance
from hardness.io.rounding import at_least_power
from hardness.sq.tolerance import check_tolerance

# What an estimate depends on; the heads of a rounding instance are not among them.
COUNTED = ("family", "dim", "gadget", "modulus", "levels", "weight", "noise", "flip")


@dataclass(frozen=True, repr=False)
class Estimates:
    """The estimates of all attacks, the `cheapest` of those that are attacks and ok, and what they were made of."""

    attacks: list[Estimate]
    cheapest: Estimate | None
    guarantee: str
    parameters: Mapping[str, Any]
    version: str

    @property
    def lines(self) -> list[str]:
        """One line an attack, for people; the cheapest and the guarantee last."""
        found = [
            f"{e.name:38} {_time(e)} time  {bits(e.log2_memory)} memory  {bits(e.samples)} examples  "
            f"{e.status}: {e.source}"
            for e in self.attacks
        ]
        return [*found, f"cheapest: {self._least}", self.guarantee]

    @property
    def _least(self) -> str:
        least = self.cheapest
        return "none known" if least is None else f"{least.name}, {bits(least.log2_time).strip()}"

    def __repr__(self) -> str:
        return f"Estimates({self.parameters.get('family')}, {len(self.attacks)} attacks; cheapest: {self._least})"

    def _repr_html_(self) -> str:
        cells = ([e.name, _time(e), bits(e.log2_memory), bits(e.samples), e.status] for e in self.attacks)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in cells)
        head = "".join(f"<th>{name}</th>" for name in ("attack", "time", "memory", "examples", "estimate"))
        return f"<table><caption>{escape(repr(self))}</caption><tr>{head}</tr>{body}</table>"


def estimate(target: str | Path | Instance | Family, *, tolerance: float = TOLERANCE, **parameters: Any) -> Estimates:
    """What every attack costs, in bits, on an instance, its file, or a family (by name with its `parameters`).

    `tolerance` is that of the bound on statistical queries, in (0, 1]. Raises `InputError` for a family without a
    hidden linear secret.

    >>> estimate("parity", dim=64, heads=12)
    Estimates(parity, 6 attacks; cheapest: gaussian, 2^18.1)
    """
    check_tolerance(tolerance)
    if isinstance(target, str) and (parameters or not Path(target).exists()):
        target = families.build(target, parameters)
    elif parameters:
        raise InputError("parameters are for a family named; an instance and a family have theirs already")
    if isinstance(target, (str, Path)):
        target = Instance.load(target)
    if isinstance(target, Instance):
        # Heads that were chosen so that every label is right bound nothing: only those asked for do.
        public = {**target.public(0), "heads": target.parameters.get("heads")}
    else:
        public = asdict(cast(Any, target))
    # A class may give itself any name; costs are those of the family that is registered.
    public["family"] = families.name_of(target.family if isinstance(target, Instance) else target)
    found = estimates(public, tolerance)
    counted = (*COUNTED, "heads") if public["family"] == "parity" else COUNTED
    known = {name: public[name] for name in counted if name in public}
    return Estimates(found, cheapest(found), guarantee(public), known, version("attention-hardness"))


def _time(estimate: Estimate) -> str:
    """Operations of an attack; queries of the lower bound, rounded down."""
    if estimate.name == "sq bound" and estimate.log2_time is not None:
        return f"{at_least_power(estimate.log2_time):6}"
    return bits(estimate.log2_time)


def bits(value: float | None) -> str:
    """log2 of a count as a power.

    >>> bits(19.04), bits(None)
    ('2^19.0', '     -')
    """
    return "     -" if value is None else f"2^{value:<4.1f}"
