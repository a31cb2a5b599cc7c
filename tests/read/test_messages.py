"""Asserts, input checks, envelopes, CUDA errors and last words, text by text; places in torch's
code; the intermediate value printer in the formats of all versions, and what gets between its
lines."""

from __future__ import annotations

import math

import pytest
from aoti_debug.diagnose import Observations, diagnose
from aoti_debug.read.printer import PrinterReader
from aoti_debug.read.record import (
    CodePlace,
    CppThrow,
    DeviceAssert,
    InputCheck,
    Launches,
    NativeBacktrace,
    PrintedDifference,
    PrintedNaN,
    PrintedVerdict,
    Record,
    RuntimeMessage,
    SavedTensor,
    ShimException,
    TensorStatistics,
    Terminated,
)
from aoti_debug.read.scan import scan_text
from read.records import R, of, one

OUTPUT_CODE = (
    "V1121 10:41:49.116000 20879 torch/_inductor/compile_fx.py:1568] [__output_code]         "
)
SOURCE = [
    'ss << "input_handles[0]: unmatched dtype, "',
    'AOTI_TORCH_CHECK((0 <= tmp2) & (tmp2 < 10L), "index out of bounds: 0 <= tmp2 < 10L");',
    '    raise IndexError(f"index out of bounds: 0 <= {i} < 50")',
    "IndexError: index out of bounds: 0 <= 50 < 50",
]


@pytest.mark.parametrize("prefix", ["", OUTPUT_CODE])
@pytest.mark.parametrize("line", SOURCE)
def test_source_text_that_holds_a_message_is_none(line: str, prefix: str) -> None:
    assert not of(DeviceAssert, prefix + line)
    assert not of(InputCheck, prefix + line)


PLACE = "0101 00:00:00.000000 1 torch/"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            InputCheck,  # words in quotes below a frame are source
            '  File "/home/user/m.py", line 3, in f\n    raise RuntimeError("Error: '
            'input_handles[0]: unmatched dim value at 1, x")\n',
        ),
        (
            DeviceAssert,
            "Assertion `x` failed.\nblock: [a] Assertion `\nx:y: f: block: [0,0,0] Assertion `c`\n",
        ),
        (Terminated, "Killed 3 stale workers\nthe Aborted request\nSegmentation fault handler\n"),
        (CodePlace, "/x/torch/_inductor/compile_fx.py:322: UserWarning: TensorFloat32 cores"),
        (CodePlace, f'V{PLACE}_dynamo/x.py:9] [0/0]   File "/x/torch/_dynamo/y.py", line 1'),
        (CodePlace, f"W{PLACE}_inductor/utils.py:1250] skipping"),
    ],
)
def test_a_text_that_only_looks_like_a_record_is_none(kind: type[Record], text: str) -> None:
    assert of(kind, text) == []


HALVES = ("dtype", None, "equal", "bfloat16", "float16")


@pytest.mark.parametrize(
    ("what", "wanted", "given", "put"),
    [
        ("unmatched dtype", ": 15(at::kBFloat16)", "5", HALVES),
        ("dim value is too small at 0", " it to be >= 2", "1", ("size", 0, "min", "2", "1")),
        ("dim value is too large at 0", " to be <= 64", "128", ("size", 0, "max", "64", "128")),
        ("unmatched device type", ": 00(cpu)", "12", ("device", None, "equal", "cpu", "xpu")),
        ("unmatched dim value at 0", ": 3", "5", ("size", 0, "equal", "3", "5")),
        ("unmatched stride value at 1", ": 4", "1", ("stride", 1, "equal", "4", "1")),
    ],
)
def test_the_input_check_is_put_into_words(
    what: str, wanted: str, given: str, put: tuple[object, ...]
) -> None:
    for head in ("Error: ", "RuntimeError: ", "user output Error: "):
        text = f"{head}input_handles[3]: {what}, expected{wanted}, but got: {given}\n\n"
        found = one(InputCheck, text)
        assert found.input == 3
        assert (found.property, found.dim, found.relation, found.expected, found.got) == put


def test_an_input_check_of_another_form_keeps_its_words() -> None:
    found = one(InputCheck, "Error: input_handles[3]: something new\n\n")
    assert (found.input, found.property, found.expected) == (3, "other", "")
    assert (found.dim, found.relation, found.got) == (None, "equal", "something new")


