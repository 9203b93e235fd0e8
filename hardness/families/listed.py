"""Concept classes of one's own that can be listed: what theory 2.8 needs of them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError

ENUMERATED = 2**28  # labels of a class on every input, or on a sample: bytes
DRAWN = 2**16  # inputs of a sample
LISTED = 2**11  # concepts whose Gram matrix is decomposed: seconds


class ListedConcepts(ABC):
    """Labels ±1 of n fair signs v, one function for each of the listed secrets: bounds by theory 2.8, and games.

    A class derived from this one has the number `n` of signs and says which secrets there are (mappings of arrays, as
    a family's `draw` makes them) and what each of them says of inputs. On the layer's tokens v_j is x_1j x_2j, with j
    from 1; labels speak where z_0 != 0. Secrets with equal labels are one concept.

    >>> class Dictators(ListedConcepts):
    ...     n = 3
    ...     def secrets(self):
    ...         return [{"place": np.array(j)} for j in range(3)]
    ...     def values(self, secret, v):
    ...         return v[:, secret["place"]]
    >>> Dictators().size, Dictators().table.shape, Dictators().exact
    (3, (3, 8), True)
    """

    kind: ClassVar[str] = "listed"
    parities: ClassVar[bool] = False
    label: ClassVar[str] = "a listed class"
    n: int

    @abstractmethod
    def secrets(self) -> Sequence[Mapping[str, NDArray[Any]]]:
        """All secrets."""

    @abstractmethod
    def values(self, secret: Mapping[str, NDArray[Any]], v: NDArray[np.int8]) -> NDArray[Any]:
        """The labels ±1 (inputs,) of sign vectors v (inputs, n)."""

    def target(self, secret: Mapping[str, NDArray[Any]], X: NDArray[np.int8]) -> NDArray[Any]:
        """The labels (n,) on tokens X (n, 2, d)."""
        return np.asarray(self.values(secret, (X[:, 0] * X[:, 1])[:, 1 : self.n + 1]))

    @property
    def exact(self) -> bool:
        """Whether `table` holds every input; else a sample of them."""
        return self.n < 63 and len(self.secrets()) * 2**self.n <= ENUMERATED

    @cached_property
    def inputs(self) -> NDArray[np.int8]:
        """Sign vectors (inputs, n): all 2^n, or a sample by a fixed seed."""
        if self.exact:
            return (1 - 2 * (np.arange(2**self.n)[:, None] >> np.arange(self.n) & 1)).astype(np.int8)
        signs = np.random.default_rng(0).integers(0, 2, (DRAWN, self.n), dtype=np.int8)
        return np.asarray(1 - 2 * signs, dtype=np.int8)

    @cached_property
    def table(self) -> NDArray[np.int8]:
        """Labels ±1 of all distinct concepts on `inputs`, int8 (N, inputs).

        Raises `InputError` for labels of other values and for classes too large to list.
        """
        secrets = self.secrets()
        if not secrets:
            raise InputError(f"{type(self).__name__} lists no secrets")
        if len(secrets) * min(2**self.n, DRAWN) > ENUMERATED:
            raise InputError(f"{len(secrets)} concepts are too many to list on {DRAWN} inputs; list fewer")
        rows = [np.asarray(self.values(secret, self.inputs)) for secret in secrets]
        for row in rows:
            if row.shape != (len(self.inputs),) or not (np.abs(row) == 1).all():
                raise InputError(
                    f"{type(self).__name__}.values must be +1 or -1, one an input: no bound is known for other labels "
                    "(theory 2.8)"
                )
        return np.unique(np.array(rows, dtype=np.int8), axis=0)

    @property
    def size(self) -> int:
        """N, the number of distinct concepts."""
        return len(self.table)

    def elements(self) -> NDArray[np.int64]:
        """The concepts as rows of `table`."""
        return np.arange(self.size)

    def is_identified(self, live: NDArray[np.int64]) -> bool:
        """Whether one concept is left."""
        return len(live) == 1
