"""A program that an earlier run compiled is not compiled again; one that differs in anything is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from programs import changed, once

from .conftest import Ran, events_in, run_python

OPERATORS = """
import torch

SCALE = 2.0


def scaled(x):
    return x * SCALE


def define(name, real, fake):
    operator = torch.library.custom_op(name, mutates_args=())(real)
    operator.register_fake(fake)


def same(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def first(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def second(x: torch.Tensor) -> torch.Tensor:
    return scaled(x)


def alike(x):
    return torch.empty_like(x)


def alike_too(x):
    return torch.empty_like(x)


def started(x: torch.Tensor) -> torch.Tensor:
    import os
    return x * len(os.environ)


define("mine::same", same, alike)
define("mine::real", first, alike)
define("mine::fake", same, alike_too)
define("mine::helper", second, alike)
define("mine::outside", started, alike)
"""

PROGRAMS = """
import os
import sys

import torch

import operators

OPTIONS = {"aot_inductor.package_cpp_only": True}  # no compiler runs: that is not looked at here


class Model(torch.nn.Module):
    def __init__(self, operator=None):
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(4, 4)
        self.operator = operator

    def forward(self, x):
        x = self.linear(x).relu()
        return getattr(torch.ops.mine, self.operator)(x) if self.operator else x


def compiled(model, name, most=64, options=OPTIONS):
    batch = torch.export.Dim("batch", min=2, max=most)
    program = torch.export.export(model.eval(), (torch.rand(4, 4),), dynamic_shapes=({0: batch},))
    return torch._inductor.aoti_compile_and_package(
        program, package_path=f"{name}.pt2", inductor_configs=dict(options)
    )


def operators_of():
    for operator in ("same", "real", "fake", "helper", "outside"):
        compiled(Model(operator), operator)
"""

FIRST = PROGRAMS + "compiled(Model(), 'first')\noperators_of()\n"

AGAIN = (
    "# lines are moved\n\n\n"
    + PROGRAMS
    + """
compiled(Model(), "again")
changed = Model()
changed.linear.weight.data[0, 0] += 1e-6
compiled(changed, "weight")
compiled(Model(), "bound", most=128)
compiled(Model(), "option", options={**OPTIONS, "epilogue_fusion": False})
os.environ["CXXFLAGS"] = "-g"
compiled(Model(), "environment")
del os.environ["CXXFLAGS"]
torch.set_float32_matmul_precision("medium")
compiled(Model(), "flags")
torch.set_float32_matmul_precision("highest")
compiled(Model(), "debug", options={**OPTIONS, "nan_asserts": True})
os.environ["AOTI_DEBUG_COMPILE_ANEW"] = "1"
compiled(Model(), "anew")
del os.environ["AOTI_DEBUG_COMPILE_ANEW"]
operators_of()
"""
)

KERNELS = """
import json

import torch
from torch._higher_order_ops.triton_kernel_wrap import (
    kernel_side_table,
    triton_kernel_wrapper_mutation,
)
from _aoti_debug_probe.identity import Teller, digest


class JITFunction:  # Triton's own needs a GPU's package; what is read of it is `fn`
    def __init__(self, fn):
        self.fn = fn


JITFunction.__module__ = "triton.runtime.jit"


def kernel(text):
    names = {}
    exec(text, names)
    function = JITFunction(names["add"])
    if "scaled" in names:
        names["scaled"] = JITFunction(names["scaled"])
    graph = torch.fx.Graph()
    about = {"kernel_idx": kernel_side_table.add_kernel(function)}
    about["constant_args_idx"] = kernel_side_table.add_constant_args({"BLOCK": 128})
    graph.call_function(triton_kernel_wrapper_mutation, (), {**about, "grid": [(1,)]})
    graph.output(())
    return digest(Teller().graph(torch.fx.GraphModule({}, graph)))


ADD = "def scaled(x):\\n    return x * 2\\n\\ndef add(x):\\n    return scaled(x) + 1\\n"
found = [kernel(ADD), kernel("\\n\\n" + ADD), kernel(ADD.replace("+ 1", "+ 2"))]
found.append(kernel(ADD.replace("x * 2", "x * 3")))
print(json.dumps(found))
"""


def offered(ran: Ran, to: Path) -> Path:
    """Write down the packages that a run left, as the server does."""
    found = []
    for record in sorted((ran.directory / "capture").glob("compiled-*.json")):
        one = json.loads(record.read_text())
        found.append({**one, "file": str(record.parent / one["package"]), "run": "r-first"})
    to.write_text(json.dumps({"same_lines": False, "packages": found}))
    return to


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory, python: str) -> Ran:
    def make(directory: Path) -> None:
        (directory / "operators.py").write_text(OPERATORS)
        (directory / "first.py").write_text(FIRST)
        run_python(directory, "first.py", python=python)

    directory = once("reuse", tmp_path_factory, make)
    return Ran(0, "", "", directory, events_in(directory))


Compiles = dict[str, dict[str, Any]]


def compiles(ran: Ran) -> Compiles:
    """Return what the begin and the end of each compile told, by the package's name."""
    found = {}
    for begin in ran.begun("lower"):
        end = ran.end_of(begin)
        assert end is not None
        found[Path(end["package"]["path"]).stem] = {**begin, **end}
    return found


@pytest.fixture(scope="session")
def again(first: Ran, tmp_path_factory: pytest.TempPathFactory, python: str) -> Compiles:
    directory = tmp_path_factory.mktemp("again")
    first_one = "def first(x: torch.Tensor) -> torch.Tensor:\n    return x"
    fake = "def alike_too(x):\n    return "
    changes = [
        (f"{first_one}.clone()", f"{first_one} + 0"),
        (f"{fake}torch.empty_like(x)", f"{fake}x.new_empty(x.shape)"),
        ("SCALE = 2.0", "SCALE = 3.0"),
    ]
    (directory / "operators.py").write_text("# moved\n" + changed(OPERATORS, changes))
    (directory / "again.py").write_text(AGAIN)
    offers = offered(first, directory / "offers.json")
    env = {"AOTI_DEBUG_REUSE": str(offers)}
    return compiles(run_python(directory, "again.py", env=env, python=python))


def test_an_equal_program_gets_the_package_of_the_run_that_compiled_it(
    first: Ran, again: Compiles
) -> None:
    kept = first.directory / "capture" / "package-1.pt2"
    for name, of in (("again", "first"), ("same", "same")):
        assert again[name]["reused"]["run"] == "r-first"
        package = Path(again[name]["package"]["path"])
        assert package.read_bytes() == (first.directory / f"{of}.pt2").read_bytes()
        assert not package.samefile(kept), "the program may write over it"


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("weight", "constants"),
        ("bound", "sizes"),
        ("option", "options"),
        ("environment", "environment"),
        ("flags", "flags"),
        ("real", "operators"),
        ("fake", "operators"),
        ("helper", "operators"),
    ],
)
def test_a_difference_is_compiled(again: Compiles, name: str, part: str) -> None:
    assert "reused" not in again[name]
    assert part in again[name]["different"]


