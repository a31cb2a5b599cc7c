"""How a module was when it was exported, and what of it differs now: modes, settings of torch,
weights, plain attributes."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from . import describe, marks, memory
from .lazy import torch
from .vocabulary import owner

NAMED = 6
MOST = 100  # tensors of a module that a call may change
_WEIGHTS = 200
_MODULES = 16
_SUMMED = 1 << 22  # elements of a weight of which all count
_PLAIN = (bool, int, float, str)


class _Export(NamedTuple):
    """How a module was when it was exported."""

    module: Any  # weakly
    program: Any  # likewise
    training: frozenset[str]  # names of its modules
    settings: dict[str, str]
    weights: dict[str, Any]
    attributes: dict[str, Any]


_exports: dict[type, list[_Export]] = {}
_given: dict[str, Any] = {}  # weights that packages were given, by their names
_first: dict[int, Any] = {}  # modules' weights at their first call


def remember(module: Any, program: Any) -> None:
    """Remember how a module is at its export."""
    known = _exports.setdefault(type(module), [])
    known[:] = [one for one in known if one.module() is not module][-3:]
    known.append(
        _Export(
            weakref.ref(module),
            weakref.ref(program),
            _training(module),
            _settings(),
            {name: _known(one) for name, one in tensors(module)},
            _attributes(module),
        )
    )


def lowered(program: Any) -> None:
    """Take the weights that a program has when it is compiled: it shares them with its module."""
    for one in (one for known in _exports.values() for one in known):
        if one.program() is program:
            for name, value in {**program.state_dict, **program.constants}.items():
                if name in one.weights and isinstance(value, torch.Tensor):
                    one.weights[name] = _known(value)


def given(weights: dict[str, Any]) -> None:
    """Remember the weights that a package is given."""
    _given.update((name, _known(one)) for name, one in weights.items())


def misnamed(names: Collection[str]) -> dict[str, Any]:
    """Say which of the weights that a package was just given were given under the names of others,
    where a module of the process has all their values and none has them under these names."""
    theirs, found = sorted(_key(*_given[name]) for name in names), dict[str, Any]()
    for module in gc.get_objects():
        if not issubclass(type(module), torch.nn.Module):
            continue
        own = [weight for name, weight in tensors(module) if name in names]
        if len(own) == len(theirs) and sorted(_key(*_known(one)) for one in own) == theirs:
            if not (swapped := _swapped(module)):
                return {}
            found = {**_changed(module, _given, unknown=False), **swapped}
    return found


def _export_of(module: Any) -> list[_Export] | None:
    """Return the exports of its class, or of one that it is made of."""
    return next((_exports[kind] for kind in type(module).__mro__ if kind in _exports), None)


def is_another(module: Any) -> bool:
    """Tell whether its class is not one that this process has exported, where it has made the
    packages that it loads."""
    return not memory.foreign and _export_of(module) is None


def differences(module: Any) -> dict[str, Any]:
    known = _export_of(module)
    if known is None:
        return _beside_given(module) or _since(module)
    export = next((one for one in known if one.module() is module), known[-1])
    found: dict[str, Any] = {}
    training, settings = _training(module), _settings()
    if training - export.training:
        found["training"] = sorted(training - export.training)[:NAMED]
    if export.training - training:
        found["exported_training"] = sorted(export.training - training)[:NAMED]
    for name, value in settings.items():
        if value != export.settings.get(name):
            found[name], found[f"exported_{name}"] = value, export.settings.get(name)
    if changed := _changed(module, export.weights, unknown=False):
        found.update(changed, **_swapped(module))
    attributes = _attributes(module)
    others = [
        f"{name} = {value!r:.40} ({export.attributes[name]!r:.40} at export)"
        for name, value in attributes.items()
        if name in export.attributes and export.attributes[name] != value
    ]
    if others:
        found["attributes"] = others[:NAMED]
    if module is not export.module():
        found["another"] = True
    weights = (one for one in tensors(module) if one[0] in export.weights)
    pairs = ([describe.dtype_of(one), export.weights[name][0].dtype] for name, one in weights)
    if (dtypes := next((both for both in pairs if both[0] != both[1]), None)) is not None:
        found["dtypes"] = dtypes
    return found


def _since(module: Any) -> dict[str, Any]:
    """Return the weights of a module that changed since its first call: no export was seen."""
    of, known = _first.get(id(module), (lambda: None, {}))
    if of() is module:
        found = _changed(module, known, unknown=False)
        return {**found, "since": True} if found else {}
    if len(_first) < _MODULES:
        weights = {name: _known(one) for name, one in tensors(module)}
        _first[id(module)] = weakref.ref(module), weights
    return {}


def _beside_given(module: Any) -> dict[str, Any]:
    """Return the weights of a module that the package was not given, or with other values; nothing
    where it was given none of them."""
    if not dict(tensors(module)).keys() & _given.keys():
        return {}
    found = _changed(module, _given, unknown=True)
    return {**found, **_swapped(module)} if found else {}


def _changed(module: Any, known: Any, *, unknown: bool) -> dict[str, Any]:
    """Return the weights with other values than are known of them; `unknown` ones count too."""
    others = [
        name
        for name, one in tensors(module)
        if (not _alike(one, known[name]) if name in known else unknown)
    ]
    return {"changed": others[:_WEIGHTS], "changed_count": len(others)} if others else {}


def _swapped(module: Any) -> dict[str, Any]:
    """Say which weights the package was given under names of others, each with the name that its
    values have in a module."""
    if not _given:
        return {}
    own = {name: _known(one) for name, one in tensors(module)}
    names: dict[str, str] = {}  # by what a weight is known by, where that is not common
    for name, (mark, total) in own.items():
        names[_key(mark, total)] = name if _key(mark, total) not in names else ""
    found = [
        [name, names.get(_key(mark, total), "")]
        for name, (mark, total) in _given.items()
        if name in own and repr(own[name][0].value) != repr(mark.value)
    ]
    found = [pair for pair in found if pair[1]]
    return {"swapped": found[:_WEIGHTS]} if found else {}


def state(module: Any) -> dict[str, marks.Mark]:
    """Return the tensors of a module that a call of it may change: all but its parameters."""
    own = {id(one) for one in module.parameters()}
    named = [(name, one) for name, one in tensors(module) if id(one) not in own]
    return {name: marks.of(one) for name, one in named[:MOST]}


def _training(module: Any) -> frozenset[str]:
    """Return the names of the modules in training mode that act otherwise there."""
    return frozenset(
        f"{name} ({type(one).__name__})" if name else type(one).__name__
        for name, one in module.named_modules()
        if one.training and _acts(one)
    )


def _acts(one: Any) -> bool:
    name = type(one).__name__
    if not type(one).__module__.startswith("torch."):
        code = getattr(type(one).forward, "__code__", None)
        return code is not None and "training" in code.co_names
    if "Dropout" in name:
        return bool(getattr(one, "p", 1.0))
    return "Norm" in name and getattr(one, "running_mean", None) is not None


def _settings() -> dict[str, str]:
    """Return what of torch's own state changes numbers: autocast, and how products are made."""
    return {
        "autocast": _autocast() or "off",
        "precision": str(torch.get_float32_matmul_precision()),
        "default_dtype": str(torch.get_default_dtype()).replace("torch.", ""),
    }


