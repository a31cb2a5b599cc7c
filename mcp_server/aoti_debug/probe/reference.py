"""Watch what stands beside the package in a script. The module that was exported, when it is called
for comparison: how that differs from the export and from the package's call. And the memory of
inputs and outputs: what is overwritten while a call is under way, shared, or given again."""

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
    first = False  # the module is called before the package
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
    if _MARK not in vars(kind) and not kind.__module__.startswith("torch."):
        try:
            kind.__call__ = _watched(torch, kind.__call__)
            setattr(kind, _MARK, True)
        except (AttributeError, TypeError):  # a class that takes no attribute
            return


def called_package(torch: Any, flat: Any) -> None:
    """Remember what the package was given, to be held against the next call of the module."""
    if _State.module is not None and _State.looked < _MOST:
        _State.package = _prints(torch, flat)


class Memory:
    """The memory of one call's inputs as it arrived: addresses, and a sample of the values."""

    __slots__ = ("reused", "samples", "storages")

    def __init__(self, torch: Any, flat: Any) -> None:
        tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
        self.samples = [_sample(torch, one) for one in tensors]
        self.storages = [_storage(torch, one) for one in tensors]
        self.reused: list[int] = []
        for index, (address, sample) in enumerate(zip(self.storages, self.samples)):  # noqa: B905
            if address and sample is not None:
                known = _given.get(address)
                if known is not None and known != sample:
                    self.reused.append(index)
                _given[address] = sample
        while len(_given) > _ADDRESSES:
            del _given[next(iter(_given))]

    def found(self, torch: Any, flat: Any, result: Any) -> dict[str, Any]:
        """Say what the call's end shows of its memory; nothing where all is as usual."""
        tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
        now = [_sample(torch, one) for one in tensors]
        changed = [n for n, (one, was) in enumerate(zip(now, self.samples)) if one != was]  # noqa: B905
        outputs = torch.utils._pytree.tree_leaves(result)
        aliases = [
            [number, self.storages.index(address)]
            for number, leaf in enumerate(outputs)
            if isinstance(leaf, torch.Tensor)
            and (address := _storage(torch, leaf)) is not None
            and address in self.storages
        ]
        found: dict[str, Any] = {"overwritten": changed, "aliases": aliases, "reused": self.reused}
        return {key: value[:_NAMED] for key, value in found.items() if value}


_given: dict[int, Any] = {}  # by address: the sample of what was given there last
_ADDRESSES = 512
_SAMPLED = 32  # elements
_SAMPLED_BYTES = 64 << 20


def _sample(torch: Any, leaf: Any) -> Any:
    """Return a few elements, spread over a tensor of the CPU; None where that is not cheap."""
    if leaf.device.type != "cpu" or leaf.layout != torch.strided or not leaf.numel():
        return None
    if leaf.numel() * leaf.element_size() > _SAMPLED_BYTES or not leaf.is_contiguous():
        return None
    with torch.no_grad():
        flat = leaf.detach().view(-1)
        return flat[:: max(1, flat.numel() // _SAMPLED)].clone().view(torch.uint8).tolist()


def _storage(torch: Any, leaf: Any) -> int | None:
    if leaf.layout != torch.strided or leaf.device.type != "cpu":
        return None
    return int(leaf.untyped_storage().data_ptr()) or None


def _watched(torch: Any, original: Any) -> Any:
    is_compiling = torch.compiler.is_compiling

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():  # what is traced through is the module alone
            return original(self, *args, **kwargs)
        state = _State
        if state.looked < _MOST and state.module is not None and state.module() is self:
            _look(self, args, kwargs)
        return original(self, *args, **kwargs)

    return call


def _look(module: Any, args: Any, kwargs: Any) -> None:
    torch: Any = sys.modules["torch"]
    if torch._C._len_torch_dispatch_stack():
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
    given = [] if kwargs else _prints(torch, torch.utils._pytree.tree_leaves(args))
    before = _State.package
    if not before:  # it is called before the package: what both are given is not known
        _State.first = True
    if given and not _State.first and len(given) == len(before):
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


def _caller() -> tuple[str, int] | None:
    frame: Any = sys._getframe(2)
    here = __file__.rpartition("/")[0]
    for _ in range(_FRAMES):
        if frame is None:
            return None
        file = frame.f_code.co_filename
        if not file.startswith(here) and "/torch/" not in file and not file.startswith("<"):
            return file, frame.f_lineno
        frame = frame.f_back
    return None
