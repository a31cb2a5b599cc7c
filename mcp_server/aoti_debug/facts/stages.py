"""The stages: which flags each one sets, when they act, what they need and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aoti_debug.errors import UnknownStage

Acts = Literal["never", "codegen", "run"]
Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a stage's environment depends on."""

    version: Version  # of the target's torch: (2, 13)
    directory: Path  # the run's own directory
    kernels: tuple[str, ...] = ()  # names to print values of; empty means all
    repro_level: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One way to run the target. `acts` says when the flags are read: `codegen` while the model is
    compiled, with a fresh cache, `run` at the first call of the loaded model. `flag` is the torch
    setting and value, recorded when a compile begins, that prove that a codegen stage acted."""

    name: str
    what: str
    acts: Acts
    environment: Callable[[Setting], Mapping[str, str]]
    flag: tuple[str, str] | None = None
    needs_cuda: bool = False
    before: tuple[Version, Acts] | None = None  # how it acted in releases before this one
    cost: str = "one run"

    def acts_in(self, version: Version) -> Acts:
        return self.before[1] if self.before and version < self.before[0] else self.acts


def _contract(setting: Setting) -> Mapping[str, str]:
    if setting.version < (2, 7):  # the checks are generated only by a debug compile
        return {"AOT_INDUCTOR_DEBUG_COMPILE": "1"}
    return {"AOTI_RUNTIME_CHECK_INPUTS": "1"}


def _set(**variables: str) -> Callable[[Setting], Mapping[str, str]]:
    """Return the environment of a stage that is the same for every target."""
    return lambda _: variables


def _printer(mode: str) -> Callable[[Setting], Mapping[str, str]]:
    def environment(setting: Setting) -> Mapping[str, str]:
        flags = {
            "AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER": mode,
            "CUDA_LAUNCH_BLOCKING": "1",  # else the failing launch is not the last one printed
        }
        if mode == "2" and setting.kernels:
            flags["AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT"] = ",".join(setting.kernels)
        if mode == "1" and setting.version >= (2, 15):
            flags["AOTI_TORCH_SAVE_DIR"] = str(setting.directory / "tensors")
        return flags

    return environment


def _minifier(setting: Setting) -> Mapping[str, str]:
    return {
        "DUMP_AOTI_MINIFIER": "1",
        "AOTINDUCTOR_REPRO_LEVEL": str(setting.repro_level),
        "TORCH_COMPILE_DEBUG_DIR": str(setting.directory / "minifier"),
    }


_COMPILE = "one run with a full compile"
_PRINTS = (
    ("kernel_names", "3", "the name of each kernel before and after its launch", ""),
    ("values", "2", "statistics of each kernel's tensors, for the kernels named", ""),
    ("tensors", "1", "each kernel's tensors saved to files", ", and disk for every tensor"),
)

STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            name="baseline", what="the script as it is, watched", acts="never", environment=_set()
        ),
        Stage(
            name="contract",
            what="the model checks sizes, strides, dtypes and device types of its inputs",
            acts="run",
            before=((2, 7), "codegen"),
            environment=_contract,
        ),
        Stage(
            name="deterministic",
            what="no caching allocator, blocking launches: a CUDA fault shows at its own call",
            acts="run",
            needs_cuda=True,
            environment=_set(PYTORCH_NO_CUDA_MEMORY_CACHING="1", CUDA_LAUNCH_BLOCKING="1"),
        ),
        Stage(
            name="nan",
            what="every tensor argument of each Triton launch is checked for NaN and Inf",
            acts="codegen",
            environment=_set(TORCHINDUCTOR_NAN_ASSERTS="1"),
            flag=("nan_asserts", "True"),
            cost=_COMPILE,
        ),
        *(
            Stage(
                name=name,
                what=f"printer mode {mode}: {what}",
                acts="codegen",
                environment=_printer(mode),
                flag=("debug_intermediate_value_printer", mode),
                cost=_COMPILE + cost,
            )
            for name, mode, what, cost in _PRINTS
        ),
        Stage(
            name="time",
            what="where the seconds of a call, a load and a compile go, and what is slow",
            acts="never",
            environment=_set(),
            cost="one run, and half a minute",
        ),
        Stage(
            name="minifier",
            what="PyTorch's own minifier: dump, launcher, and the reproduction run once",
            acts="codegen",
            environment=_minifier,
            flag=("dump_aoti_minifier", "True"),
            cost=f"{_COMPILE}, and one compile per candidate",
        ),
    )
}


def stage_named(name: str) -> Stage:
    try:
        return STAGES[name]
    except KeyError:
        known = ", ".join(STAGES)
        raise UnknownStage(f"there is no stage {name!r}", help=f"Choose one of: {known}.") from None


ALWAYS: Mapping[str, str] = {"PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"}
"""Set in every run: the printer does not flush, and a signal should leave a Python stack."""
