"""Every recorded log gives the records that the fault in it calls for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from aoti_debug.diagnose.from_gpu import access_of
from aoti_debug.read.record import (
    CppThrow,
    DeviceAssert,
    GpuException,
    InputCheck,
    Launches,
    NativeBacktrace,
    PythonException,
    RuntimeMessage,
    SanitizerError,
    SanitizerSummary,
    SavedTensor,
    ShimException,
    TensorStatistics,
    Terminated,
)
from aoti_debug.read.scan import Scan, scan_text
from read.records import logged, of, one
from recordings import recorded, recordings

EMBED_OOB = "triton_poi_fused_embedding_mul_unsqueeze_0"
LAYER_NORM = "triton_red_fused_add_mul_native_layer_norm_sin_0"
ADD = "triton_poi_fused_add_0"
CLEAN = {"Launches", "TensorStatistics", "SavedTensor"}
SURFACE = {"PythonException", "RuntimeMessage", "Terminated"}
CHECKED = {"InputCheck", "RuntimeMessage", "PythonException"}
SHIM = {"ShimException", "CppThrow"}
FOUND = {"SanitizerError", "SanitizerSummary", "CppThrow", "Terminated"}

KINDS: dict[tuple[str, str], set[str]] = {
    ("bad_meta", "san"): {"SanitizerSummary"},
    ("cpu_pkg", "chk"): CHECKED,
    ("cpu_pkg", "p3"): {"Launches"},
    ("cpu_pkg", "san"): {"SanitizerSummary"},
    ("dev_mismatch", "base"): SURFACE | SHIM,
    ("dev_mismatch", "chk"): CHECKED,
    ("dev_mismatch", "core"): {"GpuException"},
    ("dev_mismatch", "mini2"): SURFACE,
    ("dev_mismatch", "p3"): {"Launches", "Terminated", "CppThrow"},
    ("embed_oob", "base"): SURFACE | SHIM | {"DeviceAssert"},
    ("embed_oob", "core"): {"DeviceAssert", "GpuException"},
    ("embed_oob", "mini2"): SURFACE | {"DeviceAssert"},
    ("m_assert", "mini3"): SURFACE | SHIM | {"DeviceAssert"},
    ("m_compile", "mini3"): SHIM | {"RuntimeMessage", "PythonException"},
    ("static_libstdcxx", "cuda-gdb-backtrace"): {"NativeBacktrace"},
    ("static_shape", "chk"): CHECKED,
    ("static_shape", "san"): FOUND | {"ShimException"},
    **{("user_triton", stage): {"PythonException"} for stage in ("base", "mini2", "p3")},
    **{("user_triton", stage): {"GpuException"} for stage in ("core", "core-progress")},
    ("user_triton", "san"): FOUND,
}


def read(case: str, stage: str) -> Scan:
    return scan_text(recorded(case, stage), f"{stage}.log")


def kinds(result: Scan) -> set[str]:
    return {type(r).__name__ for r in result.records}


@pytest.mark.parametrize(("case", "stage"), sorted(KINDS))
def test_a_log_gives_these_kinds_and_no_others(case: str, stage: str) -> None:
    # Every traceback through torch gives places in its code too.
    assert kinds(read(case, stage)) - {"CodePlace"} == KINDS[case, stage]


@pytest.mark.parametrize(("case", "stage"), recordings())
def test_every_record_is_proved_by_lines_of_its_log(case: str, stage: str) -> None:
    result = read(case, stage)
    lines = recorded(case, stage).split("\n")
    assert result.lines == len(lines) - (lines[-1] == "")
    firsts = [r.span.first for r in result.records]
    assert firsts == sorted(firsts)
    for record in result.records:
        assert 1 <= record.span.first <= record.span.last <= result.lines
        assert record.span.quote
        assert len(record.span.quote) <= 300
    assert result.notes == ()


HEALTHY = ("bad_meta", "nan", "misaligned", "static_shape")
CLEAN_RUNS = [(case, stage) for case in HEALTHY for stage in ("base", "det", "core", "mini2")]


@pytest.mark.parametrize(("case", "stage"), [*CLEAN_RUNS, ("cpu_pkg", "base"), ("cpu_pkg", "det")])
def test_a_run_without_a_visible_fault_gives_no_record(case: str, stage: str) -> None:
    assert read(case, stage).records == ()


@pytest.mark.parametrize("stage", ["p1", "p2", "p3"])
@pytest.mark.parametrize("case", HEALTHY)
def test_the_printer_alone_shows_nothing_but_order_and_numbers(case: str, stage: str) -> None:
    assert kinds(read(case, stage)) <= CLEAN
    launches = logged(Launches, case, stage)
    assert launches.mode == int(stage[1])
    assert launches.unfinished is None
    assert launches.total == sum(n for _, n in launches.kernels) > 0


@pytest.mark.parametrize("stage", ["base", "chk", "det", "p1", "p2", "p3", "core", "mini2", "san"])
def test_the_assert_of_the_embedding_is_found_in_every_stage(stage: str) -> None:
    found = logged(DeviceAssert, "embed_oob", stage)
    assert found.file.endswith("ckfrkydudem26ptascmpnnrmjbgdltfqds6xqukry7hbdo6mz5y2.py")
    assert (found.line, found.function) == (34, None)
    assert (found.lower, found.index, found.upper) == ("0", "tmp4", "1000")
    assert found.block is not None
    assert found.block[1:] in {(3, 0), (25, 0)}
    assert found.count == recorded("embed_oob", stage).count("Assertion `")


@pytest.mark.parametrize(
    ("case", "stage", "kernel"),
    [
        ("embed_oob", "p2", EMBED_OOB),
        ("embed_oob", "p3", EMBED_OOB),
        ("dev_mismatch", "p3", ADD),
        ("cpu_pkg", "p2", "cpp_fused_add_0"),
        ("cpu_pkg", "p3", "cpp_fused_add_0"),
        ("cpu_pkg", "p1", "cpp_fused_add_0"),
    ],
)
def test_the_kernel_that_did_not_end_is_named(case: str, stage: str, kernel: str) -> None:
    found = logged(Launches, case, stage)
    assert found.mode == int(stage[1])
    assert (found.unfinished, found.unfinished_launch) == (kernel, 1)
    assert found.last_finished is None


@pytest.mark.parametrize(
    ("case", "stage", "put"),
    [
        ("cpu_pkg", "chk", (0, "device", None, "cpu", "cuda")),
        ("dev_mismatch", "chk", (0, "device", None, "cuda", "cpu")),
        ("static_shape", "chk", (0, "size", 0, "4096", "16")),
        # The program left the line open on which these were printed.
        ("cpu", "dtype", (1, "dtype", None, "float32", "float64")),
        ("cpu", "dim", (1, "size", 0, "3", "5")),
        ("cpu", "stride", (1, "stride", 0, "4", "1")),
    ],
)
def test_a_violated_contract_is_read(case: str, stage: str, put: tuple[object, ...]) -> None:
    found = logged(InputCheck, case, stage)
    assert (found.input, found.property, found.dim, found.expected, found.got) == put
    assert found.relation == "equal"
    if case == "cpu":
        assert logged(RuntimeMessage, case, stage).span.first == 1


def test_the_shims_log_line_and_its_stack_are_read() -> None:
    shim = logged(ShimException, "dev_mismatch", "base")
    assert shim.message.startswith("CUDA error: CUBLAS_STATUS_INTERNAL_ERROR")
    throw = logged(CppThrow, "dev_mismatch", "base")
    assert len(throw.functions) == 36
    assert throw.functions[8].startswith("torch::aot_inductor::AOTInductorModel::run_impl(")


def test_a_python_ops_own_stack_stays_in_the_shims_message() -> None:
    first, second = of(ShimException, recorded("m_compile", "mini3"))
    assert first.message.startswith("RuntimeError: kernel oops 42\n\nAt:\n")
    assert "/home/user/lab/cases/m_compile.py(5): oops" in first.message
    assert second.message == "Cannot access data pointer of Tensor that doesn't have storage"


def test_how_the_process_died_is_read() -> None:
    died = logged(Terminated, "embed_oob", "base")
    assert died.type == "std::runtime_error"
    assert died.message == "CUDA error: device-side assert triggered"


def test_the_loaders_bare_exception_names_the_users_line() -> None:
    raised = logged(PythonException, "static_shape", "chk")
    assert raised.type == "RuntimeError"
    assert [f.line for f in raised.frames] == [12, 10, 733]
    assert raised.frames[0].text == 'p=build(ep,"static_shape"); run(p,torch.randn(16,16,device=d))'


def test_a_chain_is_read_in_printed_order() -> None:
    chain = of(PythonException, recorded("user_triton", "mini2"))
    assert [(r.type, r.relation, r.last) for r in chain] == [
        ("torch._inductor.exc.InductorError", "context", False),
        ("torch.AcceleratorError", None, True),
    ]


def test_a_loggers_prefix_is_taken_off_a_traceback() -> None:
    chain = of(PythonException, recorded("m_compile", "mini3"))
    assert [(r.type.rpartition(".")[2], r.relation) for r in chain] == [
        ("RuntimeError", None),
        ("SerializeError", "cause"),
        ("SerializeError", None),
        ("SerializeError", None),
        ("RuntimeError", None),
    ]
    assert chain[1].message.startswith("We failed to resolve torch.ops.lab5.oops.default")


def test_the_driver_names_the_kernel_and_cuda_gdb_the_line() -> None:
    driver, gdb = of(GpuException, recorded("user_triton", "core-progress"))
    assert driver.source == "driver"
    assert driver.exception == "CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE"
    assert (driver.kernel, driver.line) == ("scale_rows", None)
    assert gdb.exception == "Warp Invalid Address Space"
    assert (gdb.kernel, gdb.line, gdb.start_only) == ("scale_rows", 21, False)
    assert str(gdb.file).startswith("/tmp/w/user_triton-core/ic/lp/clpsdpkeb")
    assert str(gdb.text).startswith("tl.store(o_ptr+row*stride*4096+c,v*2.0,mask=c<n)")
    assert (gdb.block, gdb.thread) == ((340, 0, 0), (32, 0, 0))
    assert gdb.instruction == "@!P0 STG.E.128 desc[UR8][R12.64],R4"


def test_a_kernel_whose_name_cuda_gdb_takes_for_adas_keeps_its_own() -> None:
    text = (
        "[Current focus set to CUDA kernel 0, grid 96, block (2,0,0), thread (7,0,0), device 0]\n"
        "\nAssertion failed.\n#0  triton_per_fused.to_copy_add_embedding_0<<<(3,1,1),(64,1,1)>>> ()"
        " at /c/cmc4v.py:34\n"
    )
    assert one(GpuException, text).kernel == "triton_per_fused__to_copy_add_embedding_0"


def test_the_faulting_line_wins_over_the_line_where_the_warp_stands() -> None:
    found = logged(GpuException, "dev_mismatch", "core")
    assert (found.exception, found.kernel) == ("Warp Illegal Address", ADD)
    assert (found.line, found.text) == (24, None)  # the text shown is that of line 27
    assert str(found.file).startswith("/tmp/w/dev_mismatch-base/")
    assert found.instruction == "LDG.E.64 R2,desc[UR4][R2.64]"
    assert access_of(found) == ("read", 8)
    does = {
        "@!P0 STG.E.128 desc[UR10][R2.64],R4": ("write", 16),
        "@!P2 STG.E.U8 desc[UR4][R2.64+0x1],R16": ("write", 1),
        "LDG.E.EL R4,desc[UR4][R24.64]": ("read", 4),
        "ATOMG.E.ADD.64.STRONG.GPU PT,R2,desc[UR4][R2.64],R4": ("atomic", None),
        "@P1 EXIT": None,
    }
    assert {line: access_of(replace(found, instruction=line)) for line in does} == does


def test_an_asserts_core_dump_knows_only_the_kernels_start() -> None:
    found = logged(GpuException, "embed_oob", "core")
    assert (found.exception, found.kernel) == ("Assertion failed", EMBED_OOB)
    assert (found.line, found.start_only, found.text) == (23, True, None)
    assert (found.block, found.thread) == ((0, 3, 0), (101, 0, 0))


@pytest.mark.parametrize(
    ("case", "expected", "errors"),
    [
        ("static_shape", ("read", 16, LAYER_NORM, 38, 131073, "after", 1024), 193473),
        ("dev_mismatch", ("read", 8, ADD, 24, 140328801331968, "before", 16384), 259),
        ("user_triton", ("write", 16, "scale_rows", 21, 1092615681, "after", 512), 59394),
    ],
)
def test_memcheck_tells_access_place_and_distance(
    case: str, expected: tuple[object, ...], errors: int
) -> None:
    found = logged(SanitizerError, case, "san")
    got = (found.access, found.size, found.kernel, found.line, found.distance, found.side)
    assert (*got, found.allocation_size) == expected
    assert found.what.endswith("is out of bounds")
    assert found.count == 3
    assert logged(SanitizerSummary, case, "san").errors == errors


def test_memcheck_of_an_assert_says_only_that_there_was_one() -> None:
    found = logged(SanitizerError, "embed_oob", "san")
    assert (found.what, found.access, found.kernel) == ("Warp assert", "assert", "__assertfail")
    assert found.frames == ("Device Frame: __assertfail+0x1930",)


def test_a_host_fault_is_no_finding_of_memcheck() -> None:
    assert logged(SanitizerSummary, "cpu_pkg", "san").errors == 0


def test_gdbs_stack_leads_into_the_models_library() -> None:
    found = logged(NativeBacktrace, "static_libstdcxx", "cuda-gdb-backtrace")
    assert found.signal == "SIGSEGV"
    assert len(found.frames) == 43
    assert found.frames[0].function.startswith("std::codecvt<char16_t, char, __mbstate_t>::")
    assert found.in_model is not None
    assert found.in_model.index == 18


def test_nan_is_first_seen_after_the_logarithm() -> None:
    blocks = of(TensorStatistics, recorded("nan", "p2"))
    first = next(b for b in blocks if b.mean is not None and b.mean != b.mean)
    assert (first.when, first.kernel) == ("after", "triton_poi_fused_addmm_log_0")
    assert (first.argument, first.launch) == ("buf1", 2)


def test_the_inputs_of_the_model_are_read_with_their_range() -> None:
    ids = of(TensorStatistics, recorded("embed_oob", "p2"))[0]
    assert (ids.when, ids.argument, ids.launch, ids.dtype) == ("input", "arg3_1", 0, "long int")
    assert (ids.min, ids.max, ids.size, ids.stride) == (5, 5000, (8, 32), (32, 1))


def test_saved_tensors_are_told_apart_by_kernel_and_argument() -> None:
    saved = of(SavedTensor, recorded("nan", "p1"))
    assert len(saved) == recorded("nan", "p1").count("Saved tensor to ")
    names = {(s.kernel, s.argument) for s in saved}
    assert ("triton_poi_fused_addmm_log_0", "a_bias") in names
    assert ("aoti_torch_cuda_mm_out", "buf0") in names
    assert all(s.path.startswith("/tmp/w/nan-p1/tmp/aoti_torch") for s in saved)


def test_a_cpu_kernels_assert_names_the_generated_file() -> None:
    found = logged(DeviceAssert, "cpu", "oob")
    assert (found.function, found.line) == ("cpp_fused_embedding_mul_0", 24)
    assert (found.lower, found.index, found.upper) == ("0", "tmp2", "10")
    assert found.block is None
    assert found.file.endswith(".kernel.cpp")
    assert logged(Launches, "cpu", "oob").unfinished == "cpp_fused_embedding_mul_0"
