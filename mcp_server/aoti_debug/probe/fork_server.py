"""Keep torch imported and do each order in a fresh child of this process.

An order is a directory below ORDERS with an order.json; what the child prints and how it ended
(result.json) is left there. Neither CUDA nor a thread pool is ever started here, so a child is as
good as a fresh interpreter. Where an import has asked the driver something, no child of this
process can use a GPU: each starts an interpreter of its own then, if there is a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import functools
import json
import os
import resource
import signal
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from . import store
from .children import in_child
from .lazy import torch

Document = dict[str, Any]

_EACH_S = 0.5  # how often it is looked which step a child is at

_EVERY_S = 0.02
_FILE_BYTES = 8 << 30  # a candidate that prints without end ends itself
_WARM = (
    "torch.export",
    "torch._inductor",
    "torch._inductor.codecache",
    "torch._inductor.compile_fx",
    "torch._inductor.cpu_vec_isa",
)
_VEC_ISA = "AOTI_DEBUG_VEC_ISA"  # names, or nothing
_PR_SET_PDEATHSIG = 1
_ASK_NVML = "PYTORCH_NVML_BASED_CUDA_CHECK"  # and not the driver, which would spoil forks
_TRY_S = 60.0


class Child:
    """An order under way: it has its time for all of it, and `run_s` for the call alone."""

    def __init__(self, directory: Path) -> None:
        order = json.loads((directory / "order.json").read_text())
        self.directory = directory
        self.began = self._looked = time.monotonic()
        self._deadline = self.began + float(order["timeout_s"])
        self._run_s: float | None = order.get("run_s")

    def late(self, now: float) -> bool:
        """Tell whether its time is up; the call's time begins when it is seen to."""
        if self._run_s is not None and now - self._looked > _EACH_S:
            self._looked = now
            if _step(self.directory / "stdout.log") in ("run", "load"):
                self._deadline = min(self._deadline, now + self._run_s)
                self._run_s = None
        return now > self._deadline


def _step(path: Path) -> str:
    """Return the last step that a child has said it is at."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 200))
            words = file.read().decode("ascii", "replace").rpartition("step: ")[2].split()
    except OSError:
        return ""
    return words[0] if words else ""


def main() -> NoReturn:
    """Serve orders until ended from outside."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("orders")
    parser.add_argument("--one", help="do this one order and end")
    options = parser.parse_args()
    if options.one:
        _perform(Path(options.one))
    os.umask(0o077)  # what candidates leave, weights and inputs too, is their user's alone
    root = Path(options.orders)
    fresh = warm()
    _write(root / "ready.json", {"pid": os.getpid(), "forks": not fresh})
    serve(root, fresh)


def warm() -> bool:
    """Import what every compile needs; return whether children must be fresh interpreters."""
    given = os.environ.get(_ASK_NVML)
    os.environ[_ASK_NVML] = "1"
    import_module("torch")
    for name in _WARM:
        try:
            import_module(name)
        except ImportError:
            continue
    try:  # found out by compiling, once for all children
        _know_vec_isa(import_module("torch._inductor.cpu_vec_isa"))
    except Exception:
        traceback.print_exc()
    usable = in_child(_use_devices, _TRY_S) == "returns"
    fresh = not usable and any(device.is_available() for device in _devices())
    os.environ.pop(_ASK_NVML)
    if given is not None:
        os.environ[_ASK_NVML] = given
    return fresh


def _know_vec_isa(module: Any) -> None:
    """Know which vector instructions can be used: those that the failing run found usable.

    Where it came to its end without them, so do most candidates: none is looked at then.
    """
    given = os.environ.get(_VEC_ISA)
    if given == "":
        return
    names = (given or "").split(";")
    found = [isa for isa in module.supported_vec_isa_list if str(isa) in names]
    flags = {flag for isa in found for flag in str(isa).split()}
    if given is None or len(found) < len(names) or flags - set(module.x86_isa_checker()):
        module.pick_vec_isa()
        return
    module.valid_vec_isa_list = functools.lru_cache(None)(lambda: found)


def _use_devices() -> None:
    for device in _devices():
        if device._is_in_bad_fork():
            raise RuntimeError("no child of this process can use it")
        if device.is_available():
            torch.ones(1, device=device.__name__.rpartition(".")[2])


def _devices() -> list[Any]:
    return [getattr(torch, name) for name in ("cuda", "xpu") if hasattr(torch, name)]


def serve(root: Path, fresh: bool) -> NoReturn:
    """Start children for new orders, end those whose time is up, write how each ended."""
    children: dict[int, Child] = {}
    while True:
        for directory in _waiting(root):
            pid = _start(directory, fresh)
            children[pid] = Child(directory)
        _reap(children)
        time.sleep(_EVERY_S)


def _waiting(root: Path) -> list[Path]:
    """Return the orders that nobody has begun, oldest first."""
    found = []
    for entry in os.scandir(root):
        path = Path(entry.path)
        if entry.is_dir() and (path / "order.json").exists() and not (path / "began").exists():
            found.append(path)
    return sorted(found, key=lambda path: (path / "order.json").stat().st_mtime_ns)


def _start(directory: Path, fresh: bool) -> int:
    (directory / "began").touch()
    server = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        _become(directory, server)
        if fresh:
            words = [sys.executable, str(Path(__file__).with_name("script.py")), "fork_server"]
            os.execv(sys.executable, [*words, "-", "--one", str(directory)])
        _perform(directory)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(120)


def _become(directory: Path, server: int) -> None:
    os.setpgid(0, 0)
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        Path("/proc/self/oom_score_adj").write_text("1000")  # of all processes, this one goes first
    except (OSError, AttributeError):
        pass
    if os.getppid() != server:
        os._exit(120)
    os.chdir(directory)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, name in ((1, "stdout.log"), (2, "stderr.log")):
        os.dup2(os.open(name, flags, 0o600), number)
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    limit = _FILE_BYTES if soft == resource.RLIM_INFINITY else min(soft, _FILE_BYTES)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, soft))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _perform(directory: Path) -> NoReturn:
    """Do one order and end the process, with the status that a script would have."""
    order = json.loads((directory / "order.json").read_text())
    os.environ.update(order.get("environment") or {})
    faulthandler.enable()
    faulthandler.dump_traceback_later(max(1.0, order["timeout_s"] - 1.0))
    code = 0
    try:
        import_module("_aoti_debug_probe.candidate").perform(order, directory)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        code = 1
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _reap(children: dict[int, Child]) -> None:
    now = time.monotonic()
    for pid, child in list(children.items()):
        late = child.late(now)
        if late:
            _kill(pid)
        ended, status = os.waitpid(pid, 0 if late else os.WNOHANG)
        if ended:
            del children[pid]
            _kill(pid)  # what it started and left behind
            _result(child.directory, status, late, now - child.began)


def _kill(group: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)


def _result(directory: Path, status: int, late: bool, wall: float) -> None:
    number: int | None = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    code = None if number is not None else os.WEXITSTATUS(status)
    name = None if number is None else _signal_name(number)
    ending = {"code": code, "signal": None if late else name, "timed_out": late}
    _write(directory / "result.json", {**ending, "wall_s": round(wall, 3)})


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have none
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"


def _write(path: Path, document: Document) -> None:
    store.whole(path, lambda to: to.write_text(json.dumps(document)))
