"""Which part of the compiler makes values wrong: a part of a program that is compiled wrong is
compiled again with one step of the compiler left out. A setting that makes it right is tried on
further inputs, and its cost in time is measured."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from . import compare, events, pairs, parts
from .lazy import torch

Document = dict[str, Any]

_FRESH = 3  # sets of further inputs
_TIMED_S = 2.0
_DECOMPOSITIONS = "decomposition"
_LOWERINGS = "lowerings"
PASSES = ("pre_grad_passes", "joint_graph_passes", "post_grad_passes")
# Part of the compiler -> Inductor's settings that leave it out, of those that this torch has.
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "autotuning": {
        "max_autotune": False,
        "max_autotune_gemm": False,
        "max_autotune_pointwise": False,
        "coordinate_descent_tuning": False,
    },
    "fast math": {
        "use_fast_math": False,
        "triton.use_fast_math": False,
        "cpp.enable_unsafe_math_opt_flag": False,
        "cpp.enable_floating_point_contract_flag": "off",
    },
    "rounding left out of fused code": {"emulate_precision_casts": True},
    "fusion": {"max_fusion_size": 1, "epilogue_fusion": False, "prologue_fusion": False},
    "vectorized code": {"cpp.simdlen": 1},
    "layout optimization": {"layout_optimization": False, "comprehensive_padding": False},
    "split reductions": {"split_reductions": False},
}


@dataclass
class Left:
    """What a compile leaves out: settings, and from which application on parts of Inductor."""

    settings: Document = field(default_factory=dict)
    subsystems: dict[str, int] = field(default_factory=dict)  # name -> how many are still applied
    seen: dict[str, list[str]] = field(default_factory=dict)  # name -> each application

    def disabled(self, backend: str, subsystem: str, info: Any = None) -> bool:
        """Stand in for CompilerBisector.disable_subsystem."""
        if subsystem not in self.subsystems:
            return False
        known = self.seen.setdefault(subsystem, [])
        known.append(info() if info is not None else "")
        return len(known) > self.subsystems[subsystem]

    @contextlib.contextmanager
    def out(self) -> Iterator[None]:
        bisector: Any = import_module("torch._inductor.compiler_bisector").CompilerBisector
        own = bisector.__dict__["disable_subsystem"]
        bisector.disable_subsystem = staticmethod(self.disabled)
        try:
            yield
        finally:
            bisector.disable_subsystem = own


class Search:
    """The search for one part that is compiled wrong. `until`: of the monotonic clock; no compile
    begins after it."""

    def __init__(
        self, part: parts.Part, values: Document, settings: Document, until: float
    ) -> None:
        self._part, self._values, self._settings, self._until = part, values, settings, until
        self._tries: list[Document] = []
        self._ruled_out: list[str] = []

    def found(self) -> Document | None:
        """Return the part of the compiler, what was ruled out before it and a setting that was
        tried; None where the time does not allow it."""
        try:
            found = self._decomposed() or self._passed() or self._set() or self._lowered()
        except TimeoutError:
            found = {}
        if not found and not self._ruled_out:
            return None
        return {**(found or {}), "ruled_out": self._ruled_out, "tries": self._tries}

    def _right(self, what: str, left: Left) -> bool:
        """Compile the part with something left out; tell whether it is right."""
        began = time.monotonic()
        if began > self._until:
            raise TimeoutError
        right, said = False, ""
        try:
            with left.out():
                given = {**self._settings, **left.settings}
                row = parts.compared([self._part], self._values, given)[0]["row"]
            right = row["verdict"] == "agrees"
        except Exception as error:
            said = events.said(error, 200)
        seconds = round(time.monotonic() - began, 2)
        failed = {"failed": said} if said else {}
        self._tries.append({"without": what, "right": right, "seconds": seconds, **failed})
        return right

    def _decomposed(self) -> Document | None:
        """Run what the part is decomposed to, without Inductor."""
        exported, args = parts.alone(self._part, self._values)
        table = import_module("torch._inductor.decomposition").select_decomp_table()
        try:
            made = exported.run_decompositions(table)
            right, given = (list(map(parts.on_cpu, p.module()(*args))) for p in (exported, made))
        except Exception as error:
            self._tries.append({"without": "Inductor", "failed": events.said(error, 200)})
            return None
        if compare.agrees(given, right):
            self._ruled_out.append("decompositions")
            return None
        left = Left(subsystems={_DECOMPOSITIONS: 0})
        if not self._right("decompositions", left):
            return {"part": "decomposition", "name": ""}
        name = self._which(_DECOMPOSITIONS, left)
        return {"part": "decomposition", "name": name, "workaround": None}

    def _passed(self) -> Document | None:
        left = Left(subsystems=dict.fromkeys(PASSES, 0))
        if not self._right("passes", left):
            self._ruled_out.append("passes over the graph")
            return None
        for subsystem in PASSES:
            one = Left(subsystems={subsystem: 0})
            if left.seen.get(subsystem) and self._right(subsystem, one):
                name, number = self._which(subsystem, one), len(one.seen[subsystem])
                return {"part": subsystem, "name": name, "number": number, **self._off(name)}
        return {"part": "passes over the graph", "name": ""}

    def _off(self, name: str) -> Document:
        settings = {"disabled_passes": name}
        if name and hasattr(import_module("torch._inductor.config"), "disabled_passes"):
            return self._workaround(Left(settings=settings))
        return {"workaround": None}

    def _set(self) -> Document | None:
        known = {part: self._known(some) for part, some in SETTINGS.items()}
        known = {part: some for part, some in known.items() if some}
        every = {name: value for some in known.values() for name, value in some.items()}
        if not self._right("settings", Left(settings=every)):
            self._ruled_out.extend(known)
            return None
        for part, some in known.items():
            if self._right(part, Left(settings=some)):
                small = self._smallest(some)
                return {"part": part, "name": "", **self._workaround(Left(settings=small))}
            self._ruled_out.append(part)
        return {"part": "several settings", "name": "", **self._workaround(Left(settings=every))}

    def _known(self, settings: Mapping[str, Any]) -> Document:
        """Return those that this torch has and that are not so already."""
        config: Any = import_module("torch._inductor.config")
        now = {**config.get_config_copy(), **self._settings}
        return {k: v for k, v in settings.items() if k in now and now[k] != v}

    def _smallest(self, settings: Document) -> Document:
        """Return one setting that is enough, where one is."""
        for name, value in settings.items() if len(settings) > 1 else ():
            if self._right(name, Left(settings={name: value})):
                return {name: value}
        return settings

    def _lowered(self) -> Document | None:
        left = Left(subsystems={_LOWERINGS: 0})
        if not self._right(_LOWERINGS, left):
            return None
        name = self._which(_LOWERINGS, left)
        at = name.partition("target=")[2] or name
        node = next((n for n in self._targets(left) if str(n) == at), at)
        return {"part": "lowering", "name": str(node), **self._fallback(str(node))}

    def _targets(self, left: Left) -> list[str]:
        return left.seen.get(_LOWERINGS, [])

    def _which(self, subsystem: str, left: Left) -> str:
        """Return the application that makes the part wrong: with those before it, it is right."""
        low, high = 0, len(left.seen[subsystem])
        names = left.seen[subsystem]
        while high - low > 1:  # right with the first `low`, wrong with the first `high`
            middle = (low + high) // 2
            one = Left(subsystems={subsystem: middle})
            if self._right(f"{subsystem} from {middle + 1} on", one):
                low = middle
            else:
                high = middle
            names = one.seen.get(subsystem, names)
        return names[low] if low < len(names) else ""
