"""Large logs, ordinary and hostile: an endless stream of lines of each kind."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from aoti_debug.read.scan import log_readers
from aoti_debug.signatures.signature import signatures, texts_of

_WORDS = (
    "loading model step batch loss tensor output input data worker epoch time elapsed sec memory "
    "allocated reserved node dataset shard cache hit miss token file error check failed launch"
)
WORDS = _WORDS.split(" ")
ASSERT = (
    b"/tmp/k.py:%d: unknown: block: [%d,0,0], thread: [%d,0,0] "
    b"Assertion `index out of bounds: 0 <= tmp4 < 1000` failed.\n"
)
LETTERS = b"ghijklmnopqrstuvwxyz"  # none that a kind of line leaves out


@cache
def salts() -> list[bytes]:
    """Return words that make lines differ in more than numbers."""
    rng = random.Random(1)
    return [bytes(rng.choices(LETTERS, k=6)) for _ in range(50_000)]


@cache
def samples() -> list[bytes]:
    found = [s.text.encode()[:600] for one in signatures() for s in one.matches + one.neighbours]
    return [text.replace(b"\n", b" ") for text in found]


@cache
def anchors() -> list[bytes]:
    """Return every text that a reader or a signature looks for."""
    found = [
        t.encode() for one in signatures() for p in one.patterns for t in texts_of(p, one.anchors)
    ]
    return found + [t.encode() for reader in log_readers("x") for t in reader.triggers]


def ordinary(rng: random.Random) -> Iterator[bytes]:
    """A training log of about 100 bytes a line."""
    step = 0
    while True:
        step += 1
        yield (
            f"2026-11-21 05:{step // 60 % 60:02d}:{step % 60:02d},{rng.randrange(1000):03d} INFO "
            f"trainer.py:{rng.randrange(900)} step {step} loss {rng.random():.6f} "
            f"{rng.choice(WORDS[:20])} {rng.randrange(1 << 32):08x} ok\n"
        ).encode()


def random_words(rng: random.Random) -> Iterator[bytes]:
    """Lines of random words, no two alike."""
    while True:
        yield (" ".join(rng.choices(WORDS, k=16)) + "\n").encode()


def repeats(rng: random.Random) -> Iterator[bytes]:
    """One assert over and over."""
    while True:
        yield ASSERT % (34, rng.randrange(9999), rng.randrange(128))


def one_line(rng: random.Random) -> Iterator[bytes]:
    """No newline at all."""
    while True:
        yield bytes(rng.choices(b"abcdefghij .,", k=1000))


def mixed(rng: random.Random) -> Iterator[bytes]:
    """Samples of all signatures with letters in them, frames without end, words of failures in
    lines of 16 KB; no two alike."""
    while True:
        for _ in range(400):
            text, at = rng.choice(samples()), rng.randrange(200)
            yield text[:at] + rng.choice(salts()) + text[at:] + b"\n"
            yield b" ".join([*rng.choices(anchors(), k=5), rng.choice(salts())]) + b"\n"
            yield _frame(rng)
        yield (
            b"Traceback (most recent call last):\n\x1b[31mRuntimeError: \r"
            + rng.choice(samples())
            + b"\n"
        )
        yield b" ".join(rng.choices(anchors(), k=800))[:16_000] + b"\n"


def many_anchors(rng: random.Random) -> Iterator[bytes]:
    """Lines that hold thirty of the texts that are looked for."""
    while True:
        yield b" ".join([*rng.choices(anchors(), k=30), rng.choice(salts())]) + b"\n"


def whole_samples(rng: random.Random) -> Iterator[bytes]:
    """Lines that signatures match, with a word of their own behind."""
    while True:
        yield rng.choice(samples()) + b" " + rng.choice(salts()) + b"\n"


def long_lines(rng: random.Random) -> Iterator[bytes]:
    """Lines of 1 MB, full of the texts that are looked for."""
    while True:
        yield b" ".join(rng.choices(anchors(), k=45_000))[:1_000_000] + b"\n"


BEGINNINGS = (
    b"Traceback (most recent call last):",
    b"Fatal Python error: Segmentation fault",
    b"Thread 0x00007f (most recent call first):",
    b"terminate called after throwing an instance of 'c10::Error'",
    b"========= Invalid __global__ read of size 4 bytes",
    b"#0  0x00007ffff in ",
    b"CUDA Exception: Warp Illegal Address",
    b"Exception raised from ",
    b"[ CUDAKernel - before_launch - ",
    b"before_launch - triton_poi_fused_",
    b"Constraints violated (L['x'].size()[0])! ",
    b"Error: input_handles[0]: unmatched dtype, expected: ",
    b"torch._inductor.exc.InductorError: CppCompileError: ",
    b"g++: fatal error: ",
    b"ptxas fatal   : ",
    b"RuntimeError: ",
    b"The above exception was the direct cause of the following exception:",
    b"/tmp/k.py:34: unknown: block: [1,0,0], thread: [2,0,0] Assertion `index out of bounds: ",
)


def beginnings(rng: random.Random) -> Iterator[bytes]:
    """Short lines, each the beginning of what a reader reads on from."""
    while True:
        yield rng.choice(BEGINNINGS) + rng.choice(salts()) + b"\n"


def frames(rng: random.Random) -> Iterator[bytes]:
    """Tracebacks that never end."""
    yield b"Traceback (most recent call last):\n"
    while True:
        yield _frame(rng)


def tracebacks(rng: random.Random) -> Iterator[bytes]:
    """Short tracebacks, no two alike, each the cause of the next."""
    while True:
        yield b"Traceback (most recent call last):\n" + _frame(rng) + b"    " + rng.choice(salts())
        yield b"\nruntime.%sError: %s\n\n" % (rng.choice(salts()), rng.choice(samples()))
        yield b"The above exception was the direct cause of the following exception:\n\n"


def controls(rng: random.Random) -> Iterator[bytes]:
    """Escapes, NULs, backspaces and carriage returns in and between the words."""
    codes = (b"\x1b[31m", b"\x1b]0;title\x07", b"\x00", b"\x08", b"\r", b"\x1b[", b"\x1b]", b"\x07")
    while True:
        parts = [p for _ in range(8) for p in (rng.choice(anchors()), rng.choice(codes))]
        yield b"".join([*parts, rng.choice(salts())]) + b"\n"


def returns(rng: random.Random) -> Iterator[bytes]:
    """One endless line of carriage returns, with a text that is looked for after each."""
    while True:
        yield rng.choice(anchors()) + rng.choice(salts()) + b"\r"


def unicode(rng: random.Random) -> Iterator[bytes]:
    """Invalid UTF-8, combining marks, wide letters, other ends of lines."""
    odd = ("\u0301" * 20, "\u2028", "\u202e", "\U0001f525", "ﬀİſ", "\x85", "界")
    while True:
        yield (
            b" ".join(
                (
                    rng.choice(anchors()),
                    rng.choice(odd).encode() * rng.randrange(1, 9),
                    bytes(rng.choices(range(128, 256), k=20)),
                    rng.choice(samples()),
                    rng.choice(salts()),
                )
            )
            + b"\n"
        )


def unknown(rng: random.Random) -> Iterator[bytes]:
    """Errors that nobody knows."""
    while True:
        yield b"%s.%sError: %s\n" % tuple(rng.choices(salts(), k=3))


def harmless(rng: random.Random) -> Iterator[bytes]:
    """What looks like an error and says that there was none."""
    while True:
        yield b"%s: 0 errors, no failures\n" % rng.choice(salts())


def checker(rng: random.Random) -> Iterator[bytes]:
    """A memory checker's reports, no two alike."""
    while True:
        name = rng.choice(salts())
        yield b"========= Invalid __global__ read of size 4 bytes\n"
        yield b"=========     at %s+0x%x in %s.py:%d\n" % (
            name,
            rng.randrange(1 << 16),
            rng.choice(salts()),
            rng.randrange(999),
        )
        yield b"=========     by thread (%d,0,0) in block (%d,0,0)\n" % (
            rng.randrange(99),
            rng.randrange(99),
        )
        yield b"=========     Address 0x%x is out of bounds\n" % rng.randrange(1 << 40)
        yield b"=========     Host Frame: %s [0x%x]\n" % (name, rng.randrange(1 << 20))
        yield b"=========\n"


