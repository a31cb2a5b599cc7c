"""What the probe reports of real scripts, and that it changes nothing in them."""

from __future__ import annotations

import re
import signal
import struct

import pytest
from aoti_debug.record.counts import read_call_counts
from programs import torch_python


@pytest.fixture(scope="module")
def python() -> str:
    """What is watched begins with the interpreter itself."""
    return torch_python()


def test_a_compilation_reports_its_phases_flags_and_artifacts(compiled):
    ran = compiled.ran
    [lower] = ran.begun("lower")
    assert lower["name"] == "torch._inductor.aoti_compile_and_package"
    assert lower["flags"]["debug_intermediate_value_printer"] == "0"
    assert lower["flags"]["debug_compile"] is False
    assert lower["cache_dir"]
    assert lower["exported_program"] == "capture/exported-1.pt2"
    end = ran.end_of(lower)
    assert end["ok"] and end["input_names"] == ["ids", "weights", "bias"]
    assert end["package"]["path"] == str(compiled.package)
    assert end["package"]["captured"] == "capture/package-1.pt2"
    inner = [(e["phase"], e["parent"]) for e in ran.of("begin") if "parent" in e]
    assert ("cpp_compile", lower["id"]) in inner
    assert ("package", lower["id"]) in inner
    assert ran.of("begin")[0]["phase"] == "export"


def test_the_processes_torch_and_inputs_are_named(compiled):
    [call] = compiled.ran.begun()
    assert [i["name"] for i in call["inputs"]] == ["ids", "weights", "bias"]
    assert call["package"] == str(compiled.package)
    [load] = compiled.ran.begun("load")
    assert load["package"]["captured"] == "capture/package-1.pt2", "kept once"
    process = compiled.ran.of("process")[0]
    assert process["argv"][-1] == "compile.py"
    assert process["cwd"] == str(compiled.directory)
    torch = compiled.ran.of("torch", pid=process["pid"])
    assert len(torch) == 1
    assert torch[0]["version"].startswith("2.")


def test_a_failing_compilation_ends_in_the_phase_that_failed(run_script, compiled):
    there = {"PYTHONPATH": str(compiled.directory)}
    ran = run_script(
        """
        import torch
        from model import export
        torch._inductor.aoti_compile_and_package(export(), package_path="broken.pt2")
        """,
        load=False,
        code=1,
        env={"CXX": "/bin/false", "TORCHINDUCTOR_CACHE_DIR": "cache", **there},
    )
    [lower] = ran.begun("lower")
    assert lower["exported_program"] == "capture/exported-1.pt2"
    error = ran.end_of(lower)["error"]
    assert error["type"].split(".")[-1] in ran.stderr
    assert error["message"].splitlines()[0] in ran.stderr
    assert (ran.directory / "capture" / "exported-1.pt2").stat().st_size > 1000


RESULT = """
import hashlib
import sys
torch.manual_seed(7)
with torch.inference_mode():
    out = call()
noise = torch.rand(3)
try:
    model(ids)
except ValueError as error:
    message = str(error)
print(hashlib.sha256(out.numpy().tobytes()).hexdigest(), noise.tolist(), message)
print(torch.is_grad_enabled(), out.is_inference(), torch.get_default_dtype(), sys.path)
print([m for m in sys.modules if m.startswith("torch") and "serialization" not in m])
print("sitecustomize" in sys.modules)
"""


def test_a_script_computes_prints_and_imports_the_same_under_the_probe(run_script):
    watched = run_script(RESULT)
    alone = run_script(RESULT, probe=False)
    assert watched.begun()
    assert watched.stdout == alone.stdout
    assert undated(watched.stderr) == undated(alone.stderr)


def undated(text):
    """Return a log without the time and process that head a line of torch's logger."""
    return re.sub(r"(?m)^([DIWECV]\d{4}) [\d:.]+ \d+ (?=\S+:\d+\] )", r"\1 ", text)


def test_each_call_describes_its_inputs_and_outputs(run_script):
    ran = run_script(
        """
        model(ids, weights, bias=torch.zeros(8)[4:])
        ids[2, 1] = -5
        try:
            model(ids, weights, bias=bias, other=None)
        except ValueError:
            pass
        """
    )
    [load] = ran.begun("load")
    assert load["package"]["captured"] == "capture/package-1.pt2"
    first, second = ran.begun()
    assert (first["call"], second["call"]) == (1, 2)
    assert first["package"] == load["package"]["path"]
    index, weights, bias = first["inputs"]
    assert index["min"] == 0 and index["max"] == 11 and index["max_at"] == [3, 2]
    assert (index["dtype"], index["device"]) == ("int64", "cpu")
    assert weights["shape"] == [4, 3] and weights["stride"] == [3, 1]
    assert (bias["name"], bias["storage_offset"], bias["storage_bytes"]) == ("bias", 4, 32)
    assert bias["alignment"] == 16
    assert second["inputs"][0]["min_at"] == [2, 1]
    assert second["inputs"][3] == {"index": None, "position": 3, "name": "other", "kind": "none"}
    [output] = ran.end_of(first)["outputs"]
    assert output == {"shape": [4, 3, 4], "dtype": "float32", "device": "cpu", "nan": 0, "inf": 0}
    assert ran.end_of(second)["error"]["type"] == "ValueError"


