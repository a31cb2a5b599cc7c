"""Watch the module that was exported, when the script calls it for comparison: how it differs from
the export, and how its results differ from the package's on the same inputs. Of another class of
the user's, which may stand for it, only calls on the same inputs count."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sys
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import (
    budget,
    call_counters,
    capture,
    describe,
    events,
    inside,
    marks,
    memory,
    rows,
    watch,
)
from .lazy import torch
from .vocabulary import owner

_MOST = 100  # calls that are looked at, of one line
_NAMED = 6
_GIVEN_TO = 16  # tensors of a call
_WEIGHTS = 200
_CLASSES = 20_000
_INSIDE = 8  # calls of another class, of one line, within which modules are looked at
_LATEST = 16  # calls of module and package that are held against each other
_KEPT = 1 << 22  # bytes of state, before a call
_SUMMED = 1 << 22  # elements of a weight of which all count
_MARK = "_aoti_debug_reference"
_PLAIN = (bool, int, float, str)


class _Export(NamedTuple):
    """How a module was when it was exported."""

    module: Any  # weakly
    program: Any  # likewise
    training: frozenset[str]  # names of its modules
    settings: dict[str, str]
    weights: dict[str, Any]
    attributes: dict[str, Any]


class _Seen(NamedTuple):
    """A call of the package or the module: its inputs, and a sample of its outputs."""

    call: int  # of the package; 0: of the module
    inputs: list[marks.Mark]
    outputs: list[Any]
    caller: tuple[str, int] | None
    differs: dict[str, Any]
    state: dict[str, marks.Mark]  # of the module's tensors that a call may change
    module: Any = None  # weakly
    before: dict[str, Any] = {}  # noqa: RUF012 - these tensors, where they are small
    rows: Any = None  # of the inputs
    inside: Any = ()  # of a module of another class: what the modules within it gave

    @property
    def of_another_class(self) -> bool:
        return "of_class" in self.differs

    def ready(self) -> bool:
        samples = [*(one.sample for one in self.inputs), *self.outputs]
        return all(marks.ready(one) for one in samples)


class _Thread(threading.local):
    inside = False  # a call that is looked at
    another = False  # one of another class: modules that were exported may be within


_thread = _Thread()
_exports: dict[type, list[_Export]] = {}
_package: deque[_Seen] = deque(maxlen=_LATEST)
_later: deque[tuple[_Seen, Any, rows.Batch, bool, bool]] = deque()  # a device may work on them
_module: deque[_Seen] = deque(maxlen=_LATEST)


class _State:
    looked: dict[Any, int] = {}  # noqa: RUF012 - calls of modules, by their caller
    watches = False
    alone: Any = weakref.WeakSet()  # noqa: RUF012 - modules of torch's classes
    kept = 0.0  # how far apart a pair is whose inputs are kept, of the largest value
    returned = 0  # calls of packages that were seen
    paired: set[int] = set()  # noqa: RUF012 - calls of the package
    weights: dict[str, Any] = {}  # noqa: RUF012 - that packages were given, by their names
    first: dict[int, Any] = {}  # noqa: RUF012 - modules' weights at their first call
    takes: tuple[str, ...] = ()  # the names of what the module takes that was exported last
    learns: set[Any] = set()  # noqa: RUF012 - callers whose results may be trained on


def exported(module: Any, program: Any) -> None:
    """Remember how a module is at its export, and watch its calls from now on."""
    if not isinstance(module, torch.nn.Module) or isinstance(module, torch.fx.GraphModule):
        return
    kind = type(module)
    _State.takes = _takes(module)
    known = _exports.setdefault(kind, [])
    known[:] = [one for one in known if one.module() is not module][-3:]
    known.append(
        _Export(
            weakref.ref(module),
            weakref.ref(program),
            _training(module),
            _settings(),
            {name: _known(one) for name, one in _tensors(module)},
            _attributes(module),
        )
    )
    if kind.__module__.startswith("torch."):
        _State.alone.add(module)
    _watch(kind)


def loaded() -> None:
    """Watch the user's own modules from the first package on: one of them may be what it is
    compared with."""
    wanted, seen = [torch.nn.Module], set[Any]()
    while wanted and len(seen) < _CLASSES:
        kind = wanted.pop()
        if kind not in seen:
            seen.add(kind)
            wanted += kind.__subclasses__()
            if _is_users(kind):
                _watch(kind)


def _watch(kind: Any) -> None:
    if _MARK in vars(kind):
        return
    try:
        kind.__call__ = _watched(kind.__call__, kind.__module__.startswith("torch."))
        setattr(kind, _MARK, True)
    except (AttributeError, TypeError):  # a class that takes no attribute
        return
    _State.watches = True


def lowered(program: Any) -> None:
    """Take the weights that a program has when it is compiled: it shares them with its module."""
    for one in (one for known in _exports.values() for one in known):
        if one.program() is program:
            for name, value in {**program.state_dict, **program.constants}.items():
                if name in one.weights and isinstance(value, torch.Tensor):
                    one.weights[name] = _known(value)


def given(weights: dict[str, Any]) -> None:
    """Remember the weights that a package is given."""
    if _State.watches and budget.allows():
        _State.weights.update((name, _known(one)) for name, one in weights.items())


def returned(call: Any, inputs: list[marks.Mark], result: Any) -> None:
    """Remember what a package was given and gave; hold it against the module's last calls."""
    if not _State.watches:
        return
    _State.returned += 1
    flat = [id(leaf) for leaf in call.flat if isinstance(leaf, torch.Tensor)]
    known = dict(zip(flat, inputs))
    arranged = _arranged(call.args, call.kwargs)
    inputs = [known[id(one)] for one in arranged if id(one) in known]
    outputs = [marks.held(one) for one in marks.tensors(result)]
    seen = _Seen(call.number, inputs, outputs, None, {}, {})
    given = call.args, call.kwargs
    batch = rows.of(rows.taken(call.number, arranged), marks.tensors(result))
    there = seen.ready() and batch.ready()
    kept = there or (_module and capture.storage_bytes(arranged) <= _KEPT)
    alone = call.loaded.path not in memory.stateful
    _later.append((seen, given if kept else None, batch, alone, not there))
    _settle(there=there)


