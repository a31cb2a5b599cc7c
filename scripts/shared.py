"""What the scripts share: run a module of the probe in a process of its own, say how it ended."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).resolve().parents[1] / "mcp_server" / "aoti_debug"
PROBE = PACKAGE / "probe"
CLEAN, FOUND, NOT_DONE = 0, 1, 3  # 2 is argparse's, for wrong use
EXITS = "Exit status: 0 nothing wrong, 1 something found, 2 wrong use, 3 could not be done."

SECONDS, MEMORY = 60, 2 << 30  # for reading a package
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

Document = dict[str, Any]

if not PROBE.is_dir():
    print(f"{PROBE} is missing: install the skill as a whole, not scripts/ alone", file=sys.stderr)
    raise SystemExit(NOT_DONE)
sys.path.insert(0, str(PACKAGE))
import_module("probe")  # the scripts import its parts that need no torch
sys.path.remove(str(PACKAGE))


class Outcome(NamedTuple):
    """How a process of the probe ended."""

    report: Document
    code: int
    stderr: str

    @property
    def died(self) -> str | None:
        """Name the signal that ended the process; None when none did."""
        if self.code >= 0:
            return None
        try:
            name = signal.Signals(-self.code).name
        except ValueError:  # most real-time signals have none
            name = f"signal {-self.code}"
        return f"{name} (a shell shows exit {128 - self.code}) in state {self.state!r}"

    @property
    def state(self) -> str:
        return str(self.report.get("state", "start"))

    @property
    def error(self) -> str | None:
        error = self.report.get("error")
        return f"{error['type']}: {error['message']}" if isinstance(error, dict) else None


def parser(
    documentation: str, package: bool = True, inputs: bool = True
) -> argparse.ArgumentParser:
    """Return a parser with what most scripts take."""
    made = argparse.ArgumentParser(description=documentation, epilog=EXITS)
    if package:
        said = "model.pt2, or a .so of torch._export.aot_compile"
        made.add_argument("package", type=existing, help=said)
    if inputs:
        said = "file of torch.save((args, kwargs), FILE)"
        made.add_argument("inputs", type=existing, help=said)
        take_imports(made)
        made.add_argument(
            "--library",
            action="append",
            default=[],
            metavar="LIBRARY.so",
            help="load it first: it registers custom operators",
        )
        made.add_argument("--timeout", type=float, default=600, help="seconds (default 600)")
    return made


def take_imports(parser: argparse.ArgumentParser) -> None:
    """Let a script take modules to import first."""
    parser.add_argument(
        "--import",
        dest="imports",
        action="append",
        default=[],
        metavar="MODULE",
        help="import it first: it registers custom operators",
    )


def take_program(parser: argparse.ArgumentParser, name: str = "--exported", **more: Any) -> None:
    """Let a script take an exported program, and one that only a pickle can load."""
    parser.add_argument(name, metavar="MODEL.ep.pt2", type=existing, **more)
    parser.add_argument(
        "--trust",
        action="store_true",
        help="load an exported program that needs a pickle: it can run code",
    )


def existing(path: str) -> str:
    """Take the path of a file that exists."""
    if not Path(path).exists():
        raise argparse.ArgumentTypeError(f"no such file: {path}")
    return path


def run(module: str, options: argparse.Namespace, *words: str, **environment: str) -> Outcome:
    """Run a module of the probe on the inputs; a crash of it is an outcome like others."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        argv = [sys.executable, str(PROBE / "script.py"), module, "--inputs", options.inputs]
        argv += [*words, "--report", str(report), "--import-path", os.getcwd()]  # noqa: PTH109
        argv += ["--trust"] * getattr(options, "trust", False)
        for name in options.imports:
            argv += ["--import", name]
        for name in options.library:
            argv += ["--library", name]
        env = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1", **environment}
        try:
            done = subprocess.run(
                argv,
                env=env,
                stdout=sys.stderr,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                timeout=options.timeout,
            )
        except subprocess.TimeoutExpired:
            print(f"did not end within {options.timeout:g} s", file=sys.stderr)
            raise SystemExit(NOT_DONE) from None
        content = json.loads(report.read_text()) if report.exists() else {}
    return Outcome(content, done.returncode, done.stderr)


class _Plain:
    """A stream that takes no control characters: a foreign text must not steer a terminal."""

    def __init__(self, stream: Any) -> None:
        stream.reconfigure(errors="backslashreplace")
        self._stream = stream

    def write(self, text: str) -> int:
        return int(self._stream.write(_CONTROLS.sub("?", text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def read_apart(main: Callable[[], int]) -> int:
    """Return the status of what reads a foreign package, in a process of its own with limits of
    time and memory; NOT_DONE where it cannot be read within them."""
    child = os.fork()
    if child == 0:
        os._exit(_within_limits(main))
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        print(f"could not be done: it takes longer than {SECONDS} s to read", file=sys.stderr)
        return NOT_DONE
    return os.WEXITSTATUS(status)


def _within_limits(main: Callable[[], int]) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(SECONDS)
    sys.stdout, sys.stderr = _Plain(sys.stdout), _Plain(sys.stderr)  # type: ignore[assignment]
    try:
        code = main()
        sys.stdout.flush()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else NOT_DONE
    except BaseException as error:
        what = " ".join(str(error).split())[:200]
        print(f"could not be done: {type(error).__name__}: {what}", file=sys.stderr)
        code = NOT_DONE
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    sys.stderr.flush()
    return code


def first_message(stderr: str) -> str:
    """Return the first line of stderr that tells a reason; later ones are often aftermath."""
    marks = ("Error:", "input_handles[", "Assertion `", "CUDA error", "Exception:", "[E")
    lines = [line.strip() for line in stderr.splitlines()]
    return next((line for line in lines if any(mark in line for mark in marks)), "")[:500]


def say_failure(outcome: Outcome) -> None:
    """Print how a process failed: signal, exception, first message of stderr."""
    if outcome.died:
        print(f"died: {outcome.died}")
    if outcome.error:
        print(f"raised in state {outcome.state!r}: {outcome.error}")
    if message := first_message(outcome.stderr):
        print(f"first message: {message}")
    if not outcome.died and not outcome.error:
        print(outcome.stderr[-1500:])
    if "in pytree is not registered" in outcome.stderr:
        print(
            "--import the module that registers this class, such as transformers.modeling_outputs"
        )
