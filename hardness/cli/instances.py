"""Commands on instances: families, generate, inspect, verify, export, sample."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer.core import TyperGroup

from hardness.cli.common import (
    Force,
    Json,
    Seed,
    argument,
    command,
    emit,
    emit_checks,
    emit_registered,
    family_names,
    group,
    option,
    refuse_existing,
    talk,
)
from hardness.errors import InputError

if TYPE_CHECKING:
    from hardness.families import Family
    from hardness.gadgets.conditions import Condition
    from hardness.instance import Instance

Out = Annotated[Path, option("File to write; missing folders are made.", "--out")]
Replaced = Annotated[
    Path, option("File to write, or a folder for --form lwe; replaced if it exists.", "--out")
]
File = Annotated[Path, argument("An instance file of `hardness generate`.", metavar="F")]
Form = Literal["layer", "xor-dimacs", "lwe", "lwe-challenge", "estimator"]
LARGEST_INSPECTED = 2**26  # entries of theta: 512 MB


class Generate(TyperGroup):
    """Group the commands `generate FAMILY`; a family is imported only if it is named."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = dict.fromkeys(family_names())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command for a registered family or ``module:Class``; None for any other name."""
        if cmd_name not in self.commands and ":" not in cmd_name:
            return None
        return command("generate", cmd_name, generate, " --out instance.safetensors")

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the families by name alone; the help of each says what it is and which options it takes."""
        with formatter.section("Families"):
            formatter.write_dl(
                [(name, f"options: {ctx.command_path} {name} --help") for name in self.commands]
            )


generate_app = group(
    "Generate an instance of a family; `hardness families` says what they are.",
    "generate rounding --dim 65 --modulus 97 --levels 2 --out lwr.safetensors",
    cls=Generate,
    subcommand_metavar="FAMILY [OPTIONS]",
)


def families(as_json: Json = False) -> None:
    """List the families: what each is, under which hypothesis it is hard, and what its number of heads is.

    Example: hardness families
    """
    emit_registered(
        "family",
        "families",
        as_json,
        about=lambda f: {"summary": f.summary, "hypothesis": f.hypothesis, "heads": f.heads_meaning},
    )


def generate(
    family: "Family", out: Out, seed: Seed = None, force: Force = False, as_json: Json = False
) -> None:
    """Generate an instance of `family`, write it to the file `out`, and print its parameters and certificate."""
    refuse_existing(out, force)
    from hardness.instance import Instance
    from hardness.io.files import replacing

    instance = Instance.generate(family, seed)
    hidden = _hidden(instance)
    payload: dict[str, Any] = {**instance.public(0), "heads": instance.heads, **hidden, "out": str(out)}
    payload |= instance.certificate
    if "support" in instance.secret:
        payload["bits"] = len(instance.secret["support"])
    del payload["sampling_seed"]
    with replacing(out) as temporary:
        temporary.write_bytes(instance.to_bytes())
        emit(as_json, payload, [*_described(instance, instance.header()), f"wrote {out}"])


def _hidden(instance: "Instance") -> dict[str, Any]:
    """Return seed, command and secret: what must not be shown to those who are to find the secret."""
    secret = {name: value.tolist() for name, value in instance.secret.items()}
    return {"seed": instance.seed, "command": instance.command(), "secret": secret}


def _described(instance: "Instance", header: dict[str, Any]) -> list[str]:
    """Return lines of text about an instance: parameters, heads and the certificate in its `header`."""
    stated = (f"{name} {value}" for name, value in instance.parameters.items() if value is not None)
    certificate = header["certificate"].items()
    secret = f"{header['heads']}, in public " if "seed" in header and instance.family.heads_follow else ""
    return [
        f"{instance.family.name}: {', '.join(stated)}",
        f"heads m = {secret}{instance.heads_words}, tokens {instance.family.tokens}; {instance.family.heads_meaning}",
        *(f"{name.replace('_', ' ')}: {value}" for name, value in certificate if value is not None),
    ]


def inspect(
    file: File,
    reveal: Annotated[bool, option("Show the secret, the seed and the command too.", "--reveal")] = False,
    as_json: Json = False,
) -> None:
    """Show an instance's parameters, hypothesis, certificate and conditions; the secret only with --reveal.

    Example: hardness inspect hard.safetensors
    """
    from hardness.instance import Instance

    instance = Instance.load(file)
    hidden = _hidden(instance) if reveal else {}
    payload = instance.header() | hidden if reveal else instance.shown()
    lines = [*_described(instance, payload), f"hypothesis: {instance.family.hypothesis}"]
    if proved := _right_labels(instance.family):
        payload["right_labels"] = proved
        lines.append("right labels: " + ", ".join(f"{name} {value}" for name, value in proved.items()))
    rows = _conditions(instance, reveal)
    payload["conditions"] = [row._asdict() for row in rows]
    lines.append("non-degeneracy conditions:" + " the layer is too large" * (not rows))
    for row in rows:
        value = "with --reveal" if row.value is None else f"{row.value:.3g}"
        lines.append(f"  {row.name}: {value} (best {row.best}; needs {row.needs}; used by {row.phase})")
    emit(as_json, payload, [*lines, *(f"{name}: {value}" for name, value in hidden.items())])


def _right_labels(family: "Family") -> dict[str, Any]:
    """Return "pi" and "eps" of rounding: a share pi of secrets has all but a share eps of labels right (theory 2.6)."""
    from hardness.families.concepts import RoundingConcepts
    from hardness.sq.bounds.rounding import FEW_HEADS, right_labels

    concepts = family.concepts()
    if not isinstance(concepts, RoundingConcepts) or concepts.heads is None:
        return {}
    if (shares := right_labels(concepts)) is None:
        return {"pi": None, "eps": None, "reason": FEW_HEADS}
    return {"pi": shares[0], "eps": shares[1]}


def _conditions(instance: "Instance", reveal: bool) -> "list[Condition]":
    """Return a layer's non-degeneracy conditions, values that tell the secret only if `reveal`; [] if too large."""
    from hardness.gadgets.conditions import CONDITIONS, conditions
    from hardness.layer import MultiHeadAttention

    family, heads = instance.family, instance.heads if reveal else instance.heads_shown
    if heads * family.dim**2 > LARGEST_INSPECTED:
        return []
    if reveal:
        return conditions(instance.layer(), family.tokens)
    if (model := family.model_secret()) is None:
        return CONDITIONS
    teacher = family.realize(model)
    layer = teacher if isinstance(teacher, MultiHeadAttention) else teacher.layer()
    return conditions(layer, family.tokens)


