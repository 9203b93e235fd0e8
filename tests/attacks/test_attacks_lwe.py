"""LWE samples of others: read without being evaluated, small secrets found, and what is out of reach refused."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import answer, check_refused, run_command

from hardness.attacks.bridges import LWE, normal_form, read, rounding_secret, write
from hardness.attacks.lwe import attack
from hardness.errors import InputError
from hardness.families.rounding import Rounding
from hardness.instance import Instance


def samples(
    secret: tuple[int, int],
    error: tuple[int, int],
    n: int = 12,
    m: int = 120,
    q: int = 97,
    noise: float = 0.0,
    weight: int | None = None,
) -> tuple[LWE, np.ndarray]:
    """Samples, and their secret."""
    rng = np.random.default_rng(0)
    s = rng.integers(secret[0], secret[1] + 1, n)
    if weight is not None:
        s = np.zeros(n, dtype=np.int64)
        s[rng.choice(n, weight, replace=False)] = rng.choice(
            [v for v in range(secret[0], secret[1] + 1) if v], weight
        )
    A = rng.integers(0, q, (m, n))
    e = rng.integers(error[0], error[1] + 1, m) + np.rint(rng.normal(0, noise, m)).astype(int)
    return LWE(A, (A @ s + e) % q, q, secret, error, noise, weight), s


@pytest.mark.parametrize(
    ("name", "secret", "error", "options"),
    [
        ("lattice", (0, 1), (0, 0), {"q": 3329, "n": 24, "noise": 3.0}),
        ("lattice", (-1, 1), (-4, 4), {"n": 16, "weight": 5, "q": 256}),
        ("lattice", (-48, 48), (-1, 1), {"n": 16}),
        ("search", (-1, 1), (-1, 1), {"n": 40, "weight": 4, "m": 200}),
        ("search", (0, 1), (0, 0), {"n": 26, "noise": 1.5, "q": 128}),
    ],
)
def test_secrets_of_others_are_found(name: str, secret: Any, error: Any, options: dict[str, Any]) -> None:
    lwe, s = samples(secret, error, **options)
    outcome = attack(lwe, name)
    assert (outcome.status, outcome.secret) == ("solved", {"s": s.tolist()}), outcome.detail


@pytest.mark.parametrize(
    ("name", "lwe", "reason"),
    [
        ("lattice", samples((-1, 1), (-1, 1), m=8)[0], "8 samples do not tell one secret from all others"),
        (
            "lattice",
            samples((-1, 1), (0, 0), n=300, m=600, q=3329, noise=3.0)[0],
            "more are|out of reach|no lattice",
        ),
        ("lattice", samples((-40, 40), (-1, 1), q=96)[0], "modulus 96 not prime"),
        ("search", samples((-20, 20), (-1, 1), n=30, m=300)[0], "half secrets, more than"),
    ],
)
def test_what_is_out_of_reach_is_refused_in_one_line(name: str, lwe: LWE, reason: str) -> None:
    outcome = attack(lwe, name)
    assert (outcome.status, outcome.secret) == ("refused", None)
    assert re.search(reason, outcome.detail["reason"])
    with pytest.raises(InputError, match="lattice and search do"):
        attack(lwe, "gaussian")


def test_random_samples_have_no_secret() -> None:
    rng = np.random.default_rng(1)
    lwe = LWE(rng.integers(0, 97, (120, 6)), rng.integers(0, 97, 120), 97, (-1, 1), (-1, 1))
    assert {attack(lwe, name).status for name in ("lattice", "search")} == {"budget"}


def test_an_own_normal_form_is_read_back_and_solved(tmp_path: Path) -> None:
    """Written in both forms, read without the instance; what is found is the rounding errors, and w follows."""
    instance = Instance.generate(Rounding(17, 97, 48), 3)
    examples, public = instance.examples(600, 4), instance.public(4)
    lwe = normal_form(examples, public)
    for form, path in (("lwe", tmp_path / "lwr"), ("lwe-challenge", tmp_path / "lwr.txt")):
        write(form, examples, public, path)
        again = read(path)
        assert ((again.A == lwe.A).all(), (again.b == lwe.b).all(), again.q) == (True, True, 97)
        assert again.sd == pytest.approx(lwe.sd, rel=1e-4)
        report = answer("attack lattice", path)
        assert report["status"] == "solved", report
        errors = (lwe.b - lwe.A @ np.array(report["secret"]["s"]) + 48) % 97 - 48
        assert np.abs(errors).max() <= 1
        assert rounding_secret(examples, public, report["secret"]["s"]) == {
            "w": instance.secret["w"].tolist()
        }


TEXT = "2\n2\n97\n0.1\n[1 2]\n[[1 2]\n[3 4]]\n"
FOLDER = {"q": 97, "error": [-1, 1]}


@pytest.mark.parametrize(
    ("content", "A", "words"),
    [
        ("", None, "not enough values"),
        (TEXT.replace("4]", "__import__('os')]"), None, "could not convert string"),
        (TEXT.replace("0.1", "nan"), None, "errors must not be"),
        (TEXT.replace("97", "99999999999"), None, "q from 2 to"),
        (FOLDER, np.zeros((3, 2)), "must hold integers"),
        ({**FOLDER, "error": [1, -1]}, np.zeros((3, 2), int), "lowest <= highest"),
        ({**FOLDER, "weight": 3}, np.zeros((3, 2), int), "weight is at most n"),
        (FOLDER, np.zeros((4, 2), int), "needed are A"),
    ],
)
def test_what_is_no_lwe_is_one_line(tmp_path: Path, content: Any, A: Any, words: str) -> None:
    path = tmp_path
    if isinstance(content, str):
        path = tmp_path / "a.txt"
        path.write_text(content)
    else:
        (tmp_path / "lwe.json").write_text(json.dumps(content))
        np.save(tmp_path / "b.npy", np.zeros(3, int))
        np.save(tmp_path / "A.npy", A)
    check_refused(run_command("attack search", path), words)
