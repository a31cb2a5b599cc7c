"""Candidates from a process that ended well: what was looked at, and what was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import failing_call, opaque, touches_aoti
from aoti_debug.diagnose.candidate import Candidate, evidence
from aoti_debug.diagnose.from_nothing import ended_well
from aoti_debug.diagnose.traffic import Judged, judged, not_held
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Diagnosis, Evidence, Next
from aoti_debug.read.check_report import NO_REPORTS, Name

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations

CHECKED: dict[Name, str] = {
    "contract": "inputs",
    "calls": "guards of other calls",
    "guards": "guards",
    "fakes": "custom operators",
    "compare": "values against the exported program",
    "repeats": "repeats of the call",
    "poison": "repeats in filled memory",
}
BY_TOOL = {
    "memcheck": "memory accesses",
    "initcheck": "reads before writes",
    "racecheck": "races",
}

FOR_GUARDS = Next(
    tool="triage",
    why="run the script that compiles the package once under it, then this again: the exported "
    "program is then kept, and the call is held against its guards",
)


def clean(observations: Observations) -> Candidate:
    events = observations.events
    if opaque(observations) or events is None:
        return ended_well(observations)
    if observations.ending is not None and observations.ending.enough and not events.calls:
        return Candidate(
            Diagnosis(
                phase="none",
                category="no_fault",
                confidence="possible",
                summary="no loaded model was called before the end of watching: watch it longer",
                evidence=last_event(observations),
            ),
            role="clean",
            tier=Tier.CLEAN,
        )
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
            tier=Tier.CLEAN,
        )
    known = judged(observations)
    calls = known.made
    unchecked = not_checked(observations)
    return Candidate(
        Diagnosis(
            phase="none",
            category="no_fault",
            confidence="likely" if known.judged == calls or not observations.steps else "possible",
            summary=f"{how(observations)}; {calls} "
            f"{'call' if calls == 1 else 'calls'} of a compiled model returned"
            + judged_of(known)
            + checked(observations)
            + holding(observations)
            + of_guards(observations, calls)
            + unchecked,
            evidence=last_event(observations),
            guide="guides/input-contracts.md" if unchecked else None,
            next=[FOR_GUARDS] if unchecked else [],
        ),
        role="clean",
        tier=Tier.CLEAN,
    )


def how(observations: Observations) -> str:
    """Say that the script ended, or went on until it had been watched long enough."""
    ending = observations.ending
    if ending is not None and ending.enough:
        return "the script went on without an error until the end of watching"
    return "the script ended without an error"


def judged_of(known: Judged) -> str:
    """Say how many calls were held against the package's contract."""
    if known.made == 0:
        return ""
    if known.judged == known.made:
        return ", each held against the package's contract" if known.made > 1 else ""
    return f"; {known.made - known.judged} of them could not be held against the package's contract"


def holding(observations: Observations) -> str:
    """Say which outputs are not finite, if the model gives the same without AOTInductor."""
    compared = observations.checks.compare
    outputs = compared.outputs if compared is not None and compared.verdict == "agrees" else ()
    bad = [
        f"output {one.index} holds {words}" for one in outputs if (words := one.package.not_finite)
    ]
    return f"; {', '.join(bad[:3])}, as without AOTInductor" if bad else ""


def checked(observations: Observations) -> str:
    """Say what the replays have looked at; what they found would be another diagnosis."""
    reports = observations.checks
    looked = [
        words
        for name, words in CHECKED.items()
        if ((step := reports.step(name)) is not None and step.state == "done")
    ]
    looked += [
        words
        for name, words in BY_TOOL.items()
        if name in observations.steps and not observations.steps[name].failed
    ]
    return f"; checked and clean: {', '.join(looked)}" if looked else ""


def of_guards(observations: Observations, calls: int) -> str:
    """Say how many calls were not held against the guards: only one call is repeated."""
    guards = observations.checks.guards
    others = not_held(observations)
    if guards is None or guards.state != "done" or not others:
        return ""
    return (
        f". {others} of {calls} calls have other sizes or values than the one that was repeated: "
        "they were not held against the exported program's guards"
    )


def not_checked(observations: Observations) -> str:
    """Say what of the call's contract only the exported program states, when it is not known."""
    guards = observations.checks.guards
    call = failing_call(observations)
    replayed = observations.checks != NO_REPORTS or bool(observations.steps)
    if call is None or not replayed or (guards is not None and guards.state == "done"):
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


def last_event(observations: Observations) -> list[Evidence]:
    """Point to the last thing that the probe saw."""
    events = observations.events
    if events is None:
        return []
    phases = sorted(events.phases, key=lambda phase: phase.span.last)
    if phases:
        return [evidence(phases[-1].span)]
    return [evidence(process.span) for process in events.processes[:1]]
