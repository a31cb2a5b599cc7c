"""Calls on devices, with a driver whose device is the host's memory."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from probe.conftest import printed

WATCH = """
import json, types
import torch
from probe import device, shared_buffer
from probe.cuda import Driver

INPUTS, OUTPUTS = 40, 25  # more than one launch takes


class Leaf:
    is_cuda = True

    def __init__(self, tensor):
        self.tensor, self.dtype = tensor, tensor.dtype
        self.data_ptr, self.numel = tensor.data_ptr, tensor.numel
        self.is_contiguous = tensor.is_contiguous

    def contiguous(self):
        return Leaf(self.tensor.contiguous())

    def get_device(self):
        return 0


settled = []


def settle(entry, signature):
    kept = entry.block.read() == b"".join(t.tensor.numpy().tobytes() for t in given[entry.call])
    settled.append([entry.call, signature, kept])


watcher = device.Watcher(Driver(), settle)
layout = shared_buffer.Layout(64 * INPUTS, [(64 * n, 64) for n in range(INPUTS)])
group = types.SimpleNamespace(id=0, layout=layout, parts=None)
given, looks = {}, None
for call in range(1, 61):
    inputs = given[call] = [Leaf(torch.full((16,), float(call))) for _ in range(INPUTS)]
    entry = watcher.begin(0, 7, call, None, group, inputs)
    kinds = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64]
    outputs = [torch.ones(3, 4, dtype=kinds[n % 5]) for n in range(OUTPUTS)]
    if call == 20:
        outputs[0][2, 3] = float("nan")
    if call == 30:
        outputs[3] = torch.full((4, 3), float("-inf"), dtype=torch.float64).t()
        outputs[23][0, 0] = float("inf")  # among the outputs that share the last place
    leaves = [Leaf(one) for one in outputs]
    looks = looks or watcher.looks(0, leaves, list(range(OUTPUTS)))
    watcher.end(entry, leaves, looks)
watcher.finish()
print(json.dumps(settled))
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("driver")
    source = str(Path(__file__).with_name("software_driver.c"))
    command = ["cc", "-O1", "-w", "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), source]
    subprocess.run(command, check=True)
    return folder


def test_calls_on_a_device_are_settled_in_order_with_inputs_and_outputs(
    driver: Path, tmp_path: Path
) -> None:
    settled = json.loads(printed(tmp_path, WATCH, LD_LIBRARY_PATH=str(driver)))
    assert [call for call, *_ in settled] == list(range(1, 61))
    assert all(kept for *_, kept in settled)
    odd = {call: signature for call, signature, _ in settled if signature}
    nan, positive, negative = 1, 2, 4
    assert odd == {20: nan, 30: negative << 3 * 3 | positive << 3 * 19}
