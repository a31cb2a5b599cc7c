"""Define a program's custom operators: by their source, their file, or an import; each is tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aoti_debug.minify.graph import Graph, OperatorFile
from aoti_debug.minify.request import NothingToMinify
from aoti_debug.minify.worker_pool import WorkerPool
from aoti_debug.run.files import read_json
from aoti_debug.triage.captured_call import Captured

DEFINE_S = 300.0  # an import of the user's may compile an extension
DEFINED = "defined.json"


@dataclass(frozen=True, slots=True)
class Definitions:
    """Python that defines the operators, the files it needs beside torch, and notes on why."""

    text: str = ""
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


async def definitions_for(
    pool: WorkerPool, graph: Graph, context: Captured, folders: Sequence[Path]
) -> Definitions:
    """Return the first definitions that register each operator alike; raise NothingToMinify."""
    if not graph.registered:
        return Definitions()
    why: list[str] = []
    for choice in choices(graph.operators, context, folders):
        missing = await _missing(pool, choice, graph.registered)
        if not missing:
            return choice
        why.append(missing)
    where = ", ".join(str(one.file or one.module or "compiled code") for one in graph.operators)
    raise NothingToMinify(
        f"a reproduction cannot define {', '.join(graph.registered)}: {why[-1] if why else where}",
        help="Move the operators into a module of their own and name it with --import, so that the "
        "reproduction can import them.",
    )


async def _missing(
    pool: WorkerPool, choice: Definitions, wanted: Mapping[str, Sequence[str]]
) -> str:
    """Run definitions in a process of their own; say what they do not register, or ""."""
    order = {"kind": "define", "operators": sorted(wanted)}
    ran = await pool.do(order, DEFINE_S, "import torch\nfrom pathlib import Path\n" + choice.text)
    found: Mapping[str, Sequence[str]] | None = read_json(ran.directory / DEFINED)
    if found is None:
        return str(ran.fingerprint)
    for name, parts in wanted.items():
        left = [part for part in parts if part not in found.get(name, ())]
        if left:
            return f"{name} is registered without {left[0]}"
    return ""


def choices(
    files: Sequence[OperatorFile], context: Captured, folders: Sequence[Path]
) -> Iterator[Definitions]:
    """Yield what may define the operators, the smallest first."""
    libraries = context.libraries if any(one.source is None for one in files) else ()
    loads = ((), libraries) if libraries else ((),)  # the source may load the library itself
    for narrow in (True, False):
        texts = [one.source if narrow else one.wider for one in files]
        own = [text for text in texts if text and text.strip()]
        for needed in loads:
            if own or needed:
                yield _joined(own, needed)
    modules = [one.module for one in files if one.module and one.module != "__main__"]
    words = list(dict.fromkeys((*context.modules, *modules)))
    if words:
        paths = ", ".join(repr(str(folder)) for folder in folders)
        lines = ["import sys\n", f"sys.path[:0] = [{paths}]", *(map(brought, words))]
        names = ", ".join(dict.fromkeys(word.partition(":")[0] for word in words))
        note = f"{names} is imported from the user's own files ({paths}): it defines operators"
        for needed in dict.fromkeys(((), context.libraries)):
            yield _joined(["\n".join(lines) + "\n"], needed, note)


def brought(word: str) -> str:
    """Return the Python for MODULE, MODULE:FUNCTION (called) or MODULE:FUNCTION=OPERATOR (fake)."""
    module, _, rest = word.partition(":")
    function, _, operator = rest.partition("=")
    if not all(part.isidentifier() for part in (*module.split("."), function or module[:1])):
        return ""
    if operator:
        return f"import {module}\ntorch.library.register_fake({operator!r}, {module}.{function})"
    return f"import {module}" + (f"\n{module}.{function}()" if function else "")


def _joined(texts: Sequence[str], libraries: Sequence[str], *notes: str) -> Definitions:
    loads = (f"torch.ops.load_library({library!r})\n" for library in libraries)
    parts = list(dict.fromkeys((*loads, *texts)))
    files = tuple(map(Path, libraries))
    said = "must be in the same folder: its operators are compiled code"
    needed = [f"{file.name} {said}" for file in files]
    text = "\n".join(parts).strip()
    return Definitions(text + "\n" if text else "", files, (*notes, *needed))


def beside(text: str, files: Sequence[Path]) -> str:
    """Return a script that looks for its files where it stands itself."""
    for file in files:
        text = text.replace(repr(str(file)), f"str(Path(__file__).with_name({file.name!r}))")
    return text
