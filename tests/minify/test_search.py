"""A failure is the same in a smaller program, and another one is not; the search keeps what is
needed, and the source of custom operators is cut out of the file that defines them."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from aoti_debug.answers import MinifyAnswer
from aoti_debug.diagnose import Ending, Observations
from aoti_debug.minify.graph import Graph, GraphNode, NodeValue, NodeValues, OperatorFile, Survey
from aoti_debug.minify.material import Material
from aoti_debug.minify.operators import Definitions, beside, choices
from aoti_debug.minify.original import repeats, ways
from aoti_debug.minify.reproduction import FROM_FILE, header, report
from aoti_debug.minify.script import cut_to
from aoti_debug.minify.search import minimise
from aoti_debug.minify.slice import Reduction, with_users
from aoti_debug.minify.survey import why_unreadable
from aoti_debug.minify.worker_pool import WorkerPool, first
from aoti_debug.minify.write import Script, Writer
from aoti_debug.probe.operator_source import cut
from aoti_debug.run.executor import Machine
from aoti_debug.triage.captured_call import Captured
from aoti_debug.triage.fingerprint import kernel_in, of_reproduction, operators_in
from aoti_debug.triage.observe import observe
from aoti_debug.vocabulary import Fingerprint, Place, normalised
from recordings import called, end, events

ASSERT = """\
Traceback (most recent call last):
RuntimeError: index out of bounds: 0 <= tmp2 < 1000L
Exception raised from cpp_fused_embedding_mul_unsqueeze_0 at /c/x.kernel.cpp:25 (most recent call first):
"""  # noqa: E501
PLAIN = """\
Traceback (most recent call last):
  File "/tmp/cache/ng/cng.py", line 103, in call
    cpp_fused_embedding_0(arg2_1, buf0)
RuntimeError: kernel, /tmp/cache/kv/ckv.main.cpp:32, index out of bounds: 0 <= tmp11 < 16L
"""
LOWERING = """\
Traceback (most recent call last):
torch._inductor.exc.InductorError: MissingOperatorWithoutDecomp: missing lowering
  target: aten.sort.default
"""
COMPILER = """\
Traceback (most recent call last):
torch._inductor.exc.InductorError: CppCompileError: C++ compile error

Output:
/c/ab/cab.kernel.cpp: In function 'void kernel(const float*, float*)':
/c/ab/cab.kernel.cpp:12:44: error: 'compile' was not declared in this scope
"""


OF_OPERATOR_211 = """\
[E1122 02:30:44.433380602 shim_common.cpp:1341] Exception in aoti_torch: ValueError: this row cannot be served

At:
  repro.py(17): act

[E1122 02:30:44.433380702 shim_common.cpp:274] Exception in aoti_torch: Cannot access data pointer
Exception raised from throw_data_ptr_access_error at /t/TensorImpl.cpp:307 (most recent call first):
Error: aoti_torch_get_data_ptr(handle_.get(), &result) API call failed at /t/utils.h, line 184
Traceback (most recent call last):
RuntimeError: run_func_( container_handle_) API call failed at /t/model_container_runner.cpp, line 150
"""  # noqa: E501
OF_OPERATOR_213 = """\
Error: aoti_torch_proxy_executor_call_function(proxy_executor, 2) API call failed at /t/c.cpp, line 9
Traceback (most recent call last):
RuntimeError: ValueError: this row cannot be served

At:
  repro.py(17): act
