"""Commands on attacks: attack, attacks, estimate, challenge, judge."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from hardness.cli.common import Force, Json, command, emit, emit_registered, family_names
from hardness.errors import InputError, unknown

Examples = Annotated[
    Path,
    typer.Argument(help="Examples of `hardness sample`, or a challenge's public folder.", metavar="E.npz"),
]
Name = Annotated[str, typer.Argument(help="A name of `hardness attacks`, or module:function.")]
Target = Annotated[str, typer.Argument(help="An instance file, or a family with its options.", metavar="F")]
Budget = Annotated[int | None, typer.Option(min=0, help="Tries, trials or steps, as the attack counts them.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the attack's own random choices.")]
Batch = Annotated[int | None, typer.Option(min=1, help="batch-gradient: informative rows a batch; 64.")]
Batches = Annotated[int | None, typer.Option(min=1, help="batch-gradient: most batches; dim + 12.")]


def register(app: typer.Typer) -> None:
    for each in (attack, attacks, estimate, challenge, judge):
        app.command(cls=Estimate if each is estimate else None)(each)


def attack(
    name: Name,
    file: Examples,
    budget: Budget = None,
    seed: Seed = 0,
    batch: Batch = None,
    batches: Batches = None,
    as_json: Json = False,
) -> None:
    """Attack an instance: all that the attack gets is the examples file.

    `hardness attack membership F` takes an instance file instead: the attacker chooses inputs and sees their labels.
    `batch-gradient` takes one too: the attacker sees no example, only exact mean gradients of batches (theory 2.10).

    For a challenge, name its public folder. What --json prints is an answer that `hardness judge` reads.

    Example: hardness attack gaussian examples.npz
    """
    gradients = name == "batch-gradient" and file.suffix not in (".npz", ".parquet")
    if (batch is not None or batches is not None) and not gradients:
        raise InputError("--batch and --batches are for `attack batch-gradient` on an instance file")
    if gradients or name == "membership":
        from hardness.attacks import batch_gradient, membership
        from hardness.instance import Instance

        instance = Instance.load(file)
        if gradients:
            ended = batch_gradient.attack(instance, batch or batch_gradient.BATCH, batches, seed)
        else:
            ended = membership.attack(instance, seed)
    else:
        from hardness.engine.progress import steps
        from hardness.evaluation.attacking import attack as run

        with steps(name) as tell:
            ended = {**vars(run(file, name, budget=budget, seed=seed, progress=tell)), "attack": name}
    figures = {key: value for key, value in (ended | ended.get("detail", {})).items() if value is not None}
    lines = [f"{ended['status']}: {name}, {ended['seconds']:.2f} s"]
    in_headline = {"status", "attack", "seconds", "detail"}
    words = {key: key.replace("_", " ").replace("samples", "informative examples") for key in figures}
    lines += [f"{words[key]}: {value}" for key, value in figures.items() if key not in in_headline]
    emit(as_json, ended, lines)


def attacks(as_json: Json = False) -> None:
    """List the registered attacks, and what each does.

    Example: hardness attacks
    """
    emit_registered("attack", "attacks", as_json)


class Estimate(TyperCommand):
    """Parse `hardness estimate` for an instance file, or for a family named anywhere in the line, with its options."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return click's context for the words `args`, read by a family's options if they name one."""
        from difflib import get_close_matches

        known = family_names()
        name = next(
            (word for word in args if word in known or (":" in word and not Path(word).exists())), None
        )
        if name is not None:
            others = [word for i, word in enumerate(args) if i != args.index(name)]
            return command("estimate", name, estimate).make_context(info_name, others, parent, **extra)
        if args and not Path(args[0]).exists() and get_close_matches(args[0], known, n=1, cutoff=0.7):
            raise unknown("family", args[0], known)
        return super().make_context(info_name, args, parent, **extra)


