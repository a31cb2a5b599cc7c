"""A command that is told to end takes its run along."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from file_watch import READ, FileWatch

PATIENCE_S = 60.0
GONE_S = 5.0
TARGET = """\
import os, signal, sys
if os.fork() == 0:
    os.setsid()
with open(sys.argv[1], "w") as mailbox:
    print(os.getpid(), file=mailbox, flush=True)
signal.pause()
"""


def processes_of(mailbox: int) -> list[psutil.Process]:
    said = b""
    while said.count(b"\n") < 2:
        if not select.select([mailbox], [], [], PATIENCE_S)[0]:
            raise TimeoutError("the target did not start")
        said += os.read(mailbox, 4096)
    return [psutil.Process(int(number)) for number in said.split()]


@pytest.mark.parametrize("command", ["run", "triage"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_run_ends_with_its_command(home: Path, tmp_path: Path, command: str, number: int) -> None:
    script = tmp_path / "target.py"
    script.write_text(TARGET)
    path = tmp_path / "mailbox"
    os.mkfifo(path)
    mailbox = os.open(path, os.O_RDWR)
    with subprocess.Popen(
        [sys.executable, "-m", "aoti_debug", command, script, "--", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        processes = processes_of(mailbox)
        started.send_signal(number)
        out, err = started.communicate(timeout=PATIENCE_S)
    os.close(mailbox)
    assert started.returncode == 128 + number
    assert out == ""
    assert "keeps what was seen" in err
    assert "Traceback" not in err
    _, alive = psutil.wait_procs(processes, timeout=GONE_S)
    assert [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []


def test_reading_a_log_ends_at_an_interrupt(home: Path, tmp_path: Path) -> None:
    log = tmp_path / "endless.log"
    log.touch()
    os.truncate(log, 1 << 40)
    watch = FileWatch(log)
    with subprocess.Popen(
        [sys.executable, "-m", "aoti_debug", "diagnose", log],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        watch.wait(READ)
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=PATIENCE_S)
    watch.close()
    assert (started.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_commands_do_not_load_the_server(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "target.py"
    script.write_text("print('fine')\n")
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "aoti_debug", "run", script, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in ended.stderr.splitlines()
        if line.startswith("import time:")
    }
    assert "typer" in imported
    assert not imported & {"mcp", "mcp_types", "torch", "numpy", "rich", "starlette"}
