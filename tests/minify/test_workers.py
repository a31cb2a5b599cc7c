"""Candidates crash, hang and leave as they like, and the next one is not touched by it; a real
failure becomes a small script that fails alike by itself."""

from __future__ import annotations

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
from aoti_debug.minify.workers import Outcome, workers
from aoti_debug.run.executor import Machine
from aoti_debug.triage.run_state import Cancelled

PLACES = Machine(4, 4, 0)
CANDIDATES = {
    "well": "print('step: run', flush=True)\nprint('step: done')",
    "crash": "import ctypes\nprint('step: run', flush=True)\nctypes.string_at(0)",
    "leave": "import os\nprint('step: load', flush=True)\nos._exit(7)",
    "raise": "print('step: lower', flush=True)\nraise ValueError('no such row')",
    "hang": "import signal\nprint('step: run', flush=True)\nwhile True:\n    signal.pause()",
    "abort": "import os\nprint('step: run', flush=True)\nos.abort()",
    "child": "import subprocess\nprint('step: run', flush=True)\nsubprocess.run(['sleep', '1000'])",
    "torch": "import torch\nassert not torch.cuda.is_initialized()\nprint('step: done')",
}


@pytest.fixture(scope="module")
def outcomes(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    return anyio.run(done, python, tmp_path_factory.mktemp("workers"))


def order(name: str) -> dict[str, object]:
    return {"kind": "script", **({"run_s": 4.0} if name in ("hang", "child") else {})}


async def done(python: str, place: Path) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    stop = anyio.Event()
    started = workers(place / "c", place / "log", python, os.environ, place / "k", stop, PLACES)
    async with started as crew:

        async def one(name: str) -> None:
            found[name] = await crew.do(order(name), 300.0, CANDIDATES[name])

        async with anyio.create_task_group() as tasks:
            for name in CANDIDATES:
                tasks.start_soon(one, name)
        ran = crew.ran
        found["again"] = await crew.do(order("crash"), 300.0, CANDIDATES["crash"])
        assert crew.ran == ran
        stop.set()
        with pytest.raises(Cancelled):
            await crew.do(order("hang"), 300.0, "import signal\nsignal.pause()")
    return found


def test_each_end_has_its_own_signature(outcomes: dict[str, Outcome]) -> None:
    kinds = {name: outcome.signature.kind for name, outcome in outcomes.items()}
    assert kinds == {
        "well": None,
        "torch": None,
        "crash": "SIGSEGV",
        "leave": "exit 7",
        "raise": "ValueError",
        "hang": "hang",
        "child": "hang",
        "abort": "SIGABRT",
        "again": "SIGSEGV",
    }


def test_the_step_that_failed_is_known(outcomes: dict[str, Outcome]) -> None:
    phases = {name: outcomes[name].signature.phase for name in ("crash", "leave", "raise")}
    assert phases == {"crash": "run", "leave": "load", "raise": "lower"}


def test_a_candidate_is_tried_once(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["again"].cached and not outcomes["crash"].cached


def test_nothing_is_left_running(outcomes: dict[str, Outcome]) -> None:
    place = str(outcomes["hang"].directory.parent)
    assert not [p for p in psutil.process_iter(["cmdline"]) if place in (p.info["cmdline"] or [])]
    assert not [p for p in psutil.process_iter() if _cwd(p).startswith(place)]


def _cwd(process: psutil.Process) -> str:
    try:
        return process.cwd()
    except psutil.Error:
        return ""


SEARCH = """
import anyio, os, sys
from pathlib import Path
from aoti_debug.minify.workers import workers
from aoti_debug.run.executor import Machine

async def main(place, python):
    stop = anyio.Event()
    log, cache, machine = place / "log", place / "k", Machine(2, 2, 0)
    started = workers(place / "c", log, python, os.environ, cache, stop, machine)
    async with started as crew:
        print(json_of(place), flush=True)
        script = "import signal\\nwhile True:\\n    signal.pause()"
        await crew.do({"kind": "script"}, 600.0, script)

def json_of(place):
    return (place / "c" / "ready.json").read_text()

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

    async def run() -> Outcome:
        place = tmp_path / "c"
        log, cache = tmp_path / "log", tmp_path / "k"
        async with workers(place, log, python, env, cache, anyio.Event(), PLACES) as crew:
            return await crew.do({"kind": "script"}, 300.0, USES_IT)

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
        [*command, python, *words],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as search:
        assert search.stderr is not None
        assert any("best so far 1 of" in line for line in search.stderr)
        family = psutil.Process(search.pid).children(recursive=True)
        search.kill()
    _, alive = psutil.wait_procs(family, timeout=30)
    (run,) = (home / "runs").iterdir()
    best = (run / "repro.py").read_text("utf-8")
    again = [*command, warm_python, run.name]
    ran = subprocess.run(again, env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    answer: dict[str, Any] = json.loads(ran.stdout)
    return {**answer, "alive": alive, "killed with": best}


def test_a_search_that_is_killed_leaves_its_best_and_no_process(minified: dict[str, Any]) -> None:
    assert not minified["alive"]
    compile(minified["killed with"], "repro.py", "exec")
    assert "torch.ops.planted.act" in minified["killed with"]


def test_one_operator_is_left_and_it_fails_alike_alone(minified: dict[str, Any]) -> None:
    assert minified["reproduced"] and minified["nodes"] == 1
    assert minified["confirmed"] == "2 of 2 runs alone failed alike"
    assert "lower of act: MissingOperatorWithoutDecomp" in minified["signature"]


def test_few_candidates_are_tried_where_the_operator_is_named(minified: dict[str, Any]) -> None:
    assert minified["candidates"] <= 3


def test_the_reproduction_brings_the_operator_along(minified: dict[str, Any]) -> None:
    text = Path(minified["repro"]).read_text("utf-8")
    assert "planted::act" in text and "class Layers" not in text
    assert "implicit_fallbacks" in text
    report = Path(minified["repro"]).with_name("report.md").read_text("utf-8")
    assert text.strip() in report
