"""Hand out the package that an earlier run compiled of an equal program, in place of a compile.

The server names the packages (AOTI_DEBUG_REUSE, a JSON file): only those in run directories of the
same client. A package is taken only if it belongs to this user, nobody else can write to it, and it
has the digest that the run stored which compiled it. That keeps clients apart and finds accidents;
it does not stop a hostile script of the same user, which could write to those directories itself.
"""

from __future__ import annotations

import getpass
import hashlib
import inspect
import json
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, BinaryIO

from . import events, store
from .identity import Incomparable, Teller, digest
from .lazy import torch
from .vocabulary import owner
from .watch import Details, Span

_BLOCK = 1 << 20
_ANEW = "AOTI_DEBUG_COMPILE_ANEW"
# Variables that may reach a compile, by how their names begin; and those of them that do not, since
# they say where something is written, act when a model runs, or are told apart.
_READ = re.compile(
    r"TORCH|PYTORCH|INDUCTOR|AOT_|AOTI_|TRITON|CUDA|NV|CU(?:BLAS|DNN|TLASS)|HIP|ROC|HSA|XPU|SYCL|"
    r"OMP|GOMP|KMP|MKL|DNNL|ONEDNN|ATEN|CC$|CXX|CFLAGS|CPPFLAGS|LDFLAGS|CPATH|CPLUS|C_INCLUDE|"
    r"LIBRARY_PATH|LD_|GCC|PATH$|CONDA"
)
_APART = re.compile(
    r"AOTI_DEBUG_|TORCH_TRACE$|\w*CACHE_DIR$|CUDA_(?:COREDUMP|ENABLE|LOG)_\w+$|CUDA_LAUNCH_BLOCKING$|"
    r"AOTI_RUNTIME_CHECK_INPUTS$|PYTORCH_NO_CUDA_MEMORY_CACHING$"
)
_CONFIGS = (
    "torch._inductor.config",
    "torch._functorch.config",
    "torch.fx.experimental._config",
    "torch._dynamo.config",
)
# Settings that want a compile for what it prints or leaves behind.
_WANT_COMPILE = frozenset(
    """
    aot_inductor.debug_intermediate_value_printer aot_inductor.dump_aoti_minifier trace.enabled
    aot_inductor.output_path aot_inductor.debug_compile aot_inductor.debug_symbols nan_asserts
    runtime_triton_nan_asserts save_args
    """.split()
)
_UNTOLD = frozenset({"aot_inductor.package", "cpp_wrapper"})  # torch sets them itself
_STATE = (
    "get_default_dtype get_default_device is_grad_enabled is_inference_mode_enabled "
    "get_num_threads "
    "are_deterministic_algorithms_enabled is_deterministic_algorithms_warn_only_enabled "
    "get_float32_matmul_precision utils.deterministic.fill_uninitialized_memory "
    "backends.cudnn.enabled backends.cudnn.benchmark backends.cudnn.deterministic "
    "backends.cudnn.allow_tf32 backends.cuda.matmul.allow_tf32 "
    "backends.cuda.matmul.allow_fp16_reduced_precision_reduction "
    "backends.cuda.matmul.allow_bf16_reduced_precision_reduction backends.mkldnn.enabled "
    "backends.cuda.flash_sdp_enabled backends.cuda.mem_efficient_sdp_enabled "
    "backends.cuda.math_sdp_enabled backends.cpu.get_cpu_capability"
).split()


@dataclass(frozen=True)
class Identity:
    """The digests of all that a compile depends on, and of the model's lines, which only texts in
    the package depend on."""

    parts: dict[str, str]
    lines: str

    @property
    def key(self) -> str:
        return digest(sorted(self.parts.items()))


def identify(program: Any, options: dict[str, Any]) -> Identity:
    """Return the identity of a compile.

    Raises:
        Incomparable
    """
    teller = Teller()
    held = {**program.constants, **program.state_dict}
    args, kwargs = program.example_inputs
    leaves = torch.utils._pytree.tree_leaves((args, kwargs))
    calls = [(one.fqn, teller.tell(_signature(one))) for one in program.module_call_graph]
    told = {
        "graph": [teller.graph(program.graph_module), str(program.graph_signature), calls],
        "sizes": teller.shapes(program),
        "constants": teller.tell(held),
        "examples": [_described(teller, leaf) for leaf in leaves],
        "options": _settings(teller, options),
        "environment": {k: v for k, v in sorted(os.environ.items()) if _reads(k)},
        "flags": [(name, str(_state(name))) for name in _STATE] + _autocast(),
        "versions": _versions(),
        "machine": _machine(_devices([*leaves, *held.values()])),
        "operators": [teller.definitions(), teller.tell(_lowerings())],
    }
    return Identity({name: digest(one) for name, one in told.items()}, digest(teller.lines))


