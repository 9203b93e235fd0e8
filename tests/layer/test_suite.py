"""The suite: names that never change what they mean, digests that only an exact copy has, and its commands."""

import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from commands import answer, check_refused, run_command

from hardness.instance import Instance, suite

# Of the digests of 0.3, which are those of 0.2: within a minor version a name never changes its instance.
FROZEN = "0.3", "9cb2eacc2622e109cadef5b1cfc11c544b311d019150016fc693c157cea32f3b"


def test_a_name_never_changes_its_instance_within_a_minor_version():
    from importlib.metadata import version

    digests = {name: each.digest for name, each in suite.entries().items()}
    whole = hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()
    now = ".".join(version("attention-hardness").split(".")[:2])
    assert (now, whole) == FROZEN, "a new minor version may change the suite: then freeze its digests here"


@pytest.mark.parametrize(
    "name", ["parity-s3-d16-f125-0", "sharp-s3-d16-0", "rounding-q97-p2-n24-0", "nice-m2-d8-0"]
)
def test_a_digest_is_of_all_that_makes_the_instance_and_of_nothing_else(name: str):
    instance = suite.instance(name)
    assert suite.digest(instance) == suite.entry(name).digest
    others = [replace(instance, seed=instance.seed + 1), suite.instance(name[:-1] + "1")]
    for key, array in instance.secret.items():
        changed = array.copy()
        changed.flat[-1] = (
            np.nextafter(array.flat[-1], np.inf) if array.dtype.kind == "f" else array.flat[-1] - 1
        )
        others.append(replace(instance, secret={**instance.secret, key: changed}))
    assert suite.entry(name).digest not in {suite.digest(other) for other in others}


def test_the_commands_say_what_the_contract_says(tmp_path):
    listed = answer("suite list --tier open")["instances"]
    assert set(listed[0]) == {"name", "tier", "family", "params", "log2_concepts", "predicted", "digest"}
    assert {each["tier"] for each in listed} == {"open"}
    assert all(each["predicted"]["log2_time"] >= 60 for each in listed)
    assert set(listed[0]["predicted"]) == {"attack", "log2_time"}
    shown = answer("suite show sharp-s3-d8-4")
    assert re.fullmatch("[0-9a-f]{64}", shown["digest"])
    assert run_command(f"suite make sharp-s3-d8-4 --out {tmp_path}/f").code == 0
    assert suite.digest(Instance.load(tmp_path / "f")) == shown["digest"]
    check_refused(run_command(f"suite make sharp-s3-d8-4 --out {tmp_path}/f"), "--force")
    check_refused(run_command("suite list --tier hard"), "unknown tier")


@pytest.mark.slow  # makes 65 instances: 3 s of CPU
def test_every_instance_is_the_one_that_was_pinned():
    assert all(each.ok for each in suite.check())
