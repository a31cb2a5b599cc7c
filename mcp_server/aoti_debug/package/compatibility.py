"""Hold a package against a machine: what would fail, in the words the user would otherwise see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from aoti_debug.answers import Problem
from aoti_debug.facts.flag import Release, release
from aoti_debug.package.elf import defined_versions, missing_symbols, runs_on, version_key
from aoti_debug.package.host_facts import HostFacts
from aoti_debug.package.record import OWN_NAMESPACES, CompiledModel, Flaw, Library, Package

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
    found = [problem(flaw) for flaw in package.flaws]
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
                Problem(
                    what=f"model {model.name!r} ships as source and is compiled at load; there is "
                    "no C++ compiler",
                    severity="breaks",
                    category="toolchain",
                    message="InvalidCxxCompiler: No working C++ compiler found",
                    confidence="likely",
                    fix="Install g++, or package the compiled library.",
                )
            )
    order = ("breaks", "may_break", "changes", "limits")
    unique = {(p.what, p.message): p for p in found}
    return sorted(
        unique.values(), key=lambda p: (order.index(p.severity), p.confidence != "proved")
    )


def problem(flaw: Flaw) -> Problem:
    """Return a package's own flaw as a problem."""
    return Problem(
        what=flaw.what,
        severity=flaw.severity,
        category=flaw.category,
        message=flaw.message,
        confidence=flaw.confidence,
        fix=flaw.fix,
    )


def _torch(host: HostFacts) -> Release | None:
    return release(host.torch) if host.torch else None


def _layout(package: Package, host: HostFacts) -> Iterator[Problem]:
    torch = _torch(host)
    if torch is None:
        return
    if package.layout == "prefixed" and torch < Release(2, 8):
        yield Problem(
            what=f"the package has the layout of torch 2.8 and later, and torch {host.torch} reads "
            "only the old one",
            severity="breaks",
            category="package_incompatible",
            message="No AOTInductor generate cpp file or so file found in zip archive.",
            confidence="proved",
            fix="Compile it with the torch that loads it.",
        )
    if package.layout == "root" and torch >= Release(2, 8):
        yield Problem(
            what="the package has the layout of torch 2.6 and 2.7; it is loaded by a second "
            "loader, whose error hides the first one's",
            severity="changes",
            category="package_incompatible",
            message="Loading outdated pt2 file. Please regenerate your package.",
            confidence="proved",
            fix=f"Compile it with torch {host.torch}.",
        )
    if package.layout == "directory" and torch < Release(2, 15):
        yield Problem(
            what="it is a directory; torch loads directories from 2.15 on",
            severity="may_break",
            category="package_incompatible",
            message="Loading outdated pt2 file. Please regenerate your package.",
            confidence="likely",
            fix="Give the .pt2 file itself.",
        )
    named = package.path.suffix == ".pt2"
    if package.layout in ("root", "prefixed") and not named and torch < Release(2, 8):
        yield Problem(
            what="its name does not end in .pt2",
            severity="breaks",
            category="package_incompatible",
            message="AssertionError: Unable to load package. Path must be a buffer or a file "
            "ending in .pt2.",
            confidence="proved",
            fix="Rename it.",
        )


def _platform(model: CompiledModel, host: HostFacts) -> Iterator[Problem]:
    ours = {"AOTI_PLATFORM": host.platform, "AOTI_MACHINE": host.machine}
    for key, local in ours.items():
        theirs = model.metadata.get(key)
        if theirs and local and theirs != local:
            yield Problem(
                what=f"compiled for {theirs}, and this is {local}",
                severity="may_break",
                category="package_incompatible",
                message=_MISMATCH.format(key, local, theirs),
                confidence="proved",
                fix="Compile it on this kind of machine.",
            )


