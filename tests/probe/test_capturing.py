"""What is captured, within which bytes and time, and that it comes back as it was; calls of
which only a description was recorded, held against an exported program."""

from __future__ import annotations

import json
import struct
import subprocess

import pytest
from programs import torch_python

LOOK = """
import json, sys, torch
saved = torch.load(sys.argv[1], weights_only=True)
(ids, weights, *_), bias = saved["args"], saved["kwargs"].get("bias")
print(json.dumps([eval(expression) for expression in sys.argv[2:]]))
"""

# The sizes of a weight, how many elements are kept of it, and whether another size is refused.
HOLLOW = """
import sys, torch
program = torch.export.load(sys.argv[1])
table = program.state_dict["table.weight"]
print(list(table.shape), table.untyped_storage().nbytes() // 4)
try:
    program.module()(torch.zeros(4, 5, dtype=torch.int64), torch.ones(4, 5), bias=torch.ones(4))
except (AssertionError, RuntimeError):
    print("refused")
"""


def look(ran, name, *expressions):
    """Evaluate expressions on a captured call, where torch is; the values come as JSON."""
    return json.loads(said(LOOK, str(ran.directory / name), *expressions))


def said(source, *words):
    argv = [torch_python(), "-c", source, *words]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


THREE = """
        for number in range(3):
            model(ids, weights * number, bias=bias)
        """


def test_inputs_keep_strides_offsets_sharing_and_nesting(run_script):
    ran = run_script(
        """
        base = torch.arange(48).reshape(6, 8)
        shared = torch.rand(30)
        weights = shared[2:14].view(4, 3)
        bias = shared[10:14]
        model(base.t()[1:5, ::2], weights, bias=bias)
        """
    )
    [call] = ran.begun()
    stride, offset, same, shared, offsets, flat, described = look(
        ran,
        call["captured"],
        "ids.stride()",
        "ids.storage_offset()",
        "torch.equal(ids, torch.arange(48).reshape(6, 8).t()[1:5, ::2])",
        "weights.untyped_storage().data_ptr() == bias.untyped_storage().data_ptr()",
        "[weights.storage_offset(), bias.storage_offset()]",
        "[one is other for one, other in zip(saved['flat'], (ids, weights, bias), strict=True)]",
        "saved['inputs'][0]['stride']",
    )
    assert (stride, offset, same) == ([1, 16], 1, True)
    assert (shared, offsets) == (True, [2, 10])
    assert flat == [True] * 3
    assert described == [1, 16]


def test_the_first_and_the_latest_call_are_kept(run_script):
    ran = run_script(THREE)
    captured = [call["captured"] for call in ran.begun()]
    assert captured == [f"capture/call-{which}.pt" for which in ("first", "latest", "latest")]
    assert look(ran, "capture/call-first.pt", "saved['call']") == [1]
    assert look(ran, "capture/call-latest.pt", "weights.max().item()") == [2]
    assert not list((ran.directory / "capture").glob(".*.tmp*"))


def test_what_is_held_in_memory_is_right_in_every_mode_of_autograd(run_script):
    ran = run_script(
        """
        leaf = torch.ones(4, 3, requires_grad=True)
        modes = (torch.inference_mode, torch.enable_grad, torch.no_grad)
        for number in range(1, 31):
            with modes[(number - 1) % 3]():
                model(ids, leaf * number, bias=bias)
        """
    )
    assert not ran.of("note"), "nothing went wrong in the probe"
    captured = [call.get("captured") for call in ran.begun()]
    assert captured[9] is not None and captured[10:] == [None] * 20, "these are in memory"
    held = (ran.directory / "capture" / "call-now.bin").read_bytes()
    assert struct.pack("12f", *[30.0] * 12) in held


FAILS = """
        for number in range(1, 6):
            other = {"other": torch.zeros(SIZE)} if number in (2, 4) else {}
            try:
                model(ids, weights * number, bias=bias, **other)
            except ValueError:
                pass
        """


def test_the_inputs_of_the_first_call_that_failed_stay(run_script):
    ran = run_script(FAILS.replace("SIZE", "3"))
    calls = ran.begun()
    captured = [ran.end_of(call).get("captured") for call in calls]
    assert captured == [None, "capture/call-failed.pt", None, None, None]
    assert look(ran, "capture/call-failed.pt", "saved['call']") == [2]
    assert look(ran, "capture/call-latest.pt", "saved['call']") == [5]


