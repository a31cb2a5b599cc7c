"""Measure what a package holds: when it is loaded, at most in a call, from call to call, with more
instances, with a second buffer of weights."""

from __future__ import annotations

import contextlib
import gc
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import compare, constants, standalone, taps, wrapper_contract
from .container import Container
from .graph_run import on_cpu
from .lazy import torch
from .live_blocks import Blocks
from .value_samples import digest

Document = dict[str, Any]
_CALLS, _CALLS_S = 24, 20.0  # after the first two
_GRANULE = 512  # of torch's allocator on a GPU
_LISTED = 40
_SELF = Path("/proc/self")
_MAPPED = re.compile(r"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)$")
_LARGE = 1 << 16  # bytes of a weight whose values are held against those of others
_ROUNDS, _PATIENCE_S = 3, 60.0  # calls of each thread at the same time


def main() -> int:
    """Load and call under measurement; report after each part."""
    parser = standalone.arguments(__doc__, package=True, exported=False, inputs=False)
    parser.add_argument("--instances", type=int, default=1, help="threads, each with a runner")
    options = parser.parse_args()
    with standalone.started(options) as report:
        read = standalone.reader_of_call(options)
        inputs = read()
        device = standalone.device_of(inputs.flat)
        if device != "cpu":
            torch.zeros(1, device=device)  # the context is not the package's
        gc.collect()
        report.update(state="load", device=device, inputs=_bytes(inputs.flat), **declared(options))
        del inputs
        standalone.skip_isa_probe()  # imports what loading needs
        gc.collect()
        report.update(before=moment())
        seen = Blocks(_GRANULE if device != "cpu" else 1)
        library = "/model/" if not options.package.endswith(".so") else options.package
        with taps.watched(seen):
            model = standalone.load_package(options, read(), report)
            report.update(state="first call", loaded=moment(), library=mapped(library))
            report.update(outputs=_bytes(called(model, read, report)))
        report.update(blocks=about(seen), state="call")
        called(model, read, report)
        report.update(state="calls", growth=growth(model, read))
        if options.instances > 1:
            report.update(state="instances", instances=at_once(options, model, read))
        del model
        gc.collect()
        report.update(state="second buffer", buffer=second_buffer(options, device))
        report.update(state="done")
    return 0


