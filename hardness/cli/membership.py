"""The command `attack membership`: the attacker chooses inputs, a counting oracle labels them."""

from pathlib import Path

from hardness.cli.common import emit


def membership(file: Path, seed: int, as_json: bool) -> None:
    """Attack an instance file by membership queries and say how many it took.

    Example: hardness attack membership hard.safetensors
    """
    from hardness.attacks.membership import attack
    from hardness.instance import Instance
    from hardness.io.rounding import at_least

    found = attack(Instance.load(file), seed)
    lines = [
        f"{found['status']}: {found['queries']} membership queries, {found['seconds']:.2f} s; "
        f"predicted {found['predicted']}, no learner needs fewer than {at_least(found['floor'])}"
    ]
    lines += [f"secret: {found['secret']}"] if found.get("secret") else []
    lines += [f"relative error of the layer: {found['layer_error']:.1e}"] if found.get("layer_error") else []
    lines += [found["reason"]] if "reason" in found else []
    emit(as_json, found, lines)
