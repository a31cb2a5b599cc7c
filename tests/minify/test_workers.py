"""Candidates crash, hang and leave as they like, and the next one is not touched by it; a real
failure becomes a small script that fails alike by itself. What cannot be minified or verified is
refused with what to do instead; nothing is changed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from aoti_debug.diagnose import Observations
from aoti_debug.errors import AotiDebugError, UnknownRun, WrongUse
from aoti_debug.minify.material import Material, ended_well, material_of
from aoti_debug.minify.request import NothingToMinify, minify_request
from aoti_debug.minify.worker_pool import OrderOutcome, worker_pool
from aoti_debug.run.directory import RunDirectory
from aoti_debug.run.executor import Machine
from aoti_debug.triage.explanation import asked_for
from aoti_debug.triage.run_state import Cancelled
from aoti_debug.verify.request import verify_request
from programs import torch_python
from recordings import begin, called, jsonl

PLACES = Machine(4, 4, 0)
CANDIDATES = {
    "well": "print('step: run', flush=True)\nprint('step: done')",
    "crash": "import ctypes\nprint('step: run', flush=True)\nctypes.string_at(0)",
    "leave": "import os\nprint('step: load', flush=True)\nos._exit(7)",
    "raise": "print('step: lower', flush=True)\nraise ValueError('no such row')",
    "hang": "import signal\nprint('step: run', flush=True)\nwhile True:\n    signal.pause()",
    "real-time signal": "import os, signal\nprint('step: run', flush=True)\n"
    "os.kill(os.getpid(), signal.SIGRTMIN + 5)",
    "abort": "import os\nprint('step: run', flush=True)\nos.abort()",
    "child": "import subprocess\nprint('step: run', flush=True)\nsubprocess.run(['sleep', '1000'])",
    "torch": "import torch\nassert not torch.cuda.is_initialized()\nprint('step: done')",
}


@pytest.fixture(scope="module")
def outcomes(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, OrderOutcome]:
    return anyio.run(done, python, tmp_path_factory.mktemp("workers"))


def order(name: str) -> dict[str, object]:
    return {"kind": "script", **({"run_s": 4.0} if name in ("hang", "child") else {})}


async def done(python: str, place: Path) -> dict[str, OrderOutcome]:
    found: dict[str, OrderOutcome] = {}
    stop = anyio.Event()
    started = worker_pool(place / "c", place / "log", python, os.environ, place / "k", stop, PLACES)
    async with started as pool:

        async def one(name: str) -> None:
            found[name] = await pool.do(order(name), 300.0, CANDIDATES[name])

        async with anyio.create_task_group() as tasks:
            for name in CANDIDATES:
                tasks.start_soon(one, name)
        ran = pool.ran
        found["again"] = await pool.do(order("crash"), 300.0, CANDIDATES["crash"])
        assert pool.ran == ran
        stop.set()
        with pytest.raises(Cancelled):
            await pool.do(order("hang"), 300.0, "import signal\nsignal.pause()")
    return found


def test_each_end_has_its_own_signature_and_step(outcomes: dict[str, OrderOutcome]) -> None:
    kinds = {name: outcome.fingerprint.kind for name, outcome in outcomes.items()}
    assert kinds == {
        "well": None,
        "torch": None,
        "crash": "SIGSEGV",
        "leave": "exit 7",
        "raise": "ValueError",
        "hang": "hang",
        "child": "hang",
        "abort": "SIGABRT",
        "real-time signal": "SIGRTMIN+5",
        "again": "SIGSEGV",
    }
    phases = {name: outcomes[name].fingerprint.phase for name in ("crash", "leave", "raise")}
    assert phases == {"crash": "run", "leave": "load", "raise": "lower"}


def test_a_candidate_is_tried_once(outcomes: dict[str, OrderOutcome]) -> None:
    assert outcomes["again"].cached and not outcomes["crash"].cached


def test_nothing_is_left_running(outcomes: dict[str, OrderOutcome]) -> None:
    place = str(outcomes["hang"].directory.parent)
    running = [process.info for process in psutil.process_iter(["cmdline", "cwd"])]
    assert not [info for info in running if place in (info["cmdline"] or [])]
    assert not [info for info in running if (info["cwd"] or "").startswith(place)]


SEARCH = """
import anyio, os, sys
from pathlib import Path
from aoti_debug.minify.worker_pool import worker_pool
from aoti_debug.run.executor import Machine

