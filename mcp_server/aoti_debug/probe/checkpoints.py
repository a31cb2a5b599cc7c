"""Watch checkpoints being read and weights being set: which of them are not finite, the line that
brought them, and what else was in one of which a package is given a part."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import Any

from . import budget, describe, events
from .lazy import torch
from .watch import caller, wrap_once

_BYTES = 1 << 30  # that are looked at, of a process
_NAMES = 20
_READ_AGAIN = 1 << 28  # bytes of a file, at most
_COMPARED = 4  # weights, to tell which checkpoint they come from
_DEPTH = 3  # of dictionaries: {"model": state_dict, ...}


class _State:
    looked = 0  # bytes
    known: dict[int, Any] = {}  # noqa: RUF012 - by id, weakly: tensors that were looked at
    # The last ones that were read: their tensors by name, weakly, and what reads them once more.
    read: deque[tuple[dict[str, Any], Any]] = deque(maxlen=8)  # noqa: RUF012


def watch() -> None:
    """Watch `torch.load` and `Module.load_state_dict`."""
    wrap_once(torch.serialization, "load", _read_by)
    torch.load = torch.serialization.load
    wrap_once(torch.nn.Module, "load_state_dict", _set_by)


def watch_file(module: Any) -> None:
    """Watch `safetensors.torch.load_file`."""
    wrap_once(module, "load_file", _read_by)


def _read_by(original: Callable[..., Any]) -> Callable[..., Any]:
    def load(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        source = args[0] if args else kwargs.get("f", kwargs.get("filename"))
        file = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
        plain = (
            {"map_location": "cpu", "weights_only": True}
            if "weights_only" in _options(original)
            else {}
        )
        _look(file, result, functools.partial(original, file, **plain))
        return result

    load._torchdynamo_disable = True  # type: ignore[attr-defined]
    return load


def _options(function: Callable[..., Any]) -> Collection[str]:
    return inspect.signature(function).parameters


def _set_by(original: Callable[..., Any]) -> Callable[..., Any]:
    def load_state_dict(self: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        _look(None, state_dict)
        return original(self, state_dict, *args, **kwargs)

    return load_state_dict


def _look(file: str | None, held: Any, again: Any = None) -> None:
    """Report the weights of a checkpoint that are not finite; `file` None: they are set by code."""
    if not isinstance(held, dict) or torch.compiler.is_compiling():
        return
    with budget.Apart(), events.noted("look at a checkpoint"):
        tensors = {name: weakref.ref(one) for name, one in _tensors(held, _DEPTH)}
        there = file is not None and os.path.isfile(file)
        small = there and os.path.getsize(str(file)) <= _READ_AGAIN
        _State.read.append((tensors, again if small else None))
        found = dict(list(_not_finite(held))[:_NAMES])
        if found:
            events.emit("weights", file=file, caller=caller("library"), names=found)


def rest_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return the tensors of the checkpoint that some given ones come from, under the same names,
    which are not among them. Those that are gone are read from a small file once more."""
    for read, again in reversed(_State.read):
        both = [name for name in given if name in read]
        if both and all(_equal(given[name], read[name]()) for name in both[:_COMPARED]):
            others = {name: of() for name, of in read.items() if name not in given}
            if again is not None and None in others.values():
                with contextlib.suppress(Exception):
                    now = dict(_tensors(again(), _DEPTH))
                    if all(_equal(given[name], now.get(name)) for name in both[:_COMPARED]):
                        others = {name: now.get(name) for name in others}
            return {n: one.detach() for n, one in others.items() if describe.plain(one)}
    return {}


def _equal(given: Any, read: Any) -> bool:
    if read is None or given.shape != read.shape:
        return False
    with torch.no_grad():
        return given is read or torch.equal(given.detach().cpu(), read.to(given.dtype).cpu())


def _not_finite(held: Any) -> Iterator[tuple[str, int]]:
    for name, value in _tensors(held, _DEPTH):
        if not describe.plain(value) or not value.is_floating_point():
            continue
        size, key = value.numel() * value.element_size(), id(value)
        if _State.looked + size > _BYTES or key in _State.known:
            continue
        _State.looked += size
        _State.known[key] = weakref.ref(value, functools.partial(_State.known.pop, key))
        with torch.no_grad():
            if not bool(torch.isfinite(value.sum())):  # or it is the sum that is too large
                count = int((~torch.isfinite(value)).sum())
                if count:
                    yield name, count


def _tensors(held: Any, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in held.items():
        if isinstance(value, torch.Tensor):
            yield str(name)[:200], value
        elif isinstance(value, dict) and depth > 1:
            yield from _tensors(value, depth - 1)
