"""What a diagnosis of one call means for all: how many are like it, and what else is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import name_of, shared
from aoti_debug.diagnose.from_calls import findings as of_program
from aoti_debug.diagnose.from_input_check import finding_of, summary
from aoti_debug.diagnose.from_package import broken_by
from aoti_debug.diagnose.observations import HEADLINE, Observations
from aoti_debug.model import Diagnosis, Evidence, InputFinding
from aoti_debug.record.outputs import Outcomes, odd_outcomes, outcomes, unread, words
from aoti_debug.record.run_seen import RunSeen
from aoti_debug.vocabulary import Break, Leaf

if TYPE_CHECKING:
    from aoti_debug.read.event_records import Call, Group

SHOWN = 6
WORDS = 3


@dataclass(frozen=True, slots=True)
class Broken:
    """One thing that calls break: all findings that differ in their values alone."""

    findings: tuple[InputFinding, ...]
    groups: tuple[Group, ...]

    @property
    def count(self) -> int:
        return sum(group.count for group in self.groups)


@dataclass(frozen=True, slots=True)
class Judged:
    """How many calls were made, and how many could be held against a contract."""

    made: int
    judged: int


def judged(observations: Observations) -> Judged:
    run = observations.run
    held = sum(group.count for group in run.groups if violations(observations, group) is not None)
    return Judged(run.made, held + sum(counts.others_judged for counts in run.call_counts))


def not_held(observations: Observations) -> int:
    """Return how many calls were not held against guards: they differ from the repeated one, and
    from those that were held by their descriptions, in sizes or in values of other arguments."""
    run, repeated = observations.run, observations.run.call
    if repeated is None:
        return 0
    report = observations.checks.calls
    described = {(c.pid, c.call) for c in report.calls if c.state == "held"} if report else set()
    held = {guarded(call) for call in run.calls if (call.pid, call.call) in described}
    held.add(guarded(repeated))
    alike = sum(g.count for g in run.groups if guarded(g.calls[0]) in held)
    return max(0, run.made - alike)


def guarded(call: Call) -> tuple[object, ...]:
    inputs = tuple((one.kind, one.shape, one.value) for one in call.inputs)
    return call.package, call.model, call.keywords, inputs


def counted(diagnosis: Diagnosis, observations: Observations) -> Diagnosis:
    """Say of a broken contract which calls break it, and all else that calls break; of NaN which
    calls return it, and of an index out of bounds in which calls it is."""
    run, call, finding = observations.run, observations.run.call, diagnosis.input
    if diagnosis.category == "nan_or_inf":
        return with_calls(diagnosis, run)
    if diagnosis.category == "index_out_of_bounds":
        others = elsewhere(observations, finding) if finding is not None else ""
        at = diagnosis.calls or of_call(call, run.made)
        update = {"means": joined(diagnosis.means, others), "calls": at}
        if call is not None and call.call is not None and run.made > 1:
            update["summary"] = with_count(diagnosis.summary, 1, run.made, call.call)
        return diagnosis.model_copy(update=update)
    if not run.probed or finding is None or not diagnosis.category.startswith("contract_"):
        return diagnosis
    found = broken(observations)
    same = [one for one in found if place(one.findings[0]) == place(finding)]
    rest = [one for one in found if one not in same]
    layout = same[0].findings[0] if same and finding.property == "stride" else None
    said = summary(layout) if layout is not None else diagnosis.summary
    also = [describe(one, same) for one in rest[:SHOWN]]
    if len(rest) > SHOWN:
        also.append(f"{len(rest) - SHOWN} more")
    means = joined(
        diagnosis.means,
        shared(run, [group for one in same for group in one.groups]),
        f"other violations: {'; '.join(also)}" if also else "",
    )
    calls = which(run, same) if same else of_call(call, run.made)
    count = sum(one.count for one in same)
    if run.made > 1 and 0 < count < run.made:
        first = min((n for one in same for group in one.groups for n in group.numbers), default=0)
        said = with_count(said, count, run.made, first)
    return diagnosis.model_copy(update={"summary": said, "means": means, "calls": calls})


def joined(*parts: str | None) -> str | None:
    """Return what a diagnosis means, of several parts."""
    return "; ".join(filter(None, parts)) or None


def with_count(said: str, count: int, total: int, first: int) -> str:
    """Return a headline with how many calls, or which one, if it stays short enough."""
    calls = f"call {first} of {total}" if count == 1 and first else f"{count} of {total} calls"
    counted = f"{said}, in {calls}"
    return counted if len(counted) <= HEADLINE else said


def with_calls(diagnosis: Diagnosis, run: RunSeen) -> Diagnosis:
    """Say which of the judged calls return NaN or Inf; say nothing of an only call."""
    every = outcomes(run)
    outcome = odd_outcomes(run) or (every[0] if len(every) == 1 else None)
    if outcome is None or outcome.judged < 2 or not (outcome.odd or outcome.always):
        return diagnosis
    said = of_all(outcome, run)
    update: dict[str, object] = {"calls": f"all {outcome.judged}"}
    if outcome.odd:
        numbers = [n for own in outcome.calls.values() for n in own[:SHOWN]]
        first = ", ".join(map(str, numbers))
        more = ", …" * (outcome.count > SHOWN)
        update["calls"] = f"{outcome.count} of {outcome.judged} ({first}{more})"
        only = numbers[0] if numbers else 0
        update["summary"] = with_count(diagnosis.summary, outcome.count, outcome.judged, only)
    known = [one.quote for one in diagnosis.evidence]
    counted = Evidence(artifact="events.jsonl", quote=said)
    evidence = [*diagnosis.evidence, counted] if said not in known else diagnosis.evidence
    return diagnosis.model_copy(update={**update, "evidence": evidence})


def of_all(outcome: Outcomes, run: RunSeen) -> str:
    """Return "2 of 1500 calls return NaN (389, 1002; numbered from 1); the other 1498 are finite",
    and how many could not be judged."""
    missed = unread(run)
    tail = f"; the outputs of {missed} more could not be looked at" if missed else ""
    if not outcome.odd:
        return f"all {outcome.judged} calls return {words(outcome.always)}{tail}"
    numbers = {pid: set(found) for pid, found in outcome.calls.items()}
    listed = numbered(numbers, run, lambda p: p in outcome.more or len(numbers[p]) > SHOWN)
    count, others = f"{outcome.count} of {outcome.judged} calls", outcome.judged - outcome.count
    finite = "are finite" if not outcome.always else "hold none beyond what every call returns"
    said = f"{count} return {words(outcome.odd)} ({listed}; numbered from 1)"
    return f"{said}; the other {others} {finite}{tail}"


def elsewhere(observations: Observations, finding: InputFinding) -> str:
    """Say in which other calls an input holds an index out of bounds, and how many elements of the
    call that was repeated do. Of other calls only the smallest and largest value is known."""
    run, report, guards = observations.run, observations.checks.calls, observations.checks.guards
    here = guards.index if guards is not None else None
    words = [f"{here.count} elements are"] if here is not None and here.count > 1 else []
    outside = {
        (one.pid, one.call): one.index
        for one in (report.calls if report is not None else ())
        if one.index is not None
        and one.index.input is not None
        and one.index.input.index == finding.index
        and not one.index.input.computed
    }
    if not outside:
        return "; ".join(words)
    by_extremes = {
        extremes(call, finding): outside[call.pid, call.call]
        for call in run.calls
        if (call.pid, call.call) in outside
    }
    found = [
        (call, index)
        for call in run.calls
        if (index := by_extremes.get(extremes(call, finding))) is not None
    ]
    count = len(found)
    if here is not None and run.call is not None and all(one is not run.call for one, _ in found):
        count += 1
    more = [
        f"{index.input.name}{list(index.input.at)} = {index.value} in call {call.call}"
        for call, index in found
        if index.input is not None and f"{index.value} at {list(index.input.at)}" != finding.got
    ]
    if more:
        words.append(f"also {', '.join(more[:WORDS])}{', …' * (len(more) > WORDS)}")
    looked, total = sum(None not in extremes(c, finding)[-2:] for c in run.calls), run.made
    part = f"the {looked} calls that were looked at, of {total},"
    among = f"{total} calls" if looked >= total else part
    if count > 1:
        words.append(f"{count} of {among} hold such a value, perhaps more than one each")
    return "; ".join(words)


def extremes(call: Call, finding: InputFinding) -> tuple[object, ...]:
    """Return what the verdict on an index of a recorded call follows from."""
    given = call.input(finding.index)
    if given is None:
        return (None, None)
    return call.package, call.model, given.shape, given.min, given.max


BreakKey = tuple[int, str, "int | None"]  # an input, its property, a dimension


def place(finding: InputFinding) -> BreakKey:
    """Return what tells one break from another: a layout is one, however many strides differ."""
    stride = finding.property == "stride"
    return finding.index, finding.property, None if stride else finding.dim


def broken(observations: Observations) -> list[Broken]:
    """Return what calls break, most important first: that of the earliest call, in its order."""
    found: dict[BreakKey, list[tuple[InputFinding, Group]]] = {}
    for group in observations.run.groups:
        stated = findings(violations(observations, group) or (), group.calls[0].inputs)
        guards = [one for call in group.calls for one in of_program(observations, call)]
        for at, finding in {place(one): one for one in (*stated, *guards)}.items():
            found.setdefault(at, []).append((finding, group))
    return [
        Broken(tuple(finding for finding, _ in pairs), tuple(group for _, group in pairs))
        for pairs in found.values()
    ]


def findings(broken: Sequence[Break], inputs: Sequence[Leaf]) -> list[InputFinding]:
    """Return what a call breaks, the strides of an input in one."""
    given = {one.index: one.stride for one in inputs if one.index is not None}
    known = [(finding_of(one), one.harmless) for one in broken]
    found: dict[BreakKey, InputFinding] = {}
    for finding, harmless in known:
        if harmless:
            continue
        strides = given.get(finding.index)
        if finding.property == "stride" and finding.dim is not None and strides is not None:
            wanted = list(map(str, strides))
            for other, _ in known:  # harmless ones too
                if place(other) == place(finding) and other.dim is not None:
                    wanted[other.dim] = other.expected or "any"
            layout = {"dim": None, "expected": listed(wanted), "got": listed(map(str, strides))}
            finding = finding.model_copy(update=layout)
        found.setdefault(place(finding), finding)
    return list(found.values())


def listed(numbers: Iterable[str]) -> str:
    """Return numbers as Python writes a tuple of them."""
    words = list(numbers)
    return f"({', '.join(words)}{',' * (len(words) == 1)})"


def violations(observations: Observations, group: Group) -> list[Break] | None:
    """Hold the calls of a group against their package; None where it does not say what it takes."""
    from aoti_debug.package.contract import contract  # a log needs none, and is fast

    package, call = observations.package, group.calls[0]
    asked = observations.run.call
    if package is None or asked is None or asked.package != call.package:
        return None
    model = package.model(call.model)
    stated = model is not None and contract(model).stated
    return broken_by(observations, model, call) if model is not None and stated else None


def which(run: RunSeen, same: Sequence[Broken]) -> str | None:
    """Return "13 of 120 (5, 14, 23, …)"; nothing of the only call. Where several processes make
    calls, their numbers are of a process."""
    count, total = sum(one.count for one in same), run.made
    if total < 2:
        return None
    if count == total:
        return f"all {total}"
    numbers: dict[int, set[int]] = {}
    made_bad = Counter[int]()
    for group in (group for one in same for group in one.groups):
        pid = group.calls[0].pid
        numbers.setdefault(pid, set()).update(group.numbers)
        made_bad[pid] += group.count
    words = numbered(numbers, run, lambda pid: made_bad[pid] > SHOWN)
    return f"{count} of {total} ({words})"


def numbered(numbers: Mapping[int, set[int]], run: RunSeen, more: Callable[[int], bool]) -> str:
    """Return the first numbers of calls, by process where several make calls."""
    words, several = list[str](), len({call.pid for call in run.calls}) > 1
    for pid, own in list(numbers.items())[:WORDS]:
        first = ", ".join(map(str, sorted(own)[:SHOWN])) + (", …" if more(pid) else "")
        words.append(f"{first} of process {pid}" if several else first)
    if len(numbers) > WORDS:
        words.append(f"and in {len(numbers) - WORDS} more processes")
    return "; ".join(words)


def of_call(call: Call | None, total: int) -> str | None:
    return f"call {call.call} of {total}" if call is not None and total > 1 else None


def describe(one: Broken, same: Sequence[Broken]) -> str:
    first = one.findings[0]
    got = " or ".join(list(dict.fromkeys(str(finding.got) for finding in one.findings))[:WORDS])
    at = f" at dim {first.dim}" if first.dim is not None else ""
    words = f"{name_of(first)} has {first.property} {got}{at}, compiled for {first.expected}"
    if first.property == "guard":
        words = f"{first.expected} does not hold"
    count = sum(other.count for other in same)
    return words if one.count == count else f"{words} ({one.count} calls)"
