"""Draw plots as SVG that stands in a page: no scripts, nothing loaded, colours of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from aoti_debug.report.recorded import CallPoint

if TYPE_CHECKING:
    from pygal.graph.graph import Graph

_SCRIPT = re.compile(r"<script\b.*?</script>", re.S)
_HEIGHT = 260


def calls_plot(calls: Sequence[CallPoint]) -> str:
    """Plot the duration of each call by its number, the bad ones as a series of their own."""
    import pygal

    chart = pygal.XY(
        stroke=False, x_title="call", y_title="ms", dots_size=3, **_options(_width(calls))
    )
    chart.add("good", [(one.number, one.milliseconds) for one in calls if not one.bad])
    chart.add("bad", [(one.number, one.milliseconds) for one in calls if one.bad])
    return _inline(chart)


def lines_plot(labels: Sequence[str], series: Iterable[tuple[str, Sequence[float | None]]]) -> str:
    """Plot a few figures along the kernels or nodes of a model."""
    import pygal

    chart = pygal.Line(show_x_labels=False, dots_size=2, **_options(820))
    chart.x_labels = list(labels)
    for name, values in series:
        chart.add(name, list(values))
    return _inline(chart)


def _width(calls: Sequence[CallPoint]) -> int:
    return 820 if len(calls) > 20 else 520


def _options(width: int) -> dict[str, object]:
    from pygal.style import Style

    style = Style(
        background="transparent",
        plot_background="transparent",
        foreground="currentColor",
        foreground_strong="currentColor",
        foreground_subtle="rgba(128, 128, 128, .35)",
        guide_stroke_color="rgba(128, 128, 128, .3)",
        major_guide_stroke_color="rgba(128, 128, 128, .5)",
        opacity=".85",
        colors=("#3b78b5", "#c62828", "#2e7d32", "#b26a00"),
        font_family="inherit",
        label_font_size=11,
        major_label_font_size=11,
        legend_font_size=12,
        title_font_size=12,
    )
    return {
        "style": style,
        "width": width,
        "height": _HEIGHT,
        "js": [],
        "show_legend": True,
        "legend_at_bottom": True,
        "explicit_size": False,
        "disable_xml_declaration": True,
        "no_prefix": False,
        "print_values": False,
    }


def _inline(chart: Graph) -> str:
    return _SCRIPT.sub("", chart.render(is_unicode=True))
