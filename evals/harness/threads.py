"""Do tasks in threads, so many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_threads(
    do: Callable[[T], R],
    tasks: Iterable[T],
    jobs: int,
    on_result: Callable[[R], None] = lambda _: None,
) -> None:
    """Do each task in a thread; give results as they are ready. The first error is raised when the
    tasks under way have ended; no other is begun."""
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for done in as_completed([pool.submit(do, task) for task in tasks]):
                on_result(done.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
