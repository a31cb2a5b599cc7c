"""What is said of texts that no signature, reader or rule knows: by which part of the software they
were printed, whether their numbers differ, whether they show an end."""

from __future__ import annotations

import pytest
from aoti_debug.api import diagnose_log
from aoti_debug.diagnose.speaker import part_of
from aoti_debug.model import Diagnosis

EXECUTORCH = """\
E 00:00:00.001498 executorch:operator_registry.cpp:252] kernel 'x::relu.out' not found.
E 00:00:00.001509 executorch:method.cpp:724] Missing operator: [3] x::relu.out
"""
LAMMPS = """\
pair_style      nequip
ERROR: Unrecognized pair style 'nequip' (src/force.cpp:279)
Last command: pair_style        nequip
"""
JAVA = """\
Exception in thread "main" java.lang.ArrayIndexOutOfBoundsException: Index 5 out of bounds for 5
\tat com.acme.serve.Batcher.next(Batcher.java:88)
"""
RUST = """\
thread 'main' panicked at src/pipeline.rs:44:18:
index out of bounds: the len is 3 but the index is 3
"""
CONDA = """\
Solving environment: failed with initial frozen solve.
PackagesNotFoundError: The following packages are not available from current channels:
"""
NIX = "error: builder for '/nix/store/q2x-python3.12-torch.drv' failed with exit code 1;\n"
DOTNET = """\
Unhandled exception. System.ArgumentOutOfRangeException: Index was out of range. (Parameter 'i')
   at Acme.Scoring.Batcher.Next() in /src/Batcher.cs:line 41
"""
JNI = """\
java.lang.UnsatisfiedLinkError: no djl_torch in java.library.path: /usr/lib64
\tat java.base/java.lang.ClassLoader.loadLibrary(ClassLoader.java:2434)
"""
CARGO = """\
  cargo:warning=libtch/torch_api.cpp:640:104: error: invalid initialization of reference
  error: failed to run custom build command for `torch-sys v0.14.0`
"""
MSBUILD = """\
1>sample.obj : error LNK2001: unresolved external symbol "at::print" (?print@at@@YAAEAV)
1>x64\\Release\\sample.exe : fatal error LNK1120: 1 unresolved externals
"""
DOCKER = """\
#12 41.22 gcc: fatal error: Killed signal terminated program cc1plus
#12 ERROR: process "/bin/sh -c pip install x" did not complete successfully: exit code: 1
"""
GO = "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\n"


def best(text: str) -> Diagnosis:
    return diagnose_log(text=text).diagnoses[0]


@pytest.mark.parametrize(
    ("text", "category", "phase"),
    [
        (EXECUTORCH, "custom_op_missing", "load"),
        (LAMMPS, "toolchain", "run"),
        (JAVA, "user_code", "run"),
        (RUST, "user_code", "run"),
        (DOTNET, "user_code", "run"),
        (GO, "user_code", "run"),
        (JNI, "toolchain", "load"),
        (CONDA, "toolchain", "environment"),
        (NIX, "toolchain", "environment"),
        (CARGO, "toolchain", "cpp_compile"),
        (MSBUILD, "toolchain", "cpp_compile"),
        (DOCKER, "out_of_memory", "environment"),
    ],
)
def test_an_error_of_a_neighbour_is_not_taken_for_ours(
    text: str, category: str, phase: str
) -> None:
    found = best(text)
    assert (found.category, found.phase) == (category, phase)
    assert found.confidence != "proved"


