"""The committed page as a function of its rows; no machine is timed here."""

import benchmarks.__main__ as page
from benchmarks.harness import read_rows


def test_the_committed_page_is_made_of_the_committed_rows(tmp_path):
    page.publish(read_rows(page.REPORT / "rows.csv"), page.about(page.REPORT), tmp_path)
    for name in ("README.md", "summary.json"):
        assert (tmp_path / name).read_bytes() == (page.REPORT / name).read_bytes(), name
