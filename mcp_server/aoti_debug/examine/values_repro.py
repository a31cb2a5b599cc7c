"""Write a script of one launch of a package: its kernel alone, on the arguments of the call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aoti_debug.explain.code import cpp_code
from aoti_debug.explain.package import read_texts
from aoti_debug.minify.kernel import kernel_script
from aoti_debug.package.record import CompiledModel
from aoti_debug.read.examine_reports import Given, Launched
from aoti_debug.run.files import write_atomically

_HEAD = re.compile(r"^def \w{1,300}\(([^)]{0,20000})\):", re.MULTILINE)
PREFIX = "#include <torch/csrc/inductor/cpp_prefix.h>\n"


def kernel_scripts(
    launches: Sequence[Launched], model: CompiledModel | None, package: Path | None, folder: Path
) -> list[str]:
    """Write a script for each launch whose arguments were kept and whose source the package has."""
    kept = [one for one in launches if one.given is not None]
    if not kept or model is None or package is None:
        return []
    texts = read_texts(package, model)
    triton = {one.name: one for one in model.wrapper.kernels} if model.wrapper else {}
    found = []
    for launch in kept:
        assert launch.given is not None
        code = cpp_code(texts.cpp_file, texts.cpp, texts.starts.get(launch.kernel))
        about: dict[str, Any] | None = None
        if launch.kind == "generated" and code is not None:
            source = "\n".join(code.lines).replace(f"{launch.kernel}(", "kernel(", 1)
            about = {"kind": "cpp", "argtypes": list(launch.given.types), "source": PREFIX + source}
        elif launch.kind == "launch" and (kernel := triton.get(launch.kernel)) is not None:
            about = triton_about(launch.kernel, kernel.source, launch.given)
        if about is not None and "'''" not in about["source"]:
            name = f"repro_kernel_{launch.number}.py"
            data, wrote = f"launch-{launch.number}.pt", f"launch-{launch.number}-wrote.pt"
            ends = f"launch {launch.number}: says whether it writes again what the package wrote"
            write_atomically(folder / name, kernel_script(about, ends, data, wrote).encode())
            found.append(str(folder / name))
    return found


def triton_about(name: str, source: str | None, given: Given) -> dict[str, Any] | None:
    """Return what launches a Triton kernel again; None where its parameters are not all known."""
    head = _HEAD.search(source or "")
    if source is None or head is None:
        return None
    taken = [one.strip() for one in head[1].split(",") if "constexpr" not in one]
    own = [name for name in given.names if name in taken]  # scratch memory comes behind them
    if own != taken or list(given.names[: len(own)]) != own:
        return None
    devices = [device or None for device in given.devices[: len(own)]]
    device = next((one.partition(":")[0] for one in devices if one), "cuda")
    return {"kind": "triton", "name": name, "source": source, "devices": devices, "device": device}
