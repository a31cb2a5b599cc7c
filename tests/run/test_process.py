"""How programs end, what they print and what they are started with; no process outlives its run,
however the run ends."""

from __future__ import annotations

import os
import signal
import sys
import textwrap

import anyio
import anyio.lowlevel
import psutil
import pytest
from aoti_debug.errors import CannotStart, RunDirectoryError
from aoti_debug.run.process import run_process
from aoti_debug.triage.run_state import Counter

SLEEPS = "import time; time.sleep(1000)"
CRASH = """
import os, resource, signal
resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
os.kill(os.getpid(), signal.SIGSEGV)
"""


def test_exit_code_is_kept(finish):
    end = finish("raise SystemExit(7)")
    assert (end.code, end.signal, end.core, end.how, end.ok) == (7, None, False, "exit 7", False)
    assert (end.strays, end.notes) == (0, ())


def test_success_tells_time_memory_and_process(finish, logs):
    end = finish("import os; x = b'1' * 50_000_000; print(os.getpid())")
    assert end.ok
    assert end.pid == int((logs / "stdout.log").read_text())
    assert end.peak_rss > 50_000_000
    assert end.wall_s > 0


def test_signal_and_core_flag_are_those_that_a_bare_parent_sees(finish, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    argv = [sys.executable, "-c", CRASH]
    _, status = os.waitpid(os.posix_spawn(sys.executable, argv, os.environ), 0)
    end = finish(CRASH)
    assert (end.code, end.signal, end.core) == (None, "SIGSEGV", os.WCOREDUMP(status))
    assert end.how == ("SIGSEGV (core dumped)" if end.core else "SIGSEGV")


def test_streams_are_kept_apart_byte_for_byte(finish, logs):
    writes = r"os.write(1, b'\xff\xfe\x00 out\n'); os.write(2, b'err \x1b[31m\xc3')"
    end = finish(f"import os; {writes}")
    assert (logs / "stdout.log").read_bytes() == b"\xff\xfe\x00 out\n"
    assert (logs / "stderr.log").read_bytes() == b"err \x1b[31m\xc3"
    assert (end.stdout.bytes, end.stderr.bytes) == (8, 10)


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("repr(sys.stdin.read())", "''"),
        ("os.getsid(0) != int(sys.argv[1]), os.getpgid(0) == os.getpid()", "True True"),
        ("open('/proc/self/status').read().split('SigBlk:')[1].split()[0]", "0" * 16),
        ("*sorted(int(n) for n in os.listdir('/proc/self/fd'))[:-1]", "0 1 2"),
    ],
)
def test_program_has_no_input_own_session_default_signals_three_descriptors(
    finish, logs, source, printed
):
    finish(f"import os, sys; print({source})", os.getsid(0))
    assert (logs / "stdout.log").read_text() == f"{printed}\n"


def test_environment_is_the_given_one_and_a_mark(finish, logs):
    env = {"PATH": os.environ["PATH"], "ONLY": "this \udcff"}
    finish(argv=("env",), env=env)
    lines = (logs / "stdout.log").read_bytes().split(b"\n")
    assert b"ONLY=this \xff" in lines
    names = {line.split(b"=")[0] for line in lines if line}
    assert names == {b"PATH", b"ONLY", b"AOTI_DEBUG_PROCESS"}


@pytest.mark.parametrize(
    ("name", "place", "said"),
    [
        ("no-such-program", ".", "no-such-program: No such file"),
        ("./text", ".", "./text: Permission denied"),
        ("true", "gone", "in /.*/gone: No such file"),
    ],
)
def test_what_cannot_be_executed_and_where_is_named(finish, tmp_path, name, place, said):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(CannotStart, match=said):
        finish(argv=(name,), cwd=tmp_path / place)


def test_unwritable_log_directory_is_named(command, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunDirectoryError, match="cannot write logs"):
        anyio.run(run_process, command("pass"), tmp_path / "file" / "logs")


def test_program_that_ignores_sigterm_is_killed(finish, mailbox):
    source = f"trap '' TERM; echo $$ > {mailbox.path}; exec sleep 1000"
    words = {"timeout_s": 0.1, "grace_s": 0.1, "on_timeout": lambda _: mailbox.pid()}
    end = finish(argv=("sh", "-c", source), **words)
    assert (end.timed_out, end.signal) == (True, "SIGKILL")


def test_stopped_program_is_ended(finish):
    end = finish(argv=("sh", "-c", "kill -STOP $$"), timeout_s=0.5, grace_s=0.1)
    assert end.timed_out
    assert end.signal in ("SIGTERM", "SIGKILL")


def test_time_out_ends_the_program_which_on_timeout_sees_alive(finish):
    seen = []

    async def look(pid: int) -> None:
        seen.extend(psutil.Process(pid).cmdline())

    end = finish(f"{SLEEPS}  # here", timeout_s=0.2, on_timeout=look)
    assert seen[-1].endswith("# here")
    assert (end.timed_out, end.signal, end.how) == (True, "SIGTERM", "timed out after 0.2 s")
    assert end.notes == ()


