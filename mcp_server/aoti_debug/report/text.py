"""The shape of a report: a headline, sections of short items, quotes; and its Markdown."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any, Literal

from aoti_debug.model import Next
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
    dense: bool = False  # no empty lines between the sections

    def __post_init__(self) -> None:
        """Keep the sections that say something."""
        said = tuple(part for part in self.sections if part.items)
        object.__setattr__(self, "sections", said)


def section(title: str, *items: Item | str | None) -> Section:
    found = (Item(item) if isinstance(item, str) else item for item in items if item)
    return Section(title, tuple(found))


def following(steps: Iterable[Next]) -> Section:
    return section("Next", *(Item(command_line(step), step.why, code=True) for step in steps))


def table(rows: Sequence[tuple[str, ...]], right: Collection[int] = ()) -> str:
    """Return rows as lines of columns, those that are numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def extended(main: Outline, *more: Section) -> Outline:
    return replace(main, sections=main.sections + more)


_TEXT, _PATCH = "characters of an item", "lines of a patch"
# How many items of a section one screen has room for; the other sections are left out.
_SCREEN: Mapping[str, int] = {
    "Where": 3,
    "Why": 2,
    "Because": 3,
    "Evidence": 1,
    "Not the cause": 2,
    "Fix": 2,
    "Next": 1,
    "Guide": 1,
    "Also possible": 2,
    "Notes": 2,
    _TEXT: 320,
    _PATCH: 14,
}
# What else goes until the answer fits on the screen, in this order: the most that a section keeps.
_LESS = (
    ("Also possible", 1),
    ("Notes", 1),
    ("Not the cause", 1),
    ("Where", 2),
    ("Because", 2),
    ("Evidence", 0),
    ("Also possible", 0),
    ("Notes", 0),
    ("Fix", 1),
    ("Not the cause", 0),
    ("Because", 1),
    ("Why", 1),
    ("Guide", 0),
    ("Where", 1),
    (_TEXT, 160),
    (_PATCH, 0),
)
SCREEN_LINES, SCREEN_COLUMNS = 25, 100


def on_one_screen(outline: Outline) -> Outline:
    """Shorten the outline of a diagnosis to what is needed to act: 25 lines of 100 columns."""
    most = dict(_SCREEN)
    shown = _screen(outline, most)
    for title, count in _LESS:
        if _height(shown) <= SCREEN_LINES:
            break
        most[title] = count
        shown = _screen(outline, most)
    return shown


def _screen(outline: Outline, most: Mapping[str, int]) -> Outline:
    parts = []
    for part in outline.sections:
        count = most.get(part.title, 0)
        if part.title == "Fix" and part.items[0].quote:
            count = 1  # the patch is what is applied
        parts.append(Section(part.title, tuple(_short(item, most) for item in part.items[:count])))
    return replace(outline, sections=tuple(parts), dense=True)


def _short(item: Item, most: Mapping[str, int]) -> Item:
    """Put one line of what is quoted beside the text; keep a patch that is not too long."""
    if item.code:
        return replace(item, detail="")
    detail = _cut(item.detail, SCREEN_COLUMNS)
    item = replace(item, text=_cut(item.text, most[_TEXT]), detail=detail)
    lines = item.quote.strip("\n").split("\n")
    if item.whole:
        return item if len(lines) <= most[_PATCH] else replace(item, quote="")
    said = _cut(lines[0].strip(), SCREEN_COLUMNS)
    return replace(item, detail=said or detail, quote="")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


def _height(outline: Outline) -> int:
    """Count the lines that an outline without empty lines takes on the screen."""
    title = max((len(part.title) for part in outline.sections), default=0)
    width = SCREEN_COLUMNS - title - len("    ")
    height = _wrapped(outline.headline, SCREEN_COLUMNS - 2) + len(outline.tags[:1])
    height += (1 if outline.sections else 0) + (2 if outline.foot else 0)
    for item in (item for part in outline.sections for item in part.items):
        height += _wrapped(f"{item.text} — {item.detail}" if item.detail else item.text, width)
        lines = item.quote.strip("\n").split("\n") if item.quote else []
        height += sum(_wrapped(line, width - 2) for line in lines)
    return height


def _wrapped(text: str, width: int) -> int:
    """Count the lines of a text; a word that is longer than a line begins on a new one."""
    lines = wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return sum(-(-len(line) // width) for line in lines) or 1


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$@])")
_RUNS_OF_BACKTICKS = re.compile("`+")


def markdown(outline: Outline) -> str:
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
        yield ""
        for line in fenced("text", clean(item.quote).strip("\n")).split("\n"):
            yield f"  {line}".rstrip()


def escape_markdown(text: str) -> str:
    """Return a text of others on one line, none of it read as markup."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def _code(text: str) -> str:
    line = one_line(text)
    fence = _fence(line, 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def fenced(language: str, text: str) -> str:
    """Return a code block whose fence the text cannot end."""
    fence = _fence(text, 3)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _fence(text: str, least: int) -> str:
    longest = max((len(found) for found in _RUNS_OF_BACKTICKS.findall(text)), default=0)
    return "`" * max(least, longest + 1)


_COMMANDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    # tool: command, arguments that it takes by position
    "check_environment": ("environment", ()),
    "diagnose_log": ("diagnose", ("path",)),
    "inspect_package": ("inspect", ("package",)),
    "run_stage": ("run", ("script",)),
    "triage": ("triage", ("script",)),
    "explain_kernel": ("explain", ("run", "kernel")),
    "minify": ("minify", ("what", "run")),
    "verify_fix": ("verify", ("what", "script")),
    "read_artifact": ("artifact", ("run", "name")),
}
_TAKE_A_SCRIPT = frozenset({"triage", "run_stage", "verify_fix"})
_OPTIONS = {"timeout_s": "--timeout", "run": "--against"}
_ONLY_OVER_MCP = frozenset({"wait_s", "text"})


def command_line(step: Next) -> str:
    """Return the command that does what the tool call does; the tool's name if there is none."""
    if step.tool not in _COMMANDS:
        return step.tool
    command, positions = _COMMANDS[step.tool]
    arguments = {key: value for key, value in step.arguments.items() if key not in _ONLY_OVER_MCP}
    words = ["aoti-debug", command]
    words += [_word(arguments.pop(name)) for name in positions if name in arguments]
    if len(words) == 2 and not {"command", "module"} & arguments.keys():
        words += ["SCRIPT"] if step.tool in _TAKE_A_SCRIPT else []
    program = arguments.pop("command", ())
    rest = arguments.pop("args", ())
    for name, value in arguments.items():
        words += _option(name, value)
    if program:
        words += ["--command", *map(_word, program)]
    elif rest:
        words += ["--"]
    return " ".join([*words, *map(_word, rest)])


def _option(name: str, value: Any) -> list[str]:
    option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
    if isinstance(value, Mapping):
        return [part for key, item in value.items() for part in (option, _word(f"{key}={item}"))]
    return [option, _word(value)]


def _word(value: Any) -> str:
    return shlex.quote(str(value))
