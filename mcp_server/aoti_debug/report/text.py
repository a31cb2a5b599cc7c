"""The shape of a report: a headline, sections of short items, verbatim quotes; for a terminal, or
as Markdown for an issue, a pull request, a chat."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aoti_debug.plain import clean, one_line

Tone = Literal["fault", "doubt", "fine", "plain"]


@dataclass(frozen=True, slots=True)
class Item:
    """One statement: the text, what is less important about it, and lines quoted verbatim."""

    text: str
    detail: str = ""
    quote: str = ""
    code: bool = False  # the text is code or a command
    whole: bool = False  # the quote is a table: no line of it may go
    language: Literal["", "python"] = ""  # of the quote's lines, each after its number


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    headline: str
    tone: Tone = "plain"
    tags: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    foot: str = ""


def section(title: str, *items: Item | None) -> Section:
    """Build a section of the items that there are."""
    return Section(title, tuple(item for item in items if item is not None))


def sections(*all_of_them: Section) -> tuple[Section, ...]:
    """Keep the sections that say something."""
    return tuple(part for part in all_of_them if part.items)


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$@])")
_NUMBER = re.compile(r">?\s*\d{1,9}:? ?")
_RUNS_OF_BACKTICKS = re.compile("`+")


def markdown(outline: Outline) -> str:
    """Return a Markdown document; log text is escaped or fenced."""
    return "\n".join(_lines(outline)) + "\n"


def _lines(outline: Outline) -> Iterator[str]:
    yield f"# {escape_markdown(outline.headline)}"
    if outline.tags:
        yield ""
        yield escape_markdown(" · ".join(outline.tags))
    for section in outline.sections:
        yield ""
        yield f"## {escape_markdown(section.title)}"
        yield ""
        for item in section.items:
            yield from _markdown_item(item)
    if outline.foot:
        yield ""
        yield f"---\n{escape_markdown(outline.foot)}"


def _markdown_item(item: Item) -> Iterator[str]:
    text = _code(item.text) if item.code else escape_markdown(item.text)
    yield f"- {text} — {escape_markdown(item.detail)}" if item.detail else f"- {text}"
    if item.quote:
        quote = clean(item.quote).strip("\n")
        fence = _fence(quote, 3)
        yield ""
        for line in (f"{fence}text", *quote.split("\n"), fence):
            yield f"  {line}".rstrip()


def escape_markdown(text: str) -> str:
    """Return a text of others on one line, none of it read as markup."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def _code(text: str) -> str:
    line = one_line(text)
    fence = _fence(line, 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def _fence(text: str, least: int) -> str:
    longest = max((len(found) for found in _RUNS_OF_BACKTICKS.findall(text)), default=0)
    return "`" * max(least, longest + 1)


_MARKS: dict[Tone, tuple[str, str]] = {
    "fault": ("✗", "bold red"),
    "doubt": ("?", "bold yellow"),
    "fine": ("✓", "bold green"),
    "plain": ("•", "bold"),
}
_QUOTE_LINES = 12


def render(outline: Outline) -> RenderableType:
    """Return what rich prints; no text of a log is read as markup."""
    return Group(*_parts(outline))


def print_outline(outline: Outline, console: Console) -> None:
    """Print the outline."""
    console.print(render(outline))


def _parts(outline: Outline) -> Iterator[RenderableType]:
    mark, style = _MARKS[outline.tone]
    headline = Table.grid(padding=(0, 1, 0, 0))
    headline.add_column(no_wrap=True)
    headline.add_column(overflow="fold")
    headline.add_row(Text(mark, style), Text(one_line(outline.headline), style))
    yield headline
    if outline.tags:
        yield Padding(Text(" · ".join(map(one_line, outline.tags)), "dim"), (0, 0, 0, 2))
    if outline.sections:
        yield Text()
        yield Padding(_table(outline.sections), (0, 0, 0, 2))
    if outline.foot:
        yield Text()
        yield Padding(Text(one_line(outline.foot), "dim"), (0, 0, 0, 2))


def _table(sections: tuple[Section, ...]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold")
    airy = False
    for section in sections:
        if airy:
            table.add_row()
        airy = len(section.items) > 1 or any(item.quote for item in section.items)
        for position, item in enumerate(section.items):
            title = section.title.lower() if position == 0 else ""
            table.add_row(Text(title), Group(*_item(item)))
    return table


def _item(item: Item) -> Iterator[RenderableType]:
    if item.code:  # a command is alone on its line, to be copied
        if item.detail:
            yield Text(one_line(item.detail))
        yield Text.assemble(("$ ", "dim"), (one_line(item.text), "bold"))
        return
    line = Text(one_line(item.text))
    if item.detail:
        line.append(f" — {one_line(item.detail)}", "dim")
    yield line
    if item.quote:
        yield _quote(clean(item.quote), None if item.whole else _QUOTE_LINES, item.language)


def _quote(text: str, limit: int | None, language: str) -> RenderableType:
    lines = text.strip("\n").split("\n")
    shown = lines[:limit]
    if len(lines) > len(shown):
        shown.append(f"… {len(lines) - len(shown)} more lines")
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for line in shown:
        table.add_row("│", _coloured(line) if language else Text(line.expandtabs(4)))
    return table


_MARKED = ("device_assert", "TORCH_CHECK", "AOTI_TORCH_CHECK")


def _coloured(line: str) -> Text:
    """Colour a line of generated code: `12: code` or `>  12 code`; a check stands out in red."""
    number = _NUMBER.match(line)
    head = number.group() if number else ""
    code = line[len(head) :].expandtabs(4)
    if head.startswith(">") or any(word in code for word in _MARKED):
        return Text.assemble((head, "bold red"), (code, "bold red"))
    from rich.syntax import Syntax

    text = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(code)
    text.rstrip()
    return Text.assemble((head, "dim"), text)
