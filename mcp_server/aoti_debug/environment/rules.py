"""What would break on a machine before any script runs: pure rules over gathered facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from aoti_debug.answers import Problem
from aoti_debug.environment.machine import Environment, Folder, GpuFacts
from aoti_debug.facts.flag import NEWEST, OLDEST, Release, known, release
from aoti_debug.package.elf import runs_on
from aoti_debug.package.flaws import STATIC_LIBSTDCXX

GIB = 1 << 30


def problems(machine: Environment) -> list[Problem]:
    """Return what would break or change a run, worst first."""
    if machine.torch is None:
        return [_no_torch(machine)]
    rules: tuple[Callable[[Environment], Iterator[Problem]], ...] = (
        _torch_version,
        _compiler,
        _headers,
        _gpu,
        _toolkit,
        _triton,
        _folders,
    )
    found = [problem for rule in rules for problem in rule(machine)]
    order = ("breaks", "may_break", "changes", "limits")
    return sorted(found, key=lambda p: (order.index(p.severity), p.confidence != "proved"))


def _no_torch(machine: Environment) -> Problem:
    message = machine.torch_error or "ModuleNotFoundError: No module named 'torch'"
    missing = "No module named 'torch'" in message
    return Problem(
        what="this interpreter has no torch" if missing else "torch cannot be imported",
        severity="breaks",
        category="toolchain",
        message=message,
        confidence="proved",
        fix="Name the interpreter that has your torch with `python`.",
    )


def _torch_version(machine: Environment) -> Iterator[Problem]:
    if machine.torch and not known(machine.torch):
        yield Problem(
            what=f"torch {machine.torch} is outside the releases that were examined, {OLDEST} to "
            f"{NEWEST}",
            severity="limits",
            confidence="proved",
            message=None,
        )


def _compiler(machine: Environment) -> Iterator[Problem]:
    compiler = machine.compiler
    if compiler.path is None:
        loads = release(machine.torch or "2.15") >= Release(2, 10)
        yield Problem(
            what=f"there is no C++ compiler ({compiler.asked}): nothing can be compiled"
            + (", and loading a package warns" if loads else ""),
            severity="breaks",
            category="toolchain",
            confidence="proved",
            message="InvalidCxxCompiler: No working C++ compiler found in "
            f"torch._inductor.config.cpp.cxx: (None, {compiler.asked!r})",
            fix="Install g++, or set CXX to the full path of one (a path alone, no options).",
        )
    elif compiler.error is not None:
        yield Problem(
            what="the compiler cannot build a small shared library: "
            + compiler.error.splitlines()[0][:200],
            severity="breaks",
            category="toolchain",
            confidence="proved",
            message=f"CppCompileError: C++ compile error … {compiler.error[:300]}",
            fix="Repair or replace the compiler (CXX).",
        )
    elif compiler.static_libstdcxx:
        yield Problem(
            what=f"{compiler.path} links libstdc++ statically: packages compile, and every one "
            "fails to load",
            severity="breaks",
            category="toolchain",
            confidence="proved",
            message=STATIC_LIBSTDCXX,
            fix="Set CXX to a g++ that links libstdc++.so (often /usr/bin/g++) and compile again.",
        )
    if compiler.without_openmp:
        yield Problem(
            what="the compiler has no OpenMP (omp.h, libgomp): CPU kernels cannot be built",
            severity="breaks",
            category="toolchain",
            confidence="proved",
            message="fatal error: omp.h: No such file or directory",
            fix="Install libgomp's development files (gcc) or libomp-dev (clang).",
        )


def _headers(machine: Environment) -> Iterator[Problem]:
    for name, present in machine.headers.items():
        if present:
            continue
        python = name == "Python.h"
        yield Problem(
            what=f"{name} is missing" + ("" if python else " from the installed torch"),
            severity="may_break" if python else "breaks",
            category="toolchain",
            message=f"fatal error: {name}: No such file or directory",
            confidence="proved",
            fix="Install the headers of this Python (python3-dev)."
            if python
            else "Install torch again.",
        )


def _gpu(machine: Environment) -> Iterator[Problem]:
    if machine.torch_cuda is None:
        if machine.nvidia_smi:
            yield Problem(
                what="this torch is a CPU build on a machine with an NVIDIA GPU",
                severity="limits",
                category="device_unavailable",
                confidence="proved",
                message="AssertionError: Torch not compiled with CUDA enabled",
                fix="Install a CUDA build of torch.",
            )
        return
    if not machine.gpus:
        yield _no_gpu(machine)
    for gpu in machine.gpus:
        yield from _architecture(machine, gpu)


def _no_gpu(machine: Environment) -> Problem:
    hidden = machine.visible is not None and machine.visible.strip() in ("", "-1")
    old = _older(machine.driver_cuda, machine.torch_cuda)
    if hidden:
        what, fix = "CUDA_VISIBLE_DEVICES hides every GPU", "Unset it, or pass another in `env`."
    elif old:
        what = (
            f"the driver runs CUDA {machine.driver_cuda} and torch was built for "
            f"{machine.torch_cuda}"
        )
        fix = "Update the driver, or install a torch built for an older CUDA."
    else:
        what = "torch was built for CUDA and sees no device"
        fix = "Check nvidia-smi, the container's --gpus, and CUDA_VISIBLE_DEVICES."
    message = (
        "The NVIDIA driver on your system is too old"
        if old and not hidden
        else "RuntimeError: 0 active drivers ([]). There should only be one."
    )
    return Problem(
        what=what,
        severity="may_break",
        category="device_unavailable",
        message=message,
        confidence="proved" if hidden or old else "likely",
        fix=fix,
    )


def _architecture(machine: Environment, gpu: GpuFacts) -> Iterator[Problem]:
    verdicts = [runs_on(name.rstrip("abf"), gpu.capability) for name in machine.architectures]
    if not verdicts or any(v is not False for v in verdicts):
        return
    major, minor = gpu.capability
    yield Problem(
        what=f"this torch holds no code for {gpu.name} (sm_{major}{minor}); it has "
        + " ".join(machine.architectures),
        severity="breaks",
        category="package_incompatible",
        confidence="proved",
        message="CUDA error: no kernel image is available for execution on the device",
        fix="Install a torch build for this GPU.",
    )


def _toolkit(machine: Environment) -> Iterator[Problem]:
    if machine.torch_cuda is None:
        return
    if machine.cuda_header is False:
        yield Problem(
            what="cuda.h was not found: models for CUDA cannot be compiled",
            severity="breaks",
            category="toolchain",
            message="fatal error: cuda.h: No such file or directory",
            confidence="likely",
            fix="Install the CUDA toolkit (a devel image) and set CUDA_HOME.",
        )
    if machine.toolkit and _major(machine.toolkit) != _major(machine.torch_cuda):
        yield Problem(
            what=f"the CUDA toolkit is {machine.toolkit} ({machine.toolkit_path}), torch was built "
            f"for {machine.torch_cuda}",
            severity="may_break",
            category="toolchain",
            message=f"The detected CUDA version ({machine.toolkit}) mismatches the version that "
            f"was used to compile PyTorch ({machine.torch_cuda}).",
            confidence="likely",
            fix="Set CUDA_HOME to a toolkit of the same major version.",
        )


def _triton(machine: Environment) -> Iterator[Problem]:
    if machine.torch_cuda is None:
        return
    if machine.triton is None:
        yield Problem(
            what="triton is not installed or cannot be imported"
            + (f" ({machine.triton_error[:120]})" if machine.triton_error else ""),
            severity="breaks",
            category="triton_error",
            confidence="proved",
            message="TritonMissing: Cannot find a working triton installation.",
            fix=f"Install triton {machine.triton_wanted or 'of the version torch asks for'}.",
        )
    elif machine.triton_wanted and _release(machine.triton) != _release(machine.triton_wanted):
        yield Problem(
            what=f"triton is {machine.triton}; torch {machine.torch} was made for "
            f"{machine.triton_wanted}",
            severity="may_break",
            category="triton_error",
            message="CompilationError or AttributeError inside triton",
            confidence="likely",
            fix=f"Install triton {machine.triton_wanted}.",
        )


def _folders(machine: Environment) -> Iterator[Problem]:
    for folder in machine.folders:
        yield from _folder(folder)


def _folder(folder: Folder) -> Iterator[Problem]:
    named = f"the {folder.role} directory {folder.path}"
    setting = "TMPDIR" if folder.role == "temporary" else "TORCHINDUCTOR_CACHE_DIR"
    if not folder.exists:
        yield Problem(
            what=f"{named} does not exist",
            severity="breaks",
            category="toolchain",
            message="Error generating temporary directory",
            confidence="proved",
            fix=f"Create it, or set {setting} to another.",
        )
        return
    if not folder.writable:
        yield Problem(
            what=f"{named} cannot be written",
            severity="breaks",
            category="toolchain",
            message="PermissionError: [Errno 13] Permission denied",
            confidence="proved",
            fix=f"Set {setting} to a directory that can.",
        )
    if folder.noexec:
        yield Problem(
            what=f"{named} is mounted noexec: no library in it can be loaded",
            severity="breaks",
            category="toolchain",
            confidence="proved",
            message="Error in dlopen: …: failed to map segment from shared object",
            fix=f"Set {setting} to a directory on another mount.",
        )
    if folder.free is not None and folder.free < GIB:
        yield Problem(
            what=f"{named} has {folder.free // (1 << 20)} MiB left",
            severity="may_break" if folder.free < GIB // 4 else "limits",
            category="toolchain",
            message="OSError: [Errno 28] No space left on device",
            confidence="likely",
            fix=f"Free some, or set {setting} to another disk.",
        )
    elif not folder.inodes_left:
        yield Problem(
            what=f"{named} has no file entries left",
            severity="breaks",
            category="toolchain",
            message="OSError: [Errno 28] No space left on device",
            confidence="proved",
            fix=f"Delete old files, or set {setting} to another disk.",
        )


def _major(version: str) -> str:
    return version.partition(".")[0]


def _release(version: str) -> tuple[str, ...]:
    return tuple(version.partition("+")[0].split(".")[:2])


def _older(have: str | None, wanted: str | None) -> bool:
    if not have or not wanted:
        return False
    return int(_major(have)) < int(_major(wanted))
