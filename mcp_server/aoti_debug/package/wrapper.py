"""Read the generated C++ wrapper: what the model expects, holds and launches, in program order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from pathlib import PurePosixPath
from textwrap import dedent

from aoti_debug.package.record import Build, Launch, LaunchKind, TritonKernel, Wrapper
from aoti_debug.probe.constants import constants_of
from aoti_debug.probe.wrapper_contract import (
    LAUNCH,
    LOAD,
    STRING,
    body_of,
    inputs_of,
    leaves_of,
    lines_of,
    symbols_of,
)

LAUNCHES_LIMIT = 50_000
SOURCE_LIMIT = 64 * 1024  # characters of one Triton source
SOURCES_LIMIT = 4 * 1024 * 1024  # of all of them

_NODES = re.compile(
    r"// (?:Topologically Sorted|Unsorted) Source Nodes: \[([^\]]*)\], Original ATen: \[([^\]]*)\]"
)
_HANDLES = re.compile(r"// \[Provenance debug handles\] (.{1,500})$")
_TRITON = re.compile(r"^\s*call_(\w{1,300})\(")
_CPP = re.compile(r"^\s*(?:kernels\.)?(cpp_\w{1,300})\(")
_CUDA = re.compile(r"^\s*(?:AOTI_TORCH_ERROR_CODE_CHECK\()?kernels\.(\w{1,300})\(")
_PROXY = re.compile(r"aoti_torch_proxy_executor_call_function\(proxy_executor, (\d{1,6}),")
_EXTERN = re.compile(
    r"^\s*(?:AOTI_TORCH_ERROR_CODE_CHECK\()?(aoti_torch_(?:cpu|cuda|xpu|mps)_\w{1,200})\("
)
_ATEN = re.compile(r"(at::_ops::\w{1,200}::(?:call|redispatch))\(")
_CALLER = re.compile(r"\bvoid call_(\w{1,300})\(")
_EMBEDDED = re.compile(r"__(\w{1,300})_start")


def read_launches(body: list[str], first: int) -> tuple[Launch, ...]:
    """Return the launches of `run_impl`; `first` is the 0-based line where `body` starts."""
    found: list[Launch] = []
    nodes: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    handle: str | None = None
    for offset, line in enumerate(body):
        text = line.strip()
        if text.startswith("//"):
            if match := _NODES.match(text):
                nodes, ops = _list(match[1]), _list(match[2])
            elif match := _HANDLES.match(text):
                handle = match[1].split(",")[0].strip()
            continue
        for kernel, kind in _calls(line):
            place = (len(found) + 1, kernel, kind, first + offset + 1)
            found.append(Launch(*place, nodes, ops, handle))
            nodes, ops, handle = (), (), None
        if len(found) >= LAUNCHES_LIMIT:
            break
    return tuple(found)


def _calls(line: str) -> Iterator[tuple[str, LaunchKind]]:
    if match := _TRITON.match(line) or LAUNCH.search(line):
        yield match[1], "triton"
    elif match := _PROXY.search(line):
        yield f"proxy_executor[{match[1]}]", "custom_op"
    elif match := _CPP.match(line):
        yield match[1], "cpp"
    elif match := _EXTERN.match(line):
        yield match[1], "extern"
    elif match := _CUDA.match(line):
        yield match[1], "cuda"
    elif match := _ATEN.search(line):
        yield match[1], "aten"


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())[:64]


def read_triton_kernels(lines: Iterable[str]) -> tuple[TritonKernel, ...]:
    """Return the Triton kernels in the order of their callers in the source."""
    sources: dict[str, list[str]] = {}
    first: dict[str, int] = {}
    loads: dict[str, str] = {}
    caller, inside, kept = "", False, 0
    for number, line in enumerate(lines, 1):
        if inside:
            inside = line.strip() != "*/"
            if inside and kept < SOURCES_LIMIT:
                sources[caller].append(line[:2000])
                kept += len(line)
        elif "void call_" in line and (match := _CALLER.search(line)):
            caller = match[1]
            sources.setdefault(caller, [])
        elif caller and line.strip() == "/*":
            inside, first[caller] = True, number + 1
        elif "loadKernel(" in line and (match := LOAD.search(line)):
            sources.setdefault(match[1], [])
            loads[match[1]] = match[2]
    return tuple(
        _kernel(name, source, first.get(name), loads.get(name, ""))
        for name, source in sources.items()
    )


def _kernel(name: str, source: list[str], first: int | None, load: str) -> TritonKernel:
    asserts = tuple(text for line in source if "device_assert" in (text := line.strip()))
    strings, embedded = STRING.findall(load), _EMBEDDED.match(load) is not None
    loaded = bool(strings) and not embedded
    return TritonKernel(
        name=name,
        binary=PurePosixPath(strings[0].replace("\\\\", "/")).name if loaded else None,
        embedded=embedded,
        source=dedent("\n".join(source))[:SOURCE_LIMIT] or None,
        first_line=first,
        asserts=asserts[:50],
    )


_BASE = re.compile(r"AOTInductorModelBase\(([^{]{1,400})\)\s{0,80}\{")


def read_wrapper(member: str, text: str, *, truncated: bool = False) -> Wrapper:
    """Parse the text of a `.wrapper.cpp` (torch 2.7 and later) or `.cpp` (2.6)."""
    lines = lines_of(text)
    first, last = body_of(lines)
    head, body = lines[:first], lines[first:last]
    outputs, weights = _base(lines)
    environment = "AOTI_RUNTIME_CHECK_INPUTS" in text
    inputs = inputs_of(text, lines, first, last)
    always = "ConstantHandle(input_handles[" in text
    return Wrapper(
        member=member,
        lines=len(lines),
        inputs=inputs,
        outputs=outputs,
        constants=constants_of(head),
        weights_in_library=weights,
        symbols=symbols_of(body),
        launches=read_launches(body, first),
        kernels=read_triton_kernels(lines),
        checks="environment" if environment else "always" if always else "none",
        leaves=leaves_of(text),
        host_reads=sum("aoti_torch_item_" in line for line in body),
        printer="aoti_torch_print_tensor_handle(" in text or "aoti_torch_save_tensor_" in text,
        build=_build(lines),
        truncated=truncated,
    )


def _base(lines: list[str]) -> tuple[int | None, bool | None]:
    """Return the constructor's count of outputs, and whether the library holds the weights."""
    named = (n for n, line in enumerate(lines) if "AOTInductorModelBase(" in line)
    texts = ("\n".join(lines[n : n + 16])[:2000] for n in islice(named, 64))
    found = next(filter(None, map(_BASE.search, texts)), None)
    parts = found[1].replace("std::move(cubin_dir)", "").split(",") if found else []
    counts = [int(part) for part in parts[:3] if part.strip().isdecimal() and len(part.strip()) < 9]
    if len(counts) != 3:
        return None, None
    return counts[1], {"true": True, "false": False}.get(parts[-1].strip())


def _build(lines: list[str]) -> Build | None:
    ends = pairwise(lines[-8:])
    commands = [after for line, after in ends if line.startswith("// Compile cmd")]
    words = commands[-1][:20_000].removeprefix("// ").split() if commands else []
    if not words:
        return None
    includes = (word[2:] for word in words if word.startswith("-I"))
    torch = next((i for i in includes if i.endswith("/torch/include")), None)
    return Build(
        compiler=words[0],
        torch=torch.removesuffix("/include") if torch else None,
        flags=tuple(w for w in words if w.startswith(("-O", "-m", "-g", "-D_GLIBCXX")))[:40],
    )
