"""What changed with the torch version: printer, minifier, package layout, error texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from aoti_debug.errors import WrongUse

T = TypeVar("T")


class Release(NamedTuple):
    """A torch release line. Patch releases of one line behave alike as far as these facts go."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


OLDEST = Release(2, 6)
NEWEST = Release(2, 15)
RELEASES: tuple[Release, ...] = tuple(Release(2, n) for n in range(6, 16))

_NUMBER = re.compile(r"\s*v?(\d{1,4})\.(\d{1,4})")


def release(version: str | Release) -> Release:
    """Read the release line off any spelling: `2.13.0+cu130`, `2.15.0.dev20260901`, `2.9.0a0+git1`.

    Raises WrongUse when the text does not begin with two numbers.
    """
    if isinstance(version, Release):
        return version
    found = _NUMBER.match(version)
    if found is None:
        raise WrongUse(
            f"{version[:40]!r} is not a torch version", help="Give one such as 2.13.0+cu130."
        )
    return Release(int(found[1]), int(found[2]))


def known(version: str | Release) -> bool:
    """Say whether the facts were checked for this release line (2.6 to 2.15)."""
    return OLDEST <= release(version) <= NEWEST


@dataclass(frozen=True, slots=True)
class Since(Generic[T]):
    """A fact that holds from a release on, until the next entry of its table."""

    since: Release
    fact: T


def at(table: tuple[Since[T], ...], version: str | Release) -> T:
    """Return the fact of `table` that holds in `version`; the oldest one for older releases."""
    line = release(version)
    fact = table[0].fact
    for entry in table:
        if entry.since <= line:
            fact = entry.fact
    return fact


@dataclass(frozen=True, slots=True)
class Printer:
    """How the intermediate value printer writes (all of it to C stdout)."""

    float32: str  # what its `Dtype:` line says for float32
    scalar_line_ends: bool  # False: a literal backslash-n stands where the line should end
    fallback_name: str  # how aten.cumsum is called in its lines
    save_directory: str  # where mode 1 writes, relative to the working directory
    save_creates_directory: bool  # False: mode 1 fails the run unless the directory exists
    save_path: str  # of one tensor


_CPP = "at::_ops::cumsum::call"
_SLASH = "tmp/aoti_torch/{when}_{kernel}_{argument}_{device}.pt"
_NO_SLASH = "tmp/aoti_torch{when}_{kernel}_{argument}_{device}.pt"
PRINTER: tuple[Since[Printer], ...] = (
    Since(Release(2, 6), Printer("float", True, _CPP, "tmp/aoti_torch", False, _SLASH)),
    Since(Release(2, 7), Printer("float32", False, _CPP, "tmp/aoti_torch", False, _SLASH)),
    Since(Release(2, 10), Printer("float32", False, _CPP, "tmp", True, _NO_SLASH)),
    Since(
        Release(2, 14), Printer("float32", False, "aoti_torch_cpu_cumsum", "tmp", True, _NO_SLASH)
    ),
    Since(
        Release(2, 15),
        Printer("float32", False, "aoti_torch_cpu_cumsum", "tmp/aoti_torch", True, _SLASH),
    ),
)


@dataclass(frozen=True, slots=True)
class MinifierLevel:
    level: int
    writes: str
    when: str


_ON_FAILURE = "when compiling, loading or the one run on the example inputs raises"
_LEVELS_OLD = (MinifierLevel(2, "minifier_launcher.py", _ON_FAILURE),)
_LEVELS = (
    MinifierLevel(1, "repro.py of the whole program", _ON_FAILURE),
    MinifierLevel(2, "minifier_launcher.py", _ON_FAILURE),
    MinifierLevel(3, "minifier_launcher.py", "before compiling, and again when it raises"),
    MinifierLevel(4, "minifier_launcher.py", "when the result differs from eager, or it raises"),
)


@dataclass(frozen=True, slots=True)
class Minifier:
    levels: tuple[MinifierLevel, ...]  # the only one acts whatever the level is set to, when single
    accuracy: bool  # can it search for a wrong result?
    sees_run_errors: bool  # can `--check-str` tell two run-time failures apart?
    sanity_error: str  # raised when the dumped program does not fail again