DYING = """
import ctypes
class Dying:
    get_call_spec = model.loader.get_call_spec
    def boxed_run(self, inputs):
        ctypes.string_at(0)
model.loader = Dying()
call()
"""


def test_a_call_that_kills_the_process_leaves_its_begin_and_its_inputs(run_script):
    ran = run_script(DYING, code=-signal.SIGSEGV)
    [call] = ran.begun()
    assert ran.end_of(call) is None
    assert call["captured"] == "capture/call-first.pt"
    assert (ran.directory / "capture" / "call-first.pt").stat().st_size > 0


def test_constants_are_reported(run_script):
    ran = run_script(
        """
        model.load_constants({"table.weight": torch.zeros(50, 8)}, check_full_update=False)
        """
    )
    [constants] = ran.begun("constants")
    assert constants["count"] == 1 and constants["check_full_update"] is False
    assert constants["constants"][0]["shape"] == [50, 8]


LOADERS = """
import zipfile
from torch._C import _aoti

loader = _aoti.AOTIModelPackageLoader("model.pt2", "model", False, 2, -1)
given = [ids, weights, bias]
print(loader.run(given)[0].shape, loader.boxed_run(given)[0].shape, given)
table = {"table.weight": torch.zeros(50, 8)}
loader.load_constants(table, True, False)
with zipfile.ZipFile("model.pt2") as archive:
    archive.extractall("unpacked")
from pathlib import Path
[library] = Path("unpacked").rglob("*.wrapper.so")
library.with_name("ca2.cubin").write_bytes(b"as a GPU's runner reads")
runner = _aoti.AOTIModelContainerRunnerCpu(str(library), 1)
names = {fqn: name for name, fqn in runner.get_constant_names_to_original_fqns().items()}
runner.update_constant_buffer({names["table.weight"]: table["table.weight"]}, False, False)
runner.run([ids, weights, bias])
print(call().shape)
"""


def test_loaders_and_runners_without_a_model_report_loads_calls_and_updates(run_script):
    ran = run_script(LOADERS)
    assert ran.stdout.splitlines() == [
        "torch.Size([4, 3, 4]) torch.Size([4, 3, 4]) []",
        "torch.Size([4, 3, 4])",
    ]
    loads = {one["instance"]: one for one in ran.begun("load")}
    names = [one["name"].rpartition(".")[2] for one in loads.values()]
    assert names == ["aoti_load_package", "__init__", "__init__"]
    assert loads[2]["num_runners"] == 2
    assert (ran.directory / "capture" / "ca2.cubin").read_bytes() == b"as a GPU's runner reads"
    calls = ran.begun()
    assert [call["instance"] for call in calls] == [2, 2, 3, 1]
    assert all(len(call["inputs"]) == 3 for call in calls)
    assert all(call["package"].endswith(("model.pt2", ".so")) for call in calls)
    first, second = ran.begun("constants")
    assert (first["instance"], first["inactive"]) == (2, True)
    assert (second["instance"], second["inactive"]) == (3, False)
    assert second["constants"][0]["name"] == "table.weight"


BOUNDED = "self.kept.append(out); del self.kept[:-48]"
GRAPH = "self.mean = self.mean * 0.9 + (out * scale).mean()"


@pytest.mark.parametrize(
    "kept",
    [
        "self.kept.append(out)",
        "self.kept.append(out[:1])",
        "self.kept.append(float(out.sum()))",
        BOUNDED,
        GRAPH,
    ],
)
def test_a_list_that_keeps_outputs_is_named_with_the_line_that_fills_it(run_script, kept):
    ran = run_script(
        f"""
        scale = torch.ones(1, requires_grad=True)

        class Server:
            def __init__(self):
                self.kept, self.mean = [], 0.0

            def serve(self):
                out = model(ids, weights, bias=bias)
                {kept}

        def main():
            server = Server()
            for _ in range({100 if kept == BOUNDED else 40}):
                server.serve()

        main()
        """
    )
    held = ran.of("held")
    if kept == BOUNDED:  # what was said of the first calls is taken back
        found = [(one["count"], one["of"], one["bytes"] > 0) for one in held]
        assert found == [(32, 32, True), (49, 96, False)]
        return
    if "sum" in kept:
        assert held == []
        return
    [one] = held
    assert (one["what"], one["count"], one["of"]) == ("outputs", 32, 32)
    name = ("Server.mean", "Tensor") if kept == GRAPH else ("Server.kept", "list")
    assert (one["name"], one["kind"]) == name
    script = (ran.directory / "script.py").read_text().splitlines()
    assert script[one["caller"][1] - 1].strip() == kept
    assert one["resident"][1] > 0