def declared(options: Any) -> Document:
    """Return the bytes of the constants that the package's source declares."""
    source = wrapper_contract.source_in(Path(options.package), options.model) or ""
    every = constants.constants_of(source.splitlines())
    own = {one.fqn or one.name: one.bytes for one in every if not one.folded}
    return {
        "weights": sum(-(-size // 64) * 64 for size in own.values()),
        "folded": sum(one.bytes for one in every if one.folded),
    }


def called(model: Any, read: Any, report: standalone.Report) -> list[Any]:
    """Call once; report the moment before and the one after, with the outputs still held."""
    inputs = read()
    begin()
    before = moment()
    outputs = standalone.results(model, inputs)
    report.update(call={"before": before, "after": moment()})
    return outputs


def _bytes(leaves: list[Any]) -> int:
    """Return the bytes of tensors; memory that they share counts once."""
    storages = [leaf.untyped_storage() for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return sum({one.data_ptr(): one.nbytes() for one in storages}.values())


def about(seen: Blocks) -> Document:
    largest = sorted(seen.at_most, key=lambda one: -one.bytes)
    forgotten = [one for one in seen.left() if not one.made_by]  # that no kernel was given since
    return {
        "most": seen.most,
        "at_step": seen.at_step,
        "steps": seen.step,
        "curve": seen.curve,
        "at_most": [asdict(one) for one in largest[:_LISTED]],
        "forgotten": [asdict(one) for one in forgotten[:_LISTED]],
    }


def growth(model: Any, read: Any) -> Document:
    """Return what is held after each of some calls whose outputs are dropped."""
    rows: list[list[int]] = []
    until = time.monotonic() + _CALLS_S
    while len(rows) < _CALLS and time.monotonic() < until:
        standalone.results(model, read())
        now = moment()
        gpu = now["gpu"] or {}
        rows.append([now["resident"], gpu.get("used", 0), gpu.get("allocated", 0)])
    return {"held": rows}


def at_once(options: Any, first: Any, read: Any) -> Document:
    """Load with more instances, and call them at the same time, then one instance from as many
    threads: what is held, how long calls take, and whether outputs are those of a call alone."""
    inputs, count = read(), options.instances
    right = list(map(on_cpu, standalone.results(first, inputs)))
    before, options.runners = moment(), count
    model = standalone.load_package(options, inputs, standalone.Report(None))
    loaded = moment()
    begin()
    many = _together(model, read, count, right)
    found = {"count": count, "before": before, "loaded": loaded, "after": moment()}
    alone = _together(first, read, 1, right)
    return {**found, "many": many, "one": _together(first, read, count, right), "alone": alone}


def _together(model: Any, read: Any, threads: int, right: list[Any]) -> Document:
    """Call from some threads at the same time, each on a stream of its own; return the seconds of
    all calls, their number, and how many outputs were others."""
    ready, took, mixed = threading.Barrier(threads), [0.0] * threads, [0] * threads

    def call(number: int) -> None:
        stream = torch.cuda.Stream() if torch.cuda.is_initialized() else None
        ready.wait(_PATIENCE_S)
        for _ in range(_ROUNDS):
            inputs = read()
            if stream is not None:
                stream.wait_stream(torch.cuda.current_stream())
            began = time.perf_counter()
            with torch.cuda.stream(stream) if stream else inputs.mode(), inputs.mode():
                result = standalone.flat_outputs(standalone.call(model, inputs))
            if stream is not None:
                stream.synchronize()
            took[number] += time.perf_counter() - began
            mixed[number] += not _same(result, right)

    workers = [threading.Thread(target=call, args=[number]) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return {"calls": threads * _ROUNDS, "seconds": max(took), "mixed": sum(mixed)}


def _same(result: list[Any], right: list[Any]) -> bool:
    """Tell whether outputs are those of a call alone, at once where all bits are."""
    own = list(map(on_cpu, result))
    both = list(zip(own, right))
    if all(isinstance(one, torch.Tensor) and torch.equal(one, other) for one, other in both):
        return True
    return compare.agrees(own, right)


def second_buffer(options: Any, device: str) -> Document | None:
    """Return what an update of the inactive buffer adds, and what freeing it gives back."""
    try:
        own = Container(options.package, options.model, device)
        weights = own.held()
        before = moment()
        own.update(weights, inactive=True, full=True, user_managed=False)
        filled = moment()
        own.free()
        found = {"before": before, "filled": filled, "freed": moment(), "alike": alike(weights)}
        own.close()
    except (RuntimeError, OSError, AttributeError, StopIteration):  # older torch: no such runner
        return None
    return found


def alike(weights: Mapping[str, Any]) -> list[Document]:
    """Return the large weights that have the same values, with the bytes of one."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name, one in weights.items():
        size = one.numel() * one.element_size()
        if size >= _LARGE:
            groups.setdefault((size, one.dtype, tuple(one.shape), digest(one)), []).append(name)
    return [{"names": names, "bytes": key[0]} for key, names in groups.items() if len(names) > 1]


def _status(field: str) -> int:
    for line in (_SELF / "status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    return 0


def mapped(name: str) -> int:
    """Return the bytes in memory of the files with this in their path."""
    total, counts = 0, False
    for line in (_SELF / "smaps").read_text(errors="replace").splitlines():
        begun = _MAPPED.match(line)
        if begun is not None:
            counts = name in begun[1]
        elif counts and line.startswith("Rss:"):
            total += int(line.split()[1]) * 1024
    return total


def moment() -> dict[str, Any]:
    """Return what is held now and was at most since `begin`, or ever where that cannot begin."""
    return {"resident": _status("VmRSS"), "peak": _status("VmHWM"), "gpu": device()}


def begin() -> None:
    """Let the peaks be what is held now."""
    with contextlib.suppress(OSError):
        (_SELF / "clear_refs").write_text("5")
    if device() is not None:
        torch.cuda.reset_peak_memory_stats()


def device() -> dict[str, int] | None:
    """Return the current GPU's memory, used by all, and this process's part that torch's allocator
    knows; None where none is used."""
    cuda = torch.cuda
    if not (cuda.is_available() and cuda.is_initialized()):
        return None
    cuda.synchronize()
    free, total = cuda.mem_get_info()
    return {
        "total": total,
        "used": total - free,
        "reserved": cuda.memory_reserved(),
        "allocated": cuda.memory_allocated(),
        "most": cuda.max_memory_allocated(),
    }