_SANITY = "RuntimeError: Input graph did not fail the tester"
MINIFIER: tuple[Since[Minifier], ...] = (
    Since(Release(2, 6), Minifier(_LEVELS_OLD, False, False, _SANITY)),
    Since(Release(2, 7), Minifier(_LEVELS, True, False, _SANITY)),
    Since(Release(2, 13), Minifier(_LEVELS, True, True, _SANITY)),
    Since(Release(2, 15), Minifier(_LEVELS, True, True, "MinifierSanityCheckFailed")),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands where in a `.pt2` file."""

    prefixed: bool  # every entry below a folder named after the file's stem when it was packed
    model_folder: str
    wrapper: str  # the C++ source
    library: str
    metadata: str
    triton_source: bool  # in a comment before each kernel's wrapper
    metadata_keys: tuple[str, ...]
    weights_on_disk: str | None  # the option that puts weights beside the library


_FOLDER = "data/aotinductor/{model}/"
_SPLIT = ("{hash}.wrapper.cpp", "{hash}.wrapper.so", "{hash}.wrapper_metadata.json")
_DEVICE = ("AOTI_DEVICE_KEY",)
_PLATFORM = (
    "AOTI_DEVICE_KEY",
    "AOTI_PLATFORM",
    "AOTI_MACHINE",
    "AOTI_CPU_ISA",
    "AOTI_COMPUTE_CAPABILITY",
)
_ON_DISK = "aot_inductor.package_constants_on_disk"
LAYOUT: tuple[Since[Layout], ...] = (
    Since(
        Release(2, 6),
        Layout(
            False, _FOLDER, "{hash}.cpp", "{hash}.so", "{hash}_metadata.json", False, _DEVICE, None
        ),
    ),
    Since(Release(2, 7), Layout(False, _FOLDER, *_SPLIT, False, _DEVICE, None)),
    Since(Release(2, 8), Layout(True, _FOLDER, *_SPLIT, True, _DEVICE, _ON_DISK)),
    Since(Release(2, 10), Layout(True, _FOLDER, *_SPLIT, True, _PLATFORM, _ON_DISK + "_format")),
)


@dataclass(frozen=True, slots=True)
class Errors:
    """Where the words of a failure are to be found."""

    run_reason: str  # exception, or stderr
    update_reason: str  # the same for constant updates and swaps
    shim_logged: bool  # is `Exception in aoti_torch: ...` on stderr?
    compile_type: str  # exception type of a failed C++ compile
    compiler_at_load: bool  # does loading probe the machine with a C++ compiler?
    masks_load_errors: bool  # can `Loading outdated pt2 file` hide the first loader's error?
    loader_folder: str  # where a package is unpacked


_CPP_ERROR = "CppCompileError"
_INDUCTOR_ERROR = "InductorError: CppCompileError"
_TMP = "/tmp/XXXXXX"
_NAMED = "/tmp/aotinductor_XXXXXX"
ERRORS: tuple[Since[Errors], ...] = (
    Since(Release(2, 6), Errors("stderr", "stderr", True, _CPP_ERROR, False, False, _TMP)),
    Since(Release(2, 8), Errors("stderr", "stderr", True, _CPP_ERROR, False, True, _TMP)),
    Since(Release(2, 10), Errors("stderr", "stderr", True, _INDUCTOR_ERROR, True, True, _TMP)),
    Since(
        Release(2, 13), Errors("exception", "stderr", False, _INDUCTOR_ERROR, True, True, _NAMED)
    ),
)


def printer(version: str | Release) -> Printer:
    """Return how the intermediate value printer writes in `version`."""
    return at(PRINTER, version)


def minifier(version: str | Release) -> Minifier:
    """Return what PyTorch's own AOTI minifier does in `version`."""
    return at(MINIFIER, version)


def layout(version: str | Release) -> Layout:
    """Return how `version` lays out a package."""
    return at(LAYOUT, version)


def errors(version: str | Release) -> Errors:
    """Return where `version` says why something failed."""
    return at(ERRORS, version)
