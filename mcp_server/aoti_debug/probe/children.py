"""See what becomes of a function in a forked child of this process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

_EVERY_S = 0.02


def in_child(act: Callable[[], object], seconds: float) -> str:
    """Return "returns", "failed", or "hangs" where it does not end in time: then it is killed."""
    child = os.fork()
    if not child:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return "returns" if status == 0 else "failed"
        time.sleep(_EVERY_S)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hangs"
