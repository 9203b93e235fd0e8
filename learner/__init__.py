"""Learners of a multi-head attention layer: the provable one and those it is compared with.

>>> import hardness, learner
>>> train = hardness.Instance.generate(hardness.Nondegenerate(dim=8, tokens=2, heads=2), seed=0).examples(1000, seed=1)
>>> learner.Direct(heads=2, random_state=0).fit(train.X, train.Y).report_.status
'solved'

Each is a scikit-learn estimator on X (n, k, d) of ±1 and Y (n, k, d), imported when it is first used.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "base": "FitReport Learner",
    "diagonal": "Diagonal",
    "direct": "Adam Direct JointLBFGS",
    "linear": "LinearAttention",
    "networks": "MLP OnlineMLP",
    "provable.pipeline": "Provable",
    "regression": "LowDegree RandomFeatureAttention RandomFeatureMLP",
    "student": "Student",
}
_HOMES = {name: f"learner.{module}" for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'learner' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
