"""Measure the one pass over a large log: seconds, MB/s, peak memory.

    python evals/benchmarks/scan_log.py [--megabytes 1000] [--kind ordinary]

Kinds: `ordinary` (a training log of about 100 bytes a line), `random` (lines of random words, no
two alike), `repeats` (one assert over and over), `one-line` (no newline at all). A fault stands at
the end of each but the last, and the benchmark fails when it is not found. All signatures are
matched too; they are filled up to 150 with invented ones.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from aoti_debug.facts.categories import Tier
from aoti_debug.read.record import DeviceAssert
from aoti_debug.read.scan import log_readers, scan
from aoti_debug.signatures.signature import Sample, Signature, matcher, signatures

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


KINDS = {
    "ordinary": ordinary,
    "random": random_words,
    "repeats": repeats,
    "one-line": one_line,
}


def write_log(path: Path, kind: str, megabytes: int) -> int:
    """Write the log from a block of 32 MB that repeats; return its number of lines."""
    block = bytearray()
    for line in KINDS[kind](random.Random(1)):
        block += line
        if len(block) >= 32_000_000:
            break
    with path.open("wb") as file:
        for _ in range(max(1, megabytes // 32)):
            file.write(block)
        if kind != "one-line":
            file.write(ASSERT % (99, 1, 2))
    return (megabytes // 32) * block.count(b"\n")


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
            matches=(Sample("", "recorded"),),
        )
        for i in range(max(0, count - len(real)))
    ]
    return (*real, *invented)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--kind", choices=sorted(KINDS), default="ordinary")
    options = parser.parse_args()
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
    main()
