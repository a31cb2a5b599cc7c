"""Try what may make calls faster and costs nothing to try, each in pairs with the call as it is."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from . import describe, pairs, standalone
from .lazy import torch
from .wrapper_contract import contract_in

_ALIGNED = 64
_WORTH = 0.92  # of the time: such a change is tried once more
_PADDED = 0.7  # of a dimension is used at most, where it is called padded
_ROWS = 8  # in one call
_Other = Callable[[], Any]


class Padding(NamedTuple):
    """Inputs without what only fills them up, and what that is in words."""

    cut: list[Any] | None  # None: the package is compiled for one size
    words: str
    share: float  # of the dimension


def tried(
    call: Any, device: str, options: Any, padding: Padding | None, budget_s: float
) -> list[dict[str, Any]]:
    """Return the seconds of calls as they are and of calls with each change, or why not."""
    found = []
    for name, made in _changes(call, device, options, padding):
        try:
            with contextlib.ExitStack() as meanwhile:
                other = made(meanwhile)
                one = _repeated(call) if name == "rows" else call
                as_is, changed = pairs.compared(one, other, budget_s)
                if sorted(b / a for a, b in zip(as_is, changed))[len(as_is) // 2] < _WORTH:
                    again = pairs.compared(one, other, budget_s)  # a busy machine gives none twice
                    as_is, changed = as_is + again[0], changed + again[1]
            found.append({"name": name, "pairs": {"ours": as_is, "theirs": changed}})
        except Exception as error:
            found.append({"name": name, "why_not": f"{type(error).__name__}: {error}"[:300]})
    return found


_Made = Callable[[contextlib.ExitStack], _Other]


def _changes(
    call: Any, device: str, options: Any, padding: Padding | None
) -> Iterator[tuple[str, _Made]]:
    """Yield the changes that can make a difference here."""
    on_cpu, threads = device == "cpu", torch.get_num_threads()
    cores = len(os.sched_getaffinity(0))
    if on_cpu and threads != cores:
        yield "threads", lambda _: _switched(call, torch.set_num_threads, cores, threads)
    if on_cpu and threads > 1:
        yield "one thread", lambda _: _switched(call, torch.set_num_threads, 1, threads)
    if on_cpu and torch.set_flush_denormal(True):
        torch.set_flush_denormal(False)
        yield "denormals", lambda _: _switched(call, torch.set_flush_denormal, True, False)
    if any(misaligned(leaf) for leaf in call.inputs.flat):
        yield "aligned", lambda _: _with_inputs(call, [aligned(leaf) for leaf in call.inputs.flat])
    if padding is not None and padding.cut is not None:
        flat = padding.cut
        yield "padding", lambda _: _with_inputs(call, flat)
    if options.rows and (rows := _in_rows(call, options)) is not None:
        yield "rows", lambda _: _with_inputs(call, rows)
    if device.startswith("cuda") and torch.get_float32_matmul_precision() == "highest":
        precision = torch.set_float32_matmul_precision
        yield "tf32", lambda _: _switched(call, precision, "high", "highest")
    if options.without:
        yield "without variables", lambda meanwhile: _without(call, options, meanwhile)
    if device.startswith("cuda"):
        yield "graph", lambda _: _graph(call, options)


def _switched(call: _Other, switch: Callable[[Any], Any], there: Any, back: Any) -> _Other:
    """Return the call with a setting changed for it alone."""

    def changed() -> None:
        switch(there)
        try:
            call()
        finally:
            switch(back)

    return changed


def _repeated(call: _Other) -> _Other:
    return lambda: [call() for _ in range(_ROWS)]


def _in_rows(call: Any, options: Any) -> list[Any] | None:
    """Return inputs that give their one row several times; None where no call can take that."""
    contract, flat = contract_in(Path(options.package), options.model or "model"), call.inputs.flat
    if contract is None or len(contract.inputs) != len(flat):
        return None
    first = [one.dims[0] if one.dims else None for one in contract.inputs]
    rows = [_is_free(dim) and leaf.shape[0] == 1 for leaf, dim in zip(flat, first)]
    if not any(rows):
        return None
    return [torch.cat([leaf] * _ROWS) if row else leaf for leaf, row in zip(flat, rows)]


def _is_free(dim: Any) -> bool:
    free = dim is not None and dim.size is None and (dim.symbol or "").isidentifier()
    return free and (dim.high is None or dim.high >= _ROWS)


def _with_inputs(call: Any, flat: list[Any]) -> _Other:
    return type(call)(call.model, standalone.with_leaves(call.inputs, flat))  # type: ignore[no-any-return]


def misaligned(leaf: Any) -> bool:
    strided = isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided
    return strided and leaf.numel() > 0 and leaf.data_ptr() % _ALIGNED != 0


def aligned(leaf: Any) -> Any:
    """Return a tensor with the same values and strides at the start of memory of its own."""
    return describe.laid_out(leaf, leaf.stride()) if misaligned(leaf) else leaf


def _without(call: Any, options: Any, meanwhile: contextlib.ExitStack) -> _Other:
    """Return the call of the package loaded anew without variables of the environment."""
    kept = {name: os.environ.pop(name) for name in options.without if name in os.environ}
    meanwhile.callback(os.environ.update, kept)
    report = standalone.Report(None)
    return type(call)(standalone.load_package(options, call.captured, report), call.captured)  # type: ignore[no-any-return]


def _graph(call: Any, options: Any) -> _Other:
    """Return a replay of the call as a CUDA graph, by an instance that queries no events."""
    load = import_module("torch._inductor").aoti_load_package
    once = load(options.package, run_single_threaded=True)
    alone = type(call)(once, call.captured)
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        alone()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        alone()

    def replayed() -> Any:
        graph.replay()
        return alone  # the weights and inputs that the graph reads live as long

    return replayed


def padding_of(call: Any, options: Any) -> Padding | None:
    """Return what integers or masks fill a dimension up with, one value; with the inputs cut to
    what is used, where the package allows the smaller size. None where nothing is filled up."""
    contract = contract_in(Path(options.package), options.model or "model")
    flat = call.captured.flat
    if contract is None or len(contract.inputs) != len(flat):
        return None
    dims = [(n, d, dim) for n, one in enumerate(contract.inputs) for d, dim in _dims(one)]
    for number, at, dim in dims:
        leaf = flat[number]
        used, size = used_of(leaf, at), int(leaf.shape[at])
        if not 2 <= used <= _PADDED * size:
            continue
        name = contract.inputs[number].name
        words = f"{size - used} of {size} places along dimension {at} of {name} only fill it up"
        if dim.symbol is None or not dim.symbol.isidentifier() or used < (dim.low or 0):
            return Padding(None, words, 1 - used / size)
        alike = [(n, d) for n, d, other in dims if other.symbol == dim.symbol]
        if all(used_of(flat[n], d) <= used for n, d in alike):
            cut = list(flat)
            for n, d in alike:
                cut[n] = cut[n].narrow(d, 0, used).contiguous()
            return Padding(cut, words, 1 - used / size)
    return None


def _dims(wanted: Any) -> list[tuple[int, Any]]:
    """Return the dimensions of an input but the first: that is the batch's."""
    return [*enumerate(wanted.dims or ())][1:]


def used_of(leaf: Any, at: int) -> int:
    """Return how much of a dimension comes before the part that holds one value only; 0 of floats,
    which are measured and not filled up."""
    if leaf.is_floating_point() or leaf.is_complex() or not leaf.numel():
        return 0
    rows = leaf.movedim(at, 0).reshape(leaf.shape[at], -1)
    other = (rows != rows[-1, 0]).any(1).nonzero()
    return int(other[-1]) + 1 if other.numel() else 0
