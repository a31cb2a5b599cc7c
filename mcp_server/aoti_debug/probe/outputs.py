"""Judge what calls return: which outputs hold NaN or infinities, of every call. Calls that hold the
same are counted together; the inputs of the first of each kind are kept."""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import call_counters, cuda, events, memory
from .watch import Details

FILED = 4  # calls of a model whose inputs are kept because of what they returned
_LAST = call_counters.PLACES - 1

# Below this size Python sums a tensor's floats sooner than torch does.
_SMALL = 128
_FORMATS = {"torch.float32": "f", "torch.float64": "d", "torch.float16": "e"}
_counting = threading.Lock()
_rows: list[Returned] = []
_modules = sys.modules
# bytes(address, size): a copy of memory
_bytes = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t)(
    ("PyBytes_FromStringAndSize", ctypes.pythonapi)
)


class Later(NamedTuple):
    """Outputs on a device, their places among all, and by device the launches that look at them."""

    leaves: list[Any]
    places: list[int]
    looks: dict[int, list[cuda.Part]]


class Known(NamedTuple):
    """Outputs that were finite and as promised: how many, and what tells others that are laid out
    alike; of each on the CPU its index, and what turns its bytes, so many, into floats, None where
    torch does; the indices of those on a device, their places among all, and the launches that
    look at them."""

    number: int
    alike: Callable[..., bool]
    on_host: list[tuple[int, int, Any]]
    on_device: list[int]
    later: Later | None


class Returned:
    """What the calls of one model returned: where each signature is counted."""

    __slots__ = ("filed", "finite", "known", "numbers", "places", "promised", "row")

    def __init__(self, row: int, numbers: memoryview[int], promised: list[Any]) -> None:
        self.row = row
        self.promised = promised
        self.known: Known | None = None
        self.numbers = numbers
        self.places: dict[int, int] = {}
        self.finite = self.place(0)
        self.filed = 0

    def place(self, signature: int) -> int:
        """Return where the calls with this signature are counted; all rare ones in one place."""
        if signature in self.places:
            return self.places[signature]
        at = min(len(self.places), call_counters.SIGNATURES - 1)
        found = self.places[signature] = call_counters.signed(self.row, at)
        self.numbers[found] |= signature
        return found

    def count(self, signature: int) -> int:
        """Return how many calls returned that, so far."""
        place = self.places.get(signature)
        return self.numbers[place + 1] if place is not None else 0


def of(loaded: memory.Loaded) -> Returned | None:
    """Return what is counted of a model; None where nothing can be, or there are too many."""
    counted = call_counters.of_process()
    if loaded.outputs is None and counted is not None:
        with _counting:
            if loaded.outputs is None and len(_rows) < call_counters.MODELS:
                promised = memory.promised.get((loaded.path or "", loaded.model), [])
                loaded.outputs = Returned(len(_rows), counted.numbers, promised)
                _rows.append(loaded.outputs)
                row = loaded.outputs.row
                events.emit("outputs", row=row, package=loaded.path, model=loaded.model)
    found: Returned | None = loaded.outputs
    return found


def leaves(result: Any) -> Sequence[Any]:
    """Return the flat outputs of a call."""
    torch, kind = _modules["torch"], type(result)
    plain = torch.Tensor
    if kind is plain:
        return (result,)
    if kind is dict:
        result = (*result.values(),)
    if kind is list or kind is tuple or kind is dict:
        for leaf in result:
            if type(leaf) is not plain:
                break
        else:
            return result  # type: ignore[no-any-return]
    return torch.utils._pytree.tree_leaves(result)  # type: ignore[no-any-return]


def judged(returned: Returned, flat: Sequence[Any]) -> tuple[int, Later | None]:
    """Return what `seen` does, with UNLIKE where the outputs are not as promised."""
    known = returned.known
    if known is not None and len(flat) == known.number and known.alike(*flat):
        for index, size, floats in known.on_host:
            leaf = flat[index]
            if floats is not None:
                total = sum(floats(_bytes(leaf.data_ptr(), size)))
            else:
                total = leaf.sum().item()
            if total - total != 0.0:
                break
        else:
            if known.later is None:
                return 0, None
            _, places, looks = known.later
            return 0, Later([flat[n] for n in known.on_device], places, looks)
    signature, later = seen(flat)
    if returned.promised:
        signature |= _unlike(returned, flat)
    if not signature:
        returned.known = _known(flat, later)
    return signature, later


def _known(flat: Sequence[Any], later: Later | None) -> Known | None:
    """Return how outputs like these are read; None where one is special."""
    plain = _modules["torch"].Tensor
    on_host: list[tuple[int, int, Any]] = []
    on_device: list[int] = []
    for n, leaf in enumerate(flat):
        if type(leaf) is not plain or not (leaf.is_cpu or leaf.is_cuda) or leaf.is_complex():
            return None
        count, width, floats = leaf.numel(), leaf.element_size(), None
        if not leaf.is_floating_point():
            continue
        if leaf.is_cuda:
            on_device.append(n)
        elif width == 1:
            return None
        elif count:
            if count <= _SMALL and leaf.is_contiguous():
                form = _FORMATS.get(str(leaf.dtype))
                floats = struct.Struct(f"={count}{form}").unpack if form else None
            on_host.append((n, count * width, floats))
    return Known(len(flat), laid_out_alike(flat), on_host, on_device, later)


