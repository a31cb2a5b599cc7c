"""Hold weights against what a package's own source declares: the runtime compares names only."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_CONSTANT = re.compile(r"constants_info_\[(\d{1,7})\]\.(\w{1,32}) = (.{0,2000}?);?$")
KEPT = (
    "else it keeps the compiled-in value, and in a package without weights "
    "(package_constants_in_so=False) it is a null pointer: the first call crashes"
)
INLINED = 8  # elements; a constant of at most one dimension and no more of them becomes a literal


@dataclass(frozen=True)
class Constant:
    """A constant of a model, as the source states it."""

    index: int
    name: str
    fqn: str | None = None
    dtype: str | None = None
    device: str | None = None
    shape: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    bytes: int = 0
    kind: str | None = None  # Parameter, Buffer, TensorConstant, ...
    folded: bool = False

    def reordered(self, strides: Sequence[int]) -> bool:
        """Tell whether elements of this shape lie in another order by these strides."""
        steps = zip(self.shape, strides, self.stride)
        return len(strides) == len(self.stride) and any(n > 1 and a != b for n, a, b in steps)


def declared(source: str) -> dict[str, Constant]:
    """Return the loadable constants that a `.wrapper.cpp` declares, by their original names."""
    found = constants_of(source.splitlines())
    return {one.fqn or one.name: one for one in found if not one.folded}


def constants_of(head: Iterable[str]) -> tuple[Constant, ...]:
    """Return the constants that a `.wrapper.cpp` declares."""
    fields: dict[int, dict[str, str]] = {}
    for line in head:
        if "constants_info_[" not in line:
            continue
        if found := _CONSTANT.search(line):
            fields.setdefault(int(found[1]), {})[found[2]] = found[3]
    return tuple(_constant(index, values) for index, values in sorted(fields.items()))


def _constant(index: int, values: dict[str, str]) -> Constant:
    size = values.get("data_size", "0").rstrip("UL")
    return Constant(
        index=index,
        name=values.get("name", "").strip('"'),
        fqn=values["original_fqn"].strip('"') if "original_fqn" in values else None,
        dtype=_tail(values.get("dtype"), "cached_torch_dtype_"),
        device=_tail(values.get("device_type"), "cached_torch_device_type_"),
        shape=_sizes(values.get("shape", "")),
        stride=_sizes(values.get("stride", "")),
        bytes=int(size) if size.isdecimal() and len(size) < 19 else 0,
        kind=_tail(values.get("type"), "ConstantType::"),
        folded=values.get("from_folded") == "true",
    )


def _tail(value: str | None, marker: str) -> str | None:
    if value is None or marker not in value:
        return None
    return value.rpartition(marker)[2].rstrip(") ")


def _sizes(text: str) -> tuple[int, ...]:
    parts = (part.strip().rstrip("L") for part in text.strip("{} ").split(","))
    return tuple(int(part) for part in parts if part.lstrip("-").isdecimal() and len(part) < 20)


def small(tensor: Any) -> bool:
    """Tell whether a compile writes such a constant into the code."""
    return bool(tensor.dim() <= 1 and tensor.numel() <= INLINED)


def used(program: Any) -> set[str]:
    """Return the weights and buffers that a node of the exported program reads."""
    read_ones = {
        node.name for node in program.graph.nodes if node.op == "placeholder" and node.users
    }
    return {
        spec.target
        for spec in program.graph_signature.input_specs
        if spec.target is not None and spec.arg.name in read_ones
    }


def unknown(
    known: Mapping[str, Constant], state: Mapping[str, Any], used: Collection[str] | None
) -> tuple[list[str], list[str]]:
    """Return what can never be updated with this file, and what is harmless.

    `used`: the names that the exported program reads; None where there is none to ask. Then only
    the counter of a batch norm is known to be unused: nothing reads it outside of training.
    """
    inlined, harmless = [], []
    for name, tensor in state.items():
        if name in known:
            continue
        counter = name.rpartition(".")[2] == "num_batches_tracked"
        if counter if used is None else name not in used:
            harmless.append(f"{name}: the package does not use it")
        elif small(tensor):
            inlined.append(
                f"{name}: not a constant of the package (inlined: it can never be updated, the old "
                "value stays; compile with always_keep_tensor_constants)"
            )
        else:
            harmless.append(f"{name}: not a constant of the package (a prefix, a typo, or tied)")
    return inlined, harmless


def problems(known: Mapping[str, Constant], state: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with loading these tensors as they are."""
    for name, tensor in state.items():
        if name not in known:
            continue
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            yield f"{name}: {int((~tensor.isfinite()).sum())} values are NaN or infinite"
        want, dtype = known[name], str(tensor.dtype).replace("torch.", "")
        if dtype != want.dtype or tuple(tensor.shape) != want.shape:
            got = f"{dtype}{list(tensor.shape)}"
            yield f"{name}: {got}, the package holds {want.dtype}{list(want.shape)}"
        elif not tensor.is_contiguous():
            yield f"{name}: strides {tensor.stride()}; bytes are copied as they lie"
        elif tensor.untyped_storage().nbytes() > want.bytes:
            size = tensor.untyped_storage().nbytes()
            yield f"{name}: a view of a storage of {size} bytes, all are copied over {want.bytes}"
    for name, want in known.items():
        if name not in state:
            error = (
                "no error, even in a full update"
                if "Buffer" in (want.kind or "")
                else "a full update raises"
            )
            yield f"{name}: missing ({error}); {KEPT}"
