"""Measure how long a client waits: for the server to start, for a log of one line, for a large log.

    latency.py start [--rounds 11]
    latency.py scan [--megabytes 1000] [--kind ordinary]
    latency.py diagnose [--megabytes 1000] [--kind KIND ...]

start: until `initialize` is answered, this server against a bare one-tool MCPServer, in turns, so
that a busy machine slows them alike; and what the diagnosis of a log of one line costs.

scan: the one pass over a large log of a kind of log_kinds.py, with 150 signatures (real and
invented).

diagnose: the command on a large log, each hostile kind unless said otherwise.

A fault ends each log; the benchmark fails when it is not read, or when that takes too long.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aoti_debug.facts.categories import Tier
from aoti_debug.read.record import DeviceAssert
from aoti_debug.read.scan import log_readers, scan
from aoti_debug.signatures.signature import Signature, matcher, signatures
from command import AOTI, with_options
from log_kinds import HOSTILE, KINDS, write_log

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
LARGE_S = 30.0  # for a log of 1 GB
CLIENT = {"clientInfo": {"name": "benchmark", "version": "1"}, "capabilities": {}}
PARAMS = {"protocolVersion": "2025-06-18", **CLIENT}
REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": PARAMS}


def seconds_to_initialize(command: list[str]) -> float:
    started, pipe = time.perf_counter(), subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
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


class Cost(NamedTuple):
    cpu_s: float
    wall_s: float
    peak_mb: int
    answer: dict[str, Any]


def diagnosed(log: Path) -> Cost:
    command = [*AOTI, "diagnose", str(log), "--json"]
    with tempfile.TemporaryFile() as answer:
        # Not a fork of this process, whose memory would count as the peak of the other.
        began, redirect = time.perf_counter(), (os.POSIX_SPAWN_DUP2, answer.fileno(), 1)
        started = os.posix_spawn(sys.executable, command, os.environ, file_actions=[redirect])
        *_, used = os.wait4(started, 0)
        took = time.perf_counter() - began
        answer.seek(0)
        found = json.load(answer)
    cpu = used.ru_utime + used.ru_stime
    return Cost(cpu, took, used.ru_maxrss >> 10, found)


def start(given: list[str]) -> None:
    parser = argparse.ArgumentParser("latency.py start")
    options = with_options(parser, rounds=11).parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        commands = {"bare MCPServer": [sys.executable, str(bare)], "aoti-debug": [*AOTI, "serve"]}
        for command in commands.values():  # byte-compile
            seconds_to_initialize(command)
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                times[name].append(seconds_to_initialize(command))
        log = Path(folder) / "one.log"
        log.write_text("RuntimeError: x\n")
        costs = [diagnosed(log) for _ in range(options.rounds + 1)][1:]
    report(times, [(cost.cpu_s, cost.wall_s) for cost in costs])


def report(times: dict[str, list[float]], diagnosed: list[tuple[float, float]]) -> None:
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratio = medians["aoti-debug"] / medians["bare MCPServer"]
    print(f"{'initialize answered after':28}{'median':>10}{'fastest':>10}{'slowest':>10}")
    for name, values in times.items():
        print(row_of(name, values))
    print(f"{'ratio of the medians':28}{ratio:10.2f}   (limit {LIMIT})")
    for what, seconds in zip(("processor", "wall"), zip(*diagnosed, strict=True), strict=True):
        row = row_of(f"one line diagnosed, {what}", seconds)
        print(f"{row}   (limit {DIAGNOSE_S * 1000:.0f} ms)")


def row_of(name: str, seconds: Sequence[float]) -> str:
    figures = (statistics.median(seconds), min(seconds), max(seconds))
    return f"{name:28}" + "".join(f"{one * 1000:7.0f} ms" for one in figures)


def table(count: int = 150) -> tuple[Signature, ...]:
    real = signatures()
    invented = [
        Signature(
            id=f"invented-{i}",
            phase="run",
            category="user_code",
            tier=Tier.NOTICE,
            patterns=(rf"invented failure {chr(97 + i % 26)}{chr(97 + i // 26)} of a kernel: .",),
            summary="",
            means="",
            guide="",
        )
        for i in range(max(0, count - len(real)))
    ]
    return (*real, *invented)


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def scan_log(given: list[str]) -> None:
    parser = argparse.ArgumentParser("latency.py scan")
    kind = {"choices": sorted(KINDS), "default": "ordinary"}
    options = with_options(parser, megabytes=1000, kind=kind).parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stderr.log"
        write_log(path, options.kind, options.megabytes)
        readers = [*log_readers("stderr.log"), matcher("stderr.log", table())]
        before = peak_mb()
        start, cpu = time.perf_counter(), time.process_time()
        with path.open("rb") as stream:
            result = scan(stream, "stderr.log", readers)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    found = [r for r in result.records if isinstance(r, DeviceAssert) and r.line == 99]
    if not found:
        raise SystemExit("the assert at the end was not found")
    triggers = sum(len(r.triggers) for r in readers)
    print(
        f"{options.kind}: {result.bytes / 1e6:.0f} MB, {result.lines} lines, {triggers} triggers: "
        f"{seconds:.1f} s ({cpu:.1f} s of CPU), {result.bytes / 1e6 / seconds:.0f} MB/s, "
        f"peak {peak_mb():.0f} MB ({before:.0f} MB before)"
    )
    for note in result.notes:
        print(note)


def diagnose_logs(given: list[str]) -> None:
    parser = argparse.ArgumentParser("latency.py diagnose")
    kinds = {"choices": sorted(KINDS), "nargs": "*", "default": list(HOSTILE)}
    options = with_options(parser, megabytes=1000, kind=kinds).parse_args(given)
    slow = []
    for kind in options.kind:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "stderr.log"
            write_log(path, kind, options.megabytes)
            cost = diagnosed(path)
        if cost.cpu_s > LARGE_S:
            slow.append(kind)
        print(
            f"{kind:14} {cost.answer['lines']:10} lines {cost.cpu_s:6.1f} s of CPU "
            f"{cost.wall_s:6.1f} s  peak {cost.peak_mb} MB",
            flush=True,
        )
    if slow:
        raise SystemExit(f"over {LARGE_S:.0f} s of CPU: {', '.join(slow)}")


if __name__ == "__main__":
    {"start": start, "scan": scan_log, "diagnose": diagnose_logs}[sys.argv[1]](sys.argv[2:])
