"""Read what a package's generated C++ states of the model's inputs, and how it derives sizes."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from .judge import Contract, Dim, Input, Symbol

TEXT_LIMIT = 24 * 1024 * 1024
LINE_LIMIT = 32 * 1024  # characters; what is generated breaks its lines long before
DEVICE_TYPES = {0: "cpu", 1: "cuda", 12: "xpu", 13: "mps"}
UNBOUNDED = 2**63 - 1
# A launch of a generated GPU kernel, how it is loaded, and the texts that this is given.
LAUNCH = re.compile(r"launchKernel\(\s*kernels_?\.(\w{1,300}),")
LOAD = re.compile(r"kernels_?\.(\w{1,300}) = loadKernel\((.{1,4000}?)\);")
STRING = re.compile(r'"((?:[^"\\]|\\.){0,2000})"')
_RUN = "void AOTInductorModel::run_impl("
_RUN_END = "} // AOTInductorModel::run_impl"
_INPUT_NAME = re.compile(r'inputs_info_\[(\d{1,6})\]\.name = "([^"]{1,300})";')
_INPUT_OF_RUN = re.compile(r"auto (\w{1,300}) = std::move\(inputs\[(\d{1,6})\]\);")
_SYMBOL = re.compile(r"(?:int64_t|double) (\w{1,100}) = ([^;]{1,500});$")
_FIRST_USE = re.compile(r"\((const )?(\w{1,40})\*\)\((\w{1,300})\.data_ptr\(\)\)")
_HANDLE = re.compile(r"ConstantHandle (\w{1,300}) = ConstantHandle\(input_handles\[(\d{1,6})\]\);")
_DTYPE = re.compile(r"_expected_dtype = aoti_torch_dtype_(\w{1,40})\(\);")
_EXACT = re.compile(r"if \((-?\d{1,19})L? != \w{1,300}_(size|stride)\[(\d{1,3})\]\)")
_BOUND = re.compile(r"if \(\w{1,300}_size\[(\d{1,3})\] ([<>]) (-?\d{1,19})L?\)")
_DEVICE = re.compile(r"_expected_device_type = (-?\d{1,3});")
_SYMBOLIC = re.compile(
    r"assert_size_stride\((\w{1,300}), \{([^{}]{0,2000})\}, \{([^{}]{0,2000})\}, \"input\"\)"
)
_ALIGNED = re.compile(r"Input (\d{1,6}) was compiled as (\d{1,4})-bytes aligned")
_DTYPES = {
    "float": "float32",
    "double": "float64",
    "int64_t": "int64",
    "int32_t": "int32",
    "int16_t": "int16",
    "int8_t": "int8",
    "uint8_t": "uint8",
    "bool": "bool",
    "half": "float16",
    "bfloat16": "bfloat16",
    "c10::complex": "complex64",
}


def contract_in(package: Path, model: str = "model") -> Contract | None:
    """Return the contract of one model of a package; None where there is no source."""
    text = source_in(package, model)
    return contract_of(text) if text is not None else None


def source_in(package: Path, model: str = "") -> str | None:
    """Return the generated C++ of a model of an archive, the first one where none is named, or what
    lies beside a library; None where there is none."""
    if package.suffix == ".so":
        source = source_beside(package)
        return source.read_text(encoding="utf-8", errors="replace") if source is not None else None
    if not zipfile.is_zipfile(package):
        return None
    with zipfile.ZipFile(package) as archive:
        return _member(archive, model)


def source_beside(library: Path) -> Path | None:
    """Return the file of the generated C++ beside a library, or None. A library that was given a
    name of its own has the only one in its folder, where it is the only library."""
    folder, name = library.parent, library.name[: -len(".so")].replace(".wrapper", "")
    sources = [folder / (name + suffix) for suffix in (".wrapper.cpp", ".cpp")]
    others = list(folder.glob("*.wrapper.cpp"))
    if len(others) == 1 and len(list(folder.glob("*.so"))) == 1:
        sources += others
    usable = (one for one in sources if one.is_file() and one.stat().st_size <= TEXT_LIMIT)
    return next(usable, None)


def _member(archive: zipfile.ZipFile, model: str) -> str | None:
    within = f"data/aotinductor/{model}/" if model else ""
    names = [name for name in archive.namelist() if within in name]
    sources = [n for n in names if n.endswith(".cpp") and not n.endswith(".kernel.cpp")]
    sources.sort(key=lambda name: not name.endswith(".wrapper.cpp"))
    if not sources:
        return None
    with archive.open(sources[0]) as file:
        return file.read(TEXT_LIMIT).decode("utf-8", "replace")


def contract_of(text: str) -> Contract:
    """Return what the text of a `.wrapper.cpp` (torch 2.7 and later) or `.cpp` (2.6) states."""
    lines = lines_of(text)
    first, last = body_of(lines)
    found = inputs_of(text, lines, first, last)
    stated = any(one.dims is not None for one in found) or not found
    return Contract(found, symbols_of(lines[first:last]), leaves_of(text), stated)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, none of them longer than a search may take."""
    return [line[:LINE_LIMIT] for line in text.splitlines()]


def body_of(lines: list[str]) -> tuple[int, int]:
    """Return the first line of `run_impl` and the one after its last."""
    first = next((n for n, line in enumerate(lines) if line.startswith(_RUN)), len(lines))
    ends = (n for n in range(first, len(lines)) if lines[n].startswith(_RUN_END))
    return first, next(ends, len(lines))


