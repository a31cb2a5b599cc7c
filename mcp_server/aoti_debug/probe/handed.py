"""Have every thread read what it was handed, as it was then: a script that goes well so writes
memory again before it is read. This changes what a script computes, and is an experiment alone."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, Optional

from . import describe, events, lost_writes, memory, not_copied, repeats, watch
from .lazy import torch

_BYTES = 8 << 20  # of a tensor
_LINES = 20
_ARRAYS = 256  # the last that were handed over
_TENSORS = 4096
_ATTRIBUTE = "__get__"

Place = Optional[tuple[str, int]]


class _Given(NamedTuple):
    """A tensor as one thread made, wrote or handed it."""

    copy: Any
    original: Any  # None: itself
    thread: int
    place: Place
    kept: bool  # in this very tensor: written by it, or returned by a model
    counted: bool = False


class _Thread(threading.local):
    inside = False
    watched = False
    mode: Any = None


class _State:
    mode: Any = None


_thread = _Thread()
_writing = threading.RLock()
_given: Any = None  # by tensor
_writers: dict[int, tuple[Place, int]] = {}  # the last one, by memory
_arrays: dict[int, tuple[Any, Any, Place]] = {}  # copies that were handed over, by their ids
_found: dict[tuple[Place, Place, Place, bool], int] = {}  # reads of what was written again
_inputs: dict[int, Place] = {}  # of calls of models, by memory
_after: dict[tuple[Place, Place], int] = {}  # first writes to these, by line and call
_again: dict[Place, int] = {}  # memory that is handed over once more
_addresses: set[int] = set()
# Memory as a thread wrote it since its last call, and the lines by which it did so.
_own: dict[tuple[int, int], tuple[Any, set[Place]]] = {}


def begin() -> None:
    """Watch what tensors are made, handed over and read, in every thread."""
    global _given
    _given = torch.utils.weak.WeakTensorKeyDictionary()
    _State.mode = type(
        "Handed", (torch.overrides.TorchFunctionMode,), {"__torch_function__": _function}
    )
    thread: Any = threading.Thread
    original = thread._bootstrap_inner

    def bootstrap(self: Any) -> None:
        enter()
        try:
            original(self)
        finally:  # what a thread leaves behind would need Python when that may be ending
            _thread.mode.__exit__(None, None, None)

    thread._bootstrap_inner = bootstrap
    if memory.experiment != "1":
        return
    for home, name in (("queue", "Queue"), ("concurrent.futures", "ThreadPoolExecutor")):
        kind: Any = getattr(import_module(home), name)
        method = "put" if name == "Queue" else "submit"
        setattr(kind, method, _handing(getattr(kind, method)))
    torch.from_numpy = _shared(torch.from_numpy)


def _shared(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap what makes a tensor of an array's memory, which no mode sees."""

    @functools.wraps(original)
    def of_array(array: Any) -> Any:
        leaf = original(array)
        if not memory.loaded or _thread.inside or not _plain(leaf):
            return leaf
        enter()
        copy, own, place = _arrays.get(id(array), (None, None, None))
        if copy is array:
            _given[leaf] = _Given(None, original(own), 0, place, False)
        else:
            _remember([leaf], [leaf], watch.caller("library"), kept=True)
        return leaf

    return of_array


def enter() -> None:
    """Watch what this thread does, for as long as it lives: from the first load or call on. Before,
    a mode could be in the way of an export."""
    if not _thread.watched:
        _thread.watched = True
        _thread.mode = _State.mode()
        _thread.mode.__enter__()


