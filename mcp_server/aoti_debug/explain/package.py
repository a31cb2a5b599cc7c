"""Open what is to be explained, without loading it: package, sources, the code of one kernel."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from aoti_debug.errors import UnknownKernel, UnreadableInput
from aoti_debug.model import ExplainAnswer
from aoti_debug.package.archive import ZIP_ERRORS, open_archive
from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import CompiledModel, Package, TritonKernel

if TYPE_CHECKING:  # they read kernels with what stands here
    from aoti_debug.explain.find import NotFound, Texts
    from aoti_debug.explain.kernel import CallSeen

SOURCE_BYTES = 24 * 1024 * 1024
MODULES = 400  # of the user's that are searched for a kernel
MODULE_BYTES = 1024 * 1024


def explain_package(
    path: Path,
    kernel: str,
    model: str | None = None,
    call: CallSeen | None = None,
    folders: Iterable[Path] = (),
) -> ExplainAnswer:
    """Explain a kernel of a package: by its name, the number of its launch, or an assertion's text.

    Raises:
        UnreadableInput: no package that can be read, or one without its source.
        UnknownKernel: it has no such kernel; the nearest names are told.
    """
    from aoti_debug.explain.find import NotFound, find
    from aoti_debug.explain.kernel import explain

    package = inspect(path, binaries=False)
    found = model_of(package, path, model)
    texts = read_texts(path, found)
    wanted = find(kernel, found, texts.cpp, texts.cpp_file)
    if isinstance(wanted, NotFound):
        raise unknown(wanted, path, package)
    answer = explain(found, texts, wanted, call, lambda: modules([*folders, path.parent]))
    return answer.model_copy(update={"package": str(path)})


def model_of(package: Package, path: Path, model: str | None) -> CompiledModel:
    """Return the model that is meant.

    Raises:
        UnreadableInput: there is none, or it has no source.
    """
    found = package.model(model)
    if found is None:
        broken = next((flaw.what for flaw in package.flaws), "no compiled model in it")
        named = f"no model {model!r} in" if model and package.models else "cannot explain"
        raise UnreadableInput(
            f"{named} {path.name}: {broken}", help="Give a .pt2 that AOTInductor wrote."
        )
    if found.wrapper is None:
        raise UnreadableInput(
            f"{path.name} holds no generated source (a stripped package, or a bare library)",
            help="Compile it again and give that package; TORCH_LOGS=output_code shows where.",
        )
    return found


def unknown(wanted: NotFound, path: Path, package: Package) -> UnknownKernel:
    asked = " ".join(wanted.asked.split())[:120]
    near = (
        f"The nearest: {', '.join(wanted.nearest)}." if wanted.nearest else "It launches no kernel."
    )
    if wanted.why and not wanted.nearest:
        near = "Give the package of the call that failed, or a kernel's name."
    return UnknownKernel(wanted.why or f"{path.name} has no kernel {asked!r}", help=near)


def read_texts(path: Path, model: CompiledModel) -> Texts:
    """Read the generated sources of a model in one opening of the archive."""
    from aoti_debug.explain.find import Texts

    wrapper = model.wrapper.member if model.wrapper is not None else ""
    with open_archive(path) as (archive, source):
        if source is None:
            return Texts()
        members = [m for m in archive.members if m.size <= SOURCE_BYTES and m.name.endswith(".cpp")]
        folder = wrapper.rpartition("/")[0]
        cpp = next(
            (
                m
                for m in members
                if m.name.endswith(".kernel.cpp") and m.name.rpartition("/")[0] == folder
            ),
            None,
        )
        own = next((m for m in members if m.name == wrapper), None)
        texts: list[list[str]] = []
        for member in (own, cpp):
            try:
                data = source.read(member, SOURCE_BYTES) if member is not None else b""
            except ZIP_ERRORS:
                data = b""
            texts.append(data.decode("utf-8", "replace").split("\n") if data else [])
    if not texts[1]:  # torch 2.6 and package_cpp_only: the kernels are in the wrapper
        return Texts(texts[0], texts[0], PurePosixPath(wrapper).name, cpp_kernels(texts[0]))
    name = PurePosixPath(cpp.name if cpp else "").name
    return Texts(texts[0], texts[1], name, cpp_kernels(texts[1]))


def modules(folders: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield the Python files of the user's folders, bounded in number and size."""
    left = MODULES
    seen: set[Path] = set()
    for folder in folders:
        for path in _python_files(folder):
            if path in seen or left <= 0:
                continue
            seen.add(path)
            left -= 1
            try:
                if path.stat().st_size <= MODULE_BYTES:
                    yield str(path), path.read_text("utf-8", "replace")
            except OSError:
                continue


