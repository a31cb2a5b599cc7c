"""Large logs, ordinary and hostile: an endless stream of lines of each kind.

A kind is a function that gives some lines; they are taken from it again and again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path

from aoti_debug.read.scan import log_readers
from aoti_debug.signatures.signature import signatures, texts_of

WORDS = (
    "loading model step batch loss tensor output input data worker epoch time elapsed sec memory "
    "allocated reserved node dataset shard cache hit miss token file error check failed launch"
).split(" ")
ASSERT = (
    b"/tmp/k.py:%d: unknown: block: [%d,0,0], thread: [%d,0,0] "
    b"Assertion `index out of bounds: 0 <= tmp4 < 1000` failed.\n"
)
Rng = random.Random
Lines = Iterator[bytes]
Kind = Callable[[Rng], Lines]
ORDINARY: dict[str, Kind] = {}
HOSTILE: dict[str, Kind] = {}
TRACEBACK = b"Traceback (most recent call last):"
CAUSE = b"The above exception was the direct cause of the following exception:"
LETTERS = b"ghijklmnopqrstuvwxyz"  # none that a kind of line leaves out


@cache
def salts() -> list[bytes]:
    """Return words that make lines differ in more than numbers."""
    rng = Rng(1)
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


def salt(rng: Rng) -> bytes:
    return rng.choice(salts())


def sample(rng: Rng) -> bytes:
    return rng.choice(samples())


def kind_of(kinds: dict[str, Kind]) -> Callable[[Kind], Kind]:
    def added(some: Kind) -> Kind:
        def endless(rng: Rng) -> Lines:
            while True:
                yield from some(rng)

        kinds[some.__name__.replace("_", "-")] = endless
        return some

    return added


a_kind, hostile = kind_of(ORDINARY), kind_of(HOSTILE)


@a_kind
def ordinary(rng: Rng) -> Lines:
    """A training log of about 100 bytes a line."""
    for step in count(1):
        yield (
            f"2026-11-21 05:{step // 60 % 60:02d}:{step % 60:02d},{rng.randrange(1000):03d} INFO "
            f"trainer.py:{rng.randrange(900)} step {step} loss {rng.random():.6f} "
            f"{rng.choice(WORDS[:20])} {rng.randrange(1 << 32):08x} ok\n"
        ).encode()


@a_kind
def random_words(rng: Rng) -> Lines:
    """Lines of random words, no two alike."""
    yield (" ".join(rng.choices(WORDS, k=16)) + "\n").encode()


@a_kind
def repeats(rng: Rng) -> Lines:
    """One assert over and over."""
    yield ASSERT % (34, rng.randrange(9999), rng.randrange(128))


@hostile
def mixed(rng: Rng) -> Lines:
    """Samples of all signatures with letters in them, frames without end, words of failures in
    lines of 16 KB; no two alike."""
    for _ in range(400):
        text, at = sample(rng), rng.randrange(200)
        yield text[:at] + salt(rng) + text[at:] + b"\n"
        yield b" ".join([*rng.choices(anchors(), k=5), salt(rng)]) + b"\n"
        yield _frame(rng)
    yield TRACEBACK + b"\n\x1b[31mRuntimeError: \r" + sample(rng) + b"\n"
    yield b" ".join(rng.choices(anchors(), k=800))[:16_000] + b"\n"


@hostile
def many_anchors(rng: Rng) -> Lines:
    """Lines that hold thirty of the texts that are looked for."""
    yield b" ".join([*rng.choices(anchors(), k=30), salt(rng)]) + b"\n"


@hostile
def whole_samples(rng: Rng) -> Lines:
    """Lines that signatures match, with a word of their own behind."""
    yield sample(rng) + b" " + salt(rng) + b"\n"


@hostile
def long_lines(rng: Rng) -> Lines:
    """Lines of 1 MB, full of the texts that are looked for."""
    yield b" ".join(rng.choices(anchors(), k=45_000))[:1_000_000] + b"\n"


@hostile
def one_line(rng: Rng) -> Lines:
    """No newline at all."""
    yield bytes(rng.choices(b"abcdefghij .,", k=1000))


BEGINNINGS = (
    TRACEBACK,
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
    CAUSE,
    b"/tmp/k.py:34: unknown: block: [1,0,0], thread: [2,0,0] Assertion `index out of bounds: ",
)


@hostile
def beginnings(rng: Rng) -> Lines:
    """Short lines, each the beginning of what a reader reads on from."""
    yield rng.choice(BEGINNINGS) + salt(rng) + b"\n"


@hostile
def frames(rng: Rng) -> Lines:
    """Tracebacks that never end."""
    yield TRACEBACK + b"\n"
    while True:
        yield _frame(rng)


@hostile
def tracebacks(rng: Rng) -> Lines:
    """Short tracebacks, no two alike, each the cause of the next."""
    yield TRACEBACK + b"\n" + _frame(rng) + b"    " + salt(rng)
    yield b"\nruntime.%sError: %s\n\n" % (salt(rng), sample(rng))
    yield CAUSE + b"\n\n"


@hostile
def controls(rng: Rng) -> Lines:
    """Escapes, NULs, backspaces and carriage returns in and between the words."""
    codes = (b"\x1b[31m", b"\x1b]0;title\x07", b"\x00", b"\x08", b"\r", b"\x1b[", b"\x1b]", b"\x07")
    parts = [p for _ in range(8) for p in (rng.choice(anchors()), rng.choice(codes))]
    yield b"".join([*parts, salt(rng)]) + b"\n"


@hostile
def returns(rng: Rng) -> Lines:
    """One endless line of carriage returns, with a text that is looked for after each."""
    yield rng.choice(anchors()) + salt(rng) + b"\r"


@hostile
def unicode(rng: Rng) -> Lines:
    """Invalid UTF-8, combining marks, wide letters, other ends of lines."""
    odd = ("\u0301" * 20, "\u2028", "\u202e", "\U0001f525", "ﬀİſ", "\x85", "界")
    text, mark = rng.choice(anchors()), rng.choice(odd).encode() * rng.randrange(1, 9)
    invalid = bytes(rng.choices(range(128, 256), k=20))
    yield b" ".join((text, mark, invalid, sample(rng), salt(rng))) + b"\n"


@hostile
def unknown(rng: Rng) -> Lines:
    """Errors that nobody knows."""
    yield b"%s.%sError: %s\n" % tuple(rng.choices(salts(), k=3))


@hostile
def harmless(rng: Rng) -> Lines:
    """What looks like an error and says that there was none."""
    yield b"%s: 0 errors, no failures\n" % salt(rng)


@hostile
def checker(rng: Rng) -> Lines:
    """A memory checker's reports, no two alike."""
    name = salt(rng)
    yield b"========= Invalid __global__ read of size 4 bytes\n"
    at = (name, rng.randrange(1 << 16), salt(rng), rng.randrange(999))
    yield b"=========     at %s+0x%x in %s.py:%d\n" % at
    thread = (rng.randrange(99), rng.randrange(99))
    yield b"=========     by thread (%d,0,0) in block (%d,0,0)\n" % thread
    yield b"=========     Address 0x%x is out of bounds\n" % rng.randrange(1 << 40)
    yield b"=========     Host Frame: %s [0x%x]\n" % (name, rng.randrange(1 << 20))
    yield b"=========\n"


