"""The command cite: how to cite the lab, and what was used of it."""

from pathlib import Path
from typing import Annotated

import typer

from hardness.cli.common import Json, emit

Of = Annotated[Path | None, typer.Argument(help="An instance file, whose parameters are to be cited.", metavar="[F]")]


def register(app: typer.Typer) -> None:
    app.command()(cite)


def cite(file: Of = None, as_json: Json = False) -> None:
    """Print BibTeX for the lab: its version, and the parameters of an instance.

    Example: hardness cite hard.safetensors
    """
    from importlib.metadata import version

    release, note = version("attention-hardness"), ""
    if file is not None:
        from hardness.instance import Instance

        instance = Instance.load(file)
        known = {name: value for name, value in instance.parameters.items() if value is not None}
        note = f"{instance.family.name}: " + ", ".join(f"{name} {value}" for name, value in known.items())
    fields = {
        "title": "{attention-hardness}: a lab for the hardness of learning multi-head attention layers",
        "author": "{The attention-hardness authors}",
        "version": release,
        **({"note": note.replace("_", r"\_")} if note else {}),
    }
    entry = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    text = f"@software{{attention-hardness,\n{entry}\n}}"
    emit(as_json, {"bibtex": text, "version": release}, [text])