"""  # noqa: E501
UNREADABLE_211 = """\
W1122 02:38:35.448000 18370 torch/export/__init__.py:348] Traceback (most recent call last):
W1122 02:38:35.448000 18370 torch/export/__init__.py:348]     raise SerializeError(
W1122 02:38:35.448000 18370 torch/export/__init__.py:348] torch._export.serde.serialize.SerializeError: We failed to resolve torch.ops.planted_gpu.scale.default to an operator.
RuntimeError: We ran into an error when deserializing the saved file.
"""  # noqa: E501


FAILED = Ending(code=1)


def seen(folder: Path, stderr: str, step: str = "run", ending: Ending = FAILED) -> Fingerprint:
    (folder / "stderr.log").write_text(stderr)
    stdout = f"step: export\nstep: {step}\n"
    return of_reproduction(observe(folder, "", ending), stdout, stderr)


def test_an_index_assert_is_the_same_through_inductor_and_aoti_in_one_kernel(
    tmp_path: Path,
) -> None:
    one, other = seen(tmp_path, ASSERT), seen(tmp_path, PLAIN)
    assert one.kind == other.kind == "assert"
    assert one.operators == ("embedding", "mul", "unsqueeze")
    assert one.same(other) and other.same(one)
    assert not one.same(seen(tmp_path, PLAIN.replace("embedding", "gather")))


def test_a_lowering_names_its_operator(tmp_path: Path) -> None:
    found = seen(tmp_path, LOWERING, "lower")
    assert (found.phase, found.kind, found.operators) == ("lower", "InductorError", ("sort",))


def test_a_compile_error_is_what_the_compiler_says(tmp_path: Path) -> None:
    found = seen(tmp_path, COMPILER, "lower")
    assert found.message == "'compile' was not declared in this scope"


def test_signals_of_two_steps_a_hang_a_wrong_result_and_success_differ(tmp_path: Path) -> None:
    wrong = "Traceback (most recent call last):\nAssertionError: wrong result: output 0 is off by 2"
    well = seen(tmp_path, "", "done", Ending(code=0))
    found = [
        seen(tmp_path, "", "run", Ending(signal="SIGSEGV")),
        seen(tmp_path, "", "lower", Ending(signal="SIGSEGV")),
        seen(tmp_path, "", "run", Ending(timed_out=True)),
        seen(tmp_path, wrong, "compare"),
    ]
    assert [one.kind for one in found] == ["SIGSEGV", "SIGSEGV", "hang", "wrong result"]
    assert not any(a.same(b) for a in found for b in (*found, well) if a is not b)
    assert not well.failed and not well.same(well)


def test_what_uses_a_node_is_found_through_what_only_takes_it_apart() -> None:
    call = partial(GraphNode, op="call_function", is_tensor=True)
    pair = replace(call("pair", target="mine.pair"), is_tensor=False, several=(True, True))
    nodes = (
        pair,
        call("left", target="operator.getitem", args=({"ref": "pair"}, {"text": "0"})),
        call("used", target="torch.ops.aten.relu", args=({"ref": "left"},)),
        call("later", target="torch.ops.aten.relu", args=({"ref": "used"},)),
    )
    graph = Graph("2.13.0", nodes, symbols={})
    assert with_users(graph, frozenset({0})) == {0, 2}


def test_what_two_runs_tell_differently_is_dropped() -> None:
    one = Fingerprint("run", "RuntimeError", "row 3 is bad", ("add",))
    other = Fingerprint("run", "RuntimeError", "column is bad", ("add",))
    both = one.common(other)
    assert (both.phase, both.kind, both.message) == ("run", "RuntimeError", None)
    assert both.same(one) and both.same(other)


@pytest.mark.parametrize(
    ("failed", "runs", "wanted"), [(2, 2, 1), (4, 8, 5), (6, 8, 3), (1, 8, 12), (7, 8, 2)]
)
def test_a_flaky_failure_is_repeated_by_its_rate(failed: int, runs: int, wanted: int) -> None:
    assert repeats(failed, runs) == wanted


def test_names_and_numbers_of_another_graph_do_not_count() -> None:
    one = "expected buf12 to have 4 rows, /tmp/a/b.cpp:12: tmp5"
    assert normalised(one) == normalised("expected buf3 to have 64 rows, /home/x/b.cpp:99: tmp11")


def test_kernels_are_found_in_any_text() -> None:
    text = "in triton_poi_fused_add_mul_3 at line 4"
    assert kernel_in(text) == "triton_poi_fused_add_mul_3"
    assert operators_in("triton_poi_fused_add_mul_3") == ("add", "mul")
    assert kernel_in("nothing here") is None


def test_what_an_operator_raised_is_the_same_where_only_stderr_tells_it(tmp_path: Path) -> None:
    one = seen(tmp_path, OF_OPERATOR_211)
    plain = "Traceback (most recent call last):\nValueError: this row cannot be served\n"
    other = seen(tmp_path, plain)
    later = seen(tmp_path, OF_OPERATOR_213)
    assert one == other == later and one.kind == "ValueError"


ILLEGAL = """\
Traceback (most recent call last):
torch.AcceleratorError: CUDA error: an illegal memory access was encountered
Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com for more information.
"""
TERMINATED = """\
terminate called after throwing an instance of 'c10::AcceleratorError'
  what():  CUDA error: an illegal memory access was encountered