def test_the_same_check_on_two_streams_is_one_record() -> None:
    text = "input_handles[0]: unmatched dim value at 1, expected: 10, but got: 11"
    assert one(InputCheck, f"Error: {text}\n\nRuntimeError: {text}\n").input == 0


NO_BOUNDS = (None, None, None)
SIZES = '-sizes[i] <= index && index < sizes[i] && "index out of bounds"'
OF_TMP4 = "index out of bounds: 0 <= tmp4 < ks0"


@pytest.mark.parametrize(
    ("before", "file", "function", "condition", "bounds"),
    [
        ("", "/ic/ck.py", None, OF_TMP4, ("0", "tmp4", "ks0")),
        ("loss 0.5 ", "/ic/ck.py", None, "NaN or Inf found", NO_BOUNDS),
        ("", "/ATen/cuda/Index.cu", "operator()", SIZES, NO_BOUNDS),
        ("", "k.cu", "void ass<float, 3>(int)", "(threadIdx.x < n) && `x`", NO_BOUNDS),
    ],
)
def test_asserts_of_gpu_kernels_are_taken_apart(
    before: str, file: str, function: str | None, condition: str, bounds: tuple[str | None, ...]
) -> None:
    place = f"{before}{file}:34: {function or 'unknown'}: block: [1,3,0], thread: [101,0,0]"
    found = one(DeviceAssert, f"{place} Assertion `{condition}` failed.\n" * 2)
    assert (found.file, found.line, found.function) == (file, 34, function)
    assert found.condition == condition
    assert (found.lower, found.index, found.upper) == bounds
    assert (found.block, found.thread, found.count) == ((1, 3, 0), (101, 0, 0), 2)


def test_a_cpu_assert_without_its_place_is_kept() -> None:
    found = one(DeviceAssert, "Error: index out of bounds: 0 <= tmp2 < 10L\nbye\n")
    assert (found.file, found.line, found.upper) == ("", 0, "10")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Error: CUDA driver error: invalid argument", "CUDA driver error: invalid argument"),
        ("LAB 1 Error: CUDA driver error: 3", "CUDA driver error: 3"),
        ("ValueError: x", None),
        ("========= Error: process didn't terminate successfully", None),
        ("my Error: 5", None),
    ],
)
def test_the_runtimes_message_is_told_from_others(text: str, message: str | None) -> None:
    got = [found.message for found in of(RuntimeMessage, text + "\n")]
    assert got == ([] if message is None else [message])


THREW = "terminate called after throwing an instance of"
DUMPED = "Segmentation fault (core dumped)"
WORDS = (
    "terminate called without an active exception",
    "free(): invalid pointer",
    "double free or corruption (!prev)",
    "*** stack smashing detected ***: terminated",
    "Bus error (core dumped)",
    "Killed",
)


@pytest.mark.parametrize(
    ("text", "type_", "message"),
    [
        (f"{THREW} 'c10::Error'\n  what():  bad\nthing\n\nx", "c10::Error", "bad\nthing"),
        (f"{THREW} 'int'\nAborted (core dumped)", "int", ""),
        ("python3: malloc(): corrupted top size", None, "malloc(): corrupted top size"),
        ("x.sh: line 3: 22 Segmentation fault    (core dumped) python3 x.py", None, DUMPED),
        *((words, None, words) for words in WORDS),
    ],
)
def test_last_words_are_read(text: str, type_: str | None, message: str) -> None:
    found = of(Terminated, text + "\n")[0]
    assert (found.type, found.message) == (type_, message)


def test_two_shim_exceptions_in_a_row_are_two() -> None:
    head = "[E1121 05:45:26.114178297 c_shim_cpu.cpp:593] Exception in aoti_torch: "
    frame = "frame #0: f(int) + 0x9d (0x7f0 in /opt/libc10.so)\n"
    raised = f"Exception raised from meta at /x.cpp:9 (most recent call first):\n{frame}"
    text = f"{head}one\n{raised}\n{head}two\nlines\n{raised}{frame}"
    assert [shim.message for shim in of(ShimException, text)] == ["one", "two\nlines"]
    throws = [throw.functions for throw in of(CppThrow, text)]
    assert throws == [("f(int)",), ("f(int)", "f(int)")]


