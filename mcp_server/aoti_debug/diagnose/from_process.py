"""Candidates from how the process ended and what it did before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aoti_debug.diagnose.calls import (
    at_line,
    died_in,
    is_users,
    phase_at_end,
    phase_of_frames,
    users_frame,
)
from aoti_debug.diagnose.from_clean import clean, last_event, look_at_package
from aoti_debug.diagnose.from_gpu import core_of, kernel_of
from aoti_debug.diagnose.from_native import (
    native_evidence,
    native_kernel,
    native_phase,
    native_source,
    place,
)
from aoti_debug.diagnose.observations import (
    CRASHES,
    Candidate,
    Kind,
    Observations,
    evidence,
    headline,
)
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Evidence, Experiment, Fault, Next, SourceLine, source_of
from aoti_debug.read.record import ErrorLine, FaultHandlerDump, PrintedVerdict
from aoti_debug.symptom import agreeing, rejects, verdict

CRASH = "guides/host-crash.md"
HUNG = Kind("hang", "hang", Tier.HANG, "guides/threads-streams-hangs.md", confidence="proved")
CHECK_CONTRACT = Next(
    tool="run_stage",
    arguments={"stage": "contract"},
    why="an input outside the compiled contract is the most frequent reason for a crash inside "
    "the model",
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
        said = verdict(observations)
        yield clean(observations) if said is None else ended_with(observations, said)
    else:
        yield failed(observations)


def from_dump(observations: Observations) -> Iterator[Candidate]:
    """In a log alone, faulthandler's text says that a signal ended the process."""
    for dump in observations.of(FaultHandlerDump):
        if "Fatal Python error" not in dump.reason and "fault" not in dump.reason:
            continue
        phase, said = phase_of_frames(reversed(dump.frames)), "the process died of a signal: "
        kind = Kind("host_segfault", phase or "none", Tier.STACK, CRASH, role="symptom")
        yield kind.found(said + dump.reason, dump.span, source=python_source(dump))


def crash(observations: Observations, signal: str) -> Candidate:
    phase = phase_at_end(observations) or native_phase(observations) or "none"
    dump = observations.first(FaultHandlerDump)
    call = observations.run.call
    outside = after_the_calls(observations)
    during = f" in {words}" if (words := died_in(observations)) else ""
    during += outside
    during += f", in {words}" if (words := place(observations)) else ""
    during += dies_without_aoti(observations, signal)
    steps = [CHECK_CONTRACT] if call is not None and not outside else []
    aborted = signal == "SIGABRT"
    tier = Tier.NOTICE if aborted else Tier.SIGNAL
    return Kind("host_segfault", phase, tier, CRASH, role="symptom").found(
        f"the process died of {signal}{during}",
        *([evidence(dump.span)] if dump else last_event(observations)),
        *native_evidence(observations),
        confidence="likely" if aborted else "proved",
        source=python_source(dump) or native_source(observations),
        fault=Fault(signal=signal),
        next=[*steps, *look_at_package(observations)],
    )


def after_the_calls(observations: Observations) -> str:
    """Say so if the process died while nothing of AOTInductor was under way."""
    run = observations.run
    if not run.went_well:
        return ""
    return f" after call {run.calls[-1].call} of the loaded model had returned, not in the model"


def dies_without_aoti(observations: Observations, signal: str) -> str:
    """Say so if the exported program, which runs operator by operator, dies of the same signal."""
    guards = observations.checks.guards
    if guards is None or guards.signal != signal:
        return ""
    return "; the exported program dies of it too, without AOTInductor: an operator's own fault"


def python_source(dump: FaultHandlerDump | None) -> list[SourceLine]:
    return source_of(users_frame(reversed(dump.frames))) if dump else []


def hang(observations: Observations) -> Candidate:
    ending = observations.ending
    assert ending is not None
    dump = observations.first(FaultHandlerDump)
    waits = idle(observations)
    native = place(observations) if not waits else None
    words = ", in ".join(filter(None, (died_in(observations), native)))
    where = f" in {words}" if words else waits
    core = core_of(observations)
    kernel = kernel_of(core, reached=True) if core is not None else None
    if kernel is not None:
        where = f" in kernel {kernel.name}{at_line(kernel.file, kernel.line)}"
    limit = f" after {ending.timeout_s:.0f} s" if ending.timeout_s else ""
    return HUNG.found(
        f"no end{limit}: the process hung" + where,
        *([evidence(core.span)] if core is not None else []),
        *([stacks(dump)] if dump else last_event(observations)),
        *native_evidence(observations),
        kernel=kernel or native_kernel(observations),
        source=waiting(observations, dump) or python_source(dump) or native_source(observations),
    )


def stacks(dump: FaultHandlerDump) -> Evidence:
    """Quote the stacks alone: "Fatal Python error: Aborted" above them is our own doing."""
    words = dump.span.quote.splitlines()
    first = next((n for n, line in enumerate(words) if "thread 0x" in line.lower()), 0)
    span = replace(
        dump.span,
        first=min(dump.span.first + first, dump.span.last),
        quote="\n".join(words[first:]),
    )
    return evidence(span)


def waiting(observations: Observations, dump: FaultHandlerDump | None) -> list[SourceLine]:
    """Return where the script's own threads wait, its own files first, if none is in the model."""
    if dump is None or not idle(observations):
        return []
    found: dict[tuple[str, int], tuple[bool, SourceLine]] = {}
    for stack in dump.stacks:
        for line in source_of(users_frame(reversed(stack))):
            found.setdefault((line.file, line.line), (not is_users(stack[0].file), line))
    return [line for _, line in sorted(found.values(), key=lambda one: one[0])][:4]


def idle(observations: Observations) -> str:
    """Say so if nothing of AOTInductor was under way."""
    words = "; no call of a loaded model was under way: the script itself waits"
    return words if observations.run.went_well else ""


def ended_by(observations: Observations, signal: str) -> Candidate:
    killed = signal == "SIGKILL"
    return Kind(
        "out_of_memory" if killed else "user_code",
        phase_at_end(observations) or "none",
        Tier.OUTSIDE,
        "guides/memory-and-time.md" if killed else None,
        role="symptom",
        confidence="possible",
    ).found(
        f"something outside ended the process with {signal}"
        + (": often the kernel's out-of-memory killer" if killed else ""),
        *last_event(observations),
        fault=Fault(signal=signal),
    )


def ended_with(observations: Observations, said: PrintedVerdict) -> Candidate:
    """Say what a script prints of its results that ends well."""
    right = agreeing(observations)
    words = "the package is right in each repeated call; " if right else ""
    kind = Kind("user_code", "none", Tier.STATUS, role="envelope", confidence="possible")
    return kind.found(
        headline(f"{words}the script prints: ", said.span.quote),
        evidence(said.span),
        because=[Experiment(experiment=right, result="agree")] if right else [],
    )


def failed(observations: Observations) -> Candidate:
    ending, run = observations.ending, observations.run
    assert ending is not None
    never = run.probed and not run.touches_aoti
    said = observations.first(ErrorLine)
    right = agreeing(observations) if rejects(observations) else ""
    what = f"the script ended with exit status {ending.code}"
    what += " and never touched AOTInductor" if never else ""
    what += f"; it said: {said.span.quote}" if said else ""
    what = f"the package is right in each repeated call; {what}" if right else what
    return Kind(
        "user_code", phase_at_end(observations) or "none", Tier.STATUS, role="envelope"
    ).found(
        what,
        *[evidence(said.span)] if said else last_event(observations),
        confidence="likely" if never or (right and said) else "possible",
        because=[Experiment(experiment=right, result="agree")] if right else [],
    )
