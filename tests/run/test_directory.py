"""Run directories keep what a run leaves, page it, and let nothing out; logs keep the head and
the tail, and survive a full disk."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from aoti_debug import api
from aoti_debug.errors import RunDirectoryError, UnknownArtifact, UnknownRun
from aoti_debug.plain import last_line, plain
from aoti_debug.run.directory import RESERVE_BYTES, RunDirectory, list_runs, prune
from aoti_debug.run.files import files_below
from aoti_debug.run.kept import home
from aoti_debug.run.output import Log
from aoti_debug.signals import open_stoppable

CREATE = """
import sys
from pathlib import Path
from aoti_debug.run.directory import RunDirectory
print(RunDirectory.create(Path(sys.argv[1])).id, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path) -> RunDirectory:
    return RunDirectory.create(tmp_path)


@pytest.fixture
def log(run) -> Path:
    return run.path / "stdout.log"


def _old(at: Path, id: str, size: int = 0) -> RunDirectory:
    folder = at / "runs" / id
    folder.mkdir(parents=True)
    made = RunDirectory(folder)
    made.write_record({"status": "done"})
    (folder / "stdout.log").write_bytes(b"x" * size)
    return made


def _lines(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(count))


def test_home_is_the_named_one_or_in_the_cache():
    assert home({"AOTI_DEBUG_HOME": "/some/where"}) == Path("/some/where")
    assert home({}) == Path.home() / ".cache" / "aoti-debug"


def test_record_is_kept_with_run_and_server(run, tmp_path):
    run.write_record({"status": "done", "exit": "exit 1"})
    record = RunDirectory.open(run.id, tmp_path).read_record()
    assert record is not None
    assert (record.status, record.exit) == ("done", "exit 1")
    assert record.server["pid"] == os.getpid()


def test_space_for_the_record_is_kept_until_the_run_has_ended(run):
    reserve = run.path / ".reserve"
    assert reserve.stat().st_size == RESERVE_BYTES
    assert run.artifacts() == ["run.json"]
    run.write_record({"status": "running"})
    assert reserve.exists()
    run.write_record({"status": "done"})
    assert not reserve.exists()


def test_record_is_replaced_at_once(run):
    seen = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(run.read_record().peak_rss > 0)

    run.write_record({"peak_rss": 1})
    reader = threading.Thread(target=read)
    reader.start()
    for number in range(200):
        run.write_record({"peak_rss": number + 1, "filling": "x" * 10_000})
    done.set()
    reader.join()
    assert seen == {True}
    assert run.artifacts() == ["run.json"]


LONG = json.dumps({"status": "x" * (1 << 20)})
NO_RECORDS = ["pipe", "device", "hole", "", "{", "[1]", '"text"', "[" * 100_000, LONG]


@pytest.mark.parametrize("what", NO_RECORDS)
def test_record_that_cannot_be_read_is_empty(run, what):
    record = run.path / "run.json"
    record.unlink()
    if what == "pipe":
        os.mkfifo(record)
    elif what == "device":
        record.symlink_to("/dev/zero")
    else:
        record.write_text(what)
        if what == "hole":
            os.truncate(record, 1 << 40)
    assert run.read_record() is None


@pytest.mark.parametrize("id", ["", "..", "r-1", "../runs", "r-20261121-0102-ab1/", "*"])
def test_unknown_run_is_refused(tmp_path, id):
    with pytest.raises(UnknownRun):
        RunDirectory.open(id, tmp_path)


def test_home_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunDirectoryError, match="AOTI_DEBUG_HOME"):
        RunDirectory.create(tmp_path / "file")


def test_artifacts_are_regular_files_by_depth(run, tmp_path):
    (run.path / "steps" / "01-replay").mkdir(parents=True)
    (run.path / "steps" / "01-replay" / "stdout.log").touch()
    (run.path / "stderr.log").touch()
    (run.path / "link").symlink_to(tmp_path)
    os.mkfifo(run.path / "pipe")
    assert run.artifacts() == ["run.json", "stderr.log", "steps/01-replay/stdout.log"]


OUTSIDE = """
. .. ../secret a/../../secret /etc/passwd gone out outer/secret pipe folder nul\0 loop .key
"""