def test_a_frame_without_symbols_keeps_its_place() -> None:
    text = (
        "Exception raised from f at /p/x.cpp:9 (most recent call first):\n"
        "frame #0: <unknown function> + 0xc114 (0x7f in /opt/a b/libc10.so)\n"
        "frame #1: /opt/bin/python3() [0x58216f]\n<omitting python frames>\n"
    )
    assert one(CppThrow, text).functions == ("<unknown function>", "")


def test_gdbs_stack_of_a_model_with_line_tables_names_the_wrappers_line() -> None:
    text = (
        "Program terminated with signal SIGSEGV, Segmentation fault.\n"
        "#0  0x00007f in lab::crash(at::Tensor const&) (x=...) at /home/user/op.cpp:12\n"
        "#1  0x00007f in AOTInductorModel::run_impl () at /ic/c5/cabc.wrapper.cpp:955\n"
        "#2  0x00007f in AOTInductorModelContainerRun () from /tmp/x/cabc.wrapper.so\n"
        "(gdb) quit\n"
    )
    found = one(NativeBacktrace, text)
    crash, model, run = found.frames
    assert (found.signal, found.in_model) == ("SIGSEGV", model)
    assert (crash.function, crash.line) == ("lab::crash(at::Tensor const&)", 12)
    assert (model.file, model.line) == ("/ic/c5/cabc.wrapper.cpp", 955)
    assert (run.library, run.line) == ("/tmp/x/cabc.wrapper.so", None)


TOLD = [
    ('  File "/x/site-packages/torch/_inductor/scheduler.py", line 7, in _init', "_init", "lower"),
    (
        f'E{PLACE}_inductor/aoti_eager.py:9]   File "/x/torch/_inductor/ir.py", line 3, in f',
        "f",
        "lower",
    ),
    (r'(pid=7)   File "C:\x\torch\_dynamo\frame.py", line 5, in _compile', "_compile", "export"),
    ("File ~/env/lib/torch/export/_trace.py:1798, in _export(mod)", "_export", "export"),
    (r"  File C:\conda\Lib\torch\_inductor\graph.py:1773 in codegen", "codegen", "lower"),
    ("~/env/torch/_inductor/graph.py in run_node(self, n)", "run_node", "lower"),
    ("/x/site-packages/triton/compiler/compiler.py:393: in compile", "compile", "triton_compile"),
    (f"E{PLACE}_subclasses/fake_tensor.py:2721] [7/0] no", "", "export"),
    ("[2023-02-22 23:05:28,592] torch._inductor.graph: [ERROR] Error from lowering", "", "lower"),
    ("torch.onnx._internal.exporter.TorchExportError: no", "", "export"),
]


@pytest.mark.parametrize(("line", "function", "phase"), TOLD, ids=range(len(TOLD)))
def test_a_line_tells_its_place_and_a_log_of_such_lines_its_phase(
    line: str, function: str, phase: str
) -> None:
    records = scan_text(line + "\n", "log").records
    assert [r.function for r in records if isinstance(r, CodePlace)] == [function]
    best = diagnose(Observations(records))[0]
    assert (best.phase, best.confidence) == (phase, "possible")


CUMSUM = "at::_ops::cumsum::call"
AFTER = "[  after_launch - k - buf0  ]:\n"
BEFORE = "[  before_launch - k - buf0  ]:\n"
BLOCK = """\
Number of elements: 128
Dtype: float32
Mean value: -0.0178562
Min value: -1.37077
Max value: 1.47361
Device: cpu
Size: [8, 16]
Stride: [16, 1]
Layout: Strided
Is contiguous: 1
Requires grad: 0

"""


def printed(kind: type[R], text: str) -> list[R]:
    records = scan_text(text, "stdout.log", [PrinterReader("stdout.log")]).records
    return [found for found in records if isinstance(found, kind)]


def launches(text: str) -> Launches:
    (found,) = printed(Launches, text)
    return found


def block(text: str) -> TensorStatistics:
    (found,) = printed(TensorStatistics, text)
    return found


def order(*steps: str) -> str:
    names = {"+": "before", "-": "after"}
    return "".join(f"[ {names[s[0]]}_launch: {s[1:]} ]\n" for s in steps)


