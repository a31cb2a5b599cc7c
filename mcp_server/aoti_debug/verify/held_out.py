"""Hold a fixed package against eager on inputs it never saw, and read what the probe says of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from aoti_debug.minify.material import Material
from aoti_debug.read.record import FaultHandlerDump
from aoti_debug.read.typed import take
from aoti_debug.run.files import write_atomically
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.replay import interpreter, report_of, words
from aoti_debug.triage.run_state import Ran, RunState
from aoti_debug.triage.spawn import spawn
from aoti_debug.verify.judge import HeldOut, Raised
from aoti_debug.verify.request import VerifyRequest
from aoti_debug.verify.script_checks import Changes

LONGEST_S = 600.0  # of all held-out calls
START_S = 60.0  # torch, two programs and the package are loaded
LIKE = 8  # sets of inputs that are like the failing ones, at most
CALLS_A_TRIAL = 10  # as the package's slowest; eager and float64 take longer
PERTURB = {"MALLOC_PERTURB_": "128"}  # uninitialized memory holds 0x7F bytes, 3.4e38 in float32


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(HeldOut):
    """All that the probe told until it ended; empty where it told nothing."""

    state: str | None = None
    trying: str | None = None  # the last trial that was begun
    error: Raised = None
    why_not: str | None = None
    died: bool = False

    @property
    def died_in(self) -> str | None:
        """Return the trial that ended the process, by a signal or an exit within a call."""
        if self.unended:
            return None
        died = self.died or (self.error is None and self.state != "done")
        return self.trying if died and self.trying not in {t.name for t in self.trials} else None

    @property
    def why_no_trials(self) -> str | None:
        return self.why_not or self.error


@dataclass(frozen=True, slots=True)
class Others:
    """What the fixed script gives in the place of the failing call."""

    now: Path | None  # inputs of the call of its number
    number: int | None = None
    session: int = 1  # calls of one at most, where the original keeps a state
    rest: tuple[Path, ...] = ()  # of those that its rows are split over beside it
    parts: tuple[int, ...] = ()  # rows of the calls that its rows are split over
    rows: bool = False  # the program mixed those of a batch
    changes: Changes = field(default_factory=Changes)  # of the script
    # Numbers of calls before it, and first ones, and the inputs of each: as it was, as it is.
    calls: tuple[tuple[int, Path, Path], ...] = ()
    operators: tuple[Path, ...] = ()  # files that defined some, as they were


async def held_out(
    state: RunState,
    request: VerifyRequest,
    before: Material,
    fixed: Ran,
    call: Captured,
    others: Others,
) -> Report:
    """Have the fixed package called with the failing inputs, the example and fresh ones."""
    if fixed.exit.timed_out:
        return Report(why_not="the fixed script does not end")
    why_not = call.why_no_package or call.why_no_exported
    if call.exported is None:  # the package alone tells what it takes
        call = replace(call, package=None if before.exported else before.package)
    if call.package is None:
        return Report(why_not=why_not or "the fixed script called no package")
    directory = state.subdirectory("held-out")
    changes = others.changes
    conditions = [asdict(one) for one in changes.refusals if one.told and one.condition]
    written: list[str] = []
    for name, found in (("refusals", conditions), ("tables", changes.tables)):
        if found:
            file = directory / f"{name}.json"
            write_atomically(file, json.dumps(found).encode())
            written += [f"--{name}", str(file)]
    argv = (
        *interpreter(state, "held_out"),
        *words(state, replace(call, inputs=before.inputs, graph=None), directory),
        *("--seeds", str(request.seeds)),
        *(("--before", str(before.exported)) if before.exported is not None else ()),
        *(("--now", str(others.now)) if others.now is not None else ()),
        *(word for file in others.rest for word in ("--rest", str(file))),
        *(("--parts", *map(str, others.parts)) if others.parts else ()),
        *(word for one in others.calls for word in ("--call", *map(str, one))),
        *(("--number", str(others.number)) if others.number is not None else ()),
        *("--session", str(others.session)),
        *(word for file in others.operators for word in ("--original", str(file))),
        *written,
        *("--corrects",) * changes.corrects,
        *("--rows",) * others.rows,
        *("--trust",) * request.trust,
    )
    limit = limit_of(fixed, request.seeds)
    ran = await spawn(state, "held-out inputs", argv, directory, flags=PERTURB, timeout_s=limit)
    report = read_report(directory, died=bool(ran.exit.signal))
    if ran.exit.timed_out:
        report = replace(report, unended=unended(report, ran, fixed))
    why = "the failing call, the example and fresh sizes, with uninitialized memory filled with NaN"
    said = f"{len(report.trials)} sets of inputs"
    state.done(state.step("held-out inputs", why, ran, said))
    return report


def limit_of(fixed: Ran, seeds: int) -> float:
    """Return how long the held-out calls may take, by how long the fixed script's own took."""
    events = fixed.observations.run
    slowest = max((c.seconds or 0.0 for c in events.calls), default=0.0)
    trials = LIKE + 2 + 2 * seeds
    longest = START_S + 3 * fixed.exit.wall_s + CALLS_A_TRIAL * trials * slowest
    return min(round(longest), LONGEST_S)


def unended(report: Report, ran: Ran, fixed: Ran) -> str:
    """Say what did not end, and where it was."""
    dump = ran.observations.first(FaultHandlerDump)
    frame = dump.frames[0] if dump is not None and dump.frames else None
    place = f" in {frame.function} ({Path(frame.file).name}:{frame.line})" if frame else ""
    what = report.trying or "the first of them"
    return (
        f"not verified, because the held-out calls do not end: {what} was under way{place} after "
        f"{ran.exit.timeout_s:.0f} s; the fixed script took {fixed.exit.wall_s:.1f} s"
    )


def read_report(directory: Path, *, died: bool) -> Report:
    return take(Report, report_of(directory), died=died, why_not=None, unended="")