async def main(place, python):
    log, cache, machine = place / "log", place / "k", Machine(2, 2, 0)
    started = worker_pool(place / "c", log, python, os.environ, cache, anyio.Event(), machine)
    async with started as pool:
        print((place / "c" / "ready.json").read_text(), flush=True)
        script = "import signal\\nwhile True:\\n    signal.pause()"
        await pool.do({"kind": "script"}, 600.0, script)

anyio.run(main, Path(sys.argv[1]), sys.argv[2])
"""


def test_a_search_that_is_killed_leaves_no_process(python: str, tmp_path: Path) -> None:
    words = [sys.executable, "-c", SEARCH, str(tmp_path), python]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as search:
        assert search.stdout is not None
        server = psutil.Process(json.loads(search.stdout.readline())["pid"])
        family = [server, *server.children(recursive=True)]
        search.send_signal(signal.SIGKILL)
        search.wait()
    _, alive = psutil.wait_procs(family, timeout=30)
    assert not alive


# What a CUDA build of torch does: one question to the driver, and no later child may use it.
ASKS_THE_DRIVER = """
import os, sys

def ask():
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.is_available = lambda: GPU

def spoil():
    if "torch" in sys.modules:
        sys.modules["torch"].cuda._is_in_bad_fork = lambda: True

