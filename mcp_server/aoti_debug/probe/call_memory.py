"""Watch the memory of a call's inputs and outputs: what is overwritten while the call is under way,
shared between the two, given again with other values, or changed after it was returned."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from . import marks
from .lazy import torch

_NAMED = 6
_ADDRESSES = 512
_RETURNED = 16  # outputs that are still looked at

_given: dict[int, marks.Mark] = {}  # by address: what was given there last
_returned: deque[tuple[Any, marks.Mark, int, int]] = deque(maxlen=_RETURNED)


class Memory:
    """The memory of one call's inputs as it arrived."""

    __slots__ = ("changed", "inputs", "reused")

    def __init__(self, flat: Any) -> None:
        tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
        self.inputs = [marks.of(one) for one in tensors]
        self.changed = changed_outputs()
        self.reused: list[int] = []
        for index, one in enumerate(self.inputs):
            if one.address is not None and one.sample is not None:
                was = _given.get(one.address)
                if was is not None and one.rewritten(was):
                    self.reused.append(index)
                _given[one.address] = one
        for address in [*_given][:-_ADDRESSES]:
            _given.pop(address, None)  # calls of other threads do the same

    def found(self, call: int, flat: Any, result: Any, writes: bool) -> dict[str, Any]:
        """Say what the call's end shows of its memory; nothing where all is as usual. `writes`:
        the model may write to its inputs."""
        tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
        outputs = marks.tensors(result)
        now = [marks.sample(one) for one in tensors]
        pairs = zip(now, self.inputs)
        written = [n for n, (one, was) in enumerate(pairs) if one != was.sample]
        places = {one.storage: n for n, one in enumerate(self.inputs) if one.storage is not None}
        aliases = [
            [number, places[at]]
            for number, leaf in enumerate(outputs)
            if (at := marks.storage(leaf)) in places
        ]
        changed = self.changed + changed_outputs()
        for number, leaf in enumerate(outputs):
            mark = marks.of(leaf)
            if mark.sample is not None:
                _returned.append((weakref.ref(leaf), mark, call, number))
        found: dict[str, Any] = {
            "overwritten": [] if writes else written,
            "aliases": [] if writes else aliases,
            "reused": self.reused,
            "changed": changed,
        }
        found = {key: value[:_NAMED] for key, value in found.items() if value}
        return {**found, "values": [marks.shown(one) for one in outputs[:_NAMED]]}


def changed_outputs() -> list[list[int]]:
    """Return call and number of outputs whose values are others than when they were returned, and
    that nobody has written to as such."""
    found: list[list[int]] = []
    for _ in range(len(_returned)):
        try:
            one = _returned.popleft()
        except IndexError:  # a call of another thread took it
            break
        of, was, call, number = one
        leaf = of()
        unwritten = leaf is not None and marks.version(leaf) == was.version
        if unwritten and marks.sample(leaf) == was.sample:
            _returned.append(one)
        elif unwritten:
            found.append([call, number])
    return found
