"""Kernels explained from packages alone, as torch wrote them; programs with planted faults, and
packages whose values are wrong for a known reason."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.errors import AotiDebugError, UnknownKernel, UnreadableInput
from aoti_debug.explain.accesses import checks
from aoti_debug.explain.code import Code
from aoti_debug.explain.culprit import draft, fixes, headline
from aoti_debug.explain.kernel import find_in
from aoti_debug.explain.nodes import read_report
from aoti_debug.explain.package import explain_package
from aoti_debug.explain.values import Found, read_bisection
from aoti_debug.read.culprit import read_culprit
from aoti_debug.read.record import DeviceAssert, Span
from aoti_debug.read.typed import take
from aoti_debug.run.directory import RunDirectory
from aoti_debug.triage.explanation import explain_run, folders_of
from aoti_debug.vocabulary import Leaf
from recordings import change, drop, members, write

TRITON = "torch-2.11/embedding.pt2"
EMBEDDING = "triton_poi_fused_embedding_mul_unsqueeze_0"
ASSERTION = (
    "/tmp/cache/kf/ckfrk.py:34: unknown: block: [0,25,0], thread: [33,0,0] "
    "Assertion `index out of bounds: 0 <= tmp4 < 1000` failed."
)


def given(low: int, high: int) -> tuple[Leaf, ...]:
    inputs = (
        {
            "index": 0,
            "name": "ids",
            "kind": "tensor",
            "shape": [8, 32],
            "dtype": "int64",
            "min": low,
            "max": high,
            "min_at": [0, 1],
            "max_at": [3, 5],
        },
        {"index": 1, "name": "weight", "kind": "tensor", "shape": [8, 32], "dtype": "float32"},
    )
    return tuple(take(Leaf, one) for one in inputs)


def test_a_triton_kernel_has_its_arguments_sizes_checks_and_lines(packages: Path):
    found = explain_package(packages / TRITON, EMBEDDING, inputs=given(0, 900))
    assert found.arguments == {
        "in_ptr0": "input 0 ids int64 [s23, 32]",
        "in_ptr1": "constant table.weight float32 [1000, 64]",
        "in_ptr2": "input 1 weight float32 [2..512, 32]",
        "out_ptr0": "buffer buf0 float32 [s23, 32, 64]",
        "ynumel": "32*s23 (s23 = dimension 0 of ids = 8) = 256",
        "xnumel": "64",
    }
    assert found.sizes["s23"] == "dimension 0 of ids = 8"
    assert found.ops == ["aten.embedding", "aten.unsqueeze", "aten.mul"]
    assert [(s.file, s.line) for s in found.source] == [("/home/user/gpu_faults.py", 55)]
    assert len(found.checked) == 1 and "dimension 0 of table.weight" in found.checked[0]
    assert found.unchecked == [] and found.category is None
    assert found.code is not None and "tl.device_assert" in found.code


def test_an_assertion_names_the_element_the_table_and_the_line(packages: Path):
    found = explain_package(packages / TRITON, ASSERTION, inputs=given(0, 5000))
    assert found.summary == (
        "ids[3, 5] = 5000 is outside 0 <= index < 1000: 1000, the size of dimension 0 of "
        "table.weight"
    )
    assert found.confidence == "proved" and found.input is not None
    assert (found.input.name, found.input.got) == ("ids", "5000 at [3, 5]")
    assert found.kernel.text is not None and found.kernel.text.startswith("tl.device_assert")
    assert [line.partition(": ")[2].split(" = ")[0] for line in found.slice][2:7] == [
        "tmp0",
        "tmp1",
        "tmp2",
        "tmp3",
        "tmp4",
    ]
    assert any("5001 rows" in fix.what for fix in found.fixes)


def test_an_assertion_that_was_read_needs_no_text(packages: Path):
    span = Span("stderr.log", 1, 1, "")
    bounds = ("0", "tmp4", "1000")
    condition = "index out of bounds: 0 <= tmp4 < 1000"
    for file in ("/tmp/cache/kf/ckfrk.py", "/my models/cache (2)/kf/ckfrk.py"):
        check = DeviceAssert(span, file, 34, None, None, None, condition, *bounds, 1)
        found = explain_package(packages / TRITON, check, inputs=given(0, 5000))
        assert found.kernel.name == EMBEDDING and found.confidence == "proved"


def test_folders_of_the_users_modules_may_have_spaces_in_their_names(tmp_path: Path):
    script, away = tmp_path / "my models" / "serve it.py", tmp_path / "some where"
    run = RunDirectory.create(tmp_path)
    command = shlex.join(["/opt/env 2/bin/python", "-X", "dev", str(script), "a b"])
    run.write_record({"status": "done", "command": command, "cwd": str(away)})
    assert folders_of(run) == [script.parent, away]


def test_values_that_fit_are_not_blamed(packages: Path):
    found = explain_package(packages / TRITON, ASSERTION, inputs=given(-1000, 999))
    assert found.input is None and found.confidence == "likely"


def test_an_extern_kernel_shows_what_feeds_it(packages: Path):
    found = explain_package(packages / TRITON, "aoti_torch_cuda_mm_out")
    assert found.arguments["argument 2"] == "constant fc.weight float32 [64, 64]"
    assert found.chain == [
        f"argument 1 buf0: launch 1 {EMBEDDING} (aten.embedding, aten.unsqueeze, aten.mul) "
        "from arg3_1, table.weight, arg4_1"
    ]
    assert any("no generated source" in note for note in found.notes)


@pytest.mark.parametrize("asked", ["2", "aoti_torch_cuda_mm_out:2"])
def test_a_launch_is_named_by_its_number_or_its_handle(packages: Path, asked: str):
    assert explain_package(packages / TRITON, asked).launches == [2]


@pytest.mark.parametrize("version", ["2.6", "2.9", "2.13"])
def test_cpp_kernels_of_every_layout_have_code_and_arguments(packages: Path, version: str):
    package = packages / f"torch-{version}" / "dyn.pt2"
    found = explain_package(package, "2")
    assert found.kernel.kind == "cpp" and found.code is not None
    assert any(what.startswith("input 1") for what in found.arguments.values())
    assert any("dimension 0 of" in what for what in found.sizes.values())
    if version == "2.6":
        assert any("INDUCTOR_PROVENANCE" in note for note in found.notes)


def test_a_custom_operator_is_found_by_its_own_name(packages: Path):
    found = explain_package(packages / "torch-2.13" / "custom.pt2", "demo::twice")
    assert "demo" in found.kernel.name


def test_the_assertion_of_another_model_is_told_apart(packages: Path):
    with pytest.raises(UnknownKernel, match="another model"):
        explain_package(packages / TRITON, "index out of bounds: 0 <= tmp9 < 77")


def test_an_unknown_kernel_gets_the_nearest_names(packages: Path):
    with pytest.raises(UnknownKernel) as error:
        explain_package(packages / TRITON, "triton_poi_embeding")
    assert EMBEDDING in error.value.help


def test_a_stripped_package_says_what_to_do(packages: Path, tmp_path: Path):
    stripped = write(tmp_path / "s.pt2", drop(members(packages / TRITON), ".cpp"))
    with pytest.raises(UnreadableInput, match="no generated source"):
        explain_package(stripped, EMBEDDING)
    with pytest.raises(UnreadableInput):
        explain_package(tmp_path / "none.pt2", EMBEDDING)


# As a user writes it, and as Inductor copies it: without the comments, beside a user_autotune.
USERS = """import triton
import triton.language as tl


