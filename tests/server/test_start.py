"""What a server loads before it answers: clients hide one that is slow."""

from __future__ import annotations

import json
import subprocess
import sys

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


def test_nothing_heavy_is_imported():
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in serve("-X", "importtime").stderr.splitlines()
        if line.startswith("import time:")
    }
    assert "mcp" in imported
    assert not imported & HEAVY


def test_initialize_is_answered_and_nothing_else_is_said():
    ended = serve()
    (line,) = ended.stdout.splitlines()
    answer = json.loads(line)["result"]
    assert answer["serverInfo"]["name"] == "aoti-debug"
    assert answer["instructions"].startswith("Finds why a PyTorch model")
    assert ended.stderr == ""


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
