"""Watch the memory of a call's inputs and outputs: what is overwritten while the call is under way,
shared between the two, given again with other values, or changed after it was returned."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any, NamedTuple

from . import events, marks
from .lazy import torch

_NAMED = 6
_ADDRESSES = 512
_RETURNED = 16  # outputs that are still looked at

_given: dict[int, marks.Mark] = {}  # by address: what was given there last
_returned: deque[tuple[Any, marks.Mark, int, int]] = deque(maxlen=_RETURNED)
_Again = tuple[marks.Mark, Any, list[int]]
_later: deque[_Over] = deque()


class Memory:
    """The memory of one call's inputs as it arrived."""

    __slots__ = ("again", "changed", "inputs")

    def __init__(self, flat: Any) -> None:
        tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
        self.inputs = [marks.of(one) for one in tensors]
        self.changed = _looked_again()
        self.again: list[tuple[int, marks.Mark]] = []
        for index, one in enumerate(self.inputs):
            if one.address is not None and one.sample is not None:
                was = _given.get(one.address)
                if was is not None and one.replaces(was):
                    self.again.append((index, was))
                _given[one.address] = one
        for address in [*_given][:-_ADDRESSES]:
            _given.pop(address, None)  # calls of other threads do the same

    def found(self, call: int, flat: Any, result: Any, writes: bool) -> dict[str, Any]:
        """Say what the call's end shows of its memory; nothing where all is as usual, or a device
        has not come to it: that is said later. `writes`: the model may write to its inputs."""
        tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
        outputs = marks.tensors(result)
        places = {one.storage: n for n, one in enumerate(self.inputs) if one.storage is not None}
        aliases = [
            [number, places[at]]
            for number, leaf in enumerate(outputs)
            if (at := marks.storage(leaf)) in places
        ]
        now = [] if writes else [marks.sample(one) for one in tensors]
        values = [marks.few(one) for one in outputs[:_NAMED]]
        changed = self.changed + _looked_again()
        for number, leaf in enumerate(outputs):
            mark = marks.of(leaf)
            if mark.sample is not None:
                _returned.append((weakref.ref(leaf), mark, call, number))
        over = _Over(call, self, now, aliases, changed, values)
        settle()
        if not _later and over.ready():
            return over.said()
        _later.append(over)
        return {}


class _Over(NamedTuple):
    """A call that returned; its device may still work on it."""

    call: int
    given: Memory
    now: list[Any]  # samples of the inputs
    aliases: list[list[int]]
    changed: list[_Again]
    values: list[Any]

    def ready(self) -> bool:
        samples = [*self.now, *(one[1] for one in self.changed), *self.values]
        samples += [one.sample for one in self.given.inputs]
        return all(marks.ready(one) for one in samples)

    def said(self) -> dict[str, Any]:
        inputs = self.given.inputs
        pairs = enumerate(zip(self.now, inputs))
        found: dict[str, list[Any]] = {
            "overwritten": [n for n, (now, was) in pairs if _differ(now, was.sample)],
            "aliases": self.aliases,
            "reused": [n for n, was in self.given.again if inputs[n].value != was.value],
            "changed": [place for was, now, place in self.changed if _differ(now, was.sample)],
        }
        said = {key: value[:_NAMED] for key, value in found.items() if value}
        return {**said, "values": [marks.shown(one) for one in self.values]}


def _differ(now: Any, was: Any) -> bool:
    return bool(marks.as_bytes(now) != marks.as_bytes(was))


def settle(*, wait: bool = False) -> None:
    """Say what is known by now of calls on devices, in their order."""
    while _later and (wait or _later[0].ready()):
        try:
            one = _later.popleft()
        except IndexError:  # a call of another thread took it
            return
        events.emit("memory", call=one.call, memory=one.said())


def forget() -> None:
    """Forget the calls of devices, in a process that was forked."""
    _later.clear()


def _looked_again() -> list[_Again]:
    """Return outputs that nobody has written to as such, with their values of now where these are
    not known to be those that were returned: what they were, what they are, and call and number."""
    found: list[_Again] = []
    for _ in range(len(_returned)):
        try:
            one = _returned.popleft()
        except IndexError:  # a call of another thread took it
            break
        of, was, call, number = one
        leaf = of()
        if leaf is None or marks.version(leaf) != was.version:
            continue
        now = marks.sample(leaf)
        known = not isinstance(now, marks.Later)
        if known and now == was.sample:
            _returned.append(one)
            continue
        found.append((was, now, [call, number]))
        if not known:
            _returned.append((of, was._replace(sample=now), call, number))
    return found