def laid_out_alike(flat: Sequence[Any]) -> Callable[..., bool]:
    """Return what tells, of as many tensors, that dtypes, devices, sizes and strides are these."""
    sizes, strides = [list(t.shape) for t in flat], [list(t.stride()) for t in flat]
    of: Any = _modules["torch"]._C._dynamo.guards.TensorGuards
    check: Callable[..., bool] = of(
        *flat, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides
    ).check
    return check


def seen(flat: Sequence[Any]) -> tuple[int, Later | None]:
    """Return the signature of the outputs on the CPU, and those on a device; None where nothing is
    on one."""
    signature = 0
    later: Later | None = None
    plain = _modules["torch"].Tensor
    for place, leaf in enumerate(flat):
        if type(leaf) is not plain:
            continue
        if leaf.is_cuda:
            if later is None:
                later = Later([], [], {})
            if leaf.is_floating_point() or leaf.is_complex():
                later.leaves.append(leaf)
                later.places.append(place)
        elif leaf.is_floating_point():
            if leaf.is_cpu:
                # The sum of finite numbers can only overflow; then each of them is looked at.
                total = leaf.sum().item() if leaf.element_size() > 1 else float("nan")
                if total - total != 0.0:
                    signature |= _kinds(leaf) << 3 * min(place, _LAST)
        elif leaf.is_cpu and leaf.is_complex():
            signature |= _kinds(leaf) << 3 * min(place, _LAST)
    return signature, later


def _unlike(returned: Returned, flat: Sequence[Any]) -> int:
    """Return UNLIKE where outputs have another dtype, device or sizes than the exported program
    promises, as far as that is known."""
    if len(flat) != len(returned.promised):
        return 0
    for leaf, promise in zip(flat, returned.promised):
        if promise is None or not hasattr(leaf, "is_cpu"):
            continue
        dtype, device, sizes = promise
        alike = leaf.dtype == dtype and leaf.device.type == device and leaf.dim() == len(sizes)
        pairs = zip(leaf.shape, sizes)
        if not alike or any(wanted not in (None, size) for size, wanted in pairs):
            return call_counters.UNLIKE
    return 0


def _kinds(leaf: Any) -> int:
    """Return which of NaN, Inf and -Inf a tensor holds."""
    torch: Any = _modules["torch"]
    if leaf.layout != torch.strided or not leaf.numel():
        return 0
    leaf = leaf.detach()
    if leaf.is_complex():
        leaf = torch.view_as_real(leaf.resolve_conj())
    if leaf.element_size() == 1:
        leaf = leaf.to(torch.float32)
    low, high = (float(end.item()) for end in torch.aminmax(leaf))
    if low == low:
        positive, negative = high == float("inf"), low == float("-inf")
    else:
        positive, negative = bool(leaf.isposinf().any()), bool(leaf.isneginf().any())
    return (
        call_counters.NAN * (low != low)
        | call_counters.POSITIVE * positive
        | call_counters.NEGATIVE * negative
    )


def unread() -> None:
    """Count a call whose outputs cannot be looked at."""
    counted = call_counters.of_process()
    if counted is not None:
        with _counting:
            counted.numbers[call_counters.UNREAD] += 1


def finite(loaded: Any) -> bool:
    """Count a call that returned finite numbers, if the numbers of enough such calls are known."""
    returned = loaded.outputs
    if returned is None:
        return False
    numbers, at = returned.numbers, returned.finite + 1
    with _counting:
        enough: bool = numbers[at] >= call_counters.NUMBERS
        if enough:
            numbers[at] += 1
    return enough


def settle(
    number: int, loaded: Any, group: Any, signature: int, keep: Callable[[str], Details]
) -> None:
    """Count what a call returned; keep its inputs, if it is the first to return that."""
    returned = of(loaded)
    if returned is None:
        unread()
        return
    numbers = returned.numbers
    with _counting:
        new = signature not in returned.places
        place = returned.place(signature)
        count = numbers[place + 1]
        numbers[place + 1] = count + 1
        if count < call_counters.NUMBERS:
            numbers[place + 2 + count] = number
        if not (new and signature and returned.filed < FILED):
            return
        returned.filed += 1
        name = f"call-returned-{returned.row}-{returned.filed}"
    kept = keep(name)
    told = {"package": loaded.path, "model": loaded.model, "group": group.id if group else None}
    events.emit("returned", call=number, signature=signature, **told, **kept)


def forget() -> None:
    """Begin to count anew, in a process that was forked."""
    global _counting
    _counting = threading.Lock()  # another thread may have held it
    _rows.clear()