def printed(rng: random.Random) -> Iterator[bytes]:
    """The debug printer's lines for kernels, no two alike."""
    while True:
        kernel, argument = rng.choice(salts()), rng.choice(salts())
        yield b"[ CUDAKernel - before_launch - %s - %s ]\n" % (kernel, argument)
        yield b"before_launch - %s - %s\n" % (kernel, argument)
        yield b"  Number of elements: 1024\n  Dtype: float\n  Mean value: nan\n  Min value: 0\n"


def _frame(rng: random.Random) -> bytes:
    return b'  File "/%s/torch/_inductor/x.py", line 3, in %s\n' % tuple(rng.choices(salts(), k=2))


def _name(kind: Callable[[random.Random], Iterator[bytes]]) -> str:
    return kind.__name__.replace("_", "-")


ORDINARY = {_name(kind): kind for kind in (ordinary, random_words, repeats)}
HOSTILE = {
    _name(kind): kind
    for kind in (
        mixed,
        many_anchors,
        whole_samples,
        long_lines,
        one_line,
        beginnings,
        frames,
        tracebacks,
        controls,
        returns,
        unicode,
        unknown,
        harmless,
        checker,
        printed,
    )
}
KINDS = {**ORDINARY, **HOSTILE}


def write_log(path: Path, kind: str, megabytes: int) -> int:
    """Write a log, four blocks of 32 MB in turns; return its lines. An assert is its last one."""
    lines, count, blocks = KINDS[kind](random.Random(1)), 0, list[bytearray]()
    with path.open("wb") as file:
        for number in range(max(1, megabytes // 32)):
            if len(blocks) < 4:
                block = bytearray()
                while len(block) < 32_000_000:
                    block += next(lines)
                blocks.append(block)
            block = blocks[number % len(blocks)]
            file.write(block)
            count += block.count(b"\n")
        file.write(b"\n" + ASSERT % (99, 1, 2))
    return count
