"""Measure how long a client waits for `initialize`: this server against a bare one-tool MCPServer;
and what the diagnosis of a log of one line costs as a command.

Both servers are started in turns, so that a busy machine slows them alike; the ratio is of the
medians. The command's cost is told in processor seconds too, which other work disturbs less.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARE = """\
from mcp.server import MCPServer

server = MCPServer("bare")


@server.tool()
async def greet(name: str) -> str:
    "Greet."
    return name


server.run()
"""
LIMIT = 1.15  # of the bare server's time
DIAGNOSE_S = 0.45
REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


def seconds_to_initialize(command: list[str]) -> float:
    """Start a server, ask, return the seconds until its answer."""
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(REQUEST) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        took = time.perf_counter() - started
        assert "serverInfo" in answer["result"]
        server.stdin.close()
        server.wait()
    return took


def seconds_to_diagnose(log: Path) -> tuple[float, float]:
    """Return what the command takes for one line: processor seconds, seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "aoti_debug", "diagnose", str(log)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    took, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        commands = {
            "bare MCPServer": [sys.executable, str(bare)],
            "aoti-debug": [sys.executable, "-m", "aoti_debug", "serve"],
        }
        for command in commands.values():  # byte-compile
            seconds_to_initialize(command)
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                times[name].append(seconds_to_initialize(command))
        log = Path(folder) / "one.log"
        log.write_text("RuntimeError: x\n")
        diagnosed = [seconds_to_diagnose(log) for _ in range(options.rounds + 1)][1:]
    report(times, diagnosed, as_json=options.json)


def report(
    times: dict[str, list[float]], diagnosed: list[tuple[float, float]], *, as_json: bool
) -> None:
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratio = medians["aoti-debug"] / medians["bare MCPServer"]
    if as_json:
        print(
            json.dumps(
                {
                    "seconds": times,
                    "ratio": ratio,
                    "limit": LIMIT,
                    "diagnose": diagnosed,
                    "diagnose_limit_s": DIAGNOSE_S,
                }
            )
        )
        return
    print(f"{'initialize answered after':28}{'median':>10}{'fastest':>10}{'slowest':>10}")
    for name, values in times.items():
        row = (medians[name], min(values), max(values))
        print(f"{name:28}" + "".join(f"{value * 1000:7.0f} ms" for value in row))
    print(f"{'ratio of the medians':28}{ratio:10.2f}   (limit {LIMIT})")
    for what, seconds in zip(("processor", "wall"), zip(*diagnosed, strict=True), strict=True):
        median, fastest = statistics.median(seconds), min(seconds)
        print(
            f"{f'one line diagnosed, {what}':28}{median * 1000:7.0f} ms{fastest * 1000:7.0f} ms"
            f"{max(values) * 1000:7.0f} ms   (limit {DIAGNOSE_S * 1000:.0f} ms)"
        )


if __name__ == "__main__":
    main()
