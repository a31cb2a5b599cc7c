"""Every recorded log gives the records that the fault in it calls for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from aoti_debug.diagnose.from_gpu import access_of
from aoti_debug.read.record import (
    CppThrow,
    GpuException,
    NativeBacktrace,
    SanitizerError,
    ShimException,
)
from aoti_debug.read.scan import Scan, scan_text
from read.records import logged, of, one
from recordings import recorded, recordings

PRINTED = ("p1", "p2", "p3")
CLEAN = {"Launches", "TensorStatistics", "SavedTensor", "PrintedNaN"}
SURFACE = {"PythonException", "RuntimeMessage", "Terminated"}
CHECKED = {"InputCheck", "RuntimeMessage", "PythonException"}
SHIM = {"ShimException", "CppThrow"}
FOUND = {"SanitizerError", "SanitizerSummary", "CppThrow", "Terminated"}

KINDS: dict[tuple[str, str], set[str]] = {
    ("bad_meta", "san"): {"SanitizerSummary"},
    ("cpu_pkg", "base"): set(),
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
        assert 0 < len(record.span.quote) <= 300
    assert result.notes == ()


@pytest.mark.parametrize("stage", ["base", "det", "core", "mini2", "p1", "p2", "p3"])
@pytest.mark.parametrize("case", ["bad_meta", "nan", "misaligned", "static_shape"])
def test_a_run_without_a_visible_fault_gives_nothing_but_what_the_printer_says(
    case: str, stage: str
) -> None:
    found = kinds(read(case, stage))
    assert found <= CLEAN and ("Launches" in found) == (stage in PRINTED)


def test_the_shims_log_line_and_its_stack_are_read() -> None:
    shim = logged(ShimException, "dev_mismatch", "base")
    assert shim.message.startswith("CUDA error: CUBLAS_STATUS_INTERNAL_ERROR")
    functions = logged(CppThrow, "dev_mismatch", "base").functions
    assert len(functions) == 36
    assert functions[8].startswith("torch::aot_inductor::AOTInductorModel::run_impl(")


def test_a_python_ops_own_stack_stays_in_the_shims_message() -> None:
    first, second = of(ShimException, recorded("m_compile", "mini3"))
    assert first.message.startswith("RuntimeError: kernel oops 42\n\nAt:\n")
    assert "/home/user/lab/cases/m_compile.py(5): oops" in first.message
    assert second.message == "Cannot access data pointer of Tensor that doesn't have storage"


def test_the_driver_names_the_kernel_and_cuda_gdb_the_line() -> None:
    driver, gdb = of(GpuException, recorded("user_triton", "core-progress"))
    assert driver.exception == "CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE"
    assert (driver.source, driver.kernel, driver.line) == ("driver", "scale_rows", None)
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
    assert (found.exception, found.kernel) == ("Warp Illegal Address", "triton_poi_fused_add_0")
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
    kernel = "triton_poi_fused_embedding_mul_unsqueeze_0"
    assert (found.exception, found.kernel) == ("Assertion failed", kernel)
    assert (found.line, found.start_only, found.text) == (23, True, None)
    assert (found.block, found.thread) == ((0, 3, 0), (101, 0, 0))


def test_memcheck_of_an_assert_says_only_that_there_was_one() -> None:
    found = logged(SanitizerError, "embed_oob", "san")
    assert (found.what, found.access, found.kernel) == ("Warp assert", "assert", "__assertfail")
    assert found.frames == ("Device Frame: __assertfail+0x1930",)


def test_gdbs_stack_leads_into_the_models_library() -> None:
    found = logged(NativeBacktrace, "static_libstdcxx", "cuda-gdb-backtrace")
    assert (found.signal, len(found.frames)) == ("SIGSEGV", 43)
    assert found.frames[0].function.startswith("std::codecvt<char16_t, char, __mbstate_t>::")
    assert found.in_model is not None and found.in_model.index == 18
