"""Commands on instances: families, generate, inspect, verify, export, sample."""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hardness.cli.common import (
    INSTANCES,
    FamilyCommands,
    FamilyGroup,
    Force,
    Json,
    Seed,
    command,
    emit,
    emit_list,
    group,
    listed,
    refuse_existing,
    warn_of_seed,
)
from hardness.errors import InputError

if TYPE_CHECKING:
    from hardness.families import Family
    from hardness.gadgets.conditions import Condition
    from hardness.instance import Instance

Out = Annotated[Path, typer.Option("--out", help="File to write; missing folders are made.")]
Form = Literal["layer", "xor-dimacs", "lwe", "lwe-challenge", "estimator"]
File = Annotated[Path, typer.Argument(help="An instance file of `hardness generate`.", metavar="F")]

LARGEST_INSPECTED = 2**26  # entries of theta: 512 MB


class Generate(FamilyGroup):
    """`generate` and its families, of which other packages may bring more."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = FamilyCommands(
            lambda name: command("generate", name, generate, " --out instance.safetensors")
        )


generate_app = group(
    "Generate an instance of a family; `hardness families` says what they are.",
    "generate rounding --dim 65 --modulus 97 --levels 2 --out lwr.safetensors",
    cls=Generate,
    subcommand_metavar="FAMILY [OPTIONS]",
)


def register(app: typer.Typer) -> None:
    app.add_typer(generate_app, name="generate", rich_help_panel=INSTANCES)
    for each in (families, inspect, verify, export, sample):
        app.command(rich_help_panel=INSTANCES)(each)


def families(as_json: Json = False) -> None:
    """List the families: what each is, under which hypothesis it is hard, and what its heads are.

    Example: hardness families
    """
    loaded, broken = listed("family")
    rows = [
        {"name": f.name, "summary": f.summary, "hypothesis": f.hypothesis, "heads": f.heads_meaning}
        for f in loaded.values()
    ]
    emit_list("families", rows, broken, as_json)


def generate(
    family: "Family", out: Out, seed: Seed = None, force: Force = False, as_json: Json = False
) -> None:
    """Generate an instance of a family and write it."""
    refuse_existing(out, force)
    from hardness.instance import Instance
    from hardness.io.files import replacing

    instance = Instance.generate(family, seed)
    payload: dict[str, Any] = {
        **instance.public(0),
        "heads": instance.heads,
        "seed": instance.seed,
        "command": instance.command(),
        **({"bits": len(instance.secret["support"])} if "support" in instance.secret else {}),
        "secret": {name: value.tolist() for name, value in instance.secret.items()},
        "out": str(out),
        **instance.certificate,
    }
    del payload["sampling_seed"]
    with replacing(out, force=force) as temporary:
        temporary.write_bytes(instance.to_bytes())
        emit(as_json, payload, [*_described(instance, instance.header()), f"wrote {out}"])


def _described(instance: "Instance", header: Mapping[str, Any]) -> list[str]:
    """A header in words; of what it does not show it says so."""
    settings = ", ".join(
        f"{name} {value}" for name, value in instance.parameters.items() if value is not None
    )
    certificate = {name: value for name, value in header["certificate"].items() if value is not None}
    bound = "at most " if "seed" not in header and instance.parameters.get("heads", 0) is None else ""
    return [
        f"{instance.family.name}: {settings}",
        f"heads {bound}{header['heads']} (m = {instance.family.heads_meant()}), tokens {instance.family.tokens}",
        *(f"{name.replace('_', ' ')}: {value}" for name, value in certificate.items()),
    ]


def inspect(
    file: File,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Show the secret, the seed and the command too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show parameters, hypothesis, certificate and conditions; the secret only with --reveal.

    Example: hardness inspect hard.safetensors
    """
    from hardness.instance import Instance

    instance = Instance.load(file)
    payload, hidden = instance.shown(), dict[str, Any]()
    if reveal:
        secret = {name: value.tolist() for name, value in instance.secret.items()}
        hidden = {"seed": instance.seed, "command": instance.command(), "secret": secret}
        payload = instance.header() | hidden
    rows, (proved, proved_lines) = _conditions(instance, reveal), _right_labels(instance.family)
    payload |= proved
    payload["conditions"] = [row._asdict() for row in rows]
    lines = [
        *_described(instance, payload),
        f"hypothesis: {instance.family.hypothesis}",
        *proved_lines,
        "non-degeneracy conditions:",
    ]
    known = rows if reveal else [c for c in rows if c.value is not None]
    for c in known:
        figure = "undefined" if c.value is None else f"{c.value:.3g}"
        lines.append(f"  {c.name}: {figure} (best {c.best}; needs {c.needs}; used by {c.phase})")
    certified = [name for name, value in payload["certificate"].items() if value is None]
    if unshown := [*certified, *(c.name for c in rows if c not in known)]:
        lines.append(f"  {len(unshown)} more with --reveal")
    lines += (
        [] if rows else [f"  not measured: the dense layer has more than {LARGEST_INSPECTED:.1e} entries"]
    )
    emit(as_json, payload, [*lines, *(f"{name}: {value}" for name, value in hidden.items())])