def helper(): ...


@triton.jit
def scale_rows(x_ptr, out_ptr, n,
               BLOCK: tl.constexpr):
    # one row a program
    row = tl.program_id(0)

    at = row * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)  # no mask
    tl.store(out_ptr + at, x * 2.0)
"""


def as_users(data: bytes) -> bytes:
    """Put the user's kernel in the place of the first generated one, as torch 2.11 writes it."""
    text = data.decode().replace(EMBEDDING, "scale_rows_0")
    begin = text.index("    @triton_heuristics.pointwise(")
    end = text.index("    ''', device_str='cuda')", begin)
    body = USERS[USERS.index("@triton.jit") :].replace("    # one row a program\n", "")
    copy = (
        "@triton_heuristics.user_autotune(\n    configs=[{}],\n    custom_kernel=True,\n)\n" + body
    )
    copy = "".join(f"    {line}\n" for line in copy.splitlines())
    return (text[:begin] + copy + text[end:]).encode()


def test_a_users_triton_kernel_is_named_by_their_file_function_and_line(
    packages: Path, tmp_path: Path
):
    package = write(
        tmp_path / "u.pt2", change(members(packages / TRITON), ".wrapper.cpp", as_users)
    )
    source = tmp_path / "model" / "kernels.py"
    source.parent.mkdir()
    source.write_text(USERS)
    (source.parent / "other.py").write_text("def scale_rows(x):\n    return x\n")
    found = explain_package(package, "scale_rows_0", folders=[source.parent])
    assert found.user_kernel is not None
    assert (found.user_kernel.file, found.user_kernel.line) == (str(source), 9)
    assert found.user_kernel.text is not None and "scale_rows" in found.user_kernel.text
    source.write_text(USERS.replace("x * 2.0", "x * 3.0"))  # it is another kernel now
    assert explain_package(package, "scale_rows_0", folders=[source.parent]).user_kernel is None