@pytest.mark.parametrize("name", ["outside", "debug"])
def test_what_cannot_be_compared_is_compiled(again: Compiles, name: str) -> None:
    assert again[name]["ok"]
    assert again[name]["incomparable"]
    assert "reused" not in again[name]


def test_a_compile_that_is_wanted_anew_is_done(again: Compiles) -> None:
    assert "reused" not in again["anew"]


def test_a_kernel_of_triton_differs_by_its_source_and_by_what_it_calls(
    tmp_path: Path, python: str
) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    ran = run_python(tmp_path, "kernels.py", python=python)
    base, moved, changed, beneath = json.loads(ran.stdout)
    assert base == moved
    assert len({base, changed, beneath}) == 3


@pytest.mark.parametrize("fault", ["changed", "open", "link"])
def test_a_package_that_anybody_may_have_written_is_not_taken(
    first: Ran, tmp_path: Path, python: str, fault: str
) -> None:
    (tmp_path / "operators.py").write_text(OPERATORS)
    (tmp_path / "script.py").write_text(PROGRAMS + "compiled(Model(), 'again')\n")
    package = tmp_path / "package-1.pt2"
    data = (first.directory / "capture" / "package-1.pt2").read_bytes()
    package.write_bytes(data + b" " if fault == "changed" else data)
    package.chmod(0o666 if fault == "open" else 0o600)
    if fault == "link":
        package.rename(tmp_path / "other.pt2")
        package.symlink_to(tmp_path / "other.pt2")
    offers = json.loads(offered(first, tmp_path / "offers.json").read_text())
    for one in offers["packages"]:
        one["file"] = os.fspath(package)
    (tmp_path / "offers.json").write_text(json.dumps(offers))
    env = {"AOTI_DEBUG_REUSE": str(tmp_path / "offers.json")}
    found = compiles(run_python(tmp_path, "script.py", env=env, python=python))
    assert found["again"]["ok"]
    assert "reused" not in found["again"]
