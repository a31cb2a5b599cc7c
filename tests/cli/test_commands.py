"""The command line: what it prints where, the status it ends with, and that a command takes its run
along when it is told to end."""

from __future__ import annotations

import io
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from aoti_debug.commands.app import run
from aoti_debug.commands.running import progress
from programs import ENDLESS, READ, FileWatch, torch_python


@dataclass(frozen=True)
class Said:
    status: int
    out: str
    err: str


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    monkeypatch.setenv("AOTI_DEBUG_HOME", str(place))
    monkeypatch.setenv("AOTI_DEBUG_PYTHON", torch_python())
    monkeypatch.setenv("COLUMNS", "100")
    return place


@pytest.fixture
def aoti(home: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run a command of the command line."""

    def call(*words: object) -> Said:
        status = run([str(word) for word in words])
        out, err = capfd.readouterr()
        return Said(status, out, err)

    return call


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "target.py"
    path.write_text(
        "import os, sys\n"
        "print('args', *sys.argv[1:], 'colour', os.environ.get('COLOUR'), 'in', os.getcwd())\n"
    )
    return path


ASSERTED = (
    "/tmp/torchinductor/xy/cxyz.py:34: unknown: block: [0,0,0], thread: [5,0,0] "
    "Assertion `index out of bounds: 0 <= tmp4 < 1000` failed.\n"
)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "run.log"
    path.write_text(ASSERTED)
    return path


def test_fault_in_a_log_ends_with_one(aoti, log):
    said = aoti("diagnose", log)
    assert said.status == 1
    assert "index out of bounds" in said.out
    assert "run.log:1" in said.out


def test_command_is_known_by_the_name_of_its_tool(aoti, log):
    said = aoti("diagnose_log", log)
    assert (said.status, said.out) == (1, aoti("diagnose", log).out)


def test_log_without_a_fault_ends_with_zero(aoti, log):
    log.write_text("all is well\nexit 0\n")
    said = aoti("diagnose", log)
    assert said.status == 0
    assert "nothing in this log" in said.out


def test_log_from_standard_input(aoti, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ASSERTED.encode() + b"\xff\n")))
    said = aoti("diagnose", "-", "--json")
    assert said.status == 1
    assert json.loads(said.out)["lines"] == 2


def test_json_is_one_document_on_standard_output(aoti, script):
    said = aoti("run", script, "--json")
    answer = json.loads(said.out)
    assert (answer["stage"], answer["exit"]) == ("baseline", "exit 0")
    assert answer["run"] in said.err


def test_error_as_json(aoti, tmp_path):
    said = aoti("diagnose", tmp_path / "no.log", "--json")
    assert said.status == 2
    assert set(json.loads(said.out)) == {"error", "help"}
    assert "no.log" in said.err


@pytest.mark.parametrize(
    ("words", "said_of_it"),
    [
        (["diagnose", "no-such.log"], "no-such.log"),
        (["inspect", "no-such.pt2"], "no-such.pt2"),
        (["run", "no-such.py"], "no-such.py"),
        (["run", "."], "directory"),
        (["run"], "target"),
        (["triage", "-m", "x.y", "--command", "ls"], "exclude"),
        (["run", "x.py", "--env", "nonsense"], "K=V"),
        (["run", "x.py", "--stage", "voodoo"], "kernel_names"),
        (["run", "x.py", "--timeout", "0"], "timeout"),
        (["run", "x.py", "--unknown"], "--unknown"),
        (["triage", "-m", "pytest", "-q", "test_x.py"], "-m MODULE -- ARGS"),
        (["run", "x.py", "--epochs", "3"], "SCRIPT -- ARGS"),
        (["diagnose", "/dev/zero"], "/dev/zero is not a regular file"),
        (["diagnose", "."], "is not a regular file"),
        (["artifact", "r-20200101-0000-zzzz", "run.json"], "`aoti-debug runs` lists"),
        (["triage", "x.py", "--report", "report.doc"], ".html"),
        (["serve", "--http", "0.0.0.0:1"], "--allow-remote"),
        (["serve", "--http", "nonsense"], "HOST:PORT"),
        (["voodoo"], "voodoo"),
    ],
)
def test_wrong_use_ends_with_two_and_says_why(aoti, words, said_of_it):
    said = aoti(*words)
    assert said.status == 2
    assert said_of_it in said.err
    assert said.out == ""
    assert "Traceback" not in said.err


def test_package_is_not_held_against_an_interpreter_that_is_none(aoti, tmp_path):
    said = aoti("inspect", tmp_path, "--python", "/no/python")
    assert (said.status, said.out) == (3, "")
    assert "cannot be executed" in said.err


def test_arguments_environment_and_directory_reach_the_script(aoti, script, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    said = aoti(
        "run", script, "--cwd", here, "--env", "COLOUR=blue=green", "--json", "--", "-x", "--json"
    )
    run = json.loads(said.out)["run"]
    page = aoti("artifact", run, "stdout.log")
    assert page.status == 0
    assert page.out == f"args -x --json colour blue=green in {here}\n"


def test_module_is_run(aoti, script):
    said = aoti("run", "-m", "target", "--cwd", script.parent, "--json", "--", "one")
    run = json.loads(said.out)["run"]
    assert aoti("artifact", run, "stdout.log").out.startswith("args one")


def test_all_behind_command_belongs_to_it(aoti):
    said = aoti("run", "--json", "--stage", "baseline", "--command", "/bin/echo", "--json", "-m", 5)
    run = json.loads(said.out)["run"]
    assert aoti("artifact", run, "stdout.log").out == "--json -m 5\n"


def test_output_of_the_target_is_shown_only_on_request(aoti, script):
    assert "args" not in aoti("run", script).err
    shown = aoti("run", script, "--show-output", "--json", "--", "seen")
    assert "args seen" in shown.err
    assert json.loads(shown.out)


def test_progress_is_plain_lines_without_a_terminal(aoti, script):
    said = aoti("run", script)
    assert " s  run r-" in said.err
    assert "\x1b" not in said.err + said.out


def test_progress_without_a_terminal_is_a_line_now_and_then(capsys):
    with progress() as report:
        for number in range(1000):
            report(f"first run, {number} s")
            report(f"step {number}")
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_stage_that_saw_no_model_says_so(aoti, script):
    said = aoti("run", script)
    assert "AOTInductor" in said.out


def test_runs_are_listed(aoti, script):
    assert "0 runs are kept" in aoti("runs").out
    run = json.loads(aoti("run", script, "--json").out)["run"]
    (listed,) = json.loads(aoti("runs", "--json").out)["runs"]
    assert (listed["run"], listed["kind"]) == (run, "baseline")
    assert run in aoti("runs").out


@pytest.mark.parametrize(("name", "start"), [("r.md", "# "), ("r.html", "<!doctype html>")])
def test_report_is_written(aoti, log, tmp_path, name, start):
    said = aoti("diagnose", log, "--report", tmp_path / name)
    assert said.status == 1
    assert (tmp_path / name).read_text("utf-8").startswith(start)


def test_artifact_is_paged(aoti, tmp_path):
    long = tmp_path / "long.py"
    long.write_text("for number in range(50): print('line', number)\n")
    run = json.loads(aoti("run", long, "--json").out)["run"]
    page = aoti("artifact", run, "stdout.log", "--offset", 10, "--limit", 2)
    assert page.out == "line 10\nline 11\n"
    assert "--offset 12" in page.err
    last = json.loads(aoti("artifact", run, "stdout.log", "--offset", -1, "--json").out)
    assert last["text"] == "line 49"
    assert "next_offset" not in last


def test_help_names_every_command(aoti):
    said = aoti("--help")
    assert said.status == 0
    for command in ("environment", "diagnose", "inspect", "run", "triage", "artifact", "serve"):
        assert command in said.out
    assert "Exit status" in said.out


def test_version_is_said(aoti):
    from aoti_debug import __version__

    assert aoti("--version").out == f"aoti-debug {__version__}\n"


def test_environment_is_reported(aoti):
    said = aoti("environment", "--python", sys.executable, "--json")
    assert said.status in (0, 1)
    assert json.loads(said.out)["python"] == sys.executable


COMMANDS = (
    ("diagnose",),
    ("inspect",),
    ("triage",),
    ("run",),
    ("triage", "--command"),
    ("diagnose", "/dev/null", "--report"),
    ("run", "x.py", "--cwd"),
    ("run", "x.py", "--python"),
    ("serve", "--http", "127.0.0.1:1", "--token-file"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("place", ["x" * 5000, "~nosuchuser/x", "under/file/x", "loop/x"])
def test_path_that_leads_nowhere_is_wrong_use_and_no_fault_of_ours(
    aoti, tmp_path, monkeypatch, command, place
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text("")
    (tmp_path / "under").mkdir()
    (tmp_path / "under" / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    said = aoti(*command, place + (".md" if "--report" in command else ""))
    assert said.status in (2, 3)
    assert "Traceback" not in said.err
    assert 0 < len(said.err) < 7000


def test_program_that_is_no_python_is_no_interpreter(aoti, script):
    for python in ("/bin/true", "/bin/false", "/bin/cat"):
        said = aoti("triage", script, "--python", python)
        assert (said.status, said.out) == (3, "")
        assert f"{python} is not a working Python" in said.err


@pytest.mark.parametrize("json", [(), ("--json",)])
@pytest.mark.parametrize("output", ["gone", "closed", "/dev/full"])
def test_answer_that_nobody_takes_is_no_fault_found(home, tmp_path, output, json):
    log = tmp_path / "log"
    log.write_text("RuntimeError: CUDA error: an illegal memory access was encountered\n")
    argv = [sys.executable, "-m", "aoti_debug", "diagnose", str(log), *json]
    if output == "closed":
        argv = ["sh", "-c", 'exec "$0" "$@" >&-', *argv]
    reader, writer = os.pipe()
    os.close(reader)
    target = os.open("/dev/full", os.O_WRONLY) if output == "/dev/full" else writer
    ended = subprocess.run(argv, stdout=target, stderr=subprocess.PIPE, text=True)
    for one in {target, writer}:
        os.close(one)
    assert ended.returncode == 3
    assert "standard output takes no answer" in ended.stderr
    assert "Traceback" not in ended.stderr


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


def test_reading_a_log_ends_at_an_interrupt(home: Path) -> None:
    watch = FileWatch(ENDLESS)
    with subprocess.Popen(
        [sys.executable, "-m", "aoti_debug", "diagnose", ENDLESS],
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
