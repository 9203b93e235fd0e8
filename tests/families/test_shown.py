"""What is printed of an instance is the same bytes for all secrets of its family and parameters."""

import pytest
from commands import answer, run_command

from hardness.families.base import Family
from hardness.families.controls import Nested
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance

FAMILIES: list[Family] = [
    Parity(dim=20, heads=4, gadget="dot", flip=0.1),
    Parity(dim=12, heads=3, gadget="wide"),
    Nested(dim=8, size=3, block=1, gadget="dot"),
    Rounding(dim=2200, modulus=2**20, levels=4, weight=2),  # whose two coordinates its conditions once told
    Rounding(dim=16, modulus=17, levels=2, gadget="dot", heads=4),
    Rounding(dim=5, modulus=3, levels=3, exact=True),
    Nondegenerate(dim=6, tokens=3, heads=2),
]


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_all_secrets_are_shown_as_the_same_bytes(family, tmp_path):
    """`estimate` knows the parameters alone, so that two secrets do."""
    path = tmp_path / "f"
    shown, secrets, prices = set(), set(), set()
    for seed in range(4):
        instance = Instance.generate(family, seed)
        instance.save(path, force=True)
        lines = [f"{line}{form}" for line in ("inspect", "verify") for form in (" ", " --json ")]
        shown.add(
            (str(instance.public(5)), repr(instance), *(run_command(f"{line}{path}") for line in lines))
        )
        secrets.add(str({name: value.tolist() for name, value in instance.secret.items()}))
        if seed < 2:
            prices.add(run_command(f"estimate {path} --json"))
    assert len(shown) == len(prices) == 1
    assert len(secrets) > 1


def test_reveal_shows_what_tells_of_the_secret(tmp_path):
    instance = Instance.generate(Rounding(dim=16, modulus=97, levels=4, heads=6), 0)
    instance.save(tmp_path / "f")
    hidden, open_ = (answer(f"inspect {tmp_path / 'f'}{more}") for more in ("", " --reveal"))
    assert hidden["certificate"]["error_mass"] is None
    assert open_["certificate"] == instance.certificate
    assert all(row["value"] is None for row in hidden["conditions"])
    assert any(row["value"] is not None for row in open_["conditions"])
    assert open_["secret"] == {"w": instance.secret["w"].tolist()}
