"""Save the inputs of a call before it happens, so that it can be repeated elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import budget, describe, events, store
from .lazy import torch
from .vocabulary import Break
from .watch import Details

_SECONDS_PER_BYTE = 2e-9  # a first guess, before one capture has been timed

FORMAT = 1
KINDS = 16
EARLY = 8  # calls, of which all small ones are kept
IN_ORDER = 100  # of a package with a state, which only all of them bring back
_EARLY_BYTES = 4 << 20
_WANTED = os.environ.get("AOTI_DEBUG_CAPTURE_CALL", "")
ONLY = int(_WANTED) if _WANTED.isdecimal() else 0  # the one call that is wanted; 0: any
_ALSO = EARLY if os.environ.get("AOTI_DEBUG_CAPTURE_EARLY") else 0  # beside it


@dataclass(frozen=True)
class Call:
    """What a capture takes of a call: arguments as given (keywords in the package's order), and
    their flat leaves."""

    number: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    flat: list[Any]
    early: int = EARLY


class _Pace:
    seconds_per_byte = _SECONDS_PER_BYTE
    fixed = 0.002


class _Latest:
    """What the file of the latest call holds, and which process has kept a failed one."""

    name = ""
    call = (0, 0)  # process, number
    now = (0, 0, "")  # process, number and file of the call that was kept whatever it took
    failed = 0


_kinds: set[frozenset[Any]] = set()  # of breaks that a call was kept for


def fixed() -> float:
    """Return the seconds that any capture takes."""
    return _Pace.fixed


def keep(call: Any, unreadable: str | None, breaks: Sequence[Break]) -> Details:
    """Capture the inputs if that is wanted, possible and affordable; say what was done.

    Those of the first call that breaks something are kept in any case, one of a kind.
    """
    if ONLY and call.number != ONLY and call.number > _ALSO:
        return _skipped(f"only call {ONLY} is captured")
    if unreadable is not None:
        return _skipped(unreadable)
    kind = frozenset((one.index, one.property, one.dim) for one in breaks)
    if kind and kind not in _kinds and len(_kinds) < KINDS:
        _kinds.add(kind)
        found = keep_now(call, f"call-broken-{len(_kinds)}")
        if not found.get("captured"):  # the next one of this kind may be
            _kinds.discard(kind)
        return found
    wanted = call.number == ONLY
    if not (wanted or call.number == 1 or budget.allows(_Pace.fixed)):
        return _skipped("the probe's time is used up")
    return _alone(lambda: _keep(call, wanted))


def keep_now(call: Any, stem: str) -> Details:
    """Capture the inputs whatever time and bytes they take, as long as the disk holds them."""

    def save() -> Details:
        name, free = store.own_name(stem, ".pt"), store.free()
        size, compact = _size(call, store.room(replaces=name))
        if size > free:
            return _skipped(f"{size} bytes are more than the disk has left: {free}")
        found = _written(call, name, compact)
        _Latest.now = (os.getpid(), call.number, name)
        return found

    return _alone(save)


def _size(call: Any, room: int) -> tuple[int, bool]:
    """Return the bytes of a call's inputs, and whether only compacted copies fit."""
    size = storage_bytes(call.flat)
    return (size, False) if size <= room else (extent_bytes(call.flat), True)


def _written(call: Any, name: str, compact: bool) -> Details:
    document = describe_call(call, compact)
    captured = store.write(name, lambda to: torch.save(document, to))
    return {"captured": captured, **({"compacted": True} if compact else {})}


def keep_pair(call: Call, more: Details) -> Details:
    """Capture what a call and its reference were given, and what is known of the reference."""

    def save() -> Details:
        document = describe_call(call, compact=True)
        tensors = [*document["flat"], *more["weights"].values()]
        if storage_bytes(tensors) > store.room():
            return {}
        name = store.own_name("pair", ".pt")
        return {"kept": store.write(name, lambda to: torch.save({**document, **more}, to))}

    found = _alone(save)
    return found if "kept" in found else {}


def keep_failed(call: Any) -> Details:
    """Keep the inputs of the first call that failed."""
    process = os.getpid()
    if _Latest.failed == process or store.directory() is None:
        return {}
    _Latest.failed = process
    found = again(call, "call-failed")
    if not found and describe.unreadable_now() is None:
        found = keep_now(call, "call-failed")
    return found if found.get("captured") else {}


def again(call: Any, stem: str) -> Details:
    """Give what was captured of a call a name of its own: a second link, which takes no bytes
    before the next capture. Empty where nothing was."""
    process, name = os.getpid(), store.own_name(stem, ".pt")
    for kept in ((*_Latest.call, _Latest.name), _Latest.now):
        if kept[:2] == (process, call.number):
            return _alone(lambda kept=kept: {"captured": store.alias(name, kept[2])})  # type: ignore[misc]
    return {}


def _alone(act: Callable[[], Details]) -> Details:
    if store.directory() is None:
        return _skipped("capture is off")
    if not store.busy.acquire(blocking=False):
        return _skipped("another thread's call is being captured")
    try:
        return act()
    except Exception as error:
        return _skipped(events.said(error))
    finally:
        store.busy.release()


def _skipped(why: str) -> Details:
    return {"captured": None, "why_not": why}


def _keep(call: Any, forced: bool) -> Details:
    first = call.number == 1 and not forced
    size = storage_bytes(call.flat)
    if not (forced or first or budget.allows(_Pace.fixed + size * _Pace.seconds_per_byte)):
        return _skipped("the probe's time is used up")
    name = store.own_name("call-first" if first else "call-latest", ".pt")
    room = store.room(replaces=name)
    size, compact = _size(call, room)
    if size > room and not forced:
        return _skipped(f"{size} bytes are over the budget")
    with budget.Stopwatch() as watch:
        found = _written(call, name, compact)
    _Pace.seconds_per_byte = max(_SECONDS_PER_BYTE, (watch.seconds - 0.002) / max(size, 1 << 20))
    _Latest.name, _Latest.call = name, (os.getpid(), call.number)
    if first:
        store.alias(store.own_name("call-latest", ".pt"), name)
    elif call.number <= call.early and (forced or size * call.early <= EARLY * _EARLY_BYTES):
        found["kept"] = store.alias(store.own_name(f"call-{call.number}", ".pt"), name)
    return found


def describe_call(call: Any, compact: bool) -> Details:
    """Return the document that is saved: only what `torch.load(weights_only=True)` reads.

    Tensors keep stride, storage offset and the storage they share; "flat" holds the leaves in
    the order of the package's input spec, "args" and "kwargs" the nest of them if it is plain.
    """
    copies = {id(leaf): _detached(leaf, compact) for leaf in call.flat}
    flat = [copies[id(leaf)] for leaf in call.flat]
    document: Details = {"format": FORMAT, "torch": str(torch.__version__), "call": call.number}
    document["flat"] = flat
    document["grad"] = torch.is_grad_enabled()
    document["inference"] = torch.is_inference_mode_enabled()
    document["inputs"] = describe.leaves(call.flat, [])
    try:
        document["args"] = None if _is_flat(call) else _nest(call.args, copies)
        document["kwargs"] = _nest(dict(call.kwargs), copies)
    except TypeError as error:
        document["not_plain"] = str(error)
    try:
        document["spec"] = torch.utils._pytree.treespec_dumps(
            torch.utils._pytree.tree_structure((call.args, call.kwargs))
        )
    except Exception as error:  # an unregistered container
        document["spec"] = None
        document["not_plain"] = str(error)
    return document


def _is_flat(call: Any) -> bool:
    """Tell whether a call gave flat tensors, which the package nests itself."""
    loaded = getattr(call, "loaded", None)
    return loaded is not None and bool(loaded.flat)


def _detached(leaf: Any, compact: bool) -> Any:
    if not isinstance(leaf, torch.Tensor):
        if leaf is None or type(leaf) in (bool, int, float, str, complex):
            return leaf
        if isinstance(leaf, (torch.dtype, torch.device, torch.Size)):
            return leaf
        raise TypeError(f"an input is a {type(leaf).__name__}")
    if type(leaf) not in (torch.Tensor, torch.nn.Parameter):
        raise TypeError(f"an input is a {type(leaf).__name__}")
    with torch.no_grad():
        detached = leaf.detach()
        return describe.compacted(detached) if compact else detached


def _nest(value: Any, copies: dict[int, Any]) -> Any:
    """Rebuild a nest of plain containers around the copies of its leaves."""
    if id(value) in copies:
        return copies[id(value)]
    if type(value) is dict:
        return {key: _nest(item, copies) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_nest(item, copies) for item in value)
    raise TypeError(f"an argument holds a {type(value).__name__}")


def storage_bytes(flat: list[Any]) -> int:
    """Return the bytes of the storages behind the tensors, each counted once."""
    storages: dict[int, int] = {}
    for leaf in flat:
        if isinstance(leaf, torch.Tensor) and describe.plain(leaf):
            storage = leaf.untyped_storage()
            storages[storage._cdata] = storage.nbytes()
    return sum(storages.values())


def extent_bytes(flat: list[Any]) -> int:
    """Return the bytes that compacted copies take."""
    return sum(
        describe.extent(leaf.shape, leaf.stride()) * leaf.element_size() + 256
        for leaf in flat
        if isinstance(leaf, torch.Tensor) and describe.plain(leaf)
    )
