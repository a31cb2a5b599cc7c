"""What the scripts share: arguments, the report, captured inputs."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from . import (
    containers,
    custom_ops,
    definitions,
    describe,
    events,
    graph_run,
    shared_buffer,
    store,
    untrusted,
)
from .container import Container, kernels_beside
from .lazy import torch

Document = dict[str, Any]


class Report:
    """A JSON file that is whole at any moment, even if the process dies in the next one. It and
    what the process writes beside it are its user's alone."""

    def __init__(self, path: str | None) -> None:
        os.umask(0o077)
        # Taken before anything of the target's is imported.
        self.content: Document = {"key": events.secret()} if events.enabled() else {}
        self._path = Path(path) if path else None

    def update(self, **content: Any) -> None:
        """Add to the report and write it."""
        self.content.update(content)
        if self._path is None:
            return
        text = json.dumps(events.finite(self.content), default=str)
        store.whole(self._path, lambda to: to.write_text(text))

    @contextlib.contextmanager
    def of_failure(self) -> Iterator[None]:
        """Report an exception, and let it end the process as it would have."""
        try:
            yield
        except BaseException as error:
            self.update(error=events.describe_error(error), failed_in=self.content.get("state"))
            raise


def arguments(
    description: str | None,
    inputs: bool = True,
    package: bool | None = None,
    exported: bool | None = None,
) -> argparse.ArgumentParser:
    """Return a parser that knows what all programs take; `package` and `exported`: whether these
    are required, None: they are not taken."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--inputs", required=inputs, help="captured inputs (call-*.pt)")
    parser.add_argument("--report", help="JSON file to write")
    parser.add_argument(
        "--import-path", action="append", default=[], help="directory to import from"
    )
    parser.add_argument("--import", dest="imports", action="append", default=[], metavar="MODULE")
    parser.add_argument(
        "--trust", action="store_true", help="load programs that need a pickle: they can run code"
    )
    parser.add_argument("--device-index", type=int, help="of the GPU that the call used")
    parser.add_argument("--weightless", action="store_true", help="the program has no weights")
    parser.add_argument(
        "--constants", action="append", default=[], help="weights that load_constants was given"
    )
    parser.add_argument("--script", help="the user's script, run as far as it defines operators")
    parser.add_argument("--script-args", help="its arguments, a JSON list")
    parser.add_argument(
        "--library", action="append", default=[], help="library with custom ops to load"
    )
    if exported is not None:
        parser.add_argument("--exported", required=exported, help="the exported program (.pt2)")
    if package is not None:
        parser.add_argument(
            "--package", required=package, help=".pt2, or .so of torch._export.aot_compile"
        )
        parser.add_argument("--model", default="model", help="which model of the package")
        parser.add_argument("--runners", type=int, default=1, help="instances that serve calls")
    return parser


def prepare(options: argparse.Namespace) -> None:
    """Import torch, then what defines custom operators."""
    sys.path[:0] = options.import_path
    custom_ops.watch()
    for library in options.library:
        torch.ops.load_library(library)
    for word in options.imports:
        definitions.bring(word)
    index = options.device_index
    if index is not None and 0 < index < torch.cuda.device_count():
        torch.cuda.set_device(index)
    if options.script:
        definitions.run(options.script, options.script_args)


@contextlib.contextmanager
def started(options: argparse.Namespace, **content: Any) -> Iterator[Report]:
    """Begin the report and import torch; what raises within is reported, and ends the process."""
    report = Report(options.report)
    report.update(state="import", **content)
    with report.of_failure():
        prepare(options)
        containers.stand_in()
        report.update(state="load", torch=str(torch.__version__))
        yield report


@dataclass(frozen=True)
class Inputs:
    """Captured inputs: as called, flat, and as they were described."""

    args: tuple[Any, ...] | None  # None: not a plain nest
    kwargs: dict[str, Any]
    flat: list[Any]
    described: list[Document]
    grad: bool
    inference: bool

    def mode(self) -> Any:
        """Return a context with autograd as it was when the call was captured."""
        if self.inference:
            return torch.inference_mode()
        return contextlib.nullcontext() if self.grad else torch.no_grad()


def read_inputs(path: str) -> Inputs:
    """Read captured inputs; strides, offsets and shared memory are as they were."""
    if path.endswith(".bin"):
        document: Any = {"format": 1, **shared_buffer.read(torch, path)}
    else:
        document = torch.load(path, weights_only=True)
    if isinstance(document, (tuple, list)):
        return saved_by_hand(document)
    if not isinstance(document, dict) or document.get("format") != 1:
        raise ValueError(f"{path} holds no captured inputs, and no tuple (args, kwargs)")
    flat = document["flat"]
    for leaf, described in zip(flat, document["inputs"]):
        if described.get("requires_grad"):
            leaf.requires_grad_(True)
    return Inputs(
        document.get("args"),
        document.get("kwargs") or {},
        flat,
        document["inputs"],
        document.get("grad", True),
        document.get("inference", False),
    )


def saved_by_hand(document: Any) -> Inputs:
    """Take what `torch.save((args, kwargs), path)` wrote, or a tuple of the arguments alone."""
    args, kwargs = tuple(document), {}
    if (
        len(document) == 2
        and isinstance(document[1], dict)
        and isinstance(document[0], (tuple, list))
    ):
        args, kwargs = tuple(document[0]), document[1]
    return of_call(args, kwargs)


def of_call(args: Any, kwargs: Any) -> Inputs:
    """Return the arguments of a call as inputs."""
    flat = torch.utils._pytree.tree_leaves((args, kwargs))
    described = describe.leaves(flat, [])
    return Inputs(tuple(args), dict(kwargs), flat, described, False, False)


def example(program: Any) -> Inputs | None:
    """Return the inputs that a program was exported with."""
    given = program.example_inputs
    return of_call(given[0], given[1] or {}) if given is not None else None


def reader(options: argparse.Namespace, program: Any = None) -> Callable[[], Inputs] | None:
    """Return what reads the inputs of a call anew, since a model may write to them: those given,
    else the example of the program; None where there are none."""
    if options.inputs:
        return lambda: read_inputs(options.inputs)
    if program is None and options.exported:
        program = load_program(options)
    kept = example(program) if program is not None else None
    return (lambda: copied(kept)) if kept is not None else None


def reader_of_call(options: argparse.Namespace) -> Callable[[], Inputs]:
    """Return what reads the inputs of a call anew.

    Raises:
        ValueError: there are none.
    """
    read = reader(options)
    if read is None:
        raise ValueError("give the inputs of a call, or an exported program that has an example")
    return read


def with_leaves(inputs: Inputs, flat: list[Any]) -> Inputs:
    """Return the inputs with other leaves, nested as they are."""
    if inputs.args is None:
        return replace(inputs, flat=flat)
    pytree = torch.utils._pytree
    args, kwargs = pytree.tree_unflatten(flat, pytree.tree_structure((inputs.args, inputs.kwargs)))
    return replace(inputs, flat=flat, args=args, kwargs=kwargs)


def copied(inputs: Inputs) -> Inputs:
    """Return the inputs with leaves of their own: a model may write to them."""
    return with_leaves(inputs, graph_run.copied(inputs.flat))


def user_inputs(program: Any) -> list[Any]:
    """Return the placeholders of the user's inputs, one for each flat leaf."""
    placeholders = (node for node in program.graph.nodes if node.op == "placeholder")
    pairs = zip(placeholders, program.graph_signature.input_specs)
    return [node for node, spec in pairs if spec.kind.name == "USER_INPUT"]


