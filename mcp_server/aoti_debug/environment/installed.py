"""The quick half of the environment: what can be known without importing torch."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from aoti_debug.errors import NoInterpreter
from aoti_debug.model import EnvironmentAnswer
from aoti_debug.run.interpreter import find_interpreter, installed_versions
from aoti_debug.run.machine import ask, find_tool, site_packages

_QUERY = "--query-gpu=index,name,compute_cap,memory.total"


def installed(python: str | None = None, env: Mapping[str, str] | None = None) -> EnvironmentAnswer:
    """Return the user's torch and the GPUs by their files and nvidia-smi: tens of milliseconds.

    Enough to say whether a package loads; `environment` tells all. Blocks. An interpreter that
    cannot be found gives an answer without torch.
    """
    complete = {**os.environ, **(env or {})}
    try:
        interpreter = find_interpreter(python, complete)
    except NoInterpreter as error:
        return EnvironmentAnswer(torch_path=None, torch_cuda=None, notes=[str(error)])
    found = installed_versions(interpreter, complete)
    path = next((p for p in map(_torch, site_packages(interpreter)) if p), None)
    return EnvironmentAnswer(
        python=str(interpreter),
        python_version=found.python,
        torch=found.torch,
        torch_path=str(path) if path else None,
        torch_cuda=found.torch_cuda,
        triton=found.triton,
        devices=list(_devices(complete)) if found.torch_cuda else [],
        compiler=shutil.which(complete.get("CXX") or "g++", path=complete.get("PATH")),
        notes=[found.problem] if found.problem else [],
    )


def _torch(packages: Path) -> Path | None:
    path = packages / "torch"
    return path if (path / "version.py").is_file() else None


def _devices(env: Mapping[str, str]) -> Iterator[str]:
    """Yield the visible GPUs, numbered as torch numbers them."""
    tool = find_tool("nvidia-smi", env)
    answer = ask([str(tool), _QUERY, "--format=csv,noheader,nounits"], env=env) if tool else None
    rows = [line.split(", ") for line in answer.stdout.splitlines()] if answer else []
    known = {row[0]: row for row in rows if len(row) == 4}
    visible = env.get("CUDA_VISIBLE_DEVICES")
    chosen = known.keys() if visible is None else [part.strip() for part in visible.split(",")]
    for number, index in enumerate(i for i in chosen if i in known):
        _, name, capability, memory = known[index]
        gib = int(memory) / 1024 if memory.isdecimal() else 0
        yield f"cuda:{number} {name} (sm_{capability.replace('.', '')}, {gib:.0f} GiB)"
