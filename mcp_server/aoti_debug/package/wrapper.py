"""Read the generated C++ wrapper: what the model expects, holds and launches, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from aoti_debug.package.checks import add_symbols, read_checks
from aoti_debug.package.launches import read_launches, read_triton_kernels
from aoti_debug.package.record import Build, Constant, Input, Symbol, Wrapper

_CONSTANT = re.compile(r"constants_info_\[(\d{1,7})\]\.(\w{1,32}) = (.{0,2000}?);?$")
_INPUT_NAME = re.compile(r'inputs_info_\[(\d{1,6})\]\.name = "([^"]{1,300})";')
_INPUT_OF_RUN = re.compile(r"auto (\w{1,300}) = std::move\(inputs\[(\d{1,6})\]\);")
_BASE = re.compile(r"AOTInductorModelBase\(([^{]{1,400})\)\s{0,80}\{")
_SYMBOL = re.compile(r"(?:int64_t|double) (\w{1,100}) = ([^;]{1,500});$")
_FIRST_USE = re.compile(r"\((const )?(\w{1,40})\*\)\((\w{1,300})\.data_ptr\(\)\)")
_DTYPES = {
    "float": "float32", "double": "float64", "int64_t": "int64", "int32_t": "int32",
    "int16_t": "int16", "int8_t": "int8", "uint8_t": "uint8", "bool": "bool", "half": "float16",
    "bfloat16": "bfloat16", "c10::complex": "complex64",
}  # fmt: skip
_RUN = "void AOTInductorModel::run_impl("
_RUN_END = "} // AOTInductorModel::run_impl"


def read_wrapper(member: str, text: str, *, truncated: bool = False) -> Wrapper:
    """Parse the text of a `.wrapper.cpp` (torch 2.7 and later) or `.cpp` (2.6)."""
    lines = text.splitlines()
    first, last = _body(lines)
    head, body = lines[:first], lines[first:last]
    base = _base(text)
    names = _names(head, body)
    environment = "AOTI_RUNTIME_CHECK_INPUTS" in text
    checked = read_checks(head if environment else lines)
    return Wrapper(
        member=member,
        lines=len(lines),
        inputs=add_symbols(_inputs(names, checked, body), body),
        outputs=base[1] if base else None,
        constants=_constants(head),
        constants_declared=base[2] if base else None,
        weights_in_library=base[3] if base else None,
        symbols=_symbols(body),
        launches=read_launches(body, first),
        kernels=read_triton_kernels(lines),
        checks="environment" if environment else "always" if checked else "none",
        leaves=_leaves(text),
        printer="aoti_torch_print_tensor_handle(" in text or "aoti_torch_save_tensor_" in text,
        nan_checks='aoti_torch_check_inf_and_nan("' in text,
        build=_build(lines),
        truncated=truncated,
    )


def _body(lines: list[str]) -> tuple[int, int]:
    first = next((n for n, line in enumerate(lines) if line.startswith(_RUN)), len(lines))
    ends = (n for n in range(first, len(lines)) if lines[n].startswith(_RUN_END))
    return first, next(ends, len(lines))


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


def _names(head: Iterable[str], body: Iterable[str]) -> dict[int, str]:
    names = {int(m[1]): m[2] for line in head if (m := _INPUT_NAME.search(line))}
    for line in body:
        if found := _INPUT_OF_RUN.search(line):
            names.setdefault(int(found[2]), found[1])
        elif "inputs.clear()" in line:
            break
    return dict(sorted(names.items()))


def _inputs(names: dict[int, str], checked: dict[int, Input], body: list[str]) -> tuple[Input, ...]:
    guessed: dict[str, str] = {}
    written: set[str] = set()
    for line in body:
        for use in _FIRST_USE.finditer(line):
            dtype = _DTYPES.get(use[2])
            if dtype:
                guessed.setdefault(use[3], dtype)
            if not use[1]:
                written.add(use[3])
    found: list[Input] = []
    for index in sorted(names.keys() | checked.keys()):
        known = checked.get(index)
        name = names.get(index) or (known.name if known else f"input {index}")
        known = known or Input(index, name, dtype=guessed.get(name))
        found.append(replace(known, written=name in written))
    return tuple(found)


def _symbols(body: Iterable[str]) -> tuple[Symbol, ...]:
    found: list[Symbol] = []
    for line in body:
        if "inputs.clear()" in line:
            break
        if match := _SYMBOL.search(line):
            found.append(Symbol(match[1], match[2].strip()))
    return tuple(found)


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


def _leaves(text: str) -> int | None:
    """Count the arguments in the model's calling convention, tensors or not."""
    start = text.find("in_spec_ =")
    end = text.find("out_spec_ =", start)
    if start < 0 or end < 0:
        return None
    return len(re.findall(r'\\?"type\\?": null', text[start:end]))


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
