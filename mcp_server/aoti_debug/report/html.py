"""Render an outline as one HTML file that loads nothing."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from aoti_debug.report.outline import Item, Outline
from aoti_debug.report.sanitize import one_line, sanitize

_STYLE = """
:root { color-scheme: light dark; --fault: #c62828; --doubt: #b26a00; --fine: #2e7d32; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; line-height: 1.3; border-left: .35rem solid; padding-left: .8rem; }
h1.fault { border-color: var(--fault); } h1.doubt { border-color: var(--doubt); }
h1.fine { border-color: var(--fine); }
h2 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
ul { margin: 0; padding-left: 1.2rem; } li { margin: .2rem 0; overflow-wrap: anywhere; }
.tags, .detail, footer { opacity: .7; } footer { margin-top: 2rem; }
pre { overflow-x: auto; padding: .6rem .8rem; margin: .3rem 0; border-radius: .3rem;
      background: color-mix(in srgb, currentColor 8%, transparent); font-size: .85rem; }
""".strip()
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html(outline: Outline) -> str:
    """Return a whole document; everything in it is escaped, scripts are forbidden."""
    return "\n".join(_lines(outline)) + "\n"


def _lines(outline: Outline) -> Iterator[str]:
    headline = _text(outline.headline)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{headline}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>"
    yield f'<h1 class="{outline.tone}">{headline}</h1>'
    if outline.tags:
        yield f'<p class="tags">{_text(" · ".join(outline.tags))}</p>'
    for section in outline.sections:
        yield f"<h2>{_text(section.title)}</h2>\n<ul>"
        for item in section.items:
            yield _item(item)
        yield "</ul>"
    if outline.foot:
        yield f"<footer>{_text(outline.foot)}</footer>"
    yield "</body>\n</html>"


def _item(item: Item) -> str:
    text = f"<code>{_text(item.text)}</code>" if item.code else _text(item.text)
    detail = f' <span class="detail">{_text(item.detail)}</span>' if item.detail else ""
    quote = f"\n<pre>{escape(sanitize(item.quote).strip())}</pre>" if item.quote else ""
    return f"<li>{text}{detail}{quote}</li>"


def _text(text: str) -> str:
    return escape(one_line(text))
