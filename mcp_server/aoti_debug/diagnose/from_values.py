"""Candidates from a call's values: against the program, between repeats, poisoned, and printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from aoti_debug.diagnose.calls import base_name
from aoti_debug.diagnose.from_program import last_line_of
from aoti_debug.diagnose.observations import (
    Candidate,
    Kind,
    Observations,
    OlderPackage,
    evidence,
    hint,
)
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Experiment, Fix, Kernel
from aoti_debug.plain import digits, few
from aoti_debug.read.record import Launches, TensorStatistics
from aoti_debug.record.outputs import always, first_odd
from aoti_debug.symptom import is_other, rejects

if TYPE_CHECKING:
    from aoti_debug.read.check_report import (
        Compared,
        CompareReport,
        Place,
        PoisonReport,
        RepeatsReport,
        TrialsReport,
    )

WRONG = "guides/wrong-results.md"
NAN = "guides/wrong-results.md#nan-and-inf"
NAN_FIX = Fix(
    what="find the first operation whose result is not finite: run the exported program "
    "(ep.module()) on these inputs, operation by operation",
    why="usual reasons inside a model: a division by zero, a logarithm or root of a negative "
    "number, an overflow",
)
UNWRITTEN_FIX = Fix(
    what="find what the kernel leaves unwritten: a mask or grid that does not cover the whole "
    "result, or torch.empty whose elements are not all set",
    why="uninitialized memory holds whatever was there before",
)
STALE_FIX = Fix(
    what="compile the package again when sources or weights change: write a digest of them into "
    "the package (the setting aot_inductor.metadata) and compare it before loading",
    why="a package keeps the weights and the graph of the day it was compiled",
)
STATE_FIX = Fix(
    what="keep the state outside the model: take it as an input and return the new one",
    why="each call starts from what the package's own buffers hold after the call before",
)
RACE_FIX = Fix(
    what="find memory that several threads or streams use at the same time: overlapping stores "
    "of a Triton kernel, a custom operator on its own stream, a buffer that is reused too early",
    why="the same inputs and seed must give the same result, up to the rounding of a sum's order",
)

DIFFERENT = Kind("wrong_result", "output", Tier.DIFFERENT_VALUES, WRONG, confidence="proved")
NOT_FINITE = Kind("nan_or_inf", "output", Tier.STRANGE_VALUES, NAN, confidence="proved")
LOST = replace(NOT_FINITE, tier=Tier.DIFFERENT_VALUES, confidence="likely")
OLDER = replace(DIFFERENT, guide=f"{WRONG}#a-package-of-another-version")


def candidates(observations: Observations) -> Iterator[Candidate]:
    checks = observations.checks
    if checks.compare is not None:
        yield from from_comparison(observations, checks.compare)
    if checks.trials is not None and observations.agrees is not None:
        yield from from_trials(observations, checks.trials)
    if observations.older is not None:
        yield stale(observations.older)
    if checks.poison is not None and checks.poison.differs:
        yield unwritten(checks.poison)
    if (repeats := checks.repeats) is not None and repeats.differs:
        yield unrepeatable(repeats)
    if repeats is not None and repeats.drifts is not None:
        yield drifting(repeats, repeats.drifts)


def from_comparison(observations: Observations, compared: CompareReport) -> Iterator[Candidate]:
    """The package and the exported program disagree, or agree on NaN that no input holds."""
    call, run = observations.run.call, observations.run
    given = call is not None and any(leaf.nan for leaf in call.inputs)
    same = call is not None and always(run, call)
    meant = not observations.failed and (same or observations.meant)
    odd, unlike = first_odd(run, run.calls), any(one.unlike for one in run.references)
    for order, output in enumerate(compared.outputs):
        wrong, spoilt = output.verdict != "agrees", output.package.nan and not (given or meant)
        said = f"{output.named} holds {output.package.not_finite}; "
        if call is not None and call is odd and spoilt and output.eager.nan and wrong:
            said += f"without AOTInductor the model gives {output.eager.not_finite}"
            yield NOT_FINITE.found(said, compared.artifact, order=order, fixes=[NAN_FIX])
        elif output.lost and unlike and rejects(observations):
            said = f"without AOTInductor the model gives {output.eager.not_finite} in "
            said += f"{output.named}; package and float64 give none"
            yield LOST.found(said, compared.artifact, order=order, fixes=[NAN_FIX])
        elif compared.verdict == "differs" and wrong:
            yield DIFFERENT.found(difference_of(output), compared.artifact, order=order)
        elif spoilt and not is_other(observations):
            said += "the model gives the same without AOTInductor"
            yield NOT_FINITE.found(said, compared.artifact, order=order, fixes=[NAN_FIX])


def from_trials(observations: Observations, report: TrialsReport) -> Iterator[Candidate]:
    """Another call is wrong: as it was given, or with what it breaks taken away."""
    broken = {(one.call.pid, one.call.call) for one in observations.trials if one.breaks}
    for order, one in enumerate(report.trials):
        outcome = one.without if (one.pid, one.call) in broken else one.given
        if outcome is None or not outcome.wrong_values:
            continue
        said = f"call {one.call}: {outcome.named} differs from the exported program in "
        said += f"{outcome.wrong} of {outcome.elements} elements"
        if (first := outcome.first_wrong) is not None:
            said += f", first at {first_of(first)}"
        yield DIFFERENT.found(said, report.artifact, order=order)


def stale(older: OlderPackage) -> Candidate:
    """What the script loaded in place of a newer package gives other values."""
    name = base_name(older.path)
    wrong = next(one for one in older.compared.outputs if one.verdict != "agrees")
    if older.unused:
        newer = base_name(older.unused)
        said = (
            f"stale package: the calls ran {name}, and {newer}, which this run compiled before "
            f"them, is loaded nowhere. Held against the program of {newer}, {difference_of(wrong)}"
        )
    else:
        said = (
            f"{name} as it was until run {older.run} is stale: it was compiled from another model "
            f"than the sources make now; of that package {difference_of(wrong)}. The one that this "
            "run has compiled agrees"
        )
    names = f"kernels then: {', '.join(older.gone[:4])}; now: {', '.join(older.new[:4])}"
    quotes = [evidence(older.artifact, names)] if older.gone or older.new else []
    return OLDER.found(
        said,
        older.artifact,
        *quotes,
        confidence="likely" if older.unused else "proved",  # both may be meant to be there
        source=list(older.loaded),
        fixes=[STALE_FIX],
    )


def unwritten(report: PoisonReport) -> Candidate:
    said = f"{report.named} depends on uninitialized memory: part of it is never written"
    return DIFFERENT.found(said + place(report), report.artifact, order=-2, fixes=[UNWRITTEN_FIX])


def drifting(report: RepeatsReport, call: int) -> Candidate:
    """The package's state goes another way than the exported program's."""
    outcome = report.sequence[call - 1]
    because = [
        Experiment(
            experiment=f"call {n} in a row, package and program freshly loaded", result=one.verdict
        )
        for n, one in enumerate(report.sequence[:3], 1)
    ]
    left = report.left
    if left is not None and left.name not in report.lost:
        said = f"call {left.call} of the package leaves {left.name} wrong: {left.wrong} of "
        said += f"{left.elements} elements"
        what = f"{left.name} after call {left.call}, package and program freshly loaded"
        because = [Experiment(experiment=what, result="differs"), *because]
    elif report.lost:
        lost = few(report.lost, 4)
        said = f"the package does not keep {lost} from call to call: call {call} begins with "
        said += "what it was at the export"
        what = f"call {call} of the program, with {lost} put back before it"
        because = [Experiment(experiment=what, result="gives the package's results"), *because]
    else:
        buffers = few(report.buffers, 4) or "its buffers"
        said = f"the package's state ({buffers}) is wrong from call {call} in a row on: "
        said += f"{outcome.wrong} of {outcome.elements} elements of {outcome.named} differ"
    source = last_line_of(report.written)
    return DIFFERENT.found(
        said, report.artifact, source=source, because=because[:3], order=-1, fixes=[STATE_FIX]
    )


def unrepeatable(report: RepeatsReport) -> Candidate:
    said = f"{report.named} differs from repeat to repeat with the same inputs and seed"
    return DIFFERENT.found(said + place(report), report.artifact, order=-1, fixes=[RACE_FIX])


def place(report: RepeatsReport) -> str:
    if report.wrong is None:
        return ""
    at = ", ".join(map(str, report.at))
    return (
        f" ({report.wrong} of {report.elements} elements, first at [{at}]: {report.first}, then "
        f"{report.then})"
    )


def first_of(first: Place) -> str:
    """Return "[3]: 1.25, not 2" of the first wrong element."""
    return f"{list(first.at)}: {digits(first.package)}, not {digits(first.expected)}"


def difference_of(output: Compared) -> str:
    if output.verdict in ("shape", "dtype"):
        got = list(output.shape or ()) if output.verdict == "shape" else output.dtype
        expected = str(output.expected)[:200]
        return f"{output.named} has {output.verdict} {got}, the exported program gives {expected}"
    total = output.elements if output.elements is not None else "?"
    words = (
        f"{output.named} differs from the exported program in {output.wrong} of {total} elements"
    )
    if (first := output.first_wrong) is not None:
        words += f", first at {first_of(first)}"
    bad = output.package.not_finite
    return words + (f"; it holds {bad}" if bad else "")


CRASH = "guides/host-crash.md#segfault-in-the-model"
FIRST_NAN = Kind("nan_or_inf", "output", Tier.STRANGE_VALUES, NAN)
UNFINISHED = hint("host_segfault", "run", Tier.NOTICE, CRASH)


def of_printer(observations: Observations) -> Iterator[Candidate]:
    statistics = observations.of(TensorStatistics)
    if (first := first_nan(statistics)) is not None:
        yield from_nan(first, statistics)
    for launches in observations.of(Launches):
        if launches.unfinished is not None:
            yield unfinished(launches)


def first_nan(statistics: list[TensorStatistics]) -> TensorStatistics | None:
    """Return the first tensor that holds NaN. What stands in a result before its launch is
    whatever the memory held, so only inputs of the model and tensors after a launch count."""
    return next((s for s in statistics if s.when != "before" and holds_nan(s)), None)


def holds_nan(found: TensorStatistics) -> bool:
    return any(v is not None and isnan(v) for v in (found.min, found.max))


def from_nan(first: TensorStatistics, statistics: list[TensorStatistics]) -> Candidate:
    kernel = None
    if first.when == "input":
        said = f"input {first.argument} of the model holds NaN already"
        fixes = [Fix(what=f"find where {first.argument} gets its NaN, before the model is called")]
    else:
        kernel = Kernel(name=first.kernel, launch=first.launch or None)
        said = (
            f"the first NaN stands in {first.argument} after {first.kernel} (launch "
            f"{first.launch}){range_before(first, statistics)}"
        )
        fixes = [
            Fix(
                what="check the operations of this kernel (its name lists them) and the range "
                "of its inputs: a logarithm or root of a negative number, 0/0, inf - inf",
                why="all NaN printed after it follow from this one",
            )
        ]
    return FIRST_NAN.found(said, first.span, kernel=kernel, fixes=fixes)


def range_before(first: TensorStatistics, statistics: list[TensorStatistics]) -> str:
    """Say what the tensor held before the launch; that is known when an earlier launch wrote it."""
    written = any(s.when == "after" and s.launch < first.launch for s in statistics)
    wanted = "before", first.launch, first.argument
    for found in statistics if written else ():
        if (found.when, found.launch, found.argument) == wanted and not holds_nan(found):
            return f"; before it held {found.min:g} to {found.max:g}"
    return ""


def unfinished(launches: Launches) -> Candidate:
    """The printer says that a kernel began, and nothing more: known when no fault is."""
    name, launch = launches.unfinished, launches.unfinished_launch
    assert name is not None
    return UNFINISHED.found(
        f"{name} (launch {launch}) began and did not end: the process died or hung "
        "in it, or the log stops here",
        launches.span,
        kernel=Kernel(name=name, launch=launch),
    )
