"""Read asserts that a kernel raised, on a GPU or in generated C++."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from aoti_debug.read.blocks import span_of, triple
from aoti_debug.read.record import DeviceAssert, Line

_KEPT = 1000
_FAILED = "` failed."
_INDEX = "index out of bounds: "
# As a generated kernel says it; a quotation in source code or an IndexError of the script is not.
_SAID = re.compile(
    r"^[^\"'`]{0,300}?(?<!IndexError: )"
    r"(index out of bounds: (?:[\w.()*+/ -]{1,80} <=? ){1,2}[\w.()*+/ -]{1,80})\s{0,9}$"
)
# The generated C++ names itself on the line after the message.
_RAISED = re.compile(r"Exception raised from (.{1,400}?) at (\S{1,1000}):(\d{1,9})")


class DeviceAssertReader:
    """Count asserts that are alike but for block and thread."""

    triggers: tuple[str, ...] = ("Assertion `", _INDEX)

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: dict[tuple[str, int, str], DeviceAssert] = {}
        self._cpu: Line | None = None

    def feed(self, line: Line) -> bool:
        if self._cpu is not None:
            message, self._cpu = self._cpu, None
            raised = _RAISED.search(line.text)
            self._add_cpu(message, raised)
            if raised:
                return False
        if "Assertion `" in line.text:
            self._feed_gpu(line)
        elif _INDEX in line.text:
            self._cpu = line
        return self._cpu is not None

    def finish(self) -> Iterable[DeviceAssert]:
        if self._cpu is not None:
            self._add_cpu(self._cpu, None)
            self._cpu = None
        return list(self._found.values())

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
        self._add(
            line,
            DeviceAssert(
                span_of(self._artifact, [line]),
                file=file,
                line=int(number),
                function=None if function in ("", "unknown") else function,
                block=triple(at),
                thread=triple(thread),
                condition=condition,
                **_bounds(condition),
                count=1,
            ),
        )

    def _add_cpu(self, line: Line, raised: re.Match[str] | None) -> None:
        said = _SAID.search(line.text)
        if said is None:
            return
        condition = said[1]
        bounds = _bounds(condition)
        self._add(
            line,
            DeviceAssert(
                span_of(self._artifact, [line]),
                file=raised[2] if raised else "",
                line=int(raised[3]) if raised else 0,
                function=raised[1] if raised else None,
                block=None,
                thread=None,
                condition=condition,
                **bounds,
                count=1,
            ),
        )

    def _add(self, line: Line, new: DeviceAssert) -> None:
        key = (new.file, new.line, new.condition)
        old = self._found.get(key)
        if old is not None:
            span = replace(old.span, last=line.number)
            self._found[key] = replace(old, span=span, count=old.count + 1)
        elif len(self._found) < _KEPT:
            self._found[key] = new


def _bounds(condition: str) -> dict[str, str | None]:
    """Take apart `index out of bounds: LOWER <= INDEX < UPPER`; a side that is known to hold is
    not checked, and not said."""
    _, found, range_ = condition.partition(_INDEX)
    lower, below, rest = range_.partition(" <= ")
    if not below:
        lower, rest = "", range_
    index, above, upper = rest.rpartition(" < ")
    if not (found and (below or above)):
        return {"lower": None, "index": None, "upper": None}
    return {
        "lower": _plain(lower) if below else None,
        "index": _plain(index if above else rest),
        "upper": _plain(upper) if above else None,
    }


def _plain(text: str) -> str:
    """Take the suffix off a C++ literal: `10L`."""
    text = text.strip()
    return text[:-1] if text[:-1].isdigit() and text.endswith("L") else text


READERS = (DeviceAssertReader,)
