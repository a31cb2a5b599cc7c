"""Programs that make many calls: each is judged, the bad ones are counted and kept."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.model import TriageAnswer

Triage = Callable[..., TriageAnswer]
PATIENCE_S = 240.0
LOAD = """
import sys, torch
model = torch._inductor.aoti_load_package(PACKAGE)
"""
# 13 of 120 calls are given the transpose of what the model was compiled for
MIXED = """
x = torch.randn(5, 16)
for number in range(1, 121):
    if number % 9 == 5:
        model(torch.randn(16, 5).t())
    else:
        model(x)
"""
BOTH = """
for number in range(1, 41):
    ids = torch.zeros(70, 6, dtype=torch.int32 if number % 20 == 0 else torch.int64)
    model(ids, torch.rand(70, 6))
"""
SIZES = """
for number in range(1, 41):
    model(torch.randn(5 if number > 30 else 7, 16))
"""
DIES = """
import ctypes
class Dying:
    runner = model.loader
    get_call_spec = runner.get_call_spec
    def boxed_run(self, inputs):
        if inputs[0][0, 0] == 4000:
            ctypes.string_at(0)
        return self.runner.boxed_run(inputs)
model.loader = Dying()
for number in range(1, 5001):
    model(torch.full((7, 16), float(number)))
"""
SERVES = """
x, number = torch.randn(5, 16), 0
while True:
    number += 1
    model(torch.randn(16, 5).t() if number == 150 else x)
    if number == 400:
        print("served", file=open(sys.argv[1], "w"), flush=True)
"""


@pytest.fixture(scope="module")
def traffic(built: Any, triage_in: Any, written: Any, tmp_path_factory: Any) -> Triage:
    def triage(source: str, package: str = "dynamic") -> TriageAnswer:
        path = repr(str(built.directory / f"{package}.pt2"))
        found = triage_in(built.home, written(LOAD.replace("PACKAGE", path) + source))
        assert isinstance(found, TriageAnswer)
        return found

    return triage


def test_the_bad_calls_among_many_are_counted_and_the_first_is_replayed(traffic: Triage) -> None:
    answer = traffic(MIXED)
    best = answer.diagnosis
    assert best is not None and best.input is not None
    assert (best.category, best.confidence) == ("contract_stride", "proved")
    assert best.summary.startswith("13 of 120 calls (5, 14, 23, 32, 41, 50, …): ")
    assert "the calls that do come from" in best.summary
    assert "capture/call-broken-1.pt" in answer.artifacts


def test_all_that_calls_break_is_listed_with_how_many_do(traffic: Triage) -> None:
    best = traffic(BOTH, "embedding").diagnosis
    assert best is not None
    assert best.summary.count("size at dim 0 is 70") == 2, "of both inputs"
    for words in ("size at dim 0 is 70", "<= 64", "dtype is int32", "compiled for int64"):
        assert words in best.summary
    assert best.summary.startswith("1 of 20 calls (20): ")  # which the runtime rejects
    assert "(20 calls)" in best.summary


def test_calls_of_other_sizes_than_the_repeated_one_are_not_called_held_against_guards(
    traffic: Triage,
) -> None:
    best = traffic(SIZES).diagnosis
    assert best is not None and best.category == "no_fault"
    assert "40 calls of a compiled model returned, each held against the package's" in best.summary
    assert "30 of 40 calls have other sizes or values than the one that was rep" in best.summary


def test_the_call_under_way_at_a_crash_is_kept_however_late_it_comes(traffic: Triage) -> None:
    answer = traffic(DIES)
    best = answer.diagnosis
    assert best is not None
    assert "in call 4000 of the loaded model" in best.summary
    assert {"capture/call-now.bin", "capture/call-now.json"} <= set(answer.artifacts)
    assert any(step.status == "done" and step.name != "first run" for step in answer.steps)


def test_an_interrupt_diagnoses_what_a_server_has_done_so_far(
    built: Any, written: Any, tmp_path: Path
) -> None:
    script = written(LOAD.replace("PACKAGE", repr(str(built.directory / "dynamic.pt2"))) + SERVES)
    os.mkfifo(tmp_path / "mailbox")
    mailbox = os.open(tmp_path / "mailbox", os.O_RDWR)
    words = ["triage", str(script), "--json", "--", str(tmp_path / "mailbox")]
    with subprocess.Popen(
        [sys.executable, "-m", "aoti_debug", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TORCHINDUCTOR_VEC_ISA_OK": "1"},
    ) as started:
        assert started.stderr is not None
        assert select.select([mailbox], [], [], PATIENCE_S)[0]
        for line in started.stderr:
            if "calls (1 break" in line:
                break
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=PATIENCE_S)
    os.close(mailbox)
    found = TriageAnswer.model_validate_json(out)
    assert started.returncode == 1, err
    assert found.diagnosis is not None
    assert found.diagnosis.category == "contract_stride"
    assert "1 of " in found.diagnosis.summary and "(150)" in found.diagnosis.summary
