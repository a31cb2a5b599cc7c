"""Hold a package against a machine: what would fail, in the words the user would otherwise see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import PurePosixPath

from aoti_debug.answers import Problem, problem, worst_first
from aoti_debug.facts.flag import Release, release
from aoti_debug.package.archive import OUTDATED
from aoti_debug.package.elf import defined_versions, missing_symbols, runs_on, version_key
from aoti_debug.package.host_facts import HostFacts
from aoti_debug.package.record import OWN_NAMESPACES, Build, CompiledModel, Library, Package
from aoti_debug.plain import named

_ISA = {
    "AVX2": ("avx2",),
    "AVX512": ("avx512f", "avx512bw", "avx512dq", "avx512vl"),
    "AVX512_VNNI": ("avx512_vnni",),
    "AMX": ("amx_tile",),
    "AMX_FP16": ("amx_fp16",),
    "ASIMD": ("asimd",),
    "NEON": ("asimd",),
    "SVE": ("sve",),
    "SVE256": ("sve",),
}
_FLAGS = {
    "-mavx2": "avx2",
    "-mavx512f": "avx512f",
    "-mavx512vnni": "avx512_vnni",
    "-mavx512bf16": "avx512_bf16",
    "-mamx-tile": "amx_tile",
}
unfit = partial(problem, category="package_incompatible")
may_not_fit = partial(unfit, severity="may_break")
_LOADER_LIBRARIES = tuple(
    """
    libtorch libc10 libcuda libnvrtc libgomp libomp libiomp libmkl libsleef libaoti
    libnvToolsExt
    """.split()
)
_MISMATCH = (
    "Device information mismatch for {}: {} vs {}. This could cause some issues when loading the "
    "AOTInductor compiled artifacts."
)


def will_it_load(package: Package, host: HostFacts) -> list[Problem]:
    """Return what would go wrong with the package on this machine, worst first."""
    said = (asdict(flaw).items() for flaw in package.flaws)
    found = [Problem(**{name: value for name, value in one if name != "where"}) for one in said]
    found += _layout(package, host)
    for model in package.models:
        found += _platform(model, host)
        found += _device(model, host)
        if model.library is not None and model.library.error is None:
            found += _library(model, model.library, host)
        found += _isa(model, host)
        found += _custom_ops(model)
        if model.source_only and not host.compiler:
            found.append(
                unfit(
                    f"model {model.name!r} ships as source and is compiled at load; there is "
                    "no C++ compiler",
                    "InvalidCxxCompiler: No working C++ compiler found",
                    "Install g++, or package the compiled library.",
                    category="toolchain",
                    confidence="likely",
                )
            )
    unique = {(p.what, p.message): p for p in found}
    return worst_first(unique.values())


def _torch(host: HostFacts) -> Release | None:
    return release(host.torch) if host.torch else None


def _layout(package: Package, host: HostFacts) -> Iterator[Problem]:
    torch = _torch(host)
    if torch is None:
        return
    if package.layout == "prefixed" and torch < Release(2, 8):
        yield unfit(
            f"the package has the layout of torch 2.8 and later, and torch {host.torch} reads "
            "only the old one",
            "No AOTInductor generate cpp file or so file found in zip archive.",
            "Compile it with the torch that loads it.",
        )
    if package.layout == "root" and torch >= Release(2, 8):
        yield unfit(
            "the package has the layout of torch 2.6 and 2.7; it is loaded by a second "
            "loader, whose error hides the first one's",
            OUTDATED,
            f"Compile it with torch {host.torch}.",
            severity="changes",
        )
    if package.layout == "directory" and torch < Release(2, 15):
        yield may_not_fit(
            "it is a directory; torch loads directories from 2.15 on",
            OUTDATED,
            "Give the .pt2 file itself.",
            confidence="likely",
        )
    named = package.path.suffix == ".pt2"
    if package.layout in ("root", "prefixed") and not named and torch < Release(2, 8):
        yield unfit(
            "its name does not end in .pt2",
            "AssertionError: Unable to load package. Path must be a buffer or a file "
            "ending in .pt2.",
            "Rename it.",
        )


def _platform(model: CompiledModel, host: HostFacts) -> Iterator[Problem]:
    ours = {"AOTI_PLATFORM": host.platform, "AOTI_MACHINE": host.machine}
    for key, local in ours.items():
        theirs = model.metadata.get(key)
        if theirs and local and theirs != local:
            yield may_not_fit(
                f"compiled for {named(theirs)}, and this is {local}",
                _MISMATCH.format(key, local, theirs),
                "Compile it on this kind of machine.",
            )


def _library(model: CompiledModel, library: Library, host: HostFacts) -> Iterator[Problem]:
    name = PurePosixPath(library.member).name
    if library.machine and host.machine and library.machine != host.machine:
        yield unfit(
            f"the library is for {library.machine}, and this machine is {host.machine}",
            f"Error in dlopen: …/{name}: cannot open shared object file: No such file or directory",
            "Compile it on this kind of machine.",
        )
        return
    yield from _needed(library, host)
    yield from _versions(library, name, host)
    yield from _symbols(model, library, name, host)


def _needed(library: Library, host: HostFacts) -> Iterator[Problem]:
    for needed in library.needed:
        if not needed.startswith(_LOADER_LIBRARIES) or host.has_library(needed) is not False:
            continue
        cuda = "cuda" in needed
        yield unfit(
            f"the library needs {named(needed)}, which is not on this machine"
            + (": this torch has no CUDA" if cuda and "torch" in needed else ""),
            f"Error in dlopen: {needed}: cannot open shared object file: No such file or directory",
            "Use a CUDA build of torch, or compile for CPU."
            if cuda
            else f"Install the package that has {named(needed)}.",
            category="device_unavailable" if cuda else "missing_symbol",
            confidence="proved" if needed.startswith("libtorch") else "likely",
        )


def _versions(library: Library, name: str, host: HostFacts) -> Iterator[Problem]:
    wanted = dict(library.versions)
    have = {"GLIBC": host.glibc}
    if host.libstdcxx is not None:
        for family in ("GLIBCXX", "CXXABI"):
            offered = defined_versions(host.libstdcxx, family)
            have[family] = offered[-1] if offered else None
    homes = {"GLIBC": "/lib/…/libc.so.6", "GLIBCXX": str(host.libstdcxx)}
    for family, offer in have.items():
        need = wanted.get(family)
        if not need or not offer or version_key(need) <= version_key(offer):
            continue
        yield unfit(
            f"the library needs {family}_{named(need)}, and this machine offers {family}_{offer}",
            f"Error in dlopen: {homes.get(family, host.libstdcxx)}: version "
            f"`{family}_{need}' not found (required by …/{name})",
            "Compile on the oldest system that must load it.",
            confidence="proved" if family == "GLIBC" else "likely",
        )


def _symbols(
    model: CompiledModel, library: Library, name: str, host: HostFacts
) -> Iterator[Problem]:
    libraries = host.torch_libraries()
    missing = missing_symbols(library.undefined, libraries) if libraries else []
    build = _build(model)
    if missing:
        symbol = missing[0]
        yield unfit(
            f"this torch does not define {named(symbol)}"
            + (f" (and {len(missing) - 1} more)" if len(missing) > 1 else "")
            + f": {_symbol_reason(symbol, host)}",
            f"Error in dlopen: …/{name}: undefined symbol: {symbol}",
            "Load it with the torch that compiled it, or compile it with this one."
            + (f" It was compiled against {build.torch}." if build and build.torch else ""),
            category="missing_symbol",
        )


def _symbol_reason(symbol: str, host: HostFacts) -> str:
    if symbol.startswith("aoti_torch_") and "cuda" in symbol and host.torch_cuda is None:
        return "it is a CPU build, and the package is for CUDA"
    if symbol.startswith("aoti_torch_"):
        return "it is older than the torch that compiled the package, or lacks an operator library"
    return "the C++ ABI or the torch version differs from the compiling one"


def _build(model: CompiledModel) -> Build | None:
    return model.wrapper.build if model.wrapper else None


def _device(model: CompiledModel, host: HostFacts) -> Iterator[Problem]:
    if model.device not in ("cuda", "xpu"):
        return
    if host.gpus == () and model.device == "cuda":
        yield unfit(
            "the model was compiled for CUDA, and this process sees no CUDA device",
            _no_gpu(host),
            "Make a GPU visible (CUDA_VISIBLE_DEVICES, the container's --gpus), or compile for "
            "CPU.",
            category="device_unavailable",
            confidence="proved" if host.torch and host.torch_cuda is None else "likely",
        )
        return
    wanted = model.metadata.get("AOTI_COMPUTE_CAPABILITY")
    for gpu in host.gpus or ():
        local = f"{gpu[0]}{gpu[1]}"
        if wanted and wanted != local:
            yield may_not_fit(
                f"compiled on a device of capability {named(wanted)}, this one has {local}",
                _MISMATCH.format("AOTI_COMPUTE_CAPABILITY", local, wanted),
            )
        yield from _kernels(model, gpu)


def _kernels(model: CompiledModel, gpu: tuple[int, int]) -> Iterator[Problem]:
    foreign = [
        binary
        for binary in model.binaries
        if binary.architectures and all(runs_on(a, gpu) is False for a in binary.architectures)
    ]
    if foreign:
        have = named(*sorted({a for b in foreign for a in b.architectures}))
        yield unfit(
            f"{len(foreign)} of {len(model.binaries)} kernels are for {have}, which does not "
            f"run on sm_{gpu[0]}{gpu[1]}",
            "CUDA driver error: no kernel image is available for execution on the device",
            "Compile on this GPU, or with aot_inductor.emit_multi_arch_kernel=True (torch 2.8 "
            "and later).",
        )


def _no_gpu(host: HostFacts) -> str:
    torch = _torch(host) or Release(2, 14)
    if torch <= Release(2, 12):
        return "Segmentation fault (core dumped)"
    if torch == Release(2, 13) and host.torch_cuda is not None:
        return "RuntimeError: Found no NVIDIA driver on your system."
    if torch == Release(2, 13):
        return "AssertionError: Torch not compiled with CUDA enabled"
    return (
        "Cannot load AOTInductor package for device 'cuda' because CUDA is not available in this "
        "process."
    )


def _isa(model: CompiledModel, host: HostFacts) -> Iterator[Problem]:
    if not host.cpu_flags or (model.library and model.library.machine not in (None, host.machine)):
        return
    wanted = {
        f for name in model.metadata.get("AOTI_CPU_ISA", "").split() for f in _ISA.get(name, ())
    }
    if (build := _build(model)) is not None:
        wanted |= {_FLAGS[flag] for flag in build.flags if flag in _FLAGS}
    missing = sorted(wanted - host.cpu_flags)
    if missing:
        yield unfit(
            f"the CPU code uses {', '.join(missing)}, which this processor lacks",
            "Illegal instruction (core dumped)",
            "Compile on the oldest processor that must run it, or (torch 2.13 and later) with "
            "ATEN_CPU_CAPABILITY=avx2 TORCHINDUCTOR_CPP_MARCH=x86-64-v3.",
            severity="breaks" if model.device == "cpu" else "may_break",
            confidence="likely",
        )


def _custom_ops(model: CompiledModel) -> Iterator[Problem]:
    names = sorted(
        {op.target for op in model.custom_ops if not op.target.startswith(OWN_NAMESPACES)}
    )
    if names:
        first = re.sub(r"[^\w:.]", "?", names[0])[:100]
        yield may_not_fit(
            f"the process must have registered {named(*names[:5])} before loading "
            "(import the module that defines them)",
            f"Could not find schema for {first}.",
            "Import the module, or torch.ops.load_library its .so, before aoti_load_package.",
            category="custom_op_missing",
            confidence="likely",
        )