@pytest.mark.parametrize("name", ["", "x" * 5000, *OUTSIDE.split()])
def test_names_that_lead_elsewhere_are_refused(run, tmp_path, name):
    (tmp_path / "secret").write_text("secret")
    (run.path / "out").symlink_to(tmp_path / "secret")
    (run.path / "outer").symlink_to(tmp_path)
    (run.path / "loop").symlink_to("loop")
    (run.path / ".key").write_text("secret")
    (run.path / "folder").mkdir()
    os.mkfifo(run.path / "pipe")
    with pytest.raises(UnknownArtifact):
        run.resolve(name)
    with pytest.raises(UnknownArtifact):
        run.page(name)


def test_of_very_many_entries_some_are_looked_at(run):
    for number in range(30):
        (run.path / f"f{number}").touch()
    assert len(list(files_below(run.path, most=10))) == 10
    for number in range(30):
        (run.path / f"f{number}").unlink()
        (run.path / f"f{number}").mkdir()
        (run.path / f"f{number}" / "f").touch()
    assert len(list(files_below(run.path, most=35))) < 10


def test_link_inside_the_run_is_followed(run):
    (run.path / "call-1.txt").write_text("text")
    (run.path / "call-latest.txt").symlink_to("call-1.txt")
    assert run.page("call-latest.txt").text == "text"


def test_text_is_paged_by_lines(run, log):
    log.write_text(_lines(250))
    page = run.page("stdout.log")
    assert (page.unit, page.offset, page.limit, page.total) == ("lines", 0, 100, 250)
    seen = page.text + "\n"
    while page.next_offset is not None:
        page = run.page("stdout.log", page.next_offset, 60)
        seen += page.text + "\n"
    assert seen == _lines(250)


def test_offset_counts_from_the_end_and_behind_it_is_nothing(run, log):
    log.write_text(_lines(250) + "open")
    page = run.page("stdout.log", -2)
    assert (page.offset, page.total, page.text) == (249, 251, "line 249\nopen")
    assert run.page("stdout.log", -1000).offset == 0
    page = run.page("stdout.log", 257)
    assert (page.text, page.total, page.next_offset) == ("", 251, None)
    (run.path / "stderr.log").touch()
    assert run.page("stderr.log").total == 0


def test_page_stays_small_and_says_what_it_leaves_out(run, log):
    log.write_text(("x" * 100_000 + "\n") * 20 + "last\n")
    page = run.page("stdout.log", limit=1000)
    assert len(page.text) < 7000
    assert page.text.split("\n")[0] == "x" * 1000 + " [99,001 bytes of this line not shown]"
    assert page.next_offset == page.text.count("\n") + 1
    assert run.page("stdout.log", 20).text == "last"


def test_text_loses_controls_and_invalid_bytes(run, log):
    log.write_bytes(b"\xff bad \x1b[31mred\x00\x07\r\nnext\xc3\n")
    assert run.page("stdout.log").text == "\ufffd bad red\nnext\ufffd"


def test_page_of_a_long_file_is_found_across_blocks(run, log):
    log.write_text(_lines(400_000))
    page = run.page("stdout.log", 399_998)
    assert (page.total, page.text) == (400_000, "line 399998\nline 399999")
    assert run.page("stdout.log", 123_456, 1).text == "line 123456"


def test_binary_is_paged_by_bytes_as_hex(run):
    (run.path / "package.pt2").write_bytes(b"PK\x03\x04" + bytes(1000))
    page = run.page("package.pt2", limit=20)
    assert (page.unit, page.total, page.next_offset) == ("bytes", 1004, 20)
    first, second = page.text.split("\n")
    assert first == f"00000000  50 4b 03 04 {'00 ' * 12} PK{'.' * 14}"
    assert second == f"00000010  {'00 00 00 00':<47}  ...."
    assert run.page("package.pt2", -4).text.startswith("000003e8")
    assert len(run.page("package.pt2", limit=10**9).text) < 7000


def test_the_lines_of_a_sparse_file_are_not_counted(run, log):
    with log.open("wb") as file:
        file.write(b"first line\n")
        file.truncate(1 << 40)
    page = run.page("stdout.log", limit=16)
    assert (page.unit, page.total) == ("bytes", 1 << 40)
    assert page.text.endswith("first line......")