def test_a_kept_failure_counts_among_the_bytes(run_script):
    ran = run_script(
        FAILS.replace("SIZE", "1_000_000"), env={"AOTI_DEBUG_CAPTURE_BYTES": "8500000"}
    )  # the copied package takes up to 3.5 MB of them
    calls = ran.begun()
    assert look(ran, "capture/call-failed.pt", "saved['call']") == [2]
    assert "over the budget" in calls[3]["why_not"]
    assert look(ran, "capture/call-latest.pt", "saved['call']") == [5]
    captures = (ran.directory / "capture").glob("call-*.pt")
    files = {file.stat().st_ino: file.stat().st_size for file in captures}
    assert sum(files.values()) < 5_000_000


def test_one_call_alone_can_be_asked_for(run_script):
    ran = run_script(THREE, env={"AOTI_DEBUG_CAPTURE_CALL": "2"})
    calls = ran.begun()
    assert [c["captured"] for c in calls] == [None, "capture/call-latest.pt", None]
    assert calls[0]["why_not"] == "only call 2 is captured"
    assert look(ran, "capture/call-latest.pt", "weights.max().item()") == [1]


def test_the_calls_before_one_can_be_asked_for_beside_it(run_script):
    wanted = {"AOTI_DEBUG_CAPTURE_CALL": "3", "AOTI_DEBUG_CAPTURE_EARLY": "1"}
    ran = run_script(THREE.replace("3", "12"), env=wanted)
    calls = ran.begun()
    kept = [call.get("kept") or call["captured"] for call in calls]
    assert None not in kept[:3] and len(set(kept[:3])) == 3 and not any(kept[9:])
    values = [look(ran, name, "weights.max().item()")[0] for name in kept[:3]]
    assert values == [0, 1, 2]


def test_a_small_view_of_large_memory_is_compacted(run_script):
    ran = run_script(
        """
        large = torch.arange(3_000_000)
        large[:] %= 50
        model(large[1:25].view(3, 8).t()[:4], weights, bias=bias)
        """,
        env={"AOTI_DEBUG_CAPTURE_BYTES": "4000000"},
    )
    [call] = ran.begun()
    assert call["compacted"] is True
    shape, stride, same, size, alignment = look(
        ran,
        call["captured"],
        "ids.shape",
        "ids.stride()",
        "torch.equal(ids, torch.arange(1, 25).view(3, 8).t()[:4])",
        "ids.untyped_storage().nbytes()",
        "ids.data_ptr() % 64",
    )
    assert (shape, stride, same) == ([4, 3], [1, 8], True)
    assert size < 1000
    assert alignment == call["inputs"][0]["alignment"] == 8


def test_over_the_budget_only_the_description_is_left(run_script):
    ran = run_script("call()", env={"AOTI_DEBUG_CAPTURE_BYTES": "100"})
    [call] = ran.begun()
    assert call["captured"] is None and "over the budget" in call["why_not"]
    assert call["inputs"][0]["max"] == 11
    [load_event] = ran.begun("load")
    assert load_event["package"]["captured"], "a hard link takes no bytes"


def test_of_a_program_over_the_budget_the_graph_is_kept_at_once(run_script, compiled):
    ran = run_script(
        """
        import os, torch
        from model import export
        try:
            torch._inductor.aoti_compile_and_package(export(), package_path="no.package")
        except AssertionError:
            os._exit(7)
        """,
        load=False,
        code=7,
        env={"AOTI_DEBUG_CAPTURE_BYTES": "100", "PYTHONPATH": str(compiled.directory)},
    )
    [lowering] = ran.begun("lower")
    assert not (ran.directory / lowering["exported_program"]).stat().st_size
    graph = str(ran.directory / lowering["exported_graph"])
    assert said(HOLLOW, graph).split() == ["[50,", "8]", "1", "refused"]


def test_what_takes_more_than_its_time_is_captured_of_the_first_call_alone(run_script):
    ran = run_script(
        """
        bias = torch.zeros(600_000_000)[5:9]
        for number in range(400):
            call()
        """
    )
    first, *later = ran.begun()
    assert len(later) == 99, "later ones that are like them are counted"
    assert first["captured"] == "capture/call-first.pt"
    assert {c.get("why_not") for c in later[:9]} == {"the probe's time is used up"}
    assert not any(c.get("captured") for c in later), "from then on memory holds them"


def test_inputs_that_are_no_plain_tensors_are_described_and_not_captured(run_script):
    ran = run_script(
        """
        class Odd(torch.Tensor):
            pass
        model(ids, weights.as_subclass(Odd), bias=bias)
        """
    )
    [call] = ran.begun()
    assert call["inputs"][1]["type"].endswith("Odd")
    assert call["captured"] is None and "Odd" in call["why_not"]


