"""What a server loads before it answers: clients hide one that is slow. However it ends, no
process of its runs outlives it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from mcp import Client
from programs import CLOSED, ENDLESS, READ, FileWatch
from server.conftest import (
    BEGIN,
    PATIENCE_S,
    SERVE,
    Server,
    answer_of,
    over_stdio,
    posted,
    served,
)

GONE_S = 5.0  # for processes to end

# Its child has a session of its own and does not listen to SIGTERM, as worker pools leave them.
TARGET = """\
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1], "w") as mailbox:
    print(os.getpid(), file=mailbox, flush=True)
signal.pause()
"""


class Target:
    """A script that stays, with a child that stays longer, and a pipe where both report."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "target.py"
        self.script.write_text(TARGET)
        self.mailbox = folder / "mailbox"
        os.mkfifo(self.mailbox)
        self._file = os.open(self.mailbox, os.O_RDWR)

    def processes(self) -> list[psutil.Process]:
        """Wait for both processes."""
        said = b""
        while said.count(b"\n") < 2:
            if not select.select([self._file], [], [], PATIENCE_S)[0]:
                raise TimeoutError("the target did not start")
            said += os.read(self._file, 4096)
        return [psutil.Process(int(number)) for number in said.split()]

    def call(self, **more: Any) -> dict[str, Any]:
        return {"script": str(self.script), "args": [str(self.mailbox)], **more}

    def close(self) -> None:
        os.close(self._file)


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    made = Target(tmp_path)
    yield made
    made.close()


@pytest.fixture
def reading(server: Server) -> Iterator[FileWatch]:
    """Have the server read a log that takes minutes; watch that log."""
    watch = FileWatch(ENDLESS)
    server.call({"path": str(ENDLESS)}, "diagnose_log")
    watch.wait(READ)
    yield watch
    watch.close()


def assert_gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=GONE_S)
    assert [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []


def begun(server: Server, target: Target) -> list[psutil.Process]:
    server.call(target.call())
    return target.processes()


def code_of(server: Server) -> int:
    return server.process.wait(PATIENCE_S)


SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGKILL])
def test_signal_to_the_server_ends_its_runs(server, target, number):
    processes = begun(server, target)
    server.process.send_signal(number)
    assert code_of(server) == -number
    assert_gone(processes)


def test_signal_ends_a_run_that_no_call_waits_for(server, target):
    server.call(target.call(wait_s=0))
    assert server.receive()["result"]["structuredContent"]["status"] == "running"
    processes = target.processes()
    server.process.terminate()
    assert code_of(server) == -signal.SIGTERM
    assert_gone(processes)


def test_closed_standard_input_ends_server_and_runs(server, target):
    processes = begun(server, target)
    server.process.stdin.close()
    assert code_of(server) == 0
    assert_gone(processes)


def cancel(server: Server) -> None:
    server.tell("notifications/cancelled", {"requestId": 2})


def assert_answers(server: Server) -> None:
    server.ask("ping", {}, number=3)
    assert server.receive() == {"jsonrpc": "2.0", "id": 3, "result": {}}


def test_cancelled_call_ends_its_run_and_not_the_server(server, target):
    processes = begun(server, target)
    cancel(server)
    assert_gone(processes)
    assert_answers(server)


def test_half_of_a_surrogate_pair_in_a_call_is_answered(server):
    server.call({"text": "x\ud800"}, tool="diagnose_log")
    refused = server.receive()
    assert refused["id"] == 2
    assert "surrogate" in refused["error"]["message"]
    assert_answers(server)


def test_idle_server_ends_at_sigterm(server):
    server.process.terminate()
    assert code_of(server) == -signal.SIGTERM


def test_server_that_is_being_spoken_to_ends_at_sigterm(server, tmp_path):
    server.process.terminate()
    with contextlib.suppress(BrokenPipeError):
        while server.process.poll() is None:
            server.tell("notifications/initialized", {})
    assert code_of(server) == -signal.SIGTERM
    assert (tmp_path / "errors").read_text() == ""


def test_cancelled_call_stops_reading_its_log(server, reading):
    cancel(server)
    reading.wait(CLOSED)
    assert_answers(server)


def test_an_artifact_of_any_size_is_answered_without_counting_its_lines(server, tmp_path):
    run = tmp_path / "home" / "runs" / "r-20261121-0102-abcd"
    run.mkdir(parents=True)
    (run / "stdout.log").touch()
    os.truncate(run / "stdout.log", 1 << 40)
    server.call({"run": run.name, "name": "stdout.log"}, "read_artifact")
    page = server.receive()["result"]["structuredContent"]
    assert (page["unit"], page["total"]) == ("bytes", 1 << 40)


@pytest.mark.parametrize("number", SIGNALS)
def test_server_that_reads_a_log_ends_at_a_signal(server, reading, number):
    server.process.send_signal(number)
    assert code_of(server) == -number


