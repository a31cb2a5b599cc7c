"""Lay a case out, run it, and say how that ended."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from aoti_debug.verify.patch import BadPatch, apply, read_patch
from filelock import FileLock

from harness.case import Problem, Twin, edited, right_files

HERE = Path(__file__).resolve().parent
PRELUDE = (HERE / "prelude.py").read_text("utf-8")
# An oracle runs the patched code: that it ended well says nothing, that it came to its end does.
ASKED = "import os\n_passed = os.environ.pop('AOTI_EVALS_PASSED')\n"
ANSWERED = "print(_passed, flush=True)\n"
ORACLE_S = 120.0
START_S = {"cpu": 90.0, "gpu": 150.0}  # of a command whose package is there
HARMLESS = re.compile(r"Warning|warn\(|^\s|^$|^W\d{4}|^\[W")
_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|(['\"])[^'\"]*/[^'\"]*\1|/\S+")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a tree did: its command, and then the oracle."""

    passed: bool
    ended: str  # exit 0, exit 1, SIGSEGV, timed out
    error: str  # the last error line without its numbers
    oracle: str | None  # None: not reached; "": content; else the reason
    detail: str = ""

    @property
    def signature(self) -> str:
        """Return what failures that are alike have alike; how a corrupted heap ends is chance."""
        if self.ended in ("SIGSEGV", "SIGBUS", "SIGABRT") and not re.search("rror", self.error):
            return "memory is corrupted"
        said = [self.ended, self.error, self.oracle or ""]
        return " · ".join(word for word in said if word)


def cache_root() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("AOTI_EVALS_CACHE") or base / "aoti-debug" / "evals")


def environment(python: str, home: Path | None = None) -> dict[str, str]:
    """Return the environment of a case's processes: quick compiles, a shared cache of objects."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_HOME")
    }
    root = cache_root()
    kept.update(
        CXX=str(HERE / "cached_g++"),
        AOTI_EVALS_OBJECTS=str(root / "objects"),
        AOTI_EVALS_CXX=os.environ.get("CXX") or "g++",
        TORCHINDUCTOR_CACHE_DIR=str(root / "inductor"),
        TORCHINDUCTOR_VEC_ISA_OK="1",
        TORCHINDUCTOR_COMPILE_THREADS="1",  # else each process starts a pool of its own
        AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL="O0",  # it only calls the kernels
        OMP_NUM_THREADS="1",  # many small processes side by side; waiting threads would spin
        AOTI_DEBUG_PYTHON=python,
        PYTHONDONTWRITEBYTECODE="1",
    )
    if home is not None:
        kept["AOTI_DEBUG_HOME"] = str(home)
    return kept


def warm(python: str) -> AbstractContextManager[str]:
    """Give an interpreter that has torch already: tests/warm.py says what it is."""
    tests = str(HERE.parents[1] / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    from warm import interpreter

    return interpreter(python)


def sets_torch_up(problem: Problem) -> bool:
    """Tell whether the case changes what torch reads when it is imported."""
    return any("os.environ" in text for text in problem.case.files.values())


def lay_out(problem: Problem, to: Path, python: str, twin: Twin = "planted") -> None:
    """Write what the agent may see, and nothing else, into a new directory."""
    files = dict(problem.case.files)
    if twin == "healthy":
        files = edited(files, problem.truth.twin)
    write(files, to)
    if problem.truth.prepare:
        _copy(prepared(problem, files, python, twin), to)


def write(files: Mapping[str, str], to: Path) -> None:
    for name, text in files.items():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text(text, "utf-8")


def prepared(
    problem: Problem, files: Mapping[str, str], python: str, twin: Twin
) -> dict[str, Path]:
    """Return what `prepare` makes, made once for the same text, files and torch."""
    truth = problem.truth
    key = digest(truth.prepare, json.dumps(files, sort_keys=True), torch_of(python), twin)
    root = cache_root() / "prepared" / key
    root.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{root}.lock"):
        if not root.is_dir():
            with tempfile.TemporaryDirectory(dir=root.parent) as folder:
                work = Path(folder, "work")
                write(files, work)
                _prepare(problem, work, python, twin)
                shutil.copytree(work, Path(folder, "made"), symlinks=True)
                Path(folder, "made").rename(root)
    return {name: root / name for name in truth.products}


def _prepare(problem: Problem, work: Path, python: str, twin: Twin) -> None:
    script = work.parent / "prepare.py"
    script.write_text(problem.truth.prepare, "utf-8")
    done = subprocess.run(
        [python, str(script), twin],
        cwd=work,
        env={**environment(python), "PYTHONPATH": str(work)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    missing = [name for name in problem.truth.products if not (work / name).is_file()]
    if done.returncode or missing:
        raise RuntimeError(f"{problem.id}: prepare: {missing} {done.stderr[-1500:]}")


@cache
def torch_of(python: str) -> str:
    code = "import importlib.metadata as m; print(m.version('torch'))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def content(problem: Problem) -> str:
    """Return the digest of everything on which outcomes of the case rest, but for a patch."""
    case, truth = problem.case, problem.truth
    edits = [[edit.model_dump() for edit in one] for one in (truth.twin, truth.gold)]
    parts = [dict(case.files), case.command, truth.prepare, truth.oracle, edits]
    right = right_files(problem)
    if "reference(" in truth.oracle and right != edited(case.files, truth.gold):
        parts.append(right)
    return digest(PRELUDE, *(json.dumps(part, sort_keys=True) for part in parts))


def outcome_of_patch(problem: Problem, patch: str, python: str) -> Outcome:
    """Run the case with an agent's patch; what does not apply has not passed."""
    try:
        files = patched_files(problem.case.files, patch) if patch.strip() else problem.case.files
    except BadPatch as error:
        return Outcome(False, "no run", f"the patch does not apply: {error}", None)
    return outcome(problem, files, python)