def verify(file: File, as_json: Json = False) -> None:
    """Regenerate an instance from its seed and re-check its certificate; exit code 1 if anything fails.

    Example: hardness verify hard.safetensors
    """
    from hardness.instance import Instance

    emit_checks(as_json, Instance.load(file).verify())


def export(
    file: Annotated[Path, argument("An instance file, or examples of one.", metavar="F")],
    out: Replaced,
    form: Annotated[Form, option("What is written.")] = "layer",
    count: Annotated[int | None, option("Examples of an instance, for any form but layer.", min=1)] = None,
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
    count: Annotated[int, option("Number of examples.", min=1, max=2**48)],
    out: Replaced,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Write labelled examples: X (n, k, d) int8, Y (n, k, d) float64, and the public parameters.

    Example: hardness sample hard.safetensors --count 100000 --seed 1 --out examples.npz
    """
    from hardness.examples import write
    from hardness.instance import Instance

    instance = Instance.load(file)
    if out.is_file():
        talk(f"{out} exists, and is replaced")
    sampling = secrets.randbits(128) if seed is None else seed
    shape = (count, instance.family.tokens, instance.family.dim)
    write(out, shape, lambda: instance.chunks(count, sampling), instance.public(sampling))
    payload = {"count": count, "sampling_seed": sampling, "out": str(out)}
    emit(as_json, payload, [f"wrote {count} examples, shape {shape}, sampling seed {sampling}, to {out}"])
