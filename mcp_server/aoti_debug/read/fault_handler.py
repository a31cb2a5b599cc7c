"""Read how a process died: faulthandler's stacks, gdb's, last words of C++, glibc and the shell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from aoti_debug.read.blocks import Ends, span_of
from aoti_debug.read.record import (
    CppFrame,
    FaultHandlerDump,
    Line,
    NativeBacktrace,
    NativeFrame,
    Terminated,
)
from aoti_debug.vocabulary import Place

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
        "terminate called",
        "free(): ",
        "malloc(): ",
        "realloc(): ",
        "calloc(): ",
        "chunk(): ",
        "double free or corruption",
        "corrupted ",
        "malloc_consolidate(): ",
        "*** stack smashing",
        "*** buffer overflow",
        "pure virtual method called",
        "Killed",
        "Aborted",
        "Segmentation fault",
        "Bus error",
        "Illegal instruction",
        "Floating point exception",
        "Trace/breakpoint trap",
    )

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


_SIGNAL = re.compile(r"(?:received|terminated with) signal (SIG\w{1,20})")
_NATIVE_FRAME = re.compile(r"#(\d{1,6}) {1,4}(?:0x[0-9a-f]{1,20} in )?(.{1,16000})")
_AT = re.compile(r" at ([^ ]{1,2000}):(\d{1,9})$")
_FROM = re.compile(r" from ([^ ]{1,2000})$")
_GPU = ("<<<", "coredump:")
_NATIVE_FRAMES = 256


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
        frame = _NATIVE_FRAME.match(line.text)
        if frame is None or any(part in line.text for part in _GPU):
            if self._frames:
                self._end()
            return False
        index = int(frame[1])
        if index == 0:
            self._end()
        elif not self._frames:
            return False
        if len(self._frames) < _NATIVE_FRAMES:
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


_FATAL = "Fatal Python error: "
_TIMEOUT = re.compile(r"Timeout \([\d:.]{1,40}\)!")
_THREAD = re.compile(
    r"(Current thread|Thread) 0x[0-9a-fA-F]{1,20}.{0,200}\(most recent call first\)"
)
_FRAME = re.compile(r'  File "([^"]{0,2000})", line (\d{1,9}|\?\?\?) in (.{1,500})')
_NATIVE = re.compile(r'  Binary file "([^"]{0,2000})"(?:, at (.{0,2000}))?')
_MODULES = "Extension modules: "
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
        self._frames: list[Place] = []
        self._native: list[CppFrame] = []
        self._section = ""  # "current", "other", "native"
        self._marked = False
        self._threads = 0
        self._stacks: list[list[Place]] = []
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
            return False
        frame = _FRAME.match(text)
        if frame:
            number = int(frame[2]) if frame[2].isdigit() else 0
            read = Place(frame[1], number, frame[3].strip(), None)
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
            tuple(self._native),
            max(self._threads, 1),
            tuple(tuple(stack) for stack in self._stacks),
        )
        self._found.add(dump)
        self._reset()
        self._lines = []


READERS = (FaultHandlerReader, TerminatedReader, NativeReader)
