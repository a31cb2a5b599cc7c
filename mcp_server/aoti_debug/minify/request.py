"""What is to be minified, as the user names it."""

from __future__ import annotations

import ast
import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from aoti_debug.errors import AotiDebugError, WrongUse
from aoti_debug.probe.python_source import parse
from aoti_debug.run.directory import RUN_ID, RunDirectory
from aoti_debug.run.files import expanded, read_regular
from aoti_debug.run.interpreter import find_interpreter
from aoti_debug.run.kept import within
from aoti_debug.run.target import Target, resolve_target
from aoti_debug.triage.run_state import Request

BUDGET_S = 1800.0
CANDIDATES = 400
LAUNCHER_BYTES = 64 << 10  # its syntax tree takes a thousand times as much memory
_PROGRAM = re.compile(r"[\w./ -]{0,500}exported_program[\w./ -]{0,100}\.pt2|[\w./ -]{1,500}\.pt2")


class NothingToMinify(AotiDebugError):
    """The run, script or program cannot be minified; the message says why."""

    help = "Triage the failing script first (MCP: triage), then minify its run."


@dataclass(frozen=True, slots=True)
class MinifyRequest(Request):
    """`run` is an earlier run, `program` an exported program; with neither the target is run."""

    _: KW_ONLY
    run: str | None = None
    program: Path | None = None
    engine: str = "own"  # or torch: PyTorch's own minifier
    budget_s: float = BUDGET_S
    candidates: int = CANDIDATES
    compare: bool = False  # look for a wrong result where nothing else fails
    trust: bool = False  # the person vouches for the program's file

    @property
    def alone(self) -> bool:
        """Tell whether nothing is imported from beside the program: nobody vouches for it."""
        return self.program is not None and not self.imports


def minify_request(
    what: str,
    *,
    args: tuple[str, ...] = (),
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    home: Path | None = None,
    owner: str | None = None,
    **wanted: Any,
) -> MinifyRequest:
    """Resolve a run, a script, a minifier_launcher.py or an exported program; `wanted` are fields
    of `MinifyRequest`. Raise WrongUse, TargetNotFound, UnknownRun, NothingToMinify or
    NoInterpreter."""
    python, engine = wanted.get("python"), wanted.get("engine", "own")
    if engine not in ("own", "torch"):
        raise WrongUse(f"there is no engine {engine!r}", help="Use own or torch.")
    run = program = None
    uses: tuple[RunDirectory, ...] = ()
    if RUN_ID.fullmatch(what):
        run = what
        uses = (RunDirectory.open(what, home, owner),)
        target = target_of(uses[0], python, env)
    elif what.endswith(".pt2") or Path(what).name == "minifier_launcher.py":
        program = program_of(Path(cwd or ".", expanded(what)).absolute())
        within(program, owner, home)
        interpreter = find_interpreter(python)
        target = resolve_target(
            command=(str(interpreter), str(program)), env=env, cwd=program.parent
        )
    else:
        target = resolve_target(script=what, args=args, python=python, env=env, cwd=cwd)
    if engine == "torch" and (run or program):
        raise WrongUse(
            "PyTorch's own minifier dumps while a script compiles",
            help="Give the script, or use engine own.",
        )
    return MinifyRequest(target, run=run, program=program, uses=uses, **wanted)


def target_of(directory: RunDirectory, python: str | None, env: Mapping[str, str] | None) -> Target:
    """Return what a run ran, by its record; raise NothingToMinify while it runs or without one."""
    if directory.is_running():
        raise NothingToMinify(
            f"run {directory.id} is still going", help="Wait for it (wait_run) or cancel it."
        )
    record = directory.read_record()
    try:
        words = shlex.split(record.command) if record is not None else []
    except ValueError:
        words = []
    if record is None or record.cwd is None or not words:
        why = "cannot be read" if record is None else "names no command"
        raise NothingToMinify(f"the record of run {directory.id} {why}")
    cwd = Path(record.cwd)
    place = cwd if cwd.is_dir() else directory.path
    named = words[0] if "python" in Path(words[0]).name else None
    interpreter = find_interpreter(python or named)
    full = {**os.environ, **(env or {})}
    return Target(tuple(words), place, full, record.label or words[0], interpreter)


def program_of(path: Path) -> Path:
    """Return the exported program of a dumped launcher, or itself; raise NothingToMinify."""
    if not path.is_file():
        raise NothingToMinify(f"there is no file {path}", help="Give an existing file.")
    if path.suffix == ".pt2":
        return path
    try:
        tree = parse(read_regular(path, LAUNCHER_BYTES, follow=True).decode())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise NothingToMinify(f"{path} cannot be read: {str(error) or 'it is too deep'}") from error
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    beside = sorted(path.parent.glob("**/exported_program.pt2"))
    named = [Path(text) for text in texts if isinstance(text, str) and _PROGRAM.fullmatch(text)]
    found = [p if p.is_absolute() else path.parent / p for p in named]
    for candidate in [*found, *beside]:
        if candidate.is_file():
            return candidate
    raise NothingToMinify(
        f"{path} names no exported program that is still there",
        help="Give the exported_program.pt2 that was dumped beside it.",
    )


def interpreter_name(target: Target) -> str:
    return str(target.python) if target.python else sys.executable
