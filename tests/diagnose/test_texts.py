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
GO = "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\n"


def best(text: str) -> Diagnosis:
    return diagnose_log(text=text).diagnoses[0]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (EXECUTORCH, "ExecuTorch"),
        (LAMMPS, "LAMMPS"),
        (JAVA, "Java"),
        (RUST, "Rust"),
        (CONDA, "conda"),
        (NIX, "nix"),
        (GO, "Go"),
    ],
)
def test_an_error_of_a_neighbour_is_not_taken_for_ours(text: str, part: str) -> None:
    found = best(text)
    assert (found.category, found.phase, found.confidence) == ("unknown", "none", "possible")
    assert part in found.summary


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
        ("$ python a.py\nrc=-11\n", ""),
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
    [(COLUMNS, "0.013246", "0.871120"), (MARKDOWN, "12.441", "9.0713"), (LINES, "0.4412", "nan")],
)
def test_numbers_that_differ_are_a_wrong_result_without_the_word(
    table: str, same: str, other: str
) -> None:
    found = best(table.format(other))
    assert (found.category, found.phase, found.confidence) == ("wrong_result", "output", "possible")
    assert best(table.format(same)).category == "unknown"


def test_times_that_differ_are_no_wrong_result() -> None:
    assert best(TIMES.format("5.10")).category == "unknown"


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
