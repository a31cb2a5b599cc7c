"""An interpreter that has imported torch already: `python` of the tests that run many scripts.

    warm.py keep FOLDER             hold a process with torch for each environment asked for
    warm.py run FOLDER WORD ...     what `python WORD ...` does, in a fork of one of them

A script runs with the arguments, environment, directory and files that it was started with, watched
by the probe if that is in its PYTHONPATH, and ends the process that was started as it ended. What
reads its environment when torch is imported finds the same: a process with torch serves no
environment but its own, besides what is read later or made up for (OWN). Whatever is neither a
script with arguments nor a -c that imports torch, perhaps after a -W, is left to the interpreter.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import resource
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

WARM = tuple(
    """
    torch torch.export torch._inductor.compile_fx torch.export._unlift sympy.tensor.tensor
    torch._export.serde.serialize torch.export._trace torch.fx.experimental.validator
    torch._dynamo.repro.aoti torch._inductor.codegen.mps
    torch._inductor.codegen.cpp_wrapper_cpu_array_ref torch._inductor.codegen.pallas
    torch._inductor.codegen.cuda_combined_scheduling torch._inductor.extern_node_serializer
    torch._inductor.fx_passes.efficient_conv_bn_eval
    """.split()
)
OWN = tuple(
    """
    AOTI_DEBUG_ AOTI_EVALS_ PYTEST_ CUDA_ TORCH_TRACE TORCHINDUCTOR_CACHE_DIR PYTHONPATH
    PYTHONUNBUFFERED PYTHONFAULTHANDLER COLUMNS= LINES= PWD= OLDPWD= _=
    """.split()
)
STARTED = {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}  # the driver, once asked, knows no fork
IMPORTS_TORCH = re.compile(r"^(import|from) ([\w., ]+, )?torch\b", re.M)  # others need not wait
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
AT_MOST = 8  # processes with torch; the one that was asked for longest ago ends for another
IDLE_S = 600  # a session that was killed leaves nobody behind


@contextlib.contextmanager
def interpreter(python: str) -> Iterator[str]:
    """Give an interpreter whose scripts find torch imported, for as long as the block runs."""
    # The path of a socket is short; processes that are ended may still write.
    with tempfile.TemporaryDirectory(prefix="warm-", ignore_cleanup_errors=True) as place:
        words = [python, "-ISE", __file__]
        path = Path(place) / "bin" / "python"
        path.parent.mkdir()
        path.write_text(f'#!/bin/sh\nexec {shlex.join([*words, "run", place])} "$@"\n')
        path.chmod(0o755)
        with subprocess.Popen([*words, "keep", place], stdin=subprocess.PIPE):
            yield str(path)


def lasting(environment: dict[str, str]) -> dict[str, str]:
    """Return what the import of torch may depend on."""
    return {k: v for k, v in sorted(environment.items()) if not f"{k}=".startswith(OWN)}


def listening(path: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    server.listen(64)
    return server


def connected(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(str(path))
    return connection


def said(connection: socket.socket) -> str:
    """Return the one line that the other side sends, or nothing where it has gone."""
    text = b""
    while not text.endswith(b"\n"):
        block = connection.recv(1 << 16)
        if not block:
            return ""
        text += block
    return text.decode()


def keep(folder: Path) -> None:
    """Start a process with torch for each environment that is asked for, until the end of input."""
    started: dict[str, subprocess.Popen[bytes]] = {}
    with listening(folder / "keep") as server:
        try:
            while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:
                # who asks may have been ended meanwhile
                with contextlib.suppress(OSError, ValueError), server.accept()[0] as connection:
                    environment = json.loads(said(connection))
                    name = hashlib.sha256(json.dumps(environment).encode()).hexdigest()[:12]
                    known = started.pop(name, None)
                    if known is None or known.poll() is not None:
                        known = imported(folder / name, environment)
                        if len(started) >= AT_MOST:
                            started.pop(next(iter(started))).terminate()
                    started[name] = known
                    connection.sendall(f"{name}\n".encode())
        finally:
            for process in started.values():
                process.terminate()


def imported(place: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a process with torch that listens at a place; it serves when it has imported it."""
    place.unlink(missing_ok=True)
    with listening(place) as server, place.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, __file__, "serve", str(server.fileno())],
            env={**environment, **STARTED, "TORCHINDUCTOR_CACHE_DIR": str(place.parent / "cache")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[server.fileno()],
            start_new_session=True,
        )


def run(folder: Path, words: list[str]) -> None:
    """Have a script run in a fork of a process with torch, and end as it does."""
    rest = words[2:] if words[:1] == ["-W"] else words
    is_program = rest[:1] == ["-c"] and IMPORTS_TORCH.search(rest[1])
    if not rest or (rest[0].startswith("-") and not is_program):
        os.execv(sys.executable, [sys.executable, *words])
    environment = dict(os.environ)
    try:
        with connected(folder / "keep") as keeper:
            keeper.sendall(json.dumps(lasting(environment)).encode() + b"\n")
            connection = connected(folder / said(keeper).strip())
    except OSError:
        os.execv(sys.executable, [sys.executable, *words])
    socket.send_fds(connection, [b"."], [0, 1, 2])
    order = {"argv": words, "env": environment, "cwd": str(Path.cwd())}
    connection.sendall(json.dumps(order).encode() + b"\n")
    for number in FORWARDED:
        signal.signal(number, lambda given, _: connection.sendall(f"{int(given)}\n".encode()))
    status = int(said(connection) or 120)
    if status < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(-status, signal.SIG_DFL) if -status != signal.SIGKILL else None
        os.kill(os.getpid(), -status)
    os._exit(status)


