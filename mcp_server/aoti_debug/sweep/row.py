"""What a sweep keeps of each target, in a file that is only ever appended to."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from aoti_debug.errors import AotiDebugError, WrongUse
from aoti_debug.model import Category, Confidence, Model, Phase
from aoti_debug.plain import plain
from aoti_debug.run.files import folder, open_regular, reserve
from aoti_debug.sweep.manifest import MOST_TARGETS
from aoti_debug.vocabulary import Fingerprint

LEDGER = "sweep.jsonl"
LINE_BYTES = 4 << 20
ROW_BYTES = 256 << 10  # of one target; the first and the last line are longer
PARTS = 100  # operators, and phases, of a row
LEDGER_BYTES = 256 << 20
TEXT = 2_000  # characters of one in a row
LINES = 3 * MOST_TARGETS  # behind a full disk's there is an empty one; and those of other versions
RESERVE = ".sweep.reserve"
RESERVE_BYTES = 4 << 20
Outcome = Literal["ok", "failed", "error"]


class Head(Model):
    """The first line: which sweep it is."""

    sweep: str
    name: str
    plan: str = Field(description="digest: the same targets under the same numbers")
    targets: int = Field(ge=0, le=MOST_TARGETS)
    manifest: str | None = None
    revision: str | None = None
    began: float


class Row(Model):
    """One target that was run to its end. `error`: it could not be run or judged. Longer texts are
    cut, since anybody may have written a file."""

    index: int
    target: str
    outcome: Outcome
    summary: str = ""
    category: Category | None = None
    phase: Phase | None = None
    confidence: Confidence | None = None
    broken: str | None = Field(
        None, description="property of an input that differs from the compiled one"
    )
    constant: str | None = Field(None, description="the faulty constant of load_constants")
    signature: Fingerprint | None = None
    ops: tuple[str, ...] = Field(
        (), max_length=PARTS, description="operators that the diagnosis names"
    )
    guide: str | None = None
    fix: str | None = None
    place: str | None = Field(None, description="FILE:LINE of the user's")
    text: str | None = Field(None, description="of that line")
    exit: str | None = None
    attempts: int = 1
    failures: int = 0
    wall_s: float = 0.0
    phases: dict[str, float] = Field(default_factory=dict, max_length=PARTS, description="seconds")
    memory: int | None = Field(None, description="peak of the script's processes, bytes")
    gpu_memory: int | None = None
    size: int | None = Field(None, description="bytes of the package, or of the script")
    run: str | None = None
    torch: str | None = None
    where: str | None = Field(None, description="worker, GPU")

    @model_validator(mode="before")
    @classmethod
    def _cut(cls, given: Any) -> Any:
        cut = cut_texts(given)
        return {**cut, "target": given["target"]} if "target" in given else cut

    @property
    def flaky(self) -> bool:
        return 0 < self.failures < self.attempts


def cut_texts(given: Any) -> Any:
    """Return what a row holds with its texts cut."""
    if isinstance(given, dict):
        return {key: cut_texts(value) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [*map(cut_texts, given)]
    return given[:TEXT] if isinstance(given, str) else given


class End(Model):
    """The last line of a sweep that came to its end: since when each bucket has been known."""

    ended: float
    since: dict[str, str] = Field(default_factory=dict)


class LedgerError(AotiDebugError):
    help = "Free space or name another directory with --out, then go on with --resume."


class Done:
    """Which targets have a row: one byte each."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._seen = bytearray(count)

    @property
    def rows(self) -> int:
        return sum(self._seen)

    def __contains__(self, index: int) -> bool:
        return bool(self._seen[index])

    def add(self, index: int) -> bool:
        """Count a target; False where that was done before."""
        known, self._seen[index] = self._seen[index], 1
        return not known


