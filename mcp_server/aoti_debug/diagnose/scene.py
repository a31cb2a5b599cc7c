"""The first and last lines of a log, and the forms in which programs print."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, BinaryIO

from aoti_debug.read.record import QUOTE_LIMIT, Line, Span
from aoti_debug.signatures.signature import literals

END = 1 << 16  # bytes of the beginning and of the end that are looked at
READ = 400  # characters of a line


class Form:
    """Forms of a line, each a regular expression with these flags; case does not matter to one that
    begins with (?i). They are compiled for a text that can hold one."""

    def __init__(self, *forms: str, flags: int = 0) -> None:
        self.forms = forms
        self._flags = flags

    @cached_property
    def _rows(self) -> list[tuple[str, bool, list[str]]]:
        """Return each form, whether case does not matter, and texts of which one must be there."""
        found = []
        for form in self.forms:
            folded = form.startswith("(?i)") or bool(self._flags & re.IGNORECASE)
            texts = literals(form.removeprefix("(?i)"))
            found.append((form, folded, [one.lower() if folded else one for one in texts]))
        return found

    @property
    def literals(self) -> set[str]:
        """Return texts in lower case of which one is in whatever a form matches."""
        return {text.lower() for _, _, texts in self._rows for text in texts}

    def search(self, text: str) -> bool:
        return any(form.search(text) for form in self.within(text))

    def within(self, text: str) -> list[re.Pattern[str]]:
        """Return the forms that a text may hold."""
        low = text.lower() if any(folded for _, folded, _ in self._rows) else text
        return [
            _compiled(form, self._flags)
            for form, folded, texts in self._rows
            if any(one in (low if folded else text) for one in texts)
        ]


@cache
def _compiled(form: str, flags: int) -> re.Pattern[str]:
    return re.compile(form, flags)


def forms(table: str) -> Form:
    """Return the forms that a table lists, of which || parts those of one line."""
    return Form(*(one.strip() for line in table.split("\n") for one in line.split(" || ") if one))


def rows_of(table: str) -> Iterator[tuple[list[Any], list[str]]]:
    """Yield the words of each head of a table, and its patterns; || parts those of one line."""
    for row in re.findall(r"^\S.*(?:\n .+)+", table, re.MULTILINE):
        head, *patterns = row.split("\n")
        yield head.split(), [one.strip() for line in patterns for one in line.split(" || ")]


@dataclass(frozen=True)
class Scene:
    artifact: str
    lines: tuple[Line, ...] = ()
    texts: tuple[str, ...] = ()  # of the same, without what another writer put before them
    _found: dict[Form, list[Line]] = field(default_factory=dict, init=False, compare=False)

    @cached_property
    def whole(self) -> str:
        return "\n".join(self.texts)

    def all(self, form: Form) -> list[Line]:
        """Return the lines of a form, which are looked for once."""
        if form not in self._found:
            forms = form.within(self.whole)
            both = zip(self.lines, self.texts, strict=True)
            self._found[form] = [x for x, text in both if any(one.search(text) for one in forms)]
        return self._found[form]

    def first(self, form: Form) -> Line | None:
        return next(iter(self.all(form)), None)

    def any(self, form: Form) -> bool:
        return self.first(form) is not None

    def span(self, line: Line) -> Span:
        return Span(self.artifact, line.number, line.number, line.text.strip()[:QUOTE_LIMIT])


EMPTY = re.compile(r"\s*(?:(?:`{3,9}|~{3,9})\s*[\w+-]{0,20}\s*)?$")
# What writes the lines of another program down puts before each.
WRITERS = re.compile(
    r"^(?:#\d{1,4} \d[\d.]{0,9} |[\w.-]{1,40}\s{1,12}\| |\d{4}-\d\d-\d\dT[\d:.]{8,20}Z "
    r"|\s{1,12}> |\s{0,8}cargo:(?:warning|error)=)"
)


def read_scene(stream: BinaryIO, artifact: str, count: int) -> Scene:
    """Read the first and last lines of a log of so many lines."""
    stream.seek(0)
    head = stream.read(END)
    lines = list(enumerate(head.split(b"\n"), 1))
    size = stream.seek(0, os.SEEK_END)
    if size > len(head):
        stream.seek(max(len(head), size - END))
        tail = stream.read(END).split(b"\n")
        tail = tail[:-1] if tail[-1:] == [b""] else tail
        lines = lines[:-1] + list(enumerate(tail, count - len(tail) + 1))[1:]
    found = ((number, text[:READ].decode("utf-8", "replace").rstrip()) for number, text in lines)
    kept = [Line(number, text) for number, text in found if not EMPTY.match(text)]
    return Scene(artifact, tuple(kept), tuple(WRITERS.sub("", line.text) for line in kept))
