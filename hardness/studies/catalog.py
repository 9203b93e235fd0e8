"""The studies, by name.

Other packages add theirs under the entry point `hardness.studies`: a mapping from names to `Study`. One study may be
named as ``package.module:STUDY`` as well.
"""

from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from hardness import registry
from hardness.errors import InputError, unknown
from hardness.io.texts import sanitize

if TYPE_CHECKING:
    from hardness.engine.outcome import Table
    from hardness.engine.store import Store
    from hardness.engine.study import Study

# Where the built-in studies are: one is imported when it is asked for, since all of them take seconds.
STUDIES: "dict[str, Study | str]" = {
    "needs": "hardness.studies.needs:STUDY",
    "games": "hardness.studies.games:STUDY",
    "lattices": "hardness.studies.lattices:STUDY",
}
# Grids of commands of their own, which have no tasks before they are asked for.
UNLISTED: "dict[str, Study | str]" = {
    "sweep": "hardness.studies.sweep.study:STUDY",
    "ray": "hardness.studies.ray:STUDY",
}


def _offered() -> "dict[str, Study | str]":
    """Return all studies by name: those of other packages, then built-in ones, whose names nobody else takes."""
    builtin = registry.names("studies", builtin=True)
    offered: dict[bool, dict[str, Study | str]] = {False: {}, True: {**STUDIES}}
    for name, studies in registry.loaded("studies"):
        if not isinstance(studies, InputError):
            offered[name in builtin] |= studies
    return offered[False] | offered[True]


def names() -> list[str]:
    """Return the names of all studies; none of the lab's own is imported."""
    return list(_offered())


def known() -> "dict[str, Study]":
    """Return all studies by name."""
    return {name: get(name) for name in names()}


def broken() -> list[InputError]:
    """Return what is wrong with plug-ins whose studies cannot be loaded."""
    return [studies for _, studies in registry.loaded("studies") if isinstance(studies, InputError)]


def get(name: str) -> "Study":
    """Return the study called `name`, or behind ``package.module:STUDY``. Raises `InputError` if there is none."""
    from hardness.engine.study import Study

    offered = STUDIES | UNLISTED
    if name not in offered:
        offered = _offered()
    if name not in offered and ":" not in name:
        raise unknown("study", name, offered)
    study = offered[name] if name in offered else registry.get("studies", name)
    study = resolve_name(study) if isinstance(study, str) else study
    if not isinstance(study, Study):
        raise InputError(f"{name} is no study; a study is a hardness.engine.study.Study")
    return study


def page(store: "Store", folder: Path) -> str:
    """Write the dashboard of a store's rows into `folder`; return one line on them. A pure function of the rows."""
    return _written(store.table(), folder, committed=False)[0]


def report(rows: Path, pdf: bool = False) -> tuple[str, Path]:
    """Write what shows the rows of a study beside them; return its title and the file.

    That is the article for a committed table of rows (rows.csv without a store beside it), with its figures as PDF too
    if `pdf`; the dashboard for any others.
    """
    from hardness.engine.rows import file_of, read

    file = file_of(rows)
    return _written(read(rows), file.parent, committed=file.suffix == ".csv", pdf=pdf)


def _written(table: "Table", folder: Path, committed: bool, pdf: bool = False) -> tuple[str, Path]:
    from hardness.engine.outcome import one_line
    from hardness.report import article, dashboard  # figures, which a list of studies does without

    study = get(str(table.about.get("study", "")))
    try:
        if study.page and committed:
            return article.write(study, table, folder, pdf), folder / article.ARTICLE
        return dashboard.write(study, table, folder), folder / dashboard.PAGE
    except InputError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        reason = sanitize(one_line(error))
        raise InputError(f"rows for {folder} are no rows of {study.name} ({reason})") from error
