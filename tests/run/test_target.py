"""What the user names becomes what is executed, or an error that says why not; tools are found
where people and wheels put them. Each GPU is used by one run at a time, clients take turns, and
what is visible is what CUDA would show."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import venv
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import aoti_debug
import pydantic
import pytest
from aoti_debug.errors import AotiDebugError, DeviceBusy, NoInterpreter, TargetNotFound, WrongUse
from aoti_debug.run.device import (
    Device,
    Health,
    health,
    hold_devices,
    lock_devices,
    visible_devices,
)
from aoti_debug.run.interpreter import find_interpreter, installed_versions
from aoti_debug.run.machine import ask, find_tool, version
from aoti_debug.run.target import resolve_target
from aoti_debug.run.turns import Turns

from .conftest import PATIENCE_S

resolve = partial(resolve_target, python=sys.executable)


def test_script_runs_in_the_named_interpreter(tmp_path):
    script = tmp_path / "a b.py"
    script.touch()
    target = resolve(script=script, args=["-x", "two words"])
    assert target.argv == (sys.executable, str(script), "-x", "two words")
    assert target.label == "a b.py -x 'two words'"
    assert target.python == Path(sys.executable)


def test_relative_script_is_found_in_cwd_then_here(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    for name in ("here.py", "there/both.py", "both.py"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    for name, place in (("here.py", tmp_path), ("both.py", tmp_path / "there")):
        target = resolve(script=name, cwd="there")
        assert target.argv[1] == str(place / name)
        assert target.cwd == tmp_path / "there"


def test_module_and_command():
    target = resolve(module="json.tool", args=["-h"])
    assert target.argv == (sys.executable, "-m", "json.tool", "-h")
    assert target.label == "-m json.tool -h"
    target = resolve_target(command=["sh", "-c", "true"])
    assert Path(target.argv[0]).is_absolute()
    assert target.argv[1:] == ("-c", "true")
    assert resolve_target(command=[sys.executable]).python == Path(sys.executable)


def test_program_with_another_interpreter_runs_by_itself(program):
    shell = program("run.sh")
    assert resolve_target(script=shell, args=["1"]).argv == (str(shell), "1")
    python = program("tool", "#!/usr/bin/env python3\n")
    assert resolve(script=python).argv[0] == sys.executable


def test_environment_is_merged_over_the_current_one(tmp_path, monkeypatch):
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("CHANGED", "1")
    target = resolve_target(command=["sh"], env={"CHANGED": "2"}, cwd=tmp_path)
    assert (target.env["KEPT"], target.env["CHANGED"]) == ("1", "2")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"script": "gone.py"}, "there is no script .*gone.py"),
        ({"script": "folder"}, "is a directory, not a script. Give the script inside"),
        ({"script": "model.pt2"}, "is a package.*inspect"),
        ({"script": "book.ipynb"}, "is a notebook"),
        ({"script": "pipe"}, "not a regular file"),
        ({"script": "loop"}, "there is no script .*loop"),
        ({"command": ["no-such-program"]}, "no program 'no-such-program' on PATH"),
        ({"command": ["./gone"]}, "there is no program"),
        ({"command": ["./folder"]}, "is a directory"),
        ({"command": ["./model.pt2"]}, "is not executable"),
    ],
)
def test_what_is_not_there_is_said(tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "model.pt2").touch()
    (tmp_path / "book.ipynb").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(TargetNotFound, match=words):
        resolve(**options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"script": "a.py", "module": "b"},
        {"module": "not a module"},
        {"module": "-c"},
        {"command": ["sh"], "cwd": "gone"},
        {"command": ["sh"], "env": {"A=B": "1"}},
        {"command": ["sh"], "env": {"A": "\0"}},
        {"command": ["sh"], "args": ["\0"]},
    ],
)
def test_wrong_use_is_refused(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WrongUse) as refused:
        resolve(**options)
    assert "\0" not in str(refused.value)
    assert refused.value.help


def test_label_is_short_and_plain():
    target = resolve_target(command=["sh", "-c", "\x1b[31m" + "x" * 500])
    assert len(target.label) == 120
    assert "\x1b" not in target.label


def test_interpreters_are_taken_in_order(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named, chosen, active, conda = (program(f"{name}/bin/python") for name in "ncak")
    program("p/bin/python")
    plain = program("p/bin/python3")
    env = {
        "AOTI_DEBUG_PYTHON": str(chosen),
        "VIRTUAL_ENV": str(tmp_path / "a"),
        "CONDA_PREFIX": str(tmp_path / "k"),
        "PATH": str(plain.parent),
    }
    for words in (named, tmp_path / "n"):
        assert find_interpreter(str(words), env) == named
    for variable, found in zip(list(env), (chosen, active, conda, plain), strict=True):
        assert find_interpreter(None, env) == found
        del env[variable]
    with pytest.raises(NoInterpreter, match="no Python interpreter was found"):
        find_interpreter(None, {"PATH": str(tmp_path)})


OURS = """
import json, sys
sys.path.append(sys.argv[1])
from aoti_debug.run.interpreter import find_interpreter
print(find_interpreter(None, json.loads(sys.argv[2])))
"""


def test_our_own_environment_without_torch_is_the_last_choice(program, tmp_path):
    """As under `uv run`, which makes the server's environment the active one."""
    venv.create(tmp_path / "ours", symlinks=True)
    packages, python = tmp_path / "packages", tmp_path / "ours" / "bin" / "python"
    packages.mkdir()
    for place in {Path(pydantic.__file__).parents[1], Path(aoti_debug.__file__).parents[1]}:
        for package in place.iterdir():
            if package.name != "torch" and package.suffix != ".pth":
                (packages / package.name).symlink_to(package)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    path = f"{python.parent}:{tmp_path / 'theirs'}"
    active = {"VIRTUAL_ENV": str(tmp_path / "ours"), "PATH": path}

    def found(**env: str) -> Path:
        words = [python, "-c", OURS, packages, json.dumps({**active, **env})]
        return Path(subprocess.check_output(words, cwd=tmp_path, env=clean, text=True).strip())

    assert found() == python
    theirs = program("theirs/python")
    assert found() == theirs
    assert found(AOTI_DEBUG_PYTHON=str(python)) == python
    (packages / "torch").mkdir()
    (packages / "torch" / "version.py").touch()
    assert found() == python


