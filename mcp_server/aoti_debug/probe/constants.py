"""Hold weights against what a package's own source declares: the runtime compares names only."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_ENTRY = re.compile(r"constants_info_\[(\d{1,6})\]\.(\w{1,40}) = (.{0,2000});")
KEPT = (
    "else it keeps the compiled-in value, and in a package without weights "
    "(package_constants_in_so=False) it is a null pointer: the first call crashes"
)
INLINED = 8  # elements; a constant of at most one dimension and no more of them becomes a literal


@dataclass(frozen=True)
class Declared:
    """A constant that can be loaded, as the source states it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    buffer: bool


def declared(source: str) -> dict[str, Declared]:
    """Return the loadable constants that a `.wrapper.cpp` declares, by their original names."""
    entries: dict[str, dict[str, str]] = {}
    for number, field, value in _ENTRY.findall(source):
        entries.setdefault(number, {})[field] = value
    found = {}
    for entry in entries.values():
        if entry.get("from_folded") == "true":
            continue
        name = (entry.get("original_fqn") or entry.get("name", "")).strip('"')
        sizes = re.findall(r"\d+", entry.get("shape", ""))
        found[name] = Declared(
            name,
            entry.get("dtype", "").rpartition("cached_torch_dtype_")[2],
            tuple(int(size) for size in sizes),
            int(entry.get("data_size", "0")),
            "Buffer" in entry.get("type", ""),
        )
    return found


def unknown(
    known: Mapping[str, Declared], state: Mapping[str, Any], used: Collection[str] | None
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
        elif tensor.dim() <= 1 and tensor.numel() <= INLINED:
            inlined.append(
                f"{name}: not a constant of the package (inlined: it can never be updated, the old "
                "value stays; compile with always_keep_tensor_constants)"
            )
        else:
            harmless.append(f"{name}: not a constant of the package (a prefix, a typo, or tied)")
    return inlined, harmless


def problems(known: Mapping[str, Declared], state: Mapping[str, Any]) -> Iterator[str]:
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
            error = "no error, even in a full update" if want.buffer else "a full update raises"
            yield f"{name}: missing ({error}); {KEPT}"