def test_the_line_that_faulted_in_a_users_kernel_is_found_in_their_file():
    copy = as_users(b"    @triton_heuristics.pointwise(\n    ''', device_str='cuda')").decode()
    lines = tuple(copy.split("\n"))
    place = next(n for n, line in enumerate(lines) if "tl.load" in line)
    found = find_in(Code("triton", "c.py", 1, lines, ()), "scale_rows", place, [("k.py", USERS)])
    assert found is not None
    assert (found.line, found.text) == (15, "x = tl.load(x_ptr + at)  # no mask")


def _padded(data: bytes) -> bytes:
    launch = b"    call_x(arg3_1, " + b"(" * 200 + b");\n"
    return data.replace(b"arg3_1.reset();", launch * 20_000 + b"arg3_1.reset();") * 2


@pytest.mark.parametrize(
    "spoil",
    [
        _padded,
        lambda d: d.replace(b"\n", b" ") * 3,
        lambda d: d[: len(d) // 2] + b"\xff" * 4096,
        lambda d: d + b"tmp4 = tmp4 + tmp4\n" * 100_000,
    ],
)
def test_a_hostile_package_costs_little(packages: Path, tmp_path: Path, spoil):
    """300 MB and a refusal or an answer, whatever the sources hold."""
    hostile = write(tmp_path / "h.pt2", change(members(packages / TRITON), ".wrapper.cpp", spoil))
    program = (
        "import resource, sys, json\n"
        "from pathlib import Path\n"
        "from aoti_debug.errors import AotiDebugError\n"
        "from aoti_debug.explain.package import explain_package\n"
        "try:\n"
        "    explain_package(Path(sys.argv[1]), sys.argv[2])\n"
        "except AotiDebugError:\n"
        "    pass\n"
        "peak = int(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"  # its peak counts who started it
        "print(json.dumps([peak / 1024, used.ru_utime]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(hostile), ASSERTION],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    megabytes, seconds = json.loads(done.stdout)
    assert megabytes < 300 and seconds < 5


def test_a_kernel_of_endless_checks_is_explained_by_the_first(tmp_path: Path):
    said = "index out of bounds: 0 <= tmp{0} < 9L"
    lines = (f'TORCH_CHECK(0 <= tmp{n}, "{said.format(n)}");' for n in range(20_000))
    code = ['extern "C" void cpp_fused_add_0(const float* in_ptr0)', "{", *lines, "}"]
    assert len(checks(Code("cpp", "c.kernel.cpp", 1, tuple(code), ()))) == 500
    folder = "m/data/aotinductor/model/"
    run = "void AOTInductorModel::run_impl(\n{\n    call_cpp_fused_add_0(buf0);\n}\n"
    parts = [
        ("m/archive_format", b"pt2"),
        (folder + "a.wrapper.cpp", run.encode()),
        (folder + "a.kernel.cpp", "\n".join(code).encode()),
    ]
    found = explain_package(write(tmp_path / "m.pt2", parts), "cpp_fused_add_0")
    assert any("index < 9" in line for line in found.checked)


def test_errors_are_of_our_own_kind(packages: Path):
    for asked in ("", "9999", "\0", "a" * 5000, "index out of bounds: "):
        with pytest.raises(AotiDebugError):
            explain_package(packages / TRITON, asked)


def test_a_run_without_a_capture_says_why_and_what_to_do(tmp_path: Path):
    run = RunDirectory.create(tmp_path)
    (run.path / "stderr.log").write_text("RuntimeError: no model was loaded\n")
    with pytest.raises(UnreadableInput, match="no call of a loaded model was seen") as error:
        explain_run(run, EMBEDDING)
    assert "Give the path of the .pt2" in error.value.help


PLANTED = Path(__file__).with_name("planted.py")
CASES = tuple(
    """
    embedding gather advanced argmax cumsum bucketize empty bags log_zero zero_by_zero exp unit
    entropy scan pool batch_norm masked_row undeclared_write
    """.split()
)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory, warm_python: str) -> Path:
    out = tmp_path_factory.mktemp("walks")
    argv = [warm_python, str(PLANTED), "walk", str(out), *CASES]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def found_in(folder: Path) -> tuple[Found | None, dict[str, Any]]:
    expected = json.loads((folder / "expected.json").read_text())
    report = json.loads((folder / "report.json").read_text())
    assert report["state"] == "done"
    return read_report(report, {name: n for n, name in enumerate(expected["inputs"])}), expected


@pytest.mark.parametrize("name", CASES)
def test_a_planted_fault_is_named_with_its_operator_line_and_values(walked: Path, name: str):
    found, expected = found_in(walked / f"{name}-fault")
    assert found is not None
    assert expected["op"] in found.op
    assert all(words in found.summary for words in expected["says"]), found.summary
    assert expected["line"] in [line.text for line in found.source]
    assert found.fixes


@pytest.mark.parametrize("name", CASES)
def test_its_healthy_twin_is_not_blamed(walked: Path, name: str):
    found, _ = found_in(walked / f"{name}-healthy")
    assert found is None


@pytest.mark.parametrize(
    ("name", "category", "what"),
    [
        ("take", "index_out_of_bounds", "60"),
        ("nll_loss", "index_out_of_bounds", "7"),
        ("keywords", "index_out_of_bounds", "60"),
        ("rsqrt", "nan_or_inf", "add eps before the root"),
        ("sqrt", "nan_or_inf", "clamp_min(0) before the root"),
        ("one_row", "nan_or_inf", "correction=0"),
    ],
)
def test_an_operator_has_its_own_reason_and_fix(walked: Path, name: str, category: str, what: str):
    report = json.loads((walked / f"{name}-fault" / "report.json").read_text())
    found = read_report(report, {})
    assert found is not None and found.category == category
    assert what in found.summary + found.fixes[0].what


@pytest.mark.parametrize("name", ["take", "nll_loss", "keywords", "rsqrt", "sqrt", "variance"])
def test_its_healthy_call_is_not_blamed(walked: Path, name: str):
    report = json.loads((walked / f"{name}-healthy" / "report.json").read_text())
    assert report["state"] == "done" and read_report(report, {}) is None


def test_values_along_the_model_lead_to_the_first_that_is_not_finite(walked: Path):
    found, _ = found_in(walked / "masked_row-fault")
    assert found is not None
    marked = [row for row in found.values if row.mark]
    assert [row.node for row in marked] == [found.node]
    before = found.values[: found.values.index(marked[0])]
    assert before and all(row.nan == 0 for row in before)
    numbers = [row.number or 0 for row in found.values]
    assert numbers == sorted(set(numbers)) and numbers[0] == 1 and len(numbers) <= 60
    around = numbers.index(marked[0].number or 0)
    assert numbers[around - 5 : around + 5] == list(range(numbers[around - 5], numbers[around] + 5))


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory, warm_python: str) -> Path:
    out = tmp_path_factory.mktemp("wrong")
    done = subprocess.run(
        [warm_python, str(PLANTED), "wrong", str(out)], capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def wrong_in(folder: Path) -> tuple[Found | None, dict[str, Any]]:
    report = json.loads((folder / "report.json").read_text())
    assert report["state"] == "done", report
    return read_bisection(report), report


def test_a_package_of_the_model_as_it_is_is_not_blamed(looked: Path):
    found, report = wrong_in(looked / "healthy")
    assert found is None and report["agrees"] and report["compiles"] == []
    assert read_culprit(report) is None


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("other_weights", ("up.weight differs in 512 of 512 values", "gives the package")),
        ("other_shapes", ("up.weight is float32[32, 16] there and float32[48, 16] in the model",)),
    ],
)
def test_a_package_of_another_version_of_the_model_is_stale(
    looked: Path, name: str, says: tuple[str, ...]
):
    found, report = wrong_in(looked / name)
    assert found is not None and found.category == "constants_mismatch"
    assert found.summary.startswith("stale package")
    assert all(words in found.summary for words in says), found.summary
    assert found.fixes and report["compiles"] == []


