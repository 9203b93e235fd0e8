"""Pages of studies: how one is made.

A study is a folder of three files. `__init__.py` holds the grid, the trial and ``STUDY = Study(name, question, tasks,
seconds, trial, content="package.content:content", template=Path(__file__).with_name("page.md"))``; what is long of it
may stand in modules beside it.
`content.py` holds one pure function from rows to a `Content`. `frame(rows)` makes a pandas DataFrame of them, a line a
trial, which it groups, pivots and merges into a few named tables; a table of a page may be such a frame. What it shows
are numbers that the text names, figures (`Curves`, `HeatMap`) and tables, all plain data. `page.md` is the text.
Studies hold no drawing code, and no sentences in Python.

A template is Markdown with Jinja: ``{{ n.least | at_least }}`` prints a number, ``{{ figure("costs") }}`` and
``{{ table("cells") }}``, each on a line of its own, place what the content holds by those names. The second argument is
the caption; `figure` also takes `alt` and `kinds`, `table` its columns, and their `heads`, `kinds` and `forms` by key.
These words are strings, in which nothing is filled in: a number is joined to them, ``"at d = " ~ n.d ~ "."``.
``{{ term("ψ", "The number of features.") }}`` explains a symbol of this page. Filters are the names of
`rounding.FORMS`; a bound is printed by `at_least`, `at_most` or, given its log2, `at_least_power`, `at_most_power`, and
by nothing else. A paragraph, heading or list item that begins with ``[proved]``, ``[identity]``, ``[measured]``
(`glossary.KINDS`) gets that badge. Words of docs/glossary.md and references such as "theory 2.5" are marked by
themselves. In this order a template has

1. the headline: its first paragraph, at most 50 words, one claim with its model and limits (more are refused);
2. the one figure that could refute it;
3. ``## What was done``: two paragraphs;
4. sections of other figures and tables, figures first;
5. ``## Statistics for referees``, which the page folds.

Title, words and symbols, the command line that made the rows, crashes and provenance are added. While rows do not
answer the question, a content says so by `missing`, and the page shows that sentence and whatever figures there are. A
content has all figures and tables that the template names; one without panels or rows is left out with a remark.
Points of different parity are different series; a censored point is `Point(…, censored="above")` at what was spent.
docs/extending.md makes a study from start to end.
"""

from hardness.report.content import Axis as Axis
from hardness.report.content import Column as Column
from hardness.report.content import Content as Content
from hardness.report.content import Curves as Curves
from hardness.report.content import Field as Field
from hardness.report.content import Figure as Figure
from hardness.report.content import HeatMap as HeatMap
from hardness.report.content import Panel as Panel
from hardness.report.content import Point as Point
from hardness.report.content import Series as Series
from hardness.report.content import Table as Table
from hardness.report.content import frame as frame
from hardness.report.content import grouped as grouped
from hardness.report.content import line as line
from hardness.report.content import lines_of as lines_of
from hardness.report.content import mean_points as mean_points
from hardness.report.content import mean_series as mean_series
from hardness.report.page import draw as draw
from hardness.report.page import write as write