"""


def test_a_fault_of_a_gpu_is_the_same_as_an_exception_and_as_an_end(tmp_path: Path) -> None:
    one = seen(tmp_path, ILLEGAL)
    other = seen(tmp_path, TERMINATED, "run", Ending(signal="SIGABRT"))
    after = seen(tmp_path, ILLEGAL + TERMINATED, "run", Ending(signal="SIGABRT"))
    assert one == other == after
    assert one.message == "an illegal memory access was encountered"


def test_what_kept_a_program_from_loading_is_found_in_the_warnings() -> None:
    told = why_unreadable(Fingerprint(None, "RuntimeError"), UNREADABLE_211)
    assert "We failed to resolve torch.ops.planted_gpu.scale.default" in told


def searched(count: int, needed: set[int]) -> tuple[list[int], int]:
    tried: list[frozenset[int]] = []

    async def test(part: frozenset[int]) -> bool:
        tried.append(part)
        return needed <= part

    found = anyio.run(minimise, range(count), test, Machine(2, 2, 0))
    return found, len(tried)


@pytest.mark.parametrize("count", [1, 2, 7, 60, 300, 1000])
def test_one_needed_item_is_found_wherever_it_is(count: int) -> None:
    for needed in {0, count // 3, count // 2, count - 1}:
        assert searched(count, {needed})[0] == [needed]


@pytest.mark.parametrize(
    ("count", "needed"),
    [(60, {29, 30, 31}), (60, {0, 59}), (60, {10, 30, 50}), (1000, {499, 500, 501})],
)
def test_several_needed_items_are_found_with_few_candidates(count: int, needed: set[int]) -> None:
    found, tried = searched(count, needed)
    assert found == sorted(needed)
    assert tried < 70


def test_nothing_can_be_left_out_of_what_is_found() -> None:
    async def even_and_large(part: frozenset[int]) -> bool:
        return sum(part) >= 40 and any(n % 2 == 0 for n in part)

    found = anyio.run(minimise, range(20), even_and_large, Machine(3, 3, 0))
    rests = [frozenset(found) - {item} for item in found]
    assert not any(anyio.run(even_and_large, rest) for rest in rests)


def test_the_first_interesting_choice_counts_not_the_fastest() -> None:
    async def test(choice: int) -> bool:
        await anyio.sleep(0.02 * (3 - choice))
        return choice > 0

    assert anyio.run(first, [0, 1, 2], test, Machine(3, 3, 0)) == 1


def test_an_error_of_a_candidate_is_raised_as_it_is() -> None:
    async def test(choice: int) -> bool:
        raise ValueError(f"choice {choice}")

    with pytest.raises(ValueError, match="choice"):
        anyio.run(first, [0, 1], test, Machine(2, 2, 0))


FILE = """
from __future__ import annotations

import ctypes
import torch
import requests_of_another_module

SCALE = 2.0
UNUSED = 3


def helper(x):
    return x * SCALE