class Ledger:
    """The file of one sweep, held by one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _opened(path)

    @classmethod
    def create(cls, path: Path, head: Head) -> Ledger:
        """Begin a file; raise WrongUse where it holds a sweep, or LedgerError."""
        if path.exists() and path.stat().st_size:
            raise WrongUse(
                f"{path} holds a sweep already",
                help="Go on with it (--resume), or name another directory (--out).",
            )
        return cls._begun(path, lambda ledger: ledger.add(head))

    @classmethod
    def resume(cls, path: Path) -> Ledger:
        """Open a file to go on with it; raise UnreadableSweep or LedgerError."""
        read_head(path)
        return cls._begun(path, cls._end_line)

    @classmethod
    def _begun(cls, path: Path, first: Callable[[Ledger], None]) -> Ledger:
        ledger = cls(path)
        try:
            first(ledger)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def _end_line(self) -> None:
        """End the last line of a process that was killed."""
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")

    def add(self, line: Head | Row | End) -> None:
        """Append a line; it is there when this returns, unless the machine itself goes down. Raise
        LedgerError where it cannot be written, even into reserved space."""
        text = json.dumps(line.document(), ensure_ascii=True, separators=(",", ":"))
        data = text.encode() + b"\n"
        try:
            self._append(data)
        except OSError:
            (self.path.parent / RESERVE).unlink(missing_ok=True)
            try:
                self._append(b"\n" + data)  # behind what the full disk took of it
            except OSError as error:
                raise LedgerError(f"cannot write {self.path}: {error.strerror}") from error

    def _append(self, data: bytes) -> None:
        if os.write(self._file, data) != len(data):
            raise OSError(28, os.strerror(28))

    def close(self) -> None:
        (self.path.parent / RESERVE).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            os.close(self._file)


class UnreadableSweep(WrongUse):
    help = "Name a sweep's run (r-…), its directory, or its sweep.jsonl."


def _opened(path: Path) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        folder(path.parent)
        file = os.open(path, flags, 0o600)
    except OSError as error:
        raise LedgerError(f"cannot write {path}: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        what = f"another process is at the sweep in {path.parent}"
        raise LedgerError(what, help="Wait for it, or end it.") from error
    reserve(path.parent / RESERVE, RESERVE_BYTES)
    return file


def read_head(path: Path) -> Head:
    """Return the first line of a sweep's file; raise UnreadableSweep."""
    try:
        with open_regular(path, follow=True) as file:
            head = Head.model_validate_json(file.readline(LINE_BYTES))
    except OSError as error:
        raise UnreadableSweep(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise UnreadableSweep(f"{path} does not begin as a sweep's file") from error
    if not all(one is None or one.isprintable() for one in (head.sweep, head.name, head.revision)):
        raise UnreadableSweep(f"{path} does not begin as a sweep's file")
    return head


def rows_of(path: Path) -> Iterator[Row]:
    """Yield the complete rows of a file, each target once; raise UnreadableSweep."""
    done = Done(read_head(path).targets)
    for line in _lines(path):
        if len(line) > ROW_BYTES:
            continue
        with contextlib.suppress(ValidationError):
            row = Row.model_validate_json(line)
            if 0 <= row.index < done.count and done.add(row.index):
                yield row


def end_of(path: Path) -> End | None:
    """Return the last line of a sweep that came to its end; None for another."""
    found = None
    for line in _lines(path):
        if line.startswith(b'{"ended":'):
            with contextlib.suppress(ValidationError):
                found = End.model_validate_json(line)
    return found


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines behind the first; raise UnreadableSweep where there are too many."""
    with open_regular(path, follow=True) as file:
        long = os.fstat(file.fileno()).st_size > LEDGER_BYTES
        file.readline(LINE_BYTES)
        for line in islice(iter(lambda: file.readline(LINE_BYTES), b""), 0 if long else LINES):
            if line.endswith(b"\n") and len(line) > 1:
                yield line
        if long or file.read(1):
            raise UnreadableSweep(f"{path} is longer than any sweep's file")


def short(text: str) -> str:
    """Fit a text of a program into a row."""
    return plain(" ".join(text.split()), 400)
