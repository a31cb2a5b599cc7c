"""Say what the inputs and outputs of a call are, without touching what does not like it."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .lazy import torch

_INPUTS = 512
_DEPTH = 1000  # views of views


def overlaps(flat: Sequence[Any]) -> dict[int, list[int]]:
    """Return, for each flat position whose memory another input's overlaps, those positions.

    Never claims an overlap that is none: of two interleaved views nothing is said.
    """
    found: dict[int, list[int]] = {}
    reaching: list[_Span] = []
    spans = [span for p, leaf in enumerate(flat[:_INPUTS]) if (span := _span(leaf, p))]
    for span in sorted(spans, key=lambda s: (s.device, s.begin)):
        reaching = [r for r in reaching if r.device == span.device and r.end > span.begin]
        for other in reaching:
            if other.dense or other.begin == span.begin or (span.dense and other.end <= span.end):
                found.setdefault(span.position, []).append(other.position)
                found.setdefault(other.position, []).append(span.position)
        reaching.append(span)
    return {position: sorted(others) for position, others in found.items()}


def extent(shape: Sequence[int], stride: Sequence[int]) -> int:
    """Return how many elements lie from the first of a tensor to its last."""
    return 0 if 0 in shape else 1 + sum((size - 1) * step for size, step in zip(shape, stride))


def compacted(tensor: Any) -> Any:
    """Copy only the memory between a view's first and last element; same strides and alignment."""
    if not plain(tensor) or tensor.numel() == 0:
        return tensor
    lead = tensor.storage_offset() % max(1, 256 // tensor.element_size())
    reach = extent(tensor.shape, tensor.stride())
    start = tensor.storage_offset() - lead
    memory = tensor.as_strided((lead + reach,), (1,), start).clone()
    return memory.as_strided(tensor.shape, tensor.stride(), lead)


def distinct(tensor: Any, strides: Sequence[int] = ()) -> Any:
    """Return the elements with memory of their own under these strides, else the tensor's: the
    first along each dimension of stride 0."""
    for place, step in enumerate(strides or tensor.stride()):
        if step == 0:
            tensor = tensor.narrow(place, 0, min(1, tensor.shape[place]))
    return tensor


def laid_out(tensor: Any, strides: Sequence[int]) -> Any:
    """Return a tensor's values in aligned memory of their own with these strides."""
    own = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device)
    distinct(own).copy_(distinct(tensor, strides))
    return own


class _Span(NamedTuple):
    """The addresses from a tensor's first element to its last; `dense`: all are its own."""

    device: str
    begin: int
    end: int
    dense: bool
    position: int


def _span(leaf: Any, position: int) -> _Span | None:
    if type(leaf) not in (torch.Tensor, torch.nn.Parameter) or leaf.layout != torch.strided:
        return None
    if not leaf.numel() or leaf.device.type == "meta":
        return None
    reach, steps = extent(leaf.shape, leaf.stride()), zip(leaf.shape, leaf.stride())
    begin, item = int(leaf.data_ptr()), int(leaf.element_size())
    dense = reach == leaf.numel() and all(step for size, step in steps if size > 1)
    return _Span(str(leaf.device), begin, begin + reach * item, dense, position)


def written(program: Any) -> set[str]:
    """Return the names of the inputs that an exported program writes to: as its signature says
    once it is functional, before that by its in-place operators."""
    signature = program.graph_signature
    found = {str(name) for name in dict(signature.user_inputs_to_mutate).values()}
    return found | ({name for name, _ in _changes(program)} & set(signature.user_inputs))


def state(program: Any) -> dict[str, Any]:
    """Return the names of the buffers that an exported program writes to, and what computes their
    last value."""
    signature = program.graph_signature
    buffers, nodes = signature.inputs_to_buffers, {one.name: one for one in program.graph.nodes}
    found = {buffers[name]: node for name, node in _changes(program) if name in buffers}
    changed = dict(signature.buffers_to_mutate).items()
    return {**{str(name): nodes.get(of) for of, name in changed}, **found}


