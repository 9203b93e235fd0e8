"""The page kit: figures that can be read in grey and at a column's width, templates that are held to their form."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from hardness import report
from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.report import (
    Axis,
    Column,
    Content,
    Curves,
    Field,
    HeatMap,
    Panel,
    Point,
    Series,
    Table,
    draw,
    line,
    write,
)
from hardness.report.content import Figure
from hardness.report.curves import WIDTH
from hardness.report.drawing import STYLE, Drawing
from hardness.report.glossary import KINDS
from hardness.report.heatmap import FILLS, shaded
from hardness.studies import catalog

POINTS = [Point(d, d**3, low=d**2.9, high=d**3.1) for d in (8, 10, 12, 16)]
CENSORED = [*POINTS, Point(20, 9000, censored="above"), Point(24, 20_000), Point(28, 8000, censored="below")]
SEVERAL = [
    Series("solved", CENSORED),
    Series(
        "of odd size, which has a long name",
        [replace(p, y=2 * p.y, hollow=True) for p in POINTS],
        dashed=True,
    ),
    line("needed", [(8, 100), (28, 5000)], "lower bound"),
    line("enough", [(8, 1000), (28, 50_000)], "upper bound"),
    line("law", [(8, 500), (28, 20_000)], "law"),
]
FLOOR = [(2.0, 9.0), (4.0, 5.0), (6.0, 3.0)]
PANELS = [Panel(f"m = {m}", SEVERAL) for m in range(4)]
CURVES = Curves("costs", PANELS, Axis("d", True), Axis("examples", True), "Lines rise.")
REACHED = [(x, y + 1) for x, y in FLOOR]
REGIONS = [Panel(f"m = {m}", SEVERAL[:1], None, None, FLOOR, REACHED, (1.0, 2.0)) for m in range(4)]
BRACKET = Curves("map", REGIONS, Axis("log₂ 1/τ"), Axis("log₂ q", low=0.0), "It falls.")
STATUSES = list(FILLS)
FIELDS = [
    Field(f"learner {i}", f"m = {m}", STATUSES[(i + m) % len(FILLS)], text="12/20\n1.1M")
    for i in range(8)
    for m in range(5)
]
HEAT = HeatMap("board", {"parity": FIELDS, "nice": [Field("a", "1", shade=0.7, text="x")]}, "Few.", x="m")
PAIRS = [Series(name, POINTS) for m in range(2, 7) for name in (f"s = {m}", f"random, m = {m}")]
FIGURES: list[Figure] = [CURVES, replace(CURVES, name="one", panels=[Panel("", PAIRS)]), BRACKET, HEAT]


@cache
def first_drawing(name: str) -> Drawing:
    """The drawing of a figure of `FIGURES`."""
    return draw(next(figure for figure in FIGURES if figure.name == name))


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_no_label_is_below_eight_points_at_a_column_s_width(figure: Figure) -> None:
    drawing = first_drawing(figure.name)
    svg = drawing.save("svg").decode()
    assert drawing.figure.get_figwidth() <= WIDTH <= 7.25
    texts = [text for text in drawing.figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    assert len(texts) > 5
    assert min(text.get_fontsize() for text in texts) >= 8
    assert not any("$" in text.get_text() for text in texts)  # exponents would be small print
    assert min(float(size) for size in re.findall(r"font(?:-size)?: ?([\d.]+)px", svg)) >= 8
    for legend in drawing.figure.legends:
        assert 0 <= legend.get_window_extent().x0 < legend.get_window_extent().x1 <= drawing.figure.bbox.x1


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_the_same_data_are_the_same_bytes_and_are_told_to_who_does_not_see_them(figure: Figure) -> None:
    first, second = first_drawing(figure.name), draw(figure)
    assert [first.save(kind) for kind in ("svg", "pdf")] == [second.save(kind) for kind in ("svg", "pdf")]
    assert first.alt.startswith(figure.alt_summary)
    assert " Across: " in first.alt
    assert figure is HEAT or " Up: " in first.alt
    assert f'role="img" aria-label="{escape(first.alt)}' in first.inline()
    assert first.inline().count("<title>") == len(first.tips) > 0


def test_a_pdf_embeds_its_fonts_as_truetype(monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals refuse Type 3. conftest.py has it for all other tests, which it spares the time of a subset."""
    monkeypatch.setitem(STYLE, "pdf.fonttype", 42)
    committed = sorted((Path(__file__).parents[2] / "reports").glob("*/*.pdf"))
    for pdf in (draw(CURVES).save("pdf"), *(path.read_bytes() for path in committed)):
        assert pdf.startswith(b"%PDF")
        assert b"/FontFile2" in pdf
        assert b"/Type3" not in pdf


