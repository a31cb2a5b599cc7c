"""Read C++ stacks that gdb prints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from aoti_debug.read.record import Line, NativeBacktrace, NativeFrame
from aoti_debug.read.text import Ends, span_of

_SIGNAL = re.compile(r"(?:received|terminated with) signal (SIG\w{1,20})")
_FRAME = re.compile(r"#(\d{1,6}) {1,4}(?:0x[0-9a-f]{1,20} in )?(.{1,16000})")
_AT = re.compile(r" at ([^ ]{1,2000}):(\d{1,9})$")
_FROM = re.compile(r" from ([^ ]{1,2000})$")
_GPU = ("<<<", "coredump:")
_FRAMES = 256


class NativeReader:
    """Give the first and last stacks; the signal is the one that gdb named before."""

    triggers: tuple[str, ...] = ("received signal SIG", "terminated with signal SIG", "#0  ")

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: Ends[NativeBacktrace] = Ends(50, 50)
        self._signal: str | None = None
        self._frames: list[NativeFrame] = []
        self._lines: list[Line] = []
        self._gap = 0

    def feed(self, line: Line) -> bool:
        signal = _SIGNAL.search(line.text)
        if signal:
            self._end()
            self._signal = signal[1]
            return False
        frame = _FRAME.match(line.text)
        if frame is None or any(part in line.text for part in _GPU):
            if self._frames:
                self._end()
            return False
        index = int(frame[1])
        if index == 0:
            self._end()
        elif not self._frames:
            return False
        if len(self._frames) < _FRAMES:
            self._frames.append(_native(index, frame[2].rstrip()))
        self._lines = [*self._lines[:7], line]
        return True

    def finish(self) -> Iterable[NativeBacktrace]:
        self._end()
        return list(self._found)

    def _end(self) -> None:
        if self._frames:
            span = replace(span_of(self._artifact, self._lines), last=self._lines[-1].number)
            self._found.add(NativeBacktrace(span, self._signal, tuple(self._frames)))
        self._frames, self._lines = [], []


def _native(index: int, text: str) -> NativeFrame:
    file, line, library = None, None, None
    if at := _AT.search(text):
        file, line = at[1], int(at[2])
        text = text[: at.start()]
    elif from_ := _FROM.search(text):
        library = from_[1]
        text = text[: from_.start()]
    # gdb writes the arguments after a blank: `f(int) (x=3)`.
    function = text.rpartition(" (")[0] if text.endswith(")") and " (" in text else text
    return NativeFrame(index, function.strip()[:2000], file, line, library)
