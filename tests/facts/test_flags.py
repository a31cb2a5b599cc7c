import dataclasses

import pytest
from aoti_debug.facts.flag import MOMENTS
from aoti_debug.facts.flags import effect, flag, flags
from aoti_debug.facts.versions import RELEASES, Release

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
        flags()[0].name = "other"
