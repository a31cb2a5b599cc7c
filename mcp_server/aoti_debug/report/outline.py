"""The shape of a report: a headline, sections of short items, verbatim quotes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["fault", "doubt", "fine", "plain"]


@dataclass(frozen=True, slots=True)
class Item:
    """One statement: the text, what is less important about it, and lines quoted verbatim."""

    text: str
    detail: str = ""
    quote: str = ""
    code: bool = False  # the text is code or a command
    whole: bool = False  # the quote is a table: no line of it may go


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
