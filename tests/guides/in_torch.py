"""What the guides' tests do where torch is.

in_torch.py claims [FOLDER]: say which claims hold for a torch: JSON of [kind, words] in, of true,
false and null out. `text`: the words stand in its sources, headers or libraries; words left out are
written `…`. `config`: `torch._inductor.config` knows the name. `api`: the dotted name exists. Any
other kind is a file below `torch/` in which the words stand. Without FOLDER the installed torch is
asked; it names the folder `torch` of an unpacked wheel, which is only read: null for an `api`.

in_torch.py blocks BLOCKS RESULTS: run the Python blocks of the guides one after the other, each in
its own namespace. BLOCKS is a JSON list (name, source), RESULTS where to write what came of each.
It is written after each block, so that one that ends the process is seen to have done so.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import importlib.util
import io
import json
import mmap
import os
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

SOURCES = """
_inductor _export export _dynamo fx _library _prims_common _logging _higher_order_ops _subclasses
utils include/torch/csrc/inductor cuda library.py __init__.py
""".split()


class Torch:
    def __init__(self, root: Path, *, installed: bool) -> None:
        self.root = root
        self.installed = installed
        version = re.search(r"__version__ = '([\d.]+)", (root / "version.py").read_text("utf-8"))
        self.version = version[1] if version else ""

    def holds(self, kind: str, words: str) -> bool | None:
        if kind == "api":
            return resolves(words) if self.installed else None
        if kind == "config":
            return words in self.settings
        if kind == "text":
            parts = [part.strip() for part in words.split("…")]
            return all(self.found(part) for part in parts if len(part) > 3)
        file = self.root / kind
        return file.is_file() and words in file.read_text("utf-8", "replace")

    def found(self, wanted: str) -> bool:
        if wanted in self.sources or wanted.encode() in self.headers:
            return True
        return any(library.find(wanted.encode()) >= 0 for library in self.libraries)

    @functools.cached_property
    def settings(self) -> frozenset[str]:
        tree = ast.parse((self.root / "_inductor" / "config.py").read_text("utf-8"))
        return frozenset(settings(tree.body, ""))

    @functools.cached_property
    def sources(self) -> str:
        """All Python sources in one text; literals that go over several lines are joined."""
        texts = []
        for name in SOURCES:
            place = self.root / name
            for path in place.rglob("*.py") if place.is_dir() else (place,):
                texts.append(path.read_text("utf-8", "replace"))
        text = "\n".join(texts)
        return text + "\n" + joined(text)

    @functools.cached_property
    def headers(self) -> bytes:
        paths = (self.root / "include" / "torch" / "csrc" / "inductor").rglob("*.h")
        text = "\n".join(path.read_text("utf-8", "replace") for path in paths)
        return (text + "\n" + joined(text)).encode()

    @functools.cached_property
    def libraries(self) -> tuple[mmap.mmap, ...]:
        return tuple(self._mapped())

    def _mapped(self) -> Iterator[mmap.mmap]:
        for name in ("libc10.so", "libtorch_cpu.so", "libtorch_python.so"):
            with (self.root / "lib" / name).open("rb") as stream:
                yield mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


def settings(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    """Yield the names that a configuration assigns, those of its classes with the class before."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from settings(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield prefix + node.target.id
        elif isinstance(node, ast.Assign):
            yield from (prefix + t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.If):
            yield from settings([*node.body, *node.orelse], prefix)


def resolves(dotted: str) -> bool:
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for name in parts[end:]:
            if not hasattr(value, name):
                return False
            value = getattr(value, name)
        return True
    return False


def joined(text: str) -> str:
    """Join the halves of literals that go over several lines."""
    return re.sub(r"[\"']\s*\n\s*[fr]?[\"']", "", text)


def find(arguments: list[str]) -> None:
    if arguments:
        torch = Torch(Path(arguments[0]), installed=False)
    else:
        spec = importlib.util.find_spec("torch")
        assert spec is not None and spec.origin is not None
        torch = Torch(Path(spec.origin).parent, installed=True)
    answers = [torch.holds(*claim) for claim in json.load(sys.stdin)]
    print(json.dumps({"version": torch.version, "holds": answers}))


def run_all(todo: Path, done: Path) -> None:
    results: dict[str, str] = {}
    environment = dict(os.environ)
    for block in json.loads(todo.read_text("utf-8")):
        results[block["name"]] = "ended the process"
        done.write_text(json.dumps(results), "utf-8")
        results[block["name"]] = _run(block["name"], block["source"])
        os.environ.clear()
        os.environ.update(environment)
    done.write_text(json.dumps(results), "utf-8")


def _run(name: str, source: str) -> str:
    """Return the traceback, empty when the block went through."""
    module = {"__name__": "__main__"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, name, "exec"), module)
    except BaseException:
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "claims":
        find(arguments)
    else:
        run_all(*map(Path, arguments))