@torch.library.custom_op("mine::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return helper(x)


@twice.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("theirs::other", mutates_args=())
def other(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.mine.twice(x)


if __name__ == "__main__":
    torch.export.export(Model(), (torch.ones(1),))
"""
LIBRARY = """
import torch

lib = torch.library.Library("mine", "DEF")
lib.define("twice(Tensor x) -> Tensor")


def twice(x):
    return x + x


lib.impl("twice", twice, "CompositeExplicitAutograd")
model = torch.nn.Linear(3, 3)
"""


def test_an_operator_comes_with_its_fake_kernel_and_what_it_uses_alone() -> None:
    found = cut(FILE, "mine")
    ast.parse(found)
    for unwanted in ("class Model", "theirs::other", "UNUSED", "requests_of", "__main__"):
        assert unwanted not in found
    for wanted in ("mine::twice", "register_fake", "def helper", "SCALE = 2.0", "import torch"):
        assert wanted in found


def test_operators_of_a_library_object_are_cut_out_too() -> None:
    found = cut(LIBRARY, "mine")
    assert "lib.define" in found and "lib.impl" in found and "def twice" in found
    assert "Linear" not in found


def test_a_value_is_cut_in_each_dimension_of_that_size_and_in_no_other() -> None:
    value = NodeValue("x", shape=(4, 4096, 4096), dtype="torch.float32")
    assert cut_to("load(x)", value, {4096: 2}) == "load(x)[:, :2, :2].clone()"
    assert cut_to("load(x)", value, {64: 2}) == "load(x)"
    assert cut_to("3", NodeValue("n", number=3), {3: 2}) == "3"


ROWS = ("s0", 4)
TENSOR = partial(GraphNode, is_tensor=True, shape=(ROWS, 8))
WEIGHT = TENSOR("w", "placeholder", kind="BUFFER", shape=(8,))
INPUT = TENSOR("x", "placeholder", kind="USER_INPUT")
GIVEN = ({"ref": "x"}, {"ref": "w"})
MUL = TENSOR("mul", "call_function", "torch.ops.aten.mul.Tensor", GIVEN)
GRAPH = Graph("2.13.0", (WEIGHT, INPUT, MUL), symbols={"s0": (2, 64)})


def value(name: str, *shape: int) -> NodeValue:
    return NodeValue(name, shape=shape, dtype="torch.float32", floating=True)


REAL = NodeValues("real", {"x": value("x", 9, 8)}, None)
WHOLE = Reduction(frozenset({2}), "run", "aoti", dynamic=False, two_sided=False)


def writer_of(
    real: NodeValues, example: NodeValues | None = None, graph: Graph = GRAPH, **defined: Any
) -> Writer:
    weights = NodeValues("real", {"w": value("w", 8)}, None)
    survey = Survey(graph, example or real, real, weights, Path("values"))
    return Writer(survey, Definitions(**defined))


def test_free_sizes_both_sides_and_weights_of_the_original_are_kept() -> None:
    example = NodeValues("example", {"x": value("x", 4, 8)}, None)
    writer = writer_of(REAL, example)
    whole = replace(WHOLE, dynamic=True, two_sided=True, settings={"max_autotune": True})
    script = writer.write(whole).text
    assert 's0 = torch.export.Dim("s0", min=2, max=64)' in script
    assert 'export(model, example(), dynamic_shapes={"x": {0: s0}})' in script
    assert 'self.register_buffer("w", load("weights/w"))' in script
    assert 'load("example/x")' in script and 'load("real/x")' in script
    assert "inductor_configs={'max_autotune': True}" in script
    assert "Dim" not in writer.write(replace(whole, dynamic=False)).text


def test_a_result_of_several_is_taken_with_what_is_imported() -> None:
    pair = replace(MUL, name="pair", is_tensor=False, several=(True,))
    given = ({"ref": "pair"}, {"text": "0"})
    first = replace(MUL, name="first", target="operator.getitem", args=given)
    writer = writer_of(REAL, graph=replace(GRAPH, nodes=(WEIGHT, INPUT, pair, first)))
    script = writer.write(replace(WHOLE, keep=frozenset({2, 3}))).text
    assert "first = operator.getitem(pair, 0)" in script and "\nimport operator\n" in f"\n{script}"
    assert "import operator" not in writer.write(WHOLE).text


def test_names_of_files_and_lines_of_a_model_stay_text(tmp_path: Path) -> None:
    said = '"""\nimport os; os.abort()\n"""'
    library = tmp_path / 'a") + exit(1) + ("\udcff.so'
    files = [OperatorFile(None, None, None, None, said)]
    prelude = next(choices(files, Captured(libraries=(str(library),)), []))
    node = replace(MUL, source=Place(f"/m/{said}.py", 3, text=f"\r{said}\udcff"))
    graph = replace(GRAPH, nodes=(WEIGHT, INPUT, node))
    writer = writer_of(REAL, graph=graph, text=prelude.text)
    head = header(Fingerprint("run", said, said), said, said, (said, *prelude.notes))
    text = beside(writer.write(WHOLE, head, FROM_FILE).text, prelude.files)
    tree = ast.parse(text.encode())
    kinds = [type(one).__name__ for one in tree.body]
    assert kinds == ["Expr", "ImportFrom", "Import", "Expr", "ClassDef", *["FunctionDef"] * 3, "If"]
    names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)}
    assert not names & {"exit", "os"}


def test_a_report_quotes_and_never_marks_up() -> None:
    said = "<img src=x> ![a](http://x/y) `b` @all"
    answer = MinifyAnswer(run="r-1", status="done", signature=said, source=said, also_seen=[said])
    text = report(answer, Script("pass", ()), "", "2.13.0")
    assert text.count("src=x") == 3
    assert "<img" not in text.replace("\\<img", "")
    assert "![a](" not in text


@pytest.mark.parametrize(("nan", "first"), [(0, "compare"), (3, "finite")])
def test_nan_is_looked_for_first_where_the_call_gave_some(nan: int, first: str) -> None:
    out = {"shape": [8], "dtype": "float32", "device": "cpu", "nan": nan, "inf": None}
    seen = Observations(run=events(called(), end(1, outputs=[out])))
    material = Material(Path("program.pt2"), observations=seen)
    pool = WorkerPool(Path("unused"), Path("unused"), anyio.Event(), Machine(1, 1, 0))
    found = [way.until for way in ways(pool, material, writer_of(REAL), WHOLE, compare=True)]
    assert next(way for way in found if way in ("compare", "finite")) == first
