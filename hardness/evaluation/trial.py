"""A trial: what came of a learner on an instance, as `hardness.learn` returns it."""

from typing import TYPE_CHECKING, Any

from hardness.errors import InputError
from hardness.io.displays import table
from hardness.scores import EXPLAINED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = (
    "status",
    "reason",
    "criterion",
    "explained",
    "exact",
    "relative_error",
    "sign_accuracy",
    "open_error",
)


class Trial(dict[str, Any]):
    """A mapping whose names are attributes too; notebooks show the main ones as a table.

    >>> trial = Trial(status="solved", explained=0.97)
    >>> trial.status, trial["explained"]
    ('solved', 0.97)
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def _repr_html_(self) -> str:
        shown = {name: self.get(name) for name in SHOWN}
        cost = {"examples": self.get("train_examples"), "seconds": self.get("seconds")}
        return table(f"{self.get('learner')}: {self.get('status')}", shown | cost)

    def plot(self) -> "Figure":
        """Return the curve of the explained share of the labels' variance against examples, on a logarithmic axis.

        A learner without `partial_fit` has one point. Raises `InputError` where the learner was never judged.
        """
        if self.get("explained") is None:
            raise InputError(f"nothing to draw: the trial ended as {self.get('status')} and was never judged")
        import matplotlib.pyplot as plt  # it tells notebooks how figures are shown

        curve = self.get("curve") or [(self["train_examples"], self["explained"])]
        figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
        plt.close(figure)  # a notebook shows what is returned, and nothing besides
        axes.plot([examples for examples, _ in curve], [share for _, share in curve], marker=".")
        axes.axhline(EXPLAINED.threshold, color="dimgray", linestyle="--", linewidth=1)
        axes.set(xscale="log", xlabel="examples", ylabel="variance explained", ylim=(-0.1, 1.05))
        axes.set_title(f"{self.get('learner')}: {self.get('status')}")
        return figure
