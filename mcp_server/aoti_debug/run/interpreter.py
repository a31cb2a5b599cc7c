"""Find the user's interpreter and what is installed in it, without importing torch."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from aoti_debug.errors import NoInterpreter
from aoti_debug.run.files import expanded, open_regular, read_regular, write_atomically
from aoti_debug.run.files import folder as make_folder
from aoti_debug.run.kept import home
from aoti_debug.run.machine import ask, is_executable, site_packages
from aoti_debug.run.project import Interpreter, project_interpreters

ON_PATH = "PATH"


@dataclass(frozen=True, slots=True)
class Installed:
    """Versions in an interpreter; None: not installed, or not told."""

    python: str | None = None
    torch: str | None = None
    torch_cuda: str | None = None
    triton: str | None = None
    problem: str | None = None  # why the interpreter did not answer


def find_interpreter(
    python: str | None = None, env: Mapping[str, str] | None = None, *near: Path
) -> Path:
    return choose_interpreter(python, env, *near).path


def choose_interpreter(
    python: str | None = None, env: Mapping[str, str] | None = None, *near: Path
) -> Interpreter:
    """Return the interpreter that `python` or AOTI_DEBUG_PYTHON names, else the first that has
    torch, else the first: of the active environment, of the projects of `near` (the current
    folder), on PATH. Links are kept, since their target lacks the environment's packages. This
    process's own environment comes last unless it has torch. Raise NoInterpreter."""
    env = os.environ if env is None else env
    for source, name in (("python", python), ("AOTI_DEBUG_PYTHON", env.get("AOTI_DEBUG_PYTHON"))):
        if name:
            named = _executable(name, env)
            if named is None:
                raise NoInterpreter(f"{source} names {name}, which cannot be executed")
            return Interpreter(named, source)
    seen: dict[Path, Interpreter] = {}
    for found in _unnamed(env, near):
        if found.path not in seen and _has_torch(found, env):
            return found
        seen.setdefault(found.path, found)
    if not seen:
        raise NoInterpreter("no Python interpreter was found")
    candidates = list(seen.values())
    return next((one for one in candidates if not _is_ours_alone(one.path)), candidates[0])


def without_torch(python: Path, source: str) -> str:
    return f"{python} ({source}) has no torch; --python (MCP: `python`) names another"


def _unnamed(env: Mapping[str, str], near: Sequence[Path]) -> Iterator[Interpreter]:
    """Yield the interpreters that nobody names, in the order in which they are preferred."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if env.get(variable) and (active := _executable(env[variable], env)):
            yield Interpreter(active, variable)
    for start in near or (Path(),):
        yield from project_interpreters(start, env)
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    for name in ("python3", "python"):
        for folder in folders:
            if on_path := _which(name, folder or os.curdir):
                yield Interpreter(on_path, ON_PATH)


def _which(name: str, path: str) -> Path | None:
    found = shutil.which(name, path=path)
    return Path(found).absolute() if found and Path(found).is_file() else None


def _has_torch(found: Interpreter, env: Mapping[str, str]) -> bool:
    """Say whether an interpreter has torch, by its files; a script that starts one is asked."""
    for place in site_packages(found.path):
        installed = chain(place.glob("torch-*.dist-info"), place.glob("torch.egg-link"))
        if (place / "torch" / "version.py").is_file() or any(installed):
            return True
    if found.source != ON_PATH:
        return False
    try:
        with open_regular(found.path, follow=True) as file:
            is_script = file.read(2) == b"#!"
    except OSError:
        return False
    return is_script and installed_versions(found.path, env).torch is not None


def _is_ours_alone(python: Path) -> bool:
    """Say whether `python` is of the environment that this process runs in, without torch."""
    ours = {Path(sys.executable).parent.resolve(), Path(sys.prefix, "bin").resolve()}
    if python.parent.resolve() not in ours:
        return False
    return not any(Path(place, "torch", "version.py").is_file() for place in sys.path)


def _executable(name: str, env: Mapping[str, str]) -> Path | None:
    path = expanded(name)
    if path.is_dir():
        path = path / "bin" / "python"
    elif os.sep not in name:
        return _which(name, env.get("PATH", os.defpath))
    return path.absolute() if is_executable(path) else None


def check_interpreter(python: Path, env: Mapping[str, str]) -> None:
    """Raise NoInterpreter where this is no Python that answers."""
    found = installed_versions(python, env)
    if found.python is None:
        raise NoInterpreter(f"{python} is not a working Python: {found.problem}")


_QUESTION = """
import sys
sys.path[:1] = []
import importlib.metadata as metadata, importlib.util as util, json, os, re
def version(*names):
    for name in names:
        try:
            return metadata.version(name)
        except Exception:
            pass
facts = {"python": sys.version.split()[0]}
watched = [p for p in sys.path if os.path.isdir(p)]
facts["triton"] = version("triton", "pytorch-triton", "triton-rocm", "pytorch-triton-rocm")
facts["torch"] = version("torch")
try:
    place = os.path.dirname(util.find_spec("torch").origin)
    with open(os.path.join(place, "version.py")) as file:
        text = file.read()
    watched.append(os.path.join(place, "version.py"))
    for key, name in (("torch", "__version__"), ("torch_cuda", "cuda")):
        found = re.search(r"^%s\\b[^=\\n]*= *['\\"]([^'\\"]+)" % name, text, re.M)
        if found:
            facts[key] = found.group(1)
except Exception:
    pass
print(json.dumps([facts, {p: os.stat(p).st_mtime for p in watched}]))
"""


_OF_SHELLS = {"_", "SHLVL", "PWD", "OLDPWD", "COLUMNS", "LINES"}  # others can say what is found


def installed_versions(python: Path, env: Mapping[str, str] | None = None) -> Installed:
    """Return what is installed for `python`; the answer is kept while its files stay the same."""
    env = os.environ if env is None else env
    says = (f"{name}={env[name]}" for name in sorted(env.keys() - _OF_SHELLS))
    key = "\0".join((str(python), *says))
    kept = home(env) / "interpreters" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    if known := _known(kept, python):
        return known
    answer = ask([str(python), "-c", _QUESTION], env=env, timeout_s=30)
    if answer is None:
        return Installed(problem=f"{python} did not answer")
    try:
        facts, watched = json.loads(answer.stdout.strip().splitlines()[-1])
        found = Installed(**facts)
        watched[str(python)] = python.stat().st_mtime
    except (ValueError, IndexError, TypeError, OSError):
        return Installed(problem=(answer.stderr.strip() or f"exit {answer.code}")[-300:])
    if found.python is None:
        return found
    with contextlib.suppress(OSError):  # a cache that cannot be written only costs time
        make_folder(kept.parent)
        write_atomically(kept, json.dumps([asdict(found), watched]).encode())
    return found


def _known(kept: Path, python: Path) -> Installed | None:
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError, RecursionError):
        facts, watched = json.loads(read_regular(kept))
        if not all(value is None or isinstance(value, str) for value in facts.values()):
            return None  # a script may write there too
        if str(python) in watched and all(Path(p).stat().st_mtime == t for p, t in watched.items()):
            return Installed(**facts)
    return None
