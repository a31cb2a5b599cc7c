"""Where it happened: the phase, and the line of the user's own files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from aoti_debug.facts.phases import phase_of, phase_of_name
from aoti_debug.model import Phase, SourceLine
from aoti_debug.read.record import Frame, PythonException, Span

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations

NOT_THE_USERS = (
    "/site-packages/", "/dist-packages/", "/lib/python3", "<frozen ", "<string>",
    "/torchinductor_", "aoti_debug/probe/", "/minifier_launcher.py", "<unknown>",
)  # fmt: skip


LAUNCHER = "/minifier_launcher.py"
LOADING = ("torch/export/", "torch/_export/")


def within(inner: Span, outer: Span) -> bool:
    """Tell whether `inner` begins inside `outer`."""
    return inner.artifact == outer.artifact and outer.first <= inner.first <= outer.last


def is_users(file: str) -> bool:
    """Tell whether a file of a traceback is the user's own rather than a library's."""
    return not any(part in file for part in NOT_THE_USERS)


def launcher_spans(observations: Observations) -> list[Span]:
    """Return the lines that the minifier's launcher printed: its traceback, and those of the
    loading of the dumped program before it."""
    found: list[Span] = []
    exceptions = observations.of(PythonException)
    for number, exception in enumerate(exceptions):
        if not any(frame.file.endswith(LAUNCHER) for frame in exception.frames):
            continue
        begin = exception.span
        for earlier in reversed(exceptions[:number]):
            loading = all(any(p in f.file for p in LOADING) for f in earlier.frames)
            if earlier.span.artifact != begin.artifact or not loading:
                break
            begin = earlier.span
        found.append(replace(exception.span, first=begin.first))
    return found


def traceback_phase(observations: Observations, exception: PythonException) -> Phase | None:
    """Return the phase of an exception. The exceptions that led to it are looked at too: a kernel
    that fails while Inductor tunes it shows the tuning only in the first of the chain."""
    chain = [
        other
        for other in observations.of(PythonException)
        if other.span.artifact == exception.span.artifact and other.span.last <= exception.span.last
    ]
    phases = [phase_of((f.file, f.function) for f in e.frames) for e in chain]
    if "autotune" in phases:
        return "autotune"
    told = phase_of((f.file, f.function) for f in exception.frames)
    return told or phase_of_name(exception.type)


def users_frame(frames: Iterable[Frame]) -> Frame | None:
    """Return the deepest frame of the user's own files; `frames` are outermost first."""
    found = None
    for frame in frames:
        if is_users(frame.file):
            found = frame
    return found


def source_of(frame: Frame | None) -> list[SourceLine]:
    if frame is None:
        return []
    return [SourceLine(file=frame.file, line=frame.line, text=frame.text)]


def base_name(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name
