"""What the tools, the command line and the evals call."""

from __future__ import annotations

import io
import os
import stat
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast, get_args

from aoti_debug.errors import RunDirectoryError, UnreadableInput, WrongUse
from aoti_debug.model import ArtifactPage, DiagnoseAnswer, RunRecord, Status
from aoti_debug.run.files import expanded as expanded
from aoti_debug.run.kept import named_in as named_in
from aoti_debug.run.kept import within as within
from aoti_debug.run.share import going as going
from aoti_debug.signals import in_thread

if TYPE_CHECKING:  # a log is read faster without them
    from aoti_debug.answers import (
        EnvironmentAnswer,
        ExplainAnswer,
        PackageAnswer,
        RunsAnswer,
        RunSummary,
        UploadAnswer,
    )
    from aoti_debug.run.directory import RunDirectory
    from aoti_debug.run.turns import Turns
    from aoti_debug.service import Request as Request
    from aoti_debug.service import Service as Service


def service(
    home: Path | None = None, gpu_wait_s: float = 0.0, *, prunes: bool = True, apart: bool = False
) -> Service:
    """Make what starts runs and holds them: `async with service() as runs: …`."""
    from aoti_debug.service import Service

    return Service(home, gpu_wait_s, prunes=prunes, apart=apart)


def turns(places: int, own: int) -> Turns:
    """Make turns at some places, of which a client may have `own`."""
    from aoti_debug.run.turns import Turns

    return Turns(places, own)


def request(
    *,
    script: str | os.PathLike[str] | None = None,
    module: str | None = None,
    command: Sequence[str] | None = None,
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    **wanted: Any,
) -> Request:
    """Resolve what is to be run: one of `script`, `module` and `command`; `wanted` are fields of
    `Request`. Blocks. Raise WrongUse, TargetNotFound or NoInterpreter."""
    from aoti_debug.run.interpreter import check_interpreter
    from aoti_debug.run.target import resolve_target
    from aoti_debug.service import Request

    python = wanted.get("python")
    target = resolve_target(
        script=script, module=module, command=command, args=args, python=python, env=env, cwd=cwd
    )
    if target.python is not None and (python or not command):
        check_interpreter(target.python, target.env)
    return Request(target, **wanted)


def preload() -> None:
    """Import what reading a log, a package and a kernel takes."""
    from aoti_debug.diagnose import diagnose
    from aoti_debug.environment import gather
    from aoti_debug.explain import package
    from aoti_debug.package import inspect
    from aoti_debug.read import scan
    from aoti_debug.signatures import matcher
    from aoti_debug.triage import explanation

    del diagnose, gather, package, inspect, explanation
    for text in ("RuntimeError: nothing", "CUDA error: nothing"):
        scan.scan_text(text, "log", [*scan.log_readers("log"), matcher("log")])


def directory(run: str) -> Path:
    """Return where a run keeps its files."""
    from aoti_debug.run.directory import RunDirectory

    return RunDirectory.open(run).path


async def environment(
    python: str | None = None, env: Mapping[str, str] | None = None
) -> EnvironmentAnswer:
    """Return what the user's interpreter and this machine have, and what would break a run."""
    from aoti_debug import environment  # not needed by the other commands, which start faster

    return await environment.environment(python, env)


async def inspect(
    package: str,
    python: str | None = None,
    *,
    model: str | None = None,
    check_inputs: bool = False,
    owner: str | None = None,
) -> PackageAnswer:
    """Return what a package says of itself, without loading it, held against the torch of
    `python` and this machine. `check_inputs` writes a function for serving code, below `home`.
    Raise UnreadableInput where there is no such package, NoInterpreter where `python` is none."""
    from aoti_debug.environment.gather import installed
    from aoti_debug.package import inspect as reader
    from aoti_debug.run.interpreter import find_interpreter

    path = _package(package)
    if python:
        find_interpreter(python)

    def read(stop: threading.Event) -> PackageAnswer:
        return reader.answer(path, installed(python), stop=stop, check_inputs=written)

    written = await _written_check(path, model, owner) if check_inputs else None
    return await in_thread(read)