def _settle(*, there: bool = False) -> None:
    """Hold calls of packages against the module's last calls, in their order; `there`: wait for
    devices."""
    while _later and (there or (_later[0][0].ready() and _later[0][2].ready())):
        try:
            seen, given, batch, alone, late = _later.popleft()
        except IndexError:  # a call of another thread took it
            return
        if late and given is not None:
            now = [marks.of(one).value for one in _arranged(*given)]
            given = given if now == [one.value for one in seen.inputs] else None  # written since
        _package.append(seen)
        rows.given(batch, compare=alone)
        for other in list(_module):
            if _pair(other, seen, given, of_package=True):
                _module.remove(other)
                break
        else:
            for other in list(_module)[-1:]:
                found = _beside(other)
                if found is not None and found["call"] == seen.call:
                    _say(other, found)


def _arranged(args: Any, kwargs: Any, of: Any = None) -> list[Any]:
    """Return the tensors that a call was given, what has a name in the order in which a module, or
    one that was exported, takes it; else sorted by it."""
    takes = _State.takes if of is None or memory.foreign else _takes(of)
    order = {name: place for place, name in enumerate(takes)}
    names = sorted(kwargs, key=lambda name: (order.get(name, len(order)), name))
    given = [*args, *(kwargs[name] for name in names)]
    if not all(isinstance(one, torch.Tensor) for one in given):
        named = torch.utils._pytree.tree_flatten_with_path(given)[0]
        given = [leaf for _, leaf in sorted(named, key=lambda pair: str(pair[0]))]
    return [one for one in given if isinstance(one, torch.Tensor)]


