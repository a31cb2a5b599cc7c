"""Find the interpreters that a project uses, by its files. Starts nothing."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from aoti_debug.run.files import read_source
from aoti_debug.run.machine import is_executable

# What stands in the top folder of a project, or of a part of it.
_MARKS = (
    "pyproject.toml setup.py setup.cfg requirements.txt pixi.toml environment.yml environment.yaml "
    "Makefile justfile .venv venv"
).split()
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", ".justfile")
_CONDA_FILES = ("environment.yml", "environment.yaml", "conda.yml", "conda.yaml")
_CONDA_HOMES = "miniforge3 mambaforge miniconda3 anaconda3 micromamba .conda".split()
PYTHON = re.compile(r"python(\d+(\.\d+)?)?t?")
_ASSIGNED = re.compile(r"(?:export\s+)?(\w{1,80})\s*(?::{1,3}|\?)?=\s*(\S{1,400})\s*")
_USED = re.compile(r"\$\((\w{1,80})\)|\$\{(\w{1,80})\}|\{\{\s{0,4}(\w{1,80})\s{0,4}\}\}")
_CONDA_NAME = re.compile(r"^name:\s*['\"]?([A-Za-z0-9_][\w.-]{0,100})['\"]?\s*(?:#.*)?$", re.M)
_LIMIT = 256 << 10  # bytes of a project's file
_LINE = 4096  # characters of a recipe
_FOLDERS, _RECIPES = 16, 200  # that are looked at; of a file


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter, and what names it."""

    path: Path
    source: str


def project_interpreters(start: Path, env: Mapping[str, str]) -> Iterator[Interpreter]:
    """Yield the interpreters of the project of a script or folder, nearest first. Its files are
    foreign text: an interpreter must be the user's, root's or the project owner's."""
    start = start.absolute()
    try:
        owners = {0, os.getuid(), start.stat().st_uid}
    except OSError:
        return
    folders = _folders(start if start.is_dir() else start.parent, env)
    found = [_in_folder(folder, env) for folder in folders]
    if not start.is_dir():
        near = folders[:_FOLDERS]
        found += [_of_shebang(start, env), *(_of_makefile(folder, start) for folder in near)]
    for one in chain.from_iterable(found):
        if is_executable(one.path) and _owned(one.path, owners):
            yield one


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or os.sep)


def _owned(python: Path, owners: set[int]) -> bool:
    places = (python.lstat(), python.stat(), python.parents[1].lstat())
    return all(place.st_uid in owners for place in places)


def _folders(first: Path, env: Mapping[str, str]) -> list[Path]:
    """Return the folder and those above it, up to the top of its project."""
    upward = [first, *first.parents]
    if (home := _home(env)) in upward[1:]:  # what lies there is of no project
        upward = upward[: upward.index(home)]
    marked = 0
    for number, folder in enumerate(upward):
        if any((folder / name).exists() for name in (".git", ".hg")):
            return upward[: number + 1]
        if any((folder / name).exists() for name in _MARKS):
            marked = number
    return upward[: marked + 1]


def _in_folder(folder: Path, env: Mapping[str, str]) -> Iterator[Interpreter]:
    """Yield what each tool keeps for a project: its name and the folder of the environment."""
    places = [("uv", folder / name) for name in [env.get("UV_PROJECT_ENVIRONMENT")] if name]
    pixi = (folder / ".pixi" / "envs").glob("*")
    places += [(f"the project's {name}", folder / name) for name in (".venv", "venv")]
    for way, place in chain(
        places,
        (("pixi", place) for place in sorted(pixi, key=lambda one: (one.name != "default", one))),
        (("poetry", place) for place in _poetry(folder, env)),
        (("conda", place) for place in _conda(folder, env)),
    ):
        yield Interpreter(place / "bin" / "python", way)


def _poetry(folder: Path, env: Mapping[str, str]) -> list[Path]:
    """Return the environments that poetry keeps for a folder: it names them after its path."""
    if not (folder / "poetry.lock").exists() and "[tool.poetry" not in _text(
        folder / "pyproject.toml"
    ):
        return []
    cache = Path(env.get("XDG_CACHE_HOME") or _home(env) / ".cache", "pypoetry")
    cache = Path(env.get("POETRY_CACHE_DIR") or cache, "virtualenvs")
    kept = Path(env.get("POETRY_VIRTUALENVS_PATH") or cache)
    digest = hashlib.sha256(os.path.realpath(folder).encode()).digest()
    name = base64.urlsafe_b64encode(digest).decode()[:8]
    found = kept.glob(f"*-{name}-py*")
    return sorted(found, key=lambda place: [int(n) for n in re.findall(r"\d+$", place.name)])[::-1]


def _conda(folder: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Yield the environments of the name that a project's file gives."""
    text = next(filter(None, (_text(folder / name) for name in _CONDA_FILES)), "")
    named = _CONDA_NAME.search(text)
    if named is None:
        return
    name, home = named[1], _home(env)
    for line in _text(home / ".conda" / "environments.txt").splitlines():
        if Path(line).name == name:
            yield Path(line)
    roots = [Path(root) for root in env.get("CONDA_ENVS_PATH", "").split(os.pathsep) if root]
    if env.get("CONDA_EXE"):
        roots.append(Path(env["CONDA_EXE"]).parents[1] / "envs")
    if env.get("MAMBA_ROOT_PREFIX"):
        roots.append(Path(env["MAMBA_ROOT_PREFIX"], "envs"))
    roots += [root / one / "envs" for root in (home, Path("/opt")) for one in _CONDA_HOMES]
    yield from (root / name for root in [*roots, Path("/opt/conda/envs")])


def _of_shebang(script: Path, env: Mapping[str, str]) -> Iterator[Interpreter]:
    first = _text(script).partition("\n")[0]
    words = first[2:].split() if first.startswith("#!") else []
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        found = shutil.which(words[0], path=env.get("PATH", os.defpath)) if words else None
        words = [found] if found else []
    if words and Path(words[0]).is_absolute() and PYTHON.fullmatch(Path(words[0]).name):
        yield Interpreter(Path(words[0]), "the script's first line")


def _of_makefile(folder: Path, script: Path) -> Iterator[Interpreter]:
    """Yield the paths of interpreters that a recipe starts the script with."""
    for name in _MAKEFILES:
        variables: dict[str, str] = {}
        recipes = 0
        for line in _text(folder / name).splitlines():
            if assigned := _ASSIGNED.fullmatch(line.strip()):
                variables[assigned[1]] = assigned[2].strip("'\"")
            elif script.name in line and recipes < _RECIPES:
                recipes += 1
                yield from _of_recipe(_filled(line, variables), folder, script, name)


def _filled(text: str, variables: Mapping[str, str]) -> str:
    for _ in range(4):  # a value may use another variable
        if len(text) > _LINE:
            return ""
        text = _USED.sub(lambda used: variables.get(next(filter(None, used.groups())), ""), text)
    return text


def _of_recipe(line: str, folder: Path, script: Path, name: str) -> Iterator[Interpreter]:
    try:
        words = shlex.split(line.strip().lstrip("@-+"))
    except ValueError:
        return
    values = {number + 1 for number, word in enumerate(words) if word in ("-X", "-W")}
    plain = [w for n, w in enumerate(words) if n not in values and not w.startswith("-")]
    for python, what in pairwise(plain):
        if os.sep in python and "\0" not in line and folder / what == script:
            path = folder / Path(python)
            if PYTHON.fullmatch(path.name):
                yield Interpreter(path, f"the {name}")


def _text(path: Path) -> str:
    try:
        return read_source(path, _LIMIT)
    except OSError:
        return ""
