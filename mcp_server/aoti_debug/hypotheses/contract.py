"""The hypothesis that a call breaks what the package was compiled for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aoti_debug.diagnose.calls import declared, name_of, spot
from aoti_debug.diagnose.traffic import place
from aoti_debug.model import Experiment, InputFinding
from aoti_debug.symptom import compared, far, rejects, tried

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations
    from aoti_debug.experiments import Trial
    from aoti_debug.read.check_report import Outcome, TrialReport
    from aoti_debug.symptom import Tried

REFUSES = "a host with AOTI_RUNTIME_CHECK_INPUTS=1 would refuse calls that break this"


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the experiments say of a break: the cause, true without being it, or not decided."""

    role: Literal["cause", "also_true", "open"]
    because: tuple[Experiment, ...] = ()
    why: str = ""  # it is not the cause


OPEN = Weighed("open")


def weigh(finding: InputFinding, observations: Observations) -> Weighed:
    """Weigh one break by the calls that have it, those that break nothing, and the change."""
    every = tried(observations)
    breaking = [one for one in every if place(finding) in one[0].places]
    if same_bytes(finding, observations) and not any(helps(one[1]) for one in breaking):
        return Weighed("also_true", (), "all bytes given are 0 or 1, which are the bytes of a bool")
    if made_again(observations):
        return Weighed("also_true", (), "the script handles the error, and its next call returns")
    if made := as_the_module(observations):
        return Weighed("also_true", made, "the module gives the same results")
    keeping = [one for one in every if not one[0].breaks]
    if wrong := [one for one in keeping if one[1].given.wrong_values]:
        calls = numbers(wrong)
        because = lines(wrong, "which keeps the contract") + lines(breaking)
        return Weighed("also_true", because, f"{calls}, which break nothing, are wrong as well")
    if not breaking:
        return OPEN
    narrowed = bounds(finding, observations) is not None
    if all(outcome.without and outcome.without.wrong_values for _, outcome in breaking):
        because = lines(breaking, "as it was made") + lines(breaking)
        return Weighed("also_true", because, "the results stay wrong when this is corrected")
    others = complained_of(observations)
    if others and not any((t.call.pid, t.call.call) in others for t, _ in breaking):
        calls = ", ".join(str(call) for _, call in sorted(others)[:4])
        why = f"the script rejects the results of call {calls}, which breaks nothing"
        return Weighed("also_true", lines(breaking, "which breaks it"), why)
    if mixed := mixed_rows(observations):
        why = f"calls {mixed} break nothing, and give the same row different results"
        return Weighed("also_true", (), why)
    pair = observations.checks.pair
    fine = all(outcome.given.verdict == "agrees" for _, outcome in breaking)
    if pair is not None and pair.explained and fine:
        why = f"call {pair.call} gives the results of the reference with its weights"
        return Weighed("also_true", lines(breaking, "which breaks it"), why)
    decided = [one for one in breaking if tells(finding, one[1])]
    right = [one for one in decided if harmless(finding, one[1], narrowed=narrowed)]
    poison = observations.checks.poison  # right by what free memory happened to hold
    by_luck = poison is not None and poison.differs
    if right and len(right) == len(decided) and not by_luck:
        why = f"results of {numbers(right)} are right"
        return Weighed("also_true", lines(right, "which breaks it"), why)
    bad = [one for one in breaking if is_bad(outcome_of(finding, one[1]))]
    helped = [one for one in bad if one[1].without and one[1].without.verdict == "agrees"]
    spared = [one for one in keeping if one[1].given.verdict == "agrees"]
    if bad and (helped or spared):
        because = lines(bad, "which breaks it", finding) + lines(helped)
        return Weighed("cause", because + lines(spared, "which keeps it"))
    return OPEN


def made_again(observations: Observations) -> bool:
    """Tell whether each call with a break raised and the next call returned, in a script that ends
    well; or made it again, in one that rejects what others returned."""
    run, ending = observations.run, observations.ending
    broken = {(one.pid, one.id) for one in run.calls if one.breaks}
    phases = [one for one in run.of("run") if (one.pid, one.id) in broken]
    again = run.made_again if ending is not None and ending.clean else run.retried
    return bool(phases) and all(one.ok is False and again(one) for one in phases)


