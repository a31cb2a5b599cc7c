import pytest
from aoti_debug.errors import WrongUse
from aoti_debug.facts import versions
from aoti_debug.facts.versions import Release, known, release


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


@pytest.mark.parametrize("text", ["", "nightly", "2", "x2.6", "99999999999999.1"])
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


def test_saving_printer_creates_its_directory_from_2_10_on():
    assert not versions.printer("2.9.1").save_creates_directory
    assert versions.printer("2.10.0").save_creates_directory
    assert versions.printer("2.15.0").save_path.startswith("tmp/aoti_torch/")
    assert versions.printer("2.13.0").save_path.startswith("tmp/aoti_torch{when}")


def test_reason_of_a_failed_run_moves_from_stderr_to_the_exception_in_2_13():
    assert versions.errors("2.12.1").run_reason == "stderr"
    assert versions.errors("2.13.0").run_reason == "exception"
    assert versions.errors("2.15.0").update_reason == "stderr"


def test_minifier_ignores_its_level_in_2_6():
    assert [m.level for m in versions.minifier("2.6.0").levels] == [2]
    assert [m.level for m in versions.minifier("2.7.1").levels] == [1, 2, 3, 4]


def test_package_layout_follows_the_release():
    assert versions.layout("2.6.0").wrapper == "{hash}.cpp"
    assert versions.layout("2.8.0").prefixed and not versions.layout("2.7.1").prefixed
    assert versions.layout("2.10.0").metadata_keys[-1] == "AOTI_COMPUTE_CAPABILITY"


@pytest.mark.parametrize(
    "table", [versions.PRINTER, versions.MINIFIER, versions.LAYOUT, versions.ERRORS]
)
def test_tables_begin_at_the_oldest_release_and_go_on_in_order(table):
    lines = [entry.since for entry in table]
    assert lines[0] == versions.OLDEST
    assert lines == sorted(set(lines))