def _takes(module: Any) -> tuple[str, ...]:
    """Return the names of what a module takes."""
    code = getattr(type(module).forward, "__code__", None)
    return () if code is None else code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]


def ended() -> None:
    """Compare the rows of calls, where all calls of packages were seen."""
    _settle(there=True)
    counted = call_counters.of_process()
    if counted is not None and counted.numbers[call_counters.RETURNED] <= _State.returned:
        rows.ended()


def _watched(original: Any, of_torch: bool) -> Any:
    is_compiling = torch.compiler.is_compiling

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        # What is traced through is the module alone.
        if is_compiling() or _thread.inside or (of_torch and self not in _State.alone):
            return original(self, *args, **kwargs)
        if _thread.another and _is_another(self):
            return original(self, *args, **kwargs)
        seen = _arrived(self, args, kwargs)
        if seen is None:
            return original(self, *args, **kwargs)
        looks = isinstance(seen.inside, list)
        under_way = "another" if seen.of_another_class else "inside"
        setattr(_thread, under_way, True)
        try:
            with inside.noted(self, seen.inside) if looks else contextlib.nullcontext():
                result = original(self, *args, **kwargs)
        finally:
            setattr(_thread, under_way, False)
        _left(self, seen, (args, kwargs), result)
        return result

    return call


def _arrived(module: Any, args: Any, kwargs: Any) -> _Seen | None:
    if describe.unreadable_now() is not None or not budget.allows():
        return None
    quiet = events.noted("look at a call of the exported module")
    with quiet, budget.OwnTime(), torch._C.DisableTorchFunction():
        caller = watch.caller()
        looked = _State.looked.get(caller, 0)
        if looked >= _MOST or caller in _State.learns:
            return None
        _State.looked[caller] = looked + 1
        arranged = _arranged(args, kwargs, module)
        given = [marks.of(one) for one in arranged]
        state = _state(module)
        own = {name: one for name, one in _tensors(module) if name in state}
        small = _State.kept < marks.FAR and capture.storage_bytes([*own.values()]) <= _KEPT
        before = {name: one.detach().clone() for name, one in own.items()} if small else {}
        another = _is_another(module)
        of = weakref.ref(module)
        differs: dict[str, Any] = {"of_class": type(module).__qualname__}
        differs = differs if another else _differences(module)
        if (lazy := watch.consumer()) is not None:
            differs["lazy"] = lazy
        batch = rows.taken(0, [] if another else arranged)
        within: Any = [] if another and looked < _INSIDE else ()
        return _Seen(0, given, [], caller, differs, state, of, before, batch, within)
    return None


def _left(module: Any, seen: _Seen, given: Any, result: Any) -> None:
    quiet = events.noted("look at a result of the exported module")
    with quiet, budget.OwnTime(), torch._C.DisableTorchFunction():
        _settle(there=True)
        outputs = [marks.held(one) for one in marks.tensors(result)]
        if not seen.of_another_class:
            rows.wanted(seen.caller, rows.of(seen.rows, marks.tensors(result)))
        seen = seen._replace(outputs=outputs, rows=None)
        if module.training:
            _watch_gradient(seen, marks.tensors(result))
        now = _state(module)
        moved = [n for n, mark in seen.state.items() if n in now and now[n].value != mark.value]
        values = [marks.shown(marks.few(one)) for one in marks.tensors(result)[:_NAMED]]
        seen.differs.update(given=[_digest(one) for one in seen.inputs[:_GIVEN_TO]], values=values)
        if moved:
            seen.differs.update(moved=moved[:_NAMED])
        # What a call of the package was paired with before comes last: a reference that is
        # evaluated late is given the latest values of memory each time.
        order = sorted(_package, key=lambda one: (one.call in _State.paired, -one.call))
        if not any(_pair(seen, other, given) for other in order):
            _module.append(seen)
            if not seen.of_another_class:
                _say(seen, _beside(seen))


def forget() -> None:
    """Forget the calls of devices, in a process that was forked."""
    _later.clear()


