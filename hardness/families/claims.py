"""What a class of families claims of its secrets and labels: one statement, which no class inherits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from hardness.families.concepts import Concepts
from hardness.families.linear import LinearLabels
from hardness.tokens import Signs

UNSTATED = "Not stated"
Secret = dict[str, NDArray[Any]]
Checks = list[tuple[str, bool, str]]


def _unknown(family: Any, *_: Any) -> None:
    return None


@dataclass(frozen=True)
class Claims:
    """The claims of the class `of`, whose `hypothesis` says under which its layers are hard (or "None: …").

    Nothing else is claimed unless it is stated. `of` is the class by its name, since a claim is about the labels of one
    class: one that is derived from it draws or labels otherwise, and states its own claims, such as
    ``replace(Parity.claims(), of=Mine)`` where it changes neither. `heads_meaning` says what m is, and `linear` how
    labels show a hidden linear equation, where they do: what attacks and their estimates go by.

    All others are functions, and are handed the family:

    * `heads_meant(family)`: what m is at these parameters, None where `heads_meaning` says it.
    * `heads_shown(family, teacher)`: the number of heads as anybody may know it; where it follows from the secret, the
      largest that any secret takes.
    * `log2_secrets(family)`: log2 of the number of secrets, rounded down if at all; None where they are not counted.
    * `log2_label_vectors(family, X)`: log2 of an upper bound on the vectors of noiseless labels that secrets give to
      inputs X (n, k, d) with z_0 != 0; None where they are not counted. Without both there is no challenge.
    * `model_secret(family)`: a fixed secret whose layer has the same non-degeneracy conditions as any other's; None if
      they depend on it. What is printed of an instance must be the same bytes for all secrets.
    * `concepts(family)`: the class of labels that statistical-query bounds and games are about; None where nothing is
      proved.
    * `certificate(family, teacher)`: what is proved of a teacher, as JSON.
    * `certificate_shown(family, certificate)`: that as anybody may know it, None for what depends on the secret.
    * `verify(family, teacher, secret)`: the certificate checked again, (name, ok, detail) each.
    """

    of: type
    hypothesis: str
    heads_meaning: str = "number of heads"
    heads_meant: Callable[[Any], str | None] = _unknown
    heads_shown: Callable[[Any, Any], int] = lambda family, teacher: int(teacher.heads)
    log2_secrets: Callable[[Any], float | None] = _unknown
    log2_label_vectors: Callable[[Any, Signs], float | None] = _unknown
    model_secret: Callable[[Any], Secret | None] = _unknown
    concepts: Callable[[Any], Concepts | None] = _unknown
    certificate: Callable[[Any, Any], dict[str, Any]] = lambda family, teacher: {
        "method": "none: the layer follows from the secret"
    }
    certificate_shown: Callable[[Any, dict[str, Any]], dict[str, Any]] = lambda family, certificate: (
        certificate
    )
    verify: Callable[[Any, Any, Secret], Checks] = lambda family, teacher, secret: []
    linear: LinearLabels | None = None
