"""The command `sq certify`: statements about statistical queries with proofs that anyone can check."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from hardness.cli.common import Json, Seed, emit, group, talk
from hardness.cli.sq import Bits, Dim, Heads, MaxQueries, ParityGadget, Tolerance, sq_app
from hardness.errors import InputError

Kind = Annotated[Literal["transcript", "bound", "value"], typer.Option(help="What is certified.")]
Asked = Annotated[str | None, typer.Option("--strategy", help="Of a transcript; sign-batch if absent.")]
Out = Annotated[Path, typer.Option("--out", help="File to write; missing folders are made.")]

SECONDS = 600.0  # for an exact value
certify_app = group(
    "Write a statement with a proof that `checker/check_certificate.py` verifies without the lab.",
    "sq certify parity --dim 17 --heads 6 --tolerance 0.1 --kind bound --out bound.json",
)


def register(app: typer.Typer) -> None:
    sq_app.add_typer(certify_app, name="certify")


@certify_app.callback()
def certify() -> None:
    """Keeps `parity` a subcommand while it is the only one."""


@certify_app.command("parity")
def certify_parity(
    dim: Dim,
    heads: Heads,
    tolerance: Tolerance,
    kind: Kind,
    out: Out,
    strategy: Asked = None,
    gadget: ParityGadget = "diag",
    bits: Bits = None,
    seed: Seed = None,
    max_queries: MaxQueries = None,
    as_json: Json = False,
) -> None:
    """A certificate for the hidden parity: what a run left open, a lower bound, or the exact value of a small class.

    Example: hardness sq certify parity --dim 5 --heads 2 --tolerance 0.15 --kind value --out value.json
    """
    from secrets import randbits

    from hardness.families.parity import Parity
    from hardness.sq import certificate
    from hardness.sq.tolerance import check_tolerance

    if kind != "transcript" and (strategy is not None or seed is not None or max_queries is not None):
        raise InputError(f"--strategy, --seed and --max-queries are for a transcript, not for a {kind}")
    concepts = Parity(dim, heads, gadget, bits=bits).sets
    check_tolerance(tolerance)
    if kind == "transcript":
        seed = randbits(128) if seed is None else seed
        found = certificate.transcript(
            concepts, tolerance, strategy or "sign-batch", seed=seed, max_queries=max_queries
        )
    elif kind == "bound":
        found = certificate.bound(concepts, tolerance)
    else:
        found = certificate.value(concepts.n, [concepts.s], tolerance, seconds=SECONDS)
    certificate.write(found, out)
    if kind == "transcript":
        talk(f"seed {seed}")
    said = certificate.statement(found)
    emit(as_json, {"kind": kind, "statement": said, "out": str(out)}, [said, f"written to {out}"])