def _digest(mark: marks.Mark) -> str:
    """Return what a tensor is known by in another process; nothing where its values are not."""
    if mark.sample is None:
        return ""
    return hashlib.sha256(repr(mark.value).encode()).hexdigest()[:12]


def _watch_gradient(seen: _Seen, outputs: list[Any]) -> None:
    """Say when a gradient reaches the results of a caller: that trains the module, and compares
    nothing."""
    if outputs and outputs[0].requires_grad and seen.caller not in _State.learns:
        _State.learns.add(seen.caller)
        outputs[0].register_hook(
            lambda _: events.emit("reference", caller=seen.caller, trains=True)
        )


def _pair(own: _Seen, package: _Seen, given: Any, *, of_package: bool = False) -> bool:
    """Report a call of the module beside one of the package that was given the same inputs, or the
    same in another order or in the same memory; keep the first that are apart. `given` is what the
    module was given, or the package."""
    mine, theirs = [one.value for one in own.inputs], [one.value for one in package.inputs]
    if len(mine) != len(theirs) or not mine:
        return False
    found: dict[str, Any] = {}
    if mine != theirs:
        if sorted(mine, key=repr) == sorted(theirs, key=repr):
            found["reordered"] = [mine.index(one) for one in theirs][:_LATEST]
        elif other := _others(own, package):
            if not all(_same_memory(own.inputs[n], package.inputs[n]) for n in other):
                return False
            found["written"] = other[:_NAMED]
    held = marks.apart(package.outputs, own.outputs)
    _State.paired.add(package.call)
    apart = held is not None and bool(held["unlike"] or held["wrong"])
    usable = given is not None and not (of_package and found)
    if held is not None and apart and own.caller not in _State.learns and usable:
        share = 1.0 if held["unlike"] else held["apart"] / (held["largest"] or 1.0)
        if not _State.kept or _State.kept < marks.FAR <= share:
            kept = _keep(own, package.call, given)
            _State.kept = share if kept else _State.kept
            found.update(kept)
    _say(own, {"call": package.call, **found, **(held or {})})
    return True


def _keep(own: _Seen, number: int, given: Any) -> dict[str, Any]:
    """Keep what the module was given, what it gave, and its weights as they were before."""
    args, kwargs = given
    module, moved = own.module(), own.differs.get("moved", ())
    weights = {} if module is None else dict(_tensors(module))
    weights = {name: one.detach() for name, one in weights.items() if name not in moved}
    weights.update(own.before)
    call = capture.Call(number, args, kwargs, torch.utils._pytree.tree_leaves(given))
    within = [[*known, marks.read(elements)] for *known, elements in own.inside]
    outputs = [*map(marks.read, own.outputs)]
    with budget.Apart():
        return capture.keep_pair(call, {"outputs": outputs, "weights": weights, "inside": within})


def _beside(own: _Seen) -> dict[str, Any] | None:
    """Return the call of the package with inputs of the same kind of which most have the same
    values, the last of them, and which inputs have others."""
    kind = [one[:2] for one in own.inputs]
    known = [one for one in reversed([*_package]) if [given[:2] for given in one.inputs] == kind]
    if not known or own.of_another_class:
        return None
    found = min(known, key=lambda one: len(_others(own, one)))
    return {"call": found.call, "other": _others(own, found)[:_NAMED]}


def _others(own: _Seen, package: _Seen) -> list[int]:
    """Return which inputs have other values, beyond rounding."""
    pairs = enumerate(zip(own.inputs, package.inputs))
    unlike = [(place, pair) for place, pair in pairs if pair[0].value != pair[1].value]
    return [place for place, pair in unlike if not marks.near(*pair)]


def _same_memory(one: marks.Mark, other: marks.Mark) -> bool:
    """Tell whether the memory of one is that of the other, with other values. Neither was freed:
    what is new may be where the old one was."""
    return one.rewritten(other) and other.rewritten(one)


def _say(seen: _Seen, found: Any = None) -> None:
    events.emit("reference", caller=seen.caller, **seen.differs, **(found or {}))