def test_rounding_that_is_left_out_is_named_though_float64_has_none(looked: Path):
    found, _ = wrong_in(looked / "rest")
    assert found is not None and "leaves out the rounding to bfloat16" in found.summary
    assert found.node == "to" and "tried on 3 inputs" in str(found.fixes[0].why)


def test_a_number_that_only_eager_rounds_is_named(looked: Path):
    found, _ = wrong_in(looked / "turned")
    assert found is not None and "1.7, which eager rounds to bfloat16" in found.summary
    assert "torch.tensor(1.7, dtype=torch.bfloat16)" in found.fixes[0].what


@pytest.mark.parametrize("name", ["bfloat16", "tf32"])
def test_products_in_less_than_float32_are_measured(looked: Path, name: str):
    found, report = wrong_in(looked / name)
    assert found is not None and f"matrix products in {name}" in found.summary
    assert report["reason"]["left"] < 0.2 * report["reason"]["apart"]
    assert report["compiles"] == []


def test_weights_that_the_script_gave_make_no_package_stale(looked: Path):
    found, report = wrong_in(looked / "weights_given")
    assert found is not None and "matrix products in tf32" in found.summary
    assert report["reason"]["kind"] == "precision"


def test_rounding_that_a_jump_makes_large_is_named_and_not_blamed_on_the_compiler(looked: Path):
    found, report = wrong_in(looked / "floor")
    assert report["agrees"] and found is not None
    assert (found.node, found.op) == ("floor", "aten.floor.default")
    assert "no further from float64" in found.summary


