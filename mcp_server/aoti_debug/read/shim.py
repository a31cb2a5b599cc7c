"""Read the exceptions that torch's C++ layers log or throw, and the reasons printed before."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from aoti_debug.read.record import CppFrame, CppThrow, Line, Record, RuntimeMessage, ShimException
from aoti_debug.read.text import MARK, Ends, span_of

# Text of the program that did not end its line, then the runtime's message.
_GLUED = re.compile(r"\s(Error: (?:input_handles\[|CUDA |index out of bounds: |\w{1,80}\())")


class RuntimeMessageReader:
    """Keep the first and last messages; equal ones once."""

    triggers: tuple[str, ...] = ("Error: ",)

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: Ends[RuntimeMessage] = Ends(200, 50)
        self._seen: set[str] = set()

    def feed(self, line: Line) -> bool:
        text = line.text.strip()
        glued = _GLUED.search(text)
        if glued:
            text = text[glued.start(1) :]
        if not text.startswith("Error: "):
            return False
        key = text[:1000]
        if key in self._seen:
            return False
        if len(self._seen) < 5000:
            self._seen.add(key)
        span = span_of(self._artifact, [line])
        self._found.add(RuntimeMessage(span, text[len("Error: ") :][:4000]))
        return False

    def finish(self) -> Iterable[RuntimeMessage]:
        return list(self._found)


_LOGGED = "Exception in aoti_torch: "
_THROWN = "Exception raised from "
_HEAD = re.compile(r"\[[EWIF]\d{4} [\d:.]{1,30}(?: \d{1,12})? ([\w./-]{1,300}):(\d{1,9})\] ")
_RAISED = re.compile(r"Exception raised from (.{1,2000}?) at (\S{1,1000}):(\d{1,9})")
_FRAME = re.compile(r"frame #(\d{1,6}): (.{1,16000})")
_OFFSET = re.compile(r" \+ 0x[0-9a-f]{1,20}$")
_FRAMES = 128
_MESSAGE_LINES = 60


class ShimReader:
    """Give a ShimException for each logged call and a CppThrow for each `Exception raised from`."""

    triggers: tuple[str, ...] = (_LOGGED, _THROWN)

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: Ends[Record] = Ends(200, 100)
        self._lines: list[Line] = []
        self._reset()

    def _reset(self) -> None:
        self._place: tuple[str, int] | None = None
        self._message: list[str] = []
        self._in_message = False
        self._raised: tuple[str, str, int] | None = None
        self._frames: list[CppFrame] = []
        self._last = 0

    def feed(self, line: Line) -> bool:
        text = line.text
        head = _HEAD.search(text) if _LOGGED in text else None
        if head:
            self._end()
            self._place = (head[1], int(head[2]))
            self._message = [text[text.index(_LOGGED) + len(_LOGGED) :]]
            self._in_message = True
            self._lines, self._last = [line], line.number
            return True
        raised = _RAISED.search(text) if _THROWN in text else None
        if raised:
            if not self._in_message:
                self._end()
                self._lines = [line]
            self._raised = (raised[1], raised[2], int(raised[3]))
            self._in_message = False
            self._last = line.number
            return True
        if not (self._place or self._raised):
            return False
        if not self._feed_open(line):
            self._end()
        return bool(self._place or self._raised)

    def finish(self) -> Iterable[Record]:
        self._end()
        return list(self._found)

    def _feed_open(self, line: Line) -> bool:
        frame = _FRAME.search(line.text)
        if frame:
            self._in_message = False
            self._last = line.number
            if len(self._frames) < _FRAMES:
                self._frames.append(_frame(int(frame[1]), frame[2]))
            return True
        if not self._in_message or MARK.match(line.text) or line.text.startswith("Error: "):
            return False
        self._message.append(line.text)
        if line.text.strip():
            self._last = line.number
        return len(self._message) < _MESSAGE_LINES

    def _end(self) -> None:
        if not self._lines:
            return
        span = replace(span_of(self._artifact, self._lines), last=self._last)
        frames = tuple(self._frames)
        if self._place is not None:
            message = "\n".join(self._message).strip()[:4000]
            self._found.add(ShimException(span, *self._place, message, frames))
        if self._raised is not None:
            self._found.add(CppThrow(span, *self._raised, frames))
        self._lines = []
        self._reset()


def _frame(index: int, text: str) -> CppFrame:
    """Take apart `FUNCTION + 0x9d (0x7f03… in LIBRARY)` or `LIBRARY() [0x58216f]`."""
    function, found, place = text.rpartition(" (0x")
    if found:
        library = place.partition(" in ")[2].rstrip(")")
        return CppFrame(index, _OFFSET.sub("", function)[:2000], library)
    library = text.partition(" [0x")[0].removesuffix("()")
    return CppFrame(index, "", library)
