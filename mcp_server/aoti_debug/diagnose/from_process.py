"""Candidates from how the process ended and what it did before."""

from __future__ import annotations

from collections.abc import Iterator

from aoti_debug.diagnose.calls import (
    died_in,
    failing_call,
    opaque,
    phase_at_end,
    touches_aoti,
)
from aoti_debug.diagnose.candidate import Candidate, evidence
from aoti_debug.diagnose.from_gpu import core_of, kernel_of
from aoti_debug.diagnose.from_native import (
    native_evidence,
    native_kernel,
    native_phase,
    native_source,
    place,
)
from aoti_debug.diagnose.from_opaque import ended_well, look_at_package
from aoti_debug.diagnose.observations import Observations
from aoti_debug.diagnose.where import base_name, source_of, users_frame
from aoti_debug.facts.phases import phase_of
from aoti_debug.model import Diagnosis, Evidence, Fault, Next, Phase, SourceLine
from aoti_debug.read.record import ErrorLine, FaultHandlerDump

CHECKED = {
    "contract": "inputs",
    "guards": "guards",
    "fakes": "custom operators",
    "compare": "values against the exported program",
    "memcheck": "memory accesses",
    "initcheck": "reads before writes",
    "racecheck": "races",
}
CRASHES = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT")

FOR_GUARDS = Next(
    tool="triage",
    why="run the script that compiles the package once under it, then this again: the exported "
    "program is then kept, and the call is held against its guards",
)


def candidates(observations: Observations) -> Iterator[Candidate]:
    ending = observations.ending
    if ending is None:
        yield from from_dump(observations)
        return
    if ending.timed_out:
        yield hang(observations)
    elif ending.signal in CRASHES:
        yield crash(observations, ending.signal)
    elif ending.signal is not None:
        yield ended_by(observations, ending.signal)
    elif ending.clean:
        yield clean(observations)
    else:
        yield failed(observations)


def from_dump(observations: Observations) -> Iterator[Candidate]:
    """In a log alone, faulthandler's text says that a signal ended the process."""
    for dump in observations.of(FaultHandlerDump):
        if "Fatal Python error" not in dump.reason and "fault" not in dump.reason:
            continue
        yield Candidate(
            Diagnosis(
                phase=dump_phase(dump) or "none",
                category="host_segfault",
                confidence="likely",
                summary=f"the process died of a signal: {dump.reason}",
                source=source_of(users_frame(reversed(dump.frames))),
                evidence=[evidence(dump.span)],
                guide="guides/host-crash.md",
            ),
            role="symptom",
            weight=40,
            position=(0, dump.span.first),
        )


def dump_phase(dump: FaultHandlerDump) -> Phase | None:
    return phase_of((f.file, f.function) for f in reversed(dump.frames))


def dump_of(observations: Observations) -> FaultHandlerDump | None:
    return observations.first(FaultHandlerDump)


def crash(observations: Observations, signal: str) -> Candidate:
    phase = phase_at_end(observations) or native_phase(observations) or "none"
    dump = dump_of(observations)
    call = failing_call(observations)
    during = "".join(f" in {words}" for words in (died_in(observations),) if words)
    during += f", in {words}" if (words := place(observations)) else ""
    during += dies_without_aoti(observations, signal)
    next = []
    if call is not None:
        next.append(
            Next(
                tool="run_stage",
                arguments={"stage": "contract"},
                why="an input outside the compiled contract is the most frequent reason for a "
                "crash inside the model",
            )
        )
    return Candidate(
        Diagnosis(
            phase=phase,
            category="host_segfault",
            confidence="proved" if signal != "SIGABRT" else "likely",
            summary=f"the process died of {signal}{during}",
            source=python_source(dump) or native_source(observations),
            fault=Fault(signal=signal),
            evidence=[
                *([evidence(dump.span)] if dump else last_event(observations)),
                *native_evidence(observations),
            ],
            guide="guides/host-crash.md",
            next=[*next, *look_at_package(observations)],
        ),
        role="symptom",
        weight=60 if signal != "SIGABRT" else 20,
    )


def dies_without_aoti(observations: Observations, signal: str) -> str:
    """Say so if the exported program, which runs operator by operator, dies of the same signal."""
    guards = observations.steps.get("guards")
    if guards is None or guards.ending is None or guards.ending.signal != signal:
        return ""
    return "; the exported program dies of it too, without AOTInductor: an operator's own fault"


def python_source(dump: FaultHandlerDump | None) -> list[SourceLine]:
    return source_of(users_frame(reversed(dump.frames))) if dump else []


