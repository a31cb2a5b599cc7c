"""Try whether settings that a compile was given make calls slower: compile again without them."""

from __future__ import annotations

import json
import re

from aoti_debug.examine.answers import SlowReason
from aoti_debug.examine.process import ExamineRequest, NotExamined, examined, unwatched
from aoti_debug.examine.reasons import pairs_said
from aoti_debug.model import SourceLine
from aoti_debug.read.timing_report import TimingReport
from aoti_debug.triage.run_state import RunState

LEAST = 0.2  # of a call: a package that was just compiled differs a little by itself
LONGEST_S = 120.0  # of a compile: a longer one is not repeated
# Settings that say where files go, what is packed, how the compile itself runs, or that only make
# calls faster.
_HARMLESS = re.compile(
    r"package|metadata|descriptive|comment|path|cache|compile_threads|worker|max_autotune|autotune|trace"
    r"|repro|verbose|weights|constants|cuda\.|shim|standalone|freezing|dynamic|unsafe|coordinate"
)


async def settings_reason(
    state: RunState, request: ExamineRequest, threads: int | None, call_s: float
) -> SlowReason | None:
    """Return the settings without which calls take less time, and the gain; notes say what was not
    tried."""
    phase, given = request.call.compiled, request.call.settings or {}
    doubtful = {name: value for name, value in given.items() if not _HARMLESS.search(name)}
    if phase is None or not doubtful or request.call.exported is None:
        return None
    said = ", ".join(f"{name}={value!r}" for name, value in sorted(doubtful.items()))
    if (phase.seconds or 0.0) > LONGEST_S:
        state.notes.append(
            f"the compile was given {said}: not tried without, as it takes {phase.seconds:.0f} s"
        )
        return None
    kept = {name: value for name, value in given.items() if name not in doubtful}
    more = ["--pairs-only", "--against", "settings", "--settings", json.dumps(kept)]
    more += ["--threads", str(threads)] if threads else []
    try:
        flags = unwatched(state)
        report, _ = await examined(state, request, "timing", TimingReport, *more, flags=flags)
    except NotExamined:  # which is among the notes
        return None
    pairs = report.against
    if pairs is None or not pairs.ours or 1 - pairs.twice < LEAST or pairs.spread[1] >= 1:
        return None
    gain, caller = 1 - pairs.ratio, phase.details.caller
    return SlowReason(
        what=f"the compile was given {said}",
        cost_s=gain * call_s,
        share=gain,
        change="compile without" if len(doubtful) == 1 else "compile without them",
        gain=gain,
        tried=pairs_said(pairs),
        source=SourceLine(file=caller[0], line=caller[1]) if caller is not None else None,
    )