def _export_of(module: Any) -> list[_Export] | None:
    """Return the exports of its class, or of one that it is made of."""
    return next((_exports[kind] for kind in type(module).__mro__ if kind in _exports), None)


def _is_another(module: Any) -> bool:
    """Tell whether its class is not one that this process has exported, where it has made the
    packages that it loads."""
    return not memory.foreign and _export_of(module) is None


def _differences(module: Any) -> dict[str, Any]:
    known = _export_of(module)
    if known is None:
        return _beside_given(module) or _since(module)
    export = next((one for one in known if one.module() is module), known[-1])
    found: dict[str, Any] = {}
    training, settings = _training(module), _settings()
    if training - export.training:
        found["training"] = sorted(training - export.training)[:_NAMED]
    if export.training - training:
        found["exported_training"] = sorted(export.training - training)[:_NAMED]
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
        found["attributes"] = others[:_NAMED]
    if module is not export.module():
        found["another"] = True
    weights = (one for one in _tensors(module) if one[0] in export.weights)
    pairs = ([describe.dtype_of(one), export.weights[name][0].dtype] for name, one in weights)
    if (dtypes := next((both for both in pairs if both[0] != both[1]), None)) is not None:
        found["dtypes"] = dtypes
    return found


def _since(module: Any) -> dict[str, Any]:
    """Return the weights of a module that changed since its first call: no export was seen."""
    of, known = _State.first.get(id(module), (lambda: None, {}))
    if of() is module:
        found = _changed(module, known, unknown=False)
        return {**found, "since": True} if found else {}
    if len(_State.first) < _LATEST:
        weights = {name: _known(one) for name, one in _tensors(module)}
        _State.first[id(module)] = weakref.ref(module), weights
    return {}


def _beside_given(module: Any) -> dict[str, Any]:
    """Return the weights of a module that the package was not given, or with other values; nothing
    where it was given none of them."""
    if not dict(_tensors(module)).keys() & _State.weights.keys():
        return {}
    found = _changed(module, _State.weights, unknown=True)
    return {**found, **_swapped(module)} if found else {}


def _changed(module: Any, known: Any, *, unknown: bool) -> dict[str, Any]:
    """Return the weights with other values than are known of them; `unknown` ones count too."""
    others = [
        name
        for name, one in _tensors(module)
        if (not _alike(one, known[name]) if name in known else unknown)
    ]
    return {"changed": others[:_WEIGHTS], "changed_count": len(others)} if others else {}


def _swapped(module: Any) -> dict[str, Any]:
    """Say which weights the package was given under names of others, each with the name that its
    values have in a module."""
    if not _State.weights:
        return {}
    own = {name: _known(one) for name, one in _tensors(module)}
    names: dict[str, str] = {}  # by what a weight is known by, where that is not common
    for name, (mark, total) in own.items():
        names[repr((mark.value, total))] = name if repr((mark.value, total)) not in names else ""
    found = [
        [name, names.get(repr((mark.value, total)), "")]
        for name, (mark, total) in _State.weights.items()
        if name in own and repr(own[name][0].value) != repr(mark.value)
    ]
    found = [pair for pair in found if pair[1]]
    return {"swapped": found[:_WEIGHTS]} if found else {}


def _state(module: Any) -> dict[str, marks.Mark]:
    """Return the tensors of a module that a call of it may change: all but its parameters."""
    own = {id(one) for one in module.parameters()}
    named = [(name, one) for name, one in _tensors(module) if id(one) not in own]
    return {name: marks.of(one) for name, one in named[:_MOST]}


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


def _tensors(module: Any) -> Iterator[tuple[str, Any]]:
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
            elif not isinstance(value, torch.nn.Module) and _is_users(type(value)):
                own = getattr(value, "__dict__", {}).items()
                found.update((f"{at}.{k}", v) for k, v in own if type(v) in _PLAIN)
    return found


def _is_users(kind: Any) -> bool:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and owner(file) == "user"