def last_event(observations: Observations) -> list[Evidence]:
    """Point to the last thing that the probe saw."""
    events = observations.events
    if events is None:
        return []
    phases = sorted(events.phases, key=lambda phase: phase.span.last)
    if phases:
        return [evidence(phases[-1].span)]
    return [evidence(process.span) for process in events.processes[:1]]


def hang(observations: Observations) -> Candidate:
    ending = observations.ending
    assert ending is not None
    dump = dump_of(observations)
    doing = died_in(observations)
    native = place(observations)
    words = ", in ".join(word for word in (doing, native) if word)
    where = f"; it hung in {words}" if words else ""
    core = core_of(observations)
    kernel = kernel_of(core, reached=True) if core is not None else None
    if kernel is not None:
        at = f" at {base_name(kernel.file)}:{kernel.line}" if kernel.file and kernel.line else ""
        where += f"; the GPU was in kernel {kernel.name}{at}"
    limit = f" after {ending.timeout_s:.0f} s" if ending.timeout_s else ""
    return Candidate(
        Diagnosis(
            phase="hang",
            category="hang",
            confidence="proved",
            summary=f"the process had not ended{limit} and was stopped" + where,
            kernel=kernel or native_kernel(observations),
            source=python_source(dump) or native_source(observations),
            evidence=[
                *([evidence(core.span)] if core is not None else []),
                *([evidence(dump.span)] if dump else last_event(observations)),
                *native_evidence(observations),
            ],
            guide="guides/threads-streams-hangs.md",
        ),
        role="cause",
        weight=70,
    )


def ended_by(observations: Observations, signal: str) -> Candidate:
    return Candidate(
        Diagnosis(
            phase=phase_at_end(observations) or "none",
            category="out_of_memory" if signal == "SIGKILL" else "user_code",
            confidence="possible",
            summary=f"something outside ended the process with {signal}"
            + (": often the kernel's out-of-memory killer" if signal == "SIGKILL" else ""),
            fault=Fault(signal=signal),
            evidence=last_event(observations),
            guide="guides/memory-and-time.md" if signal == "SIGKILL" else None,
        ),
        role="symptom",
        weight=30,
    )


def clean(observations: Observations) -> Candidate:
    events = observations.events
    if opaque(observations) or events is None:
        return ended_well(observations)
    if not touches_aoti(events):
        return Candidate(
            Diagnosis(
                phase="none",
                category="user_code",
                confidence="proved",
                summary="the script ended without an error and never compiled, loaded or called "
                "an AOTInductor package",
                evidence=last_event(observations),
            ),
            role="clean",
            weight=10,
        )
    calls = len(events.calls)
    unchecked = not_checked(observations)
    return Candidate(
        Diagnosis(
            phase="none",
            category="no_fault",
            confidence="likely",
            summary=f"the script ended without an error; {calls} "
            f"{'call' if calls == 1 else 'calls'} of a compiled model returned"
            + checked(observations)
            + unchecked,
            evidence=last_event(observations),
            guide="guides/input-contracts.md" if unchecked else None,
            next=[FOR_GUARDS] if unchecked else [],
        ),
        role="clean",
        weight=10,
    )


def checked(observations: Observations) -> str:
    """Say what the replays have looked at; what they found would be another diagnosis."""
    looked = [
        words
        for name, words in CHECKED.items()
        if name in observations.steps and not observations.steps[name].failed
    ]
    return f"; checked and clean: {', '.join(looked)}" if looked else ""


def not_checked(observations: Observations) -> str:
    """Say what of the call's contract only the exported program states, when it is not known."""
    guards = observations.steps.get("guards")
    call = failing_call(observations)
    replayed = bool(observations.steps)  # a stage runs the script and nothing else
    if call is None or not replayed or (guards is not None and guards.report is not None):
        return ""
    others = [given for given in call.inputs if given.index is None and given.kind != "none"]
    named = ", ".join(
        f"{given.name or f'argument {given.position}'} = {given.value}" for given in others[:3]
    )
    return (
        ". Without the exported program nothing says whether relations between sizes (such as "
        "divisibility) hold"
        + (f", nor whether {named} is the value that was fixed at export" if named else "")
    )


def failed(observations: Observations) -> Candidate:
    ending, events = observations.ending, observations.events
    assert ending is not None
    never = events is not None and not touches_aoti(events)
    said = observations.first(ErrorLine)
    return Candidate(
        Diagnosis(
            phase=phase_at_end(observations) or "none",
            category="user_code",
            confidence="likely" if never else "possible",
            summary=f"the script ended with exit status {ending.code}"
            + (" and never touched AOTInductor" if never else "")
            + (f"; it said: {said.span.quote}" if said else ""),
            evidence=[evidence(said.span)] if said else last_event(observations),
        ),
        role="envelope",
        weight=1,
    )