def test_oldest_runs_beyond_the_count_or_the_size_are_removed(tmp_path):
    ids = [f"r-2026112{day}-0102-aaaa" for day in range(6)]
    for id in ids:
        _old(tmp_path, id, size=1_000_000)
    assert [run.id for run in list_runs(tmp_path)] == ids[::-1]
    assert prune(4, at=tmp_path) == [ids[1], ids[0]]
    assert prune(50, 2_500_000, at=tmp_path) == [ids[3], ids[2]]
    assert [run.id for run in list_runs(tmp_path)] == ids[:3:-1]


def test_links_of_a_pruned_run_are_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("kept")
    run = _old(tmp_path, "r-20261121-0102-aaaa")
    (run.path / "link").symlink_to(tmp_path / "precious")
    assert prune(0, at=tmp_path) == [run.id]
    assert (tmp_path / "precious" / "file").read_text() == "kept"


def test_running_runs_are_kept_until_their_server_has_ended(spawn, tmp_path):
    with spawn(CREATE, tmp_path) as server:
        id = server.stdout.readline().strip()
        assert RunDirectory.open(id, tmp_path).is_running()
        assert prune(0, 0, at=tmp_path) == []
        server.kill()
    assert not RunDirectory.open(id, tmp_path).is_running()
    assert prune(0, at=tmp_path) == [id]


@pytest.mark.parametrize(
    ("change", "running"), [({"start": "1"}, False), ({"place": "elsewhere"}, True)]
)
def test_server_is_told_by_its_start_and_one_elsewhere_counts_for_a_day(run, change, running):
    record = json.loads((run.path / "run.json").read_text())
    record["server"] |= change
    (run.path / "run.json").write_text(json.dumps(record))
    assert run.is_running() is running
    os.utime(run.path, (0, 0))
    assert not run.is_running()


@pytest.mark.parametrize(
    "record",
    [
        {"started": "noon"},
        {"started": 1e300},
        {"started": []},
        {"status": [1], "wall_s": "long"},
        {"exit": 7},
        {"summary": ["x"]},
        {"status": "running", "server": {"pid": 10**40, "start": "1"}},
    ],
)
def test_one_damaged_record_is_one_row(tmp_path, monkeypatch, record):
    monkeypatch.setenv("AOTI_DEBUG_HOME", str(tmp_path))
    good = _old(tmp_path, "r-20261121-0103-good")
    bad = _old(tmp_path, "r-20261121-0102-wrng")
    (bad.path / "run.json").write_text(json.dumps(record))
    rows = {row.run: row for row in api.runs().runs}
    assert rows[good.id].status == "done"
    assert rows[bad.id].status == "failed"
    assert prune(0, at=tmp_path) == [good.id, bad.id]


def test_what_has_to_be_waited_for_is_not_read():
    reading, writing = os.pipe2(os.O_NONBLOCK)
    with open_stoppable(reading, threading.Event()) as file, pytest.raises(BlockingIOError):
        file.read(10)
    os.close(writing)


CAP = 64 << 10

FULL_DISK = """
import os, resource, sys
from pathlib import Path
import anyio
from aoti_debug.run.process import Command, run_process
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
source = "import sys; sys.stderr.write('short'); [print('y' * 99) for _ in range(201)]"
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
    size = end.stdout.bytes
    assert size == (1 << 30) + 11
    assert len(text) <= (1 << 20) + 100
    assert text.startswith(b"first\na line")
    assert text.endswith(b"a line of thirty-two bytes.....\nlast\n")
    said = f"[aoti-debug: {end.stdout.dropped:,} bytes dropped here]\n"
    head, marker, tail = text.partition(said.encode())
    assert marker
    assert len(head) + len(tail) + end.stdout.dropped in (size, size + 1)


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
    assert (stream.bytes, stream.lost) == (len(data), 0)
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


def test_program_goes_on_when_its_log_cannot_grow(spawn, logs):
    with spawn(FULL_DISK) as done:
        said, _ = done.communicate()
    assert done.returncode == 0
    assert said.startswith(
        "exit 0|20100|10100|10,100 bytes of stdout were lost: File too large; its last line was: yy"
    )
    assert (logs / "stdout.log").stat().st_size == 10_000
    assert (logs / "stderr.log").read_text() == "short"


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
