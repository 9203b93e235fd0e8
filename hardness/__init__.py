"""The hardness lab: instances of attention layers that are provably hard to learn, and what it costs to learn them.

>>> import hardness
>>> instance = hardness.Instance.generate(hardness.Parity(dim=8, heads=2), seed=0)  # two heads that hide a parity
>>> examples = instance.examples(1000, seed=1)                      # X (1000, 2, 8) of ±1, Y (1000, 2, 8)
>>> layer = instance.layer()                                        # the same function as softmax attention
>>> bool(abs(layer(examples.X) - examples.Y).max() < 1e-9)
True
>>> nice = hardness.Instance.generate(hardness.Nondegenerate(dim=8, tokens=2, heads=2), seed=0)
>>> hardness.learn(nice, "direct", 1000, seed=2)["status"]          # judged on fresh examples
'solved'

These are the names a user starts with, each imported when it is first used; the rooms of the package hold the rest.
"""

TYPE_CHECKING = (
    False  # type checkers take the name for typing's; importing that costs more than all else here
)
if TYPE_CHECKING:
    from hardness import attacks as attacks
    from hardness import families as families
    from hardness import registry as registry
    from hardness.attacks.estimate import estimate as estimate
    from hardness.engine.frames import rows as rows
    from hardness.errors import InputError as InputError
    from hardness.evaluation.attacking import attack as attack
    from hardness.evaluation.learning import learn as learn
    from hardness.evaluation.learning import learners as learners
    from hardness.examples import Examples as Examples
    from hardness.families.base import Family as Family
    from hardness.families.concepts import ListedConcepts as ListedConcepts
    from hardness.families.concepts import ParityConcepts as ParityConcepts
    from hardness.families.concepts import RoundingConcepts as RoundingConcepts
    from hardness.families.nondegenerate import Nondegenerate as Nondegenerate
    from hardness.families.parity import Parity as Parity
    from hardness.families.rounding import Rounding as Rounding
    from hardness.instance import Instance as Instance
    from hardness.instance import generate as generate
    from hardness.instance import load as load
    from hardness.layer import MultiHeadAttention as MultiHeadAttention
    from hardness.scores import judge as judge
    from hardness.sq.game import play as play
    from hardness.studies.ray import ray as ray
    from hardness.studies.sweep.study import sweep as sweep

    __version__: str

_ROOMS = ("attacks", "families", "registry")
_MODULES = {
    "attacks.estimate": "estimate",
    "engine.frames": "rows",
    "errors": "InputError",
    "evaluation.attacking": "attack",
    "evaluation.learning": "learn learners",
    "examples": "Examples",
    "families.base": "Family",
    "families.concepts": "ListedConcepts ParityConcepts RoundingConcepts",
    "families.nondegenerate": "Nondegenerate",
    "families.parity": "Parity",
    "families.rounding": "Rounding",
    "instance": "Instance generate load",
    "layer": "MultiHeadAttention",
    "scores": "judge",
    "sq.game": "play",
    "studies.ray": "ray",
    "studies.sweep.study": "sweep",
}
_HOMES = {name: f"hardness.{module}" for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted(["__version__", *_ROOMS, *_HOMES])


if not TYPE_CHECKING:  # a type checker that saw it would take any name for one of ours

    def __getattr__(name: str) -> object:
        from importlib import import_module

        from hardness.errors import spelled

        if name == "__version__":
            from importlib.metadata import version

            value = version("attention-hardness")
        elif name in _ROOMS:
            value = import_module(f"hardness.{name}")
        elif name in _HOMES:
            value = getattr(import_module(_HOMES[name]), name)
            if not isinstance(value, type):  # a class names its own keywords
                value = spelled(value)
        else:
            raise AttributeError(f"module 'hardness' has no attribute '{name}'")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
