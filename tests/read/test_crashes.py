"""Python tracebacks, the fault handler's dumps, and compute-sanitizer's text and XML, recorded
from a program with one fault at a time."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
from aoti_debug.diagnose.calls import is_users, users_frame
from aoti_debug.diagnose.from_gpu import access_of
from aoti_debug.errors import UnreadableInput
from aoti_debug.read import gpu_core
from aoti_debug.read.memcheck_xml import read_memcheck_xml
from aoti_debug.read.record import (
    DeviceAssert,
    FaultHandlerDump,
    GpuException,
    PythonException,
    SanitizerError,
    SanitizerSummary,
)
from aoti_debug.triage.debuggers import read_core
from read.records import logged, of, one
from recordings import recorded, recorded_bytes


def exceptions(text: str) -> list[PythonException]:
    return of(PythonException, text)


def printed_by(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr


RAISES = "def f():\n  raise ValueError('no')\nf()"
LOGGER = "E0304 10:00:00.533000 700 torch/_inductor/runtime/triton_heuristics.py:533] "


@pytest.mark.parametrize("prefix", ["", LOGGER])
def test_a_real_chain_of_causes_is_read(prefix: str) -> None:
    lines = printed_by(
        "try:\n  try:\n    1/0\n  except ZeroDivisionError as e:\n    raise KeyError('k') from e\n"
        "except KeyError:\n  raise RuntimeError('two\\n\\nlines')"
    ).splitlines()
    found = exceptions("\n".join(prefix + line for line in lines))
    assert [(e.type, e.relation, e.last) for e in found] == [
        ("ZeroDivisionError", "cause", False),
        ("KeyError", "context", False),
        ("RuntimeError", None, True),
    ]
    assert found[-1].message == "two\n\nlines"
    assert found[-1].frames[-1].file == "<string>"


@pytest.mark.parametrize(
    ("code", "type_", "begins", "place"),
    [
        ("x = (\n", "SyntaxError", "'(' was never closed", "<string>:1"),  # without a traceback
        ("compile('a b', 'm.py', 'exec')", "SyntaxError", "", "m.py:1"),
        ("def f():\n  f()\nf()", "RecursionError", "maximum recursion depth", "<string>:2"),
    ],
)
def test_a_real_exception_is_read(code: str, type_: str, begins: str, place: str) -> None:
    (found,) = exceptions(printed_by(code))
    assert (found.type, f"{found.frames[-1].file}:{found.frames[-1].line}") == (type_, place)
    assert found.message.startswith(begins)


@pytest.mark.parametrize("prefix", ["", LOGGER])
def test_of_a_traceback_without_its_beginning_or_end_the_first_is_read(prefix: str) -> None:
    lines = printed_by(RAISES).splitlines()[1:]
    (found,) = exceptions("\n".join(prefix + line for line in lines))
    assert (found.type, found.message) == ("ValueError", "no")
    assert [frame.function for frame in found.frames] == ["<module>", "f"]
    assert not exceptions("\n".join([*lines[:-1], "and so on", "it went on", "epoch 2", "done"]))


GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/home/user/m.py", line 3, in <module>
  |     raise ExceptionGroup("eg", [ValueError(1), TypeError(2)])
  | ExceptionGroup: eg (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: 1
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "/home/user/n.py", line 9, in f
    |     g()
    | TypeError: 2
    +------------------------------------
"""


def test_a_group_gives_itself_and_the_tracebacks_within() -> None:
    group, inner = exceptions(GROUP)
    assert (group.type, group.frames[0].line) == ("ExceptionGroup", 3)
    assert (inner.type, inner.message, inner.frames[0].line) == ("TypeError", "2", 9)


TRACE = """\
Traceback (most recent call last):
  File "/home/user/model.py", line 7, in forward
    return self.fc(h)
           ^^^^^^^^^^
  File "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", line 1, in _call_impl
    return forward_call(*args, **kwargs)
           ~~~~~~~~~~~~^^^^^^^^^^^^^^^^^
{}: oops
"""


@pytest.mark.parametrize(
    "name", ["RuntimeError", "torch._dynamo.exc.Unsupported", "KeyboardInterrupt", "lab.Odd"]
)
def test_marks_are_no_source_text_and_any_name_is_a_type(name: str) -> None:
    (found,) = exceptions(TRACE.format(name))
    assert (found.type, found.message) == (name, "oops")
    texts = ["return self.fc(h)", "return forward_call(*args, **kwargs)"]
    assert [frame.text for frame in found.frames] == texts
    frame = users_frame(found.frames)
    assert frame and (frame.file, frame.line) == ("/home/user/model.py", 7)


