"""Look whether what calls returned, or what was loaded, is still there many calls later, and which
of the user's names holds it."""

from __future__ import annotations

import gc
import itertools
import linecache
import os
import re
import sys
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from . import budget, describe, events, memory
from .lazy import torch
from .vocabulary import owner
from .watch import caller

_LOOKS = (32, 96)  # recorded calls
_LOADED = 8  # of one package, by one line, each called before the next was loaded
_MOST_OF = 0.9
_DEPTH = 3  # from what is held to what has a name
_ITEMS = 4096  # of a container that are looked at
_FRAMES = 60
_CONTAINERS = (list, dict, set, tuple, deque)
_FILLS = (
    r"\s*(?:\.(?:append|appendleft|add|extend|insert|put|setdefault|update)\s*\("
    r"|\[.*?\]\s*=[^=]|\+=)"
)
_ASSIGNS = r"\s*[-+*/]?=[^=]"


class _State:
    returned: list[tuple[int, int, Any, Any, Any]] = []  # noqa: RUF012
    first: dict[str, int] = {}  # noqa: RUF012 - memory after the first call
    loads: set[Any] = set()  # noqa: RUF012 - packages and lines that were said
    said = False  # that outputs are kept


def returned(outputs: Sequence[Any], number: int) -> None:
    """Take the flat outputs of a recorded call; `number` is that of the call in its process."""
    if number > _LOOKS[-1]:
        return
    _State.first = _State.first or held()
    at, alive = caller(), torch.multiprocessing.reductions.StorageWeakRef
    for leaf in outputs:
        if isinstance(leaf, torch.Tensor) and describe.plain(leaf):
            storage = leaf.untyped_storage()
            one = number, storage.nbytes(), alive(storage), weakref.ref(leaf), at
            _State.returned.append(one)
    if number in _LOOKS:
        with budget.Apart(), events.noted("look at what holds outputs"):
            _look(number)


def _look(number: int) -> None:
    """Report where most outputs up to this call live on."""
    alive = [one for one in _State.returned if not one[2].expired()]
    calls = {one[0] for one in alive}
    if len(calls) < _MOST_OF * number:
        if _State.said:  # a container with a bound
            _report("outputs", len(calls), number, 0, {})
        return
    _State.said = True
    early = [leaf for one in alive if one[0] <= number // 2 and (leaf := one[3]()) is not None]
    memories = {one[2].cdata for one in alive if one[0] <= number // 2}
    found = (_holder(early[:8]) if early else {}) or _of_views(memories) or _graph(number)
    found.setdefault("caller", alive[0][4])
    _report("outputs", len(calls), number, sum(one[1] for one in alive), found)


def loaded(own: memory.Loaded) -> None:
    """Take a package that has just been loaded."""
    at = caller()
    own.caller = at
    alike = [
        (one, known)
        for one, known in list(memory.loaded.items())
        if known.path == own.path and known.caller == at
    ]
    called = {known.instance for _, known in alike if known.groups}
    if len(called) < _LOADED - 1 or (own.path, at) in _State.loads:
        return
    _State.loads.add((own.path, at))
    with budget.Apart(), events.noted("look at what holds packages"):
        found = _holder([one for one, known in alike if known.groups][:4])
        found.setdefault("caller", at)
        _report("packages", len(called) + 1, len(called) + 1, 0, found)


def _report(what: str, count: int, of: int, size: int, found: dict[str, Any]) -> None:
    then, now = _State.first, held()
    memories = {name: [then.get(name, 0), now[name]] for name in now}
    events.emit("held", what=what, count=count, of=of, bytes=size, **memories, **found)


def held() -> dict[str, int]:
    """Return the bytes that the process has now: resident ones, and those of a GPU's allocator."""
    found = {}
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            found["resident"] = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        found["allocated"] = torch.cuda.memory_allocated()
    return found


def _holder(objects: list[Any]) -> dict[str, Any]:
    """Return the user's name that holds some of these objects, and the line that fills it."""
    names = {id(one): (one, name, file) for one, name, file in _names()}
    wanted = {id(one) for one in objects}
    for one, name, file in names.values():  # a dict without containers is not known to gc
        if any(id(item) in wanted for item in _items(one)):
            return _about(one, name, file)
    seen, level = {id(objects), id(names)}, objects
    for _ in range(_DEPTH):
        seen.add(id(level))
        level = [one for one in gc.get_referrers(*level) if id(one) not in seen]
        level = [one for one in level if not isinstance(one, FrameType)]
        seen.update(map(id, level))
        for one in level:
            if id(one) in names:
                return _about(*names[id(one)])
    return {}


def _of_views(memories: set[int]) -> dict[str, Any]:
    """Return the user's name for a container of tensors that are views of these memories."""
    for one, name, file in _names():
        for item in _items(one):
            if type(item) is torch.Tensor and item.untyped_storage()._cdata in memories:
                return _about(one, name, file)
    return {}


def _graph(number: int) -> dict[str, Any]:
    """Return the user's tensor whose autograd graph goes back over so many calls."""
    for one, name, file in _names((torch.Tensor,)):
        level, seen = [one.grad_fn], set[Any]()
        while level and len(seen) < number:
            functions = [fn for fn in level if fn is not None and fn not in seen]
            seen.update(functions)
            level = [fn for function in functions for fn, _ in function.next_functions]
        if len(seen) >= number:
            line = _line(file, name, _ASSIGNS, last=True)
            return {"name": name, "kind": "Tensor", **({"caller": (file, line)} if line else {})}
    return {}


def _items(container: Any) -> Iterator[Any]:
    values = container.values() if isinstance(container, dict) else container
    return itertools.islice(iter(values), _ITEMS)


def _about(container: Any, name: str, file: str) -> dict[str, Any]:
    line = _line(file, name, _FILLS)
    about = {"name": name, "kind": type(container).__name__, "size": len(container)}
    return {**about, "caller": (file, line)} if line else about


def _names(kinds: tuple[type, ...] = _CONTAINERS) -> Iterator[tuple[Any, str, str]]:
    """Yield what the user's frames and modules have a name for, with that and their file: the
    containers, or objects of other kinds."""
    for frame in sys._current_frames().values():
        at: FrameType | None = frame
        for _ in range(_FRAMES):
            if at is None:
                break
            file = at.f_code.co_filename
            if not file.startswith(("<", os.path.dirname(__file__))) and owner(file) == "user":
                for name, value in [*at.f_globals.items(), *at.f_locals.items()]:
                    yield from _named(name, value, file, kinds)
            at = at.f_back


def _named(
    name: str, value: Any, file: str, kinds: tuple[type, ...], depth: int = 2
) -> Iterator[tuple[Any, str, str]]:
    """Yield a value, or those of its attributes and of theirs, that are of these kinds."""
    if isinstance(value, kinds):
        yield value, name, file
    elif depth and not isinstance(value, type(os)):
        more = 0 if isinstance(value, type) else depth - 1
        for key, one in list(getattr(value, "__dict__", {}).items()):
            yield from _named(f"{type(value).__name__}.{key}", one, file, kinds, more)


def _line(file: str, name: str, does: str, *, last: bool = False) -> int | None:
    """Return the first or the last line of a file that does something to what has this name."""
    pattern = re.compile(rf"\b{re.escape(name.rpartition('.')[2])}{does}")
    lines = enumerate(linecache.getlines(file), 1)
    found = [number for number, text in lines if pattern.search(text)]
    return found[-1 if last else 0] if found else None
