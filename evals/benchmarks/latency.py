"""Measure how long a client waits: for the server to start, for a log of one line, for a large log.

    latency.py start [--rounds 11] [--json]
    latency.py scan [--megabytes 1000] [--kind ordinary]

start: until `initialize` is answered, this server against a bare one-tool MCPServer, in turns, so
that a busy machine slows them alike; the ratio is of the medians. And what the diagnosis of a log
of one line costs as a command, in processor seconds too, which other work disturbs less.

scan: the one pass over a large log: seconds, MB/s, peak memory. Kinds: `ordinary` (a training log
of about 100 bytes a line), `random` (lines of random words, no two alike), `repeats` (one assert
over and over), `one-line` (no newline at all), `hostile` (samples of all signatures with letters in
them, frames without end, words of failures in lines of 16 KB; no two alike). A fault stands at the
end of each but `one-line`, and the benchmark fails when it is not found. All signatures are matched
too; they are filled up to 150 with invented ones.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from aoti_debug.facts.categories import Tier
from aoti_debug.read.record import DeviceAssert
from aoti_debug.read.scan import log_readers, scan
from aoti_debug.signatures.signature import Signature, matcher, signatures, texts_of

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


def start(given: list[str]) -> None:
    parser = argparse.ArgumentParser("latency.py start")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(given)
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


_WORDS = (
    "loading model step batch loss tensor output input data worker epoch time elapsed sec memory "
    "allocated reserved node dataset shard cache hit miss token file error check failed launch"
)
WORDS = _WORDS.split(" ")
ASSERT = (
    b"/tmp/k.py:%d: unknown: block: [%d,0,0], thread: [%d,0,0] "
    b"Assertion `index out of bounds: 0 <= tmp4 < 1000` failed.\n"
)


def ordinary(rng: random.Random) -> Iterator[bytes]:
    step = 0
    while True:
        step += 1
        yield (
            f"2026-11-21 05:{step // 60 % 60:02d}:{step % 60:02d},{rng.randrange(1000):03d} INFO "
            f"trainer.py:{rng.randrange(900)} step {step} loss {rng.random():.6f} "
            f"{rng.choice(WORDS[:20])} {rng.randrange(1 << 32):08x} ok\n"
        ).encode()


def random_words(rng: random.Random) -> Iterator[bytes]:
    while True:
        yield (" ".join(rng.choices(WORDS, k=16)) + "\n").encode()


def repeats(rng: random.Random) -> Iterator[bytes]:
    while True:
        yield ASSERT % (34, rng.randrange(9999), rng.randrange(128))


def one_line(rng: random.Random) -> Iterator[bytes]:
    while True:
        yield bytes(rng.choices(b"abcdefghij .,", k=1000))


def hostile(rng: random.Random) -> Iterator[bytes]:
    samples = [s.text.encode()[:600] for one in signatures() for s in one.matches + one.neighbours]
    words = [
        t.encode() for one in signatures() for p in one.searched for t in texts_of(p, one.anchors)
    ]
    words += [t.encode() for reader in log_readers("x") for t in reader.triggers]
    salts = [bytes(rng.choices(b"ghijklmnopqrstuvwxyz", k=6)) for _ in range(50_000)]
    while True:
        for _ in range(400):
            text, at = rng.choice(samples).replace(b"\n", b" "), rng.randrange(200)
            yield text[:at] + rng.choice(salts) + text[at:] + b"\n"
            yield b" ".join([*rng.choices(words, k=5), rng.choice(salts)]) + b"\n"
            yield b'  File "/%s/torch/_inductor/x.py", line 3, in %s\n' % tuple(
                rng.choices(salts, k=2)
            )
        yield (
            b"Traceback (most recent call last):\n\x1b[31mRuntimeError: \r"
            + rng.choice(samples)
            + b"\n"
        )
        yield b" ".join(rng.choices(words, k=800))[:16_000] + b"\n"


KINDS = {
    "hostile": hostile,
    "ordinary": ordinary,
    "random": random_words,
    "repeats": repeats,
    "one-line": one_line,
}


def write_log(path: Path, kind: str, megabytes: int) -> int:
    """Write the log from blocks of 32 MB, of which only `hostile` makes a new one each time; return
    its number of lines."""
    lines, count, block = KINDS[kind](random.Random(1)), 0, bytearray()
    with path.open("wb") as file:
        for _ in range(max(1, megabytes // 32)):
            if kind == "hostile" or not block:
                block = bytearray()
                while len(block) < 32_000_000:
                    block += next(lines)
            file.write(block)
            count += block.count(b"\n")
        if kind != "one-line":
            file.write(ASSERT % (99, 1, 2))
    return count


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


def scan_log(given: list[str]) -> None:
    parser = argparse.ArgumentParser("latency.py scan")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--kind", choices=sorted(KINDS), default="ordinary")
    options = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stderr.log"
        write_log(path, options.kind, options.megabytes)
        readers = [*log_readers("stderr.log"), matcher("stderr.log", table())]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start, cpu = time.perf_counter(), time.process_time()
        with path.open("rb") as stream:
            result = scan(stream, "stderr.log", readers)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    found = [r for r in result.records if isinstance(r, DeviceAssert) and r.line == 99]
    if options.kind != "one-line" and not found:
        raise SystemExit("the assert at the end was not found")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    triggers = sum(len(r.triggers) for r in readers)
    print(
        f"{options.kind}: {result.bytes / 1e6:.0f} MB, {result.lines} lines, {triggers} triggers: "
        f"{seconds:.1f} s ({cpu:.1f} s of CPU), {result.bytes / 1e6 / seconds:.0f} MB/s, "
        f"peak {peak / 1024:.0f} MB ({before / 1024:.0f} MB before)"
    )
    for note in result.notes:
        print(note)


if __name__ == "__main__":
    {"start": start, "scan": scan_log}[sys.argv[1]](sys.argv[2:])
