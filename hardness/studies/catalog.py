"""The studies, by name.

Other packages add theirs under the entry point `hardness.studies`: a mapping from names to `Study`. One study may be
named as ``package.module:STUDY`` as well.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from hardness import registry
from hardness.errors import InputError, unknown
from hardness.io.texts import sanitize

if TYPE_CHECKING:
    from hardness.engine.store import Store
    from hardness.engine.study import Study

# Where the built-in studies are: one is imported when it is asked for, since all of them take seconds.
STUDIES: "dict[str, Study | str]" = {
    "needs": "hardness.studies.needs:STUDY",
    "games": "hardness.studies.games:STUDY",
    "lattices": "hardness.studies.lattices:STUDY",
}
# A user's own grid, which has no question before it is written.
UNLISTED: "dict[str, Study | str]" = {"sweep": "hardness.studies.sweep.study:STUDY"}


def _loaded(found: "Study | str") -> "Study":
    if not isinstance(found, str):
        return found
    module, _, name = found.partition(":")
    study: Study = getattr(import_module(module), name)
    return study


def _offered() -> "dict[str, Study | str]":
    """All studies by name: built-in ones, then those of other packages; none takes a name that is already there."""
    builtin = registry.names("studies", builtin=True)
    found = dict(STUDIES)
    for name, studies in sorted(registry.each("studies"), key=lambda pair: pair[0] not in builtin):
        if not isinstance(studies, InputError):
            found = {**studies, **found} if name not in builtin else found | studies
    return found


def names() -> list[str]:
    """The names of all studies; none of the lab's own is imported."""
    return list(_offered())


def known() -> "dict[str, Study]":
    """All studies by name."""
    return {name: _loaded(study) for name, study in _offered().items()}


def broken() -> list[InputError]:
    """What is wrong with plug-ins whose studies cannot be loaded."""
    return [studies for _, studies in registry.each("studies") if isinstance(studies, InputError)]


def get(name: str) -> "Study":
    """The study called `name`, or behind ``package.module:STUDY``. Raises `InputError` if there is none.

    >>> get("needs").name
    'needs'
    """
    from hardness.engine.study import Study

    own = STUDIES | UNLISTED
    offered = own if name in own else _offered() | UNLISTED
    if name in offered:
        return _loaded(offered[name])
    if ":" in name:
        found = registry.get("studies", name)
        if not isinstance(found, Study):
            raise InputError(f"{name} is no study; a study is a hardness.engine.study.Study")
        return found
    for study in known().values():
        if name in study.formerly:
            raise InputError(
                f"study {name} is part of {study.name} now ({study.formerly[name]}): `hardness study run {study.name}`"
            )
    raise unknown("study", name, list(offered))


def page(store: "Store", folder: Path) -> str:
    """Write the page of a store's study into `folder`; returns its verdict line. A pure function of the rows."""
    from hardness.engine.outcome import one_line
    from hardness.report.page import write  # templates and figures, which a list of studies does without

    study = get(str(store.about.get("study", "")))
    if "seed" not in store.about:
        raise InputError(f"{store.path} does not say under which seed its rows were made; run the study again")
    try:
        return write(study, store, folder)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"rows of {store.path} are no rows of {study.name} ({sanitize(one_line(error))})") from error