def inputs_of(text: str, lines: list[str], first: int, last: int) -> tuple[Input, ...]:
    """Return the inputs with what is checked, written and used of each."""
    head, body = lines[:first], lines[first:last]
    names = _names(head, body)
    # Older releases check in run_impl, and always.
    checked = _checks(head if "AOTI_RUNTIME_CHECK_INPUTS" in text else lines)
    guessed: dict[str, str] = {}
    written: set[str] = set()
    for line in body:
        for use in _FIRST_USE.finditer(line) if ".data_ptr())" in line else ():
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
    return _with_symbols(tuple(found), body)


def symbols_of(body: Iterable[str]) -> tuple[Symbol, ...]:
    """Return the assignments at the beginning of `run_impl` that derive sizes."""
    found: list[Symbol] = []
    for line in body:
        if "inputs.clear()" in line:
            break
        match = _SYMBOL.search(line)
        if match:
            found.append(Symbol(match[1], match[2].strip()))
    return tuple(found)


def leaves_of(text: str) -> int | None:
    """Count the arguments in the model's calling convention, tensors or not."""
    start = text.find("in_spec_ =")
    end = text.find("out_spec_ =", start)
    if start < 0 or end < 0:
        return None
    return len(re.findall(r'\\?"type\\?": null', text[start:end]))


def _names(head: Iterable[str], body: Iterable[str]) -> dict[int, str]:
    names: dict[int, str] = {}
    for line in head:
        found = _INPUT_NAME.search(line) if "inputs_info_[" in line else None
        if found:
            names[int(found[1])] = found[2]
    for line in body:
        if "inputs.clear()" in line:
            break
        found = _INPUT_OF_RUN.search(line)
        if found:
            names.setdefault(int(found[2]), found[1])
    return dict(sorted(names.items()))


@dataclass
class _Checked:
    name: str
    dtype: str | None = None
    device: str | None = None
    sizes: dict[int, int] = field(default_factory=dict)
    strides: dict[int, int] = field(default_factory=dict)
    low: dict[int, int] = field(default_factory=dict)
    high: dict[int, int] = field(default_factory=dict)

    def freeze(self, index: int) -> Input:
        seen = (*self.sizes, *self.strides, *self.low, *self.high)
        rank = max(seen, default=-1) + 1
        dims = tuple(
            Dim(self.sizes.get(d), self.low.get(d), self.high.get(d), stride=self.strides.get(d))
            for d in range(min(rank, 64))
        )
        return Input(index, self.name, self.dtype, self.device, dims)


def _checks(lines: Iterable[str]) -> dict[int, Input]:
    found: dict[int, _Checked] = {}
    current: _Checked | None = None
    for line in lines:
        match = _HANDLE.search(line) if "input_handles[" in line else None
        if match:
            current = found.setdefault(int(match[2]), _Checked(match[1]))
        elif current is not None and ("if (" in line or "_expected_" in line):
            _take(current, line)
    return {index: checked.freeze(index) for index, checked in found.items()}


def _take(checked: _Checked, line: str) -> None:
    exact, bound = _EXACT.search(line), _BOUND.search(line)
    dtype, device = _DTYPE.search(line), _DEVICE.search(line)
    if exact:
        target = checked.sizes if exact[2] == "size" else checked.strides
        target[int(exact[3])] = int(exact[1])
    elif bound:
        limit = int(bound[3])
        if bound[2] == "<":
            checked.low[int(bound[1])] = limit
        elif limit < UNBOUNDED:
            checked.high[int(bound[1])] = limit
    elif dtype:
        checked.dtype = dtype[1]
    elif device:
        number = int(device[1])
        checked.device = DEVICE_TYPES.get(number, f"device type {number}")


def _with_symbols(inputs: tuple[Input, ...], body: Iterable[str]) -> tuple[Input, ...]:
    """Add each dimension's symbolic size and stride (torch 2.13 and later print them), and the
    alignment the model was compiled for."""
    shapes: dict[str, tuple[list[str], list[str]]] = {}
    aligned: dict[int, int] = {}
    for line in body:
        symbolic = _SYMBOLIC.search(line) if "assert_size_stride(" in line else None
        alignment = _ALIGNED.search(line) if "was compiled as" in line else None
        if symbolic:
            shapes.setdefault(symbolic[1], (_parts(symbolic[2]), _parts(symbolic[3])))
        if alignment:
            aligned[int(alignment[1])] = int(alignment[2])
    return tuple(
        replace(
            one,
            dims=_symbolic(one.dims, *shapes[one.name]) if one.name in shapes else one.dims,
            aligned=aligned.get(one.index, one.aligned),
        )
        for one in inputs
    )


def _parts(text: str) -> list[str]:
    """Split at commas outside parentheses: `s0, 2L*s1, ` → two parts."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "(<") - (character in ")>")
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _symbolic(
    dims: tuple[Dim, ...] | None, sizes: list[str], strides: list[str]
) -> tuple[Dim, ...] | None:
    if len(sizes) != len(strides) or len(sizes) > 64:
        return dims
    known = {**dict(enumerate(dims or ()))}
    pairs = zip(map(_number, sizes), map(_number, strides))
    return tuple(
        replace(
            known.get(d, Dim()),
            size=size,
            symbol=None if size is not None else sizes[d],
            stride=stride,
            stride_symbol=None if stride is not None else strides[d],
        )
        for d, (size, stride) in enumerate(pairs)
    )


def _number(text: str) -> int | None:
    digits = text[:-1] if text.endswith("L") else text
    return int(digits) if digits.lstrip("-").isdecimal() and len(digits) < 20 else None
