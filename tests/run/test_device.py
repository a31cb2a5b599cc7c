"""Each GPU is used by one run at a time, clients take turns, and what is visible is what CUDA would
show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from aoti_debug.errors import DeviceBusy
from aoti_debug.run.device import (
    Device,
    Health,
    Turns,
    health,
    hold_devices,
    lock_devices,
    visible_devices,
)

GPU = Device(0, "GPU-aaaa-1", "NVIDIA H200", 1 << 37, 1 << 36)
OTHER = Device(1, "GPU-bbbb-2", "NVIDIA H200", 1 << 37, 1 << 36)

LIST = "0, GPU-aaaa-1, NVIDIA H200, 143771, 143100\n1, GPU-bbbb-2, NVIDIA H200, 143771, 99\n"

HOLDER = """
import sys
from pathlib import Path
from aoti_debug.run.device import Device, lock_devices
with lock_devices([Device(0, "GPU-aaaa-1", "H200", 0, 0)], run="r-1", command="train.py",
                  at=Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def smi(tmp_path):
    """Put an nvidia-smi on PATH that answers each queried field list with given text."""

    def write(**answers: str | tuple[int, str]) -> dict[str, str]:
        cases = []
        for field, answer in answers.items():
            code, text = answer if isinstance(answer, tuple) else (0, answer)
            body = f"cat <<'END'\n{text.rstrip()}\nEND\nexit {code}"
            cases.append(f'case "$1" in *{field}*) {body}\n;; esac\n')
        tool = tmp_path / "bin" / "nvidia-smi"
        tool.parent.mkdir(exist_ok=True)
        refusal = 'echo "Field is not a valid field to query."; exit 2\n'
        tool.write_text("#!/bin/sh\n" + "".join(cases) + refusal)
        tool.chmod(0o755)
        return {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    return write


@pytest.mark.parametrize(
    ("visible", "indices"),
    [
        (None, [0, 1]),
        ("0,1", [0, 1]),
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


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"ecc": "GPU-aaaa-1, 0", "action": "None"}, Health(True, "", 0)),
        ({"ecc": "GPU-aaaa-1, [N/A]"}, Health(True, "", None)),
        (
            {"ecc": "GPU-aaaa-1, 2", "action": "Reset"},
            Health(False, "the driver asks for: Reset", 2),
        ),
        (
            {
                "ecc": (
                    15,
                    "Unable to determine the device handle for GPU0000:01:00.0: Unknown Error",
                )
            },
            Health(False, "Unable to determine the device handle"),
        ),
        ({"ecc": "GPU-aaaa-1, [GPU requires reset]"}, Health(False, "requires reset")),
        (
            {"ecc": (18, "Failed to initialize NVML: Driver/library version mismatch")},
            Health(False, "Failed to initialize NVML: Driver/library version mismatch"),
        ),
        ({"ecc": (6, "No devices were found")}, Health(False, "No devices were found")),
    ],
)
def test_health_is_what_the_driver_says(smi, answers, expected):
    assert health(GPU, smi(**answers)) == expected


def test_lock_is_refused_with_the_holder_named(tmp_path):
    with (
        lock_devices([GPU], run="r-9", command="python \x1b[31mtrain.py", at=tmp_path),
        pytest.raises(DeviceBusy, match=rf"GPU 0 .*run r-9 \(pid {os.getpid()}.*train.py") as busy,
        lock_devices([OTHER, GPU], run="r-10", command="", at=tmp_path),
    ):
        pass
    assert "\x1b" not in str(busy.value)
    with lock_devices([GPU, OTHER], run="r-11", command="", at=tmp_path):
        pass


def test_refusal_keeps_the_holders_name_and_frees_the_others(tmp_path):
    with lock_devices([OTHER], run="r-9", command="", at=tmp_path):
        for _ in range(2):
            with (
                pytest.raises(DeviceBusy, match="r-9"),
                lock_devices([GPU, OTHER], run="r-10", command="", at=tmp_path),
            ):
                pass
        with lock_devices([GPU], run="r-12", command="", at=tmp_path):
            pass


def test_lock_holds_between_processes_and_ends_with_its_holder(tmp_path):
    argv = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(argv, stdin=-1, stdout=-1, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(DeviceBusy, match=rf"run r-1 \(pid {holder.pid}, 0 min: train.py\)"),
            lock_devices([GPU], run="r-2", command="", at=tmp_path),
        ):
            pass
        holder.kill()
    with lock_devices([GPU], run="r-2", command="", at=tmp_path):
        pass


def test_waiting_for_a_device_ends_when_it_is_free_or_in_time(tmp_path):
    async def main() -> list[str]:
        order = []
        free = anyio.Event()

        async def first() -> None:
            async with hold_devices([GPU], run="r-1", command="", at=tmp_path):
                order.append("first")
                await free.wait()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(DeviceBusy, match="r-1"):
                async with hold_devices([GPU], run="r-2", command="", wait_s=0, at=tmp_path):
                    pass
            order.append("refused")
            free.set()
            async with hold_devices([GPU], run="r-3", command="", wait_s=60, at=tmp_path):
                order.append("second")
        return order

    assert anyio.run(main) == ["first", "refused", "second"]
    assert Path(tmp_path / "locks").is_dir()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def _settle() -> None:
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_every_client_comes_once_before_any_comes_twice():
    turns, order = Turns(), []

    async def one(client: str) -> None:
        async with turns.take(client):
            order.append(client)
            await _settle()

    async with anyio.create_task_group() as tasks:
        for client in ("many", "many", "many", "many", "few", "one", "few"):
            tasks.start_soon(one, client)
            await anyio.lowlevel.checkpoint()
    assert order == ["many", "few", "one", "many", "few", "many", "many"]


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


@pytest.mark.anyio
async def test_turns_stay_apart():
    turns = Turns()
    inside = 0

    async def one(client: int) -> None:
        nonlocal inside
        async with turns.take(client % 7):
            inside += 1
            assert inside == 1
            await anyio.lowlevel.checkpoint()
            inside -= 1

    async with anyio.create_task_group() as tasks:
        for client in range(100):
            tasks.start_soon(one, client)
    assert inside == 0
