"""Families of instances: validated parameters -> secret -> teacher.

A family is a frozen dataclass of its public parameters, registered under the entry point `hardness.families`;
`Family` says what it must offer.
"""

from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.concepts import Concepts
from hardness.examples import Words
from hardness.gadget import Gadget
from hardness.layer import MultiHeadAttention

Secret = dict[str, NDArray[Any]]
Teacher = Gadget | MultiHeadAttention


class Family(Protocol):
    """Public parameters of a family; the constructor validates them and raises `InputError`.

    Whatever `draw` returns is the secret; `realize` makes the teacher of it; `labels` are the labels of that teacher
    as anybody may see them: closed form, label noise included. `certificate` says what is proved of a teacher, as
    JSON, and `verify` re-checks it: (name, ok, detail) each. `concepts` is the class of labels that statistical-query
    bounds and games are about, None where the lab proves nothing.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    hypothesis: ClassVar[str]
    heads_meaning: ClassVar[str]

    @property
    def dim(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    def draw(self, rng: np.random.Generator) -> Secret: ...
    def realize(self, secret: Secret) -> Teacher: ...
    def labels(self, teacher: Any, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def certificate(self, teacher: Any) -> dict[str, Any]: ...
    def verify(self, teacher: Any, secret: Secret) -> list[tuple[str, bool, str]]: ...
    def cost(self) -> dict[str, float]: ...
    def concepts(self) -> Concepts | None: ...
