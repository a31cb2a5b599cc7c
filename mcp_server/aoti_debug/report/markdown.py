"""Render an outline as Markdown: for an issue, a pull request, a chat."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aoti_debug.report.outline import Item, Outline
from aoti_debug.report.sanitize import one_line, sanitize

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$@])")
_RUNS_OF_BACKTICKS = re.compile("`+")


def markdown(outline: Outline) -> str:
    """Return a Markdown document; log text is escaped or fenced."""
    return "\n".join(_lines(outline)) + "\n"


def _lines(outline: Outline) -> Iterator[str]:
    yield f"# {_escape(outline.headline)}"
    if outline.tags:
        yield ""
        yield _escape(" · ".join(outline.tags))
    for section in outline.sections:
        yield ""
        yield f"## {_escape(section.title)}"
        yield ""
        for item in section.items:
            yield from _item(item)
    if outline.foot:
        yield ""
        yield f"---\n{_escape(outline.foot)}"


def _item(item: Item) -> Iterator[str]:
    text = _code(item.text) if item.code else _escape(item.text)
    yield f"- {text} — {_escape(item.detail)}" if item.detail else f"- {text}"
    if item.quote:
        quote = sanitize(item.quote).strip("\n")
        fence = _fence(quote, 3)
        yield ""
        for line in (f"{fence}text", *quote.split("\n"), fence):
            yield f"  {line}".rstrip()


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text))


def _code(text: str) -> str:
    line = one_line(text)
    fence = _fence(line, 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def _fence(text: str, least: int) -> str:
    longest = max((len(found) for found in _RUNS_OF_BACKTICKS.findall(text)), default=0)
    return "`" * max(least, longest + 1)
