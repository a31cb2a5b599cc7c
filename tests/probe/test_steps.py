"""Replay, contract check, comparison and environment, each in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest
from probe.conftest import IMPORTS, PROBE
from programs import torch_python

TARGETS = Path(__file__).parents[1] / "targets"


@pytest.mark.parametrize("program", ["bisect", "checks", "held_out", "replay", "walk"])
def test_a_program_of_the_probe_starts_as_a_script(program: str):
    script = PROBE / "script.py"
    ran = subprocess.run(
        [torch_python(), str(script), program, "--help"], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"usage: {program}.py")


@pytest.fixture
def captured(run_script, compiled):
    """Run calls and return the arguments that name package, program and the first capture."""

    def capture(source):
        ran = run_script(source, code=None)
        kept = ran.begun()[0]["captured"]
        assert kept, ran.stderr
        package = ran.directory / "capture" / "package-1.pt2"
        return {**compiled.healthy, "package": package, "inputs": ran.directory / kept}

    return capture


@pytest.fixture
def deadly(tmp_path):
    """Return the words that make a call end its process."""
    (tmp_path / "deadly.py").write_text(
        "import os\nimport torch.export.pt2_archive._package as package\n"
        "package.AOTICompiledModel.__call__ = lambda *args, **kwargs: os.abort()\n"
    )
    return ("--import-path", tmp_path, "--import", "deadly")


def words(paths):
    return ("--package", paths["package"], "--inputs", paths["inputs"])


def test_a_replay_repeats_the_call_with_strides_and_offsets(captured, run_step):
    paths = captured("model(ids.t().contiguous().t(), weights, bias=torch.ones(9)[5:])")
    done = run_step("replay", *words(paths), "--call-repeat", 2)
    assert done.ran.code == 0, done.ran.stderr
    report = done.report
    assert (report["state"], report["call"]) == ("done", 2)
    assert report["changes"] == []
    assert report["inputs"][0]["stride"] == [1, 4]
    assert report["outputs"][0]["shape"] == [4, 3, 4]
    assert report["outputs"][0]["nan"] == 0 and report["outputs"][0]["max"] >= 1


def test_a_replay_fails_as_the_call_failed(captured, run_step):
    paths = captured("model(ids, weights, bias=bias, other=1)")
    done = run_step("replay", *words(paths))
    assert done.ran.code == 1 and "keyword" in done.ran.stderr
    assert done.report["error"]["type"] == "ValueError"
    assert done.report["failed_in"] == "run"


def test_a_replay_that_dies_leaves_the_state_it_died_in(compiled, run_step, deadly):
    done = run_step("replay", *words(compiled.healthy), *deadly)
    assert done.ran.code == -signal.SIGABRT
    assert done.report["state"] == "run" and "error" not in done.report


@pytest.fixture(scope="module")
def checked(compiled, check, tmp_path_factory):
    """Check the call that the compiling script made, once."""
    return check(tmp_path_factory.mktemp("checked"), compiled.healthy)


def test_a_healthy_call_passes_every_check_in_one_process(checked):
    assert checked["code"] == 0, checked["stderr"]
    names = ("guards", "fakes", "contract", "compare", "repeats", "poison")
    assert [checked[name]["state"] for name in names] == ["done"] * 6
    guards = checked["guards"]
    assert guards["passed"] is True and guards["differences"] == []
    assert [i["name"] for i in guards["inputs"]] == ["ids", "weights", "bias"]
    assert guards["inputs"][0]["shape"][1] == 3
    assert list(guards["ranges"].values()) == [[2, 64]]
    assert any("<= 64" in guard for guard in guards["guards"])
    assert checked["compare"]["verdict"] == "agrees" and checked["compare"]["random"] == []
    assert checked["compare"]["outputs"][0]["wrong"] == 0
    assert checked["repeats"]["verdict"] == "same" and checked["repeats"]["calls"] == 4
    assert checked["poison"]["verdict"] == "same"
    assert checked["poison"]["patterns"] == ["0xFF", "0x3C"]


def test_broken_contracts_are_named_by_input_and_property(captured, check, tmp_path):
    paths = captured(
        "model(torch.zeros(80, 3, dtype=torch.int64), torch.ones(80, 3), bias=bias.double())"
    )
    report = check(tmp_path, paths, "--steps", "guards,contract")
    guards = report["guards"]
    assert guards["passed"] is False and guards["where"] == "guards"
    assert "64" in guards["exception"]["message"]
    found = [(d["name"], d["property"], d["expected"], d["got"]) for d in guards["differences"]]
    assert found == [("ids", "size", "<= 64", "80"), ("bias", "dtype", "float32", "float64")]
    assert report["contract"]["state"] == "failed"
    assert "input_handles[" in report["stderr"]


def test_an_index_out_of_bounds_is_found_before_the_operator_runs(captured, check, tmp_path):
    paths = captured("ids[2, 1] = 5000\nmodel(ids, weights, bias=bias)")
    guards = check(tmp_path, paths, "--steps", "guards")["guards"]
    assert guards["where"] == "model" and guards["exception"]["type"] == "IndexError"
    assert guards["node"]["op"] == "aten.embedding.default"
    assert "self.table(ids)" in guards["node"]["stack"]
    index = guards["index"]
    assert (index["value"], index["lower"], index["upper"]) == (5000, 0, 50)
    held = index["input"]
    assert (held["index"], held["name"], held["at"], held["computed"]) == (0, "ids", [2, 1], False)


def test_a_wrong_nesting_is_the_signatures(captured, check, tmp_path):
    paths = captured("model(ids, weights)")
    guards = check(tmp_path, paths, "--steps", "guards")["guards"]
    assert guards["where"] == "signature" and guards["differences"][0]["property"] == "count"


def test_garbage_differs_from_eager(captured, check, tmp_path):
    paths = captured("model(torch.arange(12).view(3, 4).t(), weights, bias=bias)")
    report = check(tmp_path, paths, "--steps", "contract,compare")
    assert report["contract"]["state"] == "failed"
    compared = report["compare"]
    assert compared["verdict"] == "differs"
    assert compared["outputs"][0]["verdict"] == "differs"
    assert 0 < compared["outputs"][0]["eager_max_abs_error"] < 1e-5


def test_a_step_that_ends_the_process_leaves_what_was_found_before(
    compiled, check, tmp_path, deadly
):
    report = check(tmp_path, compiled.healthy, *deadly)
    assert report["code"] == -signal.SIGABRT
    assert report["guards"]["passed"] is True
    assert report["redzones"]["state"] == "running"


def test_a_call_is_repeated_without_a_readable_program(compiled, check, tmp_path):
    exported = tmp_path / "exported.pt2"
    exported.write_bytes(b"no program")
    report = check(tmp_path, {**compiled.healthy, "exported": exported})
    assert report["guards"]["state"] == "failed"
    assert [report[name]["state"] for name in ("contract", "poison")] == ["done"] * 2


CALLS = """
import os
import torch
import torch.export.pt2_archive._package as package


