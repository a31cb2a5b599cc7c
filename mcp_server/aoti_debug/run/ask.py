"""Ask a program of this machine a short question; never wait for it without bound."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    stdout: str
    stderr: str


def ask(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, timeout_s: float = 10.0
) -> Answer | None:
    """Return what `argv` prints; None if it cannot be started or does not end in time.

    For programs that print little. Blocks: call it in a thread from asynchronous code.
    """
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if env is None else dict(env),
            start_new_session=True,
        )
    except OSError:
        return None
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        # A tool that hangs in a driver does not die of SIGKILL: do not wait for it for ever.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=1.0)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        return None
    return Answer(
        process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
    )