async def _written_check(path: Path, model: str | None, owner: str | None) -> str:
    """Write the function that checks a package's inputs; return its file, or why there is none."""
    import hashlib

    from aoti_debug.run.files import write_atomically
    from aoti_debug.run.kept import make, own_name

    try:
        source = (await check_inputs(str(path), model)).encode()
    except UnreadableInput as error:
        return str(error)
    name = own_name(hashlib.sha256(source).hexdigest()[:16], owner)
    file = make("check_inputs", name, owner).path / "check_inputs.py"
    write_atomically(file, source)
    return str(file)


async def check_inputs(package: str, model: str | None = None) -> str:
    """Return the source of a function that checks a model's inputs; raise UnreadableInput."""
    import anyio.to_thread

    from aoti_debug.package.contract import contract, write_check_inputs
    from aoti_debug.package.inspect import inspect as read

    path = _package(package)
    found = (await anyio.to_thread.run_sync(read, path)).model(model)
    stated = contract(found) if found is not None else None
    if stated is None or not stated.stated:
        raise UnreadableInput(
            f"{path} does not say what its inputs must be",
            help="torch 2.7 and later write it into the package's source.",
        )
    return write_check_inputs(stated)


def unpack(packed: str, name: str, owner: str | None = None) -> UploadAnswer:
    """Unpack a client's archive. Blocks. Raise WrongUse, TooLarge or RunDirectoryError."""
    from aoti_debug import unpacking

    try:
        return unpacking.unpack(Path(packed), name, owner)
    except OSError as error:
        raise RunDirectoryError(f"cannot keep the upload: {error.strerror}") from error


def _package(package: str) -> Path:
    path = expanded(package)
    if not path.exists():
        raise UnreadableInput(f"there is no package {path}", help="Give the path of a .pt2.")
    if not (path.is_file() or path.is_dir()):
        raise UnreadableInput(f"{path} is not a regular file", help="Give the path of a .pt2.")
    return path


async def explain(
    target: str, kernel: str | None = None, model: str | None = None, *, owner: str | None = None
) -> ExplainAnswer:
    """Explain a kernel of a run or of a package; of a run, without a name, the one it blames. Raise
    UnknownRun, UnreadableInput, or UnknownKernel with the nearest names."""
    import anyio.to_thread

    from aoti_debug.explain.package import explain_package
    from aoti_debug.run.directory import RunDirectory
    from aoti_debug.triage.explanation import explain_run

    if target.startswith("r-") and not Path(target).exists():
        found = RunDirectory.open(target, owner=owner)
        return await anyio.to_thread.run_sync(explain_run, found, kernel, model)
    path = _package(target)
    if kernel is None:
        raise WrongUse("which kernel?", help="Name one, the number of its launch, or an assertion.")
    return await anyio.to_thread.run_sync(explain_package, path, kernel, model)


async def diagnose(text: str | None = None, path: str | None = None) -> DiagnoseAnswer:
    """Do what `diagnose_log` does, in a thread."""
    return await in_thread(lambda stop: diagnose_log(text, path, stop))


def diagnose_log(
    text: str | None = None, path: str | None = None, stop: threading.Event | None = None
) -> DiagnoseAnswer:
    """Diagnose a log given as text or as the path of a file. Never runs anything. Blocks. Raise
    WrongUse where neither or both are given, UnreadableInput for what is no readable file."""
    if (text is None) == (path is None):
        raise WrongUse("exactly one of text and path is needed")
    if text is not None:
        return _diagnose_stream(io.BytesIO(text.encode("utf-8", "surrogateescape")), "log")
    from aoti_debug.run.files import open_regular

    file = expanded(path or "")
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # such a file may block, or never end
            raise UnreadableInput(f"{file} is not a regular file")
        with open_regular(file, stop, follow=True) as stream:
            return _diagnose_stream(stream, file.name)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise UnreadableInput(f"cannot read {file}: {why}") from error
    except ValueError as error:  # a NUL in the path
        raise UnreadableInput(f"cannot read {file}: {error}") from error


