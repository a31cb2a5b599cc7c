"""Run one program and end everything that it started.

`process.py` starts it by its path with `python -I -S`: it imports only what loads fast. It outlives
a server that was ended by SIGKILL, and adopts the program's orphans.

File descriptors: 0 the control pipe (a marshalled order; its end means: end the program), 1 the
status pipe (lines of a secret, which the program is not told, and a JSON object of numbers), 2 and
the one named by the first argument the program's standard error and output.
"""

# ruff: noqa: SIM105, PTH123, PTH208  (contextlib and pathlib would double the time this takes to start)
from __future__ import annotations

import marshal
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

MARK = "AOTI_DEBUG_PROCESS"
SETTLE_S = 0.3  # workers that end by themselves when the program has ended are no strays
KILL_S = 2.0  # what SIGKILL has not ended by then hangs in the kernel
STEP_CHDIR, STEP_EXEC = 1, 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
PR_SET_PTRACER = 0x59616D61
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def prctl(option: int, value: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    return bool(library.prctl(option, ctypes.c_ulong(value), 0, 0, 0) == 0)


def processes() -> Iterator[tuple[int, int]]:
    """Yield (pid, parent) of every living process; nothing where there is no /proc."""
    for pid in _pids():
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                state, parent = stat.read().rpartition(b")")[2].split(None, 2)[:2]
        except (OSError, ValueError):
            continue
        if state not in (b"Z", b"X"):
            yield pid, int(parent)


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def children_of_all() -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for pid, parent in processes():
        children.setdefault(parent, []).append(pid)
    return children


def descendants(*roots: int, among: dict[int, list[int]] | None = None) -> list[int]:
    children = children_of_all() if among is None else among
    found: list[int] = []
    queue = [*roots]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def marked(mark: str) -> list[int]:
    """Return the processes of ours whose environment carries `mark`."""
    found = []
    wanted = f"{MARK}={mark}".encode()
    for pid in _pids():
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ:
                if wanted in environ.read().split(b"\0"):
                    found.append(pid)
        except OSError:
            continue
    return found


def sweep(mark: str) -> int:
    """End every process that carries `mark`; return how many there were."""
    seen: set[int] = set()
    deadline = time.monotonic() + KILL_S
    while (alive := marked(mark)) and time.monotonic() < deadline:
        seen.update(alive)
        for pid in alive:
            send(pid, signal.SIGKILL)
        time.sleep(0.01)
    return len(seen)


def send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass


class Tree:
    def __init__(self, mark: str, adopts: bool) -> None:
        self.mark = mark
        self.adopts = adopts
        self.root = 0
        self.status: int | None = None
        self.began = time.monotonic()
        self.wall = 0.0
        self.rss = 0
        self.signals, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self.signals, False)
        for number in (signal.SIGCHLD, *STOPS):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def start(self, argv: list[str], env: dict[str, str], cwd: str, out: int) -> bytes:
        """Start the program; return why it could not be (`errno step`), or nothing."""
        told, tell = os.pipe()
        self.began = time.monotonic()
        launcher = os.getpid()
        self.root = os.fork()
        if self.root == 0:
            _become(argv, env, cwd, out, tell, launcher)
        os.close(tell)
        why = b""
        while block := os.read(told, 64):
            why += block
        os.close(told)
        return why

    def wait(self) -> bool:
        """Wait for the program's end (True) or the order to end it (False)."""
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self.signals, select.POLLIN)
        while True:
            self.reap()
            if self.status is not None:
                return True
            for descriptor, _ in poll.poll():
                if descriptor == 0 and not os.read(0, 4096):
                    return False
                if descriptor == self.signals and self._stopped():
                    return False

    def _stopped(self) -> bool:
        try:
            received = os.read(self.signals, 512)
        except BlockingIOError:
            return False
        return any(number in received for number in STOPS)

    def reap(self) -> bool:
        """Collect ended children, which orphans become; return whether any process is left."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.rss = max(self.rss, used.ru_maxrss)
            if pid == self.root:
                self.status = status
                self.wall = time.monotonic() - self.began

    def settle(self, seconds: float) -> bool:
        """Wait at most `seconds` for the tree to end by itself; return whether any is left."""
        deadline = time.monotonic() + seconds
        while self.reap():
            left = deadline - time.monotonic()
            if left <= 0:
                return True
            # SIGCHLD comes only for children of ours, which is enough: orphans become them.
            select.select([self.signals], [], [], left)
            self._stopped()
        return False

    def members(self) -> list[int]:
        return descendants(os.getpid())

    def signal(self, number: int) -> None:
        for pid in self.members() or [-self.root]:  # the group where there is no /proc
            send(pid, number)

    def end(self, grace: float) -> int:
        """End all that is left; return how many besides the program there were."""
        strays: set[int] = set()
        if self.status is not None and not self.settle(SETTLE_S):
            return 0 if self.adopts else sweep(self.mark)
        if self.status is not None:
            strays.update(self.members())
        self.signal(signal.SIGTERM)
        if self.settle(grace):
            strays.update(self.members())
            deadline = time.monotonic() + KILL_S
            while time.monotonic() < deadline:
                self.signal(signal.SIGKILL)
                if not self.settle(0.02):
                    break
        strays.discard(self.root)
        return len(strays) + (0 if self.adopts else sweep(self.mark))


def _become(
    argv: list[str], env: dict[str, str], cwd: str, out: int, tell: int, launcher: int
) -> None:
    step = STEP_CHDIR
    try:
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != launcher:
            os._exit(127)
        # Debuggers that take the stacks of a hang are started by the server, not by an ancestor.
        prctl(PR_SET_PTRACER, 2 ** (8 * 8) - 1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.chdir(cwd)
        step = STEP_EXEC
        os.execvpe(argv[0], argv, env)
    except OSError as error:
        os.write(tell, b"%d %d" % (error.errno or 0, step))
    finally:
        os._exit(127)


def _order() -> Any:
    with os.fdopen(os.dup(0), "rb", buffering=0) as control:
        size = int.from_bytes(control.read(8) or b"", "big")
        order = bytearray()
        while len(order) < size:
            block = control.read(size - len(order))
            if not block:
                raise SystemExit(0)
            order += block
    return marshal.loads(bytes(order)) if size else sys.exit(0)


def _say(secret: str, text: str) -> None:
    try:
        os.write(1, f"{secret} {text}\n".encode())
    except OSError:
        pass  # the server has ended; there is still a tree to end


def leave_processors_to_others(more: int = 0) -> None:
    """Add to the nice value of this process and of its session's group, which some kernels use."""
    try:
        nice = os.nice(more)
        if sys.platform == "linux" and os.sched_getscheduler(0) == os.SCHED_IDLE:
            nice = 19
        if nice:
            with open("/proc/self/autogroup", "w") as group:
                group.write(str(nice))
    except OSError:
        pass


