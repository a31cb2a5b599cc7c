"""The code blocks of the guides run; recipes that once did harm, on models that have what a toy
lacks."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from guides.documents import GUIDES, SKILL, Block, blocks, runnable, text_of
from programs import once, torch_python

ALL = [block for path in (SKILL, *GUIDES) for block in blocks(path)]
PYTHON = [b for b in ALL if b.language == "python"]
BASH = [b for b in ALL if b.language == "bash"]


@pytest.mark.parametrize("block", [b for b in PYTHON if runnable(b)], ids=lambda b: b.name)
def test_a_python_block_runs_as_it_stands(block: Block, outcome: Callable[[str], str]) -> None:
    assert outcome(block.name) == ""


@pytest.mark.parametrize("block", PYTHON, ids=lambda b: b.name)
def test_a_python_block_is_python(block: Block) -> None:
    ast.parse(block.source)
    assert all(len(line) <= 120 for line in block.source.splitlines())


@pytest.mark.parametrize("block", BASH, ids=lambda b: b.name)
def test_a_shell_block_is_shell(block: Block) -> None:
    bash = shutil.which("bash")
    assert bash
    checked = subprocess.run([bash, "-n"], input=block.source, text=True, capture_output=True)
    assert checked.stderr == ""


def test_every_block_says_what_it_is() -> None:
    said = {(b.language, *(w for w in b.words if not w.startswith("since="))) for b in ALL}
    known = {"python", "python gpu", "python compile", "bash", "text", "cpp", "toml"}
    assert set(map(" ".join, said)) <= known


def test_few_blocks_compile() -> None:
    assert len([b for b in ALL if "compile" in b.words]) <= 2


def test_the_c_plus_plus_host_compiles(warm_python: str, tmp_path: Path) -> None:
    [block] = [b for b in ALL if b.language == "cpp"]
    (tmp_path / "host.cpp").write_text(block.source, "utf-8")
    asked = "from torch.utils.cpp_extension import include_paths as p; print(*p(), sep='\\n')"
    found = subprocess.run([warm_python, "-c", asked], capture_output=True, text=True)
    includes = [f"-I{path}" for path in found.stdout.split()]
    argv = [os.environ.get("CXX", "g++"), "-std=c++20", "-fsyntax-only", *includes, "host.cpp"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def block_with(guide: str, words: str) -> str:
    """Return the Python block of a guide that holds the words."""
    return next(b.source for b in PYTHON if b.document == guide and words in b.source)


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def run(warm_python: str) -> Run:
    """Run Python source in a directory; settings that torch reads as it starts have it start."""

    def call(source: str, directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [torch_python() if environment else warm_python, "-c", source],
            cwd=directory,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return call


SLICED = """
torch.manual_seed(0)
weight = torch.randn(500_000, 16)[:16]
assert weight.is_contiguous()
state = {**program.state_dict, "norm.weight": program.state_dict["norm.weight"] * 2}
state.update({name: weight for name in ("up.weight", "down.weight")})
load_constants(model, state, program.state_dict)
args, kwargs = torch.load("inputs.pt", weights_only=True)
eager = program.module()
eager.load_state_dict(state)
rounding = {"rtol": 1e-4, "atol": 1e-2}  # weights of size 1 make attention's sums large
torch.testing.assert_close(model(*args, **kwargs), eager(*args, **kwargs), **rounding)
"""


def test_the_loading_helper_takes_a_slice_which_made_contiguous_alone_ends_the_process(
    run: Run, rich: Path
) -> None:
    helper = block_with("constants.md", "def load_constants")
    copied = "v.detach().clone(memory_format=torch.contiguous_format)"
    assert copied in helper
    done = run(helper + SLICED, rich)
    assert done.returncode == 0, done.stderr
    assert run(helper.replace(copied, "v.contiguous()") + SLICED, rich).returncode < 0


ONE = """
one = (torch.tensor(1), torch.ones(1, 4))
if not assumes_nothing:
    shapes = (None, {0: torch.export.Dim("batch")})
    inputs = (torch.tensor(3), torch.ones(3, 4))
    program = torch.export.export(Repeat(), inputs, dynamic_shapes=shapes)
    assert program.module()(torch.tensor(5), torch.ones(5, 4)).shape[0] == 5
    try:
        program.module()(*one)
    except RuntimeError as error:
        assert ">= 2" in str(error)
    else:
        raise SystemExit("the bound is gone: the guide says that it is there")
package = torch._inductor.aoti_compile_and_package(program)
model = torch._inductor.aoti_load_package(package)
torch.testing.assert_close(model(*one), torch.full((1, 4), 2.0))
"""


@pytest.mark.parametrize(("assumes_nothing", "scalar_asserts"), [(True, "1"), (False, "0")])
def test_both_ways_around_a_lower_bound_of_two_work(
    run: Run, assumes_nothing: bool, scalar_asserts: str, tmp_path: Path
) -> None:
    source = block_with("dynamic-shapes.md", "backed_size_oblivious")
    source += f"assumes_nothing = {assumes_nothing}\n{ONE}"
    done = run(source, tmp_path, TORCHINDUCTOR_SCALAR_ASSERTS=scalar_asserts)
    assert done.returncode == 0, done.stderr


def test_limiting_vector_code_alone_leaves_the_compiler_at_native(run: Run, tmp_path: Path) -> None:
    source = "import torch._inductor.cpp_builder as b; print(b._get_cpu_arch_cflags('g++'))"
    both = {"ATEN_CPU_CAPABILITY": "avx2", "TORCHINDUCTOR_CPP_MARCH": "x86-64-v3"}
    assert "native" in run(source, tmp_path, ATEN_CPU_CAPABILITY="avx2").stdout
    assert "march=x86-64-v3" in run(source, tmp_path, **both).stdout
    assert " ".join(f"{k}={v}" for k, v in both.items()) in text_of("host-crash.md")


RUNNERS = """
from concurrent.futures import ThreadPoolExecutor
from torch._inductor.package import load_package

