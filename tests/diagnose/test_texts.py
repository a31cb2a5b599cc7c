"""What is said of texts that no signature, reader or rule knows: by which part of the software they
were printed, in which frame, and how they go on; whether their numbers differ, whether they show an
end. Of most, `verdicts.txt.xz` holds the text below what is said (edit it by `xz -d`, `xz -9e`)."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest
from aoti_debug.api import diagnose_log
from aoti_debug.diagnose.speaker import part_of
from aoti_debug.model import Diagnosis

VERDICTS = lzma.decompress(Path(__file__).with_name("verdicts.txt.xz").read_bytes()).decode()
JOINED = (  # a page joined the lines of a traceback
    'Traceback (most recent call last): File "/x/torch/_dynamo/eval_frame.py", line 9, in g'
    ' File "/x/torch/_inductor/graph.py", line 2, in codegen self.x()\n'
)
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


def told() -> list[tuple[str, str]]:
    """Return each text of the file with its category, and where they are named, phase and
    confidence. Texts of one verdict stand below lines of dashes, which may name them."""
    found = []
    for part in re.split(r"(?m)^=== ", re.sub(r"(?m)^### .*\n", "", VERDICTS))[1:]:
        verdict, texts = part.split("\n", 1)
        found += [(verdict, text) for text in re.split(r"(?m)^---(?: .*)?\n", texts) if text]
    return found


def best(text: str) -> Diagnosis:
    return diagnose_log(text=text).diagnoses[0]


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        *told(),
        ("lowering_error lower possible", JOINED),
        ("lowering_error run", WRITTEN),
        ("user_code run", WRITTEN.replace("torchinductor_u/ab/c", "app/")),
        ("wrong_result", OF_CALLS.format("1.2")),
    ],
)
def test_a_text_is_told_by_who_speaks_where_and_of_what(verdict: str, text: str) -> None:
    found, known = best(text), verdict.split()
    assert [found.category, found.phase, found.confidence][: len(known)] == known
    assert found.confidence != "proved"


def test_every_text_of_the_file_is_read() -> None:
    assert len(told()) > 150


@pytest.mark.parametrize(
    ("text", "category"),
    [
        (OF_CALLS.format("3.5"), "wrong_result"),
        (OF_CALLS.format("1.2").replace("compile", "no_grad"), "wrong_result"),
        (
            "INFO 08-01 12:00:00 running 8 workers in parallel\nERROR: no such file: a.json\n",
            "concurrency",
        ),
        ("held . MiB\nheld .. MiB\nheld 1.2.3 MiB\n", "performance"),
    ],
)
def test_what_only_looks_like_a_fault_is_not_told_as_it(text: str, category: str) -> None:
    assert best(text).category != category


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("config loaded\nquux: cannot attach the flange (status 7)\n", ""),
        ("hello world\nthis is a log\n", ""),
        ("10:11:14 ERROR upstream returned 502\n", "upstream returned 502"),
        ("ValueError: the flange is gone\n", "the flange is gone"),
        ("a\nloading torch/_inductor/foo.py\nfrob: fatal: the frob is gone\n", "the frob is gone"),
    ],
)
def test_an_unknown_text_is_neither_healthy_nor_the_scripts_fault(text: str, quote: str) -> None:
    answer = diagnose_log(text=text)
    (found,) = answer.diagnoses
    assert (found.category, found.confidence) == ("unknown", "possible")
    assert quote in found.summary
    line = text[: text.index(quote)].count("\n") + 1
    assert not quote or found.evidence[0].lines == (line, line)
    assert [step.tool for step in found.next] == ["triage"]
    assert found.found_fault


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
