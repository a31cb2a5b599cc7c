"""Asserts, input checks, envelopes, CUDA errors and last words, text by text; places in torch's
code."""

from __future__ import annotations

import pytest
from aoti_debug.diagnose import Observations, diagnose
from aoti_debug.read.record import (
    CodePlace,
    CppThrow,
    DeviceAssert,
    InputCheck,
    NativeBacktrace,
    Record,
    RuntimeMessage,
    ShimException,
    Terminated,
)
from aoti_debug.read.scan import scan_text


def read(text: str, kind: type[Record]) -> list[Record]:
    return [r for r in scan_text(text, "stderr.log").records if isinstance(r, kind)]


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
    assert not read(prefix + line, DeviceAssert)
    assert not read(prefix + line, InputCheck)


def test_words_in_quotes_below_a_frame_are_source() -> None:
    frame = '  File "/home/user/m.py", line 3, in f'
    echo = '    raise RuntimeError("Error: input_handles[0]: unmatched dim value at 1, x")'
    assert not read(f"{frame}\n{echo}\n", InputCheck)


@pytest.mark.parametrize(
    ("text", "expected", "got", "rest"),
    [
        (
            "unmatched dtype, expected: 6(at::kFloat), but got: 7",
            "float32",
            "float64",
            ("dtype", None, "equal"),
        ),
        (
            "unmatched dtype, expected: 15(at::kBFloat16), but got: 5",
            "bfloat16",
            "float16",
            ("dtype", None, "equal"),
        ),
        ("unmatched dim value at 1, expected: 10, but got: 11", "10", "11", ("size", 1, "equal")),
        (
            "dim value is too small at 0, expected it to be >= 2, but got: 1",
            "2",
            "1",
            ("size", 0, "min"),
        ),
        (
            "dim value is too large at 0, expected to be <= 64, but got: 128",
            "64",
            "128",
            ("size", 0, "max"),
        ),
        (
            "unmatched stride value at 0, expected: 10, but got: 1",
            "10",
            "1",
            ("stride", 0, "equal"),
        ),
        (
            "unmatched device type, expected: 11(cuda), but got: 0",
            "cuda",
            "cpu",
            ("device", None, "equal"),
        ),
        (
            "unmatched device type, expected: 00(cpu), but got: 12",
            "cpu",
            "xpu",
            ("device", None, "equal"),
        ),
        ("something new", "", "something new", ("other", None, "equal")),
    ],
)
def test_the_input_check_is_put_into_words(
    text: str, expected: str, got: str, rest: tuple[object, ...]
) -> None:
    for head in ("Error: ", "RuntimeError: ", "user output Error: "):
        (found,) = read(f"{head}input_handles[3]: {text}\n\n", InputCheck)
        assert isinstance(found, InputCheck)
        assert (found.input, found.expected, found.got) == (3, expected, got)
        assert (found.property, found.dim, found.relation) == rest


def test_the_same_check_on_two_streams_is_one_record() -> None:
    text = "input_handles[0]: unmatched dim value at 1, expected: 10, but got: 11"
    assert len(read(f"Error: {text}\n\nRuntimeError: {text}\n", InputCheck)) == 1


@pytest.mark.parametrize(
    ("text", "file", "function", "condition", "bounds"),
    [
        (
            "/ic/ck.py:34: unknown: block: [1,3,0], thread: [101,0,0] Assertion "
            "`index out of bounds: 0 <= tmp4 < ks0` failed.",
            "/ic/ck.py",
            None,
            "index out of bounds: 0 <= tmp4 < ks0",
            ("0", "tmp4", "ks0"),
        ),
        (
            "loss 0.5 /ic/ck.py:34: unknown: block: [0,0,0], thread: [0,0,0] Assertion "
            "`NaN or Inf found` failed.",
            "/ic/ck.py",
            None,
            "NaN or Inf found",
            (None, None, None),
        ),
        (
            "/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:93: operator(): block: [0,0,0], "
            'thread: [5,0,0] Assertion `-sizes[i] <= index && index < sizes[i] && "index out of '
            'bounds"` failed.',
            "/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu",
            "operator()",
            '-sizes[i] <= index && index < sizes[i] && "index out of bounds"',
            (None, None, None),
        ),
        (
            "k.cu:10: void ass<float, 3>(int): block: [0,0,0], thread: [2,0,0] Assertion "
            "`(threadIdx.x < n) && `x`` failed.",
            "k.cu",
            "void ass<float, 3>(int)",
            "(threadIdx.x < n) && `x`",
            (None, None, None),
        ),
    ],
)
def test_asserts_of_gpu_kernels_are_taken_apart(
    text: str, file: str, function: str | None, condition: str, bounds: tuple[str | None, ...]
) -> None:
    (found,) = read(text + "\n" + text + "\n", DeviceAssert)
    assert isinstance(found, DeviceAssert)
    assert (found.file, found.function, found.condition) == (file, function, condition)
    assert (found.lower, found.index, found.upper) == bounds
    assert found.count == 2


