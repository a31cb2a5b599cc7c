"""What cannot be minified or verified is refused with what to do instead; nothing is changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.diagnose import Observations
from aoti_debug.errors import AotiDebugError, UnknownRun, WrongUse
from aoti_debug.minify.material import ended_well, material_of
from aoti_debug.minify.request import NothingToMinify, minify_request, target_of
from aoti_debug.run.directory import RunDirectory
from aoti_debug.triage.explanation import asked_for
from aoti_debug.verify.request import verify_request
from recordings import begin, called, jsonl

ENDED = {"status": "done", "exit": "exit 1", "label": "serve.py"}
TORCH = {"event": "torch", "version": "1.0.0"}
PATCH = "--- serve.py\n+++ serve.py\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "tree" / "serve.py"
    path.parent.mkdir()
    path.write_text("a\n")
    return path


def run_of(script: Path, events: list[dict[str, Any]] | None = None, **more: object) -> str:
    """Write down a run of the script as one that has ended; return its id."""
    directory = RunDirectory.create(script.parents[1])
    command = f"{sys.executable} {script}"
    directory.write_record({**ENDED, "command": command, "cwd": str(script.parent), **more})
    if events is not None:
        (directory.path / "events.jsonl").write_text(jsonl(*events))
    return directory.id


def read(script: Path, run: str) -> None:
    home = script.parents[1]
    request = minify_request(run, home=home)
    material_of(RunDirectory.open(run, home), request.target, home)


def refused(script: Path, run: str) -> AotiDebugError:
    """Return why a run is not minified."""
    with pytest.raises(AotiDebugError) as caught:
        read(script, run)
    assert caught.value.help
    assert script.read_text() == "a\n"
    return caught.value


def test_a_run_that_was_pruned_is_named(script: Path) -> None:
    assert isinstance(refused(script, "r-20261122-0303-abcd"), UnknownRun)


def test_a_run_that_is_still_going_is_waited_for(script: Path) -> None:
    home = script.parents[1]
    directory = RunDirectory.create(home)
    with pytest.raises(NothingToMinify, match="still going") as caught:
        target_of(directory, None, None)
    assert "Wait for it" in caught.value.help
    with pytest.raises(NothingToMinify, match="still going"):
        verify_request(str(script), directory.id, home=home)


def test_a_run_that_nobody_watched_has_no_capture(script: Path) -> None:
    assert "nothing of it is captured" in str(refused(script, run_of(script)))


def test_a_run_that_exported_nothing_says_so(script: Path) -> None:
    assert "holds no exported program" in str(refused(script, run_of(script, [])))


def test_a_run_of_another_torch_is_not_compared(script: Path, python: str) -> None:
    run = run_of(script, [TORCH], command=f"{python} {script}")
    said = str(refused(script, run))
    assert "used torch 1.0.0" in said and "--python" in said


X = {"name": "x", "shape": [4], "stride": [1], "dtype": "float32", "device": "cuda:0"}
CALLED = called(X)
LOWERED = begin(1, flags={}, exported_program="exported.pt2")


def test_a_run_of_a_gpu_is_not_repeated_where_there_is_none(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")  # with whatever tools of a driver there are
    said = refused(script, run_of(script, [CALLED]))
    assert "this machine has none" in str(said) and "on the machine" in said.help


def test_an_interpreter_of_another_machine_is_named(script: Path) -> None:
    said = refused(script, run_of(script, [], command=f"/gone/bin/python3 {script}"))
    assert "/gone/bin/python3" in str(said)


def test_a_run_that_ended_well_is_only_compared(script: Path) -> None:
    home = script.parents[1]
    run = run_of(script, [LOWERED], exit="exit 0")
    directory = RunDirectory.open(run, home)
    (directory.path / "exported.pt2").touch()
    request = minify_request(run, home=home)
    assert ended_well(material_of(directory, request.target, home))
    ran = subprocess.run(
        [sys.executable, "-m", "aoti_debug", "minify", run, "--json"],
        env={**os.environ, "AOTI_DEBUG_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 3
    assert "shows no failure" in ran.stdout and "--compare" in ran.stdout


def test_a_record_that_is_cut_is_no_run(script: Path) -> None:
    run = run_of(script)
    (script.parents[1] / "runs" / run / "run.json").write_text('{"status": "done", "comm')
    os.utime(script.parents[1] / "runs" / run, (0, 0))
    assert "cannot be read" in str(refused(script, run))


@pytest.mark.parametrize("name", ["gone.py", "gone.pt2", "minifier_launcher.py"])
def test_a_file_that_is_not_there_is_named(script: Path, name: str) -> None:
    with pytest.raises(AotiDebugError, match=name):
        minify_request(str(script.with_name(name)), home=script.parents[1])


def test_a_launcher_without_its_program_says_what_to_give(script: Path) -> None:
    launcher = script.with_name("minifier_launcher.py")
    launcher.write_text("run_repro('/gone/exported_program.pt2')\n")
    with pytest.raises(NothingToMinify, match="still there") as caught:
        minify_request(str(launcher), home=script.parents[1])
    assert "dumped beside it" in caught.value.help


@pytest.mark.parametrize("text", ["-" * 200_000 + "1", "1+" * 100_000 + "1", "a\0b", "\xff"])
def test_a_launcher_that_is_no_program_is_told(script: Path, text: str) -> None:
    launcher = script.with_name("minifier_launcher.py")
    launcher.write_text(text, "latin-1")
    with pytest.raises(NothingToMinify, match=r"cannot be read: .{5}|names no exported program"):
        minify_request(str(launcher), home=script.parents[1])


def test_a_home_directory_of_nobody_is_named(script: Path) -> None:
    with pytest.raises(WrongUse, match="home directory of nobody"):
        minify_request("~nosuchuser/model.pt2", home=script.parents[1])
    with pytest.raises(WrongUse, match="home directory of nobody"):
        verify_request("~nosuchuser/fix.patch", run_of(script, []), home=script.parents[1])


def test_pipes_are_not_waited_for(script: Path) -> None:
    run = run_of(script, [])
    os.mkfifo(script.parents[1] / "runs" / run / "diagnosis.json")
    assert "no exported program" in str(refused(script, run))
    assert asked_for(RunDirectory.open(run, script.parents[1]), Observations()) is None
    os.mkfifo(script.with_name("fix.patch"))
    with pytest.raises(AotiDebugError, match="not a regular file"):
        verify_request(str(script.with_name("fix.patch")), run, home=script.parents[1])


def test_an_engine_that_does_not_exist_is_refused(script: Path) -> None:
    with pytest.raises(WrongUse, match="engine 'stock'"):
        minify_request(str(script), engine="stock", home=script.parents[1])


def test_a_script_that_no_longer_exists_cannot_be_patched(script: Path) -> None:
    run = run_of(script, [])
    patch = script.with_name("fix.patch")
    patch.write_text(PATCH)
    script.unlink()
    with pytest.raises(WrongUse, match="no longer exists"):
        verify_request(str(patch), run, home=script.parents[1])


@pytest.mark.parametrize("name", ["fix.patch", "fixed.py"])
def test_a_fix_that_is_not_there_is_named(script: Path, name: str) -> None:
    run = run_of(script, [])
    with pytest.raises(WrongUse, match=name):
        verify_request(str(script.with_name(name)), run, home=script.parents[1])
