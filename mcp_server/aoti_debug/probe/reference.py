"""Watch the module that was exported being called by the script: it is what package results are
compared with. Said is how such a call differs from the export and from the call of the package:
mode, autocast, weights, the order and the memory of its inputs."""

from __future__ import annotations

import functools
import sys
import time
import weakref
from typing import Any

from . import budget, events

_MOST = 40  # calls that are looked at
_NAMED = 6
_FRAMES = 60
_MARK = "_aoti_debug_reference"

_Print = tuple[int, tuple[int, ...], int]  # of a tensor: address, sizes, version


class _State:
    module: Any = None  # weakly, the one that was exported last
    training: frozenset[str] = frozenset()  # names of its modules, at the export
    autocast: str = ""
    weights: dict[str, tuple[int, int]] = {}  # noqa: RUF012 - address and version, at the export
    package: list[_Print] = []  # noqa: RUF012 - what the package was given last
    looked = 0
    said: set[Any] = set()  # noqa: RUF012


def exported(module: Any) -> None:
    """Remember how a module is at its export, and watch its calls from now on."""
    torch: Any = sys.modules["torch"]
    if not isinstance(module, torch.nn.Module) or isinstance(module, torch.fx.GraphModule):
        return
    _State.module = weakref.ref(module)
    _State.training, _State.autocast = _training(module), _autocast(torch)
    _State.weights = _weights(module)
    _State.said = set()
    kind = type(module)
    if _MARK not in vars(kind):
        try:
            kind.__call__ = _watched(kind.__call__)
            setattr(kind, _MARK, True)
        except (AttributeError, TypeError):  # a class that takes no attribute
            return


def called_package(torch: Any, flat: Any) -> None:
    """Remember what the package was given, to be held against the next call of the module."""
    if _State.module is not None and _State.looked < _MOST:
        _State.package = _prints(torch, flat)


def _watched(original: Any) -> Any:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = _State
        if state.looked < _MOST and state.module is not None and state.module() is self:
            _look(self, args, kwargs)
        return original(self, *args, **kwargs)

    return call


def _look(module: Any, args: Any, kwargs: Any) -> None:
    torch: Any = sys.modules["torch"]
    if torch._C._len_torch_dispatch_stack() or torch.compiler.is_compiling():
        return  # it is being traced
    began = time.perf_counter()
    try:
        _State.looked += 1
        _say(_differences(torch, module, args, kwargs))
    except Exception as error:
        events.note("look at a call of the exported module", error)
    budget.spent += time.perf_counter() - began


def _differences(torch: Any, module: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    training, autocast = _training(module), _autocast(torch)
    found: dict[str, Any] = {}
    if training - _State.training:
        found["training"] = sorted(training - _State.training)[:_NAMED]
    if _State.training - training:
        found["exported_training"] = sorted(_State.training - training)[:_NAMED]
    if autocast != _State.autocast:
        found["autocast"], found["exported_autocast"] = autocast or "off", _State.autocast or "off"
    weights = _weights(module)
    changed = [name for name, at in weights.items() if _State.weights.get(name, at) != at]
    if changed:
        found["changed"], found["changed_count"] = changed[:_NAMED], len(changed)
    given = _prints(torch, torch.utils._pytree.tree_leaves((args, kwargs)))
    before = _State.package
    if given and len(given) == len(before):
        same = [one[:2] for one in given], [one[:2] for one in before]
        if same[0] != same[1] and sorted(same[0]) == sorted(same[1]):
            found["reordered"] = True
        written = [n for n, (one, was) in enumerate(zip(given, before)) if _rewritten(one, was)]  # noqa: B905
        if written:
            found["written"] = written[:_NAMED]
    return found


def _rewritten(one: _Print, before: _Print) -> bool:
    """Tell whether it is the same memory, written since the package was given it."""
    return one[:2] == before[:2] and one[2] > before[2]


def _say(found: dict[str, Any]) -> None:
    caller = _caller()
    key = tuple(sorted(found)), caller
    if key in _State.said:
        return
    _State.said.add(key)
    events.emit("reference", caller=caller, **found)


def _training(module: Any) -> frozenset[str]:
    """Return the names of the modules in training mode that act otherwise there."""
    return frozenset(
        f"{name} ({type(one).__name__})"
        for name, one in module.named_modules()
        if one.training and _acts(one)
    )


def _acts(one: Any) -> bool:
    name = type(one).__name__
    return "Dropout" in name or ("Norm" in name and hasattr(one, "running_mean"))


def _autocast(torch: Any) -> str:
    for device in ("cpu", "cuda"):
        try:
            if torch.is_autocast_enabled(device):
                return f"{device} {torch.get_autocast_dtype(device)}".replace("torch.", "")
        except (TypeError, RuntimeError):  # older torch knows no device here
            return "on" if torch.is_autocast_enabled() else ""
    return ""


def _weights(module: Any) -> dict[str, tuple[int, int]]:
    found = {}
    for named in (module.named_parameters(), module.named_buffers()):
        for name, tensor in named:
            try:
                found[name] = tensor.data_ptr(), tensor._version
            except Exception:  # not plain memory, or an inference tensor
                continue
    return found


def _prints(torch: Any, flat: Any) -> list[_Print]:
    found: list[_Print] = []
    for leaf in flat:
        if isinstance(leaf, torch.Tensor):
            try:
                found.append((leaf.data_ptr(), tuple(leaf.shape), leaf._version))
            except Exception:  # not plain memory, or an inference tensor
                return []
    return found


def _caller() -> list[Any] | None:
    frame: Any = sys._getframe(2)
    here = __file__.rpartition("/")[0]
    for _ in range(_FRAMES):
        if frame is None:
            return None
        file = frame.f_code.co_filename
        if not file.startswith(here) and "/torch/" not in file and not file.startswith("<"):
            return [file, frame.f_lineno]
        frame = frame.f_back
    return None
