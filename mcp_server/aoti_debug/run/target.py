"""Turn what the user names into what is executed; how it goes on, how it ended."""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aoti_debug.errors import NoInterpreter, TargetNotFound, WrongUse
from aoti_debug.model import Ending
from aoti_debug.plain import plain
from aoti_debug.run.files import expanded
from aoti_debug.run.interpreter import choose_interpreter, find_interpreter
from aoti_debug.run.output import Stream
from aoti_debug.run.project import PYTHON

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    env: Mapping[str, str]  # complete, nothing is inherited
    cwd: Path
    timeout_s: float = 900.0
    watch_for_s: float = math.inf  # then it is ended as one that went well
    output_cap: int = 64 * MIB  # bytes of each log
    grace_s: float = 2.0  # between SIGTERM and SIGKILL
    on_timeout_s: float = 30.0  # how long `on_timeout` may take


@dataclass(frozen=True, slots=True)
class Progress:
    elapsed_s: float
    bytes: int
    last_line: str  # at most 120 characters, no control codes


@dataclass(frozen=True, slots=True)
class Exit:
    """How a program ended. `strays` outlived it and were ended; `notes` names what was lost."""

    code: int | None
    signal: str | None  # SIGSEGV, ...
    core: bool
    timed_out: bool
    cancelled: bool
    enough: bool  # it went on until it had been watched long enough
    wall_s: float
    peak_rss: int  # bytes
    pid: int
    strays: int
    stdout: Stream
    stderr: Stream
    timeout_s: float = math.inf
    notes: tuple[str, ...] = ()

    @property
    def how(self) -> str:
        if self.cancelled:
            return "cancelled"
        if self.enough:
            return f"watched for {self.wall_s:.0f} s"
        if self.timed_out:
            return f"timed out after {self.timeout_s:g} s"
        if self.signal:
            return f"{self.signal} (core dumped)" if self.core else self.signal
        return f"exit {self.code}"

    @property
    def ok(self) -> bool:
        return self.code == 0 and not self.timed_out and not self.cancelled

    @property
    def ending(self) -> Ending:
        """Return what is known of the program's own end: a signal that we sent is not its own."""
        if self.cancelled:
            return Ending()
        return Ending(
            code=self.code,
            signal=None if self.timed_out or self.enough else self.signal,
            timed_out=self.timed_out,
            enough=self.enough,
            timeout_s=self.timeout_s,
        )


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class Target:
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]  # complete
    label: str
    python: Path | None  # the interpreter that has the user's torch, as far as is known
    python_from: str = ""  # what names it, where it starts the target


def resolve_target(
    *,
    script: str | os.PathLike[str] | None = None,
    module: str | None = None,
    command: Sequence[str] | None = None,
    args: Sequence[str] = (),
    python: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
) -> Target:
    """Return the target. A relative script is searched in `cwd`, then in the current directory;
    `env` extends the environment. Raise WrongUse, TargetNotFound or NoInterpreter."""
    if sum(bool(given) for given in (script, module, command)) != 1:
        raise WrongUse("exactly one target is needed", help="Name one of: script, module, command.")
    directory = _directory(cwd)
    full = _environment(env)
    if command:
        argv = _command([*command, *args], directory, full)
        named = argv[0] if PYTHON.fullmatch(Path(argv[0]).name) else None
        found = _maybe(python or named, full, directory)
        return Target(argv, directory, full, _label(command[0], argv), found)
    if module:
        if not _MODULE.fullmatch(module):
            help = "Give it as `python -m` takes it: names joined by dots, no path, no options."
            raise WrongUse(f"{module!r} is not the name of a module", help=help)
        chosen = choose_interpreter(python, full, directory)
        argv = (str(chosen.path), "-m", module, *_words(args))
        label = _label(f"-m {module}", argv[2:])
        return Target(argv, directory, full, label, chosen.path, chosen.source)
    path = _script(expanded(script or ""), directory)
    if _runs_by_itself(path):
        argv = (str(path), *_words(args))
        return Target(argv, directory, full, _label(path.name, argv), _maybe(python, full, path))
    chosen = choose_interpreter(python, full, path, directory)
    argv = (str(chosen.path), str(path), *_words(args))
    return Target(argv, directory, full, _label(path.name, argv[1:]), chosen.path, chosen.source)


