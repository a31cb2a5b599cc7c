"""Candidates from error numbers of drivers, runtimes and shells that no known words explain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from aoti_debug.diagnose.from_scene import said
from aoti_debug.diagnose.observations import Candidate, Observations
from aoti_debug.diagnose.scene import Form
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Category, Phase

Meaning = tuple[Category, Phase]

NO_MEMORY: Meaning = ("out_of_memory", "run")
NO_BINARY: Meaning = ("missing_kernel_binary", "run")
NO_DEVICE: Meaning = ("device_unavailable", "run")
NO_DRIVER: Meaning = ("device_unavailable", "environment")
BAD_ADDRESS: Meaning = ("illegal_memory_access", "run")
RESOURCES: Meaning = ("kernel_resources", "run")
AT_ONCE: Meaning = ("concurrency", "run")
BUILD: Meaning = ("triton_error", "triton_compile")
NO_LIBRARY: Meaning = ("toolchain", "load")
NO_SYMBOL: Meaning = ("missing_symbol", "load")
SEGFAULT: Meaning = ("host_segfault", "run")


def by_number(*rows: tuple[Meaning, tuple[int, ...]]) -> dict[int, Meaning]:
    return {number: meaning for meaning, numbers in rows for number in numbers}


# cudaError_t and CUresult, which share most numbers.
CUDA = by_number(
    (NO_MEMORY, (2,)),
    (NO_DRIVER, (35, 100, 101, 803, 804)),
    (NO_BINARY, (98, 200, 209, 218, 222, 301, 500)),
    (BAD_ADDRESS, (700, 719)),
    (RESOURCES, (701,)),
    (("hang", "hang"), (702,)),
    (("index_out_of_bounds", "run"), (710,)),
    (("misaligned_address", "run"), (716,)),
    (AT_ONCE, (900, 901)),
)
# SYCL's runtime: OpenCL's numbers, and its own below -900.
SYCL = by_number(
    (NO_MEMORY, (-4, -5, -6)),
    (BUILD, (-11,)),
    (NO_SYMBOL, (-17,)),
    (NO_BINARY, (-42, -44, -45, -46)),
    (("contract_argument", "run"), (-52,)),
    (RESOURCES, (-54, -55)),
)
# The same by name, in Unified Runtime, its predecessor and Level Zero: parts of the name.
SYCL_NAMES: tuple[tuple[Meaning, tuple[str, ...]], ...] = (
    (BUILD, ("MODULE_BUILD", "PROGRAM_BUILD", "COMPILER")),
    (NO_MEMORY, ("OUT_OF_",)),
    (NO_BINARY, tuple(f"INVALID_{of}" for of in "BINARY NATIVE_BINARY KERNEL PROGRAM".split())),
    (RESOURCES, ("INVALID_WORK", "INVALID_GROUP")),
)
# Xid of the kernel log that a program's own access causes; others are the device's.
XID = by_number((BAD_ADDRESS, (13, 31, 43)))
# Windows: what its loader says of a library.
WINDOWS = by_number(
    (NO_LIBRARY, (126, 1114)),
    (NO_SYMBOL, (127,)),
    (("package_incompatible", "load"), (193,)),
    (NO_MEMORY, (1455,)),
)
# How Windows ended a process.
NTSTATUS = by_number(
    (SEGFAULT, (0xC0000005, 0xC00000FD, 0xC0000409, 0xC0000374)),
    (NO_LIBRARY, (0xC0000135, 0xC0000142)),
    (NO_SYMBOL, (0xC0000139,)),
    (NO_MEMORY, (0xC0000017,)),
)
# Signals, as a negative status or added to 128.
SIGNALS = by_number((SEGFAULT, (4, 6, 7, 8, 11)))

OF_CUDA = re.compile(
    r"\b(?:cu(?:da)?[A-Z]\w{2,40}|CUDA|HIP|hip[A-Z]\w{2,40})\b.{0,60}"
    r"\b(?:error|code|failure|failed|returned)\b\D{0,20}(?P<number>\d{1,3})\b"
)
OF_SYCL = re.compile(r"\bNative API returns: (?P<number>-\d{1,4})\b")
OF_SYCL_NAMES = re.compile(r"\b(?:UR|PI|ZE)(?:_RESULT)?_ERROR_(?P<name>\w{1,80})")
OF_XID = re.compile(r"\bXid(?: \([^)]{1,40}\))?:? (?P<number>\d{1,3})\b")
OF_WINDOWS = re.compile(
    r"(?:\bWinError |\bLoadLibrary\w{0,4}\b.{0,60}\berror (?:code )?)(?P<number>\d{1,4})\b"
    r"|\(0x8007(?P<hex>[0-9A-Fa-f]{4})\)"
)
OF_NTSTATUS = re.compile(r"\b0x(?P<hex>[cC]0000[0-9A-Fa-f]{3})\b|(?<!\w)-(?P<number>107374\d{4})\b")
ABORTED = re.compile(r"(?i)\bsignal 6\b|\b134\b|-6\b")  # says only that something gave up
OF_STATUS = re.compile(
    r"(?i)\b(?:rc|exit(?:ed)?(?: with)?|return(?: ?code|ed)?|status|signal|exitcode|code)\b"
    r"(?: (?:code|status|with|code:))?\W{1,4}?(?P<number>-?\d{1,3})(?![\d.:])"
)
MENTIONS = Form(
    r"\(0x8007|\bWinError ",
    r"(?i)\b(?:error|failure|failed|returned|xid|rc|exit|exited|status|signal|code|exitcode|returns)\b",
)


def candidates(observations: Observations) -> Iterator[Candidate]:
    scene = observations.scene
    for line in scene.all(MENTIONS) if scene is not None else ():
        of_a_loader = loader(line.text)
        found = of_a_loader or meaning(line.text)
        if found is not None and scene is not None:
            tier = Tier.EXCEPTION if of_a_loader else Tier.STATUS
            told = said(scene, line, *found, "by its number: ", tier)
            if OF_XID.search(line.text) and found is NO_DEVICE:  # the driver knows more than CUDA
                told = replace(told, role="cause", tier=Tier.EXACT_TEXT)
            yield replace(told, role="envelope") if ABORTED.search(line.text) else told


def loader(text: str) -> Meaning | None:
    """Return what Windows says of a library that it does not load."""
    at = OF_WINDOWS.search(text)
    if at is None:
        return None
    return WINDOWS.get(int(at["number"]) if at["number"] else int(at["hex"], 16))


def meaning(text: str) -> Meaning | None:
    """Return what the number of a line means; nothing where a shell's prompt begins it."""
    if text.startswith("$ "):
        return None
    if at := OF_SYCL.search(text):
        return SYCL.get(int(at["number"]), NO_DEVICE)
    if at := OF_SYCL_NAMES.search(text):
        by_name = (said for said, parts in SYCL_NAMES if any(part in at["name"] for part in parts))
        return next(by_name, NO_DEVICE)
    if at := OF_XID.search(text):
        return XID.get(int(at["number"]), NO_DEVICE)
    if at := OF_NTSTATUS.search(text):
        status = int(at["hex"], 16) if at["hex"] else (1 << 32) - int(at["number"])
        return NTSTATUS.get(status, SEGFAULT)
    if at := OF_CUDA.search(text):
        return CUDA.get(int(at["number"]))
    if at := OF_STATUS.search(text):
        number = int(at["number"])
        signal = -number if number < 0 else number - 128
        named = "signal" in at[0].lower()
        return SIGNALS.get(number if named and number > 0 else signal)
    return None