def _signature(entry: Any) -> object:
    found = entry.signature
    if found is None:
        return None
    specs = found.in_spec, found.out_spec, getattr(found, "forward_arg_names", None)
    return str(found.inputs), str(found.outputs), specs


def _described(teller: Teller, leaf: Any) -> object:
    """Tell an example input; the values of a tensor do not reach the code."""
    if not isinstance(leaf, torch.Tensor):
        return teller.tell(leaf)
    kind = type(leaf).__name__, str(leaf.dtype), str(leaf.device), str(leaf.layout)
    sizes = (str(leaf.shape), leaf.stride()) if leaf.layout == torch.strided else ()
    return kind, sizes, leaf.requires_grad, leaf.data_ptr() % 16 if leaf.numel() else 0


def _reads(name: str) -> bool:
    return bool(_READ.match(name)) and not _APART.match(name)


def _settings(teller: Teller, options: dict[str, Any]) -> dict[str, object]:
    """Tell the settings in force.

    Raises:
        Incomparable: one of them wants what only a compile gives, or is no plain value.
    """
    found: dict[str, object] = {}
    for module in _CONFIGS:
        config: Any = import_module(module)
        inductor = module == _CONFIGS[0]
        known = {**config.get_config_copy(), **(options if inductor else {})}
        for name in sorted(known.keys() - _UNTOLD):
            value = known[name]
            if inductor and name in _WANT_COMPILE and value not in (None, False, 0, "0", ""):
                raise Incomparable(f"{name} = {value}, which wants a compile,")
            if name == "aot_inductor.metadata":  # torch adds to it
                value = {key: value[key] for key in value if not key.startswith("AOTI_")}
            if isinstance(value, str):  # some defaults are below the current directory
                value = value.replace(os.getcwd(), ".")
            try:
                found[f"{module}.{name}"] = teller.tell(value)
            except Incomparable:
                if name in options or not config._is_default(name):
                    raise
    if _logs() or os.environ.get("TORCH_COMPILE_DEBUG", "0") != "0":
        raise Incomparable("TORCH_LOGS or TORCH_COMPILE_DEBUG, which want a compile,")
    return found


def _logs() -> bool:
    state = getattr(sys.modules.get("torch._logging._internal"), "log_state", None)
    return bool(getattr(state, "artifact_names", None) or getattr(state, "log_qname_to_level", 0))


def _autocast() -> list[object]:
    kinds = ("cpu", "cuda")
    return [(torch.is_autocast_enabled(one), str(torch.get_autocast_dtype(one))) for one in kinds]


def attribute(owner: Any, path: str) -> Any:
    """Return what stands at a dotted path below an object; None where nothing does."""
    for part in path.split("."):
        owner = getattr(owner, part, None)
    return owner


def _state(name: str) -> object:
    found = attribute(torch, name)
    return found() if callable(found) else found


def _versions() -> object:
    config = import_module("torch._inductor.config")
    names = config.cpp.cxx if isinstance(config.cpp.cxx, (tuple, list)) else [config.cpp.cxx]
    found: list[object] = []
    for name in dict.fromkeys((os.environ.get("CXX"), *names, "nvcc", "ptxas")):
        path = shutil.which(name) if name else None
        status = Path(path).stat() if path else None
        found.append((name, path, (status.st_size, status.st_mtime_ns) if status else None))
    version = torch.version
    built = torch.__version__, version.git_version, version.cuda, getattr(version, "hip", None)
    return tuple(map(str, built)), triton_version(), platform.python_version(), found


def triton_version() -> str | None:
    """Read triton's version without importing it."""
    spec = PathFinder.find_spec("triton", sys.path)
    if spec is None or not spec.origin or not os.path.isfile(spec.origin):
        return None
    with open(spec.origin, encoding="utf-8", errors="replace") as file:
        match = re.search(r"__version__\s*=\s*['\"]([^'\"]{1,60})", file.read(10_000))
    return match.group(1) if match else "unknown"


def _devices(values: list[Any]) -> bool:
    kinds = {value.device.type for value in values if isinstance(value, torch.Tensor)}
    return bool(kinds - {"cpu", "meta"}) or torch.cuda.is_initialized()


def _machine(accelerator: bool) -> object:
    lines: list[str] = []
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
        kinds = ("model name", "flags", "Features", "CPU part")
        lines = sorted({line for line in text if line.startswith(kinds)})
    cuda = torch.cuda
    count = cuda.device_count() if accelerator else 0
    devices = [str(cuda.get_device_properties(index)) for index in range(count)]
    driver = ""
    with suppress(OSError):  # not every build of torch tells it
        driver = Path("/proc/driver/nvidia/version").read_text("utf-8") if count else ""
    return platform.machine(), platform.release(), lines, os.cpu_count(), devices, driver


