"""What healthy packages of four torch releases say, one of them compiled on an H200."""

from __future__ import annotations

import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aoti_debug.answers import PackageAnswer
from aoti_debug.diagnose import Observations
from aoti_debug.diagnose.from_device_assert import kernel_name
from aoti_debug.environment import installed
from aoti_debug.package.answer import answer as answer_of
from aoti_debug.package.archive import MEMBERS_LIMIT
from aoti_debug.package.compatibility import will_it_load
from aoti_debug.package.contract import one_line
from aoti_debug.package.host_facts import HostFacts, host_facts
from aoti_debug.package.inspect import answer, inspect
from aoti_debug.package.record import CompiledModel, Dim, Package, Wrapper
from aoti_debug.package.wrapper import read_wrapper
from aoti_debug.read.record import DeviceAssert
from aoti_debug.read.scan import scan_text
from aoti_debug.report.short import compact
from aoti_debug.tools.fit import answer as tool_answer
from recordings import change, members, write, zeros

LINEAR_CALLS = ["aoti_torch_cpu_addmm_out", "aoti_torch_cpu_cumsum", "aoti_torch_cpu_addmm_out"]


def only_model(path: Path) -> CompiledModel:
    package = inspect(path)
    assert not package.flaws
    (model,) = package.models
    return model


def wrapper_of(model: CompiledModel) -> Wrapper:
    assert model.wrapper is not None
    return model.wrapper


def of_release(packages: Path, release: str) -> Wrapper:
    return wrapper_of(only_model(packages / f"torch-{release}" / "dyn.pt2"))


@pytest.mark.parametrize(
    ("release", "layout", "written_by"),
    [
        ("2.13", "prefixed", "2.10 or later"),
        ("2.9", "prefixed", "2.8 or 2.9"),
        ("2.6", "root", "2.6"),
    ],
)
def test_a_healthy_package_has_no_flaws(
    packages: Path, release: str, layout: str, written_by: str
) -> None:
    package = inspect(packages / f"torch-{release}" / "dyn.pt2")
    assert (package.layout, package.written_by, package.flaws) == (layout, written_by, ())
    device, library = package.models[0].device, package.models[0].library
    assert library is not None
    assert (device, library.machine, library.model) == ("cpu", "x86_64", True)
    assert "libtorch_cpu.so" in library.needed and not library.static_libstdcxx
    assert dict(library.versions)["GLIBC"] == "2.34"


@pytest.mark.parametrize(("release", "symbol"), [("2.13", "s23 in "), ("2.9", "")])
def test_inputs_come_with_sizes_bounds_strides_and_device(
    packages: Path, release: str, symbol: str
) -> None:
    wrapper = of_release(packages, release)
    assert [one_line(one) for one in wrapper.inputs] == [
        f"float32[{symbol}2..64, 10] on cpu, strides (10, 1)",
        f"int64[{symbol}2..64] on cpu, strides (1)",
    ]
    assert (wrapper.checks, wrapper.leaves, wrapper.outputs) == ("environment", 3, 1)
    symbols = {one.name: one.expression for one in wrapper.symbols}
    assert not symbol or symbols["s23"] == "arg5_1_size[0]"


def test_torch_2_6_states_no_contract(packages: Path) -> None:
    wrapper = of_release(packages, "2.6")
    assert [one.dims for one in wrapper.inputs] == [None, None]
    # Its dtype is from the pointer type of its first use.
    assert one_line(wrapper.inputs[1]) == "int64, sizes not stated"
    assert wrapper.checks == "none"