def test_a_name_with_dollars_is_drawn_as_it_stands() -> None:
    """Two of them were a formula, and one that cannot be read ended the page."""
    series = [Series("a$\\frac$b", POINTS)]
    svg = (
        draw(Curves("dollars", [Panel("$one$", series)], Axis("$x$", True), Axis("y", True)))
        .save("svg")
        .decode()
    )
    assert all(name in svg for name in ("a$\\frac$b", "$one$", "$x$"))


def joined(drawing_of: Figure) -> list[list[float]]:
    """The x of every line with a stroke in the first panel."""
    axes = draw(drawing_of).figure.axes[0]
    return [list(map(float, one.get_xdata())) for one in axes.lines if one.get_linestyle() != "None"]


def test_panels_that_share_an_axis_show_the_points_of_all() -> None:
    """The limits of the first panel once held for all, and cut off what lay beyond them."""
    panels = [Panel("", [Series("a", [Point(x, x)])]) for x in (5, 1, 1000)]
    for log in (False, True):
        for axes in draw(Curves("shared", panels, Axis("x", log), Axis("y", log))).figure.axes:
            assert axes.get_xlim()[0] < 1 < 1000 < axes.get_xlim()[1]
            assert axes.get_ylim()[0] < 1 < 1000 < axes.get_ylim()[1]


def test_a_censored_point_is_never_joined() -> None:
    alone = replace(CURVES, panels=[Panel("", [Series("solved", CENSORED)])])
    assert [x for x in joined(alone) if x] == [[8, 10, 12, 16], [24]]
    assert not any(joined(replace(alone, panels=[Panel("", [Series("solved", POINTS, join=False)])])))
    marks = [one.get_marker() for one in draw(alone).figure.axes[0].lines if one.get_linestyle() == "None"]
    assert marks == ["o", "o", "o", "o", "^", "o", "v"]


def test_a_lower_bound_is_never_drawn_as_an_upper_one() -> None:
    lines = {one.get_label(): one for one in draw(CURVES).figure.legends[0].get_lines()}
    low, high = lines["needed"], lines["enough"]
    assert (low.get_marker(), high.get_marker()) == (2, 3)  # matplotlib's TICKUP and TICKDOWN
    assert low._dash_pattern != high._dash_pattern
    assert {"only known to be larger", "only known to be smaller"} <= set(lines)


def test_words_of_a_figure_say_what_censored_points_mean() -> None:
    figure = replace(CURVES, labels={"below": "larger d were not tried"})
    labels = {one.get_label() for one in draw(figure).figure.legends[0].get_lines()}
    assert {"only known to be larger", "larger d were not tried"} <= labels
    assert "only known to be smaller" not in labels


def test_between_two_points_regions_claim_no_more_than_the_points() -> None:
    """The floor is as high as the right one, and what is reached as the left one; without any, nothing is open."""
    floor, reached = draw(BRACKET).figure.axes[0].collections[:2]
    corners = [{tuple(corner) for corner in one.get_paths()[0].vertices.tolist()} for one in (floor, reached)]
    assert {(2.0, 9.0), (2.0, 5.0), (4.0, 5.0), (4.0, 3.0)} <= corners[0]
    assert {(2.0, 10.0), (4.0, 10.0), (4.0, 6.0)} <= corners[1]
    bare = replace(BRACKET, panels=[replace(panel, reached=()) for panel in REGIONS])
    labels = [text.get_text() for text in draw(bare).figure.legends[0].get_texts()]
    assert "impossible" in labels
    assert not {"open", "reached"} & set(labels)


