"""From what was observed of a fix to a verdict. Pure: no process, no file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from aoti_debug.model import Category
from aoti_debug.read.event_records import Call
from aoti_debug.triage.fingerprint import HANG
from aoti_debug.vocabulary import Fingerprint

Verdict = Literal["fixed", "moved", "masked", "not fixed", "undecided"]
Result = Literal["good", "bad", "unknown"]
# Faults of what is given to a model: refusing it with a clear error is a fix.
REFUSABLE: frozenset[Category] = frozenset(
    category
    for category in get_args(Category)
    if category.startswith("contract_")
    or category
    in ("index_out_of_bounds", "illegal_memory_access", "host_segfault", "misaligned_address")
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One set of inputs: how the package did against eager, and the model against the old one."""

    name: str
    package: str | None = None  # agrees, differs, random
    model: str | None = None
    package_raises: str | None = None
    original_raises: str | None = None
    fixed_raises: str | None = None
    refused: str | None = None  # why the fixed program refuses what the original accepts
    reference_finite: bool = False  # the original in float64
    package_finite: bool = True
    still_nonfinite: int = 0  # elements that were not finite and are not what float64 gives


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the original failure and of the run of the fix."""

    original: Fingerprint
    category: Category | None
    now: Fingerprint
    raised_by_user: bool = False  # an exception of the user's own code, before any call failed
    failing_call: int | None = None  # the number of the original's
    calls: int = 0
    failed_calls: int = 0
    failed_compiles: int = 0
    kernels_before: int = 0
    kernels: int = 0
    inputs: str | None = None  # how the failing call's inputs differ; "" they do not
    trials: tuple[Trial, ...] = ()
    died_in: str | None = None  # the trial that ended the process
    unended: str = ""  # what is said of held-out calls that did not end in their time
    breaks: tuple[str, ...] = ()  # of the contract, by the call that broke it before
    unkept: tuple[str, ...] = ()  # promises of fake kernels
    refused: tuple[str, ...] = ()  # guards of the fixed program that do not hold for that call
    narrowed: tuple[str, ...] = ()
    hiding: tuple[str, ...] = ()
    why_no_trials: str | None = None
    own_reference: bool = False  # the fixed program is all there is: none was exported before


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was looked at."""

    what: str
    result: Result
    finding: str
    verdict: Verdict | None = None  # what it makes of the fix where it is bad


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    reason: str
    findings: tuple[Found, ...] = field(default=())


def judge(facts: Facts) -> Judgement:
    """Return the verdict: the first thing that is bad decides, and one thing unknown leaves it
    undecided."""
    findings = tuple(_findings(facts))
    bad = next((found for found in findings if found.result == "bad"), None)
    if bad is not None:
        return Judgement(bad.verdict or "masked", bad.finding, findings)
    unknown = next((found for found in findings if found.result == "unknown"), None)
    if unknown is not None:
        return Judgement("undecided", unknown.finding, findings)
    reason = "the failure is gone and all that was held out is right"
    return Judgement("fixed", f"{reason}, {OWN}" if facts.own_reference else reason, findings)


OWN = (
    "held against the fixed program's own: the failing run exported none, so whether the fix "
    "changed what the model computes is not known"
)


def _findings(facts: Facts) -> Iterator[Found]:
    ended = _ending(facts)
    yield ended
    if ended.result == "bad":
        return
    refused = facts.now.failed
    yield _swallowed(facts)
    if refused:
        yield _called_before(facts)
    else:
        yield _used(facts)
        yield _called(facts)
        yield _same_inputs(facts)
        yield _cause(facts)
    yield from _values(facts, refused=refused)
    if facts.own_reference:
        yield Found("the reference", "good", OWN)
        return
    yield Found(
        "declared sizes",
        "bad" if facts.narrowed else "good",
        "; ".join(facts.narrowed) or "as wide as before",
        "masked",
    )


def _ending(facts: Facts) -> Found:
    what = "the failure"
    if not facts.now.failed:
        return Found(what, "good", f"gone: {facts.original}")
    if facts.original.same(facts.now):
        return Found(what, "bad", f"still there: {facts.now}", "not fixed")
    if facts.raised_by_user and facts.category in REFUSABLE:
        return Found(what, "good", f"bad input is refused with a clear error: {facts.now}")
    return Found(what, "bad", f"another failure took its place: {facts.now}", "moved")


def _swallowed(facts: Facts) -> Found:
    what = "no failure is swallowed"
    if facts.failed_calls or facts.failed_compiles:
        count = facts.failed_calls + facts.failed_compiles
        kind = "calls of the package" if facts.failed_calls else "compiles"
        return Found(what, "bad", f"{count} {kind} failed and the script went on", "masked")
    return Found(what, "good", "every compile and every call returned")


