"""compute-sanitizer's text and XML, recorded from a program with one fault at a time."""

from __future__ import annotations

import pytest
from aoti_debug.errors import UnreadableInput
from aoti_debug.read.memcheck_xml import read_memcheck_xml
from aoti_debug.read.record import (
    DeviceAssert,
    GpuException,
    SanitizerError,
    SanitizerSummary,
)
from aoti_debug.read.scan import scan_text
from recall import recorded, recorded_bytes

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
    records = scan_text(recorded("sanitizer", f"{name}.txt"), "san.log").records
    (found,) = (r for r in records if isinstance(r, SanitizerError))
    return found


def from_xml(name: str) -> SanitizerError:
    (found,) = read_memcheck_xml(recorded_bytes("sanitizer", f"{name}.xml"), "memcheck.xml")
    return found


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_the_text_is_read(name: str) -> None:
    tool, access, size, kernel, line, thread, count, _ = FINDINGS[name]
    found = from_text(name)
    assert (found.tool, found.access, found.size) == (tool, access, size)
    assert found.kernel is not None
    assert found.kernel.partition("(")[0] == kernel
    assert (found.line, found.thread, found.count) == (line, thread, count)
    assert found.offset is not None
    assert found.frames


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_the_xml_says_the_same(name: str) -> None:
    text, xml = from_text(name), from_xml(name)
    assert (xml.tool, xml.size, xml.line) == (text.tool, text.size, text.line)
    assert (xml.thread, xml.block, xml.offset) == (text.thread, text.block, text.offset)
    assert (text.kernel or "").startswith(xml.kernel or "?")
    assert xml.count == FINDINGS[name][7]
    assert xml.span.last > xml.span.first >= 3
    if text.access is not None:
        assert xml.access == text.access


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
    assert text.what == xml.what
    assert text.what.endswith(what)
    assert (text.distance, text.side, text.allocation_size) == (distance, side, size)
    assert (xml.distance, xml.side, xml.allocation_size) == (None, None, None)


def test_a_race_is_one_finding_with_its_writer() -> None:
    text, xml = from_text("racecheck-3"), from_xml("racecheck-3")
    for found in (text, xml):
        assert (found.tool, found.line, found.offset) == ("racecheck", 8, 0xA0)


def test_a_leak_is_a_finding_without_a_kernel() -> None:
    text, xml = from_text("memcheck-9"), from_xml("memcheck-9")
    assert (text.what, text.kernel) == ("Leaked 256 bytes", None)
    assert (xml.what, xml.kernel) == ("Leaked 256 bytes: generic", None)


def test_failed_api_calls_are_no_findings() -> None:
    records = scan_text(recorded("sanitizer", "memcheck-8.txt"), "a").records
    assert not [r for r in records if isinstance(r, SanitizerError)]
    assert read_memcheck_xml(recorded_bytes("sanitizer", "memcheck-8.xml"), "a") == ()


@pytest.mark.parametrize(
    ("name", "errors"), [("memcheck-0", 6), ("racecheck-3", 1), ("racecheck-33", 256)]
)
def test_the_summary_counts_errors(name: str, errors: int) -> None:
    records = scan_text(recorded("sanitizer", f"{name}.txt"), "a").records
    (summary,) = (r for r in records if isinstance(r, SanitizerSummary))
    assert (summary.errors, summary.host_fault) == (errors, False)


def test_the_older_wording_is_read_too() -> None:
    text = (
        "========= Invalid __global__ read of size 4 bytes\n"
        "=========     at void k<float>(T1 *, int)+0x100 in /src/a b/k.cu:40\n"
        "=========     by thread (1,2,3) in block (4,5,6)\n"
        "=========     Address 0x7f00 is out of bounds\n"
        "=========     and is 1 bytes after the nearest allocation at 0x7e00 of size 256 bytes\n"
        "=========\n"
    )
    (found,) = scan_text(text, "a").records
    assert isinstance(found, SanitizerError)
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
    records = scan_text(f"{line}\n    at oob(int *)+0x1 in k.cu:5\n", "a").records
    assert not [r for r in records if isinstance(r, SanitizerError)]


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
    (found,) = read_memcheck_xml(data[:-2000], "a")
    assert found.count == 2


def test_a_clean_file_has_no_findings() -> None:
    data = b'<?xml version="1.0" encoding="utf-8"?>\n<ComputeSanitizerOutput/>\n'
    assert read_memcheck_xml(data, "a") == ()


def test_the_driver_and_cuda_gdb_tell_of_an_assert() -> None:
    driver = scan_text(recorded("sanitizer", "drv-5.txt"), "a").records
    gdb = scan_text(recorded("sanitizer", "gdb-5.txt"), "a").records
    (first,) = (r for r in driver if isinstance(r, GpuException))
    (second,) = (r for r in gdb if isinstance(r, GpuException))
    assert (first.exception, first.kernel) == ("CUDBG_EXCEPTION_WARP_ASSERT", "_Z3assi")
    assert (second.exception, second.kernel, second.line) == ("Assertion failed", "ass", 10)
    (failed,) = (r for r in driver if isinstance(r, DeviceAssert))
    assert (failed.file, failed.line, failed.function) == ("k.cu", 10, "void ass(int)")