def noise():
    return torch.tensor(list(os.urandom(64)), dtype=torch.float32)


def unwritten(model, *args, **kwargs):
    result = torch.empty(100_000)
    result[1:] = 1.0
    return result


def counted(model, *args, **kwargs):
    model.calls = getattr(model, "calls", 0) + 1
    return torch.full((64,), float(model.calls))


def raced(model, *args, **kwargs):
    return noise()


def added(model, *args, **kwargs):
    return torch.full((64,), 3.0) + noise() * 1e-8 + torch.arange(64.0)


package.AOTICompiledModel.__call__ = """


@pytest.fixture
def repeated(compiled, check, tmp_path):
    """Return what is found of repeated calls that a function of CALLS answers."""

    def run(name):
        (tmp_path / "calls.py").write_text(CALLS + name)
        more = ("--steps", "repeats,poison", "--import-path", tmp_path, "--import", "calls")
        report = check(tmp_path, compiled.healthy, *more)
        return report["repeats"], report["poison"]

    return run


@pytest.mark.parametrize(
    ("name", "verdict", "stateful", "poisoned"),
    [
        ("counted", "differs", True, "same"),
        ("raced", "differs", False, "differs"),
        ("added", "rounding", False, "rounding"),
    ],
)
def test_repeats_tell_races_from_state_and_from_the_order_of_a_sum(
    repeated, name, verdict, stateful, poisoned
):
    repeats, poison = repeated(name)
    assert (repeats["verdict"], repeats["stateful"]) == (verdict, stateful)
    assert poison["verdict"] == poisoned


def test_a_result_not_wholly_written_changes_with_what_memory_held(repeated):
    _, poison = repeated("unwritten")
    assert (poison["verdict"], poison["output"]) == ("differs", 0)
    assert (poison["wrong"], poison["at"]) == (1, [0])


def test_an_operator_that_only_passes_a_layout_on_is_not_blamed(check, run_file, tmp_path):
    script = str(TARGETS / "custom_operators.py")
    paths = {"exported": tmp_path / "exported.pt2", "inputs": tmp_path / "inputs.pt"}
    more = ("--steps", "guards,fakes", "--import-path", TARGETS, "--import", "custom_operators")

    def fakes_of(model):
        run_file(tmp_path, script, str(tmp_path), model)
        return check(tmp_path, paths, *more)["fakes"]

    assert fakes_of("healthy")["mismatches"] == []
    fakes = fakes_of("turns")
    assert sorted(fakes["custom_ops"]) == [
        f"layouts.{op}.default" for op in ("double", "shift", "turn")
    ]
    [found] = fakes["mismatches"]
    assert (found["op"], found["property"], found["count"]) == ("layouts.turn.default", "stride", 2)
    assert (found["expected"], found["got"], found["smaller"]) == ("[5, 1]", "[1, 3]", False)
    text = Path(script).read_text().splitlines()
    ends = {what: text[line - 1].strip() for what, (_, line) in found["places"].items()}
    assert ends == {
        "real": "return x.t().contiguous().t()",
        "fake": "return torch.empty_like(x, memory_format=torch.contiguous_format)",
    }
    assert {file for file, _ in found["places"].values()} == {script}


GELU = """
import torch
from transformers.activations import ACT2FN


