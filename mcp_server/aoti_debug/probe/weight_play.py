"""Make the steps of an update of a container, and note what each one left."""

from __future__ import annotations

import gc
from typing import Any

from . import standalone, update_steps
from .container import Container
from .lazy import torch
from .update_steps import Finding, Step
from .weight_findings import NEW, OLD, OTHER, WRITES_PAST, Played, misfit, statuses
from .weight_material import Material


class Play:
    """The steps that were made of a container. A tensor that would be copied past its constant is
    not given: the constant counts as spoilt."""

    def __init__(self, material: Material, own: Container) -> None:
        self.material, self.own = material, own
        self.played: list[Played] = []
        self._managed: dict[str, Any] = {}  # tensors whose memory the container uses
        self._reused: list[Any] = []  # what came to lie where released ones were
        self.written: set[str] = set()  # by calls: they hold what the model put there
        self._spoilt: tuple[set[str], set[str]] = (set(), set())  # active, inactive

    def make(self, step: Step) -> Played:
        """Make one step, other than a call, and read back what it left."""
        one = Played(step)
        self.played.append(one)
        try:
            self._make(step, one)
            standalone.synchronize()
        except Exception as error:
            one.error = (str(error).splitlines() or [type(error).__name__])[0][:300]
        self.read_back(one)
        return one

    def read_back(self, one: Played) -> None:
        known, wanted, old = self.material.known, self.material.wanted, self.material.old
        one.active, one.inactive = (
            {**statuses(self.own.held(idle), known, wanted, old), **dict.fromkeys(bad, OTHER)}
            for idle, bad in zip((False, True), self._spoilt)
        )
        one.active.update(dict.fromkeys(self.written & one.active.keys(), NEW))

    def _make(self, step: Step, one: Played) -> None:
        if step.do == update_steps.LOAD:
            self._load(step, one)
        elif step.do == update_steps.OVERWRITE:
            self._overwrite(step, one)
        elif step.do == update_steps.RELEASE:
            sizes = [tensor.nbytes for tensor in self._managed.values()]
            self._managed.clear()
            gc.collect()
            like = {"dtype": torch.uint8, "device": self.material.device}
            self._reused = [torch.full((size,), 63, **like) for size in sizes]
        elif step.do == update_steps.FOLD:
            self.own.fold(step.inactive)
        elif step.do == update_steps.SWAP:
            self.own.swap()
            self._spoilt = self._spoilt[::-1]
        elif step.do == update_steps.FREE:
            self.own.free()

    def lacking(self, step: Step, number: int) -> list[Finding]:
        """Return what a full update is not given, by which a torch may end the process."""
        if step.do != update_steps.LOAD or not step.full or step.names:
            return []
        source, tied = self._source(step), self.material.tied
        return [
            Finding(name, OLD, number, "tied" if name in tied else "not_given", tied.get(name, ""))
            for name, constant in self.material.known.items()
            if name not in source and constant.kind == "Parameter"
        ]

    def _source(self, step: Step) -> Any:
        return self.material.old if step.values == "old" else self.material.files[step.file]

    def _load(self, step: Step, one: Played) -> None:
        known, device = self.material.known, self.material.device
        source = self._source(step)
        for name in step.names or ():
            if name not in source or name not in known:
                raise ValueError(f"Constant not found: {name}")
        given = {n: source[n] for n in step.names or source if n in known}
        if device != "cpu" and not step.from_cpu:
            given = {name: tensor.to(device) for name, tensor in given.items()}
        one.given = given
        past = {name for name, tensor in given.items() if self._past(name, tensor)}
        past = set() if step.user_managed else past
        self.written.difference_update(given)
        bad = self._spoilt[step.inactive]
        bad.difference_update(given)
        bad.update(past)
        carried = {name: tensor for name, tensor in given.items() if name not in past}
        full = step.full and not past
        if step.from_cpu:
            self.own.update_from_cpu(carried, inactive=step.inactive, full=full)
            return
        if step.user_managed:  # in memory of their own, which a later step may write to
            carried = {n: t.clone(memory_format=torch.preserve_format) for n, t in carried.items()}
            self._managed.update(carried)
        managed = step.user_managed
        self.own.update(carried, inactive=step.inactive, full=full, user_managed=managed)

    def _past(self, name: str, tensor: Any) -> bool:
        """Tell whether more bytes are copied than the constant has room for."""
        constant = self.material.known[name]
        fit, size = misfit(tensor, constant), tensor.untyped_storage().nbytes()
        return fit is not None and fit[0] in WRITES_PAST and size > max(constant.bytes, 1)

    def _overwrite(self, step: Step, one: Played) -> None:
        values = {"new": self.material.wanted, "old": self.material.old}.get(step.values, {})
        if step.file >= 0:  # as a run was seen to leave them
            values = self.material.files[step.file]
        with torch.no_grad():
            for name, tensor in self._managed.items():
                tensor.copy_(values[name]) if name in values else tensor.fill_(3)
        one.given = {n: t for n, t in self._managed.items() if step.values == "new"}
