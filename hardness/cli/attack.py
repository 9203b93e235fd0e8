"""Commands on attacks: attack, attacks, estimate, challenge, judge."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hardness.cli.common import Json, emit, talk
from hardness.errors import InputError

Examples = Annotated[Path, typer.Argument(help="Examples file of `hardness sample`.", metavar="E.npz")]


def register(app: typer.Typer) -> None:
    for command in (attack, attacks, estimate, challenge, judge):
        app.command()(command)


def attack(
    name: Annotated[str, typer.Argument(help="gaussian, lattice, search or a registered attack.", metavar="NAME")],
    file: Examples,
    budget: Annotated[
        int | None, typer.Option(min=0, help="Tries, trials or steps, as the attack counts them.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the attack's own random choices.")] = 0,
    as_json: Json = False,
) -> None:
    """Attack an instance: all that the attack gets is the examples file.

    Example: hardness attack gaussian examples.npz
    """
    from hardness import registry
    from hardness.examples import read

    run = registry.get("attack", name)
    examples, public = read(file)
    outcome = run(examples.X, examples.Y, public, budget=budget, seed=seed, progress=talk)
    payload = {
        "status": outcome.status,
        "attack": name,
        "secret": outcome.secret,
        "samples_used": outcome.samples_used,
        "seconds": outcome.seconds,
        "detail": outcome.detail,
    }
    lines = [f"{outcome.status}: {name} after {outcome.samples_used} examples, {outcome.seconds:.2f} s"]
    lines += [f"{key.replace('_', ' ')}: {value}" for key, value in outcome.detail.items()]
    lines += [f"secret: {outcome.secret}"] if outcome.secret else []
    emit(as_json, payload, lines)


def attacks(as_json: Json = False) -> None:
    """List the registered attacks.

    Example: hardness attacks
    """
    from hardness import registry

    summary = {
        name: (registry.get("attack", name).__doc__ or "").strip().splitlines()[0] for name in registry.names("attack")
    }
    rows = [{"name": name, "summary": text} for name, text in summary.items()]
    emit(as_json, {"attacks": rows}, [f"{name:10} {text}" for name, text in summary.items()])


def estimate(
    target: Annotated[str, typer.Argument(help="An instance file, or parity or rounding with options.", metavar="F")],
    dim: Annotated[int | None, typer.Option(help="d, with a family.")] = None,
    heads: Annotated[int | None, typer.Option(help="m, with a family.")] = None,
    modulus: Annotated[int | None, typer.Option(help="q, for rounding.")] = None,
    levels: Annotated[int | None, typer.Option(help="p, for rounding.")] = None,
    weight: Annotated[int | None, typer.Option(help="Non-zeros of a sparse rounding secret.")] = None,
    gadget: Annotated[str, typer.Option(help="diag or dot.")] = "diag",
    flip: Annotated[float, typer.Option(help="Label flips, for parity.")] = 0.0,
    noise: Annotated[float, typer.Option(help="Label noise, for rounding.")] = 0.0,
    tolerance: Annotated[float, typer.Option(help="Tolerance of the SQ bound.")] = 0.05,
    as_json: Json = False,
) -> None:
    """What every attack on an instance costs, in bits; failed estimates are listed as failed.

    Example: hardness estimate rounding --dim 65 --modulus 97 --levels 4
    """
    from hardness.attacks.estimates.prices import estimates, guarantee

    if not 0 < tolerance <= 1:
        raise InputError(f"tolerance must be in (0, 1], got {tolerance}")
    given = {"dim": dim, "heads": heads, "modulus": modulus, "levels": levels, "weight": weight, "gadget": gadget}
    public = _public(target, {**given, "flip": flip, "noise": noise})
    rows = [vars(line) for line in estimates(public, tolerance)]
    lines = [
        f"{row['name']:38} {_bits(row['log2_time'])} time  {_bits(row['log2_memory'])} memory  "
        f"{_bits(row['samples'])} examples  {row['status']}: {row['source']}"
        for row in rows
    ]
    emit(as_json, {"attacks": rows, "guarantee": guarantee(public)}, [*lines, guarantee(public)])


def _bits(value: float | None) -> str:
    return "     -" if value is None else f"2^{value:<4.1f}"


def _public(target: str, given: dict[str, Any]) -> dict[str, Any]:
    """Public parameters of an instance file, or of a family with its options (validated by the family)."""
    from dataclasses import asdict, fields

    from hardness import registry
    from hardness.instance import Instance

    if target not in registry.names("family"):
        return Instance.load(Path(target)).public(0)
    family = registry.get("family", target)
    known = {f.name for f in fields(family)}
    options = {name: value for name, value in given.items() if name in known and value is not None}
    missing = [name for name in ("dim", "modulus", "levels", "heads") if name in known and name not in options]
    missing = [name for name in missing if not (name == "heads" and target == "rounding")]
    if missing:
        raise InputError(f"estimate {target} needs --{' --'.join(missing)}")
    return {"family": target, **asdict(family(**options))}


def challenge(
    file: Annotated[Path, typer.Argument(help="An instance file.", metavar="F")],
    count: Annotated[int, typer.Option(min=1, help="Number of public examples.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write; must not exist.")],
    toy: Annotated[
        bool, typer.Option("--toy", help="Allow a seed that was given by hand: the challenge is a toy.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Publish an instance: public examples and a commitment to the secret.

    Example: hardness challenge lwr.safetensors --count 100000 --out challenge-1
    """
    from hardness.challenge import publish
    from hardness.instance import Instance

    header = publish(Instance.load(file), count, out, toy)
    payload = {"out": str(out), "count": count, "toy": toy, "commitment": header["commitment"]}
    emit(as_json, payload, [f"wrote {count} examples and commitment {header['commitment']} to {out}"])


def judge(
    folder: Annotated[Path, typer.Argument(help="Folder of a challenge.", metavar="DIR")],
    answer: Annotated[Path, typer.Argument(help="JSON with support, w or predictions.", metavar="ANSWER.json")],
    as_json: Json = False,
) -> None:
    """Tell whether an answer to a challenge is right, without the instance; exit code 1 if not.

    Example: hardness judge challenge-1 answer.json
    """
    import json

    from hardness.challenge import judge as verdict_on

    try:
        parsed = json.loads(answer.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {answer}: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{answer} is not JSON: {error}") from error
    verdict = verdict_on(folder, parsed)
    emit(as_json, vars(verdict), [f"{'right' if verdict.ok else 'NOT right'}: {verdict.reason}"])
    if not verdict.ok:
        raise typer.Exit(1)
