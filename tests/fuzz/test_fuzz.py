"""A short run of the fuzzers, the same cases every time; `make fuzz` is the long one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.mark.parametrize("kind", ["instances", "examples", "challenges", "answers", "stores", "lines"])
def test_what_is_damaged_or_random_ends_in_one_line(kind: str) -> None:
    """In a process of its own, as each case takes signals and memory limits for itself."""
    command = [sys.executable, str(HERE / "driver.py"), "--files", "40", "--lines", "60", "--only", kind]
    told = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert told.returncode == 0, told.stdout + told.stderr


def test_schemas_state_what_the_code_states() -> None:
    from hardness.io import schemas

    known = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "docs/schemas").glob("*.json")}
    shipped = (path for path in Path(schemas.__file__).parent.glob("*.json"))
    assert {path.name: json.loads(path.read_text(encoding="utf-8")) for path in shipped} == known
    fields = {name.partition(".")[0]: schema.get("properties", {}) for name, schema in known.items()}
    assert fields["row"]["status"]["enum"] == list(schemas.STATUSES)
    assert fields["summary"]["statuses"]["propertyNames"]["enum"] == list(schemas.STATUSES)
    assert fields["grid"]["guard"]["maximum"] == schemas.LONGEST_TRIAL
    assert fields["summary"]["schema"]["const"] == schemas.SUMMARY_VERSION
    for name in ("instance", "public", "challenge"):
        assert fields[name]["format_version"]["const"] == schemas.FORMAT_VERSION


def test_the_lab_writes_what_its_schemas_say(tmp_path: Path) -> None:
    from hardness.challenge import publish
    from hardness.families.parity import Parity
    from hardness.families.rounding import Rounding
    from hardness.instance import Instance
    from hardness.io import schemas

    for family in (Parity(6, 2), Rounding(6, 5, 2, weight=2, noise=0.5)):
        instance = Instance.generate(family, 0)
        schemas.check("instance", json.loads(json.dumps(instance.header())), "header")
        schemas.check("public", instance.public(0), "public")
        schemas.check("challenge", publish(instance, 4, tmp_path / family.name, toy=True), "challenge")
        schemas.check("answer", {name: value.tolist() for name, value in instance.secret.items()}, "answer")
