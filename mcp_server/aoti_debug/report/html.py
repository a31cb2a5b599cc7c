"""Render an outline, and what its run recorded, as one HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

from aoti_debug.plain import clean
from aoti_debug.report.outline import Outline
from aoti_debug.report.recorded import Recorded
from aoti_debug.report.sanitize import one_line

if TYPE_CHECKING:
    from jinja2 import Template

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


def html(outline: Outline, run: Recorded = Recorded()) -> str:  # noqa: B008 - frozen and empty
    """Return a whole document. All text in it is escaped; only our own script may run."""
    from markupsafe import Markup

    from aoti_debug.report.plots import calls_plot

    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    plot = calls_plot(run.calls) if len(run.calls) >= PLOTTED else ""
    return _template().render(
        outline=outline,
        run=run,
        first=FIRST,
        span=max((bar.begin + bar.seconds for bar in run.timeline), default=0.0) or 1.0,
        calls_plot=Markup(plot),
        plots=(),
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