def _lowerings() -> dict[str, Any]:
    """Return lowerings and decompositions that are not torch's own."""
    found = {}
    for module, table in (("lowering", "lowerings"), ("decomposition", "decompositions")):
        known = getattr(sys.modules.get(f"torch._inductor.{module}"), table, {})
        for operator, function in list(known.items()):
            inner = inspect.unwrap(getattr(function, "func", function))
            code = getattr(inner, "__code__", None)
            if code is not None and owner(code.co_filename) != "torch":
                found[f"{table} {operator}"] = inner
    return found


def begin(span: Span, program: Any, options: Any) -> None:
    """Identify a compile that is about to begin, where anybody wants to know."""
    if store.directory() is None and not _offered():
        return
    try:
        identity = identify(program, options if isinstance(options, dict) else {})
    except Incomparable as error:
        span.details["incomparable"] = events.bounded(str(error), 300)
    except Exception as error:
        span.details["incomparable"] = events.said(error, 300)
    else:
        span.memory["identity"] = identity
        if program.state_dict or program.constants:
            span.details["weights"] = identity.parts["constants"]


def _offered() -> str:
    return "" if os.environ.get(_ANEW) else os.environ.get("AOTI_DEBUG_REUSE", "")


def instead(span: Span, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Put an equal package where the compile would, and return its path; None to compile."""
    identity, file = span.memory.get("identity"), _offered()
    path = kwargs.get("package_path")
    if identity is None or not file or not isinstance(path, (str, os.PathLike, type(None))):
        return None
    known = json.loads(Path(file).read_text("utf-8"))
    for one in known["packages"]:
        same_lines = one["lines"] == identity.lines or not known["same_lines"]
        if one["key"] == identity.key and same_lines:
            to = _place(path, identity.key)
            if to is not None and _copied(one, to):
                span.memory["reused"] = one
                return to
    parts = identity.parts.items()
    different = [[k for k, v in parts if one["parts"].get(k) != v] for one in known["packages"]]
    span.memory["different"] = min(different, key=len, default=[])
    return None


def _place(path: str | os.PathLike[str] | None, key: str) -> str | None:
    if path is None:
        folder = Path(cache_directory(), key[:2])
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder / f"{key}.pt2")
    return os.fspath(path) if os.fspath(path).endswith(".pt2") else None


def cache_directory() -> str:
    """Return where generated code goes, without making that directory."""
    given = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if given:
        return given
    try:
        user = re.sub(r'[\\/:*?"<>|]', "_", getpass.getuser())
    except (OSError, KeyError, ImportError):
        user = str(os.getuid())
    return os.path.join(tempfile.gettempdir(), f"torchinductor_{user}")


def _copied(one: Details, to: str) -> bool:
    """Copy a package to where it is wanted, if it is what the run left that compiled it."""
    place = os.path.realpath(to)
    temporary = f"{place}.{os.getpid()}.tmp"
    try:
        descriptor = os.open(one["file"], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as source, open(temporary, "xb") as target:
            status = os.fstat(descriptor)
            mine = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
            if not mine or status.st_mode & 0o022:
                raise PermissionError("it is not this user's alone")
            if _sum(source, target) != one["sha256"]:
                raise ValueError("it has changed")
        os.replace(temporary, place)
    except (OSError, ValueError) as error:
        events.note(f"take the package of {one['run']}", error)
        with suppress(OSError):
            os.unlink(temporary)
        return False
    return True


def _sum(source: BinaryIO, target: BinaryIO | None = None) -> str:
    found = hashlib.sha256()
    while block := source.read(_BLOCK):
        found.update(block)
        if target is not None:
            target.write(block)
    return found.hexdigest()


def end(span: Span, captured: str | None) -> Details:
    """Say whether a package was reused, and leave what a later run must know of it."""
    identity, one = span.memory.get("identity"), span.memory.get("reused")
    if identity is None:
        return {}
    folder, seconds = store.directory(), time.perf_counter() - span.started
    if one is not None:
        seconds = one["seconds"]
    if folder is not None and captured is not None:
        with (folder.parent / captured).open("rb") as file:
            found = one["sha256"] if one else _sum(file)
        document = {"key": identity.key, **vars(identity), "package": Path(captured).name}
        document.update(sha256=found, seconds=round(seconds, 3), secret=events.secret())
        text = json.dumps({**document, "compiled_by": one["run"] if one else None})
        name = store.new_name("compiled", ".json")
        store.write(name, lambda to: Path(to).write_text(text, "ascii"))
    if one is None:
        return {"different": span.memory.get("different", [])}
    return {"reused": {"run": one["run"], "seconds": seconds}}