@pytest.mark.parametrize(
    ("text", "category"),
    [
        (
            "torch.ops.x.relu: RuntimeError: Could not find schema for x::relu.default\n",
            "custom_op_missing",
        ),
        (
            "ERROR: CUDA error: an illegal memory access was encountered (src/pair.cpp:9)\n",
            "illegal_memory_access",
        ),
        (
            "thread 'main' panicked at src/a.rs:4:1:\n"
            'Torch("CUDA out of memory. Tried to allocate 2.00 GiB")\n',
            "out_of_memory",
        ),
    ],
)
def test_a_fault_of_the_machine_or_of_torch_stays_one_beside_a_neighbour(
    text: str, category: str
) -> None:
    assert best(text).category == category


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("config loaded\nquux: cannot attach the flange (status 7)\n", ""),
        ("hello world\nthis is a log\n", ""),
        ("10:11:14 ERROR upstream returned 502\n", "upstream returned 502"),
        ("ValueError: the flange is gone\n", "the flange is gone"),
    ],
)
def test_an_unknown_text_is_neither_healthy_nor_the_scripts_fault(text: str, quote: str) -> None:
    answer = diagnose_log(text=text)
    (found,) = answer.diagnoses
    assert (found.category, found.confidence) == ("unknown", "possible")
    assert quote in found.summary
    assert [step.tool for step in found.next] == ["triage"]
    assert found.found_fault


@pytest.mark.parametrize(
    "text",
    [
        "loading\nrc=0\n",
        "epoch 3\n12 passed in 3.1s\n",
        "wrote model.pt2\nProcess finished with exit code 0\n",
        "compiling model.pt2\ndone in 41.2 s\n",
    ],
)
def test_a_log_that_shows_an_end_without_an_error_is_healthy(text: str) -> None:
    assert best(text).category == "no_fault"


COLUMNS = """\
layer            eager        compiled
encoder.0       0.013245     {}
head            3.110021     3.110021
"""
MARKDOWN = """\
| shape       | torch eager | aoti   |
|-------------|-------------|--------|
| (1, 3, 224) | 12.4410     | {} |
"""
LINES = """\
PyTorch output: tensor([0.1203, 0.4411, 0.9120])
AOTI output:    tensor([0.1203, {}, 0.9120])
"""
TIMES = """\
model      eager ms     compiled ms
resnet     12.20        {}
"""


@pytest.mark.parametrize(
    ("table", "same", "other"),
    [
        (COLUMNS, "0.013246", "0.871120"),
        (MARKDOWN, "12.441", "9.0713"),
        (LINES, "0.4412", "0.9412"),
    ],
)
def test_numbers_that_differ_are_a_wrong_result_without_the_word(
    table: str, same: str, other: str
) -> None:
    found = best(table.format(other))
    assert (found.category, found.phase, found.confidence) == ("wrong_result", "output", "possible")
    assert best(table.format(same)).category == "unknown"


def test_times_that_differ_are_no_wrong_result() -> None:
    found = best(TIMES.format("5.10"))
    assert (found.category, found.phase) == ("performance", "run")


STACKS = {
    "gdb": """\
Thread 3 (LWP 4182):
#0  __futex_abstimed_wait_common64 (private=0, cancel=true) at ./nptl/futex-internal.c:57
#1  0x00007f1e8aa93a41 in __pthread_cond_wait_common () at ./nptl/pthread_cond_wait.c:503
""",
    "py-spy": """\
Process 88121: python serve.py
Thread 88121 (idle): "MainThread"
    wait (threading.py:327)
""",
    "nccl": """\
[rank3]:[E1104 10:22:31.221 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective \
operation timeout: WorkNCCL(SeqNum=5120, OpType=ALLREDUCE, Timeout(ms)=600000)
""",
}


@pytest.mark.parametrize("name", STACKS)
def test_stacks_of_who_waits_are_a_hang_unless_a_signal_ended_it(name: str) -> None:
    found = best(STACKS[name])
    assert (found.category, found.phase) == ("hang", "hang")
    died = best(STACKS[name] + "Program terminated with signal SIGSEGV, Segmentation fault.\n")
    assert died.category == "host_segfault"


