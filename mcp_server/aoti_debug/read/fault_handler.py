"""Read how a process died: faulthandler's stacks, gdb's, last words of C++, glibc and the shell."""

from __future__ import annotations

import re

from aoti_debug.read.blocks import BlockReader
from aoti_debug.read.record import (
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


class TerminatedReader(BlockReader[Terminated]):
    """Give each way in which a process said that it died."""

    triggers = (
        *("terminate called", "free(): ", "malloc(): ", "realloc(): ", "calloc(): ", "chunk(): "),
        *("double free or corruption", "corrupted ", "malloc_consolidate(): "),
        *("*** stack smashing", "*** buffer overflow", "pure virtual method called"),
        *("Killed", "Aborted", "Segmentation fault", "Bus error", "Illegal instruction"),
        *("Floating point exception", "Trace/breakpoint trap"),
    )

    def begin(self) -> None:
        self._type: str | None = None
        self._what: list[str] = []

    def feed(self, line: Line) -> bool:
        text = line.text.rstrip()
        thrown = _THROWN.search(text)
        if thrown:
            self.end()
            self._type, self.lines = thrown[1], [line]
            return True
        if self.lines:
            if self._feed_what(line, text):
                return True
            self.end()
        found = _GLIBC.search(text) or _SHELL.match(text.strip())
        if found:
            message = " ".join(found[1].split()) if found.re is _SHELL else found[0]
            self.found.add(Terminated(self.span(line), None, message))
        return False

    def _feed_what(self, line: Line, text: str) -> bool:
        at = text.find(_WHAT)
        if not self._what and at >= 0:
            self._what = [text[at + len(_WHAT) :]]
        elif not self._what:
            self.lines.append(line)  # other output between the two lines
            return len(self.lines) < _MORE
        elif not text or text.startswith(("Exception raised from", "frame #", "Fatal Python")):
            return False
        else:
            self._what.append(text)
        self.lines.append(line)
        return len(self._what) <= _MORE

    def end(self) -> None:
        if self.lines:
            message = "\n".join(self._what)[:4000]
            self.found.add(Terminated(self.span(), self._type, message))
        self.lines = []
        self.begin()


_SIGNAL = re.compile(r"(?:received|terminated with) signal (SIG\w{1,20})")
_NATIVE_FRAME = re.compile(r"#(\d{1,6}) {1,4}(?:0x[0-9a-f]{1,20} in )?(.{1,16000})")
_AT = re.compile(r" at ([^ ]{1,2000}):(\d{1,9})$")
_FROM = re.compile(r" from ([^ ]{1,2000})$")
_GPU = ("<<<", "coredump:")
_NATIVE_FRAMES = 256


class NativeReader(BlockReader[NativeBacktrace]):
    """Give the first and last stacks; the signal is the one that gdb named before."""

    triggers = ("received signal SIG", "terminated with signal SIG", "#0  ", "#0 0x")

    def begin(self) -> None:
        self._signal: str | None = None
        self._frames: list[NativeFrame] = []

    def feed(self, line: Line) -> bool:
        signal = _SIGNAL.search(line.text)
        if signal:
            self.end()
            self._signal = signal[1]
            return False
        frame = _NATIVE_FRAME.match(line.text)
        if frame is None or any(part in line.text for part in _GPU):
            self.end()
            return False
        index = int(frame[1])
        if index == 0:
            self.end()
        elif not self._frames:
            return False
        if len(self._frames) < _NATIVE_FRAMES:
            self._frames.append(_native(index, frame[2].rstrip()))
        self.lines = [*self.lines[:7], line]
        return True

    def end(self) -> None:
        if self._frames:
            self.found.add(NativeBacktrace(self.span(), self._signal, tuple(self._frames)))
        self._frames, self.lines = [], []


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
_MODULES = "Extension modules: "
_LINES = 20_000
_FRAMES = 200
_STACKS, _DEEPEST = 20, 30  # threads whose stacks are kept, and frames of each


class FaultHandlerReader(BlockReader[FaultHandlerDump]):
    """Keep the stack of the current thread; of a time-out, of the thread printed last (main)."""

    triggers = (_FATAL, "Timeout (", "(most recent call first)", _MODULES)

    def begin(self) -> None:
        self.lines = []
        self._reason: str | None = None
        self._frames: list[Place] = []
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
            self.end()
            self._reason = timeout[0].rstrip("!") if timeout else text[at + len(_FATAL) :].strip()
            self.lines = [line]
            return True
        if self._reason is None:
            return False
        self._count += 1
        if self._count > _LINES or not self._feed_open(text):
            self.end()
            return False
        self.lines = [*self.lines[:7], line]
        return True

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
        return not text.strip() or text.startswith(("  ", "Python runtime state", "<"))

    def end(self) -> None:
        if self._reason is None:
            return
        self.found.add(
            FaultHandlerDump(
                self.span(),
                self._reason[:500],
                tuple(self._frames),
                max(self._threads, 1),
                tuple(map(tuple, self._stacks)),
            )
        )
        self.begin()