@torch.library.custom_op("sixteen::gelu", mutates_args={})
def gelu(x: torch.Tensor) -> torch.Tensor:
    if x.dtype not in (torch.float16, torch.bfloat16):
        raise TypeError(f"gelu takes 16 bits, not {x.dtype}")
    return torch.nn.functional.gelu(x)


gelu.register_fake(torch.empty_like)


class Gelu(torch.nn.Module):
    def forward(self, x):
        return gelu(x)


ACT2FN["sixteen"] = Gelu
"""

SIXTEEN = """
import sys

import sixteen
import torch
import transformers

sizes = dict(
    vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128
)
more = dict(hidden_act="sixteen", attn_implementation="eager", initializer_range=0.3)


class Last(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(ids).last_hidden_state


def exported(name, dtype, off=0.0, **own):
    torch.manual_seed(0)
    config = getattr(transformers, name + "Config")(**sizes, **more, **own)
    model = getattr(transformers, name + "Model")(config).to(dtype).eval()
    norms = [one for one in model.modules() if isinstance(one, torch.nn.LayerNorm)]
    with torch.no_grad():
        norms[-1].bias[5] += off
        return torch.export.export(Last(model), (ids,))


ids = torch.randint(0, 99, (2, 16))
described = {"index": 0, "kind": "tensor", "shape": [2, 16]}
call = {"format": 1, "flat": [ids], "inputs": [described], "args": (ids,), "kwargs": {}}
torch.save(call, "inputs.pt")
for name, dtype, own in (
    ("MegatronBert", torch.float16, {}),
    ("RoFormer", torch.bfloat16, {"embedding_size": 64}),
):
    healthy = exported(name, dtype, **own)
    torch._inductor.aoti_compile_and_package(healthy, package_path=f"{name}.pt2")
    torch.export.save(healthy, f"{name}-healthy.pt2")
    torch.export.save(exported(name, dtype, off=2.0, **own), f"{name}-wrong.pt2")
"""


@pytest.fixture(scope="module")
def sixteen(tmp_path_factory, run_file):
    """Compile two models of 16 bits whose activation takes no other float."""
    directory = tmp_path_factory.mktemp("sixteen")
    (directory / "sixteen.py").write_text(GELU)
    (directory / "compile.py").write_text(SIXTEEN)
    run_file(directory, "compile.py")
    return directory


@pytest.mark.parametrize("name", ["MegatronBert", "RoFormer"])
@pytest.mark.parametrize(
    ("bytes_", "reference"),
    [
        (1 << 30, "float64, but for sixteen.gelu.default"),
        (0, "the program itself"),
    ],
)
def test_sixteen_bits_are_judged_by_rounding_where_float64_does_not_go(
    sixteen, check, tmp_path, name, bytes_, reference
):
    more = ("--steps", "compare", "--import-path", sixteen, "--import", "sixteen")
    found = {}
    for twin in ("healthy", "wrong"):
        paths = {"package": sixteen / f"{name}.pt2", "inputs": sixteen / "inputs.pt"}
        paths["exported"] = sixteen / f"{name}-{twin}.pt2"
        found[twin] = check(tmp_path, paths, *more, "--reference-bytes", bytes_)["compare"]
    verdicts = {twin: one.get("verdict", one) for twin, one in found.items()}
    assert verdicts == {"healthy": "agrees", "wrong": "differs"}
    own = ", and what its own rounding can do"
    assert [one["reference"].removesuffix(own) for one in found.values()] == [reference] * 2
    assert found["wrong"]["reference"].endswith(own)
    assert found["healthy"]["outputs"][0]["apart"] > 0  # more than 16 bits are granted by rule


HELD = """
import argparse
import torch
from probe import (
    compare, graph_run, held_out, mismatch_causes, observers, operator_source, repeats, standalone
)


@torch.library.custom_op("sly::first", mutates_args=())
def first(x: torch.Tensor) -> torch.Tensor:
    x[2] = 7.0
    return x.clone()


first.register_fake(torch.empty_like)


class Model(torch.nn.Module):
    def forward(self, x):
        return first(x)


module = torch.export.export(Model(), (torch.zeros(4),)).module()
writes = observers.Writes()
graph_run.Run(module, writes)([torch.tensor([float("nan"), 1.0, 2.0, 3.0])])
print(writes.found[0]["at"])
kept = torch.empty(4)


@torch.library.custom_op("sly::kept", mutates_args=())
def keep(x: torch.Tensor) -> torch.Tensor:
    return kept.copy_(x)


@torch.library.custom_op("sly::new", mutates_args=())
def new(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


for operator in (keep, new):
    operator.register_fake(torch.empty_like)


class Twice(torch.nn.Module):
    def forward(self, x):
        own = torch.ops.sly.new(torch.ops.sly.new(x) + 1.0)
        return torch.ops.sly.kept(x) + torch.ops.sly.kept(own)


writes = observers.Writes()
graph_run.Run(torch.export.export(Twice(), (kept,)).module(), writes)([torch.ones(4)])
print([(one["op"], one["from"]) for one in writes.aliases])


@torch.library.custom_op("sly::either", mutates_args=())
def either(x: torch.Tensor) -> torch.Tensor:
    if len(x) > 2:
        return x
    return x.clone()


def returning(argument):
    line = operator_source.returning_line(torch.ops.sly.either.default, argument)
    return line - either._init_fn.__code__.co_firstlineno


print(returning("x"), returning(""))
nan = float("nan")
print(compare.outputs([nan], [nan], None), repeats.difference([nan], [nan]))


class Writing(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((4,), weight))

    def forward(self, x):
        x.mul_(2.0)
        return x * self.weight


def inputs():
    return standalone.of_call((torch.ones(4),), {})


old, new = (torch.export.export(Writing(weight), (torch.ones(4),)) for weight in (1.0, 3.0))
torch.export.save(old, "old.pt2")
options = argparse.Namespace(constants=["given.pt"], exported="old.pt2", trust=False)
twice = torch.full((4,), 2.0)  # the output, and the input after the call
causes = mismatch_causes.Causes(new, options, inputs, [twice, twice])
print(causes.kept_weights()["names"])
given = inputs()
held_out._kept(new, given)
print(given.flat[0].tolist())
rows = torch.arange(12.0).reshape(6, 2)
torch.save((({"rows": rows},), {}), "whole.pt")
torch.save((({"rows": rows[:3]},), {}), "part.pt")
"""


def test_nan_is_itself_inputs_stay_and_a_part_is_held_against_a_part(
    run_script, run_step, tmp_path
):
    ran = run_script(HELD, load=False, probe=False, env=IMPORTS)
    assert ran.stdout.splitlines() == [
        "[2]",
        "[('sly.kept.default', 'kept')]",
        "3 4",
        "[{'index': 0, 'verdict': 'agrees'}] {'verdict': 'same'}",
        "['weight']",
        "[1.0, 1.0, 1.0, 1.0]",
    ], ran.stderr
    files = ("--package", "none", "--inputs", tmp_path / "whole.pt", "--now", tmp_path / "part.pt")
    split = run_step("held_out", *files, "--parts", 3, 3).report
    whole = run_step("held_out", *files).report
    assert split["inputs"] == ""
    assert whole["inputs"] == "input 0 has shape (3, 2) instead of (6, 2)"


def test_scripts_run_under_the_probe_leave_events(compiled, run_script):
    ran = run_script(
        f"import runpy, sys\nscript = {str(PROBE / 'script.py')!r}\n"
        f"sys.argv[1:] = {['replay', *map(str, words(compiled.healthy))]}\n"
        "runpy.run_path(script, run_name='__main__')",
        load=False,
    )
    assert [e["phase"] for e in ran.of("begin")] == ["load", "run"]


def test_the_environment_is_one_json_document():
    argv = [torch_python(), str(PROBE / "script.py"), "environment"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert document["torch"]["version"].startswith("2.")
    assert document["devices"] == [] and document["cuda_available"] is False
    assert document["compiler"]["cxx"]
    assert document["headers"]["torch/csrc/inductor/aoti_runtime/model.h"] is True
    assert "errors" not in document