@pytest.mark.parametrize(
    ("text", "category", "phase"),
    [
        (
            "RuntimeError: Native API failed. Native API returns: -996\n",
            "device_unavailable",
            "run",
        ),
        ("RuntimeError: Native API returns: -5 (x)\n", "out_of_memory", "run"),
        ("cuLaunchKernel failed with error code 701\n", "kernel_resources", "run"),
        ("NVRM: Xid (PCI:0000:3b:00): 31, pid=2211\n", "illegal_memory_access", "run"),
        ("NVRM: Xid (PCI:0000:3b:00): 79, pid=2211\n", "device_unavailable", "run"),
        ("worker 3 exited with code 139\n", "host_segfault", "run"),
        ("$ python a.py\nrc=-11\n", "host_segfault", "run"),
        ("exited with code 0\n", "no_fault", "none"),
    ],
)
def test_a_number_tells_where_no_words_do(text: str, category: str, phase: str) -> None:
    found = best(text)
    assert (found.category, found.phase) == (category, phase)


CREATE = "create_func_( &container_handle_, num_models) API call failed at runner.cpp, line 81\n"


@pytest.mark.parametrize(
    ("text", "category", "phase"),
    [
        ("Error: CUDA driver error: no kernel image is available\n" + CREATE, "", "load"),
        ("Error: CUDA error: invalid argument\n" + CREATE, "package_incompatible", "load"),
        (
            "/usr/bin/ld: cannot find -lcuda\ntorch._inductor.exc.CppCompileError: C++ error\n",
            "toolchain",
            "cpp_compile",
        ),
        ("ModuleNotFoundError: No module named 'x'\n", "user_code", "environment"),
        (
            "The following operation failed in the TorchScript interpreter.\n"
            "RuntimeError: index_add_(): self and source expected to have the same dtype\n",
            "contract_dtype",
            "run",
        ),
    ],
)
def test_what_stands_around_a_message_tells_its_phase(text: str, category: str, phase: str) -> None:
    found = best(text)
    assert found.phase == phase
    assert found.category == category or not category


@pytest.mark.parametrize(
    "line",
    [
        "[WARNING] Found constant or module state buffer x in model, but not provided by user!",
        "E0000 00:00:1775 cuda_dnn.cc:8579] Unable to register cuDNN factory",
    ],
)
def test_a_warning_after_which_the_work_went_on_is_a_false_alarm(line: str) -> None:
    assert best(f"{line}\nEpoch 1/3 1875/1875 - 4s - loss: 0.25\n").category == "false_alarm"
    failed = best(f"{line}\nRuntimeError: CUDA error: an illegal memory access\n").category
    assert failed not in ("false_alarm", "no_fault")


@pytest.mark.parametrize(
    ("table", "category"),
    [
        ("step 100 loss 2.1\nstep 200 loss nan\n", "nan_or_inf"),
        ("Step Temp Energy\n0 303.1 4009.6\n1 19324.7 255601.0\n", "wrong_result"),
        ("Step Temp Energy\n0 303.1 4009.6\n1 304.7 4010.0\n", "unknown"),
        ("rss after 1: 1.2 GB\nrss after 2: 2.3 GB\nrss after 3: 3.4 GB\n", "performance"),
        ("frame 1: ref mean=0.41 | aoti mean=0.10\n", "wrong_result"),
        ("eager  -> ['a', 'cat']\naoti   -> ['a', 'a']\n", "wrong_result"),
    ],
)
def test_rows_of_numbers_tell_what_is_wrong_with_them(table: str, category: str) -> None:
    assert best(table).category == category


def test_a_low_similarity_is_a_wrong_result() -> None:
    assert best("cosine similarity: 0.8213\n").category == "wrong_result"
    assert best("cosine similarity: 0.9999\n").category == "unknown"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("W1121 torch/_inductor/graph.py:3] x", "Inductor"),
        ("dyld[2]: Library not loaded: @rpath/libomp.dylib", "the macOS loader"),
        ("LINK : fatal error LNK1181: cannot open input file", "the Windows linker"),
        ("ordinary words", None),
    ],
)
def test_a_part_is_told_by_the_form_of_its_line(line: str, name: str | None) -> None:
    part = part_of(line)
    assert (part.name if part else None) == name


