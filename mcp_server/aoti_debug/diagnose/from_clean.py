"""What to say of a process that ended well, of a log without a known error, of an unprobed run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from aoti_debug.diagnose.calls import at_line, opaque
from aoti_debug.diagnose.from_exception import BY_PHASE
from aoti_debug.diagnose.from_input_check import refused
from aoti_debug.diagnose.from_program import last_line_of
from aoti_debug.diagnose.from_scene import STACK, TROUBLE, WATCH, is_well
from aoti_debug.diagnose.observations import Candidate, Kind, Observations, evidence, headline, hint
from aoti_debug.diagnose.speaker import by_a_neighbour, last_to_speak
from aoti_debug.diagnose.traffic import Judged, joined, judged, not_held
from aoti_debug.facts.categories import Tier
from aoti_debug.facts.phases import phase_of_name, phase_of_program
from aoti_debug.model import Evidence, Next, Phase
from aoti_debug.read.checks import NO_REPORTS
from aoti_debug.read.record import CodePlace, ErrorLine, Launches, SaidLine, SanitizerSummary
from aoti_debug.vocabulary import Check

CONTRACT = "contract of the target"


def ended_well(observations: Observations) -> Candidate:
    checked = observations.steps.get(CONTRACT)
    passed = checked is not None and checked.ending is not None and checked.ending.clean
    more = ", also under the model's own input checks" if passed else ""
    return UNSEEN.found(
        f"the program ended without an error{more}; no model call was observed, "
        "because the probe did not start (not Python, or run with -I, -E or -S)",
        next=look_at_package(observations),
    )


def look_at_package(observations: Observations) -> list[Next]:
    """Point to the contract where nobody could hold the inputs of the call against it."""
    if observations.package is None or not opaque(observations):
        return []
    return [
        Next(
            tool="inspect_package",
            arguments={"package": str(observations.package.path)},
            why="its table of inputs says what the program must pass: sizes, strides, device",
        )
    ]


GUIDE = "guides/debugging-tools.md#an-unknown-failure"
UNSEEN = Kind("no_fault", "none", Tier.CLEAN, role="clean", confidence="possible")  # no call was
UNKNOWN = hint("unknown", "none", Tier.STATUS)
SILENT = replace(UNSEEN, tier=Tier.STATUS, guide=GUIDE)
UNTOUCHED = Kind("user_code", "none", Tier.CLEAN, role="clean", confidence="proved")


def last_resort(observations: Observations) -> Candidate:
    """Say that nothing is known, which part of the software spoke last, and how to see more. Only
    a log that shows an end without an error is called healthy."""
    said, lines, shown = observations.of(ErrorLine), observations.of(SaidLine), observations.scene
    if said and (phase := told_phase(said)) is not None:
        return guessed(*phase)
    stands = observations.of(CodePlace) or (shown is not None and shown.any(STACK))
    fails = said or stands or (lines and not ends_well(observations))
    fails = fails or (shown is not None and shown.any(TROUBLE))
    well = shown is not None and is_well(shown)
    return unknown(said or lines) if fails and not well else silent(observations)


def told_phase(lines: Sequence[ErrorLine]) -> tuple[ErrorLine, Phase] | None:
    """Return the first line that names a module of torch, else one whose program has one phase."""
    lines = [line for line in lines if not by_a_neighbour(line.span.quote)]
    for phase_in in (phase_of_name, phase_of_program):
        for line in lines:
            if (phase := phase_in(line.span.quote)) is not None:
                return line, phase
    return None


def guessed(line: ErrorLine, phase: Phase) -> Candidate:
    """Say which failure is usual in a phase, where nothing but the phase is known."""
    words = headline("no known failure; it reports an error: ", line.span.quote)
    category = BY_PHASE.get(phase, "unknown")
    return hint(category, phase, Tier.STATUS, GUIDE).found(words, line.span, next=[WATCH])


def unknown(lines: Sequence[ErrorLine | SaidLine]) -> Candidate:
    """Quote the last line whose writer is known, else the first line."""
    spoke = last_to_speak(line.span.quote for line in lines)
    said = lines[spoke[0]] if spoke is not None else lines[0] if lines else None
    who = f"printed by {spoke[1].name}" if spoke is not None else "printed by unknown software"
    return UNKNOWN.found(
        headline(f"no known failure; {who}", f": {said.span.quote}" if said else ""),
        *[said.span] if said else [],
        next=[WATCH],
    )


ENDED = re.compile(
    r"(?i)\b(?:rc|(?:exit(?:ed)?|return)(?: with)?(?: code| status)?|returncode)\b\W{0,4}0\b"
    r"|\b(?:done|finished|completed?|success(?:ful(?:ly)?)?|succeeded|passed)\b"
    r"|\b(?:saved|wrote|written)\b"
    r"|\b(?:took|in|time:?) [\d.:]{1,12} ?(?:s|ms|seconds)?\b|\bvs\.? eager [\d.e-]{4,12}$"
)
BEGINS = re.compile(
    r"(?i)(?:\.\.\.|…)\s{0,4}$"
    r"|(?:^|[:\]>-] {1,4})(?:running|loading|compiling|waiting|initiali[sz]ing|starting|opening)\b"
    r"(?!.{0,80}\b100%)"
)
LAST = 6  # lines of a log that may say how it ended


def ends_well(observations: Observations) -> bool:
    if any(observations.of(kind) for kind in (Launches, SanitizerSummary)):
        return True
    last = [line.span.quote for line in observations.of(SaidLine)[-LAST:]]
    return any(ENDED.search(text) for text in last) and not BEGINS.search(last[-1])


def silent(observations: Observations) -> Candidate:
    proof = [r.span for r in observations.records if isinstance(r, Launches | SanitizerSummary)]
    return SILENT.found(
        f"nothing in this log shows a known failure{seen(observations)}",
        *proof[:2],
        next=[
            Next(
                tool="triage",
                why="a process that a signal ends leaves no text, and a call outside the "
                "model's contract returns garbage without a word: a watched run shows both",
            )
        ],
    )


def seen(observations: Observations) -> str:
    if (tool := observations.first(SanitizerSummary)) is not None and not tool.errors:
        return ", and compute-sanitizer found no errors"
    if (launches := observations.first(Launches)) is not None:
        return f"; all {launches.total} printed launches came to their end"
    return ""


CHECKED: dict[Check, str] = {
    "contract": "inputs",
    "calls": "guards of other calls",
    "guards": "guards",
    "fakes": "custom operators",
    "compare": "values against the exported program",
    "repeats": "repeats of the call",
    "poison": "repeats with free memory filled",
    "threads": "calls from several threads at the same time",
}
BY_TOOL = {"memcheck": "memory accesses", "initcheck": "reads before writes", "racecheck": "races"}

FOR_GUARDS = Next(
    tool="triage",
    why="run the script that compiles the package once under it, then this again: the exported "
    "program is then kept, and the call is held against its guards",
)


def clean(observations: Observations) -> Candidate:
    run = observations.run
    if opaque(observations):
        return ended_well(observations)
    if observations.ending is not None and observations.ending.enough and not run.calls:
        return UNSEEN.found(
            "no loaded model was called before the end of watching: watch it longer",
            *last_event(observations),
        )
    if not run.touches_aoti:
        return UNTOUCHED.found(
            "the script ended without an error and never compiled, loaded or called "
            "an AOTInductor package",
            *last_event(observations),
        )
    known = judged(observations)
    calls = known.made
    unchecked, uncompared = not_checked(observations), not_compared(observations)
    whole = known.judged == calls or not observations.steps
    ahead = observations.to_compare or FOR_GUARDS
    return Kind(
        "no_fault",
        "none",
        Tier.CLEAN,
        "guides/input-contracts.md" if unchecked else None,
        role="clean",
    ).found(
        f"{how(observations)}; {calls} "
        f"{'call' if calls == 1 else 'calls'} of a compiled model returned",
        *last_event(observations),
        confidence="likely" if whole and not uncompared else "possible",
        means=joined(
            judged_of(known),
            checked(observations),
            uncompared and f"its values were not compared: {uncompared}",
            random_by_design(observations),
            holding(observations),
            of_guards(observations, calls),
            unchecked,
        ),
        next=[ahead] if unchecked or (uncompared and observations.to_compare) else [],
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
        return "each call was checked against the package's contract" if known.made > 1 else ""
    missed = known.made - known.judged
    return f"{missed} of {known.made} calls could not be checked against the package's contract"


def random_by_design(observations: Observations) -> str:
    """Say that the model draws by design, so that two results cannot be held against each other."""
    compared = observations.checks.compare
    if compared is None or compared.verdict != "random":
        return ""
    at = "".join(at_line(line.file, line.line) for line in last_line_of(compared.drawn))
    ops = ", ".join(compared.random[:3])
    return f"it draws random numbers by design ({ops}{at}): values were not compared"


def holding(observations: Observations) -> str:
    """Say which outputs are not finite, if the model gives the same without AOTInductor."""
    outputs = observations.agrees.outputs if observations.agrees is not None else ()
    bad = [f"{one.named} holds {words}" for one in outputs if (words := one.package.not_finite)]
    return f"{', '.join(bad[:3])}, the same without AOTInductor" if bad else ""


def checked(observations: Observations) -> str:
    """Say what the replays have looked at; what they found would be another diagnosis."""
    reports = observations.checks
    apart = reports.compare.apart if reports.compare is not None else ""
    looked = [
        words + (f" ({apart})" if name == "compare" and apart else "")
        for name, words in CHECKED.items()
        if ((step := reports.step(name)) is not None and step.state == "done")
        and not (name == "compare" and random_by_design(observations))
    ]
    looked += [
        words
        for name, words in BY_TOOL.items()
        if name in observations.steps and not observations.steps[name].failed
    ]
    return f"checked and clean: {', '.join(looked)}{refused(observations)}" if looked else ""


def of_guards(observations: Observations, calls: int) -> str:
    """Say how many calls were not held against the guards: only one call is repeated."""
    guards = observations.checks.guards
    others = not_held(observations)
    if guards is None or guards.state != "done" or not others:
        return ""
    return (
        f"{others} of {calls} calls have other sizes or values than the repeated one: they were "
        "not checked against the exported program's guards"
    )


def not_compared(observations: Observations) -> str:
    """Say why the values of the repeated call could not be held against the exported program's."""
    compared = observations.checks.compare
    if compared is None:
        return observations.impossible.get("compare", "")
    if compared.state == "done":
        return ""
    if compared.error is not None:
        return f"{compared.error.type}: {compared.error.headline}"[:200]
    return compared.why[:200] or f"{compared.signal or 'the process'} ended the replay in it"


def not_checked(observations: Observations) -> str:
    """Say what of the call's contract only the exported program states, when it is not known."""
    guards = observations.checks.guards
    call = observations.run.call
    replayed = observations.checks != NO_REPORTS or bool(observations.steps)
    if call is None or not replayed or (guards is not None and guards.state == "done"):
        return ""
    others = [given for given in call.inputs if given.index is None and given.kind != "none"]
    named = ", ".join(
        f"{given.name or f'argument {given.position}'} = {given.value}" for given in others[:3]
    )
    return (
        "without the exported program, relations between sizes (such as divisibility) are not "
        "checked"
        + (f", nor whether {named} is the value that was fixed at export" if named else "")
    )


def last_event(observations: Observations) -> list[Evidence]:
    """Point to the last thing that the probe saw."""
    run = observations.run
    phases = sorted(run.phases, key=lambda phase: phase.span.last)
    if phases:
        return [evidence(phases[-1].span)]
    return [evidence(process.span) for process in run.processes[:1]]
