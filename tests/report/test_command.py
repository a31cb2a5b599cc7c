"""Reports on the command line, and what foreign text may not do in them."""

from __future__ import annotations

from typing import Any

import pytest
from aoti_debug.model import Next
from aoti_debug.plain import clean as sanitize
from aoti_debug.plain import one_line
from aoti_debug.report.diagnosis import command_line


@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        ("check_environment", {}, "aoti-debug environment"),
        ("triage", {}, "aoti-debug triage SCRIPT"),
        ("triage", {"script": "/a b.py", "wait_s": 5}, "aoti-debug triage '/a b.py'"),
        (
            "run_stage",
            {"script": "/x.py", "stage": "nan", "args": ["-n", "1"]},
            "aoti-debug run /x.py --stage nan -- -n 1",
        ),
        (
            "run_stage",
            {"command": ["./a.out", "m.pt2"], "env": {"A": "$B"}, "timeout_s": 9},
            "aoti-debug run --env 'A=$B' --timeout 9 --command ./a.out m.pt2",
        ),
        ("triage", {"module": "pytest"}, "aoti-debug triage --module pytest"),
        (
            "read_artifact",
            {"run": "r-1", "name": "stderr.log", "offset": 20},
            "aoti-debug artifact r-1 stderr.log --offset 20",
        ),
        ("verify_fix", {"script": "/x.py", "run": "r-1"}, "aoti-debug verify /x.py --against r-1"),
        ("explain_kernel", {"run": "r-1", "kernel": "k"}, "aoti-debug explain r-1 k"),
        ("some_new_tool", {"x": 1}, "some_new_tool"),
    ],
)
def test_next_step_reads_as_a_command(tool: str, arguments: dict[str, Any], line: str) -> None:
    assert command_line(Next(tool=tool, arguments=arguments, why="")) == line


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
