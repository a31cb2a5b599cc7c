"""Say of a package, without loading it, what keeps its calls from being held in a CUDA graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from aoti_debug.package.record import CompiledModel, Launch, Wrapper

# "refused": the capture raises. "stale": each replay uses what was so at the capture. "own rules":
# it depends on code that is not the package's. "per size": one capture for each. Worst first.
Kind = Literal["refused", "stale", "own rules", "per size", "before"]
# Operators whose sizes or values the host waits for.
WAITS = frozenset(
    """
    nonzero masked_select unique2 _unique2 unique_dim unique_consecutive repeat_interleave_Tensor
    bincount _local_scalar_dense histc histogram multinomial linalg_eigh linalg_svd linalg_eig
    linalg_lstsq linalg_inv_ex _linalg_eigh _linalg_svd segment_reduce randperm
    """.split()
)


@dataclass(frozen=True, slots=True)
class Blocker:
    kind: Kind
    what: str
    launch: int | None = None

    @property
    def blocks(self) -> bool:
        return self.kind in ("refused", "stale")


def blockers(model: CompiledModel) -> tuple[Blocker, ...]:
    """Return what stands against a capture, the worst first; nothing for what runs on no GPU."""
    if model.device != "cuda" or model.wrapper is None:
        return ()
    order = get_args(Kind)
    return tuple(sorted(_blockers(model, model.wrapper), key=lambda one: order.index(one.kind)))


def _blockers(model: CompiledModel, wrapper: Wrapper) -> Iterator[Blocker]:
    for launch in wrapper.launches:
        yield from _of_launch(launch, model)
    if wrapper.host_reads:
        said = f"{wrapper.host_reads} values of tensors are read on the host (.item()), which waits"
        yield Blocker("refused", said)
    for one in wrapper.inputs:
        if one.device == "cpu":
            yield Blocker("stale", f"input {one.name} is on the CPU: replays use its value of then")
    if any(constant.device == "cpu" for constant in wrapper.constants):
        yield Blocker("stale", "it holds constants on the CPU, which are used at the capture only")
    sizes = [one.name for one in wrapper.symbols if one.name.startswith("s")]
    if sizes:
        yield Blocker("per size", f"sizes {', '.join(sizes[:4])} are free: one capture for each")
    if any(constant.folded for constant in wrapper.constants):
        yield Blocker("before", "constants are folded in the first call: call once before")


def _of_launch(launch: Launch, model: CompiledModel) -> Iterator[Blocker]:
    operator = launch.kernel.removeprefix("aoti_torch_cuda_")
    if launch.kind == "cpp" or launch.kernel.startswith("aoti_torch_cpu_"):
        said = f"{launch.kernel} runs on the CPU, at the capture only"
        yield Blocker("stale", said, launch.number)
    elif launch.kind == "custom_op":
        name = model.operator_of(launch)
        said = f"{name} is called through the runtime: what it does on the host is not replayed"
        yield Blocker("own rules", said, launch.number)
    elif launch.kind == "extern" and operator.removesuffix("_out") in WAITS:
        yield Blocker("refused", f"{operator} makes the host wait for its result", launch.number)
