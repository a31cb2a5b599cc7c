"""Watch the module that was exported, when the script calls it for comparison: how it differs from
the export, and how its results differ from the package's on the same inputs. Of another class of
the user's, which may stand for it, only calls on the same inputs count."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import threading
import weakref
from collections import deque
from typing import Any, NamedTuple

from . import (
    budget,
    call_counters,
    capture,
    describe,
    events,
    exported,
    inside,
    marks,
    memory,
    rows,
    watch,
)
from .lazy import torch

_MOST = 100  # calls that are looked at, of one line
_GIVEN_TO = 16  # tensors of a call
_CLASSES = 20_000
_INSIDE = 8  # calls of another class, of one line, within which modules are looked at
_LATEST = 16  # calls of module and package that are held against each other
_KEPT = 1 << 22  # bytes of state, before a call
_MARK = "_aoti_debug_reference"


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
_package: deque[_Seen] = deque(maxlen=_LATEST)
_later: deque[tuple[_Seen, Any, rows.Batch, bool, bool]] = deque()  # a device may work on them
_module: deque[_Seen] = deque(maxlen=_LATEST)


class _State:
    looked: dict[Any, int] = {}  # noqa: RUF012 - calls of modules, by their caller
    watches = False
    alone: Any = weakref.WeakSet()  # noqa: RUF012 - modules of torch's classes
    kept = 0.0  # how far apart a pair is whose inputs are kept, of the largest value
    sought = 0  # times that weights were given whose source was looked for
    returned = 0  # calls of packages that were seen
    paired: set[int] = set()  # noqa: RUF012 - calls of the package
    takes: tuple[str, ...] = ()  # the names of what the module takes that was exported last
    learns: set[Any] = set()  # noqa: RUF012 - callers whose results may be trained on


def watch_exported(module: Any, program: Any) -> None:
    """Remember how a module is at its export, and watch its calls from now on."""
    if not isinstance(module, torch.nn.Module) or isinstance(module, torch.fx.GraphModule):
        return
    kind = type(module)
    _State.takes = _takes(module)
    exported.remember(module, program)
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
            if exported.is_users(kind):
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


def given(weights: dict[str, Any]) -> None:
    """Remember the weights that a package is given."""
    if _State.watches and budget.allows():
        exported.given(weights)
        few = len(weights) <= _LATEST * _LATEST and _State.sought < _INSIDE
        _State.sought += few
        with events.noted("look for the module that weights come from"):
            if few and (found := exported.misnamed(weights)):
                events.emit("reference", caller=watch.caller(), **found)


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
        if _thread.another and exported.is_another(self):
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
        state = exported.state(module)
        own = {name: one for name, one in exported.tensors(module) if name in state}
        small = _State.kept < marks.FAR and capture.storage_bytes([*own.values()]) <= _KEPT
        before = {name: one.detach().clone() for name, one in own.items()} if small else {}
        another = exported.is_another(module)
        of = weakref.ref(module)
        differs: dict[str, Any] = {"of_class": type(module).__qualname__}
        differs = differs if another else exported.differences(module)
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
        now = exported.state(module)
        moved = [n for n, mark in seen.state.items() if n in now and now[n].value != mark.value]
        values = [marks.shown(marks.few(one)) for one in marks.tensors(result)[: exported.NAMED]]
        seen.differs.update(given=[_digest(one) for one in seen.inputs[:_GIVEN_TO]], values=values)
        if moved:
            seen.differs.update(moved=moved[: exported.NAMED])
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
            found["written"] = other[: exported.NAMED]
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
    weights = {} if module is None else dict(exported.tensors(module))
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
    return {"call": found.call, "other": _others(own, found)[: exported.NAMED]}


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
