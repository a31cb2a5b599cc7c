"""Write what the probe sees: one JSON object a line, one write a line, nothing buffered."""

from __future__ import annotations

import itertools
import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # every process of the user's pays for what is imported here
    from typing import Any

MESSAGE_LIMIT = 2000
_HIGH_DESCRIPTOR = 200  # out of the way of programs that count on low numbers

_ids = itertools.count(1)


class _Log:
    """An append-only file that survives a fork and a program that closes all its descriptors."""

    def __init__(self) -> None:
        self._path = os.environ.get("AOTI_DEBUG_EVENTS", "")
        self._descriptor = -1
        self._owner = -1
        self._identity = (-1, -1)

    def write(self, line: bytes) -> None:
        os.write(self._current(), line)

    def _current(self) -> int:
        if self._owner == os.getpid():
            try:
                status = os.fstat(self._descriptor)
            except OSError:
                return self._open()
            # The number may belong to another file by now.
            if (status.st_dev, status.st_ino) == self._identity:
                return self._descriptor
        return self._open()

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        descriptor = _move_up(os.open(self._path, flags, 0o600))
        status = os.fstat(descriptor)
        self._identity = (status.st_dev, status.st_ino)
        self._descriptor = descriptor
        self._owner = os.getpid()
        return descriptor


def _move_up(descriptor: int) -> int:
    try:
        import fcntl

        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
    except (ImportError, OSError):
        return descriptor
    os.close(descriptor)
    return high


_log = _Log()
_key: list[str] = []


def secret() -> str:
    """Return the run's secret, which lies beside the events; empty where there is none."""
    if not _key:
        folder = os.path.dirname(os.environ.get("AOTI_DEBUG_EVENTS", ""))
        try:
            with open(os.path.join(folder, ".key"), encoding="ascii") as file:
                _key.append(file.read(64))
        except (OSError, ValueError):
            _key.append("")
    return _key[0]


def enabled() -> bool:
    """Tell whether events are wanted in this process."""
    return bool(os.environ.get("AOTI_DEBUG_EVENTS"))


def new_id() -> int:
    """Return the next event id of this process."""
    return next(_ids)


def emit(event: str, **details: Any) -> None:
    """Write one event; a failure to do so is nobody's problem."""
    record = {"t": time.time(), "pid": os.getpid(), "key": secret(), "event": event, **details}
    try:
        line = json.dumps(record, default=_short, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        try:
            line = json.dumps(finite(record), default=_short)
        except Exception:
            return
    try:
        _log.write(line.encode("ascii", "replace") + b"\n")
    except OSError:
        return


def note(what: str, why: object = None, **details: Any) -> None:
    """Say that something was not done, and why."""
    if isinstance(why, BaseException):
        details.setdefault("error", describe_error(why))
        why = said(why)
    emit("note", what=what, why=why, **details)


class noted:
    """Say that a `with` block was not done, where it raises, and go on after it."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Exception):
            note(self.what, error)
        return isinstance(error, Exception)


def describe_error(error: BaseException) -> dict[str, str]:
    """Return {"type", "message"} of an exception, named as a traceback names it."""
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ("builtins", "__main__"):
        name = f"{kind.__module__}.{name}"
    try:
        message = str(error)
    except Exception:
        message = "<its text cannot be made>"
    return {"type": name, "message": bounded(message)}


def said(error: BaseException, limit: int = 500) -> str:
    """Return the type and the message of an exception, in few words."""
    return bounded(f"{type(error).__name__}: {error}", limit)


def bounded(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Cut the middle out of a text that is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return text[: limit - tail - 5] + " ... " + text[-tail:]


def _short(value: object) -> str:
    try:
        return bounded(str(value), 300)
    except Exception:
        return f"<{type(value).__name__}>"


def finite(value: Any) -> Any:
    """Return the value as JSON has it: NaN and infinities as words, dataclasses as objects."""
    if hasattr(value, "__dataclass_fields__"):
        value = {key: item for key, item in vars(value).items() if item is not None}
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value
