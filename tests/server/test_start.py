"""What a server loads before it answers: clients hide one that is slow."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request

HEAVY = {"torch", "numpy", "rich", "typer", "triton", "elftools"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def serve(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, "-m", "aoti_debug", "serve"],
        input=json.dumps(INITIALIZE) + "\n",
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
    assert not loaded & HEAVY


def test_a_log_is_diagnosed_without_what_only_runs_and_packages_need(tmp_path):
    log = tmp_path / "run.log"
    log.write_text("RuntimeError: x\n")
    command = [sys.executable, "-X", "importtime", "-m", "aoti_debug", "diagnose", str(log)]
    loaded = imported(subprocess.run(command, capture_output=True, text=True, check=False).stderr)
    assert "aoti_debug.diagnose.rank" in loaded
    needless = tuple(
        """
        anyio asyncio psutil jinja2 yaml elftools mcp aoti_debug.run.process
        aoti_debug.run.directory aoti_debug.package.record aoti_debug.triage aoti_debug.service
        """.split()
    )
    assert not loaded & set(needless)


def test_initialize_is_answered_and_nothing_else_is_said():
    ended = serve()
    (line,) = ended.stdout.splitlines()
    answer = json.loads(line)["result"]
    assert answer["serverInfo"]["name"] == "aoti-debug"
    assert answer["instructions"].startswith("Finds why a PyTorch model")
    assert ended.stderr == ""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def test_http_says_where_it_is_served_once_it_is():
    place = f"127.0.0.1:{free_port()}"
    with subprocess.Popen(
        [sys.executable, "-m", "aoti_debug", "serve", "--http", place],
        stderr=subprocess.PIPE,
        text=True,
    ) as served:
        assert served.stderr is not None
        assert served.stderr.readline() == f"serving MCP at http://{place}/mcp\n"
        request = urllib.request.Request(
            f"http://{place}/mcp",
            json.dumps(INITIALIZE).encode(),
            {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
        )
        with urllib.request.urlopen(request) as answer:
            assert b'"aoti-debug"' in answer.read()
        served.terminate()
        assert served.stderr.read() == ""
    assert served.returncode == -signal.SIGTERM


def test_http_at_a_port_that_is_taken_says_so():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = subprocess.run(
            [sys.executable, "-m", "aoti_debug", "serve", "--http", place],
            capture_output=True,
            text=True,
        )
    assert "address already in use" in ended.stderr
    assert "serving" not in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 3


def test_stray_output_does_not_reach_the_client(tmp_path):
    """A tool's own prints go to standard error; the protocol owns standard output."""
    source = (
        "import os, sys; from aoti_debug.server import for_process, serve\n"
        "server = for_process()\n"
        "async def noisy() -> str:\n"
        "    'Print.'\n"
        "    print('stray'); os.write(1, b'raw'); return 'done'\n"
        "server.add_tool(noisy)\n"
        "serve(server)\n"
    )
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "noisy"}}
    ended = subprocess.Popen(
        [sys.executable, "-c", source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with ended:
        assert ended.stdin is not None
        assert ended.stdout is not None
        for message in (INITIALIZE, call):
            ended.stdin.write(json.dumps(message) + "\n")
            ended.stdin.flush()
            assert json.loads(ended.stdout.readline())["id"] == message["id"]
        ended.stdin.close()
