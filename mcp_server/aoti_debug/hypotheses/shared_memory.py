"""The hypothesis that memory of inputs or outputs is shared or overwritten too early."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import spot
from aoti_debug.diagnose.observations import Candidate, Kind, Observations
from aoti_debug.facts.categories import Tier
from aoti_debug.hypotheses.undeclared_write import changes_inputs
from aoti_debug.model import Category, Experiment, Fix, source_of
from aoti_debug.read.record import PrintedDifference
from aoti_debug.symptom import (
    SHOWN,
    agreeing,
    compared,
    printed_in_threads,
    rejects,
    tried,
    unpaired,
)

if TYPE_CHECKING:
    from aoti_debug.read.check_report import Repeated
    from aoti_debug.read.event_records import Call, Handed
    from aoti_debug.record.run_seen import RunSeen

GUIDE = "guides/threads-streams-hangs.md"
TORN = Kind("concurrency", "run", Tier.RAISED, GUIDE)
REUSED = replace(TORN, confidence="possible")
KEPT = Kind("user_code", "run", Tier.RAISED, GUIDE)
WELL = "ends without an error"

# Why a call can give other results in the script than alone: category, words, fix.
Why = tuple[Category, str, str]
Place = tuple[str, int] | None
THREADS: Why = (
    "concurrency",
    "calls overlap in several threads",
    "load one model for each thread, and do not write to its inputs during a call",
)
LOADED: Why = (
    "constants_mismatch",
    "its weights are not those of load_constants, or have changed since",
    "load the weights of the instance that is called, and keep them alive",
)
OUTSIDE: Why = (
    "wrong_result",
    "something outside the call changes its weights or memory",
    "find what writes to the package's state, or to memory that it uses",
)


def candidates(observations: Observations) -> Iterator[Candidate]:
    """Yield the surest way that memory is shared, where the package is right when repeated."""
    run = observations.run
    if observations.ending is None:
        return
    agreed, rejected = agreeing(observations), rejects(observations)
    sure = handed_over(observations) or lost(observations) or through(observations)
    if sure is not None:
        yield sure
        return
    others = in_script(observations)
    guards = observations.checks.guards
    declared = guards.tensors if guards is not None else ()
    own = {place for place, one in enumerate(declared) if one.written}  # by the program itself
    torn = [call for call in run.calls if set(call.overwritten) - own]
    if torn and changes_inputs(observations):
        return
    if torn:
        first = next((call for call in torn if (call.pid, call.call) in others), torn[0])
        yield overwritten(run, [first, *(c for c in torn if c is not first)], agreed, others)
    elif others and agreed and rejected:
        yield not_as_alone(run, others)
    elif not rejected or not agreed:
        return
    elif changed := [call for call in run.calls if call.changed]:
        yield changed_output(run, changed, agreed)
    elif kept := [call for call in run.calls if later_reused(run, call, own)]:
        yield aliased(run, kept, agreed)
    elif any(one.rows for one in run.references):
        return  # which tells more of what a call is given
    elif compared(observations) and not unpaired(observations):
        return
    elif again := [call for call in run.calls if call.reused]:
        yield reused(run, again, agreed)


def handed_over(observations: Observations) -> Candidate | None:
    """Return the line that overwrites unread memory, if the script ends well without that."""
    again, found = observations.handed, reported(observations, lambda one: one.late)
    if again is None or not found:
        return None
    result = WELL if rejects(observations) else no_longer_apart(observations, again)
    if not result:
        return None
    one = found[0]
    places = [one.writer, one.caller, one.maker]
    wrote, read, made = (spot(*place) if place else "" for place in places)
    said = f"{wrote or 'the script'} overwrites memory before {read or 'a later line'} has read "
    said += f"it: {one.count} tensor{'s' * (one.count > 1)} from {made or 'earlier'}"
    what = "the script again, each read getting the values from when the tensor was handed over"
    fix = Fix(
        what="hand over a copy (.clone()), or use more buffers than there are unread tensors",
        where=made or None,
    )
    kind = replace(KEPT if one.same else TORN, confidence="proved")
    lines = source_of(*dict.fromkeys(places))
    because = [Experiment(experiment=what, result=result)]
    return kind.found(said, one.span, source=lines, because=because, fixes=[fix])


def handed_and_well(observations: Observations) -> Observations | None:
    """Return the run in which each read was given what was handed over, if that ended well."""
    again = observations.handed
    well = again is not None and again.ending is not None and again.ending.clean
    return again if well else None


def reported(observations: Observations, of: Callable[[Handed], bool]) -> list[Handed]:
    """Return what the run of the experiment reports, most often first, if that ended well."""
    again = handed_and_well(observations)
    found = filter(of, again.run.handed) if again is not None else ()
    return sorted(found, key=lambda one: -one.count)


def lost(observations: Observations) -> Candidate | None:
    """Return the line that writes to a copy, if the script ends well where the original gets it."""
    found = reported(observations, lambda one: one.lost)
    if not found:
        return None
    one = found[0]
    at = f" at {spot(*one.writer)}" if one.writer else ""
    said = f"an in-place write{at} changes a copy that nothing reads ({one.count} times): the "
    said += "original stays as it was"
    what = "the script again, with these writes applied to the original"
    fix = "assign to the original (x[rows] = 0): indexing with a list or a tensor, .to() and "
    fix += "reshape return copies"
    return applied(one, said, what, [one.writer], Fix(what=fix))


def applied(one: Handed, said: str, what: str, places: list[Place], fix: Fix) -> Candidate:
    """Return what an experiment proves in which the script ends well."""
    because = [Experiment(experiment=what, result=WELL)]
    lines, sure = source_of(*dict.fromkeys(places)), replace(KEPT, confidence="proved")
    return sure.found(said, one.span, source=lines, because=because, fixes=[fix])


def through(observations: Observations) -> Candidate | None:
    """Return the call that is taken for a copy, if the script ends well where it makes one."""
    found = reported(observations, lambda one: one.through)
    if not found:
        return None
    one = found[0]
    made = f" at {spot(*one.maker)}" if one.maker else ""
    said = f"a call{made} returns the tensor itself, no copy: "
    said += f"{spot(*one.writer)} changes the original" if one.writer else "later writes change it"
    what = "the script again, with calls such as .to() and .contiguous() returning real copies"
    fix = Fix(
        what="copy explicitly: .clone(), or .to(..., copy=True)",
        where=made.removeprefix(" at ") or None,
    )
    sure = applied(one, said, what, [one.maker, one.writer], fix)
    alone = len({each.maker for each in found}) == 1  # all calls were made to copy at once
    return sure if alone else sure.but(confidence="likely")


def no_longer_apart(observations: Observations, again: Observations) -> str:
    """Say that the differences that the script prints are gone; nothing where one is left."""
    before, now = printed_in_threads(observations), again.of(PrintedDifference)
    if not before or not now or any(one.number > SHOWN for one in now):
        return ""
    return f"prints {now[-1].number:g} as the difference, in place of {before[-1].number:g}"


Alone = dict[tuple[int, "int | None"], "tuple[Call, Repeated]"]


def in_script(observations: Observations) -> Alone:
    found = [(trial.call, outcome.recorded) for trial, outcome in tried(observations)]
    return {(c.pid, c.call): (c, seen) for c, seen in found if seen is not None and seen.far}


def not_as_alone(run: RunSeen, others: Alone) -> Candidate:
    call, repeated = next(iter(others.values()))
    apart = "NaN or infinite in one of them" if repeated.unlike else f"{repeated.apart:.3g} apart"
    loaded = LOADED if run.of("constants") else OUTSIDE
    category, why, fix = THREADS if run.at_once is not None else loaded
    said = f"call {call.call} gives different results in the script and alone, {apart}: {why}"
    alone = Experiment(
        experiment=f"call {call.call} alone, in a fresh process",
        result="agrees with the exported program, but not with its result in the script",
    )
    kind = Kind(category, "run", Tier.DIFFERENT_VALUES, GUIDE)
    return found(kind, call, run, said, fix, [alone])


def changed_output(run: RunSeen, calls: Sequence[Call], tried: str) -> Candidate:
    first = calls[0]
    before, output = first.changed[0]
    said = f"output {output} of call {before} changed after it was returned, by the end of call "
    said += f"{first.call} ({of(calls, run)}): its memory is used again"
    own = run.call_at(first.pid, before)
    shared = [pair[1] for pair in own.aliases if pair[0] == output] if own is not None else []
    if own is not None and shared:
        name = own.named(shared[0])
        said = f"output {output} of call {before} is the memory of input {name}, which is written "
        said += f"again by the end of call {first.call} ({of(calls, run)})"
    fix = f"copy output {output} before the next call (.clone())"
    return found(KEPT, first, run, said, fix, right(tried))


def later_reused(run: RunSeen, call: Call, own: set[int]) -> bool:
    """Tell whether a later call has other values in the memory that an output of this one is, not
    of the model's own making."""
    inputs = {pair[1] for pair in call.aliases} - own
    later = (c for c in run.calls if c.pid == call.pid and (c.call or 0) > (call.call or 0))
    return any(inputs & set(one.reused) for one in later)


