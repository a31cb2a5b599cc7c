"""Read from a run's directory what a page shows of it: phases, calls, contract, source, files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from aoti_debug.answers import TriageAnswer
from aoti_debug.errors import UnknownRun
from aoti_debug.model import Diagnosis, Model, RunModel, Step
from aoti_debug.package.contract import contract, one_line
from aoti_debug.package.documents import member_text
from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import CompiledModel
from aoti_debug.probe.judge import breaks
from aoti_debug.probe.nesting import held
from aoti_debug.read.event_records import Call
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.files import is_regular
from aoti_debug.triage.observe import events_of
from aoti_debug.vocabulary import Leaf

AROUND = 6  # lines of a kernel's source before and after the one in question
CALLS = 2_000  # points of the plot
PHASES = 60
FILES = 200


@dataclass(frozen=True, slots=True)
class Bar:
    """A phase of the script or a step of the triage; seconds since the script began."""

    name: str
    begin: float
    seconds: float
    tone: str = "plain"


@dataclass(frozen=True, slots=True)
class CallPoint:
    number: int
    milliseconds: float
    bad: bool


@dataclass(frozen=True, slots=True)
class InputRow:
    """One input: what was compiled for, what came, and what of it is broken."""

    name: str
    declared: str
    got: str
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelSource:
    """Lines of a generated kernel: number, text, whether it is the line in question."""

    name: str
    lines: tuple[tuple[int, str, bool], ...]


@dataclass(frozen=True, slots=True)
class RunFile:
    name: str
    uri: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Recorded:
    timeline: tuple[Bar, ...] = ()
    calls: tuple[CallPoint, ...] = ()
    contract: tuple[InputRow, ...] = ()
    contract_of: str = ""  # which call
    source: KernelSource | None = None
    files: tuple[RunFile, ...] = ()


def of_answer(answer: Model) -> Recorded:
    """Return what the run of an answer recorded, if it is the answer of a run that is kept."""
    run = getattr(answer, "run", None)
    if not isinstance(answer, RunModel) or run is None:
        return Recorded()
    with contextlib.suppress(UnknownRun):
        steps = answer.steps if isinstance(answer, TriageAnswer) else ()
        return recorded(RunDirectory.open(run).path, answer.diagnosis, steps)
    return Recorded()


def recorded(
    directory: Path | None, diagnosis: Diagnosis | None = None, steps: Sequence[Step] = ()
) -> Recorded:
    """Return what a run left; nothing of a directory that is not there any more."""
    if directory is None or not directory.is_dir():
        return Recorded()
    events = events_of(directory)
    package, call = _package(directory, events), events.call
    models = {model.name: model for model in inspect(package).models} if package else {}
    model = models.get(call.model) if call is not None else None
    return Recorded(
        timeline=tuple(_timeline(events, steps)),
        calls=tuple(_calls(events)),
        contract=tuple(_rows(model, call)) if model is not None and call is not None else (),
        contract_of=f"call {call.call}" if call is not None and call.call else "",
        source=_source(package, diagnosis),
        files=tuple(_files(directory)),
    )


def _package(directory: Path, events: RunSeen) -> Path | None:
    """Return the kept copy of the package that was called; the original may have changed."""
    call = events.last_call
    seen = [p for p in events.packages if call is not None and p.path == call.package]
    name = next((p.captured for p in reversed(seen) if p.captured), None)
    return directory / name if name and is_regular(directory / name) else None


def _rows(model: CompiledModel, call: Call) -> Iterable[InputRow]:
    stated = contract(model)
    broken = held(call.nesting, call.inputs, lambda leaves: breaks(stated, leaves))
    for expected in stated.inputs:
        given = call.input(expected.index)
        name = (given.name if given else None) or expected.name
        wrong = tuple(
            f"{one.property}{'' if one.dim is None else f' of dimension {one.dim}'}: "
            f"{one.expected} expected"
            for one in broken
            if one.index == expected.index and not one.harmless
        )
        yield InputRow(name, one_line(expected), _got(given) if given else "not given", wrong)


def _got(given: Leaf) -> str:
    if given.shape is None:
        return f"{given.kind} {given.value if given.value is not None else ''}".strip()
    strides = ", ".join(map(str, given.stride or ()))
    sizes = ", ".join(map(str, given.shape))
    values = ""
    if given.min is not None and given.max is not None:
        values = f", values {given.min} to {given.max}"
    return f"{given.dtype}[{sizes}] on {given.device}, strides ({strides}){values}"


def _timeline(events: RunSeen, steps: Sequence[Step]) -> Iterable[Bar]:
    begun = [phase for phase in events.phases if phase.begun is not None and phase.phase != "run"]
    starts = [phase.begun for phase in events.phases if phase.begun is not None]
    start = min(starts, default=0.0)
    end = 0.0
    for phase in begun[:PHASES]:
        begin = (phase.begun or start) - start
        seconds = phase.seconds or 0.0
        end = max(end, begin + seconds)
        yield Bar(phase.phase.replace("_", " "), begin, seconds, "" if phase.ok else "fault")
    for call in (c for c in events.calls if not c.ok):
        phase_of = next((p for p in events.phases if (p.pid, p.id) == (call.pid, call.id)), None)
        if phase_of is not None and phase_of.begun is not None:
            begin = phase_of.begun - start
            end = max(end, begin + (call.seconds or 0.0))
            yield Bar(f"call {call.call}", begin, call.seconds or 0.0, "fault")
            break
    for step in steps:
        if step.status == "done" and step.wall_s:
            if step.name == "first run":
                end = max(end, step.wall_s)
                yield Bar("the script, watched", 0.0, step.wall_s, "script")
            else:
                yield Bar(f"step: {step.name}", end, step.wall_s, "step")
                end += step.wall_s


def _calls(events: RunSeen) -> Iterable[CallPoint]:
    calls = [call for call in events.calls if call.call is not None]
    every = max(1, len(calls) // CALLS)
    for position, call in enumerate(calls):
        bad = not call.ok or bool(call.breaks) or call.holds_nonfinite
        if bad or position % every == 0:
            yield CallPoint(call.call or 0, 1000 * (call.seconds or 0.0), bad)


def _source(package: Path | None, diagnosis: Diagnosis | None) -> KernelSource | None:
    """Return the lines around the kernel's, from the package alone: other paths are foreign."""
    kernel = diagnosis.kernel if diagnosis else None
    if kernel is None or package is None or not kernel.file or not kernel.line:
        return None
    text = member_text(package, kernel.file)
    if text is None:
        return None
    lines = text.split("\n")
    if not 0 < kernel.line <= len(lines):
        return None
    first = max(1, kernel.line - AROUND)
    shown = lines[first - 1 : kernel.line + AROUND]
    numbered = enumerate(shown, first)
    marked = tuple((number, line[:400], number == kernel.line) for number, line in numbered)
    return KernelSource(Path(kernel.file).name, marked)


def _files(directory: Path) -> Iterable[RunFile]:
    found = sorted(p for p in directory.rglob("*") if p.is_file() and not p.is_symlink())
    for path in found[:FILES]:
        name = path.relative_to(directory).as_posix()
        if not any(part.startswith(".") for part in name.split("/")):
            yield RunFile(name, path.absolute().as_uri(), path.stat().st_size)
