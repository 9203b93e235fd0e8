"""Random layers of the form of the diag gadget: diagonal Θ, W = c E_00. The control of hidden parities."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.families.base import Family, Secret, expect
from hardness.gadgets.coefficients import gated
from hardness.io.fields import number, whole
from hardness.layer import MultiHeadAttention
from hardness.tokens import TokenStream, Words, unpack_bits

SAMPLE = 1 << 14  # rows over which the variance of a layer's labels is normalised, to about 1 %


@dataclass(frozen=True)
class RandomDiagonal(Family):
    """Heads with Θ_i = diag(θ_i), θ_ij ~ N(0, r²/d), and W_i = c_i E_00 with normal c_i, labels of variance 1.

    On rows with z_0 != 0 the label is x_a[0] Σ_i c_i tanh(Σ_j θ_ij u_j), u_0 = 1 (theory 1.1), and c is scaled so that
    its variance is 1 there. `dim` d >= 2, `heads` m >= 1, `scale` r > 0. Raises `InputError` otherwise.

    >>> layer = RandomDiagonal(dim=8, heads=3)
    >>> {name: array.shape for name, array in layer.draw(np.random.default_rng(0)).items()}
    {'theta': (3, 8), 'c': (3,)}
    """

    dim: int = field(metadata={"help": "Features of a token, d; coordinate 0 is the gate."})
    heads: int = field(metadata={"help": "m."})
    scale: float = field(default=2.0, metadata={"help": "r: entries of Theta are N(0, r^2/d)."})

    name: ClassVar[str] = "random-diagonal"
    summary: ClassVar[str] = "random heads of the diag gadget's form, the control"
    example: ClassVar[str] = "--dim 16 --heads 4"
    hypothesis: ClassVar[str] = (
        "None: meant to be learnable. The form is that of a hidden parity's heads, diagonal Theta and W = c "
        "E_00, with random numbers in it."
    )
    heads_meaning: ClassVar[str] = "number of independent random heads"
    open_variance: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("dim", self.dim, 2)
        whole("heads", self.heads, 1)
        number("scale", self.scale, "(0, inf)")

    def draw(self, rng: np.random.Generator) -> Secret:
        """The layer's numbers: {"theta": (m, d), "c": (m,)}."""
        theta, c = (
            rng.normal(0, self.scale / self.dim**0.5, (self.heads, self.dim)),
            rng.normal(size=self.heads),
        )
        words = TokenStream(0, 1, self.dim).packed(0, SAMPLE)[:, 0]
        words[:, 0] |= np.uint64(1)  # the gate's bit
        return {"theta": theta, "c": c / _values(theta, c, words).std()}

    def check(self, secret: Secret) -> None:
        """Raise `InputError` for arrays that are no such layer."""
        expect(secret, {"theta": ("<f8", (self.heads, self.dim)), "c": ("<f8", (self.heads,))})

    def realize(self, secret: Secret) -> MultiHeadAttention:
        """The layer of these diagonals and coefficients."""
        theta, w = np.zeros((2, self.heads, self.dim, self.dim))
        theta[:, range(self.dim), range(self.dim)] = secret["theta"]
        w[:, 0, 0] = secret["c"]
        return MultiHeadAttention(theta, w)

    def labels(
        self, teacher: MultiHeadAttention, words: Words, noise: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Labels (n, 2, d) in closed form."""
        Y = np.zeros((len(words), 2, self.dim))
        Y[:, :, 0] = gated(words, self.column_values(teacher, words, noise), self.closed_value(teacher))
        return Y

    def column_values(
        self, teacher: MultiHeadAttention, words: Words, noise: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return Σ_i c_i tanh(Σ_j θ_ij u_j), (n,)."""
        theta = np.diagonal(teacher.theta, axis1=1, axis2=2)
        return _values(theta, teacher.w[:, 0, 0], words[:, 0] ^ words[:, 1])


def _values(theta: NDArray[np.float64], c: NDArray[np.float64], words: Words) -> NDArray[np.float64]:
    """The values (n,) of packed bits (n, words); every sum is in one order, whatever stands beside a row."""
    levels = np.zeros((len(words), len(c)))
    bits = unpack_bits(words, theta.shape[1])
    for j in range(theta.shape[1]):
        levels += bits[:, j, None] * theta[:, j]
    return np.asarray(np.sum(np.tanh(levels) * c, axis=1))