def _directory(cwd: str | os.PathLike[str] | None) -> Path:
    directory = expanded(cwd or ".").absolute()
    if not directory.is_dir():
        raise WrongUse(f"cwd {directory} is not a directory", help="Give an existing directory.")
    return directory


def _environment(env: Mapping[str, str] | None) -> dict[str, str]:
    for name, value in (env or {}).items():
        if not name or "=" in name or "\0" in name + value:
            raise WrongUse(
                f"environment variable {name!r} cannot be set",
                help="A name is not empty and holds no `=`; neither it nor its value holds a NUL.",
            )
    return {**os.environ, **(env or {})}


def _words(args: Sequence[str]) -> list[str]:
    for word in args:
        if "\0" in word:
            raise WrongUse(
                "an argument holds a NUL character",
                help="Arguments cannot hold one: pass such data in a file.",
            )
    return list(args)


def _script(path: Path, directory: Path) -> Path:
    places = [path] if path.is_absolute() else [directory / path, Path.cwd() / path]
    found = next((p for p in places if p.exists()), None)
    if found is None:
        tried = " or ".join(dict.fromkeys(str(p) for p in places))
        raise TargetNotFound(f"there is no script {tried}")
    if found.is_dir():
        help = "Give the script inside it, or `module` for a package with a __main__.py."
        raise TargetNotFound(f"{found} is a directory, not a script", help=help)
    if found.suffix == ".pt2":
        help = "`aoti-debug inspect` (MCP: inspect_package) reads it; to run it, give the script."
        raise TargetNotFound(f"{found} is a package, not a script", help=help)
    if found.suffix == ".ipynb":
        help = "Save it as a Python script first (jupyter nbconvert --to script)."
        raise TargetNotFound(f"{found} is a notebook, not a script", help=help)
    if not found.is_file():
        raise TargetNotFound(f"{found} is not a regular file")
    if not os.access(found, os.R_OK):
        raise TargetNotFound(f"{found} cannot be read", help="Make it readable.")
    return found.absolute()


def _runs_by_itself(path: Path) -> bool:
    """Tell a program or a shell script from Python source."""
    if path.suffix in (".py", ".pyw", ".pyc", ".pyz") or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as file:
        first = file.read(256).split(b"\n")[0]
    return first.startswith(b"\x7fELF") or (first.startswith(b"#!") and b"python" not in first)


def _command(words: Sequence[str], directory: Path, env: Mapping[str, str]) -> tuple[str, ...]:
    name, *rest = _words(words)
    if os.sep in name:
        path = directory / expanded(name)
        if path.is_dir():
            raise TargetNotFound(f"{path} is a directory, not a program")
        if not path.exists():
            raise TargetNotFound(f"there is no program {path}")
        if not os.access(path, os.X_OK):
            raise TargetNotFound(f"{path} is not executable", help="chmod +x it, or name a shell.")
        return (str(path), *rest)
    found = shutil.which(name, path=env.get("PATH", os.defpath))
    if found is None:
        raise TargetNotFound(f"there is no program {name!r} on PATH")
    return (str(directory / found), *rest)


def _maybe(python: str | None, env: Mapping[str, str], near: Path) -> Path | None:
    try:
        return find_interpreter(python, env, near)
    except NoInterpreter:
        if python:
            raise
        return None


def _label(name: str, argv: Sequence[str]) -> str:
    return plain(" ".join([name, shlex.join(argv[1:])] if len(argv) > 1 else [name]), 120)


def script_and_args(target: Target) -> tuple[Path | None, tuple[str, ...]]:
    """Return the script of a recorded command, and what stands behind it."""
    for number, word in enumerate(target.argv[1:], 1):
        if word.endswith(".py"):
            return (target.cwd / word).absolute(), target.argv[number + 1 :]
    return None, target.argv[1:]


def tree_of(target: Target, script: Path) -> Path:
    return target.cwd if script.is_relative_to(target.cwd) else script.parent