def _used(facts: Facts) -> Found:
    what = "AOTInductor is used"
    if not facts.calls:
        return Found(what, "bad", "no package is called any more: eager took its place", "masked")
    if facts.kernels_before and not facts.kernels:
        return Found(what, "bad", "the package holds no generated kernel any more", "masked")
    return Found(what, "good", f"{facts.calls} calls, {facts.kernels} generated kernels")


def _called(facts: Facts) -> Found:
    what = "the failing call is made"
    if facts.failing_call is not None and facts.calls < facts.failing_call:
        text = f"call {facts.failing_call} failed; the fixed script makes {facts.calls}"
        return Found(what, "bad", text, "masked")
    return Found(what, "good", f"call {facts.failing_call or 1} is made")


def _called_before(facts: Facts) -> Found:
    """Look whether what refuses the bad input lets the calls before it through."""
    what, good = "the calls before it are made", (facts.failing_call or 1) - 1
    if facts.calls < good:
        text = f"{good} calls returned before the failing one; the fixed script makes {facts.calls}"
        return Found(what, "bad", text, "masked")
    return Found(what, "good", f"{facts.calls} calls are made")


def _same_inputs(facts: Facts) -> Found:
    what = "the same inputs"
    if facts.failing_call is None:
        return Found(what, "good", "the failure came before any call")
    if facts.inputs is None:
        return Found(what, "unknown", "the inputs of the failing call could not be compared")
    if facts.inputs:
        text = f"the call is given other inputs than the one that failed: {facts.inputs}"
        return Found(what, "bad", text, "masked")
    return Found(what, "good", "the call is given what failed before")


def _cause(facts: Facts) -> Found:
    """Look whether what was found to be at fault is so still, whatever values came of it now."""
    what, still = "the cause", ""
    if facts.category == "custom_op_fake_kernel" and facts.unkept:
        still = facts.unkept[0]
    elif facts.breaks:
        still = f"the call still breaks the contract of the package: {', '.join(facts.breaks)}"
    elif facts.category == "contract_guard" and facts.refused:
        still = f"the exported program still refuses the call: {facts.refused[0]}"
    return Found(what, "bad" if still else "good", still or "gone", "not fixed")


def _values(facts: Facts, *, refused: bool) -> Iterator[Found]:
    if facts.died_in is not None and not (refused and facts.died_in == CALL):
        yield Found(
            "values", "bad", f"the package ends the process on {facts.died_in}", "not fixed"
        )
    if facts.unended:
        hangs = facts.original.kind == HANG
        yield Found("values", "bad" if hangs else "unknown", facts.unended, "not fixed")
    held = [t for t in facts.trials if not (refused and t.name == CALL)]
    if not held and facts.died_in is None and not facts.unended:
        yield Found("values", "unknown", facts.why_no_trials or "no values could be compared")
        return
    for trial in held:
        yield _package(trial)
    for trial in () if facts.own_reference else held:
        yield _model(trial, facts)


CALL = "the failing call"


def _package(trial: Trial) -> Found:
    what = f"the package on {trial.name}"
    if trial.refused is not None:
        text = f"it refuses {trial.name}, which the original computes: {trial.refused}"
        return Found(what, "bad", text, "masked")
    if trial.package_raises is not None:
        if trial.fixed_raises is not None:
            return Found(what, "good", "eager raises too")
        return Found(what, "bad", f"it raises: {trial.package_raises}", "not fixed")
    if trial.fixed_raises is not None:
        return Found(
            what, "bad", f"eager raises ({trial.fixed_raises}), the package does not", "not fixed"
        )
    if trial.package == "differs":
        return Found(what, "bad", f"wrong values on {trial.name}", "not fixed")
    if trial.package is None or trial.package == "random":
        return Found(what, "unknown", f"its values on {trial.name} cannot be compared")
    return Found(what, "good", "right, compared with float64")


def _model(trial: Trial, facts: Facts) -> Found:
    what = f"the model on {trial.name}"
    if facts.category == "nan_or_inf" and trial.still_nonfinite:
        text = f"{trial.still_nonfinite} values that were not finite still differ from float64"
        return Found(what, "bad", f"{text} on {trial.name}", "masked")
    if trial.original_raises is not None or trial.model is None:
        return Found(what, "good", "the original does not compute it")
    if not trial.reference_finite and trial.package_finite and facts.hiding:
        text = f"values that are not finite are hidden by {', '.join(facts.hiding)}"
        return Found(what, "bad", text, "masked")
    if trial.model == "differs":
        text = f"its results on {trial.name} differ from before"
        return Found(what, "bad", text, "masked")
    return Found(what, "good", "same results as before")


def failed_calls(calls: Sequence[Call], failing: int | None) -> int:
    """Count the calls that raised; and the one that had failed, where the process ended in it."""
    return sum(c.ok is False or (c.ok is None and c.call == failing is not None) for c in calls)
