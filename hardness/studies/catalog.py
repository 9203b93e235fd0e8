"""The studies, by name.

Other packages add theirs under the entry point `hardness.studies`: a mapping from names to `Study`. One study may be
named as ``package.module:STUDY`` as well.
"""

from pathlib import Path

from hardness import registry
from hardness.errors import InputError, unknown
from hardness.studies import exact_games, head_budget, query_frontier, rounding_games
from hardness.studies.contest.study import STUDIES as CONTESTS
from hardness.studies.exponential_in_m.study import STUDY as EXPONENTIAL_IN_M
from hardness.studies.lattices.study import STUDY as LATTICES
from hardness.studies.needs.study import STUDY as NEEDS
from hardness.studies.stress.study import STUDY as STRESS
from hardness.studies.sweep.study import STUDY as SWEEP
from hardness.studies.wall.study import STUDY as WALL
from hardness.study.outcome import one_line
from hardness.study.page.report import place
from hardness.study.store import Store
from hardness.study.study import Study
from hardness.texts import shown

STUDIES = {
    study.name: study
    for study in (
        EXPONENTIAL_IN_M,
        *CONTESTS,
        STRESS,
        WALL,
        query_frontier.STUDY,
        NEEDS,
        rounding_games.STUDY,
        head_budget.STUDY,
        exact_games.STUDY,
        LATTICES,
    )
}


def known() -> dict[str, Study]:
    """All studies by name: the house's, then those of other packages; none takes a name that is already there."""
    house = registry.names("studies", house=True)
    found = dict(STUDIES)
    for name, studies in sorted(registry.each("studies"), key=lambda pair: pair[0] not in house):
        if not isinstance(studies, InputError):
            found = {**studies, **found} if name not in house else found | studies
    return found


def broken() -> list[InputError]:
    """What is wrong with plug-ins whose studies cannot be loaded."""
    return [studies for _, studies in registry.each("studies") if isinstance(studies, InputError)]


def get(name: str) -> Study:
    """The study called `name`, or behind ``package.module:STUDY``. Raises `InputError` if there is none.

    >>> len(get("exponential-in-m").tasks(True))
    40
    """
    studies = known() | {SWEEP.name: SWEEP}
    if name not in studies and ":" in name:
        found = registry.get("studies", name)
        if not isinstance(found, Study):
            raise InputError(f"{name} is no study; a study is a hardness.study.study.Study")
        return found
    if name not in studies:
        raise unknown("study", name, studies)
    return studies[name]


def page(store: Store, folder: Path) -> str:
    """Write the page of a store's study into `folder`; returns its verdict line. A pure function of the rows."""
    study = get(str(store.about.get("study", "")))
    if "seed" not in store.about:
        raise InputError(f"{store.path} does not say under which seed its rows were made; run the study again")
    try:
        verdict = study.page(store, folder)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"rows of {store.path} are no rows of {study.name} ({shown(one_line(error))})") from error
    place(folder, study.question, study.role)
    return verdict
