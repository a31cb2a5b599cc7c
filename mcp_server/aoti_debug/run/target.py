"""Turn what the user names (a script, a module or a command) into what is executed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aoti_debug.errors import NoInterpreter, TargetNotFound, WrongUse
from aoti_debug.paths import expanded
from aoti_debug.plain import plain
from aoti_debug.run.interpreter import find_interpreter

LABEL_LIMIT = 120
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_PYTHON = re.compile(r"python(\d+(\.\d+)?)?t?")


@dataclass(frozen=True, slots=True)
class Target:
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]  # complete
    label: str
    python: Path | None  # the interpreter that has the user's torch, as far as is known


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
    """Return the target that one of `script`, `module` and `command` names.

    A relative script is looked for in `cwd`, then in the current directory. `env` is merged over
    the current environment.

    Raises:
        WrongUse, TargetNotFound, NoInterpreter
    """
    if sum(bool(given) for given in (script, module, command)) != 1:
        raise WrongUse("exactly one target is needed", help="Name one of: script, module, command.")
    directory = _directory(cwd)
    full = _environment(env)
    if command:
        argv = _command([*command, *args], directory, full)
        named = argv[0] if _PYTHON.fullmatch(Path(argv[0]).name) else None
        return Target(
            argv, directory, full, _label(command[0], argv), _maybe(python or named, full)
        )
    if module:
        if not _MODULE.fullmatch(module):
            help = "Give it as `python -m` takes it: names joined by dots, no path, no options."
            raise WrongUse(f"{module!r} is no name of a module", help=help)
        found = find_interpreter(python, full)
        argv = (str(found), "-m", module, *_words(args))
        return Target(argv, directory, full, _label(f"-m {module}", argv[2:]), found)
    path = _script(expanded(script or ""), directory)
    if _runs_by_itself(path):
        argv = (str(path), *_words(args))
        return Target(argv, directory, full, _label(path.name, argv), _maybe(python, full))
    found = find_interpreter(python, full)
    argv = (str(found), str(path), *_words(args))
    return Target(argv, directory, full, _label(path.name, argv[1:]), found)


def _directory(cwd: str | os.PathLike[str] | None) -> Path:
    directory = expanded(cwd or ".").absolute()
    if not directory.is_dir():
        raise WrongUse(f"cwd {directory} is no directory", help="Give an existing directory.")
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
                help="No program can be given one: pass such data in a file.",
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
        raise TargetNotFound(f"{found} cannot be read", help="Give yourself the right to read it.")
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


def _maybe(python: str | None, env: Mapping[str, str]) -> Path | None:
    try:
        return find_interpreter(python, env)
    except NoInterpreter:
        if python:
            raise
        return None


def _label(name: str, argv: Sequence[str]) -> str:
    words = [name, shlex.join(argv[1:])] if len(argv) > 1 else [name]
    return plain(" ".join(words), LABEL_LIMIT)
