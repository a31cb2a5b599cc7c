"""What to examine, as the user names it: a package or a run; and the one process that does it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar, Union

import anyio.to_thread

from aoti_debug.errors import AotiDebugError, UnreadableInput
from aoti_debug.minify.request import target_of
from aoti_debug.model import Ending, RunRecord
from aoti_debug.plain import plain
from aoti_debug.read.record import PythonException
from aoti_debug.read.typed import take
from aoti_debug.run.directory import RUN_ID, RunDirectory
from aoti_debug.run.files import expanded
from aoti_debug.run.interpreter import find_interpreter
from aoti_debug.run.kept import within
from aoti_debug.run.target import resolve_target
from aoti_debug.triage.captured_call import Captured, captured
from aoti_debug.triage.observe import observe
from aoti_debug.triage.replay import probed
from aoti_debug.triage.run_state import Ran, Request, RunState
from aoti_debug.triage.spawn import hold_gpus

SAID = 300  # characters of an error
T = TypeVar("T")
E = TypeVar("E", bound="ExamineRequest")
Named = Union[str, "os.PathLike[str]"]


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


# What a user may say besides the fields of a request: a call's files, and where they are.
FILES = ("inputs", "exported", "env", "cwd", "home", "owner")


def examine_request(what: str, **given: Any) -> ExamineRequest:
    """Resolve a package, or a run with the call that it captured; `given` are `FILES` and fields of
    `ExamineRequest`. Blocks. Raise UnknownRun, UnreadableInput, NothingToMinify, NoInterpreter."""
    python, env = given.get("python"), given.get("env")
    wanted = wanted_of(given)
    both = (("inputs", given.get("inputs")), ("exported", given.get("exported")))
    files: Any = {name: file_of(path, name, given) for name, path in both if path is not None}
    if RUN_ID.fullmatch(what):
        directory = RunDirectory.open(what, given.get("home"), given.get("owner"))
        target = target_of(directory, python, env)
        call = replace(_call_of(directory, given.get("home")), **files)
        if call.package is None:
            raise UnreadableInput(
                f"run {what} holds no package: {call.why_no_package}", help="Give the package."
            )
        return ExamineRequest(target, call=call, uses=(directory,), **wanted)
    package = file_of(what, "package", given)
    command = (str(find_interpreter(python, {**os.environ, **(env or {})})), str(package))
    target = resolve_target(command=command, env=env, cwd=given.get("cwd") or package.parent)
    return ExamineRequest(target, call=Captured(package=package, **files), **wanted)


def file_of(path: Named, what: str, given: Mapping[str, Any]) -> Path:
    found = Path(given.get("cwd") or ".", expanded(path)).absolute()
    if not found.is_file():
        raise UnreadableInput(f"{what}: there is no file {found}", help="Give an existing file.")
    within(found, given.get("owner"), given.get("home"))
    return found


def wanted_of(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in given.items() if name not in FILES}


def with_inputs(request: E) -> E:
    """Return a request that has the inputs of a call, or a program that has an example."""
    if request.call.inputs is None and request.call.exported is None:
        raise UnreadableInput(
            "there are no inputs for a call",
            help="Save some with torch.save((args, kwargs), FILE) and give --inputs FILE.",
        )
    return request


def extended(kind: type[E], request: Request, **more: Any) -> E:
    """Return a request of a kind that says what another one says, and more."""
    known = {field.name: getattr(request, field.name) for field in fields(request)}
    return kind(**{"call": Captured(), **known, **more})


def _call_of(directory: RunDirectory, home: Path | None) -> Captured:
    """Return what a run has captured of its failing call, else of its last."""
    record = directory.read_record() or RunRecord()
    return captured(observe(directory.path, "", record.ended or Ending()), directory.path, home)


async def examined(
    state: RunState,
    request: ExamineRequest,
    program: str,
    kind: type[T],
    *more: str,
    flags: Mapping[str, str] | None = None,
) -> tuple[T, Ran]:
    """Run a program of the probe on the package and its call; return its report and the process.
    `flags` override all other variables. Raise NotExamined where it did not report."""
    words = [*more, *(["--trust"] if request.trust else [])]
    words += ["--model", request.model] if request.model is not None else []
    timeout_s = request.timeout_s
    async with hold_gpus(state):
        ran, document, _ = await probed(
            state, program, program, request.call, *words, timeout_s=timeout_s, flags=flags
        )
    error = (document or {}).get("error")
    if document is None or error or not ran.exit.ok:
        state.notes.append(said(ran, document, program))
        if document is None or error:
            raise NotExamined(state.notes[-1])
    return await anyio.to_thread.run_sync(take, kind, document), ran


def of_run(state: RunState, request: ExamineRequest) -> dict[str, Any]:
    return {
        "run": state.directory.id,
        "status": "done",
        "package": str(request.call.package),
        "artifacts": state.artifacts(),
        "notes": list(state.notes),
    }


def unwatched(state: RunState) -> dict[str, str]:
    return {"PYTHONPATH": state.request.target.env.get("PYTHONPATH", "")}


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
