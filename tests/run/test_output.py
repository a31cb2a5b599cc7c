"""Logs keep the head and the tail, and survive a full disk."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from aoti_debug.plain import last_line, plain
from aoti_debug.run.output import Log

GIGABYTE = 1 << 30
CAP = 64 << 10

FULL_DISK = """
import os, resource, sys
from pathlib import Path
import anyio
from aoti_debug.run.process import Command, run_process
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
source = "import sys; sys.stderr.write('short'); print('x' * 99 + '\\\\n' * 1, end='');" \
         "[print('y' * 99) for _ in range(200)]"
command = Command((sys.executable, "-c", source), dict(os.environ), Path.cwd())
end = anyio.run(run_process, command, Path("logs"))
print(end.how, end.stdout.bytes, end.stdout.lost, *end.notes, sep="|")
"""


def _write(path: Path, chunks, cap: int = CAP):
    log = Log(path, cap)
    for chunk in chunks:
        log.write(memoryview(chunk))
    return log.close()


def test_gigabyte_is_capped_with_head_and_tail_kept(finish, logs):
    end = finish(
        """
        import sys
        out = sys.stdout.buffer
        out.write(b"first\\n")
        for _ in range(1024):
            out.write(b"a line of thirty-two bytes.....\\n" * 32768)
        out.write(b"last\\n")
        """,
        output_cap=1 << 20,
    )
    text = (logs / "stdout.log").read_bytes()
    assert end.stdout.bytes == GIGABYTE + 11
    assert len(text) <= (1 << 20) + 100
    assert text.startswith(b"first\na line")
    assert text.endswith(b"a line of thirty-two bytes.....\nlast\n")
    marker = re.search(rb"\[aoti-debug: ([\d,]+) bytes dropped here\]\n", text)
    assert marker is not None
    assert int(marker[1].replace(b",", b"")) == end.stdout.dropped
    head, tail = text[: marker.start()], text[marker.end() :]
    assert len(head) + len(tail) + end.stdout.dropped in (GIGABYTE + 11, GIGABYTE + 12)


def test_output_of_just_the_cap_is_kept_whole(tmp_path):
    data = bytes(range(256)) * (CAP // 256)
    stream = _write(tmp_path / "log", [data[:1000], data[1000:]])
    assert (tmp_path / "log").read_bytes() == data
    assert (stream.bytes, stream.dropped, stream.lost) == (CAP, 0, 0)


def test_tail_of_a_log_without_line_ends_is_kept(tmp_path):
    stream = _write(tmp_path / "log", [b"head" + b"x" * 10 * CAP + b"tail"])
    head, marker, rest = (tmp_path / "log").read_bytes().partition(b"\n[aoti-debug: ")
    tail = rest.partition(b"\n")[2]
    assert (head[:4], tail[-4:]) == (b"head", b"tail")
    assert marker
    assert len(head) + len(tail) + stream.dropped == 10 * CAP + 8


@pytest.mark.parametrize("size", [100, 4096, 70_000])
@pytest.mark.parametrize("lines", [3_500, 4_096, 4_100, 9_000, 70_000])
def test_what_is_kept_is_the_head_and_whole_lines_of_the_end(tmp_path, size, lines):
    data = b"".join(b"line %010d\n" % number for number in range(lines))
    stream = _write(tmp_path / "log", (data[at : at + size] for at in range(0, len(data), size)))
    text = (tmp_path / "log").read_bytes()
    head, marker, rest = text.partition(b"[aoti-debug: ")
    tail = rest.partition(b"\n")[2]
    assert data.startswith(head)
    assert data.endswith(tail)
    assert bool(marker) == (stream.dropped > 0) == (len(data) > CAP)
    assert len(data) - stream.dropped == len(head) + len(tail)
    assert not marker or tail.startswith(b"line ")
    assert CAP // 2 < len(text) <= CAP + 100


def test_killed_server_leaves_head_and_a_note(tmp_path):
    log = Log(tmp_path / "log", CAP)
    for number in range(9_000):
        log.write(memoryview(b"line %010d\n" % number))
    text = (tmp_path / "log").read_bytes()
    assert text.startswith(b"line 0000000000\n")
    assert b"bytes dropped here; what follows begins in its middle" in text
    assert b"line 0000008999\n" in text
    assert len(text) <= CAP
    log.close()


def test_full_disk_is_counted_and_does_not_raise():
    stream = _write(Path("/dev/full"), [b"some text\n"] * 10)
    assert (stream.bytes, stream.lost) == (100, 100)
    assert stream.why_lost == "No space left on device"


def test_program_goes_on_when_its_log_cannot_grow(tmp_path):
    argv = [sys.executable, "-c", FULL_DISK]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(
        "exit 0|20100|10100|10,100 bytes of stdout were lost: File too large; its last line was: yy"
    )
    assert (tmp_path / "logs" / "stdout.log").stat().st_size == 10_000
    assert (tmp_path / "logs" / "stderr.log").read_text() == "short"


def test_log_does_not_follow_a_link(tmp_path):
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "log").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"):
        Log(tmp_path / "log", CAP)
    assert (tmp_path / "precious").read_text() == "kept"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tab\tstays", "tab\tstays"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("bell\x07 nul\x00 c1\x9b", "bell nul c1"),
        ("right\u202eleft\u200b", "rightleft"),
        ("half \udcff", "half \\xff"),
        ("no character \ufffe\uffff\ufdd0", "no character "),
        ("\x1b", ""),
    ],
)
def test_plain_text_has_no_control_codes(text, shown):
    assert plain(text) == shown


def test_last_line_skips_what_shows_nothing():
    assert last_line(b"one\ntwo\x1b[0m\n \x1b[0m\r\n\n") == "two"
    assert last_line(b"\xff\xfe broken\r50%\r") == "50%"
    assert last_line(b"y" * 500) == "y" * 119 + "…"
    assert last_line(b"") == ""
    warned = b"/v/copyreg.py:105: FutureWarning: `isinstance` is deprecated\n  return cls(*args)\n"
    assert last_line(warned) == ""
    assert last_line(b"  compiling\n" + warned + warned) == "compiling"