# A program that made three calls, and listens for the requests that would make it call again.
SERVER = """
import signal, socket, sys
from pathlib import Path
from aoti_debug.probe import call_counters
calls = Path("calls")
calls.mkdir()
counted = call_counters.CallCounters(str(calls / "1-0.bin"))
counted.numbers[call_counters.row(0)] = counted.numbers[call_counters.RETURNED] = 3
with socket.create_server(("127.0.0.1", 0)) as server:
    if sys.argv[1] != "listens":
        server.close()
    signal.pause()
"""


@pytest.mark.parametrize(("socket", "serves"), [("listens", True), ("closed", False)])
def test_a_server_that_waits_for_requests_does_not_hang(
    finish, tmp_path, socket: str, serves: bool
):
    end = finish(SERVER, socket, timeout_s=8.0, serving=Counter(tmp_path).going_on)
    assert (end.enough, end.timed_out) == (serves, not serves)
    assert end.ending.signal is None  # what ended it was ours
    assert end.ending.clean is serves


def test_on_timeout_that_hangs_or_fails_is_noted(finish):
    async def hang(_: int) -> None:
        await anyio.sleep_forever()

    async def fail(_: int) -> None:
        raise ValueError("no debugger")

    end = finish(SLEEPS, timeout_s=0.1, on_timeout_s=0.1, on_timeout=hang)
    assert end.notes == ("gave up on stacks after 0.1 s",)
    end = finish(SLEEPS, timeout_s=0.1, on_timeout=fail)
    assert end.notes == ("no stacks: ValueError: no debugger",)
    assert end.timed_out


def test_progress_tells_bytes_and_last_line(finish, tmp_path):
    told = []

    def note(progress) -> None:
        if progress.bytes:
            told.append(progress)
            (tmp_path / "go").touch()

    source = r"""
    import os, sys
    sys.stderr.write("\x1b[31mstep 1\rstep \u202e2\n\n"), sys.stderr.flush()
    while not os.path.exists("go"): pass
    """
    finish(source, on_progress=note)
    assert told[0].last_line == "step 2"
    assert told[0].bytes == len(b"\x1b[31mstep 1\rstep \xe2\x80\xae2\n\n")
    assert told[0].elapsed_s > 0


def test_progress_callback_that_fails_does_not_end_the_program(finish, tmp_path):
    def fail(_) -> None:
        (tmp_path / "go").touch()
        raise ValueError("listener gone")

    end = finish("import os\nwhile not os.path.exists('go'): pass", on_progress=fail)
    assert end.ok
    assert end.notes == ("progress ended: ValueError: listener gone",)


def test_program_that_kills_its_whole_group_is_still_told(finish):
    end = finish("import os; os.kill(0, 9)")
    assert (end.signal, end.notes) == ("SIGKILL", ())


@pytest.mark.parametrize(
    "lines",
    [
        (b'{"status": 0, "wall": 1.0}', b'x {"status": 0}', b'{"left": 0}'),
        (b"x" * 9000, b"[1]", b'{"pid": "1"}', b'{"wall": []}', b"\xff", b""),
    ],
)
def test_a_status_that_the_program_writes_is_not_believed(finish, lines):
    source = f"""
    import os, signal
    try:
        with open(f"/proc/{{os.getppid()}}/fd/1", "wb", buffering=0) as status:
            for line in {lines}:
                status.write(line + b"\\n")
    except PermissionError:
        pass  # it is not root
    os.kill(os.getpid(), signal.SIGSEGV)
    """
    end = finish(source)
    assert (end.signal, end.notes) == ("SIGSEGV", ())


# A daemon by the book: two forks and a session of its own. It tells its number, then stays.
DAEMON = """
import os, signal, sys, time
mailbox = os.open(sys.argv[1], os.O_WRONLY)
def daemon(deaf=False):
    wait, told = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if deaf:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.write(mailbox, b"%d\\n" % os.getpid())
            os.write(told, b"!")
            time.sleep(1000)
        os._exit(0)
    os.wait()
    os.read(wait, 1)
"""

KILLED = """
import os, sys
from pathlib import Path
import anyio
from aoti_debug.run.process import Command, run_process
argv = (sys.executable, "-c", sys.argv[2], sys.argv[1])
command = Command(argv, dict(os.environ), Path.cwd(), grace_s=0.2)
anyio.run(run_process, command, Path("logs"))
"""


def _ended(*pids: int) -> bool:
    """Wait for the end of processes that are none of ours."""
    processes = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    return not psutil.wait_procs(processes, timeout=30)[1]


