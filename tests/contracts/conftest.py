"""What the build of the tests' packages left, and a compiler that spoils them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from aoti_debug.diagnose.calls import compiles
from aoti_debug.run.directory import list_runs
from aoti_debug.triage.observe import events_of


@pytest.fixture(scope="session")
def exported(built) -> dict[str, Path]:
    """Return the exported program of each built package, as the watched build captured it."""
    found = {}
    for run in list_runs(built.home):
        events = events_of(run.path)
        for compiled in compiles(events) if events else ():
            program = compiled.details.exported_program
            for package in events.packages if events else ():
                inside = compiled.span.first <= package.span.first <= compiled.span.last
                if inside and program is not None:
                    found[Path(package.path).stem] = run.path / program
    return found


@pytest.fixture(scope="session")
def home_of_build(built, tmp_path_factory) -> Path:
    """Return a home that holds what the build captured, so that tests leave the build's alone."""
    home = tmp_path_factory.mktemp("home")
    leave = shutil.ignore_patterns("package-*", "call-*")
    for run in list_runs(built.home):
        if any((run.path / "capture").glob("exported-*")):
            shutil.copytree(run.path, home / "runs" / run.id, ignore=leave)
    return home


@pytest.fixture(scope="session")
def compiler_with_static_library(tmp_path_factory) -> Path:
    """Write a g++ that links libstdc++ statically, as a private toolchain may."""
    path = tmp_path_factory.mktemp("toolchain") / "g++-static"
    path.write_text(
        '#!/bin/sh\ncase " $* " in\n*" -shared "*) exec g++ "$@" -static-libstdc++ ;;\n'
        '*) exec g++ "$@" ;;\nesac\n'
    )
    path.chmod(0o755)
    return path
