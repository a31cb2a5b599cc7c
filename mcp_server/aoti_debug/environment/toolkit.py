"""Find the CUDA toolkit, its headers, and the triton that a torch was made for."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aoti_debug.run.machine import version

_WANTED = re.compile(r"^Requires-Dist: (?:pytorch-)?triton ?\(?==([\w.]{1,40})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Toolkit:
    version: str | None = None
    path: str | None = None


def toolkit(env: Mapping[str, str]) -> Toolkit:
    """Return the CUDA toolkit that a compile with `env` finds. Blocks."""
    for root in _roots(env):
        if number := _version_file(root):
            return Toolkit(number, str(root))
        compiler = root / "bin" / "nvcc"
        if compiler.is_file():
            return Toolkit(_minor(version(compiler, env)), str(root))
    return Toolkit()


def _roots(env: Mapping[str, str]) -> Iterator[Path]:
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if env.get(name):
            yield Path(env[name])
    compiler = shutil.which("nvcc", path=env.get("PATH", ""))
    if compiler:
        yield Path(compiler).resolve().parent.parent
    yield Path("/usr/local/cuda")


def _version_file(root: Path) -> str | None:
    try:
        text = (root / "version.json").read_text(encoding="utf-8")[:200_000]
        number = json.loads(text)["cuda"]["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return _minor(number) if isinstance(number, str) else None


def _minor(number: str | None) -> str | None:
    return ".".join(number.split(".")[:2]) if number else None


def cuda_header(env: Mapping[str, str], torch: Path | None) -> bool | None:
    """Tell whether cuda.h is where a compile looks; None without a torch."""
    if torch is None:
        return None
    places = [root / "include" / "cuda.h" for root in _roots(env)]
    places += [Path(part) / "cuda.h" for part in env.get("CPATH", "").split(":") if part]
    places += [Path("/usr/include/cuda.h")]
    if any(place.is_file() for place in places):
        return True
    packages = torch.parent
    patterns = ("nvidia/*/include/cuda.h", "triton/backends/nvidia/include/cuda.h")
    return any(True for pattern in patterns for _ in packages.glob(pattern))


def triton_wanted(torch: Path | None) -> str | None:
    """Return the triton version in the requirements of the installed torch."""
    if torch is None:
        return None
    for folder in torch.parent.glob("torch-*.dist-info"):
        try:
            text = (folder / "METADATA").read_text(encoding="utf-8", errors="replace")[:100_000]
        except OSError:
            continue
        if found := _WANTED.search(text):
            return found[1]
    return None
