"""Print a report on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aoti_debug.plain import clean, one_line
from aoti_debug.report.text import Item, Outline, Section, Tone

_NUMBER = re.compile(r">?\s*\d{1,9}:? ?")
_MARKS: dict[Tone, tuple[str, str]] = {
    "fault": ("✗", "bold red"),
    "doubt": ("?", "bold yellow"),
    "fine": ("✓", "bold green"),
    "plain": ("•", "bold"),
}
_QUOTE_LINES = 12


def print_outline(outline: Outline, console: Console) -> None:
    console.print(Group(*_parts(outline)))


def _parts(outline: Outline) -> Iterator[RenderableType]:
    mark, style = _MARKS[outline.tone]
    headline = Table.grid(padding=(0, 1, 0, 0))
    headline.add_column(no_wrap=True)
    headline.add_column(overflow="fold")
    headline.add_row(Text(mark, style), Text(one_line(outline.headline), style))
    yield headline
    if outline.tags:
        yield _indented(Text(" · ".join(map(one_line, outline.tags)), "dim"))
    if outline.sections:
        yield Text()
        yield _indented(_table(outline.sections, outline.dense))
    if outline.foot:
        yield Text()
        yield _indented(Text(one_line(outline.foot), "dim"))


def _indented(what: RenderableType) -> Padding:
    return Padding(what, (0, 0, 0, 2), expand=False)


def _table(sections: tuple[Section, ...], dense: bool) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold")
    airy = False
    for section in sections:
        if airy:
            table.add_row()
        quoted = any(item.quote for item in section.items)
        airy = not dense and (quoted or len(section.items) > 1)
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
