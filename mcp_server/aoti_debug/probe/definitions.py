"""Run the user's script only as far as it defines things: operators are registered on the way.

A custom operator or Triton kernel that the script itself defines is in no module that could be
imported. So the script is run under another name than `__main__`, and stopped where it first
exports, compiles or loads a model: what it defines stands before that.

As a program, definitions [ARGUMENTS] SCRIPT runs a script after what defines the operators.
"""

from __future__ import annotations

import contextlib
import json
import linecache
import runpy
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from .lazy import replaced, torch

NAME = "_aoti_debug_target"
ENDS = (
    ("torch.export", "export"),
    ("torch.export", "load"),
    ("torch._inductor", "aoti_compile_and_package"),
    ("torch._inductor", "aoti_load_package"),
    ("torch._inductor", "aot_compile"),
    ("torch._inductor.package", "load_package"),
    ("torch._export", "aot_load"),
    ("torch._export", "aot_compile"),
)


class Enough(BaseException):
    """The script has come to its first use of a model."""


def bring(word: str) -> None:
    """Import MODULE; with MODULE:FUNCTION call it then, with MODULE:FUNCTION=OPERATOR register it
    as a fake kernel."""
    name, _, rest = word.partition(":")
    module = import_module(name)
    function, _, operator = rest.partition("=")
    if operator:
        torch.library.register_fake(operator, getattr(module, function))
    elif function:
        with contextlib.suppress(RuntimeError):  # something imported may have called it
            getattr(module, function)()


def run(script: str, argv: str | None = None) -> dict[str, Any]:
    """Run `script`, with the arguments in the JSON list `argv`, up to its first use of a model."""
    words = json.loads(argv) if argv else []
    kept = sys.argv
    sys.argv = [script, *words]
    sys.path.insert(0, str(Path(script).resolve().parent))
    try:
        with stopping(), _unchanged():
            names = runpy.run_path(script, run_name=NAME)
    except Enough:
        names = {}
    finally:
        sys.argv = kept
    linecache.checkcache(script)
    return names


@contextlib.contextmanager
def _unchanged() -> Iterator[None]:
    """Give torch back the functions that the script replaces: they are what it is judged with."""
    owners = (import_module("torch"), torch.Tensor, torch.testing)
    kept = [(owner, name, value) for owner in owners for name, value in vars(owner).items()]
    try:
        yield
    finally:
        for owner, name, value in kept:
            if callable(value) and vars(owner).get(name) is not value:
                setattr(owner, name, value)


@contextlib.contextmanager
def stopping() -> Iterator[None]:
    """Make every function that begins the use of a model end the script instead."""

    def stop(*args: object, **kwargs: object) -> None:
        raise Enough

    modules: dict[str, Any] = {}
    for name in dict(ENDS):
        with contextlib.suppress(ImportError):
            modules[name] = import_module(name)
    with replaced((modules.get(name), attribute, stop) for name, attribute in ENDS):
        yield


def main() -> int:
    """Define the operators, then be the script."""
    from . import standalone  # which imports this module

    *words, script = sys.argv[1:]
    standalone.prepare(standalone.arguments(__doc__, inputs=False).parse_args(words))
    sys.argv = [script]
    runpy.run_path(script, run_name="__main__")
    return 0