def _library(model: CompiledModel, library: Library, host: HostFacts) -> Iterator[Problem]:
    name = PurePosixPath(library.member).name
    if library.machine and host.machine and library.machine != host.machine:
        yield Problem(
            what=f"the library is for {library.machine}, and this machine is {host.machine}",
            severity="breaks",
            category="package_incompatible",
            message=f"Error in dlopen: …/{name}: cannot open shared object file: No such file or "
            "directory",
            confidence="proved",
            fix="Compile it on this kind of machine.",
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
        yield Problem(
            what=f"the library needs {needed}, which is not on this machine"
            + (": this torch has no CUDA" if cuda and "torch" in needed else ""),
            severity="breaks",
            category="device_unavailable" if cuda else "missing_symbol",
            message=f"Error in dlopen: {needed}: cannot open shared object file: No such file or "
            "directory",
            confidence="proved" if needed.startswith("libtorch") else "likely",
            fix="Use a CUDA build of torch, or compile for CPU."
            if cuda
            else f"Install the package that has {needed}.",
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
        yield Problem(
            what=f"the library needs {family}_{need}, and this machine offers {family}_{offer}",
            severity="breaks",
            category="package_incompatible",
            message=f"Error in dlopen: {homes.get(family, host.libstdcxx)}: version "
            f"`{family}_{need}' not found (required by …/{name})",
            confidence="proved" if family == "GLIBC" else "likely",
            fix="Compile on the oldest system that must load it.",
        )


def _symbols(
    model: CompiledModel, library: Library, name: str, host: HostFacts
) -> Iterator[Problem]:
    libraries = host.torch_libraries()
    missing = missing_symbols(library.undefined, libraries) if libraries else []
    for symbol in missing[:3]:
        yield Problem(
            what=f"this torch does not define {symbol}"
            + (f" (and {len(missing) - 1} more)" if len(missing) > 1 else "")
            + f": {_symbol_reason(symbol, host)}",
            severity="breaks",
            category="missing_symbol",
            message=f"Error in dlopen: …/{name}: undefined symbol: {symbol}",
            confidence="proved",
            fix="Load it with the torch that compiled it, or compile it with this one."
            + (_built_by(model) or ""),
        )
        return


def _symbol_reason(symbol: str, host: HostFacts) -> str:
    if symbol.startswith("aoti_torch_") and "cuda" in symbol and host.torch_cuda is None:
        return "it is a CPU build, and the package is for CUDA"
    if symbol.startswith("aoti_torch_"):
        return "it is older than the torch that compiled the package, or lacks an operator library"
    return "the C++ ABI or the torch version differs from the compiling one"


def _built_by(model: CompiledModel) -> str | None:
    build = model.wrapper.build if model.wrapper else None
    return f" It was compiled against {build.torch}." if build and build.torch else None


def _device(model: CompiledModel, host: HostFacts) -> Iterator[Problem]:
    if model.device not in ("cuda", "xpu"):
        return
    if host.gpus == () and model.device == "cuda":
        yield Problem(
            what="the model was compiled for CUDA, and this process sees no CUDA device",
            severity="breaks",
            category="device_unavailable",
            message=_no_gpu(host),
            confidence="proved" if host.torch and host.torch_cuda is None else "likely",
            fix="Make a GPU visible (CUDA_VISIBLE_DEVICES, the container's --gpus), or compile for "
            "CPU.",
        )
        return
    wanted = model.metadata.get("AOTI_COMPUTE_CAPABILITY")
    for gpu in host.gpus or ():
        local = f"{gpu[0]}{gpu[1]}"
        if wanted and wanted != local:
            yield Problem(
                what=f"compiled on a device of capability {wanted}, this one has {local}",
                severity="may_break",
                category="package_incompatible",
                message=_MISMATCH.format("AOTI_COMPUTE_CAPABILITY", local, wanted),
                confidence="proved",
            )
        yield from _kernels(model, gpu)


def _kernels(model: CompiledModel, gpu: tuple[int, int]) -> Iterator[Problem]:
    unfit = [
        binary
        for binary in model.binaries
        if binary.architectures and all(runs_on(a, gpu) is False for a in binary.architectures)
    ]
    if unfit:
        have = ", ".join(sorted({a for b in unfit for a in b.architectures}))
        yield Problem(
            what=f"{len(unfit)} of {len(model.binaries)} kernels are for {have}, which does not "
            f"run on sm_{gpu[0]}{gpu[1]}",
            severity="breaks",
            category="package_incompatible",
            message="CUDA driver error: no kernel image is available for execution on the device",
            confidence="proved",
            fix="Compile on this GPU, or with aot_inductor.emit_multi_arch_kernel=True (torch 2.8 "
            "and later).",
        )


def _no_gpu(host: HostFacts) -> str:
    torch = _torch(host) or Release(2, 14)
    if torch <= Release(2, 12):
        return "Segmentation fault (core dumped)"
    if torch == Release(2, 13):
        built = host.torch_cuda is not None
        return (
            "RuntimeError: Found no NVIDIA driver on your system."
            if built
            else "AssertionError: Torch not compiled with CUDA enabled"
        )
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
    build = model.wrapper.build if model.wrapper else None
    if build is not None:
        wanted |= {_FLAGS[flag] for flag in build.flags if flag in _FLAGS}
    missing = sorted(wanted - host.cpu_flags)
    if missing:
        yield Problem(
            what=f"the CPU code uses {', '.join(missing)}, which this processor lacks",
            severity="breaks" if model.device == "cpu" else "may_break",
            category="package_incompatible",
            message="Illegal instruction (core dumped)",
            confidence="likely",
            fix="Compile on the oldest processor that must run it, or (torch 2.13 and later) with "
            "ATEN_CPU_CAPABILITY=avx2 TORCHINDUCTOR_CPP_MARCH=x86-64-v3.",
        )


def _custom_ops(model: CompiledModel) -> Iterator[Problem]:
    names = sorted(
        {op.target for op in model.custom_ops if not op.target.startswith(OWN_NAMESPACES)}
    )
    if names:
        first = re.sub(r"[^\w:.]", "?", names[0])[:100]
        yield Problem(
            what=f"the process must have registered {', '.join(names[:5])} before loading "
            "(import the module that defines them)",
            severity="may_break",
            category="custom_op_missing",
            message=f"Could not find schema for {first}.",
            confidence="likely",
            fix="Import the module, or torch.ops.load_library its .so, before aoti_load_package.",
        )
