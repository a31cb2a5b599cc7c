"""The tables of facts: flags, release lines and categories."""

import dataclasses
import functools
import json
import os
import re
import subprocess

import pytest
from aoti_debug.errors import WrongUse
from aoti_debug.facts.categories import MEANINGS
from aoti_debug.facts.flag import MOMENTS, RELEASES, Release, known, release
from aoti_debug.facts.flags import effect, flag, flags
from aoti_debug.model import CATEGORIES
from aoti_debug.signatures.signature import signatures
from programs import torch_python

CHECK = "AOTI_RUNTIME_CHECK_INPUTS"


@pytest.mark.parametrize(
    ("version", "value", "acts", "on"),
    [
        ("2.6.0", "1", False, None),
        ("2.7.1", "1", True, True),
        ("2.7.1", "0", True, True),
        ("2.7.1", "", True, False),
        ("2.8.0", "0", True, False),
        ("2.8.0", "", True, True),
        ("2.13.0+cu130", "1", True, True),
        ("2.13.0+cu130", "01", True, False),
        ("2.15.0.dev20260901", None, True, False),
    ],
)
def test_input_check_is_switched_as_each_release_really_does(version, value, acts, on):
    found = effect(CHECK, value, version)
    assert (found.acts, found.on) == (acts, on)
    assert CHECK in found.says


def test_input_check_acts_at_the_first_run_and_not_at_all_in_2_6():
    assert effect(CHECK, None, "2.6.0+cpu").when is None
    assert effect(CHECK, None, "2.7.0").when == "first_run"
    assert effect(CHECK, None, "2.15.0").when == "first_run"


def test_the_printer_acts_when_the_config_module_is_imported():
    assert (
        effect("AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER", None, "2.11.0+cu130").when
        == "import"
    )


def test_variables_that_came_or_went_do_not_act_outside_their_releases():
    assert effect("INDUCTOR_PROVENANCE", None, "2.8.0").when is None
    assert effect("INDUCTOR_PROVENANCE", None, "2.9.1").when == "import"
    assert effect("AOT_INDUCTOR_COMPILE_WRAPPER_WITH_O0", None, "2.7.1").when == "import"
    assert effect("AOT_INDUCTOR_COMPILE_WRAPPER_WITH_O0", None, "2.8.0").when is None
    gone = flag("AOT_INDUCTOR_COMPILE_WRAPPER_WITH_O0")
    assert gone is not None and gone.until == Release(2, 7)


def test_existence_alone_switches_some_variables_on():
    assert effect("PYTORCH_NO_CUDA_MEMORY_CACHING", "0", "2.13.0").on is True
    assert effect("PYTORCH_NO_CUDA_MEMORY_CACHING", None, "2.13.0").on is False
    assert effect("AOTI_LOG_LOADING", "0", "2.14.1").on is True


def test_an_unset_variable_has_the_effect_of_its_default():
    assert effect("AOT_INDUCTOR_ENABLE_LINE_TABLES", None, "2.13.0").on is True
    assert effect("AOT_INDUCTOR_DEBUG_COMPILE", None, "2.13.0").on is False


def test_unknown_names_act_never():
    assert flag("AOTI_DEBUG") is None
    assert effect("AOTI_DEBUG", None, "2.13.0").when is None
    assert effect("AOTI_DEBUG", "1", "2.13.0").acts is False


def test_names_are_unique_and_every_reading_lies_within_the_known_releases():
    names = [f.name for f in flags()]
    assert len(set(names)) == len(names) >= 50
    for found in flags():
        assert found.readings
        for reading in found.readings:
            assert reading.since in RELEASES
            assert reading.until is None or reading.since <= reading.until
            assert reading.when in MOMENTS
        for line in RELEASES:
            assert sum(r.covers(line) for r in found.readings) <= 1, (found.name, line)


def test_flags_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(flags()[0], "name", "other")  # noqa: B010


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("2.13.0", (2, 13)),
        ("2.13.0+cu130", (2, 13)),
        ("2.15.0.dev20260901+cpu", (2, 15)),
        ("2.9.0a0+gitcf30153", (2, 9)),
        ("v2.6", (2, 6)),
        (" 2.10.0-rc3", (2, 10)),
    ],
)
def test_any_spelling_of_a_version_is_read(text, line):
    assert release(text) == line


@pytest.mark.parametrize("text", ["", "nightly", "2", "x2.6", "2.6 or so"])
def test_what_is_no_version_is_refused(text):
    with pytest.raises(WrongUse):
        release(text)


def test_releases_outside_the_checked_range_are_called_unknown():
    assert not known("2.5.1")
    assert known("2.6.0") and known("2.15.0")
    assert not known("2.16.0")


def test_tenth_minor_release_comes_after_the_ninth():
    assert release("2.10.0") > release("2.9.1")
    assert str(Release(2, 10)) == "2.10"


def test_every_category_has_a_meaning_and_no_other_has():
    assert set(MEANINGS) == set(CATEGORIES)


def test_a_meaning_is_one_plain_line():
    for name, meaning in MEANINGS.items():
        assert 10 < len(meaning.text) < 100, name
        assert "\n" not in meaning.text and not meaning.text.endswith("."), name


def test_a_guide_is_a_file_and_a_heading():
    for name, meaning in MEANINGS.items():
        assert re.fullmatch(r"guides/[a-z-]+\.md#[a-z0-9-]+", meaning.guide), name


def test_only_these_categories_are_no_faults():
    assert {name for name, meaning in MEANINGS.items() if not meaning.fault} == {
        "false_alarm",
        "no_fault",
        "performance",
    }


def test_a_category_without_fault_is_never_a_proved_cause_of_a_crash():
    for signature in signatures():
        if signature.category == "no_fault":
            assert signature.role in ("symptom", "note"), signature.id
            assert signature.confidence != "proved", signature.id


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
