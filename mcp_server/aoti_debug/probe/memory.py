"""Remember which package a model, a name or a file came from, within this process."""

from __future__ import annotations

import os
from collections import OrderedDict, deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Optional
from weakref import WeakKeyDictionary

from . import judge
from .vocabulary import Break


class Names(list[Optional[str]]):
    """A name for each flat leaf; `others` are the places of those that are no tensors, where that
    is known."""

    others: frozenset[int] | None = None


_PROGRAMS = 4
_LOWERED = 100


@dataclass
class Loaded:
    """A loaded model: where from, what it takes, and the calls that it was given."""

    path: str | None
    model: str = "model"
    orders: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    spec: str | None = None  # of its calls, a JSON text
    nests: dict[Any, list[Break]] = field(default_factory=dict)  # what kinds of nests break
    contract: judge.Contract | None = None
    device_index: int | None = None
    groups: dict[Any, Any] = field(default_factory=dict)
    writes: bool = False  # it is known to write to an input
    instance: int = 0  # that was loaded in this process, from 1 on
    caller: tuple[str, int] | None = None  # that loaded it
    flat: bool = False  # a loader or a runner: it takes a list of tensors
    outputs: Any = None  # what its calls returned; see outputs.py

    def anew(self, *, flat: bool) -> Loaded:
        """Return the same without any calls, for another object that calls it."""
        found = Loaded(self.path, self.model, device_index=self.device_index, flat=flat)
        found.instance = self.instance
        found.state(self.contract)
        return found

    def state(self, contract: judge.Contract | None) -> None:
        self.contract = contract
        self.writes = contract is not None and any(one.written for one in contract.inputs)


class Managed:
    """User-managed weights of a loaded model; `call`: the first that used them written again, where
    it is known that calls use them."""

    def __init__(self, tensors: dict[str, Any], *, used: bool) -> None:
        self.tensors, self.used = tensors, used
        self.call = 0
        self._versions = self._now()

    def look(self, number: int) -> None:
        if self.used and not self.call and self._now() != self._versions:
            self.call = number

    def places(self) -> set[int]:
        return {one.data_ptr() for one in self.tensors.values()}

    def _now(self) -> list[int]:
        return [-1 if one.is_inference() else one._version for one in self.tensors.values()]


managed: dict[int, Managed] = {}  # by instance
given = 0  # calls of load_constants
# The experiment of `handed`: "1"; that of `lost_writes`, "lost", or of `not_copied`, "copies", in
# its place.
experiment = os.environ.get("AOTI_DEBUG_HANDED", "")
hands_over = bool(experiment)
loaded: WeakKeyDictionary[Any, Loaded] = WeakKeyDictionary()
names_of_package: dict[tuple[str, str], Names] = {}
promised: dict[tuple[str, str], list[Any]] = {}  # of packages: dtype, device and sizes of outputs
stateful: set[str] = set()  # packages that write to buffers of their own
_lowered: deque[tuple[frozenset[str], Names]] = deque(maxlen=_LOWERED)
kept: dict[tuple[str, int, int], str] = {}  # (path, bytes, mtime) -> captured file
exported: Any = None  # weakly, the last program that was exported and not lowered
foreign = False  # a package was loaded that this process did not compile
_programs: OrderedDict[int, tuple[Any, Any]] = OrderedDict()


def remember_program(module: Any, program: Any) -> None:
    """Remember that a graph module was made of an exported program; only the last few."""
    _programs[id(module)] = (module, program)
    while len(_programs) > _PROGRAMS:
        _programs.popitem(last=False)


def program_of(module: Any) -> Any:
    """Return the exported program that a graph module was made of, or None."""
    found = _programs.get(id(module))
    return found[1] if found is not None and found[0] is module else None


def remember_files(files: Collection[str], names: Names) -> None:
    """Remember that lowering a program with these inputs made these files."""
    _lowered.appendleft((frozenset(files), names))


def names_of_files(files: Collection[str]) -> Names | None:
    """Return the input names of the model that most of the files were made for; models may share
    the binary of a kernel."""
    made = max(_lowered, key=lambda made: len(made[0].intersection(files)), default=None)
    return made[1] if made is not None and made[0].intersection(files) else None


def input_names(program: Any) -> Names:
    """Return the names of a program's user inputs, one for each flat leaf."""
    args = [s.arg for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    names = Names(getattr(arg, "name", None) or None for arg in args)
    tensors = [type(arg).__name__ == "TensorArgument" for arg in args]
    names.others = frozenset(place for place, tensor in enumerate(tensors) if not tensor)
    return names


def outputs_of(program: Any) -> list[Any]:
    """Return (dtype, kind of device, sizes) of each output that a program promises; None of what is
    no tensor, and of a size that varies."""
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    found: list[Any] = []
    for spec in program.graph_signature.output_specs:
        if spec.kind.name == "USER_OUTPUT":
            value: Any = values.get(getattr(spec.arg, "name", None))
            sizes = getattr(value, "shape", None)
            known = None if sizes is None else [n if type(n) is int else None for n in sizes]
            found.append(None if known is None else (value.dtype, value.device.type, known))
    return found


def file_of(source: Any) -> str | None:
    """Return the absolute path that an argument names, or None for a buffer."""
    if isinstance(source, (str, os.PathLike)):
        return os.path.abspath(os.fspath(source))  # links stay as they are
    return None