def test_link_of_an_environment_is_kept(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    assert find_interpreter(str(tmp_path), {}) == tmp_path / "bin" / "python"


def test_named_interpreter_that_cannot_run_is_not_passed_over(tmp_path):
    for env, python in (({}, "/gone/python"), ({"AOTI_DEBUG_PYTHON": str(tmp_path)}, None)):
        with pytest.raises(NoInterpreter, match=f"{python or tmp_path}.* cannot be executed"):
            find_interpreter(python, env)
    assert issubclass(NoInterpreter, AotiDebugError)


def _torch(folder: Path, version: str) -> None:
    (folder / "torch").mkdir(parents=True, exist_ok=True)
    (folder / "torch" / "__init__.py").write_text("raise SystemExit('torch was imported')")
    (folder / "torch" / "version.py").write_text(
        f"from typing import Optional\n__version__ = '{version}'\ncuda: Optional[str] = '13.0'\n"
    )


def test_who_is_asked_ends_with_who_asks(mailbox, spawn, tmp_path):
    """An interpreter that waits for ever, and a server that is killed."""
    held = tmp_path / "held"
    os.mkfifo(held)
    words = ["sh", "-c", f"echo $$ > {mailbox.path}; read line < {held}"]
    asks = f"from aoti_debug.run.machine import ask; ask({words!r}, timeout_s=1000)"
    with spawn(asks) as asking:
        asked = os.pidfd_open(int(mailbox.read()))
        asking.kill()
    assert select.select([asked], [], [], PATIENCE_S)[0]
    os.close(asked)


def test_versions_are_read_without_importing_torch_and_follow_changes(tmp_path):
    _torch(tmp_path / "packages", "2.13.0+cu130")
    env = {"PYTHONPATH": str(tmp_path / "packages"), "AOTI_DEBUG_HOME": str(tmp_path / "home")}
    for _ in range(2):
        found = installed_versions(Path(sys.executable), env)
        assert (found.torch, found.torch_cuda) == ("2.13.0+cu130", "13.0")
        assert found.python == ".".join(map(str, sys.version_info[:3]))
    other = {**env, "BASH_ENV": "/elsewhere"}  # what one client says, no other is given
    assert installed_versions(Path(sys.executable), other)
    assert len(list((tmp_path / "home" / "interpreters").iterdir())) == 2
    _torch(tmp_path / "packages", "2.14.0")
    os.utime(tmp_path / "packages" / "torch" / "version.py", (1, 1))
    assert installed_versions(Path(sys.executable), env).torch == "2.14.0"


def test_an_answer_without_a_version_is_asked_for_again(program, tmp_path):
    home = tmp_path / "home"
    python = program("python", "#!/bin/sh\necho '[{}, {}]'\n")
    assert installed_versions(python, {"AOTI_DEBUG_HOME": str(home)}).python is None
    python.write_text('#!/bin/sh\necho \'[{"python": "3.12"}, {}]\'\n')
    os.utime(python, (1, 1))
    assert not home.exists()
    assert installed_versions(python, {"AOTI_DEBUG_HOME": str(home)}).python == "3.12"


def test_a_pipe_by_the_name_of_an_interpreter_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "python3", 0o755)
    with pytest.raises(NoInterpreter):
        find_interpreter(None, {"PATH": str(tmp_path), "HOME": str(tmp_path)}, tmp_path)


