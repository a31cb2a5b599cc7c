from __future__ import annotations

import pytest
from aoti_debug.plain import clean as sanitize
from aoti_debug.plain import one_line


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x00b\x08c\x7fd\x9be", "abcde"),
        ("\u202eevil\u2066\u200b\ufeff", "evil"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("lone \ud800, byte \udcff", "lone \\ud800, byte \\xff"),
        ("a\ufe0fb\U000e0101\u3164", "ab"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("tab\tstays", "tab\tstays"),
        ("\x1b[", ""),
        ("grün 日本 🙂", "grün 日本 🙂"),
    ],
)
def test_only_what_shows_is_left(dirty: str, clean: str) -> None:
    assert sanitize(dirty) == clean


def test_one_line_has_no_line_ends() -> None:
    assert one_line(" a\n\n  b\u2028c\t") == "a b c"


def test_long_runs_of_escapes_take_linear_time() -> None:
    assert sanitize("\x1b[" * 200_000 + "1" * 200_000).count("1") >= 199_900
