"""Candidates from the calls: threads that share a model, bad outputs, what recorded calls break."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import name_of, path_and_line
from aoti_debug.diagnose.from_program import last_line_of, of_report
from aoti_debug.diagnose.from_values import NAN, NAN_FIX, place
from aoti_debug.diagnose.observations import CRASHES, Candidate, Kind, Observations, evidence
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Fix, InputFinding, Kernel, source_of
from aoti_debug.probe.call_counters import UNLIKE
from aoti_debug.record.outputs import always, first_odd, kinds, words
from aoti_debug.symptom import is_other
from aoti_debug.vocabulary import ValueSummary

if TYPE_CHECKING:
    from aoti_debug.read.check_report import CallsReport, RecordedCall, ThreadsReport
    from aoti_debug.read.event_records import Call
    from aoti_debug.record.run_seen import RunSeen
    from aoti_debug.vocabulary import Leaf

NO_LOCKS = Kind("concurrency", "run", Tier.RAISED, "guides/threads-streams-hangs.md")
OF_AN_OPERATOR = "guides/threads-streams-hangs.md#state-of-a-custom-operator"
NOT_THREAD_SAFE = replace(NO_LOCKS, guide=OF_AN_OPERATOR, confidence="proved")
OTHER_FORM = Kind(
    "wrong_result", "output", Tier.DIFFERENT_VALUES, "guides/wrong-results.md", role="symptom"
)
GIVEN_NAN = Kind("user_code", "none", Tier.STRANGE_VALUES, NAN)


def candidates(observations: Observations) -> Iterator[Candidate]:
    run = observations.run
    yield from shared_model(run)
    if (threads := observations.checks.threads) is not None:
        yield from at_once(threads)
    yield from bad_output(observations)


def shared_model(run: RunSeen) -> Iterator[Candidate]:
    """Calls of one model overlap in several threads, and the model was loaded for one."""
    single = {
        phase.details.model or "model"
        for phase in run.of("load")
        if phase.details.run_single_threaded
    }
    if not single or run.at_once is None:
        return
    first, second = run.at_once
    yield NO_LOCKS.found(
        "calls of one model overlap in several threads, and run_single_threaded=True "
        "leaves out its locks",
        first.span,
        second.span,
        fixes=[
            Fix(
                what="load the model without run_single_threaded, or load one model for each "
                "thread",
                why="a model loaded this way may serve one call at a time only",
            )
        ],
    )


def at_once(report: ThreadsReport) -> Iterator[Candidate]:
    """What a call gives alone it does not give while other threads call, or the process dies."""
    # A process that was killed, or ran out of time, says nothing about threads.
    ended = report.state == "died" and report.signal in CRASHES
    if not ended and report.verdict != "differs":
        return
    op, own = report.op[:200], report.shared
    if ended:
        said = f"{report.signal} ends the process when several threads call the model "
        said += "at the same time; alone each call returns"
    else:
        said = f"{report.went} of {report.calls} calls go wrong when {report.threads} threads call "
        said += f"at the same time{place(report)}; alone each call gives the same every time"
    if report.raised:
        said += f". {report.raised[:200]}"
    said += f". {op} goes wrong so by itself" if op else ""
    if op and own.name:
        said += f": all calls work in {own.name[:100]}, which it does not make"
    yield NOT_THREAD_SAFE.found(
        said,
        report.artifact,
        kernel=Kernel(name=op, kind="custom_op") if op else None,
        ops=[op] if op else [],
        source=[*source_of(own.place or report.places.real), *last_line_of(report.stack)],
        fixes=[fix_of(report)],
    )


def fix_of(report: ThreadsReport) -> Fix:
    if report.op:
        memory = report.shared.name[:100] or "its working memory"
        what = f"allocate {memory} in each call of {report.op[:200]}, or guard it with a lock"
        why = "no recompile is needed: the package calls the registered operator"
        where = path_and_line(report.shared.place or report.places.real)
        return Fix(what=what, where=where, why=why)
    return Fix(
        what="find the memory that calls share: buffers of custom operators, outputs that are "
        "handed out again, weights that another thread sets; until then guard the call with a lock",
        why="a lock around the call makes it right, at the cost of the other instances",
    )


def bad_output(observations: Observations) -> Iterator[Candidate]:
    """A call returned NaN or Inf. When the script fails after its last call, that is likely the
    reason. When it ends well, it is a sign to look at if other calls of the model return none:
    what every call returns is meant, unless a parameter holds it."""
    run, failed = observations.run, observations.failed and observations.run.went_well
    odd, last = first_odd(run, run.calls), run.last_call if failed else None
    held = next((c for c in run.calls if c.holds_nonfinite), None)
    call = last if last is not None and last.holds_nonfinite else odd or held
    if call is None or is_other(observations):
        return
    if call.signature & UNLIKE and not kinds(call.signature):
        yield unlike(call)
        return
    given = [leaf for leaf in call.inputs if (leaf.nan or leaf.inf) and not masked(run, leaf)]
    walked = observations.walked
    if observations.meant and (not failed or always(run, call)):
        return
    if not failed and handed_on(observations):
        return
    if not failed and call is not odd:
        same = always(run, call) or (observations.agrees is not None and "NaN" not in counts(call))
        broken = walked is not None and bool(walked.weight) and "NaN" in counts(call)
        if given or (same and not broken):
            return
    yield handed_in(call, given[0]) if given else born_inside(call, failed)


def masked(run: RunSeen, given: Leaf) -> bool:
    """Tell whether another call was given NaN or Inf there too, and returned none."""
    others = (call for call in run.calls if call.ok and not call.holds_nonfinite)
    found = (call.input(given.index) for call in others if given.index is not None)
    return any(leaf is not None and bool(leaf.nan or leaf.inf) for leaf in found)


def handed_on(observations: Observations) -> bool:
    """Tell whether the script expects NaN, and each call that returned NaN was given it."""
    run = observations.run
    odd = [call for call in run.calls if call.holds_nonfinite]
    given = all(any(leaf.nan for leaf in call.inputs) for call in odd)
    return observations.expects_nan and given


def born_inside(call: Call, failed: bool) -> Candidate:
    clean = all(leaf.nan == 0 for leaf in call.inputs if "float" in (leaf.dtype or ""))
    inputs = " from inputs that hold none" if clean else ""
    after = ", before the script failed" if failed else ""
    return Kind(
        "nan_or_inf", "output", Tier.STRANGE_VALUES, NAN, role="cause" if failed else "symptom"
    ).found(f"call {call.call} returned {counts(call)}{inputs}{after}", call.span, fixes=[NAN_FIX])


def unlike(call: Call) -> Candidate:
    said = f"call {call.call} returned another dtype, device or size than the exported program has"
    return OTHER_FORM.found(said, call.span, order=50)


def handed_in(call: Call, given: Leaf) -> Candidate:
    """The model only passes on what it was given."""
    name, held = name_of(given), ValueSummary(given.nan or 0, given.inf or 0).not_finite
    return GIVEN_NAN.found(
        f"{name} of call {call.call} already holds {held} when it is "
        "given to the model: the script makes them before the call",
        call.span,
        fixes=[Fix(what=f"check {name} before the call, with torch.isfinite({name}).all()")],
    )


def counts(call: Call) -> str:
    """Return "3 NaN and 1 Inf"; without the numbers where the outputs were on a device."""
    nan = sum(out.nan or 0 for out in call.outputs)
    inf = sum(out.inf or 0 for out in call.outputs)
    return ValueSummary(nan, inf).not_finite or words(call.signature) or "NaN or Inf"


def of_recorded(observations: Observations) -> Iterator[Candidate]:
    """Yield each break once, of the first call that has it; `counted` says how many have."""
    run, report = observations.run, observations.checks.calls
    if report is None:
        return
    told = set[object]()
    for one in report.calls:
        if (call := run.call_at(one.pid, one.call)) is None:
            continue
        for candidate in of_call(one, report):
            found = candidate.diagnosis.input
            key = (found.index, found.property, found.dim) if found else candidate.diagnosis.summary
            if key not in told:
                told.add(key)
                yield at_call(candidate, call, run)


def of_call(one: RecordedCall, report: CallsReport) -> Iterator[Candidate]:
    """Yield what a call breaks, without bounds that only the export makes (a size of 1)."""
    from aoti_debug.read.check_report import GuardsReport  # of many types: only where one was read

    held = GuardsReport(
        inputs=report.inputs,
        artifact=report.artifact,
        differences=one.differences,
        broken=one.broken,
        node=one.node,
        index=one.index,
    )
    for candidate in of_report(held):
        found = candidate.diagnosis
        sure = found.category != "contract_guard" or found.confidence == "proved"
        if candidate.role == "cause" and sure:
            yield candidate


def at_call(candidate: Candidate, call: Call, run: RunSeen) -> Candidate:
    found = candidate.diagnosis
    tier = max(candidate.tier, Tier.GUARD, key=lambda one: one.place)  # the call did return
    update = {
        "calls": f"call {call.call} of {run.made}",
        "source": found.source or run.source(call),
        "evidence": [evidence(call.span), *found.evidence],
    }
    return replace(candidate, diagnosis=found.model_copy(update=update), tier=tier, order=90)


def findings(observations: Observations, call: Call) -> list[InputFinding]:
    """Return the guards and values that a recorded call breaks, as findings of its inputs."""
    if (report := observations.checks.calls) is None:
        return []
    own = [one for one in report.calls if (one.pid, one.call) == (call.pid, call.call)]
    found = [c.diagnosis.input for one in own for c in of_call(one, report)]
    return [one for one in found if one is not None and one.property in ("guard", "value", "type")]