MODES = """
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
class Functions(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        print("function", function)
        return function(*args, **(kwargs or {}))
class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        print("operator", function)
        return function(*args, **(kwargs or {}))
with Functions():
    call()
with Operators():
    call()
"""


def test_modes_of_the_user_do_not_see_the_probe(run_script):
    watched = run_script(MODES)
    assert watched.stdout == run_script(MODES, probe=False).stdout
    in_function_mode, in_dispatch_mode = watched.begun()
    assert in_function_mode["captured"]
    assert in_dispatch_mode["why_not"] == "a dispatch mode is active"


def test_capture_can_be_off(run_script):
    ran = run_script("call()", env={"AOTI_DEBUG_CAPTURE": ""})
    [call] = ran.begun()
    assert call["captured"] is None and call["why_not"] == "capture is off"


POSITIONS = """
import torch

class Positions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = torch.nn.Embedding(50, 4), torch.nn.Embedding(24, 4)

    def forward(self, ids):
        places = self.places(torch.arange(ids.shape[1], device=ids.device) + 2)
        return (self.tokens(ids) + places).reshape(ids.shape[0], -1, 8).sum(-1)

free = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
program = torch.export.export(Positions(), (torch.zeros(4, 12, dtype=torch.int64),),
                              dynamic_shapes=(free,))
torch.export.save(program, "positions.pt2")
"""


def ids(rows, columns, low=0, high=49, **more):
    described = {"index": 0, "position": 0, "name": "ids", "kind": "tensor", "value": None}
    layout = {"shape": [rows, columns], "stride": [columns, 1], "dtype": "int64"}
    extremes = {"min": low, "max": high, "min_at": [0, 0], "max_at": [1, 2]}
    return {**described, **layout, **extremes, **more}


GIVEN = (
    ids(4, 12),
    ids(3, 22, None, None),
    ids(4, 12, 0, 50),
    ids(4, 12, -1, 3),
    ids(4, 24),
    ids(4, 12, kind="other"),
    ids(3, 11),
    {**ids(1, 1), "index": None, "kind": "int", "value": 3},
)


@pytest.fixture(scope="module")
def told(run_file, check, tmp_path_factory):
    """Return what was found of each call, in the order of GIVEN."""
    directory = tmp_path_factory.mktemp("recorded")
    (directory / "export.py").write_text(POSITIONS)
    run_file(directory, "export.py")
    calls = [{"pid": 7, "call": n, "inputs": [one]} for n, one in enumerate(GIVEN)]
    (directory / "calls.json").write_text(json.dumps(calls))
    paths = {"exported": directory / "positions.pt2", "calls": directory / "calls.json"}
    found = check(directory, paths, "--steps", "calls,guards")
    assert found["calls"]["state"] == "done", found
    assert found["guards"]["why"] == "the inputs of the call are not kept"
    return found["calls"]["calls"]


def test_calls_that_fit_break_nothing(told):
    for one in told[:2]:
        assert one["state"] == "held"
        assert (one["differences"], one["broken"], one.get("index")) == ([], [], None)


@pytest.mark.parametrize(("number", "value", "at"), [(2, 50, [1, 2]), (3, -1, [0, 0])])
def test_the_extremes_of_an_input_are_held_against_the_table_it_indexes(told, number, value, at):
    found = told[number]["index"]
    assert (found["lower"], found["upper"], found["value"]) == (0, 50, value)
    assert found["input"] == {"index": 0, "name": "ids", "at": at, "computed": False}
    assert "self.tokens(ids)" in told[number]["node"]["stack"]


def test_indices_made_of_a_size_are_computed_from_the_recorded_size(told):
    found = told[4]["index"]
    assert (found["upper"], found["value"]) == (24, 24)
    assert found["size"] == {"index": 0, "name": "ids", "dim": 1, "size": 24}
    assert "self.places(" in told[4]["node"]["stack"]


def test_what_was_recorded_too_briefly_is_not_called_held(told):
    assert told[5] == {"pid": 7, "call": 5, "state": "unknown", "why": "ids is no plain tensor"}


def test_guards_and_kinds_of_arguments_are_held_too(told):
    broken = [*told[6]["broken"], *(d["expected"] for d in told[6]["differences"])]
    assert any("2" in text for text in broken), told[6]  # 4 * 11 * 3 is not divisible by 8
    assert [one["property"] for one in told[7]["differences"]] == ["type"]
