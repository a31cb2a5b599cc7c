"""Follow the memory that a package asks for in a call: which kernel fills it, when it goes."""

from __future__ import annotations

from dataclasses import dataclass

from . import handles, taps
from .describe import dtype_of
from .taps import Call

_RAW_ALLOC = "raw_alloc"
_KERNELS = ("generated", "launch", "extern")
_STEPS = 4000  # of the curve


@dataclass
class Block:
    """Memory of one storage; `step` counts kernels from 1."""

    bytes: int
    shape: tuple[int, ...]
    dtype: str
    step: int
    made_by: str = ""  # the first kernel that is given it, or the operator that returns it
    last_by: str = ""
    freed: int = 0  # 0: not in the call


class Blocks(taps.Hook):
    """What is held, at each kernel and at most. `granule`: bytes that a block is rounded up to."""

    kinds = ("allocation", "free", "view", *_KERNELS)

    def __init__(self, granule: int = 1) -> None:
        self._granule = granule
        self._held: dict[int, Block] = {}  # by the address of the storage
        self._of: dict[int, int] = {}  # handle -> storage
        self._count: dict[int, int] = {}  # handles of a storage
        self.step, self.now, self.most, self.at_step = 0, 0, 0, 0
        self.at_most: list[Block] = []
        self.curve: list[int] = [0]  # before the first kernel, and after each

    def before(self, call: Call) -> None:
        if call.kind == "free":
            self._drop(call.args[0])
        elif call.kind in _KERNELS:
            self.step += 1

    def after(self, call: Call) -> None:
        if call.name.endswith(_RAW_ALLOC):
            place = handles.read_handle(call.args[1]) or 0
            self._hold(place, place, Block(int(call.args[0]), (), "workspace", self.step + 1))
            return
        if call.kind in ("allocation", "view", "extern"):
            self._returned(call)
        if call.kind in _KERNELS:
            self._used(call)
            if len(self.curve) < _STEPS:
                self.curve.append(self.now)

    def _returned(self, call: Call) -> None:
        """Take the tensors that a function returns: of new memory, or of what is held."""
        for param, value in zip(call.params, call.args):
            if not taps.returned(param) or not value:
                continue
            handle = handles.read_handle(value)
            tensor = handles.tensor_of(handle)
            if handle is None or tensor is None:
                continue
            storage = tensor.untyped_storage()
            place, size = storage.data_ptr(), storage.nbytes()
            if place in self._held or call.kind != "view":
                by = call.name if call.kind == "extern" else ""
                step = self.step + (call.kind != "extern")
                block = Block(size, tuple(tensor.shape), dtype_of(tensor), step, by)
                self._hold(handle, place, block)

    def _hold(self, handle: int, place: int, block: Block) -> None:
        if not place or self._of.get(handle) == place:
            return
        self._of[handle] = place
        self._count[place] = self._count.get(place, 0) + 1
        if place in self._held:
            return
        block.bytes = -(-block.bytes // self._granule) * self._granule
        self._held[place] = block
        self.now += block.bytes
        if self.now > self.most:
            self.most, self.at_step, self.at_most = self.now, self.step, list(self._held.values())

    def _drop(self, handle: int) -> None:
        place = self._of.pop(handle, None)
        if place is None:
            return
        self._count[place] -= 1
        if not self._count[place]:
            del self._count[place]
            block = self._held.pop(place)
            block.freed = self.step
            self.now -= block.bytes

    def _used(self, call: Call) -> None:
        tensors = (tensor for _, tensor in call.tensors() if tensor is not None)
        for place in (tensor.untyped_storage().data_ptr() for tensor in tensors):
            if (block := self._held.get(place)) is not None:
                block.made_by = block.made_by or call.name
                block.last_by = call.name

    def left(self) -> list[Block]:
        """Return what is held now: outputs, as long as they live; anything else was forgotten."""
        return list(self._held.values())