def _right_labels(family: "Family") -> tuple[dict[str, Any], list[str]]:
    """Return pi and eps of the hypothesis where heads are given, and a line of them; nothing of other families."""
    from hardness.families.concepts import RoundingConcepts
    from hardness.io.rounding import at_least, at_most
    from hardness.sq.bounds.rounding import FEW_HEADS, right_labels

    concepts = family.concepts()
    if not isinstance(concepts, RoundingConcepts) or concepts.heads is None:
        return {}, []
    if (shares := right_labels(concepts)) is None:
        fields = {"pi": None, "eps": None, "reason": FEW_HEADS}
        return {"right_labels": fields}, [f"no bound for statistical queries: {FEW_HEADS}"]
    pi, eps = shares
    line = f"there pi is at least {at_least(pi, 6)}, eps at most {at_most(eps, 6)}"
    return {"right_labels": {"pi": pi, "eps": eps}}, [line]


def _conditions(instance: "Instance", reveal: bool) -> "list[Condition]":
    """The conditions of the dense layer; without values where these depend on the secret. None of a large layer."""
    from hardness.gadgets.conditions import conditions, unmeasured
    from hardness.layer import MultiHeadAttention

    family, heads = instance.family, instance.heads if reveal else instance.heads_shown
    if heads * family.dim**2 > LARGEST_INSPECTED:
        return []
    if reveal:
        return conditions(instance.layer(), family.tokens)
    if (model := family.model_secret()) is not None:
        teacher = family.realize(model)
        layer = teacher if isinstance(teacher, MultiHeadAttention) else teacher.layer()
        return conditions(layer, family.tokens)
    return unmeasured(family.dim)


def verify(file: File, as_json: Json = False) -> None:
    """Regenerate from the seed and re-check the certificate; exit code 1 if anything fails.

    Example: hardness verify hard.safetensors
    """
    from hardness.instance import Instance

    checks = Instance.load(file).verify()
    ok = all(check.ok for check in checks)
    lines = [f"{'ok ' if check.ok else 'NO '} {check.name}: {check.detail}" for check in checks]
    emit(
        as_json,
        {"ok": ok, "checks": [check._asdict() for check in checks]},
        [*lines, "ok" if ok else "NOT ok"],
    )
    if not ok:
        raise typer.Exit(1)


def export(
    file: Annotated[Path, typer.Argument(help="An instance file, or examples of one.", metavar="F")],
    out: Annotated[
        Path, typer.Option("--out", help="File to write, replaced if it exists; for lwe a folder.")
    ],
    form: Annotated[Form, typer.Option(help="What is written.")] = "layer",
    count: Annotated[
        int | None, typer.Option(min=1, help="Examples of an instance, for any form but layer.")
    ] = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Write an instance for other programs: its dense layer, or its examples as other people's solvers read them.

    `layer` is safetensors with theta (m, d, d) and w (m, d, d). The other forms are made of examples alone:
    `xor-dimacs` of a parity, for SAT solvers; `lwe`, `lwe-challenge` and `estimator` of rounding with a prime modulus.

    Example: hardness export hard.safetensors --form xor-dimacs --count 200 --out hard.xnf
    """
    from safetensors.numpy import save

    from hardness.attacks.export import write
    from hardness.examples import read
    from hardness.instance import Instance
    from hardness.io.files import replacing

    if form == "layer":
        layer = Instance.load(file).layer()
        with replacing(out) as temporary:
            temporary.write_bytes(save({"theta": layer.theta, "w": layer.w}))
            emit(as_json, {"heads": layer.heads, "dim": layer.dim, "out": str(out)}, [f"wrote {out}"])
        return
    if file.suffix in (".npz", ".parquet"):
        examples, public = read(file)
    elif count is None:
        raise InputError("say how many examples of the instance to export, for example --count 200")
    else:
        instance, sampling = Instance.load(file), secrets.randbits(128) if seed is None else seed
        examples, public = instance.examples(count, sampling), instance.public(sampling)
    about = write(form, examples, public, out)
    emit(as_json, {"form": form, "out": str(out), "about": about}, [f"wrote {out}: {about}"])


def sample(
    file: File,
    count: Annotated[int, typer.Option(min=1, max=2**48, help="Number of examples.")],
    out: Annotated[
        Path, typer.Option("--out", help="Examples file, .npz or .parquet; replaced if it exists.")
    ],
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Write labelled examples: X (n, k, d) int8, Y (n, k, d) float64, and the public parameters.

    Example: hardness sample hard.safetensors --count 100000 --seed 1 --out examples.npz
    """
    from hardness.examples import write
    from hardness.instance import Instance

    instance = Instance.load(file)
    sampling_seed = secrets.randbits(128) if seed is None else seed
    shape = (count, instance.family.tokens, instance.family.dim)
    write(out, shape, lambda: instance.chunks(count, sampling_seed), instance.public(sampling_seed))
    warn_of_seed(instance)
    emit(
        as_json,
        {"count": count, "sampling_seed": sampling_seed, "out": str(out)},
        [f"wrote {count} examples, shape {shape}, sampling seed {sampling_seed}, to {out}"],
    )