def as_the_module(observations: Observations) -> tuple[Experiment, ...]:
    """Show that each call with a break gives what the module gives for its inputs in the script."""
    pairs = {(one.pid, one.call): one for one in compared(observations)}
    broken = [pairs.get((one.pid, one.call)) for one in observations.run.calls if one.breaks]
    if not broken or any(one is None or one.far for one in broken):
        return ()
    calls = ", ".join(str(one.call) for one in broken[:4] if one is not None)
    what = f"call {calls}, which breaks it, against the module on the same inputs, in the script"
    return (Experiment(experiment=what, result="agrees"),)


def mixed_rows(observations: Observations) -> str:
    """Return two calls without a break that give one row different results, as the program does."""
    trials, broken = observations.checks.trials, [c for c in observations.run.calls if c.breaks]
    mixes = trials is not None and trials.mixing is not None and not far(observations)
    for one in observations.run.like_rows if mixes else ():
        calls = {int(one.apart[0]), int(one.apart[2])}
        if not any(call.pid == one.pid and call.call in calls for call in broken):
            return " and ".join(map(str, sorted(calls)))
    return ""


def complained_of(observations: Observations) -> set[tuple[int, int]]:
    """Return the calls that the script found wrong, unless one of them breaks the contract."""
    if not rejects(observations):
        return set()
    found = {(one.pid, one.call) for one in far(observations) if one.call is not None}
    broken = {(call.pid, call.call) for call in observations.run.calls if call.breaks}
    return set() if found & broken else found


def outcome_of(finding: InputFinding, report: TrialReport) -> Outcome:
    """Return what became of a call as given; of another nesting, against the intended call."""
    return (finding.property == "nesting" and report.meant) or report.given


def is_bad(outcome: Outcome) -> bool:
    return outcome.verdict in ("differs", "refused")


def numbers(cases: Sequence[Tried]) -> str:
    found = sorted({trial.call.call or 0 for trial, _ in cases})
    return f"call{'s' * (len(found) > 1)} {', '.join(map(str, found))}"


def helps(outcome: TrialReport) -> bool:
    """Tell whether a call is wrong as it was given, and right with what it breaks taken away."""
    given = outcome.meant or outcome.given
    return is_bad(given) and outcome.without is not None and outcome.without.verdict == "agrees"


def same_bytes(finding: InputFinding, observations: Observations) -> bool:
    """Tell whether an input that is to be a bool was only given bytes that are 0 or 1."""
    if finding.property != "dtype" or finding.expected != "bool":
        return False
    given = (call.input(finding.index) for call in observations.run.calls)
    other = [leaf for leaf in given if leaf is not None and leaf.dtype != "bool"]
    read = [leaf for leaf in other if leaf.min is not None]  # there is not time for all
    bits = all(leaf.min in (0, 1) and leaf.max in (0, 1) for leaf in read)
    return bool(read) and bits and all(leaf.dtype in ("uint8", "int8") for leaf in other)


def tells(finding: InputFinding, outcome: TrialReport) -> bool:
    """Tell whether a call decides on a break: a right call with other breaks does not."""
    alone = finding.property not in ("dtype", "nesting") or outcome.meant is not None
    return alone or outcome.given.verdict != "agrees"


def harmless(finding: InputFinding, outcome: TrialReport, *, narrowed: bool) -> bool:
    """Tell whether a call is right despite the break, by the program or with another dtype."""
    if finding.property in ("dtype", "nesting"):
        return outcome.meant is not None and outcome.meant.verdict == "agrees"
    return narrowed and outcome.given.verdict == "agrees"


def lines(
    cases: Sequence[Tried], how: str = "", finding: InputFinding | None = None
) -> tuple[Experiment, ...]:
    """Say what became of the first of these calls as given, or without `how` as corrected."""
    for trial, outcome in cases:
        said, what = f"call {trial.call.call}, {how}", outcome.without
        if how:
            what = outcome_of(finding, outcome) if finding else outcome.given
        else:
            said = f"call {trial.call.call} with {changed(trial)}"
        if what is not None:
            return (Experiment(experiment=said, result=words(what)),)
    return ()


