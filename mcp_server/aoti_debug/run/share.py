"""Share the processors between a server's clients: a busy one yields, a lone one has all."""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from aoti_debug.run.launcher import children_of_all, descendants

IDLE, NICEST = 20, 19
SEVERAL, READS, BESIDE = 5, 5, 10  # nice values: of the first of several runs, of a reading, both
MANY = 4
AGAIN_S = 2.0  # what a program starts may leave its group


@dataclass(eq=False, slots=True)
class Share:
    """A run of a client, or a call: `short`. It counts while it has processes."""

    client: str
    short: bool
    roots: set[int] = field(default_factory=set)
    level: int = field(default_factory=lambda: os.nice(0))  # a nice value, or IDLE
    stuck: bool = False  # this process may not raise it again


GOING: Counter[str | None] = Counter()  # runs, by owner
_CURRENT: ContextVar[Share | None] = ContextVar("share", default=None)


def levels(going: Sequence[Share]) -> list[int]:
    """Return the level of each, given oldest first. Beside others, a client has one run and two
    readings with a weight, the rest idle; alone, further runs leave room for newcomers."""
    crowded = len({share.client for share in going}) > 1
    runs = Counter(share.client for share in going if not share.short)
    ahead: dict[Share, int] = {}  # how many of its client's, of its kind, come first
    seen: Counter[tuple[str, bool]] = Counter()
    for share in sorted(going, key=lambda share: share.stuck):
        ahead[share] = seen[share.client, share.short]
        seen[share.client, share.short] += 1

    def level(share: Share) -> int:
        behind = ahead[share]
        if not crowded:
            return BESIDE if behind and not share.short else 0
        if behind:
            return BESIDE if share.short and behind == 1 else IDLE
        several = runs[share.client] > (not share.short)
        return (BESIDE if several else READS) if share.short else SEVERAL * several

    return [level(share) for share in going]


class _Weigher:
    """Gives each share's processes their level, again and again while there are several clients."""

    def __init__(self) -> None:
        self._going: list[Share] = []
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, share: Share, pid: int) -> None:
        with self._lock:
            share.roots.add(pid)
            if share not in self._going:
                self._going.append(share)
            if self._thread is None:
                self._thread = threading.Thread(target=self._weigh, daemon=True)
                self._thread.start()
        self._changed.set()

    def discard(self, share: Share, pid: int) -> None:
        with self._lock:
            share.roots.discard(pid)
            if not share.roots:
                self._going.remove(share)
        self._changed.set()

    def with_others(self, share: Share) -> list[Share]:
        with self._lock:
            return [*(other for other in self._going if other is not share), share]

    def _weigh(self) -> None:
        while True:
            self._changed.clear()
            among = children_of_all()
            with self._lock:
                clients = len({share.client for share in self._going})
                shares = zip(self._going, levels(self._going), strict=True)
                again = sum(self._give(share, level, among, clients) for share, level in shares)
            self._changed.wait(AGAIN_S if again else None)

    def _give(self, share: Share, level: int, among: dict[int, list[int]], clients: int) -> bool:
        """Give a share's processes their level; tell whether that is to be done again."""
        own = os.nice(0)
        level = max(level, own)
        if level == share.level == own and clients < 2:
            return False
        pids = (*share.roots, *descendants(*share.roots, among=among))
        if clients > 1 and level < IDLE:
            level = min(NICEST, level + _more(sum(map(_busy, pids)), clients))
        given = [_weigh(pid, share.level, level) for pid in pids]
        if all(given) or level > share.level:
            share.level, share.stuck = level, False
        else:  # it stays as low as it is, and another one is the first
            share.stuck = share.level == IDLE
        return level > own or clients > 1


_WEIGHER = _Weigher()


@contextlib.contextmanager
def going(client: str | None, *, short: bool) -> Iterator[None]:
    """Have the processes that the body starts counted for a client, where there are several."""
    token = _CURRENT.set(None if client is None else Share(client, short))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextlib.contextmanager
def counted(pid: int) -> Iterator[None]:
    """Count a process and its descendants for whom this is done."""
    share = _CURRENT.get()
    if share is None:
        yield
        return
    _WEIGHER.add(share, pid)
    try:
        yield
    finally:
        _WEIGHER.discard(share, pid)


def level() -> int:
    """Return the level that a process gets which is started now."""
    share = _CURRENT.get()
    return 0 if share is None else levels(_WEIGHER.with_others(share))[-1]


def is_modest() -> bool:
    """Say whether this is all that its client has going on."""
    share = _CURRENT.get()
    return share is None or [s.client for s in _WEIGHER.with_others(share)].count(share.client) == 1


def restored(pid: int, level: int) -> bool:
    """Give a process that is used no more its level again; tell whether that could be done."""
    return _level_of(pid) <= level or _weigh(pid, _level_of(pid), level)


def _weigh(pid: int, before: int, level: int) -> bool:
    """Give a process and its group the level, except threads with their own; False if refused."""
    try:
        for thread in _threads(pid):
            if (now := _level_of(thread)) == before or now < level:
                _give(thread, now, level)
        _give_group(pid, min(before, NICEST), min(level, NICEST))
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return True


def _more(busy: int, clients: int) -> int:
    """Return the nice value by which so many threads weigh as much as a client's part of the
    processors, where they are MANY times that; each value weighs a fifth less."""
    times = busy * clients / (os.cpu_count() or 1)
    return round(math.log(times, 1.25)) if times > MANY else 0


def _busy(pid: int) -> int:
    """Return how many threads of a process run or wait for a processor."""
    states = []
    for thread in _threads(pid):
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{pid}/task/{thread}/stat").read_bytes()
            states.append(stat.rpartition(b")")[2].split()[0])
    return states.count(b"R")


def _threads(pid: int) -> list[int]:
    try:
        return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return [pid]


def _level_of(thread: int) -> int:
    if sys.platform == "linux" and os.sched_getscheduler(thread) == os.SCHED_IDLE:
        return IDLE
    return os.getpriority(os.PRIO_PROCESS, thread)


def _give(thread: int, now: int, level: int) -> None:
    if sys.platform == "linux" and IDLE in (now, level) and now != level:
        policy = os.SCHED_IDLE if level == IDLE else os.SCHED_OTHER
        os.sched_setscheduler(thread, policy, os.sched_param(0))
    if level < IDLE:
        os.setpriority(os.PRIO_PROCESS, thread, level)


def _give_group(pid: int, before: int, level: int) -> None:
    """Do the same for its session's group, where the kernel compares only the groups."""
    with (
        contextlib.suppress(FileNotFoundError),
        Path(f"/proc/{pid}/autogroup").open("rb+", 0) as group,
    ):
        *_, now = map(int, re.findall(rb" nice (-?\d+)", group.read()) or (level,))
        if now != level and (now == before or now < level):
            group.write(b"%d" % level)
