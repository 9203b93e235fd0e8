"""The studies, by name.

Other packages add theirs under the entry point `hardness.studies`: a mapping from names to `Study`.
"""

from pathlib import Path

from hardness import registry
from hardness.errors import InputError, unknown
from hardness.studies import exact_games, head_budget, lattices, query_frontier, rounding_games, tolerance_in_m
from hardness.studies.contest.study import STUDIES as CONTESTS
from hardness.studies.exponential_in_m.study import STUDY as EXPONENTIAL_IN_M
from hardness.studies.stress.study import STUDY as STRESS
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
        tolerance_in_m.STUDY,
        rounding_games.STUDY,
        head_budget.STUDY,
        exact_games.STUDY,
        lattices.STUDY,
    )
}


def known() -> dict[str, Study]:
    """All studies by name: this package's, then those of the entry point `hardness.studies`."""
    found = dict(STUDIES)
    for point in registry.points("studies").values():
        found |= point.load()
    return found


def get(name: str) -> Study:
    """The study called `name`. Raises `InputError` with a suggestion if there is none.

    >>> len(get("exponential-in-m").tasks(True))
    40
    """
    studies = known()
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
