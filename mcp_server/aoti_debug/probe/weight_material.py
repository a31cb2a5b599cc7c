"""What an update of weights is about: the package's constants, the new weights, the model that says
what is right, the inputs of a call."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from . import constants, standalone, untrusted, weight_truth, wrapper_contract
from .constants import Constant
from .container import Container
from .lazy import torch
from .weight_findings import as_compiled, same

Weights = Mapping[str, Any]


class Material:
    """One package and what it is to hold. Names are those that the model gave its weights;
    `unwanted` are the files of what it was not meant to be given."""

    def __init__(self, options: argparse.Namespace, unwanted: Collection[int] = ()) -> None:
        source = wrapper_contract.source_in(Path(options.package), options.model)
        if source is None:
            raise ValueError("the package has no source that states its constants")
        every = constants.constants_of(source.splitlines())
        self.known: dict[str, Constant] = constants.declared(source)
        self.folded = [one.name for one in every if one.folded]
        self.device = _device(self.known)
        self.files = [weights_of(path, options.trust) for path in options.weights]
        exported = options.exported
        program = untrusted.load(exported, trust=options.trust) if exported else None
        state = {**program.state_dict, **program.constants} if program is not None else {}
        self.asked: dict[str, Any] = {}
        if options.wanted:
            self.asked.update(weights_of(options.wanted, options.trust))
        for number, file in enumerate(() if options.wanted else self.files):
            if number not in unwanted:
                rest = rest_of(options.weights[number])
                own = self.known.keys() | state.keys()
                self.asked.update({n: one for n, one in rest.items() if n in own})
                self.asked.update(file)
        self.used = constants.used(program) if program is not None else None
        self.inputs = standalone.reader(options, program)
        self.truth: weight_truth.Program | None = None
        if program is not None and self.inputs is not None:
            self.truth = weight_truth.Program(program, self.inputs)
        self.tied = _ties(state, self.known)
        self.old: dict[str, Any] = {}
        self.wanted: dict[str, Any] = {}
        self._options = options

    def container(self) -> Container:
        given = self._options
        return Container(given.package, given.model, self.device, given.runners)

    def read(self, own: Container) -> None:
        """Take the weights that the package came with, and so what each constant should hold: its
        new value in its own dtype, or where there is none its own value."""
        named = {name: fqn for fqn, name in own.names.items()}  # runners take their own names
        for file in (*self.files, self.asked):
            for name in [one for one in file if one in named and one not in own.names]:
                file[named[name]] = file.pop(name)
        for name, tensor in own.held().items():
            if name in self.known:
                self.old[name] = as_compiled(tensor, self.known[name]).detach().cpu().clone()
        self.wanted = {name: self._wanted(name) for name in self.known}

    def _wanted(self, name: str) -> Any:
        constant = self.known[name]
        dtype = getattr(torch, constant.dtype or "float32")
        value = self.asked.get(name, self.asked.get(self.tied.get(name, "")))
        if value is not None and tuple(value.shape) == constant.shape:
            return value.detach().to("cpu", dtype)
        return self.old.get(name, torch.zeros(constant.shape, dtype=dtype))

    def program_weights(self) -> dict[str, Any]:
        """Return the new weights by the program's names, those too that are no constants."""
        found = dict(self.wanted)
        for name, was in (self.truth.old if self.truth is not None else {}).items():
            value = self.asked.get(name)
            if name not in found and value is not None and value.shape == was.shape:
                found[name] = value.detach().to("cpu", was.dtype)
        for name, partner in self.tied.items():
            found.setdefault(partner, found[name])
        return found

    def outside(self) -> list[str]:
        """Return new weights that the package has no constant for, and that may be in its code."""
        old = self.truth.old if self.truth is not None else {}
        found = []
        for name, value in self.asked.items():
            if name in self.known or name in self.tied.values():
                continue
            if name.rpartition(".")[2] == "num_batches_tracked":
                continue
            if self.used is not None and name not in self.used:
                continue
            if name in old and same(value.to(old[name].dtype).cpu(), old[name].cpu()):
                continue
            if self.used is not None or constants.small(value):
                found.append(name)
        return found

    def parted(self) -> list[tuple[str, str]]:
        """Return names that were tied and differ now; the package keeps the first of two."""
        pairs = [(n, p) for n, p in self.tied.items() if n in self.asked and p in self.asked]
        return [(n, p) for n, p in pairs if not same(self.asked[n].cpu(), self.asked[p].cpu())]


def weights_of(path: str, trust: bool) -> dict[str, Any]:
    """Return the tensors of a state dict, of an exported program, or of what a run has kept."""
    if path.endswith(".pt2"):
        program = untrusted.load(path, trust=trust)
        return {**program.state_dict, **program.constants}
    state = torch.load(path, weights_only=True, map_location="cpu")
    for key in ("constants", "state_dict"):
        state = state[key] if isinstance(state.get(key), dict) else state
    return {str(name): one for name, one in state.items() if isinstance(one, torch.Tensor)}


def rest_of(path: str) -> dict[str, Any]:
    """Return the weights of the checkpoint that a run took these from, which it did not give."""
    if path.endswith(".pt2"):
        return {}
    found = torch.load(path, weights_only=True, map_location="cpu").get("rest", {})
    return found if isinstance(found, dict) else {}


def _device(known: Mapping[str, Constant]) -> str:
    kinds = [one.device for one in known.values()]
    return next((kind for kind in kinds if kind and kind != "cpu"), "cpu")


def _ties(state: Weights, known: Mapping[str, Constant]) -> dict[str, str]:
    """Return the constants that stand for another name of the program too: one parameter that two
    modules share."""
    others = [n for n, one in state.items() if n not in known and not constants.small(one)]
    found = {}
    for name in known:
        mine = state.get(name)
        if mine is not None:
            partner = next((other for other in others if same(mine, state[other])), None)
            if partner is not None:
                found[name] = partner
    return found
