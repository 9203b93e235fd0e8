"""The studies `who-wins` and `ladder`."""

from hardness.studies.contest.page import write
from hardness.studies.contest.tasks import LADDER, WHO_WINS, ladder, seconds, who_wins
from hardness.studies.trials import trial
from hardness.study.study import Study

STUDIES = (
    Study(
        "who-wins",
        WHO_WINS,
        who_wins,
        seconds,
        trial,
        lambda store, folder: write(store, folder, WHO_WINS),
        300.0,
        role="broken",
    ),
    Study(
        "ladder",
        LADDER,
        ladder,
        seconds,
        trial,
        lambda store, folder: write(store, folder, LADDER),
        300.0,
        role="broken",
    ),
)
