"""The facts of a machine that decide whether a package loads on it."""

from __future__ import annotations

import platform
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aoti_debug.answers import EnvironmentAnswer

_CAPABILITY = re.compile(r"\bsm_(\d{1,3})(\d)\b")
_LIBRARY_FOLDERS = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/usr/lib",
)


@dataclass(frozen=True, slots=True)
class HostFacts:
    """None means that it is not known; an empty `gpus` means that there is none."""

    torch: str | None = None
    torch_cuda: str | None = None
    torch_path: Path | None = None  # the installed torch/ folder
    gpus: tuple[tuple[int, int], ...] | None = None  # compute capabilities
    compiler: bool = True
    machine: str | None = None
    platform: str | None = None
    glibc: str | None = None
    libstdcxx: Path | None = None
    cpu_flags: frozenset[str] = frozenset()

    def torch_libraries(self) -> list[Path]:
        if self.torch_path is None:
            return []
        names = "libtorch_cpu libtorch_cuda libc10 libc10_cuda libtorch".split()
        found = [self.torch_path / "lib" / f"{name}.so" for name in names]
        return [path for path in found if path.is_file()] if found[0].is_file() else []

    def has_library(self, name: str) -> bool | None:
        """Tell whether the loader would find a library; None when that cannot be known."""
        if self.torch_path is None or "/" in name:
            return None
        if (self.torch_path / "lib" / name).is_file():
            return True
        beside = self.torch_path.parent
        if any(beside.glob(f"nvidia/*/lib/{name}")) or any(beside.glob(f"*.libs/{name}")):
            return True
        if any((Path(folder) / name).is_file() for folder in _LIBRARY_FOLDERS):
            return True
        return b"\0" + name.encode() + b"\0" in _loader_cache()


def host_facts(environment: EnvironmentAnswer | None) -> HostFacts:
    """Return the facts of this machine, with those of the user's torch where they are known."""
    known = environment or EnvironmentAnswer(torch_path=None, torch_cuda=None)
    path = Path(known.torch_path) if known.torch_path else None
    gpus = tuple(
        (int(found[1]), int(found[2]))
        for device in known.devices
        if (found := _CAPABILITY.search(device))
    )
    return HostFacts(
        torch=known.torch,
        torch_cuda=known.torch_cuda,
        torch_path=path,
        gpus=gpus if known.torch or gpus else None,
        compiler=known.compiler is not None or known.torch is None,
        machine=platform.machine() or None,
        platform=sys.platform,
        glibc=_glibc(),
        libstdcxx=_libstdcxx(Path(known.python) if known.python else None),
        cpu_flags=_cpu_flags(),
    )


def _glibc() -> str | None:
    name, number = platform.libc_ver()
    return number if name == "glibc" and number else None


def _libstdcxx(python: Path | None) -> Path | None:
    """Return the interpreter's own C++ runtime (conda), or the system's."""
    folders = [str(python.parent.parent / "lib")] if python else []
    paths = (Path(folder) / "libstdc++.so.6" for folder in (*folders, *_LIBRARY_FOLDERS))
    return next((path for path in paths if path.is_file()), None)


@cache
def _cpu_flags() -> frozenset[str]:
    with suppress(OSError), Path("/proc/cpuinfo").open(errors="replace") as stream:
        found = (line for line in stream if line.startswith(("flags", "Features")))
        return frozenset(next(found, "").partition(":")[2].split())
    return frozenset()


@cache
def _loader_cache() -> bytes:
    with suppress(OSError), Path("/etc/ld.so.cache").open("rb") as stream:
        return stream.read(8 * 1024 * 1024)
    return b""
