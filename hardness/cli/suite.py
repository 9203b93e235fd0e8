"""Commands on the suite: list, show, make, check."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hardness.cli.common import Force, Json, argument, emit, emit_checks, group, option, refuse_existing

if TYPE_CHECKING:
    from hardness.instance.suite import Entry

Name = Annotated[str, argument("A name of `hardness suite list`.", metavar="NAME")]

app = group(
    "Instances with fixed names, on which results are compared; their secrets are public.",
    "suite make parity-s3-d16-0 --out hard.safetensors",
)


@app.command("list")
def list_(
    tier: Annotated[str | None, option("Only this tier: easy, frontier or open.")] = None,
    as_json: Json = False,
) -> None:
    """List the instances of the suite: name, tier, number of secrets, and the cheapest attack as predicted.

    Example: hardness suite list --tier frontier
    """
    from hardness.instance import suite

    entries = suite.tier(tier)
    lines = [f"{each.name:26} {each.tier:9} {_size(each)}" for each in entries]
    emit(as_json, {"instances": [vars(each) for each in entries]}, lines)


def _size(entry: "Entry") -> str:
    if entry.log2_concepts is None:
        return "a random layer"
    attack, bits = entry.predicted["attack"], entry.predicted["log2_time"]
    return f"2^{entry.log2_concepts:.1f} secrets; {attack}: 2^{bits:.1f} operations predicted"


@app.command()
def show(name: Name, as_json: Json = False) -> None:
    """Show one instance of the suite: family, parameters, predicted cost of attack, SHA-256, and what its tier means.

    Example: hardness suite show parity-s3-d16-0
    """
    from hardness.instance import suite

    entry = suite.entry(name)
    lines = [f"{key}: {value}" for key, value in vars(entry).items()]
    emit(as_json, vars(entry), [*lines, f"tier {entry.tier}: {suite.TIERS[entry.tier]}"])


@app.command()
def make(
    name: Name,
    out: Annotated[Path, option("File to write; missing folders are made.", "--out")],
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write the instance NAME of the suite to a file, as `hardness generate` writes instances.

    Example: hardness suite make rounding-q97-p2-n24-0 --out lwr.safetensors
    """
    from hardness.instance import suite

    refuse_existing(out, force)
    entry, instance = suite.entry(name), suite.instance(name)
    instance.save(out, force)
    emit(as_json, {**vars(entry), "out": str(out)}, [f"wrote {out}"])


@app.command()
def check(as_json: Json = False) -> None:
    """Make every instance of the suite and compare it with the SHA-256 in the package; exit code 1 if one differs.

    Example: hardness suite check
    """
    from hardness.instance import suite

    emit_checks(as_json, suite.check())