def _diagnose_stream(stream: BinaryIO, artifact: str) -> DiagnoseAnswer:
    from aoti_debug.diagnose import Observations
    from aoti_debug.diagnose import diagnose as rank
    from aoti_debug.diagnose.from_exception import NOTHING_KNOWN, says_little
    from aoti_debug.diagnose.scene import read_scene
    from aoti_debug.read.blocks import unwrapped
    from aoti_debug.read.python_traceback import error_lines, said_lines
    from aoti_debug.read.scan import log_readers, scan
    from aoti_debug.read.shim import CodePlaceReader
    from aoti_debug.signatures import matcher

    read = scan(stream, artifact, [*log_readers(artifact), matcher(artifact)])
    if read.lines == 0:
        empty = "the log is empty: run the script again with its stderr kept"
        return DiagnoseAnswer(lines=0, notes=[*read.notes, empty])
    scene = read_scene(stream, artifact, read.lines)
    found = rank(Observations(read.records, scene=scene))
    if not found or found[0].category in NOTHING_KNOWN:
        stream.seek(0)
        if (joined := unwrapped(stream)) is not None:
            again = scan(joined, artifact, [CodePlaceReader(artifact), matcher(artifact)])
            found = rank(Observations((*read.records, *again.records), scene=scene))
    records = read.records
    if not found or found[0].category in NOTHING_KNOWN:
        stream.seek(0)
        records = (*records, *error_lines(stream, artifact))
        found = rank(Observations(records, scene=scene))
    if says_little(found[0]):
        stream.seek(0)
        found = rank(Observations((*records, *said_lines(stream, artifact)), scene=scene))
    return DiagnoseAnswer(diagnoses=found, lines=read.lines, notes=list(read.notes))


async def artifact(
    run: str, name: str, offset: int = 0, limit: int | None = None, owner: str | None = None
) -> ArtifactPage:
    """Return a page of a run's file: lines, or a hex dump. Raise UnknownRun or UnknownArtifact."""
    return await in_thread(lambda stop: page(run, name, offset, limit, owner, stop))


def page(
    run: str, name: str, offset: int, limit: int | None, owner: str | None, stop: threading.Event
) -> ArtifactPage:
    """Return what `artifact` does, in this thread."""
    from aoti_debug.run.directory import RunDirectory

    return RunDirectory.open(run, owner=owner).page(name, offset, limit, stop)


def runs() -> RunsAnswer:
    """Return the runs that are kept, newest first."""
    from aoti_debug.answers import RunsAnswer
    from aoti_debug.run.directory import list_runs

    return RunsAnswer(runs=[_summary(run) for run in list_runs()])


def _summary(run: RunDirectory) -> RunSummary:
    """Return a row of the list, of whatever the run has left as its record."""
    from aoti_debug.answers import RunSummary

    began = _began(run)
    try:
        record = run.read_record() or RunRecord()
        status = record.status
        if status == "running" and not run.is_running():
            status = "failed"
        started = record.started or began
        return RunSummary(
            run=run.id,
            status=cast(Status, status if status in get_args(Status) else "failed"),
            kind=record.kind[:40],
            command=record.command[:300],
            started=_iso(started),
            wall_s=record.wall_s or round(time.time() - started, 1),
            exit=record.exit,
            summary=record.summary,
        )
    except (ValueError, TypeError, OverflowError, OSError):
        return RunSummary(
            run=run.id,
            status="failed",
            kind="unknown",
            command="",
            started=_iso(began),
            summary="its run.json is damaged",
        )


def _began(run: RunDirectory) -> float:
    try:
        return run.path.stat().st_mtime
    except OSError:
        return 0.0


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, timezone.utc).isoformat(timespec="seconds")