def patched_files(files: Mapping[str, str], patch: str) -> dict[str, str]:
    """Return the files as a unified diff makes them.

    Raises:
        BadPatch: it does not apply, or leads out of the project.
    """
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before"), Path(folder, "after")
        write(files, before)
        apply(read_patch(patch), before, after)
        return {
            path.relative_to(after).as_posix(): path.read_text("utf-8")
            for path in sorted(after.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }


def outcome(
    problem: Problem,
    files: Mapping[str, str],
    python: str,
    twin: Twin = "planted",
    number: int = 0,
) -> Outcome:
    """Run files of a case in a fresh directory: the command, then the oracle with unknown seeds.

    The same files under the same torch are run once; `number` tells repetitions apart.
    """
    truth, case = problem.truth, problem.case
    said = json.dumps(files, sort_keys=True)
    key = digest(said, content(problem), case.id, torch_of(python), twin, str(number))
    kept = cache_root() / "outcomes" / f"{key}.json"
    if kept.is_file():
        return Outcome(**json.loads(kept.read_text("utf-8")))
    with tempfile.TemporaryDirectory(prefix="aoti-eval-") as folder:
        tree = Path(folder, "project")
        write(files, tree)
        if truth.prepare:
            source = problem.case.files if twin == "planted" else edited(case.files, truth.twin)
            made = prepared(problem, source, python, twin)
            _copy({name: path for name, path in made.items() if name not in files}, tree)
        place_built(problem, files, tree, python)
        found = _run(problem, files, tree, python, twin)
    if "timed out" in found.signature and truth.signature != "timed out":
        return found  # the machine was busy, perhaps
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{secrets.token_hex(4)}")
    part.write_text(json.dumps(asdict(found)), "utf-8")
    part.replace(kept)
    return found


def _run(
    problem: Problem, files: Mapping[str, str], tree: Path, python: str, twin: Twin
) -> Outcome:
    env, folder = environment(python), tree.parent
    there = problem.truth.built and all((tree / name).is_file() for name in problem.truth.built)
    limit = problem.case.timeout_s
    limit = min(limit, START_S[problem.case.needs]) if there else limit
    ended, said = process([python, *problem.case.command], tree, env, limit)
    keep_built(problem, files, tree, python)  # what an oracle builds is not the command's
    error = error_line(said) if ended != "exit 0" else ""
    if ended != "exit 0":
        return Outcome(False, ended, error, None, said[-600:])
    if problem.truth.built and not any(tree.rglob("*.pt2")):
        return Outcome(False, ended, error, "the command has left no package")
    if not problem.truth.oracle:
        return Outcome(True, ended, error, "")
    script = folder / "oracle.py"
    passed = secrets.token_hex(8)
    script.write_text(f"{ASKED}{PRELUDE}\n\n{problem.truth.oracle}\n{ANSWERED}", "utf-8")
    write(right_files(problem), folder / "right")
    env.update(AOTI_EVALS_RIGHT=str(folder / "right"), AOTI_EVALS_TWIN=twin, MALLOC_PERTURB_="128")
    env["AOTI_EVALS_PASSED"] = passed
    words = [python, str(script), str(secrets.randbelow(1 << 30))]
    how, said = process(words, tree, env, ORACLE_S)
    if how == "exit 0" and (passed in said.split() or twin == "healthy"):  # some end early there
        return Outcome(True, ended, error, "")
    if how == "exit 0":
        return Outcome(False, ended, error, "oracle: it was ended before it had passed")
    if "FAIL: " not in said:
        return Outcome(False, ended, error, f"oracle: {how} {error_line(said)}", said[-600:])
    reason, _, detail = said.rpartition("FAIL: ")[2].splitlines()[0].partition(" | ")
    return Outcome(False, ended, error, reason, detail[:300])


def place_built(problem: Problem, files: Mapping[str, str], tree: Path, python: str) -> None:
    kept = built(problem, files, python)
    if kept.is_dir():
        _copy({name: kept / name for name in problem.truth.built}, tree)


def keep_built(problem: Problem, files: Mapping[str, str], tree: Path, python: str) -> None:
    """Keep what was compiled for the next run of files that would be compiled to the same."""
    kept = built(problem, files, python)
    names = problem.truth.built
    if not names or kept.is_dir() or not all((tree / name).is_file() for name in names):
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder, FileLock(f"{kept}.lock"):
        _copy({name: tree / name for name in names}, Path(folder, "made"))
        if not kept.is_dir():
            Path(folder, "made").rename(kept)


def _copy(files: Mapping[str, Path], to: Path) -> None:
    for name, path in files.items():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to / name)


def built(problem: Problem, files: Mapping[str, str], python: str) -> Path:
    """Return the directory for what is compiled of these files: its name is their content."""
    texts = [f"{name}={files.get(name)}" for name in problem.truth.built_from]
    return cache_root() / "built" / digest(problem.id, torch_of(python), *texts)


def process(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], timeout_s: float
) -> tuple[str, str]:
    """Run a process and all that it starts; return how it ended and what it wrote."""
    with tempfile.TemporaryFile() as out:
        started = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            code: int | None = started.wait(timeout_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()
        out.seek(0)
        said = out.read(4 << 20).decode("utf-8", "replace")
    if code is None:
        return "timed out", said
    return (signal.Signals(-code).name if code < 0 else f"exit {code}"), said


def error_line(said: str) -> str:
    """Return the line that says what was wrong, without what changes from run to run."""
    lines = [line for line in said.splitlines() if not HARMLESS.search(line)]
    last = [line for line in lines if re.match(r"[\w.]*(?:Error|Exception|Exit)\b", line)]
    first = [line for line in lines if "rror" in line or "what():" in line or "ssert" in line]
    line = (last[-1:] or first[:1] or lines[-1:] or [""])[0]
    return _NUMBERS.sub("_", line.strip())[:160]