def overwritten(run: RunSeen, calls: Sequence[Call], tried: str, others: Alone) -> Candidate:
    first = calls[0]
    name = first.named(first.overwritten[0])
    said = f"{name} is overwritten while call {first.call} is under way ({of(calls, run)})"
    fix = f"use separate memory for {name} until the call has returned, or copy it first"
    if (first.pid, first.call) not in others:
        return found(TORN, first, run, said, fix, right(tried))
    repeated = others[first.pid, first.call][1]
    what = f"call {first.call} alone, on {name} as it was when the call began"
    result = f"right, and {repeated.apart:.3g} from the script's result"
    alone = Experiment(experiment=what, result=result)
    sure = replace(TORN, confidence="proved")
    return found(sure, first, run, said, fix, [alone, *right(tried)])


def aliased(run: RunSeen, calls: Sequence[Call], tried: str) -> Candidate:
    first = calls[0]
    output, given = first.aliases[0]
    name = first.named(given)
    said = f"output {output} is the memory of input {name}, which a later call overwrites "
    said += f"({of(calls, run)})"
    fix = f"copy output {output} before {name}'s memory is written again (.clone())"
    return found(KEPT, first, run, said, fix, right(tried))


def reused(run: RunSeen, calls: Sequence[Call], tried: str) -> Candidate:
    first = calls[0]
    name = first.named(first.reused[0])
    said = f"memory of {name} is given again with other values ({of(calls, run)}): it may be "
    said += "written before a call has read it"
    fix = f"write {name}'s memory again only after the call that reads it has returned"
    return found(REUSED, first, run, said, fix, right(tried))


def of(calls: Sequence[Call], run: RunSeen) -> str:
    return f"{len(calls)} of {len(run.calls)} recorded calls"


def right(tried: str) -> list[Experiment]:
    return [Experiment(experiment=tried, result="agree: the package is right")] if tried else []


def found(
    kind: Kind, call: Call, run: RunSeen, said: str, fix: str, because: list[Experiment]
) -> Candidate:
    own = run.source(call)
    return kind.found(said, call.span, source=own, because=because, fixes=[Fix(what=fix)])
