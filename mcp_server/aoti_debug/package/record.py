"""What a package says without being loaded: frozen records, no behaviour beyond look-ups."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Literal

from aoti_debug.answers import Severity
from aoti_debug.model import Category, Confidence
from aoti_debug.probe.constants import Constant as Constant
from aoti_debug.probe.judge import Dim as Dim
from aoti_debug.probe.judge import Input as Input
from aoti_debug.probe.judge import Symbol as Symbol
from aoti_debug.vocabulary import Place

LaunchKind = Literal["triton", "cpp", "extern", "custom_op", "aten", "cuda"]
Layout = Literal["root", "prefixed", "library", "directory", "exported_program", "unknown"]


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something that breaks or may break a package, with the words the user would see."""

    what: str
    message: str | None = None
    fix: str | None = None
    _: KW_ONLY
    category: Category = "package_corrupt"
    confidence: Confidence = "proved"
    severity: Severity = "breaks"
    where: str | None = None  # member of the archive


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive or directory; `name` is relative to the package's root."""

    name: str
    size: int
    offset: int | None = None  # of its local header; None in a directory
    compressed: bool = False


@dataclass(frozen=True, slots=True)
class Archive:
    layout: Layout
    bytes: int
    members: tuple[Member, ...] = ()
    flaws: tuple[Flaw, ...] = ()

    def find(self, name: str) -> Member | None:
        return next((m for m in self.members if m.name == name), None)


@dataclass(frozen=True, slots=True)
class Launch:
    """One call of `run_impl`, in program order."""

    number: int  # 1-based
    kernel: str
    kind: LaunchKind
    line: int  # of the wrapper's source
    nodes: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    handle: str | None = None  # `name:number` of kernel_information.json


@dataclass(frozen=True, slots=True)
class TritonKernel:
    """A Triton kernel as the wrapper loads it."""

    name: str
    binary: str | None  # base name of its .cubin, None when embedded or not loaded
    embedded: bool = False
    source: str | None = None  # the Python text shipped as a comment (torch 2.8 and later)
    first_line: int | None = None  # of that text in the wrapper
    asserts: tuple[str, ...] = ()  # its tl.device_assert lines

    def line(self, number: int) -> str:
        """Return a line by its number in the file that Triton was given, which `source` repeats."""
        lines = (self.source or "").split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else ""


@dataclass(frozen=True, slots=True)
class Build:
    """The compile command that torch 2.6 and later leaves at the end of the wrapper."""

    compiler: str | None = None
    torch: str | None = None  # directory of the torch that compiled it
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wrapper:
    member: str
    lines: int
    inputs: tuple[Input, ...] = ()
    outputs: int | None = None
    constants: tuple[Constant, ...] = ()
    weights_in_library: bool | None = None
    symbols: tuple[Symbol, ...] = ()
    launches: tuple[Launch, ...] = ()
    kernels: tuple[TritonKernel, ...] = ()
    checks: Literal["none", "environment", "always"] = "none"
    leaves: int | None = None  # arguments of the model as called, tensors or not
    host_reads: int = 0  # values of tensors that the host waits for
    printer: bool = False  # compiled with the intermediate value printer
    build: Build | None = None
    truncated: bool = False

    def checking(self, condition: str, line: int | None = None) -> list[TritonKernel]:
        """Return the Triton kernels with an assertion; of several, those with it in this line."""
        found = [one for one in self.kernels if any(condition in text for text in one.asserts)]
        here = [one for one in found if line is not None and condition in one.line(line)]
        return here if len(found) > 1 and here else found


@dataclass(frozen=True, slots=True)
class Library:
    """An ELF shared library."""

    member: str
    machine: str | None = None
    needed: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()
    static_libstdcxx: bool = False
    versions: tuple[tuple[str, str], ...] = ()  # highest of (GLIBC, 2.34), ...
    embedded_kernels: tuple[str, ...] = ()
    model: bool = False  # exports the entry points of a compiled model
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Binary:
    """A compiled GPU kernel beside the library."""

    member: str
    architectures: tuple[str, ...] = ()  # sm_90, compute_90 (PTX), ...
    error: str | None = None


@dataclass(frozen=True, slots=True)
class CustomOp:
    """An operator called through the proxy executor."""

    target: str


@dataclass(frozen=True, slots=True)
class KernelOrigin:
    """From kernel_information.json: kernel → graph nodes → lines of the model."""

    kernel: str
    handle: int | None
    nodes: tuple[str, ...]
    nodes_before: tuple[str, ...]  # before grad passes: the user's own operations
    source: tuple[Place, ...]  # innermost of the user first


OWN_NAMESPACES = ("aten::", "prim::", "prims::", "higher_order::", "quantized::", "_c10d")


@dataclass(frozen=True, slots=True)
class CompiledModel:
    name: str
    folder: str
    metadata: dict[str, str] = field(default_factory=dict)
    wrapper: Wrapper | None = None
    library: Library | None = None
    binaries: tuple[Binary, ...] = ()
    custom_ops: tuple[CustomOp, ...] = ()
    origins: tuple[KernelOrigin, ...] = ()
    weights: tuple[Member, ...] = ()  # on disk, beside the library
    source_only: bool = False  # package_cpp_only

    @property
    def device(self) -> str | None:
        return self.metadata.get("AOTI_DEVICE_KEY")

    def operator_of(self, launch: Launch) -> str:
        """Return the custom operator that a launch calls through the proxy executor."""
        number = launch.kernel.removeprefix("proxy_executor[").removesuffix("]")
        known = number.isdecimal() and int(number) < len(self.custom_ops)
        return self.custom_ops[int(number)].target if known else launch.kernel

    def origin_of(self, kernel: str, launch: Launch | None = None) -> KernelOrigin | None:
        """Return what a launch is made of, else its kernel: not every launch has a number."""
        handle = launch.handle if launch is not None else None
        own = (o for o in self.origins if handle in (f"{o.kernel}:{o.handle}", o.kernel))
        return next(own, None) or next((o for o in self.origins if o.kernel == kernel), None)

    @property
    def users_operators(self) -> tuple[str, ...] | None:
        """Return the custom operators that the runtime calls for it; None where it is not told."""
        proxied = self.wrapper is not None and any(
            launch.kind == "custom_op" for launch in self.wrapper.launches
        )
        if self.wrapper is None or (proxied and not self.custom_ops):
            return None
        names = {op.target for op in self.custom_ops if not op.target.startswith(OWN_NAMESPACES)}
        return tuple(sorted(names))


@dataclass(frozen=True, slots=True)
class Package:
    path: Path
    layout: Layout
    bytes: int
    written_by: str | None = None  # range of torch releases that write this layout
    models: tuple[CompiledModel, ...] = ()
    flaws: tuple[Flaw, ...] = ()

    def model(self, name: str | None = None) -> CompiledModel | None:
        """Return the model of that name, or the one that torch loads by default."""
        wanted = name or "model"
        named = next((m for m in self.models if m.name == wanted), None)
        return named or (self.models[0] if self.models and name is None else None)