def test_models_copy_and_functions_pickle_as_before(run_script):
    ran = run_script(
        """
        import copy, inspect, pickle
        copied = copy.deepcopy(model)
        print(type(copied) is type(model), copied(ids, weights, bias=bias).shape)
        print(pickle.loads(pickle.dumps(aoti_load_package)) is aoti_load_package)
        print(list(inspect.signature(torch._inductor.aoti_load_package).parameters))
        """,
    )
    assert ran.stdout.startswith("True torch.Size([4, 3, 4])\nTrue\n['path'")


ALIKE = """
class Failing:
    get_call_spec = model.loader.get_call_spec
    def boxed_run(self, inputs):
        raise RuntimeError("refused")
class Calling:
    get_call_spec = model.loader.get_call_spec
    def boxed_run(self, inputs):
        model.loader = loader
        return [model(*inputs[:2], bias=inputs[2])]
loader = model.loader
for number in range(1, 301):
    ids[0, 0] = number % 47
    given = ids.t().contiguous().t() if number == 150 else ids
    model.loader = {200: Failing, 240: Calling}.get(number, lambda: loader)()
    with torch.inference_mode(number > 220):
        try:
            model(given, weights, bias=bias)
        except RuntimeError:
            assert number == 200
"""


def test_of_calls_alike_each_is_counted_and_one_that_differs_or_fails_recorded(
    run_script,
):
    ran = run_script(ALIKE)
    assert not [note for note in ran.of("note") if "call" in note["what"]]
    calls = {call["call"]: call for call in ran.begun()}
    assert list(calls) == [*range(1, 101), 150, 200]
    assert (calls[150]["group"], calls[150]["breaks"]) == (1, ["stride"] * 2)
    assert ran.end_of(calls[200])["error"]["message"] == "refused"
    (counted,) = (ran.directory / "calls").iterdir()
    numbers = read_call_counts(1, counted.read_bytes())
    assert numbers is not None
    assert {group: calls for group, (calls, _) in numbers.groups.items()} == {0: 299, 1: 1}
    assert (numbers.returned, numbers.failed, numbers.under_way) == (299, 1, 0)
    assert (numbers.last, numbers.last_group, numbers.held, numbers.broken) == (300, 0, 300, 1)
    held = (ran.directory / "capture" / "call-now.bin").read_bytes()
    at = calls[1]["inputs"][0]["alignment"] % 256
    assert held[at : at + 16] == struct.pack("2q", 300 % 47, 1)


FORKS = """
import os, threading
worker = threading.Thread(target=call, name="worker")
worker.start()
worker.join()
torch.set_num_threads(1)
child = os.fork()
call()
if child:
    assert os.waitpid(child, 0)[1] == 0
else:
    os._exit(0)
"""


def test_threads_and_forks_report_calls_of_their_own(run_script):
    ran = run_script(FORKS, env={"OMP_NUM_THREADS": "1"})
    calls = ran.begun()
    assert len(calls) == 3 and len({c["pid"] for c in calls}) == 2
    assert calls[0]["thread"] == "worker"
    assert all(ran.end_of(call)["ok"] for call in calls)
    captured = {c["captured"] for c in calls[1:]}
    assert len(captured) == 2, "each process writes a file of its own"


CAPTURING = """
import os, sys
torch.set_num_threads(1)
busy = sys.modules["_aoti_debug_probe.store"].busy
busy.acquire()
child = os.fork()
if not child:
    call()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_fork_while_another_thread_captures_leaves_the_child_captures(run_script):
    ran = run_script(CAPTURING, env={"OMP_NUM_THREADS": "1"})
    [call] = ran.begun()
    assert (ran.directory / call["captured"]).stat().st_size > 0


FAILING = """
import sys
part = "_aoti_debug_probe."
sys.modules[part + "groups"]._HELD = 0
sys.modules[part + "arrival"].Arrivals.keep = float("inf")
class Failing:
    get_call_spec = model.loader.get_call_spec
    def boxed_run(self, inputs):
        print(sys.modules[part + "holding"].buffer.locked())
        raise RuntimeError("refused")