def _watched() -> None:
    """Go on in a child: the program can end its parent, and what it started is ended all the same
    by this process, which adopts it."""
    if not prctl(PR_SET_CHILD_SUBREAPER, 1):
        return
    watcher = os.getpid()
    child = os.fork()
    if child == 0:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != watcher:
            os._exit(127)
        return
    for number in STOPS:
        signal.signal(number, lambda number, _: send(child, number))
    _, status = os.waitpid(child, 0)
    while left := descendants(watcher):
        for pid in left:
            send(pid, signal.SIGKILL)
        os.waitpid(-1, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0x7F)


def main() -> None:
    out = int(sys.argv[1])
    leave_processors_to_others()
    _watched()
    os.set_inheritable(out, False)
    argv, env, cwd, grace, mark, secret = _order()
    prctl(PR_SET_DUMPABLE, 0)  # the program, of the same user, cannot look for the secret here
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    tree = Tree(mark, prctl(PR_SET_CHILD_SUBREAPER, 1))
    why = tree.start(argv, env, cwd, out)
    os.close(out)
    if why:
        number, step = why.split()
        _say(secret, f'{{"errno": {int(number)}, "step": {int(step)}}}')
        return
    _say(secret, f'{{"pid": {tree.root}}}')
    if tree.wait():
        _say(secret, _exit(tree))
        strays = tree.end(grace)
    else:
        strays = tree.end(grace)
        _say(secret, _exit(tree))
    left = len(tree.members()) if tree.reap() else 0
    _say(secret, f'{{"strays": {strays}, "left": {left}}}')


def _exit(tree: Tree) -> str:
    scale = 1 if sys.platform == "darwin" else 1024
    return (
        f'{{"status": {"null" if tree.status is None else tree.status}, "wall": {tree.wall:.6f}, '
        f'"rss": {tree.rss * scale}}}'
    )


if __name__ == "__main__":
    main()
