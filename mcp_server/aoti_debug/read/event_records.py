"""What the probe saw in the user's process, as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from aoti_debug.read.record import Record
from aoti_debug.read.typed import Kept, Texts, inside, string
from aoti_debug.vocabulary import Break, Leaf, Place

Fields = Mapping[str, Any]


def _operand(value: object) -> str | None:
    """Spell an operand of a graph's node: name, type, value, dtype and shape, as far as given."""
    if not isinstance(value, dict):
        return None
    words = [string(value.get(key)) for key in ("name", "type", "value", "dtype")]
    shape = value.get("shape")
    sizes = ", ".join(map(str, shape[:64])) if isinstance(shape, list) else ""
    return (" ".join(w for w in words if w) + (f"[{sizes}]" if "shape" in value else "")) or None


def _path(package: object) -> str | None:
    return string(package.get("path") if isinstance(package, dict) else package)


@dataclass(frozen=True, slots=True)
class OfProcess(Record):
    pid: int


@dataclass(frozen=True, slots=True)
class Process(OfProcess):
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Torch(OfProcess):
    """The torch that a process imported."""

    version: str
    cuda: str | None


@dataclass(frozen=True, slots=True)
class GraphNode:
    """The node of the graph that was worked on when an exception was raised."""

    name: str
    op: str
    inputs: tuple[Annotated[str, _operand], ...]  # name, dtype and shape, or the value
    output: Annotated[str | None, _operand]
    during: str = "lowering"  # "scheduling", "generating code", "rewriting the graph"
    fused: Texts = ()  # other operators of the same loop
    places: Annotated[tuple[Place, ...], "frames"] = ()  # outermost first


@dataclass(frozen=True, slots=True)
class Guard:
    """A relation between sizes that a model was traced under and that promised sizes break."""

    text: Annotated[str, "guard"]  # in the names of the Dims
    dims: Texts
    ranges: tuple[tuple[int, int | None], ...]  # lowest and highest size promised, of each
    breaks: tuple[tuple[int, ...], ...]  # the first sizes that break it; none: not proved
    places: Annotated[tuple[Place, ...], "frames"]


@dataclass(frozen=True, slots=True)
class Failure:
    type: str
    message: str
    node: GraphNode | None = None
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A weight that was given to load_constants."""

    name: str
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    stride: tuple[int, ...] | None = None
    storage_bytes: int | None = None
    nan: int = 0


@dataclass(frozen=True, slots=True)
class Reused:
    """Whose package a process was given, and how long its compile took."""

    run: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Details:
    """What else was seen of a phase, by what it does; None: not of this one, or not known."""

    caller: tuple[str, int] | None = None  # the user's line
    thread: str | None = None  # None: the main one
    package: Annotated[str | None, _path] = None  # written, loaded or given constants
    model: str | None = None
    device_index: int | None = None
    run_single_threaded: bool = False
    num_runners: int | None = None
    flags: Mapping[str, object] | None = None  # Inductor's, that a stage sets
    settings: Mapping[str, object] | None = None  # Inductor's, that were changed
    mutates: bool = False  # buffers of the program
    weights: str | None = None  # digest of what is compiled in
    input_free: tuple[tuple[str, int], ...] = ()  # lines that no input of a call changes
    unrolled: tuple[str, int, int, int] | None = None  # a loop: its line, operators, and all
    cache_dir: str | None = None
    reused: Reused | None = None  # the package of an earlier run, in place of a compile
    vec_isa: tuple[str, ...] | None = None  # usable instructions; (): torch needed none
    input_names: tuple[str | None, ...] | None = None
    files: tuple[str, ...] | None = None  # that a compile made
    files_of: Annotated[Mapping[str, tuple[str, ...]] | None, "files"] = None  # packaged, by model
    exported_program: Kept = None  # within the run's directory, as are the next two
    exported_graph: Kept = None
    captured: Kept = None
    exported_program_skipped: str | None = None
    why_not: str | None = None
    constants: tuple[Given, ...] | None = None  # the first of `count`
    count: int = 0
    user_managed: bool = False
    full: Annotated[bool, "check_full_update"] = False
    from_cpu: Annotated[bool, "allow_h2d_copy"] = False
    inactive: bool = False  # constants for the buffer that calls do not use
    instance: int | None = None  # of the loaded packages of its process, from 1 on
    rest: Texts = ()  # other weights of the checkpoint that some constants come from
    shared_with: tuple[int, ...] = ()  # instances that use the same user-managed memory
    ignored: Texts = ()  # names that are given to a container, which has others
    released: bool = False  # user-managed memory, by its owner
    written: int | None = None  # a call that used memory written since it was given, before this


@dataclass(frozen=True, slots=True)
class Phase(OfProcess):
    """A call that belongs to a phase of AOTInductor; `ok` None: it began and did not end."""

    id: int
    parent: int | None  # id of the phase of this process in which it began
    phase: str
    name: str
    begun: Annotated[float | None, "t"]  # unix seconds
    seconds: float | None
    ok: bool | None
    error: Failure | None
    details: Details


def _element(value: object) -> float | str:
    """Return an element as a number; a NaN, which is not equal to itself, as a word."""
    number = float(value) if isinstance(value, (int, float, str)) else float("nan")
    return number if number == number else "nan"


Elements = tuple[tuple[Annotated["float | str", _element], ...], ...]


@dataclass(frozen=True, slots=True)
class Output:
    shape: tuple[int, ...] | None
    dtype: str | None
    device: str | None
    nan: int | None
    inf: int | None


@dataclass(frozen=True, slots=True)
class Call(OfProcess):
    """One call of a loaded package."""

    id: int
    call: int | None  # 1-based, in its process
    package: str | None
    model: str  # which of the package's models
    inputs: tuple[Leaf, ...]
    outputs: tuple[Output, ...]
    captured: Kept
    why_not: str | None
    seconds: float | None
    ok: bool | None
    error: Failure | None
    group: int | None = None  # calls of one number are alike
    breaks: Texts = ()  # properties that the probe found broken
    keywords: tuple[str, ...] = ()  # of the arguments that were given by name
    nested: bool = False  # an argument is a container of several inputs
    handling: bool = False  # it was made while the script handled an exception
    nesting: tuple[Break, ...] = ()  # how it is nested otherwise than the export
    overwritten: tuple[int, ...] = ()  # inputs that changed while the call was under way
    reused: tuple[int, ...] = ()  # inputs in memory that an earlier call had, with other values
    aliases: tuple[tuple[int, int], ...] = ()  # output and the input whose memory it is
    signature: int = 0  # what its outputs hold, of the first call that returned that
    judged: int = 0  # likewise, of every call whose number was counted
    on_device: bool = False  # its device did not come to the end of it
    changed: tuple[tuple[int, int], ...] = ()  # calls and outputs that were not as returned by then
    values: Elements = ()  # a few of each output
    instance: int | None = None  # of the loaded packages of its process

    @property
    def holds_nonfinite(self) -> bool:
        """Tell whether its outputs are known to hold NaN or Inf."""
        return bool(self.signature or self.judged) or any(
            out.nan or out.inf for out in self.outputs
        )

    def input(self, index: int) -> Leaf | None:
        """Return the tensor that the runtime calls `input_handles[index]`."""
        return next((given for given in self.inputs if given.index == index), None)

    def named(self, index: int) -> str:
        """Return the user's name of an input, else its number."""
        given = self.input(index)
        return given.name if given is not None and given.name else f"input {index}"