# What was taken away, by the property that was changed.
CHANGED = {
    "size": "dimension {dim} of {to}",
    "dtype": "dtype {to}",
    "stride": "the strides it was compiled for",
    "order": "the order of the export",
}


def changed(trial: Trial) -> str:
    """Say what was taken away: "item[dim 0] cut to 15", "mask as bool"."""
    said: dict[str, list[str]] = {}
    names = {one.index: name_of(one) for one in trial.breaks}
    for one in trial.changes:
        how = CHANGED.get(one.property, "memory of its own").format(dim=one.dim, to=one.to)
        said.setdefault(how, []).append(names[one.index])
    return "; ".join(f"{how} for {', '.join(who)}" for how, who in said.items())


def words(outcome: Outcome) -> str:
    """Say how the package did against the exported program."""
    if outcome.verdict == "agrees":
        return "agrees with the exported program"
    if outcome.verdict == "differs":
        far = outcome.max_abs_apart
        by = f", at most {far:.3g} apart" if far is not None else ""
        return f"differs from it in {outcome.wrong} of {outcome.elements} elements{by}"
    if outcome.verdict == "refused":
        return f"the exported program refuses it: {outcome.why[:120]}"
    return f"could not be compared: {outcome.why[:120] or outcome.verdict}"


def bounds(
    finding: InputFinding, observations: Observations
) -> tuple[int | None, int | None] | None:
    """Return a dimension's exported range, where the size fits it and the compile narrowed it."""
    guards, symbol = observations.checks.guards, symbol_of(finding, observations)
    if finding.property != "size" or guards is None or symbol is None:
        return None
    low, high = guards.ranges.get(symbol, (None, None))
    size = finding.got or ""
    if not size.isdigit() or (low, high) == (None, None):
        return None
    within = (low is None or low <= int(size)) and (high is None or int(size) <= high)
    return (low, high) if within else None


def symbol_of(finding: InputFinding, observations: Observations) -> str | None:
    known, dim = declared(observations, finding.index), finding.dim
    shape = known.shape if known is not None else None
    size = shape[dim] if shape is not None and dim is not None and dim < len(shape) else None
    return size if isinstance(size, str) else None


def also_true(
    findings: Sequence[tuple[InputFinding, Weighed]], observations: Observations
) -> list[str]:
    """Say breaks that are not the cause, those of one bound in one line."""
    groups: dict[tuple[object, ...], list[tuple[InputFinding, Weighed]]] = {}
    for finding, weighed in findings:
        key = finding.property, finding.dim, finding.expected, weighed.why
        groups.setdefault(key, []).append((finding, weighed))
    return [line(group, observations) for group in groups.values()]


def narrowed_by(finding: InputFinding, observations: Observations) -> str:
    """Say which code asked for the bound during the compile, where torch's trace tells."""
    symbol = symbol_of(finding, observations)
    asked = next((one for one in observations.asked if symbol and one.bounds(symbol)), None)
    if asked is None:
        return ""
    return f" ({asked.function} at {spot(asked.file, asked.line)} asked {asked.text})"


def line(group: Sequence[tuple[InputFinding, Weighed]], observations: Observations) -> str:
    finding, weighed = group[0]
    names = ", ".join(dict.fromkeys(name_of(one) for one, _ in group))
    at = f" at dim {finding.dim}" if finding.dim is not None else ""
    said = f"{names}: {finding.property}{at} is compiled for {finding.expected}"
    exported = bounds(finding, observations)
    if exported is not None:
        low, high = exported
        said += f", exported for {'' if low is None else low}..{'' if high is None else high}"
        said += narrowed_by(finding, observations)
    if finding.got:
        said += f"; a call has {finding.got}"
    said += f"; not the cause: {weighed.why}"
    return f"{said}; {REFUSES}" if finding.property in ("size", "dtype", "stride") else said
