"""Draw plots as SVG that stands in a page: no scripts, nothing loaded, colours of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from aoti_debug.report.recorded import CallPoint

if TYPE_CHECKING:
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


def _chart(x: str, y: str) -> Chart:
    import leather

    for name, value in THEME.items():
        setattr(leather.theme, name, value)
    chart = leather.Chart()
    chart.add_x_axis(name=x)
    chart.add_y_axis(name=y)
    return chart
