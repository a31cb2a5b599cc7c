"""A fix of memory that is written again before it is read: the script is run once more, with each
thread given what it was handed, which tells whether it still reads what others have overwritten."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aoti_debug.verify.judge import CALL, Trial, judge
from aoti_debug.verify.script_checks import Changes, changes
from programs import changed, diff, told
from verify.facts import WRONG, gone

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
FIXES = {
    "a copy is kept": [("torch.from_numpy(slot)", "torch.from_numpy(slot.copy())")],
    "the ring is longer": [("SLOTS, GROUP = 2, 4", "SLOTS, GROUP = 8, 4")],
}
CHEATS = {
    "the archive is what was overwritten": [
        (
            "levels.append(package(torch.stack(waiting)))",
            "given.append(torch.stack(waiting))\n            levels.append(package(given[-1]))",
        ),
        (
            "waiting, levels = queue.Queue(1), [], [], []",
            "waiting, levels, given = queue.Queue(1), [], [], [], []",
        ),
        ("torch.from_numpy(np.stack(archive))", "torch.cat(given)"),
    ],
}


def test_memory_that_is_read_too_late_is_named_and_a_fix_must_read_it_in_time(
    warm_python: str, tmp_path: Path
) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "levels.py").write_text(RING)
    answer = told(folder, "triage", "--no-verify", "levels.py", "--python", warm_python)
    found = answer["diagnosis"]
    assert (found["category"], found["confidence"]) == ("concurrency", "proved"), found
    lines = [one["text"] for one in found["source"]]
    assert lines == ["levels.append(package(torch.stack(waiting)))", "link.put(slot)"]
    verdicts = {}
    for name, change in {**FIXES, **CHEATS}.items():
        patch = tmp_path / "fix.patch"
        patch.write_text(diff("levels.py", RING, changed(RING, change)))
        judged = told(folder, "verify", str(patch), "--against", answer["run"])
        verdicts[name] = judged["verdict"], [one["finding"] for one in judged["checks"]]
    assert {verdicts[name][0] for name in FIXES} == {"fixed"}, verdicts
    for name in CHEATS:
        assert verdicts[name][0] != "fixed", verdicts
        assert any("writes memory again" in finding for finding in verdicts[name][1]), verdicts


def test_nan_of_the_model_is_no_failure_where_memory_is_read_in_time() -> None:
    nan = Trial("inputs like the failing call's, 1", nonfinite_before=(3,), nonfinite=(3,))
    call = Trial(CALL, package="agrees", model="agrees", reference_finite=True)
    facts = gone(WRONG, "concurrency", checked=True, trials=(call,), near=(nan,))
    assert "NaN or Inf on inputs like" in judge(facts).reason
    in_time = replace(facts, rewritten="")
    assert judge(in_time).verdict == "fixed"
    assert judge(replace(in_time, rewritten="a.py:3")).verdict == "not fixed"
    slower = changes(
        [RING], [changed(RING, [("    link.put(None)", "    time.sleep(1)\n    link.put(None)")])]
    )
    assert judge(replace(in_time, changes=slower)).verdict == "undecided"
    assert slower.sleeps and not changes([RING], [RING]).sleeps
    moved = "def one(): time.sleep(1)\ndef other(): pass"
    assert changes([moved], ["def one(): pass\ndef other(): time.sleep(1)"]).sleeps
    longer = changes(["slots = 2\nwork(slots)"], ["slots = 16\nwork(slots)"])
    assert longer.numbers and not changes(["slots = 2"], ["slots = [2, 2]"]).numbers


def test_another_recording_is_no_fix_of_memory_that_is_read_too_late() -> None:
    call = Trial(CALL, package="agrees", model="agrees", reference_finite=True)
    facts = gone(WRONG, "concurrency", checked=True, trials=(call,), rewritten="")
    given = replace(facts, inputs="input 1 has other values")
    assert judge(given).verdict == "fixed"
    assert judge(replace(given, asked_else=True)).verdict == "masked"


def test_a_fix_of_what_right_results_are_compared_with_is_left_undecided() -> None:
    call = Trial(CALL, package="agrees", model="agrees", reference_finite=True)
    same = gone(WRONG, "user_code", checked=True, trials=(call,), unchanged=True)
    assert judge(same).verdict == "masked"
    assert judge(replace(same, was_right=True)).verdict == "undecided"


def test_a_check_of_a_right_package_with_itself_does_not_clear_another_model_or_other_inputs() -> (
    None
):
    call = Trial(CALL, package="agrees", model="differs", reference_finite=True)
    compares = Changes(compared=True)
    facts = gone(WRONG, "user_code", checked=True, trials=(call,), changes=compares)
    right = replace(facts, was_right=True)
    assert judge(facts).verdict == "fixed" and judge(right).verdict == "masked"
    others = replace(right, trials=(replace(call, model="agrees"),), inputs="input 4 is other")
    assert judge(others).verdict == "masked"
    assert judge(replace(others, was_right=False)).verdict == "fixed"
