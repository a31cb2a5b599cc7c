"""What the tables say about the installed torch, checked against its own files."""

import functools
import json
import os
import subprocess

import pytest
from aoti_debug.facts.flags import acts_when, flags
from aoti_debug.facts.versions import errors, known, layout, printer
from interpreter import torch_python

PROGRAM = """
import json, mmap, pathlib, sys
asked = json.load(sys.stdin)
import torch
from torch._inductor import config

def attribute(path):
    value = config
    for part in path.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            return "no such attribute"
    return value

root = pathlib.Path(torch.__file__).parent
source, missing = b"", set(asked["names"])
files = [root / "_inductor", root / "compiler", root / "cuda", root / "utils", root / "_logging",
         root / "include" / "torch" / "csrc", root / "lib"]
for folder in files:
    for path in folder.rglob("*"):
        if missing and path.suffix in (".py", ".h", ".so") and path.stat().st_size:
            with path.open("rb") as stream:
                text = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            missing -= {n for n in missing if text.find(n.encode()) >= 0}
wrapper = (root / "_inductor/codegen/cpp_wrapper_cpu.py").read_text()
print_utils = (root / "_inductor/codegen/debug_utils.py").read_text()
package = root / "_inductor/package/package.py"
shim = (root / "include/torch/csrc/inductor/aoti_torch/utils.h").read_text()
interface = (root / "_inductor/codegen/aoti_runtime/interface.cpp").read_text()
print(json.dumps({
    "version": torch.__version__,
    "missing": sorted(missing),
    "attributes": {p: attribute(p) for p in asked["attributes"]},
    "wrapper": wrapper, "printer": print_utils, "shim": shim,
    "interface": interface, "package": package.read_text(),
    "cuda": torch.version.cuda is not None,
    "codecache": (root / "_inductor/codecache.py").read_text(),
}))
"""


@functools.cache
def installed():
    """Ask a fresh interpreter, with none of the variables set."""
    names = {f.name for f in flags()}
    asked = {
        "names": [f.name for f in flags() if f.owner == "torch"],
        "attributes": [f.attribute for f in flags() if f.attribute],
    }
    answer = subprocess.run(
        [torch_python(), "-W", "ignore", "-c", PROGRAM],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k not in names},
        check=True,
        timeout=300,
    )
    return json.loads(answer.stdout)


def test_the_installed_torch_is_one_that_the_tables_know():
    assert known(installed()["version"])


def test_torch_holds_the_name_of_every_variable_said_to_act():
    version = installed()["version"]
    acting = {f.name for f in flags() if f.owner == "torch" and acts_when(f.name, version)}
    if not installed()["cuda"]:
        acting = {name for name in acting if "CUDA_MEMORY" not in name}
    assert acting & set(installed()["missing"]) == set()


def test_torch_does_not_hold_the_names_of_variables_said_not_to_act():
    version = installed()["version"]
    idle = {f.name for f in flags() if f.owner == "torch" and not acts_when(f.name, version)}
    assert idle <= set(installed()["missing"])


@pytest.mark.parametrize("flag", [f for f in flags() if f.attribute], ids=lambda f: f.name)
def test_config_attributes_exist_with_the_stated_initial_value(flag):
    found = installed()["attributes"]
    if acts_when(flag.name, installed()["version"]):
        assert found[flag.attribute] == flag.initial
    else:
        assert found[flag.attribute] == "no such attribute"


def test_the_input_check_reads_the_variable_in_the_generated_code():
    assert 'getenv("AOTI_RUNTIME_CHECK_INPUTS")' in installed()["wrapper"]


def test_the_loader_masks_errors_where_stated():
    masks = "Loading outdated pt2 file" in installed()["package"]
    assert masks == errors(installed()["version"]).masks_load_errors


def test_the_shim_logs_exceptions_where_stated():
    logged = "Exception in aoti_torch" in installed()["shim"]
    assert logged == errors(installed()["version"]).shim_logged


def test_the_reason_of_a_failed_run_is_kept_for_the_exception_where_stated():
    kept = "AOTInductorGetLastError" in installed()["interface"]
    assert kept == (errors(installed()["version"]).run_reason == "exception")


def test_the_package_records_the_stated_metadata():
    for key in layout(installed()["version"]).metadata_keys:
        assert key in installed()["codecache"]


def test_the_printer_has_the_stated_slip_in_scalar_lines():
    slip = r"%ld  ]\\n" in installed()["printer"] or r'\\n");' in installed()["printer"]
    assert slip != printer(installed()["version"]).scalar_line_ends
