"""From what was observed of a fix to a verdict. Pure: no process, no file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from aoti_debug.model import Category, Verdict
from aoti_debug.read.event_records import Call
from aoti_debug.read.typed import Texts
from aoti_debug.triage.fingerprint import HANG
from aoti_debug.verify.script_checks import Changes
from aoti_debug.verify.sessions import OF_CONTRACT, OF_WEIGHTS, OfReference
from aoti_debug.vocabulary import Fingerprint

Result = Literal["good", "bad", "unknown"]
# Faults of what is given to a model: refusing it with a clear error is a fix.
REFUSABLE = OF_CONTRACT | {
    "index_out_of_bounds",
    "illegal_memory_access",
    "host_segfault",
    "misaligned_address",
}
# Faults of these that the caller can correct: the original computes what was given.
CORRECTABLE: frozenset[Category] = frozenset(
    ("contract_stride", "contract_dtype", "contract_device", "contract_argument")
)
# Faults that lie in what a model computes, or in what it is given, which only the script can tell.
TOLD_BY_CHECK: frozenset[Category] = frozenset(("user_code", "wrong_result"))


def raised(document: object) -> str | None:
    """Return what the probe tells of an exception as one text."""
    found = document if isinstance(document, dict) else {}
    text = f"{found.get('type', '')}: {found.get('message', '')}"[:200]
    return text if found else None


Raised = Annotated[str | None, raised]
Compared = Literal["agrees", "differs", "random"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One set of inputs: how the package did against eager, and the model against the old one."""

    name: str
    call: int = 1  # of a session that begins with these inputs
    package: Compared | None = None
    model: Compared | None = None
    package_raises: Raised = None
    original_raises: Raised = None
    fixed_raises: Raised = None
    other_constant: str = ""  # that the original uses whatever it is given
    still_other_constant: str = ""  # likewise the fixed program
    refused: Raised = None  # why the fixed program refuses what the original accepts
    reference_finite: Annotated[bool, "finite"] = False  # the original in float64
    package_finite: bool = True
    still_nonfinite: int = 0  # elements that were not finite and are not what float64 gives
    nonfinite_before: tuple[int, ...] = ()  # NaN and infinite elements of the original's results
    nonfinite: tuple[int, ...] = ()  # of the package's

    @property
    def place(self) -> str:
        later = f"call {self.call} of a session that begins with "
        return f"{later if self.call > 1 else ''}{self.name}"

    @property
    def no_better(self) -> bool:
        """Tell whether the package returns as much that is not finite as the original did."""
        pairs = [(b, n) for b, n in zip(self.nonfinite_before, self.nonfinite, strict=False) if b]
        return bool(pairs) and all(now >= before for before, now in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """What the fixed program was found to do on inputs that it never saw."""

    trials: tuple[Trial, ...] = ()
    near: tuple[Trial, ...] = ()  # inputs on which the original fails as on the failing call's
    wrong_refusals: Texts = ()  # the script's own, of too much or of too little
    invented: bool = False  # an index out of bounds of what the original has gives a result
    mixed: str | None = None  # an operator that mixes rows of a batch still; "" none does
    answered: bool = False  # other inputs give what the original does for the failing ones
    looked_up: bool = False  # what was out of bounds, in a table that the script had
    repaired: bool = False  # the call differs only where it was given NaN or Inf
    reordered: bool = False  # it is given the same inputs in another order
    kept: int = 0  # inputs that are the same, where others are not
    inputs: str | None = None  # how the failing call's inputs differ; "" they do not
    unkept: Texts = ()  # promises of fake kernels
    writing: Texts = ()  # operators that write to what their schema says they only read
    refused: Texts = ()  # guards of the fixed program that do not hold for the failing call
    narrowed: Texts = ()  # declared sizes
    hiding: Texts = ()  # operators of the model that hide values that are not finite
    unended: str = ""  # what is said of held-out calls that did not end in their time


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts(HeldOut):
    """What is known of the original failure and of the run of the fix."""

    original: Fingerprint
    category: Category | None
    now: Fingerprint
    still: str = ""  # what was bad in the failing call, and is when it is made again
    raised_by_user: bool = False  # an exception of the user's own code, before any call failed
    failing_call: int | None = None  # the number of the original's
    calls: int = 0
    failed_calls: int = 0
    failed_compiles: int = 0
    kernels_before: int = 0
    kernels: int = 0
    operator: str | None = None  # the custom operator that results were wrong by
    was_wrong: bool = False  # the package itself, on the failing call's inputs
    was_right: bool = False  # the package, in each call that was repeated
    nonfinite: bool = False  # calls returned NaN or Inf then
    checked: bool = False  # the script's own check complained of what calls returned
    never_given: tuple[int, ...] = ()  # rows of the reference, as before, and all of them
    given_all: bool = False  # that the reference is, rows and values, which it was not before
    shared_memory: int = 0  # the first call whose memory is written again, which was in no call
    unchanged: bool = False  # every call was given, and returned, what it did then
    of_reference: OfReference = field(default_factory=OfReference)
    like_applied: bool = False  # calls and updates are those with lost writes applied, or copies
    same_results: bool = False  # every call returns what it did
    single: int | None = None  # the first call of one row that returns something else; 0: none does
    asked_same: bool = False  # the reference is given the same rows, and the package gives the same
    read_early: bool = False  # the reference reads what the package read, which it did not
    read_late: int = 0  # the first call of which the reference reads something else still
    asked_all: bool = False  # the reference is given all rows that it was given
    asked_less: int = 0  # rows that the reference was given beside those that it is given now
    asked_else: bool = False  # the reference is given other rows than it was
    rewritten: str | None = None  # memory that is written again before it is read, where looked for
    reused: bool = False  # memory is handed over more than once there
    changes: Changes = field(default_factory=Changes)  # of the script's checks
    unnoticed: str = ""  # wrong results that the fixed script ends well with
    died_in: str | None = None  # the trial that ended the process
    breaks: tuple[str, ...] = ()  # of the contract, by the call that broke it before
    not_given: tuple[str, ...] = ()  # weights that load_constants lacked, and lacks
    why_no_trials: str | None = None
    own_reference: bool = False  # the fixed program is all there is: none was exported before
    alone: bool = False  # nor by the fixed script: what there is is the package
    other_package: bool = False  # the fixed script loads another
    good_calls: int = 0  # that broke nothing before and are given the same now
    other_values: tuple[int, ...] = ()  # numbers of those that return something else

    @property
    def outside(self) -> bool:
        """Tell whether the package is right, and the fault in what the script does around it."""
        return self.category == "user_code" and self.was_right and self.mixed is None

    @property
    def weakened(self) -> tuple[str, ...]:
        """Say how checks are weaker; another name is none where what is compared is known."""
        known = self.changes.diverted and (self.read_early or self.asked_same)
        return () if known else self.changes.weakened

    @property
    def as_asked(self) -> bool:
        """Tell whether the script's check passes with the package's results for what the reference
        was given before, though the fault was in what the script gives the package."""
        found, told = self.changes, self.checked and self.outside and self.asked_all
        skips = found.refusals or found.numbers or found.diverted
        return told and not (self.weakened or skips)

    @property
    def of_another_cause(self) -> bool:
        """Tell whether a cause is known beside what the original program computes."""
        known = self.was_wrong or self.outside or self.mixed is not None
        return known or self.rewritten == "" or self.given_all

    @property
    def of_nonfinite(self) -> bool:
        """Tell whether NaN and Inf of the original program may be what failed."""
        return self.category == "nan_or_inf" or (self.checked and not self.of_another_cause)


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was looked at."""

    what: str
    result: Result
    finding: str
    verdict: Verdict = "masked"  # what it makes of the fix where it is bad


def _found(what: str, bad: str, good: str, verdict: Verdict = "masked") -> Found:
    return Found(what, "bad" if bad else "good", bad or good, verdict)


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    reason: str
    findings: tuple[Found, ...] = ()


def judge(facts: Facts) -> Judgement:
    """Return the verdict: the first bad finding decides; an unknown one leaves it undecided."""
    findings = tuple(_findings(facts))
    for result in ("bad", "unknown"):
        if first := next((found for found in findings if found.result == result), None):
            verdict = first.verdict if result == "bad" else "undecided"
            return Judgement(verdict, first.finding, findings)
    reason = "the failure is gone and every check passes"
    own = f", {ALONE if facts.alone else OWN}" if facts.own_reference else ""
    return Judgement("fixed", reason + own, findings)


ALONE = (
    "checked against the package's own contract and good calls: no exported program is kept, so "
    "the values of the failing call could not be compared with eager"
)
OWN = (
    "checked against the fixed program itself: the failing run exported none, so it is not known "
    "whether the fix changed what the model computes"
)


def _findings(facts: Facts) -> Iterator[Found]:
    ended = _ending(facts)
    yield ended
    if ended.result == "bad":
        return
    yield _swallowed(facts)
    yield _checks(facts)
    refusal = _refusal(facts)
    if refusal is not None:
        yield refusal
        yield _called_before(facts)
        if not facts.now.failed:
            yield _used(facts)
    else:
        yield _used(facts)
        yield _called(facts)
        yield _same_inputs(facts)
        yield from _compared(facts)
        yield _cause(facts)
        yield _symptom(facts)
    yield from _values(facts, refused=refusal is not None)
    if facts.own_reference:
        yield Found("the reference", "good", ALONE if facts.alone else OWN)
        return
    yield _found("declared sizes", "; ".join(facts.narrowed), "as wide as before")


def _ending(facts: Facts) -> Found:
    what = "the failure"
    if facts.still:
        return Found(what, "bad", f"still there: {facts.still}", "not fixed")
    if not facts.now.failed:
        return Found(what, "good", f"gone (before: {facts.original})")
    if facts.original.same(facts.now):
        return Found(what, "bad", f"still there: {facts.now}", "not fixed")
    if facts.raised_by_user and _refusable(facts):
        return Found(what, "good", f"bad input is refused with a clear error: {facts.now}")
    return Found(what, "bad", f"another failure took its place: {facts.now}", "moved")


def _refusable(facts: Facts) -> bool:
    """Tell whether what failed may be refused: no right answer to it is known."""
    call = _failing(facts)
    known = call is None or call.reference_finite or call.original_raises is not None
    return facts.category in REFUSABLE or not known


def _failing(facts: Facts) -> Trial | None:
    return next((trial for trial in facts.trials if trial.name == CALL), None)


def _refusal(facts: Facts) -> Found | None:
    """Check how the script refuses the failing call, if it does: with an error or a message."""
    text = ""
    found = [one for one in facts.changes.refusals if one.told]
    if not facts.now.failed:
        gone = facts.inputs or (facts.failing_call or 0) > facts.calls
        if not (found and gone and _refusable(facts)):
            return None
        call = _failing(facts)
        if facts.category in CORRECTABLE and call is not None and call.original_raises is None:
            text = f"a request is dropped that the model computes: {found[0].text}"
    if not facts.changes.refusals and facts.now.failed and not facts.alone:
        return Found("the refusal", "unknown", "nothing in the change says what it refuses")
    of_values = facts.category == "index_out_of_bounds"
    special = all(one.special or (of_values and not one.ordered) for one in found)
    if not text and found and special:
        text = f"only this request is refused, not others like it: {found[0].text}"
    text = text or next(iter(facts.wrong_refusals), "")
    return _found("the refusal", text, "what failed is refused with an error of the script's own")


def _checks(facts: Facts) -> Found:
    weakened = facts.weakened
    if facts.changes.looser and facts.category != "false_alarm":
        weakened = (*weakened, "its tolerance was changed")
    weakened += (facts.unnoticed,) if facts.unnoticed else ()
    return _found("the script's checks", "; ".join(weakened[:2]), "as before")


def _compared(facts: Facts) -> Iterator[Found]:
    """Look whether all calls of a package with a state are still compared with the reference."""
    if number := facts.of_reference.alone:
        text = f"call {number} is compared with no reference any more, as every call was"
        yield Found("the reference of each call", "unknown", text)


def _symptom(facts: Facts) -> Found:
    """Look at what the package itself returns for what failed, whatever the script makes of it."""
    what, call, text = "what the package returns", _failing(facts), ""
    alarm = facts.category == "false_alarm"
    if call is not None and call.no_better and facts.of_nonfinite:
        return Found(what, "bad", f"the package still returns NaN or Inf on {CALL}", "not fixed")
    if facts.nonfinite and facts.hiding:
        text = f"the model hides values that are not finite: {', '.join(facts.hiding)}"
    elif facts.checked and facts.unchanged and not (alarm or facts.changes.undoes):
        text = "every call has the same inputs and results as when the script's check failed"
        if facts.read_early and not facts.weakened:
            return Found(what, "good", "the reference is given what each call is given, and agrees")
        if facts.asked_same and not facts.weakened:
            return Found(what, "good", f"{ASKED_SAME}: what is made of it is right now")
        if facts.rewritten == "" and not facts.weakened:
            return Found(what, "good", "memory is read before it is written again")
        if facts.outside and not facts.of_reference.calls:
            return Found(what, "unknown", f"{text}: is what it compares with right now?")
    elif (number := facts.of_reference.other) and not alarm:
        text = f"the reference gives something else for call {number} than when the check failed"
    elif facts.inputs == "" and (number := facts.of_reference.unlike) and not alarm:
        text = f"no call returns what the reference gave for call {number} when the check failed"
    return _found(what, text, "not what failed")


def _by_check(facts: Facts, of: frozenset[Category] = TOLD_BY_CHECK) -> bool:
    """Tell whether the script's unchanged check compares results with unchanged values: not with
    others of a package that is right, which change with the model."""
    told = facts.checked and facts.category in of and not facts.outside
    return told and facts.changes.compared and not facts.weakened


def _swallowed(facts: Facts) -> Found:
    count = facts.failed_calls + facts.failed_compiles
    kind = "calls of the package" if facts.failed_calls else "compiles"
    text = f"{count} {kind} failed and the script went on" if count else ""
    return _found("no failure is swallowed", text, "every compile and every call returned")


def _used(facts: Facts) -> Found:
    text = ""
    if not facts.calls:
        text = "no package is called any more: eager took its place"
    elif facts.kernels_before and not facts.kernels:
        text = "the package holds no generated kernel any more"
    good = f"{facts.calls} calls, {facts.kernels} generated kernels"
    return _found("AOTInductor is used", text, good)


def _called(facts: Facts) -> Found:
    number, text = facts.failing_call, ""
    if number is not None and facts.calls < number:
        text = f"call {number} failed; the fixed script makes {facts.calls}"
    return _found("the failing call is made", text, f"call {number or 1} is made")


def _called_before(facts: Facts) -> Found:
    """Look whether what refuses the bad input lets the calls before it through."""
    good, text = (facts.failing_call or 1) - 1, ""
    if facts.calls < good:
        text = f"{good} calls returned before the failing one; the fixed script makes {facts.calls}"
    return _found("the calls before it are made", text, f"{facts.calls} calls are made")


def _same_inputs(facts: Facts) -> Found:
    what = "the same inputs"
    if facts.failing_call is None:
        return Found(what, "good", "the failure came before any call")
    if facts.inputs is None:
        return Found(what, "unknown", "the inputs of the failing call could not be compared")
    if facts.repaired and facts.changes.hides:
        text = f"values that are not finite are replaced: {', '.join(facts.changes.hides)}"
        return Found(what, "bad", text)
    # Of weights other inputs, of a generator that the fix draws from too, prove nothing.
    elsewhere = facts.was_wrong or (_by_check(facts, OF_WEIGHTS) and not facts.not_given)
    call = _failing(facts)
    right = call is not None and call.reference_finite and call.package == call.model == "agrees"
    right = right and elsewhere and not facts.refused
    if not facts.inputs:
        text = "the call is given the failing inputs"
        text += ", in another order" * facts.reordered
        text += ", but for what was not finite" * facts.repaired
        text += ", but for what the script has in a table" * facts.looked_up
        return Found(what, "good", text)
    if _by_check(facts) and not (facts.alone and facts.changes.selects and not facts.kept):
        text = "the script's check passes with other inputs"
    elif facts.of_reference.calls and not facts.of_reference.unlike:
        text = "the calls return all that the reference gave"
    elif facts.rewritten == "" and not (facts.weakened or facts.asked_else):
        text = "memory is read before it is written again"
    elif facts.asked_same and not facts.weakened:
        text = ASKED_SAME
    elif _unmixed(facts):
        text = "no row depends on others of its batch any more"
    elif facts.like_applied:
        text = "each call returns what it does with the lost writes applied"
    elif facts.given_all:
        text = "the package is given all that the reference is"
    elif facts.as_asked:
        text = "the script's check passes for all that the reference was given"
    elif facts.answered:
        text = "other inputs give the same results"
    elif right:
        text = "the package is right on the failing inputs; the script gives others"
    else:
        text = "the call is given other inputs than the failing call"
        return Found(what, "bad", f"{text}: {facts.inputs}")
    return Found(what, "good", f"{text}: {facts.inputs}")


def _unmixed(facts: Facts) -> bool:
    """Tell whether no row depends on others of its batch, and each alone gives what it gave."""
    return facts.mixed == "" and facts.single == 0 and not facts.weakened


def _cause(facts: Facts) -> Found:
    """Look whether what was found to be at fault is so still, whatever values came of it now."""
    still = ""
    if facts.category == "custom_op_fake_kernel" and facts.unkept:
        still = facts.unkept[0]
    elif facts.operator in facts.writing:
        still = f"{facts.operator} still writes to an argument that its schema says it only reads"
    elif facts.breaks:
        still = f"the call still breaks the contract of the package: {', '.join(facts.breaks)}"
    elif facts.mixed == "" and facts.single:
        still = f"call {facts.single}, of one row, returns something else than before"
    elif facts.asked_less:
        still = f"the reference is given {facts.asked_less} fewer rows than before"
    elif facts.mixed:
        still = f"{facts.mixed} still makes the result of a row depend on the others of its batch"
    elif facts.read_late:
        still = f"the reference for call {facts.read_late} still reads memory written since"
    elif facts.never_given and not (facts.changes.undoes or facts.as_asked):
        missed, rows = facts.never_given
        still = f"the package still never receives {missed} of {rows} rows of the reference"
    elif facts.rewritten:
        still = f"the script still writes memory again before it is read, at {facts.rewritten}"
    elif facts.not_given:
        still = f"load_constants is still not given {', '.join(facts.not_given[:3])}"
    elif facts.shared_memory:
        text = f"call {facts.shared_memory} is given memory of a call before it, written again:"
        return Found("the cause", "unknown", f"{text} a caller that keeps it still reads that")
    elif facts.outside and facts.changes.by_value:
        text = f"it depends on values now ({facts.changes.by_value}): others may go wrong"
        return Found("the cause", "unknown", text)
    elif facts.category == "concurrency" and facts.changes.sleeps:
        text = "a thread sleeps longer: whether another machine is as fast is not known"
        return Found("the cause", "unknown", text)
    elif facts.category == "concurrency" and facts.changes.numbers and not facts.reused:
        text = "only numbers were changed: whether they are enough for more calls is not known"
        return Found("the cause", "unknown", text)
    elif facts.category == GUARD and facts.refused and not facts.of_reference.met:
        still = f"the exported program still refuses the call: {facts.refused[0]}"
    return _found("the cause", still, "gone", "not fixed")


def _values(facts: Facts, *, refused: bool) -> Iterator[Found]:
    if facts.died_in is not None and not (refused and facts.died_in == CALL):
        text = f"the package ends the process on {facts.died_in}"
        yield Found("values", "bad", text, "not fixed")
    if facts.unended:
        hangs = facts.original.kind == HANG
        yield Found("values", "bad" if hangs else "unknown", facts.unended, "not fixed")
    if facts.alone:
        yield from _own_values(facts)
        return
    held = [t for t in facts.trials if not (refused and t.name == CALL)]
    if not held and facts.died_in is None and not facts.unended:
        yield Found("values", "unknown", facts.why_no_trials or "no values could be compared")
        return
    for trial in held:
        yield _package(trial, facts)
    yield from () if refused else _near(facts)
    for trial in () if facts.own_reference else held:
        yield _model(trial, facts)


def _own_values(facts: Facts) -> Iterator[Found]:
    """Check a package without a reference by its contract and its good calls."""
    if facts.other_package:
        text = "the fixed script loads another package: no program tells what it must compute"
        yield Found("the package", "unknown", text)
    call = _failing(facts)
    if call is not None and call.package_raises is not None:
        text = f"it raises: {call.package_raises}"
        yield Found(f"the package on {CALL}", "bad", text, "not fixed")
    what, found = "the package's good calls", facts.good_calls - len(facts.other_values)
    if facts.other_values and not _by_check(facts):
        text = f"call {facts.other_values[0]}, which was good, is given or returns something else"
        yield Found(what, "unknown", text)
    else:
        yield Found(what, "good", f"{found} of {facts.good_calls} return what they did")


def _near(facts: Facts) -> Iterator[Found]:
    """Look at the inputs that are like the failing ones."""
    for trial in facts.near:
        text = ""
        if trial.package_raises is not None:
            text = f"only this input is right: it raises on {trial.name}: {trial.package_raises}"
        elif not facts.of_another_cause and (trial.no_better or trial.still_nonfinite):
            text = f"only this input is right: NaN or Inf on {trial.name}"
        elif trial.package == "differs":
            text = f"wrong values on {trial.name}"
        yield _found(f"the package on {trial.name}", text, "right where the original fails")
    made_up = facts.invented and not facts.changes.reserved
    if made_up and facts.category == "index_out_of_bounds":
        text = "an index out of bounds of the original's table gets a made-up result"
        yield Found("indices out of bounds", "bad", text)


ASKED_SAME = "the package gives all that the reference is asked for, as before"
CALL = "the failing call"
GUARD: Category = "contract_guard"  # the kernels may serve what the exported program refuses
ARGUMENT: Category = "contract_argument"  # the example's value is what is at fault


def _package(trial: Trial, facts: Facts) -> Found:
    what, text = f"the package on {trial.name}", ""
    if facts.category == ARGUMENT and trial.still_other_constant:
        text = f"it still computes with {trial.still_other_constant}, whatever it is given"
        return Found(what, "bad", text, "not fixed")
    if trial.refused is not None:
        text = f"it refuses {trial.place}, which the original computes: {trial.refused}"
        return Found(what, "bad", text)
    if trial.package_raises is not None and trial.fixed_raises is not None:
        return Found(what, "good", "eager raises too")
    if trial.package_raises is not None:
        text = f"it raises: {trial.package_raises}"
    elif trial.fixed_raises is not None:
        text = f"eager raises ({trial.fixed_raises}), the package does not"
    elif trial.package == "differs":
        text = f"wrong values on {trial.place}"
    elif trial.package is None or trial.package == "random":
        return Found(what, "unknown", f"its values on {trial.place} cannot be compared")
    return _found(what, text, "right, compared with float64", "not fixed")


def _model(trial: Trial, facts: Facts) -> Found:
    what, text = f"the model on {trial.name}", ""
    if trial.still_nonfinite and facts.of_nonfinite:
        text = f"{trial.still_nonfinite} values that were not finite still differ from float64"
        text += f" on {trial.place}"
    elif (
        trial.original_raises is not None
        or trial.model is None
        or (facts.category == ARGUMENT and trial.other_constant)
        or (facts.category == GUARD and trial.name == CALL and facts.of_reference.met)
    ):
        return Found(what, "good", "the original does not compute it")
    elif not trial.reference_finite and trial.package_finite and facts.hiding:
        text = f"values that are not finite are hidden by {', '.join(facts.hiding)}"
    elif (
        trial.model == "differs"
        and not _by_check(facts, TOLD_BY_CHECK | OF_WEIGHTS)
        and not (facts.category in OF_WEIGHTS and facts.of_reference.met)
        and not _unmixed(facts)
        and not (facts.outside and facts.answered and facts.same_results)
    ):
        text = f"its results on {trial.place} differ from before"
    return _found(what, text, "same results as before")


def failed_calls(calls: Sequence[Call], failing: int | None) -> int:
    """Count the calls that raised; and the one that had failed, where the process ended in it."""
    return sum(c.ok is False or (c.ok is None and c.call == failing is not None) for c in calls)
