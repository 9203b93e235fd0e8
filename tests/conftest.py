"""What all tests share."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def few_sizes() -> Iterator[None]:
    """The bounds of the main page at a few m: at every m up to 64 each process that draws it computes for 10 s."""
    from hardness.studies.exponential_in_m import proved

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proved, "HEADS", (2, 8, 12, 16, 24, 32, 48, 64))
        yield