def serve(number: int) -> None:
    """Import torch, then fork for each order until ended."""
    from importlib import import_module

    sys.path.pop(0)  # the directory of this file
    with contextlib.suppress(ImportError):
        # Its lock would be one for all forks: one that is killed with it would stop all others.
        bar = import_module("tqdm").tqdm
        bar.monitor_interval = 0
        bar.set_lock(threading.RLock())
    for name in WARM:
        with contextlib.suppress(ImportError):
            import_module(name)
    with contextlib.suppress(Exception):  # found out or traced once for all that compile
        import_module("torch._inductor.cpu_vec_isa").pick_vec_isa()
        import_module("torch._inductor.fx_passes.joint_graph").lazy_init(
            sys.modules["torch"].device("cpu")
        )
        import_module("torch._inductor.fx_passes.post_grad").lazy_init()
    server = socket.socket(fileno=number)
    running: dict[int, socket.socket] = {}
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    idle = 0
    while running or (idle < IDLE_S and not ended):
        ready = select.select([server, *running.values()], [], [], 0.02 if running else 1)[0]
        idle = 0 if running or ready else idle + 1
        for connection in ready:
            if connection is server:
                accepted = server.accept()[0]
                try:
                    files = socket.recv_fds(accepted, 1, 3)[1]
                    order = json.loads(said(accepted))
                except (OSError, ValueError):  # who asked has gone
                    accepted.close()
                    continue
                if pid := os.fork():
                    running[pid] = accepted
                    for file in files:
                        os.close(file)
                    continue
                for other in (server, accepted, *running.values()):
                    other.close()
                perform(order, files)
            pid = next(pid for pid, other in running.items() if other is connection)
            with contextlib.suppress(OSError):
                signals = [int(line) for line in connection.recv(1 << 10).split()]
                for one in signals or [signal.SIGKILL]:  # who started it has gone
                    os.kill(pid, one)
        for pid in list(running):
            if (found := os.waitpid(pid, os.WNOHANG))[0]:
                with contextlib.suppress(OSError), running.pop(pid) as connection:
                    connection.sendall(f"{os.waitstatus_to_exitcode(found[1])}\n".encode())


def perform(order: dict, files: list[int]) -> None:
    """Be the process that runs the script, to its end."""
    code = 1
    try:
        for target, file in enumerate(files):
            os.dup2(file, target)
            os.close(file)
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.chdir(order["cwd"])
        os.environ.clear()
        os.environ.update(order["env"])
        trace_to(os.environ.get("TORCH_TRACE"))
        words = sys.argv = order["argv"]
        sys.orig_argv = [sys.executable, *words]
        if words[0] == "-W":
            sys.warnoptions.append(words[1])
            warnings.simplefilter(words[1])
            sys.argv = words[2:]
        paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [path for path in paths if path]
        if os.environ.get("PYTHONFAULTHANDLER"):
            import faulthandler

            faulthandler.enable()
        if os.environ.get("PYTHONUNBUFFERED"):
            sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
        sys.modules.pop("sitecustomize", None)
        with contextlib.suppress(ModuleNotFoundError):
            import sitecustomize  # noqa: F401 - starts the probe
        code = script()
        threading._shutdown()  # type: ignore[attr-defined]
        import atexit

        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        ctypes.CDLL(None).fflush(None)  # what C++ has printed
    finally:
        os._exit(code)


def trace_to(folder: str | None) -> None:
    """Have torch's structured trace written where it would be, had torch been imported now."""
    if folder:
        from torch._logging import _internal

        if _internal.LOG_TRACE_HANDLER is not None:
            _internal.LOG_TRACE_HANDLER.root_dir = folder
            _internal.trace_log.addHandler(_internal.LOG_TRACE_HANDLER)  # it leaves without a place


def script() -> int:
    """Run what sys.argv names as the interpreter does; return its exit status."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    if sys.argv[0] == "-c":
        source, name = sys.argv.pop(1).encode(), "<string>"
        sys.path.insert(0, "")
    else:
        path = Path(sys.argv[0])
        source, name = b"", str(path)
        main.__file__ = name
        sys.path.insert(0, str(path.resolve().parent))
    try:
        exec(compile(source or path.read_bytes(), name, "exec"), main.__dict__)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return (ended.code or 0) & 0xFF
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException as error:
        trace = error.__traceback__
        sys.excepthook(type(error), error, trace.tb_next if trace else None)
        return 1
    return 0


if __name__ == "__main__":
    what, where, *rest = sys.argv[1:]
    if what == "keep":
        keep(Path(where))
    elif what == "run":
        run(Path(where), rest)
    else:
        serve(int(where))