@pytest.mark.parametrize(
    "path",
    [
        "/opt/venv/lib/python3.12/site-packages/torch/x.py",
        "/usr/lib/python3.12/contextlib.py",
        "<frozen runpy>",
        "<string>",
    ],
)
def test_installed_files_are_not_the_users(path: str) -> None:
    assert not is_users(path)


def test_other_output_between_and_before_the_lines_is_passed_over() -> None:
    lines = TRACE.format("RuntimeError").splitlines()
    lines.insert(3, "step 3 loss 0.5")
    lines.insert(1, "hello")
    lines[0] = " 45%|####      | 9/20 [00:01<00:01]" + lines[0]
    (found,) = exceptions("\n".join(lines))
    assert (found.type, len(found.frames)) == ("RuntimeError", 2)


@pytest.mark.parametrize("prefix", ["[rank0]: ", "W1121 05:31:45.896000 3347 torch/x.py:348] "])
def test_a_prefixed_traceback_is_read_between_other_lines(prefix: str) -> None:
    lines = [prefix + line for line in TRACE.format("ValueError").splitlines()]
    lines.insert(2, "[rank1]: something else")
    (found,) = exceptions("\n".join(lines))
    assert (found.type, found.message, len(found.frames)) == ("ValueError", "oops", 2)


def test_a_message_keeps_its_paragraphs_and_ends_before_what_is_printed_later() -> None:
    said = "\n\nCommand:\ng++ x.cpp\n\nOutput:\nx.cpp:3:5: error: 'y' was not declared"
    text = TRACE.format("torch._inductor.exc.InductorError").rstrip("\n") + said
    (found,) = exceptions(text + "\n\n\n\nunrelated\n")
    assert found.message.endswith("x.cpp:3:5: error: 'y' was not declared")
    (found,) = exceptions(TRACE.format("ValueError") + "\nLAB ok\nmore\n")
    assert (found.message, found.span.last) == ("oops", 8)


def test_a_traceback_cut_short_gives_its_frames() -> None:
    (found,) = exceptions("\n".join(TRACE.splitlines()[:4]))
    assert (found.type, found.message, len(found.frames)) == ("", "", 1)


def test_of_very_many_tracebacks_the_first_and_last_are_kept() -> None:
    text = "".join(TRACE.format("ValueError").replace("oops", f"n{i}") for i in range(2000))
    found = exceptions(text)
    assert len(found) == 600
    assert (found[0].message, found[-1].message) == ("n0", "n1999")


@pytest.mark.parametrize(
    ("stage", "reason", "function"),
    [
        ("fh-segv", "Segmentation fault", "string_at"),
        ("fh-abrt", "Aborted", "f"),
        ("fh-time", "Timeout (0:00:00.300000)", "f"),
    ],
)
def test_recorded_dumps_give_the_threads_own_stack(stage: str, reason: str, function: str) -> None:
    found = logged(FaultHandlerDump, "cpu", stage)
    assert (found.reason, found.threads) == (reason, 2)
    assert found.frames[0].function == function
    assert found.frames[-1].function == "<module>"


NEW_DUMP = """\
Fatal Python error: Segmentation fault

<Cannot show all threads while the GIL is disabled>
Current thread 0x00007f35 [python3] (most recent call first):
  File "/home/user/run.py", line 7 in f
  File "/home/user/run.py", line ??? in <module>

Current thread's C stack trace (most recent call first):
  Binary file "/opt/bin/python3", at _Py_DumpStack+0x44 [0x55d]
  Binary file "/tmp/x/cabc.wrapper.so", at +0x1d2f4 [0x7fb]
  Binary file "/lib/libc.so.6"

Extension modules: numpy._core._multiarray_umath, torch._C (total: 2)
Segmentation fault
"""


def test_a_dump_of_python_3_14_has_a_c_stack_and_modules() -> None:
    found = one(FaultHandlerDump, NEW_DUMP)
    assert [f.line for f in found.frames] == [7, 0]
    assert found.span.last > 9
    assert len(of(FaultHandlerDump, NEW_DUMP + NEW_DUMP)) == 2


