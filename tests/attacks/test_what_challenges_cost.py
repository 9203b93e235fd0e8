"""No challenge is published that a short program opens: prices of easy settings, and the programs that are priced."""

import json
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from commands import answer, run_command

from hardness.attacks.estimate import estimate
from hardness.attacks.rounding_prices import hermite_shares
from hardness.instance.challenge import LEAST_BITS
from hardness.instance.suite import entries


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


# Settings of which an attack of few seconds opened a challenge, or that are as easy for the same reason.
EASY = [
    ("few heads", "rounding --dim 193 --modulus 4093 --levels 3 --heads 2"),
    ("few heads", "rounding --dim 97 --modulus 97 --levels 8 --heads 9 --gadget dot"),
    ("junta", "rounding --dim 257 --modulus 1048576 --levels 2 --weight 8"),
    ("junta", "rounding --dim 401 --modulus 4096 --levels 2 --weight 6 --noise 20"),
    ("means", "parity --dim 257 --heads 20 --flip 0.3 --bias 0.95"),
    ("means", "parity --dim 400 --heads 10 --gadget sharp --flip 0.2 --bias 0.95"),
    ("lf2", "parity --dim 256 --heads 60 --flip 0.25 --bias 0.5"),
    ("lpn pooled gauss", "parity --dim 300 --heads 40 --flip 0.02"),
    ("gaussian", "parity --dim 1025 --heads 32 --gadget wide"),
    ("linearization", "rounding --dim 257 --modulus 5 --levels 2"),
    ("lf2", "rounding --dim 257 --modulus 2 --levels 2 --weight 16 --noise 0.5"),
]


@pytest.mark.parametrize(("attack", "line"), EASY)
def test_easy_settings_are_priced(attack: str, line: str):
    cheapest = answer(f"estimate {line}")["cheapest"]
    assert (cheapest["name"], cheapest["log2_time"] < 60) == (attack, True)


OPENED = [
    ("gaussian", 500, "parity --dim 65 --heads 12"),
    ("means", 20000, "parity --dim 129 --heads 12 --flip 0.2 --bias 0.9"),
    ("means", 20000, "parity --dim 129 --heads 120 --flip 0.2 --bias 0.9"),  # the other coordinates are few
]


@pytest.mark.parametrize(("attack", "count", "line"), OPENED)
def test_an_attack_opens_its_kind_of_challenge_from_the_public_folder(attack: str, count: int, line: str):
    assert run_command(f"generate {line} --seed 1 --out f").code == 0
    assert run_command(f"challenge f --count {count} --toy --out c").code == 0
    Path("f").unlink()
    report = answer(f"attack {attack} c")
    assert report["status"] == "solved"
    Path("answer.json").write_text(json.dumps(report))
    assert run_command("judge c answer.json").code == 0


def test_shares_that_show_the_secret_are_those_of_a_normal_level():
    """Of a sign ρ₁² is 2/π, with all changes at the mean; of others it is what draws show."""
    alone, _ = hermite_shares(2, 1000, 999, 1e9)  # all changes are at the mean
    assert alone == pytest.approx(2 / np.pi, abs=1e-3)
    rng = np.random.default_rng(0)
    x = rng.standard_normal(400_000)
    sums = []
    for offset in (np.arange(16) + 0.5) / 16 - 0.5:
        cell = ((x * 2 + offset) * 3 + 1.5).clip(0, 2).astype(int)  # q = 1, p = 3, two heads, deviation 2
        shown = [((cell == level) - (cell == level).mean()) for level in range(3)]
        sums.append([max(np.mean(y * h) ** 2 / np.var(y) for y in shown) for h in (x, (x * x - 1) / sqrt(2))])
    assert hermite_shares(1, 3, 2, 2.0) == pytest.approx(np.mean(sums, axis=0), rel=0.05)


PRICED = {
    each.name.rpartition("-")[0]: each for each in entries().values() if each.family in ("parity", "rounding")
}


@pytest.mark.parametrize("cell", PRICED)
def test_instances_of_the_suite_are_priced_as_they_say(cell: str):
    """And the tier that no attack is said to open holds none that is priced below what `challenge` publishes."""
    entry = PRICED[cell]
    price = estimate(entry.family, **entry.params).cheapest
    assert entry.predicted["attack"] == price.name
    assert entry.predicted["log2_time"] == pytest.approx(price.log2_time, abs=0.006)
    assert (entry.tier == "open") == (price.log2_time >= LEAST_BITS)


def test_a_challenge_that_no_priced_attack_opens_says_what_is_not_priced():
    assert run_command("generate rounding --dim 257 --modulus 97 --levels 2 --heads 60 --out f").code == 0
    assert "learners by gradients" in run_command("challenge f --count 10 --out c").out.splitlines()[2]
    report = answer("challenge f --count 10 --out c --force")
    assert report["not_priced"] == []
    assert report["cheapest"]["log2_time"] > 60