@hostile
def printed(rng: Rng) -> Lines:
    """The debug printer's lines for kernels, no two alike."""
    kernel, argument = salt(rng), salt(rng)
    yield b"[ CUDAKernel - before_launch - %s - %s ]\n" % (kernel, argument)
    yield b"before_launch - %s - %s\n" % (kernel, argument)
    yield b"  Number of elements: 1024\n  Dtype: float\n  Mean value: nan\n  Min value: 0\n"


def _frame(rng: Rng) -> bytes:
    return b'  File "/%s/torch/_inductor/x.py", line 3, in %s\n' % tuple(rng.choices(salts(), k=2))


KINDS = {**ORDINARY, **HOSTILE}


def write_log(path: Path, kind: str, megabytes: int) -> int:
    """Write a log, four blocks of 32 MB in turns; return its lines. An assert is its last one."""
    lines, written, blocks = KINDS[kind](Rng(1)), 0, list[bytearray]()
    with path.open("wb") as file:
        for number in range(max(1, megabytes // 32)):
            if len(blocks) < 4:
                block = bytearray()
                while len(block) < 32_000_000:
                    block += next(lines)
                blocks.append(block)
            block = blocks[number % len(blocks)]
            file.write(block)
            written += block.count(b"\n")
        file.write(b"\n" + ASSERT % (99, 1, 2))
    return written