# name: tool, access, size, kernel, line, first thread, count in the text and in the XML
FINDINGS = {
    "memcheck-0": ("memcheck", "write", 4, "oob", 5, (0, 0, 0), 4, 3),
    "memcheck-1": ("memcheck", "write", 4, "mis", 6, (0, 0, 0), 4, 3),
    "memcheck-5": ("memcheck", "assert", None, "__assertfail", None, (2, 0, 0), 2, 2),
    "memcheck-6": ("memcheck", "write", 4, "shr", 11, (0, 0, 0), 4, 3),
    "memcheck-7": ("memcheck", "write", 4, "frd", 12, (0, 0, 0), 1, 1),
    "initcheck-2": ("initcheck", "read", 4, "uni", 7, (0, 0, 0), 64, 3),
    "synccheck-4": ("synccheck", None, None, "syn", 9, (32, 0, 0), 8, 3),
    "racecheck-33": ("racecheck", None, None, "rac", 8, (31, 0, 0), 3, 3),
}


def from_text(name: str) -> SanitizerError:
    return logged(SanitizerError, "sanitizer", f"{name}.txt")


def from_xml(name: str) -> SanitizerError:
    (found,) = read_memcheck_xml(recorded_bytes("sanitizer", f"{name}.xml"), "memcheck.xml")
    return found


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_the_text_is_read_and_the_xml_says_the_same(name: str) -> None:
    tool, access, size, kernel, line, thread, count, count_in_xml = FINDINGS[name]
    text, xml = from_text(name), from_xml(name)
    assert (text.tool, text.access, text.count) == (tool, access, count)
    assert (text.size, text.line, text.thread) == (size, line, thread)
    assert text.kernel and text.kernel.partition("(")[0] == kernel
    assert text.offset is not None and text.frames
    for field in ("tool", "size", "line", "thread", "block", "offset"):
        assert getattr(xml, field) == getattr(text, field), field
    assert text.kernel.startswith(xml.kernel or "?")
    assert xml.count == count_in_xml
    assert xml.span.last > xml.span.first >= 3
    assert access is None or xml.access == access


@pytest.mark.parametrize(
    ("name", "what", "distance", "side", "size"),
    [
        ("memcheck-0", "is out of bounds", 25, "after", 256),
        ("memcheck-1", "is misaligned", None, "inside", 256),
        ("memcheck-6", "is out of bounds", None, None, None),
        ("memcheck-7", "is out of bounds", 512, "before", 256),
    ],
)
def test_the_distance_to_the_allocation_is_in_the_text_alone(
    name: str, what: str, distance: int | None, side: str | None, size: int | None
) -> None:
    text, xml = from_text(name), from_xml(name)
    assert text.what == xml.what and text.what.endswith(what)
    assert (text.distance, text.side, text.allocation_size) == (distance, side, size)
    assert (xml.distance, xml.side, xml.allocation_size) == (None, None, None)


def test_a_race_is_one_finding_with_its_writer_and_a_leak_one_without_a_kernel() -> None:
    for found in (from_text("racecheck-3"), from_xml("racecheck-3")):
        assert (found.tool, found.line, found.offset) == ("racecheck", 8, 0xA0)
    text, xml = from_text("memcheck-9"), from_xml("memcheck-9")
    assert (text.what, text.kernel) == ("Leaked 256 bytes", None)
    assert (xml.what, xml.kernel) == ("Leaked 256 bytes: generic", None)


def test_failed_api_calls_are_no_findings_and_a_clean_file_has_none() -> None:
    assert not of(SanitizerError, recorded("sanitizer", "memcheck-8.txt"))
    clean = b'<?xml version="1.0" encoding="utf-8"?>\n<ComputeSanitizerOutput/>\n'
    for data in (recorded_bytes("sanitizer", "memcheck-8.xml"), clean):
        assert read_memcheck_xml(data, "a") == ()


@pytest.mark.parametrize(
    ("case", "stage", "errors"),
    [
        ("sanitizer", "memcheck-0.txt", 6),
        ("sanitizer", "racecheck-3.txt", 1),
        ("sanitizer", "racecheck-33.txt", 256),
        ("static_shape", "san", 193473),
        ("cpu_pkg", "san", 0),
    ],
)
def test_the_summary_counts_errors(case: str, stage: str, errors: int) -> None:
    assert logged(SanitizerSummary, case, stage).errors == errors


def test_the_older_wording_is_read_too() -> None:
    lines = (
        "Invalid __global__ read of size 4 bytes",
        "    at void k<float>(T1 *, int)+0x100 in /src/a b/k.cu:40",
        "    by thread (1,2,3) in block (4,5,6)",
        "    Address 0x7f00 is out of bounds",
        "    and is 1 bytes after the nearest allocation at 0x7e00 of size 256 bytes",
        "",
    )
    found = one(SanitizerError, "".join(f"========= {line}\n" for line in lines))
    assert (found.kernel, found.file) == ("void k<float>(T1 *, int)", "/src/a b/k.cu")
    assert (found.thread, found.block) == ((1, 2, 3), (4, 5, 6))
    assert (found.address, found.distance, found.allocation_address) == (0x7F00, 1, 0x7E00)


