"""Say which claims hold for the installed torch: JSON of [kind, words] in, of true and false out.

`text`: the words stand in its sources, headers or libraries; words left out are written `…`.
`api`: the dotted name exists. `config`: `torch._inductor.config` knows the name.
"""

from __future__ import annotations

import functools
import importlib
import json
import mmap
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
import torch._inductor.config as inductor

ROOT = Path(torch.__file__).parent
SOURCES = ("_inductor", "_export", "export", "_dynamo", "fx", "_library", "_prims_common",
           "_logging", "_higher_order_ops", "_subclasses", "utils", "include/torch/csrc/inductor",
           "cuda", "library.py", "__init__.py")  # fmt: skip


def holds(kind: str, words: str) -> bool:
    if kind == "config":
        return words in inductor.get_config_copy()
    if kind == "api":
        return resolves(words)
    return all(found(part) for part in words.split("…") if len(part.strip()) > 3)


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


def found(part: str) -> bool:
    wanted = part.strip()
    if wanted in sources() or wanted.encode() in headers_and_words():
        return True
    return any(library.find(wanted.encode()) >= 0 for library in libraries())


@functools.cache
def sources() -> str:
    """Return all Python sources in one text; literals that go over several lines are joined."""
    texts = []
    for name in SOURCES:
        place = ROOT / name
        for path in place.rglob("*.py") if place.is_dir() else (place,):
            texts.append(path.read_text("utf-8", "replace"))
    text = "\n".join(texts)
    return text + "\n" + joined(text)


def joined(text: str) -> str:
    """Join the halves of literals that go over several lines."""
    return re.sub(r"[\"']\s*\n\s*[fr]?[\"']", "", text)


@functools.cache
def headers_and_words() -> bytes:
    paths = (ROOT / "include" / "torch" / "csrc" / "inductor").rglob("*.h")
    text = "\n".join(path.read_text("utf-8", "replace") for path in paths)
    return (text + "\n" + joined(text)).encode()


@functools.cache
def libraries() -> tuple[mmap.mmap, ...]:
    return tuple(_mapped())


def _mapped() -> Iterator[mmap.mmap]:
    for name in ("libc10.so", "libtorch_cpu.so", "libtorch_python.so"):
        with (ROOT / "lib" / name).open("rb") as stream:
            yield mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


if __name__ == "__main__":
    print(json.dumps([holds(*claim) for claim in json.load(sys.stdin)]))
