"""Candidates from the numbers by which drivers, runtimes and shells tell what went wrong, where no
words stand beside them that anything knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from aoti_debug.diagnose.from_scene import said
from aoti_debug.diagnose.observations import Candidate
from aoti_debug.diagnose.scene import Form
from aoti_debug.facts.categories import Tier
from aoti_debug.model import Category, Phase

if TYPE_CHECKING:
    from aoti_debug.diagnose.observations import Observations

Meaning = tuple[Category, Phase]

# cudaError_t and CUresult, which share most numbers.
CUDA: dict[int, Meaning] = {
    2: ("out_of_memory", "run"),
    35: ("device_unavailable", "environment"),
    98: ("missing_kernel_binary", "run"),
    100: ("device_unavailable", "environment"),
    101: ("device_unavailable", "environment"),
    200: ("missing_kernel_binary", "run"),
    209: ("missing_kernel_binary", "run"),
    218: ("missing_kernel_binary", "run"),
    222: ("missing_kernel_binary", "run"),
    301: ("missing_kernel_binary", "run"),
    500: ("missing_kernel_binary", "run"),
    700: ("illegal_memory_access", "run"),
    701: ("kernel_resources", "run"),
    702: ("hang", "hang"),
    710: ("index_out_of_bounds", "run"),
    716: ("misaligned_address", "run"),
    719: ("illegal_memory_access", "run"),
    803: ("device_unavailable", "environment"),
    804: ("device_unavailable", "environment"),
    900: ("concurrency", "run"),
    901: ("concurrency", "run"),
}
# SYCL's runtime: OpenCL's numbers, and its own below -900.
SYCL: dict[int, Meaning] = {
    -4: ("out_of_memory", "run"),
    -5: ("out_of_memory", "run"),
    -6: ("out_of_memory", "run"),
    -11: ("triton_error", "triton_compile"),
    -17: ("missing_symbol", "load"),
    -42: ("missing_kernel_binary", "run"),
    -44: ("missing_kernel_binary", "run"),
    -45: ("missing_kernel_binary", "run"),
    -46: ("missing_kernel_binary", "run"),
    -52: ("contract_argument", "run"),
    -54: ("kernel_resources", "run"),
    -55: ("kernel_resources", "run"),
}
# The same by name, in Unified Runtime, its predecessor and Level Zero: parts of the name.
SYCL_NAMES: tuple[tuple[str, Meaning], ...] = (
    ("MODULE_BUILD", ("triton_error", "triton_compile")),
    ("PROGRAM_BUILD", ("triton_error", "triton_compile")),
    ("COMPILER", ("triton_error", "triton_compile")),
    ("OUT_OF_", ("out_of_memory", "run")),
    ("INVALID_BINARY", ("missing_kernel_binary", "run")),
    ("INVALID_NATIVE_BINARY", ("missing_kernel_binary", "run")),
    ("INVALID_KERNEL", ("missing_kernel_binary", "run")),
    ("INVALID_PROGRAM", ("missing_kernel_binary", "run")),
    ("INVALID_WORK", ("kernel_resources", "run")),
    ("INVALID_GROUP", ("kernel_resources", "run")),
)
NO_DEVICE: Meaning = ("device_unavailable", "run")
# Xid of the kernel log that a program's own access causes; others are the device's.
XID: dict[int, Meaning] = {
    13: ("illegal_memory_access", "run"),
    31: ("illegal_memory_access", "run"),
    43: ("illegal_memory_access", "run"),
}
# Windows: what its loader says of a library.
WINDOWS: dict[int, Meaning] = {
    126: ("toolchain", "load"),
    127: ("missing_symbol", "load"),
    193: ("package_incompatible", "load"),
    1114: ("toolchain", "load"),
    1455: ("out_of_memory", "run"),
}
# How Windows ended a process.
NTSTATUS: dict[int, Meaning] = {
    0xC0000005: ("host_segfault", "run"),
    0xC00000FD: ("host_segfault", "run"),
    0xC0000409: ("host_segfault", "run"),
    0xC0000374: ("host_segfault", "run"),
    0xC0000135: ("toolchain", "load"),
    0xC0000139: ("missing_symbol", "load"),
    0xC0000142: ("toolchain", "load"),
    0xC0000017: ("out_of_memory", "run"),
}
# Signals, as a negative status or added to 128.
SEGFAULT: Meaning = ("host_segfault", "run")
SIGNALS: dict[int, Meaning] = dict.fromkeys((4, 6, 7, 8, 11), SEGFAULT)

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
    """Yield what the numbers of a log say."""
    scene = observations.scene
    for line in scene.all(MENTIONS) if scene is not None else ():
        of_a_loader = loader(line.text)
        found = of_a_loader or meaning(line.text)
        if found is not None and scene is not None:
            category, phase = found
            tier = Tier.EXCEPTION if of_a_loader else Tier.STATUS
            told = said(scene, line, category, phase, "by its number: ", tier)
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
        return next((said for part, said in SYCL_NAMES if part in at["name"]), NO_DEVICE)
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
