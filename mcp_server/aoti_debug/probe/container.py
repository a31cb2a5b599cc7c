"""Hold the container of a package's model: constants in both buffers, updates, folding, calls."""

from __future__ import annotations

import ctypes
import tempfile
import zipfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from .lazy import torch

_WORDS = 64  # of the runner's object, in which its container is looked for
_PREFIX = "AOTInductorModelContainer"
# That the runner keeps in front of its container, the last ones of each release among them.
_FUNCTIONS = """
AOTInductorGetLastError AOTInductorModelUpdateConstantsFromBlob AOTInductorModelContainerRun
AOTInductorModelContainerGetCallSpec AOTInductorModelContainerSwapConstantBuffer
AOTInductorModelContainerRunConstantFolding AOTInductorModelContainerFreeInactiveConstantBuffer
AOTInductorModelContainerGetConstantsBlobSize AOTInductorModelContainerGetConstantDtype
""".split()


class Container:
    """A package's model in a runner of its own, in this process."""

    def __init__(self, package: str, model: str, device: str, runners: int = 1) -> None:
        self._held = tempfile.TemporaryDirectory()
        library = package
        if not package.endswith(".so"):
            library = unpacked(package, model, Path(self._held.name))
        self.device, self._library = device, library
        kinds: Any = import_module("torch._C._aoti")
        if device == "cpu":
            self.runner = kinds.AOTIModelContainerRunnerCpu(library, runners)
        else:
            folder = kernels_beside(library)
            self.runner = kinds.AOTIModelContainerRunnerCuda(library, runners, device, folder)
        names = self.runner.get_constant_names_to_original_fqns()
        self.names = {fqn: name for name, fqn in names.items()}  # folded ones too

    def close(self) -> None:
        """Take the container apart, and remove what was unpacked for it."""
        del self.runner
        self._held.cleanup()

    def held(self, inactive: bool = False) -> dict[str, Any]:
        """Return the constants of a buffer, by their original names and as they are; folded ones
        are in none."""
        return dict(self.runner.extract_constants_map(inactive))

    def update(
        self, weights: Mapping[str, Any], *, inactive: bool, full: bool, user_managed: bool
    ) -> None:
        """Give it weights by their original names."""
        more = [True] if user_managed else []  # older releases have no such parameter
        self.runner.update_constant_buffer(self._named(weights), inactive, full, *more)

    def update_from_cpu(self, weights: Mapping[str, Any], *, inactive: bool, full: bool) -> None:
        """Give a container on a GPU weights that lie on the CPU."""
        # Before 2.13, and on the CPU, there is no function of its own.
        update = getattr(self.runner, "update_constant_buffer_from_cpu", None)
        (update or self.runner.update_constant_buffer)(self._named(weights), inactive, full)

    def _named(self, weights: Mapping[str, Any]) -> dict[str, Any]:
        return {self.names[name]: tensor for name, tensor in weights.items()}

    def swap(self) -> None:
        self.runner.swap_constant_buffer()

    def free(self) -> None:
        self.runner.free_inactive_constant_buffer()

    def fold(self, inactive: bool) -> None:
        """Compute the folded constants of a buffer, which Python's runner has no function for.

        Raises:
            RuntimeError: it failed, or the container was not found in the runner.
        """
        library = ctypes.CDLL(self._library)
        handle, proxy = self._handles(library)
        stream = None
        if self.device != "cpu":
            stream = torch.cuda.current_stream().cuda_stream
        run = library[f"{_PREFIX}RunConstantFolding"]
        run.argtypes = [ctypes.c_void_p, ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p]
        run.restype = ctypes.c_int32
        if run(handle, inactive, stream, proxy):
            raise RuntimeError("run_const_fold failed; its reason is on stderr")

    def _handles(self, library: Any) -> tuple[int, int]:
        """Return the container and the proxy executor: they follow the runner's functions."""
        functions = set()
        for name in _FUNCTIONS:
            if hasattr(library, name):
                functions.add(ctypes.cast(library[name], ctypes.c_void_p).value)
        # A pybind11 object holds the C++ one behind its reference count and type.
        runner = ctypes.c_void_p.from_address(id(self.runner) + 16).value or 0
        words = (ctypes.c_void_p * _WORDS).from_address(runner)
        places = [at for at in range(_WORDS - 2) if words[at] in functions]
        after = places[-1] + 1 if places else 0
        container, proxy = words[after], words[after + 1]
        if not places or not container:
            raise RuntimeError("the container is not where this torch's runner should hold it")
        return container, proxy or 0

    def call(self, flat: list[Any]) -> list[Any]:
        """Call it with flat inputs; return the outputs as they are."""
        tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
        return list(self.runner.run(tensors))


def kernels_beside(library: str) -> str:
    """Return the folder of a library where kernels lie in it; without, they are where it says."""
    folder = Path(library).parent
    return str(folder) if any(folder.glob("*.cubin")) else ""


def unpacked(package: str, model: str, folder: Path) -> str:
    """Unpack a model's files beside each other; return its library."""
    with zipfile.ZipFile(package) as archive:
        part = f"data/aotinductor/{model}/"
        inside = [name for name in archive.namelist() if part in name]
        for name in (name for name in inside if "/" not in name.rpartition(part)[2]):
            with archive.open(name) as source, (folder / name.rpartition("/")[2]).open("wb") as to:
                while chunk := source.read(1 << 24):
                    to.write(chunk)
    return str(next(path for path in folder.iterdir() if path.suffix == ".so"))
