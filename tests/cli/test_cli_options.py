"""Options made of a family's fields: every type that a command line can spell, and what is said of the others."""

import shlex
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pytest
from commands import check_refused, run_command

from hardness.families.base import Family
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Instance


@dataclass(frozen=True)
class Odd(Family):
    """A random layer that takes parameters of every kind."""

    dim: int
    mode: Literal["plain", "odd one"] = "plain"
    least_gap: float | None = None
    fast: bool = False
    tied: bool = True
    limit: int = field(default_factory=lambda: 7, metadata={"help": "Made when asked for."})

    name: ClassVar[str] = "odd"
    summary: ClassVar[str] = "parameters of every kind"
    tokens: ClassVar[int] = 2

    def __post_init__(self):
        if self.limit > 9:
            raise ValueError("limit\nis too much")

    hypothesis = "None."
    heads_meaning = "one"

    def draw(self, rng):
        return Nondegenerate(self.dim, 2, 1).draw(rng)

    def realize(self, secret):
        return Nondegenerate(self.dim, 2, 1).realize(secret)


ODD = f"{__name__}:Odd"


@pytest.mark.parametrize(
    ("line", "parameters"),
    [
        ("", {}),
        ("--least-gap 0.25 --fast --no-tied", {"least_gap": 0.25, "fast": True, "tied": False}),
        (
            "--least-gap -1 --mode 'odd one' --tied --limit 2",
            {"least_gap": -1.0, "mode": "odd one", "limit": 2},
        ),
    ],
)
def test_options_are_the_fields_and_the_command_gives_them_back(tmp_path, line, parameters):
    assert (
        run_command(f"generate {ODD} --dim 4 --seed 0", *shlex.split(line), "--out", tmp_path / "a").code == 0
    )
    instance = Instance.load(tmp_path / "a")
    assert instance.family == Odd(4, **parameters)
    assert run_command("", *shlex.split(instance.command())[1:], "--out", tmp_path / "b").code == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"generate {ODD} --dim 4 --limit 10 --out x", "odd refuses its parameters: limit"),
        (f"generate {__name__}:Instance --out x", "is not a family"),
    ],
)
def test_what_cannot_be_spelled_is_one_line(tmp_path, monkeypatch, line, words):
    monkeypatch.chdir(tmp_path)
    check_refused(run_command(line), words)
    assert list(tmp_path.iterdir()) == []
