"""Gather facts about this machine and the user's torch; the quick half needs no torch."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from aoti_debug.answers import EnvironmentAnswer, problem
from aoti_debug.environment.machine import Environment, GpuFacts
from aoti_debug.environment.rules import problems
from aoti_debug.environment.toolkit import (
    cuda_header,
    folders,
    not_inherited,
    toolkit,
    triton_wanted,
    try_compiler,
    variable_problems,
    variables,
)
from aoti_debug.errors import NoInterpreter
from aoti_debug.read.typed import take
from aoti_debug.run.device import query_gpus, visible_devices
from aoti_debug.run.interpreter import choose_interpreter, find_interpreter, installed_versions
from aoti_debug.run.machine import TOOLS, ask, find_tool, site_packages
from aoti_debug.run.project import Interpreter


def installed(python: str | None = None, env: Mapping[str, str] | None = None) -> EnvironmentAnswer:
    """Return the user's torch and the GPUs in tens of milliseconds, by files and nvidia-smi: enough
    to say whether a package loads. Blocks. Without an interpreter there is no torch."""
    complete = {**os.environ, **(env or {})}
    try:
        interpreter = find_interpreter(python, complete)
    except NoInterpreter as error:
        return EnvironmentAnswer(notes=[str(error)])
    found = installed_versions(interpreter, complete)
    places = (packages / "torch" for packages in site_packages(interpreter))
    path = next((place for place in places if (place / "version.py").is_file()), None)
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


def _devices(env: Mapping[str, str]) -> Iterator[str]:
    """Yield the visible GPUs, numbered as torch numbers them."""
    rows = query_gpus(("index", "compute_cap"), env)
    capabilities = {index: capability.replace(".", "") for index, capability in rows}
    for number, one in enumerate(visible_devices(env)):
        yield _device(number, one.name, capabilities.get(str(one.index), "?"), one.memory)


PROBE = Path(__file__).parents[1] / "probe" / "script.py"
PROBE_S = 120.0


async def environment(
    python: str | None = None, env: Mapping[str, str] | None = None
) -> EnvironmentAnswer:
    """Return torch, GPU, compiler and tools of this machine, and what would break; `env` extends
    this process's. Imports torch in the user's interpreter, compiles ten lines, changes nothing."""
    complete = {**os.environ, **(env or {})}
    try:
        chosen = await to_thread.run_sync(
            choose_interpreter, python, complete, abandon_on_cancel=True
        )
    except NoInterpreter as error:
        return EnvironmentAnswer(
            problems=[problem(str(error), None, category=None, confidence="likely")],
            not_inherited=not_inherited(complete),
        )
    gathered: dict[str, Any] = {}

    async def gather(key: str, function: Any, *arguments: Any) -> None:
        gathered[key] = await to_thread.run_sync(function, *arguments, abandon_on_cancel=True)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(gather, "torch", _probe, chosen.path, complete)
        tasks.start_soon(gather, "compiler", try_compiler, complete)
        tasks.start_soon(gather, "tools", _tools, complete, chosen.path)
        tasks.start_soon(gather, "toolkit", toolkit, complete)
        tasks.start_soon(gather, "folders", folders, complete)
    return _answer(chosen, complete, gathered)


def _probe(interpreter: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """Ask torch about itself; what cannot be asked is said under "error"."""
    # A probe of a run that this process was started in must not watch the question.
    quiet = {k: v for k, v in env.items() if not k.startswith("AOTI_DEBUG_")}
    answer = ask([str(interpreter), str(PROBE), "environment"], env=quiet, timeout_s=PROBE_S)
    if answer is None:
        return {"error": {"type": "TimeoutError", "message": f"{interpreter} did not answer"}}
    for line in reversed(answer.stdout.splitlines()):
        with contextlib.suppress(ValueError):
            if isinstance(document := json.loads(line), dict):
                return document
    words = (answer.stderr.strip().splitlines() or [f"exit {answer.code}"])[-1][:500]
    return {"error": {"type": "RuntimeError", "message": f"importing torch failed: {words}"}}


def _tools(env: Mapping[str, str], interpreter: Path) -> dict[str, str]:
    found = {name: find_tool(name, env, interpreter) for name in TOOLS}
    return {name: str(path) for name, path in found.items() if path is not None}


def _answer(
    chosen: Interpreter, env: Mapping[str, str], gathered: Mapping[str, Any]
) -> EnvironmentAnswer:
    document = gathered["torch"]
    machine = _machine(chosen, env, gathered)
    path = _torch_path(document)
    return EnvironmentAnswer(
        python=str(chosen.path),
        python_version=_text(document.get("python")),
        torch=machine.torch,
        torch_path=str(path) if path else None,
        torch_cuda=machine.torch_cuda,
        triton=machine.triton,
        devices=[
            _device(gpu.index, gpu.name, "".join(map(str, gpu.capability)), gpu.memory)
            for gpu in machine.gpus
        ],
        driver=f"runs CUDA up to {machine.driver_cuda}" if machine.driver_cuda else None,
        compiler=" ".join(filter(None, (machine.compiler.path, machine.compiler.version))) or None,
        tools=gathered["tools"],
        problems=[*problems(machine), *variable_problems(env, machine.torch)][:40],
        variables=variables(env),
        not_inherited=not_inherited(env),
        notes=[f"{name}: {error}" for name, error in _part(document, "errors").items()][:10],
    )


def _machine(
    chosen: Interpreter, env: Mapping[str, str], gathered: Mapping[str, Any]
) -> Environment:
    document = gathered["torch"]
    torch, triton, error = (_part(document, k) for k in ("torch", "triton", "error"))
    path = _torch_path(document)
    kit = gathered["toolkit"]
    return Environment(
        interpreter=f"{chosen.path} ({chosen.source})",
        torch=_text(torch.get("version")),
        torch_error=f"{error.get('type')}: {error.get('message')}" if error else None,
        torch_cuda=_text(torch.get("cuda")),
        architectures=tuple(a for a in torch.get("arch_list") or () if isinstance(a, str)),
        gpus=tuple(take(GpuFacts, one) for one in document.get("devices") or ()),
        driver_cuda=_driver(document.get("driver_cuda")),
        nvidia_smi="nvidia-smi" in gathered["tools"],
        visible=env.get("CUDA_VISIBLE_DEVICES"),
        toolkit=kit.version,
        toolkit_path=kit.path,
        cuda_header=cuda_header(env, path),
        triton=_text(triton.get("version")),
        triton_error=_text(triton.get("error")),
        triton_wanted=triton_wanted(path),
        compiler=gathered["compiler"],
        headers={k: v for k, v in _part(document, "headers").items() if isinstance(v, bool)},
        folders=gathered["folders"],
    )


def _torch_path(document: Mapping[str, Any]) -> Path | None:
    path = _part(document, "torch").get("path")
    return Path(path).parent if isinstance(path, str) else None


def _part(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value[:300] if isinstance(value, str) else None


def _device(number: int, name: str, capability: str, memory: int) -> str:
    return f"cuda:{number} {name} (sm_{capability}, {memory / (1 << 30):.0f} GiB)"


def _driver(value: object) -> str | None:
    """Spell 13000 as 13.0."""
    if not isinstance(value, int) or value <= 0:
        return None
    return f"{value // 1000}.{value % 1000 // 10}"
