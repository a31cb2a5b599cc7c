"""What is wrong, by the script's own end and by what it was seen to compare."""

from __future__ import annotations

import re
from math import inf, prod
from typing import TYPE_CHECKING

from aoti_debug.plain import times
from aoti_debug.read.record import (
    ErrorLine,
    PrintedDifference,
    PrintedNaN,
    PrintedVerdict,
    PythonException,
)

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations
    from aoti_debug.experiments import Trial
    from aoti_debug.read.check_report import TrialReport
    from aoti_debug.read.event_records import Reference
    from aoti_debug.record.run_seen import RunSeen

    Tried = tuple[Trial, TrialReport]


SHOWN = 1e-3  # a smaller difference that is printed is no complaint
ROUNDING = 8.0  # that of one call was measured, that of others may be more


def rejects(observations: Observations) -> bool:
    """Tell whether the script itself ends with a complaint of what calls returned: all of them did,
    but for those that it made again when they raised, and what it died of, if anything, is a
    check of its own."""
    run, ending = observations.run, observations.ending
    calls = run.of("run")
    if ending is None or ending.code in (None, 0) or ending.timed_out:
        return False
    raised = [one for one in observations.of(PythonException) if not went_on(observations, one)]
    own = not raised or is_check(raised[-1])
    return own and bool(calls) and all(call.ok or run.retried(call) for call in calls)


def of_its_own(observations: Observations) -> bool:
    """Tell whether nothing but an exit status other than 1 says that results are rejected: it may
    mean something else."""
    ending = observations.ending
    other = ending is not None and ending.code not in (None, 0, 1)
    said = bool(observations.of(PrintedVerdict)) or bool(observations.of(PrintedDifference))
    return other and not said and not observations.of(PythonException)


def complains(observations: Observations) -> bool:
    """Tell whether results are not what the script holds them against: it rejects them itself, or
    it ends well though it says so, or though what it compared last, after it gave weights, is
    apart, or what it compared of a package that has a state."""
    said = verdict(observations) is not None or apart_with_state(observations)
    return rejects(observations) or said or apart_after_update(observations)


def apart_with_state(observations: Observations) -> bool:
    """Tell whether a script that ends well compared calls that change a state, and they are
    apart."""
    ending = observations.ending
    well = ending is not None and ending.clean
    return well and any(one.far and one.moved for one in compared(observations))


def apart_after_update(observations: Observations) -> bool:
    """Tell whether what a script that ends well compared last, after it gave weights, is apart."""
    run, ending = observations.run, observations.ending
    given = {one.pid: one.span.last for one in reversed(run.of("constants")) if one.ok}
    if ending is None or not ending.clean or not given:
        return False
    later = [one for one in compared(observations) if one.span.first > given.get(one.pid, inf)]
    last = {one.caller: one for one in later}  # a module that agreed at first was changed since
    return bool(later) and later[0].far and any(one.far for one in last.values())


def printed(observations: Observations) -> list[PrintedDifference]:
    """Return the differences that a script prints which then ends well."""
    ending = observations.ending
    if ending is None or not ending.clean:
        return []
    return [one for one in observations.of(PrintedDifference) if one.number > SHOWN]


def verdict(observations: Observations) -> PrintedVerdict | None:
    """Return the last line in which a script that ends well says that results do not fit."""
    ending, said = observations.ending, observations.of(PrintedVerdict)
    well = ending is not None and ending.clean and bool(observations.run.calls)
    return said[-1] if said and well else None


def printed_in_threads(observations: Observations) -> list[PrintedDifference]:
    """Return them where calls were made in threads."""
    threads = any(one.details.thread for one in observations.run.of("run"))
    return printed(observations) if threads else []


_OF_NAN = re.compile(r"(?i)(?:is|_|\b)(?:nan|inf|infinit[ey]|finite)(?:s|_|\b)")
_OF_TIME = re.compile(
    r"(?i)\b(?:elapsed|seconds|duration|latency|took|too slow|slower|deadline|budget_m?s"
    r"|perf_counter|throughput|qps|fps|speedup|time_limit|\w+_(?:ms|secs?|seconds|latency))\b"
)
_COMPARES = re.compile(r"[<>]|too slow|deadline|exceed|limit", re.IGNORECASE)
_OF_MEMORY = re.compile(
    r"(?i)\b(?:ru_)?(?:max)?rss\b|\bleak|\bgr[eo]ws?\b|\b[GM]i?B\b"
    r"|\bmemory[ _](?:info|allocated|reserved|limit|budget|usage|use)"
)


def complains_of_memory(observations: Observations) -> PythonException | None:
    """Return the script's own check that ended it, where that is about the memory it takes."""
    return _complains(observations, _OF_MEMORY)


def complains_of_time(observations: Observations) -> PythonException | None:
    """Return the script's own check that ended it, where that is about how long calls took."""
    found = _complains(observations, _OF_TIME)
    return found if found is not None and _COMPARES.search(_text_of(found)) else None


def _complains(observations: Observations, of: re.Pattern[str]) -> PythonException | None:
    if not rejects(observations):
        return None
    raised = observations.of(PythonException)
    return raised[-1] if raised and of.search(_text_of(raised[-1])) else None


def _text_of(exception: PythonException) -> str:
    line = (exception.frames[-1].text or "") if exception.frames else ""
    return f"{line} {exception.message[:300]}"


