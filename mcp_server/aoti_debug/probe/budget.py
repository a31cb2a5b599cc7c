"""Keep the probe's own time small against the program's."""

from __future__ import annotations

import time

_FREE_SECONDS = 1.0
_SHARE = 0.03

_started = time.monotonic()
spent = 0.0  # seconds that the probe has taken of this process


class Stopwatch:
    """Measure the seconds inside a `with` block."""

    seconds = 0.0

    def __enter__(self) -> Stopwatch:
        self.began = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.began


class OwnTime(Stopwatch):
    """Count those seconds as the probe's own."""

    sign = 1

    def __exit__(self, *_: object) -> None:
        global spent
        super().__exit__()
        spent += self.sign * self.seconds


class Apart(OwnTime):
    """Leave those seconds out of what the probe may take: they come once, beside work that takes
    far longer."""

    sign = -1


def allows(seconds: float = 0.0) -> bool:
    """Tell whether work that takes about `seconds` still fits."""
    limit = max(_FREE_SECONDS, _SHARE * (time.monotonic() - _started))
    return spent + seconds <= limit
