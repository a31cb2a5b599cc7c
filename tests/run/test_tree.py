"""No process outlives its run, however the run ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import anyio
import anyio.lowlevel
import anyio.to_thread
import psutil
from aoti_debug.run.process import run_process

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

SERVER = """
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


def _read(mailbox, pids: list[int]):
    """Keep a program that has timed out until two of its processes have told their numbers."""

    async def wait(_: int) -> None:
        for _ in range(2):
            pids.append(int(await anyio.to_thread.run_sync(mailbox.read)))

    return wait


def test_daemon_that_outlives_the_program_is_ended(finish, mailbox):
    end = finish(DAEMON + "daemon()", mailbox.path)
    assert (end.code, end.strays) == (0, 1)
    assert _ended(int(mailbox.read()))


def test_daemon_that_ignores_sigterm_is_killed(finish, mailbox):
    end = finish(DAEMON + "daemon(deaf=True)", mailbox.path, grace_s=0.2)
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


def test_time_out_ends_the_daemons_too(finish, mailbox):
    source = DAEMON + "daemon(); daemon(deaf=True); time.sleep(1000)"
    pids: list[int] = []
    end = finish(source, mailbox.path, timeout_s=0.1, grace_s=0.2, on_timeout=_read(mailbox, pids))
    assert end.timed_out
    assert _ended(*pids)


def test_children_that_multiply_are_ended(finish, mailbox):
    source = DAEMON + textwrap.dedent(
        """
        def go_on(*_):
            if os.fork() == 0:
                os.setsid()
                os.write(mailbox, b"%d\\n" % os.getpid())
        signal.signal(signal.SIGTERM, go_on)
        go_on(), go_on()
        while True:
            time.sleep(1000)
        """
    )
    pids: list[int] = []
    end = finish(source, mailbox.path, timeout_s=0.1, grace_s=0.2, on_timeout=_read(mailbox, pids))
    assert end.timed_out
    assert end.strays >= 1
    assert _ended(*pids, int(mailbox.read()))


def test_cancelling_ends_the_tree(command, logs, mailbox):
    source = DAEMON + "daemon(); os.write(mailbox, b'%d\\n' % os.getpid()); time.sleep(1000)"
    pids = []

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_process, command(source, mailbox.path), logs)
            for _ in range(2):
                pids.append(int(await anyio.to_thread.run_sync(mailbox.read)))
            tasks.cancel_scope.cancel()

    anyio.run(main)
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_cancelling_at_any_moment_of_the_start_leaves_nothing(command, logs):
    made = command("import time; time.sleep(1000)", grace_s=0.1)
    others = psutil.Process().children(recursive=True)

    async def main() -> None:
        for steps in range(12):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run_process, made, logs / str(steps))
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()

    anyio.run(main)
    left = [one for one in psutil.Process().children(recursive=True) if one not in others]
    assert not psutil.wait_procs(left, timeout=30)[1]


def test_stop_ends_the_tree_and_tells_the_end(command, logs, mailbox):
    source = DAEMON + "print('begun', flush=True); daemon(); time.sleep(1000)"
    ends = []

    async def main() -> None:
        stop = anyio.Event()

        async def run() -> None:
            ends.append(await run_process(command(source, mailbox.path), logs, stop=stop))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            pid = int(await anyio.to_thread.run_sync(mailbox.read))
            stop.set()
        assert not psutil.pid_exists(pid)

    anyio.run(main)
    assert (ends[0].cancelled, ends[0].how, ends[0].timed_out) == (True, "cancelled", False)
    assert (logs / "stdout.log").read_text() == "begun\n"


def test_server_ended_by_sigkill_leaves_no_orphan(tmp_path, mailbox):
    source = DAEMON + (
        "print('begun', flush=True); daemon(); daemon(deaf=True);"
        "os.write(mailbox, b'%d\\n%d\\n' % (os.getpid(), os.getppid())); time.sleep(1000)"
    )
    argv = [sys.executable, "-c", SERVER, str(mailbox.path), source]
    with subprocess.Popen(argv, cwd=tmp_path) as server:
        pids = [int(mailbox.read()) for _ in range(4)]
        assert all(psutil.pid_exists(pid) for pid in pids)
        log = tmp_path / "logs" / "stdout.log"
        while log.read_text() != "begun\n":
            assert server.poll() is None
        server.send_signal(signal.SIGKILL)
    assert _ended(*pids)
    assert log.read_text() == "begun\n"


def test_program_that_kills_its_launcher_is_ended_with_its_daemons(finish, mailbox):
    source = DAEMON + "daemon(); os.kill(os.getppid(), 9); time.sleep(1000)"
    end = finish(source, mailbox.path)
    assert end.signal == "SIGKILL"
    assert "ended from outside" in end.notes[0]
    assert _ended(int(mailbox.read()))


def test_launcher_ended_by_sigterm_ends_the_program(finish, mailbox):
    source = DAEMON + "daemon(); os.kill(os.getppid(), 15); time.sleep(1000)"
    end = finish(source, mailbox.path)
    assert end.signal == "SIGTERM"
    assert _ended(int(mailbox.read()))


def test_output_of_a_process_that_cannot_be_followed_does_not_hold_up_the_end(finish, mailbox):
    source = DAEMON + "os.environ.clear(); daemon(); print('done')"
    end = finish(source, mailbox.path)
    assert end.ok
    assert _ended(int(mailbox.read()))


def test_program_that_writes_to_its_launchers_pipe_disturbs_nothing(finish):
    source = """
    import os
    with open(f"/proc/{os.getppid()}/fd/1", "wb", buffering=0) as status:
        for line in (b"x" * 9000, b"[1]", b'{"pid": "1"}', b'{"wall": []}', b"\\xff", b""):
            status.write(line + b"\\n")
    raise SystemExit(4)
    """
    end = finish(source)
    assert (end.code, end.notes) == (4, ())