@pytest.mark.parametrize(
    "source", ["daemon()", "daemon(deaf=True)", "os.environ.clear(); daemon(); print('done')"]
)
def test_daemon_that_outlives_the_program_is_ended(finish, mailbox, source):
    end = finish(DAEMON + source, mailbox.path, grace_s=0.2)
    assert (end.code, end.strays) == (0, 1)
    assert _ended(int(mailbox.read()))


def test_daemon_without_its_environment_is_ended(finish, mailbox):
    source = f'exec setsid env -i /bin/sh -c "echo \\$\\$ > {mailbox.path}; sleep 1000" &'
    end = finish(argv=("sh", "-c", source + "\nread -r line < /dev/null; exit 3"), grace_s=0.2)
    assert end.code == 3
    assert _ended(int(mailbox.read()))


def test_worker_that_ends_with_the_program_is_no_stray(finish):
    source = """
    import os, subprocess, sys
    subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    os._exit(0)
    """
    end = finish(source)
    assert (end.code, end.strays) == (0, 0)


MULTIPLIES = """
def go_on(*_):
    if os.fork() == 0:
        os.setsid()
        os.write(mailbox, b"%d\\n" % os.getpid())
signal.signal(signal.SIGTERM, go_on)
go_on(), go_on()
while True:
    time.sleep(1000)
"""


@pytest.mark.parametrize(
    ("source", "later"),
    [("daemon(); daemon(deaf=True); time.sleep(1000)", 0), (MULTIPLIES, 1)],
)
def test_time_out_ends_daemons_and_children_that_multiply(finish, mailbox, source, later):
    pids: list[int] = []

    async def read(_: int) -> None:
        pids.extend([await mailbox.pid(), await mailbox.pid()])

    end = finish(DAEMON + source, mailbox.path, timeout_s=0.1, grace_s=0.2, on_timeout=read)
    assert end.timed_out
    assert end.strays >= 1
    assert _ended(*pids, *[int(mailbox.read()) for _ in range(later)])


@pytest.mark.anyio
async def test_cancelling_at_any_moment_of_the_start_leaves_nothing(command, logs):
    made = command(SLEEPS, grace_s=0.1)
    others = psutil.Process().children(recursive=True)
    for steps in range(12):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_process, made, logs / str(steps))
            for _ in range(steps):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
    left = [one for one in psutil.Process().children(recursive=True) if one not in others]
    assert not psutil.wait_procs(left, timeout=30)[1]


@pytest.mark.anyio
@pytest.mark.parametrize("stops", [False, True])
async def test_cancelling_ends_the_tree_and_stop_tells_the_end_too(command, logs, mailbox, stops):
    source = DAEMON + (
        "print('begun', flush=True); daemon();"
        "os.write(mailbox, b'%d\\n' % os.getpid()); time.sleep(1000)"
    )
    ends, pids = [], []
    stop = anyio.Event()

    async def run() -> None:
        ends.append(await run_process(command(source, mailbox.path), logs, stop=stop))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        pids.extend([await mailbox.pid(), await mailbox.pid()])
        if stops:
            stop.set()
        else:
            tasks.cancel_scope.cancel()
    assert not any(psutil.pid_exists(pid) for pid in pids)
    if stops:
        assert (ends[0].cancelled, ends[0].how, ends[0].timed_out) == (True, "cancelled", False)
        assert (logs / "stdout.log").read_text() == "begun\n"


def test_server_ended_by_sigkill_leaves_no_orphan(spawn, logs, mailbox):
    source = DAEMON + (
        "print('begun', flush=True); daemon(); daemon(deaf=True);"
        "os.write(mailbox, b'%d\\n%d\\n' % (os.getpid(), os.getppid())); time.sleep(1000)"
    )
    with spawn(KILLED, mailbox.path, source) as server:
        pids = [int(mailbox.read()) for _ in range(4)]
        assert all(psutil.pid_exists(pid) for pid in pids)
        log = logs / "stdout.log"
        while log.read_text() != "begun\n":
            assert server.poll() is None
        server.send_signal(signal.SIGKILL)
    assert _ended(*pids)
    assert log.read_text() == "begun\n"


@pytest.mark.parametrize("ended_by", ["SIGKILL", "SIGTERM"])
def test_program_whose_launcher_ends_is_ended_with_all_it_left(finish, mailbox, ended_by):
    source = DAEMON + textwrap.dedent(
        f"""
        import subprocess
        left = subprocess.Popen(["sleep", "1000"], env={{}}, start_new_session=True)
        os.write(mailbox, b"%d\\n" % left.pid)
        daemon()
        os.kill(os.getppid(), signal.{ended_by})
        time.sleep(1000)
        """
    )
    end = finish(source, mailbox.path)
    assert end.signal == ended_by
    if ended_by == "SIGKILL":
        assert "ended from outside" in end.notes[0]
    assert _ended(int(mailbox.read()), int(mailbox.read()))