@pytest.mark.parametrize(
    ("text", "total", "unfinished", "launch", "last"),
    [
        (order("+a", "-a", "+b"), 2, "b", 2, "a"),
        (order("+a", "-a", "+a", "-a"), 2, None, None, "a"),
        (order("+a", "+b", "-b", "-a"), 2, None, None, "a"),
        (order("+a", "+b", "-a"), 2, "b", 2, "a"),
        (order("+a", "-a", "+b", "-b", "+a"), 3, "a", 3, "b"),
        (order(f"+{CUMSUM}"), 1, CUMSUM, 1, None),
        ("step 3 [ before_launch: k ] [ after_launch: k ]\n", 1, None, None, "k"),
        (order("+a", "-a")[:-1], 1, None, None, "a"),
    ],
)
def test_launches_are_numbered_and_the_unfinished_one_named(
    text: str, total: int, unfinished: str | None, launch: int | None, last: str | None
) -> None:
    found = launches(text)
    assert (found.mode, found.total) == (3, total)
    assert (found.unfinished, found.unfinished_launch) == (unfinished, launch)
    assert found.last_finished == last


def test_a_block_is_read_field_by_field() -> None:
    found = block(BEFORE + BLOCK)
    assert (found.when, found.kernel, found.argument) == ("before", "k", "buf0")
    assert (found.launch, found.numel, found.dtype, found.device) == (1, 128, "float32", "cpu")
    assert (found.mean, found.min, found.max) == (-0.0178562, -1.37077, 1.47361)
    assert (found.size, found.stride, found.values) == ((8, 16), (16, 1), None)
    assert (found.span.first, found.span.last) == (1, 12)


def test_the_next_block_may_start_on_a_scalars_line() -> None:
    text = (
        BEFORE + BLOCK + "[  before_launch - k - 65536L: 65536  ]\\n"
        "[  before_launch - k - 128L: 128  ]\\n" + AFTER + BLOCK
    )
    before, after = printed(TensorStatistics, text)
    assert (before.when, after.when, after.launch) == ("before", "after", 1)
    found = launches(text)
    assert (found.mode, found.total, found.unfinished) == (2, 1, None)


def test_a_scalars_line_of_torch_2_6_ends_in_a_newline_and_its_labels_are_kept() -> None:
    text = "[  before_launch - k - s0: 8  ]\n" + BEFORE + BLOCK
    assert (launches(text).total, block(text).argument) == (1, "buf0")
    label = "copy_arrayref_tensor_to_tensor(buf2)"
    assert block(f"[  before_launch - cpp_fused_0 - {label}  ]:\n{BLOCK}").argument == label


def test_inputs_belong_to_no_launch() -> None:
    text = "[  aoti_model_inputs - arg0_1  ]:\n" + BLOCK
    found = block(text)
    assert (found.when, found.kernel, found.argument, found.launch) == ("input", "", "arg0_1", 0)
    assert not printed(Launches, text)


def test_small_tensors_are_printed_whole() -> None:
    values = "1  nan\n 3   4\n[ CPUFloatType{2,2} ]"
    assert block(f"{AFTER} {values}\n{BLOCK}").values == values


EMPTY = "0\nDtype: float\nDevice: cuda:0\nSize: [0, 4]"


@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        (EMPTY, "size", (0, 4)),
        (EMPTY, "mean", None),
        ("1\nSize: []\nStride: []", "size", ()),
        ("9\nDtype: c10::Float8_e4m3fn", "dtype", "c10::Float8_e4m3fn"),
        ("9\nDtype: long int\nMax value: 1.15292e+18", "max", 1.15292e18),
        ("9\nMin value: -inf", "min", -math.inf),
        ("4\nMean value: nan", "mean", math.nan),
        ("4\nMean value: -nan", "mean", math.nan),
        ("9\nSize: [8, s0]", "size", None),
        ("99999999999999999999999", "numel", None),
    ],
)
def test_odd_tensors_are_read_as_far_as_they_go(lines: str, field: str, value: object) -> None:
    found = getattr(block(f"{AFTER}Number of elements: {lines}\n"), field)
    assert repr(found) == repr(value)  # NaN differs from itself


def test_a_note_of_the_printer_before_the_numbers_does_no_harm() -> None:
    note = "[INFO] Aten built-in function `min_all_cuda` not implemented for complex\n"
    found = block(f"{AFTER}{note}Number of elements: 4\nDtype: c10::complex<float>\n")
    assert found.dtype == "c10::complex<float>"