for number in range(1, 121):
    if number == 120:
        model.loader = Failing()
    try:
        call()
    except RuntimeError:
        pass
print(sys.modules[part + "holding"].buffer.locked())
"""


def test_a_call_that_fails_leaves_later_ones_the_short_way(
    run_script,
):
    ran = run_script(FAILING)
    assert ran.stdout == "True\nFalse\n"


TWICE = """\
import torch


def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def configure(namespace):
    torch.library.custom_op(f"{namespace}::twice", twice, mutates_args=())
"""


@pytest.fixture
def custom_ops(run_script, tmp_path):
    """Return what is told of the operators of a module that a script imports and uses so."""

    def run(more, use):
        (tmp_path / "own_ops.py").write_text(TWICE + more)
        load = 'torch._inductor.aoti_load_package("model.pt2")'
        [found] = run_script(f"import torch, own_ops\n{use}\n{load}", load=False).of("custom_ops")
        return found

    return run


def test_custom_operators_are_traced_to_the_module_that_defines_them(custom_ops, tmp_path):
    library = "library = torch.library.Library('other', 'DEF')\n"
    found = custom_ops(
        f"configure('own')\n{library}library.define('thrice(Tensor x) -> Tensor')\n", ""
    )
    assert {(n["namespace"], n["module"], n["file"]) for n in found["namespaces"]} == {
        (name, "own_ops", str(tmp_path / "own_ops.py")) for name in ("own", "other")
    }


def test_an_operator_registered_by_a_called_function_is_the_scripts(custom_ops, tmp_path):
    [[word, file]] = custom_ops("", "own_ops.configure('own')")["registered"]
    assert word == "__main__" and file.startswith(str(tmp_path))


def test_a_script_without_torch_is_named_and_left_alone(run_script):
    ran = run_script(
        "import sys\nprint(sorted(m for m in sys.modules if 'torch' in m))", load=False
    )
    assert ran.stdout == "[]\n"
    assert [e["event"] for e in ran.events] == ["process"]


def test_a_torch_that_cannot_be_imported_is_noted(run_script, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import missing_library\n")
    ran = run_script("import torch", load=False, code=1)
    [note] = ran.of("note", what="import torch")
    assert note["error"]["type"] == "ModuleNotFoundError"


def test_nothing_happens_without_a_place_for_events(run_script):
    ran = run_script("call()", env={"AOTI_DEBUG_EVENTS": ""})
    assert ran.events == []
    assert not (ran.directory / "capture").exists()


def test_an_unwritable_place_for_events_does_not_stop_the_script(run_script):
    ran = run_script(
        "print(call().shape)",
        env={"AOTI_DEBUG_EVENTS": "/nowhere/events.jsonl", "AOTI_DEBUG_CAPTURE": "/proc/nowhere"},
    )
    assert ran.stdout == "torch.Size([4, 3, 4])\n"


@pytest.fixture
def own(tmp_path):
    """Return a folder for a sitecustomize of the user's."""
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


def test_another_sitecustomize_and_usercustomize_still_run(run_script, own):
    (own / "sitecustomize.py").write_text("print('own sitecustomize')\nMARK = 1\n")
    (own / "usercustomize.py").write_text("print('own usercustomize')\n")
    source = "import sitecustomize\nprint(sitecustomize.MARK, sitecustomize.__file__)"
    ran = run_script(source, load=False, env={"PYTHONPATH": str(own)})
    assert ran.of("process")
    lines = ran.stdout.splitlines()
    assert lines[0] == "own sitecustomize"
    assert lines[-1] == f"1 {own / 'sitecustomize.py'}"


def test_a_failing_sitecustomize_fails_as_it_would(run_script, own):
    (own / "sitecustomize.py").write_text("raise RuntimeError('broken here')\n")
    ran = run_script("print('goes on')", load=False, env={"PYTHONPATH": str(own)})
    assert ran.stdout == "goes on\n"
    assert "broken here" in ran.stderr


def test_child_processes_are_watched_too(run_script):
    ran = run_script(
        """
        import subprocess, sys
        subprocess.run([sys.executable, "-c", "import torch"], check=True)
        """,
        load=False,
    )
    parent, child = ran.of("process")
    assert child["ppid"] == parent["pid"]
    assert ran.of("torch", pid=child["pid"])


def test_a_script_that_closes_all_descriptors_gets_no_events_in_its_files(run_script):
    ran = run_script(
        """
        import os
        os.closerange(3, 4096)
        with open("own.txt", "w") as file:
            os.dup2(file.fileno(), 200)
            call()
        print(repr(open("own.txt").read()))
        """
    )
    assert ran.stdout == "''\n"
    assert len(ran.begun()) == 1
