"""What tests share: an interpreter with torch, a home of their own, packages compiled once."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import pytest
import warm
from aoti_debug.run.directory import list_runs
from aoti_debug.triage.observe import events_of
from programs import once, torch_python
from recordings import RECORDED, unpack

TARGETS = Path(__file__).parent / "targets"
NUMBERS = count()
WARM = "AOTI_DEBUG_TEST_WARM"  # the interpreter of warm.py
# Each process that compiles or loads would try vector instructions out: 3 to 13 s of a processor.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # else each starts a pool of its own
# The wrapper only calls the kernels, which stay at O3; this is a quarter of what compiling takes.
os.environ.setdefault("AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL", "O0")
# Of a file all tests go to one worker: those that compile much begin, or one worker ends alone.
LONG = tuple(
    """
    native minify zoo triage skill explain evals probe verify scripts guides contracts sweep server
    """.split()
)


def pytest_configure(config: pytest.Config) -> None:
    """Have all workers share the processes with torch and what compiler.sh keeps, to their end."""
    if hasattr(config, "workerinput"):
        return
    held = contextlib.ExitStack()
    if real := shutil.which("g++"):
        place = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="compiler-")))
        header = shlex.quote(str(Path(__file__).with_name("compiler.h")))
        words = f"#!/bin/bash\nREAL={shlex.quote(real)} KEPT={place} HEADER={header}\n"
        text = Path(__file__).with_name("compiler.sh").read_text("utf-8")
        (place / "bin").mkdir()
        (place / "bin" / "g++").write_text(words + text, "utf-8")
        (place / "bin" / "g++").chmod(0o755)
        os.environ["PATH"] = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    os.environ[WARM] = held.enter_context(warm.interpreter(torch_python()))
    config.add_cleanup(held.close)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests that take longest first, file by file; leave out those marked `node` where npm
    is missing (in CI they fail instead)."""
    if not shutil.which("npm") and os.environ.get("CI") != "true":
        left_out = [item for item in items if item.get_closest_marker("node")]
        items[:] = [item for item in items if not item.get_closest_marker("node")]
        config.hook.pytest_deselected(items=left_out)
    tests = Path(__file__).parent
    rooms = {room: place for place, room in enumerate(LONG)}
    items.sort(key=lambda i: rooms.get(i.path.relative_to(tests).parts[0], len(LONG)))


@dataclass(frozen=True)
class Built:
    """Packages of tests/targets/models.py, compiled by a watched run that is kept in `home`."""

    directory: Path
    home: Path


@pytest.fixture(scope="session")
def node_modules() -> Callable[..., Path]:
    """Return what installs pinned npm packages once for all sessions, and says where they lie."""

    def installed(*packages: str) -> Path:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        cache /= "aoti-debug-tests"
        place = cache / "-".join(packages).replace("@", "-").replace("/", "-")
        if not (place / "node_modules").is_dir():
            npm = shutil.which("npm")
            assert npm, "npm is missing: this test needs it (any version)"
            cache.mkdir(parents=True, exist_ok=True)
            fresh = Path(tempfile.mkdtemp(dir=cache))
            (fresh / "package.json").write_text('{"private": true}', "utf-8")
            argv = [npm, "install", "--no-audit", "--no-fund", "--no-save", *packages]
            done = subprocess.run(
                argv,
                cwd=fresh,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=600,
                text=True,
            )
            assert done.returncode == 0, f"{' '.join(argv)} failed:\n{done.stdout}{done.stderr}"
            try:
                fresh.rename(place)
            except OSError:  # another session was faster
                shutil.rmtree(fresh)
        return place / "node_modules"

    return installed


@pytest.fixture(scope="session")
def python() -> str:
    return torch_python()


@pytest.fixture(scope="session")
def warm_python() -> str:
    """Return an interpreter whose scripts find torch imported: warm.py says what it is."""
    return os.environ[WARM]


@pytest.fixture(autouse=True)
def own_home(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Keep runs of a test out of the user's home, and output buffering as users have it."""
    if "tmp_path" in request.fixturenames:
        place: Path = request.getfixturevalue("tmp_path")
    else:  # a folder for each of thousands of tests that write nothing costs more than they
        place = tmp_path_factory.getbasetemp() / "homes" / str(next(NUMBERS))
    monkeypatch.setenv("AOTI_DEBUG_HOME", str(place / "home"))
    monkeypatch.setenv("AOTI_DEBUG_PYTHON", torch_python())
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, warm_python: str) -> Built:
    """Compile every model of tests/targets once, watched, so that exported programs are kept.

    $AOTI_DEBUG_TEST_PACKAGES names a directory in which they are kept between sessions.
    """
    given = os.environ.get("AOTI_DEBUG_TEST_PACKAGES")
    make = partial(compile_targets, python=warm_python)
    root = once("built", tmp_path_factory, make, Path(given) if given else None)
    return Built(root / "packages", root / "home")


def compile_targets(root: Path, python: str) -> None:
    (root / "packages").mkdir()
    env = {
        **os.environ,
        "AOTI_DEBUG_HOME": str(root / "home"),
        "TORCHINDUCTOR_CACHE_DIR": str(root / "cache"),
    }
    words = ["run", str(TARGETS / "models.py"), "--python", python]
    done = subprocess.run(
        [sys.executable, "-m", "aoti_debug", *words, "--", str(root / "packages")],
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def exported(built: Built) -> dict[str, Path]:
    """Return the exported program of each built package, as the watched build captured it."""
    found = {}
    for run in list_runs(built.home):
        events = events_of(run.path)
        for compiled in events.compiles:
            program = compiled.details.exported_program
            for package in events.packages:
                inside = compiled.span.first <= package.span.first <= compiled.span.last
                if inside and program is not None:
                    found[Path(package.path).stem] = run.path / program
    return found


@pytest.fixture(scope="session")
def rich(tmp_path_factory: pytest.TempPathFactory, warm_python: str) -> Path:
    """Return a directory with model.ep.pt2, model.pt2 and inputs.pt of tests/targets/rich.py."""
    return written_by("rich.py", tmp_path_factory, warm_python)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, warm_python: str) -> Path:
    """Return a directory with what tests/targets/server.py writes."""
    return written_by("server.py", tmp_path_factory, warm_python)


def written_by(script: str, tmp_path_factory: pytest.TempPathFactory, python: str) -> Path:
    """Return a directory in which a script of tests/targets has run once."""

    def make(root: Path) -> None:
        target = [python, str(TARGETS / script)]
        done = subprocess.run(target, cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    given = os.environ.get("AOTI_DEBUG_TEST_PACKAGES")
    return once(Path(script).stem, tmp_path_factory, make, Path(given) if given else None)


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the recorded packages once."""
    folder = tmp_path_factory.mktemp("packages")
    for path in RECORDED.glob("*.tar.xz"):
        unpack(path, folder)
    return folder
