"""Open what is to be explained: the package and its sources, without loading it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from aoti_debug.answers import ExplainAnswer
from aoti_debug.errors import UnknownKernel, UnreadableInput
from aoti_debug.explain.code import cpp_kernels
from aoti_debug.explain.find import Texts, find
from aoti_debug.explain.kernel import explain, look
from aoti_debug.package.archive import ZIP_ERRORS, open_archive
from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import CompiledModel, Package
from aoti_debug.read.record import DeviceAssert
from aoti_debug.run.files import read_source
from aoti_debug.vocabulary import Leaf

SOURCE_BYTES = 24 * 1024 * 1024
MODULES = 400  # of the user's that are searched for a kernel
MODULE_BYTES = 1024 * 1024


def explain_package(
    path: Path,
    kernel: str | DeviceAssert,
    model: str | None = None,
    inputs: Sequence[Leaf] = (),
    folders: Iterable[Path] = (),
) -> ExplainAnswer:
    """Explain a kernel of a package: by its name, the number of its launch, or its assertion, as it
    was read or as text; `inputs` are those of the call that is looked at.

    Raises:
        UnreadableInput: no package that can be read, or one without its source.
        UnknownKernel: it has no such kernel; the nearest names are told.
    """
    package = inspect(path, binaries=False)
    found = model_of(package, path, model)
    texts = read_texts(path, found)
    wanted = find(kernel, found, texts, path.name)
    answer = explain(found, texts, wanted, inputs, lambda: modules([*folders, path.parent]))
    return answer.model_copy(update={"package": str(path)})


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a checked index was loaded from: an input by its number, None: a value of the model."""

    index: int | None


def origin_of_index(path: Path, model: CompiledModel, check: DeviceAssert) -> Origin | None:
    """Return what a failed check of a kernel looks at; None where it is not known, or several."""
    if model.wrapper is None:
        return None
    texts = read_texts(path, model)
    try:
        seen = look(model, texts, find(check, model, texts, path.name))
    except UnknownKernel:
        return None
    if seen.reader is None or seen.check is None or len(seen.launches) != 1:
        return None
    sources = seen.reader.meaning(seen.check.index, seen.check.place).sources
    loaded = [one.argument.value if one.argument is not None else None for one in sources]
    roots = {seen.program.names.root(one) if one is not None else None for one in loaded}
    value = roots.pop() if len(roots) == 1 else None
    if value is None or value.kind == "constant":
        return None
    return Origin(value.index if value.kind == "input" else None)


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


def read_texts(path: Path, model: CompiledModel) -> Texts:
    """Read the generated sources of a model in one opening of the archive."""
    own = PurePosixPath(model.wrapper.member if model.wrapper is not None else "")
    texts: dict[PurePosixPath, list[str]] = {}
    with open_archive(path) as (archive, source):
        if source is None:
            return Texts()
        members = {PurePosixPath(m.name): m for m in archive.members if m.size <= SOURCE_BYTES}
        beside = (name for name in members if name.parent == own.parent)
        cpp = next((name for name in beside if name.name.endswith(".kernel.cpp")), own)
        for name in {own, cpp} & members.keys():
            with contextlib.suppress(*ZIP_ERRORS):
                data = source.read(members[name], SOURCE_BYTES)
                texts[name] = data.decode("utf-8", "replace").split("\n") if data else []
    if not texts.get(cpp):  # torch 2.6 and package_cpp_only: the kernels are in the wrapper
        cpp = own
    lines = texts.get(cpp, [])
    return Texts(texts.get(own, []), lines, cpp.name, cpp_kernels(lines))


def modules(folders: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield the Python files of the user's folders, bounded in number and size."""
    seen: set[Path] = set()
    for path in (path for folder in folders for path in _python_files(folder)):
        if path in seen or len(seen) >= MODULES:
            continue
        seen.add(path)
        with contextlib.suppress(OSError):
            yield str(path), read_source(path, MODULE_BYTES)


def _python_files(folder: Path) -> Iterator[Path]:
    if "site-packages" in folder.parts:
        return
    for directory, below, files in os.walk(folder):
        depth = len(Path(directory).relative_to(folder).parts)
        kept = sorted(d for d in below if not d.startswith((".", "__")))[:50]
        below[:] = kept if depth < 2 else []
        yield from (Path(directory, file) for file in sorted(files) if file.endswith(".py"))
