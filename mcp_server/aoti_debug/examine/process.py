"""What to examine, as the user names it: a package or a run; and the one process that does it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio.to_thread

from aoti_debug.diagnose import Ending
from aoti_debug.errors import AotiDebugError, UnreadableInput
from aoti_debug.minify.request import target_of
from aoti_debug.model import RunEnding, RunRecord
from aoti_debug.plain import plain
from aoti_debug.read.record import PythonException
from aoti_debug.read.typed import take
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.files import expanded
from aoti_debug.run.interpreter import find_interpreter
from aoti_debug.run.kept import within
from aoti_debug.run.target import resolve_target
from aoti_debug.triage.captured_call import Captured, captured
from aoti_debug.triage.observe import observe
from aoti_debug.triage.replay import probed
from aoti_debug.triage.run_state import Ran, Request, RunState, Wanted
from aoti_debug.triage.spawn import hold_gpus

if TYPE_CHECKING:
    from typing_extensions import Unpack

RUN = re.compile(r"r-\d{8}-\d{4}-[0-9a-z]{4}")
SAID = 300  # characters of an error
T = TypeVar("T")


class NotExamined(AotiDebugError):
    """The package could not be examined; the message says why."""

    help = "Run a call of it yourself first; read stderr.log of the run."


@dataclass(frozen=True, slots=True)
class ExamineRequest(Request):
    """`call` holds the files: package, inputs, exported program."""

    _: KW_ONLY
    call: Captured
    model: str | None = None
    trust: bool = False  # the person vouches for the program's file


class ExamineWanted(Wanted, total=False):
    """What a user may say of it besides its files; the names are those of `ExamineRequest`."""

    model: str | None
    trust: bool


@dataclass(frozen=True, slots=True)
class Examined(Generic[T]):
    """What a process reported until its end, and how it ended."""

    report: T
    ran: Ran
    artifact: str  # the report's name in the run


def examine_request(
    what: str,
    *,
    inputs: str | os.PathLike[str] | None = None,
    exported: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    home: Path | None = None,
    owner: str | None = None,
    **wanted: Unpack[ExamineWanted],
) -> ExamineRequest:
    """Resolve a package, or a run with the package and the call that it has captured. Blocks.

    Raises:
        UnknownRun, UnreadableInput, NothingToMinify, NoInterpreter
    """
    python = wanted.get("python")
    call_file = _file(inputs, "inputs", cwd, owner, home) if inputs is not None else None
    program = _file(exported, "exported", cwd, owner, home) if exported is not None else None
    if RUN.fullmatch(what):
        directory = RunDirectory.open(what, home, owner)
        target = target_of(directory, python, env)
        call = _call_of(directory, home)
        call = replace(call, inputs=call_file or call.inputs, exported=program or call.exported)
        if call.package is None:
            raise UnreadableInput(
                f"run {what} holds no package: {call.why_no_package}", help="Give the package."
            )
        return ExamineRequest(target, call=call, uses=(directory,), **wanted)
    package = _file(what, "package", cwd, owner, home)
    command = (str(find_interpreter(python, {**os.environ, **(env or {})})), str(package))
    target = resolve_target(command=command, env=env, cwd=cwd or package.parent)
    call = Captured(package=package, inputs=call_file, exported=program)
    return ExamineRequest(target, call=call, **wanted)


def _file(
    path: str | os.PathLike[str],
    what: str,
    cwd: str | os.PathLike[str] | None,
    owner: str | None,
    home: Path | None,
) -> Path:
    found = Path(cwd or ".", expanded(path)).absolute()
    if not found.is_file():
        raise UnreadableInput(f"{what}: there is no file {found}", help="Give an existing file.")
    within(found, owner, home)
    return found


def _call_of(directory: RunDirectory, home: Path | None) -> Captured:
    """Return what a run has captured of its failing call, else of its last."""
    record = directory.read_record() or RunRecord()
    ending = Ending(**(record.ended or RunEnding()).model_dump())
    return captured(observe(directory.path, "", ending), directory.path, home)


async def examined(
    state: RunState,
    request: ExamineRequest,
    program: str,
    kind: type[T],
    *more: str,
    flags: Mapping[str, str] | None = None,
) -> Examined[T]:
    """Run a program of the probe on the package and its call, and read its report; `flags` are
    variables that go before all others.

    Raises:
        NotExamined: the process failed before it had anything to report; what it said is told.
    """
    words = (*(("--trust",) * request.trust), *more)
    words = (*words, *(("--model", request.model) if request.model is not None else ()))
    limit = request.timeout_s
    async with hold_gpus(state):
        ran, document, artifact = await probed(
            state, program, program, request.call, *words, timeout_s=limit, flags=flags
        )
    error = (document or {}).get("error")
    if document is None or error or not ran.exit.ok:
        state.notes.append(said(ran, document, program))
    if document is None or error:
        raise NotExamined(said(ran, document, program))
    report = await anyio.to_thread.run_sync(take, kind, document)
    return Examined(report, ran, artifact)


def said(ran: Ran, document: Mapping[str, object] | None, program: str) -> str:
    """Say how a process failed, and at what."""
    error = (document or {}).get("error")
    if isinstance(error, Mapping):
        step = str((document or {}).get("failed_in") or "start")
        what = f"{error.get('type')}: {error.get('message')}"
        return plain(f"{program} failed at the step {step}: {what}")[:SAID]
    raised = ran.observations.first(PythonException)
    last = f": {raised.type}: {raised.message}" if raised is not None else ""
    return plain(f"{program} ended with {ran.exit.how}{last}")[:SAID]
