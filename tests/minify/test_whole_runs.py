"""A reproduction fails as the diagnosis says, with the weights and the operators of the script; a
fix is judged with the weights that it loads."""

from __future__ import annotations

from pathlib import Path

import pytest
from aoti_debug.probe.operator_source import before_use, cut
from programs import told

SCRIPT = """
import torch


class Gain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(12, 4))

    def forward(self, x):
        scaled = (x @ self.weight).exp()
        return scaled / scaled.sum(-1, keepdim=True)


exported = torch.export.export(Gain().eval(), (torch.ones(3, 12),))
options = {"aot_inductor.package_constants_in_so": False}
path = torch._inductor.aoti_compile_and_package(
    exported, package_path="gain.pt2", inductor_configs=options
)
model = torch._inductor.aoti_load_package(path)
model.load_constants({"weight": torch.full((12, 4), 100.0)}, check_full_update=True)
result = model(torch.ones(3, 12))
assert result.isfinite().all(), result
"""


Run = tuple[Path, str]  # where its script lies, and its name


@pytest.fixture(scope="module")
def overflowing(warm_python: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Triage a script whose loaded weights overflow: those of its export do not."""
    folder = tmp_path_factory.mktemp("weights") / "tree"
    folder.mkdir()
    (folder / "serve.py").write_text(SCRIPT)
    answer = told(folder, "triage", "serve.py", "--python", warm_python)
    assert answer["diagnosis"]["category"] == "nan_or_inf", answer
    return folder, answer["run"]


def test_a_reproduction_has_the_weights_that_were_loaded(overflowing: Run) -> None:
    answer = told(overflowing[0], "minify", overflowing[1])
    assert answer.get("reproduced"), answer
    assert "not finite" in answer["signature"]


def test_a_fix_is_judged_with_the_weights_that_it_loads(overflowing: Run) -> None:
    folder, run = overflowing
    (folder / "fixed.py").write_text(SCRIPT.replace("scaled = (x @ self.weight).exp()", STABLE))
    answer = told(folder, "verify", "fixed.py", "--against", run)
    assert answer.get("verdict") == "fixed", answer


STABLE = """\
scaled = x @ self.weight
        scaled = (scaled - scaled.amax(-1, keepdim=True)).exp()"""


TILING = """
import torch

LIBRARY = "imaging"


@torch.library.custom_op(f"{LIBRARY}::tile", mutates_args=())
def tile(x: torch.Tensor) -> torch.Tensor:
    return x.t().contiguous().t() * 2


@tile.register_fake
def _(x):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


class Mix(torch.nn.Module):
    def forward(self, x):
        return getattr(torch.ops, LIBRARY).tile(x) * torch.arange(7.0)


if __name__ == "__main__":
    x = torch.randn(12, 7)
    exported = torch.export.export(Mix().eval(), (x,))
    path = torch._inductor.aoti_compile_and_package(exported, package_path="mix.pt2")
    got = torch._inductor.aoti_load_package(path)(x)
    wanted = x * 2 * torch.arange(7.0)
    assert torch.allclose(got, wanted, atol=1e-4), "the package is wrong"
"""


def test_an_operator_of_a_library_whose_name_is_computed_comes_along(
    warm_python: str, tmp_path: Path
) -> None:
    (tmp_path / "mix.py").write_text(TILING)
    answer = told(tmp_path, "minify", "mix.py", "--python", warm_python)
    assert answer["diagnosis"]["category"] == "custom_op_fake_kernel", answer
    assert answer["reproduced"] and "wrong result" in answer["signature"], answer
    text = Path(answer["repro"]).read_text("utf-8")
    assert "def tile" in text and "class Mix" not in text


NARROW = """
import torch
OPS = {"up": 2.0, "down": 0.5}
library = torch.library.Library("mine", "DEF")

def add(name, factor):
    library.define(f"{name}(Tensor x) -> Tensor")
    library.impl(name, lambda x: x * factor, "CompositeExplicitAutograd")

for name, factor in OPS.items():
    add(name, factor)

model = torch.nn.Linear(3, 3)
exported = torch.export.export(model, (torch.ones(2, 3),))
print(exported)
"""


def test_a_file_is_kept_up_to_the_first_use_of_a_model() -> None:
    found = before_use(NARROW)
    assert "for name, factor" in found and "Linear" in found and "exported" not in found


def test_statements_are_cut_by_the_lines_that_registered_an_operator() -> None:
    lines = TILING.splitlines()
    place = {lines.index("    return x.t().contiguous().t() * 2") + 1}
    found = cut(TILING, "imaging", place)
    assert "def tile" in found and "register_fake" in found and "class Mix" not in found
