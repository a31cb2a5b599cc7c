"""What a machine has that compiling needs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Compiler:
    """The compiler that Inductor takes, and how a small shared library came out."""

    path: str | None
    asked: str = "g++"  # $CXX or the default
    version: str | None = None
    static_libstdcxx: bool = False
    error: str | None = None  # of the trial
    without_openmp: bool = False  # the trial passes only without omp.h and -fopenmp


@dataclass(frozen=True, slots=True)
class Folder:
    role: str  # "temporary", "cache"
    path: str
    exists: bool = True
    writable: bool = True
    noexec: bool = False
    free: int | None = None
    inodes_left: bool = True


@dataclass(frozen=True, slots=True)
class GpuFacts:
    index: int
    name: str
    capability: tuple[int, int] = (0, 0)
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Environment:
    """None: not known."""

    interpreter: str = "this interpreter"
    torch: str | None = None
    torch_error: str | None = None
    torch_cuda: str | None = None
    architectures: tuple[str, ...] = ()  # torch was built for
    gpus: tuple[GpuFacts, ...] = ()
    driver_cuda: str | None = None  # newest CUDA the driver runs
    nvidia_smi: bool = False
    visible: str | None = None  # CUDA_VISIBLE_DEVICES
    toolkit: str | None = None  # version of the CUDA toolkit
    toolkit_path: str | None = None
    cuda_header: bool | None = None
    triton: str | None = None
    triton_error: str | None = None
    triton_wanted: str | None = None  # by this torch's own metadata
    compiler: Compiler = field(default_factory=lambda: Compiler(None))
    headers: dict[str, bool] = field(default_factory=dict)
    folders: tuple[Folder, ...] = ()