@pytest.mark.parametrize(
    "line",
    [
        "======================= 24 passed, 2 skipped in 412.02s ========================",
        "========= 24 passed in 4.02s =========",
        "=========== FAILURES ===========",
        "  x = a ========= b",
        "==========",
    ],
)
def test_a_rule_of_a_test_runner_is_no_finding(line: str) -> None:
    assert not of(SanitizerError, f"{line}\n    at oob(int *)+0x1 in k.cu:5\n")


BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<ComputeSanitizerOutput><record><kind>&b;</kind></record></ComputeSanitizerOutput>
"""


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no xml",
        b"<html></html>",
        BOMB,
        b'<!DOCTYPE ComputeSanitizerOutput SYSTEM "file:///etc/passwd"><ComputeSanitizerOutput/>',
        b"<ComputeSanitizerOutput>" + b"<record>" * 10_000,
    ],
)
def test_hostile_or_foreign_xml_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableInput):
        read_memcheck_xml(data, "memcheck.xml")


def test_a_truncated_file_gives_what_is_complete() -> None:
    data = recorded_bytes("sanitizer", "memcheck-0.xml")
    for end in range(80, len(data), 97):
        assert len(read_memcheck_xml(data[:end], "a")) <= 1
    assert [found.count for found in read_memcheck_xml(data[:-2000], "a")] == [2]


def test_the_driver_and_cuda_gdb_tell_of_an_assert() -> None:
    first = logged(GpuException, "sanitizer", "drv-5.txt")
    second = logged(GpuException, "sanitizer", "gdb-5.txt")
    assert (first.exception, first.kernel) == ("CUDBG_EXCEPTION_WARP_ASSERT", "_Z3assi")
    assert (second.exception, second.kernel, second.line) == ("Assertion failed", "ass", 10)
    failed = logged(DeviceAssert, "sanitizer", "drv-5.txt")
    assert (failed.file, failed.line, failed.function) == ("k.cu", 10, "void ass(int)")


@pytest.mark.parametrize(
    ("fault", "access"), [("misaligned", ("read", 8)), ("late", ("write", 16))]
)
def test_a_core_dumps_own_tables_tell_what_cuda_gdb_tells(
    tmp_path: Path, fault: str, access: tuple[str, int]
) -> None:
    core, to = tmp_path / "core.7", tmp_path / "cuda-gdb.log"
    core.write_bytes(recorded_bytes("dumps", f"{fault}.core"))
    nowhere = {"PATH": str(tmp_path)}  # no cuda-gdb
    assert anyio.run(partial(read_core, core, to, nowhere)) is None
    ours, theirs = one(GpuException, to.read_text()), logged(GpuException, "dumps", f"{fault}.gdb")
    for field in ("exception", "kernel", "line", "block", "thread"):
        assert getattr(ours, field) == getattr(theirs, field), field
    said, known = (
        re.findall(r"<<<.+?>>>|PC 0x\w+", text)
        for text in (to.read_text(), recorded("dumps", f"{fault}.gdb"))
    )
    assert len(said) == 2 and set(said) <= set(known)
    assert ours.file == theirs.file and str(ours.file).startswith("/")
    assert access_of(ours) == access_of(theirs) == access


def test_of_a_damaged_core_dump_nothing_is_told(tmp_path: Path) -> None:
    data, core = recorded_bytes("dumps", "misaligned.core"), tmp_path / "core.7"
    assert gpu_core.told(written(core, data)) is not None
    table = data.index(struct.pack("<II", 6, 1))  # misaligned, and its address holds
    for changed in (
        b"",
        data[:4],
        *(data[:end] for end in range(60, len(data), 997)),
        data[:table] + struct.pack("<II", 12, 1) + data[table + 8 :],  # an assertion
        data[:table] + struct.pack("<II", 6, 0) + data[table + 8 :],
        data.replace(b".debug_line", b".debug_none"),
        data.replace(b".text.as_pairs", b".text.as\npairs"),
        data[:40] + struct.pack("<Q", 1 << 62) + data[48:],
    ):
        assert gpu_core.told(written(core, changed)) is None
    (tmp_path / "link").symlink_to(written(core, data))
    assert gpu_core.told(tmp_path / "link") is None
    for at in range(0, len(data), 41):
        gpu_core.told(written(core, data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]))


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