def test_interpreter_without_torch_or_that_fails_is_told(program, tmp_path):
    env = {"AOTI_DEBUG_HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    bare = program("bare", f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    found = installed_versions(bare, env)
    assert (found.torch, found.triton, found.problem) == (None, None, None)
    broken = program("broken", "#!/bin/sh\necho libpython3.so: cannot open >&2\nexit 127\n")
    assert installed_versions(broken, env).problem == "libpython3.so: cannot open"


def test_tools_are_on_path_of_the_toolkit_of_wheels_or_beside_python(program, tmp_path):
    python = program("venv/bin/python")
    wheels = "venv/lib/python3.11/site-packages/nvidia/cu13"
    wheel = program(f"{wheels}/compute-sanitizer/compute-sanitizer")
    program(f"{wheels}/bin/compute-sanitizer")
    env = {"PATH": str(tmp_path / "empty")}
    assert find_tool("compute-sanitizer", env, python) == wheel
    env["CUDA_HOME"] = str(tmp_path / "cuda")
    toolkit = program("cuda/bin/compute-sanitizer")
    assert find_tool("compute-sanitizer", env, python) == toolkit
    env["PATH"] = str(tmp_path / "bin")
    on_path = program("bin/compute-sanitizer")
    assert find_tool("compute-sanitizer", env, python) == on_path
    beside = program("venv/bin/py-spy")
    assert (find_tool("py-spy", env, python), find_tool("py-spy", env)) == (beside, None)


@pytest.mark.parametrize(
    ("output", "number"),
    [
        ("g++ (Debian 12.2.0-14) 12.2.0\nCopyright (C) 2022", "12.2.0"),
        ("GNU gdb (Debian 13.1-3) 13.1\nCopyright (C) 2023", "13.1"),
        ("nvdisasm: NVIDIA (R)\nCuda compilation tools, release 13.0, V13.0.48", "13.0.48"),
        ("py-spy 0.4.1", "0.4.1"),
        ("no number", None),
    ],
)
def test_version_is_the_one_that_the_tool_tells(program, output, number):
    tool = program("some-tool", f"#!/bin/sh\ncat <<'END'\n{output}\nEND\n")
    assert version(tool) == number


def test_question_without_an_answer_ends(tmp_path):
    assert ask(["sleep", "1000"], timeout_s=0.1) is None
    assert ask(["cat", "/dev/zero"]) is None
    os.mkfifo(tmp_path / "left")
    held = os.open(tmp_path / "left", os.O_RDONLY | os.O_NONBLOCK)
    assert ask(["sh", "-c", f"sleep 1000 > {tmp_path}/left & wait"], timeout_s=1.0) is None
    assert select.select([held], [], [], 30.0)[0] == [held]  # nobody has it open to write
    os.close(held)
    assert ask([str(tmp_path / "gone")]) is None


GPU = Device(0, "GPU-aaaa-1", "NVIDIA H200", 1 << 37, 1 << 36)
OTHER = Device(1, "GPU-bbbb-2", "NVIDIA H200", 1 << 37, 1 << 36)

LIST = "0, GPU-aaaa-1, NVIDIA H200, 143771, 143100\n1, GPU-bbbb-2, NVIDIA H200, 143771, 99\n"

HOLDER = """
import sys
from pathlib import Path
from aoti_debug.run.device import Device, lock_devices
gpu = Device(0, "GPU-aaaa-1", "H200", 0, 0)
with lock_devices([gpu], run="r-1", command="train.py", at=Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def smi(program):
    """Put an nvidia-smi on PATH that answers each queried field list with given text."""

    def write(**answers: str | tuple[int, str]) -> dict[str, str]:
        cases = []
        for field, answer in answers.items():
            code, text = answer if isinstance(answer, tuple) else (0, answer)
            body = f"cat <<'END'\n{text.rstrip()}\nEND\nexit {code}"
            cases.append(f'case "$1" in *{field}*) {body}\n;; esac\n')
        refusal = 'echo "Field is not a valid field to query."; exit 2\n'
        tool = program("bin/nvidia-smi", "#!/bin/sh\n" + "".join(cases) + refusal)
        return {"PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}"}

    return write


@pytest.mark.parametrize(
    ("visible", "indices"),
    [
        (None, [0, 1]),
        ("1,0", [1, 0]),
        ("1", [1]),
        ("", []),
        ("-1", []),
        ("0,7,1", [0]),
        ("0,0", [0]),
        ("GPU-bbbb", [1]),
        ("GPU-", []),
    ],
)
def test_visible_devices_are_those_that_cuda_shows(smi, visible, indices):
    env = smi(memory=LIST)
    if visible is not None:
        env["CUDA_VISIBLE_DEVICES"] = visible
    found = visible_devices(env)
    assert [device.index for device in found] == indices
    assert all(device.memory == 143771 << 20 for device in found)


def test_slice_of_a_gpu_is_a_device(smi):
    env = {**smi(memory=LIST), "CUDA_VISIBLE_DEVICES": "MIG-cccc"}
    assert [device.uuid for device in visible_devices(env)] == ["MIG-cccc"]


@pytest.mark.parametrize("answer", [(9, "NVIDIA-SMI has failed"), "No devices were found", ""])
def test_no_driver_means_no_devices(smi, answer, tmp_path):
    assert visible_devices(smi(memory=answer)) == []
    assert visible_devices({"PATH": str(tmp_path)}) == []


NO_HANDLE = "Unable to determine the device handle"
NO_NVML = "Failed to initialize NVML: Driver/library version mismatch"


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"ecc": "GPU-aaaa-1, 0", "action": "None"}, None),
        ({"ecc": "GPU-aaaa-1, [N/A]"}, None),
        ({"ecc": "GPU-aaaa-1, 2", "action": "Reset"}, "the driver asks for: Reset"),
        ({"ecc": (15, f"{NO_HANDLE} for GPU0000:01:00.0: Unknown Error")}, NO_HANDLE),
        ({"ecc": "GPU-aaaa-1, [GPU requires reset]"}, "requires reset"),
        ({"ecc": (18, NO_NVML)}, NO_NVML),
        ({"ecc": (6, "No devices were found")}, "No devices were found"),
    ],
)
def test_health_is_what_the_driver_says(smi, answers, why):
    assert health(GPU, smi(**answers)) == (Health(False, why) if why else Health(True))


@pytest.fixture
def lock(tmp_path):
    return partial(lock_devices, command="", at=tmp_path)


def test_lock_is_refused_with_the_holder_named_and_frees_the_others(lock):
    holder = rf"GPU 1 .*run r-9 \(pid {os.getpid()}.*train.py"
    with lock([OTHER], run="r-9", command="python \x1b[31mtrain.py"):
        for devices in ([GPU, OTHER], [OTHER, GPU]):
            with pytest.raises(DeviceBusy, match=holder) as busy, lock(devices, run="r-10"):
                pass
            assert "\x1b" not in str(busy.value)
        with lock([GPU], run="r-12"):
            pass
    with lock([GPU, OTHER], run="r-11"):
        pass


def test_lock_holds_between_processes_and_ends_with_its_holder(lock, spawn, tmp_path):
    with spawn(HOLDER, tmp_path) as holder:
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(DeviceBusy, match=rf"run r-1 \(pid {holder.pid}, 0 min: train.py\)"),
            lock([GPU], run="r-2"),
        ):
            pass
        holder.kill()
    with lock([GPU], run="r-2"):
        pass


@pytest.mark.anyio
async def test_waiting_for_a_device_ends_when_it_is_free_or_in_time(tmp_path):
    hold = partial(hold_devices, [GPU], command="", at=tmp_path)
    order: list[str] = []
    free = anyio.Event()

    async def first() -> None:
        async with hold(run="r-1"):
            order.append("first")
            await free.wait()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(DeviceBusy, match="r-1"):
            async with hold(run="r-2", wait_s=0):
                pass
        order.append("refused")
        free.set()
        async with hold(run="r-3", wait_s=60):
            order.append("second")
    assert order == ["first", "refused", "second"]
    assert (tmp_path / "locks").is_dir()


async def _settle() -> None:
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_turns_stay_apart_and_each_client_comes_once_before_any_twice():
    turns, order = Turns(), []

    async def one(client: str) -> None:
        async with turns.take(client):
            order.append(client)
            await _settle()
            order.append("ends")

    async with anyio.create_task_group() as tasks:
        for client in (*["many"] * 4, "few", "one", "few"):
            tasks.start_soon(one, client)
            await anyio.lowlevel.checkpoint()
    assert order[::2] == ["many", "few", "one", "many", "few", "many", "many"]
    assert order[1::2] == ["ends"] * 7


@pytest.mark.anyio
async def test_who_gives_up_waiting_loses_no_turn_of_others():
    turns, order = Turns(), []

    async def one(client: str) -> None:
        async with turns.take(client):
            order.append(client)

    async with anyio.create_task_group() as tasks:
        async with turns.take("first"):
            with anyio.CancelScope() as gives_up:
                tasks.start_soon(one, "second")
                await _settle()
                gives_up.cancel()
                async with turns.take("third"):
                    order.append("third")
        await _settle()
        async with turns.take("fourth"):
            order.append("fourth")
    assert order == ["second", "fourth"]
