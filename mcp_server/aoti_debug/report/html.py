"""Render an outline, and what its run recorded, as one HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from aoti_debug.plain import clean, one_line
from aoti_debug.report.recorded import CallPoint, Recorded
from aoti_debug.report.text import Outline

if TYPE_CHECKING:
    from jinja2 import Template
    from leather import Chart


GOOD, BAD = "#3b78b5", "#c62828"
COLOURS = (GOOD, BAD, "#2e7d32", "#b26a00")
WIDTH, HEIGHT = 820, 280
THEME: Mapping[str, object] = {
    "background_color": "none",
    "margin": 0.01,
    "tick_color": "rgba(128, 128, 128, .3)",
    "zero_color": "rgba(128, 128, 128, .6)",
    **dict.fromkeys(("label_color", "axis_title_color", "legend_color"), "currentColor"),
    **dict.fromkeys(
        ("tick_font_family", "axis_title_font_family", "legend_font_family"), "inherit"
    ),
    **dict.fromkeys(("tick_font_size", "axis_title_font_size", "legend_font_size"), 12),
}

Series = Sequence[tuple[float, float]]


def calls_plot(calls: Sequence[CallPoint]) -> str:
    """Plot the duration of each call by its number, the bad ones as a series of their own."""
    chart = _chart("call", "ms")
    good = [(one.number, one.milliseconds) for one in calls if not one.bad]
    bad = [(one.number, one.milliseconds) for one in calls if one.bad]
    for name, points, colour, radius in (("good", good, GOOD, 3), ("bad", bad, BAD, 4)):
        if points:
            chart.add_dots(points, name=name, fill_color=colour, radius=radius)
    return str(chart.to_svg(width=WIDTH, height=HEIGHT))


def lines_plot(x: str, y: str, series: Iterable[tuple[str, Series]]) -> str:
    """Plot a few figures along the kernels or nodes of a model."""
    chart = _chart(x, y)
    for (name, points), colour in zip(series, COLOURS, strict=False):
        if points:
            chart.add_line(list(points), name=name, stroke_color=colour)
    return str(chart.to_svg(width=WIDTH, height=HEIGHT))


def bars_plot(x: str, rows: Sequence[tuple[str, float]]) -> str:
    """Plot a horizontal bar for each row, the first on top."""
    chart = _chart(x, "")
    chart.add_bars([(value, one_line(name)) for name, value in rows], fill_color=GOOD)
    return str(chart.to_svg(width=WIDTH, height=60 + 26 * len(rows)))


def dots_plot(x: str, y: str, points: Series) -> str:
    """Plot one figure of many things."""
    chart = _chart(x, y)
    chart.add_dots(list(points), fill_color=GOOD, radius=3)
    return str(chart.to_svg(width=WIDTH, height=HEIGHT))


def _chart(x: str, y: str) -> Chart:
    import leather

    for name, value in THEME.items():
        setattr(leather.theme, name, value)
    chart = leather.Chart()
    chart.add_x_axis(name=x)
    chart.add_y_axis(name=y)
    return chart


# Sections that stand above the pictures: what is known, before how it came to be known.
FIRST = frozenset({"Where", "Why", "Fix", "Problems"})
PLOTTED = 2  # fewer calls are no picture
# The page reads without it: buttons are shown only where it runs.
SCRIPT = (
    "for (const button of document.querySelectorAll('button.copy')) {"
    " button.hidden = false;"
    " button.onclick = () => { const said = button.parentElement.querySelector('code, .text');"
    " navigator.clipboard.writeText(said.textContent).then(() => {"
    " button.textContent = 'copied'; }); }; }"
)


class Plot(NamedTuple):
    """A picture of a page; `svg` is ours, the rest is text."""

    title: str
    svg: str
    note: str


def html(
    outline: Outline,
    run: Recorded = Recorded(),  # noqa: B008 - frozen and empty
    plots: Sequence[Plot] = (),
) -> str:
    """Return a whole document. All text in it is escaped; only our own script may run."""
    from markupsafe import Markup

    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    plot = calls_plot(run.calls) if len(run.calls) >= PLOTTED else ""
    return _template().render(
        outline=outline,
        run=run,
        first=FIRST,
        span=max((bar.begin + bar.seconds for bar in run.timeline), default=0.0) or 1.0,
        calls_plot=Markup(plot),
        plots=[(plot.title, Markup(plot.svg), plot.note) for plot in plots],
        script=Markup(SCRIPT),
        script_hash=f"sha256-{digest}",
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("aoti_debug.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["line"] = one_line
    environment.filters["clean"] = clean
    return environment.get_template("page.html.jinja")