TUNED = """\
Exception out of memory for benchmark choice TritonTemplateCaller(triton_mm_18)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
"""


def test_a_fault_below_a_candidate_that_is_tuned_is_of_tuning() -> None:
    assert (best(TUNED).category, best(TUNED).phase) == ("out_of_memory", "autotune")
    alone = best(TUNED.splitlines()[1] + "\n")
    assert (alone.category, alone.phase) == ("out_of_memory", "run")


@pytest.mark.parametrize(
    ("text", "category", "phase"),
    [
        (
            "call 1  in (20,)  eager (40,)  package (40,)\n"
            "call 2  in (40,)  eager (80,)  package (40,)\n",
            "wrong_result",
            "output",
        ),
        (
            "eager  tensor([2.])\neager  tensor([3.])\naoti   tensor([2.])\naoti   tensor([2.])\n",
            "wrong_result",
            "output",
        ),
        (
            "run 1 checksum 918.12\nrun 2 checksum 918.12\nrun 3 checksum 711.98\n",
            "wrong_result",
            "output",
        ),
        (
            "threads 1: p50 6.1 ms\nthreads 2: p50 12.2 ms\nthreads 4: p50 24.5 ms\n",
            "performance",
            "run",
        ),
        (
            "t=0h gpu mem 4.1 GiB\nt=6h gpu mem 9.8 GiB\nt=12h gpu mem 15.9 GiB\n",
            "performance",
            "run",
        ),
        ("LoadLibrary failed with error 127 when trying to load x.dll\n", "missing_symbol", "load"),
        ("infer.exe exited with code -1073741819 (0xc0000005).\n", "host_segfault", "run"),
        (
            "RuntimeError: UR failed: 40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)\n",
            "out_of_memory",
            "run",
        ),
        (
            "onnxruntime.X: [ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Got invalid dimensions\n",
            "contract_shape",
            "run",
        ),
        (
            "[TRT] [E] deserializeCudaEngine: Version tag does not match\n",
            "package_incompatible",
            "load",
        ),
        (
            'Err value: Torch("expected scalar type Half but found Float")\n'
            "thread 'main' panicked at src/main.rs:3:5:\n",
            "contract_dtype",
            "run",
        ),
        ("  × No solution found when resolving dependencies:\n", "toolchain", "environment"),
        (
            "ld: symbol(s) not found for architecture arm64\nerror: could not compile `x` (bin)\n",
            "toolchain",
            "cpp_compile",
        ),
    ],
)
def test_who_speaks_and_what_failed_tell_before_any_phrase(
    text: str, category: str, phase: str
) -> None:
    found = best(text)
    assert (found.category, found.phase) == (category, phase)
    assert found.confidence != "proved"


def test_equal_shapes_and_checksums_are_no_wrong_result() -> None:
    same = "call 1  eager (40,)  package (40,)\nrun 1 checksum 9.5\nrun 2 checksum 9.5\n"
    assert best(same).category == "unknown"


@pytest.mark.parametrize(
    ("text", "category", "phase"),
    [
        ("eager max: 3.2, aoti max: nan\n", "nan_or_inf", "output"),
        ("eager has nan: False\naoti has nan: True\n", "nan_or_inf", "output"),
        ("eager: nan, compiled: 0.0\nall NaN in eager\n", "wrong_result", "output"),
        ("Running it in two threads at once gives wrong numbers\n", "concurrency", "run"),
        ("It fails when several models load concurrently\n", "concurrency", "load"),
        ("2.7: Compilation took 41 s\n2.8: Compilation took 133 s\n", "performance", "lower"),
        (
            "Error: Could not find schema for a::b.\n#3 aoti_torch_call_dispatcher + 0x50\n",
            "custom_op_missing",
            "run",
        ),
        (
            "Could not find schema for aten::sin.\n#4 at::_ops::sin::call(at::Tensor) + 68\n",
            "toolchain",
            "run",
        ),
        (
            "create_func_( &handle_ ) API call failed\nno CUDA-capable device is detected\n",
            "device_unavailable",
            "load",
        ),
    ],
)
def test_the_values_the_frames_and_the_times_around_a_message_decide(
    text: str, category: str, phase: str
) -> None:
    found = best(text)
    assert (found.category, found.phase) == (category, phase)


