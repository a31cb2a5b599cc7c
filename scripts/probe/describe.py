"""Say what the inputs and outputs of a call are, without touching what does not like it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

from . import aliasing, budget

_SCAN_ELEMENTS = 4 * 1024 * 1024
_COUNT_ELEMENTS = 1024 * 1024
_LEAVES = 512
_SUM_ELEMENTS = 16 * 1024  # summed up in microseconds

Description = dict[str, Any]


def unreadable_now(torch: Any) -> str | None:
    """Say why no values may be read at this moment, if so."""
    c = torch._C
    if getattr(c, "_len_torch_dispatch_stack", lambda: 0)():
        return "a dispatch mode is active"
    functorch = getattr(c, "_functorch", None)
    if functorch is not None and functorch.peek_interpreter_stack() is not None:
        return "inside a function transform"
    if capturing(torch):
        return "a CUDA graph is being captured"
    return None


def capturing(torch: Any) -> bool:
    """Tell whether this thread's CUDA stream records a graph; never starts CUDA."""
    cuda = sys.modules.get("torch.cuda")
    if cuda is None or not cuda.is_initialized():
        return False
    return bool(cuda.is_current_stream_capturing())


def plain(torch: Any, tensor: Any) -> bool:
    """Tell whether a tensor is strided memory and nothing cleverer."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout == torch.strided
        and tensor.device.type != "meta"
        and not tensor.is_quantized
    )


def leaves(torch: Any, flat: Sequence[Any], names: Sequence[str | None]) -> list[Description]:
    """Describe flat leaves; tensors are numbered as the AOTI runtime numbers its inputs."""
    found: list[Description] = []
    index = 0
    for position, leaf in enumerate(flat[:_LEAVES]):
        name = names[position] if position < len(names) else None
        if isinstance(leaf, torch.Tensor):
            found.append({"index": index, "name": name, "kind": "tensor", **tensor(torch, leaf)})
            index += 1
        else:
            found.append({"index": None, "position": position, "name": name, **scalar(leaf)})
    for position, others in aliasing.overlaps(torch, flat).items():
        found[position]["overlaps"] = [found[other]["index"] for other in others[:20]]
    return found


def scalar(leaf: Any) -> Description:
    """Describe a leaf that is not a tensor."""
    if leaf is None:
        return {"kind": "none"}
    for kind in (bool, int, float, str):
        if type(leaf) is kind:
            value: Any = leaf
            if kind is float and not math.isfinite(value):
                value = str(value)
            elif kind is int and abs(value) >= 1 << 63:
                value = str(value)[:300]
            elif kind is str:
                value = value[:300]
            return {"kind": kind.__name__, "value": value}
    return {"kind": "other", "type": f"{type(leaf).__module__}.{type(leaf).__qualname__}"}


def tensor(torch: Any, t: Any) -> Description:
    """Describe a tensor's shape and memory; never its values."""
    found: Description = {"shape": _sizes(t.shape)}
    found["dtype"] = str(t.dtype).replace("torch.", "")
    found["device"] = str(t.device)
    if type(t) is not torch.Tensor:
        found["type"] = f"{type(t).__module__}.{type(t).__qualname__}"
    if t.requires_grad:
        found["requires_grad"] = True
    if not plain(torch, t):
        found["layout"] = str(t.layout).replace("torch.", "")
        return found
    found["stride"] = _sizes(t.stride())
    found["storage_offset"] = int(t.storage_offset())
    found["storage_bytes"] = int(t.untyped_storage().nbytes())
    found["alignment"] = alignment(t.data_ptr())
    return found


def alignment(address: int) -> int:
    """Return the largest power of two up to 256 that divides an address."""
    return min(256, address & -address) if address else 256


def add_values(torch: Any, flat: Sequence[Any], found: list[Description]) -> bool:
    """Add the extremes of integer tensors and the NaN counts of floats on the CPU."""
    complete = True
    for leaf, description in zip(flat, found):  # noqa: B905 - Python 3.9
        if description.get("kind", "tensor") != "tensor" or not plain(torch, leaf):
            continue
        try:
            description.update(values(torch, leaf))
        except Exception:  # a dtype without min, a lost device: described without values
            complete = False
    return complete


def values(torch: Any, t: Any) -> Description:
    """Return the extremes and where they are of an integer tensor; {} when not cheap."""
    numel = t.numel()
    if numel == 0 or t.dtype == torch.bool:
        return {}
    with torch.no_grad():
        if t.is_floating_point():
            return not_finite(torch, t) if t.device.type == "cpu" else {}
        if t.dtype.is_complex or numel > _SCAN_ELEMENTS:
            return {}
        at = torch.stack((t.argmin(), t.argmax()))
        ends = t.reshape(-1)[at].tolist()
        low, high = (_position(i, t.shape) for i in at.tolist())
    return {"min": ends[0], "max": ends[1], "min_at": low, "max_at": high}


def not_finite(torch: Any, t: Any) -> Description:
    """Return the number of NaNs and infinities of a small float tensor on the CPU."""
    if t.numel() > _COUNT_ELEMENTS or not t.is_floating_point() or t.device.type != "cpu":
        return {}
    with torch.no_grad():
        nan = int(torch.isnan(t).sum())
        inf = int(torch.isinf(t).sum())
    return {"nan": nan, "inf": inf}


def finite(torch: Any, result: Any) -> bool | None:
    """Tell whether the float tensors of a result on the CPU hold neither NaN nor infinities; None
    where that was not cheap to see."""
    if torch._C._len_torch_dispatch_stack():
        return None
    seen = None
    for leaf in result if isinstance(result, (list, tuple)) else (result,):
        if type(leaf) is not torch.Tensor or not leaf.is_floating_point() or not leaf.is_cpu:
            continue
        if leaf.layout != torch.strided:
            continue
        if leaf.numel() > _SUM_ELEMENTS and not (
            leaf.numel() <= _COUNT_ELEMENTS and budget.allows()
        ):
            return None
        with torch._C._AutoDispatchBelowAutograd():
            seen = math.isfinite(leaf.sum().item()) or bool(torch.isfinite(leaf).all())
        if not seen:
            return False
    return seen


def outputs(torch: Any, flat: Sequence[Any], count: bool) -> list[Description]:
    """Describe the tensors of a result, with NaN counts where that is cheap."""
    found = []
    for leaf in flat[:_LEAVES]:
        if not isinstance(leaf, torch.Tensor):
            found.append(scalar(leaf))
            continue
        description = {
            "shape": _sizes(leaf.shape),
            "dtype": str(leaf.dtype).replace("torch.", ""),
            "device": str(leaf.device),
        }
        if count and plain(torch, leaf):
            description.update(not_finite(torch, leaf))
        found.append(description)
    return found


def _sizes(sizes: Any) -> list[Any]:
    return [size if type(size) is int else str(size) for size in sizes]


def _position(index: int, shape: Any) -> list[int]:
    place: list[int] = []
    for size in reversed(tuple(shape)):
        place.append(index % size)
        index //= size
    return place[::-1]
