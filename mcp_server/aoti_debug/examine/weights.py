"""Prove an update of a package's weights: play its steps in a process of its own and read back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, replace
from pathlib import Path
from typing import Any

from aoti_debug.errors import UnreadableInput, WrongUse
from aoti_debug.examine.answers import WeightFinding, WeightsAnswer, WeightStep
from aoti_debug.examine.process import (
    ExamineRequest,
    examine_request,
    examined,
    extended,
    file_of,
    of_run,
)
from aoti_debug.examine.seen_updates import seen_update
from aoti_debug.examine.weights_words import (
    DIES,
    headline,
    races_said,
    safe_code,
    words_of,
)
from aoti_debug.probe.update_steps import NAMED, Finding, Step, sequence
from aoti_debug.read.examine_reports import StepSeen, WeightsReport
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.files import write_atomically
from aoti_debug.triage.observe import events_of
from aoti_debug.triage.run_state import RunState

GUIDE = "guides/constants.md"
STEPS = "steps.json"
LISTED = 12
THREADS = 64
FULL = "full"


@dataclass(frozen=True, slots=True)
class WeightsRequest(ExamineRequest):
    """`files` are weights that the steps give."""

    _: KW_ONLY
    steps: tuple[Step, ...]
    files: tuple[Path, ...]
    wanted: Path | None = None  # that it should hold; None: what the steps give, the last of each
    threads: int = 0  # that call while the weights change


def weights_request(
    what: str,
    new: str | os.PathLike[str] | None = None,
    *,
    steps: str | None = None,
    run: str | None = None,
    threads: int = 0,
    **given: Any,
) -> WeightsRequest:
    """Resolve a package or run, its new weights and the steps, by default those of the run."""
    if not 0 <= threads <= THREADS:
        raise WrongUse(f"--threads {threads} is not 0 to {THREADS}")
    path = file_of(new, "weights", given) if new is not None else None
    request = examine_request(what, **given)
    if run is not None:
        request = _as_in_run(request, run, given)
    if steps is None and request.uses:
        seen = seen_update(events_of(request.uses[0].path), request.uses[0].path)
        planned, files = seen.steps, seen.files
    elif path is None:
        raise WrongUse("which weights?", help="Give a state dict of torch.save.")
    else:
        planned, files = _sequence(steps or FULL), (path,)
    more = {"steps": planned, "files": files, "wanted": path, "threads": threads}
    return extended(WeightsRequest, request, **more)


def _as_in_run(request: ExamineRequest, run: str, given: Mapping[str, Any]) -> ExamineRequest:
    directory = RunDirectory.open(run, given.get("home"), given.get("owner"))
    try:
        call = examine_request(run, **given).call
    except UnreadableInput:  # it called no package that it has kept
        call = request.call
    return replace(request, call=replace(call, package=request.call.package), uses=(directory,))


def _sequence(steps: str) -> tuple[Step, ...]:
    try:
        return sequence(steps)
    except ValueError as error:
        raise WrongUse(str(error), help=f"Name one of {', '.join(NAMED)}, or the steps.") from None


async def prove_update(state: RunState, request: WeightsRequest) -> WeightsAnswer:
    """Answer whether the package holds the new weights after the steps; raise NotExamined."""
    words = update_words(state.directory.path, request.steps, request.files)
    words += ["--runners", str(max(1, request.threads))]
    words += ["--wanted", str(request.wanted)] if request.wanted else []
    words += ["--threads", str(request.threads)] if request.threads else []
    call = replace(request.call, constants=())  # the steps give them
    own = replace(request, call=call)
    report, ran = await examined(state, own, "weights", WeightsReport, *words)
    return answer_of(state, request, report, ran.exit.signal)


def update_words(directory: Path, steps: Sequence[Step], files: Sequence[Path]) -> list[str]:
    """Write the steps into a directory; return what tells the probe to play them."""
    plan = directory / STEPS
    write_atomically(plan, json.dumps([asdict(step) for step in steps]).encode())
    given = [word for file in files for word in ("--weights", str(file))]
    return ["--steps", str(plan), *given]


def answer_of(
    state: RunState, request: WeightsRequest, report: WeightsReport, signal: str | None
) -> WeightsAnswer:
    findings = sorted(report.findings, key=lambda one: (one.reason == "refused", not one.proved))
    died = DIES.format(signal=signal, step=report.at) if signal and report.state == "play" else None
    said, calm = races_said(report.races, signal if report.state == "races" else None)
    proved = [one for one in findings if one.proved]
    last = report.steps[-1] if report.steps else StepSeen("")
    if died or proved or calm is False:
        why = headline(findings) if proved else said
        verdict, summary = "wrong", f"{died}: {why}" if died and why else died or why
    elif findings:
        verdict, summary = "undecided", f"probably {headline(findings)}"
    elif last.agrees:
        verdict = "right"
        summary = f"after {len(report.steps)} steps all {report.constants} constants and the "
        summary += f"outputs are those of the new weights ({report.changed} changed)"
    else:
        verdict, summary = "undecided", "all constants read back are the new ones; the outputs were"
        summary += f" not compared: {last.why_not or 'no call'}. Give exported and inputs"
    tied = {one.constant: one.detail for one in findings if one.reason == "tied"}
    return WeightsAnswer(
        **of_run(state, request),
        update=verdict,
        summary=summary,
        truth=report.truth or None,
        findings=[finding(one, report.steps) for one in findings[:LISTED]],
        findings_count=len(findings),
        sequence=[step_of(number, one) for number, one in enumerate(report.steps, 1)],
        under_calls=said or None,
        safe=safe_code(report, tied) or None,
        guide=None if verdict == "right" else GUIDE,
    )


def finding(one: Finding, steps: Sequence[StepSeen]) -> WeightFinding:
    known = words_of(one)
    at = f"{one.step}: {steps[one.step - 1].step}" if 0 < one.step <= len(steps) else "the package"
    return WeightFinding(
        constant=one.constant,
        since=at,
        reason=known.said,
        confidence="proved" if one.proved else "likely",
        fix=known.fix,
    )


def step_of(number: int, one: StepSeen) -> WeightStep:
    return WeightStep(
        number=number,
        step=one.step,
        outputs=None if one.agrees is None else "right" if one.agrees else "wrong",
        wrong=list(one.wrong),
        said=one.error or one.why_not,
    )
