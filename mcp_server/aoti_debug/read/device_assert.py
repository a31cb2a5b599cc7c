"""Read asserts that a kernel raised, on a GPU or in generated C++."""

from __future__ import annotations

import re

from aoti_debug.read.blocks import BlockReader, triple
from aoti_debug.read.record import DeviceAssert, Line, Triple

_FAILED = "` failed."
_INDEX = "index out of bounds: "
# As a generated kernel says it; a quotation in source code or an IndexError of the script is not.
_SAID = re.compile(
    r"^[^\"'`]{0,300}?(?<!IndexError: )"
    r"(index out of bounds: (?:[\w.()*+/ -]{1,80} <=? ){1,2}[\w.()*+/ -]{1,80})\s{0,9}$"
)
# The generated C++ names itself on the line after the message.
_RAISED = re.compile(r"Exception raised from (.{1,400}?) at (\S{1,1000}):(\d{1,9})")


_Place = tuple[str, int, "str | None", "Triple | None", "Triple | None"]


class DeviceAssertReader(BlockReader[DeviceAssert]):
    """Count asserts that are alike but for block and thread."""

    triggers = ("Assertion `", _INDEX)
    alike = ("file", "line", "condition")
    keeps = (1000, 0)

    def begin(self) -> None:
        self._cpu: Line | None = None

    def feed(self, line: Line) -> bool:
        message, self._cpu = self._cpu, None
        if message is not None:
            raised = _RAISED.search(line.text)
            self._add_cpu(message, raised)
            if raised:
                return False
        if "Assertion `" in line.text:
            self._feed_gpu(line)
        elif _INDEX in line.text:
            self._cpu = line
        return self._cpu is not None

    def end(self) -> None:
        if self._cpu is not None:
            self._add_cpu(self._cpu, None)
            self._cpu = None

    def _feed_gpu(self, line: Line) -> None:
        head, block, rest = line.text.partition(": block: [")
        before, found, condition = rest.partition("Assertion `")
        condition, ended, _ = condition.rpartition(_FAILED)
        if not (block and found and ended):
            return
        place, _, function = head.rpartition(": ")
        place = place[place.rfind(" /") + 1 :]  # other output may stand before the path
        file, _, number = place.rpartition(":")
        if not file or not (number.isdigit() and len(number) < 10):
            return
        at, _, thread = ("[" + before).partition("thread: ")
        own = None if function in ("", "unknown") else function
        self._add(line, (file, int(number), own, triple(at), triple(thread)), condition)

    def _add_cpu(self, line: Line, raised: re.Match[str] | None) -> None:
        said = _SAID.search(line.text)
        if said is not None:
            place = (raised[2], int(raised[3]), raised[1]) if raised else ("", 0, None)
            self._add(line, (*place, None, None), said[1])

    def _add(self, line: Line, place: _Place, condition: str) -> None:
        span = self.span(line)
        self.found.add(DeviceAssert(span, *place, condition, *_bounds(condition), count=1))


def _bounds(condition: str) -> tuple[str | None, str | None, str | None]:
    """Take LOWER, INDEX and UPPER out of `index out of bounds: LOWER <= INDEX < UPPER`; a side that
    is known to hold is not checked, and not said."""
    _, found, range_ = condition.partition(_INDEX)
    lower, below, rest = range_.partition(" <= ")
    if not below:
        lower, rest = "", range_
    index, above, upper = rest.rpartition(" < ")
    if not (found and (below or above)):
        return None, None, None
    first, last = _plain(lower) if below else None, _plain(upper) if above else None
    return first, _plain(index if above else rest), last


def _plain(text: str) -> str:
    """Take the suffix off a C++ literal: `10L`."""
    text = text.strip()
    return text[:-1] if text[:-1].isdigit() and text.endswith("L") else text