def own_state(module: Any) -> list[str]:
    """Return the names of the tensors of its own that an exported module writes to."""
    roots = (root for root, _ in writers(module.graph))
    return list(dict.fromkeys(str(root.target) for root in roots if root.op == "get_attr"))


def written_inputs(graph: Any) -> list[tuple[int, Any, Any]]:
    """Return the inputs that a graph writes to: place, placeholder, the node that writes last."""
    last = dict(writers(graph))
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    return [(place, one, last[one]) for place, one in enumerate(inputs) if one in last]


def written_places(module: Any) -> list[int]:
    """Return the places of the inputs that a module writes to."""
    return [place for place, *_ in written_inputs(module.graph)]


def _changes(program: Any) -> Iterator[tuple[str, Any]]:
    """Yield the placeholders that operators write to, each with the operator's node."""
    yield from ((root.name, node) for root, node in writers(program.graph))


def writers(graph: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the inputs and own tensors that operators write to, each with the operator's node."""
    for node in graph.nodes:
        roots = (_root(argument) for argument in written_arguments(node))
        yield from ((root, node) for root in roots if root is not None)


def written_arguments(node: Any) -> list[Any]:
    """Return the nodes whose memory an operator changes, by its schema."""
    schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
    found: list[Any] = []
    for place, argument in enumerate(schema.arguments if schema is not None else ()):
        if argument.alias_info is not None and argument.alias_info.is_write:
            given = node.args[place] if place < len(node.args) else node.kwargs.get(argument.name)
            found += given if isinstance(given, (list, tuple)) else [given]
    return [node for node in found if hasattr(node, "op")]


def _root(node: Any) -> Any:
    """Follow views, and the results of in-place operators, to the input, or the module's own
    tensor, that they show."""
    for _ in range(_DEPTH):
        if node.op in ("placeholder", "get_attr"):
            return node
        schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
        if schema is None or not schema.arguments or schema.arguments[0].alias_info is None:
            return None
        if not node.args or not hasattr(node.args[0], "op"):
            return None
        node = node.args[0]
    return None


_SCAN_ELEMENTS = 4 * 1024 * 1024
_COUNT_ELEMENTS = 1024 * 1024
_LEAVES = 512

Description = dict[str, Any]


def unreadable_now() -> str | None:
    """Say why no values may be read at this moment, if so."""
    c = torch._C
    if c._get_tracing_state() is not None:
        return "torch.jit traces"
    if getattr(c, "_len_torch_dispatch_stack", lambda: 0)():
        return "a dispatch mode is active"
    functorch = getattr(c, "_functorch", None)
    if functorch is not None and functorch.peek_interpreter_stack() is not None:
        return "inside a function transform"
    if capturing():
        return "a CUDA graph is being captured"
    return None


def capturing() -> bool:
    """Tell whether this thread's CUDA stream records a graph; never starts CUDA."""
    cuda = sys.modules.get("torch.cuda")
    if cuda is None or not cuda.is_initialized():
        return False
    return bool(cuda.is_current_stream_capturing())


def plain(tensor: Any) -> bool:
    """Tell whether a tensor is strided memory and nothing cleverer."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout == torch.strided
        and tensor.device.type != "meta"
        and not tensor.is_quantized
    )


def is_float(value: Any) -> bool:
    """Tell whether a value is a tensor of floats."""
    return isinstance(value, torch.Tensor) and bool(value.is_floating_point())


def is_integer(value: Any) -> bool:
    """Tell whether a value is a tensor of integers."""
    other = not isinstance(value, torch.Tensor) or value.is_floating_point() or value.is_complex()
    return not other and value.dtype != torch.bool


def leaves(flat: Sequence[Any], names: Sequence[str | None]) -> list[Description]:
    """Describe flat leaves; tensors are numbered as the AOTI runtime numbers its inputs."""
    found: list[Description] = []
    index = 0
    for position, leaf in enumerate(flat[:_LEAVES]):
        name = names[position] if position < len(names) else None
        if isinstance(leaf, torch.Tensor):
            found.append({"index": index, "name": name, "kind": "tensor", **tensor(leaf)})
            index += 1
        else:
            found.append({"index": None, "position": position, "name": name, **scalar(leaf)})
    for position, others in overlaps(flat).items():
        found[position]["overlaps"] = [found[other]["index"] for other in others[:20]]
    return found


def nest(args: Any, kwargs: Any, flat: Sequence[Any]) -> Description:
    """Say how the leaves of a call were given: by name, or within an argument."""
    leaves = {id(leaf) for leaf in flat}
    nested = not all(id(one) in leaves for one in (*args, *kwargs.values()))
    return {"keywords": list(kwargs), "nested": nested} if kwargs or nested else {}


def scalar(leaf: Any) -> Description:
    """Describe a leaf that is not a tensor."""
    if leaf is None:
        return {"kind": "none"}
    of, value = type(leaf), leaf
    if of not in (bool, int, float, str):
        return {"kind": "other", "type": f"{of.__module__}.{of.__qualname__}"}
    strange = of is float and not math.isfinite(value)
    if strange or of is str or (of is int and abs(value) >= 1 << 63):
        value = str(value)[:300]
    return {"kind": of.__name__, "value": value}


def tensor(t: Any) -> Description:
    """Describe a tensor's shape and memory; never its values."""
    found = kind(t)
    if type(t) is not torch.Tensor:
        found["type"] = f"{type(t).__module__}.{type(t).__qualname__}"
    if t.requires_grad:
        found["requires_grad"] = True
    if t.is_neg() or t.is_conj():
        found["bit"] = "negated" if t.is_neg() else "conjugated"
    if not plain(t):
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


def add_values(flat: Sequence[Any], found: list[Description]) -> bool:
    """Add the extremes of integer tensors and the NaN counts of floats on the CPU."""
    complete = True
    for leaf, description in zip(flat, found):
        if description.get("kind", "tensor") != "tensor" or not plain(leaf):
            continue
        try:
            description.update(values(leaf))
        except Exception:  # a dtype without min, a lost device: described without values
            complete = False
    return complete


def values(t: Any) -> Description:
    """Return the extremes and where they are of an integer tensor; {} when not cheap."""
    numel = t.numel()
    if numel == 0 or t.dtype == torch.bool:
        return {}
    with torch.no_grad():
        if t.is_floating_point():
            return not_finite(t) if t.device.type == "cpu" else {}
        if t.dtype.is_complex or numel > _SCAN_ELEMENTS:
            return {}
        at = torch.stack((t.argmin(), t.argmax()))
        ends = t.reshape(-1)[at].tolist()
        low, high = (_position(i, t.shape) for i in at.tolist())
    return {"min": ends[0], "max": ends[1], "min_at": low, "max_at": high}


def not_finite(t: Any) -> Description:
    """Return the number of NaNs and infinities of a small float tensor on the CPU."""
    if t.numel() > _COUNT_ELEMENTS or not t.is_floating_point() or t.device.type != "cpu":
        return {}
    return counts(t)


def counts(t: Any) -> Description:
    with torch.no_grad():
        return {"nan": int(torch.isnan(t).sum()), "inf": int(torch.isinf(t).sum())}


def outputs(flat: Sequence[Any], count: bool) -> list[Description]:
    """Describe the tensors of a result, with NaN counts where that is cheap."""
    found = []
    for leaf in flat[:_LEAVES]:
        if not isinstance(leaf, torch.Tensor):
            found.append(scalar(leaf))
            continue
        description = kind(leaf)
        if count and plain(leaf):
            description.update(not_finite(leaf))
        found.append(description)
    return found


def kind(t: Any) -> Description:
    """Return sizes, dtype and device of a tensor; sizes that are symbols as text."""
    return {"shape": _sizes(t.shape), "dtype": dtype_of(t), "device": str(t.device)}


def dtype_of(t: Any) -> str:
    return str(t.dtype).replace("torch.", "")


def _sizes(sizes: Any) -> list[Any]:
    return [size if type(size) is int else str(size) for size in sizes]


def _position(index: int, shape: Any) -> list[int]:
    place: list[int] = []
    for size in reversed(shape):
        index, rest = divmod(index, size)
        place.insert(0, rest)
    return place