def changes(inputs: Inputs) -> list[str]:
    """Say what could not be brought back exactly, such as the alignment of outside memory."""
    found = []
    for leaf, was in zip(inputs.flat, inputs.described):
        if not isinstance(leaf, torch.Tensor):
            continue
        now = describe.tensor(leaf)
        for property in ("shape", "stride", "dtype", "device", "storage_offset", "alignment"):
            before, after = was.get(property), now.get(property)
            if property == "alignment":  # beyond 64 it is chance
                before, after = min(before or 64, 64), min(after or 64, 64)
            if before != after:
                found.append(f"input {was['index']}: {property} {before} -> {after}")
    return found


def load_package(
    options: argparse.Namespace, inputs: Inputs, report: Report, *, quick: bool = True
) -> Any:
    """Load the package, or the library that `torch._export.aot_compile` made; not `quick`: as a
    program does that is no replay."""
    if options.package.endswith(".so"):
        alone = inputs.args is not None and not options.constants
        if alone and not kernels_beside(options.package):
            return load_library(options.package, inputs.flat)
        library = Library(options.package, device_of(inputs.flat))
        for path in options.constants:
            library.give(torch.load(path, weights_only=True)["constants"])
        return library
    more: Document = {}
    if options.device_index is not None:
        more["device_index"] = options.device_index
    if options.runners > 1:
        more["num_runners"] = options.runners
    if quick:
        skip_isa_probe()

    def load() -> Any:
        if options.model != "model" or options.runners > 1:
            package = import_module("torch._inductor.package")
            return package.load_package(options.package, options.model, **more)
        return import_module("torch._inductor").aoti_load_package(options.package, **more)

    try:
        model = load()
    except AttributeError as error:
        if "codecache" not in str(error):
            raise
        # torch 2.10 only loads where something was compiled before.
        import_module("torch._inductor.codecache")
        report.update(workaround=f"imported torch._inductor.codecache first: {error}")
        model = load()
    for path in options.constants:
        given = torch.load(path, weights_only=True)
        model.load_constants(given["constants"], check_full_update=False, **given["options"])
    return model


