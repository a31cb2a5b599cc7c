"""Say in a few words what a step of a triage found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aoti_debug.diagnose import Observations, from_native
from aoti_debug.diagnose.from_native import place, stack_of
from aoti_debug.hypotheses import undeclared_write
from aoti_debug.model import Step
from aoti_debug.plain import few, times
from aoti_debug.read.check_report import (
    CallsReport,
    CompareReport,
    ContractReport,
    FakesReport,
    GuardsReport,
    PoisonReport,
    Raised,
    RecordedCall,
    RedzonesReport,
    RepeatsReport,
    ThreadsReport,
    TrialsReport,
    WritesReport,
)
from aoti_debug.read.check_report import Step as CheckStep
from aoti_debug.read.checks import CheckReports
from aoti_debug.read.event_records import Call
from aoti_debug.read.record import RuntimeMessage, SanitizerError
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.triage.decision import Planned
from aoti_debug.triage.fingerprint import ENVELOPE, fingerprint_of, stable
from aoti_debug.triage.replay import SANITIZERS
from aoti_debug.triage.run_state import Ran, RunState
from aoti_debug.vocabulary import Break, Check


def finding(planned: Planned, ran: Ran, first: Observations) -> str:
    failure, original = fingerprint_of(ran.observations), fingerprint_of(first)
    if planned.name == "again":
        if failure.like(original):
            return "the replay fails in the same way"
        if failure.failed:
            return f"the replay fails in another way: {failure}"
        return "the replay does not fail: the fault needs something else in the script"
    if planned.name in SANITIZERS:
        if errors := ran.observations.of(SanitizerError):
            count = times(sum(e.count for e in errors), "error")
            return f"{count}; the first: {errors[0].what[:120]}"
        return f"no errors; the program ended with {failure}" if failure.failed else "no errors"
    if planned.name == "native":
        stack = stack_of(ran.observations)
        if stack is None:
            return "the program received no signal under the debugger"
        at = place(replace(ran.observations, package=first.package))
        return f"{stack.signal or 'a signal'} in {at}"
    return str(failure) if failure.failed else "nothing found"


def steps_of(
    planned: Sequence[Planned],
    reports: CheckReports,
    processes: Sequence[Ran],
    state: RunState,
    call: Call | None,
) -> list[Step]:
    """Return the checks of a call that shared a process, one by one."""
    by_directory = {state.below(ran.directory): ran for ran in processes}
    last, repeated = processes[-1], call.call if call is not None else None
    found = []
    for one in planned:
        name: Check = one.name  # type: ignore[assignment]  # the plan gives no other to this process
        report = reports.step(name)
        if report is None:
            failure = fingerprint_of(last.observations)
            said = f": {failure}" if failure.failed else f", with {last.exit.how}"
            undone = f"the replay ended before it{said}"
            found.append(Step(name=one.key, status="impossible", why=one.why, finding=undone))
            continue
        folder = report.artifact.rpartition("/")[0]
        ran = by_directory.get(folder, last)
        found.append(
            Step(
                name=one.key,
                status="impossible" if report.state == "impossible" else "done",
                why=one.why,
                finding=checked(report, ran.observations) + in_view_of(report, reports, repeated),
                exit=ran.exit.how,
                wall_s=round(report.seconds, 2) if report.seconds is not None else None,
                artifact=folder,
            )
        )
    return found


def checked(report: CheckStep, observations: Observations) -> str:
    """Say what one check of the call found."""
    if report.state == "impossible" and not (isinstance(report, TrialsReport) and report.pair):
        return report.why
    if report.state in ("died", "running"):
        return f"{report.signal or 'the process'} ended the replay in it"
    if report.error is not None:
        return raised(report.error, observations)
    if isinstance(report, GuardsReport):
        return guarded(report)
    if isinstance(report, CallsReport):
        return of_calls(report)
    if isinstance(report, FakesReport):
        count = len(report.mismatches)
        differ = "differs" if count == 1 else "differ"
        what = f"{times(count, 'result')} {differ} from the fake kernel"
        return what if count else "all as the fake kernels say"
    if isinstance(report, RedzonesReport):
        seen = f"nothing is written outside of {times(report.buffers, 'buffer')}"
        return from_native.overran(report.overrun) if report.overrun else seen
    if isinstance(report, CompareReport):
        apart = f", {report.apart}" if report.verdict == "agrees" and report.apart else ""
        by = f" (measured against {report.reference[:200]})" if report.reference else ""
        return f"package and exported program: {report.verdict}{apart}{by}"
    if isinstance(report, ThreadsReport):
        return at_once(report)
    if isinstance(report, RepeatsReport):
        return repeated(report)
    if isinstance(report, WritesReport):
        return "; ".join(map(undeclared_write.said, report.wrote)) or "nothing found"
    if isinstance(report, TrialsReport):
        return of_trials(report)
    return "nothing found"


def in_view_of(report: CheckStep, reports: CheckReports, repeated: int | None) -> str:
    """Say what a step's finding means beside what another step has found."""
    fakes, guards, calls = reports.fakes, reports.guards, reports.calls
    if isinstance(report, ContractReport) and report.error is not None and fakes is not None:
        sizes = "expected size" in report.error.message
        ops = {one.op for one in fakes.mismatches} if sizes else ()
        return f" (caused by {', '.join(ops)}, see fakes)" if ops else ""
    if not isinstance(report, CompareReport) or report.verdict != "agrees":
        return ""
    if guards is not None and guards.index is not None:
        return (
            " on these inputs; an index out of bounds may read or overwrite memory outside the "
            "compared outputs"
        )
    bad = [one.call for one in (calls.calls if calls is not None else ()) if breaks(one)]
    numbers = few(list(map(str, bad)), 6)
    which = f"call {repeated}, which" if repeated is not None else "the call that"
    return f" on {which} was repeated; not compared: call {numbers}" if bad else ""