FAR = 1e-3  # of the largest value
ROUNDED = 64.0  # steps of a dtype


@dataclass(frozen=True, slots=True)
class Reference(OfProcess):
    """A call of the module that was exported, how it differs from the export, and how its results
    differ from those of the package's call that was given the same."""

    caller: tuple[str, int] | None
    training: Texts = ()  # modules that were not in training mode at the export
    exported_training: Texts = ()  # modules that were, and are not now
    settings: tuple[tuple[str, str, str], ...] = ()  # of torch's: name, now, at the export
    changed: Texts = ()  # weights, the first of `changed_count`
    changed_count: int = 0
    swapped: tuple[tuple[str, str], ...] = ()  # a weight as given; which of the reference's it is
    moved: Texts = ()  # buffers and other tensors that the call itself changed
    values: Elements = ()  # a few of each result
    given: Texts = ()  # digests of the tensors that it was given
    attributes: Texts = ()  # plain values of modules that are others now
    since: bool = False  # they changed since the module's first call: no export was seen
    another: bool = False  # it is another module of the same class
    of_class: str = ""  # of another class than what was exported
    dtypes: Texts = ()  # of its weights and of the exported ones, where these are others
    call: int | None = None  # of the package
    reordered: tuple[int, ...] = ()  # for each tensor of the package, which of the module's it is
    written: tuple[int, ...] = ()  # tensors that are the same memory with other values
    other: tuple[int, ...] = ()  # tensors that have other values
    asked: str | None = None  # a digest of all rows that this caller's calls were given
    rows: tuple[int, ...] = ()  # of its inputs that the package was never given, and all of them
    unlike_inputs: tuple[int, ...] = ()  # in which most such rows differ from those it was given
    alike: tuple[int, ...] = ()  # rows with the package's results, of those compared, and of all
    rounding: float = 0.0  # how far those rows are apart at most, in steps of their dtype
    apart: float | None = None  # the results at most, of the elements that were looked at
    largest: float = 0.0
    unlike: int = 0  # elements that are NaN or infinite on one side alone
    kept: Kept = None  # what both were given, within the run's directory
    trains: bool = False  # a gradient reached what this caller's calls return
    lazy: tuple[str, int] | None = None  # where the generator that makes the call is asked for it

    @property
    def mixed(self) -> bool:
        """Tell whether the package gave other results for a row of this caller."""
        return len(self.alike) == 3 and self.alike[0] < self.alike[1]

    @property
    def same(self) -> int:
        """Return how many rows this caller gave, where the package gave all their results."""
        return self.alike[0] if len(set(self.alike)) == 1 and self.rounding < ROUNDED else 0

    @property
    def reasons(self) -> int:
        """Count how it differs from the export, or from the package in what it is given."""
        parts = self.training, self.exported_training, self.settings, self.changed, self.attributes
        return sum(map(bool, (*parts, self.reordered, self.written, self.other)))

    @property
    def paired(self) -> bool:
        """Tell whether its results were held against the package's."""
        return self.call is not None and self.apart is not None and not self.other

    @property
    def far(self) -> bool:
        """Tell whether the results are further apart than rounding goes."""
        return self.paired and (bool(self.unlike) or (self.apart or 0.0) > FAR * self.largest)