args, kwargs = torch.load("inputs.pt", weights_only=True)
one = load_package("model.pt2", run_single_threaded=False, num_runners=1)
with torch.no_grad(), ThreadPoolExecutor(8) as pool:
    want = tree_leaves(one(*args, **kwargs))
    for got in pool.map(lambda _: tree_leaves(one(*args, **kwargs)), range(64)):
        torch.testing.assert_close(got, want)
print("all waited for their turn")
load_package("model.pt2", run_single_threaded=False, num_runners=0)
"""


def test_a_busy_container_makes_callers_wait_and_an_empty_one_is_refused(
    run: Run, rich: Path
) -> None:
    done = run(f"import torch\nfrom torch.utils._pytree import tree_leaves\n{RUNNERS}", rich)
    assert "all waited for their turn" in done.stdout
    assert "num_runners must be >=1" in done.stderr
    assert "No available models" not in done.stderr
    text = text_of("threads-streams-hangs.md")
    assert "`num_runners must be >=1`" in text
    assert "**zero** model instances" in text


STAGED = """
import torch

args, kwargs = torch.load("inputs.pt", weights_only=True)
program = torch.export.load("model.ep.pt2")
first, second = (torch._inductor.aoti_load_package("model.pt2") for _ in range(2))
staging = {name: program.state_dict[name].clone() for name in first.get_constant_fqns()}
first.load_constants(staging, check_full_update=True, user_managed=True)
before = first(*args, **kwargs)["hidden"].clone()
for value in staging.values():
    value.mul_(2)
second.load_constants(staging, check_full_update=True, user_managed=True)
print("changed" if (first(*args, **kwargs)["hidden"] - before).abs().max() > 1e-3 else "as before")
"""


def test_a_tensor_that_the_model_was_only_lent_changes_it(run: Run, rich: Path) -> None:
    done = run(STAGED, rich)
    assert done.stdout == "changed\n", done.stderr
    said = "If you write to one of them, every model that uses it changes"
    assert said in text_of("constants.md")


SAID = """
import gc, os, torch
from pathlib import Path

program = torch.export.load("model.ep.pt2")
model = torch._inductor.aoti_load_package("model.pt2")
names = model.get_constant_fqns()
assert not {"pair", "scale"} & set(names), "small and 0-d constants are inlined"
state = {n: program.state_dict[n].clone() for n in names if n != "position"}
model.load_constants(state, check_full_update=True)  # a buffer is left out: a warning, no error
os.write(2, b"--- partial\\n")
model.load_constants({n: v for n, v in list(state.items())[:1]}, check_full_update=False)
os.write(2, b"--- end\\n")
mapped = {w for w in Path("/proc/self/maps").read_text().split() if w.endswith(".wrapper.so")}
folder = Path(mapped.pop()).parent
assert folder.exists()
del model
gc.collect()
assert ".wrapper.so" in Path("/proc/self/maps").read_text(), "the mapping stays"
assert not folder.exists(), "the folder goes"


class Two(torch.nn.Module):
    def forward(self, x, y):
        return x.sum() + y.sum()


a, b = torch.export.Dim("a"), torch.export.Dim("b")
two = torch.export.export(Two(), (torch.ones(4), torch.ones(4)), dynamic_shapes=({0: a}, {0: b}))
two.module()(torch.ones(3), torch.ones(5))  # equal examples are not taken for one size
two.module()(torch.ones(1), torch.ones(0))  # the guards take 0 and 1
assert all(str(r).startswith("VR[0,") for r in two.range_constraints.values())
"""


def test_what_the_guides_say_of_constants_libraries_and_bounds_is_so(run: Run, rich: Path) -> None:
    done = run(SAID, rich)
    assert done.returncode == 0, done.stderr
    full, _, rest = done.stderr.partition("--- partial")
    assert "Found constant or module state buffer" in full and "position" in full
    assert "Found constant" not in rest


IN_TORCH = Path(__file__).with_name("in_torch.py")


@pytest.fixture(scope="session")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Run every block once, those that compile first: the others use the package they leave."""
    results = once("guides", tmp_path_factory, run_all) / "done.json"
    found = json.loads(results.read_text("utf-8"))
    return lambda name: str(found.get(name, "was not reached"))


def run_all(directory: Path) -> None:
    chosen = [b for path in GUIDES for b in blocks(path) if runnable(b)]
    chosen.sort(key=lambda b: "compile" not in b.words)
    todo, done = directory / "todo.json", directory / "done.json"
    todo.write_text(json.dumps([{"name": b.name, "source": b.source} for b in chosen]), "utf-8")
    environment = {**os.environ, "INDUCTOR_PROVENANCE": "1", "CUDA_VISIBLE_DEVICES": ""}
    with (directory / "log").open("wb") as log:
        subprocess.run(
            [torch_python(), str(IN_TORCH), "blocks", str(todo), str(done)],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=900,
            check=False,
        )
