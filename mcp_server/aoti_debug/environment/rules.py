"""What would break on a machine before any script runs: pure rules over gathered facts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from aoti_debug.answers import Problem, problem, worst_first
from aoti_debug.environment.machine import Environment, Folder, GpuFacts
from aoti_debug.facts.flag import NEWEST, OLDEST, Release, known, release
from aoti_debug.package.elf import runs_on
from aoti_debug.package.flaws import STATIC_LIBSTDCXX

GIB = 1 << 30
likely = partial(problem, confidence="likely")


def problems(machine: Environment) -> list[Problem]:
    if machine.torch is None:
        return [_no_torch(machine)]
    of_cuda = (_toolkit, _triton) if machine.torch_cuda is not None else ()
    rules = (_torch_version, _compiler, _headers, _gpu, *of_cuda)
    found = [one for rule in rules for one in rule(machine)]
    return worst_first(found + [one for folder in machine.folders for one in _folder(folder)])


def _no_torch(machine: Environment) -> Problem:
    message = machine.torch_error or "ModuleNotFoundError: No module named 'torch'"
    missing = "No module named 'torch'" in message
    return problem(
        f"{machine.interpreter} has no torch" if missing else "torch cannot be imported",
        message,
        "Name the interpreter that has your torch with `python`.",
    )


def _torch_version(machine: Environment) -> Iterator[Problem]:
    if machine.torch and not known(machine.torch):
        yield problem(
            f"torch {machine.torch} is outside the releases that were examined, {OLDEST} to "
            f"{NEWEST}",
            None,
            severity="limits",
            category=None,
        )


def _compiler(machine: Environment) -> Iterator[Problem]:
    compiler = machine.compiler
    if compiler.path is None:
        loads = release(machine.torch or "2.15") >= Release(2, 10)
        yield problem(
            f"there is no C++ compiler ({compiler.asked}): nothing can be compiled"
            + (", and loading a package warns" if loads else ""),
            "InvalidCxxCompiler: No working C++ compiler found in "
            f"torch._inductor.config.cpp.cxx: (None, {compiler.asked!r})",
            "Install g++, or set CXX to the full path of one (a path alone, no options).",
        )
    elif compiler.error is not None:
        yield problem(
            "the compiler cannot build a small shared library: "
            + compiler.error.splitlines()[0][:200],
            f"CppCompileError: C++ compile error … {compiler.error[:300]}",
            "Repair or replace the compiler (CXX).",
        )
    elif compiler.static_libstdcxx:
        yield problem(
            f"{compiler.path} links libstdc++ statically: packages compile, and every one "
            "fails to load",
            STATIC_LIBSTDCXX,
            "Set CXX to a g++ that links libstdc++.so (often /usr/bin/g++) and compile again.",
        )
    if compiler.without_openmp:
        yield problem(
            "the compiler has no OpenMP (omp.h, libgomp): CPU kernels cannot be built",
            "fatal error: omp.h: No such file or directory",
            "Install libgomp's development files (gcc) or libomp-dev (clang).",
        )


def _headers(machine: Environment) -> Iterator[Problem]:
    for name, present in machine.headers.items():
        if present:
            continue
        python = name == "Python.h"
        yield problem(
            f"{name} is missing" + ("" if python else " from the installed torch"),
            f"fatal error: {name}: No such file or directory",
            "Install the headers of this Python (python3-dev)."
            if python
            else "Install torch again.",
            severity="may_break" if python else "breaks",
        )


def _gpu(machine: Environment) -> Iterator[Problem]:
    if machine.torch_cuda is None:
        if machine.nvidia_smi:
            yield problem(
                "this torch is a CPU build on a machine with an NVIDIA GPU",
                "AssertionError: Torch not compiled with CUDA enabled",
                "Install a CUDA build of torch.",
                severity="limits",
                category="device_unavailable",
            )
        return
    if not machine.gpus:
        yield _no_gpu(machine)
    for gpu in machine.gpus:
        yield from _architecture(machine, gpu)


def _no_gpu(machine: Environment) -> Problem:
    hidden = machine.visible is not None and machine.visible.strip() in ("", "-1")
    have, wanted = machine.driver_cuda, machine.torch_cuda
    old = have and wanted and int(_major(have)) < int(_major(wanted))
    message = "RuntimeError: 0 active drivers ([]). There should only be one."
    if hidden:
        what, fix = "CUDA_VISIBLE_DEVICES hides every GPU", "Unset it, or pass another in `env`."
    elif old:
        what = f"the driver runs CUDA {have} and torch was built for {wanted}"
        fix = "Update the driver, or install a torch built for an older CUDA."
        message = "The NVIDIA driver on your system is too old"
    else:
        what = "torch was built for CUDA and sees no device"
        fix = "Check nvidia-smi, the container's --gpus, and CUDA_VISIBLE_DEVICES."
    return problem(
        what,
        message,
        fix,
        severity="may_break",
        category="device_unavailable",
        confidence="proved" if hidden or old else "likely",
    )


def _architecture(machine: Environment, gpu: GpuFacts) -> Iterator[Problem]:
    verdicts = [runs_on(name.rstrip("abf"), gpu.capability) for name in machine.architectures]
    if not verdicts or any(v is not False for v in verdicts):
        return
    major, minor = gpu.capability
    yield problem(
        f"this torch holds no code for {gpu.name} (sm_{major}{minor}); it has "
        + " ".join(machine.architectures),
        "CUDA error: no kernel image is available for execution on the device",
        "Install a torch build for this GPU.",
        category="package_incompatible",
    )


def _toolkit(machine: Environment) -> Iterator[Problem]:
    if machine.cuda_header is False:
        yield likely(
            "cuda.h was not found: models for CUDA cannot be compiled",
            "fatal error: cuda.h: No such file or directory",
            "Install the CUDA toolkit (a devel image) and set CUDA_HOME.",
        )
    if machine.toolkit and _major(machine.toolkit) != _major(machine.torch_cuda or ""):
        yield likely(
            f"the CUDA toolkit is {machine.toolkit} ({machine.toolkit_path}), torch was built "
            f"for {machine.torch_cuda}",
            f"The detected CUDA version ({machine.toolkit}) mismatches the version that "
            f"was used to compile PyTorch ({machine.torch_cuda}).",
            "Set CUDA_HOME to a toolkit of the same major version.",
            severity="may_break",
        )


def _triton(machine: Environment) -> Iterator[Problem]:
    if machine.triton is None:
        yield problem(
            "triton is not installed or cannot be imported"
            + (f" ({machine.triton_error[:120]})" if machine.triton_error else ""),
            "TritonMissing: Cannot find a working triton installation.",
            f"Install triton {machine.triton_wanted or 'of the version torch asks for'}.",
            category="triton_error",
        )
    elif machine.triton_wanted and _release(machine.triton) != _release(machine.triton_wanted):
        yield likely(
            f"triton is {machine.triton}; torch {machine.torch} was made for "
            f"{machine.triton_wanted}",
            "CompilationError or AttributeError inside triton",
            f"Install triton {machine.triton_wanted}.",
            severity="may_break",
            category="triton_error",
        )


def _folder(folder: Folder) -> Iterator[Problem]:
    named = f"the {folder.role} directory {folder.path}"
    setting = "TMPDIR" if folder.role == "temporary" else "TORCHINDUCTOR_CACHE_DIR"
    if not folder.exists:
        yield problem(
            f"{named} does not exist",
            "Error generating temporary directory",
            f"Create it, or set {setting} to another.",
        )
        return
    if not folder.writable:
        yield problem(
            f"{named} cannot be written",
            "PermissionError: [Errno 13] Permission denied",
            f"Set {setting} to a directory that can.",
        )
    if folder.noexec:
        yield problem(
            f"{named} is mounted noexec: no library in it can be loaded",
            "Error in dlopen: …: failed to map segment from shared object",
            f"Set {setting} to a directory on another mount.",
        )
    if folder.free is not None and folder.free < GIB:
        yield likely(
            f"{named} has {folder.free // (1 << 20)} MiB left",
            "OSError: [Errno 28] No space left on device",
            f"Free some, or set {setting} to another disk.",
            severity="may_break" if folder.free < GIB // 4 else "limits",
        )
    elif not folder.inodes_left:
        yield problem(
            f"{named} has no file entries left",
            "OSError: [Errno 28] No space left on device",
            f"Delete old files, or set {setting} to another disk.",
        )


def _major(version: str) -> str:
    return version.partition(".")[0]


def _release(version: str) -> tuple[str, ...]:
    return tuple(version.partition("+")[0].split(".")[:2])