def test_an_operator_that_is_compiled_wrong_is_located_and_left_as_a_script(looked: Path):
    found, report = wrong_in(looked / "relu")
    assert found is not None and found.op == "aten.relu.default"
    assert "# planted" in str(found.source[0].text)
    assert "compiled wrong alone" in found.summary
    assert report["first"]["located_with"] <= 2
    assert (looked / "relu" / "one_kernel.py").is_file()
    marked = [row for row in found.values if row.mark == "first wrong"]
    assert [row.node for row in marked] == ["relu"] and marked[0].mean != marked[0].eager
    right = [row for row in found.values if row.mark is None]
    assert right and all(row.mean == pytest.approx(row.eager, rel=1e-4) for row in right)


def test_what_makes_an_operator_wrong_is_named_and_the_workaround_was_tried(looked: Path):
    found, report = wrong_in(looked / "relu")
    assert found is not None
    assert found.headline.startswith(
        "Inductor's lowering or codegen of aten.relu.default makes relu"
    )
    tried, other = found.fixes
    assert "make_fallback(torch.ops.aten.relu.default" in tried.what
    assert str(tried.why).startswith("tried on 3 inputs of the program: right; ")
    assert other.where == "one_kernel.py"
    blamed = read_culprit(report)
    assert blamed is not None and blamed.torch_compile
    text = draft(blamed, found.summary, report["script"])
    assert "torch.ops.aten.relu.default(" in text and f"torch {report['torch']}" in text
    assert "* all lowerings" in text.split("## Still wrong")[0]
    assert "* cpp.simdlen=1\n" in text.split("## Still wrong")[1]


def test_the_line_is_that_of_the_operator_at_fault_among_those_that_are_fused(looked: Path):
    found, report = wrong_in(looked / "relu")
    assert found is not None
    at = {"node": "amax", "op": "aten.amax.default", "stack": [["model.py", 15, "x.amax(-1)"]]}
    blamed = {**report["culprit"], "op": "aten.amax.default"}
    alone = read_bisection({**report, "culprit": blamed})
    assert alone is not None and (alone.node, alone.source) == (found.node, found.source)
    fused = {**report["first"], "fused": [at, {**at, "node": "amax_1"}]}  # a loop
    other = read_bisection({**report, "first": fused, "culprit": blamed})
    assert other is not None and "makes amax wrong" in other.headline
    assert [one.line for one in other.source] == [15]