def _autocast() -> str:
    for device in ("cpu", "cuda"):
        if torch.is_autocast_enabled(device):
            return f"{device} {torch.get_autocast_dtype(device)}".replace("torch.", "")
    return ""


def tensors(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield weights, buffers and other tensors of a module, each by its name."""
    yield from module.named_parameters()
    counters = "num_batches_tracked"  # which change nothing outside of training
    yield from (pair for pair in module.named_buffers() if not pair[0].endswith(counters))
    for name, one in module.named_modules():
        for key, value in vars(one).items():
            if isinstance(value, torch.Tensor):
                yield f"{name}.{key}" if name else key, value


def _known(tensor: Any) -> tuple[marks.Mark, Any]:
    """Return what a weight is known by: its mark and, where that is cheap, its sum."""
    mark = marks.of(tensor)
    small = mark.sample is not None and tensor.numel() <= _SUMMED
    return mark, float(tensor.detach().to(torch.float64).sum()) if small else None


def _key(mark: marks.Mark, total: float | None) -> str:
    return repr((mark.value, total))


def _alike(tensor: Any, before: tuple[marks.Mark, Any]) -> bool:
    """Tell whether a weight has the values that it had, where they can be read, rounded to the
    coarser of two dtypes; else whether it is the same memory, not written since. A norm in training
    writes its buffers unversioned."""
    same = marks.storage(tensor), marks.version(tensor)
    unwritten = same == (before[0].storage, before[0].version)
    if unwritten and isinstance(tensor, torch.nn.Parameter):
        return True
    now = _known(tensor)
    if now[0].sample is None or before[0].sample is None:
        return unwritten
    if now[0].dtype != before[0].dtype:
        return marks.rounded_alike(now[0], before[0])
    return now[0].value == before[0].value and str(now[1]) == str(before[1])


def _attributes(module: Any) -> dict[str, Any]:
    """Return plain numbers and words of a module, and of the user's objects that it holds, which
    an export takes as they are."""
    found: dict[str, Any] = {}
    for name, one in module.named_modules():
        for key, value in vars(one).items():
            at = f"{name}.{key}" if name else key
            if key.startswith("_") or key == "training":
                continue
            if type(value) in _PLAIN:
                found[at] = value
            elif not isinstance(value, torch.nn.Module) and is_users(type(value)):
                own = getattr(value, "__dict__", {}).items()
                found.update((f"{at}.{k}", v) for k, v in own if type(v) in _PLAIN)
    return found


def is_users(kind: Any) -> bool:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and owner(file) == "user"