def test_work_that_is_done_in_parallel_is_no_fault_by_itself() -> None:
    text = "INFO 08-01 12:00:00 running 8 workers in parallel\nERROR: no such file: a.json\n"
    assert best(text).category != "concurrency"


WRITTEN = f"""\
  File "/tmp/torchinductor_u/ab/c{"a2" * 25}b.py", line 90, in call
    kernel_0.run(buf1, 64, stream=stream0)
NameError: name 'kernel_0' is not defined
"""
OF_CALLS = """\
fast = torch.compile(f)
a = f(x)
b = fast(x)
print(a.sum())  # tensor(3.5)
print(b.sum())  # tensor({})
"""


@pytest.mark.parametrize(
    ("text", "category", "phase"),
    [
        ("```python\na.py:3: UserWarning: the scale is set twice\n```\n", "false_alarm", "none"),
        (
            "# It ends in `AttributeError: module 'torch' has no attribute 'x'`\n",
            "user_code",
            "none",
        ),
        ("It trips `index out of bounds: 0 <= tmp2 < ks0`\n", "index_out_of_bounds", "run"),
        (
            'my_tool Undefined symbols for architecture arm64: "acme::Runner::run()"\n',
            "toolchain",
            "cpp_compile",
        ),
        ("[copy.cpp:12] cudaMemcpy D2H failed: invalid argument\n", "contract_device", "run"),
        ("Error in dlopen for library libnvrtc.so.13\n", "toolchain", "load"),
        (
            "The package is slower than eager\nPyTorch version: 2.9\nGCC version: 11\n"
            "ROCM used to build PyTorch: N/A\nCUDA runtime version: Could not collect\n",
            "performance",
            "run",
        ),
        (
            "Input type (float) and bias type (c10::Half) should be the same\n",
            "contract_dtype",
            "run",
        ),
        ("Exception: Argument passed to at() was not in the map\n", "contract_argument", "run"),
        (
            "It stops with `cudaErrorIllegalAddress` while compiling the model\n",
            "illegal_memory_access",
            "autotune",
        ),
        (WRITTEN, "lowering_error", "run"),
        (WRITTEN.replace("torchinductor_u/ab/c", "app/"), "user_code", "none"),
    ],
)
def test_an_error_in_a_persons_text_or_in_another_programs_words_keeps_its_owner(
    text: str, category: str, phase: str
) -> None:
    found = best(text)
    assert (found.category, found.phase) == (category, phase)


def test_a_result_that_a_comment_shows_is_of_the_call_that_made_it() -> None:
    assert best(OF_CALLS.format("1.2")).category == "wrong_result"
    assert best(OF_CALLS.format("3.5")).category != "wrong_result"
    assert best(OF_CALLS.format("1.2").replace("compile", "no_grad")).category != "wrong_result"


@pytest.mark.parametrize(
    ("caption", "category", "phase"),
    [
        ("Compilation latency (sec)", "performance", "lower"),
        ("Throughput (MB)", "performance", "run"),
        ("Both results", "wrong_result", "output"),
    ],
)
def test_what_a_table_holds_is_told_by_the_line_above_it(
    caption: str, category: str, phase: str
) -> None:
    rows = "".join(f"| net{n} | {n} | {9 * n}.5 |\n" for n in range(1, 4))
    found = best(f"{caption}\n+---+---+---+\n| name | bs | inductor |\n+---+---+---+\n{rows}")
    assert (found.category, found.phase) == (category, phase)


def test_a_unit_without_a_number_is_no_size() -> None:
    assert best("held . MiB\nheld .. MiB\nheld 1.2.3 MiB\n").category != "performance"
