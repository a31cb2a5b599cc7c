"""A fix of memory that is written again before it is read: the script is run once more, with each
thread given what it was handed, which tells whether it still reads what others have overwritten."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aoti_debug.verify.judge import Trial, judge
from aoti_debug.verify.script_checks import Changes, changes
from programs import changed
from verify.facts import RIGHT_CALL, WRONG, gone, triaged, verdict

# Blocks of a ring that is shorter than a group. The model gives NaN for silence, which is meant.
RING = """
import queue
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import torch

SLOTS, GROUP = 2, 4


class Level(torch.nn.Module):
    def forward(self, blocks):
        return torch.log(blocks.square().sum(-1) - 4.0)


def record(link, archive):
    draw, ring = np.random.default_rng(0), np.zeros((SLOTS, 8), dtype=np.float32)
    for number in range(12):
        slot = ring[number % SLOTS]
        slot[:] = draw.normal(size=8)
        archive.append(slot.copy())
        link.put(slot)
    link.put(None)


@torch.no_grad()
def main():
    model = Level()
    program = torch.export.export(model, (torch.ones(GROUP, 8),))
    path = str(Path(tempfile.mkdtemp(), "level.pt2"))
    torch._inductor.aoti_compile_and_package(program, package_path=path)
    package = torch._inductor.aoti_load_package(path)
    link, archive, waiting, levels = queue.Queue(1), [], [], []
    thread = threading.Thread(target=record, args=(link, archive))
    thread.start()
    while (slot := link.get()) is not None:
        waiting.append(torch.from_numpy(slot))
        if len(waiting) == GROUP:
            levels.append(package(torch.stack(waiting)))
            waiting.clear()
    thread.join()
    wanted = model(torch.from_numpy(np.stack(archive)))
    if not torch.allclose(torch.cat(levels), wanted, atol=1e-4, equal_nan=True):
        sys.exit("levels differ from those of the archive")


main()
"""
FIXES = (
    ("torch.from_numpy(slot)", "torch.from_numpy(slot.copy())"),
    ("SLOTS, GROUP = 2, 4", "SLOTS, GROUP = 8, 4"),
)
# The archive is what was overwritten.
CHEAT = (
    (
        "levels.append(package(torch.stack(waiting)))",
        "given.append(torch.stack(waiting))\n            levels.append(package(given[-1]))",
    ),
    (
        "waiting, levels = queue.Queue(1), [], [], []",
        "waiting, levels, given = queue.Queue(1), [], [], [], []",
    ),
    ("torch.from_numpy(np.stack(archive))", "torch.cat(given)"),
)


def test_memory_that_is_read_too_late_is_named_and_a_fix_must_read_it_in_time(
    warm_python, tmp_path: Path
) -> None:
    project = triaged(tmp_path, RING, warm_python, "--no-verify")
    found = project.answer["diagnosis"]
    assert (found["category"], found["confidence"]) == ("concurrency", "proved"), found
    lines = [one["text"] for one in found["source"]]
    assert lines == ["levels.append(package(torch.stack(waiting)))", "link.put(slot)"]
    for fix in FIXES:
        judged = project.verified([fix])
        assert judged["verdict"] == "fixed", judged
    judged = project.verified(CHEAT)
    assert judged["verdict"] != "fixed"
    assert any("writes memory again" in one["finding"] for one in judged["checks"]), judged


CHECKED = gone(WRONG, "concurrency", checked=True, trials=(RIGHT_CALL,))


def test_nan_of_the_model_is_no_failure_where_memory_is_read_in_time() -> None:
    nan = Trial("inputs like the failing call's, 1", nonfinite_before=(3,), nonfinite=(3,))
    facts = replace(CHECKED, near=(nan,))
    assert "NaN or Inf on inputs like" in judge(facts).reason
    in_time = replace(facts, rewritten="")
    assert verdict(in_time) == "fixed"
    assert verdict(in_time, rewritten="a.py:3") == "not fixed"
    slept = changed(RING, [("    link.put(None)", "    time.sleep(1)\n    link.put(None)")])
    slower = changes([RING], [slept])
    assert verdict(in_time, changes=slower) == "undecided"
    assert slower.sleeps and not changes([RING], [RING]).sleeps
    moved = "def one(): time.sleep(1)\ndef other(): pass"
    assert changes([moved], ["def one(): pass\ndef other(): time.sleep(1)"]).sleeps
    longer = changes(["slots = 2\nwork(slots)"], ["slots = 16\nwork(slots)"])
    assert longer.numbers and not changes(["slots = 2"], ["slots = [2, 2]"]).numbers


def test_another_recording_is_no_fix_of_memory_that_is_read_too_late() -> None:
    given = replace(CHECKED, rewritten="", inputs="input 1 has other values")
    assert verdict(given) == "fixed"
    assert verdict(given, asked_else=True) == "masked"


def test_a_fix_of_what_right_results_are_compared_with_is_left_undecided() -> None:
    same = replace(CHECKED, category="user_code", unchanged=True)
    assert verdict(same) == "masked"
    assert verdict(same, was_right=True) == "undecided"


def test_a_check_of_a_right_package_with_itself_does_not_clear_another_model_or_other_inputs() -> (
    None
):
    call = replace(RIGHT_CALL, model="differs")
    facts = replace(CHECKED, category="user_code", trials=(call,), changes=Changes(compared=True))
    right = replace(facts, was_right=True)
    assert verdict(facts) == "fixed" and verdict(right) == "masked"
    others = replace(right, trials=(RIGHT_CALL,), inputs="input 4 is other")
    assert verdict(others) == "masked"
    assert verdict(others, was_right=False) == "fixed"
