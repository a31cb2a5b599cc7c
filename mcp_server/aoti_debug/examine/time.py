"""Find where the time goes: run the script if there is one, measure its package."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

import anyio.to_thread

from aoti_debug.answers import StageAnswer
from aoti_debug.errors import WrongUse
from aoti_debug.examine.answers import SlowReason, TimeFindings
from aoti_debug.examine.compile_time import compile_tables
from aoti_debug.examine.launches import model_of
from aoti_debug.examine.process import (
    ExamineRequest,
    NotExamined,
    examine_request,
    examined,
    extended,
    unwatched,
    wanted_of,
)
from aoti_debug.examine.reasons import pairs_said
from aoti_debug.examine.script_times import row_by_row, script_reasons
from aoti_debug.examine.time_findings import Measured, findings
from aoti_debug.explain.describe import NO_PROVENANCE
from aoti_debug.explain.find import Texts
from aoti_debug.explain.package import read_texts
from aoti_debug.facts.run_flags import SLOWING
from aoti_debug.facts.stages import STAGES
from aoti_debug.model import source_of
from aoti_debug.package.record import CompiledModel
from aoti_debug.read.timing_report import TimingReport
from aoti_debug.record.run_seen import NO_RECORD, RunSeen
from aoti_debug.run.directory import RUN_ID
from aoti_debug.run.files import expanded
from aoti_debug.run.interpreter import check_interpreter
from aoti_debug.run.target import resolve_target
from aoti_debug.triage.captured_call import Captured, captured
from aoti_debug.triage.observe import events_of
from aoti_debug.triage.run_state import Ran, Request, RunState
from aoti_debug.triage.spawn import hold_gpus, spawn
from aoti_debug.triage.stage import stray_note

PACKAGES = (".pt2", ".so")
PROGRAMS = ("eager", "compile")


@dataclass(frozen=True, slots=True)
class TimeRequest(ExamineRequest):
    """`run` left the call and its compile; without a call the target is run first."""

    _: KW_ONLY
    against: str | None = None  # a package's path, eager or compile
    run: Path | None = None


def time_request(
    what: str,
    *,
    args: Sequence[str] = (),
    against: str | None = None,
    **given: Any,
) -> TimeRequest:
    """Resolve a package, run or script, and what to compare with; see `examine_request`."""
    cwd, env, python = given.get("cwd"), given.get("env"), given.get("python")
    if against is not None and against not in PROGRAMS:
        other = Path(cwd or ".", expanded(against)).absolute()
        if other.suffix not in PACKAGES or not other.is_file():
            raise WrongUse(
                f"cannot compare with {against}", help="Give a package, eager or compile."
            )
        against = str(other)
    if RUN_ID.fullmatch(what) is None and Path(what).suffix not in PACKAGES:
        if given.get("inputs") is not None:
            raise WrongUse(
                "--inputs belongs to a package or a run", help="A script makes its own calls."
            )
        target = resolve_target(script=what, args=args, python=python, env=env, cwd=cwd)
        if target.python is not None:
            check_interpreter(target.python, target.env)
        return TimeRequest(target, call=Captured(), against=against, **wanted_of(given))
    request = examine_request(what, **given)
    if against in PROGRAMS and request.call.exported is None:
        raise WrongUse(
            f"{what} has no exported program to compare with", help="Give --exported FILE."
        )
    run = next((one.path for one in request.uses), None)
    return extended(TimeRequest, request, against=against, run=run)


async def time(state: RunState, given: Request) -> StageAnswer:
    """Say where the seconds of a call, a load and a compile go."""
    request = given if isinstance(given, TimeRequest) else extended(TimeRequest, given)
    ran: Ran | None = None
    place = request.run
    if request.call.package is None:
        ran = await _script(state)
        place = state.directory.path
        call = await anyio.to_thread.run_sync(
            captured, ran.observations, state.directory.path, state.home
        )
        request = replace(request, call=call)
    run = await anyio.to_thread.run_sync(events_of, place) if place is not None else NO_RECORD
    folders = [place] if place is not None else []
    compiles = await anyio.to_thread.run_sync(compile_tables, run, folders)
    try:
        measured = await _measured(state, request, run)
    except NotExamined:  # which is among the notes
        if not compiles:
            raise
        measured = None
    found = findings(measured, compiles, request.against, script_reasons(run))
    return StageAnswer(
        run=state.directory.id,
        status="done",
        stage="time",
        acted=measured is not None or bool(compiles),
        why=None if measured is not None else no_call(request.call, ran),
        exit=ran.exit.how if ran is not None else None,
        ended_well=(ran.exit.ok or None) if ran is not None else True,
        wall_s=round(ran.exit.wall_s, 2) if ran is not None else None,
        time=found,
        artifacts=state.artifacts(),
        notes=[
            *state.notes,
            *(stray_note(ran) if ran is not None else []),
            *_missing(measured, found),
        ],
    )


MADE = "the inputs were made by what the package says of them, with integers 0: give --inputs FILE"


def _missing(measured: Measured | None, found: TimeFindings) -> list[str]:
    """Say what would make the answer better: real inputs, the model's lines."""
    launches = found.call.launches if found.call is not None else []
    made = measured is not None and measured.report.made_inputs
    without = bool(launches) and not any(one.source for one in launches)
    return [*[MADE] * made, *[NO_PROVENANCE] * without]