def is_check(exception: PythonException) -> bool:
    """Tell whether a line of the user's own raised it on purpose, or an assertion did."""
    last = exception.frames[-1] if exception.frames else None
    on_purpose = last is not None and last.owner == "user" and (last.text or "").startswith("raise")
    return exception.type.endswith(("AssertionError", "SystemExit")) or on_purpose


def compared(observations: Observations) -> tuple[Reference, ...]:
    """Return the calls of the exported module whose results were held against the package's; those
    of another class where there are none."""
    pairs = tuple(one for one in observations.run.references if one.paired)
    return tuple(one for one in pairs if not one.of_class) or pairs


def unpaired(observations: Observations) -> bool:
    """Tell whether the module that the script compares with was also given inputs that no call of
    the package was seen with, while calls of the package were given the same memory again."""
    run, seen = observations.run, {one.caller for one in compared(observations)}
    strange = [one for one in run.references if one.other and not partly(run, one)]
    return any(call.reused for call in run.calls) and any(one.caller in seen for one in strange)


def partly(run: RunSeen, one: Reference) -> bool:
    """Tell whether a call that nothing else is compared with was given some of the inputs."""
    call = run.call_at(one.pid, one.call)
    held = any(o.paired and (o.pid, o.call) == (one.pid, one.call) for o in run.references)
    return call is not None and not held and 0 < len(one.other) < len(call.inputs)


def far(observations: Observations) -> list[Reference]:
    """Return those that are further apart than rounding has put package and program."""
    checks = observations.checks
    held = [one.given for one in (checks.trials.trials if checks.trials else ())]
    known = [one.max_abs_apart or 0.0 for one in held if one.verdict == "agrees"]
    known += checks.trials.rounding if checks.trials else ()
    known += [one.max_abs_apart or 0.0 for one in checks.compare.outputs] if checks.compare else []
    limit = ROUNDING * max(known, default=0.0)
    return [one for one in compared(observations) if one.far and (one.apart or 0.0) > limit]


def is_other(observations: Observations) -> bool:
    """Tell whether NaN in the results are not what is wrong: the script was seen to compare results
    that are NaN alike, and they are apart elsewhere or it ended well."""
    pairs, ending = compared(observations), observations.ending
    well = ending is not None and ending.clean
    infinite = not any(one.nan for call in observations.run.calls for one in call.outputs)
    if infinite and rejects(observations) and same_rows(observations):
        return True
    alike = bool(pairs) and not any(one.unlike for one in pairs)
    return (alike and (well or bool(far(observations)))) or unasked(observations)


def same_rows(observations: Observations) -> Reference | None:
    """Return a caller where the package is seen to give the same results for all rows or calls."""
    seen = observations.run.references
    same = [one for one in seen if one.same]
    if len(same) == 1 and not any(one.mixed or one.far for one in seen):
        return same[0]
    equal = bool(seen) and all(one.paired and one.apart == 0 and not one.unlike for one in seen)
    return seen[0] if equal else None


def unasked(observations: Observations) -> bool:
    """Tell whether the script rejects results for another reason than NaN or infinities that the
    model itself gives in a part of each result: it prints no NaN and speaks of none, and no weight
    is known to hold them."""
    call, calls = observations.run.call, observations.run.calls
    of_weight = observations.walked is not None and bool(observations.walked.weight)
    if call is None or of_weight or not (rejects(observations) and agreeing(observations)):
        return False
    held = sum(one.holds_nonfinite for one in calls)
    usual = observations.expects_nan or 2 * held > len(calls) > 1
    sizes = [((one.nan or 0) + (one.inf or 0), prod(one.shape or ())) for one in call.outputs]
    partly = all(bad < size for bad, size in sizes if bad)
    said = [_text_of(one) for one in observations.of(PythonException)]
    said += [one.span.quote for one in observations.of(ErrorLine)]
    named = bool(observations.of(PrintedNaN)) or any(_OF_NAN.search(text) for text in said)
    return usual and partly and not named


def went_on(observations: Observations, exception: PythonException) -> bool:
    """Tell whether a printed exception is known not to have ended the script."""
    run = observations.run
    if len({one.pid for one in run.phases}) != 1:
        return False  # what ended another process, its parent may only report
    main = next((one for one in run.ended if one.pid == run.phases[0].pid), None)
    return main is not None and (main.error is None or main.error.type != exception.type)


def tried(observations: Observations) -> list[Tried]:
    """Return the calls that were repeated, with what became of each."""
    report = observations.checks.trials
    return [
        (one, outcome)
        for one in observations.trials
        if report and (outcome := report.of(one.call.pid, one.call.call)) is not None
    ]


def agreeing(observations: Observations) -> str:
    """Say which calls package and program agree on, nothing where one does not."""
    checks = observations.checks
    compared = checks.compare.verdict if checks.compare is not None else None
    verdicts = [one.given.verdict for one in (checks.trials.trials if checks.trials else ())]
    refused = compared is None and "refused" in verdicts and "agrees" in verdicts
    if (compared != "agrees" and not refused) or "differs" in verdicts:
        return ""
    count = max(1, sum(one == "agrees" for one in verdicts))
    return f"{times(count, 'captured call')}, package against exported program"