def grey(color: str) -> float:
    return sum(part * weight for part, weight in zip(to_rgb(color), (0.299, 0.587, 0.114), strict=True))


def test_statuses_and_series_are_told_apart_in_grey() -> None:
    """Two fills differ in shade by an eighth of the way from black to white, or in pattern; two series in marker."""
    for one, other in combinations(FILLS.values(), 2):
        assert one.hatch != other.hatch or abs(grey(one.face) - grey(other.face)) > 1 / 8, (one, other)
        assert abs(grey(one.face) - grey(one.ink)) > 0.45
    several = [Series(f"s = {s}", POINTS, style=s) for s in range(7)]
    entries = draw(replace(CURVES, panels=[Panel("", several)])).figure.legends[0].get_lines()
    assert len({entry.get_marker() for entry in entries}) == 7


def test_dark_mode_changes_no_field_under_its_words() -> None:
    style = (Path(report.__file__).parent / "style.html").read_text()
    changed = {f"#{color}" for color in re.findall(r"--c([0-9a-f]{6}):", style)}
    assert len(changed) > 10
    for fill in [*FILLS.values(), *(shaded(i / 200) for i in range(201))]:
        assert not {fill.face, fill.ink} & changed
        assert abs(grey(fill.face) - grey(fill.ink)) > 0.35


LEAD = (
    '[proved] [measured] At least {{ n.least | at_least }} queries by {{ n.who }}.\n\n{{ figure("costs") }}\n'
)
TEXT = (
    LEAD
    + """
## What was done

[identity] It takes τ and theory 2.7.

{{ table("cells") }}

## Statistics for referees

Folded."""
)
COLUMNS = [Column("m"), Column("q", "queries", "proved", "at_least"), Column("N", form="at_least_power")]
CELLS = Table("Cells", [{"m": 2, "q": 51.84, "N": 7.06}], COLUMNS)
DRAWN = replace(CURVES, panels=[Panel("", [Series("solved", POINTS)])])
CONTENT = Content({"least": 51.84, "who": "a <b>*bold*</b> [x](y)\n\n# one"}, [DRAWN], {"cells": CELLS})
Pages = Callable[..., tuple[str, str]]


@pytest.fixture
def page(tmp_path: Path) -> Pages:
    """Headline and page of a content and a template, of one solved trial or of none."""

    def made(content: Content = CONTENT, text: str = TEXT, trials: int = 1) -> tuple[str, str]:
        (tmp_path / "page.md").write_text(text)

        def of(rows: Sequence[Row]) -> Content:
            return content

        study = replace(
            catalog.get("needs"), name="demo", question="Is it so?", content=of, template=tmp_path / "page.md"
        )
        (tmp_path / "rows.db").unlink(missing_ok=True)
        with Store(tmp_path / "rows.db", {"study": "demo", "seed": 0, "quick": False}) as store:
            store.made_by("hardness study run demo --only 'a b'")
            for i in range(trials):
                store.plan([task := Task("parity", {}, {}, {}, i)])
                store.add(task, Outcome("solved", 1), {"commit": "abc"})
            return write(study, store.table(), tmp_path), (tmp_path / "index.html").read_text()

    return made


def test_a_template_makes_a_page_of_the_owed_parts_in_their_order(page: Pages, tmp_path: Path) -> None:
    headline, html = page()
    assert headline == "At least 51.8 queries by a <b>*bold*</b> [x](y) # one."
    parts = [
        "<h1>Is it so?",
        '<div class="verdict">',
        "<svg",
        "<h2>What was done",
        'class="kind identity"',
        "<table",
    ]
    parts += [
        "<details>",
        "Folded.",
        "Words and symbols on this page",
        "hardness study run demo --only &#39;a b&#39;",
    ]
    order = [html.index(part) for part in [*parts, "<h2>Provenance"]]
    assert order == sorted(order)
    assert '51.8</td><td data-value="7.06">2^7</td>' in html
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {"study", "question", "verdict", "planned", "statuses", "commits"} <= set(summary)
    assert summary["verdict"] == headline
    assert summary["numbers"]["least"] == 51.84  # not rounded
    assert summary["made_by"] == ["hardness study run demo --only 'a b'"]


