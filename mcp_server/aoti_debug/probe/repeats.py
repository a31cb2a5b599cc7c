"""Repeat a call: with free memory full of a pattern (a difference means uninitialized memory), from
several threads at the same time (a difference means shared memory)."""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import events, marks
from .describe import dtype_of
from .graph_run import Run
from .lazy import torch
from .observers import CustomArguments

Document = dict[str, Any]

PATTERNS = (0xFF, 0x3C)  # NaN in every float format; 0.0115 in fp32, 1.06 in fp16
_SMALL = tuple(512 << n for n in range(12))  # 512 B to 1 MB, of which a model needs many
_LARGE = tuple((2 << 20) << n for n in range(9))  # 2 MB to 512 MB
_MANY, _FEW = 64, 4
_M_PERTURB = -6
# dtype -> what a sum in another order may change, relative to the largest value
_ROUNDING = {"float64": 1e-12, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}


def difference(first: list[Any], other: list[Any]) -> Document:
    """Compare two results of one call: "same" bit by bit, within "rounding", or "differs"."""
    worst: Document = {"verdict": "same"}
    for output, (one, two) in enumerate(zip(first, other)):
        found = _one(one, two)
        if found["verdict"] == "differs":
            return {**found, "output": output}
        if found["verdict"] == "rounding":
            worst = {**found, "output": output}
    return worst


def _one(one: Any, two: Any) -> Document:
    if not isinstance(one, torch.Tensor) or not isinstance(two, torch.Tensor):
        return {"verdict": "same" if marks.alike(one, two) else "differs"}
    if one.shape != two.shape or one.dtype != two.dtype:
        return {"verdict": "differs", "property": "shape"}
    if one.layout != torch.strided or not one.numel() or same_bits(one, two):
        return {"verdict": "same"}
    if one.is_complex():
        one, two = torch.view_as_real(one), torch.view_as_real(two)
    if not one.is_floating_point():
        return {"verdict": "differs", **_places(one != two, one, two)}
    wide, wider = one.double(), two.double()
    strange = torch.isfinite(wide) != torch.isfinite(wider)
    finite = torch.isfinite(wide) & torch.isfinite(wider)
    scale = float(wide[finite].abs().max()) if bool(finite.any()) else 0.0
    granted = _ROUNDING.get(dtype_of(one), 1e-1) * scale
    off = (wide - wider).abs()
    bad = strange | (finite & (off > granted))
    if bool(bad.any()):
        return {"verdict": "differs", **_places(bad, one, two)}
    if not bool(finite.any()):
        return {"verdict": "same"}  # NaN of another bit pattern
    return {"verdict": "rounding", "largest": float(off[finite].max())}


def _places(bad: Any, one: Any, two: Any) -> Document:
    at = tuple(bad.nonzero()[0].tolist()) if bad.dim() else ()
    return {
        "wrong": int(bad.sum()),
        "elements": bad.numel(),
        "at": list(at),
        "first": one[at].item(),
        "then": two[at].item(),
    }


def same_bits(one: Any, two: Any) -> bool:
    try:
        plain, other = (t.contiguous().reshape(-1).view(torch.uint8) for t in (one, two))
    except (RuntimeError, TypeError):
        return bool(torch.equal(one, two))
    return bool(torch.equal(plain, other))


def poison_host(byte: int | None) -> bool:
    """Have the C library fill what it allocates with a byte, or no more; False if it cannot."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    # glibc fills with the complement, and zero turns it off.
    return bool(mallopt(_M_PERTURB, 0 if byte is None else (byte ^ 0xFF) or 0x100))


def poison_device(device: Any, byte: int) -> None:
    """Fill blocks of torch's caching allocator and free them: the next allocations take them."""
    kept: list[Any] = []
    for sizes, count in ((_SMALL, _MANY), (_LARGE, _FEW)):
        for size in sizes:
            for _ in range(count):
                try:
                    block = torch.empty(size, dtype=torch.uint8, device=device)
                except RuntimeError:  # out of memory: what is filled so far must do
                    del kept
                    return
                block.fill_(byte)
                kept.append(block)
    torch.cuda.synchronize(device)
    del kept


SLOW_S = 5.0  # a call that is not repeated from several threads
AT_ONCE_S = 2.0  # of calls in several threads, and once one is wrong at most so many in each:
_CALLS = 100
_SWITCH_S = 1e-5  # between threads of Python, in which custom operators may be written


def at_once(calls: Sequence[Callable[..., list[Any]]]) -> Document | None:
    """Make each call again and again, all at the same time; compare with what it gives alone.

    Returns the first difference with the number of `calls` that were made and of those that `went`
    wrong; None where a call alone does not give the same twice.
    """
    alone = [call() for call in calls]
    for call, first in zip(calls, alone):
        if difference(first, call())["verdict"] == "differs":
            return None
    made: list[Document] = []
    wrong: list[Document] = []
    begin = threading.Barrier(len(calls))
    grad, inference = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    until = time.monotonic() + AT_ONCE_S

    def work(call: Callable[[], list[Any]], first: list[Any]) -> None:
        with torch.inference_mode(inference), torch.set_grad_enabled(grad):
            begin.wait()
            for number in itertools.count():
                if (number and time.monotonic() > until) or (number >= _CALLS and wrong):
                    break
                try:
                    found = difference(first, call())
                except Exception as error:  # it returns when it is alone
                    said = events.said(error, 300)
                    if "memory" in said.lower():  # which several calls need more of
                        continue
                    found = {"verdict": "differs", "raised": said}
                made.append(found)
                if found["verdict"] == "differs":
                    wrong.append(found)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        pairs = zip(calls, alone)
        threads = [threading.Thread(target=work, args=pair, daemon=True) for pair in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    worst = wrong[0] if wrong else {"verdict": "same"}
    return {**worst, "threads": len(calls), "calls": len(made), "went": len(wrong)}


def turned(leaf: Any, number: int) -> Any:
    """Return an input of the same kind for thread `number`: values of floating point move along, so
    that threads differ in what they give; indices stay, since their order may mean something."""
    moves = (
        isinstance(leaf, torch.Tensor)
        and leaf.is_floating_point()
        and leaf.layout == torch.strided
        and leaf.is_contiguous()
    )
    return leaf.detach().roll(number) if moves and number else leaf


def operator_at_once(module: Any, flats: list[list[Any]]) -> Any:
    """Return the first node of a custom operator that is right alone and not in several threads,
    with the arguments that it has in the program for each of the inputs; None if all are."""
    arguments_of = CustomArguments()
    run = Run(module, arguments_of)
    for flat in flats:
        run(flat)
    with torch.no_grad():
        leaves = torch.utils._pytree.tree_leaves
        for node, arguments in arguments_of.given.items():
            calls = [
                lambda args=args, kwargs=kwargs, op=node.target: leaves(op(*args, **kwargs))
                for args, kwargs in arguments
            ]
            found = at_once(calls)
            if found is not None and found["verdict"] == "differs":
                return node
    return None