class Library:
    """A library in a runner of its own, called as the model of a package is."""

    def __init__(self, library: str, device: str) -> None:
        self._own = Container(library, "", device)
        self.loader = self._own.runner  # knows the call spec

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        pytree = torch.utils._pytree
        wanted, returned = map(pytree.treespec_loads, self.loader.get_call_spec())
        kwargs = import_module("torch.export._tree_utils").reorder_kwargs(kwargs, wanted)
        outputs = self._own.call(pytree.tree_leaves((args, kwargs)))
        return pytree.tree_unflatten(outputs, returned)

    def give(self, weights: Document) -> None:
        self._own.update(weights, inactive=False, full=False, user_managed=False)


def load_library(library: str, flat: list[Any]) -> Any:
    """Load a library that `torch._export.aot_compile` made, for calls with inputs like these."""
    return import_module("torch._export").aot_load(library, device_of(flat))


def device_of(flat: list[Any]) -> str:
    """Return the first device of the inputs that is not the CPU, else the CPU."""
    devices = (str(leaf.device) for leaf in flat if isinstance(leaf, torch.Tensor))
    return next((device for device in devices if not device.startswith("cpu")), "cpu")


def load_program(options: argparse.Namespace, path: str | None = None) -> Any:
    """Load the exported program, or the one at `path`, with the weights that the script gave to
    the package."""
    program = untrusted.load(path or options.exported, trust=options.trust)
    program = onto_device(program, options.device_index)
    for file in options.constants:
        give(program, torch.load(file, weights_only=True)["constants"])
    return program


def give(program: Any, weights: Document) -> None:
    """Put weights into a program, those that it has; dimensions of one element may be others."""
    for name, value in weights.items():
        for held in (program.state_dict, program.constants):
            known = held.get(name)
            if isinstance(known, torch.Tensor) and _sizes(known) == _sizes(value):
                weight = value.reshape(known.shape).to(known.device, known.dtype)
                is_parameter = isinstance(known, torch.nn.Parameter)
                held[name] = torch.nn.Parameter(weight, False) if is_parameter else weight