def test_text_that_mentions_an_assertion_is_none() -> None:
    text = "Assertion `x` failed.\nblock: [a] Assertion `\nx:y: f: block: [0,0,0] Assertion `c`\n"
    assert read(text, DeviceAssert) == []


def test_a_cpu_assert_without_its_place_is_kept() -> None:
    (found,) = read("Error: index out of bounds: 0 <= tmp2 < 10L\nbye\n", DeviceAssert)
    assert isinstance(found, DeviceAssert)
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
    found = read(text + "\n", RuntimeMessage)
    got = [r.message for r in found if isinstance(r, RuntimeMessage)]
    assert got == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("text", "type_", "message"),
    [
        (
            "terminate called after throwing an instance of 'c10::Error'\n"
            "  what():  bad\nthing\n\nx",
            "c10::Error",
            "bad\nthing",
        ),
        ("terminate called after throwing an instance of 'int'\nAborted (core dumped)", "int", ""),
        (
            "terminate called without an active exception",
            None,
            "terminate called without an active exception",
        ),
        ("free(): invalid pointer", None, "free(): invalid pointer"),
        ("double free or corruption (!prev)", None, "double free or corruption (!prev)"),
        ("python3: malloc(): corrupted top size", None, "malloc(): corrupted top size"),
        (
            "*** stack smashing detected ***: terminated",
            None,
            "*** stack smashing detected ***: terminated",
        ),
        (
            "run.sh: line 3: 22573 Segmentation fault      (core dumped) python3 x.py",
            None,
            "Segmentation fault (core dumped)",
        ),
        ("Bus error (core dumped)", None, "Bus error (core dumped)"),
        ("Killed", None, "Killed"),
    ],
)
def test_last_words_are_read(text: str, type_: str | None, message: str) -> None:
    found = read(text + "\n", Terminated)
    assert isinstance(found[0], Terminated)
    assert (found[0].type, found[0].message) == (type_, message)


def test_ordinary_prose_is_no_death() -> None:
    assert (
        read(
            "Killed 3 stale workers\nthe Aborted request\nSegmentation fault handler\n", Terminated
        )
        == []
    )


def test_two_shim_exceptions_in_a_row_are_two() -> None:
    head = "[E1121 05:45:26.114178297 c_shim_cpu.cpp:593] Exception in aoti_torch: "
    raised = "Exception raised from meta at /pytorch/x.cpp:9 (most recent call first):\n"
    frame = "frame #0: f(int) + 0x9d (0x7f0 in /opt/libc10.so)\n"
    text = f"{head}one\n{raised}{frame}\n{head}two\nlines\n{raised}{frame}{frame}"
    found = read(text, ShimException)
    shims = [(s.message, len(s.frames)) for s in found if isinstance(s, ShimException)]
    assert shims == [("one", 1), ("two\nlines", 2)]
    throws = read(text, CppThrow)
    assert [t.function for t in throws if isinstance(t, CppThrow)] == ["meta", "meta"]


def test_frames_without_symbols_keep_their_library() -> None:
    text = (
        "Exception raised from f at /p/x.cpp:9 (most recent call first):\n"
        "frame #0: <unknown function> + 0xc114 (0x7f in /opt/a b/libc10.so)\n"
        "frame #1: /opt/bin/python3() [0x58216f]\n<omitting python frames>\n"
    )
    (found,) = read(text, CppThrow)
    assert isinstance(found, CppThrow)
    assert [(f.function, f.library) for f in found.frames] == [
        ("<unknown function>", "/opt/a b/libc10.so"),
        ("", "/opt/bin/python3"),
    ]


