"""What shows rows: articles, dashboards, and figures in plain matplotlib.

`article` fills the page of a study, Markdown written by hand, with the numbers, tables and figures of a committed table
of rows; its docstring says how a page is written. `dashboard` shows any rows in one HTML file without a sentence.
`plots` has the style of figures, bounds as arrows and labels at the ends of lines. `chart` draws `hardness plot`.
docs/extending.md makes a study from start to end.

The other modules and the names below are those of pages of the old kind, which some studies still have.
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
