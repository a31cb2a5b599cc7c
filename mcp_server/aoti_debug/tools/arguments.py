"""Arguments that several tools take, and the target that they name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio.to_thread
from pydantic import Field

from aoti_debug.errors import WrongUse
from aoti_debug.facts.stages import STAGES
from aoti_debug.paths import expanded

if TYPE_CHECKING:
    from aoti_debug.api import Request

MAX_WAIT_S = 240  # some clients end any call at 300 s, whatever progress it reports

Script = Annotated[str, Field(description="absolute path of the Python script")]
Module = Annotated[str, Field(description="instead of script: as in `python -m`; needs cwd")]
Command = Annotated[tuple[str, ...], Field(description="instead of script: any program")]
Args = Annotated[tuple[str, ...], Field(description="its arguments")]
StageName = Annotated[str, Field(json_schema_extra={"enum": list(STAGES)})]
KernelFilter = Annotated[str, Field(description="stage values: only these, comma-separated")]
Python = Annotated[str, Field(description="interpreter that has torch")]
Env = Annotated[dict[str, str] | None, Field(description="variables to add")]
Cwd = Annotated[str, Field(description="directory to run in; default: the script's")]
TimeoutS = Annotated[int, Field(ge=1, le=86_400)]
WatchForS = Annotated[int, Field(ge=0, le=86_400, description="of a server: diagnose it then")]
WaitS = Annotated[int, Field(ge=0, le=MAX_WAIT_S)]
Run = Annotated[str, Field(description="run id, r-…")]


async def request(
    script: str,
    module: str,
    command: tuple[str, ...],
    args: tuple[str, ...],
    python: str,
    env: Mapping[str, str] | None,
    cwd: str,
    timeout_s: int,
    watch_for_s: int | None = None,
) -> Request:
    """Resolve what is to be run; a server has no directory that relative paths could start at.

    Raises:
        WrongUse: not exactly one target, or a path that is not absolute.
    """
    from aoti_debug import api

    if sum(map(bool, (script, module, command))) != 1:
        raise WrongUse("nothing to run" if not (script or module or command) else "several targets",
                       help="Give exactly one of script, module and command.")  # fmt: skip
    directory = absolute("cwd", cwd) if cwd else None
    if directory is None and module:
        raise WrongUse("module without cwd", help="Give cwd, where `python -m` would be started.")
    if directory is None and script:
        directory = _parent(absolute("script", script))
    elif directory is None and command and "/" in command[0]:
        directory = _parent(absolute("command", command[0]))
    resolve = partial(
        api.request,
        script=script or None,
        module=module or None,
        command=command or None,
        args=args,
        python=interpreter(python, has_cwd=bool(cwd)),
        env=dict(env or {}),
        cwd=directory,
        timeout_s=timeout_s,
        watch_for_s=watch_for_s,
    )
    return await anyio.to_thread.run_sync(resolve)


def absolute(name: str, value: str) -> Path:
    """Return the absolute path; `~` is the user's home.

    Raises:
        WrongUse: the path is relative.
    """
    path = expanded(value)
    if not path.is_absolute():
        raise WrongUse(
            f"{name} is not an absolute path: {value!r}",
            help="The server runs in a directory of its own: give the absolute path"
            + (", or cwd." if name in ("script", "command", "python") else "."),
        )
    return path


def interpreter(python: str, *, has_cwd: bool = False) -> str | None:
    """Return what names an interpreter, if anything does.

    Raises:
        WrongUse: a path that is relative to nothing.
    """
    if "/" in python and not has_cwd:
        return str(absolute("python", python))
    return python or None


def _parent(path: Path) -> Path | None:
    """Return the directory of a target; None where a target cannot be, which is then said."""
    return path.parent if path.parent.is_dir() else None