def _sizes(tensor: Any) -> list[int]:
    return [size for size in tensor.shape if size != 1]


def onto_device(program: Any, index: int | None) -> Any:
    """Return a program with its weights and constants on the GPU that the call used."""
    values = [*program.state_dict.values(), *program.constants.values()]
    values += [node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"]
    devices = {str(value.device) for value in values if isinstance(value, torch.Tensor)}
    moves = device_moves(devices, index)
    if not moves:
        return program
    try:
        return import_module("torch.export.passes").move_to_device_pass(program, moves)
    except (ImportError, AttributeError):  # older torch has none
        return program


def device_moves(devices: set[str], index: int | None) -> dict[str, str]:
    """Return what a program's one GPU becomes; nothing where it is that one, or there are more."""
    gpus = [device for device in devices if device.startswith("cuda")]
    if index is None or len(gpus) != 1 or gpus[0] == f"cuda:{index}":
        return {}
    return {gpus[0]: f"cuda:{index}", "cuda": f"cuda:{index}"}


def skip_isa_probe() -> None:
    """Keep the loader from test-compiling for the CPU's vector instructions.

    That takes 20 s and more in a fresh process, and only serves a warning that the package was
    compiled for another CPU: a replay runs where the script ran.
    """
    codecache: Any = import_module("torch._inductor.codecache")
    if hasattr(codecache, "get_device_information"):  # torch 2.10 and later
        codecache.get_device_information = lambda device: {}


def call(model: Any, inputs: Inputs) -> Any:
    """Call a model or package as it was called."""
    if inputs.args is not None:
        return model(*inputs.args, **inputs.kwargs)
    pytree = torch.utils._pytree
    spec = pytree.treespec_loads(model.loader.get_call_spec()[0])
    args, kwargs = pytree.tree_unflatten(inputs.flat, spec)
    return model(*args, **kwargs)


def results(model: Any, inputs: Inputs, written: Sequence[int] = ()) -> list[Any]:
    """Call as the call was made, wait for its devices, and return the flat outputs, then the inputs
    at the places that are written to."""
    with inputs.mode():
        result = call(model, inputs)
    synchronize()
    return flat_outputs(result) + [inputs.flat[place] for place in written]


def synchronize() -> None:
    """Wait for the devices that this process uses, so that their faults show here."""
    for name in ("cuda", "xpu"):
        device = getattr(torch, name, None)
        if device is not None and device.is_available() and device.is_initialized():
            device.synchronize()


def flat_outputs(result: Any) -> list[Any]:
    """Return the leaves of a result, in order, without their gradients."""
    leaves = torch.utils._pytree.tree_leaves(result)
    return [leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]


def describe_outputs(result: Any) -> list[Document]:
    """Describe outputs with their values: NaN and infinity counts, extremes, mean."""
    flat = torch.utils._pytree.tree_leaves(result)
    found = describe.outputs(flat, count=False)
    for leaf, description in zip(flat, found):
        if isinstance(leaf, torch.Tensor):
            description.update(statistics(leaf.detach()))
    return found


def statistics(tensor: Any) -> Document:
    """Return NaN and infinity counts, and extremes and mean of what is finite."""
    if tensor.numel() == 0 or tensor.dtype.is_complex or tensor.layout != torch.strided:
        return {}
    plain = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    wide = tensor if tensor.dtype in plain else tensor.to(torch.float64)
    low, high = (end.item() for end in torch.aminmax(wide))
    found: Document = {"nan": 0, "inf": 0}
    if not (low > float("-inf") and high < float("inf")):
        found.update(nan=int(wide.isnan().sum()), inf=int(wide.isinf().sum()))
        wide = wide[torch.isfinite(wide)]
        if not wide.numel():
            return found
        low, high = (end.item() for end in torch.aminmax(wide))
    precision = torch.float64 if wide.dtype == torch.float64 else torch.float32
    return {**found, "min": low, "max": high, "mean": wide.mean(dtype=precision).item()}