def no_call(call: Captured, ran: Ran | None) -> str:
    if ran is not None and not ran.exit.ok:
        return f"the script ended with {ran.exit.how}: see stderr.log, or triage it"
    missing = call.why_no_package if call.package is None else call.why_no_inputs
    return missing or "no call was measured"


async def _script(state: RunState) -> Ran:
    """Run the script as it is; what it compiles is compiled, so that this can be measured."""
    target, directory = state.request.target, state.directory.path
    async with hold_gpus(state):
        ran = await spawn(
            state,
            "the script, watched",
            target.argv,
            directory,
            traced=True,
            flags={"AOTI_DEBUG_LINES": "1"},
            capture=True,
            recompiles=False,
            reuse="never",
        )
    state.ended = ran.exit
    state.done(state.step("first run", STAGES["time"].what, ran))
    return ran


async def _measured(state: RunState, request: TimeRequest, run: RunSeen) -> Measured | None:
    """Measure the package in a process of its own, which nothing else watches."""
    call = request.call
    if call.package is None or (call.inputs is None and request.run is not None):
        return None
    slowing = [name for name in SLOWING if name in request.target.env]
    more = [word for name in slowing for word in ("--without", name)]
    if request.against is not None:
        more += ["--against", request.against]
    # As the script's process used at its end.
    threads = next((one.threads for one in reversed(run.ended) if one.threads), None)
    more += ["--threads", str(threads)] if threads else []
    more += ["--rows"] if row_by_row(run) else []
    flags = unwatched(state)
    report, _ = await examined(state, request, "timing", TimingReport, *more, flags=flags)
    other = None
    if request.against is not None and request.against not in PROGRAMS:
        other = Path(request.against)
    known = report, call, request.model, tuple(slowing), other
    measured = await anyio.to_thread.run_sync(measured_by, *known)
    reason = None
    if request.against is None:
        reason = await settings_reason(state, request, threads, report.call.wall)
    free = frozenset(call.compiled.details.input_free if call.compiled is not None else ())
    return replace(measured, input_free=free, of_settings=reason, caller=run.caller(call.call))


def measured_by(
    report: TimingReport,
    call: Captured,
    name: str | None = None,
    slowing: tuple[str, ...] = (),
    other: Path | None = None,
) -> Measured:
    """Return a report with what the packages that it is about say. Blocks."""
    theirs = _package(Captured(package=other)) if other is not None else None
    return Measured(report, *_package(call, name), slowing, theirs)


def _package(call: Captured, name: str | None = None) -> tuple[CompiledModel | None, Texts]:
    model = model_of(call, name)
    if call.package is None or model is None:
        return model, Texts()
    return model, read_texts(call.package, model)


SETTINGS_LEAST = 0.2  # of a call: a package that was just compiled differs a little by itself
COMPILE_S = 120.0  # of a compile: a longer one is not repeated
# Settings that say where files go, what is packed, how the compile itself runs, or that only make
# calls faster.
_HARMLESS = re.compile(
    r"package|metadata|descriptive|comment|path|cache|compile_threads|worker|max_autotune|autotune|trace"
    r"|repro|verbose|weights|constants|cuda\.|shim|standalone|freezing|dynamic|unsafe|coordinate"
)


async def settings_reason(
    state: RunState, request: ExamineRequest, threads: int | None, call_s: float
) -> SlowReason | None:
    """Return the settings without which calls are faster; notes say what was not tried."""
    phase, given = request.call.compiled, request.call.settings or {}
    doubtful = {name: value for name, value in given.items() if not _HARMLESS.search(name)}
    if phase is None or not doubtful or request.call.exported is None:
        return None
    said = ", ".join(f"{name}={value!r}" for name, value in sorted(doubtful.items()))
    if (phase.seconds or 0.0) > COMPILE_S:
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
    if pairs is None or not pairs.ours or 1 - pairs.twice < SETTINGS_LEAST or pairs.spread[1] >= 1:
        return None
    gain, caller = 1 - pairs.ratio, phase.details.caller
    return SlowReason(
        what=f"the compile was given {said}",
        cost_s=gain * call_s,
        share=gain,
        change="compile without" if len(doubtful) == 1 else "compile without them",
        gain=gain,
        tried=pairs_said(pairs),
        source=next(iter(source_of(caller)), None),
    )