@dataclass(frozen=True, slots=True)
class RowApart(OfProcess):
    """A row that two calls were given, with results apart: call, row, call, row, and how far."""

    apart: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """From the end of a process's first call to that of its last: how many calls, and the seconds
    outside of calls, with the user's lines that most of them passed at."""

    calls: int = 0
    outside: float = 0.0
    lines: tuple[tuple[str, int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Ended(OfProcess):
    """A process came to its end by itself; the exception that nobody caught, where one was."""

    error: Failure | None
    threads: int | None = None  # that torch used at last
    between: Between | None = None  # calls, where the run is asked for it


@dataclass(frozen=True, slots=True)
class Handed(OfProcess):
    """Tensors written again before they were read; the experiment gives the reader those meant."""

    writer: tuple[str, int] | None
    maker: tuple[str, int] | None  # that handed them over, or made them
    caller: tuple[str, int] | None  # that reads them
    same: bool = False  # one thread writes and reads
    after: bool = False  # an input is written when the call that was given it has returned
    again: bool = False  # memory that was handed over before is handed over once more
    lost: bool = False  # a copy is written that nothing reads
    same_tensor: bool = False  # what `maker` takes for a copy is the tensor itself
    through: bool = False  # such a tensor is read after a write that a copy would not share
    count: int = 0

    @property
    def late(self) -> bool:
        return not (self.after or self.again or self.lost or self.same_tensor or self.through)


@dataclass(frozen=True, slots=True)
class Weights(OfProcess):
    """Weights that are not finite, as they were read from a file or set, by their names."""

    file: str | None  # None: code set them; "": it has no name
    caller: tuple[str, int] | None
    names: Texts


@dataclass(frozen=True, slots=True)
class Held(OfProcess):
    """What calls returned, or packages that were loaded, and that is still there: `count` of so
    many; the user's container that holds it and where that is filled; bytes of the process after
    its first call and then."""

    what: str  # "outputs", "packages"
    count: int = 0
    of: int = 0
    bytes: int = 0
    name: str | None = None
    kind: str | None = None
    size: int | None = None
    caller: tuple[str, int] | None = None
    resident: tuple[int, ...] = ()
    allocated: tuple[int, ...] = ()  # by torch's allocator on a GPU


@dataclass(frozen=True, slots=True)
class Counted:
    """Where a process counts its calls and keeps the inputs of the latest, and of one under way."""

    pid: int
    file: Annotated[str, inside]
    now: Kept
    latest: Kept
    pending: Kept = None  # the inputs of a call that a device did not come to the end of


@dataclass(frozen=True, slots=True)
class ModelRow:
    """Of which model a process counts the outputs in which row."""

    pid: int
    row: int
    package: str | None
    model: str = "model"


@dataclass(frozen=True, slots=True)
class Odd:
    """The first call of a model to return a signature; its inputs as far as they are kept."""

    pid: int
    call: int
    signature: int
    group: int | None
    captured: Kept
    why_not: str | None


@dataclass(frozen=True, slots=True)
class Group:
    """Calls of one process that are alike: those recorded, how many there were, their first
    numbers as far as they are known."""

    calls: tuple[Call, ...]
    count: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CustomOps(OfProcess):
    """Operators that are not torch's own, grouped by the file that registers them."""

    modules: tuple[str, ...]  # importable, in which they are registered; what to call there then
    files: tuple[str, ...]
    ops: tuple[str, ...]
    libraries: tuple[str, ...]  # loaded with torch.ops.load_library


@dataclass(frozen=True, slots=True)
class CppFile(OfProcess):
    """A run of the C++ compiler within a compile."""

    began: float  # unix seconds
    ended: Annotated[float, "t"]
    sources: tuple[str, ...]  # none: a header that is compiled ahead
    flags: tuple[str, ...]

    @property
    def what(self) -> str:
        """Return what is built: the wrapper, the kernels, the library, or what torch tries."""
        known = (what for end, what in _BUILT.items() if any(s.endswith(end) for s in self.sources))
        return next(known, "instruction set" if self.sources else "header")


_BUILT = {
    ".o": "library",
    ".wrapper.cpp": "wrapper",
    ".kernel.cpp": "kernels",
    ".weights.S": "weights",
    ".cu": "CUDA file",
}


@dataclass(frozen=True, slots=True)
class PackageSeen(OfProcess):
    path: str
    bytes: int | None
    mtime: float | None  # unix seconds
    captured: Kept
    why_not: str | None


@dataclass(frozen=True, slots=True)
class Note(OfProcess):
    """Something that the probe did not do."""

    what: str
    why: str