def breaks(one: RecordedCall) -> bool:
    return bool(one.differences or one.broken) or one.index is not None


def raised(error: Raised, observations: Observations) -> str:
    message = error.message
    if ENVELOPE in message and (said := observations.first(RuntimeMessage)):
        message = said.message
    return f"{error.type}: {stable(message)}" if message else error.type


def guarded(report: GuardsReport) -> str:
    if report.differences:
        return undeclared(report.differences)
    if report.broken:
        return f"{times(len(report.broken), 'guard')} of the exported program: {report.broken[0]}"
    if report.exception is not None:
        said = report.exception.headline[:120]
        return f"the exported program raises {report.exception.type}: {said}"
    return "the exported program takes the call"


def found_broken(run: RunSeen, checks: CheckReports) -> tuple[Call, ...]:
    """Return the calls with kept inputs that break the program or give other values than it."""
    every = checks.calls.calls if checks.calls is not None else ()
    bad = {(one.pid, one.call) for one in every if breaks(one)}
    if checks.trials is not None and not checks.trials.in_order:
        bad |= {(one.pid, one.call) for one in checks.trials.wrong}
    return tuple(c for c in run.calls if (c.pid, c.call) in bad and c.captured is not None)


def of_calls(report: CallsReport) -> str:
    held = [one for one in report.calls if one.state == "held"]
    bad = [one for one in held if breaks(one)]
    said = f"{len(bad)} of {times(len(held), 'other kind')} of calls break the contract"
    unknown = len(report.calls) - len(held)
    return f"{said}; {unknown} could not be checked" if unknown else said


SAID = {True: "agrees with", False: "differs from"}


def of_trials(report: TrialsReport) -> str:
    """Say which calls are right, and which are right once what they break is corrected; of calls in
    a row, which differs first and which were not repeated."""
    if report.in_order and report.trials:
        first, last = report.trials[0].call, report.trials[-1].call or 0
        wrong = next((one.call for one in report.trials if one.given.verdict != "agrees"), None)
        differs = "agree" if wrong is None else f"call {wrong} differs first"
        left = f"; calls after them up to {report.last} are not repeated" * (report.last > last)
        return f"calls {first} to {last} in order and the exported program: {differs}{left}"
    said = [
        f"call {one.call} and the exported program: {one.given.verdict}"
        + (f", changed {one.without.verdict}" if one.without else "")
        for one in report.trials
    ]
    if (pair := report.pair) is not None:
        anew = pair.anew is not None and pair.anew.agrees
        said.insert(0, f"call {pair.call} of the package loaded again: {SAID[anew]} the reference")
        said.insert(1, f"with the reference's weights: {SAID[pair.explained or anew]} it")
    return "; ".join(said)


def undeclared(differences: Sequence[Break]) -> str:
    """Count the inputs that differ from the exported program's; one may do so in several ways."""
    count = len({(d.index, d.position) for d in differences if d.name is not None})
    if not count:
        return "the number of inputs is not as declared"
    return f"{times(count, 'input')} {'is' if count == 1 else 'are'} not as declared"


def at_once(report: ThreadsReport) -> str:
    what = f"{report.calls} calls of {report.threads} threads at the same time"
    if report.verdict == "same":
        return f"{what}: same as alone"
    also = f", and so does {report.op}" if report.op else ""
    return f"{what}: {report.went} differ from the same call alone{also}"


def repeated(report: RepeatsReport) -> str:
    how = f"filled with {' and '.join(report.patterns)}" if isinstance(report, PoisonReport) else ""
    what = f"with free memory {how}" if how else f"{report.calls} calls with the same inputs"
    if report.stateful:
        return f"{what}: the results depend on earlier calls, in the same way each time"
    if report.verdict == "rounding":
        return f"{what}: the same up to rounding"
    if report.verdict == "same":
        return f"{what}: the same bit by bit"
    return f"{what}: {report.named} differs"
