"""Watch checkpoints being read and weights being set: which of them are not finite, and the line
that brought them."""

from __future__ import annotations

import functools
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from . import budget, describe, events
from .watch import caller

_BYTES = 1 << 30  # that are looked at, of a process
_NAMES = 20
_DEPTH = 3  # of dictionaries: {"model": state_dict, ...}
_MARK = "_aoti_debug_weights"


class _State:
    looked = 0  # bytes
    known: dict[int, Any] = {}  # noqa: RUF012 - by id, weakly: tensors that were looked at


def watch(torch: Any) -> None:
    """Watch `torch.load` and `Module.load_state_dict`."""
    load = _read_by(torch, torch.load)
    torch.load = torch.serialization.load = load
    kind = torch.nn.Module
    kind.load_state_dict = _set_by(torch, kind.load_state_dict)


def watch_file(module: Any) -> None:
    """Watch `safetensors.torch.load_file`."""
    module.load_file = _read_by(sys.modules["torch"], module.load_file)


def _read_by(torch: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    if hasattr(original, _MARK):
        return original

    @functools.wraps(original)
    def load(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        source = args[0] if args else kwargs.get("f", kwargs.get("filename"))
        _look(torch, os.fspath(source) if isinstance(source, (str, os.PathLike)) else "", result)
        return result

    setattr(load, _MARK, True)
    load._torchdynamo_disable = True  # type: ignore[attr-defined]
    return load


def _set_by(torch: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    if hasattr(original, _MARK):
        return original

    @functools.wraps(original)
    def load_state_dict(self: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        _look(torch, None, state_dict)
        return original(self, state_dict, *args, **kwargs)

    setattr(load_state_dict, _MARK, True)
    return load_state_dict


def _look(torch: Any, file: str | None, held: Any) -> None:
    """Report the weights of a checkpoint that are not finite; `file` None: they are set by code."""
    if not isinstance(held, dict) or torch.compiler.is_compiling():
        return
    with budget.Apart():
        try:
            found = dict(list(_not_finite(torch, held))[:_NAMES])
            if found:
                events.emit("weights", file=file, caller=caller("library"), names=found)
        except Exception as error:
            events.note("look at a checkpoint", error)


def _not_finite(torch: Any, held: Any) -> Iterator[tuple[str, int]]:
    for name, value in _tensors(torch, held, _DEPTH):
        if not describe.plain(torch, value) or not value.is_floating_point():
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


def _tensors(torch: Any, held: Any, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in held.items():
        if isinstance(value, torch.Tensor):
            yield str(name)[:200], value
        elif isinstance(value, dict) and depth > 1:
            yield from _tensors(torch, value, depth - 1)
