"""The studies, by name.

Other packages add theirs under the entry point `hardness.studies`: a mapping from names to `Study`. One study may be
named as ``package.module:STUDY`` as well.
"""

from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from hardness import registry
from hardness.errors import InputError, one_line, sanitize, unknown

if TYPE_CHECKING:
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
    """Return all studies by name, as text ``module:STUDY`` until imported; built-in studies cannot be replaced."""
    builtin = registry.names("studies", builtin=True)
    offered: dict[bool, dict[str, Study | str]] = {False: {}, True: {**STUDIES}}
    for name, studies in registry.loaded("studies"):
        if not isinstance(studies, InputError):
            offered[name in builtin] |= studies
    return offered[False] | offered[True]


def known() -> "dict[str, Study]":
    """Return all studies by name, each imported."""
    return {name: get(name) for name in _offered()}


def get(name: str) -> "Study":
    """Return the study called `name`, or behind ``package.module:STUDY``. Raises `InputError` if there is none."""
    from hardness.engine.study import Study

    offered = _offered() | UNLISTED
    if name not in offered and ":" not in name:
        raise unknown("study", name, _offered())
    study = offered[name] if name in offered else registry.get("studies", name)
    study = resolve_name(study) if isinstance(study, str) else study
    if not isinstance(study, Study):
        raise InputError(f"{name} is no study; a study is a hardness.engine.study.Study")
    return study


def report(rows: Path, pdf: bool = False) -> tuple[str, Path]:
    """Write the page about the rows of a study at `rows` beside them; return its title and its file.

    A rows.csv without a rows.db in its folder is a committed table and gets its study's article, if any; `pdf` writes
    figures as PDF too. Others get a dashboard, a general page. Raises `InputError` for rows unfit for their study.
    """
    from hardness.engine.rows import file_of, read
    from hardness.report import article, dashboard

    file, table = file_of(rows), read(rows)
    study, folder = get(str(table.about["study"])), file.parent
    try:
        if study.page and file.suffix == ".csv":
            return article.write(study, table, folder, pdf), folder / article.ARTICLE
        return dashboard.write(study, table, folder), folder / dashboard.PAGE
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        reason = sanitize(one_line(error))
        raise InputError(f"rows for {folder} are no rows of {study.name} ({reason})") from error
