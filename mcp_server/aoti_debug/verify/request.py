"""What fix is to be verified, against which failure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

from aoti_debug.errors import UnreadableInput, WrongUse
from aoti_debug.minify.request import target_of
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.files import expanded, read_regular
from aoti_debug.run.target import Target, resolve_target, script_and_args
from aoti_debug.triage.run_state import Request

PATCH_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class VerifyRequest(Request):
    """`target` is the fixed script, or the original one where `patch` is its fix."""

    _: KW_ONLY
    against: str = ""
    patch: str | None = None
    seeds: int = 3
    trust: bool = False  # the person vouches for the programs' files


def verify_request(
    what: str,
    against: str,
    *,
    args: tuple[str, ...] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    home: Path | None = None,
    owner: str | None = None,
    **wanted: Any,
) -> VerifyRequest:
    """Resolve a fixed script, or a patch of the run's own; a run stands for its script as it is
    now. Its arguments are the run's by default and `wanted` are fields of `VerifyRequest`. Raise
    WrongUse, TargetNotFound, UnknownRun, NothingToMinify or NoInterpreter."""
    python = wanted.get("python")
    directory = RunDirectory.open(against, home, owner)
    original = target_of(directory, python, env)
    if what == against:
        what = str(script_of(original))
    path = Path(cwd or ".", expanded(what)).absolute()
    own = args if args is not None else script_and_args(original)[1]
    if path.suffix in (".patch", ".diff"):
        words = (original.argv[0], str(script_of(original)), *own)
        target, patch = replace(original, argv=words), _patch(path)
    else:
        interpreter = python or (str(original.python) if original.python else None)
        target = resolve_target(
            script=path, args=own, python=interpreter, env=env, cwd=cwd or original.cwd
        )
        patch = None
    return VerifyRequest(target, against=against, patch=patch, uses=(directory,), **wanted)


def script_of(original: Target) -> Path:
    """Return the script of a run; raise WrongUse where it has none, or no longer."""
    script, _ = script_and_args(original)
    if script is None:
        raise WrongUse(
            "the run's command names no Python script",
            help="Name the fixed script; apply a patch to a copy and name the script in it.",
        )
    if not script.is_file():
        raise WrongUse(f"the script {script} of that run no longer exists", help="Restore it.")
    return script


def _patch(path: Path) -> str:
    try:
        return read_regular(path, PATCH_BYTES, follow=True).decode().replace("\r\n", "\n")
    except (OSError, ValueError) as error:
        raise UnreadableInput(
            f"cannot read {path}: {error}", help="Give a unified diff."
        ) from error