@pytest.mark.parametrize("release", ["2.13", "2.9", "2.6"])
def test_launches_are_in_order_and_constants_those_not_inlined(
    packages: Path, release: str
) -> None:
    wrapper = of_release(packages, release)
    assert [one.kernel for one in wrapper.launches if one.kind == "extern"] == LINEAR_CALLS
    assert [one.number for one in wrapper.launches] == [1, 2, 3, 4, 5, 6]
    assert "aten.addmm" in wrapper.launches[0].ops
    assert wrapper.launches[0].nodes == ("linear",)
    assert [(c.fqn, c.shape, c.dtype, c.kind) for c in wrapper.constants] == [
        ("fc.weight", (16, 10), "float32", "Parameter"),
        ("fc.bias", (16,), "float32", "Parameter"),
        ("fc2.weight", (4, 16), "float32", "Parameter"),
    ]  # fc2.bias (4 elements) and scale (1) are literals in the kernels


@pytest.mark.parametrize("release", ["2.13", "2.9"])
def test_provenance_leads_to_the_model_line(packages: Path, release: str) -> None:
    model = only_model(packages / f"torch-{release}" / "dyn.pt2")
    fused = next(o for o in model.origins if o.kernel.startswith("cpp_fused__to_copy"))
    assert "relu" in fused.nodes_before
    place = fused.source[0]
    assert (place.file.rpartition("/")[2], place.line) == ("make.py", 11)
    assert place.text == "h=h+ids.float().unsqueeze(-1)*k"
    linear = next(o for o in model.origins if o.kernel == "aoti_torch_cpu_addmm_out")
    assert linear.source[0].text == "h=torch.relu(s.fc(x))"  # the user's frame, not torch's


def test_derived_and_unbounded_sizes_keep_their_expression(newest: Path) -> None:
    text = (newest / "shapes.wrapper.cpp").read_text()
    wrapper = read_wrapper("shapes.wrapper.cpp", text)
    x, y, z, w = (one.dims for one in wrapper.inputs)
    assert x == (Dim(None, 4, 32, "2L*s40", 1),)
    assert y == (Dim(1, stride=5), Dim(5, stride=1))
    assert z is not None and (z[0].low, z[0].high) == (2, 1000)
    assert w == (Dim(4, stride=1), Dim(3, stride=4))


def test_custom_operators_are_named(newest: Path) -> None:
    path = newest / "custom.pt2"
    assert [op.target for op in only_model(path).custom_ops] == ["demo::twice"]
    found = answer(path)
    assert [one.kernel for one in found.models[0].launches][-1] == "demo::twice"
    problems = [p for p in found.problems if "this processor lacks" not in p.what]
    assert [p.category for p in problems] == ["custom_op_missing"]


def test_several_models_are_told_apart(newest: Path) -> None:
    package = inspect(newest / "two.pt2")
    assert [m.name for m in package.models] == ["first", "second"]
    sizes = [m.wrapper.inputs[0].dims for m in package.models if m.wrapper]
    assert sizes == [(Dim(4, stride=1),), (Dim(6, stride=1),)]
    assert [flaw.severity for flaw in package.flaws] == ["may_break"]
    assert "load_package(path, model_name='first')" in (package.flaws[0].fix or "")


def test_a_folder_of_too_many_files_is_not_walked_to_its_end(tmp_path: Path) -> None:
    for number in range(MEMBERS_LIMIT + 1):
        (tmp_path / str(number)).touch()
    (flaw,) = inspect(tmp_path).flaws
    assert (flaw.category, f"{MEMBERS_LIMIT:,}" in flaw.what) == ("package_corrupt", True)