def test_server_that_reads_a_log_ends_with_its_client(server, reading, tmp_path):
    server.process.stdin.close()
    assert code_of(server) == 0
    assert (tmp_path / "errors").read_text() == ""


def test_client_that_is_killed_is_no_reason_for_a_traceback(server, target, tmp_path):
    processes = begun(server, target)
    server.process.stdout.close()
    server.process.stdin.close()
    assert code_of(server) == 1
    assert (tmp_path / "errors").read_text() == ""
    assert_gone(processes)


def test_server_killed_in_a_run_leaves_a_readable_directory(server, target, tmp_path):
    begun(server, target)
    server.process.kill()
    server.process.wait()
    (run,) = (tmp_path / "home" / "runs").iterdir()
    assert json.loads((run / "run.json").read_text())["run"] == run.name
    assert (run / "stdout.log").exists()


def test_client_that_leaves_takes_its_runs_along(target, tmp_path):
    async def work(client: Client) -> list[psutil.Process]:
        await client.call_tool("run_stage", target.call(wait_s=0))
        return await anyio.to_thread.run_sync(target.processes)

    assert_gone(over_stdio(tmp_path / "home", work))


FAR = """\
cd /
cat | env -i PATH="$PATH" HOME={home} AOTI_DEBUG_HOME={home} {python} -m aoti_debug serve | cat
"""


def test_a_server_behind_a_pipe_with_little_environment_is_one_like_any_other(target, tmp_path):
    """As `ssh host aoti-debug serve` is: the host's paths, no variables of the client's."""
    script = tmp_path / "far.py"
    script.write_text("import os\nprint('DISPLAY' in os.environ)\nraise KeyError('there')\n")
    far = FAR.format(home=tmp_path / "home", python=sys.executable)

    async def work(client: Client) -> list[psutil.Process]:
        wanted = {"script": str(script), "python": sys.executable}
        answer = answer_of(await client.call_tool("triage", wanted))
        assert "KeyError: 'there'" in answer["diagnosis"]["summary"]
        page = {"run": answer["run"], "name": "stdout.log"}
        assert answer_of(await client.call_tool("read_artifact", page))["text"] == "False"
        await client.call_tool("run_stage", target.call(wait_s=0, python=sys.executable))
        return await anyio.to_thread.run_sync(target.processes)

    assert_gone(over_stdio(tmp_path / "home", work, "sh", "-c", far, DISPLAY=":0"))


def serve(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, *SERVE[1:]],
        input=json.dumps(BEGIN) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )


def imported(said: str) -> set[str]:
    """Return the modules that Python names with `-X importtime`."""
    lines = (line for line in said.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


def test_nothing_heavy_is_imported():
    loaded = {name.partition(".")[0] for name in imported(serve("-X", "importtime").stderr)}
    assert "mcp" in loaded
    assert not loaded & {"torch", "numpy", "rich", "typer", "triton", "elftools"}


def test_a_log_is_diagnosed_without_what_only_runs_and_packages_need(tmp_path):
    log = tmp_path / "run.log"
    log.write_text("RuntimeError: x\n")
    command = [sys.executable, "-X", "importtime", "-m", "aoti_debug", "diagnose", str(log)]
    loaded = imported(subprocess.run(command, capture_output=True, text=True).stderr)
    assert "aoti_debug.diagnose.rank" in loaded
    rooms = ("run.process", "run.directory", "package.record", "triage", "service")
    needless = {"anyio", "asyncio", "psutil", "jinja2", "yaml", "elftools", "mcp"}
    assert not loaded & {*needless, *(f"aoti_debug.{room}" for room in rooms)}


def test_initialize_is_answered_and_nothing_else_is_said():
    ended = serve()
    (line,) = ended.stdout.splitlines()
    answer = json.loads(line)["result"]
    assert answer["serverInfo"]["name"] == "aoti-debug"
    assert answer["instructions"].startswith("Finds why a PyTorch model")
    assert ended.stderr == ""


def test_http_says_where_it_is_served_once_it_is(tmp_path):
    with served(tmp_path / "home") as server:
        assert '"aoti-debug"' in posted(server, BEGIN, "").text
        assert server.ended() == ""
    assert server.process.returncode == -signal.SIGTERM


def test_http_at_a_port_that_is_taken_says_so():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = subprocess.run([*SERVE, "--http", place], capture_output=True, text=True)
    assert "address already in use" in ended.stderr
    assert "serving" not in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 3


NOISY = """
import os
from aoti_debug.server import for_process, serve
server = for_process()
async def noisy() -> str:
    "Print."
    print("stray")
    os.write(1, b"raw")
    return "done"
server.add_tool(noisy)
serve(server)
"""


def test_stray_output_does_not_reach_the_client(tmp_path):
    words = (sys.executable, "-c", NOISY)
    with contextlib.closing(Server(tmp_path / "home", tmp_path / "errors", *words)) as noisy:
        noisy.call({}, "noisy")
        assert noisy.receive()["id"] == 2
