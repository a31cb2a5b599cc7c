"""A package compiled on an H200, read on a machine without a GPU."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from aoti_debug.environment import installed
from aoti_debug.package.answer import answer
from aoti_debug.package.compatibility import will_it_load
from aoti_debug.package.contract import one_line
from aoti_debug.package.here import Here, here
from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import CompiledModel, Package

FIRST = "triton_poi_fused_embedding_mul_unsqueeze_0"
LAST = "triton_per_fused_addmm_relu_sum_view_1"
LAB = Here(
    torch="2.11.0",
    torch_cuda="13.0",
    gpus=((9, 0),),
    machine="x86_64",
    platform="linux",
    glibc="2.39",
)


@pytest.fixture(scope="module")
def package(packages: Path) -> Package:
    return inspect(packages / "torch-2.11" / "embedding.pt2")


@pytest.fixture(scope="module")
def model(package: Package) -> CompiledModel:
    (found,) = package.models
    return found


def test_it_has_no_flaw(package: Package) -> None:
    assert (package.flaws, package.layout) == ((), "prefixed")


def test_kernels_are_in_launch_order_with_their_operators(model: CompiledModel) -> None:
    assert model.wrapper is not None
    launches = [(one.number, one.kind, one.kernel) for one in model.wrapper.launches]
    assert launches == [
        (1, "triton", FIRST),
        (2, "extern", "aoti_torch_cuda_mm_out"),
        (3, "triton", LAST),
    ]
    assert model.wrapper.launches[0].ops == ("aten.embedding", "aten.unsqueeze", "aten.mul")
    assert model.wrapper.launches[2].ops == ("aten.addmm", "aten.view", "aten.relu", "aten.sum")


def test_each_triton_kernel_has_its_binary_for_the_gpu(model: CompiledModel) -> None:
    assert model.wrapper is not None
    binaries = {one.member: one for one in model.binaries}
    for kernel in model.wrapper.kernels:
        assert kernel.binary is not None
        binary = binaries[kernel.binary]
        assert (binary.kind, binary.architectures) == ("cubin", ("sm_90",))
        assert kernel.function == kernel.name
    assert {one.name for one in model.wrapper.kernels} == {FIRST, LAST}


def test_kernels_lead_to_the_lines_of_the_model(package: Package) -> None:
    (shown,) = answer(package).models
    lines = [(one.source[0].line, one.source[0].text) for one in shown.launches]
    assert lines == [
        (55, "h = self.table(ids) * weight.unsqueeze(-1)"),
        (56, "return torch.relu(self.fc(h)).sum(1)"),
        (56, "return torch.relu(self.fc(h)).sum(1)"),
    ]


def test_inputs_and_constants_are_read(model: CompiledModel) -> None:
    assert model.device == "cuda"
    assert model.wrapper is not None
    assert [one_line(one) for one in model.wrapper.inputs] == [
        "int64[2..512, 32] on cuda, strides (32, 1), aligned to 16 bytes",
        "float32[2..512, 32] on cuda, strides (32, 1), aligned to 16 bytes",
    ]
    constants = {one.fqn: (one.dtype, one.shape) for one in model.wrapper.constants}
    assert constants == {
        "table.weight": ("float32", (1000, 64)),
        "fc.weight": ("float32", (64, 64)),
        "fc.bias": ("float32", (64,)),
    }
    assert model.wrapper.symbols[0].expression == "arg3_1_size[0]"


def test_it_loads_where_it_was_compiled(package: Package) -> None:
    assert [p for p in will_it_load(package, LAB) if p.severity == "breaks"] == []


@pytest.mark.parametrize(
    ("change", "category", "message"),
    [
        ({"gpus": (), "torch_cuda": None, "torch": "2.13.0"}, "device_unavailable",
         "AssertionError: Torch not compiled with CUDA enabled"),
        ({"gpus": ((8, 0),)}, "package_incompatible",
         "CUDA driver error: no kernel image is available for execution on the device"),
        ({"glibc": "2.36"}, "package_incompatible",
         "Error in dlopen: /lib/…/libc.so.6: version `GLIBC_2.38' not found (required by "
         "…/c62bf7yka5pcls44npinxmkq5s7lf6pv7ledgneslyevgdt2spxh.wrapper.so)"),
    ],
    ids=["no GPU", "an older GPU", "an older C library"],
)  # fmt: skip
def test_where_it_does_not_load_the_first_words_are_told(
    package: Package, change: dict[str, object], category: str, message: str
) -> None:
    first = will_it_load(package, replace(LAB, **change))[0]  # type: ignore[arg-type]
    assert (first.category, first.message, first.confidence) == (category, message, "proved")


def test_a_torch_without_cuda_lacks_its_symbols_for_that_reason(package: Package) -> None:
    installed_here = installed(os.environ["AOTI_DEBUG_PYTHON"])
    if installed_here.torch_cuda is not None:  # a CUDA build has them
        return
    found = [p for p in will_it_load(package, here(installed_here))
             if p.category == "missing_symbol"]  # fmt: skip
    assert "it is a CPU build, and the package is for CUDA" in found[0].what
