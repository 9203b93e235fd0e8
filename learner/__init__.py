"""Learners of a multi-head attention layer: the provable one and those it is compared with.

>>> import hardness, learner
>>> train = hardness.Instance.generate(hardness.Nondegenerate(dim=8, tokens=2, heads=2), seed=0).examples(1000, seed=1)
>>> learner.Direct(heads=2, random_state=0).fit(train.X, train.Y).report_.status
'solved'

Each is a scikit-learn estimator on X (n, k, d) of ±1 and Y (n, k, d), imported when it is first used.
"""

TYPE_CHECKING = (
    False  # type checkers take the name for typing's; importing that costs more than all else here
)
if TYPE_CHECKING:
    from learner.base import FitReport as FitReport
    from learner.base import Learner as Learner
    from learner.diagonal import Diagonal as Diagonal
    from learner.direct import Adam as Adam
    from learner.direct import Direct as Direct
    from learner.direct import JointLBFGS as JointLBFGS
    from learner.linear.regressor import LinearAttention as LinearAttention
    from learner.networks import MLP as MLP
    from learner.networks import OnlineMLP as OnlineMLP
    from learner.provable.pipeline import Provable as Provable
    from learner.regression import LowDegree as LowDegree
    from learner.regression import RandomFeatureAttention as RandomFeatureAttention
    from learner.regression import RandomFeatureMLP as RandomFeatureMLP
    from learner.student import Student as Student

_MODULES = {
    "base": "FitReport Learner",
    "diagonal": "Diagonal",
    "direct": "Adam Direct JointLBFGS",
    "linear.regressor": "LinearAttention",
    "networks": "MLP OnlineMLP",
    "provable.pipeline": "Provable",
    "regression": "LowDegree RandomFeatureAttention RandomFeatureMLP",
    "student": "Student",
}
_HOMES = {name: f"learner.{module}" for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_HOMES)


if not TYPE_CHECKING:  # a type checker that saw it would take any name for one of ours

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module 'learner' has no attribute '{name}'")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    return __all__
