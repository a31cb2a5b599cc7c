"""How functions are called: torch's shims, a package's kernels and its launches, read from their
declarations in C."""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .lazy import torch
from .wrapper_contract import LAUNCH, LOAD, STRING

_HEADER_BYTES = 8 << 20
_SHIM = re.compile(
    r"\bAOTI_TORCH_EXPORT\s{1,80}(\w{1,80})\s{1,80}(\w{1,200})\s*\(([^;{}]{0,8000}?)\);"
)
_KERNEL = re.compile(
    r'^extern "C"\s{1,20}(void)\s{1,20}(\w{1,300})\s*\(([^;{}]{0,64000}?)\)\s*[;{]', re.M
)
_COMMENT = re.compile(r"//[^\n]*")
_TYPES: dict[str, Any] = {
    **{name: getattr(ctypes, f"c_{name}") for name in "bool char double float int long".split()},
    **{
        f"{name}_t": getattr(ctypes, f"c_{name}")
        for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
    },
    "size_t": ctypes.c_size_t,
    "AOTITorchError": ctypes.c_int32,
    "StableIValue": ctypes.c_uint64,
    "CUdeviceptr": ctypes.c_void_p,
    "hipDeviceptr_t": ctypes.c_void_p,
}
# What the driver is called with to load and launch generated GPU kernels.
_LAUNCH = (
    "void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, "
    "unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** arguments, "
    "void** extra"
)
_LOADING = {
    "ModuleLoad": "void** module, const char* path",
    "ModuleLoadData": "void** module, const void* image",
    "ModuleGetFunction": "void** function, void* module, const char* name",
}
_DRIVER = {
    "cuLaunchKernel": _LAUNCH,
    "hipModuleLaunchKernel": _LAUNCH,
    **{f"{api}{name}": text for api in ("cu", "hip") for name, text in _LOADING.items()},
}


class Param(NamedTuple):
    """A parameter: its name and its C type, without `const` before or behind it."""

    name: str
    type: str
    const: bool  # what it points to is only read

    @property
    def kind(self) -> Any:
        """Return the type of ctypes; None for one that is passed in a way of C++."""
        if self.type.endswith("*") or self.type.endswith("Handle"):
            return ctypes.c_void_p
        return _TYPES.get(self.type)


@dataclass(frozen=True)
class Prototype:
    """A function: its name, what it returns, and what it takes, as declared."""

    name: str
    returns: str
    declared: str

    @functools.cached_property
    def params(self) -> tuple[Param, ...]:
        return params_of(self.declared)

    @property
    def function(self) -> Any:
        """Return the type of ctypes; None where ctypes has none."""
        kinds = [param.kind for param in self.params]
        result = None if self.returns == "void" else _TYPES.get(self.returns)
        if None in kinds or (result is None and self.returns != "void"):
            return None
        return ctypes.CFUNCTYPE(result, *kinds)


def params_of(text: str) -> tuple[Param, ...]:
    """Return the parameters of a declaration; arrays and functions have a type of their own."""
    found = []
    for part in text.split(","):
        words = part.replace("*", " * ").replace("unsigned", "uint32_t").split()
        both = [word for word in words if word != "__restrict__"]
        plain = [word for word in both if word not in ("*", "const", "struct")]
        if both not in ([], ["void"]):
            name = plain.pop() if len(plain) > 1 else ""
            kind = " ".join(plain) + "*" * both.count("*")
            found.append(Param(name, kind, both[0] == "const"))
    return tuple(found)


@functools.lru_cache(maxsize=1)
def shims() -> dict[str, Prototype]:
    """Return torch's shims that a package may call, as the installed headers declare them."""
    include = Path(torch.__file__).parent / "include" / "torch" / "csrc"
    places = ("inductor/aoti_torch/c", "inductor/aoti_torch/generated", "stable/c")
    found = {}
    for header in (one for place in places for one in sorted((include / place).glob("*.h"))):
        with header.open(encoding="utf-8", errors="replace") as stream:
            text = _COMMENT.sub("", stream.read(_HEADER_BYTES))
        for returns, name, given in _SHIM.findall(text):
            found[name] = Prototype(name, returns, given)
    return found


@functools.lru_cache(maxsize=1)
def driver() -> dict[str, Prototype]:
    """Return the functions of GPU drivers that load and launch kernels."""
    return {name: Prototype(name, "int", text) for name, text in _DRIVER.items()}


def kernels(source: str) -> dict[str, Prototype]:
    """Return the CPU kernels that the generated C++ declares."""
    text = _COMMENT.sub("", source)
    found = _KERNEL.findall(text)
    return {name: Prototype(name, returns, given) for returns, name, given in found}


_VARIABLE = re.compile(
    r"^\s*(CUdeviceptr|hipDeviceptr_t|auto|\w{1,20}) (\w{1,100})(?: = (.{1,500}))?;\s*$"
)
_OF_TENSOR = re.compile(r"\((\w{1,300})\.data_ptr\(\)\)")
_ARGUMENTS = re.compile(r"void\s?\* kernel_args\w{0,100}\[\] = \{([^{}]{0,32000})\};")
_EMBEDDED = re.compile(r"(__\w{1,300}_start)")


class Launcher(NamedTuple):
    """What the generated C++ launches: GPU kernels by name, their parameters, and by which file or
    symbol, and which name within it, each is known to the driver."""

    params: dict[str, tuple[Param, ...]]
    binaries: dict[str, str]


def launcher(source: str) -> Launcher:
    """Read the generated C++ around each launch."""
    params: dict[str, tuple[Param, ...]] = {}
    binaries: dict[str, str] = {}
    variables: dict[str, Param] = {}
    given: tuple[str, ...] = ()
    for line in source.splitlines():
        if match := _VARIABLE.match(line):
            value = match[3] if (match[3] or "0")[0].isalpha() else match[2]
            tensor = _OF_TENSOR.search(value)
            kind = "void*" if tensor else match[1]
            name = tensor[1] if tensor else value
            variables[match[2]] = Param(name, "int64_t" if kind == "auto" else kind, False)
        elif match := _ARGUMENTS.search(line):
            given = tuple(part.strip().lstrip("&") for part in match[1].split(",") if part.strip())
        elif match := LOAD.search(line):
            for known in _known(match[2]):
                binaries.setdefault(known, match[1])
        elif match := LAUNCH.search(line):
            named = (variables.get(one, Param(one, "void*", False)) for one in given)
            params.setdefault(match[1], tuple(named))
    return Launcher(params, binaries)


def _known(text: str) -> Iterator[str]:
    """Yield by what a kernel that is loaded is known: its file's name or symbol, and its own."""
    yield from _EMBEDDED.findall(text)
    for one in STRING.findall(text):
        yield one.rpartition("/")[2]