os.register_at_fork(before=ask, after_in_child=spoil)
"""
USES_IT = "import torch\nprint('spoiled', torch.cuda._is_in_bad_fork(), flush=True)"


@pytest.mark.parametrize("gpu", [True, False])
def test_no_candidate_is_forked_where_a_fork_could_not_use_the_gpu_that_there_is(
    gpu: bool, python: str, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(ASKS_THE_DRIVER.replace("GPU", str(gpu)))
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}

    async def run() -> OrderOutcome:
        place, log, cache = tmp_path / "c", tmp_path / "log", tmp_path / "k"
        async with worker_pool(place, log, python, env, cache, anyio.Event(), PLACES) as pool:
            return await pool.do({"kind": "script"}, 300.0, USES_IT)

    assert f"spoiled {not gpu}" in anyio.run(run).stdout


CASES = Path(__file__).parents[2] / "evals" / "cases" / "to_minify.py"


@pytest.fixture(scope="module")
def minified(
    python: str, warm_python: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Minify a lowering exception in a model of 14 operators: no C++ is compiled for it.

    The first search is killed when it has found something, the second goes on where it was.
    """
    home = tmp_path_factory.mktemp("minified")
    env = {**os.environ, "AOTI_DEBUG_HOME": str(home)}
    command = [sys.executable, "-m", "aoti_debug", "minify", "--json", "--python"]
    words = [str(CASES), "--", "lowering", "3"]
    with subprocess.Popen(
        [*command, python, *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as search:
        while not any(home.glob("runs/*/repro.py")):
            with contextlib.suppress(subprocess.TimeoutExpired):
                pytest.fail(f"it ended with {search.wait(0.2)}, before it was killed")
        family = psutil.Process(search.pid).children(recursive=True)
        search.kill()
    _, alive = psutil.wait_procs(family, timeout=30)
    (run,) = (home / "runs").iterdir()
    best = (run / "repro.py").read_text("utf-8")
    again = [*command, warm_python, run.name]
    ran = subprocess.run(again, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    answer: dict[str, Any] = json.loads(ran.stdout)
    return {**answer, "alive": alive, "killed with": best, "home": home}


def test_programs_and_weights_of_a_search_are_their_users_alone(minified: dict[str, Any]) -> None:
    found = [minified["home"], *(minified["home"] / "minify").rglob("*")]
    assert any(path.suffix == ".pt2" or "weights" in path.name for path in found)
    modes = {path: path.lstat().st_mode for path in found if not path.is_symlink()}
    assert not [path for path, mode in modes.items() if mode & 0o077]


def test_a_search_that_is_killed_leaves_its_best_and_no_process(minified: dict[str, Any]) -> None:
    assert not minified["alive"]
    compile(minified["killed with"], "repro.py", "exec")
    assert "torch.ops.planted.act" in minified["killed with"]


def test_one_operator_is_left_and_it_fails_alike_alone(minified: dict[str, Any]) -> None:
    assert minified["reproduced"] and minified["nodes"] == 1
    assert minified["candidates"] <= 3  # the failure names the operator
    assert minified["confirmed"] == "2 of 2 runs of the reproduction failed in the same way"
    assert "lower of act: MissingOperatorWithoutDecomp" in minified["signature"]


def test_the_reproduction_brings_the_operator_along(minified: dict[str, Any]) -> None:
    text = Path(minified["repro"]).read_text("utf-8")
    assert "planted::act" in text and "class Layers" not in text
    assert "implicit_fallbacks" in text
    report = Path(minified["repro"]).with_name("report.md").read_text("utf-8")
    assert text.strip() in report


ENDED = {"status": "done", "ended": {"code": 1}, "label": "serve.py"}
TORCH = {"event": "torch", "version": "1.0.0"}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "tree" / "serve.py"
    path.parent.mkdir()
    path.write_text("a\n")
    return path


PROCESS = {"t": 1.0, "pid": 7, "event": "process", "argv": ["python"], "python": "3.11.7"}


def run_of(script: Path, events: list[dict[str, Any]] | None = None, **more: object) -> str:
    """Write down a run of the script as one that has ended; return its id."""
    directory = RunDirectory.create()
    where = {"command": f"{sys.executable} {script}", "cwd": str(script.parent)}
    directory.write_record({**ENDED, **where, **more})
    if events is not None:
        (directory.path / "events.jsonl").write_text(jsonl(*events))
    return directory.id


def read(script: Path, run: str) -> Material:
    target = minify_request(run).target
    return material_of(RunDirectory.open(run), target, None)


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
        minify_request(directory.id, home=home)
    assert "Wait for it" in caught.value.help
    with pytest.raises(NothingToMinify, match="still going"):
        verify_request(str(script), directory.id, home=home)


@pytest.mark.parametrize(
    ("events", "python", "said"),
    [
        (None, sys.executable, "nothing was captured"),  # nobody watched it
        ([PROCESS], sys.executable, "holds no exported program"),
        ([PROCESS], "/gone/bin/python3", "/gone/bin/python3"),
        ([TORCH], torch_python(), "used torch 1.0.0"),
    ],
)
def test_a_run_that_cannot_be_repeated_here_says_so(
    script: Path, events: list[dict[str, Any]] | None, python: str, said: str
) -> None:
    why = str(refused(script, run_of(script, events, command=f"{python} {script}")))
    assert said in why
    assert events != [TORCH] or "--python" in why


def test_a_program_whose_weights_were_never_saved_is_none(script: Path) -> None:
    run = run_of(script, [LOWERED])
    (RunDirectory.open(run).path / "exported.pt2").touch()
    assert "at the end of the script, which was not reached" in str(refused(script, run))


LOWERED = begin(1, flags={}, exported_program="exported.pt2")


def test_a_run_of_a_gpu_is_not_repeated_where_there_is_none(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")  # with whatever tools of a driver there are
    given = {"shape": [4], "stride": [1], "dtype": "float32", "device": "cuda:0"}
    said = refused(script, run_of(script, [called(given)]))
    assert "this machine has none" in str(said) and "on the machine" in said.help


def test_a_run_that_ended_well_is_only_compared(script: Path) -> None:
    run = run_of(script, [LOWERED], ended={"code": 0})
    (RunDirectory.open(run).path / "exported.pt2").write_bytes(b"a program")
    assert ended_well(read(script, run))
    words = [sys.executable, "-m", "aoti_debug", "minify", run, "--json"]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 3
    assert "shows no failure" in ran.stdout and "--compare" in ran.stdout


def test_a_record_that_is_cut_is_no_run(script: Path) -> None:
    run = run_of(script)
    folder = RunDirectory.open(run).path
    (folder / "run.json").write_text('{"status": "done", "comm')
    os.utime(folder, (0, 0))
    assert "cannot be read" in str(refused(script, run))


@pytest.mark.parametrize("name", ["gone.py", "gone.pt2", "minifier_launcher.py"])
def test_a_file_that_is_not_there_is_named(script: Path, name: str) -> None:
    with pytest.raises(AotiDebugError, match=name):
        minify_request(str(script.with_name(name)))


TOLD = "cannot be read: .{5}|names no exported program"
PROGRAM = "'/gone/exported_program.pt2'"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"run_repro({PROGRAM})\n", "still there"),
        ("a\n" * 1_000_000 + PROGRAM, "cannot be read"),  # its syntax tree takes gigabytes
        ("-" * 200_000 + "1", TOLD),
        ("1+" * 100_000 + "1", TOLD),
        ("a\0b", TOLD),
        ("\xff", TOLD),
    ],
    ids=range(6),
)
def test_a_launcher_that_leads_to_no_program_is_told(script: Path, text: str, said: str) -> None:
    launcher = script.with_name("minifier_launcher.py")
    launcher.write_text(text, "latin-1")
    with pytest.raises(NothingToMinify, match=said) as caught:
        minify_request(str(launcher))
    assert said != "still there" or "dumped beside it" in caught.value.help


def test_a_home_directory_of_nobody_is_named(script: Path) -> None:
    with pytest.raises(WrongUse, match="home of an unknown user"):
        minify_request("~nosuchuser/model.pt2")
    with pytest.raises(WrongUse, match="home of an unknown user"):
        verify_request("~nosuchuser/fix.patch", run_of(script, [PROCESS]))


def test_pipes_are_not_waited_for(script: Path) -> None:
    run = run_of(script, [PROCESS])
    directory = RunDirectory.open(run)
    os.mkfifo(directory.path / "diagnosis.json")
    assert "no exported program" in str(refused(script, run))
    assert asked_for(directory, Observations()) is None
    os.mkfifo(script.with_name("fix.patch"))
    with pytest.raises(AotiDebugError, match="not a regular file"):
        verify_request(str(script.with_name("fix.patch")), run)


def test_an_engine_that_does_not_exist_is_refused(script: Path) -> None:
    with pytest.raises(WrongUse, match="engine 'stock'"):
        minify_request(str(script), engine="stock")


def test_a_script_that_no_longer_exists_cannot_be_patched(script: Path) -> None:
    run = run_of(script, [PROCESS])
    patch = script.with_name("fix.patch")
    patch.write_text("--- serve.py\n+++ serve.py\n@@ -1 +1 @@\n-a\n+b\n")
    script.unlink()
    with pytest.raises(WrongUse, match="no longer exists"):
        verify_request(str(patch), run)


@pytest.mark.parametrize("name", ["fix.patch", "fixed.py"])
def test_a_fix_that_is_not_there_is_named(script: Path, name: str) -> None:
    run = run_of(script, [PROCESS])
    with pytest.raises(WrongUse, match=name):
        verify_request(str(script.with_name(name)), run)
