"""The scripts of an installed skill, without the server, on failures that are real."""

from __future__ import annotations

import ast
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import torch_python

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
PROBE = ROOT / "mcp_server" / "aoti_debug" / "probe"
Run = Callable[..., tuple[int, str]]
COMMANDS = sorted(p.name for p in SCRIPTS.glob("*.py") if p.name != "shared.py")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return scripts/ of an installation, of whose server there is no more than the probe."""
    place = tmp_path_factory.mktemp("skill") / "aoti-debug"
    for folder in (SCRIPTS, PROBE):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(folder, place / folder.relative_to(ROOT), ignore=ignored)
    return place / "scripts"


@pytest.fixture(scope="module")
def bad(rich: Path, tmp_path_factory: pytest.TempPathFactory, warm_python: str) -> Path:
    """Return a directory with inputs and programs that do not fit."""
    place = tmp_path_factory.mktemp("bad")
    argv = [warm_python, str(ROOT / "tests" / "targets" / "rich.py"), str(rich)]
    done = subprocess.run(argv, cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def run(warm_python: str) -> Run:
    """Run a script; return its exit status and what it printed."""

    def call(script: Path, *words: object, python: str = warm_python, cwd: Path | None = None):
        argv = [python, str(script), *map(str, words)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=300, cwd=cwd)
        return done.returncode, done.stdout + done.stderr

    return call


@pytest.mark.parametrize("name", COMMANDS)
def test_scripts_without_the_tree_say_what_is_missing(run: Run, tmp_path: Path, name: str) -> None:
    alone = shutil.copytree(SCRIPTS, tmp_path / "scripts")
    code, said = run(alone / name, "--help", python=sys.executable)
    assert (code, "install the skill as a whole" in said) == (3, True)


@pytest.mark.parametrize(
    "path", [*sorted(SCRIPTS.glob("*.py")), *sorted(PROBE.glob("*.py"))], ids=lambda p: p.name
)
def test_a_script_is_python_3_9_and_needs_nothing_but_torch(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 9))
    imported = {n.names[0].name for n in ast.walk(tree) if isinstance(n, ast.Import)}
    imported |= {
        n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and not n.level
    }
    own = {"shared", "probe", "inspect_pt2", "torch"}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names | own


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_it_does_and_how_it_ends(run: Run, installed: Path, name: str) -> None:
    code, said = run(installed / name, "--help", python=sys.executable)  # has no torch
    assert code == 0
    assert "Exit status: 0 nothing wrong, 1 something found" in " ".join(said.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_is_not_there_is_wrong_use(run: Run, installed: Path, name: str) -> None:
    words = ["missing.pt2"] * (3 if "--exported" not in name else 2)
    code, said = run(
        installed / name, *words[: 1 + (name in TWO)], *MORE.get(name, ()), python=sys.executable
    )
    assert (code, "no such file" in said) == (2, True)


TWO = {
    "replay.py",
    "check_contract.py",
    "compare_eager.py",
    "first_bad_node.py",
    "load_constants.py",
}
MORE = {"compare_eager.py": ("--exported", "missing.pt2")}


def test_a_package_is_described_without_torch(run: Run, installed: Path, rich: Path) -> None:
    code, said = run(installed / "inspect_pt2.py", rich / "model.pt2", python=sys.executable)
    assert code == 0
    assert "float32 cpu [2.., 4, 16]" in said
    assert "constant norm.weight: float32[16]" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data[: len(data) // 2], "no zip archive, or cut off"),
        (lambda data: data.replace(b"libstdc++.so.6", b"libstdcxx.so.6"), "checksum"),
        (None, "an exported program (torch.export.save)"),
    ],
    ids=["cut", "changed", "exported"],
)
def test_what_does_not_load_is_told(run, installed, rich, tmp_path, change, words) -> None:
    package = tmp_path / "model.pt2"
    source = rich / ("model.pt2" if change else "model.ep.pt2")
    package.write_bytes(change(source.read_bytes()) if change else source.read_bytes())
    code, said = run(installed / "inspect_pt2.py", package, python=sys.executable)
    assert code == 1
    assert words in said


def test_a_kernel_leads_to_its_operators(run: Run, installed: Path, rich: Path) -> None:
    script = installed / "kernel_to_line.py"
    code, said = run(script, rich / "model.pt2", "bmm", python=sys.executable)
    assert code == 0
    assert (
        "nodes linear_1, transpose, matmul; operators aten.view, aten.transpose, aten.bmm" in said
    )
    assert run(script, rich / "model.pt2", "nosuch", python=sys.executable)[0] == 3


def test_a_call_that_breaks_the_contract_is_told_by_every_net(
    run, installed, rich, bad, python
) -> None:
    words = (rich / "model.pt2", bad / "double.pt", "--exported", rich / "model.ep.pt2")
    code, said = run(installed / "check_contract.py", *words, python=python)
    assert code == 1
    assert "BROKEN  stated: input 0 (arg8_1): dtype: expected float32, got float64" in said
    assert "BROKEN  compiled: " in said
    assert "unmatched dtype" in said
    assert "BROKEN  exported: x: dtype: expected float32, got float64" in said


def test_a_call_that_keeps_the_contract_and_fails_is_told_apart(run, installed, built, bad) -> None:
    package = built.directory / "embedding.pt2"
    code, said = run(installed / "check_contract.py", package, bad / "ids.pt")
    assert code == 1
    assert "FAILS   compiled: " in said
    assert "index out of bounds" in said
    assert "no promise broken, yet the call fails" in said
    assert "BROKEN" not in said


def test_a_bound_of_two_is_called_harmless(run, installed, rich, bad) -> None:
    code, said = run(installed / "check_contract.py", rich / "model.pt2", bad / "one.pt")
    assert code == 0
    assert "harmless" in said
    assert "no --exported" in said


def test_a_replay_that_dies_is_told_with_its_signal(run, installed, built, bad, python) -> None:
    words = (built.directory / "big.pt2", bad / "small.pt")
    code, said = run(installed / "replay.py", *words, python=python)
    assert code == 1
    assert "died: SIGSEGV (a shell shows exit 139) in state 'run'" in said


def test_other_weights_differ_from_eager(run, installed, rich, bad) -> None:
    words = (rich / "model.pt2", rich / "inputs.pt", "--exported")
    code, said = run(installed / "compare_eager.py", *words, bad / "other.ep.pt2")
    assert code == 1
    assert "the package differs from eager" in said
    code, said = run(installed / "compare_eager.py", *words, rich / "model.ep.pt2")
    assert (code, "the package agrees with eager" in said) == (0, True)


def test_a_nan_is_traced_to_its_node_past_a_mask(run, installed, bad) -> None:
    code, said = run(installed / "first_bad_node.py", bad / "log.pt", bad / "log.ep.pt2")
    assert code == 1
    assert "first NaN: node log, aten.log.default" in said
    assert "torch.log(y - 0.5)" in said
    assert "masked_fill" not in said


def test_a_weight_that_holds_nan_is_named(run, installed, rich, bad) -> None:
    code, said = run(installed / "first_bad_node.py", rich / "inputs.pt", bad / "nan.ep.pt2")
    assert (code, "parameter down.bias: 1 of 16" in said) == (1, True), said
    code, said = run(installed / "first_bad_node.py", rich / "inputs.pt", rich / "model.ep.pt2")
    assert code == 0, said


def test_an_index_out_of_bounds_is_named(run, installed, bad) -> None:
    code, said = run(installed / "first_bad_node.py", bad / "ids.pt", bad / "ids.ep.pt2")
    assert (code, "index 5000 of ids is out of bounds: 0 <= index < 1000" in said) == (1, True), (
        said
    )


def test_the_first_operator_that_lies_is_named_and_one_that_writes(run, installed, bad) -> None:
    words = (bad / "ops.pt", bad / "ops.ep.pt2", "--import", "ops")
    code, said = run(installed / "first_bad_node.py", *words, cwd=bad)
    assert code == 1
    assert "demo.narrow.default (node narrow), output 0: dtype promised torch.float32" in said
    assert "demo.same" not in said  # its input was not what the program says any more
    assert "demo.halve.default (node halve) writes to its argument x" in said


def test_weights_of_a_program_with_custom_operators_are_read(run, installed, rich, bad) -> None:
    words = (rich / "model.pt2", bad / "ops.ep.pt2")
    code, said = run(installed / "load_constants.py", *words, "--import", "ops", cwd=bad)
    assert (code, "position: missing" in said) == (1, True)
    code, said = run(installed / "load_constants.py", *words, "--import", "nosuch", cwd=bad)
    assert (code, "--import nosuch: No module named 'nosuch'" in said) == (2, True)


def test_a_slice_of_a_weight_is_refused_before_it_is_loaded(run, installed, rich, bad) -> None:
    code, said = run(installed / "load_constants.py", rich / "model.pt2", bad / "sliced.pt")
    assert code == 1
    assert "down.weight: a view of a storage of 4096 bytes, all are copied over 1024" in said
    assert "scale: not a constant of the package (inlined" in said
    assert "down.bias: 16 values are NaN or infinite" in said


def test_constants_that_are_inlined_do_not_fit(run, installed, rich, bad) -> None:
    code, said = run(installed / "load_constants.py", rich / "model.pt2", bad / "inlined.pt")
    assert code == 1
    assert "pair: not a constant of the package (inlined" in said
    assert "fit and were loaded" not in said


def test_constants_that_the_program_never_reads_are_harmless(run, installed, rich, bad) -> None:
    words = (rich / "model.pt2", bad / "unused.pt")
    code, said = run(installed / "load_constants.py", *words, "--exported", rich / "model.ep.pt2")
    assert (code, "constants fit and were loaded" in said) == (0, True)
    assert "spare: the package does not use it" in said
    assert "norm.num_batches_tracked: the package does not use it" in said
    code, said = run(installed / "load_constants.py", *words)
    assert code == 1
    assert "spare: not a constant of the package (inlined" in said
    assert "norm.num_batches_tracked: the package does not use it" in said


def test_constants_left_out_are_null_in_a_package_without_weights(
    run, installed, rich, bad
) -> None:
    code, said = run(installed / "load_constants.py", rich / "model.pt2", bad / "partial.pt")
    assert code == 1
    assert "position: missing (no error, even in a full update)" in said
    assert "it is a null pointer: the first call crashes" in said


def test_weights_that_are_a_pickle_are_refused_in_words(run, installed, rich, tmp_path) -> None:
    (tmp_path / "evil.pt").write_bytes(pickle.dumps(print))
    code, said = run(installed / "load_constants.py", rich / "model.pt2", tmp_path / "evil.pt")
    assert (code, "Traceback" in said) == (3, False)


def test_the_free_run_keeps_the_logs_and_names_the_first_message(
    installed: Path, built, bad, tmp_path: Path
) -> None:
    call = (
        "import torch\n"
        f"model = torch._inductor.aoti_load_package({str(built.directory / 'big.pt2')!r})\n"
        f"args, kwargs = torch.load({str(bad / 'small.pt')!r})\n"
        "print('calling')\n"
        "model(*args)\n"
    )
    argv = ["bash", str(installed / "run0.sh"), "-o", str(tmp_path / "logs"), "--"]
    done = subprocess.run([*argv, torch_python(), "-c", call], capture_output=True, text=True)
    assert done.returncode == 1
    assert "input_handles[0]: unmatched dim value at 0, expected: 4096, but got: 16" in done.stdout
    assert (tmp_path / "logs" / "out.log").read_text() == "calling\n"
    assert (tmp_path / "logs" / "status").read_text() == "1\n"


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), ([], 2), (["--no"], 2)])
def test_the_free_run_says_how_it_is_used(words: list[str], code: int) -> None:
    argv = ["bash", str(SCRIPTS / "run0.sh"), *words]
    done = subprocess.run(argv, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == code
    assert "Usage: run0.sh" in done.stdout + done.stderr