def calling(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the call of a loaded model, which no mode sees."""
    leaves = torch.utils._pytree.tree_leaves

    @functools.wraps(original)
    def call(model: Any, /, *args: Any, **kwargs: Any) -> Any:
        enter()
        if memory.experiment == "1":
            args, kwargs = _meant((args, kwargs), _as_written)
        for leaf in leaves((args, kwargs)):
            lost_writes.read(leaf)
            not_copied.read(leaf)
            if _plain(leaf):
                _inputs[_memory(leaf)] = watch.caller("library")
        result = original(model, *args, **kwargs)
        made = [leaf for leaf in leaves(result) if _plain(leaf)]
        _remember(made, made, watch.caller("library"), kept=True)
        return result

    return call


def ended() -> None:
    """Say which line wrote what another had not read yet, and how often."""
    lost_writes.ended()
    not_copied.ended()
    for (writer, maker, reader, same), count in list(_found.items())[:_LINES]:
        events.emit("handed", writer=writer, maker=maker, caller=reader, same=same, count=count)
    for (writer, call), count in list(_after.items())[:_LINES]:
        events.emit("handed", writer=writer, caller=call, after=True, count=count)
    for place, count in list(_again.items())[:_LINES]:
        events.emit("handed", maker=place, again=True, count=count)


def _handing(original: Callable[..., Any]) -> Callable[..., Any]:
    tree_map = torch.utils._pytree.tree_map

    @functools.wraps(original)
    def hand(self: Any, *args: Any, **kwargs: Any) -> Any:
        if memory.loaded:
            enter()
        place = watch.caller("library")

        def one(leaf: Any) -> Any:
            if type(leaf).__module__ == "numpy" and 0 < getattr(leaf, "nbytes", 0) <= _BYTES:
                _hands(leaf.__array_interface__["data"][0], place)
                copy = leaf.copy()
                _arrays[id(copy)] = copy, leaf, place
                if len(_arrays) > _ARRAYS:
                    del _arrays[next(iter(_arrays))]
                return copy
            if not _plain(leaf):
                return leaf
            _hands(leaf.data_ptr(), place)
            copy = leaf.detach().clone()
            _given[copy] = _Given(None, leaf, threading.get_ident(), place, False)
            return copy

        inside, _thread.inside = _thread.inside, True
        try:
            args, kwargs = tree_map(one, (args, kwargs))
        finally:
            _thread.inside = inside
        return original(self, *args, **kwargs)

    return hand


def _hands(address: int, place: Place) -> None:
    if address in _addresses:
        _again[place] = _again.get(place, 0) + 1
    _addresses.add(address)


def _function(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    kwargs, name = kwargs or {}, getattr(func, "__name__", _ATTRIBUTE)
    if _thread.inside or name == _ATTRIBUTE:
        return func(*args, **kwargs)
    writes = name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))
    if memory.experiment != "1":
        result = not_copied.real(name, args, func(*args, **kwargs))
        return _looked(result, name, args, kwargs, writes)
    with _writing if writes else contextlib.nullcontext():  # what is copied is what was written
        result = not_copied.real(name, args, _seen(func, name, args, kwargs, writes))
    return _looked(result, name, args, kwargs, writes)


def _looked(result: Any, name: str, args: Any, kwargs: Any, writes: bool) -> Any:
    inside, _thread.inside = _thread.inside, True
    try:
        lost_writes.seen(name, args, kwargs, result, writes)
        not_copied.seen(args, kwargs, writes)
    finally:
        _thread.inside = inside
    return result


def _seen(func: Any, name: str, args: Any, kwargs: Any, writes: bool) -> Any:
    """Call a function on what was meant, and remember what it made or wrote."""
    leaves = torch.utils._pytree.tree_leaves
    result, _thread.inside = func(*args, **kwargs), True
    try:
        given = [leaf for leaf in leaves((args[writes:], kwargs)) if _plain(leaf)]
        made = [args[0]] if writes and args else leaves(result)
        made = [leaf for leaf in made if _plain(leaf)]
        source: Any = None  # what was written again since, of which this is a view
        if any(_as_given(leaf) is not leaf for leaf in given):
            places = {_memory(leaf) for leaf in given}
            meant = _meant((args[writes:], kwargs))
            again = func(*args[:writes], *meant[0], **meant[1])
            if writes or not any(_memory(leaf) in places for leaf in made):
                return again
            source = _given.get(given[0])
        values, place = made if source is None else leaves(again), watch.caller("library")
        if writes:
            _wrote(made, place)
            whole = [leaf._base for leaf in made if leaf._base is not None and _plain(leaf._base)]
            made, values = made + whole, [*values, *whole]
        known = _given.get(result) if not_copied.is_same(name, args, result) else None
        kept = writes or (known is not None and known.original is None)
        _remember(made, values, place, kept, source)
    finally:
        _thread.inside = False
    return result


def _wrote(tensors: list[Any], place: Place) -> None:
    thread = threading.get_ident()
    for leaf in tensors:
        address, whole = _memory(leaf), leaf if leaf._base is None else leaf._base
        _writers[address] = place, thread
        if whole.is_contiguous() and not whole.storage_offset() and len(_own) < _TENSORS:
            _, lines = _own.get((address, thread), (None, set[Place]()))
            _own[address, thread] = whole.detach().clone(), {*lines, place}
        if (call := _inputs.pop(address, None)) is not None:
            _after[place, call] = _after.get((place, call), 0) + 1


def _remember(
    made: list[Any], values: list[Any], place: Place, kept: bool, source: Any = None
) -> None:
    """Keep what this thread made or wrote; a view of what another made stays that one's."""
    inside, own, _thread.inside = _thread.inside, threading.get_ident(), True
    try:
        for leaf, value in zip(made, values):
            thread = own if source is None else source.thread
            _given[leaf] = _Given(value.detach().clone(), None, thread, place, kept)
    finally:
        _thread.inside = inside


def _meant(tree: Any, one: Any = None) -> Any:
    tree_map = torch.utils._pytree.tree_map
    inside, _thread.inside = _thread.inside, True
    try:
        return tree_map(one or _as_given, tree)
    finally:
        _thread.inside = inside


def _as_written(leaf: Any) -> Any:
    """Return an input of a call as its thread wrote it, where another thread has written it since
    by a line that this one wrote it by as well; else as it was given."""
    if not _plain(leaf):
        return leaf
    key = _memory(leaf), threading.get_ident()
    whole, lines = _own.pop(key, (None, set[Place]()))
    writer, thread = _writers.get(key[0], (None, 0))
    if whole is None or writer is None or thread == key[1] or writer not in lines:
        return _as_given(leaf)
    written = whole.as_strided(leaf.size(), leaf.stride(), leaf.storage_offset())
    if repeats.same_bits(leaf.detach(), written):
        return leaf
    found = writer, writer, watch.caller("library"), False
    _found[found] = _found.get(found, 0) + 1
    return written


def _as_given(leaf: Any) -> Any:
    """Return a tensor as its thread made or wrote it, where others have written its memory."""
    known = _given.get(leaf) if _plain(leaf) else None
    if known is None:
        return leaf
    own, handed = threading.get_ident(), known.original is not None
    shared, right = (known.original, leaf) if handed else (leaf, known.copy)
    writer, thread = _writers.get(_memory(shared), (None, 0))
    alone = known.thread == own or thread == own or leaf._base is None
    if (alone and not known.kept and not handed) or repeats.same_bits(
        shared.detach(), right.detach()
    ):
        return leaf
    if not known.counted:
        _given[leaf] = known._replace(counted=True)
        key = writer, known.place, watch.caller("library"), thread == own
        _found[key] = _found.get(key, 0) + 1
    return right


def _memory(leaf: Any) -> int:
    return int(leaf.untyped_storage().data_ptr())


def _plain(leaf: Any) -> bool:
    if not isinstance(leaf, torch.Tensor) or not describe.plain(leaf):
        return False
    small = 0 < leaf.numel() * leaf.element_size() <= _BYTES
    return bool(small) and leaf.device.type in ("cpu", "cuda")