def test_a_bare_library_and_a_directory_are_read(dyn: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(dyn) as archive:
        archive.extractall(tmp_path / "folder")
    library = next((tmp_path / "folder").rglob("*.so"))
    shutil.copy(library, tmp_path / "model.so")
    bare = inspect(tmp_path / "model.so")
    assert bare.layout == "library"
    assert bare.models[0].library is not None and bare.models[0].library.model
    folder = inspect(tmp_path / "folder")
    assert (folder.layout, folder.flaws) == ("directory", ())
    assert len(wrapper_of(folder.models[0]).inputs) == 2


def told(found: PackageAnswer) -> str:
    """Return what the tool sends of an answer."""
    return compact(tool_answer(found).structured_content or {})


@pytest.mark.parametrize("name", ["dyn", "two", "disk", "custom"])
def test_an_answer_is_short_and_has_no_nulls(newest: Path, name: str) -> None:
    text = told(answer(newest / f"{name}.pt2", check_inputs="/home/check.py"))
    assert len(text) < 8_000
    assert "null" not in text


def test_a_large_model_gives_a_cut_answer_with_counts(dyn: Path, tmp_path: Path) -> None:
    launch = b"    cpp_fused_1((float*)(buf4.data_ptr()));\n"
    grown = change(members(dyn), "wrapper.cpp", lambda d: d.replace(launch, launch * 5_000))
    found = answer(write(tmp_path / "large.pt2", grown))
    assert found.models[0].launches_count == 5_005
    assert len(found.models[0].launches) < 100
    assert len(told(found)) < 8_000


def test_a_huge_package_is_read_without_its_weights(newest: Path, tmp_path: Path) -> None:
    entries = members(newest / "disk.pt2")
    path = zeros(tmp_path / "huge.pt2", "disk/data/weights/weight_2", 1 << 30, entries)
    package = inspect(path)
    assert package.bytes > 1 << 30
    assert [(f.category, f.severity) for f in package.flaws] == [("constants_missing", "may_break")]
    weights = package.models[0].weights
    assert [m.name for m in weights] == [f"data/weights/weight_{number}" for number in range(3)]
    assert max(m.size for m in weights) == 1 << 30


def test_a_compressed_archive_is_read_too(dyn: Path, tmp_path: Path) -> None:
    package = inspect(write(tmp_path / "deflated.pt2", members(dyn), compress=True))
    assert package.flaws == ()
    assert package.models[0].library is not None and package.models[0].library.model


FIRST = "triton_poi_fused_embedding_mul_unsqueeze_0"
LAST = "triton_per_fused_addmm_relu_sum_view_1"
LAB = HostFacts("2.11.0", "13.0", gpus=((9, 0),), glibc="2.39", machine="x86_64", platform="linux")


@pytest.fixture(scope="module")
def package(packages: Path) -> Package:
    return inspect(packages / "torch-2.11" / "embedding.pt2")


@pytest.fixture(scope="module")
def model(package: Package) -> CompiledModel:
    assert (package.flaws, package.layout) == ((), "prefixed")
    (found,) = package.models
    return found


@pytest.fixture(scope="module")
def wrapper(model: CompiledModel) -> Wrapper:
    return wrapper_of(model)


def test_each_triton_kernel_has_its_binary_for_the_gpu(
    model: CompiledModel, wrapper: Wrapper
) -> None:
    binaries = {one.member: one.architectures for one in model.binaries}
    assert {one.name for one in wrapper.kernels} == {FIRST, LAST}
    assert [binaries[str(one.binary)] for one in wrapper.kernels] == [("sm_90",)] * 2
    first = wrapper.kernels[0]
    assert str(first.source).startswith("async_compile.triton(") and not first.embedded
    assert "\n    tl.device_assert(" in str(first.source)
    assert first.asserts[0].startswith("tl.device_assert(((0 <= tmp4)")


def test_kernels_lead_to_the_lines_of_the_model(package: Package) -> None:
    (shown,) = answer_of(package).models
    assert (shown.architectures, shown.triton_kernels) == (["sm_90"], 2)
    assert str(shown.launches[0].binary).endswith(".cubin")
    launches = [(one.kind, one.kernel, *one.source) for one in shown.launches]
    of_table, of_fc = (launch.source[0] for launch in shown.launches[:2])
    assert (of_table.line, of_table.text) == (55, "h = self.table(ids) * weight.unsqueeze(-1)")
    assert (of_fc.line, of_fc.text) == (56, "return torch.relu(self.fc(h)).sum(1)")
    assert launches == [
        ("triton", FIRST, of_table),
        ("extern", "aoti_torch_cuda_mm_out", of_fc),
        ("triton", LAST, of_fc),
    ]
    assert shown.launches[2].ops == ["aten.addmm", "aten.view", "aten.relu", "aten.sum"]


def test_of_two_kernels_with_one_check_the_printed_line_tells(
    package: Package, model: CompiledModel, wrapper: Wrapper
) -> None:
    """Triton prints such a check without its kernel, but with the line of the file it compiled."""
    first = wrapper.kernels[0]
    assert "tmp4 < 1000" in first.line(34)
    moved = replace(first, name="another", source=f"\n\n{first.source}")
    wrapper = replace(wrapper, kernels=(first, moved))
    package = replace(package, models=(replace(model, wrapper=wrapper),))
    assert [kernel_of(package, line) for line in (34, 36, 40)] == [first.name, "another", "cabc.py"]


def kernel_of(package: Package, line: int) -> str:
    """Return the kernel that is named for the same check, printed of a line."""
    text = f"/c/ab/cabc.py:{line}: unknown: block: [1,3,0], thread: [37,0,0] Assertion `"
    read = scan_text(f"{text}index out of bounds: 0 <= tmp4 < 1000` failed.\n", "stderr.log")
    seen = Observations(read.records, package=package)
    (found,) = seen.of(DeviceAssert)
    return kernel_name(seen, found)


def test_inputs_and_constants_are_read(model: CompiledModel, wrapper: Wrapper) -> None:
    assert model.device == "cuda"
    rest = "[2..512, 32] on cuda, strides (32, 1), aligned to 16 bytes"
    assert [one_line(one) for one in wrapper.inputs] == [f"int64{rest}", f"float32{rest}"]
    constants = {one.fqn: (one.dtype, one.shape) for one in wrapper.constants}
    assert constants == {
        "table.weight": ("float32", (1000, 64)),
        "fc.weight": ("float32", (64, 64)),
        "fc.bias": ("float32", (64,)),
    }
    assert wrapper.symbols[0].expression == "arg3_1_size[0]"


def test_it_loads_where_it_was_compiled(package: Package) -> None:
    assert [p for p in will_it_load(package, LAB) if p.severity == "breaks"] == []


NO_GPU: dict[str, Any] = {"gpus": (), "torch_cuda": None, "torch": "2.13.0"}


@pytest.mark.parametrize(
    ("other", "category", "message"),
    [
        (NO_GPU, "device_unavailable", "AssertionError: Torch not compiled with CUDA enabled"),
        ({**NO_GPU, "torch": "2.9.1"}, "device_unavailable", "Segmentation fault (core dumped)"),
        (
            {**NO_GPU, "torch": "2.15.0"},
            "device_unavailable",
            "Cannot load AOTInductor package for device 'cuda' because CUDA is not available in "
            "this process.",
        ),
        (
            {"gpus": ((8, 0),)},
            "package_incompatible",
            "CUDA driver error: no kernel image is available for execution on the device",
        ),
        (
            {"glibc": "2.36"},
            "package_incompatible",
            "Error in dlopen: /lib/…/libc.so.6: version `GLIBC_2.38' not found (required by "
            "…/c62bf7yka5pcls44npinxmkq5s7lf6pv7ledgneslyevgdt2spxh.wrapper.so)",
        ),
    ],
    ids=["no GPU", "2.9 without", "2.15 without", "an older GPU", "an older C library"],
)
def test_where_it_does_not_load_the_first_words_are_told(
    package: Package, other: dict[str, Any], category: str, message: str
) -> None:
    first = will_it_load(package, replace(LAB, **other))[0]
    assert (first.category, first.message, first.confidence) == (category, message, "proved")


def test_a_torch_without_cuda_lacks_its_symbols_for_that_reason(package: Package) -> None:
    installed_here = installed(os.environ["AOTI_DEBUG_PYTHON"])
    if installed_here.torch_cuda is not None:  # a CUDA build has them
        return
    found = will_it_load(package, host_facts(installed_here))
    symbol = next(one for one in found if one.category == "missing_symbol")
    assert "it is a CPU build, and the package is for CUDA" in symbol.what