def test_a_headline_of_more_than_fifty_words_is_refused(page: Pages) -> None:
    assert page(text="word " * 50)[0].count("word") == 50
    with pytest.raises(InputError, match="headline of study demo has 51 words; shorten it to 50"):
        page(text="[proved] " + "word " * 51)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ n.most }}", "page.md of study demo: .*most"),
        ('One.\n\n{{ figure("cost") }}', "study demo has no figure 'cost'; it has costs"),
        ('One.\n\n{{ table("cell") }}', "study demo has no table 'cell'; it has cells"),
        ("{{ n.least | round_up }}", "page.md of study demo: .*round_up"),
        (
            '{{ figure("costs", "Of {{ n.least }}.") }}',
            r"words of figure 'costs' .* hold '\{\{ n.least \}\}.', which",
        ),
        ('{{ figure("costs", alt="{% if n %}A") }}', "words of figure 'costs' .* nothing fills in"),
        ('{{ table("cells", "Of {{ n.least }}.") }}', "words of table 'cells' .* nothing fills in"),
        ('{{ table("cells", "A", heads={"m": "{{ n }}"}) }}', "words of table 'cells' .* nothing fills in"),
    ],
)
def test_a_template_that_asks_for_what_is_not_there_is_answered_in_one_line(
    page: Pages, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        page(text=text)
    assert "\n" not in str(caught.value)


def test_a_figure_stands_alone_wherever_the_template_names_it(page: Pages) -> None:
    _, html = page(text="{% if n %}One.{% endif %}\n\n{{ figure('costs') }}\nTwo.")
    assert "<figure" in html and "\ue000" not in html  # noqa: PT018


def test_rows_that_do_not_answer_show_what_there_is(page: Pages) -> None:
    headline, html = page(replace(CONTENT, missing="No game of 3 was won <yet>."))
    assert headline == "No game of 3 was won <yet>."
    assert "<svg" in html and "<table" in html and "What was done" not in html  # noqa: PT018
    headline, html = page(trials=0)
    assert headline == "No trial has been run."
    assert "<svg" not in html


def test_a_section_without_a_row_is_named_and_not_shown(page: Pages) -> None:
    content = replace(CONTENT, figures=[], tables={"cells": CELLS, "none": Table("", [])})
    text = (
        "One.\n\n## Both\n{{ table('none') }}\n{{ table('cells') }}\n"
        "## Neither\nWords.\n{{ table('none') }}\n## No place\nMore."
    )
    _, html = page(content, text)
    assert re.findall("<h2>(.*?)</h2>", html.partition("<h2>Words and")[0]) == ["Both", "No place"]
    assert "Words." not in html and "belongs to the section Neither." in html  # noqa: PT018


def test_every_template_has_the_owed_sections() -> None:
    templates = [
        path
        for room in ("hardness", "learner")
        for path in Path(__file__).parents[2].glob(f"{room}/studies/*/page.md")
        if "{{ figure(" in path.read_text()
    ]
    for path in templates:
        text = path.read_text()
        lead, *sections = re.split(r"(?m)^## ", text)
        kinds = "|".join(KINDS)
        assert re.match(rf"\[({kinds})\]", lead), path  # a headline of a stated kind
        assert lead.count("{{ figure(") == 1, path  # the one that could refute it
        assert sections[0].startswith("What was done"), path
        assert len(re.split(r"\n\s*\n", sections[0].strip())) == 3, path  # its heading and two paragraphs
        assert sections[-1].startswith("Statistics for referees"), path
