"""What the probe's events say about how far the process came, and where it happened: the phase, the
line of the user's own files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from aoti_debug.diagnose.outputs import first_odd
from aoti_debug.facts.phases import phase_of, phase_of_name, phase_of_wrapped
from aoti_debug.model import PHASES, Phase, SourceLine
from aoti_debug.plain import one_line
from aoti_debug.read.record import PythonException, Span
from aoti_debug.vocabulary import Place, owner

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations
    from aoti_debug.read import event_records as read
    from aoti_debug.read.check_report import DeclaredInput
    from aoti_debug.read.event_records import Call, Events, Group
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


def touches_aoti(events: Events) -> bool:
    """Tell whether a model was compiled, loaded or called ahead of time."""
    return any(phase.phase != "export" for phase in events.phases)


def opaque(observations: Observations) -> bool:
    """Tell whether a process was seen to end that no probe was in: nobody saw its calls."""
    events = observations.events
    return observations.ending is not None and (events is None or not events.processes)


def uses_cuda(events: Events) -> bool:
    """Tell whether a call had a CUDA tensor among its inputs or outputs."""
    devices = [leaf.device for call in events.calls for leaf in call.inputs]
    devices += [leaf.device for call in events.calls for leaf in call.outputs]
    return any((device or "").startswith("cuda") for device in devices)


def compiles(events: Events) -> list[read.Phase]:
    """Return the phases in which a model was lowered: where torch's settings act."""
    return [
        phase
        for phase in events.phases
        if phase.phase == "lower" and phase.details.flags is not None
    ]


def last_failure(observations: Observations) -> read.Phase | None:
    """Return the phase that was not ended, else the innermost that failed last."""
    events = observations.events
    if events is None:
        return None
    if events.unfinished is not None:
        return events.unfinished
    failed = [phase for phase in events.phases if phase.ok is False]
    return innermost(max(failed, key=lambda p: p.span.last), failed) if failed else None


def innermost(phase: read.Phase, failed: list[read.Phase]) -> read.Phase:
    """An exception ends every phase that it passes through; the first one to fail is meant."""
    inner = [p for p in failed if p.parent == phase.id and p.pid == phase.pid]
    return innermost(inner[-1], failed) if inner else phase


def recovered(events: Events, failed: read.Phase) -> bool:
    """Tell whether a load that failed was followed by one that did not: a script may try."""
    later = (phase for phase in events.phases if phase.span.first > failed.span.first)
    return failed.phase == "load" and any(phase.phase == "load" and phase.ok for phase in later)


def recorded_error(observations: Observations) -> str:
    """Return type and message of the exception that ended the innermost failing phase, and of
    those that it became on its way out, on one line; empty where none was recorded."""
    events, failed = observations.events, last_failure(observations)
    if events is None or failed is None or recovered(events, failed):
        return ""
    phases = {(phase.pid, phase.id): phase for phase in events.phases}
    said: list[str] = []
    while failed is not None and failed.ok is False:
        said += [f"{failed.error.type}: {failed.error.message}"] if failed.error else []
        failed = phases.get((failed.pid, failed.parent)) if failed.parent is not None else None
    return one_line(" ".join(said))


def phase_at_end(observations: Observations) -> Phase | None:
    """Return the phase in which the process died or failed; None when the events do not tell."""
    found = last_failure(observations)
    if found is None or found.phase not in PHASES:
        return None
    if observations.ending is not None and observations.ending.clean:
        return None
    return found.phase


def died_in(observations: Observations) -> str | None:
    """Say in words what the process was doing at its end."""
    found = last_failure(observations)
    if found is None:
        return None
    if found.phase == "run":
        call = failing_call(observations)
        return f"call {call.call} of the loaded model" if call else "a call of the loaded model"
    return DOING.get(found.phase, found.phase)


def failing_call(observations: Observations) -> Call | None:
    """Return the call that did not return or that failed last, else the first suspicious one:
    that broke something, or whose outputs are not finite; else the last one."""
    events = observations.events
    if events is None:
        return None
    on_device = next((call for call in events.calls if call.on_device), None)
    bad = [call for call in events.calls if not call.ok]
    return on_device or (bad[-1] if bad else suspicious(events) or events.last_call)


