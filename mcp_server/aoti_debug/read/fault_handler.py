"""Read what Python's faulthandler prints on a fatal signal or a time-out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from aoti_debug.read.record import CppFrame, FaultHandlerDump, Frame, Line
from aoti_debug.read.text import Ends, span_of

_FATAL = "Fatal Python error: "
_TIMEOUT = re.compile(r"Timeout \([\d:.]{1,40}\)!")
_THREAD = re.compile(
    r"(Current thread|Thread) 0x[0-9a-fA-F]{1,20}.{0,200}\(most recent call first\)"
)
_FRAME = re.compile(r'  File "([^"]{0,2000})", line (\d{1,9}|\?\?\?) in (.{1,500})')
_NATIVE = re.compile(r'  Binary file "([^"]{0,2000})"(?:, at (.{0,2000}))?')
_MODULES = "Extension modules: "
_TOTAL = re.compile(r" \(total: \d{1,9}\)$")
_LINES = 20_000
_FRAMES = 200
_STACKS, _DEEPEST = 20, 30  # threads whose stacks are kept, and frames of each


class FaultHandlerReader:
    """Keep the stack of the current thread; of a time-out, of the thread printed last (main)."""

    triggers: tuple[str, ...] = (_FATAL, "Timeout (", "(most recent call first)", _MODULES)

    def __init__(self, artifact: str) -> None:
        self._artifact = artifact
        self._found: Ends[FaultHandlerDump] = Ends(50, 50)
        self._lines: list[Line] = []
        self._reset()

    def _reset(self) -> None:
        self._reason: str | None = None
        self._frames: list[Frame] = []
        self._native: list[CppFrame] = []
        self._modules: tuple[str, ...] = ()
        self._section = ""  # "current", "other", "native"
        self._marked = False
        self._threads = 0
        self._stacks: list[list[Frame]] = []
        self._count = 0

    def feed(self, line: Line) -> bool:
        text = line.text
        timeout = _TIMEOUT.search(text)
        at = text.find(_FATAL)
        if at >= 0 or timeout:
            self._end()
            self._reason = timeout[0].rstrip("!") if timeout else text[at + len(_FATAL) :].strip()
            self._lines = [line]
            return True
        if self._reason is None:
            return False
        self._count += 1
        if self._count > _LINES or not self._feed_open(text):
            self._end()
            return False
        self._lines = [*self._lines[:7], line]
        return True

    def finish(self) -> Iterable[FaultHandlerDump]:
        self._end()
        return list(self._found)

    def _feed_open(self, text: str) -> bool:
        thread = _THREAD.search(text)
        if thread:
            self._threads += 1
            # A thread that crashes without holding the interpreter's lock is not marked as current;
            # then the last one printed, the main thread, is the best guess.
            marked = thread[1] == "Current thread"
            self._section = "other" if self._marked and not marked else "current"
            self._marked = self._marked or marked
            if self._section == "current":
                self._frames = []
            if len(self._stacks) < _STACKS:
                self._stacks.append([])
            return True
        if text.startswith("Current thread's C stack trace"):
            self._section = "native"
            return True
        if text.startswith(_MODULES):
            names = _TOTAL.sub("", text[len(_MODULES) :]).split(", ")
            self._modules = tuple(n.strip() for n in names if n.strip())[:2000]
            return False
        frame = _FRAME.match(text)
        if frame:
            number = int(frame[2]) if frame[2].isdigit() else 0
            read = Frame(frame[1], number, frame[3].strip(), None)
            if self._section == "current" and len(self._frames) < _FRAMES:
                self._frames.append(read)
            kept = self._threads == len(self._stacks) > 0
            if kept and len(self._stacks[-1]) < _DEEPEST:
                self._stacks[-1].append(read)
            return True
        native = _NATIVE.match(text)
        if native:
            if len(self._native) < _FRAMES:
                function = (native[2] or "").partition(" [0x")[0].strip()
                self._native.append(CppFrame(len(self._native), function, native[1]))
            return True
        return not text.strip() or text.startswith(("  ", "Python runtime state", "<"))

    def _end(self) -> None:
        if self._reason is None:
            return
        span = span_of(self._artifact, self._lines)
        dump = FaultHandlerDump(
            replace(span, last=max(line.number for line in self._lines)),
            self._reason[:500],
            tuple(self._frames),
            self._modules,
            tuple(self._native),
            max(self._threads, 1),
            tuple(tuple(stack) for stack in self._stacks),
        )
        self._found.add(dump)
        self._reset()
        self._lines = []
