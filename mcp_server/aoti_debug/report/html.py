"""Render an outline, and what its run recorded, as one HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import copysign, isfinite, log10
from typing import TYPE_CHECKING, NamedTuple

from aoti_debug.plain import clean, one_line
from aoti_debug.report.recorded import CallPoint, Recorded
from aoti_debug.report.text import Outline

if TYPE_CHECKING:
    from jinja2 import Template
    from leather import Chart

    from aoti_debug.model import Diagnosis

GOOD, BAD = "#3b78b5", "#c62828"
COLOURS = (GOOD, BAD, "#2e7d32", "#b26a00")
WIDTH, HEIGHT = 820, 280
THEME: Mapping[str, object] = {
    "background_color": "none",
    "margin": 0.01,
    "tick_color": "rgba(128, 128, 128, .3)",
    "zero_color": "rgba(128, 128, 128, .6)",
    **dict.fromkeys(("label_color", "axis_title_color", "legend_color"), "currentColor"),
    **{f"{part}_font_family": "inherit" for part in ("tick", "axis_title", "legend")},
    **{f"{part}_font_size": 12 for part in ("tick", "axis_title", "legend")},
}

Series = Sequence[tuple[float, float]]
PLOTTED = 2  # fewer points are no picture


class Plot(NamedTuple):
    """A picture of a page; `svg` is ours, the rest is text."""

    title: str
    svg: str
    note: str


def calls_plot(calls: Sequence[CallPoint]) -> str:
    """Plot the duration of each call by its number, the bad ones as a series of their own."""
    chart = _chart("call", "ms")
    for name, is_bad, colour, radius in (("good", False, GOOD, 3), ("bad", True, BAD, 4)):
        points = [(one.number, one.milliseconds) for one in calls if one.bad is is_bad]
        if points:
            chart.add_dots(points, name=name, fill_color=colour, radius=radius)
    return svg_of(chart)


def lines_plot(x: str, y: str, series: Iterable[tuple[str, Series]]) -> str:
    chart = _chart(x, y)
    for (name, points), colour in zip(series, COLOURS, strict=False):
        if points:
            chart.add_line(list(points), name=name, stroke_color=colour)
    return svg_of(chart)


def diagnosis_plots(diagnosis: Diagnosis | None) -> tuple[Plot, ...]:
    """Plot the largest, mean and smallest value along the model, and where it is not finite."""
    rows = diagnosis.values if diagnosis is not None else []
    if len(rows) < PLOTTED:
        return ()
    numbered = [(row.number or place, row) for place, row in enumerate(rows, 1)]
    chart = _chart("operation of the model", "value (logarithmic beyond 1)")
    for name, colour in zip(("max", "eager", "mean", "min"), COLOURS, strict=True):
        values = ((at, getattr(row, name)) for at, row in numbered)
        points = [(at, squeezed(v)) for at, v in values if v is not None and isfinite(v)]
        if points:
            label = "mean in eager" if name == "eager" else name
            chart.add_line(points, name=label, stroke_color=colour)
    lost = [(at, 0.0) for at, row in numbered if row.nan or row.inf]
    if lost:
        chart.add_dots(lost, name="NaN or Inf", fill_color=BAD, radius=4)
    first = next((row for row in rows if row.mark), None)
    told = f"{first.node}: {first.mark}" if first else f"{len(rows)} operations"
    return (Plot("Values along the model", svg_of(chart), told),)


def squeezed(value: float) -> float:
    """Return the value, or beyond 1 its sign and one more than its decimal logarithm."""
    return value if abs(value) <= 1 else copysign(1 + log10(abs(value)), value)


def bars_plot(x: str, rows: Sequence[tuple[str, float]]) -> str:
    chart = _chart(x, "")
    chart.add_bars([(value, one_line(name)) for name, value in rows], fill_color=GOOD)
    return svg_of(chart, 60 + 26 * len(rows))


def dots_plot(x: str, y: str, points: Series) -> str:
    chart = _chart(x, y)
    chart.add_dots(list(points), fill_color=GOOD, radius=3)
    return svg_of(chart)


def svg_of(chart: Chart, height: int = HEIGHT) -> str:
    """Draw a chart that is as wide as its page, with room for letters above and to the right."""
    svg = str(chart.to_svg(width=WIDTH, height=height))
    fixed = f'width="{WIDTH}" height="{height}"'
    return svg.replace(fixed, f'viewBox="0 -6 {WIDTH + 16} {height + 6}"', 1)


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
SLICE = "Slice"
# The page reads without it: buttons are shown only where it runs.
SCRIPT = (
    "for (const button of document.querySelectorAll('button.copy')) {"
    " button.hidden = false;"
    " button.onclick = () => { const said = button.parentElement.querySelector('code, .text');"
    " navigator.clipboard.writeText(said.textContent).then(() => {"
    " button.textContent = 'copied'; }); }; }"
    "for (const head of document.querySelectorAll('table.sorted th')) head.onclick = () => {"
    " const body = head.closest('table').tBodies[0], n = head.cellIndex;"
    " const key = (row) => { const text = row.cells[n].textContent;"
    " return text === '' ? -1 : isNaN(text) ? text : Number(text); };"
    " const rows = [...body.rows].sort((a, b) => key(a) < key(b) ? 1 : -1);"
    " body.append(...rows); };"
)


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
        slice=SLICE,
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