def suspicious(events: Events) -> Call | None:
    """Return the first call that breaks a contract, of which one is kept; else the first one whose
    outputs hold NaN or Inf where others hold none, if its inputs are kept; else any such call."""
    broken = [call for call in events.calls if call.breaks]
    kept = [call for call in broken if call.captured is not None]
    if broken:
        return next(iter([*kept, *broken]))
    odd = first_odd(events, events.calls)
    held = (c for c in events.calls if c.captured is not None and c.holds_nonfinite)
    return odd or next(held, None)


def input_named(observations: Observations, index: int) -> str | None:
    """Return the name of a tensor input, as the call or else the exported program has it."""
    call = failing_call(observations)
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
    """Tell whether the model is known to write to an input."""
    known = declared(observations, index)
    return known is not None and known.written


def name_of(given: Leaf) -> str:
    return given.name or f"input {given.index}"


LIBRARIES = ("/site-packages/", "/dist-packages/", "/torchinductor_")
HASHED = re.compile(r"^(c[a-z2-7]{6})[a-z2-7]{45}")  # a file of Inductor's cache
LAUNCHER = "/minifier_launcher.py"
LOADING = ("torch/export/", "torch/_export/")


def within(inner: Span, outer: Span) -> bool:
    """Tell whether `inner` begins inside `outer`."""
    return inner.artifact == outer.artifact and outer.first <= inner.first <= outer.last


def is_users(file: str) -> bool:
    """Tell whether a file of a traceback is the user's own rather than a library's."""
    return owner(file) == "user"


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
    if any(phase_of_frames(earlier) == "autotune" for earlier in led_to(observations, exception)):
        return "autotune"
    told = phase_of_wrapped(exception.message) or phase_of_frames(exception)
    return told or phase_of_name(exception.type)


def led_to(observations: Observations, exception: PythonException) -> Iterator[PythonException]:
    """Yield an exception and those before it in its chain, last first."""
    known = observations.of(PythonException)
    at = next((n for n, one in enumerate(known) if one is exception), None)
    yield exception
    while at is not None and at > 0 and not known[at - 1].last:
        at -= 1
        yield known[at]


def phase_of_frames(exception: PythonException) -> Phase | None:
    return phase_of((f.file, f.function) for f in exception.frames)


def users_frame(frames: Iterable[Place]) -> Place | None:
    """Return the deepest frame of the user's own files; `frames` are outermost first."""
    found = None
    for frame in frames:
        if is_users(frame.file):
            found = frame
    return found


def source_of(frame: Place | None) -> list[SourceLine]:
    if frame is None:
        return []
    return [SourceLine(file=frame.file, line=frame.line, text=frame.text)]


def base_name(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name


def at_line(file: str | None, line: int | None) -> str:
    """Return " at FILE:LINE" for a headline; a name that Inductor made of a hash is cut."""
    name = HASHED.sub(r"\1…", base_name(file)) if file else ""
    return f" at {name}:{line}" if name and line else ""


def overlapping(calls: Sequence[read.Phase]) -> tuple[read.Phase, read.Phase] | None:
    """Return two calls of one process that ran in different threads at the same time."""
    latest: dict[int, read.Phase] = {}
    for call in calls:  # in the order in which they began
        before = latest.get(call.pid)
        if (
            before is not None
            and before.details.thread != call.details.thread
            and (before.ok is None or before.span.last > call.span.first)
        ):
            return before, call
        if before is None or before.span.last <= call.span.last or call.ok is None:
            latest[call.pid] = call
    return None


def shared(events: Events, bad: Sequence[Group]) -> str:
    """Name the line or the process that the bad calls have in common and the others do not."""
    wrong = {id(call) for group in bad for call in group.calls}
    good = [call for call in events.calls if id(call) not in wrong]
    if not bad or not good:
        return ""
    callers = {(phase.pid, phase.id): phase.details.caller for phase in events.phases}

    def lines(calls: Sequence[Call]) -> set[str]:
        found = (callers.get((call.pid, call.id)) for call in calls)
        return {f"{place[0]}:{place[1]}" for place in found if place is not None}

    mine = lines([call for group in bad for call in group.calls])
    if len(mine) == 1 and not mine & lines(good):
        return f"; the calls that do come from {mine.pop()}, the others do not"
    processes = {group.calls[0].pid for group in bad}
    if len(processes) == 1 and processes != {call.pid for call in good}:
        return f"; the calls that do are all of process {processes.pop()}"
    return ""
