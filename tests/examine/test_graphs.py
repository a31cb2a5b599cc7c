"""What keeps the calls of a package from being held in a CUDA graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from aoti_debug.examine.graphs import verdict_of
from aoti_debug.examine.process import examine_request
from aoti_debug.kinds import GRAPHS
from aoti_debug.package.graph_capture import blockers
from aoti_debug.package.inspect import inspect
from aoti_debug.package.record import CompiledModel, CustomOp
from aoti_debug.package.wrapper import read_wrapper
from aoti_debug.read.examine_reports import GraphsReport
from aoti_debug.report.answers import outline
from aoti_debug.report.text import markdown
from conftest import Built
from examine.conftest import answered

BODY = """
void AOTInductorModel::run_impl(
) {{
    auto arg0_1 = std::move(inputs[0]);
    {line}
}} // AOTInductorModel::run_impl
"""
CALL = "AOTI_TORCH_ERROR_CODE_CHECK({}(arg0_1, &buf0_handle));"
LINES = {
    "call_triton_poi_fused_relu_0(arg0_1, buf0, 512L, stream);": None,
    CALL.format("aoti_torch_cuda_addmm_out"): None,
    CALL.format("aoti_torch_cuda_nonzero"): ("refused", "nonzero makes the host wait"),
    CALL.format("aoti_torch_cuda_masked_select"): ("refused", "masked_select makes"),
    CALL.format("aoti_torch_cpu_addmm_out"): ("stale", "runs on the CPU, at the capture only"),
    CALL.format("aoti_torch_item_int64"): ("refused", "read on the host"),
    "cpp_fused_sin_0((const float*)(arg0_1.data_ptr()));": ("stale", "cpp_fused_sin_0 runs"),
    "aoti_torch_proxy_executor_call_function(proxy_executor, 0, 0, nullptr);": (
        *("own rules", "mine::scale is called through the runtime"),
    ),
}


def compiled(line: str, device: str = "cuda") -> CompiledModel:
    wrapper = read_wrapper("model.wrapper.cpp", BODY.format(line=line))
    operator = (CustomOp("mine::scale"),)
    metadata = {"AOTI_DEVICE_KEY": device}
    return CompiledModel("model", "", metadata, wrapper, custom_ops=operator)


@pytest.mark.parametrize(("line", "expected"), LINES.items(), ids=str)
def test_a_line_of_the_wrapper_says_what_stands_against_a_capture(
    line: str, expected: tuple[str, str] | None
) -> None:
    found = blockers(compiled(line))
    if expected is None:
        assert not found
    else:
        assert found[0].kind == expected[0]
        assert expected[1] in found[0].what
    assert not blockers(compiled(line, "cpu"))


def test_a_recorded_package_of_a_gpu_needs_a_capture_for_each_size(packages: Path) -> None:
    found = [model for path in packages.rglob("*.pt2") for model in inspect(path).models]
    (model,) = (one for one in found if one.device == "cuda")
    (one,) = blockers(model)
    assert (one.kind, one.blocks) == ("per size", False)


def test_what_a_capture_gave_counts_most() -> None:
    barred = blockers(compiled(CALL.format("aoti_torch_cuda_nonzero")))
    assert verdict_of("cuda", barred, GraphsReport())[0] == "not fit"
    assert verdict_of("cuda", barred, GraphsReport(tried="captured"))[0] == "fit"
    assert verdict_of("cuda", (), GraphsReport(tried="wrong", said="a replay"))[0] == "not fit"
    assert verdict_of("cuda", (), GraphsReport())[0] == "fit"


def test_a_package_for_the_cpu_is_refused(built: Built, warm_python: str, tmp_path: Path) -> None:
    request = examine_request(str(built.directory / "dynamic.pt2"), python=warm_python)
    found = answered(GRAPHS, request, tmp_path / "home")
    assert found.graphs == "not fit"
    assert "the package is for cpu" in markdown(outline(found))
