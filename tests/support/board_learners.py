"""One learner that counts its work, and the same one that does not, as a worker process meets them."""

from learner import Adam


class Attention(Adam):
    """Attention heads by Adam in numpy, as the lab's own, which counts its multiply-adds."""

    def __init__(
        self, heads: int = 2, starts: int = 1, iterations: int = 300, random_state: int | None = None
    ) -> None:
        super().__init__(heads, starts=starts, iterations=iterations, random_state=random_state)


class AttentionUncounted(Attention):
    """The same, which does not say what it costs."""

    multiply_adds = None  # type: ignore[assignment]
