"""The command `validate`: published tables of other projects, run on the lab's instances."""

import typer

from hardness.cli.common import EXPERIMENTS, Json, emit


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=EXPERIMENTS)(validate)


def validate(as_json: Json = False) -> None:
    """Run published tables of other projects on instances of the lab, and print published beside ours.

    A line is within if the range of our runs meets the published one. It takes less than two minutes.

    Example: hardness validate --json
    """
    from hardness.engine.progress import steps
    from hardness.evaluation.published import comparisons, shown

    ended = []
    with steps("validate") as tell:
        for comparison in comparisons():
            ended.append(comparison)
            tell(f"{comparison.setting}: {shown(comparison.ours)} {comparison.unit}")
    fields = ("source", "setting", "published", "ours", "unit", "limit", "within", "reason")
    rows = [{name: getattr(comparison, name) for name in fields} for comparison in ended]
    lines = [
        f"{'ok' if c.within else 'NO':3} {c.setting}: published {shown(c.published)}, ours {shown(c.ours)} {c.unit}"
        f"{f'. {c.reason}' if c.reason else ''} [{c.source}]"
        for c in ended
    ]
    emit(as_json, {"rows": rows}, lines)