def test_gdbs_stack_of_a_model_with_line_tables_names_the_wrappers_line() -> None:
    text = (
        "Program terminated with signal SIGSEGV, Segmentation fault.\n"
        "#0  0x00007f in lab::crash(at::Tensor const&) (x=...) at /home/user/op.cpp:12\n"
        "#1  0x00007f in torch::aot_inductor::AOTInductorModel::run_impl () at "
        "/ic/c5/cabc.wrapper.cpp:955\n"
        "#2  0x00007f in AOTInductorModelContainerRun () from /tmp/x/cabc.wrapper.so\n"
        "(gdb) quit\n"
    )
    (found,) = read(text, NativeBacktrace)
    assert isinstance(found, NativeBacktrace)
    assert found.signal == "SIGSEGV"
    assert [f.line for f in found.frames] == [12, 955, None]
    assert found.frames[0].function == "lab::crash(at::Tensor const&)"
    assert found.in_model is not None
    assert (found.in_model.file, found.in_model.line) == ("/ic/c5/cabc.wrapper.cpp", 955)
    assert found.frames[2].library == "/tmp/x/cabc.wrapper.so"


TOLD = [
    ('  File "/x/site-packages/torch/_inductor/scheduler.py", line 7, in _init', "_init", "lower"),
    (
        'E0101 00:00:00.000000 1 torch/_inductor/aoti_eager.py:9]   File "/x/torch/_inductor/ir.py"'
        ", line 3, in f",
        "f",
        "lower",
    ),
    (r'(pid=7)   File "C:\x\torch\_dynamo\frame.py", line 5, in _compile', "_compile", "export"),
    ("File ~/env/lib/torch/export/_trace.py:1798, in _export(mod)", "_export", "export"),
    (r"  File C:\conda\Lib\torch\_inductor\graph.py:1773 in codegen", "codegen", "lower"),
    ("~/env/torch/_inductor/graph.py in run_node(self, n)", "run_node", "lower"),
    ("/x/site-packages/triton/compiler/compiler.py:393: in compile", "compile", "triton_compile"),
    ("E0101 00:00:00.000000 1 torch/_subclasses/fake_tensor.py:2721] [7/0] no", "", "export"),
    ("[2023-02-22 23:05:28,592] torch._inductor.graph: [ERROR] Error from lowering", "", "lower"),
    ("torch.onnx._internal.exporter.TorchExportError: no", "", "export"),
]


@pytest.mark.parametrize(("line", "function", "phase"), TOLD, ids=range(len(TOLD)))
def test_a_line_tells_its_place_and_a_log_of_such_lines_its_phase(
    line: str, function: str, phase: str
) -> None:
    records = scan_text(line + "\n", "log").records
    (place,) = [r for r in records if isinstance(r, CodePlace)]
    assert place.function == function
    best = diagnose(Observations(records))[0]
    assert (best.phase, best.confidence) == (phase, "possible")


def test_a_warning_of_torch_is_no_place() -> None:
    line = "/x/torch/_inductor/compile_fx.py:322: UserWarning: TensorFloat32 tensor cores"
    assert not [r for r in scan_text(line, "log").records if isinstance(r, CodePlace)]
    line = (
        'V0101 00:00:00.000000 1 torch/_dynamo/x.py:9] [0/0]   File "/x/torch/_dynamo/y.py", line 1'
    )
    assert not [r for r in scan_text(line, "log").records if isinstance(r, CodePlace)]
    line = "W0101 00:00:00.000000 1 torch/_inductor/utils.py:1250] skipping"
    assert not [r for r in scan_text(line, "log").records if isinstance(r, CodePlace)]


def test_the_deepest_frames_decide_and_a_compiled_graph_that_runs_is_no_compile() -> None:
    text = (
        '  File "/x/torch/_inductor/compile_fx.py", line 257, in cudagraphify_impl\n'
        '  File "/tmp/torchinductor_me/7q/c7q.py", line 691, in call\n'
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )
    from aoti_debug.read.scan import log_readers
    from aoti_debug.signatures import matcher

    records = scan_text(text, "log", [*log_readers("log"), matcher("log")]).records
    best = diagnose(Observations(records))[0]
    assert (best.category, best.phase) == ("illegal_memory_access", "run")