def estimate(
    target: Target,
    tolerance: Annotated[float, typer.Option(help="Tolerance of the SQ bound.")] = 0.05,
    as_json: Json = False,
) -> None:
    """Print what every attack on an instance costs, as powers of two; an estimate that fails is listed as failed.

    A family takes its own options: `hardness estimate rounding --help` shows them.

    Example: hardness estimate rounding --dim 65 --modulus 97 --levels 4
    """
    from hardness.attacks.estimate import estimate as priced

    prices = priced(Path(target) if isinstance(target, str) else target, tolerance=tolerance)
    cheapest = prices.cheapest.price
    payload = vars(prices) | {"attacks": [vars(each) for each in prices.attacks], "cheapest": cheapest}
    lines = []
    for each in prices.attacks:
        time, memory, examples = (
            f"{each.power(value):>6}" for value in (each.log2_time, each.log2_memory, each.samples)
        )
        unit = "queries" if each.name == "sq bound" else "time"
        lines.append(
            f"{each.name:20} {time} {unit}  {memory} memory  {examples} examples  {each.status}: {each.source}"
        )
    emit(as_json, payload, [*lines, "cheapest: {name}, 2^{log2_time:.1f}".format(**cheapest)])


def challenge(
    file: Annotated[Path, typer.Argument(help="An instance file.", metavar="F")],
    count: Annotated[int, typer.Option(min=1, help="Number of public examples.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write; must not exist, but for --force.")],
    toy: Annotated[
        bool, typer.Option("--toy", help="Allow a seed given by hand, and less than 60 bits of secret.")
    ] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Publish an instance: public examples and a commitment to the secret.

    Example: hardness challenge lwr.safetensors --count 100000 --out challenge-1
    """
    from hardness.attacks.estimate import estimate as priced
    from hardness.instance import Instance, challenge
    from hardness.io.rounding import at_least_power

    instance = Instance.load(file)
    secrets = challenge.log2_secrets(instance)
    if not toy:
        challenge.refuse_guessable(instance)
    prices = priced(instance)
    cheapest = prices.cheapest.price
    if not toy and cheapest["log2_time"] < challenge.LEAST_BITS:
        raise InputError(
            f"{cheapest['name']} opens it in about 2^{cheapest['log2_time']:.1f} operations: a challenge needs "
            f"2^{challenge.LEAST_BITS}; `hardness estimate` prices other parameters, or say --toy"
        )
    commitment = challenge.publish(instance, count, out, toy, force)["commitment"]
    not_priced = [each.name for each in prices.attacks if each.status in ("failed", "not priced")]
    payload = {
        "out": str(out),
        "count": count,
        "toy": toy,
        "commitment": commitment,
        "log2_secrets": secrets,
        "cheapest": cheapest,
        "not_priced": not_priced,
    }
    others = ", ".join([*not_priced, "learners by gradients, and whatever `hardness estimate` does not list"])
    lines = [
        f"the secret is one of {at_least_power(secrets)}",
        "the cheapest attack priced here is {name}, about 2^{log2_time:.1f} operations".format(**cheapest),
        f"not priced: {others}",
        f"wrote {count} examples and commitment {commitment} to {out}",
    ]
    emit(as_json, payload, lines)


def judge(
    folder: Annotated[Path, typer.Argument(help="Folder of a challenge.", metavar="DIR")],
    answer: Annotated[Path, typer.Argument(help="JSON: support, w or predictions.", metavar="ANSWER.json")],
    as_json: Json = False,
) -> None:
    """Tell whether an answer to a challenge is right, without the instance; exit code 1 if not, 2 if it is no JSON.

    Example: hardness judge challenge-1 answer.json
    """
    from hardness.instance.challenge import judge as verdict_on
    from hardness.io import files, schemas

    verdict = verdict_on(folder, schemas.parse(files.read_bounded(answer), str(answer)))
    emit(as_json, vars(verdict), [f"{'right' if verdict.ok else 'NOT right'}: {verdict.reason}"])
    if not verdict.ok:
        raise typer.Exit(1)
