"""Read the last words of a dying process: C++ terminate, glibc's checks, the shell's report."""

from __future__ import annotations

import re
from collections.abc import Iterable

from aoti_debug.read.record import Line, Terminated
from aoti_debug.read.text import Ends, span_of

_THROWN = re.compile(r"terminate called after throwing an instance of '([^']{1,1000})'")
_WHAT = "  what():  "
_GLIBC = re.compile(
    r"(?:free\(\): |malloc\(\): |realloc\(\): |calloc\(\): |munmap_chunk\(\): |"
    r"double free or corruption|corrupted size vs\. prev_size|corrupted double-linked list|"
    r"malloc_consolidate\(\): |\*\*\* stack smashing detected|\*\*\* buffer overflow detected|"
    r"pure virtual method called|terminate called (?:without|recursively)).{0,200}"
)
_SHELL = re.compile(
    r"(?:.{0,300}: line \d{1,9}: {1,8}\d{1,12} )?"
    r"((?:Killed|Aborted|Segmentation fault|Bus error|Illegal instruction|"
    r"Floating point exception|Trace/breakpoint trap)"
    r"(?: {1,8}\(core dumped\)(?= |$)|(?=  |$)))"
)
_MORE = 6  # lines of what() after the first


class TerminatedReader:
    """Give each way in which a process said that it died."""

    triggers: tuple[str, ...] = (
        "terminate called", "free(): ", "malloc(): ", "realloc(): ", "calloc(): ", "chunk(): ",
        "double free or corruption", "corrupted ", "malloc_consolidate(): ",
        "*** stack smashing", "*** buffer overflow", "pure virtual method called", "Killed",
        "Aborted", "Segmentation fault", "Bus error", "Illegal instruction",
        "Floating point exception", "Trace/breakpoint trap",
    )  # fmt: skip

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: Ends[Terminated] = Ends(100, 50)
        self._type: str | None = None
        self._what: list[str] = []
        self._lines: list[Line] = []

    def feed(self, line: Line) -> bool:
        text = line.text.rstrip()
        thrown = _THROWN.search(text)
        if thrown:
            self._end()
            self._type, self._lines = thrown[1], [line]
            return True
        if self._lines:
            if self._feed_what(line, text):
                return True
            self._end()
        found = _GLIBC.search(text) or _SHELL.match(text.strip())
        if found:
            message = " ".join(found[1].split()) if found.re is _SHELL else found[0]
            self._found.add(Terminated(span_of(self._artifact, [line]), None, message))
        return False

    def finish(self) -> Iterable[Terminated]:
        self._end()
        return list(self._found)

    def _feed_what(self, line: Line, text: str) -> bool:
        at = text.find(_WHAT)
        if not self._what and at >= 0:
            self._what = [text[at + len(_WHAT) :]]
        elif not self._what:
            self._lines.append(line)  # other output between the two lines
            return len(self._lines) < _MORE
        elif not text or text.startswith(("Exception raised from", "frame #", "Fatal Python")):
            return False
        else:
            self._what.append(text)
        self._lines.append(line)
        return len(self._what) <= _MORE

    def _end(self) -> None:
        if self._lines:
            message = "\n".join(self._what)[:4000]
            self._found.add(Terminated(span_of(self._artifact, self._lines), self._type, message))
        self._type, self._what, self._lines = None, [], []
