"""How far the process came and where it failed: the phase, and the line in the user's own files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from aoti_debug.facts.phases import phase_of, phase_of_name, phase_of_wrapped
from aoti_debug.model import PHASES, Phase
from aoti_debug.read.record import PythonException, Span
from aoti_debug.vocabulary import Place, owner

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations
    from aoti_debug.model import InputFinding, SourceLine
    from aoti_debug.read.check_report import DeclaredInput, Line
    from aoti_debug.read.event_records import Call, Group
    from aoti_debug.record.run_seen import RunSeen
    from aoti_debug.vocabulary import Leaf

DOING = {
    "export": "torch.export",
    "lower": "the compile (lowering)",
    "autotune": "the compile (autotuning)",
    "triton_compile": "the compile (Triton)",
    "cpp_compile": "the compile (C++)",
    "package": "packaging",
    "load": "loading the package",
    "constants": "loading constants",
}


def opaque(observations: Observations) -> bool:
    """Tell whether a process ended without a probe in it: its calls were not observed."""
    return observations.ending is not None and not observations.run.processes


def phase_at_end(observations: Observations) -> Phase | None:
    """Return the phase in which the process died or failed; None where the run does not tell."""
    found = observations.run.failure
    if found is None or found.phase not in PHASES:
        return None
    if observations.ending is not None and observations.ending.clean:
        return None
    return found.phase


def died_in(observations: Observations) -> str | None:
    """Say in words what the process was doing at its end."""
    found = observations.run.failure
    if found is None:
        return None
    if found.phase == "run":
        call = observations.run.call
        return f"call {call.call} of the loaded model" if call else "a call of the loaded model"
    return DOING.get(found.phase, found.phase)


def input_named(observations: Observations, index: int) -> str | None:
    """Return the name of a tensor input, as the call or else the exported program has it."""
    call = observations.run.call
    given = call.input(index) if call else None
    if given is not None and given.name:
        return given.name
    known = declared(observations, index)
    return known.name[:200] if known is not None and known.name else None


def declared(observations: Observations, index: int) -> DeclaredInput | None:
    """Return what the exported program declares of a tensor input, where it is known."""
    guards = observations.checks.guards
    tensors = guards.tensors if guards is not None else []
    return tensors[index] if 0 <= index < len(tensors) else None


def writes_to(observations: Observations, index: int) -> bool:
    known = declared(observations, index)
    return known is not None and known.written


def name_of(given: Leaf | InputFinding) -> str:
    return given.name or f"input {given.index}"


LIBRARIES = ("/site-packages/", "/dist-packages/", "/torchinductor_")
HASHED = re.compile(r"^(c[a-z2-7]{6})[a-z2-7]{45}")  # a file of Inductor's cache
LAUNCHER = "/minifier_launcher.py"
LOADING = ("torch/export/", "torch/_export/")


def is_users(file: str) -> bool:
    """Tell whether a file of a traceback is the user's own rather than a library's."""
    return owner(file) == "user"


def launcher_spans(observations: Observations) -> list[Span]:
    """Return the lines of the minifier's launcher: its traceback, and the loading before it."""
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
    """Return the phase of an exception. Those that led to it count too: a kernel that fails while
    it is tuned shows that only in the first of the chain."""
    if any(phase_of_frames(one.frames) == "autotune" for one in led_to(observations, exception)):
        return "autotune"
    told = phase_of_wrapped(exception.message) or phase_of_frames(exception.frames)
    return told or phase_of_name(exception.type)


def led_to(observations: Observations, exception: PythonException) -> Iterator[PythonException]:
    """Yield an exception and those before it in its chain, last first."""
    known = observations.of(PythonException)
    at = next((n for n, one in enumerate(known) if one is exception), None)
    yield exception
    while at is not None and at > 0 and not known[at - 1].last:
        at -= 1
        yield known[at]


def phase_of_frames(frames: Iterable[Place]) -> Phase | None:
    """Return the phase of a stack, outermost frame first."""
    return phase_of((f.file, f.function) for f in frames)


def users_frame(frames: Iterable[Place]) -> Place | None:
    """Return the deepest frame of the user's own files; `frames` are outermost first."""
    return next((frame for frame in reversed([*frames]) if is_users(frame.file)), None)


STACK = "\nAt:\n"  # what pybind11 puts before the Python stack of an exception, innermost first
_FRAME = re.compile(r"^  (\S.{0,1000})\((\d{1,9})\): (.{1,300})$", re.MULTILINE)


def raised_at(message: str) -> tuple[str, list[Place]]:
    """Return what an exception that went through C++ says, and its stack in Python."""
    said, _, stack = message.partition(STACK)
    frames: list[tuple[str, str, str]] = _FRAME.findall(stack)
    return said.strip(), [Place(file, int(line), function) for file, line, function in frames]


def base_name(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name


def spot(file: str | None, line: int | None) -> str:
    """Return "FILE:LINE" for a headline; a name that Inductor made of a hash is cut."""
    name = HASHED.sub(r"\1…", base_name(file)) if file else ""
    return f"{name}:{line}" if name and line else ""


def at_line(file: str | None, line: int | None) -> str:
    """Return " at FILE:LINE"."""
    return f" at {place}" if (place := spot(file, line)) else ""


def at_place(place: tuple[str, int] | None) -> str:
    return at_line(*place) if place is not None else ""


def path_and_line(place: Place | Line | SourceLine | None) -> str | None:
    """Return where a fix belongs: the whole path, and the line."""
    return f"{place.file}:{place.line}" if place is not None else None


def shared(run: RunSeen, bad: Sequence[Group]) -> str:
    """Name the line or the process that the bad calls have in common and the others do not."""
    wrong = {id(call) for group in bad for call in group.calls}
    good = [call for call in run.calls if id(call) not in wrong]
    if not bad or not good:
        return ""

    def lines(calls: Sequence[Call]) -> set[str]:
        found = map(run.caller, calls)
        return {f"{place[0]}:{place[1]}" for place in found if place is not None}

    mine = lines([call for group in bad for call in group.calls])
    if len(mine) == 1 and not mine & lines(good):
        return f"the calls that do come from {mine.pop()}, the others do not"
    processes = {group.calls[0].pid for group in bad}
    if len(processes) == 1 and processes != {call.pid for call in good}:
        return f"the calls that do are all of process {processes.pop()}"
    return ""
