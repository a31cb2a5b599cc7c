"""Change a container's weights while other threads call it: does a call mix old and new ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from . import compare, standalone, update_steps
from .container import Container
from .lazy import torch
from .update_steps import Step
from .value_samples import digest
from .weight_material import Material
from .weight_play import Play

Document = dict[str, Any]
_SECONDS = 6.0
_ROUNDS = 4000
_KEPT = 64  # outputs of different values
_CHANGES = (update_steps.LOAD, update_steps.FOLD, update_steps.SWAP, update_steps.FREE)


class _Calls:
    """Threads that call until they are stopped, and what the calls gave."""

    def __init__(self, material: Material, own: Container, threads: int) -> None:
        self.count, self.kept, self.error = 0, dict[str, list[Any]](), ""
        self._own, self._stop, self._lock = own, threading.Event(), threading.Lock()
        assert material.inputs is not None
        self._inputs = [material.inputs() for _ in range(threads)]
        self._threads = [threading.Thread(target=self._call, args=[i]) for i in self._inputs]

    def __enter__(self) -> _Calls:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _call(self, inputs: standalone.Inputs) -> None:
        stream = torch.cuda.Stream() if self._own.device != "cpu" else None
        while not self._stop.is_set():
            try:
                with torch.cuda.stream(stream) if stream else inputs.mode(), inputs.mode():
                    given = self._own.call(inputs.flat)
                    if stream:
                        stream.synchronize()
            except RuntimeError as error:
                self.error = str(error).splitlines()[0][:300]
                return
            flat = [leaf.detach().cpu().clone() for leaf in given]
            mark = "".join(map(digest, flat))
            with self._lock:
                self.count += 1
                if len(self.kept) < _KEPT:
                    self.kept.setdefault(mark, flat)


def under_calls(
    material: Material, own: Container, steps: Sequence[Step], threads: int
) -> Document:
    """Go to and fro between the old and the new weights by the steps, first without calls, then
    with calls in other threads; count the outputs that are those of neither."""
    from .weights import results  # it names this module

    changes = [step for step in steps if step.do in _CHANGES]
    ways = {
        values: [
            replace(step, values=values) if step.do == update_steps.LOAD else step
            for step in changes
        ]
        for values in ("old", "new")
    }
    assert material.inputs is not None
    quiet = []
    for values in ("old", "new"):
        going = Play(material, own)
        for step in ways[values]:
            going.make(step)
        quiet.append(results(own, material.inputs()))
    began, rounds, torn = time.monotonic(), 0, 0
    with _Calls(material, own, threads) as calls:
        while time.monotonic() - began < _SECONDS and rounds < _ROUNDS and not torn:
            for step in ways["old" if rounds % 2 == 0 else "new"]:
                Play(material, own).make(step)
            rounds += 1
            if rounds % 50 == 0:
                torn = _neither(calls, quiet)
    torn = torn or _neither(calls, quiet)
    found = {"threads": threads, "updates": rounds, "calls": calls.count, "torn": torn}
    return {**found, "kinds": len(calls.kept), "error": calls.error or None}


def _neither(calls: _Calls, quiet: list[list[Any]]) -> int:
    """Count the different outputs that are those of no weights."""
    with calls._lock:
        kept = list(calls.kept.values())
    return sum(not any(compare.agrees(given, one) for one in quiet) for given in kept)
