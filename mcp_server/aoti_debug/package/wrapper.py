"""Read the generated C++ wrapper: what the model expects, holds and launches, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from aoti_debug.package.launches import read_launches, read_triton_kernels
from aoti_debug.package.record import Build, Constant, Wrapper
from aoti_debug.probe.stated import body_of, inputs_of, leaves_of, symbols_of

_CONSTANT = re.compile(r"constants_info_\[(\d{1,7})\]\.(\w{1,32}) = (.{0,2000}?);?$")
_BASE = re.compile(r"AOTInductorModelBase\(([^{]{1,400})\)\s{0,80}\{")


def read_wrapper(member: str, text: str, *, truncated: bool = False) -> Wrapper:
    """Parse the text of a `.wrapper.cpp` (torch 2.7 and later) or `.cpp` (2.6)."""
    lines = text.splitlines()
    first, last = body_of(lines)
    head, body = lines[:first], lines[first:last]
    base = _base(text)
    environment = "AOTI_RUNTIME_CHECK_INPUTS" in text
    inputs = inputs_of(text, lines, first, last)
    always = "ConstantHandle(input_handles[" in text
    return Wrapper(
        member=member,
        lines=len(lines),
        inputs=inputs,
        outputs=base[1] if base else None,
        constants=_constants(head),
        constants_declared=base[2] if base else None,
        weights_in_library=base[3] if base else None,
        symbols=symbols_of(body),
        launches=read_launches(body, first),
        kernels=read_triton_kernels(lines),
        checks="environment" if environment else "always" if always else "none",
        leaves=leaves_of(text),
        printer="aoti_torch_print_tensor_handle(" in text or "aoti_torch_save_tensor_" in text,
        nan_checks='aoti_torch_check_inf_and_nan("' in text,
        build=_build(lines),
        truncated=truncated,
    )


def _base(text: str) -> tuple[int, int, int, bool | None] | None:
    """Return (inputs, outputs, constants, weights in the library) of the model's constructor."""
    found = _BASE.search(text)
    if found is None:
        return None
    arguments = [part.strip() for part in found[1].replace("std::move(cubin_dir)", "").split(",")]
    counts = [int(part) for part in arguments[:3] if part.isdecimal() and len(part) < 9]
    if len(counts) != 3:
        return None
    weights = {"true": True, "false": False}.get(arguments[-1])
    return counts[0], counts[1], counts[2], weights


def _constants(head: Iterable[str]) -> tuple[Constant, ...]:
    fields: dict[int, dict[str, str]] = {}
    for line in head:
        if "constants_info_[" not in line:
            continue
        if found := _CONSTANT.search(line):
            fields.setdefault(int(found[1]), {})[found[2]] = found[3]
    return tuple(_constant(index, values) for index, values in sorted(fields.items()))


def _constant(index: int, values: dict[str, str]) -> Constant:
    size = values.get("data_size", "0").rstrip("UL")
    return Constant(
        index=index,
        name=values.get("name", "").strip('"'),
        fqn=values["original_fqn"].strip('"') if "original_fqn" in values else None,
        dtype=_tail(values.get("dtype"), "cached_torch_dtype_"),
        device=_tail(values.get("device_type"), "cached_torch_device_type_"),
        shape=_sizes(values.get("shape", "")),
        stride=_sizes(values.get("stride", "")),
        bytes=int(size) if size.isdecimal() and len(size) < 19 else 0,
        kind=_tail(values.get("type"), "ConstantType::"),
        folded=values.get("from_folded") == "true",
    )


def _tail(value: str | None, marker: str) -> str | None:
    if value is None or marker not in value:
        return None
    return value.rpartition(marker)[2].rstrip(") ")


def _sizes(text: str) -> tuple[int, ...]:
    parts = (part.strip().rstrip("L") for part in text.strip("{} ").split(","))
    return tuple(int(part) for part in parts if part.lstrip("-").isdecimal() and len(part) < 20)


def _build(lines: list[str]) -> Build | None:
    command = ""
    for number in range(max(0, len(lines) - 8), len(lines)):
        if lines[number].startswith("// Compile cmd") and number + 1 < len(lines):
            command = lines[number + 1][:20_000]
    words = command.removeprefix("// ").split()
    if not words:
        return None
    includes = (word[2:] for word in words if word.startswith("-I"))
    torch = next((i for i in includes if i.endswith("/torch/include")), None)
    standard = next((w for w in words if w.startswith("-std=")), None)
    return Build(
        compiler=words[0],
        torch=torch.removesuffix("/include") if torch else None,
        standard=standard.removeprefix("-std=") if standard else None,
        native="-march=native" in words,
        flags=tuple(w for w in words if w.startswith(("-O", "-m", "-g", "-D_GLIBCXX")))[:40],
    )