def test_the_programs_own_output_may_stand_anywhere_in_a_block() -> None:
    lines = (AFTER + BLOCK).splitlines()
    noisy = [line for pair in zip(lines, ["step 3", "", "loss: 0.5"] * 9) for line in pair]  # noqa: B905
    noisy[6] = "epoch 2 " + noisy[6]
    found = block("user says " + "\n".join(noisy))
    assert (found.kernel, found.values) == ("k", None)
    assert (found.numel, found.mean, found.stride) == (128, -0.0178562, (16, 1))


def test_of_what_repeats_the_first_the_last_and_the_first_nan_are_kept() -> None:
    means = [0.0, 1.0, math.nan, math.nan, 4.0]
    text = "".join(
        f"{head}{BLOCK.replace('-0.0178562', str(mean))}"
        for m in means
        for head, mean in ((BEFORE, -m), (AFTER, m))
    )
    after = [b for b in printed(TensorStatistics, text) if b.when == "after"]
    assert [b.launch for b in after] == [1, 3, 5]
    assert launches(text).kernels == (("k", 5),)


SAVED = "aoti_torch_save_tensor_handle: Saved tensor to "
FUSED = "triton_poi_fused_add_0"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (f"aoti_torchbefore_launch_{FUSED}_arg0_1_cuda:0.pt", ("before", FUSED, "arg0_1")),
        (f"aoti_torch/after_launch_{FUSED}_e_weight_cuda:0.pt", ("after", FUSED, "e_weight")),
        (f"aoti_torch/after_launch_{CUMSUM}_buf3_cpu.pt", ("after", CUMSUM, "buf3")),
        (
            "my before_launch_dir/aoti_torch/before_launch_cpp_fused_mul_2_buf1_cpu.pt",
            ("before", "cpp_fused_mul_2", "buf1"),
        ),
        ("x/aoti_model_inputs_arg0_1_cpu.pt", ("input", None, "arg0_1")),
        ("something.pt", (None, None)),
    ],
)
@pytest.mark.parametrize("quote", ["", '"'])
def test_the_name_of_a_saved_tensor_is_taken_apart(
    path: str, quote: str, told: tuple[str | None, ...]
) -> None:
    (found,) = printed(SavedTensor, f"{SAVED}{quote}/w/{path}{quote}\n")
    assert found.path == f"/w/{path}"
    assert (found.when, found.kernel, found.argument)[: len(told)] == told


def test_a_weight_of_an_extern_kernel_is_told_by_its_neighbours() -> None:
    kernel = "aoti_torch_cuda_mm_out"
    names = ["buf0", "fc_weight"]
    place = f"{SAVED}/w/aoti_torchbefore_launch_{kernel}"
    text = "".join(f"{place}_{name}_cuda:0.pt\n" for name in names)
    told = [(saved.kernel, saved.argument) for saved in printed(SavedTensor, text)]
    assert told == [(kernel, name) for name in names]
    found = launches(text)
    assert (found.mode, found.total, found.unfinished) == (1, 1, kernel)


@pytest.mark.parametrize(
    ("text", "numbers", "verdicts", "nans"),
    [
        ("largest difference 0.530000", [0.53], 0, 0),
        ("max abs diff: 1.2e-07", [1.2e-07], 0, 0),
        ("outputs are 3.5 apart", [], 0, 0),
        ("standard deviation 0.53", [], 0, 0),
        ("max_diff=0.25 in row 3", [0.25], 0, 0),
        ("0 of 12 differ", [], 0, 0),
        ("58 of 400 answers differ", [], 1, 0),
        ("agreeing=10/360", [], 1, 0),
        ("agreeing: 360/360", [], 0, 0),
        ("largest gap 0.231", [0.231], 0, 0),
        ("quality gate: FAIL", [], 1, 0),
        ("call 3: MISMATCH", [], 1, 0),
        ("12 passed, 0 FAILED", [], 0, 0),
        ("FAILED: 0", [], 0, 0),
        ("an upload failed and is made again", [], 0, 0),
        ("scores 0.5 nan 0.25", [], 0, 1),
        ("tensor([0.5, nan])", [], 0, 1),
        ("torch.nan is left out, nanmean too", [], 0, 0),
    ],
)
def test_differences_verdicts_and_nan_that_a_program_prints_are_read(
    text: str, numbers: list[float], verdicts: int, nans: int
) -> None:
    assert [found.number for found in of(PrintedDifference, text)] == numbers
    assert (len(of(PrintedVerdict, text)), len(of(PrintedNaN, text))) == (verdicts, nans)
