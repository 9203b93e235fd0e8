"""A trial as plain data: what is run, its identity, and the seeds that follow from it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hardness.errors import InputError
from hardness.io.schemas import canonical as canonical

APART = 1_000_000  # repetitions from here on are of tuning: no judged run has the seeds of one
SCHEMA = 1  # part of every identity: raise it when the same task would mean another experiment


@dataclass(frozen=True)
class Task:
    """Describe one trial: a solver on one random instance of a family, within a budget.

    `solver` says how the instance is attacked: ``{"kind": "game", "strategy": …, "oracle": …, "tolerance": …}`` or
    ``{"kind": "learner", "learner": …, "params": {…}}``. `budget` holds numbers of queries or samples, never seconds.
    """

    family: str
    params: Mapping[str, Any]
    solver: Mapping[str, Any]
    budget: Mapping[str, Any]
    repetition: int

    @cached_property
    def text(self) -> str:
        """Return the task as canonical JSON: sorted keys, no spaces, 1.0 written as 1, tuples as lists."""
        return canonical({**vars(self), "schema": SCHEMA})

    @cached_property
    def identity(self) -> str:
        """Return the SHA-256, in hex, of the task written as canonical JSON (`text`)."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def tuning(self) -> bool:
        """Return whether this run only chooses a setting; such a run is no result."""
        return self.repetition >= APART

    @staticmethod
    def parse(text: str) -> "Task":
        """Return the task that `Task.text` wrote as `text`. Raises `InputError` for another version of its schema."""
        stated = json.loads(text)
        if stated.pop("schema", None) != SCHEMA:
            raise InputError(
                f"task of another schema than {SCHEMA}: run the study with the version that made it"
            )
        return Task(**stated)

    def shared(self, **solver: Any) -> "Task":
        """Return this task without solver and budget, so that trials which differ in these alone get the same seeds.

        `solver` lists entries of a solver that should count towards the seeds nevertheless.

        >>> one, other = (Task("parity", {"dim": 9}, {"learner": name}, {"samples": 9}, 0) for name in "ab")
        >>> one.shared().seed(0, "instance") == other.shared().seed(0, "instance")
        True
        """
        return Task(self.family, self.params, solver, {}, self.repetition)

    def seed(self, root: int, role: str) -> int:
        """Return a 128-bit seed for one role (instance, examples, solver, …) of this task under the root seed."""
        words = np.frombuffer(bytes.fromhex(self.identity), dtype=">u4")
        name = int.from_bytes(hashlib.sha256(role.encode()).digest()[:4], "big")
        # The name is a spawn key, kept apart from the entropy: roles are independent whatever the root seed is.
        sequence = np.random.SeedSequence([root, *map(int, words)], spawn_key=(name,))
        return int.from_bytes(sequence.generate_state(4, np.uint32).tobytes(), "big")


def named_in(task: Task) -> list[tuple[str, str]]:
    """Return (kind, name) of the family, learner, attack, strategy and oracle that a task names.

    >>> named_in(Task("parity", {}, {"kind": "game", "strategy": "flat"}, {}, 0))
    [('family', 'parity'), ('strategy', 'flat')]
    """
    kinds = ("learner", "attack", "strategy", "oracle")
    return [
        ("family", task.family),
        *((kind, str(task.solver[kind])) for kind in kinds if task.solver.get(kind)),
    ]