def _python_files(folder: Path) -> Iterator[Path]:
    if "site-packages" in folder.parts:
        return
    for directory, below, files in os.walk(folder):
        depth = len(Path(directory).relative_to(folder).parts)
        below[:] = (
            [] if depth >= 2 else sorted(d for d in below if not d.startswith((".", "__")))[:50]
        )
        yield from (Path(directory, file) for file in sorted(files) if file.endswith(".py"))


_CPP = re.compile(r'^extern "C"\s{1,9}void\s{1,9}(\w{1,300})\(')
_DEF = re.compile(r"^def (\w{1,300})\(", re.MULTILINE)
_PARAMETER = re.compile(r"(\w{1,300})\s{0,9}(?::\s{0,9}tl\.constexpr\s{0,9})?$")
LINES_LIMIT = 20_000
LINE_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of one kernel; `first` is the 1-based line of `file` where they begin."""

    language: Literal["triton", "cpp"]
    file: str
    first: int
    lines: tuple[str, ...]
    parameters: tuple[str, ...]
    pointers: tuple[tuple[str, str], ...] = ()  # parameter -> type

    def at(self, line: int) -> int | None:
        """Return the index of a line of the file; None outside of this kernel."""
        place = line - self.first
        return place if 0 <= place < len(self.lines) else None


def triton_code(kernel: TritonKernel, member: str, wrapper: Sequence[str]) -> Code | None:
    """Return the code of a Triton kernel as the wrapper carries it (torch 2.8 and later)."""
    if kernel.first_line is None:
        return None
    found_lines: list[str] = []
    for line in wrapper[kernel.first_line - 1 : kernel.first_line - 1 + LINES_LIMIT]:
        if line.strip() == "*/":
            break
        found_lines.append(line[:LINE_LIMIT])
    lines = tuple(textwrap.dedent("\n".join(found_lines)).split("\n"))
    text = "\n".join(lines)
    found = _DEF.search(text)
    parameters: tuple[str, ...] = ()
    if found is not None:
        head = text[found.end() : found.end() + 20_000].partition("):")[0]
        words = (_PARAMETER.search(word.strip()) for word in head.split(","))
        parameters = tuple(word[1] for word in words if word)
    types = tuple(re.findall(r"'(\w{1,100})': '(\*?\w{1,40})'", text[:40_000]))
    return Code("triton", member, kernel.first_line, lines, parameters, types)


def cpp_code(member: str, lines: Sequence[str], name: str, first: int | None) -> Code | None:
    """Return the code of a C++ kernel; `lines` are those of the package's kernel file, `first` is
    the 0-based one where it begins."""
    if first is None:
        return None
    last = len(lines)
    for number in range(first, min(len(lines), first + LINES_LIMIT)):
        if lines[number].startswith("}"):
            last = number + 1
            break
    kept = tuple(line[:LINE_LIMIT] for line in lines[first:last])
    head = "\n".join(kept[:400]).partition("(")[2].partition(")\n")[0]
    words = [part.strip() for part in head.split(",")]
    found = [(m[1], word[: m.start()].strip()) for word in words if (m := _PARAMETER.search(word))]
    names = tuple(name for name, _ in found)
    return Code("cpp", member, first + 1, kept, names, tuple(found))


def cpp_kernels(lines: Sequence[str]) -> dict[str, int]:
    """Return the C++ kernels of a file and the 0-based lines where they begin."""
    heads = ((n, _CPP.match(line)) for n, line in enumerate(lines) if line.startswith("extern"))
    return {head[1]: n for n, head in heads if head}


def kernel_at(lines: Sequence[str], line: int) -> str | None:
    """Return the C++ kernel that a line of its file belongs to."""
    for number in range(min(line, len(lines)) - 1, -1, -1):
        if m := _CPP.match(lines[number]):
            return m[1]
    return None