@pytest.mark.parametrize(
    ("name", "says", "workaround"),
    [
        ("pass", "joint-graph pass 2 (constant_fold_uniform_value)", "'disabled_passes': 'const"),
        ("vectorized", "vectorized C++ code of aten.remainder.Tensor", "{'cpp.simdlen': 1}"),
        ("decomposed", "decomposition of aten.hardswish.default", "aten.hardswish.default, over"),
    ],
)
def test_a_step_of_the_compiler_is_at_fault_where_leaving_it_out_makes_the_part_right(
    looked: Path, name: str, says: str, workaround: str
):
    blamed = read_culprit(json.loads((looked / f"{name}.json").read_text()))
    assert blamed is not None and headline(blamed, "mul") == f"Inductor's {says} makes mul wrong"
    assert workaround in fixes(blamed)[0].what
    assert "tried on 3 inputs of the part alone: right" in str(fixes(blamed)[0].why)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("traced", "decomposition of aten.upsample_nearest2d.vec"),
        ("spaced", "lowering or codegen of aten.nextafter.default"),
        ("folded", "lowering or codegen of aten._foreach_add_.List"),
        ("windowed", r"index propagation of aten\.(?:div|mul)\.Tensor"),  # by the processor
        ("cut", "loop split of aten.constant_pad_nd.default"),
        ("ranked", "decomposition of aten.multilabel_margin_loss.default"),
    ],
)
def test_an_operator_that_is_traced_or_lowered_wrong_is_named(looked: Path, name: str, says: str):
    blamed = read_culprit(json.loads((looked / f"{name}.json").read_text()))
    assert blamed is not None
    assert re.fullmatch(f"Inductor's {says} makes x wrong", headline(blamed, "x"))


def test_where_no_part_is_wrong_alone_the_pass_is_found_of_all_of_them(looked: Path):
    found, _ = wrong_in(looked / "reused")
    assert found is not None and "reinplace_inplaceable_ops" in found.headline
    assert "# merged" in str(found.source[0].text)
    assert "'disabled_passes': 'reinplace_inplaceable_ops'" in found.fixes[0].what
    assert "tried on 3 inputs of the part alone: right" in str(found.fixes[0].why)
    assert (looked / "reused" / "one_kernel.py").is_file()


def test_an_operator_that_is_right_as_soon_as_its_inputs_are_outputs_is_found_apart(looked: Path):
    found, report = wrong_in(looked / "cheapest")
    assert found is not None and found.decided and found.op == "aten.argmin.default"
    assert "# counted" in str(found.source[0].text)
    assert len(report["compiles"]) == 1 and report["first"]["explains"]


def test_a_product_that_eager_wraps_and_the_package_does_not_is_named(looked: Path):
    found, report = wrong_in(looked / "spread")
    assert found is not None and found.op == "aten.mul.Tensor"
    assert "overflows int32" in str(found.headline)
    assert "# overflows" in str(found.source[0].text)
    assert len(report["compiles"]) == 1


def test_a_small_element_is_held_against_its_own_size(looked: Path):
    assert json.loads((looked / "small.json").read_text())["scaled"] == [True, False]


@pytest.mark.parametrize(
    ("package", "expected", "wraps"),
    [(-1294967296, 3000000000, True), (7, 8, False), (0.5, 4294967296.5, False)],
)
def test_a_whole_number_without_its_upper_bits_was_computed_in_32(
    package: float, expected: float, wraps: bool
):
    first = {"node": "mul", "op": "aten.mul.Tensor", "wrong": 9, "elements": 12, "exact": True}
    first["first_wrong"] = {"at": [3], "package": package, "expected": expected}
    found = read_bisection({"state": "done", "first": first})
    assert found is not None
    assert ("computed in 32 bits" in found.summary) == wraps
    assert ("buffer" in found.fixes[0].what) == wraps


def test_convolutions_in_tf32_are_granted_and_a_wrong_element_is_not(looked: Path):
    told = json.loads((looked / "tf32.json").read_text())
    assert told["dtype"] == "torch.float64" and told["on the cpu"] is None
    assert told["plain"] == ["agrees", "differs", "differs"]
    assert told["granted"] == ["agrees", "agrees", "differs"]


def test_what_has_no_float64_is_computed_in_float32(looked: Path):
    told = json.loads((looked / "grouped.json").read_text())
    assert told["dtype"] == "torch.float64"
    assert told["wide"] < 1e-4 < told["narrow"]


def test_small_results_are_held_against_their_size_and_what_rounding_makes_of_them(looked: Path):
    told = json.loads((looked / "small.json").read_text())
    assert told["right"] == ["agrees"] * 8
    assert told["wrong"] == ["differs"] * 6
