import pytest
from aoti_debug.errors import WrongUse
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
