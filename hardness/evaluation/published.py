"""Published tables beside what the same protocol gives on the lab's instances, for `hardness validate`."""

from collections.abc import Iterator
from dataclasses import dataclass

from hardness import registry


@dataclass(frozen=True)
class Comparison:
    """One setting of a published table: what was published of its runs, and what came of ours.

    An entry is what a run took, in `unit`, and None of a run that did not reach the target within `limit`. A published
    entry may be the mean of several runs, where no more was published.
    """

    source: str
    setting: str
    published: tuple[int | None, ...]
    ours: tuple[int | None, ...]
    unit: str
    limit: int

    @property
    def within(self) -> bool:
        """Whether the ranges of the runs that solved overlap; where none did in one table, none may in the other."""
        theirs, ours = ([run for run in runs if run is not None] for runs in (self.published, self.ours))
        if not (theirs and ours):
            return not theirs and not ours
        return min(theirs) <= max(ours) and min(ours) <= max(theirs)


def comparisons() -> Iterator[Comparison]:
    """Yield every setting of the functions that are registered as `hardness.published`, as it is run."""
    for name in registry.names("published"):
        yield from registry.get("published", name)()
