"""What the tables say about the installed torch, checked against its own files."""

import functools
import json
import os
import subprocess

import pytest
from aoti_debug.facts.flag import known
from aoti_debug.facts.flags import effect, flags
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
print(json.dumps({
    "version": torch.__version__,
    "missing": sorted(missing),
    "attributes": {p: attribute(p) for p in asked["attributes"]},
    "wrapper": wrapper,
    "cuda": torch.version.cuda is not None,
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
    acting = {f.name for f in flags() if f.owner == "torch" and effect(f.name, None, version).acts}
    if not installed()["cuda"]:
        acting = {name for name in acting if "CUDA_MEMORY" not in name}
    assert acting & set(installed()["missing"]) == set()


def test_torch_does_not_hold_the_names_of_variables_said_not_to_act():
    version = installed()["version"]
    idle = {
        f.name for f in flags() if f.owner == "torch" and not effect(f.name, None, version).acts
    }
    assert idle <= set(installed()["missing"])


@pytest.mark.parametrize("flag", [f for f in flags() if f.attribute], ids=lambda f: f.name)
def test_config_attributes_exist_where_the_variable_acts(flag):
    found = installed()["attributes"]
    if effect(flag.name, None, installed()["version"]).acts:
        assert found[flag.attribute] != "no such attribute"
    else:
        assert found[flag.attribute] == "no such attribute"


def test_the_input_check_reads_the_variable_in_the_generated_code():
    assert 'getenv("AOTI_RUNTIME_CHECK_INPUTS")' in installed()["wrapper"]
